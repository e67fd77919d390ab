//! Inputs: where they come from, and how their bytes become text.

pub mod decode;
pub mod likeness;
pub mod size;
pub mod source;
pub mod test_stream;
pub mod utf16;

pub use decode::{Decoded, MOST_UNPACKED, Text, decode};
pub use likeness::{Likeness, Start};
pub use size::{Size, SizeError};
pub use source::{InputError, Reason, Source, sources};
pub use test_stream::LineNumbers;
pub use utf16::EncodingChange;
