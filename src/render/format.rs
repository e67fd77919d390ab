//! The one home of digits: how values, changes and ranges are spelled.
//!
//! Tables consist of these texts, so they are put together piece by piece: each `write!` takes as long as a short number.

use std::fmt::{self, Display, Formatter};

use crate::judge::{EffectScale, JudgedRow};
use crate::record::spelling::Shortest;
use crate::report::model::{Cell, Change, Comparison, GeomeanChange};
use crate::unit::Scale;

/// A number with so many decimals, as `{:.decimals$}` writes it but for infinities: the nearest, of two equally near ones the even one.
///
/// The standard library takes a third of the time of a whole table for this, most of it for numbers such as 12.5 that are
/// short. Where all digits fit in 128 bits, a multiplication and a shift tell the same.
#[derive(Clone, Copy, Debug)]
pub struct Fixed(pub f64, pub usize);

impl Fixed {
    /// The magnitude in units of the last decimal; none where that is not told by 128 bits.
    fn units(self) -> Option<u64> {
        let magnitude = self.0.abs();
        let decimals = u32::try_from(self.1).ok().filter(|&count| count <= 10)?;
        if magnitude == 0.0 {
            return Some(0);
        }
        // Below 2^53 there is no digit beyond the mantissa, and so small a fraction is not all shifted out.
        if !(1e-12..9e15).contains(&magnitude) {
            return None;
        }
        let bits = magnitude.to_bits();
        let exponent = i32::try_from(bits >> 52).ok()? - 1075;
        let mantissa = u128::from(bits & ((1 << 52) - 1) | 1 << 52);
        // magnitude = mantissa · 2^exponent, with exponent from -92 to 0.
        let shift = u32::try_from(-exponent).ok()?;
        // 53 and 34 bits.
        let scaled = mantissa * 10_u128.pow(decimals);
        if shift == 0 {
            return u64::try_from(scaled).ok();
        }
        let (whole, rest) = (scaled >> shift, scaled & ((1 << shift) - 1));
        let half = 1 << (shift - 1);
        let up = rest > half || (rest == half && whole & 1 == 1);
        u64::try_from(whole + u128::from(up)).ok()
    }
}

impl Display for Fixed {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let Self(value, decimals) = *self;
        if value.is_infinite() {
            // As Go spells it, always with its sign.
            return formatter.write_str(if value > 0.0 { "+Inf" } else { "-Inf" });
        }
        let Some(mut units) = self.units() else {
            return write!(formatter, "{value:.decimals$}");
        };
        // A sign, 20 digits and a point at most.
        let mut text = [b'0'; 24];
        let mut start = text.len();
        let mut written = 0;
        while units > 0 || written <= decimals {
            if written == decimals && decimals > 0 {
                start -= 1;
                text[start] = b'.';
            }
            start -= 1;
            text[start] += u8::try_from(units % 10).map_err(|_| fmt::Error)?;
            units /= 10;
            written += 1;
        }
        if value.is_sign_negative() {
            start -= 1;
            text[start] = b'-';
        }
        formatter.write_str(str::from_utf8(&text[start..]).map_err(|_| fmt::Error)?)
    }
}

/// A value with the decimals and prefix of a scale.
#[derive(Clone, Copy, Debug)]
pub struct Scaled(pub f64, pub Scale);

impl Display for Scaled {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let Self(value, scale) = *self;
        let Scale {
            factor,
            prefix,
            decimals,
        } = scale;
        if value.is_finite() {
            Fixed(value / factor, decimals).fmt(formatter)?;
        } else {
            Shortest(value).fmt(formatter)?;
        }
        formatter.write_str(prefix)
    }
}

/// [`Scaled`] as a text of its own.
#[must_use]
pub fn scaled(value: f64, scale: Scale) -> String {
    Scaled(value, scale).to_string()
}

/// How far the interval of a cell reaches from its centre, as a whole percentage.
#[derive(Clone, Copy, Debug)]
pub struct Range<'a>(pub &'a Cell);

impl Display for Range<'_> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let Cell {
            centre, low, high, ..
        } = *self.0;
        let sign = |value: f64| (value > 0.0, value < 0.0);
        if low.is_infinite() || high.is_infinite() {
            formatter.write_str("∞")
        } else if sign(low) != sign(centre) || sign(high) != sign(centre) {
            formatter.write_str("?")
        } else if centre == 0.0 {
            formatter.write_str("0%")
        } else {
            let reach = (high / centre - 1.0).max(1.0 - low / centre);
            Fixed(reach * 100.0, 0).fmt(formatter)?;
            formatter.write_str("%")
        }
    }
}

/// [`Range`] as a text of its own.
#[must_use]
pub fn range(cell: &Cell) -> String {
    Range(cell).to_string()
}

/// A ratio less 1 as a percentage with a sign and two decimals.
#[derive(Clone, Copy, Debug)]
pub struct Percent(pub f64);

