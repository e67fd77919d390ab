//! Numbers: agreement with the standard library, and with slow parsers that look at one digit at a time.

use std::cmp::Ordering;

use rbenchstat::record::number::{NumberError, parse_iterations, parse_number};
use rbenchstat::record::spelling::{Plain, Shortest};

/// Checks `data` as a measurement, as an iteration count, and as the bits of a number to print.
///
/// # Panics
/// Where something does not hold.
pub fn check(data: &[u8]) {
    check_measurement(data);
    check_iterations(data);
    for bits in data.chunks_exact(8).take(4) {
        let bits = bits
            .iter()
            .fold(0, |bits, byte| bits << 8 | u64::from(*byte));
        check_print(f64::from_bits(bits));
    }
}

fn check_measurement(text: &[u8]) {
    let parsed = parse_number(text);
    if let Ok(value) = parsed {
        check_print(value);
    }
    let signed = text.strip_prefix(b"+").or(text.strip_prefix(b"-"));
    let unsigned = signed.unwrap_or(text);
    if unsigned.first().is_some_and(u8::is_ascii_alphabetic) {
        let is_nan = signed.is_none() && text.eq_ignore_ascii_case(b"nan");
        let is_infinite = [&b"inf"[..], b"infinity"]
            .iter()
            .any(|word| unsigned.eq_ignore_ascii_case(word));
        assert_eq!(parsed.is_ok(), is_nan || is_infinite);
        return;
    }
    let Some(plain) = without_underscores(text) else {
        assert_eq!(parsed, Err(NumberError::Syntax), "a misplaced underscore");
        return;
    };
    let expected = if unsigned.len() > 1 && unsigned[..2].eq_ignore_ascii_case(b"0x") {
        hexadecimal(&plain)
    } else {
        match std::str::from_utf8(&plain)
            .ok()
            .and_then(|text| text.parse::<f64>().ok())
        {
            None => Err(NumberError::Syntax),
            Some(value) if value.is_finite() => Ok(value),
            Some(_) => Err(NumberError::Range),
        }
    };
    match (parsed, expected) {
        (Ok(parsed), Ok(expected)) => assert_eq!(parsed.to_bits(), expected.to_bits()),
        (parsed, expected) => assert_eq!(parsed, expected),
    }
}

/// The text without its underscores, if each of them stands between digits, of which the `0x` is one.
fn without_underscores(text: &[u8]) -> Option<Vec<u8>> {
    let lower = text.to_ascii_lowercase();
    let start = usize::from(text.starts_with(b"+") || text.starts_with(b"-"));
    let prefix = lower[start..].starts_with(b"0x");
    let exponent = lower.iter().position(|&byte| byte == b'p');
    for at in (0..text.len()).filter(|&at| text[at] == b'_') {
        let is_digit = |at: usize| {
            lower.get(at).is_some_and(|&byte| {
                let in_mantissa = prefix && exponent.is_none_or(|exponent| at < exponent);
                byte.is_ascii_digit()
                    || in_mantissa && at > start && (byte.is_ascii_hexdigit() || at == start + 1)
            })
        };
        if at == 0 || !is_digit(at - 1) || !is_digit(at + 1) {
            return None;
        }
    }
    Some(text.iter().copied().filter(|&byte| byte != b'_').collect())
}

/// A hexadecimal float, bit by bit.
fn hexadecimal(text: &[u8]) -> Result<f64, NumberError> {
    let negative = text.starts_with(b"-");
    let text = text[usize::from(negative || text.starts_with(b"+"))..].to_ascii_lowercase();
    let at = text
        .iter()
        .position(|&byte| byte == b'p')
        .ok_or(NumberError::Syntax)?;
    let (mantissa, exponent) = (&text[2..at], &text[at + 1..]);
    let digits = exponent
        .strip_prefix(b"+")
        .or(exponent.strip_prefix(b"-"))
        .unwrap_or(exponent);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(NumberError::Syntax);
    }
    let mut power = digits.iter().fold(0_i64, |sum, digit| {
        (sum * 10 + i64::from(digit - b'0')).min(1 << 40)
    });
    if exponent.starts_with(b"-") {
        power = -power;
    }
    let mut bits: Vec<bool> = Vec::new();
    let (mut any, mut point) = (false, false);
    for &byte in mantissa {
        if byte == b'.' && !point {
            point = true;
            continue;
        }
        let digit = char::from(byte).to_digit(16).ok_or(NumberError::Syntax)?;
        any = true;
        bits.extend((0..4).rev().map(|bit| digit >> bit & 1 == 1));
        power -= 4 * i64::from(point);
    }
    if !any {
        return Err(NumberError::Syntax);
    }
    let first = bits.iter().position(|&bit| bit).unwrap_or(bits.len());
    let bits = &bits[first..];
    let magnitude = round(bits, power);
    if magnitude.is_infinite() {
        return Err(NumberError::Range);
    }
    Ok(if negative { -magnitude } else { magnitude })
}

/// The nearest number to the whole number of these bits, of which the first is set, times 2^`power`.
fn round(bits: &[bool], power: i64) -> f64 {
    if bits.is_empty() {
        return 0.0;
    }
    // The exponent of the first bit, and that of the last one that a double has room for.
    let top = power + i64::try_from(bits.len()).expect("a length") - 1;
    if top > 1100 {
        return f64::INFINITY;
    }
    if top < -1100 {
        return 0.0;
    }
    let last = (top - 52).max(-1074);
    let kept = usize::try_from(top - last + 1).unwrap_or(0);
    let mut value = 0_u64;
    for at in 0..kept {
        value = value << 1 | u64::from(bits.get(at).copied().unwrap_or(false));
    }
    // Beyond the last bit kept: a half and more, a half, or less.
    let rest = if top < last - 1 {
        &[][..]
    } else {
        bits.get(kept..).unwrap_or(&[])
    };
    let half = match (
        rest.first(),
        rest.get(1..).is_some_and(|rest| rest.contains(&true)),
    ) {
        (Some(true), true) => Ordering::Greater,
        (Some(true), false) => Ordering::Equal,
        _ => Ordering::Less,
    };
    if half == Ordering::Greater || half == Ordering::Equal && value & 1 == 1 {
        value += 1;
    }
    // A value is the sum of its bits, so a subnormal number's bits are its value.
    let mut exact = value as f64;
    let mut power = last;
    while power > 0 {
        exact *= 2.0;
        power -= 1;
    }
    while power < 0 {
        exact /= 2.0;
        power += 1;
    }
    exact
}

fn check_iterations(text: &[u8]) {
    let parsed = parse_iterations(text);
    let spelled = std::str::from_utf8(text).ok();
    let expected = spelled.and_then(|text| text.parse::<i64>().ok());
    assert_eq!(parsed.ok(), expected);
    let digits = text
        .strip_prefix(b"+")
        .or(text.strip_prefix(b"-"))
        .unwrap_or(text);
    if !digits.is_empty() && digits.iter().all(u8::is_ascii_digit) {
        assert_ne!(parsed, Err(NumberError::Syntax));
    }
}

fn check_print(value: f64) {
    for printed in [Shortest(value).to_string(), Plain(value).to_string()] {
        match parse_number(printed.as_bytes()) {
            Ok(read) if value.is_nan() => assert!(read.is_nan()),
            Ok(read) => assert_eq!(read.to_bits(), value.to_bits(), "{printed}"),
            Err(error) => panic!("{printed}: {error}"),
        }
    }
}
