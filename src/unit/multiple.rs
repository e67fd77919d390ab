//! Numbers that people write with a unit of their own: `2ns` of `sec/op`.

use super::known::{self, Meaning};
use super::tidy::{UnitToken, tokens};

/// What a number with `suffix` behind it is multiplied by to be in `unit`; none where it does not measure that.
#[must_use]
pub fn multiple(suffix: &str, unit: &[u8]) -> Option<f64> {
    let given = known::unit(suffix.as_bytes());
    numerators(unit).find_map(|token| {
        if token == suffix.as_bytes() {
            return Some(1.0);
        }
        let (given, known) = (given?, known::unit(token)?);
        (given.meaning == known.meaning).then(|| given.worth / known.worth)
    })
}

/// Whether `unit` measures a time, as `sec/op` and `p99_ms` do and `B/s` does not.
#[must_use]
pub fn is_time(unit: &[u8]) -> bool {
    numerators(unit)
        .flat_map(words)
        .any(|meaning| meaning == Meaning::Time)
}

/// Whether values of `unit` come from a clock, and so differ from run to run: times, and what is done per time.
#[must_use]
pub fn is_clocked(unit: &[u8]) -> bool {
    tokens(unit).any(|token| {
        let (UnitToken::Numerator(text)
        | UnitToken::Denominator(text)
        | UnitToken::Separator(text)) = token;
        words(text).any(|meaning| matches!(meaning, Meaning::Time | Meaning::Rate))
    })
}

/// What is known of the words in a token.
fn words(token: &[u8]) -> impl Iterator<Item = Meaning> {
    let words = token.split(|&byte| byte == b'_');
    words.filter_map(known::meaning)
}

fn numerators(unit: &[u8]) -> impl Iterator<Item = &[u8]> {
    tokens(unit).filter_map(|token| match token {
        UnitToken::Numerator(text) => Some(text),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suffix_counts_in_the_unit_that_it_measures() {
        for (suffix, unit, factor) in [
            ("ns", "sec/op", Some(1e-9)),
            ("\u{b5}s", "p99-sec", Some(1e-6)),
            ("ms", "p99-ms", Some(1.0)),
            ("s", "ms/op", Some(1e3)),
            ("KB", "B/op", Some(1e3)),
            ("KiB", "B/op", Some(1024.0)),
            ("MiB", "KiB", Some(1024.0)),
            ("allocs", "allocs/op", Some(1.0)),
            ("ns", "B/op", None),
            ("B", "sec/op", None),
            ("op", "sec/op", None),
            ("x", "frobs", None),
        ] {
            assert_eq!(
                multiple(suffix, unit.as_bytes()),
                factor,
                "{suffix} of {unit}"
            );
        }
    }

    #[test]
    fn what_a_clock_measures_is_known() {
        for (unit, time, clocked) in [
            ("sec/op", true, true),
            ("p99_us", true, true),
            ("p99-ms", true, true),
            ("B/s", false, true),
            ("qps", false, true),
            ("allocs/op", false, false),
            ("B/op", false, false),
            ("frobs", false, false),
        ] {
            assert_eq!(
                (is_time(unit.as_bytes()), is_clocked(unit.as_bytes())),
                (time, clocked),
                "{unit}"
            );
        }
    }
}
