//! Numbers in, verdicts out.
//!
//! Nothing here changes what the drop-in formats show, and none of it runs unless something asks for verdicts.

use bstr::{BString, ByteSlice};
use indexmap::IndexMap;

use super::evidence::{self, Undisturbed};
use super::judgement::{
    Adjust, Counts, Effect, EffectScale, Environment, EnvironmentDifference, EnvironmentKey,
    Judgement, Margin, Noise, Shift, Summary, Tolerance, Unbounded, Verdict,
};
use super::margin::{Amount, Margins, RowName};
use super::model::{Cell, GeomeanChange, NoGeomeanEffect, Report, Row, Table, cell_at};
use super::waivers::Waivers;
use crate::sample::{ENVIRONMENT_KEYS, Environments};
use crate::stats::{
    HodgesLehmann, Interval, Outliers, TrendTest, UDistributions, geomean_interval, holm,
    runs_that_tolerate, smallest_p, tolerated_slow_runs,
};
use crate::unit::Better;

/// What verdicts depend on besides the numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Judging {
    /// The level up to which a p-value is significant, 0 to 1; intervals of change have the level 1 − α.
    pub alpha: f64,
    /// How p-values are corrected.
    pub adjust: Adjust,
    /// Up to where changes do not matter.
    pub margins: Margins,
    /// Which regressions are tolerated.
    pub waivers: Waivers,
    /// Whether changes in both directions are asked for at once; else each direction has its own correction.
    pub is_two_sided: bool,
}

/// The largest number of values a side that is named as the one needed.
const SEARCH_LIMIT: usize = 100;

/// Judges all rows of `report`, and sums up; returns what [`judge_one_at_a_time`] needs.
pub fn judge(report: &mut Report, judging: &Judging, environments: Environments) -> Undisturbed {
    judge_given(report, judging, environments, None)
}

/// Judges each row of `report` as if it alone differed from the run that `undisturbed` is of: a change of all rows at once would
/// be none that a gate has to find.
pub fn judge_one_at_a_time(
    report: &mut Report,
    judging: &Judging,
    environments: Environments,
    undisturbed: &Undisturbed,
) {
    judge_given(report, judging, environments, Some(undisturbed));
}

fn judge_given(
    report: &mut Report,
    judging: &Judging,
    environments: Environments,
    undisturbed: Option<&Undisturbed>,
) -> Undisturbed {
    let mut judge = Judge {
        judging,
        estimator: HodgesLehmann::new(),
        distributions: UDistributions::new(),
        trends: TrendTest::new(),
        trend_p: Vec::new(),
        sorted: [Vec::new(), Vec::new()],
    };
    let columns: Vec<usize> = (0..report.columns.len()).collect();
    for table in &mut report.tables {
        judge.table(table, &columns);
    }
    keep_trends(report, &judge.trend_p);
    let collected = evidence::collect(report, judging, undisturbed);
    let of_rounds = collected.shifts.clone();
    let corrected = evidence::correct(report, judging, collected, undisturbed);
    let comparisons = corrected.counted;
    let too_few_runs = too_few_runs(report);
    // With enough runs those that have too few would count too.
    let needed = runs_needed(judging, comparisons + too_few_runs);
    advise_at_least(report, needed.unwrap_or_default());
    let mut counts = Counts::default();
    for table in &mut report.tables {
        for row in &mut table.rows {
            let name = row_name(&row.label(), &table.key, &row.key, &table.unit);
            let base = cell_at(&row.cells, 0);
            let centre = base.map_or(0.0, |base| base.centre);
            for (column, judgement) in &mut row.judgements {
                if judgement.effect.is_some() {
                    judgement.verdict = verdict(judgement, table.better, judging.alpha);
                    let at = table.places.binary_search(column).ok();
                    let cell = at.and_then(|at| cell_at(&row.cells, at));
                    if judgement.verdict == Verdict::Unclear
                        && cell
                            .is_some_and(|cell| ends_in_nothing(centre, cell.centre, table.better))
                    {
                        judgement.verdict = Verdict::Regression;
                    }
                    judgement.waiver = judging.waivers.state(&name, judgement, centre);
                }
                counts.add(judgement.verdict);
                counts.waived += usize::from(judgement.is_waived());
            }
        }
        add_geomean_effects(table, judging.alpha);
    }
    let cells = report.tables.iter().flat_map(|table| &table.rows);
    let cells = cells.flat_map(Row::filled);
    let trends = cells
        .flat_map(|cell| &cell.noise)
        .filter(|noise| matches!(noise, Noise::Trend { .. }))
        .count();
    let shifts = match undisturbed {
        Some(undisturbed) => undisturbed.shifts.clone(),
        None => shifts(report, of_rounds),
    };
    let mut undisturbed = corrected.undisturbed;
    undisturbed.shifts.clone_from(&shifts);
    report.summary = Some(Summary {
        counts,
        alpha: judging.alpha,
        adjust: judging.adjust,
        comparisons,
        too_few_runs,
        runs_needed: needed,
        tolerance: tolerance(report, judging, comparisons, &mut UDistributions::new()),
        worst: worst(report),
        shifts,
        environments: environments.columns.into_iter().map(describe).collect(),
        environment_differences: environments
            .differences
            .into_iter()
            .map(|difference| EnvironmentDifference {
                column: difference.column,
                key: difference.key.into(),
                baseline: difference.baseline,
                values: difference.values,
            })
            .collect(),
        trends,
    });
    undisturbed
}

