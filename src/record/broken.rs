//! What happened around the results: failures, panics, and results that log output tore apart.
//!
//! `go test` writes the name of a benchmark, runs it, and writes the numbers
//! behind the name. What the benchmark itself prints comes in between:
//!
//! ```text
//! BenchmarkCopy-8     listening on port 80
//!      100       12.50 ns/op
//! ```
//!
//! The numbers are joined to the name that was written last, as benchmarks run
//! one after the other. They are left alone where no name or more than one
//! torn name is waiting for numbers, where they may be log output too, or where
//! other numbers follow before the next name.

use std::borrow::Cow;

use bstr::{BStr, BString, ByteSlice};
use hashbrown::{HashMap, HashSet};
use indexmap::IndexMap;

use super::line::{self, Line, LineError, Parser};
use super::name::Name;
use super::prefix::Prefix;

/// What was found beside the records of an input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// The benchmarks that failed, each with how often; names with `Benchmark`, as written first.
    pub failed: IndexMap<BString, u64>,
    /// Panics and fatal errors.
    pub panics: Occurrences,
    /// Lines that say that a test binary or a package failed.
    pub failures: Occurrences,
    /// Lines that say with what status a test binary ended.
    pub exits: Occurrences,
    /// Results whose name and numbers were joined again.
    pub joined: Occurrences,
    /// Results that were torn apart and not joined.
    pub torn: Occurrences,
    /// Results that cannot be read, but for those that were torn apart, or that measured nothing.
    pub refused: Occurrences,
    /// A last line that looks cut off.
    pub truncated: Option<u64>,
    /// What stood before each line, and was taken away.
    pub prefix: Option<Prefix>,
    /// Results that were left out, as they stand behind prefixes that are not all of one kind; the text is the first prefix.
    pub behind_prefixes: Occurrences,
}

/// Parts of a name beyond this many make no benchmarks of their own: a name may be as long as a line.
const DEEPEST: usize = 100;

impl Findings {
    /// The failed benchmarks with how often they did, but for those that failed with one of their parts.
    #[must_use]
    pub fn failed_leaves(&self) -> Vec<(&BString, u64)> {
        let names = self.failed.keys();
        let parents: HashSet<&[u8]> = names
            .flat_map(|name| name.find_iter("/").take(DEEPEST).map(|at| &name[..at]))
            .collect();
        // A parent has no `-N` where it says that it failed, or one like its parts.
        let is_leaf = |name: &BString| {
            let stem = name.len() - Name::new(name).suffix().len();
            !parents.contains(name.as_slice()) && !parents.contains(&name[..stem])
        };
        let failed = self.failed.iter();
        failed
            .filter(|(name, _)| is_leaf(name))
            .map(|(name, count)| (name, *count))
            .collect()
    }
}

/// Lines of one kind: how many, and the first of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Occurrences {
    /// How many there are.
    pub count: u64,
    /// The number of the first, from 1; 0 if there is none.
    pub line: u64,
    /// The first, or what names it.
    pub text: BString,
}

impl Occurrences {
    /// Adds one of which the blanks at its ends are told too.
    fn add_whole(&mut self, line: u64, text: &[u8]) {
        if self.count == 0 {
            self.line = line;
            self.text = text.into();
        }
        self.count += 1;
    }

    pub(super) fn add(&mut self, line: u64, text: &[u8]) {
        if self.count == 0 {
            self.line = line;
            self.text = text.trim().into();
        }
        self.count += 1;
    }
}

/// Follows the lines between the results of an input.
#[derive(Debug, Default)]
pub(super) struct BetweenResults {
    pub findings: Findings,
    waiting: Waiting,
    /// The name that waits for its numbers, and the line it is in.
    name: BString,
    name_line: u64,
    /// A whole line made of a name and its numbers.
    mended: Vec<u8>,
    parser: Parser,
    /// Where each benchmark that failed stands among those, by its name without `-N`.
    failed_stems: HashMap<BString, usize>,
}

/// What becomes of a malformed line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MalformedLine {
    /// It is a result with log output in its middle, which was taken out.
    Mended,
    /// It says how a benchmark ended without a result.
    NoResult,
    /// Nobody knows what it says.
    Remains,
}

