//! The `bench-harness` program.

use std::io::{self, IsTerminal as _, LineWriter};
use std::process::ExitCode;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bench_harness::cli::{INTERRUPTED, Streams, run};

static STOP: AtomicBool = AtomicBool::new(false);
static FIRST: OnceLock<Instant> = OnceLock::new();

/// A second Ctrl-C this long after the first means it. One that comes sooner
/// is the same signal, sent to the process and to its group.
const PATIENCE: Duration = Duration::from_millis(500);

fn main() -> ExitCode {
    // Without a handler Ctrl-C still ends the program, just less politely.
    let _ = ctrlc::set_handler(|| {
        STOP.store(true, Ordering::Relaxed);
        if FIRST.get_or_init(Instant::now).elapsed() > PATIENCE {
            // Asked twice: do not wait for uploads.
            std::process::exit(i32::from(INTERRUPTED));
        }
    });
    let status = run(
        std::env::args_os(),
        &mut Streams {
            stdout: &mut LineWriter::new(io::stdout().lock()),
            // Not locked: a policy's print() on another thread would wait for the end of the run.
            stderr: &mut io::stderr(),
            stderr_is_terminal: io::stderr().is_terminal(),
            stop: &STOP,
        },
    );
    ExitCode::from(status)
}
