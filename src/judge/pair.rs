//! Both sides of a row, made ready for a test.

use super::contrast::{Contrast, ContrastSides};
use super::effect::{Effect, EffectScale};
use super::rounds;
use super::verdict::SUSPICIOUS;
use crate::report::model::{Cell, Report};
use crate::stats::{Spread, mean, sign_flip_p, smallest_one_sided_p};

/// Where a value is more than this part of all values of both sides, they are too coarse for a mean.
const TIED: f64 = 0.25;

/// Both sides of a row that has a p-value.
pub(super) struct Pair {
    /// Of which contrast.
    pub contrast: usize,
    /// How large the change is by the ranks of all values.
    pub effect: Effect,
    /// Logarithms of the values; within rounds their means, in the order of the rounds. Empty where ranks alone decide.
    pub sides: [Vec<f64>; 2],
    /// The rounds, where both sides know theirs.
    pub rounds: Vec<u32>,
    /// Whether differences are taken within rounds.
    pub is_paired: bool,
    /// By the ranks of all values: for an increase, and for a decrease.
    pub ranks: [f64; 2],
    /// The smallest that could have been.
    pub smallest: [f64; 2],
}

impl Pair {
    /// What contrast `index` compares; none where there is nothing to test. `room` is for sorting.
    pub fn of(
        index: usize,
        contrast: &Contrast,
        report: &Report,
        alpha: f64,
        room: &mut Vec<f64>,
    ) -> Option<Self> {
        let ContrastSides::Both { effect, .. } = &contrast.sides else {
            return None;
        };
        let row = &report.tables[contrast.position.table].rows[contrast.position.row];
        let base = row.cell(0)?;
        let cell = report.cell(contrast.position)?;
        let p = cell.comparison.as_ref()?.p?;
        if base.values.are_same() && cell.values.are_same() && base.centre == cell.centre {
            return None;
        }
        let half = p.min(1.0) / 2.0;
        let ranks = match effect.estimate {
            estimate if estimate > 0.0 => [half, 1.0 - half],
            estimate if estimate < 0.0 => [1.0 - half, half],
            _ => [0.5; 2],
        };
        let [old, new] = [base, cell].map(Cell::sorted);
        let [down, up] = smallest_one_sided_p(&new, &old, room);
        // The room has all values, sorted.
        let most = room.chunk_by(|a, b| a == b).map(<[f64]>::len).max();
        let is_coarse = most.unwrap_or_default() as f64 > TIED * room.len() as f64;
        let mut pair = Self {
            contrast: index,
            effect: *effect,
            sides: [Vec::new(), Vec::new()],
            rounds: Vec::new(),
            is_paired: false,
            ranks,
            smallest: [up, down],
        };
        if is_coarse || effect.scale != EffectScale::Ratio || old.len() < 2 || new.len() < 2 {
            return Some(pair);
        }
        let common = rounds::common([base, cell], f64::ln).unwrap_or_default();
        // With fewer no swap of sides would be rare enough.
        let rarest = 0.5_f64.powi(i32::try_from(common.len()).unwrap_or(i32::MAX));
        if rarest <= alpha {
            for (round, [old, new]) in common {
                pair.rounds.push(round);
                pair.sides[0].push(old);
                pair.sides[1].push(new);
            }
            pair.is_paired = true;
            return Some(pair);
        }
        pair.sides = [base, cell].map(|cell| cell.values.iter().map(f64::ln).collect());
        Some(pair)
    }

    /// The mean difference, as a logarithm.
    pub fn difference(&self) -> f64 {
        let [old, new] = self.sides.each_ref().map(|side| mean(side));
        new - old
    }

    /// The variance of single values, or within rounds of single differences; none where ranks alone decide.
    pub fn spread(&self) -> Option<Spread> {
        let [old, new] = &self.sides;
        if old.is_empty() {
            return None;
        }
        let squares = |values: &[f64]| -> f64 {
            let mean = mean(values);
            values.iter().map(|value| (value - mean).powi(2)).sum()
        };
        let (sum, degrees) = if self.is_paired {
            (squares(&self.differences()), old.len() - 1)
        } else {
            (squares(old) + squares(new), old.len() + new.len() - 2)
        };
        let degrees = degrees as f64;
        Some(Spread {
            variance: sum / degrees,
            degrees,
        })
    }

    /// The part of that variance that the mean difference has.
    pub fn share(&self) -> f64 {
        let [old, new] = self.sides.each_ref().map(|side| 1.0 / side.len() as f64);
        if self.is_paired { old } else { old + new }
    }

    fn differences(&self) -> Vec<f64> {
        let [old, new] = &self.sides;
        old.iter().zip(new).map(|(old, new)| new - old).collect()
    }

    /// What the sign flips say, where that may matter: they take time.
    pub fn flips(&self, p: [f64; 2], alpha: f64) -> [f64; 2] {
        let mut differences = self.differences();
        let mut exact = [0.0; 2];
        for (exact, p) in exact.iter_mut().zip(p) {
            if p <= SUSPICIOUS * alpha {
                *exact = sign_flip_p(&differences).unwrap_or_default();
            }
            for value in &mut differences {
                *value = -*value;
            }
        }
        exact
    }
}
