//! What a comparison could have shown, and how many runs would show more.
//!
//! All of it is for a lone change among rows that do not change, which has to survive the correction and whose interval has to
//! clear the margin, in four of five runs (Lehr 1992 has the simplest case).

use super::mann_whitney::UDistributions;
use super::normal;

/// Φ⁻¹(0.9): how many standard errors a change lies beyond what is needed. Φ⁻¹(0.8) = 0.84 would give 80 % of runs if errors were
/// known; estimated from ten runs they are not, and this is what gives 80 % in simulations.
const ALLOWANCE: f64 = 1.281_551_565_544_600_4;

/// What a change has to get past, all in logarithms of the ratio.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hurdles {
    /// The standard error of the change, ≥ 0.
    pub error: f64,
    /// The part of its size by which one slow run of the faster side makes the change look smaller, 0 to 1; 0 where no runs are.
    pub slow_share: f64,
    /// How far above the slower side that run is taken to be, ≥ 0.
    pub slow_reach: f64,
    /// Half the width of the interval, ≥ 0.
    pub half_width: f64,
    /// How many standard errors from 0 the corrected test wants, > 0.
    pub critical: f64,
    /// The margin in the direction of the change, ≥ 0: ln(1 + δ), or −ln(1 − δ).
    pub margin: f64,
}

impl Hurdles {
    /// The smallest change, as a logarithm > 0, that is shown in 80 % of runs: its estimate exceeds the larger of the margin
    /// plus half the interval, and of what the test wants, if it exceeds that by 1.28 standard errors on average, and although one run of the faster side may be slow.
    #[must_use]
    pub fn detectable(&self) -> f64 {
        let wanted = (self.margin + self.half_width).max(self.critical * self.error);
        let seen = ALLOWANCE.mul_add(self.error, wanted);
        (seen + self.slow_share * self.slow_reach) / (1.0 - self.slow_share)
    }

    /// How many runs a side, instead of `runs`, would show a change whose logarithm is `change` in 80 % of runs: errors shrink
    /// with the square root of the number of runs. `None` where no number does, as the change is within the margin.
    #[must_use]
    pub fn runs_to_detect(&self, change: f64, runs: usize) -> Option<usize> {
        let seen = change * (1.0 - self.slow_share) - self.slow_share * self.slow_reach;
        let reach = seen - self.margin;
        if reach.is_nan() || reach <= 0.0 {
            return None;
        }
        let by_interval = ALLOWANCE.mul_add(self.error, self.half_width) / reach;
        let by_test = (self.critical + ALLOWANCE) * self.error / seen;
        let times = by_interval.max(by_test).powi(2);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "not negative; saturates"
        )]
        let needed = (runs as f64 * times).ceil() as usize;
        Some(needed.max(1))
    }
}

/// How many standard errors from 0 a normal estimate has to be for a one-sided p of `alpha`, in (0, ½].
#[must_use]
pub fn critical_z(alpha: f64) -> f64 {
    -normal::quantile(alpha)
}

/// How many of the `runs` of the faster side may be slower than every run of the other, so that the ranks alone still prove the
/// change at `alpha`, one-sided; `None` where not even samples without overlap do.
///
/// Each such run costs as many pairs as the other side has runs: P(U ≤ k·n) ≤ α (Mann & Whitney 1947).
pub fn tolerated_slow_runs(
    distributions: &mut UDistributions,
    runs: usize,
    alpha: f64,
) -> Option<usize> {
    let proves = |&slow: &usize| distributions.cdf(runs, runs, slow * runs) <= alpha;
    (0..runs).take_while(proves).last()
}

/// The smallest number of runs a side, up to `limit`, whose ranks prove a change at `alpha`, one-sided, although `slow` of one
/// side are slower than every run of the other.
pub fn runs_that_tolerate(
    distributions: &mut UDistributions,
    slow: usize,
    alpha: f64,
    limit: usize,
) -> Option<usize> {
    (1..=limit).find(|&runs| tolerated_slow_runs(distributions, runs, alpha) >= Some(slow))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_more_than_one_hurdle_asks_for_is_the_higher() {
        let wide = Hurdles {
            error: 0.01,
            slow_share: 0.0,
            slow_reach: 0.0,
            half_width: 0.02,
            critical: 3.0,
            margin: 0.02,
        };
        assert!((wide.detectable() - 0.052_816).abs() < 1e-6);
        let many = Hurdles {
            critical: 5.0,
            ..wide
        };
        assert!((many.detectable() - 0.062_816).abs() < 1e-6);
    }

    #[test]
    fn as_many_runs_as_there_are_show_what_is_detectable() {
        for critical in [3.0, 5.0] {
            let hurdles = Hurdles {
                error: 0.013,
                slow_share: 0.0,
                slow_reach: 0.0,
                half_width: 0.028,
                critical,
                margin: 0.0198,
            };
            // A rounding may ask for one more.
            assert!(matches!(
                hurdles.runs_to_detect(hurdles.detectable(), 10),
                Some(10 | 11)
            ));
            assert!(matches!(
                hurdles.runs_to_detect(hurdles.detectable() * 2.0, 10),
                Some(1..=9)
            ));
            assert_eq!(hurdles.runs_to_detect(0.0198, 10), None);
        }
    }

    #[test]
    fn a_slow_run_hides_its_share_of_a_change() {
        let hurdles = Hurdles {
            error: 0.01,
            slow_share: 0.1,
            slow_reach: 0.05,
            half_width: 0.02,
            critical: 3.0,
            margin: 0.02,
        };
        let detectable = hurdles.detectable();
        // Nine of ten runs show all of it, and one shows the opposite.
        assert!((0.9 * detectable - 0.1 * 0.05 - 0.052_816).abs() < 1e-6);
        assert!(matches!(
            hurdles.runs_to_detect(detectable, 10),
            Some(10 | 11)
        ));
    }

    #[test]
    fn slow_runs_are_tolerated_as_tabulated() {
        let distributions = &mut UDistributions::new();
        // Two-sided .05 among 40 and 120 rows is one-sided .025.
        let runs = |rows: f64, distributions: &mut UDistributions| {
            [0, 1, 2, 3]
                .map(|slow| runs_that_tolerate(distributions, slow, 0.025 / rows, 100).unwrap())
        };
        assert_eq!(runs(40.0, distributions), [7, 11, 14, 17]);
        assert_eq!(runs(120.0, distributions), [8, 12, 15, 18]);
        assert_eq!(tolerated_slow_runs(distributions, 10, 0.05 / 40.0), Some(1));
        assert_eq!(tolerated_slow_runs(distributions, 5, 0.05 / 40.0), None);
    }

    #[test]
    fn the_normal_quantile_is_the_tabulated_one() {
        assert!((critical_z(0.025) - 1.959_964).abs() < 1e-6);
    }
}
