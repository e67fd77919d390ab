//! The one home of digits: how values, changes and ranges are spelled.

use crate::report::EffectScale;
use crate::report::judgement::Judged;
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

/// A count with commas between thousands.
#[must_use]
pub fn count(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The centres of both sides with the decimals and prefix that they share; empty where a side is missing.
#[must_use]
pub fn centres(judged: &Judged<'_>) -> [String; 2] {
    let sides = [judged.baseline, judged.cell].map(|cell| cell.map(|cell| cell.centre));
    let scale = Scale::common(sides.iter().flatten().copied(), judged.table.class);
    let mut cells = [judged.baseline, judged.cell].into_iter().flatten();
    let is_constant = cells.all(|cell| cell.low == cell.high || judged.table.is_exact);
    sides.map(|centre| match centre {
        None => String::new(),
        Some(0.0) => "0".into(),
        // Counts that are the same on every run are no measurements with decimals.
        Some(centre) if is_constant && centre.fract() == 0.0 && centre.abs() < 1e4 => {
            format!("{centre}")
        }
        Some(centre) => scaled(centre, scale),
    })
}

/// The change of a judgement: as in the table, or from what to what where there is no ratio.
#[must_use]
pub fn judged_change(judged: &Judged<'_>) -> String {
    let comparison = judged.cell.and_then(|cell| cell.comparison.as_ref());
    match comparison.map(|comparison| comparison.change) {
        None => String::new(),
        Some(Change::FromZero) => centres(judged).join(" → "),
        Some(shown) => change(shown),
    }
}

/// The interval of a judgement's change; empty where there is no change.
#[must_use]
pub fn interval(judged: &Judged<'_>) -> String {
    let Some(effect) = &judged.judgement.effect else {
        return String::new();
    };
    if !effect.is_bounded() {
        return "∞".into();
    }
    if judged.table.is_exact {
        return "exact".into();
    }
    let bound = |bound: f64| match effect.scale {
        EffectScale::Ratio | EffectScale::RelativeDifference => percent(bound),
        EffectScale::Difference => difference(bound, judged),
    };
    let (low, high) = (bound(effect.low), bound(effect.high));
    if low == high {
        low
    } else {
        format!("{low} to {high}")
    }
}

/// Up to where a change of the judgement does not matter; empty where there is no change.
#[must_use]
pub fn limit(judged: &Judged<'_>) -> String {
    let (Some(margin), Some(effect)) = (&judged.judgement.margin, &judged.judgement.effect) else {
        return String::new();
    };
    let limit = match effect.scale {
        EffectScale::Ratio | EffectScale::RelativeDifference => percent(margin.limit),
        EffectScale::Difference => difference(margin.limit, judged),
    };
    limit.trim_start_matches('+').into()
}

/// A difference in the unit of the table, with its sign.
fn difference(value: f64, judged: &Judged<'_>) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let text = if value.fract() == 0.0 && value.abs() < 1e4 {
        format!("{value}")
    } else {
        scaled(value, Scale::of(value, judged.table.class))
    };
    if value > 0.0 {
        format!("+{text}")
    } else {
        text
    }
}

/// The level of the intervals that go with a significance level.
#[must_use]
pub fn level(alpha: f64) -> String {
    let percent = ((1.0 - alpha) * 1e6).round() / 1e4;
    format!("{percent}%")
}

/// A p-value with three decimals, or that it is below what they can show.
#[must_use]
pub fn probability(p: f64) -> String {
    if p < 0.001 {
        "p<0.001".into()
    } else {
        format!("p={p:.3}")
    }
}
