//! Words, operators and regular expressions: what both languages are made of.
//!
//! A token is read only when the grammar asks for it, because `/` starts a
//! regular expression where a value is wanted and an ordinary word elsewhere.
//! It also decides which of two errors is seen first: the one whose place the
//! parser reaches first, which is one token beyond what it has accepted.

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::ops::Range;

use bstr::ByteSlice;
use go_regexp::Regexp;
use nom::branch::alt;
use nom::bytes::complete::take;
use nom::character::complete::{char, one_of};
use nom::combinator::{eof, peek, value};
use nom::error::{ErrorKind, ParseError};
use nom::sequence::preceded;
use nom::{IResult, Parser};
use unicode_general_category::{GeneralCategory, get_general_category};

use super::error::SyntaxError;

/// What the parsers of this module's two languages return.
pub(super) type Parsed<'a, T> = IResult<&'a [u8], T, ParseFault<'a>>;

/// An error before the query it belongs to is known: the place is told by what
/// is left of the query there.
#[derive(Clone, Debug)]
pub(super) struct ParseFault<'a> {
    rest: &'a [u8],
    message: Cow<'static, str>,
}

impl<'a> ParseError<&'a [u8]> for ParseFault<'a> {
    // Only combinators call this, to say that an alternative does not apply;
    // the grammars word every error themselves.
    fn from_error_kind(rest: &'a [u8], _: ErrorKind) -> Self {
        Self {
            rest,
            message: Cow::Borrowed("unexpected text"),
        }
    }

    fn append(_: &'a [u8], _: ErrorKind, other: Self) -> Self {
        other
    }
}

impl ParseFault<'_> {
    /// The error of the query that the parser was started on.
    pub(super) fn within(self, query: &[u8]) -> SyntaxError {
        SyntaxError::new(
            self.message.into_owned(),
            query,
            query.len() - self.rest.len(),
        )
    }
}

/// An error that ends parsing.
pub(super) fn fail(rest: &[u8], message: impl Into<Cow<'static, str>>) -> nom::Err<ParseFault<'_>> {
    nom::Err::Failure(ParseFault {
        rest,
        message: message.into(),
    })
}

/// "This is not what comes next": the caller may try something else.
pub(super) fn decline(
    rest: &[u8],
    message: impl Into<Cow<'static, str>>,
) -> nom::Err<ParseFault<'_>> {
    nom::Err::Error(ParseFault {
        rest,
        message: message.into(),
    })
}

/// A token of either language.
#[derive(Clone, Debug)]
pub(super) enum Token<'a> {
    /// A bare or quoted word, unquoted.
    Word(Cow<'a, [u8]>),
    /// `/…/`, where a value is wanted.
    Regexp(Regexp),
    /// The bare word `AND`.
    And,
    /// The bare word `OR`.
    Or,
    /// One of `( ) : @ , - *`.
    Operator(u8),
    /// The end of the query.
    End,
}

/// A token and what the query holds from it on.
#[derive(Clone, Debug)]
pub(super) struct Lexeme<'a> {
    /// The query from the token's first byte to its end.
    pub(super) from: &'a [u8],
    /// The token.
    pub(super) token: Token<'a>,
}

/// Whether a `/` starts a regular expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slash {
    /// Yes: a value is wanted.
    Regexp,
    /// No: it is a character of a word.
    Word,
}

/// Reads the next token.
pub(super) fn lexeme<'a>(
    slash: Slash,
) -> impl Parser<&'a [u8], Output = Lexeme<'a>, Error = ParseFault<'a>> {
    move |input| {
        let (from, ()) = spaces(input)?;
        let (rest, token) = alt((
            value(Token::End, eof),
            operator,
            quoted,
            move |input| regular_expression(slash, input),
            bare,
        ))
        .parse(from)?;
        Ok((rest, Lexeme { from, token }))
    }
}

/// Looks at the next token without taking it.
pub(super) fn ahead<'a>(
    slash: Slash,
) -> impl Parser<&'a [u8], Output = Lexeme<'a>, Error = ParseFault<'a>> {
    peek(lexeme(slash))
}

/// Takes one particular operator, if it comes next.
pub(super) fn symbol<'a>(
    wanted: char,
) -> impl Parser<&'a [u8], Output = char, Error = ParseFault<'a>> {
    preceded(spaces, char(wanted))
}

/// Skips Unicode white space.
fn spaces(input: &[u8]) -> Parsed<'_, ()> {
    let length = characters(input)
        .find(|(_, character)| !character.is_some_and(char::is_whitespace))
        .map_or(input.len(), |(range, _)| range.start);
    take(length).map(|_| ()).parse(input)
}