impl Display for Percent {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let percentage = self.0 * 100.0;
        if percentage.is_nan() {
            return formatter.write_str("NaN%");
        }
        if percentage.is_sign_positive() && percentage.is_finite() {
            formatter.write_str("+")?;
        }
        Fixed(percentage, 2).fmt(formatter)?;
        formatter.write_str("%")
    }
}

/// [`Percent`] as a text of its own, with more decimals where two would take a small change for none.
#[must_use]
pub fn percent(part: f64) -> String {
    /// Beyond, it is the rounding of a number.
    const MOST_DECIMALS: usize = 6;
    let percentage = part * 100.0;
    let decimals = (3..=MOST_DECIMALS).find(|&decimals| {
        let hundredfold =
            percentage.abs() * 10f64.powi(i32::try_from(decimals).unwrap_or_default());
        hundredfold >= 9.5
    });
    match decimals {
        Some(decimals) if percentage.abs() < 0.005 => format!("{percentage:+.decimals$}%"),
        _ => Percent(part).to_string(),
    }
}

/// The change of a cell.
#[derive(Clone, Copy, Debug)]
pub struct Changed(pub Change);

impl Display for Changed {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            Change::Insignificant => formatter.write_str("~"),
            Change::Same => formatter.write_str("0.00%"),
            Change::FromZero => formatter.write_str("?"),
            Change::By(part) => Percent(part).fmt(formatter),
        }
    }
}

/// [`Changed`] as a text of its own.
#[must_use]
pub fn change(change: Change) -> String {
    Changed(change).to_string()
}

/// The change of a geomean.
#[must_use]
pub fn geomean_change(change: GeomeanChange) -> String {
    match change {
        GeomeanChange::Undefined => "?".into(),
        GeomeanChange::By(part) => Percent(part).to_string(),
    }
}

/// The p-value, where there is one to show, and the numbers of values.
#[derive(Clone, Copy, Debug)]
pub struct Significance<'a>(pub &'a Comparison);

impl Display for Significance<'_> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let Comparison {
            p,
            baseline_count,
            count,
            ..
        } = *self.0;
        // A p of exactly 0 is beyond what the arithmetic can tell, so none is shown.
        if let Some(p) = p.filter(|&p| p != 0.0) {
            formatter.write_str("p=")?;
            Fixed(p, 3).fmt(formatter)?;
            formatter.write_str(" ")?;
        }
        formatter.write_str("n=")?;
        if baseline_count != count {
            Display::fmt(&baseline_count, formatter)?;
            formatter.write_str("+")?;
        }
        Display::fmt(&count, formatter)
    }
}

/// [`Significance`] as a text of its own.
#[must_use]
pub fn evidence(comparison: &Comparison) -> String {
    Significance(comparison).to_string()
}

/// Adds `number` in superscript digits.
pub fn push_superscript(text: &mut String, number: usize) {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    if number >= 10 {
        push_superscript(text, number / 10);
    }
    text.push(DIGITS[number % 10]);
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
pub fn centres(judged: &JudgedRow<'_>) -> [String; 2] {
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

/// The change of a judgement, which lies within its interval; or from what to what where there is no ratio.
#[must_use]
pub fn judged_change(judged: &JudgedRow<'_>) -> String {
    match judged.change() {
        None => String::new(),
        Some(Change::FromZero) => centres(judged).join(" → "),
        Some(shown) => change(shown),
    }
}

/// The interval of a judgement's change; empty where there is no change.
#[must_use]
pub fn interval(judged: &JudgedRow<'_>) -> String {
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
pub fn limit(judged: &JudgedRow<'_>) -> String {
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
fn difference(value: f64, judged: &JudgedRow<'_>) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Numbers of the usual sizes, such as lie exactly between two shorter ones, and any others.
    fn number() -> impl Strategy<Value = f64> {
        prop_oneof![
            (-1_000_000_000_i64..1_000_000_000, 0..40_u8)
                .prop_map(|(whole, halvings)| whole as f64 / f64::from(halvings).exp2()),
            (-100_000_i64..100_000, -14..16_i32)
                .prop_map(|(digits, exponent)| digits as f64 * 10_f64.powi(exponent)),
            any::<f64>(),
        ]
    }

    #[test]
    fn a_small_change_is_told_from_none() {
        for (part, text) in [
            (0.0, "+0.00%"),
            (0.12345, "+12.35%"),
            (0.000_05, "+0.01%"),
            (0.000_019, "+0.0019%"),
            (-0.000_001_04, "-0.00010%"),
            (1e-9, "+0.00%"),
            (f64::INFINITY, "+Inf%"),
        ] {
            assert_eq!(percent(part), text);
        }
    }

    proptest! {
        #[test]
        fn fixed_decimals_are_those_of_the_standard_library(number in number(), decimals in 0..40_usize) {
            prop_assume!(!number.is_infinite());
            prop_assert_eq!(Fixed(number, decimals).to_string(), format!("{number:.decimals$}"));
        }

        #[test]
        fn a_percentage_always_has_a_sign(part in number()) {
            prop_assume!((part * 100.0).is_finite());
            prop_assert_eq!(Percent(part).to_string(), format!("{:+.2}%", part * 100.0));
        }
    }
}
