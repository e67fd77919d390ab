//! `go test -json` streams: the text that `go test` would have printed.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet, VecDeque};
use std::io::{self, BufRead, BufReader, Read};
use std::rc::Rc;

use memchr::memchr;
use serde::Deserialize;

use super::size::Size;

/// Makes text of the events of a stream, package after package in the order
/// in which they start.
///
/// Packages may run at the same time, and then their events are mixed. The
/// first one that has not ended passes through; the others wait in memory for
/// their turn.
pub struct TestStream<R> {
    source: BufReader<R>,
    line: Vec<u8>,
    /// How many lines of the stream were read.
    number: u64,
    packages: PackageQueue,
    ready: EventLines,
    /// Whether a package has ended, and nothing of the next one was passed on.
    is_between: bool,
    /// How much of `ready` was handed out.
    handed_out: usize,
    numbers: LineNumbers,
}

/// What one package has printed and is not passed on.
#[derive(Default)]
struct PackageOutput {
    lines: EventLines,
    has_ended: bool,
    /// Other lines of the stream that wait for the line under way to end.
    held: Vec<(Vec<u8>, u64)>,
    /// The tests of which the output says that they failed.
    failed: HashSet<String>,
    /// Whether the output says that the package failed.
    says_fail: bool,
}

impl PackageOutput {
    /// Notes what output says of failures.
    fn note_failure(&mut self, output: &str) {
        if let Some((_, name)) = output.split_once("--- FAIL: ") {
            let name = name.split_ascii_whitespace().next().unwrap_or_default();
            self.failed.insert(without_processors(name).to_owned());
        }
        self.says_fail |= output == "FAIL\n" || output.starts_with("FAIL\t");
    }

    /// Passes on the lines that waited for the end of the one under way, which comes to its end here.
    fn release(&mut self) {
        if !self.held.is_empty() {
            self.lines.close();
        }
        for (line, number) in self.held.drain(..) {
            self.lines.push(&line, number);
        }
    }

    /// Puts a failure of which only an event speaks into the words that `go test` has for it.
    fn add_failure(&mut self, event: &TestEvent, number: u64) {
        let text = if event.test.is_empty() {
            if self.says_fail {
                return;
            }
            format!("FAIL\t{}\n", event.package)
        } else {
            if !self
                .failed
                .insert(without_processors(&event.test).to_owned())
            {
                return;
            }
            format!("--- FAIL: {}\n", event.test)
        };
        self.lines.close();
        self.lines.push(text.as_bytes(), number);
    }
}

/// The name of a benchmark without its `-N`, which not all lines have.
fn without_processors(name: &str) -> &str {
    name.rsplit_once('-').map_or(name, |(stem, number)| {
        let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        if is_number { stem } else { name }
    })
}

/// The bytes that a line of a stream may have. `go test` ends them at far less.
const LONGEST_LINE: u64 = 64 << 20;

/// Packages that have not been passed on in full, in the order in which they started.
#[derive(Default)]
struct PackageQueue {
    queue: VecDeque<PackageOutput>,
    /// How many were passed on.
    gone: usize,
    /// The place of each among all that ever started. A package that was passed on may start again.
    places: HashMap<String, usize>,
}

impl PackageQueue {
    /// The package with that name, which starts now if it was not there.
    fn get(&mut self, name: String) -> &mut PackageOutput {
        let next = self.gone + self.queue.len();
        let place = self.places.entry(name).or_insert(next);
        if *place < self.gone {
            *place = next;
        }
        if *place == next {
            self.queue.push_back(PackageOutput::default());
        }
        &mut self.queue[*place - self.gone]
    }

    /// Drops the first.
    fn drop_first(&mut self) {
        self.queue.pop_front();
        self.gone += 1;
    }
}

/// Text, with the line of the stream at which each of its lines starts.
#[derive(Default)]
struct EventLines {
    text: Vec<u8>,
    starts: Vec<u64>,
    /// Whether the text so far ends in the middle of a line.
    is_open: bool,
}

impl EventLines {
    /// Appends text that line `number` of the stream has.
    fn push(&mut self, text: &[u8], number: u64) {
        let mut rest = text;
        while !rest.is_empty() {
            if !self.is_open {
                self.starts.push(number);
            }
            let end = memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
            self.is_open = rest[end - 1] != b'\n';
            rest = &rest[end..];
        }
        self.text.extend_from_slice(text);
    }

    /// Ends the line under way, if there is one.
    fn close(&mut self) {
        if self.is_open {
            self.text.push(b'\n');
            self.is_open = false;
        }
    }
}

/// What we need of an event. Old streams name neither package nor test.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct TestEvent {
    action: String,
    #[serde(default)]
    package: String,
    #[serde(default)]
    test: String,
    #[serde(default)]
    output: String,
}

