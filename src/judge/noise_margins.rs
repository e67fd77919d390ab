//! The margins that runs of the same code need to be called unchanged.

use super::effect::Effect;
use super::gate::Outcome;
use super::judged::Judged;
use super::margin::Amount;
use super::row_name::{Distinctions, Keys, RowName};
use super::shift::Shift;
use crate::sample::EnvironmentDifference;

/// What the noise of a run comes to.
#[derive(Clone, Debug, PartialEq)]
pub enum NoiseMargins {
    /// The margins, one for each row with two sides; at least one.
    Measured(Vec<RowMargin>),
    /// The sides were measured on different things.
    OtherMachine(EnvironmentDifference),
    /// The sides really differ, all of them by this much if there is a shift.
    OtherCode(Option<Shift>),
    /// No row has two sides.
    NothingCompared,
}

/// The margin of a row.
#[derive(Clone, Debug, PartialEq)]
pub struct RowMargin {
    /// What the row is called.
    pub name: RowName,
    /// What tells it from others that are called the same.
    pub keys: Keys,
    /// The margin; none where there are too few runs for one.
    pub amount: Option<Amount>,
}

impl NoiseMargins {
    /// Those of a judged run.
    #[must_use]
    pub fn of(judged: &Judged) -> Self {
        let summary = &judged.summary;
        if let Some(difference) = summary.environments.differences.first() {
            return Self::OtherMachine(difference.clone());
        }
        let shift = summary.shifts.first();
        if shift.is_some() || summary.worst.is_some() || summary.counts.improvement > 0 {
            return Self::OtherCode(shift.cloned());
        }
        let distinctions = Distinctions::new(&judged.report);
        let mut margins = Vec::new();
        for (index, table) in judged.report.tables.iter().enumerate() {
            for (at, row) in table.rows.iter().enumerate() {
                let judgements = judged.judgements.of_row(index, at).iter();
                let effects: Vec<Effect> = judgements
                    .filter_map(|judgement| judgement.effect)
                    .collect();
                if effects.is_empty() {
                    continue;
                }
                let name = RowName::of(table, row);
                margins.push(RowMargin {
                    keys: distinctions.of(&name, (index, at)),
                    name,
                    amount: Amount::around(&effects),
                });
            }
        }
        if margins.is_empty() {
            return Self::NothingCompared;
        }
        Self::Measured(margins)
    }

    /// How many rows have too few runs for a margin.
    #[must_use]
    pub fn too_few_runs(&self) -> usize {
        match self {
            Self::Measured(margins) => {
                let few = margins.iter().filter(|margin| margin.amount.is_none());
                few.count()
            }
            Self::OtherMachine(_) | Self::OtherCode(_) | Self::NothingCompared => 0,
        }
    }

    /// Passed where each row has a margin, else there is no answer.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        match self {
            Self::Measured(_) if self.too_few_runs() == 0 => Outcome::Passed,
            _ => Outcome::CouldNotJudge,
        }
    }
}
