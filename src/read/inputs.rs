//! Reads all inputs into samples, on as many threads as help, with the same outcome as one after the other.

use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use super::facts::{InputFacts, UnitStatement};
use super::pass::{self, LineEvent, LineEvents, Pass};
use super::{Query, ReadError};
use crate::common::parallel;
use crate::input::{InputError, Source};
use crate::record::spelling::Shortest;
use crate::record::{ResultRecord, UnitRecord};
use crate::sample::{Builder, Environments, MOST_CONFIGURED, Samples};
use crate::unit::Metadata;

/// What the inputs hold.
#[derive(Debug)]
pub struct Inputs {
    /// The samples of all inputs.
    pub samples: Samples,
    /// What they say of units.
    pub metadata: Metadata,
    /// What else is known of each, in order.
    pub facts: Vec<InputFacts>,
    /// What results were measured on; nothing unless asked for.
    pub environments: Environments,
}

/// Reads `sources`, and writes what is wrong with single lines to `warnings`, in order.
///
/// The first source that is standard input is read from `standard_input`, once all before it are read; later ones find it
/// at its end.
///
/// # Errors
/// The first input in order that fails. Warnings on what was read before it are written all the same.
pub fn read(
    sources: &[Source],
    query: &Query,
    standard_input: &mut dyn Read,
    warnings: &mut dyn Write,
) -> Result<Inputs, ReadError> {
    let mut merged = Merged {
        builder: Builder::new(&query.filter, &query.layout),
        metadata: Metadata::default(),
        facts: Vec::new(),
        warnings,
    };
    let mut rest = sources;
    while let Some(source) = rest.first() {
        // Who types, or sends what takes hours to measure, must not wait for an error in a file that is there already.
        let read = if source.is_standard_input() {
            merged.add(source, Reading::of(source, &mut *standard_input, query))?;
            1
        } else {
            let batch = next_files(rest);
            for (source, reading) in batch.iter().zip(read_files(batch, query)) {
                merged.add(source, reading)?;
            }
            batch.len()
        };
        rest = &rest[read..];
    }
    Ok(Inputs {
        environments: if query.compares_environments {
            Environments::of(&merged.builder, &query.layout)
        } else {
            Environments::default()
        },
        samples: merged.builder.finish(),
        metadata: merged.metadata,
        facts: merged.facts,
    })
}

/// The files at the start of `sources` that are read together: what they hold is in memory twice until it is merged.
fn next_files(sources: &[Source]) -> &[Source] {
    const MOST: usize = 64;
    let files = sources
        .iter()
        .take(MOST)
        .take_while(|source| !source.is_standard_input());
    &sources[..files.count()]
}

/// Reads `files`, up to the first that fails.
fn read_files<'q>(files: &[Source], query: &'q Query) -> Vec<Reading<'q>> {
    /// How many bytes a thread reads in the time that it takes to start another.
    const WORTH_A_THREAD: usize = 128 << 10;
    let lengths = files
        .iter()
        .map(|file| file.length().unwrap_or(u64::MAX).try_into());
    let length = lengths.fold(0, |sum: usize, length| {
        sum.saturating_add(length.unwrap_or(usize::MAX))
    });
    let has_failed = AtomicBool::new(false);
    let read = |file: &Source| {
        // Files are taken in order, so that the one that has failed stands before this one.
        if has_failed.load(Ordering::Relaxed) {
            return None;
        }
        let reading = match file.open() {
            Ok(bytes) => Reading::of(file, bytes, query),
            Err(error) => Reading::failed(file, error, query),
        };
        if reading.error.is_some() {
            has_failed.store(true, Ordering::Relaxed);
        }
        Some(reading)
    };
    let readings = parallel::map(
        files.iter().collect(),
        parallel::threads_for(length, WORTH_A_THREAD),
        || (),
        |(), file| read(file),
    );
    readings.into_iter().flatten().collect()
}

/// What one source holds.
struct Reading<'q> {
    builder: Builder<'q>,
    facts: InputFacts,
    /// What has to wait for the sources before it.
    events: LineEvents,
    error: Option<InputError>,
}

impl<'q> Reading<'q> {
    /// What is in `bytes`, which are those of `source`.
    fn of(source: &Source, bytes: impl Read, query: &'q Query) -> Self {
        let mut collecting = Collecting {
            source,
            builder: Builder::new(&query.filter, &query.layout),
        };
        let mut facts = InputFacts {
            name: source.name(),
            ..InputFacts::default()
        };
        let mut events = LineEvents::new();
        let outcome = pass::over(
            source,
            bytes,
            query.most_unpacked,
            &mut collecting,
            &mut facts,
            &mut events,
        );
        let builder = collecting.builder;
        // Looking for keys in names takes time, and only whoever asks for one may miss it.
        facts.seen = builder.seen(query.names_keys());
        facts.is_used = !builder.is_empty();
        let statements = events.iter().filter_map(|(_, event)| match event {
            LineEvent::Unit { unit, key, value } => Some(UnitStatement {
                unit: unit.clone(),
                key: key.clone(),
                value: value.clone(),
            }),
            LineEvent::Message(_) | LineEvent::NoResult(_) => None,
        });
        facts.units = statements.collect();
        if !facts.units.is_empty() {
            facts.columns = builder.column_keys();
        }
        Self {
            builder,
            facts,
            events,
            error: outcome.err(),
        }
    }

    /// Nothing, as `source` could not be opened.
    fn failed(source: &Source, error: InputError, query: &'q Query) -> Self {
        Self {
            error: Some(error),
            ..Self::of(source, io::empty(), query)
        }
    }
}

/// Puts results into cells.
struct Collecting<'s, 'q> {
    source: &'s Source,
    builder: Builder<'q>,
}

