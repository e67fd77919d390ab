//! Reads records from a stream of text.

use std::io::{self, Read};
use std::num::NonZero;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use bstr::{BStr, BString, ByteSlice};
use memchr::memchr;

use super::broken::{self, BetweenResults, Findings, MalformedLine};
use super::configuration::Configuration;
use super::line::{self, Line, LineError, Parser};

/// What a reader finds.
#[derive(Clone, Debug)]
pub enum Record<'a> {
    /// A benchmark result.
    Result(ResultRecord<'a>),
    /// A line that says something about a unit.
    Unit(UnitRecord<'a>),
    /// A line that starts as a result or unit line and is malformed.
    SyntaxError(LineError),
    /// A line that starts as a result, is malformed, and then says how the benchmark ended without one.
    NoResult(LineError),
}

/// One benchmark result.
#[derive(Clone, Copy, Debug)]
pub struct ResultRecord<'a> {
    reader: u64,
    name: &'a BStr,
    name_version: u64,
    iterations: i64,
    parser: &'a Parser,
    configuration: &'a Configuration,
    configuration_version: u64,
    torn_at: Option<u64>,
    round: Option<NonZero<u32>>,
}

impl<'a> ResultRecord<'a> {
    /// The full name, without the leading `Benchmark`.
    #[must_use]
    pub fn name(&self) -> &'a BStr {
        self.name
    }

    /// The number of the reader, which no other reader of this process has: names, configurations and units have numbers
    /// that mean something for one reader alone.
    #[must_use]
    pub fn reader(&self) -> u64 {
        self.reader
    }

    /// How many iterations were run.
    #[must_use]
    pub fn iterations(&self) -> i64 {
        self.iterations
    }

    /// The measurements in the order of the line, at least one.
    #[must_use]
    pub fn measurements(&self) -> impl ExactSizeIterator<Item = Measurement<'a>> + use<'a> {
        let parser = self.parser;
        parser.measurements().iter().map(move |raw| Measurement {
            value: raw.value,
            unit: parser.unit(raw.unit),
        })
    }

    /// The measurements with numbers for their units: equal numbers from one
    /// reader mean equal units.
    #[must_use]
    pub fn numbered_measurements(&self) -> impl ExactSizeIterator<Item = (f64, u32)> + use<'a> {
        self.parser
            .measurements()
            .iter()
            .map(|raw| (raw.value, raw.unit))
    }

    /// Equal versions from one reader mean equal names; different ones mean
    /// nothing.
    #[must_use]
    pub fn name_version(&self) -> u64 {
        self.name_version
    }

    /// The configuration in force at this line.
    #[must_use]
    pub fn configuration(&self) -> &'a Configuration {
        self.configuration
    }

    /// Rises whenever the reader's configuration is set anew, so that equal
    /// versions from one reader mean equal configurations.
    #[must_use]
    pub fn configuration_version(&self) -> u64 {
        self.configuration_version
    }

    /// The line that has the name, where log output tore it from the numbers.
    #[must_use]
    pub fn torn_at(&self) -> Option<u64> {
        self.torn_at
    }

    /// The round in which the result was measured, counted from 1, where a line `# rbenchstat round N` before it says so.
    #[must_use]
    pub fn round(&self) -> Option<NonZero<u32>> {
        self.round
    }
}

/// A value with its unit, both as written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measurement<'a> {
    /// The value, in `unit`; may be NaN or infinite.
    pub value: f64,
    /// The unit, not empty.
    pub unit: &'a BStr,
}

impl<'a> Measurement<'a> {
    /// A value in `unit`.
    #[must_use]
    pub fn new(value: f64, unit: &'a (impl AsRef<[u8]> + ?Sized)) -> Self {
        Self {
            value,
            unit: unit.as_ref().as_bstr(),
        }
    }
}

/// What one `Unit` line says.
#[derive(Clone, Copy, Debug)]
pub struct UnitRecord<'a> {
    line: &'a [u8],
    unit: &'a BStr,
    fields: usize,
}

impl<'a> UnitRecord<'a> {
    /// The unit as written.
    #[must_use]
    pub fn unit(&self) -> &'a BStr {
        self.unit
    }

    /// The `key=value` fields in the order of the line, malformed ones as errors.
    pub fn fields(
        &self,
    ) -> impl Iterator<Item = Result<(&'a BStr, &'a BStr), LineError>> + use<'a> {
        line::unit_fields(self.line, self.fields)
    }
}

