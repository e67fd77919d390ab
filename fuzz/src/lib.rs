//! What must hold for any input, as functions that panic where it does not.
//!
//! The fuzz targets call them with inputs that reach new code, and
//! `tests/fuzz_replay.rs` with the corpora and a few thousand mutations of them.

pub mod decode;
pub mod filter;
pub mod line;
pub mod number;
pub mod projection;
pub mod run;
mod subjects;
