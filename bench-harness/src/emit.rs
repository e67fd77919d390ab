//! Measurements as lines of the Go benchmark format.

use std::io::{self, Write};

use rbenchstat::record::{self, Configuration, WriteError, Writer};

use crate::latency::Percentile;
use crate::measure::Measurement;

/// How every benchmark's name starts in a file.
const PREFIX: &str = "Benchmark";

/// A configuration line splits a comparison's tables when it differs, so there
/// are these four and no others.
///
/// # Errors
/// When `out` fails.
pub fn configuration(out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "goos: {}", operating_system())?;
    writeln!(out, "goarch: {}", architecture())?;
    writeln!(out, "pkg: bench-harness")?;
    if let Some(cpu) = processor() {
        writeln!(out, "cpu: {cpu}")?;
    }
    Ok(())
}

/// Lines that readers of the format ignore.
///
/// # Errors
/// When `out` fails.
pub fn comment(out: &mut dyn Write, text: &str) -> io::Result<()> {
    for line in text.lines() {
        writeln!(out, "# {line}")?;
    }
    Ok(())
}

/// A benchmark's name, in two parts: what stands before the percentile, and
/// the number of workers behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// With `Benchmark` in front.
    pub stem: String,
    /// As `GOMAXPROCS` stands in a name: nothing for 1.
    pub suffix: String,
}

impl Name {
    /// The name for `workers` workers.
    #[must_use]
    pub fn new(stem: String, workers: u32) -> Self {
        let suffix = if workers == 1 {
            String::new()
        } else {
            format!("-{workers}")
        };
        Self { stem, suffix }
    }

    /// The whole name.
    #[must_use]
    pub fn full(&self) -> String {
        format!("{}{}", self.stem, self.suffix)
    }
}

/// An open loop that reached this share of its rate kept up.
const KEPT_UP: f64 = 0.95;

/// What to print of a measurement.
#[derive(Clone, Debug)]
pub struct Figures {
    /// In the order printed.
    pub percentiles: Vec<Percentile>,
    /// Whether to print bytes and allocations.
    pub memory: bool,
    /// Operations a second asked for, in an open loop.
    pub rate: Option<f64>,
}

/// Writes a measurement: the line of the benchmark itself and one for each
/// percentile. Returns a note for each percentile left out, and for an open
/// loop that fell behind.
///
/// # Errors
/// When `out` fails, or a name is none that the format can hold.
pub fn measurement(
    out: &mut dyn Write,
    name: &Name,
    measured: &Measurement,
    figures: &Figures,
) -> Result<Vec<String>, WriteError> {
    let operations = measured.operations as f64;
    let mut metrics = Vec::new();
    let mut metric = |value: f64, unit: &'static str| {
        metrics.push(record::Measurement::new(value, unit));
    };
    if measured.open {
        // An open loop's time an operation is its rate, whatever the filter does.
        metric(operations / measured.wall.as_secs_f64(), "ops/s");
    } else {
        metric(measured.wall.as_nanos() as f64 / operations, "ns/op");
    }
    if figures.memory {
        let all = measured.allocations;
        metric((all.bytes as f64 / operations).floor(), "B/op");
        metric((all.count as f64 / operations).floor(), "allocs/op");
    }
    if measured.signatures > 0 {
        metric(measured.signatures as f64 / operations, "signature-ns/op");
    }
    if let Some(log) = &measured.log {
        metric(log.dropped as f64 / operations, "dropped-events/op");
        metric(log.rescales as f64 / operations, "rescales/op");
        metric(log.upload_bytes as f64 / operations, "upload-B/op");
        if figures.memory {
            metric(log.uploader.bytes as f64 / operations, "uploader-B/op");
            metric(log.uploader.count as f64 / operations, "uploader-allocs/op");
        }
    }
    result(out, &name.full(), measured.operations, metrics)?;
    let mut notes = Vec::new();
    let achieved = operations / measured.wall.as_secs_f64();
    if let Some(rate) = figures.rate
        && achieved < rate * KEPT_UP
    {
        notes.push(format!(
            "{} fell behind: {achieved:.0} operations/s of {rate}; its latencies are those of a \
             queue that grows, and differ with -benchtime",
            name.full()
        ));
    }
    for percentile in &figures.percentiles {
        let needed = percentile.operations_needed();
        let full = format!("{}/P{}{}", name.stem, percentile.text, name.suffix);
        if measured.operations < needed {
            notes.push(format!(
                "{full} left out: {} operations, it needs {needed}; raise -benchtime",
                measured.operations
            ));
            continue;
        }
        let latency = measured
            .latencies
            .value_at_quantile(percentile.value / 100.0);
        let metric = record::Measurement::new(latency as f64, "ns/op");
        result(out, &full, measured.operations, [metric])?;
    }
    for note in &notes {
        comment(out, note)?;
    }
    // A run that is interrupted keeps what it has measured.
    out.flush()?;
    Ok(notes)
}