/// Reads records from text in the benchmark format.
///
/// Memory grows with the longest line, not with the text, and a line has a
/// limit: see [`LONGEST_LINE`].
pub struct Reader<R> {
    number: u64,
    lines: LineReader<R>,
    /// From lines of the text to those of what it was made of; none where that is the same.
    line_in_input: Option<Box<dyn Fn(u64) -> u64>>,
    configuration: Configuration,
    configuration_version: u64,
    parser: Parser,
    watch: BetweenResults,
    /// A result put together, of which other numbers may follow. It is rare and large, so it is kept apart.
    joined: Option<Box<Joined>>,
    /// One of which none did.
    settled: Option<Box<Joined>>,
    /// The one that was handed out last.
    handed_out: Box<Joined>,
    /// A line that waits until the result before it is handed out.
    held: Option<Range<usize>>,
    round: Option<NonZero<u32>>,
    /// Whether that was told of text in UTF-16 within other text.
    encoding_changes: bool,
}

/// A result whose name and numbers log output tore apart, as it was where its numbers stand.
#[derive(Debug, Default)]
struct Joined {
    /// A whole line made of both.
    text: Vec<u8>,
    /// The line that has the numbers, and the one that has the name.
    number: u64,
    torn_at: u64,
    configuration: Configuration,
    configuration_version: u64,
    round: Option<NonZero<u32>>,
}

impl<R: Read> Reader<R> {
    /// Reads from `source`, whose results get `label` as their `.file`.
    pub fn new(source: R, label: impl Into<BString>) -> Self {
        static READERS: AtomicU64 = AtomicU64::new(0);
        Self {
            number: READERS.fetch_add(1, Ordering::Relaxed),
            lines: LineReader::new(source),
            line_in_input: None,
            configuration: Configuration::new(label),
            configuration_version: 0,
            parser: Parser::default(),
            watch: BetweenResults::default(),
            joined: None,
            settled: None,
            handed_out: Box::default(),
            held: None,
            round: None,
            encoding_changes: false,
        }
    }

    /// Counts the lines of the input that the text was made of, from now on: whoever reads a message looks there.
    ///
    /// `line_in_input` is asked for each line of the text, in order.
    pub fn number_lines(&mut self, line_in_input: impl Fn(u64) -> u64 + 'static) {
        self.line_in_input = Some(Box::new(line_in_input));
    }

    /// Counts the bytes that stand before the text and are no part of it, such as a mark.
    pub fn skip_bytes(&mut self, count: u64) {
        self.lines.offset += count;
    }

    /// What was found beside the records so far.
    #[must_use]
    pub fn findings(&self) -> &Findings {
        &self.watch.findings
    }

    /// The number of the line read last, from 1; 0 before the first.
    pub fn line_number(&self) -> u64 {
        match &self.line_in_input {
            Some(line_in_input) if self.lines.number > 0 => line_in_input(self.lines.number),
            _ => self.lines.number,
        }
    }

