//! The `bench-harness` program.

use std::io::{self, IsTerminal as _, LineWriter};
use std::process::ExitCode;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bench_harness::cli::run;
use bench_harness::rego_text::STACK;
use bench_harness::streams::{FAILURE, INTERRUPTED, Streams};

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
    // Policies are read here as well as by workers.
    let program = std::thread::Builder::new().stack_size(STACK).spawn(|| {
        run(
            std::env::args_os(),
            &mut Streams {
                stdout: &mut LineWriter::new(io::stdout().lock()),
                stderr: &mut io::stderr(),
                stderr_is_terminal: io::stderr().is_terminal(),
                stop: &STOP,
            },
        )
    });
    let status = program.ok().and_then(|program| program.join().ok());
    ExitCode::from(status.unwrap_or(FAILURE))
}
