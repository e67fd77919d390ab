//! What log collectors put before each line: a time stamp, the name of a container, a number, brackets, blanks.

use std::fmt::Write;
use std::io::{self, Cursor, Read};

use bstr::{BString, ByteSlice};

use PrefixPart::{Blanks, Digits, Other};

use super::line::{Line, Parser, RESULT_PREFIX};

/// The kind of a prefix: what it is made of, where one number is as good as another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prefix {
    pieces: Vec<PrefixPart>,
    /// The first one.
    pub text: BString,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PrefixPart {
    /// Digits, with points, commas and colons between them.
    Digits,
    /// Blanks and tabs.
    Blanks,
    /// Any other byte.
    Other(u8),
}

/// What an escape sequence of a terminal starts with.
const ESCAPE: u8 = 0x1b;

/// The longest prefix that is looked for.
const LONGEST: usize = 200;

/// The piece that `text` starts with, and its length.
fn piece(text: &[u8]) -> Option<(PrefixPart, usize)> {
    let length = |is: fn(&u8) -> bool| text.iter().take_while(|byte| is(byte)).count();
    Some(match text.first()? {
        b' ' | b'\t' => (Blanks, length(|byte| matches!(byte, b' ' | b'\t'))),
        byte if byte.is_ascii_digit() => {
            let run = length(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b',' | b':'));
            let behind = text[..run].iter().rev();
            let marks = behind.take_while(|byte| !byte.is_ascii_digit()).count();
            (Digits, run - marks)
        }
        byte => (Other(*byte), 1),
    })
}

impl Prefix {
    /// The kind that `text` is of; none if it is empty.
    #[must_use]
    pub fn new(text: &[u8]) -> Option<Self> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some((piece, length)) = piece(rest) {
            pieces.push(piece);
            rest = &rest[length..];
        }
        (!pieces.is_empty()).then(|| Self {
            pieces,
            text: text.into(),
        })
    }

    /// The prefix of a line that has a whole result behind one, as far as it looks like that of a collector.
    #[must_use]
    pub fn of_result(line: &[u8]) -> Option<Self> {
        let at = line
            .find(b"Benchmark")
            .filter(|at| (1..=LONGEST).contains(at))?;
        let text = &line[..at];
        let prefix = Self::before_result(line, text)?;
        let is_apart = text.ends_with(b" ")
            || text.ends_with(b"\t")
            || text.ends_with(b"\"")
            || prefix.has_colour();
        let is_marked = text.trim().is_empty()
            || text
                .iter()
                .any(|byte| byte.is_ascii_digit() || b"[]|#:>\"".contains(byte));
        (is_apart && is_marked).then_some(prefix)
    }

    /// What stands before a whole result, whatever it looks like.
    fn before_result(line: &[u8], text: &[u8]) -> Option<Self> {
        let prefix = Self::new(text)?;
        let result = prefix.strip(line)?;
        // A value of a record with others behind it ends with a quote too, and not with the line.
        let is_whole = !(prefix.ends_with_quote() && result.contains(&b'"'));
        (is_whole && is_result(result)).then_some(prefix)
    }

    /// What stands behind a prefix of this kind, if there is one.
    #[must_use]
    pub fn strip<'t>(&self, line: &'t [u8]) -> Option<&'t [u8]> {
        let mut rest = line;
        for wanted in &self.pieces {
            let (found, length) = piece(rest)?;
            if found != *wanted {
                return None;
            }
            rest = &rest[length..];
        }
        // What is quoted ends with the quote, and what is coloured with the sequences that end that.
        if self.ends_with_quote() {
            rest = rest.trim_end_with(|char| matches!(char, ',' | '\r'));
            rest = rest.strip_suffix(b"\"").unwrap_or(rest);
        }
        if self.has_colour() {
            rest = without_colour_behind(rest.trim_end_with(|char| char == '\r'));
        }
        Some(rest)
    }

    /// The command line that strips such prefixes.
    #[must_use]
    pub fn sed(&self) -> String {
        // Bytes of other characters are looked at one by one.
        let is_ascii = |piece: &PrefixPart| !matches!(piece, Other(byte) if !byte.is_ascii());
        let locale = if self.pieces.iter().all(is_ascii) {
            ""
        } else {
            "LC_ALL=C "
        };
        let expression = self.expression();
        if self.ends_with_quote() {
            return format!(r#"{locale}sed -E '/{expression}/{{s///;s/",?[[:space:]]*$//;}}'"#);
        }
        if self.has_colour() {
            return format!(
                r"{locale}sed -E '/{expression}/{{s///;s/(.\[[0-9;]*m)+[[:space:]]*$//;}}'"
            );
        }
        format!("{locale}sed -E 's/{expression}//'")
    }

    fn ends_with_quote(&self) -> bool {
        self.pieces.last() == Some(&Other(b'"'))
    }

    fn has_colour(&self) -> bool {
        self.pieces.contains(&Other(ESCAPE))
    }

    /// The extended regular expression that finds such a prefix at the start of a line.
    fn expression(&self) -> String {
        let mut expression = String::from("^");
        for piece in &self.pieces {
            match piece {
                Digits => expression += "[0-9][0-9.,:]*",
                Blanks => expression += "[[:blank:]]+",
                Other(byte)
                    if byte.is_ascii_alphanumeric() || b"_- :;<>#=\"!%&@~,".contains(byte) =>
                {
                    expression.push(char::from(*byte));
                }
                Other(
                    byte @ (b'[' | b']' | b'|' | b'(' | b')' | b'{' | b'}' | b'.' | b'*' | b'+'
                    | b'?' | b'^' | b'$' | b'/' | b'\\'),
                ) => {
                    // Writing to a string does not fail.
                    let _ = write!(expression, "\\{}", char::from(*byte));
                }
                Other(_) => expression.push('.'),
            }
        }
        expression
    }
}

