//! Reads all inputs, on as many threads as help, with the same outcome as one after the other.

use std::fs::File;
use std::hint;
use std::io::{self, Read, Write};
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;

use bstr::BString;

use crate::input::{Decoded, InputError, Likeness, LineNumbers, Size, Source, decode};
use crate::query::{Filter, Layout};
use crate::record::{Findings, Reader, Record};
use crate::report::InputFacts;
use crate::report::gate::Evidence;
use crate::sample::{Builder, Environments, MOST_CONFIGURED, Samples, Seen};
use crate::unit::Metadata;

/// Which results go where.
#[derive(Clone, Copy, Debug)]
pub struct Query<'q> {
    /// Which results are used.
    pub filter: &'q Filter,
    /// To which cells they go.
    pub layout: &'q Layout,
    /// What each packed input may unpack to.
    pub most_unpacked: Size,
    /// Whether to find out what results were measured on.
    pub compares_environments: bool,
    /// Whether it names keys that inputs may lack.
    pub names_keys: bool,
}

impl<'q> Query<'q> {
    fn builder(self) -> Builder<'q> {
        Builder::new(self.filter, self.layout)
    }
}

/// What the inputs hold.
pub struct Inputs {
    /// The samples of all inputs.
    pub samples: Samples,
    /// What they say of units.
    pub metadata: Metadata,
    /// What else is known of each.
    pub facts: Vec<InputFacts>,
    /// What results were measured on; nothing unless asked for.
    pub environments: Environments,
    /// What stands in the way of verdicts.
    pub evidence: Evidence,
}

/// Why reading stopped.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// An input cannot be read.
    #[error(transparent)]
    Input(#[from] InputError),
    /// A warning cannot be written.
    #[error("write standard error: {0}")]
    Warning(#[from] io::Error),
}

/// Reads `sources`, and writes what is wrong with single lines to `warnings`, in order.
///
/// # Errors
/// The first input in order that fails. Warnings on what was read before it are written all the same.
pub fn read(
    sources: &[Source],
    query: Query<'_>,
    standard_input: &mut (dyn Read + Send),
    warnings: &mut dyn Write,
) -> Result<Inputs, ReadError> {
    let standard_input = StandardInput {
        reader: Mutex::new(standard_input),
        first: sources.iter().position(Source::is_standard_input),
    };
    let mut merged = Merged {
        builder: None,
        metadata: Metadata::default(),
        facts: Vec::new(),
        evidence: Evidence::default(),
        warnings,
    };
    let threads = threads_for(sources);
    if threads <= 1 {
        for index in 0..sources.len() {
            let reading = read_source(sources, index, query, &standard_input);
            merged.add(&sources[index], reading)?;
        }
    } else {
        read_in_parallel(sources, query, &standard_input, threads, &mut merged)?;
    }
    let builder = merged.builder.unwrap_or_else(|| query.builder());
    Ok(Inputs {
        environments: if query.compares_environments {
            Environments::of(&builder, query.layout)
        } else {
            Environments::default()
        },
        samples: builder.finish(),
        evidence: merged.evidence,
        metadata: merged.metadata,
        facts: merged.facts,
    })
}

/// How many threads read `sources` best: one where there is too little to read.
fn threads_for(sources: &[Source]) -> usize {
    /// What one thread reads in the time that it takes to start others.
    const WORTH_THREADS: u64 = 256 * 1024;
    let mut lengths = sources
        .iter()
        .map(|source| source.length().unwrap_or(u64::MAX));
    let is_worth = lengths
        .try_fold(0_u64, |sum, length| {
            Some(sum.saturating_add(length)).filter(|&sum| sum < WORTH_THREADS)
        })
        .is_none();
    if is_worth && sources.len() > 1 {
        thread::available_parallelism()
            .map_or(1, NonZero::get)
            .min(sources.len())
    } else {
        1
    }
}

/// Standard input, for the first source that is it; later ones find it at its end.
struct StandardInput<'a> {
    reader: Mutex<&'a mut (dyn Read + Send)>,
    first: Option<usize>,
}

