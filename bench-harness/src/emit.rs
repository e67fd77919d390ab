//! Measurements as lines of the Go benchmark format.

use std::fmt::Write as _;
use std::io::{self, Write};

use crate::latency::Percentile;
use crate::measure::Measurement;

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
/// When `out` fails.
pub fn measurement(
    out: &mut dyn Write,
    name: &Name,
    measured: &Measurement,
    figures: &Figures,
) -> io::Result<Vec<String>> {
    let operations = measured.operations as f64;
    let mut line = format!("{}\t{}", name.full(), measured.operations);
    let mut metric = |value: f64, unit: &str| {
        // Writing to a text cannot fail.
        let _ = write!(line, "\t{} {unit}", number(value));
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
    if let Some(log) = &measured.log {
        metric(log.dropped as f64 / operations, "dropped-events/op");
        metric(log.upload_bytes as f64 / operations, "upload-B/op");
        if figures.memory {
            metric(log.uploader.bytes as f64 / operations, "uploader-B/op");
            metric(log.uploader.count as f64 / operations, "uploader-allocs/op");
        }
    }
    writeln!(out, "{line}")?;
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
        let value = number(latency as f64);
        writeln!(out, "{full}\t{}\t{value} ns/op", measured.operations)?;
    }
    for note in &notes {
        comment(out, note)?;
    }
    // A run that is interrupted keeps what it has measured.
    out.flush()?;
    Ok(notes)
}

/// As Go prints measurements: about four digits, no exponent.
fn number(value: f64) -> String {
    let decimals = match value.abs() {
        0.0 | 999.95.. => 0,
        99.995.. => 1,
        9.9995.. => 2,
        0.99995.. => 3,
        0.099_995.. => 4,
        0.009_999_5.. => 5,
        0.000_999_95.. => 6,
        _ => 7,
    };
    format!("{value:.decimals$}")
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
        let expected = "BenchmarkA/b-4\t20000\t1234 ns/op\t100.0 B/op\t7.000 allocs/op\n\
                        BenchmarkA/b/P50-4\t20000\t10007 ns/op\n\
                        BenchmarkA/b/P99.9-4\t20000\t19983 ns/op\n";
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
            text.starts_with("BenchmarkA\t1000\t500.0 ops/s\n"),
            "{text}"
        );
    }

    #[test]
    fn decision_logs_add_what_was_dropped_and_uploaded() {
        let mut measured = measured(1_000);
        measured.log = Some(LogFigures {
            dropped: 250,
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
                "\t0.2500 dropped-events/op\t123.5 upload-B/op\t2.000 uploader-B/op\t0.5000 uploader-allocs/op"
            ),
            "{first}"
        );
    }

    #[test]
    fn numbers_have_about_four_digits() {
        for (value, text) in [
            (0.0, "0"),
            (0.25, "0.2500"),
            (9.99, "9.990"),
            (99.99, "99.99"),
            (999.9, "999.9"),
            (1_234.5, "1234"),
            (12_345_678.9, "12345679"),
        ] {
            assert_eq!(number(value), text);
        }
    }
}
