//! How sure a change is: the p-values of each comparison, one for each direction, and what is corrected for.
//!
//! A row is tested by the difference of the means of its logarithms, values far from both sides pulled in ([`crate::stats::clip`]),
//! with a standard error that rows of one unit lend each other ([`crate::stats::moderated`]). Where both sides know their rounds,
//! differences are taken within rounds, after what a pass did to most rows is taken out of it ([`crate::stats::rounds`]). On top
//! of that an exact test has to agree at α, whatever values look like: that of Mann and Whitney, or within rounds that of
//! Fisher's sign flips. Rows whose values are mostly tied, or not all positive, have the ranks' exact p alone.

use std::collections::BTreeMap;

use bstr::BString;
use hashbrown::HashMap;

use super::contrast::{Contrast, ContrastSides};
use super::effect::{Effect, EffectScale, EstimatedBy};
use super::judging::Judging;
use super::rounds;
use super::shift::{SHIFT_SHARE, SHIFT_SIZE, Shift};
use super::verdict::SUSPICIOUS;
use crate::report::model::{Cell, Position, Report, Table};
use crate::stats::{
    Spread, clip, pass_deviation, sign_flip_p, smallest_one_sided_p, t_critical, t_upper_tail,
};

/// Where a value is more than this part of all values of both sides, they are too coarse for a mean.
const TIED: f64 = 0.25;

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

/// What a run says before anything is made worse in it.
#[derive(Clone, Debug, Default)]
pub struct Undisturbed {
    /// The p-values for "worse" that count, ascending.
    pub(super) worse: Vec<f64>,
    /// How far each pass was off, by table and column.
    pub(super) passes: BTreeMap<(usize, usize), Passes>,
    /// What moved as a whole.
    pub(super) shifts: Vec<Shift>,
}

/// How far each pass over all rows was off: the logarithm of its factor, by side and round.
pub(super) type Passes = [BTreeMap<u32, f64>; 2];

/// The evidence of a whole run.
#[derive(Debug)]
pub(super) struct Collected {
    pub evidence: Vec<Evidence>,
    /// For each of them the one that says the same, and counts in its place.
    pub twins: Vec<Option<usize>>,
    pub shifts: Vec<Shift>,
    /// The columns, by table, that were compared by rounds.
    pub passes: BTreeMap<(usize, usize), Passes>,
}

/// Collects the evidence of all contrasts that have a p-value.
pub(super) fn collect(
    report: &Report,
    contrasts: &[Contrast],
    judging: &Judging,
    undisturbed: Option<&Undisturbed>,
) -> Collected {
    let mut evidence = Vec::new();
    let mut shifts = Vec::new();
    let mut passes_of = BTreeMap::new();
    let mut by_column: Vec<usize> = (0..contrasts.len()).collect();
    by_column.sort_by_key(|&index| {
        let Position { table, row, column } = contrasts[index].position;
        (table, column, row)
    });
    let group_of = |index: &usize| {
        let position = contrasts[*index].position;
        (position.table, position.column)
    };
    for of_column in by_column.chunk_by(|left, right| group_of(left) == group_of(right)) {
        let (table, column) = group_of(&of_column[0]);
        let unit = &report.tables[table].unit;
        let whole = judging.whole_alpha.unwrap_or(judging.alpha);
        let mut group = Group::of(report, contrasts, of_column, whole);
        if group.rows.is_empty() {
            continue;
        }
        if group.rows.iter().any(|row| row.is_paired) {
            let passes = match undisturbed {
                // What was made worse in memory is no shift.
                Some(known) => match known.passes.get(&(table, column)) {
                    Some(passes) => passes.clone(),
                    None => group.passes(),
                },
                None => group.keep_shift(group.passes(), unit, column, &mut shifts),
            };
            group.take_out(&passes);
            passes_of.insert((table, column), passes);
        }
        group.test(judging.alpha, &mut evidence);
    }
    Collected {
        twins: twins(report, contrasts, &evidence),
        evidence,
        shifts,
        passes: passes_of,
    }
}

/// The comparisons of one column of a table.
struct Group {
    rows: Vec<Pair>,
}

/// Both sides of a row.
struct Pair {
    /// Of which contrast.
    contrast: usize,
    effect: Effect,
    /// Logarithms of the values; within rounds their means, in the order of the rounds. Empty where ranks alone decide.
    sides: [Vec<f64>; 2],
    /// The rounds, where both sides know theirs.
    rounds: Vec<u32>,
    is_paired: bool,
    /// By the ranks of all values: for an increase, and for a decrease.
    ranks: [f64; 2],
    /// The smallest that could have been.
    smallest: [f64; 2],
}

impl Group {
    fn of(report: &Report, contrasts: &[Contrast], of_column: &[usize], alpha: f64) -> Self {
        let mut room = Vec::new();
        let rows = of_column.iter().filter_map(|&index| {
            let contrast = &contrasts[index];
            let ContrastSides::Both { effect, .. } = &contrast.sides else {
                return None;
            };
            let row = &report.tables[contrast.position.table].rows[contrast.position.row];
            let base = row.cell(0)?;
            let cell = report.cell(contrast.position)?;
            let p = cell.comparison.as_ref()?.p?;
            if base.values.are_same() && cell.values.are_same() && base.centre == cell.centre {
                // Nothing to test, and nothing to count.
                return None;
            }
            Some(Pair::of(index, [base, cell], effect, p, alpha, &mut room))
        });
        Self {
            rows: rows.collect(),
        }
    }

