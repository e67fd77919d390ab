//! How notes are worded.

use std::borrow::Cow;
use std::fmt;
use std::sync::LazyLock;

use bstr::{BString, ByteSlice};
use regex::bytes::Regex;

use super::note::{Aim, Difference, Note, UnitsOfSide};
use crate::common::shell_word;
use crate::judge::sides::WHY_SAME;
use crate::query::Key;
use crate::record::spelling::Shortest;
use crate::record::{Findings, Occurrences, Prefix};

impl fmt::Display for Note {
    #[expect(
        clippy::too_many_lines,
        reason = "one arm for each note, of which the longer ones are functions"
    )]
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Idle(setting) => write!(out, "{setting}"),
            Self::AlphaAboveOne { given } => {
                let given = Shortest(*given);
                write!(
                    out,
                    "-alpha {given} is taken for 1, at which every change is shown: write 1"
                )
            }
            Self::NoResults {
                input,
                likeness,
                failed,
                refused,
            } => {
                write!(out, "{input}: no benchmark results found in it: ")?;
                if failed.is_empty() && refused.count > 0 {
                    let lines = counted_u64(refused.count, "line");
                    write!(
                        out,
                        "{lines} would be, and cannot be used, first line {}: ",
                        refused.line
                    )?;
                    return out.write_str("what is wrong with them stands above");
                }
                if failed.is_empty() {
                    return write!(out, "{likeness}");
                }
                let benchmarks = counted(failed.len(), "benchmark");
                write!(out, "{benchmarks} failed ({}): ", list(failed.iter()))?;
                out.write_str("mend what fails, or choose others with go test -bench")
            }
            Self::MissingKey {
                flag,
                key,
                known,
                positional,
            } => write_missing_key(out, flag, key, known, positional.as_ref()),
            Self::NothingLeft {
                filter,
                benchmarks,
                has_none,
                has_lists,
            } => {
                let benchmarks = counted(*benchmarks, "benchmark");
                write!(out, "nothing is left of {benchmarks}: ")?;
                let mut reasons = Vec::new();
                if *has_none {
                    let text = "what they measured is no finite number, so mend the benchmark";
                    reasons.push(text.to_owned());
                } else if !filter.keeps_everything() {
                    let filter = filter.to_string();
                    reasons.push(format!(
                        "-filter {} matches none of them",
                        shell_word(&filter)
                    ));
                }
                if *has_lists {
                    let flags = "-table, -row, -col or -ignore";
                    reasons.push(format!("a list in {flags} has none of their values"));
                }
                out.write_str(&reasons.join(", or "))
            }
            Self::Apart {
                compared,
                apart,
                keys,
                suffixes,
                needs_suffixes,
                remedy,
            } => {
                if *compared == 0 {
                    out.write_str("nothing was compared, as no row has both sides: ")?;
                } else {
                    let rows = counted(*compared + *apart, "row");
                    write!(out, "{apart} of {rows} have one side only: ")?;
                }
                write_differences(out, keys, suffixes.as_ref())?;
                if !remedy.is_empty() {
                    write!(out, ": compare them all the same with {remedy}")?;
                }
                if suffixes.is_some() && *needs_suffixes {
                    let and = if remedy.is_empty() { ":" } else { ", and" };
                    write!(out, "{and} run both sides with the same -cpu, ")?;
                    out.write_str("as without their ends several names would become one")?;
                }
                Ok(())
            }
            Self::Changing {
                key,
                input,
                name,
                values,
                remedy,
            } => write_changing(out, key, [input, name], values, remedy),
            Self::Broken { input, findings } => write_broken(out, input, findings),
            Self::SameValues { column, rows } => {
                let rows = counted(*rows, "row");
                write!(
                    out,
                    "{column} has the same measurements as the baseline in {rows}: {WHY_SAME}"
                )
            }
            Self::Joined { input, results } => {
                let Occurrences { count, line, text } = results;
                let results = counted_u64(*count, "result");
                write!(
                    out,
                    "{input}:{line}: joined again {results} that log output "
                )?;
                write!(out, "had torn apart, first Benchmark{text}: ")?;
                out.write_str("-format bench writes the file mended")
            }
            Self::Prefixed { input, prefix } => write!(
                out,
                "{input}: all results stand behind a prefix, as log collectors put it before each line, the first {:?}: \
                 read without it",
                Shortened(prefix).to_string()
            ),
            Self::BehindPrefixes { input, results } => {
                let Occurrences { count, line, text } = results;
                let results = counted_u64(*count, "result");
                write!(
                    out,
                    "{input}:{line}: left out {results} behind a prefix that not all have, the first {:?}: ",
                    Shortened(text).to_string()
                )?;
                match Prefix::new(text) {
                    Some(prefix) => write!(out, "{} strips prefixes of that kind", prefix.sed()),
                    None => out.write_str("strip what stands before each line"),
                }
            }
            Self::Torn { input, results } => {
                let Occurrences { count, line, text } = results;
                let results = counted_u64(*count, "result");
                let text = Shortened(text).to_string();
                write!(
                    out,
                    "{input}:{line}: left out {results} that log output has "
                )?;
                write!(out, "torn apart, first {text:?}: ")?;
                out.write_str("run go test with -v, which writes results whole")
            }
            Self::OneSided {
                compared,
                sides,
                remedy,
            } => write_one_sided(out, *compared, sides, remedy.as_deref()),
            Self::OneSidedUnits { compared, sides } => write_one_sided_units(out, *compared, sides),
            Self::InputPerRun { arguments } => {
                out.write_str("each run is in an input of its own: ")?;
                out.write_str("give those of one side one label, as in rbenchstat")?;
                for argument in arguments {
                    write!(out, " {}", shell_word(&argument.to_str_lossy()))?;
                }
                Ok(())
            }
            Self::FewRuns { runs, aims } => write_few_runs(out, *runs, aims),
            Self::UnequalRuns {
                rows,
                row,
                runs: [old, new],
            } => {
                let rows = counted(*rows, "row");
                write!(out, "{rows} compared with unequal numbers of runs ")?;
                write!(out, "({row}: {old} and {new}): ")?;
                out.write_str("run both sides with the same -count")
            }
            Self::GeomeanSets {
                unit,
                columns: [old, new],
                rows: [of_old, of_new],
                common,
                remedy,
            } => {
                write!(out, "the geomeans of {unit} are not of the same rows (")?;
                write!(
                    out,
                    "{of_old} in {old}, {of_new} in {new}, {common} in both): "
                )?;
                let flag = remedy.as_deref().unwrap_or("-filter");
                write!(out, "keep to those in both with {flag}")
            }
            Self::MostlyEmpty {
                rows,
                columns,
                cells,
                is_by_file,
            } => {
                let (of_rows, of_columns) = (counted(*rows, "row"), counted(*columns, "column"));
                write!(out, "{of_rows} and {of_columns} share only ")?;
                write!(
                    out,
                    "{}, so that the table is mostly empty: ",
                    counted(*cells, "cell")
                )?;
                out.write_str(if *is_by_file {
                    "give the inputs of each side one label, as in old=FILE old=FILE new=FILE, or name two inputs at a time"
                } else {
                    "choose a -col with fewer values, or the columns to compare with -filter"
                })
            }
            Self::GeomeanOfNoise { unit } => {
                write!(out, "the geomean of {unit} changes, but no ")?;
                out.write_str("row of it does significantly, so that it may be chance too: ")?;
                out.write_str("a higher -count tells")
            }
        }
    }
}