/// The event that `text` starts with, and its length.
fn first_event(text: &[u8]) -> Option<(TestEvent, usize)> {
    let mut objects = serde_json::Deserializer::from_slice(text).into_iter::<TestEvent>();
    if let Some(Ok(event)) = objects.next() {
        return Some((event, objects.byte_offset()));
    }
    // Keys that are there twice are no error to this one: the last counts.
    let mut objects = serde_json::Deserializer::from_slice(text)
        .into_iter::<serde_json::Map<String, serde_json::Value>>();
    let object = objects.next()?.ok()?;
    let string = |key| object.get(key).and_then(serde_json::Value::as_str);
    let event = TestEvent {
        action: string("Action")?.to_owned(),
        package: string("Package").unwrap_or_default().to_owned(),
        test: string("Test").unwrap_or_default().to_owned(),
        output: string("Output").unwrap_or_default().to_owned(),
    };
    Some((event, objects.byte_offset()))
}

/// Whether text that is no event is the end of one, of which the start is lost.
fn is_end_of_event(text: &[u8]) -> bool {
    let text = text.trim_ascii();
    let has_key = || memchr::memmem::find(text, b"\",\"Output\":").is_some();
    text.ends_with(br#"\n"}"#) || text.ends_with(b"}") && has_key()
}

impl TestEvent {
    /// Whether nothing more of its package is to come.
    fn ends_package(&self) -> bool {
        self.test.is_empty() && matches!(&*self.action, "pass" | "fail" | "skip")
    }
}

/// How many places of a line an event is looked for at.
const MOST_STARTS: usize = 8;

impl<R: Read> TestStream<R> {
    /// Whether text that starts like this is a stream: its first event comes
    /// before anything that reads as benchmark text.
    #[must_use]
    pub fn is_recognised(start: &[u8]) -> bool {
        for line in start.split(|&byte| byte == b'\n') {
            let line = line.trim_ascii();
            // A line that goes on behind `start` is too long to be anything but output.
            let is_cut_off_event = || {
                let actions = [
                    &b"\"Action\":\"output\""[..],
                    b"\"Action\":\"build-output\"",
                ];
                line.starts_with(b"{")
                    && actions
                        .iter()
                        .any(|action| memchr::memmem::find(line, action).is_some())
            };
            let has_event = || {
                // Log collectors put something before each.
                let mut starts = memchr::memchr_iter(b'{', line).take(MOST_STARTS);
                starts.any(|at| first_event(&line[at..]).is_some())
            };
            if is_cut_off_event() || has_event() {
                return true;
            }
            if line.starts_with(b"Benchmark") || line.starts_with(b"goos: ") {
                return false;
            }
        }
        false
    }

    /// Reads the events in `source`.
    pub fn new(source: R) -> Self {
        Self {
            source: BufReader::with_capacity(64 * 1024, source),
            line: Vec::new(),
            number: 0,
            packages: PackageQueue::default(),
            ready: EventLines::default(),
            is_between: false,
            handed_out: 0,
            numbers: LineNumbers::default(),
        }
    }

    /// Where the lines of the text come from, as far as they have been read.
    pub fn line_numbers(&self) -> LineNumbers {
        self.numbers.clone()
    }

    /// Reads one line of the stream; false at its end.
    fn advance(&mut self) -> io::Result<bool> {
        self.line.clear();
        let mut source = self.source.by_ref().take(LONGEST_LINE);
        let length = source.read_until(b'\n', &mut self.line)?;
        if length as u64 == LONGEST_LINE {
            self.number += 1;
            let message = format!(
                "line {} of the test stream is longer than {}, which is the limit",
                self.number,
                Size(LONGEST_LINE)
            );
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        if length == 0 {
            for package in &mut self.packages.queue {
                package.release();
                package.has_ended = true;
            }
            self.pass_on();
            return Ok(false);
        }
        self.number += 1;
        match serde_json::from_slice::<TestEvent>(&self.line) {
            Ok(event) => self.add(&event),
            Err(_) => self.add_mixed_line(),
        }
        self.pass_on();
        Ok(true)
    }

    fn add(&mut self, event: &TestEvent) {
        let ends = event.ends_package();
        let number = self.number;
        let package = self.packages.get(event.package.clone());
        if event.action == "output" {
            package.note_failure(&event.output);
            package.lines.push(event.output.as_bytes(), number);
            if !package.lines.is_open {
                package.release();
            }
        }
        if event.action == "fail" {
            package.add_failure(event, number);
        }
        if ends {
            package.release();
            package.has_ended = true;
        }
    }

    /// A line that is more than an event, or less: events behind one another, or with other text around them.
    ///
    /// Other text, such as what a compiler says, stands between the lines of the output.
    fn add_mixed_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let mut rest = &line[..];
        let mut foreign: Vec<u8> = Vec::new();
        let mut has_event = false;
        while !rest.is_empty() {
            let at = memchr(b'{', rest).unwrap_or(rest.len());
            foreign.extend_from_slice(&rest[..at]);
            rest = &rest[at..];
            if rest.is_empty() {
                break;
            }
            if let Some((event, length)) = first_event(rest) {
                self.add(&event);
                has_event = true;
                rest = &rest[length..];
            } else {
                if memchr::memmem::find(rest, b"\"Action\":").is_some() {
                    self.numbers.lose(self.number);
                    has_event = true;
                    // Another may stand whole behind it.
                    match memchr::memmem::find(&rest[1..], b"{\"") {
                        Some(next) => rest = &rest[1 + next..],
                        None => break,
                    }
                    continue;
                }
                foreign.push(b'{');
                rest = &rest[1..];
            }
        }
        if is_end_of_event(&foreign) {
            self.numbers.lose(self.number);
        } else if !has_event || !foreign.trim_ascii().is_empty() {
            if !foreign.ends_with(b"\n") {
                foreign.push(b'\n');
            }
            self.add_foreign_line(foreign);
        }
        self.line = line;
    }

    fn add_foreign_line(&mut self, line: Vec<u8>) {
        match self.packages.queue.front_mut() {
            // In the middle of a line it would tear a result, so it waits for the end of that.
            Some(package) if package.lines.is_open => package.held.push((line, self.number)),
            Some(package) => package.lines.push(&line, self.number),
            None => {
                self.ready.push(&line, self.number);
                self.numbers.extend(self.ready.starts.drain(..));
            }
        }
    }

    /// Moves to `ready` what is next in order.
    fn pass_on(&mut self) {
        while let Some(package) = self.packages.queue.front_mut() {
            if self.is_between && !package.lines.text.is_empty() {
                self.ready.close();
                self.is_between = false;
            }
            self.ready.text.append(&mut package.lines.text);
            self.numbers.extend(package.lines.starts.drain(..));
            self.ready.is_open = package.lines.is_open || self.is_between && self.ready.is_open;
            if !package.has_ended {
                return;
            }
            self.packages.drop_first();
            self.is_between = true;
        }
    }
}

impl<R: Read> Read for TestStream<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.handed_out == self.ready.text.len() {
            self.ready.text.clear();
            self.handed_out = 0;
            if !self.advance()? && self.ready.text.is_empty() {
                return Ok(0);
            }
        }
        let count = (&self.ready.text[self.handed_out..]).read(buffer)?;
        self.handed_out += count;
        Ok(count)
    }
}

