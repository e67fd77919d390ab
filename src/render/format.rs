//! The one home of digits: how values, changes and ranges are spelled.

use crate::report::model::{Cell, Change, Comparison, GeomeanChange};
use crate::unit::Scale;

/// `value` with the decimals and prefix of `scale`.
#[must_use]
pub fn scaled(value: f64, scale: Scale) -> String {
    if value.is_finite() {
        format!(
            "{:.*}{}",
            scale.decimals,
            value / scale.factor,
            scale.prefix
        )
    } else {
        format!(
            "{}{}",
            crate::record::spelling::Shortest(value),
            scale.prefix
        )
    }
}

/// How far the interval of a cell reaches from its centre, as a whole percentage.
#[must_use]
pub fn range(cell: &Cell) -> String {
    let Cell {
        centre, low, high, ..
    } = *cell;
    if low.is_infinite() || high.is_infinite() {
        return "∞".into();
    }
    let sign = |value: f64| (value > 0.0, value < 0.0);
    if sign(low) != sign(centre) || sign(high) != sign(centre) {
        return "?".into();
    }
    if centre == 0.0 {
        return "0%".into();
    }
    let reach = (high / centre - 1.0).max(1.0 - low / centre);
    format!("{:.0}%", reach * 100.0)
}

/// A ratio less 1 as a percentage with a sign and two decimals.
#[must_use]
pub fn percent(part: f64) -> String {
    if part.is_nan() {
        return "NaN%".into();
    }
    format!("{:+.2}%", part * 100.0)
}

/// The change of a cell.
#[must_use]
pub fn change(change: Change) -> String {
    match change {
        Change::Insignificant => "~".into(),
        Change::Same => "0.00%".into(),
        Change::FromZero => "?".into(),
        Change::By(part) => percent(part),
    }
}

/// The change of a geomean.
#[must_use]
pub fn geomean_change(change: GeomeanChange) -> String {
    match change {
        GeomeanChange::Undefined => "?".into(),
        GeomeanChange::By(part) => percent(part),
    }
}

/// The p-value, where there is one to show, and the numbers of values.
#[must_use]
pub fn evidence(comparison: &Comparison) -> String {
    let Comparison {
        baseline_count,
        count,
        ..
    } = *comparison;
    let sizes = if baseline_count == count {
        format!("n={count}")
    } else {
        format!("n={baseline_count}+{count}")
    };
    match comparison.p {
        // A p of exactly 0 is beyond what the arithmetic can tell, so none is shown.
        Some(p) if p != 0.0 => format!("p={p:.3} {sizes}"),
        _ => sizes,
    }
}

/// `number` in superscript digits.
#[must_use]
pub fn superscript(number: usize) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    number
        .to_string()
        .bytes()
        .map(|digit| DIGITS[usize::from(digit - b'0')])
        .collect()
}
