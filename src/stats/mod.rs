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
//! * [`clip`]: slow runs that would drown a comparison, pulled in;
//! * [`moderated`]: standard errors that rows lend each other;
//! * [`rounds`]: what is left of a difference once each round is compared with itself;
//! * [`power`]: what could have been shown, and what more runs would show;
//! * [`drift`]: what only the order of measurement shows, and values far from the rest.
//!
//! The tests are ours rather than a crate's: `statrs` 0.19 answers p = 1 in its exact Mann-Whitney whenever n1 ≤ n2 and
//! refuses ties, and the printed digits have to be the reference's.

pub mod clip;
pub mod drift;
pub mod exact;
mod exponential;
pub mod geomean;
pub mod hodges_lehmann;
pub mod mann_whitney;
pub mod median;
pub mod moderated;
pub mod multiplicity;
mod normal;
pub mod power;
pub mod rounds;

pub use clip::clip;
pub use drift::{Outliers, Trend, TrendTest};
pub use exact::ExactSummary;
pub use geomean::{GeoMean, geomean_interval};
pub use hodges_lehmann::{Estimate, HodgesLehmann, interval_rank};
pub use mann_whitney::{
    MannWhitney, Method, UDistributions, UTest, samples_for_significance, smallest_one_sided_p,
    smallest_p,
};
pub use median::{Interval, Ranks, interval_ranks, mean, median, samples_for_interval};
pub use moderated::{Spread, t_critical, t_upper_tail};
pub use multiplicity::{among, benjamini_hochberg, countable, holm, tarone_holm};
pub use power::{Hurdles, critical_z, runs_that_tolerate, tolerated_slow_runs};
pub use rounds::{FEWEST_ROWS, pass_deviation, sign_flip_p};
