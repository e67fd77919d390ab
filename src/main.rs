//! The `rbenchstat` program.

use std::io::{self, IsTerminal, LineWriter};
use std::process::ExitCode;

use rbenchstat::cli::{self, Streams, Surroundings};

fn main() -> ExitCode {
    let stdin = io::stdin();
    let mut streams = Streams {
        stdin_is_terminal: stdin.is_terminal(),
        stdin: &mut io::stdin(),
        stdout: &mut io::stdout().lock(),
        // A line at a time: pieces of lines would be a call of the system each.
        stderr: &mut LineWriter::new(io::stderr().lock()),
        surroundings: Surroundings::of_process(),
    };
    cli::run(std::env::args_os(), &mut streams).into()
}
