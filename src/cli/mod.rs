//! The command line: arguments in, exit status out.

mod args;
mod completion;
mod exit;
mod gate_args;
mod gate_options;
pub mod goflags;
mod manual;
mod measure;
mod older;
mod options;
mod output;
mod output_args;
mod places;
mod renamed;
mod request;
mod run;
mod stages;
mod surroundings;
mod usage;
mod words;

pub use exit::Exit;
pub use run::{Streams, run};
pub use surroundings::Surroundings;
