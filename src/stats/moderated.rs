//! Standard errors that few runs give, made steadier by what all rows of a run say (Smyth 2004).
//!
//! Ten runs a side know their own noise to about 17 %. Forty benchmarks measured on one machine have more in common than that:
//! the empirical Bayes estimate weighs each row's variance with a common one, the more the less rows differ beyond chance.

use statrs::distribution::{ContinuousCDF, StudentsT};
use statrs::function::gamma::digamma;

use super::normal;

/// A variance with the degrees of freedom it is known by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The variance, ≥ 0, in the square of the values' unit.
    pub variance: f64,
    /// Degrees of freedom, > 0; infinite where the variance is known for sure.
    pub degrees: f64,
}

/// Fewer variances say nothing of how much variances differ.
const FEWEST: usize = 3;

impl Spread {
    /// The common variance of all `spreads` and the degrees of freedom that it is worth; none of fewer than three that are
    /// positive.
    ///
    /// With e = ln s² − ψ(d/2) + ln(d/2) and V = mean (e − ē)²·G/(G − 1): ψ'(d₀/2) = V·(1 + √(2/(G − 1))) − mean ψ'(d/2), and
    /// ln s₀² = ē + ψ(d₀/2) − ln(d₀/2); d₀ is infinite where ψ' would not be positive (Smyth 2004, section 6.2). Smyth takes V as
    /// it is; here it is one standard error higher, as few rows that differ by chance alone would else be taken for all alike.
    #[must_use]
    pub fn common(spreads: &[Spread]) -> Option<Spread> {
        let is_known = |spread: &&Spread| spread.variance > 0.0 && spread.degrees > 0.0;
        let logs: Vec<f64> = spreads
            .iter()
            .filter(is_known)
            .map(|spread| {
                let half = spread.degrees / 2.0;
                spread.variance.ln() - digamma(half) + half.ln()
            })
            .collect();
        if logs.len() < FEWEST {
            return None;
        }
        let count = logs.len() as f64;
        let mean = logs.iter().sum::<f64>() / count;
        let squares: f64 = logs.iter().map(|log| (log - mean).powi(2)).sum();
        let by_chance: f64 = spreads
            .iter()
            .filter(is_known)
            .map(|spread| trigamma(spread.degrees / 2.0))
            .sum();
        let spare = count - 1.0;
        let excess = squares / spare * (1.0 + (2.0 / spare).sqrt()) - by_chance / count;
        Some(if excess > 0.0 {
            let half = inverse_trigamma(excess);
            Spread {
                variance: (mean + digamma(half) - half.ln()).exp(),
                degrees: 2.0 * half,
            }
        } else {
            Spread {
                variance: mean.exp(),
                degrees: f64::INFINITY,
            }
        })
    }

    /// This variance weighed with the `common` one of `total` degrees of freedom in all: (d₀s₀² + ds²)/(d₀ + d), worth
    /// d₀ + d degrees, but no more than all rows together have.
    #[must_use]
    pub fn moderated(self, common: Option<Spread>, total: f64) -> Spread {
        let Some(common) = common else { return self };
        if common.degrees.is_infinite() {
            return Spread {
                variance: common.variance,
                degrees: total,
            };
        }
        let degrees = common.degrees + self.degrees;
        Spread {
            variance: (common.degrees * common.variance + self.degrees * self.variance) / degrees,
            degrees: degrees.min(total),
        }
    }
}

/// P(T > t) of Student's t with `degrees` > 0 degrees of freedom; in [0, 1].
#[must_use]
pub fn t_upper_tail(t: f64, degrees: f64) -> f64 {
    match StudentsT::new(0.0, 1.0, degrees) {
        Ok(distribution) if degrees < NEARLY_NORMAL => distribution.sf(t),
        _ => normal::cdf(-t),
    }
}

/// The value that Student's t with `degrees` > 0 degrees of freedom exceeds with probability `p`, in (0, 1).
#[must_use]
pub fn t_critical(p: f64, degrees: f64) -> f64 {
    match StudentsT::new(0.0, 1.0, degrees) {
        Ok(distribution) if degrees < NEARLY_NORMAL => -distribution.inverse_cdf(p),
        _ => -normal::quantile(p),
    }
}

/// From here on Student's t differs from the normal distribution by less than 1e-6.
const NEARLY_NORMAL: f64 = 1e6;

