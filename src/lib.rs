//! Compares Go benchmark results.
#![forbid(unsafe_code)]

pub mod cli;
pub mod input;
pub mod query;
pub mod record;
pub mod render;
pub mod report;
pub mod sample;
pub mod stats;
pub mod unit;
