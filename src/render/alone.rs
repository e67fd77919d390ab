//! One input alone: how well each median is known.

use super::format;
use crate::judge::LoneRow;
use crate::unit::Scale;

/// What the columns of a lone row are called, after its name and unit.
pub const COLUMNS: [&str; 6] = ["median", "±", "lowest", "highest", "runs", ""];

/// What they hold.
#[must_use]
pub fn cells(lone: &LoneRow<'_>) -> [String; 6] {
    let scale = Scale::common([lone.lowest, lone.highest], lone.table.class);
    let value = |value: f64| format::scaled(value, scale);
    let remark = match (lone.drifts, lone.reach.is_infinite(), lone.is_unsteady()) {
        (true, ..) => "drifts with time",
        (_, true, _) => "too few runs",
        (_, _, true) => "unsteady",
        _ => "",
    };
    [
        value(lone.cell.centre),
        format::range(lone.cell),
        value(lone.lowest),
        value(lone.highest),
        lone.cell.values.len().to_string(),
        remark.to_owned(),
    ]
}