fn write_changing(
    out: &mut fmt::Formatter<'_>,
    key: &BString,
    [input, name]: [&BString; 2],
    values: &[BString; 2],
    remedy: &str,
) -> fmt::Result {
    let [old, new] = values.each_ref().map(QuotedValue);
    write!(
        out,
        "{input}: {key} changes between results of {name} (from {old} to {new})"
    )?;
    let is_log = looks_like_log(key, values);
    if is_log {
        out.write_str(" and looks like log output")?;
    }
    write!(out, ", which sets them apart: pool them with {remedy}")?;
    if !is_log {
        let key = Key::Configuration(key.clone()).to_string();
        write!(out, ", or compare them with -col {}", shell_word(&key))?;
    }
    Ok(())
}

fn write_one_sided(
    out: &mut fmt::Formatter<'_>,
    compared: usize,
    sides: &[(BString, Vec<BString>)],
    remedy: Option<&str>,
) -> fmt::Result {
    if compared == 0 {
        out.write_str("nothing was compared, as no benchmark is on both sides: ")?;
    }
    for (index, (column, rows)) in sides.iter().enumerate() {
        let separator = if index == 0 { "" } else { ", and " };
        let names = list(rows.iter());
        let rows = counted(rows.len(), "benchmark");
        write!(out, "{separator}{rows} only in {column} ({names})")?;
    }
    match remedy {
        Some(flag) => write!(out, ": leave out with {flag}"),
        None if compared == 0 => out.write_str(": run the same go test -bench on both sides"),
        None => out.write_str(": -filter leaves them out"),
    }
}

