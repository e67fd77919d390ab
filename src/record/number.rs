//! Numbers as the benchmark format spells them.
//!
//! The forms are those of Go's `strconv.ParseFloat`: decimal and exponent
//! forms, hexadecimal floats with a binary exponent, infinities, NaN, and
//! underscores between digits.

use std::str;

/// Why a text is not a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NumberError {
    /// The text is not spelled as a number.
    #[error("invalid syntax")]
    Syntax,
    /// The text is a number, but too large to hold.
    #[error("value out of range")]
    Range,
}

/// Parses a measurement: the nearest `f64`, where too small is 0.
///
/// # Errors
/// [`NumberError::Syntax`] for a text that is no number, [`NumberError::Range`]
/// for one whose magnitude exceeds [`f64::MAX`] after rounding.
pub fn parse_number(text: &[u8]) -> Result<f64, NumberError> {
    if let Some((value, length)) = parse_leading_decimal(text)
        && length == text.len()
    {
        return Ok(value);
    }
    let unsigned = text
        .strip_prefix(b"+")
        .or_else(|| text.strip_prefix(b"-"))
        .unwrap_or(text);
    if unsigned.len() > 2 && unsigned[..2].eq_ignore_ascii_case(b"0x") {
        return parse_hexadecimal(text.starts_with(b"-"), &unsigned[2..]);
    }
    if unsigned.first().is_some_and(u8::is_ascii_alphabetic) {
        return parse_word(text, unsigned);
    }
    if text.contains(&b'_') {
        return parse_decimal(&without_underscores(text, u8::is_ascii_digit)?);
    }
    parse_decimal(text)
}

/// The common case, such as `4862` or `31459.25`, with its length: at most 15
/// digits, which an `f64` holds exactly, divided by a power of ten that it holds
/// exactly too, so that the one rounding is that of the division (Clinger 1990).
///
/// Reads as far as there are digits; whatever follows is the caller's matter. The standard library's way takes a fifth more of
/// all processor time.
#[inline]
pub(super) fn parse_leading_decimal(text: &[u8]) -> Option<(f64, usize)> {
    const POWERS: [f64; 16] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
    ];
    let (mut digits, whole) = leading_digits(text, 0);
    let (mut fraction, mut length) = (0, whole);
    if text.get(whole) == Some(&b'.') {
        (digits, fraction) = leading_digits(&text[whole + 1..], digits);
        length += 1 + fraction;
    }
    let count = whole + fraction;
    if count == 0 || count > 15 {
        return None;
    }
    Some((digits as f64 / POWERS[fraction], length))
}

/// Appends the digits that `text` starts with to `number`, and counts them.
/// Beyond 19 digits in all the number is of no use, and wraps.
#[inline]
fn leading_digits(text: &[u8], mut number: u64) -> (u64, usize) {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit());
    let mut count = 0;
    for byte in digits {
        number = number.wrapping_mul(10).wrapping_add(u64::from(byte - b'0'));
        count += 1;
    }
    (number, count)
}

/// A common iteration count, with its length: at most 18 digits.
#[inline]
pub(super) fn parse_leading_integer(text: &[u8]) -> Option<(i64, usize)> {
    let (number, length) = leading_digits(text, 0);
    if length == 0 || length > 18 {
        return None;
    }
    Some((number.cast_signed(), length))
}

/// Decimal forms without underscores.
fn parse_decimal(text: &[u8]) -> Result<f64, NumberError> {
    let spelled = str::from_utf8(text).map_err(|_| NumberError::Syntax)?;
    let value: f64 = spelled.parse().map_err(|_| NumberError::Syntax)?;
    finite(value)
}

/// `inf`, `infinity` (with a sign or not) and `nan` (without), in any case.
fn parse_word(text: &[u8], unsigned: &[u8]) -> Result<f64, NumberError> {
    if text.eq_ignore_ascii_case(b"nan") {
        Ok(f64::NAN)
    } else if unsigned.eq_ignore_ascii_case(b"inf") || unsigned.eq_ignore_ascii_case(b"infinity") {
        Ok(if text.starts_with(b"-") {
            f64::NEG_INFINITY
        } else {
            f64::INFINITY
        })
    } else {
        Err(NumberError::Syntax)
    }
}

/// Removes underscores, each of which must stand between two digits.
fn without_underscores(text: &[u8], is_digit: fn(&u8) -> bool) -> Result<Vec<u8>, NumberError> {
    let digit_at = |at: Option<usize>| at.and_then(|at| text.get(at)).is_some_and(is_digit);
    let misplaced = |at: usize| !digit_at(at.checked_sub(1)) || !digit_at(Some(at + 1));
    if (0..text.len()).any(|at| text[at] == b'_' && misplaced(at)) {
        return Err(NumberError::Syntax);
    }
    Ok(text.iter().copied().filter(|&byte| byte != b'_').collect())
}

