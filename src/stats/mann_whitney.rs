//! The two-sided Mann-Whitney U test, exact where that is affordable.
//!
//! Mann & Whitney (1947). Without ties the null distribution of U depends on the two sizes alone, so one table serves every
//! comparison of a run ([`UDistributions`]); with ties it depends on the pattern of ties and is computed afresh, but only as
//! much of it as the observed U needs.

use std::collections::HashMap;

use super::normal;

/// Without ties, sizes up to this one are tested exactly.
const EXACT_UP_TO: usize = 50;

/// Without ties, intervals have exact ranks up to this size; beyond, the normal approximation is off by less than one rank.
const EXACT_RANKS_UP_TO: usize = 200;

/// With ties, sizes up to this one are tested exactly.
const EXACT_WITH_TIES_UP_TO: usize = 25;

/// The largest size [`samples_for_significance`] tries.
const SEARCHED_UP_TO: usize = 9;

/// How a p-value came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Every value of both samples is the same: nothing to test, p = 1.
    AllEqual,
    /// The distribution of U without ties.
    Exact,
    /// The distribution of U among all ways to deal the observed values, ties included, to the two samples.
    ExactTies,
    /// The normal approximation, with corrections for ties and continuity.
    Normal,
}

/// The outcome of one test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MannWhitney {
    /// U of the first sample, the baseline: how many pairs (x, y) have x > y, those with x = y counting ½; in
    /// [0, n1·n2].
    pub u: f64,
    /// Two-sided p-value, in [0, 1].
    pub p: f64,
    /// Where p is from.
    pub method: Method,
}

/// Runs tests, keeping between them what they share: distributions already computed, and room to compute in.
#[derive(Clone, Debug, Default)]
pub struct UTest {
    distributions: UDistributions,
    ties: TiedCounts,
    groups: Vec<usize>,
}

impl UTest {
    /// A test that has computed nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The distributions of U, to be shared with what else needs them.
    pub fn distributions(&mut self) -> &mut UDistributions {
        &mut self.distributions
    }

    /// Tests two samples, each sorted, `x` being the baseline.
    ///
    /// Exact without ties when both have at most 50 values, exact with ties when both have at most 25: p is then
    /// min(1, 2·min(P(U ≤ u), P(U ≥ u))), with both tails computed, as the distribution need not be symmetric with ties.
    /// Otherwise p = 2·min(Φ(z), 1 − Φ(z)) of the approximation, which is exactly 0 from z ≈ 8.3 on (1 − Φ underflows to
    /// nothing there, Φ on the other side does not). An empty sample has nothing unequal in it.
    pub fn test(&mut self, x: &[f64], y: &[f64]) -> MannWhitney {
        let (n1, n2) = (x.len(), y.len());
        let doubled_u = self
            .rank_without_ties(x, y)
            .unwrap_or_else(|| self.rank(x, y));
        let u = doubled_u as f64 / 2.0;
        if self.groups.len() <= 1 || n1 == 0 || n2 == 0 {
            return MannWhitney {
                u,
                p: 1.0,
                method: Method::AllEqual,
            };
        }
        let tied = self.groups.len() < n1 + n2;
        let larger = n1.max(n2);
        let (p, method) = if !tied && larger <= EXACT_UP_TO {
            let u = doubled_u / 2;
            let tail = self.distributions.lower_tail(n1, n2, u.min(n1 * n2 - u));
            (2.0 * tail, Method::Exact)
        } else if tied && larger <= EXACT_WITH_TIES_UP_TO {
            (
                2.0 * self.ties.smaller_tail(&mut self.groups, n1, n2, doubled_u),
                Method::ExactTies,
            )
        } else {
            (approximate_p(u, n1, n2, &self.groups), Method::Normal)
        };
        MannWhitney {
            u,
            p: p.min(1.0),
            method,
        }
    }

    /// [`UTest::rank`] for samples without ties; none if there are any.
    ///
    /// Which sample the next value is from cannot be guessed, so nothing branches on it.
    fn rank_without_ties(&mut self, x: &[f64], y: &[f64]) -> Option<usize> {
        let rises = |sorted: &[f64]| sorted.is_sorted_by(|left, right| left < right);
        if !rises(x) || !rises(y) {
            return None;
        }
        let (mut seen_x, mut seen_y, mut u) = (0, 0, 0);
        while let (Some(next_x), Some(next_y)) = (x.get(seen_x), y.get(seen_y)) {
            if next_x == next_y {
                return None;
            }
            let is_x = usize::from(next_x < next_y);
            u += is_x * seen_y;
            seen_x += is_x;
            seen_y += 1 - is_x;
        }
        // What is left of x is above all of y.
        u += (x.len() - seen_x) * seen_y;
        self.groups.clear();
        self.groups.resize(x.len() + y.len(), 1);
        Some(2 * u)
    }

    /// Merges the samples: leaves the sizes of the groups of equal values in `groups`, in ascending order of value, and
    /// returns 2·U of `x`, a whole number even with ties.
    fn rank(&mut self, x: &[f64], y: &[f64]) -> usize {
        self.groups.clear();
        let (mut seen_x, mut seen_y, mut doubled_u) = (0, 0, 0);
        while let Some(value) = lower(x.get(seen_x), y.get(seen_y)) {
            let equal = |rest: &[f64]| match rest.last() {
                // All the rest, as in a sample of one value.
                Some(&last) if last <= value => rest.len(),
                _ => rest.iter().take_while(|&&next| next <= value).count(),
            };
            let (in_x, in_y) = (equal(&x[seen_x..]), equal(&y[seen_y..]));
            doubled_u += in_x * (2 * seen_y + in_y);
            self.groups.push(in_x + in_y);
            seen_x += in_x;
            seen_y += in_y;
        }
        doubled_u
    }
}