/// Each worker takes the next source in order; what they find is merged in that same order.
fn read_in_parallel<'q>(
    sources: &[Source],
    query: Query<'q>,
    standard_input: &StandardInput<'_>,
    threads: usize,
    merged: &mut Merged<'q, '_>,
) -> Result<(), ReadError> {
    /// What a thread takes for some 40 MB of text.
    const USUAL_NEED: usize = 8 << 20;
    expect_to_need(2 * USUAL_NEED);
    let next = AtomicUsize::new(0);
    let read_next = || {
        let index = next.fetch_add(1, Ordering::Relaxed);
        (index < sources.len()).then(|| (index, read_source(sources, index, query, standard_input)))
    };
    let (sender, receiver) = mpsc::channel();
    let mut waiting = Waiting::new(sources);
    thread::scope(|scope| {
        // This thread is one of them.
        for _ in 1..threads {
            let (read_next, sender) = (&read_next, sender.clone());
            scope.spawn(move || {
                expect_to_need(USUAL_NEED);
                while let Some(reading) = read_next() {
                    // The receiver is gone when an earlier source has failed.
                    if sender.send(reading).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        while let Some((index, reading)) = read_next() {
            waiting.put(index, reading);
            for (index, reading) in receiver.try_iter() {
                waiting.put(index, reading);
            }
            waiting.merge_into(merged)?;
        }
        for (index, reading) in receiver {
            waiting.put(index, reading);
            waiting.merge_into(merged)?;
        }
        Ok(())
    })
}

/// Asks for memory and gives it back untouched.
///
/// The allocator of glibc takes that for a sign: it keeps blocks that are not larger than the largest one given back, and
/// the heap of a thread is there in one step. Otherwise it grows page by page, and each step stops all threads that touch
/// new memory. Other allocators lose a few microseconds. See "What was done about it" in `docs/performance.md`.
fn expect_to_need(bytes: usize) {
    drop(hint::black_box(Vec::<u8>::with_capacity(bytes)));
}

/// Readings that came before their turn.
struct Waiting<'s, 'q> {
    sources: &'s [Source],
    readings: Vec<Option<Reading<'q>>>,
    merged: usize,
}

impl<'s, 'q> Waiting<'s, 'q> {
    fn new(sources: &'s [Source]) -> Self {
        let mut readings = Vec::new();
        readings.resize_with(sources.len(), || None);
        Self {
            sources,
            readings,
            merged: 0,
        }
    }

    fn put(&mut self, index: usize, reading: Reading<'q>) {
        self.readings[index] = Some(reading);
    }

    /// Merges all whose turn it is.
    fn merge_into(&mut self, merged: &mut Merged<'q, '_>) -> Result<(), ReadError> {
        while let Some(reading) = self.readings.get_mut(self.merged).and_then(Option::take) {
            merged.add(&self.sources[self.merged], reading)?;
            self.merged += 1;
        }
        Ok(())
    }
}

/// What one source holds.
struct Reading<'q> {
    builder: Builder<'q>,
    most_unpacked: Size,
    events: Vec<(u64, Event)>,
    /// How many results there are, whether they are used or not.
    results: u64,
    findings: Findings,
    /// None where there are results.
    likeness: Option<Likeness>,
    seen: Seen,
    error: Option<InputError>,
}

/// What has to wait for the sources before it.
enum Event {
    /// A sentence on a line.
    Message(String),
    /// The same on a line that says how a benchmark ended without a result.
    NoResult(String),
    /// A pair of a unit line.
    Unit {
        unit: BString,
        key: BString,
        value: BString,
    },
}

fn read_source<'q>(
    sources: &[Source],
    index: usize,
    query: Query<'q>,
    standard_input: &StandardInput<'_>,
) -> Reading<'q> {
    let mut reading = Reading {
        builder: query.builder(),
        most_unpacked: query.most_unpacked,
        events: Vec::new(),
        results: 0,
        findings: Findings::default(),
        likeness: None,
        seen: Seen::default(),
        error: None,
    };
    let source = &sources[index];
    let outcome = if standard_input.first == Some(index) {
        let reader = standard_input.reader.lock();
        let mut reader = reader.unwrap_or_else(PoisonError::into_inner);
        reading.read_all(source, &mut **reader)
    } else if source.is_standard_input() {
        reading.read_all(source, io::empty())
    } else {
        source
            .open()
            .and_then(|file: File| reading.read_all(source, file))
    };
    reading.error = outcome.err();
    reading.seen = reading.builder.seen(query.names_keys);
    reading
}

impl Reading<'_> {
    fn read_all(&mut self, source: &Source, bytes: impl Read) -> Result<(), InputError> {
        let Decoded { text, lines, start } = decode(bytes, self.most_unpacked)
            .map_err(|error| InputError::read(source, 0, error))?;
        let mut reader = reader(source, text, lines);
        let outcome = loop {
            match reader.next_record() {
                Ok(Some((line, record))) => {
                    self.add(line, &record);
                    if !self.builder.has_room() {
                        break Err(InputError::read(source, line, no_room()));
                    }
                }
                Ok(None) => break Ok(()),
                Err(error) => {
                    break Err(InputError::read(source, reader.line_number(), error));
                }
            }
        };
        if self.results == 0 {
            self.likeness = Some(start.likeness());
        }
        self.findings = reader.findings().clone();
        outcome
    }

    fn add(&mut self, line: u64, record: &Record<'_>) {
        let events = &mut self.events;
        match record {
            Record::Result(result) => {
                self.results += 1;
                if let Some(torn_at) = result.torn_at() {
                    // What was wrong with the line of the name has been mended.
                    let before = events.iter().rposition(|(line, _)| *line < torn_at);
                    let later = before.map_or(0, |at| at + 1);
                    events
                        .extract_if(later.., |(line, _)| *line == torn_at)
                        .for_each(drop);
                }
                self.builder.add(result, &mut |value, unit| {
                    let message = format!(
                        "a measurement in {unit} is {value}, not a finite number: left out"
                    );
                    events.push((line, Event::Message(message)));
                });
            }
            Record::Unit(unit_line) => {
                for field in unit_line.fields() {
                    let event = match field {
                        Ok((key, value)) => Event::Unit {
                            unit: unit_line.unit().into(),
                            key: key.into(),
                            value: value.into(),
                        },
                        Err(error) => Event::Message(error.to_string()),
                    };
                    events.push((line, event));
                }
            }
            Record::SyntaxError(error) => events.push((line, Event::Message(error.to_string()))),
            Record::NoResult(error) => events.push((line, Event::NoResult(error.to_string()))),
        }
    }
}