/// How many comparisons have too few values for any verdict.
fn too_few_runs(report: &Report) -> usize {
    let rows = report.tables.iter().flat_map(|table| &table.rows);
    let judgements = rows.flat_map(|row| &row.judgements);
    judgements
        .filter(|(_, judgement)| !judgement.could_be_significant)
        .count()
}

/// Raises the advised numbers of values to `least`.
fn advise_at_least(report: &mut Report, least: usize) {
    let tables = report.tables.iter_mut();
    let rows = tables.flat_map(|table| &mut table.rows);
    for (_, judgement) in rows.flat_map(|row| &mut row.judgements) {
        judgement.detecting_count = judgement.detecting_count.map(|count| count.max(least));
    }
}

/// Keeps of the trends those that are significant among all samples that were tested, by Holm's procedure; `p` has one of each
/// sample that was.
fn keep_trends(report: &mut Report, p: &[f64]) {
    let adjusted = holm(p);
    let mut adjusted = adjusted.into_iter();
    for table in &mut report.tables {
        for cell in table
            .rows
            .iter_mut()
            .flat_map(|row| row.cells.iter_mut().map(|(_, cell)| cell))
        {
            cell.noise.retain_mut(|noise| match noise {
                Noise::Trend { p, .. } => {
                    *p = adjusted.next().unwrap_or(1.0);
                    *p <= TREND_ALPHA
                }
                Noise::Outliers { .. } => true,
            });
        }
    }
}

/// A trend that is as unlikely by chance among all samples tested is worth a word.
const TREND_ALPHA: f64 = 0.01;

/// How many slow runs the smallest sample tolerates, so that the ranks alone still prove a change; none without comparisons.
fn tolerance(
    report: &Report,
    judging: &Judging,
    comparisons: usize,
    distributions: &mut UDistributions,
) -> Option<Tolerance> {
    let sizes = report.tables.iter().flat_map(|table| {
        let rows = table.rows.iter();
        rows.flat_map(|row| {
            row.judgements
                .iter()
                .filter_map(|(column, _)| row.sizes(*column, &table.places))
        })
    });
    let runs = sizes.map(|(old, new)| old.min(new)).min()?;
    let alpha = judging.alpha / factor(judging, comparisons);
    if runs > SEARCH_LIMIT {
        return None;
    }
    Some(Tolerance {
        runs,
        slow: tolerated_slow_runs(distributions, runs, alpha),
        runs_for_one: runs_that_tolerate(distributions, 1, alpha, SEARCH_LIMIT),
    })
}

/// The name by which margins and waivers call a row.
#[must_use]
pub fn row_name(
    label: &BString,
    table_key: &[super::model::Field],
    row_key: &[super::model::Field],
    unit: &BString,
) -> RowName {
    let mut fields = table_key.iter().chain(row_key);
    let package = fields.find(|field| *field.key == "pkg");
    RowName::new(
        &label.to_str_lossy(),
        &package.map_or_else(String::new, |field| field.value.to_str_lossy().into_owned()),
        &unit.to_str_lossy(),
    )
}

fn describe(values: [Vec<BString>; ENVIRONMENT_KEYS.len()]) -> Environment {
    Environment {
        keys: ENVIRONMENT_KEYS
            .into_iter()
            .zip(values)
            .map(|(key, values)| EnvironmentKey {
                key: key.into(),
                values,
            })
            .collect(),
    }
}

fn worst(report: &Report) -> Option<super::judgement::Place> {
    let judged = report.worst_first();
    let worst = judged.iter().find(|judged| {
        judged.judgement.verdict == Verdict::Regression && !judged.judgement.is_waived()
    });
    worst.map(|judged| judged.place)
}