/// The lower of what is next in two samples; `None` at the end of both.
fn lower(x: Option<&f64>, y: Option<&f64>) -> Option<f64> {
    match (x, y) {
        (Some(x), Some(y)) => Some(x.min(*y)),
        (one, other) => one.or(other).copied(),
    }
}

/// p by the normal approximation: mean n1·n2/2, variance n1·n2/12·((N + 1) − Σ(t³ − t)/(N(N − 1))), and u moved half a
/// step towards the mean (Lehmann 1975, section 1.4).
fn approximate_p(u: f64, n1: usize, n2: usize, groups: &[usize]) -> f64 {
    let (n1, n2) = (n1 as f64, n2 as f64);
    let n = n1 + n2;
    let ties: f64 = groups
        .iter()
        .map(|&t| t as f64)
        .map(|t| t * t * t - t)
        .sum();
    let deviation = (n1 * n2 / 12.0 * ((n + 1.0) - ties / (n * (n - 1.0)))).sqrt();
    let distance = u - n1 * n2 / 2.0;
    let step = if distance == 0.0 {
        0.0
    } else {
        0.5_f64.copysign(distance)
    };
    let below = normal::cdf((distance - step) / deviation);
    2.0 * below.min(1.0 - below)
}

/// The null distributions of U without ties, each computed once.
///
/// Up to sizes of 50 they are exact: whole counts, added up as such, then one division. Beyond, the normal approximation
/// stands in, so that any size has an answer. Symmetric in the two sizes throughout.
#[derive(Clone, Debug, Default)]
pub struct UDistributions {
    /// By (smaller, larger) size: P(U ≤ u) for u = 0..=n1·n2/2; the rest is symmetry.
    lower_tails: HashMap<(usize, usize), Box<[f64]>>,
    /// By (smaller, larger) size: P(U = u), rounded at every step of the recursion.
    recursive: HashMap<(usize, usize), Box<[f64]>>,
}

impl UDistributions {
    /// Nothing computed yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// P(U ≤ u) for samples of sizes `n1` and `n2` ≥ 1 that do not differ and have no ties.
    pub fn cdf(&mut self, n1: usize, n2: usize, u: usize) -> f64 {
        let pairs = n1 * n2;
        if u >= pairs {
            1.0
        } else if n1.max(n2) > EXACT_UP_TO {
            approximate_cdf(n1, n2, u)
        } else if u <= pairs / 2 {
            self.lower_tail(n1, n2, u)
        } else {
            1.0 - self.lower_tail(n1, n2, pairs - u - 1)
        }
    }