    /// The next record with the number of its line, from 1, or `None` at the end.
    ///
    /// Malformed lines are records too: reading goes on after them.
    ///
    /// # Errors
    /// Whatever the source fails with.
    pub fn next_record(&mut self) -> io::Result<Option<(u64, Record<'_>)>> {
        loop {
            if let Some(joined) = self.settled.take() {
                return Ok(Some(self.joined_record(joined)));
            }
            let Some(place) = self.next_line()? else {
                let last = self.settled.take();
                return Ok(last.map(|joined| self.joined_record(joined)));
            };
            let number = self.line_number();
            let text = &self.lines.buffer[place.clone()];
            let usual = self.parser.measurements().len();
            let parsed = self.parser.parse(text);
            if self.lines.is_open && broken::is_cut_off(text, &parsed, &self.parser, usual) {
                self.watch.findings.truncated = Some(number);
            }
            match parsed {
                Ok(Line::Other) => {
                    if let Some(round) = line::parse_round(text) {
                        self.round = Some(round);
                        continue;
                    }
                    if !self.encoding_changes && starts_utf16(text) {
                        self.encoding_changes = true;
                        let byte = self.lines.offset + place.start as u64;
                        self.watch.findings.refused.add(number, text);
                        let record = Record::SyntaxError(LineError::EncodingChanges { byte });
                        return Ok(Some((number, record)));
                    }
                    let is_mended = self.watch.other(text, number);
                    self.settle();
                    if is_mended {
                        self.joined = Some(self.join(number));
                    }
                }
                Ok(Line::Configuration { key, value }) => {
                    self.watch.configuration(&text[key.clone()], text, number);
                    self.configuration.set(&text[key], &text[value]);
                    self.configuration_version += 1;
                    self.settle();
                }
                Ok(Line::Result {
                    name,
                    name_version,
                    iterations,
                }) => {
                    self.watch.result();
                    if self.joined.is_some() {
                        self.settle();
                        self.held = Some(place);
                        continue;
                    }
                    if self.parser.is_comparison() {
                        return Ok(Some((number, Record::SyntaxError(LineError::Comparison))));
                    }
                    if self.parser.measured_nothing(iterations) {
                        self.watch.findings.refused.add(number, text);
                        let record = Record::SyntaxError(LineError::NothingMeasured);
                        return Ok(Some((number, record)));
                    }
                    let record = Record::Result(ResultRecord {
                        reader: self.number,
                        name: self.lines.buffer[place][name].as_bstr(),
                        name_version,
                        iterations,
                        parser: &self.parser,
                        configuration: &self.configuration,
                        configuration_version: self.configuration_version,
                        torn_at: None,
                        round: self.round,
                    });
                    return Ok(Some((number, record)));
                }
                Ok(Line::Unit { unit, fields }) => {
                    let line = &self.lines.buffer[place];
                    let unit = line[unit].as_bstr();
                    let record = Record::Unit(UnitRecord { line, unit, fields });
                    return Ok(Some((number, record)));
                }
                Err(error) => {
                    let fault = self.watch.malformed(text, number, &error);
                    self.settle();
                    let record = match fault {
                        MalformedLine::Mended => {
                            // With another name, nothing follows the one before.
                            self.settled = self.joined.replace(self.join(number));
                            continue;
                        }
                        MalformedLine::NoResult => Record::NoResult(error),
                        MalformedLine::Remains => Record::SyntaxError(error),
                    };
                    return Ok(Some((number, record)));
                }
            }
        }
    }

    /// The place of the next line, or of the one that was held back.
    #[inline]
    fn next_line(&mut self) -> io::Result<Option<Range<usize>>> {
        if let Some(place) = self.held.take() {
            return Ok(Some(place));
        }
        let Some(place) = self.lines.advance()? else {
            self.watch.end();
            self.settle();
            return Ok(None);
        };
        Ok(Some(without_mark(&self.lines.buffer, place)))
    }

    /// What was put together at line `number`.
    fn join(&self, number: u64) -> Box<Joined> {
        let (text, torn_at) = self.watch.mended();
        Box::new(Joined {
            text: text.to_owned(),
            number,
            torn_at,
            configuration: self.configuration.clone(),
            configuration_version: self.configuration_version,
            round: self.round,
        })
    }

    /// Decides on the result that was put together, once no other numbers can follow.
    fn settle(&mut self) {
        if self.joined.is_none() || self.watch.may_have_other_numbers() {
            return;
        }
        let joined = self.joined.take();
        self.settled = joined.filter(|_| !self.watch.had_other_numbers());
    }

    /// A result that was put together, with the number of its line.
    fn joined_record(&mut self, joined: Box<Joined>) -> (u64, Record<'_>) {
        self.handed_out = joined;
        let Joined {
            text,
            number,
            torn_at,
            configuration,
            configuration_version,
            round,
        } = &*self.handed_out;
        let record = match self.parser.parse(text) {
            Ok(Line::Result {
                name,
                name_version,
                iterations,
            }) => {
                let name = text[name].as_bstr();
                self.watch.keep(*torn_at, name);
                Record::Result(ResultRecord {
                    reader: self.number,
                    name,
                    name_version,
                    iterations,
                    parser: &self.parser,
                    configuration,
                    configuration_version: *configuration_version,
                    torn_at: Some(*torn_at),
                    round: *round,
                })
            }
            Err(error) => Record::SyntaxError(error),
            // What was joined has a name and numbers.
            Ok(_) => Record::SyntaxError(LineError::MissingMeasurements),
        };
        (*number, record)
    }
}

/// Splits a stream into lines without copying those that fit in the buffer.
#[derive(Debug)]
struct LineReader<R> {
    source: R,
    buffer: Vec<u8>,
    /// How many bytes of the text stood before the buffer.
    offset: u64,
    /// The part of the buffer that was read and not yet handed out.
    unread: Range<usize>,
    number: u64,
    ended: bool,
    /// Whether the line handed out last is the last of all and has no line end.
    is_open: bool,
}

