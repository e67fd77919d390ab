//! What a reader of the numbers should know about them.

use std::fmt;

use bstr::BString;
use serde::Serialize;

use crate::record::spelling::Shortest;

/// A remark carried beside the number it is about.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Warning {
    /// Results pooled in one cell differ in keys that no projection names.
    Vary {
        /// The keys, configuration keys first.
        #[serde(serialize_with = "crate::sample::samples::lossy_list")]
        keys: Vec<BString>,
    },
    /// Too few values for an interval at this level.
    FewForInterval {
        /// The number that would do, or none up to the limit of the search.
        needed: Option<usize>,
        /// The confidence level, 0 to 1.
        level: f64,
    },
    /// Values of a unit said to be exact differ.
    NotExact {
        /// The smallest value, in the unit of the table.
        min: f64,
        /// The largest value, in the unit of the table.
        max: f64,
    },
    /// Too few values for any difference to be significant.
    FewForDifference {
        /// The number that would do, or none up to the limit of the search.
        needed: Option<usize>,
        /// The significance level, 0 to 1.
        alpha: f64,
    },
    /// All values on both sides are the same.
    AllEqual,
    /// Column and baseline have different rows, so their geomeans are of different things.
    BenchmarkSetDiffers,
    /// A centre is zero or negative.
    NonPositiveSummary,
    /// A ratio of centres is zero or negative, or there is none.
    NonPositiveRatio,
}

/// The largest sample size searched for an interval.
const INTERVAL_SEARCH_LIMIT: usize = 50;
/// The size named when none up to it makes a difference significant.
pub(super) const DIFFERENCE_SEARCH_LIMIT: usize = 10;

impl fmt::Display for Warning {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Vary { keys } => {
                formatter.write_str("benchmarks vary in ")?;
                for (index, key) in keys.iter().enumerate() {
                    let separator = if index == 0 { "" } else { ", " };
                    write!(formatter, "{separator}{key}")?;
                }
                Ok(())
            }
            Self::FewForInterval { needed, level } => {
                write_needed(formatter, *needed, INTERVAL_SEARCH_LIMIT)?;
                write!(
                    formatter,
                    " samples for confidence interval at level {}",
                    Shortest(*level)
                )
            }
            Self::NotExact { min, max } => write!(
                formatter,
                "exact distribution expected, but values range from {} to {}",
                Shortest(*min),
                Shortest(*max)
            ),
            Self::FewForDifference { needed, alpha } => {
                write_needed(formatter, *needed, DIFFERENCE_SEARCH_LIMIT)?;
                write!(
                    formatter,
                    " samples to detect a difference at alpha level {}",
                    Shortest(*alpha)
                )
            }
            Self::AllEqual => formatter.write_str("all samples are equal"),
            Self::BenchmarkSetDiffers => formatter
                .write_str("benchmark set differs from baseline; geomeans may not be comparable"),
            Self::NonPositiveSummary => {
                formatter.write_str("summaries must be >0 to compute geomean")
            }
            Self::NonPositiveRatio => formatter.write_str("ratios must be >0 to compute geomean"),
        }
    }
}

fn write_needed(
    formatter: &mut fmt::Formatter<'_>,
    needed: Option<usize>,
    limit: usize,
) -> fmt::Result {
    match needed {
        Some(needed) => write!(formatter, "need >= {needed}"),
        None => write!(formatter, "need > {limit}"),
    }
}
