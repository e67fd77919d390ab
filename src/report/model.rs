//! The report: what was measured and how it compares, as plain data that never changes once it is built.

use std::borrow::Cow;
use std::sync::Arc;

use bstr::BString;

use super::warning::Warning;
pub use crate::sample::{Field, Values};
use crate::unit::{Better, Class};

/// The comparison of a whole run.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// One table for each unit of each configuration, in the order to show.
    pub tables: Vec<Table>,
    /// The columns of all tables, in the order to show; the first is the baseline of the run.
    pub columns: Vec<Column>,
    /// The confidence level of the intervals of centres, 0 to 1.
    pub confidence: f64,
}

/// A row of a report in one of the columns of the run, whether there is anything or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Position {
    /// An index of [`Report::tables`].
    pub table: usize,
    /// An index of [`Table::rows`].
    pub row: usize,
    /// An index of [`Report::columns`].
    pub column: usize,
}

impl Report {
    /// The cell at a position, if it has results.
    #[must_use]
    pub fn cell(&self, position: Position) -> Option<&Cell> {
        let table = self.tables.get(position.table)?;
        let at = table.places.binary_search(&position.column).ok()?;
        table.rows.get(position.row)?.cell(at)
    }

    /// All cells that there are, each with its position, in ascending order.
    pub fn cells(&self) -> impl Iterator<Item = (Position, &Cell)> {
        let tables = self.tables.iter().enumerate();
        tables.flat_map(|(table, of_table)| {
            let rows = of_table.rows.iter().enumerate();
            rows.flat_map(move |(row, of_row)| {
                of_row.cells.iter().map(move |(at, cell)| {
                    let column = of_table.places[*at];
                    (Position { table, row, column }, cell)
                })
            })
        })
    }
}

/// The results of one unit under one configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The fields of the table key, but for the unit.
    pub key: Vec<Field>,
    /// The unit of all values in the table.
    pub unit: BString,
    /// Which prefixes the unit takes.
    pub class: Class,
    /// Which direction is better; none where nobody said.
    pub better: Option<Better>,
    /// Whether values are said to be exact: the same on every run.
    pub is_exact: bool,
    /// The columns; the first is the baseline of the others.
    pub columns: Vec<Column>,
    /// Which columns of the run they are: one index of [`Report::columns`] for each, ascending.
    pub places: Vec<usize>,
    /// The rows.
    pub rows: Vec<Row>,
    /// The last row, with one entry for each column.
    pub geomeans: Vec<Geomean>,
}

/// What is compared with the baseline, often an input file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// The fields of the column key, outermost first.
    pub key: Vec<Field>,
}

/// A benchmark, or whatever the row projection makes of one.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The fields of the row key, which the rows of other tables share.
    pub key: Arc<[Field]>,
    /// The cells that there are, each with the index of its column of the table, ascending. Tables may have many columns
    /// that rarely meet, so that there is nothing here for those without results.
    pub cells: Vec<(usize, Cell)>,
}

impl Row {
    /// The cell of a column of the table, if it has results.
    #[must_use]
    pub fn cell(&self, column: usize) -> Option<&Cell> {
        let at = self.cells.binary_search_by_key(&column, |(at, _)| *at);
        at.ok().map(|at| &self.cells[at].1)
    }

    /// All cells that there are.
    pub fn filled(&self) -> impl Iterator<Item = &Cell> {
        self.cells.iter().map(|(_, cell)| cell)
    }

    /// What it is called.
    #[must_use]
    pub fn label(&self) -> BString {
        label(&self.key)
    }
}

impl Column {
    /// What it is called.
    #[must_use]
    pub fn label(&self) -> BString {
        label(&self.key)
    }
}

/// The values of a key, joined by spaces, without the empty ones.
fn label(key: &[Field]) -> BString {
    let values = key.iter().map(|field| &field.value);
    bstr::join(" ", values.filter(|value| !value.is_empty())).into()
}

/// The results of one row and column.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// The values in the order read, in the unit of the table, at least one.
    pub values: Values,
    /// The values in ascending order, where [`Settings::keeps_sorted`](super::build::Settings::keeps_sorted); see
    /// [`Cell::sorted`].
    pub kept_sorted: Option<Box<[f64]>>,
    /// The round of each value, counted from 1, and 0 where none is known; empty where that is so of all.
    pub rounds: Vec<u32>,
    /// The median, or the mode where values are said to be exact.
    pub centre: f64,
    /// The lower bound of the centre's interval; negative infinity where there are too few values.
    pub low: f64,
    /// The upper bound of the centre's interval; infinity where there are too few values.
    pub high: f64,
    /// Remarks on the sample, then on its summary.
    pub warnings: Vec<Warning>,
    /// How the cell compares with the baseline cell of its row; none in the first column.
    pub comparison: Option<Comparison>,
}

impl Cell {
    /// The values in ascending order.
    #[must_use]
    pub fn sorted(&self) -> Cow<'_, [f64]> {
        if let Some(sorted) = &self.kept_sorted {
            return sorted.as_ref().into();
        }
        let mut sorted: Vec<f64> = self.values.iter().collect();
        sorted.sort_unstable_by(f64::total_cmp);
        sorted.into()
    }
}

/// A cell against the baseline cell of its row.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The two-sided probability of a difference at least this large by chance, 0 to 1;
    /// none where values are said to be exact.
    pub p: Option<f64>,
    /// How the centre changed.
    pub change: Change,
    /// The number of values in the baseline cell.
    pub baseline_count: usize,
    /// The number of values in this cell.
    pub count: usize,
    /// Remarks on the comparison.
    pub warnings: Vec<Warning>,
}

/// How a centre changed against its baseline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Change {
    /// Not significantly.
    Insignificant,
    /// Significant by the test, yet with equal centres.
    Same,
    /// The baseline is 0, so there is no ratio.
    FromZero,
    /// By this part of the baseline: new/old - 1.
    By(f64),
}

/// The geometric mean of a column's centres.
#[derive(Clone, Debug, PartialEq)]
pub struct Geomean {
    /// In the unit of the table; none where a centre is not positive.
    pub value: Option<f64>,
    /// The change of the rows that both columns have; none in the first column.
    pub change: Option<GeomeanChange>,
    /// Remarks on the column as a whole.
    pub warnings: Vec<Warning>,
}

/// The geometric mean of the ratios to the baseline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum GeomeanChange {
    /// Some ratio does not exist or is not positive, or no row has both sides.
    Undefined,
    /// By this part of the baseline: mean ratio - 1.
    By(f64),
}
