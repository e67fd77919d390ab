//! `-format bench`: writes the results that the query selects as benchmark text.

use std::borrow::Cow;
use std::io::{self, Read, Write};

use super::facts::InputFacts;
use super::pass::{self, LineEvent, LineEvents, Pass};
use super::{Query, ReadError};
use crate::input::{InputError, Source};
use crate::query::{Key, Selected, Subject};
use crate::record::{
    Configuration, Measurement, Name, ResultRecord, UnitRecord, WriteError, Writer,
};
use crate::sample::SeenKeys;
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

impl From<InputError> for SelectError {
    fn from(error: InputError) -> Self {
        Self::Read(error.into())
    }
}

/// Writes the selected results of `sources` to `out`, one source after the
/// other, with what they say of units. Configuration keys that the query ignores
/// are left out. What is wrong with single lines goes to `warnings`, in order.
///
/// # Errors
/// The first input that fails, after what was read before it is written.
pub fn select(
    sources: &[Source],
    query: &Query,
    standard_input: &mut dyn Read,
    out: &mut dyn Write,
    warnings: &mut dyn Write,
) -> Result<Vec<InputFacts>, SelectError> {
    let mut writer = Writer::new(io::BufWriter::new(out));
    let mut facts = Vec::new();
    for source in sources {
        let selection = Selection {
            query,
            source,
            ignored: query
                .layout
                .ignore()
                .fields()
                .iter()
                .map(|field| &field.key)
                .collect(),
            writer: &mut writer,
            warnings: &mut *warnings,
            seen: SeenKeys::default(),
            unwritten: 0,
        };
        let outcome = if source.is_standard_input() {
            selection.copy(&mut *standard_input)
        } else {
            let file = source.open().map_err(SelectError::from);
            file.and_then(|file| selection.copy(file))
        };
        match outcome {
            Ok(of_input) => facts.push(of_input),
            Err(error) => {
                writer.flush()?;
                return Err(error);
            }
        }
    }
    writer.flush()?;
    Ok(facts)
}

/// Copies what is selected of one source.
struct Selection<'a, W> {
    query: &'a Query,
    source: &'a Source,
    ignored: Vec<&'a Key>,
    writer: &'a mut Writer<W>,
    warnings: &'a mut dyn Write,
    seen: SeenKeys,
    /// How many results cannot be written.
    unwritten: u64,
}

impl<W: Write> Pass for Selection<'_, W> {
    type Error = SelectError;

    fn result(
        &mut self,
        line: u64,
        result: &ResultRecord<'_>,
        events: &mut LineEvents,
    ) -> Result<(), SelectError> {
        self.warn(events, line)?;
        self.seen.benchmarks += 1;
        let measurements = self.selected(result);
        if measurements.is_empty() {
            return Ok(());
        }
        self.seen.used += 1;
        let kept = self.kept(result.configuration());
        let written = self.writer.result(
            kept.as_ref(),
            result.name(),
            result.iterations(),
            measurements,
        );
        let before = events.len();
        told(written, line, events)?;
        self.unwritten += (events.len() - before) as u64;
        Ok(())
    }

    fn unit(
        &mut self,
        line: u64,
        unit: &UnitRecord<'_>,
        events: &mut LineEvents,
    ) -> Result<(), SelectError> {
        let (pairs, mistakes): (Vec<_>, Vec<_>) = unit.fields().partition(Result::is_ok);
        let written = self
            .writer
            .unit(unit.unit(), pairs.into_iter().flatten().collect::<Vec<_>>());
        told(written, line, events)?;
        let mistakes = mistakes.into_iter().filter_map(Result::err);
        events.extend(mistakes.map(|mistake| (line, LineEvent::Message(mistake.to_string()))));
        Ok(())
    }
}

/// What cannot be written as benchmark text is told, and left out.
fn told(
    written: Result<(), WriteError>,
    line: u64,
    events: &mut LineEvents,
) -> Result<(), SelectError> {
    match written {
        Ok(()) => Ok(()),
        Err(WriteError::Io(error)) => Err(error.into()),
        Err(error @ WriteError::Unwritable(_)) => {
            events.push((line, LineEvent::Message(format!("left out: {error}"))));
            Ok(())
        }
    }
}

impl<W: Write> Selection<'_, W> {
    fn copy(mut self, bytes: impl Read) -> Result<InputFacts, SelectError> {
        let mut facts = InputFacts {
            name: self.source.name(),
            ..InputFacts::default()
        };
        let mut events = LineEvents::new();
        let (source, most_unpacked) = (self.source, self.query.most_unpacked);
        let outcome = pass::over(
            source,
            bytes,
            most_unpacked,
            &mut self,
            &mut facts,
            &mut events,
        );
        self.warn(&mut events, u64::MAX)?;
        outcome?;
        facts.left_out += self.unwritten;
        facts.is_used = self.seen.used > 0;
        facts.seen = self.seen;
        Ok(facts)
    }

    /// Tells what is wrong with lines before `next`, which cannot be part of a torn result any more.
    fn warn(&mut self, events: &mut LineEvents, next: u64) -> Result<(), ReadError> {
        let later = events.iter().position(|(line, _)| *line >= next);
        for (line, event) in events.drain(..later.unwrap_or(events.len())) {
            if let LineEvent::Message(message) | LineEvent::NoResult(message) = event {
                writeln!(self.warnings, "{}:{line}: {message}", self.source.name())?;
            }
        }
        Ok(())
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
        if outcome == Selected::Drop || !self.query.layout.keeps(&subject) {
            return Vec::new();
        }
        let mut measurements: Vec<Measurement<'r>> = result.measurements().collect();
        if let Selected::ByUnit(filter) = outcome {
            measurements.retain(|measurement| {
                let tidied = Tidied::new(measurement.unit);
                filter.matches(&tidied.unit, measurement.unit)
            });
        }
        measurements
    }
}
