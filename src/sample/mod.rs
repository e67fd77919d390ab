//! Samples: the values of each (table, row, column), in the order read.

pub mod builder;
pub mod names;
pub mod samples;
pub mod seen;

pub use builder::Builder;
pub use samples::{KeyField, Sample, SampleTable, Samples};
pub use seen::{Changing, Seen};
