//! Numbers for texts that recur.

use std::hash::BuildHasher;

use bstr::{BStr, ByteSlice};
use hashbrown::HashTable;

/// Gives each distinct pair of a number and a text a number of its own, from 0 up.
///
/// The texts stand behind one another in one buffer, so that a new one costs
/// no allocation of its own and a known one costs one look-up.
#[derive(Clone, Debug, Default)]
pub struct Names {
    text: Vec<u8>,
    entries: Vec<Entry>,
    index: HashTable<u32>,
    hasher: foldhash::fast::RandomState,
}

#[derive(Clone, Debug)]
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

    /// The names in the order of their numbers, whatever their groups.
    pub fn iter(&self) -> impl Iterator<Item = &BStr> {
        let entries = self.entries.iter();
        entries.map(|entry| entry.slice(&self.text).as_bstr())
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
