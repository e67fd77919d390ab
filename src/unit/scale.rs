//! Prefixes and decimals: how a value of a unit is best shown.

use super::known;
use super::tidy::{UnitToken, tokens};

/// Which prefixes a unit takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Powers of 1000: `k`, `M`, `m`, `µ` and so on.
    Decimal,
    /// Powers of 1024: `Ki`, `Mi` and so on; no fractions.
    Binary,
}

impl Class {
    /// Binary if a numerator token of `unit` counts bytes.
    #[must_use]
    pub fn of(unit: &[u8]) -> Self {
        let counts_bytes = |token| match token {
            UnitToken::Numerator(text) => known::unit(text).is_some_and(|unit| unit.is_binary),
            _ => false,
        };
        if tokens(unit).any(counts_bytes) {
            Self::Binary
        } else {
            Self::Decimal
        }
    }
}

/// A prefix with the number of decimals to show.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// What one unit of the prefix is worth, in the unit without prefix.
    pub factor: f64,
    /// The prefix, such as `µ` or `Ki`; empty for none.
    pub prefix: &'static str,
    /// Digits after the point.
    pub decimals: usize,
}

/// A prefix and the least values that are shown with 1, 2 and 3 decimals.
struct UnitPrefix {
    name: &'static str,
    factor: f64,
    least: [f64; 3],
}

/// The thresholds are where printing rounds to one more digit before the
/// point, so they must be the numbers nearest to the decimal text: computing
/// them as `99.995 * factor` would be off by one rounding for some prefixes.
macro_rules! decimal_prefix {
    ($name:literal, $factor:literal, $one:literal, $two:literal, $three:literal) => {
        UnitPrefix {
            name: $name,
            factor: $factor,
            least: [$one, $two, $three],
        }
    };
}

const DECIMAL: [UnitPrefix; 8] = [
    decimal_prefix!("T", 1e12, 99.995e12, 9.9995e12, 0.99995e12),
    decimal_prefix!("G", 1e9, 99.995e9, 9.9995e9, 0.99995e9),
    decimal_prefix!("M", 1e6, 99.995e6, 9.9995e6, 0.99995e6),
    decimal_prefix!("k", 1e3, 99.995e3, 9.9995e3, 0.99995e3),
    decimal_prefix!("", 1e0, 99.995, 9.9995, 0.99995),
    decimal_prefix!("m", 1e-3, 99.995e-3, 9.9995e-3, 0.99995e-3),
    decimal_prefix!("µ", 1e-6, 99.995e-6, 9.9995e-6, 0.99995e-6),
    decimal_prefix!("n", 1e-9, 99.995e-9, 9.9995e-9, 0.99995e-9),
];

/// Multiplying by a power of two is exact, so these are too.
const fn binary_prefix(name: &'static str, factor: f64) -> UnitPrefix {
    UnitPrefix {
        name,
        factor,
        least: [99.995 * factor, 9.9995 * factor, 0.99995 * factor],
    }
}

const BINARY: [UnitPrefix; 5] = [
    binary_prefix("Ti", (1_u64 << 40) as f64),
    binary_prefix("Gi", (1_u64 << 30) as f64),
    binary_prefix("Mi", (1_u64 << 20) as f64),
    binary_prefix("Ki", (1_u64 << 10) as f64),
    binary_prefix("", 1.0),
];

/// The least quotients that are shown with 4, 5, … 9 decimals; below, it is 10.
const LEAST_QUOTIENTS: [f64; 6] = [
    0.099_995,
    0.009_999_5,
    0.000_999_95,
    0.000_099_995,
    0.000_009_999_5,
    0.000_000_999_95,
];

impl Scale {
    /// The scale that shows `value` with four significant digits.
    #[must_use]
    pub fn of(value: f64, class: Class) -> Self {
        let magnitude = value.abs();
        if magnitude == 0.0 {
            return Self {
                factor: 1.0,
                prefix: "",
                decimals: 3,
            };
        }
        let prefixes: &[UnitPrefix] = match class {
            Class::Decimal => &DECIMAL,
            Class::Binary => &BINARY,
        };
        for prefix in prefixes {
            if let Some(index) = prefix.least.iter().position(|&least| magnitude >= least) {
                return Self::new(prefix, index + 1);
            }
        }
        let smallest = &prefixes[prefixes.len() - 1];
        let quotient = magnitude / smallest.factor;
        let more = LEAST_QUOTIENTS
            .iter()
            .position(|&least| quotient >= least)
            .unwrap_or(LEAST_QUOTIENTS.len());
        Self::new(smallest, 4 + more)
    }

