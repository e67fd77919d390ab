//! The values of a sample.

use std::iter::repeat_n;

use serde::{Serialize, Serializer};

/// Values in the order read.
///
/// Benchmarks mostly allocate the same on every run, so that equal values at the start, often all there are, take the room of
/// one: 30 MB instead of 45 MB for a million results of three units.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Values {
    first: f64,
    /// How often `first` stands at the start, bit by bit the same.
    repeated: usize,
    /// From the first other value on.
    rest: Vec<f64>,
}

impl Values {
    /// Appends a value.
    pub fn push(&mut self, value: f64) {
        self.push_of(value, 0);
    }

    /// Appends a value of a sample that probably has `expected` in all, for which room is made if they differ.
    #[inline]
    pub(super) fn push_of(&mut self, value: f64, expected: usize) {
        if self.rest.is_empty() {
            if self.repeated == 0 {
                self.first = value;
            }
            if self.first.to_bits() == value.to_bits() {
                self.repeated += 1;
                return;
            }
            self.rest
                .reserve_exact(expected.saturating_sub(self.repeated));
        }
        self.rest.push(value);
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.repeated + self.rest.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.repeated == 0
    }

    /// Whether all are bit by bit the same.
    #[must_use]
    pub fn are_same(&self) -> bool {
        self.rest.is_empty()
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = f64> + Clone + '_ {
        repeat_n(self.first, self.repeated).chain(self.rest.iter().copied())
    }

    /// Puts a copy of all in the place of what `copy` holds.
    pub fn copy_to(&self, copy: &mut Vec<f64>) {
        copy.clear();
        copy.resize(self.repeated, self.first);
        copy.extend_from_slice(&self.rest);
    }
}

impl Extend<f64> for Values {
    fn extend<I: IntoIterator<Item = f64>>(&mut self, values: I) {
        for value in values {
            self.push(value);
        }
    }
}

impl FromIterator<f64> for Values {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Self {
        let mut all = Self::default();
        all.extend(values);
        all
    }
}

/// As a sequence of all.
impl Serialize for Values {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn all_values_come_back_in_order(values in prop::collection::vec(prop::sample::select(vec![0.0, -0.0, 1.0, 2.5]), 0..12)) {
            let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
            let kept: Values = values.iter().copied().collect();
            prop_assert_eq!(bits(&kept.iter().collect::<Vec<_>>()), bits(&values));
            let mut copy = vec![7.0];
            kept.copy_to(&mut copy);
            prop_assert_eq!(bits(&copy), bits(&values));
            prop_assert_eq!(kept.len(), values.len());
            prop_assert_eq!(kept.is_empty(), values.is_empty());
            prop_assert_eq!(kept.are_same(), bits(&values).windows(2).all(|pair| pair[0] == pair[1]));
        }
    }
}
