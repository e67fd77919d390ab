//! What is odd about the order or the spread of values.

use std::fmt;

use serde::Serialize;

use crate::report::model::{Position, Report};
use crate::stats::{Outliers, TrendTest, holm};

/// What is odd about the order or the spread of a cell's values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Noise {
    /// The values rise or fall with time: something other than the code changed while they were measured.
    Trend {
        /// Whether they rise.
        rises: bool,
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
            Self::Trend { rises, p } => {
                let moved = if *rises { "rise" } else { "fall" };
                write!(
                    formatter,
                    "values {moved} with time (p={p:.3}): interleave the runs of both sides"
                )
            }
            Self::Outliers { low, high } => {
                let count = low + high;
                let noun = if count == 1 { "outlier" } else { "outliers" };
                write!(formatter, "{count} {noun} ({low} low, {high} high), kept")
            }
        }
    }
}

/// What is odd about the cells of a run, for those of which something is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Noises(Vec<(Position, Noise)>);

impl Noises {
    /// Looks at all cells of `report`.
    ///
    /// A trend is kept if it is significant among all samples that were tested for one, by Holm's procedure.
    #[must_use]
    pub fn of(report: &Report) -> Self {
        let mut test = TrendTest::new();
        let mut values = Vec::new();
        let mut found = Vec::new();
        let mut trend_p = Vec::new();
        for (table, of_table) in report.tables.iter().enumerate() {
            if of_table.is_exact {
                continue;
            }
            for (row, of_row) in of_table.rows.iter().enumerate() {
                // What drifts on both sides alike is taken out of the rounds.
                let in_rounds = of_row.is_in_rounds();
                for (at, cell) in &of_row.cells {
                    let column = of_table.places[*at];
                    let position = Position { table, row, column };
                    cell.values.copy_to(&mut values);
                    if !in_rounds && let Some(trend) = test.test(&values) {
                        trend_p.push(trend.p);
                        let (rises, p) = (trend.s > 0, trend.p);
                        found.push((position, Noise::Trend { rises, p }));
                    }
                    let Outliers { low, high } = Outliers::of(&cell.sorted());
                    if low + high > 0 {
                        found.push((position, Noise::Outliers { low, high }));
                    }
                }
            }
        }
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

    /// Where there is a trend, in ascending order.
    pub fn trends(&self) -> impl Iterator<Item = Position> {
        let trends = self.0.iter();
        trends.filter_map(|(position, noise)| {
            matches!(noise, Noise::Trend { .. }).then_some(*position)
        })
    }
}

/// A trend that is as unlikely by chance among all samples tested is worth a word.
const TREND_ALPHA: f64 = 0.01;
