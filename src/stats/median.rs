//! The median and the order-statistic interval around it.
//!
//! The interval makes no assumption about the distribution: the number of values of a sample below the true median is
//! binomial(n, ½), so a range of outcomes of that binomial is a range of order statistics (Thompson 1936; Hahn & Meeker
//! 1991, section 5.2).

use super::normal;

/// Up to this size the binomial distribution is summed; above it, its normal approximation is used.
const SUMMED_UP_TO: usize = 30;

/// Up to this size binomial coefficients are exact; above it they come from the logarithm of Γ.
const EXACT_COEFFICIENTS_UP_TO: usize = 20;

/// The largest size [`samples_for_interval`] tries.
const SEARCHED_UP_TO: usize = 50;

/// An interval on the scale of the values it was made from, `lo` ≤ `hi`; a bound may be infinite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Lower bound; −∞ where the sample is too small for one (0 for a ratio).
    pub lo: f64,
    /// Upper bound; ∞ where the sample is too small for one.
    pub hi: f64,
}

impl Interval {
    /// Whether both bounds are finite.
    #[must_use]
    pub fn is_bounded(&self) -> bool {
        self.lo.is_finite() && self.hi.is_finite()
    }
}

/// The order statistics, counted from 1, that bound the median; `None` where none is low or high enough.
///
/// They depend on the size of the sample and the level alone, so that a caller with many samples can keep them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ranks {
    /// Rank of the lower bound, 1..=n.
    pub lower: Option<usize>,
    /// Rank of the upper bound, 1..=n.
    pub upper: Option<usize>,
}

impl Ranks {
    const UNBOUNDED: Self = Self {
        lower: None,
        upper: None,
    };

    /// Whether both bounds exist.
    #[must_use]
    pub fn is_bounded(&self) -> bool {
        self.lower.is_some() && self.upper.is_some()
    }

    /// The interval these ranks give in a sorted sample; a rank the sample does not have is an infinite bound.
    #[must_use]
    pub fn interval(&self, sorted: &[f64]) -> Interval {
        let at = |rank: Option<usize>| {
            rank.and_then(|rank| sorted.get(rank.checked_sub(1)?))
                .copied()
        };
        Interval {
            lo: at(self.lower).unwrap_or(f64::NEG_INFINITY),
            hi: at(self.upper).unwrap_or(f64::INFINITY),
        }
    }
}

/// The mean of `values`, of which there is at least one.
#[must_use]
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The median, as the quantile of type 8 of Hyndman & Fan (1996); NaN for an empty sample.
///
/// Mathematically that is the middle value, or halfway between the middle two. It is computed by the general formula all
/// the same, because its rounding shows in output that prints every digit.
#[must_use]
pub fn median(sorted: &[f64]) -> f64 {
    const THIRD: f64 = 1.0 / 3.0;
    let (Some(&first), Some(&last)) = (sorted.first(), sorted.last()) else {
        return f64::NAN;
    };
    let position = THIRD + 0.5 * (sorted.len() as f64 + THIRD);
    let whole = position.floor();
    // At most n, so the conversion is exact.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 0 and the length"
    )]
    let rank = whole as usize;
    if rank < 1 {
        first
    } else if rank >= sorted.len() {
        last
    } else {
        let below = sorted[rank - 1];
        below + (position - whole) * (sorted[rank] - below)
    }
}

/// The ranks of the interval of the median for samples of size `n` at `level`, in [0, 1].
///
/// From level 1 on no order statistic is certain to enclose the median, so both bounds are missing.
#[must_use]
pub fn interval_ranks(n: usize, level: f64) -> Ranks {
    if n == 0 || level >= 1.0 {
        Ranks::UNBOUNDED
    } else if n <= SUMMED_UP_TO {
        summed_ranks(n, level)
    } else {
        approximate_ranks(n, level)
    }
}

/// The smallest sample size, at least 2, whose interval at `level` has finite bounds; `None` beyond 50.
#[must_use]
pub fn samples_for_interval(level: f64) -> Option<usize> {
    (2..=SEARCHED_UP_TO).find(|&n| interval_ranks(n, level).is_bounded())
}

