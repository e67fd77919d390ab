//! Renderers: each takes a report and a writer, and computes nothing.

pub mod alone;
pub mod colour;
pub mod comment;
pub mod csv;
pub mod escape;
pub mod format;
pub mod gate;
pub mod github;
pub mod html;
pub mod json;
pub mod layout;
pub mod markdown;
pub mod plot;
pub mod presentation;
pub mod pretty;
pub mod subject;
pub mod text;
pub mod words;

pub use presentation::Presentation;
