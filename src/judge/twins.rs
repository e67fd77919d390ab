//! Comparisons that are one and the same evidence, such as `MB/s` beside `ns/op`.

use hashbrown::HashMap;

use crate::report::model::{Position, Report, Table};
use crate::stats::mean;

/// Of each comparison that is computed from the times of the same lines, as `MB/s` and `ns/item` are beside `ns/op`, the comparison
/// of those times. Units of which better is another direction than their kind has are asked another question, and are no twins.
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
        let own = &report.tables[at.table];
        let is_rate = own.unit.ends_with(b"/s");
        if !is_rate && (!own.unit.starts_with(b"sec/") || own.unit == "sec/op") {
            return None;
        }
        let mut times = times.iter();
        let &time = times.find(|&&time| report.tables[time].key == own.key)?;
        let has_same_direction = own.better? == report.tables[time].better?;
        if has_same_direction == is_rate {
            return None;
        }
        let rows = &report.tables[time].rows;
        let key = &own.rows[at.row].key;
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
        let mut values = cells(own, at.row);
        if is_rate {
            for rate in &mut values {
                *rate = rate.recip();
            }
        }
        is_proportional(&values, &cells(&report.tables[time], row)).then_some(twin)
    };
    positions.iter().map(twin).collect()
}

/// Whether the quotient of what the lines say is one number, but for what print rounds away: it varies by less than a tenth of
/// what the times do, or by less than half a percent.
fn is_proportional(values: &[f64], times: &[f64]) -> bool {
    let is_positive = |values: &[f64]| values.iter().all(|value| *value > 0.0 && value.is_finite());
    if values.len() != times.len()
        || values.len() < 2
        || !is_positive(values)
        || !is_positive(times)
    {
        return false;
    }
    let deviation = |logs: Vec<f64>| -> f64 {
        let mean = mean(&logs);
        (logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / logs.len() as f64).sqrt()
    };
    let both = values.iter().zip(times);
    let quotient = deviation(both.map(|(value, time)| (value / time).ln()).collect());
    let alone = deviation(times.iter().map(|time| time.ln()).collect());
    quotient < 0.1 * alone || (quotient < 0.005 && quotient < 0.5 * alone)
}
