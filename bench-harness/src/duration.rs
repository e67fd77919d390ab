//! Times as people give them.

use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

/// The longest time that can be asked for, a year: sums of a few of them still fit a clock.
pub const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);

/// Reads a time as Go writes it: `1.5s`, `2m30s`, `100ms`.
///
/// # Errors
/// When it is none, or negative.
pub fn parse_duration(text: &str) -> Result<Duration> {
    if text == "0" {
        return Ok(Duration::ZERO);
    }
    let wrong = || format!("{text:?} is no time; write 100ms, 3s or 1m30s");
    let mut rest = text;
    let mut total = Duration::ZERO;
    while !rest.is_empty() {
        let digits = rest
            .find(|letter: char| !letter.is_ascii_digit() && letter != '.')
            .with_context(wrong)?;
        let (number, after) = rest.split_at(digits);
        let end = after
            .find(|letter: char| letter.is_ascii_digit() || letter == '.')
            .unwrap_or(after.len());
        let (unit, after) = after.split_at(end);
        let seconds = match unit {
            "ns" => 1e-9,
            "us" | "µs" | "μs" => 1e-6,
            "ms" => 1e-3,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            _ => bail!(wrong()),
        };
        let number: f64 = number.parse().ok().with_context(wrong)?;
        let part = Duration::try_from_secs_f64(number * seconds)
            .ok()
            .with_context(wrong)?;
        total = total.checked_add(part).with_context(wrong)?;
        rest = after;
    }
    ensure!(!text.is_empty(), wrong());
    ensure!(total <= LONGEST, "{text:?} is more than a year (8760h)");
    Ok(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_read_as_go_writes_them() {
        for (text, milliseconds) in [
            ("1.5s", 1_500),
            ("2m30s", 150_000),
            ("100ms", 100),
            ("0", 0),
        ] {
            assert_eq!(parse_duration(text).unwrap().as_millis(), milliseconds);
        }
        for text in ["", "3", "s", "-1s", "1x", "1.2.3s", "1s2", "8761h", "1e9h"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }
}
