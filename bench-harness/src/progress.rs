//! What runs and how long it will still take, for somebody at a terminal.

use std::io::Write;
use std::time::{Duration, Instant};

use crate::load::Budget;
use crate::measure::Conditions;

/// One line that is written over and over.
pub struct Progress {
    shown: bool,
    started: Instant,
    total: u32,
    done: u32,
    /// What one measurement takes, as long as none is done.
    guess: Option<Duration>,
}

impl Progress {
    /// Of `total` measurements; silent unless `shown`.
    #[must_use]
    pub fn new(shown: bool, total: u32, conditions: &Conditions) -> Self {
        Self {
            shown,
            started: Instant::now(),
            total,
            done: 0,
            guess: match conditions.budget {
                Budget::Time(time) => Some(time.saturating_add(conditions.warm_up)),
                Budget::Operations(_) => None,
            },
        }
    }

    /// Shows what is being measured. Failing to is no reason to stop.
    pub fn show(&self, stderr: &mut dyn Write, name: &str) {
        if self.shown {
            let line = self.line(name, self.started.elapsed());
            let _ = write!(stderr, "\r\x1b[K{line}").and_then(|()| stderr.flush());
        }
    }

    /// Counts a measurement as done.
    pub fn advance(&mut self) {
        self.done += 1;
    }

    /// Takes the line away.
    pub fn clear(&self, stderr: &mut dyn Write) {
        if self.shown {
            let _ = write!(stderr, "\r\x1b[K").and_then(|()| stderr.flush());
        }
    }

    fn line(&self, name: &str, elapsed: Duration) -> String {
        let number = (self.done + 1).min(self.total);
        let each = if self.done > 0 {
            Some(elapsed / (self.done + 1)).max(self.guess)
        } else {
            self.guess
        };
        let left = each.map(|each| each.saturating_mul(self.total).saturating_sub(elapsed));
        let left = left.map_or(String::new(), |left| {
            let seconds = left.as_secs();
            format!("  {}:{:02} left", seconds / 60, seconds % 60)
        });
        format!("[{number}/{}] {name}{left}", self.total)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_what_runs_and_what_is_left() {
        let mut progress = Progress {
            shown: true,
            started: Instant::now(),
            total: 10,
            done: 0,
            guess: Some(Duration::from_secs(12)),
        };
        let line = progress.line("BenchmarkX", Duration::from_secs(6));
        assert_eq!(line, "[1/10] BenchmarkX  1:54 left");
        for _ in 0..4 {
            progress.advance();
        }
        let line = progress.line("BenchmarkX", Duration::from_secs(60));
        assert_eq!(line, "[5/10] BenchmarkX  1:00 left");
        progress.guess = None;
        progress.done = 0;
        assert_eq!(progress.line("B", Duration::ZERO), "[1/10] B");
    }
}
