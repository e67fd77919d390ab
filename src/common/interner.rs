//! Numbers for values that recur.

use std::hash::Hash;

use indexmap::{Equivalent, IndexSet};

/// Gives each distinct value a number of its own, from 0 up, in order of first appearance.
#[derive(Clone, Debug)]
pub struct Interner<T> {
    values: IndexSet<T, foldhash::fast::RandomState>,
}

impl<T> Default for Interner<T> {
    fn default() -> Self {
        Self {
            values: IndexSet::default(),
        }
    }
}

impl<T: Hash + Eq> Interner<T> {
    /// The number of `value`, and whether it is new: only then `to_owned` makes a copy to keep.
    ///
    /// # Panics
    /// Beyond 2³² values, for which there is no memory.
    pub fn intern<Q>(&mut self, value: &Q, to_owned: impl FnOnce(&Q) -> T) -> (u32, bool)
    where
        Q: Hash + Equivalent<T> + ?Sized,
    {
        let (index, is_new) = match self.values.get_index_of(value) {
            Some(index) => (index, false),
            None => self.values.insert_full(to_owned(value)),
        };
        let number = u32::try_from(index).expect("fewer than 2^32 values");
        (number, is_new)
    }

    /// How many values there are: their numbers are all those below.
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
    #[must_use]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &T> + Clone {
        self.values.iter()
    }

    /// The value with this number.
    ///
    /// # Panics
    /// Where no value has it.
    #[must_use]
    pub fn get(&self, number: u32) -> &T {
        &self.values[number as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_have_one_number_and_are_copied_once() {
        let mut interner = Interner::<String>::default();
        let mut copies = 0;
        let numbers = ["b", "a", "b", "c", "a"].map(|text| {
            interner.intern(text, |text| {
                copies += 1;
                text.to_owned()
            })
        });
        assert_eq!(
            numbers,
            [(0, true), (1, true), (0, false), (2, true), (1, false)]
        );
        assert_eq!(copies, interner.len());
        assert_eq!(interner.iter().collect::<Vec<_>>(), ["b", "a", "c"]);
        assert_eq!(interner.get(2), "c");
    }
}
