//! Notes for the person at the keyboard: why nothing was compared, and what to do.
//!
//! They go beside the report, never into it. [`notes`] ranks them, and the one `Display` of [`Note`] words them.

mod note;
mod pairing;
mod raise;
mod wording;

pub use note::{Aim, Difference, Note, UnitsOfSide};
pub use raise::{notes, notes_on_inputs, without_gate};
