//! What is odd about the order or the spread of values.

use std::fmt;

use hashbrown::HashSet;
use serde::Serialize;

use super::rounds;
use crate::report::model::{Cell, Position, Report, Row};
use crate::stats::{Outliers, Trend, TrendTest, holm};

/// What is odd about the order or the spread of a cell's values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Noise {
    /// The values rise or fall with time: something other than the code changed while they were measured.
    Trend {
        /// Whether they rise.
        rises: bool,
        /// Whether it is the differences to the baseline within rounds that do.
        within_rounds: bool,
        /// The probability of a trend as clear by chance, 0 to 0.01.
        p: f64,
    },
    /// Some values are far from the rest.
    Outliers {
        /// How many of the smallest.
        low: usize,
        /// How many of the largest.
        high: usize,
    },
}

impl fmt::Display for Noise {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Trend {
                rises,
                within_rounds,
                p,
            } => {
                let moved = match (rises, within_rounds) {
                    (true, false) => "values rise with time",
                    (false, false) => "values fall with time",
                    (true, true) => "the change rises from round to round",
                    (false, true) => "the change falls from round to round",
                };
                let advice = drift_advice(*within_rounds);
                write!(formatter, "{moved} (p={p:.3}): {advice}")
            }
            Self::Outliers { low, high } => {
                let count = low + high;
                let noun = if count == 1 { "outlier" } else { "outliers" };
                write!(formatter, "{count} {noun} ({low} low, {high} high), kept")
            }
        }
    }
}

/// What to do about a trend.
#[must_use]
pub fn drift_advice(within_rounds: bool) -> &'static str {
    if within_rounds {
        "start both sides afresh in each round"
    } else {
        "interleave the runs of both sides"
    }
}

/// What is odd about the cells of a run, for those of which something is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Noises(Vec<(Position, Noise)>);

impl Noises {
    /// Looks at all cells of `report`.
    ///
    /// A trend is kept if it is significant among all samples that were tested for one, by Holm's procedure. Where both sides were
    /// measured in the same rounds, it is the differences within rounds that are tested.
    #[must_use]
    pub fn of(report: &Report) -> Self {
        let mut looked = Looked::default();
        for (table, of_table) in report.tables.iter().enumerate() {
            if of_table.is_exact {
                continue;
            }
            for (row, of_row) in of_table.rows.iter().enumerate() {
                let differences = differences(of_row);
                // What drifts on both sides alike cancels within rounds.
                let cancels = |at: usize| {
                    differences.iter().any(|(other, _)| *other == at)
                        || at == 0
                            && !differences.is_empty()
                            && differences.len() + 1 == of_row.cells.len()
                };
                for (at, cell) in &of_row.cells {
                    let position = Position {
                        table,
                        row,
                        column: of_table.places[*at],
                    };
                    if !cancels(*at) {
                        cell.values.copy_to(&mut looked.values);
                        looked.trend(position, false);
                    }
                    for (_, differences) in differences.iter().filter(|(other, _)| other == at) {
                        looked.values.clone_from(differences);
                        looked.trend(position, true);
                    }
                    looked.outliers(position, &cell.sorted());
                }
            }
        }
        let Looked {
            mut found, trend_p, ..
        } = looked;
        let mut adjusted = holm(&trend_p).into_iter();
        found.retain_mut(|(_, noise)| match noise {
            Noise::Trend { p, .. } => {
                *p = adjusted.next().unwrap_or(1.0);
                *p <= TREND_ALPHA
            }
            Noise::Outliers { .. } => true,
        });
        Self(found)
    }

    /// What is odd about the cell at a position.
    pub fn at(&self, position: Position) -> impl Iterator<Item = &Noise> {
        let start = self.0.partition_point(|(at, _)| *at < position);
        let rest = self.0[start..].iter();
        rest.take_while(move |(at, _)| *at == position)
            .map(|(_, noise)| noise)
    }

    /// Where there is a trend, of values or of the differences within rounds, in ascending order.
    pub fn trends(&self, of_differences: bool) -> impl Iterator<Item = Position> {
        self.0
            .iter()
            .filter_map(move |(position, noise)| match noise {
                Noise::Trend { within_rounds, .. } if *within_rounds == of_differences => {
                    Some(*position)
                }
                _ => None,
            })
    }
}

/// What was found while looking through cells.
#[derive(Default)]
struct Looked {
    test: TrendTest,
    values: Vec<f64>,
    found: Vec<(Position, Noise)>,
    trend_p: Vec<f64>,
}

impl Looked {
    /// Tests the values for a trend, if there are enough.
    fn trend(&mut self, position: Position, within_rounds: bool) {
        if let Some(Trend { s, p }) = self.test.test(&self.values) {
            self.trend_p.push(p);
            let rises = s > 0;
            self.found.push((
                position,
                Noise::Trend {
                    rises,
                    within_rounds,
                    p,
                },
            ));
        }
    }

    fn outliers(&mut self, position: Position, sorted: &[f64]) {
        let Outliers { low, high } = Outliers::of(sorted);
        if low + high > 0 {
            self.found.push((position, Noise::Outliers { low, high }));
        }
    }
}

/// The differences to the baseline within rounds, for each cell of a row most of whose rounds the baseline has as well, and the other
/// way round; of logarithms where all values are positive.
fn differences(row: &Row) -> Vec<(usize, Vec<f64>)> {
    let Some(base) = row.cell(0) else {
        return Vec::new();
    };
    let others = row.cells.iter().filter(|(at, _)| *at != 0);
    let differences = others.filter_map(|(at, cell)| {
        let is_positive = [base, cell]
            .iter()
            .all(|cell| cell.values.iter().all(|value| value > 0.0));
        let common = rounds::common(
            [base, cell],
            if is_positive { f64::ln } else { |value| value },
        )?;
        let most = rounds_of(base).max(rounds_of(cell));
        let differences = common.iter().map(|(_, [old, new])| new - old).collect();
        (2 * common.len() > most).then_some((*at, differences))
    });
    differences.collect()
}

fn rounds_of(cell: &Cell) -> usize {
    let rounds: HashSet<u32> = cell.rounds.iter().copied().collect();
    rounds.len()
}

/// A trend that is as unlikely by chance among all samples tested is worth a word.
const TREND_ALPHA: f64 = 0.01;
