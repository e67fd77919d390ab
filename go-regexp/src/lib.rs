//! Go's regular expressions, on top of the `regex` crate.
//!
//! Both descend from RE2, but their syntaxes differ at the edges: in Go `\d`,
//! `\w`, `\s` and `\b` are ASCII, `a**` is an error, `{` is a literal where it
//! starts no repetition, `[a&&b]` has no special meaning, `\Q…\E` quotes, and so
//! on. So a pattern is read here by Go's rules, and its meaning is written down
//! again in a form in which the crate has nothing to decide: every character
//! of a class as `\x{…}`, every flag on the one atom that it concerns.
//!
//! Go matches a text character by character and takes a byte that is none as
//! U+FFFD. Here such a text is converted first, which comes to the same because
//! only *whether* something matches is asked, never where. For the same reason
//! greediness and capture groups are read, checked and left out.
//!
//! ```
//! use go_regexp::Regexp;
//!
//! let pattern: Regexp = r"^Encode/size=\d+(k|M)?$".parse()?;
//! assert!(pattern.is_match(b"Encode/size=16k"));
//! assert!(!pattern.is_match("Encode/size=١٦".as_bytes()), "in Go, \\d is ASCII");
//!
//! let error = "a**".parse::<Regexp>().unwrap_err();
//! assert_eq!(error.to_string(), "error parsing regexp: invalid nested repetition operator: `**`");
//! # Ok::<(), go_regexp::RegexpError>(())
//! ```
//!
//! What differs: the Unicode version (Go 1.26 has 15.0, the crate 16.0), and
//! patterns that exceed a limit of one of the two engines only.

#![forbid(unsafe_code)]

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::str::FromStr;

use regex::{Regex, RegexBuilder};

/// The largest number of a repetition, and the largest product of nested ones.
const MOST_REPEATS: u32 = 1000;

/// Bytes a compiled pattern may take; Go's own limit is 128 MiB.
const SIZE_LIMIT: usize = 256 << 20;

/// A compiled regular expression, which remembers how it was spelled.
#[derive(Clone)]
pub struct Regexp {
    source: Box<str>,
    program: Regex,
}

/// Why a pattern is refused, in Go's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("error parsing regexp: {reason}: `{part}`")]
pub struct RegexpError {
    reason: &'static str,
    /// The part of the pattern that the reason is about.
    part: String,
}

impl Regexp {
    /// Compiles a pattern.
    ///
    /// # Errors
    /// The first mistake, if it is not a pattern of Go's `regexp` package.
    pub fn new(pattern: &[u8]) -> Result<Self, RegexpError> {
        let Ok(source) = str::from_utf8(pattern) else {
            let valid = pattern
                .utf8_chunks()
                .next()
                .map_or(0, |chunk| chunk.valid().len());
            return Err(error(
                "invalid UTF-8",
                &String::from_utf8_lossy(&pattern[valid..]),
            ));
        };
        let program = RegexBuilder::new(&Translator::new(source).translate()?)
            .size_limit(SIZE_LIMIT)
            .nest_limit(NEST_LIMIT)
            .build()
            .map_err(|_| error("expression too large", source))?;
        Ok(Self {
            source: source.into(),
            program,
        })
    }

    /// Whether any part of `text` matches.
    #[must_use]
    pub fn is_match(&self, text: &[u8]) -> bool {
        self.program.is_match(&replace_invalid(text))
    }
}

impl FromStr for Regexp {
    type Err = RegexpError;

    fn from_str(pattern: &str) -> Result<Self, RegexpError> {
        Self::new(pattern.as_bytes())
    }
}

/// The pattern as it was given.
impl fmt::Display for Regexp {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.source)
    }
}

impl fmt::Debug for Regexp {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Regexp({:?})", self.source)
    }
}

impl PartialEq for Regexp {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

impl Eq for Regexp {}

/// `text` with U+FFFD in place of each byte that is no part of a character.
fn replace_invalid(text: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = str::from_utf8(text) {
        return Cow::Borrowed(text);
    }
    let mut replaced = String::with_capacity(text.len());
    for chunk in text.utf8_chunks() {
        replaced.push_str(chunk.valid());
        replaced.extend(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER));
    }
    Cow::Owned(replaced)
}