/// Reads the text of `source`, and counts the lines of what it was made of.
pub(super) fn reader<R: Read>(source: &Source, text: R, lines: Option<LineNumbers>) -> Reader<R> {
    let mut reader = Reader::new(text, source.label.clone());
    if let Some(lines) = lines {
        reader.number_lines(move |line| lines.in_input(line));
    }
    reader
}

/// Every configuration that a result stands under is kept, with all its keys.
fn no_room() -> io::Error {
    let message = format!(
        "results stand under too many configurations: their values are more than {MOST_CONFIGURED} in all"
    );
    io::Error::other(message)
}

/// All sources so far, in order.
struct Merged<'q, 'w> {
    builder: Option<Builder<'q>>,
    metadata: Metadata,
    facts: Vec<InputFacts>,
    evidence: Evidence,
    warnings: &'w mut dyn Write,
}

impl<'q> Merged<'q, '_> {
    fn add(&mut self, source: &Source, reading: Reading<'q>) -> Result<(), ReadError> {
        for (line, event) in reading.events {
            // The gate hears of a benchmark that failed from the findings, and once is enough.
            let is_fault = !matches!(event, Event::NoResult(_));
            let message = match event {
                Event::Message(message) | Event::NoResult(message) => message,
                Event::Unit { unit, key, value } => {
                    match self
                        .metadata
                        .set(unit.as_ref(), key.as_ref(), value.as_ref())
                    {
                        Ok(()) => continue,
                        Err(conflict) => conflict.to_string(),
                    }
                }
            };
            writeln!(self.warnings, "{}:{line}: {message}", source.name())?;
            self.evidence.syntax_warnings += usize::from(is_fault);
        }
        if let Some(error) = reading.error {
            return Err(error.into());
        }
        if reading.builder.is_empty() {
            self.evidence.empty_inputs.push(source.name());
        }
        self.evidence
            .add_findings(source.name().as_ref(), &reading.findings);
        self.facts.push(InputFacts {
            name: source.name(),
            results: reading.results,
            findings: reading.findings,
            likeness: reading.likeness,
            seen: reading.seen,
        });
        match &mut self.builder {
            Some(builder) => {
                builder.merge(reading.builder);
                if !builder.has_room() {
                    return Err(InputError::read(source, 0, no_room()).into());
                }
            }
            None => self.builder = Some(reading.builder),
        }
        Ok(())
    }
}
