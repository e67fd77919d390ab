//! How far the rounds are, and how long they will still take.

use std::time::Duration;

/// What is known of the runs: one for each piece of work, side and round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The round that runs, from 1.
    pub round: usize,
    /// The last round.
    pub rounds: usize,
    /// The last run of each piece of work, on whatever side.
    last: Vec<Option<Duration>>,
    /// How many runs each piece of work still has to do, over all rounds.
    left: Vec<usize>,
}

impl Progress {
    /// Before the first of `rounds`, each of which runs the pieces of work as often as `runs` says.
    #[must_use]
    pub fn new(rounds: usize, runs: &[usize]) -> Self {
        Self {
            round: 1,
            rounds,
            last: vec![None; runs.len()],
            left: runs.iter().map(|runs| runs * rounds).collect(),
        }
    }

    /// A run of a piece of work ended after `time`.
    pub fn ran(&mut self, piece: usize, time: Duration) {
        self.last[piece] = Some(time);
        self.left[piece] = self.left[piece].saturating_sub(1);
    }

    /// A piece of work will not be run again.
    pub fn dropped(&mut self, piece: usize) {
        self.left[piece] = 0;
    }

    /// How long it will take to the end, once anything ran; pieces that never did count as the mean of the others.
    #[must_use]
    pub fn time_left(&self) -> Option<Duration> {
        let known: Vec<Duration> = self.last.iter().flatten().copied().collect();
        let mean = known
            .iter()
            .sum::<Duration>()
            .checked_div(u32::try_from(known.len()).ok()?)?;
        let each = self.last.iter().zip(&self.left);
        Some(
            each.map(|(last, &left)| last.unwrap_or(mean).mul_f64(left as f64))
                .sum(),
        )
    }

    /// The time left as a person says it: ` · 1 min 20 s left`, or nothing.
    #[must_use]
    pub fn words_left(&self) -> String {
        let Some(left) = self.time_left() else {
            return String::new();
        };
        let seconds = left.as_secs() + u64::from(left.subsec_nanos() > 0);
        match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
            (0, 0, seconds) => format!(" · {seconds} s left"),
            (0, minutes, seconds) => format!(" · {minutes} min {seconds} s left"),
            (hours, minutes, _) => format!(" · {hours} h {minutes} min left"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_is_what_the_runs_that_are_left_took_last() {
        let mut progress = Progress::new(10, &[2, 2, 1]);
        assert_eq!(progress.words_left(), "");
        progress.ran(0, Duration::from_secs(1));
        // 19 more of one second, and 30 of unknown length.
        assert_eq!(progress.words_left(), " · 49 s left");
        progress.ran(0, Duration::from_secs(1));
        progress.ran(1, Duration::from_secs(3));
        progress.ran(1, Duration::from_secs(5));
        progress.ran(2, Duration::from_secs(0));
        assert_eq!(progress.words_left(), " · 1 min 48 s left");
        progress.dropped(1);
        assert_eq!(progress.words_left(), " · 18 s left");
    }

    #[test]
    fn hours_need_no_seconds() {
        let mut progress = Progress::new(100, &[2]);
        progress.ran(0, Duration::from_secs(60));
        assert_eq!(progress.words_left(), " · 3 h 19 min left");
    }
}
