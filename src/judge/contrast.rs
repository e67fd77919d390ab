//! What is compared with what, and how large each change is for itself.

use super::effect::{Effect, Estimator};
use super::judgement::Margin;
use super::judging::Judging;
use super::margin::Amount;
use crate::report::model::{Cell, Position, Report, Row, Table};
use crate::stats::smallest_p;
use crate::unit::{Better, is_clocked};

/// A row in one column of the run against its baseline, before p-values are corrected.
#[derive(Clone, Debug)]
pub(super) struct Contrast {
    /// Where it is.
    pub position: Position,
    /// The column it is compared with: that of the table's first column, and that of the run for the first column itself.
    pub baseline: usize,
    /// What there is.
    pub sides: ContrastSides,
}

/// On which sides of a contrast there are results.
#[derive(Clone, Debug)]
pub(super) enum ContrastSides {
    Both {
        effect: Effect,
        margin: Margin,
    },
    /// In the baseline only.
    Baseline,
    /// Not in the baseline.
    New,
}

/// All contrasts of a report, in the order of their positions.
pub(super) fn contrasts(report: &Report, judging: &Judging) -> Vec<Contrast> {
    let mut estimator = Estimator::new(judging.alpha);
    let all_columns: Vec<usize> = (0..report.columns.len()).collect();
    let mut contrasts = Vec::new();
    for (index, table) in report.tables.iter().enumerate() {
        // Only a table with the run's baseline can lack what was there.
        let columns = match table.places.first() {
            Some(0) => &all_columns,
            _ => &table.places,
        };
        for (row, of_row) in table.rows.iter().enumerate() {
            let position = Position {
                table: index,
                row,
                column: 0,
            };
            let looker = RowContrasts {
                table,
                row: of_row,
                amounts: [false, true].map(|is_exact| judging.margins.of(table, of_row, is_exact)),
                alpha: judging.alpha,
            };
            looker.add(position, columns, &mut estimator, &mut contrasts);
        }
    }
    contrasts
}

/// A row that is looked at.
struct RowContrasts<'r> {
    table: &'r Table,
    row: &'r Row,
    /// Up to where changes do not matter, by whether values are exact.
    amounts: [Amount; 2],
    alpha: f64,
}

impl RowContrasts<'_> {
    fn add(
        &self,
        position: Position,
        columns: &[usize],
        estimator: &mut Estimator,
        contrasts: &mut Vec<Contrast>,
    ) {
        let places = &self.table.places;
        let Some(&baseline) = places.first() else {
            return;
        };
        let base = self.row.cell(0);
        // A table without the run's baseline compares with the first column that it has, which is added itself.
        let has_baseline = baseline == 0;
        let mut push = |column: usize, sides: ContrastSides| {
            contrasts.push(Contrast {
                position: Position { column, ..position },
                baseline: if column == baseline { 0 } else { baseline },
                sides,
            });
        };
        if !has_baseline && base.is_some() {
            push(baseline, ContrastSides::New);
        }
        // Only where there was something at first can anything be missing.
        let present: Vec<usize>;
        let columns = if has_baseline && base.is_some() {
            columns
        } else {
            present = self.row.cells.iter().map(|(at, _)| places[*at]).collect();
            &present
        };
        for &column in columns.iter().filter(|&&column| column != baseline) {
            let at = places.binary_search(&column).ok();
            match (base, at.and_then(|at| self.row.cell(at))) {
                (Some(base), Some(cell)) => push(column, self.both(base, cell, estimator)),
                (Some(_), None) if has_baseline => push(column, ContrastSides::Baseline),
                (None, Some(_)) => push(column, ContrastSides::New),
                (Some(_) | None, None) => {}
            }
        }
    }

    fn both(&self, base: &Cell, cell: &Cell, estimator: &mut Estimator) -> ContrastSides {
        let is_exact = self.table.is_exact || self.are_counts(base, cell);
        let effect = if is_exact {
            let [old, new] =
                [base, cell].map(|cell| worst_value(cell, base.centre, self.table.better));
            Effect::exact(old, new)
        } else {
            estimator.effect(base, cell)
        };
        let amount = self.amounts[usize::from(is_exact)];
        ContrastSides::Both {
            effect,
            margin: Margin {
                relative: amount.relative,
                absolute: amount.absolute,
                limit: amount.limit(effect.scale, base.centre),
            },
        }
    }

    /// Whether the values count something that is the same on every run of a side, such as allocations: whole numbers that
    /// never vary on either side, of as many runs as an interval takes.
    fn are_counts(&self, base: &Cell, cell: &Cell) -> bool {
        let sizes = [base, cell].map(|cell| cell.values.len());
        let is_count = |cell: &Cell| cell.values.are_same() && cell.centre == cell.centre.trunc();
        !is_clocked(&self.table.unit)
            && is_count(base)
            && is_count(cell)
            && smallest_p(sizes[0], sizes[1]) <= self.alpha
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
