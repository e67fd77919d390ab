//! Statistics: slices in, numbers out.
//!
//! Nothing here knows about benchmarks, units or files. Samples come in as slices of finite numbers, sorted in ascending
//! order wherever an argument is called `sorted`, `x` or `y`; [`drift`] alone wants the order of measurement.
//!
//! * [`mod@median`]: the centre of a sample and the order-statistic interval around it;
//! * [`exact`]: what stands in for both when a unit promises no noise;
//! * [`mann_whitney`]: whether two samples differ;
//! * [`hodges_lehmann`]: by how much, with the interval that inverts the same test;
//! * [`geomean`]: many rows as one number;
//! * [`multiplicity`]: what many comparisons at once do to their p-values;
//! * [`drift`]: what only the order of measurement shows, and values far from the rest.
//!
//! The tests are ours rather than a crate's: `statrs` 0.19 answers p = 1 in its exact Mann-Whitney whenever n1 ≤ n2 and
//! refuses ties, and the printed digits have to be the reference's.

pub mod drift;
pub mod exact;
mod exponential;
pub mod geomean;
pub mod hodges_lehmann;
pub mod mann_whitney;
pub mod median;
pub mod multiplicity;
mod normal;

pub use drift::{Outliers, Trend, TrendTest};
pub use exact::ExactSummary;
pub use geomean::{GeoMean, geomean_interval};
pub use hodges_lehmann::{
    Estimate, HodgesLehmann, interval_rank, samples_to_detect, smallest_detectable_change,
};
pub use mann_whitney::{
    MannWhitney, Method, UDistributions, UTest, samples_for_significance, smallest_p,
};
pub use median::{Interval, Ranks, interval_ranks, median, samples_for_interval};
pub use multiplicity::{benjamini_hochberg, holm};
