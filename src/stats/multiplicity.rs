//! Adjusting p-values for the number of comparisons made at once.

/// Holm's (1979) adjusted p-values, in the order of the input.
///
/// Comparing each with α keeps the probability of even one false alarm in the whole run at or below α, whatever the
/// dependence between the comparisons. Every p is in [0, 1], and so is every result.
#[must_use]
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut adjusted = vec![0.0; p.len()];
    let mut largest = 0.0_f64;
    for (step, &index) in ascending(p).iter().enumerate() {
        // A step-down procedure stops at the first failure: nothing later may look more certain than that.
        largest = largest.max((p.len() - step) as f64 * p[index]).min(1.0);
        adjusted[index] = largest;
    }
    adjusted
}

/// Benjamini and Hochberg's (1995) adjusted p-values, in the order of the input.
///
/// Comparing each with q keeps the expected share of false alarms among the alarms at or below q, for independent or
/// positively dependent comparisons. Every p is in [0, 1], and so is every result.
#[must_use]
pub fn benjamini_hochberg(p: &[f64]) -> Vec<f64> {
    let mut adjusted = vec![0.0; p.len()];
    let mut smallest = 1.0_f64;
    for (step, &index) in ascending(p).iter().enumerate().rev() {
        // A step-up procedure accepts everything before its last success.
        smallest = smallest.min(p.len() as f64 / (step + 1) as f64 * p[index]);
        adjusted[index] = smallest;
    }
    adjusted
}

fn ascending(p: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const P: [f64; 5] = [0.0002, 0.019, 0.0008, 0.041, 0.27];

    fn assert_close(actual: &[f64], expected: &[f64], tolerance: f64) {
        assert_eq!(actual.len(), expected.len());
        for (a, e) in actual.iter().zip(expected) {
            assert!((a - e).abs() <= tolerance, "{actual:?} is not {expected:?}");
        }
    }

    #[test]
    fn holm_gives_the_reference_values() {
        assert_close(&holm(&P), &[0.001, 0.057, 0.0032, 0.082, 0.27], 1e-15);
    }

    #[test]
    fn benjamini_hochberg_gives_the_reference_values() {
        assert_close(
            &benjamini_hochberg(&P),
            &[0.001, 0.095 / 3.0, 0.002, 0.05125, 0.27],
            1e-15,
        );
    }

    #[test]
    fn a_single_comparison_needs_no_adjustment() {
        assert_eq!(holm(&[0.03]), [0.03]);
        assert_eq!(benjamini_hochberg(&[0.03]), [0.03]);
    }

    #[test]
    fn no_comparison_gives_nothing() {
        assert!(holm(&[]).is_empty());
        assert!(benjamini_hochberg(&[]).is_empty());
    }

    #[test]
    fn nothing_exceeds_one() {
        assert_eq!(holm(&[0.9, 0.8, 0.95]), [1.0; 3]);
        assert_eq!(benjamini_hochberg(&[1.0, 1.0]), [1.0; 2]);
    }

    proptest! {
        #[test]
        fn adjusting_never_makes_a_p_smaller_and_holm_is_the_stricter(p in prop::collection::vec(0.0..=1.0_f64, 0..40)) {
            let (strict, lenient) = (holm(&p), benjamini_hochberg(&p));
            for i in 0..p.len() {
                prop_assert!(lenient[i] >= p[i]);
                prop_assert!(strict[i] >= lenient[i] * (1.0 - 1e-15));
                prop_assert!(strict[i] <= 1.0);
            }
        }

        #[test]
        fn adjusting_keeps_the_order(p in prop::collection::vec(0.0..=1.0_f64, 2..40)) {
            for adjusted in [holm(&p), benjamini_hochberg(&p)] {
                for i in 1..p.len() {
                    if p[i - 1] < p[i] {
                        prop_assert!(adjusted[i - 1] <= adjusted[i]);
                    }
                }
            }
        }
    }
}