/// From lines of text made of a stream to the lines of the stream.
#[derive(Clone, Debug, Default)]
pub struct LineNumbers(Rc<RefCell<Mapping>>);

/// The latest lines of the text, of which the first has the number `first`, from 1.
#[derive(Debug)]
struct Mapping {
    first: u64,
    inputs: VecDeque<u64>,
    /// The lines with events that could not be read.
    lost: Vec<u64>,
}

impl Default for Mapping {
    fn default() -> Self {
        Self {
            first: 1,
            inputs: VecDeque::new(),
            lost: Vec::new(),
        }
    }
}

impl LineNumbers {
    /// More than a reader has read ahead.
    const KEPT: usize = 1 << 18;

    /// The line of the input at which line `number` of its text starts; lines far behind the latest are forgotten.
    #[must_use]
    pub fn in_input(&self, number: u64) -> u64 {
        let mapping = self.0.borrow();
        let at = usize::try_from(number.saturating_sub(mapping.first)).unwrap_or(usize::MAX);
        let known = mapping.inputs.get(at).or(mapping.inputs.back());
        known.copied().unwrap_or(number)
    }

    /// The lines of the stream with events that could not be read, so far.
    #[must_use]
    pub fn lost(&self) -> Vec<u64> {
        self.0.borrow().lost.clone()
    }

    fn lose(&self, line: u64) {
        self.0.borrow_mut().lost.push(line);
    }

