//! What an input without results looks like instead.

use std::fmt;

use memchr::memmem;
use serde_json::Value;

/// What a text looks like, by its first bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Likeness {
    /// Nothing at all.
    Empty,
    /// A comparison, of which the measurements are gone.
    Comparison,
    /// A `go test -json` stream.
    TestStream,
    /// Events of such a stream within something else.
    ChangedTestStream,
    /// An array of such events.
    EventArray,
    /// Records of a log collector, each of which has a line of results in a string.
    LogRecords(LogRecords),
    /// What `go test` prints without `-bench`.
    TestOutput,
    /// Benchmark results of Rust's test runner.
    CargoBench,
    /// A JSON document.
    Json,
    /// A web page or some other markup.
    Markup,
    /// A packed file or archive of a kind that is not unpacked here.
    Archive(&'static str),
    /// UTF-16 of which the byte-order mark is gone.
    UnmarkedUtf16,
    /// Text without newlines, whose lines end as those of old Macs.
    CarriageReturns,
    /// No text.
    Binary,
    /// Any other text.
    Text,
}

/// Where log records have their text, and how to take it out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogRecords {
    /// The key that has it; none where each record is a string.
    key: Option<String>,
    /// Whether the text has line ends of its own.
    has_line_ends: bool,
}

impl LogRecords {
    /// What the lines of a text look like that starts with `start`, if they are such records.
    fn of(start: &[u8]) -> Option<Self> {
        let lines = start.split(|&byte| byte == b'\n');
        let mut records = lines.filter_map(|line| serde_json::from_slice(line).ok());
        records.find_map(|record: Value| match record {
            Value::String(text) => Self::with(None, &text),
            Value::Object(fields) => fields.into_iter().find_map(|(key, value)| {
                let is_plain = key
                    .chars()
                    .all(|char| char.is_ascii_alphabetic() || char == '_');
                Self::with(Some(key).filter(|_| is_plain), value.as_str()?).filter(|_| is_plain)
            }),
            _ => None,
        })
    }

    fn with(key: Option<String>, text: &str) -> Option<Self> {
        let is_of_results = ["Benchmark", "goos: ", "pkg: ", "{\"Action\":", "{\"Time\":"]
            .iter()
            .any(|start| text.starts_with(start));
        is_of_results.then(|| Self {
            key,
            has_line_ends: text.ends_with('\n'),
        })
    }
}

impl fmt::Display for LogRecords {
    /// The command line that takes the text out.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let flag = if self.has_line_ends { "-j" } else { "-r" };
        write!(
            out,
            "jq {flag} .{}",
            self.key.as_deref().unwrap_or_default()
        )
    }
}

/// How a text starts, which tells what it looks like when that is asked: mostly it is not.
#[derive(Clone, Debug)]
pub enum Start {
    /// These are its first bytes.
    Text(Vec<u8>),
    /// It is made from a `go test -json` stream.
    TestStream,
}

impl Start {
    /// What the text looks like.
    #[must_use]
    pub fn likeness(&self) -> Likeness {
        match self {
            Self::Text(start) => Likeness::of(start),
            Self::TestStream => Likeness::TestStream,
        }
    }
}

/// How archives start.
const ARCHIVES: [(&[u8], &str); 6] = [
    (b"PK\x03\x04", "zip archive"),
    (b"\x28\xb5\x2f\xfd", "zstd file"),
    (b"\xfd7zXZ\0", "xz file"),
    (b"BZh", "bzip2 file"),
    (b"7z\xbc\xaf", "7z archive"),
    (b"\x1f\x8b", "gzip file within a gzip file"),
];

impl Likeness {
    /// What a text looks like that starts with `start`.
    #[must_use]
    pub fn of(start: &[u8]) -> Self {
        let has = |part: &str| memmem::find(start, part.as_bytes()).is_some();
        let trimmed = start.trim_ascii_start();
        if trimmed.is_empty() {
            return Self::Empty;
        }
        for (mark, name) in ARCHIVES {
            if start.starts_with(mark) {
                return Self::Archive(name);
            }
        }
        if start.get(257..262) == Some(b"ustar") {
            return Self::Archive("tar archive");
        }
        let zeros = memchr::memchr_iter(0, start).count();
        if zeros * 5 >= start.len() * 2 && zeros * 5 <= start.len() * 3 {
            return Self::UnmarkedUtf16;
        }
        if zeros * 50 > start.len() {
            return Self::Binary;
        }
        if let Some(records) = LogRecords::of(start) {
            return Self::LogRecords(records);
        }
        if has("\"Action\":") && has("\"Output\":") {
            return if trimmed[0] == b'[' && trimmed[1..].trim_ascii_start().starts_with(b"{") {
                Self::EventArray
            } else {
                Self::ChangedTestStream
            };
        }
        if !start.contains(&b'\n') && memchr::memchr_iter(b'\r', trimmed).nth(1).is_some() {
            return Self::CarriageReturns;
        }
        match trimmed[0] {
            b'{' | b'[' => return Self::Json,
            b'<' => return Self::Markup,
            _ => {}
        }
        let starts_with = |prefixes: &[&str]| {
            start.split(|&byte| byte == b'\n').any(|line| {
                prefixes
                    .iter()
                    .any(|prefix| line.starts_with(prefix.as_bytes()))
            })
        };
        if ["vs base", " ± ", " │", "old time/op", "(p=", ",CI"]
            .iter()
            .any(|&part| has(part))
        {
            Self::Comparison
        } else if has(" ns/iter (+/-") {
            Self::CargoBench
        } else if starts_with(&["PASS", "FAIL", "ok  \t", "--- ", "=== ", "?   \t"]) {
            Self::TestOutput
        } else {
            Self::Text
        }
    }
}

