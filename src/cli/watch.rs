//! Watches input go by for what is no benchmark record: lines that say that something failed.
//!
//! Only a gate wants to know, so only a gate pays for it.

use std::io::{self, Read};

use bstr::{BString, ByteSlice};
use memchr::memchr;

/// A line is told as far as this, and no failure says it is one any later.
const KEPT: usize = 512;

/// Passes on what it reads, and keeps the lines that tell of a failure.
pub struct Watch<'a, R> {
    source: R,
    line: u64,
    /// The start of the line that is not complete yet.
    start: Vec<u8>,
    failures: &'a mut Vec<(u64, BString)>,
}

impl<'a, R> Watch<'a, R> {
    /// Watches `source`; failures go to `failures` with the number of their line, from 1.
    pub fn new(source: R, failures: &'a mut Vec<(u64, BString)>) -> Self {
        Self {
            source,
            line: 1,
            start: Vec::new(),
            failures,
        }
    }

    fn look(&mut self, mut text: &[u8]) {
        while let Some(end) = memchr(b'\n', text) {
            self.keep(&text[..end]);
            self.end_line();
            text = &text[end + 1..];
        }
        self.keep(text);
    }

    fn keep(&mut self, text: &[u8]) {
        let room = KEPT.saturating_sub(self.start.len());
        self.start.extend_from_slice(&text[..text.len().min(room)]);
    }

    fn end_line(&mut self) {
        if let Some(failure) = failure(&self.start) {
            self.failures.push((self.line, failure));
        }
        self.start.clear();
        self.line += 1;
    }
}

impl<R: Read> Read for Watch<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read(buffer)?;
        if count == 0 && !self.start.is_empty() {
            self.end_line();
        }
        self.look(&buffer[..count]);
        Ok(count)
    }
}

/// What a line says of a failure, if it does: `--- FAIL: BenchmarkX`, the same after the benchmark's name, or `FAIL` before
/// a package. Colours do not matter.
fn failure(line: &[u8]) -> Option<BString> {
    let is_candidate = matches!(line.first(), Some(b'-' | b'F' | b'B' | b' ' | b'\t' | 0x1b))
        && line.contains_str("FAIL");
    if !is_candidate {
        return None;
    }
    let plain = without_colours(line);
    let text = plain.trim();
    let is_failure = text.starts_with(b"--- FAIL")
        || text.starts_with(b"FAIL\t")
        || text.starts_with(b"FAIL ")
        || (text.starts_with(b"Benchmark") && text.contains_str("--- FAIL"));
    is_failure.then(|| text.into())
}

/// `line` without the escape sequences that set colours.
fn without_colours(line: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(line.len());
    let mut rest = line;
    while let Some(escape) = rest.find(b"\x1b[") {
        plain.extend_from_slice(&rest[..escape]);
        let sequence = &rest[escape + 2..];
        let end = sequence.iter().position(u8::is_ascii_alphabetic);
        rest = end.map_or(&[], |end| &sequence[end + 1..]);
    }
    plain.extend_from_slice(rest);
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn failures(text: &[u8]) -> Vec<(u64, BString)> {
        let mut failures = Vec::new();
        let mut watch = Watch::new(text, &mut failures);
        io::copy(&mut watch, &mut io::sink()).unwrap();
        failures
    }

    #[test]
    fn failures_are_found_with_their_lines() {
        let text = "goos: linux\nBenchmarkA-8 \t--- FAIL: BenchmarkA-8\n    a_test.go:1: no\n--- FAIL: BenchmarkB\n\
                    \x1b[31m--- FAIL: BenchmarkC\x1b[0m\nFAIL\nFAIL\texample.com/p\t0.1s";
        let lines: Vec<u64> = failures(text.as_bytes())
            .into_iter()
            .map(|(line, _)| line)
            .collect();
        assert_eq!(lines, [2, 4, 5, 7]);
    }

    #[test]
    fn results_and_logs_are_no_failures() {
        let text = "BenchmarkFAIL-8 1 2 ns/op\nFAILURES: 0\nok FAIL\n--- SKIP: BenchmarkX\n--- BENCH: BenchmarkFAIL\n";
        assert_eq!(failures(text.as_bytes()), []);
    }

    proptest! {
        #[test]
        fn what_is_read_does_not_depend_on_the_pieces(text in "(--- FAIL: X|FAIL\ty|a|\n){0,20}", size in 1..9_usize) {
            let mut found = Vec::new();
            let mut watch = Watch::new(text.as_bytes(), &mut found);
            let mut read = Vec::new();
            let mut buffer = vec![0; size];
            loop {
                let count = watch.read(&mut buffer).unwrap();
                if count == 0 { break; }
                read.extend_from_slice(&buffer[..count]);
            }
            prop_assert_eq!(read, text.as_bytes());
            prop_assert_eq!(found, failures(text.as_bytes()));
        }
    }
}