/// Whether a name waits for its numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Waiting {
    #[default]
    No,
    /// A name alone on its line, as verbose output has it before each benchmark.
    Announced,
    /// A name with log output behind it.
    Torn,
    /// There were several torn names, so that numbers may belong to any.
    Unclear,
    /// It has numbers, which are its own unless others follow before the next name.
    Joined,
    /// It had numbers twice: nobody knows which are its own, and none after them can be.
    Ambiguous,
}

impl BetweenResults {
    /// A whole result: whatever waited will not get numbers any more.
    pub fn result(&mut self) {
        if self.waiting != Waiting::No {
            self.give_up();
        }
    }

    /// Whether the numbers that were joined last may still turn out to be those of the log.
    pub fn may_have_other_numbers(&self) -> bool {
        self.waiting == Waiting::Joined
    }

    /// Whether they did.
    pub fn had_other_numbers(&self) -> bool {
        self.waiting == Waiting::Ambiguous
    }

    /// A malformed result or unit line, and what becomes of it.
    pub fn malformed(&mut self, text: &[u8], number: u64, error: &LineError) -> MalformedLine {
        let Some(rest) = text.strip_prefix(line::RESULT_PREFIX) else {
            return MalformedLine::Remains;
        };
        let end = rest.find_byteset(b" \t").unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        let behind_blanks = after.trim_start();
        let blanks = &after[..after.len() - behind_blanks.len()];
        if is_crash(behind_blanks) {
            self.result();
            self.wait_for(name, number);
            self.waiting = Waiting::Announced;
            self.crash(behind_blanks, number);
            return MalformedLine::NoResult;
        }
        if let Some(outcome) = outcome(&plain(after)) {
            let name = &text[..line::RESULT_PREFIX.len() + end];
            self.ends(outcome, name);
            return MalformedLine::NoResult;
        }
        let is_counted = behind_blanks.first().is_some_and(u8::is_ascii_digit);
        let may_be_torn = matches!(
            error,
            LineError::Iterations(_) | LineError::MissingIterations | LineError::Measurement(_)
        );
        // `go test` writes a tab behind a name, which copying from a terminal makes blanks; prose has one blank.
        if !may_be_torn || !blanks.contains(&b'\t') && blanks.len() < 2 {
            // Anything else is prose that starts with the word.
            if is_counted {
                self.findings.refused.add(number, text);
            }
            return MalformedLine::Remains;
        }
        if let Some(numbers) = numbers_behind_text(behind_blanks)
            && self.is_result(name, numbers)
        {
            self.result();
            self.wait_for(name, number);
            self.waiting = Waiting::Joined;
            return MalformedLine::Mended;
        }
        self.waiting = match self.waiting {
            Waiting::Torn if self.name != name => Waiting::Unclear,
            Waiting::Unclear => Waiting::Unclear,
            _ => Waiting::Torn,
        };
        if self.waiting == Waiting::Unclear {
            self.findings.torn.add(self.name_line, &self.name);
        }
        self.wait_for(name, number);
        MalformedLine::Remains
    }

    /// A configuration line, which log output often looks like.
    pub fn configuration(&mut self, key: &[u8], text: &[u8], number: u64) {
        match key {
            b"panic" | b"signal" => self.crash(text, number),
            b"pkg" => self.give_up(),
            // `make: *** [bench] Killed`, also of one make that another calls.
            _ if (key == b"make" || key.starts_with(b"make["))
                && text[key.len()..].starts_with(b": *** ") =>
            {
                self.crash(text, number);
            }
            _ => {}
        }
    }

    /// Any other line, and whether it is mended: it has the numbers of the name that waits.
    pub fn other(&mut self, text: &[u8], number: u64) -> bool {
        if let Some(name) = text.strip_prefix(line::RESULT_PREFIX) {
            if self.waiting != Waiting::Unclear {
                if self.waiting == Waiting::Torn && self.name != name {
                    self.give_up();
                }
                self.waiting = Waiting::Announced;
                self.wait_for(name, number);
            }
            return false;
        }
        if self.waiting != Waiting::No && self.has_numbers(text) {
            match self.waiting {
                Waiting::Unclear => self.findings.torn.add(number, b""),
                Waiting::Joined => {
                    self.findings.torn.add(self.name_line, &self.name);
                    self.waiting = Waiting::Ambiguous;
                }
                Waiting::Ambiguous => {}
                _ => {
                    self.waiting = Waiting::Joined;
                    return true;
                }
            }
            return false;
        }
        self.watch(text, number);
        false
    }

