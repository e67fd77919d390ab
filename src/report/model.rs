//! The report: plain data that every renderer takes as it is.

use std::sync::Arc;

use bstr::{BString, ByteSlice};
use serde::{Serialize, Serializer};

use super::arrangement::{Arrangement, Shown};
use super::judgement::{Effect, Gate, Judgement, Noise, Summary};
use super::warning::Warning;
pub(super) use crate::sample::samples::lossy;
pub use crate::sample::{Field, Values};
use crate::unit::{Better, Class};

/// The comparison of a whole run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// One table for each unit of each configuration, in the order to show.
    pub tables: Vec<Table>,
    /// The columns of all tables, in the order to show; the first is the baseline of the run.
    pub columns: Vec<Column>,
    /// What the run comes to; none where nothing asked for verdicts.
    pub summary: Option<Summary>,
    /// The outcome of the gate; none where there is none.
    pub gate: Option<Gate>,
    /// Which rows are shown, and in which order.
    pub arrangement: Arrangement,
    /// The confidence level of the intervals of centres, 0 to 1.
    pub confidence: f64,
}

/// The results of one unit under one configuration.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Table {
    /// The fields of the table key, but for the unit.
    pub key: Vec<Field>,
    /// The unit of all values in the table.
    #[serde(serialize_with = "lossy")]
    pub unit: BString,
    /// Which prefixes the unit takes.
    #[serde(skip)]
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
    /// Which rows are shown, and in which order.
    #[serde(skip)]
    pub shown: Shown,
    /// The last row, with one entry for each column.
    pub geomeans: Vec<Geomean>,
}

/// What is compared with the baseline, often an input file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Column {
    /// The fields of the column key, outermost first.
    pub key: Vec<Field>,
}

/// A benchmark, or whatever the row projection makes of one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The fields of the row key, which the rows of other tables share.
    pub key: Arc<[Field]>,
    /// The cells that there are, each with the index of its column of the table, ascending. Tables may have many columns
    /// that rarely meet, so that there is nothing here for those without results.
    pub cells: Vec<(usize, Cell)>,
    /// What is compared with a baseline, each with its column of the run ([`Report::columns`], not [`Table::columns`], as a
    /// whole table may lack one), ascending. Runs may have as many tables as columns, so that there is nothing here for
    /// those without anything on either side. Empty where nothing asked for verdicts.
    pub judgements: Vec<(usize, Judgement)>,
}

/// The cell of a column, given those of its row as [`Row::cells`] has them.
pub(super) fn cell_at(cells: &[(usize, Cell)], column: usize) -> Option<&Cell> {
    let at = cells.binary_search_by_key(&column, |(at, _)| *at);
    at.ok().map(|at| &cells[at].1)
}

impl Row {
    /// The cell of a column of the table, if it has results.
    #[must_use]
    pub fn cell(&self, column: usize) -> Option<&Cell> {
        cell_at(&self.cells, column)
    }

    /// All cells that there are.
    pub fn filled(&self) -> impl Iterator<Item = &Cell> {
        self.cells.iter().map(|(_, cell)| cell)
    }

    /// The judgement of a column of the run, if there is one.
    #[must_use]
    pub fn judgement(&self, column: usize) -> Option<&Judgement> {
        let at = self.judgements.binary_search_by_key(&column, |(at, _)| *at);
        at.ok().map(|at| &self.judgements[at].1)
    }

    /// How many values the baseline and the cell of a column of the run have; `places` are those of the table.
    #[must_use]
    pub fn sizes(&self, column: usize, places: &[usize]) -> Option<(usize, usize)> {
        let at = places.binary_search(&column).ok()?;
        let comparison = self.cell(at)?.comparison.as_ref()?;
        Some((comparison.baseline_count, comparison.count))
    }

    /// Whether all cells say in which rounds their values were measured.
    #[must_use]
    pub fn is_in_rounds(&self) -> bool {
        self.filled()
            .all(|cell| !cell.rounds.is_empty() && !cell.rounds.contains(&0))
    }

    /// The values of the key, joined by spaces, without the empty ones.
    #[must_use]
    pub fn label(&self) -> BString {
        let values = self.key.iter().map(|field| &field.value);
        bstr::join(" ", values.filter(|value| !value.is_empty())).into()
    }
}

/// The results of one row and column.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cell {
    /// The values in the order read, in the unit of the table, at least one.
    pub values: Values,
    /// The round of each value, counted from 1, and 0 where none is known; empty where that is so of all.
    #[serde(skip)]
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
    /// What is odd about the order or the spread of the values; empty where nothing asked for verdicts.
    pub noise: Vec<Noise>,
}

/// A cell against the baseline cell of its row.
#[derive(Clone, Debug, PartialEq, Serialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
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
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Geomean {
    /// In the unit of the table; none where a centre is not positive.
    pub value: Option<f64>,
    /// The change of the rows that both columns have; none in the first column.
    pub change: Option<GeomeanChange>,
    /// The change with its interval, from the intervals of the rows; none in the first column, where a row has no bounded
    /// ratio, and where nothing asked for verdicts.
    pub effect: Option<Effect>,
    /// Why there is no effect, in later columns.
    pub no_effect: Option<NoGeomeanEffect>,
    /// Remarks on the column as a whole.
    pub warnings: Vec<Warning>,
}

/// The geometric mean of the ratios to the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GeomeanChange {
    /// Some ratio does not exist or is not positive, or no row has both sides.
    Undefined,
    /// By this part of the baseline: mean ratio - 1.
    By(f64),
}

/// Why the change of a geomean has no interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NoGeomeanEffect {
    /// Nothing asked for verdicts.
    NotAsked,
    /// The change itself is undefined.
    Undefined,
    /// Some row has too few values for an interval.
    TooFewRuns,
    /// Some row has values that are not positive, so its interval is none of a ratio.
    NotPositive,
}

/// [`lossy`] for a list.
pub(super) fn lossy_list<S: Serializer>(
    texts: &[BString],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(texts.iter().map(|text| text.to_str_lossy()))
}
