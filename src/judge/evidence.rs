//! How sure a change is: the p-values of a row, one for each direction.
//!
//! A row is tested by the difference of the means of its logarithms, values far from both sides pulled in ([`crate::stats::clip`]),
//! with a standard error that rows of one unit lend each other ([`crate::stats::moderated`]). Where both sides know their rounds,
//! differences are taken within rounds, after what a pass did to most rows is taken out of it ([`crate::stats::rounds`]). On top
//! of that an exact test has to agree at α, whatever values look like: that of Mann and Whitney, or within rounds that of
//! Fisher's sign flips. Rows whose values are mostly tied, or not all positive, have the ranks' exact p alone.

use super::effect::{Effect, EffectScale, EstimatedBy};
use super::pair::Pair;
use crate::stats::{Spread, clip, t_critical, t_upper_tail};

/// Where more than this part of all values had to be pulled in, runs are slow at times: of normal values it is about one in a
/// hundred.
const SLOW: f64 = 0.025;

/// How sure one comparison is.
#[derive(Clone, Debug)]
pub(super) struct Evidence {
    /// Of which contrast.
    pub contrast: usize,
    /// How large the change is, by the means where both sides know their rounds.
    pub effect: Effect,
    /// One-sided, for an increase and for a decrease.
    pub p: [f64; 2],
    /// What an exact test says, which has to agree: at least that is the p-value after correction.
    pub exact: [f64; 2],
    /// What the values of this row could have had at best.
    pub smallest: [f64; 2],
    /// The standard error of the logarithm of the ratio, with its degrees of freedom; none where ranks alone decide.
    pub error: Option<Spread>,
    /// The change of the means with its interval, where the effect has that of Hodges and Lehmann.
    pub means: Option<Effect>,
    /// The part of all runs of the unit that are slow, and how far they may lie off; 0 where none are.
    pub slow: [f64; 2],
}

/// Tests the rows of one column of a table, which lend each other their noise.
pub(super) fn test(mut pairs: Vec<Pair>, alpha: f64) -> Vec<Evidence> {
    let slow = pull_in(&mut pairs);
    let spreads = lend(&pairs);
    pairs
        .iter()
        .zip(spreads)
        .zip(slow)
        .map(|((pair, spread), slow)| match spread {
            Some(spread) => of_means(pair, spread, slow, alpha),
            None => of_ranks(pair),
        })
        .collect()
}

/// Pulls in the values far from both sides. By pair, the part of all values that were, and how far its own may lie off; 0 where
/// that part is no more than chance.
fn pull_in(pairs: &mut [Pair]) -> Vec<[f64; 2]> {
    let mut room = Vec::new();
    let (mut moved, mut values) = (0, 0);
    let mut reaches = Vec::with_capacity(pairs.len());
    for pair in pairs {
        let [old, new] = &mut pair.sides;
        values += old.len() + new.len();
        let (of_pair, reach) = clip(old, new, &mut room);
        moved += of_pair;
        reaches.push(reach);
    }
    let share = moved as f64 / values as f64;
    let of_pair = |reach: f64| {
        if share > SLOW {
            [share, reach]
        } else {
            [0.0; 2]
        }
    };
    reaches.into_iter().map(of_pair).collect()
}

/// The noise of each pair, weighed with what those have in common that are compared alike, by rounds or not; none where ranks alone
/// decide.
fn lend(pairs: &[Pair]) -> Vec<Option<Spread>> {
    let own: Vec<Option<Spread>> = pairs.iter().map(Pair::spread).collect();
    let [of_samples, of_rounds] = [false, true].map(|is_paired| {
        let alike = pairs.iter().zip(&own);
        let alike = alike.filter(|(pair, _)| pair.is_paired == is_paired);
        let spreads: Vec<Spread> = alike.filter_map(|(_, spread)| *spread).collect();
        let degrees: f64 = spreads.iter().map(|spread| spread.degrees).sum();
        (Spread::common(&spreads), degrees)
    });
    let moderated = |(pair, spread): (&Pair, Option<Spread>)| {
        let (common, degrees) = if pair.is_paired {
            of_rounds
        } else {
            of_samples
        };
        let spread = spread?.moderated(common, degrees);
        (spread.variance > 0.0).then_some(spread)
    };
    pairs.iter().zip(own).map(moderated).collect()
}

fn of_ranks(pair: &Pair) -> Evidence {
    Evidence {
        contrast: pair.contrast,
        effect: pair.effect,
        p: pair.ranks,
        exact: pair.ranks,
        smallest: pair.smallest,
        error: None,
        means: None,
        slow: [0.0; 2],
    }
}

/// What the means say, where single values, or differences within rounds, have this `spread`.
fn of_means(pair: &Pair, spread: Spread, slow: [f64; 2], alpha: f64) -> Evidence {
    let difference = pair.difference();
    let variance = spread.variance * pair.share();
    let error = variance.sqrt();
    let t = difference / error;
    let p = [t, -t].map(|t| t_upper_tail(t, spread.degrees));
    let half = t_critical(alpha / 2.0, spread.degrees) * error;
    let bounds = [difference, difference - half, difference + half].map(f64::exp_m1);
    let by = |estimated_by| Effect::bounded(EffectScale::Ratio, estimated_by, bounds, 1.0 - alpha);
    let (effect, means, exact) = if pair.is_paired {
        (by(EstimatedBy::Rounds), None, pair.flips(p, alpha))
    } else {
        (pair.effect, Some(by(EstimatedBy::Means)), pair.ranks)
    };
    Evidence {
        contrast: pair.contrast,
        effect,
        p,
        exact,
        smallest: [0.0; 2],
        error: Some(Spread {
            variance,
            degrees: spread.degrees,
        }),
        means,
        slow,
    }
}
