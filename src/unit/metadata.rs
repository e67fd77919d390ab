//! What `Unit` lines say of units, and what is known of the common ones without them.

use bstr::{BStr, BString};
use indexmap::IndexMap;
use serde::Serialize;

use super::known::{self, Meaning};
use super::tidy::{Tidied, UnitToken, tokens};

/// Which direction of a unit is the good one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// Smaller values are better, as for time.
    Lower,
    /// Larger values are better, as for throughput.
    Higher,
}

impl Better {
    /// The direction that a `better` pair names, if it names one.
    #[must_use]
    pub fn named(value: &[u8]) -> Option<Self> {
        match value {
            b"lower" => Some(Self::Lower),
            b"higher" => Some(Self::Higher),
            _ => None,
        }
    }
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
    /// Directions that were said with more authority than the inputs have, by the base form of the unit.
    directions: IndexMap<BString, Better>,
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

    /// Says which direction of `unit` is better, whatever the inputs say.
    pub fn override_better(&mut self, unit: &BStr, better: Better) {
        self.directions.insert(Tidied::new(unit).unit, better);
    }

    /// The good direction of `unit`: as [`Metadata::override_better`] or else the inputs say, else as is known of common
    /// units.
    #[must_use]
    pub fn better(&self, unit: &BStr) -> Option<Better> {
        if let Some(better) = self.directions.get(&Tidied::new(unit).unit) {
            return Some(*better);
        }
        let said = self.get(unit, "better");
        said.and_then(|value| Better::named(value))
            .or_else(|| known_direction(unit))
    }
}

/// The direction of a unit of which nobody said anything, by the words in it.
///
/// Less time, memory and allocations are better, more of anything else per time is. Time or allocations per time are
/// neither: a rate of garbage, or a throughput. So is whatever is saved, or went wrong.
fn known_direction(unit: &BStr) -> Option<Better> {
    let (mut is_cost, mut is_memory, mut is_rate) = (false, false, false);
    let mut is_behind_per = false;
    for token in tokens(unit) {
        let (text, is_below) = match token {
            UnitToken::Separator(b"*") => {
                is_behind_per = false;
                continue;
            }
            UnitToken::Separator(_) => continue,
            UnitToken::Numerator(text) => (text, false),
            UnitToken::Denominator(text) => (text, true),
        };
        for word in text.split(|&byte| matches!(byte, b'_' | b'%')) {
            match (known::meaning(word), is_below || is_behind_per) {
                (Some(Meaning::Undecided), false) => return None,
                (Some(Meaning::Per), _) => is_behind_per = true,
                (Some(Meaning::Rate), false) | (Some(Meaning::Time), true) => is_rate = true,
                (Some(Meaning::Time | Meaning::Cost), false) => is_cost = true,
                (Some(Meaning::Memory), false) => is_memory = true,
                (Some(_), true) | (None, _) => {}
            }
        }
    }
    match (is_cost, is_rate) {
        (false, true) => Some(Better::Higher),
        (true, false) => Some(Better::Lower),
        (true, true) => None,
        (false, false) => is_memory.then_some(Better::Lower),
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
    fn common_units_have_a_direction() {
        let metadata = Metadata::default();
        for (unit, better) in [
            ("sec/op", Some(Better::Lower)),
            ("ns/op", Some(Better::Lower)),
            ("ms/op", Some(Better::Lower)),
            ("µs/op", Some(Better::Lower)),
            ("p99-sec", Some(Better::Lower)),
            ("B/op", Some(Better::Lower)),
            ("allocs/op", Some(Better::Lower)),
            ("peak-RSS-bytes", Some(Better::Lower)),
            ("B/s", Some(Better::Higher)),
            ("MB/s", Some(Better::Higher)),
            ("req/s", Some(Better::Higher)),
            ("decisions/sec", Some(Better::Higher)),
            ("gc-sec/s", None),
            ("widgets", None),
            ("errors/op", None),
            ("p99_us", Some(Better::Lower)),
            ("latency_ms", Some(Better::Lower)),
            ("ns_per_op", Some(Better::Lower)),
            ("bytes-per-row", Some(Better::Lower)),
            ("ops-per-sec", Some(Better::Higher)),
            ("ops_per_sec", Some(Better::Higher)),
            ("row_per_ms", Some(Better::Higher)),
            ("qps", Some(Better::Higher)),
            ("read_IOPS", Some(Better::Higher)),
            ("peak-rps", Some(Better::Higher)),
            ("MB-per-sec", Some(Better::Higher)),
            ("op/ns", Some(Better::Higher)),
            ("allocs/s", None),
            ("hit%", None),
            ("cache-hit-%", None),
            ("saved-bytes", None),
            ("bytes_saved", None),
            ("saved-ns/op", None),
            ("errors/s", None),
            ("failed_requests_per_sec", None),
            ("personal-ms", Some(Better::Lower)),
        ] {
            assert_eq!(metadata.better(unit.into()), better, "{unit}");
        }
    }

    #[test]
    fn an_override_beats_what_inputs_say_in_any_form_of_the_unit() {
        let mut metadata = Metadata::default();
        set(&mut metadata, "ns/op", "better", "lower").unwrap();
        metadata.override_better("ns/op".into(), Better::Higher);
        assert_eq!(metadata.better("sec/op".into()), Some(Better::Higher));
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
