//! Lines: agreement with a slow parser, whatever the chunks that the text comes in, and writing what was read.

use std::io::{self, Read};

use bstr::ByteSlice;
use rbenchstat::record::number::{parse_iterations, parse_number};
use rbenchstat::record::{LineError, Reader, Record, Writer};

/// A record, with all it holds.
#[derive(Clone, Debug, PartialEq)]
enum Owned {
    Result {
        name: Vec<u8>,
        iterations: i64,
        /// The bits of each value, of which one NaN is as good as another, and its unit.
        measurements: Vec<(u64, Vec<u8>)>,
        configuration: Pairs,
    },
    Unit(Vec<u8>, Vec<Field>),
    Error(LineError),
}

type Pairs = Vec<(Vec<u8>, Vec<u8>)>;

/// A `key=value` of a unit line.
type Field = Result<(Vec<u8>, Vec<u8>), LineError>;

/// Checks `data` as the text of a file; its first byte says how it is cut into pieces.
///
/// # Panics
/// Where something does not hold.
pub fn check(data: &[u8]) {
    let Some((&chunk, text)) = data.split_first() else {
        return;
    };
    let (read, torn) = read(text, usize::MAX);
    let written = write(&read);
    for length in [1, 1 + usize::from(chunk), 4096] {
        let in_pieces = self::read(text, length);
        assert_eq!(in_pieces, (read.clone(), torn), "in pieces of {length}");
    }
    compare_with_slow_parser(text, &read, torn);
    let results = |read: &[Found]| -> Vec<Owned> {
        let results = read.iter().map(|found| found.record.clone());
        results
            .filter(|record| matches!(record, Owned::Result { .. }))
            .collect()
    };
    if let Some(written) = written {
        let (again, _) = self::read(&written, usize::MAX);
        assert_eq!(results(&again), results(&read), "{}", written.as_bstr());
    }
}

/// What a reader finds: a record, and the line it is at.
#[derive(Clone, Debug, PartialEq)]
struct Found {
    line: u64,
    record: Owned,
    /// Where the name of a result stands whose numbers are at `line`.
    torn_at: Option<u64>,
}

/// All records, and how many results are told to be torn apart for good.
fn read(text: &[u8], chunk: usize) -> (Vec<Found>, u64) {
    let mut reader = Reader::new(Chunks { text, chunk }, "label");
    let mut found = Vec::new();
    while let Some((line, record)) = reader.next_record().expect("memory can be read") {
        let mut torn_at = None;
        let record = match record {
            Record::Result(result) => {
                torn_at = result.torn_at();
                let pairs = result.configuration().iter();
                assert_eq!(result.configuration().file(), "label");
                Owned::Result {
                    name: result.name().to_vec(),
                    iterations: result.iterations(),
                    measurements: result
                        .measurements()
                        .map(|measurement| (bits(measurement.value), measurement.unit.to_vec()))
                        .collect(),
                    configuration: pairs
                        .map(|(key, value)| (key.to_vec(), value.to_vec()))
                        .collect(),
                }
            }
            Record::Unit(unit) => {
                let fields = unit.fields();
                let fields =
                    fields.map(|field| field.map(|(key, value)| (key.to_vec(), value.to_vec())));
                Owned::Unit(unit.unit().to_vec(), fields.collect())
            }
            Record::SyntaxError(error) | Record::NoResult(error) => Owned::Error(error),
        };
        found.push(Found {
            line,
            record,
            torn_at,
        });
    }
    let torn = reader.findings().torn.count;
    (found, torn)
}

/// The results written again, unless one of them has a line that the format has no place for.
fn write(read: &[Found]) -> Option<Vec<u8>> {
    let mut writer = Writer::new(Vec::new());
    for found in read {
        let Owned::Result {
            name,
            iterations,
            measurements,
            configuration,
        } = &found.record
        else {
            continue;
        };
        let mut wanted = rbenchstat::record::Configuration::new("label");
        for (key, value) in configuration {
            wanted.set(key, value);
        }
        let measurements = measurements
            .iter()
            .map(|(bits, unit)| rbenchstat::record::Measurement::new(f64::from_bits(*bits), unit));
        writer
            .result(&wanted, name, *iterations, measurements)
            .ok()?;
    }
    Some(writer.into_inner())
}

fn bits(value: f64) -> u64 {
    if value.is_nan() {
        f64::NAN.to_bits()
    } else {
        value.to_bits()
    }
}

/// A text that is read `chunk` bytes at a time.
struct Chunks<'a> {
    text: &'a [u8],
    chunk: usize,
}

impl Read for Chunks<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = buffer.len().min(self.chunk);
        self.text.read(&mut buffer[..length])
    }
}

