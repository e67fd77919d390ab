//! Units of which nearly all rows moved by about the same.

use bstr::BString;
use indexmap::IndexMap;
use serde::Serialize;

use super::effect::EstimatedBy;
use super::judgement::Judgements;
use crate::report::model::Report;
use crate::sample::samples::lossy;
use crate::stats::{FEWEST_ROWS, Interval};

/// Most rows of a unit moved by about the same: more likely the machine than the change.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Shift {
    /// The column, as an index of [`Report::columns`].
    pub column: usize,
    /// The unit.
    #[serde(serialize_with = "lossy")]
    pub unit: BString,
    /// How many rows moved in the direction of the shift.
    pub moved: usize,
    /// How many rows there are.
    pub rows: usize,
    /// The mean change: geometric mean of the ratios, less 1.
    pub mean: f64,
    /// Half the width of the mean's 95 % interval, as a part of the baseline, ≥ 0.
    pub reach: f64,
}

/// The part of rows that must move the same way.
pub(super) const SHIFT_SHARE: f64 = 0.9;
/// The part of rows whose interval must hold the common change.
const SHIFT_AGREEMENT: f64 = 0.8;
/// A common change that is smaller is not worth a word.
pub(super) const SHIFT_SIZE: f64 = 0.005;
/// Rows of a unit need to be as many for a shift of all of them to mean something.
const SHIFT_ROWS: usize = FEWEST_ROWS;

/// Units of which nearly all rows moved the same way by about the same.
///
/// A change to the code rarely moves everything alike; another clock rate, a neighbour or a colder machine do. Reported if of at
/// least 8 rows with noise at least 90 % moved the same way, the mean change is at least 0.5 % and clear of its 95 %
/// interval, and it lies within the intervals of at least 80 % of the rows.
///
/// Where rows were compared by rounds that is settled already: `of_rounds` has what moved.
pub(super) fn shifts(
    report: &Report,
    judgements: &Judgements,
    of_rounds: Vec<Shift>,
) -> Vec<Shift> {
    let mut groups: IndexMap<(usize, BString), Vec<Interval>> = IndexMap::new();
    let mut estimates: IndexMap<(usize, BString), Vec<f64>> = IndexMap::new();
    for row in judgements.rows(report) {
        let Some(effect) = row.judgement.effect.as_ref() else {
            continue;
        };
        let interval = effect.ratio_interval().filter(|interval| {
            interval.lo < interval.hi && effect.estimated_by != EstimatedBy::Rounds
        });
        let Some(interval) = interval else {
            continue;
        };
        let group = (row.position().column, row.table.unit.clone());
        groups.entry(group.clone()).or_default().push(interval);
        estimates
            .entry(group)
            .or_default()
            .push(effect.estimate.ln_1p());
    }
    let groups = groups.into_iter().zip(estimates.into_values());
    let without_rounds = groups.filter_map(|(((column, unit), intervals), logs)| {
        let rows = logs.len();
        if rows < SHIFT_ROWS {
            return None;
        }
        let count = rows as f64;
        let mean = logs.iter().sum::<f64>() / count;
        let squares: f64 = logs.iter().map(|log| (log - mean).powi(2)).sum();
        let reach = 1.96 * (squares / (count - 1.0) / count).sqrt();
        let moved = logs.iter().filter(|log| **log * mean > 0.0).count();
        let ratio = mean.exp();
        let agree = intervals
            .iter()
            .filter(|interval| interval.lo <= ratio && ratio <= interval.hi)
            .count();
        let is_shift = moved as f64 >= SHIFT_SHARE * count
            && agree as f64 >= SHIFT_AGREEMENT * count
            && mean.abs() > reach
            && mean.abs() >= SHIFT_SIZE;
        is_shift.then(|| Shift {
            column,
            unit,
            moved,
            rows,
            mean: mean.exp_m1(),
            reach: ratio * reach.exp_m1(),
        })
    });
    of_rounds.into_iter().chain(without_rounds).collect()
}