fn operator(input: &[u8]) -> Parsed<'_, Token<'_>> {
    one_of("():@,-*")
        .map(|character| Token::Operator(character as u8))
        .parse(input)
}

/// Whether a bare word ends before `character`.
fn ends_word(character: Option<char>) -> bool {
    character.is_some_and(|character| {
        character.is_whitespace() || matches!(character, '(' | ')' | ':' | '@' | ',')
    })
}

fn bare(input: &[u8]) -> Parsed<'_, Token<'_>> {
    let length = characters(input)
        .find(|&(_, character)| ends_word(character))
        .map_or(input.len(), |(range, _)| range.start);
    take(length)
        .map(|word: &[u8]| match word {
            b"AND" => Token::And,
            b"OR" => Token::Or,
            _ => Token::Word(Cow::Borrowed(word)),
        })
        .parse(input)
}

fn quoted(input: &[u8]) -> Parsed<'_, Token<'_>> {
    let (body, _) = char('"').parse(input)?;
    // The reference takes a quote after a backslash for a part of the string even
    // where that backslash is itself escaped: `"\\"` has no end.
    let end = memchr::memchr_iter(b'"', body).find(|&at| at == 0 || body[at - 1] != b'\\');
    let Some(at) = end else {
        return Err(fail(input, "missing end quote"));
    };
    match unescape(&body[..at]) {
        Some(word) => Ok((&body[at + 1..], Token::Word(word))),
        None => Err(fail(input, "bad escape sequence")),
    }
}

/// The text of a string in Go's double quotes, if it is a valid one.
fn unescape(body: &[u8]) -> Option<Cow<'_, [u8]>> {
    // Go's strings are of one line.
    if body.contains(&b'\n') {
        return None;
    }
    if !body.contains(&b'\\') {
        // Go reads a string character by character, and a byte that is none as U+FFFD.
        return Some(match replace_invalid(body) {
            Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
            Cow::Owned(text) => Cow::Owned(text.into_bytes()),
        });
    }
    let mut text = Vec::with_capacity(body.len());
    let mut rest = body;
    while let Some(start) = rest.find_byteset(b"\\\"") {
        if rest[start] == b'"' {
            return None;
        }
        text.extend_from_slice(replace_invalid(&rest[..start]).as_bytes());
        let (&letter, after) = rest[start + 1..].split_first()?;
        let mut encoded = [0; 4];
        let (taken, bytes): (usize, &[u8]) = match letter {
            b'a' => (0, b"\x07"),
            b'b' => (0, b"\x08"),
            b'f' => (0, b"\x0c"),
            b'n' => (0, b"\n"),
            b'r' => (0, b"\r"),
            b't' => (0, b"\t"),
            b'v' => (0, b"\x0b"),
            b'\\' => (0, b"\\"),
            b'"' => (0, b"\""),
            // These two name bytes, the other two characters.
            b'x' => {
                encoded[0] = u8::try_from(number(after.get(..2)?, 16)?).ok()?;
                (2, &encoded[..1])
            }
            b'0'..=b'7' => {
                let digits = rest.get(start + 1..start + 4)?;
                encoded[0] = u8::try_from(number(digits, 8)?).ok()?;
                (2, &encoded[..1])
            }
            b'u' | b'U' => {
                let digits = if letter == b'u' { 4 } else { 8 };
                let character = char::from_u32(number(after.get(..digits)?, 16)?)?;
                (digits, character.encode_utf8(&mut encoded).as_bytes())
            }
            _ => return None,
        };
        text.extend_from_slice(bytes);
        rest = &after[taken..];
    }
    text.extend_from_slice(replace_invalid(rest).as_bytes());
    Some(Cow::Owned(text))
}

/// The number that all of `digits` spell.
fn number(digits: &[u8], radix: u32) -> Option<u32> {
    digits.iter().try_fold(0u32, |sum, &digit| {
        let digit = char::from(digit).to_digit(radix)?;
        sum.checked_mul(radix)?.checked_add(digit)
    })
}

/// Reads `/…/`, up to the first slash outside brackets and parentheses.
fn regular_expression(slash: Slash, input: &[u8]) -> Parsed<'_, Token<'_>> {
    let (body, _) = char('/').parse(input)?;
    if slash == Slash::Word {
        return Err(decline(input, "a word"));
    }
    let Some(length) = expression_length(body) else {
        return Err(fail(input, "missing close \"/\""));
    };
    let (source, rest) = (&body[..length], &body[length + 1..]);
    let regexp = Regexp::new(source).map_err(|error| fail(input, error.to_string()))?;
    // The reference looks at one byte here, so that U+3000 is no space.
    match rest.first().map(|&byte| char::from(byte)) {
        Some(next) if !ends_word(Some(next)) && !matches!(next, '-' | '*') => Err(fail(
            rest,
            "regexp must be followed by space or an operator (unescaped \"/\"?)",
        )),
        _ => Ok((rest, Token::Regexp(regexp))),
    }
}

