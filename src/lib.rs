//! Compares Go benchmark results.
#![forbid(unsafe_code)]

pub mod query;
pub mod record;
pub mod stats;
pub mod unit;