/// Every line on its own says the same to the slow parser; but where torn results were mended, only what is no result and no
/// error. What was mended and then had other numbers is no record at all, and one of the `torn`.
fn compare_with_slow_parser(text: &[u8], read: &[Found], torn: u64) {
    let mut slow = Vec::new();
    let mut configuration = Pairs::new();
    let mut lines: Vec<&[u8]> = text.split(|&byte| byte == b'\n').collect();
    if lines.last().is_some_and(|line| line.is_empty()) {
        lines.pop();
    }
    for (number, line) in (1..).zip(lines) {
        // Each program that a text goes through may add one.
        let line = line.trim_end_with(|char| char == '\r');
        if let Some(record) = slow_record(line, &mut configuration) {
            slow.push(Found {
                line: number,
                record,
                torn_at: None,
            });
        }
    }
    // What was mended is at a line that holds nothing, or an error, by itself.
    let mut slow = slow.into_iter().peekable();
    let mut dropped = 0;
    // A mended result waits for the lines that may take its numbers from it, while others pass it by.
    let mut read: Vec<&Found> = read.iter().collect();
    read.sort_by_key(|found| found.line);
    for found in read {
        while let Some(error) = slow.next_if(|slow| slow.line < found.line) {
            assert!(matches!(error.record, Owned::Error(_)), "{error:?}");
            dropped += 1;
        }
        if found.torn_at.is_some() {
            let by_itself = slow.next_if(|slow| slow.line == found.line);
            assert!(matches!(
                by_itself.map(|found| found.record),
                None | Some(Owned::Error(_))
            ));
            assert!(
                matches!(found.record, Owned::Result { .. }),
                "only results are mended"
            );
            continue;
        }
        assert_eq!(Some(found), slow.next().as_ref());
    }
    for error in slow {
        assert!(matches!(error.record, Owned::Error(_)), "{error:?}");
        dropped += 1;
    }
    assert!(dropped <= torn, "{dropped} errors dropped, {torn} told");
}

fn slow_record(line: &[u8], configuration: &mut Pairs) -> Option<Owned> {
    if line.starts_with(b"Benchmark") {
        return match slow_result(line, configuration) {
            Ok(record) => record,
            Err(error) => Some(Owned::Error(error)),
        };
    }
    let fields = slow_fields(line);
    if line.starts_with(b"Unit") && fields[0] == b"Unit" {
        let Some((unit, pairs)) = fields[1..].split_first() else {
            return Some(Owned::Error(LineError::MissingUnit));
        };
        let pairs = pairs.iter().map(|field| match field.split_once_str(b"=") {
            Some((key, value)) if !key.is_empty() => Ok((key.to_vec(), value.to_vec())),
            _ => Err(LineError::ExpectedKeyValue),
        });
        return Some(Owned::Unit(unit.clone(), pairs.collect()));
    }
    if let Some((key, value)) = slow_configuration(line) {
        if value.is_empty() {
            // The last key takes the place of a deleted one.
            if let Some(at) = configuration.iter().position(|(known, _)| *known == key) {
                configuration.swap_remove(at);
            }
        } else if let Some(pair) = configuration.iter_mut().find(|(known, _)| *known == key) {
            pair.1 = value;
        } else {
            configuration.push((key, value));
        }
    }
    None
}

fn slow_result(line: &[u8], configuration: &Pairs) -> Result<Option<Owned>, LineError> {
    let fields = slow_fields(line);
    let (name, rest) = fields.split_first().expect("`Benchmark` at least");
    if name.len() == line.len() {
        return Ok(None);
    }
    let (count, rest) = rest.split_first().ok_or(LineError::MissingIterations)?;
    let iterations = parse_iterations(count).map_err(LineError::Iterations)?;
    let mut measurements = Vec::new();
    let mut rest = rest.iter();
    while let Some(value) = rest.next() {
        let value = parse_number(value).map_err(LineError::Measurement)?;
        let unit = rest.next().ok_or(LineError::MissingUnits)?;
        measurements.push((bits(value), unit.clone()));
    }
    if measurements.is_empty() {
        return Err(LineError::MissingMeasurements);
    }
    let values = || measurements.iter().map(|(bits, _)| f64::from_bits(*bits));
    let of_none = iterations == 0 || measurements.len() > 1 && values().any(f64::is_nan);
    if of_none && values().all(|value| value == 0.0 || !value.is_finite()) {
        return Err(LineError::NothingMeasured);
    }
    let name = name[b"Benchmark".len()..].to_vec();
    let configuration = configuration.clone();
    Ok(Some(Owned::Result {
        name,
        iterations,
        measurements,
        configuration,
    }))
}

fn slow_configuration(line: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    let first = line.chars().next()?;
    // Lower-case letters of Unicode that are not in category Ll are left to the tests of the parser.
    if !first.is_lowercase() {
        return None;
    }
    let (key, after) = line.split_once_str(b":")?;
    if !rbenchstat_key(key) {
        return None;
    }
    let value = after.trim_start_with(|char| char == ' ' || char == '\t');
    let is_valid = after.is_empty() || value.len() < after.len();
    is_valid.then(|| (key.to_vec(), value.to_vec()))
}

/// Whether the key is one, told by a line that has nothing but it: which
/// category a letter beyond ASCII is in, only the tables know.
fn rbenchstat_key(key: &[u8]) -> bool {
    let is_ascii = key.is_ascii();
    if is_ascii {
        return !key
            .iter()
            .any(|&byte| byte.is_ascii_uppercase() || char::from(byte).is_whitespace());
    }
    let probe = [key, b": v\nBenchmark 1 1 x"].concat();
    read(&probe, usize::MAX).0.iter().any(|found| {
        matches!(&found.record, Owned::Result { configuration, .. } if !configuration.is_empty())
    })
}

/// Runs of characters that are no white space; what comes before the first space is the first of them.
fn slow_fields(line: &[u8]) -> Vec<Vec<u8>> {
    let mut fields = vec![Vec::new()];
    for (start, end, char) in line.char_indices() {
        if char.is_whitespace() {
            if fields.last().is_some_and(|field| !field.is_empty()) || fields.len() == 1 {
                fields.push(Vec::new());
            }
        } else if let Some(field) = fields.last_mut() {
            field.extend_from_slice(&line[start..end]);
        }
    }
    if fields.len() > 1 && fields.last().is_some_and(Vec::is_empty) {
        fields.pop();
    }
    fields
}
