//! One line of the benchmark format.

use std::num::NonZero;
use std::ops::Range;

use bstr::{BStr, ByteSlice};
use unicode_general_category::{GeneralCategory, get_general_category};

use super::number::{
    NumberError, parse_iterations, parse_leading_decimal, parse_leading_integer, parse_number,
};
use super::previous_line::{MOST_UNITS, PreviousLine};

/// What a line is, with the places of its parts in the line.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Line {
    /// A benchmark result; the parser holds its measurements.
    Result {
        name: Range<usize>,
        /// Equal versions from one parser mean equal names.
        name_version: u64,
        iterations: i64,
    },
    /// A `Unit` line: the unit, and where the `key=value` fields start.
    Unit { unit: Range<usize>, fields: usize },
    /// A `key: value` line.
    Configuration {
        key: Range<usize>,
        value: Range<usize>,
    },
    /// Anything else: log output, empty lines, a name alone.
    Other,
}

/// Why a result or unit line cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LineError {
    /// A name with nothing but space after it.
    #[error("missing iteration count")]
    MissingIterations,
    /// An iteration count that is no 64-bit integer.
    #[error("parsing iteration count: {0}")]
    Iterations(NumberError),
    /// A name and an iteration count alone.
    #[error("missing measurements")]
    MissingMeasurements,
    /// A measurement that is no number.
    #[error("parsing measurement: {0}")]
    Measurement(NumberError),
    /// A measurement at the end of the line.
    #[error("missing units")]
    MissingUnits,
    /// No iterations and nothing but zeros, or a value that is no number with nothing but zeros beside it.
    #[error("nothing was measured: the line is left out")]
    NothingMeasured,
    /// A percentage with a sign in place of a unit, as tools that compare results write behind two values.
    #[error("this is the output of a comparison and no result: the line is left out")]
    Comparison,
    /// More different units than an input may have.
    #[error("the input has more than {MOST_UNITS} different units: the line is left out")]
    TooManyUnits,
    /// Text in another encoding than what stands before it.
    #[error(
        "from here on, byte {byte} of the text, its encoding is another one than before: write the whole file as UTF-8"
    )]
    EncodingChanges {
        /// The first byte, from 0.
        byte: u64,
    },
    /// `Unit` alone.
    #[error("missing unit")]
    MissingUnit,
    /// A field of a unit line that is not `key=value`.
    #[error("expected key=value")]
    ExpectedKeyValue,
}

/// A measurement as the line has it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RawMeasurement {
    pub value: f64,
    /// The unit's number; the parser knows its text.
    pub unit: u32,
}

/// What stands before the number in a line that says in which round the results after it were measured.
///
/// Other readers take the line for log output, which they pass over.
pub const ROUND_PREFIX: &str = "# rbenchstat round ";

/// The number of a round, from 1, if `line` is `# rbenchstat round N`.
pub(super) fn parse_round(line: &[u8]) -> Option<NonZero<u32>> {
    let number = line.strip_prefix(ROUND_PREFIX.as_bytes())?.trim_ascii();
    str::from_utf8(number).ok()?.parse().ok()
}

/// Tells what lines are.
#[derive(Debug, Default)]
pub(super) struct Parser {
    previous_line: PreviousLine,
    measurements: Vec<RawMeasurement>,
    /// What stood behind the first number when the measurements were read; empty
    /// if they are not those of a whole result.
    tail: Vec<u8>,
}

impl Parser {
    /// Tells what `line` is.
    pub fn parse(&mut self, line: &[u8]) -> Result<Line, LineError> {
        if line.starts_with(RESULT_PREFIX) {
            self.parse_result(line)
        } else if let Some(unit_line) = parse_unit(line) {
            unit_line
        } else {
            Ok(parse_configuration(line).unwrap_or(Line::Other))
        }
    }

    /// The measurements of the last line, if it was a result.
    pub fn measurements(&self) -> &[RawMeasurement] {
        &self.measurements
    }

