//! How sure a change is: the p-values of each comparison, one for each direction, and what is corrected for.
//!
//! A row is tested by the difference of the means of its logarithms, values far from both sides pulled in ([`crate::stats::clip`]),
//! with a standard error that rows of one unit lend each other ([`crate::stats::moderated`]). Where both sides know their rounds,
//! differences are taken within rounds, after what a pass did to most rows is taken out of it ([`crate::stats::rounds`]). On top
//! of that an exact test has to agree at α, whatever values look like: that of Mann and Whitney, or within rounds that of
//! Fisher's sign flips. Rows whose values are mostly tied, or not all positive, have the ranks' exact p alone.

use std::collections::BTreeMap;

use super::judgement::{Adjust, Effect, EffectScale, Judgement, Shift};
use super::model::{Cell, Report, Table};
use super::verdict::{Judging, SHIFT_SHARE};
use crate::stats::{
    FEWEST_ROWS, Spread, among, benjamini_hochberg, clip, countable, pass_deviation, sign_flip_p,
    smallest_one_sided_p, smallest_p, t_critical, t_upper_tail, tarone_holm,
};
use crate::unit::Better;

/// Where a value is more than this part of all values of both sides, they are too coarse for a mean.
const TIED: f64 = 0.25;

/// Where more than this part of all values had to be pulled in, runs are slow at times: of normal values it is about one in a
/// hundred.
const SLOW: f64 = 0.025;

/// A common change that is smaller is not worth a word.
pub(super) const SHIFT_SIZE: f64 = 0.005;

/// How sure one comparison is.
#[derive(Clone, Debug)]
pub(super) struct Evidence {
    /// The table, its row, and which of the row's judgements.
    pub at: (usize, usize, usize),
    /// One-sided, for an increase and for a decrease.
    p: [f64; 2],
    /// What an exact test says, which has to agree: at least that is the p-value after correction.
    exact: [f64; 2],
    /// What the values of this row could have had at best.
    smallest: [f64; 2],
    /// The standard error of the logarithm of the ratio, with its degrees of freedom; none where ranks alone decide.
    error: Option<Spread>,
    /// The change of the means with its interval, where the effect has that of Hodges and Lehmann.
    means: Option<Effect>,
    /// The share that one slow run has of the faster side's mean, and how far it may lie off; 0 where no runs are slow.
    slow: [f64; 2],
    /// It says the same as this other one, which counts.
    twin: Option<usize>,
}

/// What a run says before anything is made worse in it.
#[derive(Clone, Debug, Default)]
pub struct Undisturbed {
    /// The p-values for "worse" that count, ascending.
    worse: Vec<f64>,
    /// How far each pass was off, by table and column.
    passes: BTreeMap<(usize, usize), Passes>,
    /// What moved as a whole.
    pub(super) shifts: Vec<Shift>,
}

/// How far each pass over all rows was off: the logarithm of its factor, by side and round.
type Passes = [BTreeMap<u32, f64>; 2];

/// The evidence of a whole run.
#[derive(Debug)]
pub(super) struct Collected {
    pub evidence: Vec<Evidence>,
    pub shifts: Vec<Shift>,
    /// The columns, by table, that were compared by rounds.
    passes: BTreeMap<(usize, usize), Passes>,
}

/// Collects the evidence of all comparisons, and puts the estimates of those that are compared by rounds in their place.
pub(super) fn collect(
    report: &mut Report,
    judging: &Judging,
    undisturbed: Option<&Undisturbed>,
) -> Collected {
    let mut collected = Collected {
        evidence: Vec::new(),
        shifts: Vec::new(),
        passes: BTreeMap::new(),
    };
    let columns = report.columns.len();
    for (index, table) in report.tables.iter_mut().enumerate() {
        if table.is_exact {
            continue;
        }
        for column in 1..columns {
            let known = undisturbed.and_then(|known| known.passes.get(&(index, column)));
            let mut group = Group::of(table, index, column, judging.alpha);
            if group.rows.is_empty() {
                continue;
            }
            if group.rows.iter().any(|row| row.is_paired) {
                let passes = known.cloned().unwrap_or_else(|| group.passes());
                let passes = match undisturbed {
                    // What was made worse in memory is no shift.
                    Some(_) => passes,
                    None => group.keep_shift(passes, table, column, &mut collected.shifts),
                };
                group.take_out(&passes);
                collected.passes.insert((index, column), passes);
            }
            group.test(table, judging.alpha, &mut collected.evidence);
        }
    }
    find_twins(report, &mut collected.evidence);
    collected
}