/// Where in `body` the closing slash is.
fn expression_length(body: &[u8]) -> Option<usize> {
    // How deep brackets and, outside of them, parentheses are open. Unlike in the
    // expression itself brackets nest, and a parenthesis may close before it opens.
    let mut brackets = 0_usize;
    let mut parentheses = 0_isize;
    let mut at = 0;
    while at < body.len() {
        match body[at] {
            b'\\' => at += 1,
            b'[' => brackets += 1,
            b']' => brackets = brackets.saturating_sub(1),
            _ if brackets > 0 => {}
            b'(' => parentheses += 1,
            b')' => parentheses -= 1,
            b'/' if parentheses == 0 => return Some(at),
            _ => {}
        }
        at += 1;
    }
    None
}

/// The characters of `text` with the bytes they take. As in Go, a byte that is
/// no part of a character stands for itself alone.
pub(super) fn characters(text: &[u8]) -> impl Iterator<Item = (Range<usize>, Option<char>)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let (character, size) = match bstr::decode_utf8(&text[at..]) {
            (_, 0) => return None,
            (None, _) => (None, 1),
            (character, size) => (character, size),
        };
        let start = at;
        at += size;
        Some((start..at, character))
    })
}

/// `text` with U+FFFD in place of each byte that is no part of a character.
pub(super) fn replace_invalid(text: &[u8]) -> Cow<'_, str> {
    match str::from_utf8(text) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(
            characters(text)
                .map(|(_, character)| character.unwrap_or(char::REPLACEMENT_CHARACTER))
                .collect(),
        ),
    }
}

/// Where a word is printed: it must be read back in the same place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WordPlace {
    /// As a key, an order or a member of a fixed list.
    Key,
    /// As a value of a filter, where `/` starts a regular expression.
    Value,
}

/// Prints a word so that it reads back the same: bare if it can be.
pub(super) fn write_word(
    out: &mut fmt::Formatter<'_>,
    word: &[u8],
    place: WordPlace,
) -> fmt::Result {
    match str::from_utf8(word) {
        Ok(text) if reads_bare(text, place) => out.write_str(text),
        _ => {
            let quoted = quote(word);
            // An escaped backslash before the closing quote would hide it.
            match quoted.strip_suffix(r#"\\""#) {
                Some(start) => write!(out, r#"{start}\x5c""#),
                None => out.write_str(&quoted),
            }
        }
    }
}

/// Whether `text` without quotes is a word, and no hidden character is in it.
fn reads_bare(text: &str, place: WordPlace) -> bool {
    let is_operator = matches!(text, "" | "AND" | "OR") || text.starts_with(['-', '*', '"']);
    let is_regexp = place == WordPlace::Value && text.starts_with('/');
    let is_plain = |character| !ends_word(Some(character)) && is_printable(character);
    !is_operator && !is_regexp && text.chars().all(is_plain)
}

/// Quotes `text` as Go's `%q` does.
pub(super) fn quote(text: &[u8]) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for (range, character) in characters(text) {
        let Some(character) = character else {
            // Writing to a string cannot fail.
            let _ = write!(quoted, "\\x{:02x}", text[range.start]);
            continue;
        };
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            '\x07' => quoted.push_str("\\a"),
            '\x08' => quoted.push_str("\\b"),
            '\x0c' => quoted.push_str("\\f"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\x0b' => quoted.push_str("\\v"),
            _ if is_printable(character) => quoted.push(character),
            _ => {
                let code = u32::from(character);
                let _ = match code {
                    0..0x20 | 0x7f => write!(quoted, "\\x{code:02x}"),
                    0x20..=0xffff => write!(quoted, "\\u{code:04x}"),
                    _ => write!(quoted, "\\U{code:08x}"),
                };
            }
        }
    }
    quoted.push('"');
    quoted
}

/// Go's `unicode.IsPrint`: what is graphic, but of spaces only the ASCII one.
fn is_printable(character: char) -> bool {
    let category = get_general_category(character);
    character == ' ' || category != GeneralCategory::SpaceSeparator && is_graphic(character)
}

/// Go's `unicode.IsGraphic`: letters, marks, numbers, punctuation, symbols and spaces.
pub(super) fn is_graphic(character: char) -> bool {
    use GeneralCategory as G;
    !matches!(
        get_general_category(character),
        G::Control
            | G::Format
            | G::Surrogate
            | G::PrivateUse
            | G::Unassigned
            | G::LineSeparator
            | G::ParagraphSeparator
    )
}