fn write_one_sided_units(
    out: &mut fmt::Formatter<'_>,
    compared: usize,
    sides: &[UnitsOfSide],
) -> fmt::Result {
    if compared == 0 {
        out.write_str("nothing was compared, as no benchmark has one unit on both sides: ")?;
    }
    for (index, side) in sides.iter().enumerate() {
        let separator = if index == 0 { "" } else { ", and " };
        let UnitsOfSide {
            column,
            units,
            benchmarks,
        } = side;
        let names = list(benchmarks.iter());
        let units = list(units.iter());
        write!(out, "{separator}{units} of {names} only in {column}")?;
    }
    let mut units = sides.iter().flat_map(|side| &side.units);
    if units.all(|unit| unit == "B/op" || unit == "allocs/op") {
        return out.write_str(": run both sides with -benchmem");
    }
    out.write_str(": report them in the same units on both sides")
}

fn write_few_runs(
    out: &mut fmt::Formatter<'_>,
    runs: usize,
    aims: &[(Aim, Option<usize>)],
) -> fmt::Result {
    write!(out, "too few runs ({runs}) for ")?;
    let mut out_of_reach = Vec::new();
    for (index, (aim, needed)) in aims.iter().enumerate() {
        out.write_str(if index == 0 { "" } else { " and for " })?;
        let flag = match aim {
            Aim::Interval { level } => {
                write!(out, "an interval at confidence level {}", Shortest(*level))?;
                "-confidence"
            }
            Aim::Change { alpha } => {
                write!(out, "a significant change at alpha {}", Shortest(*alpha))?;
                "-alpha"
            }
        };
        if needed.is_none() {
            out_of_reach.push(flag);
        }
    }
    if !out_of_reach.is_empty() {
        let flags = out_of_reach.join(" and ");
        return write!(
            out,
            ": no usual number is enough, so choose another {flags}"
        );
    }
    let needed = aims.iter().filter_map(|(_, needed)| *needed).max();
    let needed = needed.unwrap_or_default();
    write!(out, ": run go test with -count {needed} or more")
}

fn write_missing_key(
    out: &mut fmt::Formatter<'_>,
    flag: &str,
    key: &Key,
    known: &[Key],
    positional: Option<&BString>,
) -> fmt::Result {
    write!(out, "-{flag}: no input has {key}; there are ")?;
    let known: Vec<String> = [Key::File, Key::Name, Key::FullName]
        .iter()
        .chain(known)
        .map(ToString::to_string)
        .collect();
    out.write_str(&known.join(", "))?;
    let Some(part) = positional else {
        return Ok(());
    };
    write!(out, "; names have parts without a key, such as {part}")?;
    let value = &part[1..];
    if !value.is_empty() && value.iter().all(u8::is_ascii_alphanumeric) {
        let value = value.as_bstr();
        write!(out, ", which -filter .fullname:/{value}/ matches")?;
    }
    Ok(())
}

fn write_differences(
    out: &mut fmt::Formatter<'_>,
    keys: &[Difference],
    suffixes: Option<&Difference>,
) -> fmt::Result {
    const MOST_KEYS: usize = 3;
    for (index, difference) in keys.iter().take(MOST_KEYS).enumerate() {
        let Difference {
            key,
            columns: [in_old, in_new],
            values,
        } = difference;
        let [old, new] = values.each_ref().map(QuotedValue);
        let separator = if index == 0 { "" } else { "; " };
        write!(
            out,
            "{separator}{key} is {old} in {in_old} and {new} in {in_new}"
        )?;
        if difference.is_blank() {
            out.write_str(" (only blanks differ)")?;
        } else if looks_like_log(key, values) {
            out.write_str(" (log output, it seems)")?;
        }
    }
    if keys.len() > MOST_KEYS {
        let others = keys[MOST_KEYS..].iter().map(|difference| &difference.key);
        let verb = if others.len() == 1 {
            "differs"
        } else {
            "differ"
        };
        write!(out, "; {} {verb} too", list(others))?;
    }
    if let Some(Difference {
        columns: [in_old, in_new],
        values: [old, new],
        ..
    }) = suffixes
    {
        let separator = if keys.is_empty() { "" } else { "; " };
        let end = |value: &BString| match value.as_slice() {
            b"" => "without a number".to_owned(),
            _ => format!("in {value}"),
        };
        let (old, new) = (end(old), end(new));
        write!(
            out,
            "{separator}names end {old} in {in_old} and {new} in {in_new}"
        )?;
    }
    Ok(())
}

