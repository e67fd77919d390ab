//! Tests against counting: every way to deal the observed values to the two samples is laid out and looked at.
//!
//! Nothing is computed but sums of ranks, so that a mistake in a formula has nowhere to hide; and of verdicts it is counted how many
//! of all ways get them, which is what a test promises.

use rbenchstat::judge::judgement::Judgement;
use rbenchstat::judge::margin::Margins;
use rbenchstat::judge::{Judging, Verdict};
use rbenchstat::stats::{Method, UTest};

#[path = "common/judged.rs"]
mod judged;
use judged::judged;

/// How many values there are in all, at most.
const MOST: usize = 14;

/// Sizes up to this one.
const LARGEST: usize = 7;

/// Twice the ranks of values that stand in groups of equal ones, which share the rank in their middle.
///
/// A set bit of `pattern` says that a value is greater than the one before it.
fn doubled_ranks(count: usize, pattern: u32) -> ([u32; MOST], [f64; MOST]) {
    let (mut ranks, mut values) = ([0; MOST], [0.0; MOST]);
    let mut start = 0;
    while start < count {
        let mut end = start + 1;
        while end < count && pattern >> (end - 1) & 1 == 0 {
            end += 1;
        }
        for at in start..end {
            // The ranks start + 1 to end have this sum of the first and the last.
            ranks[at] = u32::try_from(start + 1 + end).expect("a small number");
            values[at] = f64::from(u32::try_from(start).expect("a small number"));
        }
        start = end;
    }
    (ranks, values)
}

/// All choices of `n1` out of `count` values, as bits.
fn deals(count: usize, n1: usize) -> Vec<u32> {
    let all = 0..1_u32 << count;
    all.filter(|deal| deal.count_ones() as usize == n1)
        .collect()
}

/// The sums of ranks of every choice among seven values from `start` on.
fn half_sums(ranks: &[u32; MOST], start: usize) -> [u32; 128] {
    let mut sums = [0; 128];
    for deal in 1..128_usize {
        let at = start + deal.trailing_zeros() as usize;
        sums[deal] = sums[deal & (deal - 1)] + ranks[at];
    }
    sums
}

/// Counts every deal under every pattern of ties, and compares p for those values of U for which `is_checked`, given
/// the pattern, says so. Returns how many it compared.
fn compare(n1: usize, n2: usize, is_checked: impl Fn(u32, usize) -> bool) -> usize {
    let count = n1 + n2;
    let deals = deals(count, n1);
    let mut test = UTest::new();
    let mut compared = 0;
    for pattern in 0..1_u32 << (count - 1) {
        let (ranks, values) = doubled_ranks(count, pattern);
        let (low, high) = (half_sums(&ranks, 0), half_sums(&ranks, 7));
        // How many deals have each doubled U, with one of them.
        let mut counts = [(0_u32, 0_u32); 2 * LARGEST * LARGEST + 1];
        let least = n1 * (n1 + 1);
        for &deal in &deals {
            let sum = low[deal as usize & 127] + high[deal as usize >> 7];
            let (count, example) = &mut counts[sum as usize - least];
            *count += 1;
            *example = deal;
        }
        let total: u32 = counts.iter().map(|(count, _)| count).sum();
        let mut at_most = 0;
        for (doubled_u, &(count, example)) in counts.iter().enumerate() {
            at_most += count;
            if count == 0 || !is_checked(pattern, doubled_u) {
                continue;
            }
            let at_least = total - at_most + count;
            let smaller = 2 * at_most.min(at_least);
            let p = f64::from(smaller.min(total)) / f64::from(total);
            let (mut x, mut y) = (Vec::new(), Vec::new());
            for (at, &value) in values[..n1 + n2].iter().enumerate() {
                let side = if example >> at & 1 == 1 {
                    &mut x
                } else {
                    &mut y
                };
                side.push(value);
            }
            let outcome = test.test(&x, &y);
            assert!(
                (outcome.p - p).abs() <= 1e-14 * p,
                "{x:?} {y:?}: {} is not {p}",
                outcome.p
            );
            assert_eq!(outcome.u * 2.0, doubled_u as f64, "{x:?} {y:?}");
            let expected = match pattern.count_ones() as usize {
                0 => Method::AllEqual,
                ones if ones == n1 + n2 - 1 => Method::Exact,
                _ => Method::ExactTies,
            };
            assert_eq!(outcome.method, expected, "{x:?} {y:?}");
            compared += 1;
        }
    }
    compared
}

