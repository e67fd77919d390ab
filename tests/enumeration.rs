//! The U test against counting: every way to deal the observed values to the two samples is laid out and looked at.
//!
//! Nothing is computed but sums of ranks, so that a mistake in a formula has nowhere to hide.

use rbenchstat::stats::{Method, UTest};

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
