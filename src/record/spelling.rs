//! Numbers as Go prints them.

use std::fmt;

/// The shortest text that reads back as the same number, as Go's `%v` and its
/// CSV output spell it: in exponent form when the decimal exponent is below -4
/// or at least `limit`, and then with a sign and at least two exponent digits.
fn shortest(value: f64, limit: i32) -> String {
    if value.is_nan() {
        return "NaN".into();
    }
    if value.is_infinite() {
        return if value > 0.0 { "+Inf" } else { "-Inf" }.into();
    }
    let scientific = format!("{value:e}");
    let Some((mantissa, exponent)) = scientific.split_once('e') else {
        return scientific;
    };
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if (-4..limit).contains(&exponent) {
        format!("{value}")
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{mantissa}e{sign}{:02}", exponent.unsigned_abs())
    }
}

/// Displays a number in the spelling of CSV output and of warnings, where
/// `123456` is written out and `1.234567e+06` is not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shortest(pub f64);

impl fmt::Display for Shortest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        const LIMIT: i32 = 6;
        formatter.pad(&shortest(self.0, LIMIT))
    }
}

/// Displays a number as Go's `%v` does, where only what is 1e21 or more gets an
/// exponent: measurements in benchmark text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plain(pub f64);

impl fmt::Display for Plain {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        const LIMIT: i32 = 21;
        formatter.pad(&shortest(self.0, LIMIT))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::number::parse_number;
    use proptest::prelude::*;

    #[test]
    fn numbers_are_spelled_as_go_spells_them() {
        for (value, text) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (123_456.0, "123456"),
            (1_234_567.0, "1.234567e+06"),
            (8e6, "8e+06"),
            (999_999.5, "999999.5"),
            (5e-324, "5e-324"),
            (1.5e300, "1.5e+300"),
            (f64::INFINITY, "+Inf"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(Shortest(value).to_string(), text);
        }
    }

    proptest! {
        #[test]
        fn a_spelled_number_reads_back(value in proptest::num::f64::NORMAL | proptest::num::f64::SUBNORMAL) {
            prop_assert_eq!(parse_number(Shortest(value).to_string().as_bytes()), Ok(value));
        }
    }
}
