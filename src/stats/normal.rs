//! The standard normal distribution, to the last bit the reference's digits depend on.

use std::f64::consts::SQRT_2;

use statrs::distribution::{ContinuousCDF, Normal};

/// Φ(z), the probability that a standard normal variable is at most `z`; in [0, 1].
///
/// `erfc` is the FreeBSD one (crate `libm`): accurate to an ulp also far out, where p-values live, and rounding Φ to
/// exactly 1 from z ≈ 8.3 on. That rounding is visible, since a p of exactly 0 is not printed.
pub(super) fn cdf(z: f64) -> f64 {
    0.5 * libm::erfc(-z / SQRT_2)
}

/// Φ⁻¹(p), the value a standard normal variable stays below with probability `p`; −∞ at 0 and below, ∞ at 1 and above.
pub(super) fn quantile(p: f64) -> f64 {
    if p <= 0.0 {
        f64::NEG_INFINITY
    } else if p >= 1.0 {
        f64::INFINITY
    } else {
        Normal::standard().inverse_cdf(p)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_upper_tail_is_exactly_zero_from_about_8_3_on() {
        assert!(1.0 - cdf(8.2) > 0.0);
        assert_eq!(1.0 - cdf(8.3), 0.0);
    }

    #[test]
    fn the_lower_tail_keeps_its_digits() {
        // Φ(−8.3) from 50-digit arithmetic.
        let expected = 5.205_569_744_890_285e-17;
        assert!((cdf(-8.3) / expected - 1.0).abs() < 1e-13, "{}", cdf(-8.3));
    }

    #[test]
    fn the_quantile_inverts_the_distribution() {
        for p in [1e-10, 0.001, 0.025, 0.25, 0.5, 0.8, 0.975, 0.9995] {
            assert!((cdf(quantile(p)) / p - 1.0).abs() < 1e-13, "{p}");
        }
        assert_eq!(quantile(0.0), f64::NEG_INFINITY);
        assert_eq!(quantile(1.0), f64::INFINITY);
    }
}