    /// Whether the last line compares two values: what would be its only unit is a change in percent.
    pub fn is_comparison(&self) -> bool {
        let [measurement] = self.measurements() else {
            return false;
        };
        let unit = self.unit(measurement.unit);
        let change = unit
            .strip_prefix(b"+")
            .or_else(|| unit.strip_prefix(b"-"))
            .and_then(|change| change.strip_suffix(b"%"));
        change.is_some_and(|digits| {
            let is_digit = |byte: &u8| byte.is_ascii_digit() || *byte == b'.';
            !digits.is_empty() && digits.iter().all(is_digit)
        })
    }

    /// Whether the last line, a result of so many iterations, has measured nothing.
    pub fn measured_nothing(&self, iterations: i64) -> bool {
        let is_none = |raw: &RawMeasurement| raw.value == 0.0 || !raw.value.is_finite();
        // So it is with nearly all.
        if !self.measurements.first().is_some_and(is_none) {
            return false;
        }
        let is_nan = |raw: &RawMeasurement| raw.value.is_nan();
        let of_none =
            iterations == 0 || self.measurements.len() > 1 && self.measurements.iter().any(is_nan);
        of_none && self.measurements.iter().all(is_none)
    }

    /// The unit with this number.
    pub fn unit(&self, number: u32) -> &BStr {
        self.previous_line.unit(number)
    }

    fn parse_result(&mut self, line: &[u8]) -> Result<Line, LineError> {
        let start = RESULT_PREFIX.len();
        let recalled = self.previous_line.name_length(&line[start..]);
        let name = match recalled {
            Some(length) => start..start + length,
            None => start..field_end(line, start),
        };
        if name.end == line.len() {
            return Ok(Line::Other);
        }
        let mut fields = LineFields {
            rest: &line[name.end..],
        };
        let iterations = fields.next_count().ok_or(LineError::MissingIterations)?;
        let iterations = iterations.map_err(LineError::Iterations)?;
        self.parse_measurements(fields)?;
        if recalled.is_none() {
            self.previous_line.keep_name(&line[name.clone()]);
        }
        Ok(Line::Result {
            name,
            name_version: self.previous_line.name_version(),
            iterations,
        })
    }

    /// Reads what follows an iteration count.
    ///
    /// From line to line mostly the first number alone differs, the time: its
    /// unit, memory and allocations stay as they are.
    fn parse_measurements(&mut self, mut fields: LineFields<'_>) -> Result<(), LineError> {
        fields.skip_space();
        if let Some((value, length)) = parse_leading_decimal(fields.rest)
            && !self.tail.is_empty()
            && self.tail == fields.rest[length..]
        {
            self.measurements[0].value = value;
            return Ok(());
        }
        self.parse_new_measurements(fields)
    }

    #[inline(never)]
    fn parse_new_measurements(&mut self, mut fields: LineFields<'_>) -> Result<(), LineError> {
        let units = self.previous_line.units();
        self.tail.clear();
        self.measurements.clear();
        let mut tail: &[u8] = b"";
        while let Some(value) = fields.next_number() {
            let value = value.map_err(LineError::Measurement)?;
            let place = self.measurements.len();
            if place == 0 {
                tail = fields.rest;
            }
            fields.skip_space();
            let unit = if let Some((unit, length)) = self.previous_line.unit_at(place, fields.rest)
            {
                fields.rest = &fields.rest[length..];
                unit
            } else {
                let unit = fields.next().ok_or(LineError::MissingUnits)?;
                let Some(unit) = self.previous_line.keep_unit(place, unit) else {
                    self.measurements.clear();
                    self.previous_line.forget_units(units);
                    return Err(LineError::TooManyUnits);
                };
                unit
            };
            self.measurements.push(RawMeasurement { value, unit });
        }
        if self.measurements.is_empty() {
            return Err(LineError::MissingMeasurements);
        }
        self.tail.extend_from_slice(tail);
        Ok(())
    }
}

/// Whether a line that starts with `start` may be more than log output, whatever follows.
pub(super) fn may_matter(start: &[u8]) -> bool {
    start.starts_with(RESULT_PREFIX)
        || parse_unit(start).is_some()
        || parse_configuration(start).is_some()
}

/// How every result starts.
pub(super) const RESULT_PREFIX: &[u8] = b"Benchmark";