    /// Whether a line has the numbers of the name that waits; then the whole is in `mended`.
    fn has_numbers(&mut self, text: &[u8]) -> bool {
        let name = std::mem::take(&mut self.name);
        let trimmed = text.trim_start();
        let digits = trimmed
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        let is_found = if digits > 0 {
            // To tell it from log output, there must be a time in it, or the
            // count must be padded and followed by a tab as `go test` does it.
            let is_padded = text.len() - trimmed.len() + digits >= COUNT_WIDTH
                && trimmed.get(digits) == Some(&b'\t');
            self.is_result(&name, trimmed) && (is_padded || self.has_time())
        } else if matches!(self.waiting, Waiting::Torn | Waiting::Joined) {
            numbers_behind_text(text).is_some_and(|numbers| self.is_result(&name, numbers))
        } else {
            false
        };
        self.name = name;
        is_found
    }

    /// Whether a name with these numbers is a result; the whole is in `mended` then.
    fn is_result(&mut self, name: &[u8], numbers: &[u8]) -> bool {
        self.mended.clear();
        for part in [line::RESULT_PREFIX, name.trim_end(), b"\t", numbers] {
            self.mended.extend_from_slice(part);
        }
        matches!(self.parser.parse(&self.mended), Ok(Line::Result { .. }))
    }

    /// Whether the line parsed last has a measurement of time.
    fn has_time(&self) -> bool {
        let mut measurements = self.parser.measurements().iter();
        measurements.any(|measurement| self.parser.unit(measurement.unit) == "ns/op")
    }

    /// The line made of a name and its numbers, and the line that has the name.
    pub fn mended(&self) -> (&[u8], u64) {
        (&self.mended, self.name_line)
    }

    /// A result stays joined.
    pub fn keep(&mut self, name_line: u64, name: &[u8]) {
        self.findings.joined.add(name_line, name);
    }

    /// The end of the input.
    pub fn end(&mut self) {
        self.give_up();
    }

    /// Something ends the benchmark that waits for its numbers, or whatever runs; a data race only is told.
    fn crash(&mut self, text: &[u8], number: u64) {
        let text = text.trim();
        if matches!(
            self.waiting,
            Waiting::No | Waiting::Unclear | Waiting::Joined | Waiting::Ambiguous
        ) {
            self.findings.panics.add(number, text);
            self.give_up();
            return;
        }
        let mut told = Vec::from(text);
        told.extend_from_slice(b" in Benchmark");
        told.extend_from_slice(&self.name);
        self.findings.panics.add(number, &told);
        if text != DATA_RACE {
            self.waiting = Waiting::No;
        }
    }

    fn wait_for(&mut self, name: &[u8], line: u64) {
        self.name.clear();
        self.name.extend_from_slice(name);
        self.name_line = line;
    }

    fn give_up(&mut self) {
        if self.waiting == Waiting::Torn {
            self.findings.torn.add(self.name_line, &self.name);
        }
        self.waiting = Waiting::No;
    }

    /// A benchmark ends without a result.
    fn ends(&mut self, outcome: TestOutcome, name: &[u8]) {
        self.waiting = Waiting::No;
        if outcome == TestOutcome::Failed {
            // One place names a benchmark with its `-N`, the other without.
            let stem = &name[..name.len() - Name::new(name).suffix().len()];
            if let Some(&at) = self.failed_stems.get(BStr::new(stem)) {
                self.findings.failed[at] += 1;
            } else {
                let (at, _) = self.findings.failed.insert_full(name.into(), 1);
                self.failed_stems.insert(stem.into(), at);
            }
        }
    }