/// What a unit measures, as far as verdicts depend on it.
#[derive(Clone, Copy)]
struct UnitNature {
    /// Whether its values are said to be exact.
    is_exact: bool,
    /// Whether it may count something, so that values that never vary are exact.
    may_be_counts: bool,
    /// Which direction is better.
    better: Option<Better>,
}

/// Looks at rows one after the other, and keeps between them what they share.
struct Judge<'a> {
    judging: &'a Judging,
    estimator: HodgesLehmann,
    distributions: UDistributions,
    trends: TrendTest,
    /// The p-value of each trend that was tested for, in the order of tables, rows and columns.
    trend_p: Vec<f64>,
    /// The sorted values of the baseline and of the cell compared with it.
    sorted: [Vec<f64>; 2],
}

impl Judge<'_> {
    /// Judges the rows of a table of a run with these `columns`.
    fn table(&mut self, table: &mut Table, columns: &[usize]) {
        // Only a table with the run's baseline can lack what was there.
        let judged = match table.places.first() {
            Some(0) => columns,
            _ => &table.places,
        };
        for row in &mut table.rows {
            let in_rounds = row.is_in_rounds();
            for (_, cell) in &mut row.cells {
                cell.noise = self.noise(cell, table.is_exact, in_rounds);
            }
            let name = row_name(&row.label(), &table.key, &row.key, &table.unit);
            let amounts = [false, true].map(|is_exact| self.judging.margins.of(&name, is_exact));
            let nature = UnitNature {
                is_exact: table.is_exact,
                may_be_counts: !table.unit.starts_with(b"sec") && !table.unit.ends_with(b"/s"),
                better: table.better,
            };
            self.row(row, &table.places, judged, nature, amounts);
        }
    }

    /// Judges a row but for what its p-values decide.
    fn row(
        &mut self,
        row: &mut Row,
        places: &[usize],
        judged: &[usize],
        nature: UnitNature,
        amounts: [Amount; 2],
    ) {
        let Some((&baseline, _)) = places.split_first() else {
            return;
        };
        let base = cell_at(&row.cells, 0);
        // A table without the run's baseline compares with the first column that it has, which is added itself.
        let has_baseline = baseline == 0;
        if !has_baseline && base.is_some() {
            let added = one_sided(Verdict::Added, 0);
            row.judgements.push((baseline, added));
        }
        // Only where there was something at first can anything be missing.
        let present: Vec<usize>;
        let judged = if has_baseline && base.is_some() {
            judged
        } else {
            present = row.cells.iter().map(|(at, _)| places[*at]).collect();
            &present
        };
        for &column in judged.iter().filter(|&&column| column != baseline) {
            let at = places.binary_search(&column).ok();
            let cell = at.and_then(|at| cell_at(&row.cells, at));
            let judgement = match (base, cell) {
                (Some(base), Some(cell)) => {
                    let is_exact =
                        nature.is_exact || nature.may_be_counts && self.are_counts(base, cell);
                    let effect = if is_exact {
                        let worst = |cell| worst_value(cell, base.centre, nature.better);
                        exact_effect(worst(base), worst(cell))
                    } else {
                        self.effect(base, cell)
                    };
                    let amount = amounts[usize::from(is_exact)];
                    Some(compared(baseline, base, effect, amount))
                }
                (Some(_), None) if has_baseline => Some(one_sided(Verdict::Removed, baseline)),
                (None, Some(_)) => Some(one_sided(Verdict::Added, baseline)),
                (Some(_) | None, None) => None,
            };
            row.judgements
                .extend(judgement.map(|judgement| (column, judgement)));
        }
    }

    /// Whether the values count something that is the same on every run of a side, such as allocations: whole numbers that
    /// never vary on either side, of as many runs as an interval takes.
    fn are_counts(&self, base: &Cell, cell: &Cell) -> bool {
        let sizes = [base, cell].map(|cell| cell.values.len());
        let is_count = |cell: &Cell| cell.values.are_same() && cell.centre == cell.centre.trunc();
        is_count(base) && is_count(cell) && smallest_p(sizes[0], sizes[1]) <= self.judging.alpha
    }

    fn effect(&mut self, base: &Cell, cell: &Cell) -> Effect {
        for (sorted, cell) in self.sorted.iter_mut().zip([base, cell]) {
            cell.values.copy_to(sorted);
            sorted.sort_unstable_by(f64::total_cmp);
        }
        let [old, new] = &self.sorted;
        let level = 1.0 - self.judging.alpha;
        let distributions = &mut self.distributions;
        let ratio = self.estimator.ratio(distributions, old, new, level);
        let (scale, unit, estimate) = if ratio.is_some() {
            (EffectScale::Ratio, 1.0, ratio)
        } else {
            let difference = self.estimator.difference(distributions, old, new, level);
            match base.centre {
                0.0 => (EffectScale::Difference, 1.0, difference),
                centre => (EffectScale::RelativeDifference, centre.abs(), difference),
            }
        };
        let Some(estimate) = estimate else {
            // Not reached: cells have values.
            return exact_effect(base.centre, cell.centre);
        };
        let (value, low, high) = (estimate.value, estimate.interval.lo, estimate.interval.hi);
        let is_bounded = match scale {
            EffectScale::Ratio => low > 0.0 && high.is_finite(),
            _ => low.is_finite() && high.is_finite(),
        };
        let no_change = if scale == EffectScale::Ratio {
            1.0
        } else {
            0.0
        };
        let scaled = |value: f64| (value - no_change) / unit;
        Effect {
            scale,
            estimate: scaled(value),
            low: if is_bounded {
                scaled(low)
            } else {
                f64::NEG_INFINITY
            },
            high: if is_bounded {
                scaled(high)
            } else {
                f64::INFINITY
            },
            coverage: estimate.coverage,
            unbounded: (!is_bounded).then(|| Unbounded::TooFewRuns {
                needed: smallest_size(self.judging.alpha),
            }),
        }
    }

    fn noise(&mut self, cell: &Cell, is_exact: bool, in_rounds: bool) -> Vec<Noise> {
        let mut noise = Vec::new();
        if is_exact {
            return noise;
        }
        let sorted = &mut self.sorted[0];
        cell.values.copy_to(sorted);
        // What drifts on both sides alike is taken out of the rounds.
        if !in_rounds && let Some(trend) = self.trends.test(sorted) {
            self.trend_p.push(trend.p);
            noise.push(Noise::Trend {
                rises: trend.s > 0,
                p: trend.p,
            });
        }
        sorted.sort_unstable_by(f64::total_cmp);
        let Outliers { low, high } = Outliers::of(sorted);
        if low + high > 0 {
            noise.push(Noise::Outliers { low, high });
        }
        noise
    }
}

