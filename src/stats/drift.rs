//! What is wrong with a sample before it is compared: a trend over time, and values far from the rest.
//!
//! A drift of one standard deviation over base-then-new runs turns a false-positive rate of 5 % into 17 % (n = 10) or 32 %
//! (n = 20), and no test of the values alone can see it.

use super::median::median;
use super::normal;

/// Shorter samples are not tested for a trend: with fewer values hardly any order is rare enough to mean something.
const TREND_FROM: usize = 8;

/// A trend is worth a warning at this p-value and below.
const TREND_ALPHA: f64 = 0.01;

/// Without ties, samples up to this size are tested exactly: 20! is the last factorial below 2^64.
const EXACT_UP_TO: usize = 20;

/// The outcome of a test for a monotonic trend.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trend {
    /// Kendall's S: pairs of values that rise from the earlier to the later, less those that fall; from −n(n − 1)/2 to
    /// n(n − 1)/2, positive for a rising trend.
    pub s: i64,
    /// Two-sided p-value, in [0, 1].
    pub p: f64,
}

impl Trend {
    /// Whether the trend deserves a warning: p ≤ 0.01.
    #[must_use]
    pub fn is_significant(&self) -> bool {
        self.p <= TREND_ALPHA
    }
}

/// Tests for trends, keeping distributions and room from one sample to the next.
#[derive(Clone, Debug, Default)]
pub struct TrendTest {
    /// By size: P(inversions ≤ i), for i up to half of the pairs.
    lower_tails: Vec<Box<[f64]>>,
    sorted: Vec<f64>,
    merged: Vec<f64>,
}

impl TrendTest {
    /// A test that has computed nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Tests values in the order they were measured for a monotonic trend (Mann 1945; Kendall 1975); `None` if there are
    /// fewer than 8.
    ///
    /// Exact up to 20 values without ties, from the number of permutations by inversions. Otherwise the normal approximation,
    /// with the variance (n(n − 1)(2n + 5) − Σ t(t − 1)(2t + 5))/18 corrected for ties, and S moved one step towards 0 for
    /// continuity. Values that are all the same have no trend, p = 1.
    pub fn test(&mut self, values: &[f64]) -> Option<Trend> {
        let n = values.len();
        if n < TREND_FROM {
            return None;
        }
        let inversions = self.sort(values);
        let pairs = n * (n - 1) / 2;
        let (mut tied_pairs, mut tied_variance) = (0, 0.0);
        for run in self.sorted.chunk_by(|a, b| a == b) {
            tied_pairs += run.len() * (run.len() - 1) / 2;
            tied_variance += variance_term(run.len());
        }
        let ordered = pairs - tied_pairs;
        // Every ordered pair rises or falls, and inversions are those that fall.
        let (rising, falling) = (
            i64::try_from(ordered - inversions),
            i64::try_from(inversions),
        );
        let s = rising.unwrap_or(i64::MAX) - falling.unwrap_or(i64::MAX);
        let p = if tied_pairs == 0 && n <= EXACT_UP_TO {
            2.0 * self.lower_tail(n, inversions.min(pairs - inversions))
        } else {
            approximate_p(s, (variance_term(n) - tied_variance) / 18.0)
        };
        Some(Trend { s, p: p.min(1.0) })
    }

    /// Leaves the values sorted and returns how many pairs were the wrong way round: a merge sort that counts (Knight 1966),
    /// since comparing every pair takes too long for the largest samples.
    fn sort(&mut self, values: &[f64]) -> usize {
        self.sorted.clear();
        self.sorted.extend_from_slice(values);
        let mut inversions = 0;
        let mut width = 1;
        while width < values.len() {
            self.merged.clear();
            for pair in self.sorted.chunks(2 * width) {
                let (mut left, mut right) = pair.split_at(width.min(pair.len()));
                while let (Some(&first), Some(&second)) = (left.first(), right.first()) {
                    if second < first {
                        // It overtakes all that is left of the earlier ones.
                        inversions += left.len();
                        self.merged.push(second);
                        right = &right[1..];
                    } else {
                        self.merged.push(first);
                        left = &left[1..];
                    }
                }
                self.merged.extend_from_slice(left);
                self.merged.extend_from_slice(right);
            }
            std::mem::swap(&mut self.sorted, &mut self.merged);
            width *= 2;
        }
        inversions
    }

    /// P(inversions ≤ `i`) of a random permutation of `n` ≤ 20 values, for i up to half of the pairs.
    fn lower_tail(&mut self, n: usize, i: usize) -> f64 {
        self.lower_tails.resize_with(EXACT_UP_TO + 1, Box::default);
        let tails = &mut self.lower_tails[n];
        if tails.is_empty() {
            *tails = inversion_tails(n);
        }
        tails[i]
    }
}

/// p of S by the normal approximation, S moved one step towards 0.
fn approximate_p(s: i64, variance: f64) -> f64 {
    // With S = 0 there is nothing to move, and with all values equal nothing to divide by.
    if s == 0 {
        1.0
    } else {
        2.0 * normal::cdf((1 - s.abs()) as f64 / variance.sqrt())
    }
}