/// How deep groups may nest.
const DEEPEST: usize = 1000;

/// The same for the crate, whose every group holds a list and perhaps a repetition.
const NEST_LIMIT: u32 = 4000;

const NO_OPERAND: &str = "missing argument to repetition operator";
const BAD_RANGE: &str = "invalid character class range";
const BAD_PERL: &str = "invalid or unsupported Perl syntax";
const BAD_ESCAPE: &str = "invalid escape sequence";

fn error(reason: &'static str, part: &str) -> RegexpError {
    RegexpError {
        reason,
        part: part.into(),
    }
}

/// The flags of `(?imsU)` that bear on whether something matches.
#[derive(Clone, Copy, Debug, Default)]
struct Flags {
    fold_case: bool,
    multi_line: bool,
    dot_all: bool,
}

/// The part of a pattern that a repetition would apply to.
#[derive(Clone, Copy, Debug)]
struct Operand {
    /// Where it starts in the translation.
    start: usize,
    /// The largest product of nested repetition counts in it.
    repeats: u32,
    repeated: bool,
}

/// An open group, or the whole pattern.
#[derive(Clone, Copy, Debug, Default)]
struct Group {
    /// Where it starts in the translation.
    start: usize,
    /// The flags to return to after it.
    flags: Flags,
    last: Option<Operand>,
    /// The largest product of nested repetition counts so far.
    repeats: u32,
}

/// Reads a pattern in Go's syntax and writes it in the crate's.
struct Translator<'a> {
    source: &'a str,
    rest: &'a str,
    flags: Flags,
    /// The groups around the innermost one.
    outer: Vec<Group>,
    group: Group,
    output: String,
}

impl<'a> Translator<'a> {
    fn new(source: &'a str) -> Self {
        Self {
            source,
            rest: source,
            flags: Flags::default(),
            outer: Vec::new(),
            group: Group::default(),
            output: String::with_capacity(2 * source.len()),
        }
    }

    fn translate(mut self) -> Result<String, RegexpError> {
        // The repetition operator just read, which another must not follow.
        let mut repetition = None;
        while let Some(first) = self.rest.chars().next() {
            let previous = repetition.take();
            match first {
                '(' => self.open()?,
                ')' => self.close()?,
                '|' => {
                    self.take(1);
                    self.output.push('|');
                    self.group.last = None;
                }
                '*' | '+' | '?' => {
                    let start = self.rest;
                    self.take(1);
                    let (min, max) = match first {
                        '*' => (0, None),
                        '+' => (1, None),
                        _ => (0, Some(1)),
                    };
                    self.repeat(start, previous, min, max)?;
                    repetition = Some(start);
                }
                '{' => match counts(self.rest) {
                    Some((min, max, length)) => {
                        let start = self.rest;
                        self.take(length);
                        if min > MOST_REPEATS
                            || max.is_some_and(|max| max > MOST_REPEATS || max < min)
                        {
                            return Err(error("invalid repeat count", &start[..length]));
                        }
                        self.repeat(start, previous, min, max)?;
                        repetition = Some(start);
                    }
                    None => self.literal(),
                },
                '^' if self.flags.multi_line => self.atom(1, "(?m:^)"),
                '^' => self.atom(1, r"\A"),
                '$' if self.flags.multi_line => self.atom(1, "(?m:$)"),
                '$' => self.atom(1, r"\z"),
                '.' if self.flags.dot_all => self.atom(1, "(?s:.)"),
                '.' => self.atom(1, "."),
                '[' => {
                    let class = self.class()?;
                    self.atom(0, &class);
                }
                '\\' => self.escape()?,
                _ => self.literal(),
            }
        }
        if self.outer.is_empty() {
            Ok(self.output)
        } else {
            Err(error("missing closing )", self.source))
        }
    }

    /// Takes `length` bytes of the pattern.
    fn take(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(length);
        self.rest = rest;
        taken
    }

