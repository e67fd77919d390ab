//! Renderers: each takes a report and a writer, and computes nothing.

pub mod csv;
pub mod format;
pub mod gate;
pub mod layout;
pub mod text;
