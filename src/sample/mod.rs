//! Samples: the values of each (table, row, column), in the order read.

pub mod builder;
pub mod environment;
pub mod samples;
pub mod seen;
pub mod values;

pub use builder::{Builder, MOST_CONFIGURED};
pub use environment::{ENVIRONMENT_KEYS, EnvironmentDifference, Environments};
pub use samples::{Field, Sample, SampleTable, Samples};
pub use seen::{ChangingValues, SeenKeys};
pub use values::Values;
