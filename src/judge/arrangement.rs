//! Which rows are shown, and in which order: all formats follow it, and no number depends on it.

use std::cmp::Ordering;
use std::num::NonZero;

use bstr::BString;
use serde::Serialize;

use super::judgement::{JudgedRow, Judgements};
use crate::report::listing::Listing;
use crate::report::model::{Change, Comparison, Report, Row};
use crate::unit::Better;

/// Which rows are shown, and in which order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Arrangement {
    /// How rows are sorted; as they stand if none, and in lists of changes the worst first.
    pub sort: Option<Sort>,
    /// Whether only rows are shown where something changed.
    pub changed_only: bool,
    /// How many rows of a table, or of a list of changes, are shown at most.
    pub limit: Option<NonZero<usize>>,
}

/// How rows are sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Sort {
    /// What they are sorted by.
    pub order: RowOrder,
    /// Whether the other end comes first: the largest name or p, or the best change.
    pub is_descending: bool,
}

/// What rows are sorted by; those that lack it come last in both directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RowOrder {
    /// How much worse the change as shown is, the worst first: by the better direction of the unit, and by size where that is
    /// unknown. One that is not significant counts as none, and one from 0 as infinite.
    Change,
    /// The label of the row, byte by byte.
    Name,
    /// The p-value.
    P,
}

/// Chooses and orders the rows of tables for the drop-in formats: which of them changed is what the judgements say, and by what
/// they are sorted what the report says.
#[must_use]
pub fn listing(report: &Report, judgements: &Judgements, arrangement: Arrangement) -> Listing {
    arranged(report, judgements, arrangement, |table, row| {
        Some(first_comparison(&report.tables[table].rows[row])?.change)
    })
}

/// [`listing`] for all other formats, which show and sort by the change of a judgement.
pub(super) fn judged_listing(
    report: &Report,
    judgements: &Judgements,
    arrangement: Arrangement,
) -> Listing {
    arranged(report, judgements, arrangement, |table, row| {
        let mut of_row = judgements.of_row(table, row).iter();
        of_row.find_map(|judgement| JudgedRow::new(report, judgement).change())
    })
}

fn arranged(
    report: &Report,
    judgements: &Judgements,
    arrangement: Arrangement,
    change: impl Fn(usize, usize) -> Option<Change>,
) -> Listing {
    if arrangement == Arrangement::default() {
        return Listing::default();
    }
    let limit = arrangement.limit.map_or(usize::MAX, NonZero::get);
    let tables = report.tables.iter().enumerate().map(|(index, table)| {
        let mut rows: Vec<usize> = (0..table.rows.len()).collect();
        if arrangement.changed_only {
            rows.retain(|&row| {
                let mut judgements = judgements.of_row(index, row).iter();
                judgements.any(|judgement| judgement.verdict.is_change())
            });
        }
        if let Some(sort) = arrangement.sort {
            rows = sort.sort(rows, |&row| {
                let worse = change(index, row).map(|change| worsening(change, table.better));
                let row = &table.rows[row];
                (
                    row,
                    worse,
                    first_comparison(row).and_then(|comparison| comparison.p),
                )
            });
        }
        rows.truncate(limit);
        rows
    });
    Listing::of(tables.collect())
}

/// The judgements to list: sorted as asked for, else the worst first; not limited.
pub(super) fn listed<'a>(
    report: &'a Report,
    judgements: &'a Judgements,
    arrangement: Arrangement,
) -> Vec<JudgedRow<'a>> {
    let mut listed = match arrangement.sort {
        None => judgements.worst_first(report),
        Some(sort) => sort.sort(judgements.rows(report).collect(), |row| {
            let comparison = row.cell.and_then(|cell| cell.comparison.as_ref());
            let worse = row.change();
            (
                row.row,
                worse.map(|change| worsening(change, row.table.better)),
                comparison.and_then(|comparison| comparison.p),
            )
        }),
    };
    if arrangement.changed_only {
        listed.retain(|row| row.judgement.verdict.is_change());
    }
    listed
}

/// How much worse a change is, as a part of the baseline; below 0 for one to the better.
fn worsening(change: Change, better: Option<Better>) -> f64 {
    let part = match change {
        Change::Insignificant | Change::Same => 0.0,
        Change::FromZero => f64::INFINITY,
        Change::By(part) => part,
    };
    match better {
        Some(Better::Lower) => part,
        Some(Better::Higher) => -part,
        None => part.abs(),
    }
}

