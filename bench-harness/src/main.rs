//! The `bench-harness` program.

use std::io::{self, IsTerminal as _, LineWriter};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use bench_harness::cli::{INTERRUPTED, Streams, run};

static STOP: AtomicBool = AtomicBool::new(false);

fn main() -> ExitCode {
    // Without a handler Ctrl-C still ends the program, just less politely.
    let _ = ctrlc::set_handler(|| {
        if STOP.swap(true, Ordering::Relaxed) {
            // Asked twice: do not wait for uploads.
            std::process::exit(i32::from(INTERRUPTED));
        }
    });
    let status = run(
        std::env::args_os(),
        &mut Streams {
            stdout: &mut LineWriter::new(io::stdout().lock()),
            stderr: &mut io::stderr().lock(),
            stderr_is_terminal: io::stderr().is_terminal(),
            stop: &STOP,
        },
    );
    ExitCode::from(status)
}
