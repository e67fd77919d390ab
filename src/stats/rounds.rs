//! Two samples measured in rounds: each round has both sides, so that what a round does to both cancels.

use super::median::median;

/// More differences would take more than 2^16 sign flips.
const FLIPPED_UP_TO: usize = 16;

/// The one-sided p of a mean difference above 0: the part of all 2^n ways to swap the sides within rounds, each round for itself,
/// in which the sum of the differences is at least the one observed (Fisher 1935, section 21). In (0, 1]; none of more than 16.
///
/// Exact whatever the values look like, as long as either side of a round could have got them.
#[must_use]
pub fn sign_flip_p(differences: &[f64]) -> Option<f64> {
    let n = differences.len();
    if n > FLIPPED_UP_TO {
        return None;
    }
    let observed: f64 = differences.iter().sum();
    // Whatever order sums are taken in, those that are equal must count as such.
    let size: f64 = differences.iter().map(|value| value.abs()).sum();
    let reached = observed - 1e-12 * size;
    // Gray's code swaps one round at a time.
    let mut sum = observed;
    let mut signs = 0_u32;
    let mut at_least = 0_u32;
    for step in 1..=1_u32 << n {
        at_least += u32::from(sum >= reached);
        let flipped = step.trailing_zeros() as usize;
        let Some(&difference) = differences.get(flipped) else {
            break;
        };
        signs ^= 1 << flipped;
        let is_negative = signs >> flipped & 1 == 1;
        sum += if is_negative { -2.0 } else { 2.0 } * difference;
    }
    Some(f64::from(at_least) / f64::from(1_u32 << n))
}

/// What a pass over all rows did to them: the median over the rows of how far the row's value in the pass is from the row's
/// centre. Logarithms in, a logarithm out; `None` of fewer than 8 rows, which one of them could sway.
///
/// Half of the rows may have changed, by whatever, before this moves with them.
#[must_use]
pub fn pass_deviation(deviations: &mut [f64]) -> Option<f64> {
    if deviations.len() < FEWEST_ROWS {
        return None;
    }
    deviations.sort_unstable_by(f64::total_cmp);
    Some(median(deviations))
}

/// Fewer rows may move together by chance.
pub const FEWEST_ROWS: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn darwins_plants_get_fishers_p() {
        // Fisher (1935), section 21: of the 32,768 ways 835 have a sum of differences of 314 or more, and 28 more exactly 314.
        let differences = [
            49.0, -67.0, 8.0, 16.0, 6.0, 23.0, 28.0, 41.0, 14.0, 29.0, 56.0, 24.0, 75.0, 60.0,
            -48.0,
        ];
        assert_eq!(differences.iter().sum::<f64>(), 314.0);
        assert_eq!(sign_flip_p(&differences), Some(863.0 / 32_768.0));
    }

    #[test]
    fn the_smallest_p_is_one_of_all_ways() {
        assert_eq!(sign_flip_p(&[0.1, 0.2, 0.3]), Some(0.125));
        assert_eq!(sign_flip_p(&[0.0; 4]), Some(1.0));
        assert_eq!(sign_flip_p(&[1.0; 17]), None);
        assert_eq!(sign_flip_p(&[]), Some(1.0));
    }

    #[test]
    fn a_pass_deviates_by_what_most_rows_do() {
        let mut deviations = [0.03, 0.031, 0.029, 0.03, 0.03, 0.9, -0.9, 0.03];
        assert_eq!(pass_deviation(&mut deviations), Some(0.03));
        assert_eq!(pass_deviation(&mut [0.1; 7]), None);
    }

    proptest! {
        #[test]
        fn flipping_one_at_a_time_counts_what_all_sums_count(values in prop::collection::vec(-20..20_i32, 0..9)) {
            let differences: Vec<f64> = values.iter().map(|&value| f64::from(value) / 7.0).collect();
            let observed: i32 = values.iter().sum();
            let ways = 0..1_u32 << values.len();
            let sum = |way: u32| -> i32 {
                values.iter().enumerate().map(|(i, value)| if way >> i & 1 == 1 { -value } else { *value }).sum()
            };
            let at_least = ways.clone().filter(|&way| sum(way) >= observed).count();
            prop_assert_eq!(sign_flip_p(&differences), Some(at_least as f64 / ways.len() as f64));
        }
    }
}
