//! How large a change is, and how sure that is for the row alone.

use serde::Serialize;

use crate::report::model::Cell;
use crate::stats::{HodgesLehmann, Interval, UDistributions, smallest_p};
use crate::unit::Better;

/// How large a change is, with its interval.
///
/// All numbers have the same scale, and 0 is no change. The interval's level is 1 − α.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Effect {
    /// What the numbers mean.
    pub scale: EffectScale,
    /// What the estimate is.
    pub estimated_by: EstimatedBy,
    /// The estimate, within its interval; finite, as are the bounds unless they say why not.
    pub estimate: f64,
    /// The lower bound of the interval, or −∞.
    pub low: f64,
    /// The upper bound of the interval, or ∞.
    pub high: f64,
    /// The probability that the interval covers the change, 0 to 1.
    pub coverage: f64,
    /// Why the bounds are infinite, where they are.
    pub unbounded: Option<Unbounded>,
}

impl Effect {
    /// A bounded effect. What is beyond the largest number counts as that.
    pub(super) fn bounded(
        scale: EffectScale,
        estimated_by: EstimatedBy,
        [estimate, low, high]: [f64; 3],
        coverage: f64,
    ) -> Self {
        let finite = |value: f64| value.clamp(f64::MIN, f64::MAX);
        Self {
            scale,
            estimated_by,
            estimate: finite(estimate),
            low: finite(low),
            high: finite(high),
            coverage,
            unbounded: None,
        }
    }

    /// The effect where the values themselves are compared: known to the last digit.
    pub(super) fn exact(old: f64, new: f64) -> Self {
        let (scale, estimate) = match old {
            0.0 => (EffectScale::Difference, new),
            old if old > 0.0 && new > 0.0 => (EffectScale::Ratio, new / old - 1.0),
            old => (EffectScale::RelativeDifference, (new - old) / old.abs()),
        };
        Self::bounded(scale, EstimatedBy::Values, [estimate; 3], 1.0)
    }

    /// Whether there is an interval worth the name.
    #[must_use]
    pub fn is_bounded(&self) -> bool {
        self.unbounded.is_none()
    }

    /// The bounds of a ratio; none where the effect is no ratio or unbounded.
    pub(super) fn ratio_interval(&self) -> Option<Interval> {
        (self.scale == EffectScale::Ratio && self.is_bounded()).then_some(Interval {
            lo: 1.0 + self.low,
            hi: 1.0 + self.high,
        })
    }

    /// How bad the change is: the larger the worse, below 0 for a change to the better.
    ///
    /// The logarithm of the ratio in the bad direction, so that a halved throughput is as bad as a doubled time; infinite
    /// for a change from 0. Where the direction is unknown, any change counts as bad.
    #[must_use]
    pub fn badness(&self, better: Option<Better>) -> f64 {
        let size = match self.scale {
            EffectScale::Ratio => self.estimate.ln_1p(),
            EffectScale::RelativeDifference => self.estimate,
            EffectScale::Difference if self.estimate == 0.0 => 0.0,
            EffectScale::Difference => f64::INFINITY.copysign(self.estimate),
        };
        match better {
            Some(Better::Lower) => size,
            Some(Better::Higher) => -size,
            None => size.abs(),
        }
    }
}

/// What the numbers of an [`Effect`] mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EffectScale {
    /// new/old − 1, > −1; all values are positive, or exact.
    Ratio,
    /// (new − old)/|median of old|, as some value is not positive.
    RelativeDifference,
    /// new − old in the unit of the table, as the baseline's median is 0.
    Difference,
}

/// What the estimate of an [`Effect`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EstimatedBy {
    /// The change from value to value, as they are exact.
    Values,
    /// The median of all changes from a run of one side to a run of the other (Hodges & Lehmann 1963).
    Pairs,
    /// The change of the means, of logarithms.
    Means,
    /// The mean of the changes within rounds, of logarithms.
    Rounds,
    /// The geometric mean of the rows' quotients.
    Rows,
}

/// Why an interval has no bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Unbounded {
    /// Samples of these sizes cannot reach the level.
    TooFewRuns {
        /// How many values a side would; none up to the limit of the search.
        needed: Option<usize>,
    },
}

/// Estimates one effect after the other, and keeps between them what they share.
pub(super) struct Estimator {
    alpha: f64,
    shifts: HodgesLehmann,
    distributions: UDistributions,
}

impl Estimator {
    /// For intervals of the level 1 − `alpha`.
    pub fn new(alpha: f64) -> Self {
        Self {
            alpha,
            shifts: HodgesLehmann::new(),
            distributions: UDistributions::new(),
        }
    }

    /// The shift of Hodges and Lehmann (1963) with its interval, of the logarithms where all values are positive.
    pub fn effect(&mut self, base: &Cell, cell: &Cell) -> Effect {
        let [old, new] = &[base, cell].map(Cell::sorted);
        let level = 1.0 - self.alpha;
        let distributions = &mut self.distributions;
        let ratio = self.shifts.ratio(distributions, old, new, level);
        let (scale, unit, estimate) = if ratio.is_some() {
            (EffectScale::Ratio, 1.0, ratio)
        } else {
            let difference = self.shifts.difference(distributions, old, new, level);
            match base.centre {
                0.0 => (EffectScale::Difference, 1.0, difference),
                centre => (EffectScale::RelativeDifference, centre.abs(), difference),
            }
        };
        let Some(estimate) = estimate else {
            // Not reached: cells have values.
            return Effect::exact(base.centre, cell.centre);
        };
        let (no_change, none) = match scale {
            EffectScale::Ratio => (1.0, 0.0),
            _ => (0.0, f64::NEG_INFINITY),
        };
        let Interval { lo, hi } = estimate.interval;
        // Only one of the two may be beyond what numbers reach.
        let is_unbounded = lo == none && hi == f64::INFINITY;
        let scaled = [estimate.value, lo, hi].map(|value| (value - no_change) / unit);
        let effect = Effect::bounded(scale, EstimatedBy::Pairs, scaled, estimate.coverage);
        if !is_unbounded {
            return effect;
        }
        Effect {
            low: f64::NEG_INFINITY,
            high: f64::INFINITY,
            unbounded: Some(Unbounded::TooFewRuns {
                needed: smallest_size(self.alpha),
            }),
            ..effect
        }
    }
}

/// The largest number of values a side that is named as the one needed.
pub(super) const SEARCH_LIMIT: usize = 100;

/// What rounding may make of a p-value that is just α.
pub(super) const ROUNDING: f64 = 1e-12;

/// The smallest equal size at which some two-sided p-value is at most `alpha`.
pub(super) fn smallest_size(alpha: f64) -> Option<usize> {
    (1..=SEARCH_LIMIT).find(|&size| smallest_p(size, size) <= alpha * (1.0 + ROUNDING))
}
