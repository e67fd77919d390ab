//! `-format bench`: writes the results that the query selects as benchmark text.

use std::borrow::Cow;
use std::io::{self, Read, Write};

use super::read::{self, Query, ReadError};
use crate::input::{Decoded, InputError, Source, decode};
use crate::query::{Key, Outcome, Projection, Subject};
use crate::record::{Configuration, Measurement, Name, Record, ResultRecord, WriteError, Writer};
use crate::report::InputFacts;
use crate::sample::Seen;
use crate::unit::Tidied;

/// Why selecting stopped.
#[derive(Debug, thiserror::Error)]
pub enum SelectError {
    /// An input fails, or standard error does.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The output fails.
    #[error("write standard output: {0}")]
    Write(#[from] io::Error),
}

/// Writes the selected results of `sources` to `out`, one source after the
/// other, with what they say of units. Configuration keys that `ignore` names
/// are left out. What is wrong with single lines goes to `warnings`, in order.
///
/// # Errors
/// The first input that fails, after what was read before it is written.
pub fn select(
    sources: &[Source],
    query: Query<'_>,
    ignore: &Projection,
    standard_input: &mut dyn Read,
    out: &mut dyn Write,
    warnings: &mut dyn Write,
) -> Result<Vec<InputFacts>, SelectError> {
    let mut selection = Selection {
        query,
        ignored: ignore.fields().iter().map(|field| &field.key).collect(),
        writer: Writer::new(io::BufWriter::new(out)),
        warnings,
    };
    let mut facts = Vec::new();
    for source in sources {
        let outcome = if source.is_standard_input() {
            selection.copy(source, &mut *standard_input)
        } else {
            let file = source.open().map_err(ReadError::from);
            file.map_err(SelectError::from)
                .and_then(|file| selection.copy(source, file))
        };
        match outcome {
            Ok(of_input) => facts.push(of_input),
            Err(error) => {
                selection.writer.flush()?;
                return Err(error);
            }
        }
    }
    selection.writer.flush()?;
    Ok(facts)
}

struct Selection<'q, 'w> {
    query: Query<'q>,
    ignored: Vec<&'q Key>,
    writer: Writer<io::BufWriter<&'w mut dyn Write>>,
    warnings: &'w mut dyn Write,
}

impl Selection<'_, '_> {
    /// Copies what is selected of one source.
    fn copy(&mut self, source: &Source, bytes: impl Read) -> Result<InputFacts, SelectError> {
        let failed = |line, error| ReadError::from(InputError::read(source, line, error));
        let decoded = decode(bytes, self.query.most_unpacked).map_err(|error| failed(0, error))?;
        let Decoded { text, lines, start } = decoded;
        let mut reader = read::reader(source, text, lines);
        let mut results = 0;
        let mut seen = Seen::default();
        // Lines whose fault may still turn out to be a torn result.
        let mut faults: Vec<(u64, String)> = Vec::new();
        let outcome = loop {
            let (line, record) = match reader.next_record() {
                Ok(Some(found)) => found,
                Ok(None) => break Ok(()),
                Err(error) => break Err(failed(reader.line_number(), error)),
            };
            if let Record::Result(result) = record {
                results += 1;
                seen.benchmarks += 1;
                if let Some(torn_at) = result.torn_at() {
                    faults.retain(|(line, _)| *line != torn_at);
                }
                self.warn(source, &mut faults)?;
            }
            match self.write(&record, &mut seen) {
                Ok(()) => {}
                Err(Refusal::Line(message)) => faults.push((line, message)),
                Err(Refusal::Output(error)) => return Err(error.into()),
            }
        };
        self.warn(source, &mut faults)?;
        outcome?;
        Ok(InputFacts {
            name: source.name(),
            results,
            findings: reader.findings().clone(),
            likeness: (results == 0).then(|| start.likeness()),
            seen,
        })
    }

    /// Tells the faults of single lines.
    fn warn(&mut self, source: &Source, faults: &mut Vec<(u64, String)>) -> Result<(), ReadError> {
        for (line, message) in faults.drain(..) {
            writeln!(self.warnings, "{}:{line}: {message}", source.name())?;
        }
        Ok(())
    }

    fn write(&mut self, record: &Record<'_>, seen: &mut Seen) -> Result<(), Refusal> {
        match record {
            Record::Result(result) => {
                let measurements = self.selected(result);
                if !measurements.is_empty() {
                    seen.used += 1;
                    let kept = self.kept(result.configuration());
                    self.writer.result(
                        kept.as_ref(),
                        result.name(),
                        result.iterations(),
                        measurements,
                    )?;
                }
                Ok(())
            }
            Record::Unit(unit_line) => {
                let mut mistake = None;
                let pairs = unit_line.fields().filter_map(|field| match field {
                    Ok(pair) => Some(pair),
                    Err(error) => {
                        mistake = Some(error.to_string());
                        None
                    }
                });
                let pairs: Vec<_> = pairs.collect();
                self.writer.unit(unit_line.unit(), pairs)?;
                mistake.map_or(Ok(()), |message| Err(Refusal::Line(message)))
            }
            Record::SyntaxError(error) | Record::NoResult(error) => {
                Err(Refusal::Line(error.to_string()))
            }
        }
    }

    /// A configuration without the ignored keys.
    fn kept<'c>(&self, configuration: &'c Configuration) -> Cow<'c, Configuration> {
        if self.ignored.is_empty() {
            return Cow::Borrowed(configuration);
        }
        let mut kept = Configuration::new(configuration.file());
        for (key, value) in configuration.iter() {
            let is_ignored = self.ignored.iter().any(|ignored| match ignored {
                Key::Configuration(ignored) => ignored == key,
                ignored => **ignored == Key::Config,
            });
            if !is_ignored {
                kept.set(key, value);
            }
        }
        Cow::Owned(kept)
    }

    /// The measurements of a result that the query selects.
    fn selected<'r>(&self, result: &ResultRecord<'r>) -> Vec<Measurement<'r>> {
        let subject = Subject {
            name: Name::new(result.name()),
            configuration: result.configuration(),
        };
        let outcome = self.query.filter.apply(&subject);
        if outcome == Outcome::Drop || !self.query.layout.keeps(&subject) {
            return Vec::new();
        }
        let mut measurements: Vec<Measurement<'r>> = result.measurements().collect();
        if let Outcome::ByUnit(filter) = outcome {
            measurements.retain(|measurement| {
                let tidied = Tidied::new(measurement.unit);
                filter.matches(&tidied.unit, measurement.unit)
            });
        }
        measurements
    }
}

/// Why a record is not written.
enum Refusal {
    /// Something is wrong with its line.
    Line(String),
    /// The output fails.
    Output(io::Error),
}

impl From<WriteError> for Refusal {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::Io(error) => Self::Output(error),
            WriteError::Unwritable(_) => Self::Line(format!("left out: {error}")),
        }
    }
}
