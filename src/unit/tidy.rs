//! The base form of a unit: `ns/op` becomes `sec/op`, `MB/s` becomes `B/s`.

use bstr::{BString, ByteSlice, ByteVec};

use super::known::{self, Conversion};

/// A unit in base form and what a value is multiplied by to get there.
#[derive(Clone, Debug, PartialEq)]
pub struct Tidied {
    /// The unit in base form.
    pub unit: BString,
    /// Base units per written unit; 1 where the written unit is the base form.
    pub factor: f64,
}

impl Tidied {
    /// Tidies `unit`: every token `ns` in the numerator becomes `sec`, every `MB` becomes `B`.
    #[must_use]
    pub fn new(unit: &[u8]) -> Self {
        let mut tidied = Self {
            unit: BString::default(),
            factor: 1.0,
        };
        for token in tokens(unit) {
            let (UnitToken::Numerator(text)
            | UnitToken::Denominator(text)
            | UnitToken::Separator(text)) = token;
            let known = match token {
                UnitToken::Numerator(text) => known::unit(text),
                _ => None,
            };
            let Some((base, conversion)) = known.and_then(|unit| unit.base) else {
                tidied.unit.push_str(text);
                continue;
            };
            tidied.unit.push_str(base);
            match conversion {
                Conversion::Divide(by) => tidied.factor /= by,
                Conversion::Multiply(by) => tidied.factor *= by,
            }
        }
        tidied
    }
}

/// A piece of a unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum UnitToken<'a> {
    Numerator(&'a [u8]),
    Denominator(&'a [u8]),
    /// `*`, `/`, `-` or one character of white space.
    Separator(&'a [u8]),
}

/// Splits `unit` into tokens, of which none are empty. After `/` they belong
/// to the denominator until the next `*`; `-` and white space change nothing.
pub(super) fn tokens(unit: &[u8]) -> impl Iterator<Item = UnitToken<'_>> {
    let mut rest = unit;
    let mut in_denominator = false;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let is_separator = |char: char| matches!(char, '*' | '/' | '-') || char.is_whitespace();
        let end = if is_separator(first) {
            match first {
                '/' => in_denominator = true,
                '*' => in_denominator = false,
                _ => {}
            }
            first.len_utf8()
        } else {
            rest.find_char_by(is_separator)
        };
        let (text, after) = rest.split_at(end);
        rest = after;
        Some(match (is_separator(first), in_denominator) {
            (true, _) => UnitToken::Separator(text),
            (false, false) => UnitToken::Numerator(text),
            (false, true) => UnitToken::Denominator(text),
        })
    })
}

/// Finds characters in text that need not be UTF-8 throughout.
trait FindChar {
    /// Where the first character that `wanted` holds for starts, or the length.
    fn find_char_by(&self, wanted: impl Fn(char) -> bool) -> usize;
}

impl FindChar for [u8] {
    fn find_char_by(&self, wanted: impl Fn(char) -> bool) -> usize {
        self.char_indices()
            .find(|&(_, _, char)| wanted(char))
            .map_or(self.len(), |(start, _, _)| start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numerators_are_tidied_and_denominators_are_not() {
        for (unit, tidy, factor) in [
            ("ns/op", "sec/op", 1e-9),
            ("MB/s", "B/s", 1e6),
            ("p99-ns", "p99-sec", 1e-9),
            ("op/ns", "op/ns", 1.0),
            ("op/ns*ns", "op/ns*sec", 1e-9),
            ("x/y-ns", "x/y-ns", 1.0),
            ("ns-MB/op", "sec-B/op", 1.0 / 1e9 * 1e6),
            ("nsec", "nsec", 1.0),
            ("µs/op", "µs/op", 1.0),
            ("//ns", "//ns", 1.0),
        ] {
            let tidied = Tidied::new(unit.as_bytes());
            assert_eq!(
                (tidied.unit.to_string().as_str(), tidied.factor),
                (tidy, factor),
                "{unit}"
            );
        }
    }
}
