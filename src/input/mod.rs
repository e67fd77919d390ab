//! Inputs: where they come from, and (in `decode`) how their bytes become text.

pub mod source;

pub use source::{InputError, Reason, Source, sources};
