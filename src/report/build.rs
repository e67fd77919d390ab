//! Samples in, report out: what the numbers say.

use std::mem;
use std::sync::Arc;

use super::model::{
    Cell, Change, Column, Comparison, Field, Geomean, GeomeanChange, Report, Row, Table,
};
use super::warning::{DIFFERENCE_SEARCH_LIMIT, Warning};
use crate::common::parallel;
use crate::sample::{Sample, SampleTable, Samples, Values};
use crate::stats::{
    ExactSummary, GeoMean, Interval, Method, Ranks, UTest, interval_ranks, median,
    samples_for_interval, samples_for_significance,
};
use crate::unit::{Class, Metadata};

/// What the statistics are judged by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// The level up to which a p-value is significant, 0 to 1.
    pub alpha: f64,
    /// The confidence level of intervals, 0 to 1.
    pub confidence: f64,
    /// Whether the report keeps the values in ascending order beside the order read, which verdicts go by: without them it takes
    /// half the memory, and whoever wants them sorts again.
    pub keeps_sorted: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            alpha: 0.05,
            confidence: 0.95,
            keeps_sorted: false,
        }
    }
}

/// Summarizes and compares `samples`.
#[must_use]
pub fn build(samples: Samples, metadata: &Metadata, settings: Settings) -> Report {
    /// Below this many rows a thread would cost more than it saves.
    const ROWS_WORTH_A_THREAD: usize = 64;
    let thresholds = Thresholds {
        settings,
        for_interval: samples_for_interval(settings.confidence),
        for_difference: samples_for_significance(settings.alpha),
    };
    let mut tables = samples.tables;
    let count: usize = tables.iter().map(|table| table.rows.len()).sum();
    let shares = tables
        .iter_mut()
        .flat_map(|table| shares_of(table, metadata));
    let mut rows = parallel::map(
        shares.collect(),
        parallel::threads_for(count, ROWS_WORTH_A_THREAD),
        || Analyst::new(thresholds),
        |analyst, share| analyst.rows(share),
    )
    .into_iter()
    .flatten();
    let tables = tables.into_iter();
    Report {
        tables: tables
            .map(|table| build_table(table, metadata, &mut rows))
            .collect(),
        columns: columns(samples.columns),
        confidence: settings.confidence,
    }
}

/// The settings and the sample sizes that follow from them.
#[derive(Clone, Copy)]
struct Thresholds {
    settings: Settings,
    for_interval: Option<usize>,
    for_difference: Option<usize>,
}

/// Rows of one table that are not analyzed yet.
struct Share<'t> {
    keys: &'t [Arc<[Field]>],
    /// Those of each row, which are taken out.
    samples: &'t mut [Vec<(usize, Sample)>],
    is_exact: bool,
}

/// The rows of a table, in shares that threads can take one after the other.
fn shares_of<'t>(
    table: &'t mut SampleTable,
    metadata: &Metadata,
) -> impl Iterator<Item = Share<'t>> {
    const ROWS: usize = 256;
    let is_exact = metadata.assumes_exact(table.unit.as_ref());
    let samples = table.samples.chunks_mut(ROWS);
    let shares = table.rows.chunks(ROWS).zip(samples);
    shares.map(move |(keys, samples)| Share {
        keys,
        samples,
        is_exact,
    })
}

/// Makes a table of the next `rows`, of which it has as many as it has keys.
fn build_table(
    table: SampleTable,
    metadata: &Metadata,
    rows: &mut impl Iterator<Item = Row>,
) -> Table {
    let mut own_rows = Vec::with_capacity(table.rows.len());
    own_rows.extend(rows.take(table.rows.len()));
    Table {
        geomeans: geomeans(&own_rows, table.columns.len()),
        key: table.key,
        class: Class::of(&table.unit),
        better: metadata.better(table.unit.as_ref()),
        is_exact: metadata.assumes_exact(table.unit.as_ref()),
        unit: table.unit,
        columns: columns(table.columns),
        places: table.places,
        rows: own_rows,
    }
}