/// Collects outcomes of the binomial, from the lower mode outwards, until they are likely enough together.
fn summed_ranks(n: usize, level: f64) -> Ranks {
    // Outcomes low..high (high excluded) are in. ½ⁿ scales every term alike, and exactly.
    let scale = 0.5_f64.powi(i32::try_from(n).unwrap_or(i32::MAX));
    let probability = |k: usize| coefficient(n, k) * scale;
    let mut low = if n.is_multiple_of(2) {
        n / 2
    } else {
        (n - 1) / 2
    };
    let mut high = low + 1;
    let mut sum = probability(low);
    while sum < level && (low > 0 || high <= n) {
        let below = if low > 0 { probability(low - 1) } else { 0.0 };
        let above = if high <= n { probability(high) } else { 0.0 };
        // On equality the lower one goes first. Above 20 the two sides of a symmetric pair need not be equal in double
        // precision; then the larger goes first, as in the reference.
        if low > 0 && below >= above {
            low -= 1;
            sum += below;
        } else {
            high += 1;
            sum += above;
        }
    }
    // If k values are below the median, it lies between order statistics k and k + 1: outcomes low..high reach from
    // order statistic `low` to order statistic `high`.
    Ranks {
        lower: (low >= 1).then_some(low),
        upper: (high <= n).then_some(high),
    }
}

/// The binomial coefficient n over k; above n = 20 only as precise as the difference of logarithms leaves it.
fn coefficient(n: usize, k: usize) -> f64 {
    if k == 0 || k == n {
        return 1.0;
    }
    if n <= EXACT_COEFFICIENTS_UP_TO {
        let k = k.min(n - k);
        let exact = (1..=k).fold(1_u64, |product, i| product * (n - k + i) as u64 / i as u64);
        return exact as f64;
    }
    // The rounding of exactly this expression decides which of two equally likely outcomes goes first, so Γ has to be the
    // reference's too: FreeBSD's lgamma, which `libm` carries (by way of musl). statrs' Lanczos series rounds differently.
    let ln_factorial = |m: usize| libm::lgamma(m as f64 + 1.0);
    (ln_factorial(n) - ln_factorial(k) - ln_factorial(n - k)).exp()
}

