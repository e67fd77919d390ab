//! What a pass over all benchmarks did to most rows of a column, such as another clock rate.

use std::collections::BTreeMap;

use super::pair::Pair;
use super::shift::{SHIFT_SHARE, SHIFT_SIZE};
use crate::stats::{mean, pass_deviation, t_critical};

/// How far each pass was off: the logarithm of its factor, by side and round.
#[derive(Clone, Debug, Default)]
pub(super) struct Passes([BTreeMap<u32, f64>; 2]);

/// A change that all passes of the new side have in common.
pub(super) struct Common {
    /// The mean, as a logarithm.
    pub mean: f64,
    /// Half the width of its 95 % interval.
    pub reach: f64,
    /// How many rows moved in its direction.
    pub moved: usize,
    /// How many rows have rounds.
    pub rows: usize,
}

impl Passes {
    /// What the passes did to these rows, of which those that have rounds are looked at.
    pub fn of(pairs: &[Pair]) -> Self {
        let mut deviations: [BTreeMap<u32, Vec<f64>>; 2] = Default::default();
        let mut room = Vec::new();
        for pair in in_rounds(pairs) {
            let centres = pair.sides.each_ref().map(|side| {
                room.clear();
                room.extend_from_slice(side);
                room.sort_unstable_by(f64::total_cmp);
                crate::stats::median(&room)
            });
            let centre = f64::midpoint(centres[0], centres[1]);
            for (side, deviations) in pair.sides.iter().zip(&mut deviations) {
                for (round, value) in pair.rounds.iter().zip(side) {
                    deviations.entry(*round).or_default().push(value - centre);
                }
            }
        }
        Self(deviations.map(|side| {
            let deviation =
                |(round, mut values): (u32, Vec<f64>)| Some((round, pass_deviation(&mut values)?));
            side.into_iter().filter_map(deviation).collect()
        }))
    }

    /// What the passes of the new side have in common beyond chance, and most rows with them.
    pub fn common(&self, pairs: &[Pair]) -> Option<Common> {
        let [old, new] = &self.0;
        let differences: Vec<f64> = new
            .iter()
            .filter_map(|(round, new)| Some(new - old.get(round)?))
            .collect();
        if differences.len() < 4 {
            return None;
        }
        let count = differences.len() as f64;
        let mean = mean(&differences);
        let squares: f64 = differences.iter().map(|value| (value - mean).powi(2)).sum();
        let error = (squares / (count - 1.0) / count).sqrt();
        let degrees = count - 1.0;
        if mean.abs() < SHIFT_SIZE || mean.abs() <= t_critical(0.005, degrees) * error {
            return None;
        }
        let rows = in_rounds(pairs).count();
        let moved = in_rounds(pairs)
            .filter(|pair| pair.difference() * mean > 0.0)
            .count();
        (moved as f64 >= SHIFT_SHARE * rows as f64).then(|| Common {
            mean,
            reach: t_critical(0.025, degrees) * error,
            moved,
            rows,
        })
    }

    /// Leaves in the rows what the passes of the new side have in common: it may be the code's as well as the machine's.
    pub fn keep(&mut self, common: &Common) {
        for pass in self.0[1].values_mut() {
            *pass -= common.mean;
        }
    }

    /// Takes out of the rows what the passes did to them.
    pub fn take_out(&self, pairs: &mut [Pair]) {
        for pair in pairs.iter_mut().filter(|pair| pair.is_paired) {
            for (side, passes) in pair.sides.iter_mut().zip(&self.0) {
                for (round, value) in pair.rounds.iter().zip(side) {
                    *value -= passes.get(round).copied().unwrap_or_default();
                }
            }
        }
    }
}

fn in_rounds(pairs: &[Pair]) -> impl Iterator<Item = &Pair> {
    pairs.iter().filter(|pair| pair.is_paired)
}