fn columns(keys: Vec<Vec<Field>>) -> Vec<Column> {
    keys.into_iter().map(|key| Column { key }).collect()
}

/// Analyzes rows one after the other, and keeps between them what they share.
struct Analyst {
    thresholds: Thresholds,
    test: UTest,
    /// The order statistics of intervals, by the size of the sample.
    ranks: Vec<Option<Ranks>>,
    /// Room for the sorted values of the row's baseline.
    baseline: Vec<f64>,
    /// Room for the sorted values of a cell.
    sorted: Vec<f64>,
    /// Room for what they are sorted by.
    keys: Vec<i64>,
}

impl Analyst {
    fn new(thresholds: Thresholds) -> Self {
        Self {
            thresholds,
            test: UTest::new(),
            ranks: Vec::new(),
            baseline: Vec::new(),
            sorted: Vec::new(),
            keys: Vec::new(),
        }
    }

    fn rows(&mut self, share: Share<'_>) -> Vec<Row> {
        let Share {
            keys,
            samples,
            is_exact,
        } = share;
        let rows = keys.iter().zip(samples);
        rows.map(|(key, samples)| self.row(Arc::clone(key), samples, is_exact))
            .collect()
    }

    fn row(
        &mut self,
        key: Arc<[Field]>,
        samples: &mut Vec<(usize, Sample)>,
        is_exact: bool,
    ) -> Row {
        // Taken out for the time of the row, and put back with its room.
        let mut baseline = mem::take(&mut self.baseline);
        let mut baseline_centre = None;
        let mut cells = Vec::with_capacity(samples.len());
        // The room of the samples stays: it is another thread's, and threads that free what is not theirs wait for each other.
        for (column, sample) in samples.drain(..) {
            let mut sorted = mem::take(&mut self.sorted);
            sort_into(&mut sorted, &mut self.keys, &sample.values);
            let mut cell = self.summarize(sample, &sorted, is_exact);
            if let Some(old) = baseline_centre {
                cell.comparison =
                    Some(self.compare([&baseline, &sorted], [old, cell.centre], is_exact));
            }
            if column == 0 {
                baseline_centre = Some(cell.centre);
                mem::swap(&mut baseline, &mut sorted);
            }
            self.sorted = sorted;
            cells.push((column, cell));
        }
        self.baseline = baseline;
        Row { key, cells }
    }

    fn summarize(&mut self, sample: Sample, sorted: &[f64], is_exact: bool) -> Cell {
        let mut warnings = Vec::new();
        if !sample.varying.is_empty() {
            warnings.push(Warning::Vary {
                keys: sample.varying,
            });
        }
        let (centre, interval) = if is_exact {
            summarize_exact(sorted, &mut warnings)
        } else {
            (median(sorted), self.interval(sorted, &mut warnings))
        };
        Cell {
            values: sample.values,
            kept_sorted: self.thresholds.settings.keeps_sorted.then(|| sorted.into()),
            rounds: sample.rounds,
            centre,
            low: interval.lo,
            high: interval.hi,
            warnings,
            comparison: None,
        }
    }

    fn interval(&mut self, sorted: &[f64], warnings: &mut Vec<Warning>) -> Interval {
        let size = sorted.len();
        let level = self.thresholds.settings.confidence;
        if self.ranks.len() <= size {
            self.ranks.resize(size + 1, None);
        }
        let ranks = self.ranks[size].get_or_insert_with(|| interval_ranks(size, level));
        let interval = ranks.interval(sorted);
        if !interval.is_bounded() {
            warnings.push(Warning::FewForInterval {
                needed: self.thresholds.for_interval,
                level,
            });
        }
        interval
    }

