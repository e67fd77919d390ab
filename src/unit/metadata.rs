//! What `Unit` lines say of units, and what is known of the common ones without them.

use bstr::{BStr, BString};
use indexmap::IndexMap;
use serde::Serialize;

use super::tidy::Tidied;

/// Which direction of a unit is the good one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// Smaller values are better, as for time.
    Lower,
    /// Larger values are better, as for throughput.
    Higher,
}

/// A pair that contradicts what was said before.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("metadata {key} of unit {unit} already set to {value}")]
pub struct Conflict {
    /// The metadata key.
    pub key: BString,
    /// The unit as written on the later line.
    pub unit: BString,
    /// The value that stays.
    pub value: BString,
}

/// The pairs said of each unit, by its base form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    units: IndexMap<BString, IndexMap<BString, BString>>,
}

impl Metadata {
    /// Stores a pair under the base form of `unit`.
    ///
    /// # Errors
    /// A [`Conflict`] if the key has another value already, which stays.
    pub fn set(&mut self, unit: &BStr, key: &BStr, value: &BStr) -> Result<(), Conflict> {
        let pairs = self.units.entry(Tidied::new(unit).unit).or_default();
        match pairs.get(key) {
            None => {
                pairs.insert(key.into(), value.into());
                Ok(())
            }
            Some(old) if old == value => Ok(()),
            Some(old) => Err(Conflict {
                key: key.into(),
                unit: unit.into(),
                value: old.clone(),
            }),
        }
    }

    /// The value of `key` for `unit`, which is looked up by its base form.
    #[must_use]
    pub fn get(&self, unit: &BStr, key: &str) -> Option<&BStr> {
        let pairs = self.units.get(&Tidied::new(unit).unit)?;
        pairs.get(BStr::new(key)).map(AsRef::as_ref)
    }

    /// Whether the values of `unit` are said to be exact: the same on every run.
    #[must_use]
    pub fn assumes_exact(&self, unit: &BStr) -> bool {
        self.get(unit, "assume")
            .is_some_and(|value| value == "exact")
    }

    /// The good direction of `unit`: as the inputs say, else as is known of the common units.
    #[must_use]
    pub fn better(&self, unit: &BStr) -> Option<Better> {
        match self.get(unit, "better") {
            Some(value) if value == "lower" => Some(Better::Lower),
            Some(value) if value == "higher" => Some(Better::Higher),
            _ => match &**unit {
                b"sec/op" | b"ns/op" | b"B/op" | b"allocs/op" => Some(Better::Lower),
                b"B/s" | b"MB/s" => Some(Better::Higher),
                _ => None,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(metadata: &mut Metadata, unit: &str, key: &str, value: &str) -> Result<(), Conflict> {
        metadata.set(unit.into(), key.into(), value.into())
    }

    #[test]
    fn a_pair_is_kept_under_the_base_form() {
        let mut metadata = Metadata::default();
        set(&mut metadata, "p99-ns", "better", "higher").unwrap();
        assert_eq!(metadata.better("p99-sec".into()), Some(Better::Higher));
        assert_eq!(metadata.better("p99-ns".into()), Some(Better::Higher));
    }

    #[test]
    fn the_first_value_stays() {
        let mut metadata = Metadata::default();
        set(&mut metadata, "ns/op", "better", "lower").unwrap();
        set(&mut metadata, "sec/op", "better", "lower").unwrap();
        let conflict = set(&mut metadata, "sec/op", "better", "up").unwrap_err();
        assert_eq!(
            conflict.to_string(),
            "metadata better of unit sec/op already set to lower"
        );
    }

    #[test]
    fn only_exact_assumes_exact() {
        let mut metadata = Metadata::default();
        set(&mut metadata, "x", "assume", "exact").unwrap();
        set(&mut metadata, "y", "assume", "nothing").unwrap();
        assert!(metadata.assumes_exact("x".into()));
        assert!(!metadata.assumes_exact("y".into()) && !metadata.assumes_exact("z".into()));
    }
}
