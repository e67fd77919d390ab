//! Who says which direction of a unit is better and whether its values are exact: never the side that is judged.
//!
//! `text` and `csv` go by all `Unit` lines, as the reference does. A verdict goes by those of the baseline's inputs, by
//! `-better`, and by what is known of common units. Otherwise a change could turn its own regression into an improvement.

use bstr::{BStr, BString};

use super::obstacle::UnitDispute;
use crate::read::InputFacts;
use crate::sample::Field;
use crate::unit::{Better, Metadata};

/// What verdicts go by, and what was said against it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UnitRules {
    /// What verdicts go by.
    pub metadata: Metadata,
    /// What inputs of other columns say that it does not have, each once.
    pub disputes: Vec<UnitDispute>,
}

impl UnitRules {
    /// The rules of a run with this `baseline` column, given with all its inputs in order, and with the directions of `-better`.
    #[must_use]
    pub fn of(
        inputs: &[InputFacts],
        baseline: Option<&[Field]>,
        better: &[(BString, Better)],
    ) -> Self {
        let mut rules = Self::default();
        let decides = |input: &&InputFacts| {
            baseline.is_none_or(|baseline| input.columns.iter().any(|column| column == baseline))
        };
        for statement in inputs.iter().filter(decides).flat_map(|input| &input.units) {
            let (unit, key, value) = (&statement.unit, &statement.key, &statement.value);
            // Of two values the first stays; the second has its warning already.
            let _ = rules
                .metadata
                .set(unit.as_ref(), key.as_ref(), value.as_ref());
        }
        for (unit, better) in better {
            rules.metadata.override_better(unit.as_ref(), *better);
        }
        for input in inputs.iter().filter(|input| !decides(input)) {
            for statement in &input.units {
                let unit: &BStr = statement.unit.as_ref();
                let is_disputed = match statement.key.as_slice() {
                    b"better" => {
                        let claim = Better::named(&statement.value);
                        let rule = rules.metadata.better(unit);
                        rule.is_some() && claim.is_some() && claim != rule
                    }
                    b"assume" => (statement.value == "exact") != rules.metadata.assumes_exact(unit),
                    _ => false,
                };
                let dispute = UnitDispute {
                    unit: statement.unit.clone(),
                    claim: format!("{}={}", statement.key, statement.value).into(),
                    input: input.name.clone(),
                };
                if is_disputed && !rules.disputes.contains(&dispute) {
                    rules.disputes.push(dispute);
                }
            }
        }
        rules
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::read::UnitStatement;

    fn column(label: &str) -> Vec<Field> {
        vec![Field {
            key: Arc::new(".file".into()),
            value: label.into(),
        }]
    }

    fn input(label: &str, statements: &[(&str, &str, &str)]) -> InputFacts {
        InputFacts {
            name: label.into(),
            columns: vec![column(label)],
            units: statements
                .iter()
                .map(|&(unit, key, value)| UnitStatement {
                    unit: unit.into(),
                    key: key.into(),
                    value: value.into(),
                })
                .collect(),
            ..InputFacts::default()
        }
    }

    fn rules(old: &[(&str, &str, &str)], new: &[(&str, &str, &str)]) -> UnitRules {
        let inputs = [input("old", old), input("new", new)];
        UnitRules::of(&inputs, Some(&column("old")), &[])
    }

    #[test]
    fn the_baseline_and_what_is_known_decide_and_never_the_judged_side() {
        let higher = [("ns/op", "better", "higher")];
        let said_by_new = rules(&[], &higher);
        assert_eq!(
            said_by_new.metadata.better("sec/op".into()),
            Some(Better::Lower)
        );
        assert_eq!(said_by_new.disputes.len(), 1);
        let said_by_old = rules(&higher, &[]);
        assert_eq!(
            said_by_old.metadata.better("sec/op".into()),
            Some(Better::Higher)
        );
        assert_eq!(said_by_old.disputes, []);
        let contradicted = rules(&higher, &[("sec/op", "better", "lower")]);
        assert_eq!(
            contradicted.metadata.better("sec/op".into()),
            Some(Better::Higher)
        );
        assert_eq!(contradicted.disputes.len(), 1);
    }

    #[test]
    fn nobody_is_contradicted_where_the_sides_agree_or_nothing_is_known() {
        let same = [("ns/op", "better", "lower")];
        assert_eq!(rules(&same, &same).disputes, []);
        assert_eq!(rules(&[], &same).disputes, []);
        let own = rules(&[], &[("frobs", "better", "higher")]);
        assert_eq!(
            (own.metadata.better("frobs".into()), own.disputes),
            (None, vec![])
        );
    }

    #[test]
    fn exactness_is_for_the_baseline_to_say() {
        let exact = [("allocs/op", "assume", "exact")];
        let said_by_new = rules(&[], &exact);
        assert!(!said_by_new.metadata.assumes_exact("allocs/op".into()));
        assert_eq!(said_by_new.disputes[0].claim, "assume=exact");
        assert!(
            rules(&exact, &[])
                .metadata
                .assumes_exact("allocs/op".into())
        );
    }

    #[test]
    fn the_flag_is_above_all() {
        let inputs = [
            input("old", &[("frobs", "better", "lower")]),
            input("new", &[("frobs", "better", "higher")]),
        ];
        let flag = [("frobs".into(), Better::Higher)];
        let rules = UnitRules::of(&inputs, Some(&column("old")), &flag);
        assert_eq!(rules.metadata.better("frobs".into()), Some(Better::Higher));
        assert_eq!(rules.disputes, []);
    }
}