/// A line whose first field is exactly `Unit`.
fn parse_unit(line: &[u8]) -> Option<Result<Line, LineError>> {
    const FIRST_FIELD: &[u8] = b"Unit";
    if !line.starts_with(FIRST_FIELD) || field_end(line, 0) != FIRST_FIELD.len() {
        return None;
    }
    let mut fields = LineFields {
        rest: &line[FIRST_FIELD.len()..],
    };
    let Some(unit) = fields.next() else {
        return Some(Err(LineError::MissingUnit));
    };
    let end = line.len() - fields.rest.len();
    Some(Ok(Line::Unit {
        unit: end - unit.len()..end,
        fields: end,
    }))
}

/// A line `key: value`.
fn parse_configuration(line: &[u8]) -> Option<Line> {
    let first = line.chars().next()?;
    if !is_lower_case(first) {
        return None;
    }
    let colon = line.find_byte(b':')?;
    let key = 0..colon;
    if line[key.clone()]
        .chars()
        .any(|char| char.is_whitespace() || is_upper_case(char))
    {
        return None;
    }
    let after = &line[colon + 1..];
    let value = after.trim_start_with(|char| char == ' ' || char == '\t');
    if !after.is_empty() && value.len() == after.len() {
        return None;
    }
    Some(Line::Configuration {
        key,
        value: line.len() - value.len()..line.len(),
    })
}

/// Unicode category Ll, which is narrower than [`char::is_lowercase`].
fn is_lower_case(char: char) -> bool {
    if char.is_ascii() {
        return char.is_ascii_lowercase();
    }
    get_general_category(char) == GeneralCategory::LowercaseLetter
}

/// Unicode category Lu, which is narrower than [`char::is_uppercase`].
fn is_upper_case(char: char) -> bool {
    if char.is_ascii() {
        return char.is_ascii_uppercase();
    }
    get_general_category(char) == GeneralCategory::UppercaseLetter
}

/// The `key=value` fields of a unit line, from `at` on.
pub(super) fn unit_fields(
    line: &[u8],
    at: usize,
) -> impl Iterator<Item = Result<(&BStr, &BStr), LineError>> {
    let mut fields = LineFields { rest: &line[at..] };
    std::iter::from_fn(move || fields.next()).map(|field| match field.find_byte(b'=') {
        Some(equals) if equals > 0 => {
            Ok((field[..equals].as_bstr(), field[equals + 1..].as_bstr()))
        }
        _ => Err(LineError::ExpectedKeyValue),
    })
}

/// Runs of characters that are not white space, from a place where there is
/// white space or the end of the line.
struct LineFields<'a> {
    rest: &'a [u8],
}

impl<'a> LineFields<'a> {
    /// The next field.
    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        self.skip_space();
        if self.rest.is_empty() {
            return None;
        }
        let (field, rest) = self.rest.split_at(field_end(self.rest, 0));
        self.rest = rest;
        Some(field)
    }

    /// The next field, read as an iteration count.
    #[inline]
    fn next_count(&mut self) -> Option<Result<i64, NumberError>> {
        self.skip_space();
        if let Some((count, length)) = parse_leading_integer(self.rest)
            && self.take(length)
        {
            return Some(Ok(count));
        }
        self.next().map(parse_iterations)
    }

    /// The next field, read as a number.
    #[inline]
    fn next_number(&mut self) -> Option<Result<f64, NumberError>> {
        self.skip_space();
        if let Some((value, length)) = parse_leading_decimal(self.rest)
            && self.take(length)
        {
            return Some(Ok(value));
        }
        self.next().map(parse_number)
    }

    /// Moves to the start of the next field, or to the end.
    #[inline]
    fn skip_space(&mut self) {
        let is_blank = |byte: &&u8| matches!(byte, b' ' | b'\t');
        self.rest = &self.rest[self.rest.iter().take_while(is_blank).count()..];
        let is_field = |first: &u8| (0x21..0x80).contains(first);
        if !self.rest.first().is_none_or(is_field) {
            self.rest = &self.rest[space_end(self.rest)..];
        }
    }

    /// Moves on by `length` if a field ends there. Reading the digits of a common
    /// number finds that place at no further cost.
    #[inline]
    fn take(&mut self, length: usize) -> bool {
        let ends = is_field_end(self.rest, length);
        if ends {
            self.rest = &self.rest[length..];
        }
        ends
    }
}