    fn extend(&self, inputs: impl Iterator<Item = u64>) {
        let mut mapping = self.0.borrow_mut();
        mapping.inputs.extend(inputs);
        let excess = mapping.inputs.len().saturating_sub(Self::KEPT);
        mapping.inputs.drain(..excess);
        mapping.first += excess as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(stream: &str) -> (String, LineNumbers) {
        let mut stream = TestStream::new(stream.as_bytes());
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        (text, stream.line_numbers())
    }

    fn output(package: &str, output: &str) -> String {
        format!(r#"{{"Action":"output","Package":"{package}","Output":"{output}"}}"#) + "\n"
    }

    fn end(package: &str) -> String {
        format!(r#"{{"Action":"pass","Package":"{package}","Elapsed":1}}"#) + "\n"
    }

    #[test]
    fn packages_come_one_after_the_other_and_halves_of_lines_together() {
        let stream = [
            output("a", r"pkg: a\n"),
            output("b", r"pkg: b\n"),
            output("a", r"BenchmarkA \t"),
            output("b", r"BenchmarkB \t"),
            output("b", r"1\t5 ns/op\n"),
            output("a", r"1\t6 ns/op\n"),
            end("b"),
            output("a", r"PASS\n"),
            end("a"),
        ];
        let (text, lines) = read(&stream.concat());
        assert_eq!(
            text,
            "pkg: a\nBenchmarkA \t1\t6 ns/op\nPASS\npkg: b\nBenchmarkB \t1\t5 ns/op\n"
        );
        let numbers: Vec<u64> = (1..=5).map(|line| lines.in_input(line)).collect();
        assert_eq!(numbers, [1, 3, 8, 2, 4]);
    }

    #[test]
    fn old_streams_name_neither_package_nor_test() {
        let (text, _) = read(concat!(
            "{\"Action\":\"start\"}\n",
            "{\"Action\":\"output\",\"Output\":\"goos: linux\\n\"}\n",
            "{\"Action\":\"bench\",\"Test\":\"BenchmarkX\"}\n",
            "{\"Action\":\"pass\"}\n",
            "{\"Action\":\"output\",\"Output\":\"BenchmarkX 1 5 ns/op\\n\"}\n",
        ));
        assert_eq!(text, "goos: linux\nBenchmarkX 1 5 ns/op\n");
    }

    #[test]
    fn a_package_that_ends_within_a_line_does_not_run_into_the_next() {
        let stream = [output("a", "a"), end("a"), output("b", "b"), end("b")];
        assert_eq!(read(&stream.concat()).0, "a\nb");
    }

    #[test]
    fn lines_that_are_no_events_stay_between_lines() {
        let stream = [
            "# a\n".into(),
            output("a", r"BenchmarkX \t"),
            "noise\n".into(),
            output("a", r"1 5 ns/op\n"),
            "more\n".into(),
        ];
        assert_eq!(
            read(&stream.concat()).0,
            "# a\nBenchmarkX \t1 5 ns/op\nnoise\nmore\n"
        );
    }

    #[test]
    fn events_are_read_with_other_text_around_them_and_with_keys_twice() {
        let stream = [
            output("a", r"x\n").trim_end().to_owned() + " warning: w\n",
            output("a", r"y\n").trim_end().to_owned() + &output("a", r"z\n"),
            r#"{"Action":"output","Package":"a","Package":"a","Output":"twice\n"}"#.to_owned()
                + "\n",
            "{\"Action\":\"output\",\"Outp\n".to_owned(),
            // The start of an event may be gone, up to its text or into it.
            output("a", r"lost\t")[20..].to_owned(),
            output("a", r"lost too\n")[45..].to_owned(),
            output("a", r"end\n"),
        ];
        let (text, lines) = read(&stream.concat());
        assert_eq!(text, "x\n warning: w\ny\nz\ntwice\nend\n");
        assert_eq!(lines.lost(), [4, 5, 6]);
    }

    #[test]
    fn a_failure_of_which_only_an_event_speaks_is_put_into_words_once() {
        let fail = |test: &str| format!("{{\"Action\":\"fail\",\"Package\":\"p\"{test}}}\n");
        let stream = [
            output("p", r"--- FAIL: BenchmarkX-8\n"),
            fail(r#","Test":"BenchmarkX""#),
            fail(r#","Test":"BenchmarkY""#),
            fail(""),
        ];
        assert_eq!(
            read(&stream.concat()).0,
            "--- FAIL: BenchmarkX-8\n--- FAIL: BenchmarkY\nFAIL\tp\n"
        );
    }

    #[test]
    fn a_stream_is_recognised_by_its_first_event() {
        let is_recognised = |start: &str| TestStream::<&[u8]>::is_recognised(start.as_bytes());
        assert!(is_recognised(&output("a", "x")));
        assert!(is_recognised(
            "go: downloading\n\n{\"Action\":\"start\",\"Package\":\"a\"}\n"
        ));
        assert!(is_recognised(
            "{\"Time\":\"1\",\"Action\":\"output\",\"Output\":\"long"
        ));
        for text in [
            "{\"Action\": \"start\"} and text\n",
            "{\"Action\":\"start\"}{\"Action\":\"start\"}\n",
            "2026-12-01T10:00:00Z {\"Action\":\"start\"}\n",
            "[{\"Action\":\"start\"},\n",
        ] {
            assert!(is_recognised(text), "{text}");
        }
        for text in [
            "",
            "{\"level\":\"info\"}\n",
            "BenchmarkX 1 5 ns/op\n{\"Action\":\"start\"}\n",
            "{\"benchmarks\": []}",
        ] {
            assert!(!is_recognised(text), "{text}");
        }
    }
}
