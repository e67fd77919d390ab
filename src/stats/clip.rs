//! Slow runs that would drown a comparison, pulled in rather than taken out.

use super::median::median;

/// How many values at most lie so far out that they are pulled in, as a part of both samples.
const CLIPPED: f64 = 0.2;

/// How far from the medians values may lie, in standard deviations.
const REACH: f64 = 2.5;

/// Φ⁻¹(0.9): a normal variable is within this many deviations in 80 % of cases.
const EIGHTY_PERCENT: f64 = 1.281_551_565_544_600_4;

/// Pulls values far from both samples in, to the nearest value that is not far (Winsor's way; Tukey 1962).
///
/// The yardstick is the 80th percentile of the distances from the median of the value's own sample, made a standard deviation
/// by that of the normal distribution. What is more than 2.5 of them below the lower of the two medians or above the upper
/// one is moved to that limit. Two differences from the usual trimming of each sample for itself:
///
/// * at most a fifth of all values is moved, since the yardstick is no smaller than the distance of those nearer in, so that
///   the second of two modes remains what it is;
/// * a value is not far if it is near the *other* sample: a run of the baseline as slow as the runs of the other side is
///   evidence that there is no difference.
///
/// Values are in any order, and keep it. Without values there is nothing to do. Returns how many were moved, and how far beyond
/// the medians the limits are.
pub fn clip(x: &mut [f64], y: &mut [f64], room: &mut Vec<f64>) -> (usize, f64) {
    if x.is_empty() || y.is_empty() {
        return (0, 0.0);
    }
    let mut median_of = |values: &[f64]| {
        room.clear();
        room.extend_from_slice(values);
        room.sort_unstable_by(f64::total_cmp);
        median(room)
    };
    let (of_x, of_y) = (median_of(x), median_of(y));
    room.clear();
    room.extend(x.iter().map(|value| (value - of_x).abs()));
    room.extend(y.iter().map(|value| (value - of_y).abs()));
    room.sort_unstable_by(f64::total_cmp);
    let reach = REACH / EIGHTY_PERCENT * quantile(room, 1.0 - CLIPPED);
    let (low, high) = (of_x.min(of_y) - reach, of_x.max(of_y) + reach);
    let mut moved = 0;
    for value in x.iter_mut().chain(y) {
        moved += usize::from(*value < low || *value > high);
        *value = value.clamp(low, high);
    }
    (moved, reach)
}

/// The value below which the part `p` of the sorted values lies, between neighbours in proportion (Hyndman & Fan's 1996
/// seventh definition).
fn quantile(sorted: &[f64], p: f64) -> f64 {
    let place = p * (sorted.len() - 1) as f64;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an index"
    )]
    let below = place as usize;
    let above = sorted.get(below + 1).unwrap_or(&sorted[below]);
    (place - below as f64).mul_add(above - sorted[below], sorted[below])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn clipped(x: &[f64], y: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let (mut x, mut y) = (x.to_vec(), y.to_vec());
        clip(&mut x, &mut y, &mut Vec::new());
        (x, y)
    }

    #[test]
    fn a_slow_run_is_pulled_in_and_the_rest_stays() {
        let (x, y) = ([1.0, 2.0, 3.0, 4.0, 40.0], [2.0, 3.0, 4.0, 5.0, 6.0]);
        let (new_x, new_y) = clipped(&x, &y);
        // Distances 0 0 1 1 1 1 2 2 2 37: the 80th percentile is 2, and 4 + 2.5·2/1.28155 = 7.9015.
        assert_eq!((&new_x[..4], &new_y[..]), (&x[..4], &y[..]));
        assert!((new_x[4] - 7.901_52).abs() < 1e-5, "{new_x:?}");
    }

    #[test]
    fn two_modes_stay_what_they_are() {
        let (x, y) = (
            [1.0, 1.0, 1.0, 9.0, 9.0, 1.0, 9.0, 1.0],
            [9.0, 1.0, 1.0, 1.0, 1.0, 1.0, 9.0, 9.0],
        );
        assert_eq!(clipped(&x, &y), (x.to_vec(), y.to_vec()));
    }

    #[test]
    fn what_is_near_the_other_sample_is_not_far() {
        let (x, y) = (
            [1.0, 1.1, 0.9, 1.0, 1.1, 0.9, 5.0, 1.0],
            [5.0, 5.1, 4.9, 5.0, 5.1, 4.9, 5.0, 1.0],
        );
        assert_eq!(clipped(&x, &y), (x.to_vec(), y.to_vec()));
    }

    #[test]
    fn percentiles_lie_between_neighbours_in_proportion() {
        // numpy.quantile([1, 2, 4, 8], [0, .25, .8, 1]) = [1, 1.75, 5.6, 8]
        let sorted = [1.0, 2.0, 4.0, 8.0];
        for (p, expected) in [(0.0, 1.0), (0.25, 1.75), (0.8, 5.6), (1.0, 8.0)] {
            assert!((quantile(&sorted, p) - expected).abs() < 1e-12, "{p}");
        }
    }

    proptest! {
        #[test]
        fn at_most_a_fifth_is_moved_and_swapping_the_samples_changes_nothing(
            x in prop::collection::vec(-50.0..50.0_f64, 1..20),
            y in prop::collection::vec(-50.0..50.0_f64, 1..20),
        ) {
            let (new_x, new_y) = clipped(&x, &y);
            let moved = x.iter().zip(&new_x).chain(y.iter().zip(&new_y)).filter(|(old, new)| old != new).count();
            prop_assert!(5 * moved <= x.len() + y.len() + 4);
            prop_assert_eq!(clipped(&y, &x), (new_y, new_x));
        }
    }
}
