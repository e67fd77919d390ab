//! Small things that several stages need and that know none of them.

pub mod interner;
pub(crate) mod parallel;
pub mod shell;

pub use interner::Interner;
pub use shell::shell_word;