    /// The smallest q with P(U ≤ q) ≥ `a`, for `a` in [0, ½]; at most n1·n2/2, rounded up.
    pub fn lower_quantile(&mut self, n1: usize, n2: usize, a: f64) -> usize {
        if n1.max(n2) <= EXACT_UP_TO {
            return self.exact(n1, n2).partition_point(|&tail| tail < a);
        }
        // Found by bisection in the very function that `cdf` uses, so that the two cannot disagree by a rounding.
        let (mut low, mut high) = (0, (n1 * n2).div_ceil(2));
        while low < high {
            let middle = low.midpoint(high);
            if approximate_cdf(n1, n2, middle) < a {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// P(U ≤ u) for u ≤ n1·n2/2 and sizes within the exact limit.
    fn lower_tail(&mut self, n1: usize, n2: usize, u: usize) -> f64 {
        self.exact(n1, n2)[u]
    }

    /// 2·P(U ≤ u) for sizes within the exact limit and u ≤ n1·n2/2, as it comes out when Mann & Whitney's recursion
    /// p(n, m, u) = (n·p(n−1, m, u−m) + m·p(n, m−1, u))/(n + m), n ≤ m, and the sum are carried out in double precision.
    ///
    /// Its last digits are wrong, and it may exceed 1. But they are the digits that the reference compares with alpha,
    /// and they decide where the true p *is* alpha: three values on either side, all of one side larger, have p = 0.1.
    pub fn recursive_p(&mut self, n1: usize, n2: usize, u: usize) -> f64 {
        let (smaller, larger) = (n1.min(n2), n1.max(n2));
        for n in 1..=smaller {
            for m in n..=larger {
                if !self.recursive.contains_key(&(n, m)) {
                    let row = self.recursive_row(n, m);
                    self.recursive.insert((n, m), row);
                }
            }
        }
        let row = &self.recursive[&(smaller, larger)];
        2.0 * row[..=u].iter().sum::<f64>()
    }

    /// P(U = u) for all u, from those of one value less on either side.
    fn recursive_row(&self, n: usize, m: usize) -> Box<[f64]> {
        const CERTAIN: &[f64] = &[1.0];
        let row = |n: usize, m: usize| match self.recursive.get(&(n.min(m), n.max(m))) {
            Some(row) => row,
            None => CERTAIN,
        };
        let (without_x, without_y) = (row(n - 1, m), row(n, m - 1));
        let at = |row: &[f64], u: Option<usize>| u.and_then(|u| row.get(u)).copied().unwrap_or(0.0);
        let (x, y) = (n as f64, m as f64);
        let probability =
            |u: usize| (x * at(without_x, u.checked_sub(m)) + y * at(without_y, Some(u))) / (x + y);
        (0..=n * m).map(probability).collect()
    }

    /// The interval's rank: the smallest q ≥ 1 with P(U ≤ q) ≥ `a`, in [0, ½], and P(U ≤ q − 1). As [`Self::lower_quantile`] and
    /// [`Self::cdf`] have it, but exact up to sizes of 200, where no printed p-value asks for the approximation.
    pub fn rank(&mut self, n1: usize, n2: usize, a: f64) -> (usize, f64) {
        let larger = n1.max(n2);
        if larger <= EXACT_UP_TO || larger > EXACT_RANKS_UP_TO {
            let rank = self.lower_quantile(n1, n2, a).max(1);
            return (rank, self.cdf(n1, n2, rank - 1));
        }
        let tails = self.exact(n1, n2);
        let rank = tails.partition_point(|&tail| tail < a).max(1);
        (rank, tails[rank - 1])
    }

    fn exact(&mut self, n1: usize, n2: usize) -> &[f64] {
        let sizes = (n1.min(n2), n1.max(n2));
        self.lower_tails.entry(sizes).or_insert_with(|| {
            if sizes.1 > EXACT_UP_TO {
                return large_tails(sizes.0, sizes.1);
            }
            let counts = u_counts(sizes.0, sizes.1);
            let total = binomial(n1 + n2, n1) as f64;
            let mut sum = 0;
            let tail = |count| {
                sum += count;
                sum as f64 / total
            };
            counts.into_iter().map(tail).collect()
        })
    }
}

fn approximate_cdf(n1: usize, n2: usize, u: usize) -> f64 {
    let pairs = n1 as f64 * n2 as f64;
    let deviation = (pairs / 12.0 * (n1 as f64 + n2 as f64 + 1.0)).sqrt();
    normal::cdf((u as f64 + 0.5 - pairs / 2.0) / deviation)
}

/// How many of the C(n1+n2, n1) arrangements without ties have U = u, for u = 0..=n1·n2/2.
///
/// They are the coefficients of the Gaussian binomial Π (1 − q^(n2+i))/(1 − q^i), i = 1..=n1, multiplied out factor by
/// factor (Andrews 1976, chapter 3; the idea of Dinneen & Blakesley's 1973 algorithm AS 62): n1·n1·n2 additions for the
/// whole distribution, where Mann & Whitney's recursion takes n1·n2·n1·n2. The largest total, C(100, 50) ≈ 1e29, fits
/// 128 bits; products on the way may dip below zero, which arithmetic modulo 2^128 undoes.
fn u_counts(n1: usize, n2: usize) -> Vec<u128> {
    let mut counts = vec![0_u128; n1 * n2 / 2 + 1];
    counts[0] = 1;
    for i in 1..=n1 {
        for u in (n2 + i..counts.len()).rev() {
            counts[u] = counts[u].wrapping_sub(counts[u - n2 - i]);
        }
        for u in i..counts.len() {
            counts[u] = counts[u].wrapping_add(counts[u - i]);
        }
    }
    counts
}

/// P(U ≤ u) for u = 0..=n1·n2/2, where counts no longer fit whole numbers: [`u_counts`] with every factor scaled to a
/// probability. What is taken away and added again is at most 1, so that the absolute error stays near 1e-13.
fn large_tails(n1: usize, n2: usize) -> Box<[f64]> {
    let mut tails = vec![0.0_f64; n1 * n2 / 2 + 1];
    tails[0] = 1.0;
    for i in 1..=n1 {
        for u in (n2 + i..tails.len()).rev() {
            tails[u] -= tails[u - n2 - i];
        }
        for u in i..tails.len() {
            tails[u] += tails[u - i];
        }
        let share = i as f64 / (n2 + i) as f64;
        for tail in &mut tails {
            *tail *= share;
        }
    }
    let mut sum = 0.0;
    for tail in &mut tails {
        sum += tail.max(0.0);
        *tail = sum;
    }
    tails.into()
}

/// n over k, for n ≤ 100 (C(100, 50) times 100 still fits).
fn binomial(n: usize, k: usize) -> u128 {
    (1..=k.min(n - k)).fold(1, |product, i| {
        product * (n - k.min(n - k) + i) as u128 / i as u128
    })
}

/// Counts arrangements of tied values by U.
///
/// The shift algorithm (Streitberg & Röhmel 1986): 2·U is the sum of doubled mid-ranks of one sample, less its smallest
/// possible value, and the sums of all samples of `a` of the first values follow from those of `a` − `j` of fewer values.
/// Three things make it several times cheaper than that: equal values are taken together, `j` of `t` in C(t, j) ways
/// (Cheung & Klotz 1997); the lower and the upper half of the values are counted apart and then joined (rows grow with
/// every value, so this is an eighth of the work); and rows beyond the middle are mirror images of the others.
#[derive(Clone, Debug, Default)]
struct TiedCounts {
    /// Doubled mid-rank of every value, ascending.
    ranks: Vec<usize>,
    lower: Half,
    upper: Half,
}

impl TiedCounts {
    /// min(P(U ≤ u), P(U ≥ u)) given the sizes of the groups of equal values, and 2·U of the first sample.
    ///
    /// Both sizes are at most [`EXACT_WITH_TIES_UP_TO`]. May reverse `groups`.
    fn smaller_tail(
        &mut self,
        groups: &mut [usize],
        n1: usize,
        n2: usize,
        doubled_u: usize,
    ) -> f64 {
        // Count the smaller sample: fewer rows. Of the two directions, take the one in which its U is at most the mean:
        // the observed one bounds what has to be counted.
        let pairs = n1 * n2;
        let counted = n1.min(n2);
        let mut observed = if n1 <= n2 {
            doubled_u
        } else {
            2 * pairs - doubled_u
        };
        if observed > pairs {
            groups.reverse();
            observed = 2 * pairs - observed;
        }

        self.ranks.clear();
        for &mut t in groups {
            let rank = 2 * self.ranks.len() + t + 1;
            self.ranks.resize(self.ranks.len() + t, rank);
        }
        let (lower, upper) = self.ranks.split_at(self.ranks.len() / 2);
        self.lower.count(lower, counted, observed);
        self.upper.count(upper, counted, observed);
        self.upper.accumulate();

        let at_most = self.join(counted, observed);
        let total = u64::try_from(binomial(n1 + n2, n1)).unwrap_or(u64::MAX);
        let smaller = if n1 == n2 || observed == 0 {
            // With equal sizes the distribution is symmetric, so the tail on this side of the mean is the smaller one.
            at_most
        } else {
            at_most.min(total - self.join(counted, observed - 1))
        };
        smaller as f64 / total as f64
    }

    /// How many arrangements have 2·U ≤ `observed`, once both halves are counted and the upper one is accumulated.
    fn join(&self, counted: usize, observed: usize) -> u64 {
        let mut arrangements = 0;
        let fewest = counted.saturating_sub(self.lower.size());
        for above in fewest..=counted.min(self.upper.size()) {
            let below = counted - above;
            let least = self.lower.least[below] + self.upper.least[above] - counted * (counted + 1);
            let Some(rest) = observed.checked_sub(least) else {
                continue;
            };
            let ways = self.lower.row(below);
            let ways = &ways[..ways.len().min(rest + 1)];
            let at_most = self.upper.row(above);
            // Up to here the lower half leaves room for all of the upper half.
            let free = (rest + 1).saturating_sub(at_most.len()).min(ways.len());
            let (all, some) = ways.split_at(free);
            if let Some(&last) = at_most.last() {
                arrangements += all.iter().map(|&count| whole(count)).sum::<u64>() * whole(last);
            }
            let room = at_most.get(rest + 1 - ways.len()..).unwrap_or_default();
            let pairs = some.iter().rev().zip(room);
            arrangements += pairs.map(|(&a, &b)| whole(a) * whole(b)).sum::<u64>();
        }
        arrangements
    }
}

/// A count as the whole number it is.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "whole, from 0 to 2^24"
)]
fn whole(count: f32) -> u64 {
    // By way of i32, the conversion that vector units have.
    u64::from(count as i32 as u32)
}

/// One half of the values: in how many ways `a` of them can have any sum of doubled mid-ranks.
///
/// There are at most 25 values, so no count exceeds C(25, 12) = 5,200,300 < 2^24, and `f32` holds all of them exactly: every
/// processor can add and multiply four of those at once, which is not so of integers.
#[derive(Clone, Debug, Default)]
struct Half {
    /// Smallest sum of `a` of the ranks, for `a` = 0, 1, … up to all of them. As ranks ascend it never changes when
    /// values are added.
    least: Vec<usize>,
    /// Largest excess over `least` that is kept.
    cap: usize,
    /// Largest excess there is room for in each row.
    top: usize,
    /// Distance from row to row: room for `top`, and then some, so that whole vectors can be added.
    stride: usize,
    /// Row `a` starts at `a`·`stride` and counts the ways to exceed `least[a]` by 0, 1, … What is beyond
    /// [`Half::len`] is never looked at, and never reaches what is.
    counts: Vec<f32>,
    /// C(t, j) for j = 0, 1, … of the group being added.
    ways: Vec<f32>,
}

/// Rows are added in pieces of this length, beyond their end if need be: a loop without a remainder is twice as fast here.
const LANES: usize = 8;

impl Half {
    /// How many values there are.
    fn size(&self) -> usize {
        self.least.len() - 1
    }

