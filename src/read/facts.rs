//! What is known of an input besides its results.

use bstr::BString;

use crate::input::Likeness;
use crate::record::Findings;
use crate::sample::{Field, SeenKeys};

/// What is known of an input besides its results.
#[derive(Clone, Debug, Default)]
pub struct InputFacts {
    /// Its name as given.
    pub name: BString,
    /// How many results it has, used or not.
    pub results: u64,
    /// Whether any measurement of it is used.
    pub is_used: bool,
    /// How many warnings there are on its lines, but for those on benchmarks that ended without a result: the findings
    /// tell of these.
    pub faults: usize,
    /// What was found around the results.
    pub findings: Findings,
    /// How many more results are left out: those of damaged events, and those that cannot be written as benchmark text.
    pub left_out: u64,
    /// What it looks like; none where it has results.
    pub likeness: Option<Likeness>,
    /// What there is to ask for.
    pub seen: SeenKeys,
    /// What it says of units.
    pub units: Vec<UnitStatement>,
    /// The columns that its results go to; only filled in where it says something of units.
    pub columns: Vec<Vec<Field>>,
}

impl InputFacts {
    /// How many results are in the input and not in what is made of it, but for those that the query leaves out.
    #[must_use]
    pub fn lost(&self) -> u64 {
        let Findings {
            refused,
            torn,
            behind_prefixes,
            ..
        } = &self.findings;
        refused.count + torn.count + behind_prefixes.count + self.left_out
    }
}

/// What an input says of a unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitStatement {
    /// The unit as written.
    pub unit: BString,
    /// The key, such as `better`.
    pub key: BString,
    /// The value, such as `higher`.
    pub value: BString,
}
