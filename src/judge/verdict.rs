//! What a comparison comes to.

use std::fmt;

use serde::Serialize;

use super::effect::Effect;
use crate::unit::Better;

/// What a comparison comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Worse by more than the margin, for sure.
    Regression,
    /// Different by more than the margin, for sure, in a unit of which nobody said which direction is better.
    Changed,
    /// Worse by more than the margin, as it looks, but not for sure.
    Suspect,
    /// Different for sure, but perhaps by less than the margin.
    Unclear,
    /// In the baseline only.
    Removed,
    /// Not in the baseline.
    Added,
    /// Better by more than the margin, for sure.
    Improvement,
    /// Better by more than the margin, as it looks, but not for sure.
    Promising,
    /// Not significant, and yet the change may be larger than the margin; or too few values to tell anything.
    Inconclusive,
    /// At most the margin apart, for sure.
    Unchanged,
}

impl Verdict {
    /// All verdicts, in the order of how much attention they want.
    pub const ALL: [Self; 10] = [
        Self::Regression,
        Self::Changed,
        Self::Suspect,
        Self::Unclear,
        Self::Removed,
        Self::Added,
        Self::Improvement,
        Self::Promising,
        Self::Inconclusive,
        Self::Unchanged,
    ];

    /// The word for it; the one place that has it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Regression => "regression",
            Self::Changed => "changed",
            Self::Suspect => "suspect",
            Self::Unclear => "unclear",
            Self::Removed => "removed",
            Self::Added => "added",
            Self::Improvement => "improvement",
            Self::Promising => "promising",
            Self::Inconclusive => "inconclusive",
            Self::Unchanged => "unchanged",
        }
    }

    /// The word for `count` of them.
    #[must_use]
    pub fn words(self, count: usize) -> &'static str {
        match self {
            Self::Regression if count != 1 => "regressions",
            Self::Improvement if count != 1 => "improvements",
            other => other.word(),
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.word())
    }
}

impl Verdict {
    /// Whether it says that something changed.
    #[must_use]
    pub fn is_change(self) -> bool {
        !matches!(self, Self::Unchanged | Self::Inconclusive)
    }

    /// Whether it says that something changed by more than the margin, for sure.
    #[must_use]
    pub fn is_proven_change(self) -> bool {
        matches!(self, Self::Regression | Self::Improvement | Self::Changed)
    }

    /// What an interval, the limit of what does not matter and the corrected p-value give; exact values have no p, and need
    /// none.
    pub(super) fn of(
        effect: &Effect,
        limit: f64,
        adjusted_p: Option<f64>,
        better: Option<Better>,
        alpha: f64,
    ) -> Self {
        if effect.low >= -limit && effect.high <= limit {
            return Self::Unchanged;
        }
        let p = adjusted_p.unwrap_or_default();
        if !effect.is_bounded() {
            return Self::Inconclusive;
        }
        let is_above = effect.low > limit;
        let is_below = effect.high < -limit;
        if p > alpha {
            // Among many rows some interval is beyond the margin by chance alone: then its p says nothing either.
            let looks_changed = (is_above || is_below) && p <= SUSPICIOUS * alpha;
            return match (looks_changed, is_above, better) {
                (false, ..) => Self::Inconclusive,
                (true, true, Some(Better::Higher)) | (true, false, Some(Better::Lower)) => {
                    Self::Promising
                }
                (true, ..) => Self::Suspect,
            };
        }
        match (is_above, is_below, better) {
            (false, false, _) => Self::Unclear,
            (_, _, None) => Self::Changed,
            (true, _, Some(Better::Lower)) | (_, true, Some(Better::Higher)) => Self::Regression,
            (_, _, Some(_)) => Self::Improvement,
        }
    }
}

/// Up to how many times α a corrected p-value looks suspicious: without any change, that is at most one run in five at α = 0.05.
pub(super) const SUSPICIOUS: f64 = 4.0;
