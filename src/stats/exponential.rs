//! The exponential whose digits are printed.

/// e^x, good to a few units in the last place.
///
/// x is taken apart into k·ln 2 + 16·r; the Taylor series gives e^r − 1, and e^16r − 1 comes of squaring four times, as
/// (y + 1)² − 1 = y·(y + 2) (Shibata, "Efficient evaluation methods of elementary functions suitable for SIMD computation",
/// 2010). Other exponentials are nearer to the true value by a bit; this one, with multiplications and additions fused, has
/// the digits that the reference prints on processors that can fuse them, and the same on every machine.
#[must_use]
pub fn exp(x: f64) -> f64 {
    use std::f64::consts::LOG2_E;
    /// ln 2 in two parts, of which the product of the first with a small whole number is exact.
    const LN_2: [f64; 2] = [0.693_147_180_559_663, 2.823_529_056_303_157_7e-13];
    /// 1/8!, 1/7! and so on to 1/1!.
    const TERMS: [f64; 8] = [
        1.0 / 40320.0,
        1.0 / 5040.0,
        1.0 / 720.0,
        1.0 / 120.0,
        1.0 / 24.0,
        1.0 / 6.0,
        1.0 / 2.0,
        1.0,
    ];
    if !(-1000.0..1000.0).contains(&x) {
        // Beyond all numbers on either side, or no number.
        return libm::exp(x);
    }
    let halvings = (x * LOG2_E).round_ties_even();
    let [high, low] = LN_2.map(|part| -part);
    let rest = halvings.mul_add(low, halvings.mul_add(high, x)) / 16.0;
    let sum = TERMS[1..]
        .iter()
        .fold(TERMS[0], |sum, term| sum.mul_add(rest, *term));
    let mut less_one = rest * sum;
    for _ in 0..3 {
        less_one *= less_one + 2.0;
    }
    let fraction = less_one.mul_add(less_one + 2.0, 1.0);
    #[expect(clippy::cast_possible_truncation, reason = "below 1500")]
    libm::scalbn(fraction, halvings as i32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_edges_are_those_of_any_exponential() {
        assert_eq!(exp(0.0), 1.0);
        assert_eq!(exp(-800.0), 0.0);
        assert_eq!(exp(f64::NEG_INFINITY), 0.0);
        for large in [710.0, 5000.0, f64::INFINITY] {
            assert_eq!(exp(large), f64::INFINITY);
        }
        assert!(exp(f64::NAN).is_nan());
        assert!(exp(f64::MAX.ln()).is_finite());
        assert!(exp(f64::MIN_POSITIVE.ln()) > 0.0);
    }

    proptest! {
        #[test]
        fn it_is_near_the_true_value(x in -700.0..700.0_f64) {
            let (found, other) = (exp(x), libm::exp(x));
            prop_assert!((found - other).abs() <= 1e-15 * other, "{} {}", found, other);
        }
    }
}
