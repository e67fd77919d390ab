//! Numbers for texts that recur.

use std::hash::{BuildHasher, Hash};

use bstr::{BStr, ByteSlice};
use hashbrown::HashTable;

/// Gives each distinct pair of a number and a text a number of its own, from 0 up.
///
/// The texts stand behind one another in one buffer, so that a new one costs
/// no allocation of its own and a known one costs one look-up.
#[derive(Debug, Default)]
pub struct Names {
    text: Vec<u8>,
    entries: Vec<Entry>,
    index: HashTable<u32>,
    hasher: foldhash::fast::RandomState,
}

#[derive(Debug)]
struct Entry {
    group: u32,
    start: usize,
    length: u32,
}

impl Names {
    /// The number of `name` in `group`, and whether it is new.
    ///
    /// # Panics
    /// Beyond 2³² names or for a name beyond 4 GiB.
    pub fn intern(&mut self, group: u32, name: &[u8]) -> (u32, bool) {
        let hash = self.hash(group, name);
        let found = self
            .index
            .find(hash, |&number| self.get(number) == (group, name.as_bstr()));
        if let Some(&number) = found {
            return (number, false);
        }
        let number = u32::try_from(self.entries.len()).expect("fewer than 2^32 names");
        self.entries.push(Entry {
            group,
            start: self.text.len(),
            length: u32::try_from(name.len()).expect("a name below 4 GiB"),
        });
        self.text.extend_from_slice(name);
        let Self {
            text,
            entries,
            index,
            hasher,
        } = self;
        index.insert_unique(hash, number, |&number| {
            let entry = &entries[number as usize];
            hasher.hash_one((entry.group, entry.slice(text)))
        });
        (number, true)
    }

    /// The group and name with this number.
    #[must_use]
    pub fn get(&self, number: u32) -> (u32, &BStr) {
        let entry = &self.entries[number as usize];
        (entry.group, entry.slice(&self.text).as_bstr())
    }

    fn hash(&self, group: u32, name: &[u8]) -> u64 {
        self.hasher.hash_one((group, name))
    }
}

impl Entry {
    fn slice<'a>(&self, text: &'a [u8]) -> &'a [u8] {
        &text[self.start..self.start + self.length as usize]
    }
}

/// Gives each distinct value a number of its own, from 0 up, in order of first appearance.
#[derive(Debug)]
pub struct Numbers<T> {
    values: indexmap::IndexSet<T, foldhash::fast::RandomState>,
}

impl<T> Default for Numbers<T> {
    fn default() -> Self {
        Self {
            values: indexmap::IndexSet::default(),
        }
    }
}

impl<T: Hash + Eq> Numbers<T> {
    /// The number of `value`.
    ///
    /// # Panics
    /// Beyond 2³² values.
    pub fn intern(&mut self, value: T) -> u32 {
        let (number, _) = self.values.insert_full(value);
        u32::try_from(number).expect("fewer than 2^32 values")
    }

    /// The number of `value`, which is cloned only if it is new.
    ///
    /// # Panics
    /// Beyond 2³² values.
    pub fn intern_ref(&mut self, value: &T) -> u32
    where
        T: Clone,
    {
        match self.values.get_index_of(value) {
            Some(number) => u32::try_from(number).expect("fewer than 2^32 values"),
            None => self.intern(value.clone()),
        }
    }

    /// How many values there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there is no value.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The values in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.values.iter()
    }

    /// The value with this number.
    #[must_use]
    pub fn get(&self, number: u32) -> &T {
        &self.values[number as usize]
    }
}