/// What one thing to sort has for an order.
enum SortValue {
    Name(BString),
    Number(Option<f64>),
}

impl Sort {
    /// Sorts `things`, given of each its row, how much worse it is, and its p.
    fn sort<'r, T>(
        self,
        things: Vec<T>,
        of: impl Fn(&T) -> (&'r Row, Option<f64>, Option<f64>),
    ) -> Vec<T> {
        let with_keys = things.into_iter().map(|thing| {
            let (row, worse, p) = of(&thing);
            (self.key(row, worse, p), thing)
        });
        let mut with_keys: Vec<(SortValue, T)> = with_keys.collect();
        with_keys.sort_by(|(left, _), (right, _)| self.compare(left, right));
        with_keys.into_iter().map(|(_, thing)| thing).collect()
    }

    fn key(self, row: &Row, worse: Option<f64>, p: Option<f64>) -> SortValue {
        match self.order {
            RowOrder::Name => SortValue::Name(row.label()),
            RowOrder::Change => SortValue::Number(worse.map(|worse| -worse)),
            RowOrder::P => SortValue::Number(p),
        }
    }

    fn compare(self, left: &SortValue, right: &SortValue) -> Ordering {
        match (left, right) {
            (SortValue::Name(left), SortValue::Name(right)) => self.direct(left.cmp(right)),
            (SortValue::Number(Some(left)), SortValue::Number(Some(right))) => {
                self.direct(left.total_cmp(right))
            }
            (SortValue::Number(None), SortValue::Number(Some(_))) => Ordering::Greater,
            (SortValue::Number(Some(_)), SortValue::Number(None)) => Ordering::Less,
            // One sort makes keys of one kind.
            _ => Ordering::Equal,
        }
    }

    fn direct(self, ordering: Ordering) -> Ordering {
        if self.is_descending {
            ordering.reverse()
        } else {
            ordering
        }
    }
}

/// The comparison that a row of a table is sorted by: its first.
fn first_comparison(row: &Row) -> Option<&Comparison> {
    row.filled().find_map(|cell| cell.comparison.as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    use crate::report::model::{Cell, Field};

    fn row(name: &str, comparison: Option<(f64, Option<f64>)>) -> Row {
        let cell = |comparison| Cell {
            values: std::iter::once(1.0).collect(),
            kept_sorted: None,
            rounds: Vec::new(),
            centre: 1.0,
            low: 1.0,
            high: 1.0,
            warnings: Vec::new(),
            comparison,
        };
        let comparison = comparison.map(|(part, p)| Comparison {
            p,
            change: Change::By(part),
            baseline_count: 1,
            count: 1,
            warnings: Vec::new(),
        });
        Row {
            key: Arc::new([Field {
                key: Arc::new(".fullname".into()),
                value: name.into(),
            }]),
            cells: vec![(0, cell(None)), (1, cell(comparison))],
        }
    }

    fn sorted(order: RowOrder, is_descending: bool) -> String {
        let rows = [
            row("c", Some((0.5, Some(0.3)))),
            row("a", None),
            row("d", Some((-0.5, Some(0.1)))),
            row("b", Some((0.5, None))),
        ];
        let sort = Sort {
            order,
            is_descending,
        };
        let rows = sort.sort(rows.iter().collect(), |row| {
            let comparison = first_comparison(row);
            let worse = comparison.map(|side| worsening(side.change, Some(Better::Lower)));
            (row, worse, comparison.and_then(|comparison| comparison.p))
        });
        rows.iter().map(|row| row.label().to_string()).collect()
    }

    #[test]
    fn rows_sort_by_change_the_worst_first_and_those_without_one_last() {
        assert_eq!(sorted(RowOrder::Change, false), "cbda");
        assert_eq!(sorted(RowOrder::Change, true), "dcba");
    }

    #[test]
    fn what_is_worse_depends_on_the_direction_of_the_unit() {
        for (better, worse) in [
            (Some(Better::Lower), 0.5),
            (Some(Better::Higher), -0.5),
            (None, 0.5),
        ] {
            assert_eq!(worsening(Change::By(0.5), better), worse);
        }
        assert_eq!(worsening(Change::By(-0.5), None), 0.5);
    }

    #[test]
    fn rows_sort_by_name_and_by_p() {
        assert_eq!(sorted(RowOrder::Name, false), "abcd");
        assert_eq!(sorted(RowOrder::Name, true), "dcba");
        assert_eq!(sorted(RowOrder::P, false), "dcab");
        assert_eq!(sorted(RowOrder::P, true), "cdab");
    }
}