/// The same ranks from the normal approximation of the binomial, with mean n/2 and variance n/4.
fn approximate_ranks(n: usize, level: f64) -> Ranks {
    let mean = n as f64 / 2.0;
    let deviation = (n as f64).sqrt() / 2.0;
    let upper = f64::midpoint(level, 1.0);
    let quantile = if upper < 1.0 {
        normal::quantile(upper)
    } else {
        // Next to 1 there is no such number, but the lower tail has one.
        -normal::quantile((1.0 - level) / 2.0)
    };
    let reach = quantile * deviation;
    // Outwards to half-integers: those are where one outcome ends and the next begins.
    let low = (mean - reach - 0.5).floor() + 0.5;
    let mut high = (mean + reach - 0.5).ceil() + 0.5;
    let below = |edge: f64| normal::cdf((edge - mean) / deviation);
    if below(high - 1.0) - below(low) >= level {
        high -= 1.0;
    }
    let rank = |edge: f64| {
        let rank = edge + 0.5;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "checked to be between 1 and n"
        )]
        (rank >= 1.0 && rank <= n as f64).then_some(rank as usize)
    };
    Ranks {
        lower: rank(low),
        upper: rank(high),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ranks(lower: usize, upper: usize) -> Ranks {
        Ranks {
            lower: Some(lower),
            upper: Some(upper),
        }
    }

    #[test]
    fn the_median_is_the_middle_value() {
        assert_eq!(median(&[7.0]), 7.0);
        assert_eq!(median(&[1.0, 2.0, 9.0]), 2.0);
        assert_eq!(median(&[1.0, 2.0, 4.0, 9.0]), 3.0);
        assert!(median(&[]).is_nan());
    }

    #[test]
    fn the_median_is_within_rounding_of_the_middle() {
        // It may fall a rounding short of the middle position; never by more than that shows.
        for n in 1..200_usize {
            let values: Vec<f64> = (0..n).map(|i| (i as f64).mul_add(0.1, 0.3)).collect();
            let middle = f64::midpoint(values[(n - 1) / 2], values[n / 2]);
            assert!((median(&values) - middle).abs() <= 4e-15 * middle, "{n}");
        }
    }

    #[test]
    fn the_usual_intervals_are_the_recorded_ones() {
        assert_eq!(interval_ranks(6, 0.95), ranks(1, 6));
        assert_eq!(interval_ranks(10, 0.95), ranks(2, 9));
        assert_eq!(interval_ranks(8, 0.99), ranks(1, 8));
    }

    #[test]
    fn too_few_values_leave_a_bound_out() {
        assert_eq!(
            interval_ranks(5, 0.95),
            Ranks {
                lower: None,
                upper: Some(5)
            }
        );
        assert_eq!(interval_ranks(5, 0.99), Ranks::UNBOUNDED);
        // Two outcomes in three are likely enough for 0.6, and 1 is the lower mode.
        assert_eq!(
            interval_ranks(3, 0.6),
            Ranks {
                lower: Some(1),
                upper: Some(3)
            }
        );
        assert_eq!(
            interval_ranks(1, 0.0),
            Ranks {
                lower: None,
                upper: Some(1)
            }
        );
        assert_eq!(interval_ranks(0, 0.5), Ranks::UNBOUNDED);
    }

    #[test]
    fn at_level_one_there_are_no_bounds() {
        for n in [1, 10, 30, 31, 1000] {
            assert_eq!(interval_ranks(n, 1.0), Ranks::UNBOUNDED);
        }
    }

    #[test]
    fn at_95_percent_only_24_values_take_the_upper_outcome_first() {
        assert_eq!(interval_ranks(24, 0.95), ranks(8, 18));
        assert_eq!(interval_ranks(22, 0.95), ranks(6, 16));
        assert_eq!(interval_ranks(27, 0.95), ranks(8, 19));
        assert_eq!(interval_ranks(29, 0.95), ranks(9, 20));
    }

    #[test]
    fn rounding_favours_the_upper_outcome_exactly_where_the_reference_shows_it() {
        // Found by asking the reference for levels halfway through each pair. Where a glibc lgamma would differ, at 24 over
        // 11 and 28 to 30 over 13, it has the upper one first too.
        let observed: [&[usize]; 10] = [
            &[2, 4, 7],
            &[2, 4, 7, 10],
            &[2, 4, 7],
            &[2, 4, 7, 11],
            &[2, 4, 7, 10],
            &[2, 4, 7, 10],
            &[2, 4, 7, 10, 11],
            &[2, 4, 7, 10, 12, 13],
            &[2, 4, 5, 6, 7, 10, 13],
            &[2, 4, 5, 6, 7, 8, 10, 13, 14],
        ];
        for (n, observed) in (EXACT_COEFFICIENTS_UP_TO + 1..=SUMMED_UP_TO).zip(observed) {
            // Below the lower mode, which goes first in any case.
            let upper_first = |&k: &usize| coefficient(n, k) < coefficient(n, n - k);
            assert_eq!(
                (0..n / 2).filter(upper_first).collect::<Vec<_>>(),
                observed,
                "{n}"
            );
        }
    }

    #[test]
    fn coefficients_up_to_20_are_exact_and_symmetric() {
        assert_eq!(coefficient(20, 10), 184_756.0);
        assert_eq!(coefficient(20, 9), coefficient(20, 11));
        assert_eq!(coefficient(20, 0), 1.0);
    }

    #[test]
    fn above_30_values_the_approximation_gives_the_observed_ranks() {
        // As the reference prints them for values whose ranges tell the ranks.
        assert_eq!(interval_ranks(35, 0.95), ranks(12, 24));
        assert_eq!(interval_ranks(60, 0.95), ranks(22, 38));
        assert_eq!(interval_ranks(31, 0.0), ranks(16, 16));
    }

    #[test]
    fn the_samples_an_interval_needs_are_the_recorded_ones() {
        let needed = |level| samples_for_interval(level);
        assert_eq!(needed(0.0), Some(2));
        assert_eq!(needed(0.8), Some(4));
        assert_eq!(needed(0.9), Some(5));
        assert_eq!(needed(0.95), Some(6));
        assert_eq!(needed(0.99), Some(8));
        assert_eq!(needed(0.999), Some(11));
        assert_eq!(needed(0.999_999), Some(21));
        assert_eq!(needed(0.999_999_99), Some(28));
        assert_eq!(needed(0.999_999_999_999_99), None);
        assert_eq!(needed(1.0), None);
    }

    #[test]
    fn missing_ranks_are_infinite_bounds() {
        let interval = Ranks {
            lower: None,
            upper: Some(2),
        }
        .interval(&[3.0, 4.0, 5.0]);
        assert_eq!(
            interval,
            Interval {
                lo: f64::NEG_INFINITY,
                hi: 4.0
            }
        );
        assert!(!interval.is_bounded());
        assert_eq!(
            interval_ranks(10, 0.95).interval(&[1.0; 10]),
            Interval { lo: 1.0, hi: 1.0 }
        );
    }

    proptest! {
        #[test]
        fn the_interval_encloses_the_median_and_grows_with_the_level(
            n in 1..80_usize,
            // Right at 0 the approximation may keep one of the middle two values only.
            level in 0.1..1.0_f64,
            more in 0.0..1.0_f64,
        ) {
            let values: Vec<f64> = (0..n).map(|i| i as f64).collect();
            let centre = median(&values);
            let at = |level| interval_ranks(n, level).interval(&values);
            let interval = at(level);
            prop_assert!(interval.lo <= centre && centre <= interval.hi);
            let wider = at(level + (1.0 - level) * more);
            prop_assert!(wider.lo <= interval.lo && interval.hi <= wider.hi);
        }
    }
}