    /// Takes `length` bytes, which mean `translation`.
    fn atom(&mut self, length: usize, translation: &str) {
        self.take(length);
        self.group.last = Some(Operand {
            start: self.output.len(),
            repeats: 1,
            repeated: false,
        });
        self.output.push_str(translation);
    }

    /// Takes a character that stands for itself.
    fn literal(&mut self) {
        if let Some(character) = self.rest.chars().next() {
            self.atom(0, &self.folded(&single(u32::from(character))));
            self.take(character.len_utf8());
        }
    }

    /// `atom` under the flag for case.
    fn folded(&self, atom: &str) -> String {
        if self.flags.fold_case {
            format!("(?i:{atom})")
        } else {
            atom.into()
        }
    }

    /// Opens a group, or changes flags.
    fn open(&mut self) -> Result<(), RegexpError> {
        let start = self.rest;
        let mut flags = self.flags;
        if !start.starts_with("(?") {
            self.take(1);
            return self.enter(start);
        }
        let name = (start.len() > 4)
            .then(|| start.strip_prefix("(?P<"))
            .flatten()
            .or_else(|| start.strip_prefix("(?<").filter(|name| !name.is_empty()));
        if let Some(name) = name {
            let Some(length) = name.find('>') else {
                return Err(error("invalid named capture", start));
            };
            let header = &start[..=start.len() - name.len() + length];
            let name = &name[..length];
            if name.is_empty()
                || !name
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            {
                return Err(error("invalid named capture", header));
            }
            self.take(header.len());
            return self.enter(start);
        }
        let mut value = true;
        let mut flag_seen = false;
        for (at, letter) in start.char_indices().skip(2) {
            match letter {
                'i' => flags.fold_case = value,
                'm' => flags.multi_line = value,
                's' => flags.dot_all = value,
                'U' => {}
                '-' if value => {
                    value = false;
                    flag_seen = false;
                    continue;
                }
                ':' | ')' if value || flag_seen => {
                    self.take(at + 1);
                    if letter == ':' {
                        self.enter(start)?;
                    }
                    self.flags = flags;
                    return Ok(());
                }
                _ => {
                    let part = &start[..at + letter.len_utf8()];
                    return Err(error(BAD_PERL, part));
                }
            }
            flag_seen = true;
        }
        Err(error(BAD_PERL, start))
    }

    fn enter(&mut self, start: &str) -> Result<(), RegexpError> {
        if self.outer.len() >= DEEPEST {
            return Err(error("expression nests too deeply", start));
        }
        let group = Group {
            start: self.output.len(),
            flags: self.flags,
            last: None,
            repeats: 1,
        };
        self.outer.push(std::mem::replace(&mut self.group, group));
        self.output.push_str("(?:");
        Ok(())
    }

    fn close(&mut self) -> Result<(), RegexpError> {
        let Some(outer) = self.outer.pop() else {
            return Err(error("unexpected )", self.source));
        };
        self.take(1);
        self.output.push(')');
        let inner = std::mem::replace(&mut self.group, outer);
        self.flags = inner.flags;
        self.group.last = Some(Operand {
            start: inner.start,
            repeats: inner.repeats,
            repeated: false,
        });
        self.group.repeats = self.group.repeats.max(inner.repeats);
        Ok(())
    }

