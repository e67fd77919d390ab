//! The facts: what was measured, how it compares, and what a reader should know about the numbers.

pub mod build;
pub mod listing;
pub mod model;
pub mod warning;

pub use build::{Settings, build};
pub use listing::Listing;
pub use model::{Position, Report};
pub use warning::Warning;