fn compared(baseline: usize, base: &Cell, effect: Effect, amount: Amount) -> Judgement {
    let could_be_significant = effect.is_bounded();
    let limit = amount.limit(effect.scale, base.centre);
    Judgement {
        verdict: Verdict::Inconclusive,
        baseline,
        effect: Some(effect),
        adjusted_p: None,
        margin: Some(Margin {
            relative: amount.relative,
            absolute: amount.absolute,
            limit,
        }),
        could_be_significant,
        detectable: None,
        detecting_count: None,
        is_gated: false,
        waiver: None,
    }
}

fn one_sided(verdict: Verdict, baseline: usize) -> Judgement {
    Judgement {
        verdict,
        baseline,
        effect: None,
        adjusted_p: None,
        margin: None,
        could_be_significant: true,
        detectable: None,
        detecting_count: None,
        is_gated: false,
        waiver: None,
    }
}

/// The value of a cell said to be exact that decides: the worst one, if they vary all the same.
fn worst_value(cell: &Cell, centre: f64, better: Option<Better>) -> f64 {
    let badness = |value: f64| match better {
        Some(Better::Lower) => value,
        Some(Better::Higher) => -value,
        None => (value - centre).abs(),
    };
    let worst = cell
        .values
        .iter()
        .max_by(|left, right| badness(*left).total_cmp(&badness(*right)));
    worst.unwrap_or(cell.centre)
}

/// The effect where the values themselves are compared: known to the last digit.
fn exact_effect(old: f64, new: f64) -> Effect {
    let (scale, estimate) = match old {
        0.0 => (EffectScale::Difference, new),
        old if old > 0.0 && new > 0.0 => (EffectScale::Ratio, new / old - 1.0),
        old => (EffectScale::RelativeDifference, (new - old) / old.abs()),
    };
    Effect {
        scale,
        estimate,
        low: estimate,
        high: estimate,
        coverage: 1.0,
        unbounded: None,
    }
}

/// The bounds of a ratio; none where the effect is no ratio or unbounded.
fn ratio_interval(effect: &Effect) -> Option<Interval> {
    (effect.scale == EffectScale::Ratio && effect.is_bounded()).then_some(Interval {
        lo: 1.0 + effect.low,
        hi: 1.0 + effect.high,
    })
}