/// The line without the escape sequences of colour that it ends with.
fn without_colour_behind(line: &[u8]) -> &[u8] {
    let is_colour = |sequence: &[u8]| {
        let parameters = sequence
            .strip_prefix(b"[")
            .and_then(|rest| rest.strip_suffix(b"m"));
        parameters.is_some_and(|digits| {
            digits
                .iter()
                .all(|byte| byte.is_ascii_digit() || *byte == b';')
        })
    };
    let mut line = line;
    while let Some(at) = line
        .rfind_byte(ESCAPE)
        .filter(|at| is_colour(&line[at + 1..]))
    {
        line = &line[..at];
    }
    line
}

/// Whether a line is a result as it stands.
fn is_result(line: &[u8]) -> bool {
    line.starts_with(RESULT_PREFIX)
        && matches!(Parser::default().parse(line), Ok(Line::Result { .. }))
}

/// How much text is held to see whether all of its results stand behind the same kind of prefix.
const MOST_HELD: u64 = 64 << 20;

/// The text of `source`, of which `start` is how it starts, without the prefix that all of its results stand behind; and
/// that prefix.
///
/// # Errors
/// Whatever `source` fails with.
pub fn without_prefix<'r>(
    start: &[u8],
    mut source: impl Read + 'r,
) -> io::Result<(Box<dyn Read + 'r>, Option<Prefix>)> {
    if start.lines().any(is_result) {
        return Ok((Box::new(source), None));
    }
    let mut text = Vec::new();
    source.by_ref().take(MOST_HELD).read_to_end(&mut text)?;
    let is_whole = (text.len() as u64) < MOST_HELD;
    let Some(prefix) = common(&text).filter(|_| is_whole) else {
        return Ok((Box::new(Cursor::new(text).chain(source)), None));
    };
    let mut stripped = Vec::with_capacity(text.len());
    for line in text.lines_with_terminator() {
        let end = if line.ends_with(b"\n") { "\n" } else { "" };
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        stripped.extend_from_slice(prefix.strip(line).unwrap_or(line));
        stripped.extend_from_slice(end.as_bytes());
    }
    Ok((Box::new(Cursor::new(stripped)), Some(prefix)))
}

