//! The proof that a gate can fire: the new side is made worse in memory.

use super::gate::{Gate, GateError, Outcome};
use super::judged::{Judged, Provenance, judge_given};
use super::judgement::JudgedRow;
use super::judging::Judging;
use crate::report::model::{Position, Report};
use crate::sample::Samples;
use crate::unit::{Better, Metadata};

/// What a gate made of rows that got worse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelfTest {
    /// What it made of each row that it looks at.
    pub rows: Vec<(Position, Reaction)>,
    /// Passed where it fired for each row that could get worse and no waiver tolerates, and there is one.
    pub outcome: Outcome,
}

/// What a gate made of a row that got worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reaction {
    /// It fired.
    Fired,
    /// A waiver tolerates it.
    Waived,
    /// It did not get worse: there was nothing to lose.
    AtWorst,
    /// It did not fire.
    Silent,
}

impl SelfTest {
    /// What `gate` made of what [`judge_one_at_a_time`] judged.
    #[must_use]
    pub fn of(judged: &Judged, gate: &Gate) -> Self {
        let both_sides = judged.rows().filter(|row| row.judgement.effect.is_some());
        let gated = both_sides.filter(|row| gate.looks_at(row.position()));
        let rows: Vec<_> = gated
            .map(|row| (row.position(), reaction(&row, gate)))
            .collect();
        let fired = |(_, reaction): &(Position, Reaction)| *reaction == Reaction::Fired;
        let silent = |(_, reaction): &(Position, Reaction)| *reaction == Reaction::Silent;
        let outcome = if gate.outcome == Outcome::CouldNotJudge {
            // A gate that cannot judge proves nothing.
            Outcome::CouldNotJudge
        } else if rows.iter().any(fired) && !rows.iter().any(silent) {
            Outcome::Passed
        } else {
            Outcome::Failed
        };
        Self { rows, outcome }
    }

    /// For how many rows the gate reacted so.
    #[must_use]
    pub fn count(&self, reaction: Reaction) -> usize {
        let rows = self.rows.iter();
        rows.filter(|(_, of_row)| *of_row == reaction).count()
    }
}

fn reaction(row: &JudgedRow<'_>, gate: &Gate) -> Reaction {
    let is_nothing = || {
        row.cell
            .is_some_and(|cell| cell.values.iter().all(|value| value == 0.0))
    };
    if gate.offending.contains(&row.position()) {
        Reaction::Fired
    } else if row.judgement.is_waived() {
        Reaction::Waived
    } else if row.table.better == Some(Better::Higher) && is_nothing() {
        Reaction::AtWorst
    } else {
        Reaction::Silent
    }
}

/// Judges each row of `worse` as if it alone differed from `report`: a change of all rows at once would be none that a gate has
/// to find.
///
/// # Errors
/// A [`GateError`] where a gate was asked what it cannot know.
pub fn judge_one_at_a_time(
    report: Report,
    worse: Report,
    judging: &Judging,
    provenance: Provenance,
) -> Result<Judged, GateError> {
    let without_gate = Judging {
        gate: None,
        ..judging.clone()
    };
    let (_, undisturbed) = judge_given(report, &without_gate, provenance.clone(), None)?;
    let (judged, _) = judge_given(worse, judging, provenance, Some(&undisturbed))?;
    Ok(judged)
}

/// Makes all values outside the run's first column worse by `part`, 0 to 1, of themselves in the bad direction of their
/// unit; where that is unknown, larger.
///
/// A sample of nothing but zeros has no part to get worse by. Where less is better, its values become 1.
pub fn worsen(samples: &mut Samples, metadata: &Metadata, part: f64) {
    for table in &mut samples.tables {
        let better = metadata.better(table.unit.as_ref());
        for (column, sample) in table.samples.iter_mut().flatten() {
            if table.places[*column] == 0 {
                continue;
            }
            let is_nothing = sample.values.iter().all(|value| value == 0.0);
            let worse = |value: f64| match better {
                Some(Better::Higher) => value - part * value.abs(),
                Some(Better::Lower) | None if is_nothing => 1.0,
                Some(Better::Lower) | None => value + part * value.abs(),
            };
            sample.values = sample.values.iter().map(worse).collect();
        }
    }
}
