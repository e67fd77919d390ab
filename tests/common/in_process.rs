//! Runs the program in this process.

use std::ffi::OsString;
use std::io::Read;

use rbenchstat::cli::{self, Streams, Surroundings};

/// What a run left behind.
pub struct Run {
    pub status: u8,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

/// Runs the program with arguments, without its own name, and something to read on standard input.
pub fn run(
    arguments: impl IntoIterator<Item = OsString>,
    mut stdin: impl Read + Send,
    surroundings: Surroundings,
) -> Run {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let exit = cli::run(
        std::iter::once("rbenchstat".into()).chain(arguments),
        &mut Streams {
            stdin: &mut stdin,
            stdout: &mut stdout,
            stderr: &mut stderr,
            stdin_is_terminal: false,
            surroundings,
        },
    );
    Run {
        status: exit.status(),
        stdout,
        stderr: String::from_utf8_lossy(&stderr).into_owned(),
    }
}