/// The comparisons of one column of a table.
struct Group {
    table: usize,
    rows: Vec<Pair>,
}

/// Both sides of a row.
struct Pair {
    row: usize,
    slot: usize,
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
    fn of(table: &Table, index: usize, column: usize, alpha: f64) -> Self {
        let mut room = Vec::new();
        let at = table.places.binary_search(&column);
        let rows = table.rows.iter().enumerate().filter_map(|(row, judged)| {
            let at = at.ok().filter(|&at| at > 0)?;
            let slot = judged
                .judgements
                .binary_search_by_key(&column, |(at, _)| *at);
            let slot = slot.ok()?;
            let effect = judged.judgements[slot].1.effect.as_ref()?;
            let base = judged.cell(0)?;
            let cell = judged.cell(at)?;
            let p = cell.comparison.as_ref()?.p?;
            if base.values.are_same() && cell.values.are_same() && base.centre == cell.centre {
                // Nothing to test, and nothing to count.
                return None;
            }
            Some(Pair::of(
                (row, slot),
                base,
                cell,
                effect,
                p,
                alpha,
                &mut room,
            ))
        });
        Self {
            table: index,
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
        table: &Table,
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
            unit: table.unit.clone(),
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

    fn test(mut self, table: &mut Table, alpha: f64, evidence: &mut Vec<Evidence>) {
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
        let has_slow_runs = moved as f64 > SLOW * values as f64;
        for ((pair, spread), reach) in self.rows.iter().zip(&spreads).zip(reaches) {
            let at = (self.table, pair.row, pair.slot);
            let kind = usize::from(pair.is_paired);
            let moderated = spread.map(|(difference, spread)| {
                (difference, spread.moderated(common[kind], total[kind]))
            });
            let Some((difference, spread)) = moderated.filter(|(_, spread)| spread.variance > 0.0)
            else {
                evidence.push(Evidence {
                    at,
                    p: pair.ranks,
                    exact: pair.ranks,
                    smallest: pair.smallest,
                    error: None,
                    means: None,
                    slow: [0.0; 2],
                    twin: None,
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
            let means = Effect {
                scale: EffectScale::Ratio,
                estimate: difference.exp_m1(),
                low: (difference - half).exp_m1(),
                high: (difference + half).exp_m1(),
                coverage: 1.0 - alpha,
                unbounded: None,
            };
            if pair.is_paired {
                table.rows[pair.row].judgements[pair.slot].1.effect = Some(means);
            }
            evidence.push(Evidence {
                at,
                p,
                exact,
                smallest: [0.0; 2],
                error: Some(Spread {
                    variance,
                    degrees: spread.degrees,
                }),
                means: (!pair.is_paired).then_some(means),
                slow: if has_slow_runs {
                    [1.0 / pair.sides[0].len() as f64, reach]
                } else {
                    [0.0; 2]
                },
                twin: None,
            });
        }
    }
}

impl Pair {
    fn of(
        (row, slot): (usize, usize),
        base: &Cell,
        cell: &Cell,
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
        let mut sorted = [base, cell].map(|cell| {
            let mut sorted: Vec<f64> = cell.values.iter().collect();
            sorted.sort_unstable_by(f64::total_cmp);
            sorted
        });
        let [old, new] = &mut sorted;
        let [down, up] = smallest_one_sided_p(new, old, room);
        // The room has all values, sorted.
        let most = room.chunk_by(|a, b| a == b).map(<[f64]>::len).max();
        let is_coarse = most.unwrap_or_default() as f64 > TIED * room.len() as f64;
        let mut pair = Self {
            row,
            slot,
            sides: [Vec::new(), Vec::new()],
            rounds: Vec::new(),
            is_paired: false,
            ranks,
            smallest: [up, down],
        };
        if is_coarse || effect.scale != EffectScale::Ratio || old.len() < 2 || new.len() < 2 {
            return pair;
        }
        let by_round = [base, cell].map(by_round);
        if let [Some(old), Some(new)] = &by_round {
            let common: Vec<u32> = old
                .keys()
                .filter(|round| new.contains_key(round))
                .copied()
                .collect();
            // With fewer no swap of sides would be rare enough.
            if 0.5_f64.powi(i32::try_from(common.len()).unwrap_or(i32::MAX)) <= alpha {
                pair.sides =
                    [old, new].map(|side| common.iter().map(|round| side[round]).collect());
                pair.rounds = common;
                pair.is_paired = true;
                return pair;
            }
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

/// Up to how many times α a corrected p-value looks suspicious: without any change, that is at most one run in five at α = 0.05.
pub(super) const SUSPICIOUS: f64 = 4.0;

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The mean logarithm of each round; none where some value has no round.
fn by_round(cell: &Cell) -> Option<BTreeMap<u32, f64>> {
    if cell.rounds.is_empty() || cell.rounds.contains(&0) {
        return None;
    }
    let mut rounds: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
    for (round, value) in cell.rounds.iter().zip(cell.values.iter()) {
        let (sum, count) = rounds.entry(*round).or_default();
        *sum += value.ln();
        *count += 1.0;
    }
    Some(
        rounds
            .into_iter()
            .map(|(round, (sum, count))| (round, sum / count))
            .collect(),
    )
}

/// Finds comparisons of a rate that are computed from the times of the same lines, such as `MB/s` beside `ns/op`.
fn find_twins(report: &Report, evidence: &mut [Evidence]) {
    let times: Vec<usize> = (0..report.tables.len())
        .filter(|&table| report.tables[table].unit == "sec/op")
        .collect();
    if times.is_empty() {
        return;
    }
    let known: std::collections::HashMap<(usize, usize, usize), usize> = evidence
        .iter()
        .enumerate()
        .map(|(index, evidence)| (evidence.at, index))
        .collect();
    for one in evidence {
        let (table, row, slot) = one.at;
        let rate = &report.tables[table];
        if !rate.unit.ends_with(b"/s") {
            continue;
        }
        let Some(&time) = times
            .iter()
            .find(|&&time| report.tables[time].key == rate.key)
        else {
            continue;
        };
        let rows = &report.tables[time].rows;
        let key = &rate.rows[row].key;
        // Rows of the same benchmarks mostly stand at the same place.
        let same = rows.get(row).filter(|other| other.key == *key).map(|_| row);
        let Some(twin_row) = same.or_else(|| rows.iter().position(|other| other.key == *key))
        else {
            continue;
        };
        let column = rate.rows[row].judgements[slot].0;
        let Ok(twin_slot) = rows[twin_row]
            .judgements
            .binary_search_by_key(&column, |(at, _)| *at)
        else {
            continue;
        };
        let cells = |table: &Table, row: usize| -> Vec<f64> {
            let at = table.places.binary_search(&column).ok();
            let cells = [Some(0), at].into_iter().flatten();
            let cells = cells.filter_map(|at| table.rows[row].cell(at));
            cells.flat_map(|cell| cell.values.iter()).collect()
        };
        if let Some(&twin) = known.get(&(time, twin_row, twin_slot))
            && is_inverse(&cells(rate, row), &cells(&report.tables[time], twin_row))
        {
            one.twin = Some(twin);
        }
    }
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

/// What the correction of a run comes to.
pub(super) struct Corrected {
    /// How many comparisons count.
    pub counted: usize,
    pub undisturbed: Undisturbed,
}

/// The questions of one direction: one for each comparison that counts evidence of its own.
struct Family {
    /// The smallest p-values that there could be.
    smallest: Vec<f64>,
    p: Vec<f64>,
    /// What exact tests say.
    exact: Vec<f64>,
}

impl Family {
    /// Whether rows are worse, or better.
    fn of(
        is_worse: bool,
        report: &Report,
        is_two_sided: bool,
        evidence: &[Evidence],
        counted: &[usize],
    ) -> Self {
        let each = |of: fn(&Evidence) -> [f64; 2]| -> Vec<f64> {
            let of_one = |&index: &usize| {
                let one = &evidence[index];
                let [increase, decrease] = of(one);
                let sides = if is_two_sided { 2.0 } else { 1.0 };
                let p = match report.tables[one.at.0].better {
                    Some(better) if (better == Better::Lower) == is_worse => sides * increase,
                    Some(_) => sides * decrease,
                    // Nobody knows which direction is bad: both are one question.
                    None => 2.0 * increase.min(decrease),
                };
                p.min(1.0)
            };
            counted.iter().map(of_one).collect()
        };
        Self {
            smallest: each(|one| one.smallest),
            p: each(|one| one.p),
            exact: each(|one| one.exact),
        }
    }

    /// The p-values after correction; alone among the others of a run that nobody disturbed, if that is given.
    fn adjusted(&self, judging: &Judging, undisturbed: Option<&Undisturbed>) -> Vec<f64> {
        let adjusted: Vec<f64> = match (undisturbed, judging.adjust) {
            (Some(Undisturbed { worse, .. }), adjust) => {
                self.p.iter().map(|&p| alone(worse, p, adjust)).collect()
            }
            (None, Adjust::Holm) => tarone_holm(&self.p, &self.smallest, judging.alpha),
            (None, Adjust::Bh) => among(&self.counts(judging), &self.p, benjamini_hochberg),
            (None, Adjust::None) => self.p.clone(),
        };
        let with_exact = adjusted.iter().zip(&self.exact);
        with_exact
            .map(|(adjusted, exact)| adjusted.max(*exact))
            .collect()
    }

    /// Which of them could be significant at all.
    fn counts(&self, judging: &Judging) -> Vec<bool> {
        match judging.adjust {
            Adjust::None => vec![true; self.p.len()],
            Adjust::Holm | Adjust::Bh => countable(&self.smallest, judging.alpha),
        }
    }
}

/// Corrects all p-values, each direction for itself, and says what could have been shown.
pub(super) fn correct(
    report: &mut Report,
    judging: &Judging,
    collected: Collected,
    undisturbed: Option<&Undisturbed>,
) -> Corrected {
    let Collected {
        evidence,
        shifts,
        passes,
    } = collected;
    let alone: Vec<usize> = (0..evidence.len())
        .filter(|&index| evidence[index].twin.is_none())
        .collect();
    let families = [true, false]
        .map(|is_worse| Family::of(is_worse, report, judging.is_two_sided, &evidence, &alone));
    let adjusted = families
        .each_ref()
        .map(|family| family.adjusted(judging, undisturbed));
    let [family, _] = &families;
    let counts = family.counts(judging);
    let mut worse: Vec<f64> = family
        .p
        .iter()
        .zip(&counts)
        .filter_map(|(&p, &counts)| counts.then_some(p))
        .collect();
    worse.sort_unstable_by(f64::total_cmp);
    let counted = undisturbed.map_or(worse.len(), |undisturbed| undisturbed.worse.len());
    let mut places = vec![0; evidence.len()];
    for (place, &index) in alone.iter().enumerate() {
        places[index] = place;
    }
    for (index, one) in evidence.iter().enumerate() {
        let place = places[one.twin.unwrap_or(index)];
        one.write(
            report,
            judging,
            counted,
            adjusted.each_ref().map(|p| p[place]),
        );
    }
    Corrected {
        counted,
        undisturbed: Undisturbed {
            worse,
            passes,
            shifts,
        },
    }
}

impl Evidence {
    /// Writes what is known of a comparison after correction among `counted`: `adjusted` has p for worse, and for better.
    fn write(&self, report: &mut Report, judging: &Judging, counted: usize, adjusted: [f64; 2]) {
        let sides = if judging.is_two_sided { 2.0 } else { 1.0 };
        let share = match judging.adjust {
            Adjust::None => judging.alpha,
            Adjust::Holm | Adjust::Bh => judging.alpha / counted.max(1) as f64,
        };
        let (table, row, slot) = self.at;
        let Table {
            better,
            places,
            rows,
            ..
        } = &mut report.tables[table];
        let row = &mut rows[row];
        let values = row.sizes(row.judgements[slot].0, places);
        let judgement = &mut row.judgements[slot].1;
        let is_bad = judgement.badness(*better) >= 0.0;
        judgement.adjusted_p = Some(adjusted[usize::from(!is_bad)]);
        self.show_means(judgement, adjusted[usize::from(!is_bad)], judging.alpha);
        let smallest = values.map_or(1.0, |(old, new)| smallest_p(old, new) / 2.0);
        let needs = if self.error.is_some() {
            judging.alpha
        } else {
            share
        };
        let is_bounded = judgement.effect.as_ref().is_some_and(Effect::is_bounded);
        judgement.could_be_significant = is_bounded && sides * smallest <= needs * (1.0 + ROUNDING);
        judgement.set_power(self, share / sides, *better, values);
    }
}

impl Evidence {
    /// Shows the change of the means, where it is proven and ranks are surer than they have to be, and where its interval is
    /// beyond the margin while the other is not: of values with two modes the median of all ratios knows little.
    fn show_means(&self, judgement: &mut Judgement, p: f64, alpha: f64) {
        let (Some(means), Some(effect), Some(margin)) =
            (&self.means, &judgement.effect, &judgement.margin)
        else {
            return;
        };
        let limit = margin.limit;
        let is_beyond = |effect: &Effect| effect.low > limit || effect.high < -limit;
        let exact = self.exact[usize::from(means.estimate < 0.0)];
        if p <= alpha
            && exact <= alpha / SURER
            && effect.is_bounded()
            && is_beyond(means)
            && !is_beyond(effect)
        {
            judgement.effect = Some(*means);
        }
    }
}

/// How many times surer than α ranks have to be for the interval of the means to be shown.
const SURER: f64 = 20.0;

/// What rounding may make of a p-value that is just α.
const ROUNDING: f64 = 1e-12;

/// The corrected p of a row that alone is worse than it was, among the sorted ones of the others as they are.
fn alone(others: &[f64], p: f64, adjust: Adjust) -> f64 {
    let count = others.len().max(1);
    let before = others.partition_point(|&other| other < p);
    let adjusted = match adjust {
        Adjust::None => p,
        Adjust::Bh => p * count as f64 / (before + 1).min(count) as f64,
        Adjust::Holm => {
            let steps = others[..before].iter().enumerate();
            let earlier = steps
                .map(|(step, other)| (count - step) as f64 * other)
                .fold(0.0, f64::max);
            earlier.max((count - before).max(1) as f64 * p)
        }
    };
    adjusted.min(1.0)
}

impl Judgement {
    /// Sets what could have been shown, and how many values would show a change of twice the margin.
    fn set_power(
        &mut self,
        evidence: &Evidence,
        alpha: f64,
        better: Option<Better>,
        sizes: Option<(usize, usize)>,
    ) {
        let (Some(effect), Some(margin)) = (&self.effect, &self.margin) else {
            return;
        };
        if effect.scale != EffectScale::Ratio || !effect.is_bounded() || alpha <= 0.0 {
            return;
        }
        let half_width = (effect.high.ln_1p() - effect.low.ln_1p()) / 2.0;
        let (error, critical) = match evidence.error {
            Some(Spread { variance, degrees }) => (variance.sqrt(), t_critical(alpha, degrees)),
            // The interval's level is 95 % or thereabouts.
            None => (half_width / 1.96, crate::stats::critical_z(alpha)),
        };
        let is_higher = better == Some(Better::Higher);
        let log = |part: f64| {
            if is_higher {
                -(-part).ln_1p()
            } else {
                part.ln_1p()
            }
        };
        let limit = margin.limit;
        let hurdles = crate::stats::Hurdles {
            error,
            slow_share: evidence.slow[0],
            slow_reach: evidence.slow[1],
            half_width,
            critical,
            margin: log(limit),
        };
        let detectable = hurdles.detectable();
        self.detectable = Some(if is_higher {
            -(-detectable).exp_m1()
        } else {
            detectable.exp_m1()
        });
        let runs = sizes.map_or(0, |(old, new)| old.min(new));
        self.detecting_count = (limit > 0.0)
            .then(|| hurdles.runs_to_detect(log(2.0 * limit), runs))
            .flatten();
    }
}

/// Rows of a unit need to be as many for a shift of all of them to mean something.
pub(super) const SHIFT_ROWS: usize = FEWEST_ROWS;
