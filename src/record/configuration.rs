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

    /// Sets `key`; an empty value deletes it, and the last key takes its place.
    ///
    /// That is no natural order, but the one in which the drop-in tables have
    /// to show the keys that are left.
    pub fn set(&mut self, key: &[u8], value: &[u8]) {
        if value.is_empty() {
            self.keys.swap_remove(BStr::new(key));
        } else if let Some(old) = self.keys.get_mut(BStr::new(key)) {
            value.clone_into(old);
        } else {
            self.keys.insert(key.into(), value.into());
        }
    }

    /// The keys set by configuration lines with their values, in order of appearance but for
    /// what [`Configuration::set`] says of deleted ones.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_key_takes_the_place_of_a_deleted_one() {
        let mut configuration = Configuration::default();
        for key in ["a", "b", "c", "d"] {
            configuration.set(key.as_bytes(), b"x");
        }
        configuration.set(b"b", b"");
        configuration.set(b"b", b"y");
        let keys: Vec<_> = configuration.iter().map(|(key, _)| key).collect();
        assert_eq!(keys, ["a", "d", "c", "b"]);
    }
}
