//! Numbers for values that recur.

use std::hash::Hash;

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