    fn watch(&mut self, coloured: &[u8], number: u64) {
        let text = &*plain(coloured);
        if let Some(outcome) = outcome(text) {
            let name = text.trim_start()[OUTCOME_LENGTH..].trim_start();
            let name = &name[..name.find_byteset(b" \t").unwrap_or(name.len())];
            if name.starts_with(line::RESULT_PREFIX) {
                self.ends(outcome, name);
            }
        } else if is_crash(text) {
            self.crash(text, number);
        } else if text == b"FAIL" || text.starts_with(b"FAIL\t") {
            self.findings.failures.add(number, &text[4..]);
            self.give_up();
        } else if text.starts_with(b"exit status ") {
            self.findings.exits.add(number, text);
            self.give_up();
        } else if let Some(prefix) = Prefix::of_result(coloured) {
            self.findings
                .behind_prefixes
                .add_whole(number, &prefix.text);
        } else if is_result_behind_text(text) {
            self.findings.torn.add(number, text);
        } else if text == b"PASS" || text.starts_with(b"ok  \t") {
            self.give_up();
        }
    }
}

const DATA_RACE: &[u8] = b"WARNING: DATA RACE";

/// Whether a line, or what stands behind a name, says that the test binary comes to its end, or that races are in it.
fn is_crash(text: &[u8]) -> bool {
    let starts = [
        &b"panic: "[..],
        b"fatal error: ",
        b"SIGQUIT: ",
        b"SIGABRT: ",
        b"SIGSEGV: ",
        b"*** Test killed ",
        b"signal: ",
        b"Killed: ",
        b"Segmentation fault",
        b"Bus error",
        b"Aborted (core dumped)",
    ];
    let text = text.trim_end();
    let is_killed = text == b"Killed" || text == b"Terminated" || text.starts_with(b"Killed ");
    is_killed || text == DATA_RACE || starts.iter().any(|start| text.starts_with(start))
}

/// How wide `go test` pads iteration counts.
const COUNT_WIDTH: usize = 8;

/// What may be numbers with log output in front that does not end its line.
/// The padding tells where the count starts, so there must be some.
fn numbers_behind_text(text: &[u8]) -> Option<&[u8]> {
    let tab = text.find_byte(b'\t')?;
    let start = tab.checked_sub(COUNT_WIDTH)?;
    let padded = &text[start..tab];
    let digits = padded.trim_start_with(|char| char == ' ');
    let is_count = digits.len() < padded.len() && digits.iter().all(u8::is_ascii_digit);
    // Another name there has a better claim to them.
    (is_count && !text[..start].contains_str(line::RESULT_PREFIX)).then_some(&text[start..])
}

/// Whether a whole result stands behind log output that did not end its line.
fn is_result_behind_text(text: &[u8]) -> bool {
    text.find(line::RESULT_PREFIX).is_some_and(|at| {
        let result = &text[at..];
        let parsed = Parser::default().parse(result);
        result.contains(&b'\t') && matches!(parsed, Ok(Line::Result { .. }))
    })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TestOutcome {
    Failed,
    Skipped,
}

/// The length of `--- FAIL:` and of `--- SKIP:`.
const OUTCOME_LENGTH: usize = 9;

fn outcome(text: &[u8]) -> Option<TestOutcome> {
    match text.trim_start().get(..OUTCOME_LENGTH)? {
        b"--- FAIL:" => Some(TestOutcome::Failed),
        b"--- SKIP:" => Some(TestOutcome::Skipped),
        _ => None,
    }
}

/// A line without the escape sequences that colour it.
fn plain(text: &[u8]) -> Cow<'_, [u8]> {
    const ESCAPE: u8 = 0x1b;
    if memchr::memchr(ESCAPE, text).is_none() {
        return Cow::Borrowed(text);
    }
    let mut plain = Vec::with_capacity(text.len());
    let mut parts = text.split(|&byte| byte == ESCAPE);
    plain.extend_from_slice(parts.next().unwrap_or_default());
    for part in parts {
        // A sequence is `[`, parameters and a letter.
        let rest = part.strip_prefix(b"[").map_or(part, |sequence| {
            let end = sequence.iter().position(u8::is_ascii_alphabetic);
            &sequence[end.map_or(sequence.len(), |at| at + 1)..]
        });
        plain.extend_from_slice(rest);
    }
    Cow::Owned(plain)
}