    /// Repeats the last operand. The operator has been taken; `start` is the
    /// pattern from it on, and `previous` from one directly before it on.
    fn repeat(
        &mut self,
        start: &'a str,
        previous: Option<&'a str>,
        min: u32,
        max: Option<u32>,
    ) -> Result<(), RegexpError> {
        // Makes it lazy, which is no matter here.
        if self.rest.starts_with('?') {
            self.take(1);
        }
        let end = start.len() - self.rest.len();
        if let Some(previous) = previous {
            let part = &previous[..previous.len() - self.rest.len()];
            return Err(error("invalid nested repetition operator", part));
        }
        let Some(operand) = self.group.last.as_mut() else {
            return Err(error(NO_OPERAND, &start[..end]));
        };
        let factor = max.unwrap_or(min);
        if max == Some(0) {
            operand.repeats = 1;
        } else {
            operand.repeats *= factor.max(1);
        }
        if factor >= 2 && operand.repeats > MOST_REPEATS {
            return Err(error("invalid repeat count", &start[..end]));
        }
        self.group.repeats = self.group.repeats.max(operand.repeats);
        // Go allows `a*(?i)*`, where the first star is part of the operand.
        if std::mem::replace(&mut operand.repeated, true) {
            self.output.insert_str(operand.start, "(?:");
            self.output.push(')');
        }
        // Writing to a string cannot fail.
        let _ = match max {
            None => write!(self.output, "{{{min},}}"),
            Some(max) => write!(self.output, "{{{min},{max}}}"),
        };
        Ok(())
    }

    /// Reads what starts with a backslash, outside a class.
    fn escape(&mut self) -> Result<(), RegexpError> {
        match self.rest.as_bytes().get(1) {
            Some(b'A') => self.atom(2, r"\A"),
            Some(b'z') => self.atom(2, r"\z"),
            Some(b'b') => self.atom(2, r"(?-u:\b)"),
            Some(b'B') => self.atom(2, r"(?-u:\B)"),
            Some(b'Q') => {
                self.take(2);
                let quoted = self.rest.find("\\E").unwrap_or(self.rest.len());
                let end = self.rest.len() - quoted;
                while self.rest.len() > end {
                    self.literal();
                }
                self.take(end.min(2));
            }
            _ => {
                let atom = match self.class_escape()? {
                    Some(class) => class,
                    None => single(self.character_escape()?),
                };
                self.atom(0, &self.folded(&atom));
            }
        }
        Ok(())
    }

    /// Reads `\d` and the like or `\pL` and the like, if that comes next.
    fn class_escape(&mut self) -> Result<Option<String>, RegexpError> {
        let start = self.rest;
        let Some(&letter) = start.as_bytes().get(1) else {
            return Ok(None);
        };
        if !start.starts_with('\\') {
            return Ok(None);
        }
        let ranges = match letter.to_ascii_lowercase() {
            b'd' => "0-9",
            b's' => r"\t\n\f\r ",
            b'w' => "0-9A-Za-z_",
            b'p' => return self.unicode_class(letter == b'P').map(Some),
            _ => return Ok(None),
        };
        self.take(2);
        Ok(Some(bracketed(letter.is_ascii_uppercase(), ranges)))
    }

    /// Reads `\pL` or `\p{Greek}`.
    fn unicode_class(&mut self, mut negated: bool) -> Result<String, RegexpError> {
        let start = self.rest;
        let after = &start[2..];
        let (name, length) = if let Some(name) = after.strip_prefix('{') {
            match name.find('}') {
                Some(end) => (&name[..end], end + 2),
                None => return Err(error(BAD_RANGE, start)),
            }
        } else {
            let length = after.chars().next().map_or(0, char::len_utf8);
            (&after[..length], length)
        };
        let part = &start[..2 + length];
        let name = name.strip_prefix('^').map_or(name, |name| {
            negated = !negated;
            name
        });
        let class = unicode_class_named(name).ok_or_else(|| error(BAD_RANGE, part))?;
        self.take(part.len());
        Ok(bracketed(negated, &class))
    }

    /// Reads an escape that stands for one character.
    fn character_escape(&mut self) -> Result<u32, RegexpError> {
        let start = self.rest;
        self.take(1);
        let Some(letter) = self.rest.chars().next() else {
            return Err(error("trailing backslash at end of expression", ""));
        };
        self.take(letter.len_utf8());
        let refuse = |rest: &str| error(BAD_ESCAPE, &start[..start.len() - rest.len()]);
        match letter {
            // A single digit but 0 would refer back to a group.
            '1'..='7' if !self.rest.starts_with(|next| matches!(next, '0'..='7')) => {
                Err(refuse(self.rest))
            }
            '0'..='7' => {
                let mut code = u32::from(letter) - u32::from('0');
                for _ in 0..2 {
                    let Some(digit) = self.rest.chars().next().and_then(|next| next.to_digit(8))
                    else {
                        break;
                    };
                    code = code * 8 + digit;
                    self.take(1);
                }
                Ok(code)
            }
            'x' => self.hexadecimal().ok_or_else(|| refuse(self.rest)),
            'a' => Ok(0x07),
            'f' => Ok(0x0c),
            'n' => Ok(0x0a),
            'r' => Ok(0x0d),
            't' => Ok(0x09),
            'v' => Ok(0x0b),
            _ if letter.is_ascii() && !letter.is_ascii_alphanumeric() => Ok(u32::from(letter)),
            _ => Err(refuse(self.rest)),
        }
    }