/// Whether all results in `text` stand behind one kind of prefix, and which that is.
#[must_use]
pub fn common(text: &[u8]) -> Option<Prefix> {
    let mut common: Option<(Prefix, &[u8])> = None;
    let mut is_repeated = false;
    for line in text.lines() {
        let Some(at) = line.find(RESULT_PREFIX) else {
            continue;
        };
        if is_result(line) {
            return None;
        }
        let Some(prefix) = Prefix::before_result(line, &line[..at.min(LONGEST)]) else {
            continue;
        };
        match &common {
            None => common = Some((prefix, line)),
            Some((common, _)) if common.pieces == prefix.pieces => is_repeated = true,
            Some(_) => return None,
        }
    }
    // What all have is a prefix, and what the only one has must look like that.
    let (prefix, line) = common?;
    (is_repeated || Prefix::of_result(line).is_some()).then_some(prefix)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_of_one_kind_differ_in_numbers_and_the_width_of_blanks() {
        for (first, second) in [
            ("2026-01-01T00:00:01.12Z ", "2026-01-01T23:59:59Z "),
            ("[bench] ", "[bench] "),
            ("#15 21.66 ", "#16 3.1 "),
            ("bench-1  | ", "bench-10 | "),
            ("    ", "\t"),
            ("> ", "> "),
            ("word ", "word "),
            ("log.txt:7:", "log.txt:12:"),
            ("\x1b[32m", "\x1b[32m"),
            ("+", "+"),
            ("\u{1f680} ", "\u{1f680} "),
            (
                "Jan  1 00:00:00 host go[12]: ",
                "Jan 31 10:00:00 host go[7]: ",
            ),
        ] {
            let text = format!(
                "{first}pkg: a\n{first}BenchmarkA 1 5 ns/op\n{second}BenchmarkA 1 6 ns/op\n"
            );
            let prefix = common(text.as_bytes()).expect(first);
            assert_eq!(
                prefix.strip(format!("{second}pkg: a").as_bytes()),
                Some(&b"pkg: a"[..])
            );
        }
    }

    #[test]
    fn several_kinds_and_plain_results_have_no_prefix_in_common() {
        for text in [
            "[a] BenchmarkA 1 5 ns/op\n[b] BenchmarkA 1 5 ns/op\n",
            "[a] BenchmarkA 1 5 ns/op\nBenchmarkA 1 5 ns/op\n",
            "wordBenchmarkA 1 5 ns/op\n",
            "a word BenchmarkA 1 5 ns/op\n",
            "[a] BenchmarkA\n",
            "{\"log\":\"BenchmarkA 1 5 ns/op\",\"n\":1}\n{\"log\":\"BenchmarkA 1 6 ns/op\",\"n\":2}\n",
        ] {
            assert_eq!(common(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn quotes_end_with_the_line() {
        let prefix = common(b"\"BenchmarkA 1 5 ns/op").expect("a quote");
        assert_eq!(prefix.strip(b"\"pkg: a\","), Some(&b"pkg: a"[..]));
    }

    #[test]
    fn colour_ends_with_the_line() {
        let prefix = common(
            b"\x1b[1;32mBenchmarkA 1 5 ns/op\x1b[0m\n\x1b[1;32mBenchmarkA 1 6 ns/op\x1b[0m\n",
        );
        let prefix = prefix.expect("a colour");
        assert_eq!(
            prefix.strip(b"\x1b[0;33mpkg: a\x1b[0m\x1b[m\r"),
            Some(&b"pkg: a"[..])
        );
        assert_eq!(
            prefix.strip(b"\x1b[0;33mkey: \x1b[4A"),
            Some(&b"key: \x1b[4A"[..])
        );
    }

    #[test]
    fn the_expression_is_one_for_sed() {
        let prefix = common(b"[b] #1 BenchmarkA 1 5 ns/op").expect("a prefix");
        assert_eq!(
            prefix.sed(),
            r"sed -E 's/^\[b\][[:blank:]]+#[0-9][0-9.,:]*[[:blank:]]+//'"
        );
    }
}
