//! Which rows more measurements could still say something about.

use super::gate::{FailOn, Gate};
use super::judged::Judged;
use super::judgement::{JudgedRow, Judgement};
use super::obstacle::Obstacle;
use super::verdict::Verdict;
use crate::report::model::Position;
use crate::unit::Better;

/// The part of α that each early look at unfinished measurements spends; the last look has what is left. At α = 0.05 that is the
/// boundary of Haybittle (1971) and Peto et al. (1976), p < 0.001, and by the union bound all looks together spend at most α,
/// whatever the tests are.
const EARLY_PART: f64 = 1.0 / 50.0;

/// The level of an early look.
#[must_use]
pub fn early_level(alpha: f64) -> f64 {
    alpha * EARLY_PART
}

/// The level that is left for the last look after `early` ones.
#[must_use]
pub fn last_level(alpha: f64, early: usize) -> f64 {
    alpha * (1.0 - early as f64 * EARLY_PART)
}

/// The rows of which up to `most_runs` fresh values a side could change what the run comes to: those that would fail the gate,
/// look like it, or cannot be told from it at these counts and could be at that.
#[must_use]
pub fn doubtful(judged: &Judged, most_runs: usize) -> Vec<JudgedRow<'_>> {
    let fail_on = judged.gate.as_ref().map(|gate| gate.fail_on);
    let controls = changed_controls(judged);
    let rows = judged.rows().filter(|row| is_asked(judged, row));
    let is_doubtful = |row: &JudgedRow<'_>| {
        is_in_doubt(row, fail_on, most_runs) || controls.contains(&row.position())
    };
    rows.filter(is_doubtful).collect()
}

/// What changed and cannot have, so that there would be no answer.
fn changed_controls(judged: &Judged) -> &[Position] {
    let mut obstacles = judged.gate.iter().flat_map(Gate::standing);
    let found = obstacles.find_map(|obstacle| match obstacle {
        Obstacle::Control { places } => Some(places.as_slice()),
        _ => None,
    });
    found.unwrap_or_default()
}

/// Whether every row is decided, so that measuring can end early: `strict` is the same run at the level of an early look. Where
/// more measurements follow, what got worse is left to them.
#[must_use]
pub fn is_decided(judged: &Judged, strict: &Judged, is_last_stage: bool) -> bool {
    let mut rows = judged.rows().filter(|row| is_asked(judged, row)).peekable();
    rows.peek().is_some()
        && rows.all(|row| {
            let strictly = strict.judgements.get(row.position());
            !is_tested(row.judgement)
                || strictly.is_some_and(|strictly| {
                    let has_side =
                        ReachedSides::of(strictly, None).is_some_and(ReachedSides::is_one);
                    has_side && (!is_last_stage || is_final(strictly.verdict))
                })
        })
}

/// Whether the verdict of a row matters.
fn is_asked(judged: &Judged, row: &JudgedRow<'_>) -> bool {
    (judged.gate.is_none() || judged.is_gated(row.position())) && !row.judgement.is_waived()
}

/// Whether chance is involved at all: counts that never vary are what they are.
fn is_tested(judgement: &Judgement) -> bool {
    judgement.adjusted_p.is_some()
}

fn is_final(verdict: Verdict) -> bool {
    matches!(
        verdict,
        Verdict::Regression | Verdict::Improvement | Verdict::Changed | Verdict::Unchanged
    )
}

fn is_in_doubt(row: &JudgedRow<'_>, fail_on: Option<FailOn>, most_runs: usize) -> bool {
    let judgement = row.judgement;
    if !is_tested(judgement) {
        return false;
    }
    // What only gets better fails no gate but that on any change.
    let better = match fail_on {
        Some(FailOn::Regression | FailOn::Unproven) => row.table.better,
        Some(FailOn::Change) | None => None,
    };
    let reaches_beyond =
        || ReachedSides::of(judgement, better).is_none_or(|sides| sides.worse || sides.better);
    match judgement.verdict {
        Verdict::Unchanged | Verdict::Added | Verdict::Removed => false,
        Verdict::Improvement => matches!(fail_on, Some(FailOn::Change)),
        Verdict::Regression | Verdict::Suspect | Verdict::Changed => true,
        Verdict::Unclear | Verdict::Promising | Verdict::Inconclusive => {
            let could_be_told = judgement
                .detecting_count
                .is_some_and(|count| count <= most_runs);
            reaches_beyond() && could_be_told || is_promising(row, better, most_runs)
        }
    }
}

/// Whether fresh values could show a change beyond the margin in one case of five, if the change is what it looks like: then the
/// bound of their interval is beyond it by chance. Their interval is as much narrower as there are more of them.
fn is_promising(row: &JudgedRow<'_>, better: Option<Better>, most_runs: usize) -> bool {
    /// What is left of the half-width of a 95 % interval with luck that one in five has: 1 − 0.84 / 1.96.
    const WITH_LUCK: f64 = 0.57;
    let (Some(effect), Some(margin)) = (&row.judgement.effect, row.judgement.margin) else {
        return false;
    };
    let runs = row.cell.map_or(0, |cell| cell.values.len());
    let narrower = (runs as f64 / most_runs.max(1) as f64).sqrt() * WITH_LUCK;
    let above = effect.estimate - (effect.estimate - effect.low) * narrower > margin.limit;
    let below = effect.estimate + (effect.high - effect.estimate) * narrower < -margin.limit;
    effect.is_bounded()
        && match better {
            None => above || below,
            Some(Better::Lower) => above,
            Some(Better::Higher) => below,
        }
}

/// Where an interval reaches.
#[derive(Clone, Copy)]
struct ReachedSides {
    /// Beyond the margin in the bad direction.
    worse: bool,
    /// Into what does not matter.
    within: bool,
    /// Beyond the margin in the good direction.
    better: bool,
}

impl ReachedSides {
    /// Where the interval of a row reaches; none where there is no interval. Only the bad direction counts of one that is known.
    fn of(judgement: &Judgement, better: Option<Better>) -> Option<Self> {
        let (effect, margin) = (judgement.effect.as_ref()?, judgement.margin?);
        if !effect.is_bounded() {
            return None;
        }
        let (above, below) = (effect.high > margin.limit, effect.low < -margin.limit);
        let (worse, good) = match better {
            None => (above, below),
            Some(Better::Lower) => (above, false),
            Some(Better::Higher) => (below, false),
        };
        Some(Self {
            worse,
            within: effect.low <= margin.limit && effect.high >= -margin.limit,
            better: good,
        })
    }

    fn is_one(self) -> bool {
        usize::from(self.worse) + usize::from(self.within) + usize::from(self.better) == 1
    }
}