    /// Compares two samples by their values, sorted, and their centres; the baseline comes first.
    fn compare(
        &mut self,
        [baseline, sorted]: [&[f64]; 2],
        [old, new]: [f64; 2],
        is_exact: bool,
    ) -> Comparison {
        let mut warnings = Vec::new();
        let p = (!is_exact).then(|| self.p_value(baseline, sorted, &mut warnings));
        let change = if p.is_some_and(|p| p > self.thresholds.settings.alpha) {
            Change::Insignificant
        } else if old == new {
            Change::Same
        } else if old == 0.0 {
            Change::FromZero
        } else {
            Change::By(new / old - 1.0)
        };
        Comparison {
            p: p.map(|p| p.min(1.0)),
            change,
            baseline_count: baseline.len(),
            count: sorted.len(),
            warnings,
        }
    }

    /// The p-value to compare with alpha and to print; it may exceed 1 by a rounding.
    fn p_value(&mut self, baseline: &[f64], sorted: &[f64], warnings: &mut Vec<Warning>) -> f64 {
        let mut outcome = self.test.test(baseline, sorted);
        let alpha = self.thresholds.settings.alpha;
        if outcome.method == Method::Exact && is_on_edge(outcome.p, alpha) {
            let (n1, n2) = (baseline.len(), sorted.len());
            // Without ties U is a whole number.
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            let u = outcome.u as usize;
            // In the very middle both tails have it, and p is 1 without a sum.
            if 2 * u != n1 * n2 {
                let distributions = self.test.distributions();
                outcome.p = distributions.recursive_p(n1, n2, u.min(n1 * n2 - u));
            }
        }
        if outcome.method == Method::AllEqual {
            warnings.push(Warning::AllEqual);
        } else if outcome.p > alpha {
            let needed = self.thresholds.for_difference;
            if baseline.len().max(sorted.len()) < needed.unwrap_or(DIFFERENCE_SEARCH_LIMIT) {
                warnings.push(Warning::FewForDifference { needed, alpha });
            }
        }
        outcome.p
    }
}

/// Whether the last digits of `p` decide what is shown: it equals alpha, or it
/// lies halfway between two values with three decimals.
fn is_on_edge(p: f64, alpha: f64) -> bool {
    let is_close = |left: f64, right: f64| (left - right).abs() <= 1e-12 * right;
    let thousandths = p * 1000.0;
    is_close(p, alpha) || is_close(thousandths, thousandths.floor() + 0.5)
}

/// Sorts `values` into `sorted`, as [`f64::total_cmp`] orders them.
///
/// Whole numbers that have the order of the values take half the time to sort, as there is nothing to work out for a
/// comparison: 15 % of all processor time where samples are large.
fn sort_into(sorted: &mut Vec<f64>, keys: &mut Vec<i64>, values: &Values) {
    /// Turns the bits of a value into its key, and back.
    fn turned(bits: i64) -> i64 {
        bits ^ (((bits >> 63).cast_unsigned() >> 1).cast_signed())
    }
    if values.are_same() {
        values.copy_to(sorted);
        return;
    }
    keys.clear();
    keys.extend(
        values
            .iter()
            .map(|value| turned(value.to_bits().cast_signed())),
    );
    keys.sort_unstable();
    sorted.clear();
    sorted.extend(
        keys.iter()
            .map(|&key| f64::from_bits(turned(key).cast_unsigned())),
    );
}

/// The mode, and the range of all values.
fn summarize_exact(sorted: &[f64], warnings: &mut Vec<Warning>) -> (f64, Interval) {
    let Some(summary) = ExactSummary::of(sorted) else {
        return (
            f64::NAN,
            Interval {
                lo: f64::NEG_INFINITY,
                hi: f64::INFINITY,
            },
        );
    };
    if !summary.is_constant() {
        warnings.push(Warning::NotExact {
            min: summary.min,
            max: summary.max,
        });
    }
    (
        summary.mode,
        Interval {
            lo: summary.min,
            hi: summary.max,
        },
    )
}