impl fmt::Display for Likeness {
    /// What it is, and what to do.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let advice = match self {
            Self::Empty => "it is empty: did go test run, and with -bench?",
            Self::Comparison => {
                "it looks like a comparison, not like results: \
                 name the files that go test -bench wrote"
            }
            Self::TestStream => "it is a go test -json stream without any: run go test with -bench",
            Self::ChangedTestStream => {
                "it looks like a go test -json stream with something before each event or between its parts: \
                 name it as go test wrote it"
            }
            Self::EventArray => {
                "it looks like an array of the events of go test -json: take them out with jq -c '.[]'"
            }
            Self::LogRecords(records) => {
                return write!(
                    out,
                    "its lines are records of a log collector with the results in them: take those out with {records}"
                );
            }
            Self::TestOutput => "it looks like test output: run go test with -bench",
            Self::CargoBench => "it looks like the output of cargo bench, not of go test -bench",
            Self::Json => {
                "it looks like the JSON report of another tool: \
                 name the output of go test -bench, as text or with -json"
            }
            Self::Markup => {
                "it looks like a web page or other markup: name the output of go test -bench"
            }
            Self::Archive(name) => {
                return write!(out, "it is a {name}: unpack it, and name what is in it");
            }
            Self::UnmarkedUtf16 => {
                "it looks like UTF-16 without a byte-order mark: convert it to UTF-8"
            }
            Self::CarriageReturns => {
                "its lines end with carriage returns alone: make newlines of them with tr '\\r' '\\n'"
            }
            Self::Binary => "it is not text: name the output of go test -bench",
            Self::Text => {
                "results are lines such as BenchmarkX-8 100 5 ns/op: run go test with -bench"
            }
        };
        out.write_str(advice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_told_by_its_start() {
        let tar = [&[b'x'; 257][..], b"ustar\0"].concat();
        for (start, likeness) in [
            (&b" \n"[..], Likeness::Empty),
            (
                "X-8  1.5n \u{b1} 2%  ~ (p=0.1 n=6)\n".as_bytes(),
                Likeness::Comparison,
            ),
            (
                b"name  old time/op  new time/op  delta\n",
                Likeness::Comparison,
            ),
            (
                b",old.txt,,new.txt\n,sec/op,CI,sec/op,CI\n",
                Likeness::Comparison,
            ),
            (b"PASS\nok  \tx\t0.1s\n", Likeness::TestOutput),
            (
                b"[ci] {\"Action\":\"output\",\"Output\":\"x\"}\n",
                Likeness::ChangedTestStream,
            ),
            (
                b"test a ... bench: 5 ns/iter (+/- 1)\n",
                Likeness::CargoBench,
            ),
            (b"\n{\"benchmarks\": []}", Likeness::Json),
            (
                b"[ {\"Action\":\"output\",\"Output\":\"x\"}]",
                Likeness::EventArray,
            ),
            (b"pkg: p\rBenchmarkA 1 5 ns/op\r", Likeness::CarriageReturns),
            (b"<!DOCTYPE html>", Likeness::Markup),
            (b"PK\x03\x04...", Likeness::Archive("zip archive")),
            (&tar, Likeness::Archive("tar archive")),
            (b"g\0o\0o\0s\0:\0", Likeness::UnmarkedUtf16),
            (b"\x7fELF\0\0\0\x01\x02ab", Likeness::Binary),
            (b"hello\n", Likeness::Text),
        ] {
            assert_eq!(Likeness::of(start), likeness, "{likeness:?}");
        }
    }

    #[test]
    fn log_records_are_told_with_the_way_to_take_the_text_out() {
        for (start, command) in [
            (
                r#"{"log":"BenchmarkA 1 5 ns/op\n","stream":"stdout"}"#,
                "jq -j .log",
            ),
            (
                r#"{"stream":"stdout","message":"pkg: p"}"#,
                "jq -r .message",
            ),
            (
                r#"{"message":"{\"Action\":\"output\",\"Output\":\"x\"}"}"#,
                "jq -r .message",
            ),
            (r#""{\"Time\":\"1\",\"Action\":\"output\"}""#, "jq -r ."),
            ("starting\n{\"a\":1}\n\"goos: linux\"\n{\"cut o", "jq -r ."),
        ] {
            let Likeness::LogRecords(records) = Likeness::of(start.as_bytes()) else {
                panic!("{start}");
            };
            assert_eq!(records.to_string(), command, "{start}");
        }
        for other in [
            r#"{"benchmarks":[{"name":"BenchmarkA"}]}"#,
            r#"{"a-b":"goos: linux"}"#,
        ] {
            assert_eq!(Likeness::of(other.as_bytes()), Likeness::Json, "{other}");
        }
    }
}