/// The bytes that a line may have.
///
/// A longer one that is a result, a unit line or a configuration line is an
/// error. Any other is log output, of which the rest is passed over.
pub const LONGEST_LINE: usize = 64 << 20;
/// Enough for most files, and quick to get.
const FIRST_LENGTH: usize = 16 * 1024;
/// Large enough that system calls cost little, small enough for the second-level cache.
const FULL_LENGTH: usize = 128 * 1024;

impl<R: Read> LineReader<R> {
    fn new(source: R) -> Self {
        Self {
            source,
            buffer: vec![0; FIRST_LENGTH],
            offset: 0,
            unread: 0..0,
            number: 0,
            ended: false,
            is_open: false,
        }
    }

    /// The place in the buffer of the next line, without its line end.
    fn advance(&mut self) -> io::Result<Option<Range<usize>>> {
        let mut searched = 0;
        loop {
            let unread = &self.buffer[self.unread.clone()];
            if let Some(length) = memchr(b'\n', &unread[searched..]) {
                let start = self.unread.start;
                let end = start + searched + length;
                self.unread.start = end + 1;
                return Ok(Some(self.found(start, end)));
            }
            searched = unread.len();
            if searched >= LONGEST_LINE {
                return self.skip().map(Some);
            }
            if self.ended {
                let Range { start, end } = self.unread.clone();
                self.unread.start = end;
                self.is_open = start < end;
                return Ok((start < end).then(|| self.found(start, end)));
            }
            self.fill()?;
        }
    }

    /// Leaves out carriage returns, of which text that was converted twice has several.
    fn found(&mut self, start: usize, mut end: usize) -> Range<usize> {
        self.number += 1;
        while start < end && self.buffer[end - 1] == b'\r' {
            end -= 1;
        }
        start..end
    }

    /// Reads to the end of a line that is too long to hold, and hands out an empty one in its place.
    #[cold]
    fn skip(&mut self) -> io::Result<Range<usize>> {
        self.number += 1;
        if line::may_matter(&self.buffer[self.unread.clone()]) {
            let message = format!(
                "the line is longer than {} MiB, which is the limit",
                LONGEST_LINE >> 20
            );
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        self.offset += self.unread.end as u64;
        self.unread = 0..0;
        self.buffer.truncate(FULL_LENGTH);
        self.buffer.shrink_to_fit();
        loop {
            self.unread.start = self.unread.end;
            self.fill()?;
            let unread = &self.buffer[self.unread.clone()];
            if let Some(length) = memchr(b'\n', unread) {
                self.unread.start = length + 1;
                return Ok(0..0);
            }
            if self.ended {
                return Ok(0..0);
            }
        }
    }

    /// Reads more behind what is unread, moving that to the front and growing the buffer where it must.
    fn fill(&mut self) -> io::Result<()> {
        let kept = self.unread.len();
        let was_filled = self.unread.end == self.buffer.len();
        self.offset += self.unread.start as u64;
        self.buffer.copy_within(self.unread.clone(), 0);
        self.unread = 0..kept;
        if kept == self.buffer.len() {
            self.buffer.resize(kept * 2, 0);
        } else if was_filled && self.buffer.len() < FULL_LENGTH {
            self.buffer.resize(FULL_LENGTH, 0);
        }
        let count = loop {
            match self.source.read(&mut self.buffer[kept..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other?,
            }
        };
        self.unread.end += count;
        self.ended = count == 0;
        Ok(())
    }
}

/// The place of a line without the byte-order mark that it starts with where files with one were put together.
fn without_mark(buffer: &[u8], place: Range<usize>) -> Range<usize> {
    const MARK: &[u8] = b"\xef\xbb\xbf";
    if buffer[place.clone()].starts_with(MARK) {
        place.start + MARK.len()..place.end
    } else {
        place
    }
}

/// Whether a line is the first of text in UTF-16: by its byte-order mark, or as results are in it.
fn starts_utf16(text: &[u8]) -> bool {
    text.starts_with(b"\xff\xfe")
        || text.starts_with(b"\xfe\xff")
        || text.contains(&0) && text.contains_str(b"e\0n\0c\0h\0m\0a\0r\0k")
}