    /// Counts the ways to choose up to `counted` of the values with these ranks, up to an excess of `cap`.
    fn count(&mut self, ranks: &[usize], counted: usize, cap: usize) {
        self.least.clear();
        self.least.push(0);
        let mut sum = 0;
        self.least.extend(ranks.iter().map(|rank| {
            sum += rank;
            sum
        }));
        let size = ranks.len();
        let rows = counted.min(size);
        let longest = self.excess(size, size / 2);
        // Only whole rows have mirror images: choosing the other values turns the least sum into the largest.
        let mirrored = cap >= longest;
        self.cap = cap;
        self.top = cap.min(longest);
        self.stride = self.top + LANES;
        self.counts.clear();
        self.counts.resize((rows + 1) * self.stride, 0.0);
        self.counts[0] = 1.0;

        let mut seen = 0;
        for group in ranks.chunk_by(|a, b| a == b) {
            let next = seen + group.len();
            let last = rows.min(if mirrored { next / 2 } else { next });
            if mirrored {
                self.mirror(seen, last);
            }
            self.add(seen, group, last);
            seen = next;
        }
        if mirrored {
            self.mirror(seen, rows);
        }
    }

    /// By how much the largest sum of `a` of the first `seen` ranks exceeds the smallest.
    fn excess(&self, seen: usize, a: usize) -> usize {
        self.least[seen] - self.least[seen - a] - self.least[a]
    }

