//! The intervals of geometric means.

use std::collections::BTreeMap;

use serde::Serialize;

use super::effect::{Effect, EffectScale, EstimatedBy};
use super::judgement::Judgements;
use crate::report::model::{Geomean, GeomeanChange, Report};
use crate::stats::{Interval, geomean_interval};

/// Why the change of a geomean has no interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NoGeomeanEffect {
    /// The change itself is undefined.
    Undefined,
    /// Some row has too few values for an interval.
    TooFewRuns,
    /// Some row has values that are not positive, so its interval is none of a ratio.
    NotPositive,
}

/// The change of a geomean with its interval, from the intervals of the rows.
pub type GeomeanEffect = Result<Effect, NoGeomeanEffect>;

/// The effects of the geomeans of a run: by table, then by its columns after the first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GeomeanEffects(Vec<Vec<GeomeanEffect>>);

impl GeomeanEffects {
    /// Those of a judged report; intervals have the level 1 − `alpha`.
    pub(super) fn of(report: &Report, judgements: &Judgements, alpha: f64) -> Self {
        let mut intervals = report
            .tables
            .iter()
            .map(|_| BTreeMap::new())
            .collect::<Vec<_>>();
        for judgement in judgements.all() {
            let (Some(effect), position) = (&judgement.effect, judgement.position) else {
                continue;
            };
            let of_table: &mut BTreeMap<usize, _> = &mut intervals[position.table];
            let of_column = of_table
                .entry(position.column)
                .or_insert_with(|| Ok(Vec::new()));
            if let Ok(intervals) = of_column {
                match interval(effect) {
                    Ok(interval) => intervals.push(interval),
                    Err(reason) => *of_column = Err(reason),
                }
            }
        }
        let tables = report.tables.iter().zip(intervals);
        Self(
            tables
                .map(|(table, mut intervals)| {
                    let columns = table.places.iter().zip(&table.geomeans).skip(1);
                    columns
                        .map(|(column, geomean)| {
                            let intervals = intervals.remove(column);
                            geomean_effect(
                                geomean,
                                intervals.unwrap_or_else(|| Ok(Vec::new())),
                                alpha,
                            )
                        })
                        .collect()
                })
                .collect(),
        )
    }

    /// That of a column of a table, by both their indices; none in the first column.
    #[must_use]
    pub fn get(&self, table: usize, column: usize) -> Option<GeomeanEffect> {
        self.0[table].get(column.checked_sub(1)?).copied()
    }
}

/// The ratio of a row with its bounds.
fn interval(effect: &Effect) -> Result<Interval, NoGeomeanEffect> {
    if !effect.is_bounded() {
        Err(NoGeomeanEffect::TooFewRuns)
    } else if effect.scale == EffectScale::Difference && (effect.low, effect.high) == (0.0, 0.0) {
        // Nothing that stays nothing counts as a ratio of 1.
        Ok(Interval { lo: 1.0, hi: 1.0 })
    } else {
        effect.ratio_interval().ok_or(NoGeomeanEffect::NotPositive)
    }
}

fn geomean_effect(
    geomean: &Geomean,
    intervals: Result<Vec<Interval>, NoGeomeanEffect>,
    alpha: f64,
) -> GeomeanEffect {
    let Some(GeomeanChange::By(change)) = geomean.change else {
        return Err(NoGeomeanEffect::Undefined);
    };
    let interval = geomean_interval(1.0 + change, &intervals?).ok_or(NoGeomeanEffect::Undefined)?;
    let bounds = [change, interval.lo - 1.0, interval.hi - 1.0];
    Ok(Effect::bounded(
        EffectScale::Ratio,
        EstimatedBy::Rows,
        bounds,
        1.0 - alpha,
    ))
}