/// Whether a last line without a line end looks cut off, given what `parser`
/// made of it. The result before had `usual` many measurements.
pub(super) fn is_cut_off(
    text: &[u8],
    parsed: &Result<Line, LineError>,
    parser: &Parser,
    usual: usize,
) -> bool {
    if !matches!(parsed, Ok(Line::Result { .. })) {
        return text.starts_with(line::RESULT_PREFIX)
            || text.starts_with(b"{\"")
            || (text.len() >= 3 && line::RESULT_PREFIX.starts_with(text));
    }
    let measurements = parser.measurements();
    let last = measurements.last();
    let unit: &[u8] = last.map_or(b"", |last| parser.unit(last.unit));
    let is_part_of_unit = [&b"ns/op"[..], b"B/op", b"allocs/op", b"MB/s"]
        .iter()
        .any(|whole| whole.len() > unit.len() && whole.starts_with(unit));
    measurements.len() < usual || is_part_of_unit
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Reader, Record};

    /// The results as `name iterations value`, and what was found beside them.
    fn read(text: &str) -> (Vec<String>, Findings) {
        let mut reader = Reader::new(text.as_bytes(), "x");
        let mut results = Vec::new();
        while let Some((_, record)) = reader.next_record().unwrap() {
            if let Record::Result(result) = record {
                let value = result.measurements().next().unwrap().value;
                results.push(format!("{} {} {value}", result.name(), result.iterations()));
            }
        }
        (results, reader.findings().clone())
    }

    fn results(text: &str) -> Vec<String> {
        read(text).0
    }

    #[test]
    fn numbers_are_joined_to_the_name_before_them() {
        for text in [
            "BenchmarkX-8   \tlog\nmore: log\n     100\t   5 ns/op\n",
            "BenchmarkX-8\nlog\n1\t100 log\n100\t5 ns/op\n",
            "BenchmarkX-8 \t\n     100\t   5 ns/op\n",
            "BenchmarkX-8 \t3 files\n     100\t   5 ns/op\n",
            "BenchmarkX-8 \tlog\n     100\t   5 q/op\n",
        ] {
            let (results, findings) = read(text);
            assert_eq!(results, ["X-8 100 5"], "{text}");
            assert_eq!((findings.joined.count, findings.joined.line), (1, 1));
            assert_eq!(findings.torn.count, 0);
        }
    }

    #[test]
    fn log_output_without_a_line_end_is_cut_out() {
        for text in [
            "BenchmarkX-8   \t...     100\t   5 ns/op\n",
            "BenchmarkX-8   \tlog\nhalf 7     100\t   5 ns/op\n",
        ] {
            assert_eq!(results(text), ["X-8 100 5"], "{text}");
        }
    }

    #[test]
    fn a_benchmark_announced_and_then_written_whole_counts_once() {
        let text = "BenchmarkX\nBenchmarkX-8 \t 100\t 5 ns/op\n     100\t   6 ns/op\n";
        assert_eq!(results(text), ["X-8 100 5"]);
    }

    #[test]
    fn numbers_that_may_be_anything_are_left_alone() {
        for text in [
            // No name, a name that is no result, and one that has its numbers.
            "     100\t   5 ns/op\n",
            "Benchmarking is fun\n     100\t   5 ns/op\n",
            "BenchmarkX-8\n10 5 apples\n",
            "BenchmarkX-8\n--- FAIL: BenchmarkX-8\n     100\t   5 ns/op\n",
            "BenchmarkX-8 \t--- FAIL: BenchmarkX-8\n     100\t   5 ns/op\n",
            "BenchmarkX-8\nPASS\n     100\t   5 ns/op\n",
            "BenchmarkX-8\npkg: other\n     100\t   5 ns/op\n",
            "BenchmarkX-8\nlogBenchmarkX-8 \t     100\t   5 ns/op\n",
        ] {
            assert_eq!(results(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn two_torn_names_at_once_are_not_guessed_at() {
        let (results, findings) = read(concat!(
            "BenchmarkX-8 \tlog\nBenchmarkY-8 \tlog\n",
            "     100\t   5 ns/op\n     100\t   6 ns/op\nPASS\n",
            "BenchmarkZ-8 \tlog\n     100\t   7 ns/op\n",
        ));
        assert_eq!(results, ["Z-8 100 7"]);
        assert_eq!((findings.torn.count, findings.torn.line), (3, 1));
    }

    #[test]
    fn of_numbers_that_came_twice_nobody_knows_which_are_right() {
        for text in [
            "BenchmarkX-8 \tlog\n     100\t   5 ns/op\n     100\t   6 ns/op\n",
            "BenchmarkX-8 \tlog\n10 5 ns/op\nmore\nserver: up\n     100\t   6 ns/op\n9 7 ns/op\n",
            "BenchmarkX-8\n     100\t   5 ns/op\nhalf      100\t   6 ns/op\n",
            "BenchmarkX-8 \tlog     100\t   5 ns/op\n     100\t   6 ns/op\n",
        ] {
            let (results, findings) = read(&format!("{text}PASS\nBenchmarkY-8 1 3 ns/op\n"));
            assert_eq!(results, ["Y-8 1 3"], "{text}");
            assert_eq!(findings.joined.count, 0, "{text}");
            assert_eq!((findings.torn.count, findings.torn.line), (1, 1), "{text}");
            assert_eq!(findings.torn.text, "X-8");
        }
    }

    #[test]
    fn numbers_are_settled_by_whatever_ends_the_benchmark() {
        for end in [
            "",
            "PASS\n",
            "ok  \tx\t1s\n",
            "pkg: b\n",
            "panic: boom\n",
            "exit status 2\n",
            "--- FAIL: BenchmarkX\n",
            "BenchmarkX-8 \t--- FAIL: BenchmarkX-8\n",
            "BenchmarkY-8\n",
            "BenchmarkY-8 \tlog\n",
        ] {
            let text = format!("a: 1\nBenchmarkX-8 \tlog\n     100\t   5 ns/op\na: 2\n{end}");
            let mut reader = Reader::new(text.as_bytes(), "x");
            let mut found = Vec::new();
            while let Some((line, record)) = reader.next_record().unwrap() {
                if let Record::Result(result) = record {
                    let value = result.configuration().get(b"a").unwrap();
                    found.push(format!(
                        "{line} {:?} {} {value}",
                        result.torn_at(),
                        result.name()
                    ));
                }
            }
            assert_eq!(found, ["3 Some(2) X-8 1"], "{end}");
            assert_eq!(reader.findings().joined.count, 1, "{end}");
        }
    }

    #[test]
    fn several_joined_results_come_in_their_order_with_whole_ones_between() {
        let text = concat!(
            "BenchmarkA-8 \tlog       1\t   5 ns/op\nBenchmarkB-8 \tlog       2\t   6 ns/op\n",
            "BenchmarkC-8 \tlog\n     100\t   7 ns/op\nBenchmarkD-8 1 8 ns/op\n",
            "BenchmarkE-8 \tlog\n     100\t   9 ns/op\nBenchmarkF-8 \tlog\n     100\t   1 ns/op\n",
        );
        let (results, findings) = read(text);
        assert_eq!(
            results,
            [
                "A-8 1 5",
                "B-8 2 6",
                "C-8 100 7",
                "D-8 1 8",
                "E-8 100 9",
                "F-8 100 1"
            ]
        );
        assert_eq!((findings.joined.count, findings.torn.count), (5, 0));
    }

    #[test]
    fn failed_benchmarks_are_known_by_name() {
        let (_, findings) = read(concat!(
            "BenchmarkX-8 \t--- FAIL: BenchmarkX-8\n",
            "--- FAIL: BenchmarkX\n",
            "    \x1b[31m--- FAIL: BenchmarkY/a (0.00s)\x1b[0m\n",
            "BenchmarkZ-8 \t\x1b[31m--- FAIL: BenchmarkZ-8\x1b[0m\n",
            "--- FAIL: TestX\n--- SKIP: BenchmarkS\n",
        ));
        let failed: Vec<_> = findings
            .failed
            .iter()
            .map(|(name, count)| format!("{name} {count}"))
            .collect();
        assert_eq!(
            failed,
            ["BenchmarkX-8 2", "BenchmarkY/a 1", "BenchmarkZ-8 1"]
        );
    }

    #[test]
    fn a_benchmark_that_fails_with_its_parts_is_not_counted_on_its_own() {
        let (_, findings) = read(concat!(
            "--- FAIL: BenchmarkX/a/1-8\n--- FAIL: BenchmarkX/a-8\n--- FAIL: BenchmarkX\n",
            "--- FAIL: BenchmarkXY\n",
        ));
        let leaves = findings.failed_leaves().into_iter();
        let leaves: Vec<_> = leaves.map(|(name, _)| name.to_string()).collect();
        assert_eq!(leaves, ["BenchmarkX/a/1-8", "BenchmarkXY"]);
    }

    #[test]
    fn panics_failures_and_exits_are_counted() {
        let (_, findings) =
            read("panic: boom\nfatal error: all asleep\nexit status 2\nFAIL\tex/a\t0.1s\nFAIL\n");
        let of = |occurrences: &Occurrences| {
            format!(
                "{} {} {}",
                occurrences.count, occurrences.line, occurrences.text
            )
        };
        assert_eq!(of(&findings.panics), "2 1 panic: boom");
        assert_eq!(of(&findings.exits), "1 3 exit status 2");
        assert_eq!(of(&findings.failures), "2 4 ex/a\t0.1s");
    }

    #[test]
    fn whatever_ends_a_run_is_told_with_the_benchmark_that_ran() {
        for end in [
            "panic: test timed out after 1s",
            "fatal error: all goroutines are asleep - deadlock!",
            "SIGQUIT: quit",
            "*** Test killed with quit: ran too long (11m0s).",
            "signal: killed",
            "Killed",
            "Killed: 9",
            "Killed   go test",
            "Terminated",
            "Segmentation fault (core dumped)",
            "make: *** [Makefile:3: bench] Killed",
            "make[1]: *** [bench] Error 137",
        ] {
            let (_, alone) = read(&format!("BenchmarkX-8 1 5 ns/op\n{end}\n"));
            assert_eq!((alone.panics.count, alone.panics.line), (1, 2), "{end}");
            assert_eq!(alone.panics.text, end);
            let (_, announced) = read(&format!("BenchmarkX-8\n{end}\n"));
            assert_eq!(announced.panics.text, format!("{end} in BenchmarkX-8"));
            if end.starts_with("make") {
                continue;
            }
            for gap in ["\t", "  "] {
                let (_, behind) = read(&format!("BenchmarkX-8 {gap}{end}\n"));
                assert_eq!(behind.panics.text, format!("{end} in BenchmarkX-8"));
                assert_eq!((behind.panics.line, behind.torn.count), (1, 0), "{end}");
            }
        }
        let (_, other) = read("make: a b\nmakefile: *** \nSome Killed\nKilledX\n");
        assert_eq!(other.panics.count, 0);
    }

    #[test]
    fn a_last_line_without_its_end_is_cut_off_where_something_is_missing() {
        let before = "BenchmarkX 1 5 ns/op 6 B/op\n";
        for (last, is_cut_off) in [
            ("BenchmarkX 1 5 ns/op 6 B/op", false),
            ("PASS", false),
            ("BenchmarkX 1 5 ns/op 6 B/op\n", false),
            ("BenchmarkX 1 5 ns/op\n", false),
            ("BenchmarkX 1 5 ns/op", true),
            ("BenchmarkX 1 5 ns/op 6 B/o", true),
            ("BenchmarkX 1 5", true),
            ("BenchmarkX", true),
            ("Benchm", true),
            ("{\"Action\":\"out", true),
        ] {
            let (_, findings) = read(&format!("{before}{last}"));
            assert_eq!(findings.truncated, is_cut_off.then_some(2), "{last}");
        }
    }

    #[test]
    fn colours_are_no_part_of_a_line() {
        assert_eq!(
            *plain(b"a\x1b[1;31m--- FAIL: x\x1b[0m\x1b"),
            b"a--- FAIL: x"[..]
        );
    }
}
