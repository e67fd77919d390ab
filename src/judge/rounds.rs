//! The rounds in which the values of a row were measured.

use std::collections::BTreeMap;

use crate::report::model::Cell;

/// The values of a cell by round, those of one round as their mean on the scale of `of`; none where some value has no round.
fn by_round(cell: &Cell, of: fn(f64) -> f64) -> Option<BTreeMap<u32, f64>> {
    if cell.rounds.is_empty() || cell.rounds.contains(&0) {
        return None;
    }
    let mut rounds: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
    for (round, value) in cell.rounds.iter().zip(cell.values.iter()) {
        let (sum, count) = rounds.entry(*round).or_default();
        *sum += of(value);
        *count += 1.0;
    }
    let rounds = rounds.into_iter();
    Some(
        rounds
            .map(|(round, (sum, count))| (round, sum / count))
            .collect(),
    )
}

/// The rounds that both sides have, ascending, with the means of both; none where a side has values without a round.
pub(super) fn common(sides: [&Cell; 2], of: fn(f64) -> f64) -> Option<Vec<(u32, [f64; 2])>> {
    let [old, new] = sides.map(|cell| by_round(cell, of));
    let (old, new) = (old?, new?);
    let both = old.into_iter();
    let both = both.filter_map(|(round, old)| Some((round, [old, *new.get(&round)?])));
    Some(both.collect())
}
