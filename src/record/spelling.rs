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
    let mut scientific = format!("{value:e}");
    let digits = scientific
        .bytes()
        .take_while(|byte| *byte != b'e')
        .filter(u8::is_ascii_digit)
        .count();
    // Where two shortest texts are equally near, Go takes the one with the even digit.
    let even = format!("{value:.*e}", digits - 1);
    if even != scientific && even.parse() == Ok(value) {
        scientific = even;
    }
    let Some((mantissa, exponent)) = scientific.split_once('e') else {
        return scientific;
    };
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if (-4..limit).contains(&exponent) {
        let decimals = i32::try_from(digits).unwrap_or(i32::MAX) - 1 - exponent;
        match usize::try_from(decimals) {
            Ok(decimals) => format!("{value:.decimals$}"),
            Err(_) => format!("{value:.0}"),
        }
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
            (1_024_001_463_422_335.2, "1.0240014634223352e+15"),
            (0.1 + 0.2, "0.30000000000000004"),
            (1.5e300, "1.5e+300"),
            (f64::INFINITY, "+Inf"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(Shortest(value).to_string(), text);
        }
    }

    #[test]
    fn of_two_equally_near_texts_the_even_one_is_taken() {
        let value = 8_192_011_707_378_682.0 / 8.0;
        assert_eq!(Plain(value).to_string(), "1024001463422335.2");
        assert_eq!(Shortest(-value).to_string(), "-1.0240014634223352e+15");
    }

    proptest! {
        #[test]
        fn a_plainly_spelled_number_reads_back(value in proptest::num::f64::NORMAL | proptest::num::f64::SUBNORMAL) {
            prop_assert_eq!(parse_number(Plain(value).to_string().as_bytes()), Ok(value));
        }

        #[test]
        fn a_spelled_number_reads_back(value in proptest::num::f64::NORMAL | proptest::num::f64::SUBNORMAL) {
            prop_assert_eq!(parse_number(Shortest(value).to_string().as_bytes()), Ok(value));
        }
    }
}