    /// Length of row `a` after `seen` values.
    fn len(&self, seen: usize, a: usize) -> usize {
        self.cap.min(self.excess(seen, a)) + 1
    }

    /// Fills in the rows beyond the middle, up to row `last`.
    fn mirror(&mut self, seen: usize, last: usize) {
        for a in seen / 2 + 1..=last.min(seen) {
            let len = self.len(seen, a);
            let (before, row) = self.counts.split_at_mut(a * self.stride);
            row[..len].copy_from_slice(&before[(seen - a) * self.stride..][..len]);
            row[..len].reverse();
        }
    }

    /// Adds a group of equal values, above the `seen` ones, to the rows up to `last`.
    fn add(&mut self, seen: usize, group: &[usize], last: usize) {
        let (t, rank) = (group.len(), group[0]);
        self.ways.clear();
        self.ways.push(1.0);
        for j in 1..=t.min(last) {
            self.ways
                .push(self.ways[j - 1] * (t - j + 1) as f32 / j as f32);
        }
        // From the last row down: a row takes from those before it, which must not have taken yet.
        for a in (1..=last).rev() {
            for j in a.saturating_sub(seen).max(1)..=t.min(a) {
                let from = a - j;
                let shift = self.least[from] + j * rank - self.least[a];
                if shift > self.top {
                    continue;
                }
                let len = self
                    .len(seen, from)
                    .min(self.top + 1 - shift)
                    .next_multiple_of(LANES);
                let (before, row) = self.counts.split_at_mut(a * self.stride);
                let source = &before[from * self.stride..][..len];
                add_multiple(&mut row[shift..][..len], source, self.ways[j]);
            }
        }
    }

    /// Turns the counts of an excess into counts of at most that excess.
    fn accumulate(&mut self) {
        let size = self.size();
        for a in 0..self.counts.len() / self.stride {
            let len = self.len(size, a);
            let mut sum = 0.0;
            for count in &mut self.counts[a * self.stride..][..len] {
                sum += *count;
                *count = sum;
            }
        }
    }