/// The geometric means of all columns, for which each cell is looked at once.
fn geomeans(rows: &[Row], columns: usize) -> Vec<Geomean> {
    let mut cells: Vec<Vec<(Option<f64>, f64)>> = vec![Vec::new(); columns];
    for row in rows {
        let baseline = row.cell(0).map(|cell| cell.centre);
        for (column, cell) in &row.cells {
            cells[*column].push((baseline, cell.centre));
        }
    }
    let of_baseline = cells.first().map_or(0, Vec::len);
    cells
        .iter()
        .enumerate()
        .map(|(column, cells)| geomean(cells, column, of_baseline))
        .collect()
}

/// The geometric mean of a column, given the centres of its cells, each after that of the baseline in the same row, and how
/// many rows the baseline has.
fn geomean(cells: &[(Option<f64>, f64)], column: usize, of_baseline: usize) -> Geomean {
    let value = if cells.iter().all(|&(_, centre)| centre > 0.0) {
        cells
            .iter()
            .map(|(_, centre)| *centre)
            .collect::<GeoMean>()
            .get()
    } else {
        None
    };
    let mut warnings = Vec::new();
    let mut change = None;
    if column > 0 {
        let pairs: Vec<(f64, f64)> = cells
            .iter()
            .filter_map(|&(baseline, centre)| Some((baseline?, centre)))
            .collect();
        if pairs.len() != of_baseline {
            warnings.push(Warning::BenchmarkSetDiffers);
        }
        change = Some(geomean_change(&pairs));
        if value.is_none() {
            warnings.push(Warning::NonPositiveSummary);
        }
        let divides_by_zero = pairs.iter().any(|&(old, new)| old == 0.0 && new != 0.0);
        if change == Some(GeomeanChange::Undefined) && !divides_by_zero {
            warnings.push(Warning::NonPositiveRatio);
        }
    } else if value.is_none() {
        warnings.push(Warning::NonPositiveSummary);
    }
    Geomean {
        value,
        change,
        warnings,
    }
}

fn geomean_change(pairs: &[(f64, f64)]) -> GeomeanChange {
    let mut mean = GeoMean::new();
    for &(old, new) in pairs {
        // Nothing that stays nothing has not changed.
        let ratio = if old == new { 1.0 } else { new / old };
        if old == 0.0 && new != 0.0 || ratio <= 0.0 {
            return GeomeanChange::Undefined;
        }
        // One beyond all numbers makes a mean beyond them, or none at all if others follow it.
        mean.push(ratio);
    }
    match mean.get() {
        Some(mean) if !mean.is_nan() => GeomeanChange::By(mean - 1.0),
        _ => GeomeanChange::Undefined,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_ratio_beyond_all_numbers_makes_a_geomean_beyond_them_or_none() {
        let (beyond, half) = ((1e-200, 1e300), (2.0, 3.0));
        assert_eq!(
            geomean_change(&[half, beyond]),
            GeomeanChange::By(f64::INFINITY)
        );
        for undefined in [
            [beyond, half],
            [beyond, beyond],
            [half, (0.0, 1.0)],
            [half, (1.0, 0.0)],
        ] {
            assert_eq!(geomean_change(&undefined), GeomeanChange::Undefined);
        }
        assert_eq!(
            geomean_change(&[(0.0, 0.0), (-2.0, -2.0)]),
            GeomeanChange::By(0.0)
        );
    }

    proptest! {
        #[test]
        fn values_are_sorted_as_their_total_order_has_it(values in prop::collection::vec(any::<f64>(), 0..40)) {
            let mut expected = values.clone();
            expected.sort_by(f64::total_cmp);
            let (mut sorted, mut keys) = (vec![1.0], vec![2]);
            sort_into(&mut sorted, &mut keys, &values.into_iter().collect());
            let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
            prop_assert_eq!(bits(&sorted), bits(&expected));
        }
    }
}