/// What the p-value of a change is multiplied by if nothing else changed: the first step of Holm, the last of Benjamini and
/// Hochberg.
fn factor(judging: &Judging, comparisons: usize) -> f64 {
    match judging.adjust {
        Adjust::Holm | Adjust::Bh => comparisons.max(1) as f64,
        Adjust::None => 1.0,
    }
}

/// The smallest number of values a side with which a lone change among `comparisons` could be significant.
fn runs_needed(judging: &Judging, comparisons: usize) -> Option<usize> {
    let sides = if judging.is_two_sided { 1.0 } else { 2.0 };
    let by_ranks = smallest_size(sides * judging.alpha / factor(judging, comparisons))?;
    Some(by_ranks.max(smallest_size(judging.alpha)?))
}

/// The smallest equal size at which some two-sided p-value is at most `alpha`.
fn smallest_size(alpha: f64) -> Option<usize> {
    (1..=SEARCH_LIMIT).find(|&size| smallest_p(size, size) <= alpha * (1.0 + 1e-12))
}

/// Whether most values of a rate fell to 0, or most values of a cost rose from it.
///
/// Values that tie at 0 leave the interval of the change a bound there, however clear the change is. Where it is
/// significant, this is larger than any margin.
fn ends_in_nothing(old: f64, new: f64, better: Option<Better>) -> bool {
    match better {
        Some(Better::Higher) => old > 0.0 && new == 0.0,
        Some(Better::Lower) => old == 0.0 && new > 0.0,
        None => false,
    }
}

/// The verdict that the interval, the margin and the corrected p-value give.
fn verdict(judgement: &Judgement, better: Option<Better>, alpha: f64) -> Verdict {
    let (Some(effect), Some(margin)) = (&judgement.effect, &judgement.margin) else {
        return judgement.verdict;
    };
    let limit = margin.limit;
    if effect.low >= -limit && effect.high <= limit {
        return Verdict::Unchanged;
    }
    // Exact values have no p, and need none.
    let p = judgement.adjusted_p.unwrap_or_default();
    if !effect.is_bounded() {
        return Verdict::Inconclusive;
    }
    let is_above = effect.low > limit;
    let is_below = effect.high < -limit;
    if p > alpha {
        // Among many rows some interval is beyond the margin by chance alone: then its p says nothing either.
        let looks_changed = (is_above || is_below) && p <= evidence::SUSPICIOUS * alpha;
        return match (looks_changed, is_above, better) {
            (false, ..) => Verdict::Inconclusive,
            (true, true, Some(Better::Higher)) | (true, false, Some(Better::Lower)) => {
                Verdict::Promising
            }
            (true, ..) => Verdict::Suspect,
        };
    }
    match (is_above, is_below, better) {
        (false, false, _) => Verdict::Unclear,
        (_, _, None) => Verdict::Changed,
        (true, _, Some(Better::Lower)) | (_, true, Some(Better::Higher)) => Verdict::Regression,
        (_, _, Some(_)) => Verdict::Improvement,
    }
}

/// Gives the geomean of each column its interval, from those of the rows.
fn add_geomean_effects(table: &mut Table, alpha: f64) {
    for (at, &column) in table.places.iter().enumerate().skip(1) {
        let judgements = table.rows.iter().filter_map(|row| row.judgement(column));
        let intervals: Result<Vec<Interval>, NoGeomeanEffect> = judgements
            .filter_map(|judgement| judgement.effect)
            .map(|effect| {
                if !effect.is_bounded() {
                    Err(NoGeomeanEffect::TooFewRuns)
                } else if effect.scale == EffectScale::Difference
                    && (effect.low, effect.high) == (0.0, 0.0)
                {
                    // Nothing that stays nothing counts as a ratio of 1.
                    Ok(Interval { lo: 1.0, hi: 1.0 })
                } else {
                    ratio_interval(&effect).ok_or(NoGeomeanEffect::NotPositive)
                }
            })
            .collect();
        let geomean = &mut table.geomeans[at];
        let outcome = match (geomean.change, intervals) {
            (Some(GeomeanChange::By(change)), Ok(intervals)) => {
                geomean_interval(1.0 + change, &intervals)
                    .map(|interval| (change, interval))
                    .ok_or(NoGeomeanEffect::Undefined)
            }
            (Some(GeomeanChange::By(_)), Err(reason)) => Err(reason),
            (_, _) => Err(NoGeomeanEffect::Undefined),
        };
        geomean.no_effect = outcome.as_ref().err().copied();
        geomean.effect = outcome.ok().map(|(change, interval)| Effect {
            scale: EffectScale::Ratio,
            estimate: change,
            low: interval.lo - 1.0,
            high: interval.hi - 1.0,
            coverage: 1.0 - alpha,
            unbounded: None,
        });
    }
}

