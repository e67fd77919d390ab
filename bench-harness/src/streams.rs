//! What the program talks to, and how it ends.

use std::io::{self, Write};
use std::sync::atomic::AtomicBool;

/// What the program talks to.
pub struct Streams<'a> {
    /// Measurements.
    pub stdout: &'a mut dyn Write,
    /// Progress, notes, counters, errors.
    pub stderr: &'a mut dyn Write,
    /// Whether somebody watches `stderr`.
    pub stderr_is_terminal: bool,
    /// Set to end early.
    pub stop: &'a AtomicBool,
}

/// How the program ends: 0, 2 after an error, 130 when interrupted.
pub type Status = u8;

/// The status after an error.
pub const FAILURE: Status = 2;
/// The status after an interruption.
pub const INTERRUPTED: Status = 130;

/// A writer whose errors say what could not be written.
pub struct Named<W> {
    /// What is written to.
    pub inner: W,
    /// What errors call it.
    pub name: String,
}

impl<W> Named<W> {
    fn named<T>(&self, outcome: io::Result<T>) -> io::Result<T> {
        outcome.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", self.name)))
    }
}

impl<W: Write> Write for Named<W> {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        let outcome = self.inner.write(text);
        self.named(outcome)
    }

    fn flush(&mut self) -> io::Result<()> {
        let outcome = self.inner.flush();
        self.named(outcome)
    }
}