/// n(n − 1)(2n + 5), which is 18 times the variance of S, or of what a group of `n` ties takes from it.
fn variance_term(n: usize) -> f64 {
    let n = n as f64;
    n * (n - 1.0) * (2.0 * n + 5.0)
}

/// P(inversions ≤ i) for i = 0..=n(n − 1)/4.
///
/// Permutations of `m` by inversions are those of `m` − 1 with 0 to m − 1 added (Knuth 1998, section 5.1.1): each count is a
/// sum of `m` neighbours, kept up to date along the way.
fn inversion_tails(n: usize) -> Box<[f64]> {
    let mut counts = vec![0_u64; n * (n - 1) / 4 + 1];
    counts[0] = 1;
    let mut total = 1_u64;
    for m in 2..=n {
        total *= m as u64;
        let fewer = counts.clone();
        let mut window = 0;
        for (i, count) in counts.iter_mut().enumerate() {
            window += fewer[i];
            if i >= m {
                window -= fewer[i - m];
            }
            *count = window;
        }
    }
    let mut sum = 0;
    let tail = |count| {
        sum += count;
        sum as f64 / total as f64
    };
    counts.into_iter().map(tail).collect()
}

/// How many values at either end of a sorted sample are far from the rest. They are for flagging, never for removing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outliers {
    /// How many of the smallest values.
    pub low: usize,
    /// How many of the largest values.
    pub high: usize,
}

impl Outliers {
    /// Finds the outliers of a sorted sample: those with a modified z = 0.6745·|x − median|/MAD above 3.5, MAD being the
    /// median of the absolute deviations from the median (Iglewicz & Hoaglin 1993).
    ///
    /// Where most values equal the median, MAD is 0 and no yardstick. Then, as those authors suggest, the mean of the absolute
    /// deviations takes its place, z = |x − median|/(1.253314·mean): values that differ all by the same are outliers while
    /// they are fewer than 23 % of the sample. Where that is 0 too, nothing is out.
    #[must_use]
    pub fn of(sorted: &[f64]) -> Self {
        const LIMIT: f64 = 3.5;
        let centre = median(sorted);
        let typical = median_deviation(sorted, centre);
        let reach = if typical > 0.0 {
            LIMIT * typical / 0.6745
        } else {
            let sum: f64 = sorted.iter().map(|value| (value - centre).abs()).sum();
            LIMIT * 1.253_314 * sum / sorted.len() as f64
        };
        Self {
            low: sorted
                .iter()
                .take_while(|&value| centre - value > reach)
                .count(),
            high: sorted
                .iter()
                .rev()
                .take_while(|&value| value - centre > reach)
                .count(),
        }
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.low + self.high
    }
}

