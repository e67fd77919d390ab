//! Units: their base form, their prefixes, and what the inputs say of them.

mod known;
pub mod metadata;
pub mod multiple;
pub mod scale;
pub mod tidy;

pub use metadata::{Better, Metadata};
pub use multiple::{is_clocked, is_time, multiple};
pub use scale::{Class, Scale};
pub use tidy::Tidied;