fn write_broken(out: &mut fmt::Formatter<'_>, input: &BString, findings: &Findings) -> fmt::Result {
    let mut parts = Vec::new();
    let failed = findings.failed_leaves();
    if !failed.is_empty() {
        let times: u64 = failed.iter().map(|(_, count)| count).sum();
        let often = if times == failed.len() as u64 {
            String::new()
        } else {
            format!(", {times} times")
        };
        let names = list(failed.iter().map(|(name, _)| *name));
        let benchmarks = counted(failed.len(), "benchmark");
        parts.push(format!("{benchmarks} failed ({names}{often})"));
    }
    let panics = &findings.panics;
    if panics.count > 0 {
        let kind = match &panics.text {
            text if text.starts_with(b"panic: ") => "panic",
            text if text.starts_with(b"WARNING: DATA RACE") => "data race",
            _ => "abnormal end",
        };
        let count = counted_u64(panics.count, kind);
        let text = Shortened(&panics.text);
        parts.push(format!(
            "{count} (line {}, {:?})",
            panics.line,
            text.to_string()
        ));
    }
    for (name, found) in [
        ("FAIL", &findings.failures),
        ("exit status", &findings.exits),
    ] {
        if found.count > 0 {
            let what = found
                .text
                .split(|&byte| byte == b'\t')
                .next()
                .unwrap_or_default();
            let what = what.strip_prefix(b"exit status ").unwrap_or(what).as_bstr();
            let blank = if what.is_empty() { "" } else { " " };
            let times = if found.count > 1 {
                format!(", {} times in all", found.count)
            } else {
                String::new()
            };
            parts.push(format!("{name}{blank}{what} (line {}{times})", found.line));
        }
    }
    if let Some(line) = findings.truncated {
        parts.push(format!("the last line ({line}) is cut off"));
    }
    write!(
        out,
        "{input}: {}: results may be missing; ",
        parts.join(", ")
    )?;
    out.write_str("mend it and run go test -bench again")
}

/// A value in quotes, or that there is none.
struct QuotedValue<'a>(&'a BString);

impl fmt::Display for QuotedValue<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return out.write_str("not set");
        }
        write!(out, "{:?}", Shortened(self.0).to_string())
    }
}

/// The start of a text.
struct Shortened<'a>(&'a BString);

impl fmt::Display for Shortened<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MOST_CHARS: usize = 60;
        let mut chars = self.0.chars();
        for char in chars.by_ref().take(MOST_CHARS) {
            write!(out, "{char}")?;
        }
        if chars.next().is_some() {
            out.write_str("…")
        } else {
            Ok(())
        }
    }
}

/// Whether configuration looks like log output: a time of day, a date, or words that logs are full of.
fn looks_like_log(key: &BString, values: &[BString]) -> bool {
    static LOG: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"(?i-u)\d\d:\d\d|\d{4}[-/]\d\d[-/]\d\d|\b(error|warn(ing)?|info|debug|fail(ed|ure)?|panic|level|msg|connect\w*|listen\w*|request\w*)\b",
        )
        .ok()
    });
    let texts = std::iter::once(key).chain(values);
    LOG.as_ref()
        .is_some_and(|log| texts.into_iter().any(|text| log.is_match(text)))
}

/// The first few of several names.
fn list<'a>(names: impl ExactSizeIterator<Item = &'a BString>) -> String {
    const MOST_NAMES: usize = 3;
    let count = names.len();
    let shown: Vec<String> = names.take(MOST_NAMES).map(ToString::to_string).collect();
    let mut text = shown.join(", ");
    if count > MOST_NAMES {
        let more = format!(" and {} more", count - MOST_NAMES);
        text.push_str(&more);
    }
    text
}

fn plural(count: usize, noun: &str) -> Cow<'_, str> {
    if count == 1 {
        noun.into()
    } else {
        format!("{noun}s").into()
    }
}

fn counted(count: usize, noun: &str) -> String {
    format!("{count} {}", plural(count, noun))
}

fn counted_u64(count: u64, noun: &str) -> String {
    counted(usize::try_from(count).unwrap_or(usize::MAX), noun)
}