    /// Reads `41` or `{41}`. Where it fails, it has taken what an error is to show.
    fn hexadecimal(&mut self) -> Option<u32> {
        let first = self.next()?;
        if first != '{' {
            let (high, low) = (first.to_digit(16), self.next()?.to_digit(16));
            return Some(16 * high? + low?);
        }
        let mut code = None;
        loop {
            let next = self.next()?;
            if next == '}' {
                return code;
            }
            let longer = 16 * code.unwrap_or(0) + next.to_digit(16)?;
            code = Some(longer).filter(|&code| code <= u32::from(char::MAX));
            code?;
        }
    }

    fn next(&mut self) -> Option<char> {
        let next = self.rest.chars().next()?;
        self.take(next.len_utf8());
        Some(next)
    }

    /// Reads `[…]`.
    fn class(&mut self) -> Result<String, RegexpError> {
        let start = self.rest;
        self.take(1);
        let negated = self.rest.starts_with('^');
        self.take(usize::from(negated));
        let mut members = String::new();
        // A bracket that comes first is a member.
        let mut first = true;
        while first || !self.rest.starts_with(']') {
            first = false;
            if let Some(named) = self.named_class()? {
                members.push_str(&named);
            } else if let Some(class) = self.class_escape()? {
                members.push_str(&class);
            } else {
                self.range(start, &mut members)?;
            }
        }
        self.take(1);
        if members.is_empty() {
            // Only surrogates, which no text holds.
            members.push_str(NOTHING);
        }
        Ok(self.folded(&bracketed(negated, &members)))
    }

    /// Reads `[:alpha:]` or `[:^alpha:]` inside a class, if that comes next.
    fn named_class(&mut self) -> Result<Option<String>, RegexpError> {
        let Some(name) = self.rest.strip_prefix("[:") else {
            return Ok(None);
        };
        let Some(length) = name.find(":]") else {
            return Ok(None);
        };
        let part = self.take(length + 4);
        let name = &name[..length];
        let (name, negated) = name
            .strip_prefix('^')
            .map_or((name, false), |name| (name, true));
        let ranges = match name {
            "alnum" => "0-9A-Za-z",
            "alpha" => "A-Za-z",
            "ascii" => r"\x00-\x7F",
            "blank" => r"\t ",
            "cntrl" => r"\x00-\x1F\x7F",
            "digit" => "0-9",
            "graph" => r"\x21-\x7E",
            "lower" => "a-z",
            "print" => r"\x20-\x7E",
            "punct" => r"\x21-\x2F\x3A-\x40\x5B-\x60\x7B-\x7E",
            "space" => r"\t\n\v\f\r ",
            "upper" => "A-Z",
            "word" => "0-9A-Za-z_",
            "xdigit" => "0-9A-Fa-f",
            _ => return Err(error(BAD_RANGE, part)),
        };
        Ok(Some(bracketed(negated, ranges)))
    }

