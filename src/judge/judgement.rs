//! The judgement of each row, and rows with all that they are about.

use std::cmp::Ordering;

use bstr::{BString, ByteSlice};
use serde::Serialize;

use super::effect::{Effect, EffectScale};
use super::verdict::Verdict;
use crate::report::model::{Cell, Change, Position, Report, Row, Table};

/// A row in one column of the run, against its baseline.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// Where it is.
    pub position: Position,
    /// What it comes to.
    pub verdict: Verdict,
    /// The column it was compared with, as an index of [`Report::columns`]: that of the table's first column.
    pub baseline: usize,
    /// How large the change is; none only for [`Verdict::Added`] and [`Verdict::Removed`].
    pub effect: Option<Effect>,
    /// One-sided p in the direction of the change, after correction for the comparisons of the run that count in that direction,
    /// 0 to 1; none where there is no p.
    pub adjusted_p: Option<f64>,
    /// Up to where a change does not matter; none where there is no effect.
    pub margin: Option<Margin>,
    /// Whether values of these sizes could have been significant at all, after correction, had this row alone changed.
    pub could_be_significant: bool,
    /// The smallest lone change to the worse, as a part of the baseline, > 0, that is a regression in 80 % of runs with values of
    /// this number and noise, after correction and beyond the margin; none where the effect is no ratio or unbounded.
    pub detectable: Option<f64>,
    /// How many values a side show a lone change of twice the margin in 80 % of runs, at this noise and after correction; none
    /// where [`Judgement::detectable`] is, or the margin is 0.
    pub detecting_count: Option<usize>,
    /// What a waiver makes of it; none where none names it.
    pub waiver: Option<WaiverState>,
}

impl Judgement {
    /// Whether it is a regression that a waiver tolerates.
    #[must_use]
    pub fn is_waived(&self) -> bool {
        self.verdict == Verdict::Regression
            && matches!(self.waiver, Some(WaiverState::Applies { .. }))
    }
}

/// Up to where a change does not matter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Margin {
    /// As a part of the baseline, ≥ 0.
    pub relative: f64,
    /// In the unit of the table, ≥ 0. A change matters if it exceeds both.
    pub absolute: f64,
    /// The two as one number in the scale of the effect, ≥ 0: what the interval was held against.
    pub limit: f64,
}

/// What a waiver makes of a row.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum WaiverState {
    /// A regression here is tolerated.
    Applies {
        /// Up to where, in the scale of the effect.
        ceiling: f64,
        /// The last day on which it is tolerated, as `YYYY-MM-DD`.
        expires: String,
        /// Why it is tolerated.
        reason: String,
    },
    /// The regression is larger than what is tolerated.
    OverCeiling {
        /// Up to where it would have been tolerated, in the scale of the effect.
        ceiling: f64,
    },
    /// It was tolerated until a day that is past.
    Expired {
        /// The last day, as `YYYY-MM-DD`.
        expires: String,
    },
}

/// The judgements of a whole run.
///
/// Runs may have as many tables as columns, so that there is nothing here for rows without anything on either side.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Judgements(Vec<Judgement>);

impl Judgements {
    /// Keeps these, which are in the order of their positions.
    pub(super) fn new(judgements: Vec<Judgement>) -> Self {
        debug_assert!(judgements.is_sorted_by_key(|judgement| judgement.position));
        Self(judgements)
    }

    /// All of them: by table, then row, then column.
    pub fn all(&self) -> std::slice::Iter<'_, Judgement> {
        self.0.iter()
    }

    /// The judgement at a position, if there is one.
    #[must_use]
    pub fn get(&self, position: Position) -> Option<&Judgement> {
        let at = self
            .0
            .binary_search_by_key(&position, |judgement| judgement.position);
        at.ok().map(|at| &self.0[at])
    }

    /// The judgements of a row, by column.
    #[must_use]
    pub fn of_row(&self, table: usize, row: usize) -> &[Judgement] {
        let up_to = |row: usize| {
            self.0.partition_point(|judgement| {
                (judgement.position.table, judgement.position.row) < (table, row)
            })
        };
        &self.0[up_to(row)..up_to(row + 1)]
    }

    /// All of them with what they are about, which is in `report`.
    pub fn rows<'a>(&'a self, report: &'a Report) -> impl Iterator<Item = JudgedRow<'a>> {
        let rows = self.all();
        rows.map(|judgement| JudgedRow::new(report, judgement))
    }

    /// [`Judgements::rows`]: by verdict in the order of [`Verdict::ALL`], of one verdict the worst first, else as they stand.
    #[must_use]
    pub fn worst_first<'a>(&'a self, report: &'a Report) -> Vec<JudgedRow<'a>> {
        let mut rows: Vec<_> = self.rows(report).collect();
        rows.sort_by(compare_badness);
        rows
    }
}