    fn passes(&self) -> Passes {
        let mut deviations: [BTreeMap<u32, Vec<f64>>; 2] = Default::default();
        let mut room = Vec::new();
        for pair in self.rows.iter().filter(|pair| pair.is_paired) {
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
        deviations.map(|side| {
            let deviation =
                |(round, mut values): (u32, Vec<f64>)| Some((round, pass_deviation(&mut values)?));
            side.into_iter().filter_map(deviation).collect()
        })
    }

    /// A change that the passes of one side have in common may be the code's or the machine's: it stays in the rows, and is told.
    fn keep_shift(
        &self,
        mut passes: Passes,
        unit: &BString,
        column: usize,
        shifts: &mut Vec<Shift>,
    ) -> Passes {
        let [old, new] = &passes;
        let differences: Vec<f64> = new
            .iter()
            .filter_map(|(round, new)| Some(new - old.get(round)?))
            .collect();
        let count = differences.len() as f64;
        if differences.len() < 4 {
            return passes;
        }
        let mean = differences.iter().sum::<f64>() / count;
        let squares: f64 = differences.iter().map(|value| (value - mean).powi(2)).sum();
        let error = (squares / (count - 1.0) / count).sqrt();
        let degrees = count - 1.0;
        if mean.abs() < SHIFT_SIZE || mean.abs() <= t_critical(0.005, degrees) * error {
            return passes;
        }
        let paired = || self.rows.iter().filter(|pair| pair.is_paired);
        let moved = paired()
            .filter(|pair| pair.difference() * mean > 0.0)
            .count();
        if (moved as f64) < SHIFT_SHARE * paired().count() as f64 {
            return passes;
        }
        shifts.push(Shift {
            column,
            unit: unit.clone(),
            moved,
            rows: paired().count(),
            mean: mean.exp_m1(),
            reach: mean.exp() * (t_critical(0.025, degrees) * error).exp_m1(),
        });
        for pass in passes[1].values_mut() {
            *pass -= mean;
        }
        passes
    }

    fn take_out(&mut self, passes: &Passes) {
        for pair in self.rows.iter_mut().filter(|pair| pair.is_paired) {
            for (side, passes) in pair.sides.iter_mut().zip(passes) {
                for (round, value) in pair.rounds.iter().zip(side) {
                    *value -= passes.get(round).copied().unwrap_or_default();
                }
            }
        }
    }

    fn test(mut self, alpha: f64, evidence: &mut Vec<Evidence>) {
        let mut room = Vec::new();
        let (mut moved, mut values) = (0, 0);
        let mut reaches = Vec::with_capacity(self.rows.len());
        let spreads: Vec<Option<(f64, Spread)>> = self
            .rows
            .iter_mut()
            .map(|pair| {
                let [old, new] = &mut pair.sides;
                values += old.len() + new.len();
                let (of_row, reach) = clip(old, new, &mut room);
                moved += of_row;
                reaches.push(reach);
                pair.spread()
            })
            .collect();
        let of_kind = |is_paired: bool| -> Vec<Spread> {
            let rows = self.rows.iter().zip(&spreads);
            rows.filter(|(pair, _)| pair.is_paired == is_paired)
                .filter_map(|(_, spread)| spread.map(|(_, spread)| spread))
                .collect()
        };
        let kinds = [of_kind(false), of_kind(true)];
        let common = kinds.each_ref().map(|spreads| Spread::common(spreads));
        let total = kinds
            .each_ref()
            .map(|spreads| spreads.iter().map(|spread| spread.degrees).sum::<f64>());
        let slow_share = moved as f64 / values as f64;
        for ((pair, spread), reach) in self.rows.iter().zip(&spreads).zip(reaches) {
            let kind = usize::from(pair.is_paired);
            let moderated = spread.map(|(difference, spread)| {
                (difference, spread.moderated(common[kind], total[kind]))
            });
            let Some((difference, spread)) = moderated.filter(|(_, spread)| spread.variance > 0.0)
            else {
                evidence.push(Evidence {
                    contrast: pair.contrast,
                    effect: pair.effect,
                    p: pair.ranks,
                    exact: pair.ranks,
                    smallest: pair.smallest,
                    error: None,
                    means: None,
                    slow: [0.0; 2],
                });
                continue;
            };
            let variance = spread.variance * pair.share();
            let error = variance.sqrt();
            let t = difference / error;
            let p = [t, -t].map(|t| t_upper_tail(t, spread.degrees));
            let exact = if pair.is_paired {
                pair.flips(p, alpha)
            } else {
                pair.ranks
            };
            let half = t_critical(alpha / 2.0, spread.degrees) * error;
            let estimated_by = if pair.is_paired {
                EstimatedBy::Rounds
            } else {
                EstimatedBy::Means
            };
            let bounds = [difference, difference - half, difference + half].map(f64::exp_m1);
            let means = Effect::bounded(EffectScale::Ratio, estimated_by, bounds, 1.0 - alpha);
            evidence.push(Evidence {
                contrast: pair.contrast,
                effect: if pair.is_paired { means } else { pair.effect },
                p,
                exact,
                smallest: [0.0; 2],
                error: Some(Spread {
                    variance,
                    degrees: spread.degrees,
                }),
                means: (!pair.is_paired).then_some(means),
                slow: if slow_share > SLOW {
                    [slow_share, reach]
                } else {
                    [0.0; 2]
                },
            });
        }
    }
}

impl Pair {
    fn of(
        contrast: usize,
        [base, cell]: [&Cell; 2],
        effect: &Effect,
        p: f64,
        alpha: f64,
        room: &mut Vec<f64>,
    ) -> Self {
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
            contrast,
            effect: *effect,
            sides: [Vec::new(), Vec::new()],
            rounds: Vec::new(),
            is_paired: false,
            ranks,
            smallest: [up, down],
        };
        if is_coarse || effect.scale != EffectScale::Ratio || old.len() < 2 || new.len() < 2 {
            return pair;
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
            return pair;
        }
        pair.sides = [base, cell].map(|cell| cell.values.iter().map(f64::ln).collect());
        pair
    }

