//! The one loop over the records of an input.

use std::io::Read;

use bstr::BString;

use super::facts::InputFacts;
use crate::input::{Decoded, EncodingChange, InputError, LineNumbers, Size, Source, Start, decode};
use crate::record::prefix::without_prefix;
use crate::record::{LineError, Reader, Record, ResultRecord, UnitRecord};

/// What is done with the results and unit lines of an input.
pub(super) trait Pass {
    /// What ends it early.
    type Error: From<InputError>;

    /// Takes a result. No line before it can be part of a torn result any more.
    fn result(
        &mut self,
        line: u64,
        result: &ResultRecord<'_>,
        events: &mut LineEvents,
    ) -> Result<(), Self::Error>;

    /// Takes what is said of a unit.
    fn unit(
        &mut self,
        line: u64,
        unit: &UnitRecord<'_>,
        events: &mut LineEvents,
    ) -> Result<(), Self::Error>;
}

/// What is to be told or minded of single lines, each with its number, in order.
pub(super) type LineEvents = Vec<(u64, LineEvent)>;

/// Something about a line.
pub(super) enum LineEvent {
    /// A sentence on it.
    Message(String),
    /// A sentence on a line that says how a benchmark ended without a result.
    NoResult(String),
    /// A pair of a unit line.
    Unit {
        unit: BString,
        key: BString,
        value: BString,
    },
}

/// Reads `bytes`, which are those of `source`, and hands its records to `pass`.
///
/// Puts what is known of the input into `facts`, and what is wrong with its lines into `events`.
pub(super) fn over<P: Pass>(
    source: &Source,
    bytes: impl Read,
    most_unpacked: Size,
    pass: &mut P,
    facts: &mut InputFacts,
    events: &mut LineEvents,
) -> Result<(), P::Error> {
    let Decoded {
        text,
        lines,
        start,
        skipped,
        change,
    } = decode(bytes, most_unpacked).map_err(|error| InputError::read(source, 0, error))?;
    let (text, prefix) = match &start {
        Start::Text(bytes) => {
            without_prefix(bytes, text).map_err(|error| InputError::read(source, 0, error))?
        }
        Start::TestStream => (Box::new(text) as Box<dyn Read>, None),
    };
    let mut reader = Reader::new(text, source.label.clone());
    reader.skip_bytes(skipped);
    let stream = lines.clone();
    if let Some(lines) = lines {
        reader.number_lines(move |line| lines.in_input(line));
    }
    let outcome = loop {
        // Results are taken where they are: there are many, and they are large.
        let done = match reader.next_record() {
            Ok(Some((line, Record::Result(ref result)))) => {
                facts.results += 1;
                if let Some(torn_at) = result.torn_at() {
                    mend(torn_at, events);
                }
                pass.result(line, result, events)
            }
            Ok(Some((line, Record::Unit(unit)))) => pass.unit(line, &unit, events),
            Ok(Some((line, Record::SyntaxError(error)))) => {
                events.push((line, LineEvent::Message(error.to_string())));
                Ok(())
            }
            Ok(Some((line, Record::NoResult(error)))) => {
                events.push((line, LineEvent::NoResult(error.to_string())));
                Ok(())
            }
            Ok(None) => break Ok(()),
            Err(error) => {
                break Err(InputError::read(source, reader.line_number(), error).into());
            }
        };
        if let Err(error) = done {
            break Err(error);
        }
    };
    for line in stream.iter().flat_map(LineNumbers::lost) {
        facts.left_out += 1;
        let message = "an event of the test stream is damaged: left out".to_owned();
        events.push((line, LineEvent::Message(message)));
    }
    if let Some(EncodingChange { byte, line }) = change.get() {
        let message = LineError::EncodingChanges { byte }.to_string();
        events.push((line, LineEvent::Message(message)));
        facts.left_out += 1;
    }
    if facts.results == 0 {
        facts.likeness = Some(start.likeness());
    }
    facts.findings = reader.findings().clone();
    facts.findings.prefix = prefix;
    outcome
}

/// Forgets what was wrong with the line of a name that has found its numbers.
fn mend(torn_at: u64, events: &mut LineEvents) {
    let before = events.iter().rposition(|(line, _)| *line < torn_at);
    let later = before.map_or(0, |at| at + 1);
    events
        .extract_if(later.., |(line, _)| *line == torn_at)
        .for_each(drop);
}
