//! Comparisons that are one and the same evidence, such as `MB/s` beside `ns/op`.

use hashbrown::HashMap;

use crate::report::model::{Position, Report, Table};
use crate::stats::mean;

/// Of each comparison of a rate that is computed from the times of the same lines, such as `MB/s` beside `ns/op`, the comparison
/// of those times.
pub(super) fn twins(report: &Report, positions: &[Position]) -> Vec<Option<usize>> {
    let times: Vec<usize> = (0..report.tables.len())
        .filter(|&table| report.tables[table].unit == "sec/op")
        .collect();
    if times.is_empty() {
        return vec![None; positions.len()];
    }
    let known: HashMap<Position, usize> = positions
        .iter()
        .enumerate()
        .map(|(index, &position)| (position, index))
        .collect();
    let twin = |&at: &Position| -> Option<usize> {
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
    positions.iter().map(twin).collect()
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