impl Pass for Collecting<'_, '_> {
    type Error = InputError;

    fn result(
        &mut self,
        line: u64,
        result: &ResultRecord<'_>,
        events: &mut LineEvents,
    ) -> Result<(), InputError> {
        self.builder.add(result, &mut |value, unit| {
            let message = format!(
                "a measurement in {unit} is {}, not a finite number: left out",
                Shortest(value)
            );
            events.push((line, LineEvent::Message(message)));
        });
        if self.builder.has_room() {
            Ok(())
        } else {
            Err(InputError::read(self.source, line, no_room()))
        }
    }

    fn unit(
        &mut self,
        line: u64,
        unit: &UnitRecord<'_>,
        events: &mut LineEvents,
    ) -> Result<(), InputError> {
        events.extend(unit.fields().map(|field| {
            let event = match field {
                Ok((key, value)) => LineEvent::Unit {
                    unit: unit.unit().into(),
                    key: key.into(),
                    value: value.into(),
                },
                Err(error) => LineEvent::Message(error.to_string()),
            };
            (line, event)
        }));
        Ok(())
    }
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
    builder: Builder<'q>,
    metadata: Metadata,
    facts: Vec<InputFacts>,
    warnings: &'w mut dyn Write,
}

impl<'q> Merged<'q, '_> {
    fn add(&mut self, source: &Source, reading: Reading<'q>) -> Result<(), ReadError> {
        let mut facts = reading.facts;
        for (line, event) in reading.events {
            let (message, is_fault) = match event {
                LineEvent::Message(message) => (message, true),
                LineEvent::NoResult(message) => (message, false),
                LineEvent::Unit { unit, key, value } => {
                    match self
                        .metadata
                        .set(unit.as_ref(), key.as_ref(), value.as_ref())
                    {
                        Ok(()) => continue,
                        Err(conflict) => (conflict.to_string(), true),
                    }
                }
            };
            writeln!(self.warnings, "{}:{line}: {message}", source.name())?;
            facts.faults += usize::from(is_fault);
        }
        if let Some(error) = reading.error {
            return Err(error.into());
        }
        if self.facts.is_empty() {
            self.builder = reading.builder;
        } else {
            self.builder.merge(reading.builder);
        }
        self.facts.push(facts);
        if self.builder.has_room() {
            Ok(())
        } else {
            Err(InputError::read(source, 0, no_room()).into())
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Input that nobody may wait for.
    struct Never;

    impl Read for Never {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            panic!("standard input is read")
        }
    }

    #[test]
    fn what_is_wrong_with_a_file_is_told_without_reading_standard_input_after_it() {
        let folder = tempfile::tempdir().unwrap();
        let (torn, missing) = (folder.path().join("torn"), folder.path().join("missing"));
        fs::write(&torn, "BenchmarkX 1 x ns/op\n").unwrap();
        let sources = [
            Source::new("torn", &torn),
            Source::new("missing", missing),
            Source::standard_input(),
        ];
        let mut warnings = Vec::new();
        let error = read(&sources, &Query::default(), &mut Never, &mut warnings).unwrap_err();
        assert!(error.to_string().contains("missing: no such file"));
        assert!(
            warnings.starts_with(torn.to_str().unwrap().as_bytes()),
            "{warnings:?}"
        );
    }

    #[test]
    fn many_files_and_standard_input_among_them_are_read_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let mut sources: Vec<Source> = (1..=150)
            .map(|index| {
                let path = folder.path().join(format!("{index:03}"));
                let text = format!("BenchmarkX 1 {index} ns/op\nBenchmarkX 1 x ns/op\n");
                fs::write(&path, text.repeat(100)).unwrap();
                Source::new("all", path)
            })
            .collect();
        sources.insert(70, Source::new("all", "-"));
        sources.push(Source::new("all", "-"));
        let mut warnings = Vec::new();
        let mut standard_input = &b"BenchmarkX 1 1000 ns/op\n"[..];
        let inputs = read(
            &sources,
            &Query::default(),
            &mut standard_input,
            &mut warnings,
        )
        .unwrap();
        let [table] = &inputs.samples.tables[..] else {
            panic!("one table wanted")
        };
        let [(0, sample)] = &table.samples[0][..] else {
            panic!("one sample wanted")
        };
        let mut values: Vec<u32> = (1..=150).flat_map(|index| [index; 100]).collect();
        values.insert(70 * 100, 1000);
        let nanoseconds = sample.values.iter().map(|value| (value * 1e9).round());
        assert!(nanoseconds.eq(values.into_iter().map(f64::from)));
        assert_eq!(inputs.facts.len(), 152);
        assert_eq!(inputs.facts[70].results, 1);
        assert_eq!(inputs.facts[151].results, 0);
        let warnings = String::from_utf8(warnings).unwrap();
        assert!(
            warnings
                .lines()
                .is_sorted_by_key(|line| line.split_once(':').map(|(name, _)| name))
        );
        assert_eq!(warnings.lines().count(), 150 * 100);
        assert!(inputs.facts[..70].iter().all(|facts| facts.faults == 100));
    }

    #[test]
    fn only_what_is_used_counts_as_such() {
        let query = Query {
            filter: crate::query::Filter::parse(".unit:B/op").unwrap(),
            ..Query::default()
        };
        let mut text = &b"BenchmarkX 1 5 ns/op\n"[..];
        let sources = [Source::standard_input()];
        let inputs = read(&sources, &query, &mut text, &mut io::sink()).unwrap();
        assert_eq!(
            (inputs.facts[0].results, inputs.facts[0].is_used),
            (1, false)
        );
    }
}