fn all_sizes() -> impl Iterator<Item = (usize, usize)> {
    (1..=LARGEST).flat_map(|n1| (1..=LARGEST).map(move |n2| (n1, n2)))
}

#[test]
fn p_is_what_counting_all_deals_says_under_every_pattern_of_ties() {
    let mut compared = 0;
    for (n1, n2) in all_sizes() {
        // Every pattern, but only one in so many values of U where there are many patterns.
        let step = if n1 + n2 <= 10 { 1 } else { 7 };
        compared += compare(n1, n2, |pattern, doubled_u| {
            (pattern as usize + doubled_u).is_multiple_of(step)
        });
    }
    assert!(compared > 200_000, "{compared}");
}

#[test]
#[ignore = "takes a while without optimisation"]
fn p_is_what_counting_all_deals_says_for_every_u() {
    let compared: usize = all_sizes()
        .map(|(n1, n2)| compare(n1, n2, |_, _| true))
        .sum();
    assert!(compared > 1_000_000, "{compared}");
    println!("compared {compared} values of p");
}

/// Without a margin, so that every change that is proven is a regression or an improvement.
fn judging() -> Judging {
    let unread = |_: &str| Err(std::io::ErrorKind::NotFound.into());
    Judging {
        margins: Margins::parse("0%", &unread).expect("a margin"),
        ..Judging::default()
    }
}

/// The judgements of rows of which these values are the new side where the bit of `deal` is set.
fn dealt(rows: &[Vec<f64>], deal: u32) -> Vec<Judgement> {
    let side = |row: &[f64], is_new: bool| -> Vec<f64> {
        let values = row.iter().enumerate();
        let values = values.filter(|(at, _)| (deal >> at & 1 == 1) == is_new);
        values.map(|(_, &value)| value).collect()
    };
    let sides = rows.iter().map(|row| [side(row, false), side(row, true)]);
    let judged = judged(sides.collect(), false, &judging());
    judged.judgements.all().cloned().collect()
}

/// Ten values of many shapes: even, drawn out, with slow ones among them, in two groups, and mostly tied.
const SHAPES: [[f64; 10]; 6] = [
    [
        1.0, 1.013, 1.021, 1.034, 1.042, 1.055, 1.067, 1.073, 1.081, 1.096,
    ],
    [1.0, 1.001, 1.003, 1.007, 1.02, 1.05, 1.11, 1.3, 1.9, 4.0],
    [1.0, 1.01, 1.02, 1.03, 1.04, 1.05, 1.06, 1.07, 2.0, 2.1],
    [
        1.0, 1.002, 1.004, 1.006, 1.008, 1.2, 1.202, 1.204, 1.206, 1.208,
    ],
    [1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 2.0, 3.0, 3.0],
    [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 2.0],
];

/// How many of these are significant at α = 5 %, for worse and for better.
fn proven(judgements: &[Judgement]) -> [usize; 2] {
    [1.0, -1.0].map(|direction| {
        let is_proven = |judgement: &&Judgement| {
            let estimate = judgement.effect.map_or(0.0, |effect| effect.estimate);
            estimate * direction > 0.0 && judgement.adjusted_p.is_some_and(|p| p <= 0.05)
        };
        judgements.iter().filter(is_proven).count()
    })
}

#[test]
fn of_all_deals_of_a_row_at_most_alpha_are_significant_in_either_direction() {
    for shape in SHAPES {
        let deals = deals(10, 5);
        let of_row = deals
            .iter()
            .flat_map(|&deal| dealt(&[shape.to_vec()], deal));
        let [worse, better] = proven(&of_row.collect::<Vec<_>>());
        assert_eq!(
            worse, better,
            "{shape:?}: swapping all values turns one into the other"
        );
        assert!(
            worse as f64 <= 0.05 * deals.len() as f64,
            "{shape:?} {worse}"
        );
        // One value that differs proves nothing, wherever it is dealt.
        assert_eq!(worse > 0, shape[8] > 1.0, "{shape:?} {worse}");
    }
}

