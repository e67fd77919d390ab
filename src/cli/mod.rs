//! The command line: arguments in, exit status out.

mod args;
mod exit;
mod gate_args;
mod gate_options;
pub mod goflags;
mod measure;
mod older;
mod options;
mod output;
mod output_args;
mod renamed;
mod run;
mod stages;
mod surroundings;
mod words;

pub use exit::Exit;
pub use run::{Streams, run};
pub use surroundings::Surroundings;