    /// The mean difference, as a logarithm.
    fn difference(&self) -> f64 {
        let [old, new] = self.sides.each_ref().map(|side| mean(side));
        new - old
    }

    /// The mean difference with the variance of single values, or within rounds of single differences.
    fn spread(&self) -> Option<(f64, Spread)> {
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
        let spread = Spread {
            variance: sum / degrees,
            degrees,
        };
        Some((self.difference(), spread))
    }

    /// The part of the variance that the mean difference has.
    fn share(&self) -> f64 {
        let [old, new] = self.sides.each_ref().map(|side| 1.0 / side.len() as f64);
        if self.is_paired { old } else { old + new }
    }

    fn differences(&self) -> Vec<f64> {
        let [old, new] = &self.sides;
        old.iter().zip(new).map(|(old, new)| new - old).collect()
    }

    /// What the sign flips say, where that may matter: they take time.
    fn flips(&self, p: [f64; 2], alpha: f64) -> [f64; 2] {
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

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Of each comparison of a rate that is computed from the times of the same lines, such as `MB/s` beside `ns/op`, the comparison
/// of those times.
fn twins(report: &Report, contrasts: &[Contrast], evidence: &[Evidence]) -> Vec<Option<usize>> {
    let times: Vec<usize> = (0..report.tables.len())
        .filter(|&table| report.tables[table].unit == "sec/op")
        .collect();
    if times.is_empty() {
        return vec![None; evidence.len()];
    }
    let position = |one: &Evidence| contrasts[one.contrast].position;
    let known: HashMap<Position, usize> = evidence
        .iter()
        .enumerate()
        .map(|(index, one)| (position(one), index))
        .collect();
    let twin = |one: &Evidence| -> Option<usize> {
        let at = position(one);
        let rate = &report.tables[at.table];
        if !rate.unit.ends_with(b"/s") {
            return None;
        }
        let mut times = times.iter();
        let &time = times.find(|&&time| report.tables[time].key == rate.key)?;
        let rows = &report.tables[time].rows;
        let key = &rate.rows[at.row].key;
        // Rows of the same benchmarks mostly stand at the same place.
        let same = rows.get(at.row).filter(|other| other.key == *key);
        let row = match same {
            Some(_) => at.row,
            None => rows.iter().position(|other| other.key == *key)?,
        };
        let of_time = Position {
            table: time,
            row,
            column: at.column,
        };
        let cells = |table: &Table, row: usize| -> Vec<f64> {
            let at = table.places.binary_search(&at.column).ok();
            let cells = [Some(0), at].into_iter().flatten();
            let cells = cells.filter_map(|at| table.rows[row].cell(at));
            cells.flat_map(|cell| cell.values.iter()).collect()
        };
        let &twin = known.get(&of_time)?;
        is_inverse(&cells(rate, at.row), &cells(&report.tables[time], row)).then_some(twin)
    };
    evidence.iter().map(twin).collect()
}

/// Whether the product of what the lines say is one number, but for what print rounds away: it varies by less than a tenth of
/// what either does, or by less than half a percent.
fn is_inverse(rates: &[f64], times: &[f64]) -> bool {
    let is_positive = |values: &[f64]| values.iter().all(|value| *value > 0.0);
    if rates.len() != times.len() || rates.len() < 2 || !is_positive(rates) || !is_positive(times) {
        return false;
    }
    let deviation = |logs: Vec<f64>| -> f64 {
        let mean = mean(&logs);
        (logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / logs.len() as f64).sqrt()
    };
    let product = deviation(
        rates
            .iter()
            .zip(times)
            .map(|(rate, time)| (rate * time).ln())
            .collect(),
    );
    let alone = deviation(times.iter().map(|time| time.ln()).collect());
    product < 0.1 * alone || (product < 0.005 && product < 0.5 * alone)
}