#[test]
fn of_all_swaps_within_rounds_at_most_alpha_are_significant_in_either_direction() {
    let steps = [0.021, 0.034, -0.011, 0.05, 0.043, 0.018, 0.027, 0.039];
    let drawn_out = [0.01, 0.011, 0.013, 0.02, 0.03, 0.04, 0.05, 0.09];
    let wild = [0.021, 0.9, -0.011, 0.05, 0.043, -0.6, 0.027, 0.039];
    for differences in [steps, drawn_out, wild] {
        let swapped = |swaps: u32| {
            let mut sides = [Vec::new(), Vec::new()];
            for (round, difference) in differences.iter().enumerate() {
                // Passes differ by much more than the sides, which comparing within rounds takes out.
                let base = 1.0 + round as f64;
                let pair = [base, base * (1.0 + difference)];
                let is_swapped = (swaps >> round & 1) as usize;
                sides[0].push(pair[is_swapped]);
                sides[1].push(pair[1 - is_swapped]);
            }
            judged(vec![sides], true, &judging())
                .judgements
                .all()
                .cloned()
                .collect::<Vec<_>>()
        };
        let [worse, better] = proven(
            &(0..1 << differences.len())
                .flat_map(swapped)
                .collect::<Vec<_>>(),
        );
        assert_eq!(worse, better, "swapping all sides turns one into the other");
        // 5 % of 256 are 12.8.
        assert!(worse <= 12, "{differences:?} {worse}");
        assert_eq!(worse > 0, differences != wild, "{differences:?} {worse}");
    }
}

/// Westfall and Young's (1993, section 2.6) step-down p-values by minima over all joint relabelings, which account for whatever
/// dependence there is between the rows: what Holm's and Tarone's, which know nothing of it, must not fall below.
#[test]
fn corrected_p_values_are_no_smaller_than_those_of_all_joint_relabelings() {
    // Mostly tied, so that ranks decide; the first two move together, and the last two can prove little.
    let rows: Vec<Vec<f64>> = [
        [1, 2, 1, 2, 3, 1, 2, 3, 3, 2],
        [1, 2, 1, 2, 3, 2, 2, 3, 3, 1],
        [3, 1, 2, 2, 1, 3, 1, 2, 3, 2],
        [1, 1, 1, 1, 2, 1, 1, 1, 1, 2],
        [1, 1, 1, 1, 1, 1, 1, 1, 1, 1],
    ]
    .map(|row| row.map(f64::from).to_vec())
    .to_vec();
    let deals = deals(10, 5);
    // Doubled ranks of the new side, added up; by row, then by deal.
    let sum = |row: &[f64], deal: u32| -> usize {
        let rank = |value: f64| {
            let below = row.iter().filter(|&&other| other < value).count();
            let equal = row.iter().filter(|&&other| other <= value).count() - below;
            2 * below + equal
        };
        let new = row.iter().enumerate().filter(|(at, _)| deal >> at & 1 == 1);
        new.map(|(_, &value)| rank(value)).sum()
    };
    let share_at_least = |row: &Vec<f64>| -> Vec<f64> {
        let sums: Vec<usize> = deals.iter().map(|&deal| sum(row, deal)).collect();
        let at_least = |own: &usize| sums.iter().filter(|other| *other >= own).count();
        sums.iter()
            .map(|own| at_least(own) as f64 / sums.len() as f64)
            .collect()
    };
    let p: Vec<Vec<f64>> = rows.iter().map(share_at_least).collect();
    let (mut compared, mut false_alarms) = (0, 0);
    for (at, &deal) in deals.iter().enumerate() {
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_by(|&left, &right| p[left][at].total_cmp(&p[right][at]));
        let mut largest = 0.0_f64;
        let mut joint = vec![1.0; rows.len()];
        for (step, &row) in order.iter().enumerate() {
            let smallest = |other: usize| {
                order[step..]
                    .iter()
                    .map(|&rest| p[rest][other])
                    .fold(1.0, f64::min)
            };
            let as_small = (0..deals.len())
                .filter(|&other| smallest(other) <= p[row][at] + 1e-12)
                .count();
            largest = largest.max(as_small as f64 / deals.len() as f64);
            joint[row] = largest;
        }
        let judgements = dealt(&rows, deal);
        for (judgement, joint) in judgements.iter().zip(joint) {
            let is_worse = judgement.effect.is_some_and(|effect| effect.estimate > 0.0);
            if let Some(adjusted) = judgement.adjusted_p.filter(|_| is_worse) {
                assert!(adjusted >= joint - 1e-12, "{adjusted} {joint}");
                compared += 1;
            }
        }
        let is_alarm = |judgement: &Judgement| judgement.verdict == Verdict::Regression;
        false_alarms += usize::from(judgements.iter().any(is_alarm));
    }
    assert!(compared > 100, "{compared}");
    assert!(
        false_alarms as f64 <= 0.05 * deals.len() as f64,
        "{false_alarms}"
    );
}