/// The part of rows that must move the same way.
pub(super) const SHIFT_SHARE: f64 = 0.9;
/// The part of rows whose interval must hold the common change.
const SHIFT_AGREEMENT: f64 = 0.8;

/// Units of which nearly all rows moved the same way by about the same.
///
/// A change to the code rarely moves everything alike; another clock rate, a neighbour or a colder machine do. Reported if of at
/// least 8 rows with noise at least 90 % moved the same way, the mean change is at least 0.5 % and clear of its 95 %
/// interval, and it lies within the intervals of at least 80 % of the rows.
///
/// Where rows were compared by rounds that is settled already: `of_rounds` has what moved.
fn shifts(report: &Report, of_rounds: Vec<Shift>) -> Vec<Shift> {
    let mut groups: IndexMap<(usize, BString), Vec<Interval>> = IndexMap::new();
    let mut estimates: IndexMap<(usize, BString), Vec<f64>> = IndexMap::new();
    for judged in report
        .all_judged()
        .filter(|judged| !judged.row.is_in_rounds())
    {
        let Some(effect) = &judged.judgement.effect else {
            continue;
        };
        let Some(interval) = ratio_interval(effect).filter(|interval| interval.lo < interval.hi)
        else {
            continue;
        };
        let group = (judged.place.column, judged.table.unit.clone());
        groups.entry(group.clone()).or_default().push(interval);
        estimates
            .entry(group)
            .or_default()
            .push(effect.estimate.ln_1p());
    }
    let groups = groups.into_iter().zip(estimates.into_values());
    let without_rounds = groups.filter_map(|(((column, unit), intervals), logs)| {
        let rows = logs.len();
        if rows < evidence::SHIFT_ROWS {
            return None;
        }
        let count = rows as f64;
        let mean = logs.iter().sum::<f64>() / count;
        let squares: f64 = logs.iter().map(|log| (log - mean).powi(2)).sum();
        let reach = 1.96 * (squares / (count - 1.0) / count).sqrt();
        let moved = logs.iter().filter(|log| **log * mean > 0.0).count();
        let ratio = mean.exp();
        let agree = intervals
            .iter()
            .filter(|interval| interval.lo <= ratio && ratio <= interval.hi)
            .count();
        let is_shift = moved as f64 >= SHIFT_SHARE * count
            && agree as f64 >= SHIFT_AGREEMENT * count
            && mean.abs() > reach
            && mean.abs() >= evidence::SHIFT_SIZE;
        is_shift.then(|| Shift {
            column,
            unit,
            moved,
            rows,
            mean: mean.exp_m1(),
            reach: ratio * reach.exp_m1(),
        })
    });
    of_rounds.into_iter().chain(without_rounds).collect()
}

#[cfg(test)]
mod tests {
    use super::super::build::{Settings, build};
    use super::super::gate::{Evidence, GateSettings, ask};
    use super::super::judgement::{Judged, Outcome, Place};
    use super::*;
    use crate::query::{Filter, Layout, Projection};
    use crate::record::{Reader, Record};
    use crate::sample::Builder;
    use crate::unit::Metadata;
    use proptest::prelude::*;

    /// Judges two samples of a unit, in a run of their own.
    fn judged_report(unit: &str, old: &[f64], new: &[f64], judging: &Judging) -> Report {
        let filter = Filter::parse("*").unwrap();
        let parse = |text: &str| Projection::parse(text).unwrap();
        let layout = Layout::new(
            parse(".config"),
            parse(".fullname"),
            parse(".file"),
            &parse(""),
        );
        let mut builder = Builder::new(&filter, &layout);
        for (label, values) in [("old", old), ("new", new)] {
            let line = |value: &f64| format!("BenchmarkX 1 {value} {unit}\n");
            let text: String = values.iter().map(line).collect();
            let mut side = Builder::new(&filter, &layout);
            let mut reader = Reader::new(text.as_bytes(), label);
            while let Some((_, record)) = reader.next_record().unwrap() {
                let Record::Result(record) = record else {
                    panic!("{record:?}")
                };
                side.add(&record, &mut |_, _| {});
            }
            builder.merge(side);
        }
        let environments = Environments::of(&builder, &layout);
        let settings = Settings {
            alpha: judging.alpha,
            ..Settings::default()
        };
        let mut report = build(builder.finish(), &Metadata::default(), settings);
        judge(&mut report, judging, environments);
        report
    }

