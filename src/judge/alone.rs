//! What one input alone tells: how well each median is known, and which rows are too unsteady to compare later.

use super::arrangement::RowOrder;
use super::judged::Judged;
use super::noise::Noise;
use crate::report::model::{Cell, Position, Row, Table};

/// A row that is compared with nothing.
#[derive(Clone, Copy, Debug)]
pub struct LoneRow<'a> {
    /// Where it is.
    pub position: Position,
    /// The table it is in.
    pub table: &'a Table,
    /// The row.
    pub row: &'a Row,
    /// What was measured.
    pub cell: &'a Cell,
    /// How far the interval reaches from the centre, as a part of it, ≥ 0; infinite where there are too few values.
    pub reach: f64,
    /// The smallest value, in the unit of the table.
    pub lowest: f64,
    /// The largest value, in the unit of the table.
    pub highest: f64,
    /// Whether its values move with time.
    pub drifts: bool,
}

/// An interval that reaches further hides changes that people care about.
const STEADY: f64 = 0.05;

impl LoneRow<'_> {
    /// Whether changes of it will be hard to see.
    #[must_use]
    pub fn is_unsteady(&self) -> bool {
        self.drifts || self.reach > STEADY
    }
}

impl Judged {
    /// The rows of a run that has one column, the most unsteady first unless sorted by name; none where there is anything to
    /// compare.
    #[must_use]
    pub fn alone(&self) -> Option<Vec<LoneRow<'_>>> {
        let [_] = self.report.columns[..] else {
            return None;
        };
        let mut rows: Vec<LoneRow<'_>> = self
            .report
            .cells()
            .map(|(position, cell)| self.lone_row(position, cell))
            .collect();
        match self.arrangement.sort {
            Some(sort) if sort.order == RowOrder::Name => {
                rows.sort_by_key(|lone| lone.row.label());
                if sort.is_descending {
                    rows.reverse();
                }
            }
            _ => rows.sort_by(|left, right| {
                let unsteadiness = |lone: &LoneRow<'_>| (lone.drifts, lone.reach);
                let (left, right) = (unsteadiness(left), unsteadiness(right));
                right.0.cmp(&left.0).then(right.1.total_cmp(&left.1))
            }),
        }
        Some(rows)
    }

    fn lone_row<'a>(&'a self, position: Position, cell: &'a Cell) -> LoneRow<'a> {
        let table = &self.report.tables[position.table];
        let values = || cell.values.iter();
        let reach = (cell.high - cell.centre).max(cell.centre - cell.low);
        LoneRow {
            position,
            table,
            row: &table.rows[position.row],
            cell,
            reach: if reach == 0.0 {
                0.0
            } else {
                reach / cell.centre.abs()
            },
            lowest: values().fold(f64::INFINITY, f64::min),
            highest: values().fold(f64::NEG_INFINITY, f64::max),
            drifts: self
                .noise
                .at(position)
                .any(|noise| matches!(noise, Noise::Trend { .. })),
        }
    }
}
