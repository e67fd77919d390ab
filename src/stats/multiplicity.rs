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

/// Which of several hypotheses could be rejected at all, and so count, given the smallest p-value that each can have.
///
/// Tarone (1990): with K(m) the number of hypotheses whose smallest p is at most α/m, take the smallest m with K(m) ≤ m; what
/// counts are those K(m). Whatever their data say the others are never rejected, so they cannot be false alarms either, and
/// Holm's procedure over those that count keeps its promise. Where all can have any p, all count.
#[must_use]
pub fn countable(smallest: &[f64], alpha: f64) -> Vec<bool> {
    let mut sorted = smallest.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    // K falls as m rises, so that the two meet at the latest where m is the number of all.
    let reach = |m: usize| alpha / m as f64 * (1.0 + ROUNDING);
    let k = |m: usize| sorted.partition_point(|&p| p <= reach(m));
    let all: Vec<usize> = (1..=smallest.len()).collect();
    let m = all.partition_point(|&m| k(m) > m) + 1;
    smallest.iter().map(|&p| p <= reach(m)).collect()
}

/// What rounding may make of a p-value that is just α/m: 1/C(8, 4) is reached where α = 1/70.
const ROUNDING: f64 = 1e-12;

/// Holm's adjusted p-values among those that [`countable`] counts, in the order of the input; 1 for the others.
#[must_use]
pub fn tarone_holm(p: &[f64], smallest: &[f64], alpha: f64) -> Vec<f64> {
    let counts = countable(smallest, alpha);
    among(&counts, p, holm)
}

/// Adjusts the p-values that count by `adjust`, in the order of the input; 1 for the others.
#[must_use]
pub fn among(counts: &[bool], p: &[f64], adjust: fn(&[f64]) -> Vec<f64>) -> Vec<f64> {
    let counted: Vec<f64> = p
        .iter()
        .zip(counts)
        .filter_map(|(&p, &counts)| counts.then_some(p))
        .collect();
    let mut adjusted = adjust(&counted).into_iter();
    counts
        .iter()
        .map(|&counts| {
            if counts {
                adjusted.next().unwrap_or(1.0)
            } else {
                1.0
            }
        })
        .collect()
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
    fn what_cannot_be_rejected_does_not_count() {
        // K(1) = 3, K(2) = 2 at α = .05: .02 needs α/2, .03 cannot have it.
        assert_eq!(
            countable(&[0.001, 0.03, 1.0, 0.02], 0.05),
            [true, false, false, true]
        );
        assert_eq!(
            tarone_holm(&[0.001, 0.03, 1.0, 0.02], &[0.001, 0.03, 1.0, 0.02], 0.05),
            [0.002, 1.0, 1.0, 0.02]
        );
        assert_eq!(countable(&[0.0; 3], 0.05), [true; 3]);
        assert_eq!(countable(&[1.0; 3], 0.05), [false; 3]);
        assert!(countable(&[], 0.05).is_empty());
    }

    #[test]
    fn a_lone_change_can_be_proven_among_as_many_rows_as_tabulated() {
        // One-sided, n values a side: 1/C(2n, n).
        for (smallest, most) in [(252.0, 12), (924.0, 46), (12_870.0, 643), (184_756.0, 9237)] {
            let counted = |rows: usize| countable(&vec![1.0 / smallest; rows], 0.05)[0];
            assert!(counted(most) && !counted(most + 1), "{smallest}");
        }
    }

    /// All ways to deal the values of 4 rows of 3 + 3 anew, each row for itself, with Fisher's p of each way: what is promised
    /// is that at most α of them have a p that survives.
    #[test]
    fn of_all_relabelings_of_small_rows_at_most_alpha_have_a_false_alarm() {
        // Values tied in different ways; p is the share of relabelings with as large a sum on the second side.
        let rows: [[u32; 6]; 4] = [
            [1, 2, 3, 4, 5, 6],
            [1, 1, 1, 1, 1, 2],
            [1, 1, 1, 2, 2, 2],
            [7; 6],
        ];
        let hands: Vec<u32> = (0..64_u32).filter(|hand| hand.count_ones() == 3).collect();
        let sum = |row: &[u32; 6], hand: u32| -> u32 {
            (0..6).filter(|i| hand >> i & 1 == 1).map(|i| row[i]).sum()
        };
        let p: Vec<Vec<f64>> = rows
            .iter()
            .map(|row| {
                let share = |&hand: &u32| {
                    let at_least = hands
                        .iter()
                        .filter(|&&other| sum(row, other) >= sum(row, hand))
                        .count();
                    at_least as f64 / 20.0
                };
                hands.iter().map(share).collect()
            })
            .collect();
        let smallest: Vec<f64> = p
            .iter()
            .map(|p| p.iter().copied().fold(1.0, f64::min))
            .collect();
        assert_eq!(smallest, [0.05, 0.5, 0.05, 1.0]);
        for alpha in [0.05, 0.1, 0.2] {
            let mut alarms = 0;
            for (a, b) in (0..400).map(|i| (i / 20, i % 20)) {
                for (c, d) in (0..400).map(|i| (i / 20, i % 20)) {
                    let adjusted =
                        tarone_holm(&[p[0][a], p[1][b], p[2][c], p[3][d]], &smallest, alpha);
                    alarms += usize::from(adjusted.iter().any(|&p| p <= alpha));
                }
            }
            let rate = alarms as f64 / 160_000.0;
            assert!(rate <= alpha, "{alpha} {rate}");
            // Two rows can be rejected at α/2 = .05 where α = .1, none of four could by Holm alone.
            assert_eq!(alarms > 0, alpha >= 0.1, "{alpha}");
        }
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
