//! Small things that several stages need and that know none of them.

pub mod interner;
pub(crate) mod parallel;

pub use interner::Interner;