/// Writes one line as `go test` lays it out. The configuration in force is the one at the start of the file.
fn result(
    out: &mut dyn Write,
    name: &str,
    operations: u64,
    metrics: impl IntoIterator<Item = record::Measurement<'static>>,
) -> Result<(), WriteError> {
    let name = name.strip_prefix(PREFIX).unwrap_or(name);
    let operations = i64::try_from(operations).unwrap_or(i64::MAX);
    let metrics = metrics.into_iter().map(record::Measurement::rounded);
    Writer::new(out).result(&Configuration::default(), name, operations, metrics)
}

fn operating_system() -> &'static str {
    match std::env::consts::OS {
        "macos" => "darwin",
        other => other,
    }
}

fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        "x86" => "386",
        other => other,
    }
}

fn processor() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::allocation::Allocations;
    use crate::latency::histogram;
    use crate::measure::LogFigures;
    use std::time::Duration;

    fn measured(operations: u64) -> Measurement {
        let mut latencies = histogram().unwrap();
        for latency in 1..=operations {
            latencies.saturating_record(latency);
        }
        Measurement {
            operations,
            open: false,
            wall: Duration::from_nanos(operations * 1_234),
            latencies,
            allocations: Allocations {
                count: operations * 7 + 1,
                bytes: operations * 100,
            },
            signatures: 0,
            log: None,
        }
    }

    fn lines(measured: &Measurement, memory: bool, workers: u32) -> (String, Vec<String>) {
        let figures = Figures {
            percentiles: vec![
                Percentile::parse("50").unwrap(),
                Percentile::parse("99.9").unwrap(),
            ],
            memory,
            rate: None,
        };
        let name = Name::new("BenchmarkA/b".to_owned(), workers);
        let mut out = Vec::new();
        let notes = measurement(&mut out, &name, measured, &figures).unwrap();
        (String::from_utf8(out).unwrap(), notes)
    }

    #[test]
    fn percentiles_have_lines_of_their_own_before_the_number_of_workers() {
        let (text, notes) = lines(&measured(20_000), true, 4);
        let expected = "BenchmarkA/b-4\t   20000\t      1234 ns/op\t     100 B/op\t       7 allocs/op\n\
                        BenchmarkA/b/P50-4\t   20000\t     10007 ns/op\n\
                        BenchmarkA/b/P99.9-4\t   20000\t     19983 ns/op\n";
        assert_eq!(text, expected);
        assert!(notes.is_empty());
    }

    #[test]
    fn a_percentile_of_too_few_operations_is_left_out_with_a_note() {
        let (text, notes) = lines(&measured(9_999), false, 1);
        assert!(!text.contains("\nBenchmarkA/b/P99.9"));
        assert!(text.contains("\n# BenchmarkA/b/P99.9 left out: 9999 operations, it needs 10000"));
        assert_eq!(notes.len(), 1);
    }

    #[test]
    fn an_open_loop_that_fell_behind_says_so() {
        let mut measured = measured(1_000);
        measured.open = true;
        measured.wall = Duration::from_secs(2);
        let figures = |rate| Figures {
            percentiles: Vec::new(),
            memory: false,
            rate: Some(rate),
        };
        let name = Name::new("BenchmarkA".to_owned(), 1);
        let mut out = Vec::new();
        let notes = measurement(&mut out, &name, &measured, &figures(520.0)).unwrap();
        assert!(notes.is_empty());
        let notes = measurement(&mut out, &name, &measured, &figures(600.0)).unwrap();
        assert!(notes[0].starts_with("BenchmarkA fell behind: 500 operations/s of 600"));
        let text = String::from_utf8(out).unwrap();
        assert!(
            text.starts_with("BenchmarkA\t    1000\t       500.0 ops/s\n"),
            "{text}"
        );
    }

    #[test]
    fn decision_logs_add_what_was_dropped_and_uploaded() {
        let mut measured = measured(1_000);
        measured.log = Some(LogFigures {
            dropped: 250,
            rescales: 3,
            upload_bytes: 123_456,
            uploader: Allocations {
                count: 500,
                bytes: 2_000,
            },
        });
        let (text, _) = lines(&measured, true, 1);
        let first = text.lines().next().unwrap();
        assert!(
            first.ends_with(
                "\t         0.2500 dropped-events/op\t         0.003000 rescales/op\t       123.5 upload-B/op\t         2.000 uploader-B/op\t         0.5000 uploader-allocs/op"
            ),
            "{first}"
        );
    }
}
