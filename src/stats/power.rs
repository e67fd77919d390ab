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
    /// How many runs a side there are, ≥ 1.
    pub runs: usize,
    /// The part of all runs that are slow; 0 where none are, and else one run of the faster side is taken to be, or that part of them.
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
    /// The smallest change, as a logarithm > 0, that is shown in 80 % of runs: its estimate exceeds the larger of the margin plus
    /// half the interval, and of what the test wants, if it exceeds that by 1.28 standard errors on average, and although some runs
    /// of the faster side are slow.
    #[must_use]
    pub fn detectable(&self) -> f64 {
        self.detectable_with(self.runs)
    }

    /// [`Hurdles::detectable`] if there were so many `runs` a side: errors shrink with the square root of their number.
    fn detectable_with(&self, runs: usize) -> f64 {
        let scale = (self.runs as f64 / runs as f64).sqrt();
        let error = self.error * scale;
        let wanted = (self.margin + self.half_width * scale).max(self.critical * error);
        let seen = ALLOWANCE.mul_add(error, wanted);
        let slow = if self.slow_share > 0.0 {
            self.slow_share.max(1.0 / runs as f64)
        } else {
            0.0
        };
        slow.mul_add(self.slow_reach, seen) / (1.0 - slow)
    }

    /// How many runs a side would show a change whose logarithm is `change` in 80 % of runs. `None` where a million would not, as
    /// the change is within the margin, or hidden by slow runs.
    #[must_use]
    pub fn runs_to_detect(&self, change: f64) -> Option<usize> {
        let shows = |runs: usize| self.detectable_with(runs) <= change;
        let enough = (1..=20).map(|power| 1 << power).find(|&runs| shows(runs))?;
        // What half as many do not show takes more than those.
        let (mut few, mut enough) = (enough / 2, enough);
        while few + 1 < enough {
            let middle = few.midpoint(enough);
            if shows(middle) {
                enough = middle;
            } else {
                few = middle;
            }
        }
        Some(enough)
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

    const WIDE: Hurdles = Hurdles {
        error: 0.01,
        runs: 10,
        slow_share: 0.0,
        slow_reach: 0.0,
        half_width: 0.02,
        critical: 3.0,
        margin: 0.02,
    };

    #[test]
    fn what_more_than_one_hurdle_asks_for_is_the_higher() {
        assert!((WIDE.detectable() - 0.052_816).abs() < 1e-6);
        let many = Hurdles {
            critical: 5.0,
            ..WIDE
        };
        assert!((many.detectable() - 0.062_816).abs() < 1e-6);
    }

    #[test]
    fn as_many_runs_as_there_are_show_what_is_detectable() {
        for critical in [3.0, 5.0] {
            let hurdles = Hurdles { critical, ..WIDE };
            assert_eq!(hurdles.runs_to_detect(hurdles.detectable()), Some(10));
            assert!(hurdles.runs_to_detect(hurdles.detectable() * 2.0) < Some(10));
            assert!(hurdles.runs_to_detect(hurdles.detectable() * 0.99) > Some(10));
            assert_eq!(hurdles.runs_to_detect(0.02), None);
        }
    }

    #[test]
    fn a_slow_run_hides_its_share_of_a_change() {
        let hurdles = Hurdles {
            slow_share: 0.05,
            slow_reach: 0.05,
            ..WIDE
        };
        let detectable = hurdles.detectable();
        // Nine of ten runs show all of it, and one shows the opposite.
        assert!((0.9 * detectable - 0.1 * 0.05 - 0.052_816).abs() < 1e-6);
        assert_eq!(hurdles.runs_to_detect(detectable), Some(10));
        // Of a hundred runs five are slow, however many there are of them.
        let limit = (0.02 + 0.05 * 0.05) / 0.95;
        assert_eq!(hurdles.runs_to_detect(limit), None);
        assert!(hurdles.runs_to_detect(1.01 * limit).is_some());
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