/// A hexadecimal float after its `0x`, whose binary exponent is obligatory.
fn parse_hexadecimal(negative: bool, text: &[u8]) -> Result<f64, NumberError> {
    let at = text
        .iter()
        .position(|byte| matches!(byte, b'p' | b'P'))
        .ok_or(NumberError::Syntax)?;
    // The prefix counts as a digit: `0x_1p0` is right, `0x_.8p0` is not.
    let mantissa = match &text[..at] {
        [b'_', rest @ ..] if rest.first().is_some_and(u8::is_ascii_hexdigit) => rest,
        mantissa => mantissa,
    };
    let mantissa = without_underscores(mantissa, u8::is_ascii_hexdigit)?;
    let exponent = parse_exponent(&without_underscores(&text[at + 1..], u8::is_ascii_digit)?)?;

    // The first 64 significant bits; what follows them only breaks ties.
    let (mut bits, mut scale, mut sticky) = (0_u64, exponent, false);
    let (mut digits, mut point) = (0_usize, false);
    for &byte in &mantissa {
        if byte == b'.' && !point {
            point = true;
            continue;
        }
        let digit = (byte as char).to_digit(16).ok_or(NumberError::Syntax)?;
        digits += 1;
        if bits >> 60 == 0 {
            bits = bits << 4 | u64::from(digit);
            scale -= i64::from(point) * 4;
        } else {
            sticky |= digit != 0;
            scale += i64::from(!point) * 4;
        }
    }
    if digits == 0 {
        return Err(NumberError::Syntax);
    }
    let magnitude = finite(compose(bits, sticky, scale))?;
    Ok(if negative { -magnitude } else { magnitude })
}

/// A decimal exponent with an optional sign, saturating: what is beyond ±10⁹
/// is infinite or 0 for any mantissa that fits in memory.
fn parse_exponent(text: &[u8]) -> Result<i64, NumberError> {
    const LIMIT: i64 = 1_000_000_000;
    let negative = text.starts_with(b"-");
    let digits = text
        .strip_prefix(b"+")
        .or_else(|| text.strip_prefix(b"-"))
        .unwrap_or(text);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(NumberError::Syntax);
    }
    let magnitude = digits.iter().fold(0, |sum, byte| {
        (sum * 10 + i64::from(byte - b'0')).min(LIMIT)
    });
    Ok(if negative { -magnitude } else { magnitude })
}

/// `bits · 2^scale`, rounded once, half to even; `sticky` says that more follows `bits`.
fn compose(bits: u64, sticky: bool, scale: i64) -> f64 {
    const MANTISSA_BITS: i64 = 53;
    const LEAST_EXPONENT: i64 = -1074;
    if bits == 0 {
        return 0.0;
    }
    let length = 64 - i64::from(bits.leading_zeros());
    let excess = (length - MANTISSA_BITS).max(LEAST_EXPONENT - scale);
    if excess <= 0 {
        // Fits exactly; a multiplication by powers of two rounds nothing but overflow.
        return scale_exactly(bits as f64, scale);
    }
    if excess > 64 {
        return 0.0;
    }
    let wide = u128::from(bits);
    let (kept, rest) = (wide >> excess, wide & ((1 << excess) - 1));
    let half = 1_u128 << (excess - 1);
    let up = rest > half || (rest == half && (sticky || kept & 1 == 1));
    #[expect(clippy::cast_possible_truncation, reason = "kept has at most 54 bits")]
    let rounded = (kept + u128::from(up)) as u64;
    scale_exactly(rounded as f64, scale + excess)
}

/// `value · 2^scale` for a value and a result that need no rounding.
fn scale_exactly(mut value: f64, mut scale: i64) -> f64 {
    const STEP: i64 = 512;
    let step = 2_f64.powi(512);
    while scale >= STEP && value.is_finite() {
        value *= step;
        scale -= STEP;
    }
    while scale <= -STEP && value != 0.0 {
        value /= step;
        scale += STEP;
    }
    match i32::try_from(scale) {
        Ok(scale) if scale.abs() < 512 => value * 2_f64.powi(scale),
        _ => value,
    }
}

fn finite(value: f64) -> Result<f64, NumberError> {
    if value.is_finite() {
        Ok(value)
    } else {
        Err(NumberError::Range)
    }
}