    /// Reads one character or range of the class that starts at `class`.
    fn range(&mut self, class: &str, members: &mut String) -> Result<(), RegexpError> {
        let start = self.rest;
        let low = self.class_character(class)?;
        let mut high = low;
        if self.rest.len() >= 2 && self.rest.starts_with('-') && !self.rest.starts_with("-]") {
            self.take(1);
            high = self.class_character(class)?;
            if high < low {
                let part = &start[..start.len() - self.rest.len()];
                return Err(error(BAD_RANGE, part));
            }
        }
        // The crate does not take surrogates as ends of a range, and no text holds one.
        let is_surrogate = |code: u32| (0xd800..0xe000).contains(&code);
        let low = if is_surrogate(low) { 0xe000 } else { low };
        let high = if is_surrogate(high) { 0xd7ff } else { high };
        if low <= high {
            // Writing to a string cannot fail.
            let _ = write!(members, r"\x{{{low:x}}}-\x{{{high:x}}}");
        }
        Ok(())
    }

    fn class_character(&mut self, class: &str) -> Result<u32, RegexpError> {
        if self.rest.starts_with('\\') {
            return self.character_escape();
        }
        self.next()
            .map(u32::from)
            .ok_or_else(|| error("missing closing ]", class))
    }
}

/// A class without members.
const NOTHING: &str = r"[a&&b]";

/// The class of `members`, or of everything else.
fn bracketed(negated: bool, members: &str) -> String {
    format!("[{}{members}]", if negated { "^" } else { "" })
}

/// One character, outside a class.
fn single(code: u32) -> String {
    match char::from_u32(code) {
        Some(character) if character.is_alphanumeric() => character.into(),
        Some(_) => format!(r"\x{{{code:x}}}"),
        None => NOTHING.into(),
    }
}

/// Reads `{2}`, `{2,}` or `{2,3}`: the smallest and largest number, and the length.
fn counts(text: &str) -> Option<(u32, Option<u32>, usize)> {
    let (min, rest) = count(text.strip_prefix('{')?)?;
    let (max, rest) = match rest.strip_prefix(',') {
        None => (Some(min), rest),
        Some(rest) if rest.starts_with('}') => (None, rest),
        Some(rest) => {
            let (max, rest) = count(rest)?;
            (Some(max), rest)
        }
    };
    let rest = rest.strip_prefix('}')?;
    Some((min, max, text.len() - rest.len()))
}

/// Reads a number without leading zeros; a number too large is just large.
fn count(text: &str) -> Option<(u32, &str)> {
    let length = text.bytes().take_while(u8::is_ascii_digit).count();
    let (digits, rest) = text.split_at(length);
    if digits.is_empty() || digits.len() > 1 && digits.starts_with('0') {
        return None;
    }
    Some((digits.parse().unwrap_or(u32::MAX), rest))
}

/// What is in the Unicode category or script of this name, for use in a class.
///
/// Go ignores case, spaces, underscores and hyphens in the name.
fn unicode_class_named(name: &str) -> Option<String> {
    let plain: String = name
        .chars()
        .filter(|character| !matches!(character, ' ' | '_' | '-'))
        .map(|character| character.to_ascii_lowercase())
        .collect();
    match plain.as_str() {
        "any" => return Some(r"\x{0}-\x{10ffff}".into()),
        "ascii" => return Some(r"\x{0}-\x{7f}".into()),
        "assigned" => return Some(r"\P{gc=Cn}".into()),
        // A category of code points that are no characters.
        "cs" | "surrogate" => return Some(NOTHING.into()),
        _ => {}
    }
    if CATEGORIES.contains(&plain.as_str()) {
        Some(format!(r"\p{{gc={plain}}}"))
    } else if SCRIPTS.contains(&plain.as_str()) {
        Some(format!(r"\p{{sc={plain}}}"))
    } else {
        None
    }
}

/// The names of general categories that Go knows, in lower case and without separators.
#[rustfmt::skip]
const CATEGORIES: [&str; 78] = [
    "c", "casedletter", "cc", "cf", "closepunctuation", "cn", "cntrl", "co", "combiningmark", "connectorpunctuation",
    "control", "currencysymbol", "dashpunctuation", "decimalnumber", "digit", "enclosingmark", "finalpunctuation",
    "format", "initialpunctuation", "l", "lc", "letter", "letternumber", "lineseparator", "ll", "lm", "lo",
    "lowercaseletter", "lt", "lu", "m", "mark", "mathsymbol", "mc", "me", "mn", "modifierletter", "modifiersymbol",
    "n", "nd", "nl", "no", "nonspacingmark", "number", "openpunctuation", "other", "otherletter", "othernumber",
    "otherpunctuation", "othersymbol", "p", "paragraphseparator", "pc", "pd", "pe", "pf", "pi", "po", "privateuse",
    "ps", "punct", "punctuation", "s", "sc", "separator", "sk", "sm", "so", "spaceseparator", "spacingmark", "symbol",
    "titlecaseletter", "unassigned", "uppercaseletter", "z", "zl", "zp", "zs",
];

