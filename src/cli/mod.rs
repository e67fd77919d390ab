//! The command line: arguments in, exit status out.

mod args;
mod exit;
mod gate_args;
mod gate_options;
mod goflags;
mod options;
mod read;
mod run;

pub use exit::Exit;
pub use run::{Streams, run};