/// A judgement with all that it is about.
#[derive(Clone, Copy, Debug)]
pub struct JudgedRow<'a> {
    /// The table it is in.
    pub table: &'a Table,
    /// The row it is about.
    pub row: &'a Row,
    /// The baseline's cell; none if added.
    pub baseline: Option<&'a Cell>,
    /// The cell; none if removed.
    pub cell: Option<&'a Cell>,
    /// The judgement.
    pub judgement: &'a Judgement,
}

impl<'a> JudgedRow<'a> {
    /// The benchmark's name up to the first slash or blank, without the number of processors: what `go test -bench` knows it
    /// by, and the source after `Benchmark`.
    #[must_use]
    pub fn function(&self) -> BString {
        let label = self.row.label();
        let name = label
            .split(|byte| b" /".contains(byte))
            .next()
            .unwrap_or_default();
        let stem = name
            .rsplit_once_str("-")
            .filter(|(_, threads)| !threads.is_empty() && threads.iter().all(u8::is_ascii_digit));
        stem.map_or(name, |(stem, _)| stem).into()
    }

    /// A judgement of a row of `report`.
    #[must_use]
    pub fn new(report: &'a Report, judgement: &'a Judgement) -> Self {
        let position = judgement.position;
        let table = &report.tables[position.table];
        let baseline = Position {
            column: judgement.baseline,
            ..position
        };
        Self {
            table,
            row: &table.rows[position.row],
            baseline: match judgement.verdict {
                Verdict::Added => None,
                _ => report.cell(baseline),
            },
            cell: report.cell(position),
            judgement,
        }
    }

    /// Where it is.
    #[must_use]
    pub fn position(&self) -> Position {
        self.judgement.position
    }

    /// How bad the change is; see [`Effect::badness`]. 0 where a side is missing.
    #[must_use]
    pub fn badness(&self) -> f64 {
        let effect = self.judgement.effect.as_ref();
        effect.map_or(0.0, |effect| effect.badness(self.table.better))
    }

    /// The change to show where the interval stands beside it: the estimate within that interval, not the quotient of the centres;
    /// insignificant where the values differ by chance, as it looks, and the interval holds no change. None where a side is missing.
    #[must_use]
    pub fn change(&self) -> Option<Change> {
        let shown = self.cell?.comparison.as_ref()?.change;
        let Some(effect) = self
            .judgement
            .effect
            .as_ref()
            .filter(|effect| effect.is_bounded())
        else {
            return Some(shown);
        };
        let holds_none = effect.low <= 0.0 && 0.0 <= effect.high;
        Some(match shown {
            Change::FromZero => shown,
            Change::Insignificant if holds_none => shown,
            _ if effect.scale == EffectScale::Difference => shown,
            _ => Change::By(effect.estimate),
        })
    }

    /// How many values a side would tell what is inconclusive, where that is more than there are.
    #[must_use]
    pub fn more_values(&self) -> Option<usize> {
        let sides = [self.baseline?, self.cell?];
        let count = sides.map(|cell| cell.values.len()).into_iter().min()?;
        let is_doubtful = self.judgement.verdict == Verdict::Inconclusive;
        let needed = self.judgement.detecting_count.filter(|_| is_doubtful);
        needed.filter(|&needed| needed > count)
    }
}

/// Orders judgements for [`Judgements::worst_first`].
fn compare_badness(left: &JudgedRow<'_>, right: &JudgedRow<'_>) -> Ordering {
    let rank = |row: &JudgedRow<'_>| {
        let mut order = Verdict::ALL.iter();
        order.position(|&verdict| verdict == row.judgement.verdict)
    };
    // Of improvements the largest come first: the least bad.
    let badness = |row: &JudgedRow<'_>| match row.judgement.verdict {
        Verdict::Improvement => -row.badness(),
        _ => row.badness(),
    };
    rank(left)
        .cmp(&rank(right))
        .then_with(|| badness(right).total_cmp(&badness(left)))
}