    /// The counts with `a` values chosen.
    fn row(&self, a: usize) -> &[f32] {
        &self.counts[a * self.stride..][..self.len(self.size(), a)]
    }
}

/// Adds `factor` times `source` to `sums`.
fn add_multiple(sums: &mut [f32], source: &[f32], factor: f32) {
    for (sum, &count) in sums.iter_mut().zip(source) {
        *sum += factor * count;
    }
}

/// The smallest two-sided p that samples of these sizes (≥ 1, without ties) can have: 2/C(n1+n2, n1), in (0, 1].
#[must_use]
pub fn smallest_p(n1: usize, n2: usize) -> f64 {
    (2.0 / coefficient(n1 + n2, n1)).min(1.0)
}

/// The smallest one-sided p that the values of two samples can have, however they are dealt: for the first being lower, and for
/// the first being higher. Both samples are sorted and not empty; in (0, 1].
///
/// Without ties that is 1/C(n1+n2, n1). With ties it is C(t, j) times as much, where the border between the two samples goes
/// through `t` equal values of which the first gets `j`: all of those ways have the same U. Values that are all equal have 1.
#[must_use]
pub fn smallest_one_sided_p(x: &[f64], y: &[f64], room: &mut Vec<f64>) -> [f64; 2] {
    room.clear();
    room.extend_from_slice(x);
    room.extend_from_slice(y);
    room.sort_unstable_by(f64::total_cmp);
    let (n1, n2) = (x.len(), y.len());
    [n1, n2].map(|lower| {
        let Some(&last) = room.get(lower - 1) else {
            return 1.0;
        };
        let from = room.partition_point(|&value| value < last);
        let to = room.partition_point(|&value| value <= last);
        (coefficient(to - from, lower - from) / coefficient(n1 + n2, n1)).min(1.0)
    })
}

/// The binomial coefficient n over k in floating point: it may be asked of any size. Exact while it is below 2^53.
fn coefficient(n: usize, k: usize) -> f64 {
    let k = k.min(n - k);
    (1..=k).fold(1.0_f64, |product, i| {
        product * (n - k + i) as f64 / i as f64
    })
}

/// The smallest size at which two samples of equal size can differ at level `alpha`; `None` beyond 9.
#[must_use]
pub fn samples_for_significance(alpha: f64) -> Option<usize> {
    (1..=SEARCHED_UP_TO).find(|&n| smallest_p(n, n) <= alpha)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sorted(values: &[f64]) -> Vec<f64> {
        let mut values = values.to_vec();
        values.sort_by(f64::total_cmp);
        values
    }

    fn test(x: &[f64], y: &[f64]) -> MannWhitney {
        UTest::new().test(&sorted(x), &sorted(y))
    }

    fn doubled_u(x: &[f64], y: &[f64]) -> u32 {
        let wins = |x: &f64| {
            y.iter()
                .map(|y| 2 * u32::from(x > y) + u32::from(x == y))
                .sum::<u32>()
        };
        x.iter().map(wins).sum()
    }

    /// p by its definition: deal all values in every possible way and count.
    fn enumerated(x: &[f64], y: &[f64]) -> f64 {
        let all = [x, y].concat();
        let observed = doubled_u(x, y);
        let (mut total, mut at_most, mut at_least) = (0, 0, 0);
        for hand in 0..1_u32 << all.len() {
            if hand.count_ones() as usize != x.len() {
                continue;
            }
            let pick = |mine: u32| -> Vec<f64> {
                (0..all.len())
                    .filter(|i| hand >> i & 1 == mine)
                    .map(|i| all[i])
                    .collect()
            };
            let u = doubled_u(&pick(1), &pick(0));
            total += 1;
            at_most += i32::from(u <= observed);
            at_least += i32::from(u >= observed);
        }
        (2.0 * f64::from(at_most.min(at_least)) / f64::from(total)).min(1.0)
    }

    fn close(a: f64, b: f64, tolerance: f64) -> bool {
        (a - b).abs() <= tolerance * b.abs()
    }

    #[test]
    fn hollander_and_wolfe_get_their_values() {
        let outcome = test(
            &[0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46],
            &[1.15, 0.88, 0.90, 0.74, 1.21],
        );
        assert_eq!((outcome.u, outcome.method), (35.0, Method::Exact));
        assert!((outcome.p - 0.254_412_3).abs() < 5e-8, "{outcome:?}");
    }

    #[test]
    fn samples_that_do_not_overlap_get_the_smallest_p() {
        let five = test(&[1.0, 2.0, 3.0, 4.0, 5.0], &[6.0, 7.0, 8.0, 9.0, 10.0]);
        assert!((five.p - 0.007_936_5).abs() < 5e-8, "{five:?}");
        assert_eq!(five.u, 0.0);
        let low: Vec<f64> = (0..10).map(f64::from).collect();
        let high: Vec<f64> = (10..20).map(f64::from).collect();
        let ten = test(&low, &high);
        assert!((ten.p - 1.0825e-5).abs() < 5e-10, "{ten:?}");
        assert_eq!(ten.p, smallest_p(10, 10));
    }

    #[test]
    fn equal_values_throughout_are_told_apart() {
        let outcome = test(&[2.0; 30], &[2.0; 4]);
        assert_eq!(
            outcome,
            MannWhitney {
                u: 60.0,
                p: 1.0,
                method: Method::AllEqual
            }
        );
        assert_eq!(test(&[], &[1.0, 2.0]).method, Method::AllEqual);
    }

    #[test]
    fn the_method_depends_on_sizes_and_ties() {
        let distinct = |n: u32, from: f64| (0..n).map(|i| f64::from(i) + from).collect::<Vec<_>>();
        let method = |n1, n2, shift| test(&distinct(n1, 0.0), &distinct(n2, shift)).method;
        assert_eq!(method(50, 50, 0.5), Method::Exact);
        assert_eq!(method(50, 51, 0.5), Method::Normal);
        assert_eq!(method(51, 3, 0.5), Method::Normal);
        assert_eq!(method(25, 25, 1.0), Method::ExactTies);
        assert_eq!(method(25, 26, 1.0), Method::Normal);
        assert_eq!(method(26, 2, 1.0), Method::Normal);
    }

    #[test]
    fn p_agrees_with_full_enumeration_for_all_small_sizes_and_many_ties() {
        let mut random = 0x2545_F491_4F6C_DD1D_u64;
        let mut test = UTest::new();
        for n1 in 1..=6 {
            for n2 in 1..=6 {
                for distinct in [2, 2, 3, 3, 4, 5, 7, 9, 1_000_000] {
                    let mut value = || {
                        random ^= random << 13;
                        random ^= random >> 7;
                        random ^= random << 17;
                        (random % distinct) as f64
                    };
                    let x = sorted(&(0..n1).map(|_| value()).collect::<Vec<_>>());
                    let y = sorted(&(0..n2).map(|_| value()).collect::<Vec<_>>());
                    let outcome = test.test(&x, &y);
                    let expected = enumerated(&x, &y);
                    assert!(
                        close(outcome.p, expected, 1e-14),
                        "{x:?} {y:?}: {outcome:?} {expected}"
                    );
                    assert_eq!(outcome.u * 2.0, f64::from(doubled_u(&x, &y)), "{x:?} {y:?}");
                }
            }
        }
    }

    #[test]
    fn ties_and_unequal_sizes_use_both_tails() {
        // Doubling one tail regardless gives more than 1 here.
        let (x, y) = ([1.0, 1.0, 2.0], [1.0, 2.0]);
        assert!(close(test(&x, &y).p, enumerated(&x, &y), 1e-15));
        assert!(test(&x, &y).p <= 1.0);
    }

    #[test]
    fn the_approximation_reaches_exactly_zero_on_one_side_only() {
        let low: Vec<f64> = (0..60).map(f64::from).collect();
        let high: Vec<f64> = (60..120).map(f64::from).collect();
        assert_eq!(test(&high, &low).p, 0.0);
        let other = test(&low, &high).p;
        assert!(other > 0.0 && other < 1e-15, "{other}");
    }

    #[test]
    fn the_approximation_is_1_right_at_the_mean() {
        let odd: Vec<f64> = (0..60).map(|i| f64::from(i * 2 + (i % 2))).collect();
        let mirrored: Vec<f64> = odd.iter().map(|value| 119.0 - value).collect();
        let outcome = test(&odd, &mirrored);
        assert_eq!(
            (outcome.u, outcome.p, outcome.method),
            (1800.0, 1.0, Method::Normal)
        );
    }

    #[test]
    fn counts_of_u_are_those_of_every_arrangement() {
        for n1 in [1, 2, 3, 8, 25, 49, 50] {
            for n2 in [1, 2, 7, 10, 24, 50] {
                let counts = u_counts(n1, n2);
                let half: u128 = counts.iter().sum();
                // The other half mirrors this one; an even number of pairs has a middle that belongs to both.
                let middle = if (n1 * n2).is_multiple_of(2) {
                    counts[n1 * n2 / 2]
                } else {
                    0
                };
                assert_eq!(2 * half - middle, binomial(n1 + n2, n1), "{n1} {n2}");
            }
        }
    }

    #[test]
    fn counts_of_u_follow_mann_and_whitneys_recursion() {
        fn count(n1: usize, n2: usize, u: usize) -> u128 {
            if n1 == 0 || n2 == 0 {
                return u128::from(u == 0);
            }
            let without_largest_x = if u >= n2 {
                count(n1 - 1, n2, u - n2)
            } else {
                0
            };
            without_largest_x + count(n1, n2 - 1, u)
        }
        for (n1, n2) in [(1, 1), (1, 7), (2, 5), (4, 4), (5, 7), (6, 6)] {
            let expected: Vec<_> = (0..=n1 * n2 / 2).map(|u| count(n1, n2, u)).collect();
            assert_eq!(u_counts(n1, n2), expected);
        }
    }

    #[test]
    fn probabilities_beyond_whole_numbers_are_the_counted_ones() {
        let mut distributions = UDistributions::new();
        for (n1, n2) in [(3, 50), (20, 31), (50, 50)] {
            let large = large_tails(n1, n2);
            for (u, &tail) in large.iter().enumerate() {
                assert!(
                    (tail - distributions.cdf(n1, n2, u)).abs() < 1e-13,
                    "{n1} {n2} {u}"
                );
            }
        }
        // The middle of 60 against 60 belongs to both halves, and the halves make 1.
        let tails = large_tails(60, 60);
        let last = tails.len() - 1;
        assert!((tails[last] + tails[last - 1] - 1.0).abs() < 1e-12);
    }

    #[test]
    fn ranks_of_large_samples_are_exact() {
        let mut distributions = UDistributions::new();
        for n in [51, 60, 100] {
            let (rank, outside) = distributions.rank(n, n, 0.025);
            let approximate = distributions.lower_quantile(n, n, 0.025);
            assert!(
                outside < 0.025 && rank.abs_diff(approximate) <= 1,
                "{n} {rank} {approximate}"
            );
        }
        // Counted with Python's whole numbers of any size.
        assert_eq!(
            [51, 60, 75].map(|n| distributions.rank(n, n, 0.025).0),
            [1008, 1427, 2291]
        );
    }

    #[test]
    fn the_distribution_is_the_same_with_the_sizes_swapped() {
        let mut distributions = UDistributions::new();
        for u in 0..=35 {
            assert_eq!(distributions.cdf(5, 7, u), distributions.cdf(7, 5, u));
        }
        assert_eq!(distributions.cdf(5, 7, 35), 1.0);
        assert!(close(distributions.cdf(5, 7, 34), 1.0 - 1.0 / 792.0, 1e-15));
    }

    #[test]
    fn the_recursion_agrees_but_for_its_last_digits() {
        let mut distributions = UDistributions::new();
        for (n1, n2) in [(1, 1), (1, 9), (9, 1), (3, 3), (5, 8), (50, 50)] {
            for u in 0..=n1 * n2 / 2 {
                let exact = 2.0 * distributions.cdf(n1, n2, u);
                assert!(
                    close(distributions.recursive_p(n1, n2, u), exact, 1e-13),
                    "{n1} {n2} {u}"
                );
            }
        }
        assert!(distributions.recursive_p(3, 3, 0) > 0.1);
        assert!(distributions.recursive_p(9, 9, 40) > 1.0);
    }

    #[test]
    fn the_quantile_is_the_smallest_that_reaches_the_probability() {
        let mut distributions = UDistributions::new();
        for (n1, n2) in [(1, 1), (3, 8), (10, 10), (50, 50), (60, 70)] {
            for a in [0.0, 1e-4, 0.005, 0.025, 0.1, 0.25, 0.5] {
                let q = distributions.lower_quantile(n1, n2, a);
                assert!(distributions.cdf(n1, n2, q) >= a, "{n1} {n2} {a}");
                assert!(
                    q == 0 || distributions.cdf(n1, n2, q - 1) < a,
                    "{n1} {n2} {a}"
                );
            }
        }
    }

    #[test]
    fn the_smallest_p_is_two_of_all_arrangements() {
        assert_eq!(smallest_p(1, 1), 1.0);
        assert_eq!(smallest_p(3, 3), 0.1);
        assert!((smallest_p(5, 5) - 0.0079).abs() < 5e-5);
        assert!((smallest_p(6, 6) - 0.0022).abs() < 5e-5);
        assert!((smallest_p(8, 8) - 0.00016).abs() < 5e-6);
        assert!(close(smallest_p(10, 10), 1.1e-5, 0.02));
        assert_eq!(smallest_p(4, 9), smallest_p(9, 4));
    }

    #[test]
    fn the_smallest_one_sided_p_is_that_of_all_ways_to_deal_the_values() {
        let mut random = 0x9E37_79B9_7F4A_7C15_u64;
        for n1 in 1..=5 {
            for n2 in 1..=5 {
                for distinct in [1, 2, 2, 3, 5, 1_000_000] {
                    let mut value = || {
                        random ^= random << 13;
                        random ^= random >> 7;
                        random ^= random << 17;
                        (random % distinct) as f64
                    };
                    let x = sorted(&(0..n1).map(|_| value()).collect::<Vec<_>>());
                    let y = sorted(&(0..n2).map(|_| value()).collect::<Vec<_>>());
                    let all = [&x[..], &y[..]].concat();
                    let mut us = Vec::new();
                    for hand in 0..1_u32 << all.len() {
                        if hand.count_ones() as usize == n1 {
                            let pick = |mine: u32| -> Vec<f64> {
                                (0..all.len())
                                    .filter(|i| hand >> i & 1 == mine)
                                    .map(|i| all[i])
                                    .collect()
                            };
                            us.push(doubled_u(&pick(1), &pick(0)));
                        }
                    }
                    let share = |u: u32| {
                        us.iter().filter(|&&other| other == u).count() as f64 / us.len() as f64
                    };
                    let expected =
                        [*us.iter().min().unwrap(), *us.iter().max().unwrap()].map(share);
                    let actual = smallest_one_sided_p(&x, &y, &mut Vec::new());
                    for (actual, expected) in actual.into_iter().zip(expected) {
                        assert!(
                            close(actual, expected, 1e-14),
                            "{x:?} {y:?}: {actual} {expected}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn a_lone_change_can_pass_holm_among_as_many_comparisons_as_tabulated() {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let most = |n| (0.05 / smallest_p(n, n)).floor() as u32;
        assert_eq!([5, 6, 8, 10].map(most), [6, 23, 321, 4618]);
    }

    #[test]
    fn the_samples_a_level_needs_are_the_recorded_ones() {
        let needed = [0.5, 0.1, 0.05, 0.01, 0.001, 0.0005, 0.0001].map(samples_for_significance);
        assert_eq!(needed, [2, 3, 4, 5, 7, 8, 9].map(Some));
        assert_eq!(samples_for_significance(1.0), Some(1));
        assert_eq!(samples_for_significance(1e-5), None);
        assert_eq!(samples_for_significance(0.0), None);
    }

    /// Sizes up to the limit of exact ties, values with a chosen number of distinct ones.
    fn tied_samples() -> impl Strategy<Value = (Vec<f64>, Vec<f64>)> {
        (2..40_i32).prop_flat_map(|distinct| {
            let sample = || {
                prop::collection::vec(0..distinct, 1..=EXACT_WITH_TIES_UP_TO)
                    .prop_map(|v| sorted(&v.into_iter().map(f64::from).collect::<Vec<_>>()))
            };
            (sample(), sample())
        })
    }

    /// P(U ≤ u) and P(U ≥ u) by the plainest shift algorithm: a value at a time, all sums, whole numbers.
    fn plain_tails(x: &[f64], y: &[f64]) -> (f64, f64) {
        let all = sorted(&[x, y].concat());
        let rank = |value: &f64| {
            let below = all.iter().filter(|other| *other < value).count();
            let equal = all.iter().filter(|other| *other == value).count();
            2 * below + equal + 1
        };
        let most: usize = all.iter().map(rank).sum();
        let mut counts = vec![vec![0_u64; most + 1]; x.len() + 1];
        counts[0][0] = 1;
        for rank in all.iter().map(rank) {
            for a in (1..=x.len()).rev() {
                for sum in (rank..=most).rev() {
                    counts[a][sum] += counts[a - 1][sum - rank];
                }
            }
        }
        let counts = &counts[x.len()];
        let observed: usize = x.iter().map(rank).sum();
        let total: u64 = counts.iter().sum();
        let tail = |counts: &[u64]| counts.iter().sum::<u64>() as f64 / total as f64;
        (tail(&counts[..=observed]), tail(&counts[observed..]))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn halves_joined_agree_with_the_whole_counted_plainly((x, y) in tied_samples()) {
            let outcome = test(&x, &y);
            prop_assume!(outcome.method == Method::ExactTies);
            let (at_most, at_least) = plain_tails(&x, &y);
            let expected = (2.0 * at_most.min(at_least)).min(1.0);
            prop_assert!(close(outcome.p, expected, 1e-15), "{outcome:?} {expected}");
        }

        #[test]
        fn swapping_or_negating_the_samples_keeps_p((x, y) in tied_samples()) {
            let outcome = test(&x, &y);
            let swapped = test(&y, &x);
            prop_assert_eq!(outcome.p, swapped.p);
            prop_assert_eq!(outcome.u + swapped.u, (x.len() * y.len()) as f64);
            let negate = |values: &[f64]| values.iter().map(|value| -value).collect::<Vec<_>>();
            prop_assert_eq!(outcome.p, test(&negate(&x), &negate(&y)).p);
        }

        #[test]
        fn a_used_test_answers_as_a_new_one(samples in prop::collection::vec(tied_samples(), 1..6)) {
            let mut used = UTest::new();
            for (x, y) in samples {
                prop_assert_eq!(used.test(&x, &y), test(&x, &y));
            }
        }
    }
}