/// ψ'(x) for x > 0: ψ'(x) = ψ'(x + 1) + 1/x² up to x = 12, then the asymptotic series (Abramowitz & Stegun 1964, 6.4.6 and
/// 6.4.12); relative error below 1e-14.
fn trigamma(mut x: f64) -> f64 {
    let mut sum = 0.0;
    while x < 12.0 {
        sum += 1.0 / (x * x);
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    let series = square
        * (1.0 / 6.0
            - square
                * (1.0 / 30.0
                    - square * (1.0 / 42.0 - square * (1.0 / 30.0 - square * 5.0 / 66.0))));
    sum + 1.0 / x + square / 2.0 + series / x
}

/// The x > 0 with ψ'(x) = `value` > 0: Newton's steps on 1/ψ', which is convex and nearly straight (Smyth 2004, appendix).
fn inverse_trigamma(value: f64) -> f64 {
    if value > 1e7 {
        return 1.0 / value.sqrt();
    }
    if value < 1e-6 {
        return 1.0 / value;
    }
    let mut x = 0.5 + 1.0 / value;
    for _ in 0..50 {
        let now = trigamma(x);
        let step = now * (1.0 - now / value) / tetragamma(x);
        x += step;
        if -step / x < 1e-12 {
            break;
        }
    }
    x
}

/// ψ''(x) for x > 0, by the derivative of what [`trigamma`] does.
fn tetragamma(mut x: f64) -> f64 {
    let mut sum = 0.0;
    while x < 12.0 {
        sum -= 2.0 / (x * x * x);
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    sum - square - square / x - square * square * (0.5 - square * (1.0 / 6.0 - square / 6.0))
}

#[cfg(test)]
#[expect(clippy::unreadable_literal, reason = "as SciPy prints them")]
mod tests {
    use super::*;

    fn close(a: f64, b: f64, tolerance: f64) {
        assert!((a / b - 1.0).abs() <= tolerance, "{a} is not {b}");
    }

    #[test]
    fn trigamma_has_its_known_values() {
        let pi = std::f64::consts::PI;
        close(trigamma(1.0), pi * pi / 6.0, 1e-14);
        close(trigamma(0.5), pi * pi / 2.0, 1e-14);
        // SciPy 1.17: polygamma(1, 9.5), polygamma(2, 9.5), polygamma(2, .7).
        close(trigamma(9.5), 0.11099728846909902, 1e-13);
        close(tetragamma(9.5), TETRA_9_5, 1e-9);
        close(tetragamma(0.7), TETRA_0_7, 1e-9);
        for x in [0.01, 0.3, 1.0, 4.5, 70.0, 5e5] {
            close(inverse_trigamma(trigamma(x)), x, 1e-9);
        }
    }

    #[test]
    fn students_tails_are_those_of_scipy() {
        close(t_upper_tail(3.0, 18.0), T_3_18, 1e-10);
        close(t_upper_tail(6.0, 250.5), T_6_250, 1e-8);
        close(t_critical(0.00125, 18.0), C_18, 1e-8);
        close(t_critical(0.025, 780.0), C_780, 1e-8);
        close(
            t_upper_tail(2.0, f64::INFINITY),
            0.022_750_131_948_179_2,
            1e-12,
        );
    }

    #[test]
    fn variances_that_differ_by_chance_alone_become_one() {
        let spreads = [1.0, 1.05, 0.95, 1.02].map(|variance| Spread {
            variance,
            degrees: 18.0,
        });
        let common = Spread::common(&spreads).unwrap();
        assert_eq!(common.degrees, f64::INFINITY);
        let moderated = spreads[1].moderated(Some(common), 72.0);
        assert_eq!(
            (moderated.variance, moderated.degrees),
            (common.variance, 72.0)
        );
    }

    #[test]
    fn variances_that_differ_more_are_weighed_with_their_common_one() {
        // The same formulas in SciPy 1.17 (digamma, polygamma).
        let spreads = [0.2, 1.0, 5.0, 0.7, 2.5].map(|variance| Spread {
            variance,
            degrees: 8.0,
        });
        let common = Spread::common(&spreads).unwrap();
        close(common.degrees, D0, 1e-8);
        close(common.variance, S0, 1e-8);
        let moderated = spreads[2].moderated(Some(common), 40.0);
        close(moderated.variance, (D0 * S0 + 8.0 * 5.0) / (D0 + 8.0), 1e-8);
    }

    #[test]
    fn two_rows_say_nothing_of_each_other() {
        let spread = Spread {
            variance: 2.0,
            degrees: 18.0,
        };
        assert_eq!(Spread::common(&[spread; 2]), None);
        assert_eq!(spread.moderated(None, 36.0), spread);
        let constant = Spread {
            variance: 0.0,
            degrees: 18.0,
        };
        assert_eq!(Spread::common(&[spread, spread, constant]), None);
    }

    // scipy.special.polygamma, scipy.stats.t.sf and isf, and the root of polygamma(1, d0/2).
    const TETRA_9_5: f64 = -0.012307845807709338;
    const TETRA_0_7: f64 = -6.434992874190923;
    const T_3_18: f64 = 0.0038427060701571544;
    const T_6_250: f64 = 3.4359673030873284e-09;
    const C_18: f64 = 3.5101041304634215;
    const C_780: f64 = 1.963010002517689;
    const D0: f64 = 1.5939224302248818;
    const S0: f64 = 0.6047333963971864;
}