/// Parses an iteration count: decimal digits with an optional sign.
///
/// # Errors
/// [`NumberError::Syntax`] for anything else, [`NumberError::Range`] for a
/// number outside 64 bits. Digits are read from the left, and the first fault
/// is the one reported, as Go's `strconv.ParseInt` does.
pub fn parse_iterations(text: &[u8]) -> Result<i64, NumberError> {
    let negative = text.starts_with(b"-");
    let digits = text
        .strip_prefix(b"+")
        .or_else(|| text.strip_prefix(b"-"))
        .unwrap_or(text);
    if digits.is_empty() {
        return Err(NumberError::Syntax);
    }
    let mut magnitude = 0_u64;
    for byte in digits {
        let digit = byte
            .checked_sub(b'0')
            .filter(|digit| *digit < 10)
            .ok_or(NumberError::Syntax)?;
        magnitude = magnitude
            .checked_mul(10)
            .and_then(|shifted| shifted.checked_add(u64::from(digit)))
            .ok_or(NumberError::Range)?;
    }
    let signed = if negative {
        0_i64.checked_sub_unsigned(magnitude)
    } else {
        0_i64.checked_add_unsigned(magnitude)
    };
    signed.ok_or(NumberError::Range)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_forms_of_a_number_are_read() {
        for (text, value) in [
            ("10", 10.0),
            (".5", 0.5),
            ("5.", 5.0),
            ("+5", 5.0),
            ("-5", -5.0),
            ("1E-3", 1e-3),
            ("1_000", 1000.0),
            ("1e5_0", 1e50),
            ("1e-400", 0.0),
            ("0x1p4", 16.0),
            ("-0X1.8P+1", -3.0),
            ("0x_1p0", 1.0),
            ("0x1_0p0", 16.0),
            ("0x.8p0", 0.5),
            ("0x1p-1074", 5e-324),
            ("0x1p-1075", 0.0),
            ("0x1.8p-1074", 1e-323),
            ("0x1.fffffffffffff8p0", 2.0),
            ("0x1.00000000000008p0", 1.0),
            ("0x1.000000000000080000000000001p0", 1.0 + f64::EPSILON),
            ("0x10000000000000000000000p-88", 1.0),
            ("inf", f64::INFINITY),
            ("-Infinity", f64::NEG_INFINITY),
            (
                "0.1000000000000000055511151231257827021181583404541015625",
                0.1,
            ),
        ] {
            assert_eq!(parse_number(text.as_bytes()), Ok(value), "{text}");
        }
        assert!(parse_number(b"NaN").unwrap().is_nan());
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for text in [
            "", ".", "+", "abc", "1e", "1.2.3", "0b1", "0x10", "0x", "0xp1", "0x1p", "_1", "1_",
            "1__0", "1_.5", "1._5", "1e_5", "0x1p_5", "0x_.8p1", "0x_p1", "-nan", "+nan", "1 ",
            "in", "5\0", "--5", "é",
        ] {
            assert_eq!(
                parse_number(text.as_bytes()),
                Err(NumberError::Syntax),
                "{text:?}"
            );
        }
    }

    #[test]
    fn too_large_is_out_of_range() {
        for text in [
            "1e400",
            "-1e400",
            "0x1p1024",
            "0x1p99999999999",
            "1e99999999999999999999",
        ] {
            assert_eq!(
                parse_number(text.as_bytes()),
                Err(NumberError::Range),
                "{text}"
            );
        }
    }

    #[test]
    fn iteration_counts_fit_in_64_bits() {
        assert_eq!(parse_iterations(b"9223372036854775807"), Ok(i64::MAX));
        assert_eq!(parse_iterations(b"-9223372036854775808"), Ok(i64::MIN));
        assert_eq!(parse_iterations(b"+5"), Ok(5));
        assert_eq!(
            parse_iterations(b"9223372036854775808"),
            Err(NumberError::Range)
        );
        assert_eq!(
            parse_iterations(b"99999999999999999999a"),
            Err(NumberError::Range)
        );
        for text in [
            &b""[..],
            b"12345678901234567890_",
            b"1_0",
            b"1.5",
            b"0x1",
            b"abc",
            b"+",
        ] {
            assert_eq!(parse_iterations(text), Err(NumberError::Syntax));
        }
    }

    proptest! {
        #[test]
        fn decimal_text_reads_as_the_standard_library_reads_it(text in "[0-9]{1,18}(\\.[0-9]{0,18})?(e-?[0-9]{1,2})?") {
            prop_assert_eq!(parse_number(text.as_bytes()).unwrap(), text.parse::<f64>().unwrap());
        }

        #[test]
        fn hexadecimal_text_reads_back(bits in any::<u64>(), exponent in -1100_i64..900) {
            let text = format!("0x{bits:x}p{exponent}");
            // 64 bits split into two exact halves, so that only the sum rounds.
            let (high, low) = ((bits >> 32) as f64, (bits & 0xffff_ffff) as f64);
            if exponent >= -1000 {
                let value = (high * 4_294_967_296.0 + low) * 2_f64.powi(i32::try_from(exponent / 2).unwrap())
                    * 2_f64.powi(i32::try_from(exponent - exponent / 2).unwrap());
                prop_assert_eq!(parse_number(text.as_bytes()).unwrap(), value);
            }
        }
    }
}
