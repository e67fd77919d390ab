//! Summaries of values that are expected to be all the same, such as the size of a binary.

/// What is known of a sample that is expected to have no noise, in the unit of its values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExactSummary {
    /// The most frequent value; the smallest of them where several are.
    pub mode: f64,
    /// The smallest value.
    pub min: f64,
    /// The largest value.
    pub max: f64,
}

impl ExactSummary {
    /// Summarises a sorted sample; `None` if it is empty.
    #[must_use]
    pub fn of(sorted: &[f64]) -> Option<Self> {
        let (&min, &max) = (sorted.first()?, sorted.last()?);
        let (mut mode, mut longest) = (min, 0);
        for run in sorted.chunk_by(|a, b| a == b) {
            // Strictly longer, so that the first of several longest runs stays.
            if run.len() > longest {
                longest = run.len();
                mode = run[0];
            }
        }
        Some(Self { mode, min, max })
    }

    /// Whether every value was the same, as expected.
    #[must_use]
    pub fn is_constant(&self) -> bool {
        self.min == self.max
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mode_is_the_longest_run() {
        let summary = ExactSummary::of(&[1.0, 2.0, 2.0, 3.0]).unwrap();
        assert_eq!(
            summary,
            ExactSummary {
                mode: 2.0,
                min: 1.0,
                max: 3.0
            }
        );
        assert!(!summary.is_constant());
    }

    #[test]
    fn of_equally_long_runs_the_first_is_the_mode() {
        assert_eq!(
            ExactSummary::of(&[1.0, 2.0, 2.0, 3.0, 3.0]).unwrap().mode,
            2.0
        );
        assert_eq!(ExactSummary::of(&[-1.0, 2.0, 7.0]).unwrap().mode, -1.0);
    }

    #[test]
    fn a_single_repeated_value_is_constant() {
        assert!(ExactSummary::of(&[5.0; 4]).unwrap().is_constant());
    }

    #[test]
    fn nothing_has_no_summary() {
        assert_eq!(ExactSummary::of(&[]), None);
    }
}
