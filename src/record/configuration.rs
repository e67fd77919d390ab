//! The configuration in force where a result stands.

use std::hash::{Hash, Hasher};

use bstr::{BStr, BString};
use indexmap::IndexMap;

/// The label of the input and the keys set by its configuration lines.
#[derive(Clone, Debug, Default)]
pub struct Configuration {
    file: BString,
    keys: IndexMap<BString, BString, foldhash::fast::RandomState>,
}

impl Configuration {
    /// An empty configuration for the input labelled `file`.
    #[must_use]
    pub fn new(file: impl Into<BString>) -> Self {
        Self {
            file: file.into(),
            keys: IndexMap::default(),
        }
    }

    /// The label of the input: the value of `.file`.
    #[must_use]
    pub fn file(&self) -> &BStr {
        self.file.as_ref()
    }

    /// The value of a key set by a configuration line.
    #[must_use]
    pub fn get(&self, key: &[u8]) -> Option<&BStr> {
        self.keys.get(BStr::new(key)).map(AsRef::as_ref)
    }

    /// Sets `key`; an empty value deletes it.
    pub fn set(&mut self, key: &[u8], value: &[u8]) {
        if value.is_empty() {
            self.keys.shift_remove(BStr::new(key));
        } else if let Some(old) = self.keys.get_mut(BStr::new(key)) {
            value.clone_into(old);
        } else {
            self.keys.insert(key.into(), value.into());
        }
    }

    /// The keys set by configuration lines with their values, in order of first appearance.
    pub fn iter(&self) -> impl Iterator<Item = (&BStr, &BStr)> {
        self.keys
            .iter()
            .map(|(key, value)| (key.as_ref(), value.as_ref()))
    }
}

/// Equal configurations have the same keys in the same order.
impl PartialEq for Configuration {
    fn eq(&self, other: &Self) -> bool {
        self.file == other.file && self.iter().eq(other.iter())
    }
}

impl Eq for Configuration {}

impl Hash for Configuration {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.file.hash(state);
        self.keys.len().hash(state);
        for pair in &self.keys {
            pair.hash(state);
        }
    }
}
