//! The proof that a gate can fire: the new side is made worse in memory.

use super::gate::GateError;
use super::judged::{Judged, Provenance, judge_given};
use super::judging::Judging;
use crate::report::model::Report;
use crate::sample::Samples;
use crate::unit::{Better, Metadata};

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
