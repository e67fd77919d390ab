//! The evidence of a whole run: column by column, what whole passes did taken out of it, and what says the same counted once.

use std::collections::BTreeMap;

use super::contrast::Contrast;
use super::evidence::{Evidence, test};
use super::judging::Judging;
use super::pair::Pair;
use super::passes::Passes;
use super::shift::Shift;
use super::twins::twins;
use crate::report::model::{Position, Report};

/// What a run says before anything is made worse in it.
#[derive(Clone, Debug, Default)]
pub struct Undisturbed {
    /// The p-values for "worse" that count, ascending.
    pub(super) worse: Vec<f64>,
    /// How far each pass was off, by table and column.
    pub(super) passes: BTreeMap<(usize, usize), Passes>,
    /// What moved as a whole.
    pub(super) shifts: Vec<Shift>,
}

/// The evidence of a whole run.
#[derive(Debug)]
pub(super) struct Collected {
    pub evidence: Vec<Evidence>,
    /// For each of them the one that says the same, and counts in its place.
    pub twins: Vec<Option<usize>>,
    pub shifts: Vec<Shift>,
    /// The columns, by table, that were compared by rounds.
    pub passes: BTreeMap<(usize, usize), Passes>,
}

/// Collects the evidence of all contrasts that have a p-value.
pub(super) fn collect(
    report: &Report,
    contrasts: &[Contrast],
    judging: &Judging,
    undisturbed: Option<&Undisturbed>,
) -> Collected {
    let mut evidence = Vec::new();
    let mut shifts = Vec::new();
    let mut passes_of = BTreeMap::new();
    let mut room = Vec::new();
    let mut by_column: Vec<usize> = (0..contrasts.len()).collect();
    by_column.sort_by_key(|&index| {
        let Position { table, row, column } = contrasts[index].position;
        (table, column, row)
    });
    let group_of = |index: usize| {
        let position = contrasts[index].position;
        (position.table, position.column)
    };
    let whole_alpha = judging.whole_alpha.unwrap_or(judging.alpha);
    for of_column in by_column.chunk_by(|left, right| group_of(*left) == group_of(*right)) {
        let pairs = of_column.iter();
        let mut pairs: Vec<Pair> = pairs
            .filter_map(|&index| Pair::of(index, &contrasts[index], report, whole_alpha, &mut room))
            .collect();
        if pairs.iter().any(|pair| pair.is_paired) {
            let (table, column) = group_of(of_column[0]);
            let known = undisturbed.map(|run| run.passes.get(&(table, column)).cloned());
            let mut passes = known.flatten().unwrap_or_else(|| Passes::of(&pairs));
            // What was made worse in memory is no shift.
            let common = match undisturbed {
                Some(_) => None,
                None => passes.common(&pairs),
            };
            if let Some(common) = common {
                passes.keep(&common);
                shifts.push(Shift {
                    column,
                    unit: report.tables[table].unit.clone(),
                    moved: common.moved,
                    rows: common.rows,
                    mean: common.mean.exp_m1(),
                    reach: common.mean.exp() * common.reach.exp_m1(),
                });
            }
            passes.take_out(&mut pairs);
            passes_of.insert((table, column), passes);
        }
        evidence.extend(test(pairs, judging.alpha));
    }
    let position = |one: &Evidence| contrasts[one.contrast].position;
    let positions: Vec<Position> = evidence.iter().map(position).collect();
    Collected {
        twins: twins(report, &positions),
        evidence,
        shifts,
        passes: passes_of,
    }
}