/// Whether there is ASCII white space or the end of the line at `at`, so that
/// a field before it ends there. The answer may be no before other white space.
#[inline]
pub(super) fn is_field_end(line: &[u8], at: usize) -> bool {
    line.get(at).is_none_or(|&byte| is_ascii_space(byte))
}

/// Where the field that starts at `start` ends.
#[inline]
fn field_end(line: &[u8], start: usize) -> usize {
    let is_graphic = |byte: &&u8| (0x21..0x80).contains(*byte);
    let end = start + line[start..].iter().take_while(is_graphic).count();
    if is_field_end(line, end) {
        end
    } else {
        unusual_field_end(line, end)
    }
}

/// [`field_end`] from a control character or a character beyond ASCII on.
#[cold]
fn unusual_field_end(line: &[u8], start: usize) -> usize {
    let is_space = |&(_, _, char): &(usize, usize, char)| char.is_whitespace();
    let first_space = line[start..].char_indices().find(is_space);
    first_space.map_or(line.len(), |(at, _, _)| start + at)
}

/// Where the white space at the start of `text`, if any, ends.
#[cold]
fn space_end(text: &[u8]) -> usize {
    let is_field = |&(_, _, char): &(usize, usize, char)| !char.is_whitespace();
    let first_field = text.char_indices().find(is_field);
    first_field.map_or(text.len(), |(at, _, _)| at)
}

