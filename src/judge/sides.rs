//! Whether the sides of a comparison are what they seem: measured apart, and whole.

use bstr::BString;
use hashbrown::{HashMap, HashSet};

use super::obstacle::SplitByKey;
use crate::read::InputFacts;
use crate::report::model::{Cell, Field, Report, Row, Table, Values};
use crate::unit::is_time;

/// What the same measurements on both sides may come from.
pub const WHY_SAME: &str = "is one a copy of the other, or was it appended to it?";

/// The columns that have the very measurements of the baseline, each with the number of such rows.
///
/// All rows have to be the same, or one side appended to the other. Two runs agree to the last digit in what is counted, such as
/// allocations, and not in what is measured: so it takes rows whose values vary or are one time each, with three different
/// values.
#[must_use]
pub fn same_values(report: &Report) -> Vec<(usize, usize)> {
    // There may be many rows without a baseline, which must not be looked at for each column.
    let tables = report.tables.iter().filter(|table| is_of_baseline(table));
    let of_baseline: Vec<(&Table, Vec<(&Row, &Cell)>)> = tables
        .map(|table| {
            let rows = table.rows.iter();
            let rows = rows.filter_map(|row| Some((row, row.cell(0)?)));
            (table, rows.collect())
        })
        .collect();
    (1..report.columns.len())
        .filter_map(|column| Some((column, same_rows(&of_baseline, column)?)))
        .collect()
}

fn same_rows(of_baseline: &[(&Table, Vec<(&Row, &Cell)>)], column: usize) -> Option<usize> {
    const FEWEST_VALUES: usize = 3;
    let (mut rows, mut different) = (0, HashSet::new());
    for (table, of_table) in of_baseline {
        let Ok(at) = table.places.binary_search(&column) else {
            continue;
        };
        for (row, old) in of_table {
            let Some(new) = row.cell(at) else {
                continue;
            };
            let is_one_time = old.values.len() == 1 && is_time(&table.unit);
            if !is_within(&old.values, &new.values) {
                return None;
            }
            if old.values.are_same() && !is_one_time {
                continue;
            }
            rows += 1;
            different.extend(old.values.iter().map(f64::to_bits));
        }
    }
    (different.len() >= FEWEST_VALUES).then_some(rows)
}

/// Whether two samples are one, or the longer starts or ends with the other, as when one file is appended to another.
fn is_within(left: &Values, right: &Values) -> bool {
    const FEWEST_APPENDED: usize = 3;
    let (short, long) = if left.len() < right.len() {
        (left, right)
    } else {
        (right, left)
    };
    let more = long.len() - short.len();
    if more > 0 && short.len() < FEWEST_APPENDED {
        return false;
    }
    long.iter().take(short.len()).eq(short.iter())
        || more > 0 && long.iter().skip(more).eq(short.iter())
}

fn is_of_baseline(table: &Table) -> bool {
    table.places.first() == Some(&0)
}

/// The keys that change within an input and take runs of a benchmark that is compared out of the comparison: those runs
/// stand in another table, which has one side only.
#[must_use]
pub fn splits(report: &Report, inputs: &[InputFacts]) -> Vec<SplitByKey> {
    let mut splits: Vec<SplitByKey> = Vec::new();
    for input in inputs {
        for key in input.seen.changing.keys() {
            if splits.iter().any(|known| known.key == *key) {
                continue;
            }
            if let Some(benchmark) = split_benchmark(report, key) {
                splits.push(SplitByKey {
                    key: key.clone(),
                    input: input.name.clone(),
                    benchmark,
                });
            }
        }
    }
    splits
}

/// A benchmark that is compared under one value of `key` and has one side under another.
fn split_benchmark(report: &Report, key: &BString) -> Option<BString> {
    /// What a row is called whatever the value of the key.
    type Identity<'r> = (&'r BString, Vec<&'r Field>, &'r [Field]);
    let mut compared: HashMap<Identity<'_>, bool> = HashMap::new();
    for table in report.tables.iter().filter(|table| {
        let mut fields = table.key.iter();
        fields.any(|field| *field.key == *key)
    }) {
        let others: Vec<&Field> = table
            .key
            .iter()
            .filter(|field| *field.key != *key)
            .collect();
        for row in &table.rows {
            let has_both = is_of_baseline(table) && is_compared(row);
            let identity = (&table.unit, others.clone(), &row.key[..]);
            match compared.insert(identity, has_both) {
                Some(before) if before != has_both => return Some(row.label()),
                _ => {}
            }
        }
    }
    None
}

fn is_compared(row: &Row) -> bool {
    row.cell(0).is_some() && row.cells.len() > 1
}
