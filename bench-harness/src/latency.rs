//! Latencies: a histogram for each worker, and what measuring itself costs.

use std::hint::black_box;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, bail};
use hdrhistogram::Histogram;

/// The longest latency a histogram holds; longer ones count as this one.
const LONGEST: Duration = Duration::from_secs(60);

/// Operations that must lie beyond a percentile before it is printed.
const BEYOND: f64 = 10.0;

/// A histogram of nanoseconds, 1 ns … 60 s with three significant digits.
///
/// # Errors
/// Never with these bounds.
pub fn histogram() -> Result<Histogram<u64>> {
    let longest = u64::try_from(LONGEST.as_nanos())?;
    Histogram::new_with_bounds(1, longest, 3).map_err(|error| anyhow!("{error}"))
}

/// Nanoseconds for a histogram.
#[must_use]
pub fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// A percentile as asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Percentile {
    /// Above 0 and below 100.
    pub value: f64,
    /// As typed: it becomes part of a name.
    pub text: String,
}

impl Percentile {
    /// Reads `99.9`.
    ///
    /// # Errors
    /// When it is no number between 0 and 100.
    pub fn parse(text: &str) -> Result<Self> {
        let text = text.trim();
        match text.parse::<f64>() {
            Ok(value) if value > 0.0 && value < 100.0 => Ok(Self {
                value,
                text: text.to_owned(),
            }),
            _ => bail!("the percentile {text:?} is no number above 0 and below 100"),
        }
    }

    /// How many operations it needs: ten beyond it. With fewer the figure is
    /// one or two of the slowest operations, whatever they were.
    #[must_use]
    pub fn operations_needed(&self) -> u64 {
        let beyond = (1.0 - self.value / 100.0).min(self.value / 100.0);
        // Rounding first keeps 10 / (1 − 0.999) from becoming 10,001.
        let needed = (BEYOND / beyond * 1e6).round() / 1e6;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "positive, and far below 2^64 for any percentile one can type"
        )]
        let needed = needed.ceil() as u64;
        needed
    }
}

/// What the measuring itself costs, in nanoseconds an operation.
#[derive(Clone, Copy, Debug)]
pub struct Overhead {
    /// One reading of the clock.
    pub clock: f64,
    /// One latency put into a histogram.
    pub histogram: f64,
}

/// Measures the clock and the histogram, some ten milliseconds each.
///
/// # Errors
/// When a histogram cannot be made.
pub fn measure_overhead() -> Result<Overhead> {
    let mut histogram = histogram()?;
    Ok(Overhead {
        clock: quickest(|_| {
            black_box(Instant::now());
        }),
        // Spread over buckets as latencies are.
        histogram: quickest(|round| {
            histogram.saturating_record(black_box(u64::from(
                round.wrapping_mul(2_654_435_761) >> 12,
            )));
        }),
    })
}

/// Nanoseconds one call takes, in the quickest of many batches: the others
/// were interrupted by whatever else runs on the machine.
fn quickest(mut call: impl FnMut(u32)) -> f64 {
    const BATCHES: u32 = 100;
    const CALLS: u32 = 2_000;
    (0..BATCHES)
        .map(|_| {
            let start = Instant::now();
            for round in 0..CALLS {
                call(round);
            }
            start.elapsed().as_nanos() as f64 / f64::from(CALLS)
        })
        .fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_needs_ten_operations_beyond_it() {
        let needed = |text| Percentile::parse(text).unwrap().operations_needed();
        assert_eq!(needed("50"), 20);
        assert_eq!(needed("99"), 1_000);
        assert_eq!(needed("99.5"), 2_000);
        assert_eq!(needed("99.9"), 10_000);
        assert_eq!(needed("1"), 1_000);
    }

    #[test]
    fn a_percentile_that_is_none_is_refused() {
        for text in ["0", "100", "-1", "x", "NaN", ""] {
            assert!(Percentile::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn measuring_costs_something_but_not_much() {
        let overhead = measure_overhead().unwrap();
        for nanoseconds in [overhead.clock, overhead.histogram] {
            assert!((0.1..5_000.0).contains(&nanoseconds), "{overhead:?}");
        }
    }

    #[test]
    fn latencies_keep_three_digits_and_end_at_a_minute() {
        let mut histogram = histogram().unwrap();
        histogram.saturating_record(123_456_789);
        histogram.saturating_record(nanoseconds(Duration::from_secs(3600)));
        let low = histogram.value_at_quantile(0.5) as f64;
        assert!((low / 123_456_789.0 - 1.0).abs() < 1e-3, "{low}");
        let high = histogram.max() as f64;
        assert!((high / 60e9 - 1.0).abs() < 1e-3, "{high}");
    }
}