/// The names of scripts that Go finds, likewise. Go 1.26 strips the separators of
/// a name but not those of its own table, and so finds no script of several words.
#[rustfmt::skip]
const SCRIPTS: [&str; 117] = [
    "adlam", "ahom", "arabic", "armenian", "avestan", "balinese", "bamum", "batak", "bengali", "bhaiksuki",
    "bopomofo", "brahmi", "braille", "buginese", "buhid", "carian", "chakma", "cham", "cherokee", "chorasmian",
    "common", "coptic", "cuneiform", "cypriot", "cyrillic", "deseret", "devanagari", "dogra", "duployan", "elbasan",
    "elymaic", "ethiopic", "georgian", "glagolitic", "gothic", "grantha", "greek", "gujarati", "gurmukhi", "han",
    "hangul", "hanunoo", "hatran", "hebrew", "hiragana", "inherited", "javanese", "kaithi", "kannada", "katakana",
    "kawi", "kharoshthi", "khmer", "khojki", "khudawadi", "lao", "latin", "lepcha", "limbu", "lisu", "lycian",
    "lydian", "mahajani", "makasar", "malayalam", "mandaic", "manichaean", "marchen", "medefaidrin", "miao", "modi",
    "mongolian", "mro", "multani", "myanmar", "nabataean", "nandinagari", "newa", "nko", "nushu", "ogham", "oriya",
    "osage", "osmanya", "palmyrene", "phoenician", "rejang", "runic", "samaritan", "saurashtra", "sharada", "shavian",
    "siddham", "sinhala", "sogdian", "soyombo", "sundanese", "syriac", "tagalog", "tagbanwa", "takri", "tamil",
    "tangsa", "tangut", "telugu", "thaana", "thai", "tibetan", "tifinagh", "tirhuta", "toto", "ugaritic", "vai",
    "vithkuqi", "wancho", "yezidi", "yi",
];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn matches(pattern: &str, text: &[u8]) -> bool {
        pattern.parse::<Regexp>().unwrap().is_match(text)
    }

    // All of these were seen in Go 1.26.
    #[test]
    fn patterns_mean_what_they_mean_in_go() {
        for (pattern, text, expected) in [
            (r"^\d$", "٣", false),
            (r"^\w$", "é", false),
            (r"^\s$", "\u{b}", false),
            (r"\bé", "é", false),
            (r"\B", "aéa", false),
            (r"(?i)^\w$", "\u{212a}", true),
            (r"^[a&&b]$", "&", true),
            (r"^[+--]$", ",", true),
            (r"^[[a]$", "[", true),
            (r"^[]a]$", "]", true),
            (r"^[\d-z]$", "-", true),
            (r"^a{,2}$", "a{,2}", true),
            (r"^{$", "{", true),
            (r"^a{02}$", "a{02}", true),
            (r"^\Qa*b\E$", "a*b", true),
            (r"^a\Qb*", "ab*", true),
            (r"^\Qab\E+$", "abb", true),
            (r"^\101\x42\x{43}$", "ABC", true),
            (r"^\0123$", "\n3", true),
            (r"a$", "a\n", false),
            (r"(?m)a$", "a\n", true),
            (r"^.$", "\n", false),
            (r"(?s)^.$", "\n", true),
            (r"^(a(?i)b)c$", "aBc", true),
            (r"^(a(?i)b)c$", "aBC", false),
            (r"^(?i)a|b$", "B", true),
            (r"^(?i:k)$", "\u{212a}", true),
            (r"^[[:^alpha:]]$", "1", true),
            (r"^\pN\p{greek}\p{^Lu}\PL$", "1σa1", true),
            (r"^\p{Any}$", "😀", true),
            (r"^(?P<n>a)(?<n>b)$", "ab", true),
            (r"^a*(?i)*$", "aa", true),
            (r"^[^\x{d7ff}-\x{e001}]$", "\u{e000}", false),
            (r"(?U)^a+?$", "aa", true),
            ("", "", true),
        ] {
            assert_eq!(
                matches(pattern, text.as_bytes()),
                expected,
                "{pattern} {text}"
            );
        }
    }

    #[test]
    fn a_byte_that_is_no_character_matches_as_a_replacement_character() {
        assert!(matches("^.$", b"\xff"));
        assert!(matches("^..$", b"\xe6\x97"));
        assert!(matches(r"^a\x{fffd}b$", b"a\xffb"));
        assert!(!matches("^.$", "é".as_bytes().repeat(2).as_slice()));
    }

    #[test]
    fn what_go_refuses_is_refused_in_the_same_words() {
        for (pattern, message) in [
            ("*", "missing argument to repetition operator: `*`"),
            ("a|+?", "missing argument to repetition operator: `+?`"),
            ("(?i)*", "missing argument to repetition operator: `*`"),
            ("a**", "invalid nested repetition operator: `**`"),
            ("a{2}{3}", "invalid nested repetition operator: `{2}{3}`"),
            ("x{1001}", "invalid repeat count: `{1001}`"),
            ("x{3,2}", "invalid repeat count: `{3,2}`"),
            ("(a{500}){3}", "invalid repeat count: `{3}`"),
            ("((a{10}){10}){11}", "invalid repeat count: `{11}`"),
            ("(", "missing closing ): `(`"),
            ("a)", "unexpected ): `a)`"),
            ("[a", "missing closing ]: `[a`"),
            ("[z-a]", "invalid character class range: `z-a`"),
            ("[[:foo:]]", "invalid character class range: `[:foo:]`"),
            (r"\p{Foo}", "invalid character class range: `\\p{Foo}`"),
            (r"[a-\d]", "invalid escape sequence: `\\d`"),
            (r"\Z", "invalid escape sequence: `\\Z`"),
            (r"\C", "invalid escape sequence: `\\C`"),
            (r"\1", "invalid escape sequence: `\\1`"),
            (r"\8", "invalid escape sequence: `\\8`"),
            (r"\x{110000}", "invalid escape sequence: `\\x{110000`"),
            (r"\é", "invalid escape sequence: `\\é`"),
            ("\\", "trailing backslash at end of expression: ``"),
            ("(?=a)", "invalid or unsupported Perl syntax: `(?=`"),
            ("(?i-)", "invalid or unsupported Perl syntax: `(?i-)`"),
            ("(?P<n!>a)", "invalid named capture: `(?P<n!>`"),
        ] {
            let error = pattern.parse::<Regexp>().unwrap_err();
            assert_eq!(
                error.to_string(),
                format!("error parsing regexp: {message}")
            );
        }
        assert!(Regexp::new(b"a\xff").is_err());
        assert!("(a{500}){2}".parse::<Regexp>().is_ok());
    }

    #[test]
    fn nesting_is_limited() {
        let nested = |depth: usize| format!("{}a{}", "(".repeat(depth), ")".repeat(depth));
        assert!(nested(DEEPEST).parse::<Regexp>().is_ok());
        assert!(nested(DEEPEST + 1).parse::<Regexp>().is_err());
    }

    proptest! {
        #[test]
        fn every_translation_is_a_pattern_of_the_crate(
            pattern in r"([ab(|)*+?.^$\[\]&~-]|\{2\}|\\[dDwWsSbBpPQExk01AzZ]|\(\?[imsU:-]|\pL|[[:^ascii:]]){0,10}",
        ) {
            if let Ok(translation) = Translator::new(&pattern).translate() {
                prop_assert!(Regex::new(&translation).is_ok(), "{}", translation);
            }
        }
    }
}

/// The example of the README is tested.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