/// ASCII white space with the vertical tab, which [`u8::is_ascii_whitespace`] leaves out.
#[inline]
fn is_ascii_space(byte: u8) -> bool {
    const SPACES: u64 = 1 << b' ' | 1 << b'\t' | 1 << b'\n' | 1 << 0x0b | 1 << 0x0c | 1 << b'\r';
    byte <= b' ' && SPACES >> byte & 1 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Line, LineError> {
        Parser::default().parse(text.as_bytes())
    }

    fn configuration(text: &str) -> Option<(String, String)> {
        match parsed(text) {
            Ok(Line::Configuration { key, value }) => Some((text[key].into(), text[value].into())),
            _ => None,
        }
    }

    fn pair(key: &str, value: &str) -> (String, String) {
        (key.into(), value.into())
    }

    #[test]
    fn a_result_has_a_name_an_iteration_count_and_measurements() {
        let text = "BenchmarkX-8 \t 100\u{2003}5 ns/op\u{a0}6\u{b}B/op";
        let mut parser = Parser::default();
        let line = parser.parse(text.as_bytes()).unwrap();
        let (name, iterations) = (9..12, 100);
        assert_eq!(
            line,
            Line::Result {
                name,
                name_version: 1,
                iterations
            }
        );
        assert_eq!(read(&parser), [(5.0, "ns/op".into()), (6.0, "B/op".into())]);
        // The second time all of it is recalled.
        assert_eq!(parser.parse(text.as_bytes()).unwrap(), line);
        assert_eq!(read(&parser), [(5.0, "ns/op".into()), (6.0, "B/op".into())]);
    }

    fn read(parser: &Parser) -> Vec<(f64, String)> {
        let unit = |number| parser.unit(number).to_string();
        parser
            .measurements()
            .iter()
            .map(|raw| (raw.value, unit(raw.unit)))
            .collect()
    }

    #[test]
    fn what_is_recalled_is_not_taken_for_its_own_beginning() {
        let mut parser = Parser::default();
        for (text, is_name, units) in [
            ("BenchmarkX 1 5 ns 6 B", "X", ["ns", "B"]),
            ("BenchmarkXY 1 5 ns/op 6 B/op", "XY", ["ns/op", "B/op"]),
            ("BenchmarkX 1 5 ns 6 B", "X", ["ns", "B"]),
            ("BenchmarkX 1 5 B 6 ns", "X", ["B", "ns"]),
        ] {
            let Ok(Line::Result { name, .. }) = parser.parse(text.as_bytes()) else {
                panic!("{text}");
            };
            assert_eq!(&text[name], is_name);
            assert_eq!(
                read(&parser),
                [(5.0, units[0].into()), (6.0, units[1].into())]
            );
        }
    }

    #[test]
    fn only_whole_results_are_recalled() {
        let mut parser = Parser::default();
        let mut version = |text: &str| match parser.parse(text.as_bytes()) {
            Ok(Line::Result { name_version, .. }) => Some(name_version),
            _ => None,
        };
        assert_eq!(version("Benchmark 1 5 ns/op"), Some(1));
        assert_eq!(version("BenchmarkX 1 5"), None);
        assert_eq!(version("BenchmarkX 1 5 ns/op"), Some(2));
        assert_eq!(version("BenchmarkX 1 5 ns/op"), Some(2));
        assert_eq!(version("BenchmarkXY 1 5 ns/op"), Some(3));
    }

    #[test]
    fn fields_end_at_white_space_only() {
        for (text, end) in [
            ("", 0),
            ("abcdefgh", 8),
            ("abcdefghi j", 9),
            ("abc\u{1}defghijk l", 12),
            ("abcdefg\u{7f}h\ti", 9),
            ("größe=日本 x", 14),
            ("abcdefgh\u{a0}x", 8),
            ("ab\u{2003}", 2),
            (" a", 0),
        ] {
            assert_eq!(field_end(text.as_bytes(), 0), end, "{text:?}");
        }
        assert_eq!(field_end(b"abcdefg\xff\x85 x", 0), 9);
    }

    #[test]
    fn a_name_alone_is_verbose_output() {
        assert_eq!(parsed("BenchmarkX"), Ok(Line::Other));
    }

    #[test]
    fn the_first_fault_of_a_result_is_told() {
        for (text, error) in [
            ("BenchmarkX ", LineError::MissingIterations),
            (
                "Benchmarking is fun",
                LineError::Iterations(NumberError::Syntax),
            ),
            (
                "BenchmarkX 99999999999999999999 x",
                LineError::Iterations(NumberError::Range),
            ),
            ("BenchmarkX 10", LineError::MissingMeasurements),
            (
                "BenchmarkX 10 x",
                LineError::Measurement(NumberError::Syntax),
            ),
            (
                "BenchmarkX 10 1e400",
                LineError::Measurement(NumberError::Range),
            ),
            ("BenchmarkX 10 5", LineError::MissingUnits),
            ("Unit ", LineError::MissingUnit),
        ] {
            assert_eq!(parsed(text), Err(error), "{text}");
        }
    }

    #[test]
    fn a_unit_line_starts_with_unit_at_once() {
        assert_eq!(
            parsed("Unit x a=b"),
            Ok(Line::Unit {
                unit: 5..6,
                fields: 6
            })
        );
        for text in [" Unit x a=b", "Units x", "unit x"] {
            assert_eq!(parsed(text), Ok(Line::Other), "{text}");
        }
        let fields: Vec<_> = unit_fields(b"Unit x a=b c =d e=", 6).collect();
        let pair = |key, value| Ok((BStr::new(key), BStr::new(value)));
        assert_eq!(
            fields,
            [
                pair("a", "b"),
                Err(LineError::ExpectedKeyValue),
                Err(LineError::ExpectedKeyValue),
                pair("e", "")
            ]
        );
    }

    #[test]
    fn configuration_keys_are_lower_case_words() {
        assert_eq!(configuration("key:  v 1 "), Some(pair("key", "v 1 ")));
        assert_eq!(configuration("école:\tx"), Some(pair("école", "x")));
        assert_eq!(configuration("key:"), Some(pair("key", "")));
        assert_eq!(configuration("aⅠ: x"), Some(pair("aⅠ", "x")));
        for text in [
            "key:v", "Key: v", "kEy: v", "k ey: v", ": v", "1: v", "ª: v", "x:y: z", "x",
        ] {
            assert_eq!(configuration(text), None, "{text}");
        }
    }
}
