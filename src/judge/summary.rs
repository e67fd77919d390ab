//! What a run comes to as a whole.

use super::adjust::Adjust;
use super::counts::Counts;
use super::shift::Shift;
use crate::report::model::Position;
use crate::sample::Environments;
use crate::stats::{UDistributions, tolerated_slow_runs};

/// What a run comes to as a whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// How often each verdict was given.
    pub counts: Counts,
    /// The significance level, 0 to 1; intervals of change have the level 1 − α.
    pub alpha: f64,
    /// How p-values were corrected.
    pub adjust: Adjust,
    /// How many comparisons the correction is for: those that could be significant at all, evidence that is told in two units
    /// counted once.
    pub comparisons: usize,
    /// How many of them have too few values to be significant after correction, had they alone changed.
    pub too_few_runs: usize,
    /// The smallest number of values a side with which a lone change could be significant after correction; none up to the
    /// limit of the search.
    pub runs_needed: Option<usize>,
    /// How many slow runs the smallest sample tolerates; none where nothing was compared.
    pub tolerance: Option<Tolerance>,
    /// The worst regression that no waiver tolerates.
    pub worst: Option<Position>,
    /// Units of which most rows moved by about the same.
    pub shifts: Vec<Shift>,
    /// What each column was measured on, and where that differs from the baseline.
    pub environments: Environments,
    /// How many cells have a trend.
    pub trends: usize,
}

/// How many runs of the faster side may be slower than all of the other, and the ranks alone still prove the change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// What the one-sided p-value of a lone change has to be at most, before correction.
    pub alpha: f64,
    /// How many runs a side the smallest comparison has.
    pub runs: usize,
    /// How many of them may be; none where the ranks prove nothing with so few runs.
    pub slow: Option<usize>,
    /// How many runs a side tolerate one such run; none up to the limit of the search.
    pub runs_for_one: Option<usize>,
}

impl Tolerance {
    /// How many slow runs would be tolerated, were there so many `runs` a side; none where the ranks would prove nothing.
    ///
    /// No more than a fifth: of more not all are pulled in before means are taken.
    #[must_use]
    pub fn with(&self, runs: usize) -> Option<usize> {
        let by_ranks = tolerated_slow_runs(&mut UDistributions::new(), runs, self.alpha)?;
        Some(by_ranks.min(runs / 5))
    }
}