    const PLACE: Place = Place {
        table: 0,
        row: 0,
        column: 1,
    };

    fn judging(margins: &str) -> Judging {
        let unread = |_: &str| Err(std::io::ErrorKind::NotFound.into());
        Judging {
            alpha: 0.05,
            margins: Margins::parse(margins, &unread).unwrap(),
            ..Judging::default()
        }
    }

    fn judgement(unit: &str, old: &[f64], new: &[f64], margins: &str) -> Judgement {
        let report = judged_report(unit, old, new, &judging(margins));
        report.judged(PLACE).unwrap().judgement.clone()
    }

    fn around(centre: f64) -> Vec<f64> {
        (-5..5)
            .map(|step| centre * (1.0 + f64::from(step) * 0.001))
            .collect()
    }

    #[test]
    fn the_interval_against_the_margin_decides() {
        for (unit, old, new, margins, verdict) in [
            ("sec/op", 100.0, 110.0, "2%", Verdict::Regression),
            ("sec/op", 100.0, 90.0, "2%", Verdict::Improvement),
            ("B/s", 100.0, 90.0, "2%", Verdict::Regression),
            ("B/s", 100.0, 110.0, "2%", Verdict::Improvement),
            ("widgets", 100.0, 110.0, "2%", Verdict::Changed),
            ("sec/op", 100.0, 101.0, "2%", Verdict::Unchanged),
            ("sec/op", 100.0, 100.0, "2%", Verdict::Unchanged),
            ("sec/op", 100.0, 102.0, "2%", Verdict::Unclear),
            ("sec/op", 100.0, 100.1, "0", Verdict::Inconclusive),
            ("sec/op", 100.0, 110.0, "sec/op=2%+20s", Verdict::Unchanged),
            ("sec/op", 100.0, 110.0, "sec/op=2%+5s", Verdict::Regression),
        ] {
            let judgement = judgement(unit, &around(old), &around(new), margins);
            assert_eq!(
                judgement.verdict, verdict,
                "{unit} {old} {new} {margins}: {judgement:?}"
            );
        }
    }

    #[test]
    fn values_that_are_not_positive_have_a_difference() {
        let judgement = judgement("sec/op", &[0.0; 6], &[5.0; 6], "2%");
        assert_eq!(judgement.verdict, Verdict::Regression);
        let effect = judgement.effect.unwrap();
        assert_eq!(
            (effect.scale, effect.low, effect.high),
            (EffectScale::Difference, 5.0, 5.0)
        );
        assert_eq!(judgement.badness(Some(Better::Lower)), f64::INFINITY);

        let judgement = self::judgement("B/op", &[0.0, 2.0, 2.0, 2.0, 2.0, 2.0], &[3.0; 6], "2%");
        let effect = judgement.effect.unwrap();
        assert_eq!(
            (effect.scale, effect.estimate),
            (EffectScale::RelativeDifference, 0.5)
        );
    }

    #[test]
    fn nothing_that_stays_nothing_is_unchanged() {
        assert_eq!(
            judgement("B/op", &[0.0; 6], &[0.0; 6], "0").verdict,
            Verdict::Unchanged
        );
    }

    #[test]
    fn too_few_values_have_no_bounds_and_say_how_many_it_takes() {
        let judgement = judgement("sec/op", &[1.0, 2.0, 3.0], &[11.0, 12.0, 13.0], "2%");
        assert_eq!(judgement.verdict, Verdict::Inconclusive);
        assert!(!judgement.could_be_significant);
        let effect = judgement.effect.unwrap();
        assert_eq!(
            (effect.low, effect.high),
            (f64::NEG_INFINITY, f64::INFINITY)
        );
        assert_eq!(
            effect.unbounded,
            Some(Unbounded::TooFewRuns { needed: Some(4) })
        );
    }

    #[test]
    fn a_lone_change_passes_holm_among_as_many_as_the_reference_says() {
        let judging = judging("2%");
        for (size, most) in [(5, 12), (6, 46), (8, 643), (10, 9237)] {
            assert_eq!(runs_needed(&judging, most), Some(size));
            assert!(runs_needed(&judging, most + 1) > Some(size));
        }
    }

