//! The facts that renderers show.

pub mod build;
pub mod model;
pub mod warning;

pub use build::{Settings, build};
pub use model::Report;
pub use warning::Warning;