    /// The one scale for all of `values`: that of the smallest non-zero magnitude.
    #[must_use]
    pub fn common(values: impl IntoIterator<Item = f64>, class: Class) -> Self {
        let smallest = values
            .into_iter()
            .map(f64::abs)
            .filter(|&magnitude| magnitude != 0.0)
            .fold(f64::INFINITY, f64::min);
        Self::of(if smallest.is_finite() { smallest } else { 0.0 }, class)
    }

    fn new(prefix: &UnitPrefix, decimals: usize) -> Self {
        Self {
            factor: prefix.factor,
            prefix: prefix.name,
            decimals,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(value: f64, class: Class) -> String {
        let scale = Scale::of(value, class);
        format!(
            "{:.*}{}",
            scale.decimals,
            value / scale.factor,
            scale.prefix
        )
    }

    #[test]
    fn four_significant_digits_are_shown() {
        for (value, text) in [
            (0.0, "0.000"),
            (1.7181e-6, "1.718µ"),
            (99.995e-9, "100.0n"),
            (99.994e-9, "99.99n"),
            (9.9995e-11, "0.09999n"),
            (1e-12, "0.001000n"),
            (1e-22, "0.0000000000n"),
            (999.95, "1.000k"),
            (999.94, "999.9"),
            (123_456e12, "123456.0T"),
            (-5e-9, "-5.000n"),
        ] {
            let text = if value == 1e-22 {
                "0.0000000000n"
            } else {
                text
            };
            assert_eq!(shown(value, Class::Decimal), text, "{value:e}");
        }
    }

    #[test]
    fn bytes_stay_on_the_smaller_prefix_up_to_1024() {
        for (value, text) in [
            (1023.0, "1023.0"),
            (1023.94, "1023.9"),
            (1023.95, "1.000Ki"),
            (1024.0, "1.000Ki"),
            (122_204.0, "119.3Ki"),
            (0.5, "0.5000"),
        ] {
            assert_eq!(shown(value, Class::Binary), text, "{value}");
        }
    }

    #[test]
    fn bytes_in_the_numerator_are_binary() {
        for (unit, class) in [
            ("B/op", Class::Binary),
            ("heap-bytes", Class::Binary),
            ("MB/s", Class::Binary),
            ("op/B", Class::Decimal),
            ("sec/op", Class::Decimal),
            ("allocs/op", Class::Decimal),
        ] {
            assert_eq!(Class::of(unit.as_bytes()), class, "{unit}");
        }
    }

    proptest! {
        /// A threshold one step off would show `1000.0n` or `0.999µ` somewhere.
        #[test]
        fn thresholds_agree_with_printing(mantissa in 1.0_f64..10.0, exponent in -9_i32..14) {
            let value = mantissa * 10_f64.powi(exponent);
            let text = shown(value, Class::Decimal);
            let digits = text.chars().filter(char::is_ascii_digit).count();
            let least = if value >= 999.95e12 { 5 } else { 4 };
            prop_assert!(text.contains("0.9999") || digits >= least, "{}", text);
            prop_assert!(digits == 4 || value >= 999.95e12 || text.starts_with("0.999"), "{}", text);
        }

        #[test]
        fn values_at_a_threshold_agree_with_printing(digits in 0_usize..3, prefix in 0_usize..8, steps in -3_i64..=3) {
            let least = DECIMAL[prefix].least[digits];
            let value = f64::from_bits(least.to_bits().saturating_add_signed(steps));
            let text = shown(value, Class::Decimal);
            let count = text.chars().filter(char::is_ascii_digit).count();
            prop_assert!(count == 4 || text.starts_with("0.9999"), "{} {}", value, text);
        }
    }
}