    #[test]
    fn the_geomean_of_one_row_has_the_interval_of_that_row() {
        let report = judged_report("sec/op", &around(1.0), &around(2.0), &judging("2%"));
        let row = report.judged(PLACE).unwrap().judgement.effect.unwrap();
        let geomean = &report.tables[0].geomeans[1];
        let effect = geomean.effect.unwrap();
        let ratio = |low: f64, high: f64| (1.0 + high) / (1.0 + low);
        assert!((ratio(effect.low, effect.high) / ratio(row.low, row.high) - 1.0).abs() < 1e-12);
        assert!(effect.low < 1.0 && 1.0 < effect.high);
        assert_eq!(geomean.no_effect, None);

        let few = judged_report("sec/op", &[1.0], &[2.0], &judging("2%"));
        let geomean = &few.tables[0].geomeans[1];
        assert_eq!(
            (geomean.effect, geomean.no_effect),
            (None, Some(NoGeomeanEffect::TooFewRuns))
        );
        let none = judged_report("B/op", &[0.0, 0.0, 0.0, 1.0], &[2.0; 4], &judging("2%"));
        assert_eq!(none.tables[0].geomeans[1].effect, None);
    }

    #[test]
    fn cells_say_what_is_odd_about_their_values() {
        let rising: Vec<f64> = (1..=9).map(f64::from).collect();
        let mut outlier = around(1.0);
        outlier[3] = 9.0;
        let report = judged_report("sec/op", &rising, &outlier, &judging("2%"));
        let cells = &report.tables[0].rows[0].cells;
        let noise = |column: usize| cells[column].1.noise.clone();
        assert!(matches!(noise(0)[..], [Noise::Trend { rises: true, .. }]));
        assert_eq!(noise(1).last(), Some(&Noise::Outliers { low: 0, high: 1 }));
        assert_eq!(
            report.summary.unwrap().trends,
            1 + usize::from(noise(1).len() > 1)
        );
    }

    #[test]
    fn verdicts_can_be_walked_worst_first() {
        let report = judged_report("sec/op", &around(1.0), &around(2.0), &judging("2%"));
        let worst: Vec<Judged<'_>> = report.worst_first();
        assert_eq!(worst.len(), 1);
        let summary = report.summary.as_ref().unwrap();
        assert_eq!((summary.worst, summary.counts.regression), (Some(PLACE), 1));
        assert_eq!(summary.counts.to_string(), "1 regression");
    }

    proptest! {
        /// Without ties; p as the tables have it, interval as the verdict has it.
        #[test]
        fn the_interval_excludes_no_change_exactly_when_p_is_below_alpha(
            old in prop::collection::hash_set(1_u32..40_000, 2..14),
            new in prop::collection::hash_set(1_u32..60_000, 2..14),
            alpha in prop::sample::select(vec![0.01, 0.05, 0.1]),
        ) {
            prop_assume!(old.is_disjoint(&new));
            let values = |set: &std::collections::HashSet<u32>| -> Vec<f64> {
                set.iter().map(|&value| f64::from(value)).collect()
            };
            let judging = Judging { alpha, ..Judging::default() };
            let report = judged_report("widgets", &values(&old), &values(&new), &judging);
            let judged = report.judged(PLACE).unwrap();
            let p = judged.cell.unwrap().comparison.as_ref().unwrap().p.unwrap();
            let effect = judged.judgement.effect.unwrap();
            // The bounds are ratios of two values, so one of exactly 1 would be a tie.
            let excludes = effect.low > 0.0 || effect.high < 0.0;
            prop_assume!((p - alpha).abs() > 1e-12);
            prop_assert_eq!(excludes, p < alpha, "p {} {:?}", p, effect);
        }

        #[test]
        fn a_gate_that_fails_and_one_that_passes_agree_with_the_counts(
            old in prop::collection::vec(1_u32..100, 4..12),
            new in prop::collection::vec(1_u32..200, 4..12),
        ) {
            let values = |values: &[u32]| -> Vec<f64> { values.iter().map(|&value| f64::from(value)).collect() };
            let judging = judging("2%");
            let mut report = judged_report("sec/op", &values(&old), &values(&new), &judging);
            ask(&mut report, &GateSettings::default(), Evidence::default(), &judging.waivers).unwrap();
            let gate = report.gate.unwrap();
            let expected = if gate.counts.regression > 0 {
                Outcome::Failed
            } else if gate.counts.suspect > 0 {
                Outcome::CouldNotJudge
            } else {
                Outcome::Passed
            };
            prop_assert_eq!(gate.outcome, expected);
        }
    }
}