/// The median of |x − centre|; 0 for an empty sample.
fn median_deviation(sorted: &[f64], centre: f64) -> f64 {
    let split = sorted.partition_point(|&value| value < centre);
    // Away from the centre, deviations ascend on either side: merge the two as far as the middle.
    let (mut below, mut above) = sorted.split_at(split);
    let (mut previous, mut current) = (0.0, 0.0);
    for _ in 0..=sorted.len() / 2 {
        let nearer_below = below.last().map(|value| centre - value);
        let nearer_above = above.first().map(|value| value - centre);
        let next = match (nearer_below, nearer_above) {
            (Some(low), Some(high)) if low <= high => {
                below = &below[..below.len() - 1];
                low
            }
            (_, Some(high)) => {
                above = &above[1..];
                high
            }
            (Some(low), None) => {
                below = &below[..below.len() - 1];
                low
            }
            (None, None) => break,
        };
        (previous, current) = (current, next);
    }
    if sorted.len().is_multiple_of(2) {
        f64::midpoint(previous, current)
    } else {
        current
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn trend(values: &[f64]) -> Trend {
        TrendTest::new().test(values).unwrap()
    }

    fn rising(n: u32) -> Vec<f64> {
        (0..n).map(f64::from).collect()
    }

    #[test]
    fn fewer_than_eight_values_have_no_trend() {
        assert_eq!(TrendTest::new().test(&rising(7)), None);
        assert!(TrendTest::new().test(&rising(8)).is_some());
    }

    #[test]
    fn a_rising_sample_is_the_rarest_of_all_orders() {
        // Two of 8! orders are as extreme.
        let Trend { s, p } = trend(&rising(8));
        assert_eq!(s, 28);
        assert!((p - 2.0 / 40320.0).abs() < 1e-18);
        let falling: Vec<f64> = rising(8).into_iter().rev().collect();
        assert_eq!(trend(&falling), Trend { s: -28, p });
    }

    #[test]
    fn the_last_exact_size_still_counts_right() {
        let p = trend(&rising(20)).p;
        assert!((p / (2.0 / 2_432_902_008_176_640_000.0) - 1.0).abs() < 1e-15);
    }

    #[test]
    fn where_the_approximation_takes_over_it_agrees_with_the_exact_test() {
        for inversions in 40..=95 {
            let exact = 2.0 * TrendTest::new().lower_tail(20, inversions);
            let s = 190 - 2 * i64::try_from(inversions).unwrap();
            let approximate = approximate_p(s, variance_term(20) / 18.0);
            // What is left is the lighter tails of S, whose excess kurtosis is near −2.16/n: at n = 20, up to
            // 2·0.107/24·max (z³ − 3z)·φ(z) = 0.0049.
            assert!(
                (exact.min(1.0) - approximate).abs() < 0.005,
                "{exact} {approximate}"
            );
        }
    }

    #[test]
    fn equal_values_have_no_trend() {
        assert_eq!(trend(&[5.0; 9]), Trend { s: 0, p: 1.0 });
    }

    #[test]
    fn ties_lower_the_variance() {
        // By hand: n = 8, pairs of ties throughout: S = 24, 18·var = 8·7·21 − 4·2·1·9 = 1104.
        let Trend { s, p } = trend(&[1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 4.0, 4.0]);
        assert_eq!(s, 24);
        assert!((p - 2.0 * normal::cdf(-23.0 / (1104.0_f64 / 18.0).sqrt())).abs() < 1e-16);
    }

    #[test]
    fn a_drift_is_significant_and_noise_is_not() {
        assert!(trend(&[1.0, 1.2, 1.1, 1.3, 1.4, 1.6, 1.5, 1.7, 1.9, 2.0]).is_significant());
        assert!(!trend(&[1.3, 1.0, 1.6, 1.1, 1.7, 1.2, 1.5, 1.4, 1.9, 1.05]).is_significant());
    }

    #[test]
    fn inversions_add_up_to_all_permutations() {
        for n in 2..=20_usize {
            let tails = inversion_tails(n);
            let pairs = n * (n - 1) / 2;
            // Symmetric: what is at most half, and what is more, make one.
            let middle = tails[pairs / 2];
            let other = if pairs.is_multiple_of(2) {
                tails[pairs / 2 - 1]
            } else {
                middle
            };
            assert!((middle + other - 1.0).abs() < 1e-15, "{n}");
        }
    }

    #[test]
    fn a_far_value_is_an_outlier() {
        let sample = [9.7, 9.8, 9.9, 10.0, 10.1, 10.2, 13.0];
        assert_eq!(Outliers::of(&sample), Outliers { low: 0, high: 1 });
        let sample = [2.0, 9.7, 9.8, 9.9, 10.0, 10.1, 10.2, 13.0, 14.0];
        assert_eq!(Outliers::of(&sample), Outliers { low: 1, high: 2 });
        assert_eq!(Outliers::of(&sample).count(), 3);
    }

    #[test]
    fn the_limit_is_a_modified_z_of_3_5() {
        // Median 0, MAD 1: the limit is at 3.5/0.6745 = 5.189.
        let sample = |last| [-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, last];
        assert_eq!(Outliers::of(&sample(5.18)).count(), 0);
        assert_eq!(Outliers::of(&sample(5.20)).count(), 1);
    }

    #[test]
    fn without_a_median_deviation_the_mean_one_is_the_yardstick() {
        let mut sample = [17.0; 10];
        sample[9] = 18.0;
        assert_eq!(Outliers::of(&sample), Outliers { low: 0, high: 1 });
        sample[8] = 18.0;
        assert_eq!(Outliers::of(&sample).count(), 2);
        sample[7] = 18.0;
        assert_eq!(Outliers::of(&sample).count(), 0);
        assert_eq!(Outliers::of(&[17.0, 17.0, 17.0, 18.0]).count(), 0);
    }

    #[test]
    fn equal_values_and_no_values_have_no_outliers() {
        assert_eq!(Outliers::of(&[5.0; 6]).count(), 0);
        assert_eq!(Outliers::of(&[5.0]).count(), 0);
        assert_eq!(Outliers::of(&[]).count(), 0);
    }

    proptest! {
        #[test]
        fn s_is_the_sum_of_signs_over_all_pairs(values in prop::collection::vec(0..12_i32, 8..40)) {
            let values: Vec<f64> = values.into_iter().map(f64::from).collect();
            let mut expected = 0;
            for (i, later) in values.iter().enumerate() {
                for earlier in &values[..i] {
                    expected += i64::from(later > earlier) - i64::from(later < earlier);
                }
            }
            prop_assert_eq!(trend(&values).s, expected);
        }

        #[test]
        fn the_median_deviation_is_the_median_of_deviations(values in prop::collection::vec(-50..50_i32, 1..40)) {
            let mut values: Vec<f64> = values.into_iter().map(f64::from).collect();
            values.sort_by(f64::total_cmp);
            let centre = median(&values);
            let mut deviations: Vec<f64> = values.iter().map(|value| (value - centre).abs()).collect();
            deviations.sort_by(f64::total_cmp);
            prop_assert!((median_deviation(&values, centre) - median(&deviations)).abs() < 1e-12);
        }
    }
}
