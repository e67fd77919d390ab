//! Compares with Go's `benchstat` on random inputs, if there is one.
//!
//! It is taken from the environment variable BENCHSTAT, or else from PATH.
//! `DIFFERENTIAL_CASES` says how many inputs to try and `DIFFERENTIAL_SEED` from
//! which seed on; each input has a seed of its own, so that one that differs
//! can be had again alone. It is made small and left in a temporary folder.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "differential/generate.rs"]
mod generate;
#[path = "common/rules.rs"]
mod rules;

use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use bstr::{BStr, BString, ByteSlice};
use generate::{Case, as_given};
use rbenchstat::query::{Filter, Layout, Projection};
use rbenchstat::record::number::parse_number;
use rbenchstat::record::{Reader, Record};
use rbenchstat::report::model::{Cell, Report, Table};
use rbenchstat::report::{self, Settings};
use rbenchstat::sample::Builder;
use rbenchstat::unit::{Metadata, Tidied};
use regex::bytes::Regex;
use rules::{Outcome, differences};

#[test]
fn random_inputs_print_the_same_as_with_benchstat() {
    let Some(reference) = reference() else {
        println!(
            "skipped: no program `benchstat` on PATH, nor named by BENCHSTAT, to compare with"
        );
        return;
    };
    let first: u64 = setting("DIFFERENTIAL_SEED", 1);
    let count: u64 = setting("DIFFERENTIAL_CASES", 300);
    let programs = Programs::new(reference);
    let mut excused = 0;
    let mut failed = Vec::new();
    for seed in first..first + count {
        let case = generate::case(seed);
        let Some(difference) = programs.difference(&case) else {
            continue;
        };
        if has_disputed_p(&case) || asks_for_units_of_zeros(&case) {
            excused += 1;
            continue;
        }
        failed.push(seed);
        if failed.len() <= 10 {
            println!("{}", describe(&programs, seed, &case, &difference));
        }
    }
    println!(
        "{count} inputs from seed {first} on, {excused} of them with a difference that is listed, {} differ",
        failed.len()
    );
    assert!(
        failed.is_empty(),
        "inputs with these seeds differ: {failed:?}"
    );
}

#[test]
fn inputs_are_the_same_for_the_same_seed_and_mostly_hold_results() {
    let (first, again) = (generate::case(7), generate::case(7));
    assert_eq!(format!("{first:?}"), format!("{again:?}"));
    let with_results = (0..100).filter(|&seed| !tables(&generate::case(seed)).is_empty());
    assert!(with_results.count() > 50);
}

fn setting(name: &str, default: u64) -> u64 {
    match env::var(name) {
        Ok(text) => text
            .parse()
            .unwrap_or_else(|_| panic!("{name} is no number: {text}")),
        Err(_) => default,
    }
}

/// The program to compare with.
fn reference() -> Option<PathBuf> {
    if let Some(named) = env::var_os("BENCHSTAT") {
        return Some(named.into());
    }
    let path = env::var_os("PATH")?;
    let name = format!("benchstat{}", env::consts::EXE_SUFFIX);
    env::split_paths(&path)
        .map(|folder| folder.join(&name))
        .find(|file| file.is_file())
}

/// Both programs and a folder to run them in.
struct Programs {
    reference: PathBuf,
    folder: tempfile::TempDir,
}

impl Programs {
    fn new(reference: PathBuf) -> Self {
        Self {
            reference,
            folder: tempfile::tempdir().unwrap(),
        }
    }

    /// In what the programs differ on a case, beyond what they may.
    fn difference(&self, case: &Case) -> Option<String> {
        write_files(&for_reference(case), self.folder.path());
        let mut theirs = self.run(&self.reference, case);
        write_files(&for_us(case), self.folder.path());
        let ours = self.run(Path::new(env!("CARGO_BIN_EXE_rbenchstat")), case);
        let name = Regex::new("(?m)^benchstat: ").unwrap();
        theirs.fatal = name.is_match(&theirs.stderr);
        theirs.stderr = name
            .replace_all(&theirs.stderr, &b"rbenchstat: "[..])
            .into_owned()
            .into();
        differences(
            &settled(theirs),
            &settled(ours),
            case.flag("format") == Some("csv"),
        )
    }

    fn run(&self, program: &Path, case: &Case) -> Outcome {
        let path = |name: &str| self.folder.path().join(name);
        let mut child = Command::new(program)
            .args(case.arguments())
            .current_dir(self.folder.path().join("inputs"))
            .stdin(File::open(path("stdin")).unwrap())
            .stdout(Stdio::from(File::create(path("stdout")).unwrap()))
            .stderr(Stdio::from(File::create(path("stderr")).unwrap()))
            .spawn()
            .unwrap_or_else(|error| panic!("{}: {error}", program.display()));
        let started = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            if started.elapsed() > Duration::from_secs(60) {
                child.kill().unwrap();
                break child.wait().unwrap();
            }
            thread::sleep(Duration::from_micros(500));
        };
        Outcome {
            stdout: fs::read(path("stdout")).unwrap().into(),
            stderr: fs::read(path("stderr")).unwrap().into(),
            fatal: !status.success(),
        }
    }
}

fn write_files(case: &Case, folder: &Path) {
    let inputs = folder.join("inputs");
    if inputs.exists() {
        fs::remove_dir_all(&inputs).unwrap();
    }
    fs::create_dir(&inputs).unwrap();
    for (name, text) in &case.files {
        fs::write(inputs.join(name), text).unwrap();
    }
    fs::write(folder.join("stdin"), &case.stdin).unwrap();
}

/// A case as `benchstat` has to be given it, to do what we do: it leaves a measurement of 0 in the unit that is written, and
/// joins nothing.
fn for_reference(case: &Case) -> Case {
    with_texts(case, |text| {
        let text = as_given(text, false);
        let lines = text.lines_with_terminator();
        lines.flat_map(zeros_in_base_units).collect()
    })
}

/// A case as we are given it.
fn for_us(case: &Case) -> Case {
    with_texts(case, |text| as_given(text, true))
}

fn with_texts(case: &Case, change: impl Fn(&BStr) -> BString) -> Case {
    let mut case = case.clone();
    let texts = case.files.iter_mut().map(|(_, text)| text);
    for text in texts.chain([&mut case.stdin]) {
        *text = change(text.as_ref());
    }
    case
}

/// A line with the units of zeros tidied, where it is a result.
fn zeros_in_base_units(line: &[u8]) -> Vec<u8> {
    let mut reader = Reader::new(line, "");
    if !matches!(reader.next_record(), Ok(Some((_, Record::Result(_))))) {
        return line.to_vec();
    }
    let mut text = Vec::new();
    let mut behind = 0;
    let mut is_zero = false;
    for (place, field) in line.fields().enumerate() {
        let start = field.as_ptr().addr() - line.as_ptr().addr();
        text.extend_from_slice(&line[behind..start]);
        behind = start + field.len();
        if is_zero {
            text.extend_from_slice(&Tidied::new(field).unit);
        } else {
            text.extend_from_slice(field);
        }
        // Values stand behind the name and the count, each before its unit.
        is_zero = place >= 2 && place % 2 == 0 && parse_number(field) == Ok(0.0);
    }
    text.extend_from_slice(&line[behind..]);
    text
}

/// Whether `benchstat` cannot be brought to do what we do: it is asked for a unit that a zero is written in.
fn asks_for_units_of_zeros(case: &Case) -> bool {
    case.flag("filter")
        .is_some_and(|filter| filter.contains(".unit"))
        && for_reference(case) != with_texts(case, |text| as_given(text, false))
}

/// What may differ, made the same: `benchstat` miscounts the names of CSV cells
/// past column Z, and geomeans of enormous values show more digits than they have.
fn settled(mut outcome: Outcome) -> Outcome {
    let digits = Regex::new("^geomean  .*[0-9]{14}").unwrap();
    let tail = Regex::new(r"([0-9]{13})[0-9]*(\.[0-9]+)?").unwrap();
    let lines = outcome.stdout.lines_with_terminator();
    let settled = lines.map(|line| {
        if digits.is_match(line) {
            tail.replace_all(line, &b"${1}"[..]).into_owned()
        } else {
            line.to_vec()
        }
    });
    outcome.stdout = settled.collect::<Vec<_>>().concat().into();
    let name = Regex::new("(?m)^[A-Z]{2,}([0-9]+: )").unwrap();
    outcome.stderr = name
        .replace_all(&outcome.stderr, &b"far${1}"[..])
        .into_owned()
        .into();
    outcome
}

/// Whether two samples are compared that have ties, unequal sizes and at most
/// 25 values each: `benchstat` doubles one tail of a lopsided distribution.
fn has_disputed_p(case: &Case) -> bool {
    const LARGEST_TIED: usize = 25;
    let is_disputed = |old: &Cell, new: &Cell| {
        let mut values: Vec<f64> = old.values.iter().chain(new.values.iter()).collect();
        values.sort_by(f64::total_cmp);
        new.comparison
            .as_ref()
            .is_some_and(|comparison| comparison.p.is_some())
            && old.values.len() != new.values.len()
            && old.values.len().max(new.values.len()) <= LARGEST_TIED
            && values.windows(2).any(|pair| pair[0] == pair[1])
    };
    tables(case)
        .iter()
        .flat_map(|table| &table.rows)
        .any(|row| match row.cells.split_first() {
            Some(((0, old), others)) => others.iter().any(|(_, new)| is_disputed(old, new)),
            _ => false,
        })
}

/// The tables that the library makes of a case; none if its flags are wrong.
fn tables(case: &Case) -> Vec<Table> {
    build(case).map_or_else(Vec::new, |report| report.tables)
}

fn build(case: &Case) -> Option<Report> {
    let case = for_us(case);
    let projection =
        |flag: &str, default: &str| Projection::parse(case.flag(flag).unwrap_or(default)).ok();
    let filter = Filter::parse(case.flag("filter").unwrap_or("*")).ok()?;
    let layout = Layout::new(
        projection("table", ".config")?,
        projection("row", ".fullname")?,
        projection("col", ".file")?,
        &projection("ignore", "")?,
    );
    let mut samples = Builder::new(&filter, &layout);
    let mut metadata = Metadata::default();
    let mut inputs: Vec<OsString> = case.inputs.iter().map(Into::into).collect();
    if inputs.is_empty() {
        inputs.push("-".into());
    }
    for source in rbenchstat::input::sources(&inputs) {
        let file = case
            .files
            .iter()
            .find(|(name, _)| Path::new(name) == source.path);
        let text = if source.is_standard_input() {
            &case.stdin
        } else {
            &file?.1
        };
        let mut builder = Builder::new(&filter, &layout);
        let mut reader = Reader::new(text.as_bytes(), source.label);
        while let Some((_, record)) = reader.next_record().unwrap() {
            match record {
                Record::Result(result) => builder.add(&result, &mut |_, _| {}),
                Record::Unit(unit) => {
                    for (key, value) in unit.fields().flatten() {
                        // The first of two that contradict stays.
                        let _ = metadata.set(unit.unit(), key, value);
                    }
                }
                Record::SyntaxError(_) | Record::NoResult(_) => {}
            }
        }
        samples.merge(builder);
    }
    Some(report::build(
        samples.finish(),
        &metadata,
        Settings::default(),
    ))
}

/// Describes a case that differs, made small, and leaves its files for a closer look.
fn describe(programs: &Programs, seed: u64, case: &Case, difference: &str) -> String {
    let (case, difference) = shrink(programs, case.clone(), difference.to_owned());
    let folder = tempfile::Builder::new()
        .prefix(&format!("differential-{seed}-"))
        .tempdir()
        .unwrap()
        .keep();
    write_files(&for_us(&case), &folder);
    format!(
        "seed {seed} (DIFFERENTIAL_SEED={seed} DIFFERENTIAL_CASES=1), files in {}\n$ rbenchstat {:?}\n{difference}",
        folder.join("inputs").display(),
        case.arguments()
    )
}

/// Leaves out flags, inputs and lines as long as there is a difference.
fn shrink(programs: &Programs, mut case: Case, mut difference: String) -> (Case, String) {
    let mut trials = 1000;
    let mut smaller = |case: &mut Case, difference: &mut String, candidate: Case| {
        trials -= 1;
        if trials < 0 || has_disputed_p(&candidate) || asks_for_units_of_zeros(&candidate) {
            return false;
        }
        let Some(found) = programs.difference(&candidate) else {
            return false;
        };
        (*case, *difference) = (candidate, found);
        true
    };
    for index in (0..case.flags.len()).rev() {
        let mut candidate = case.clone();
        candidate.flags.remove(index);
        smaller(&mut case, &mut difference, candidate);
    }
    for index in (0..case.inputs.len()).rev() {
        let mut candidate = case.clone();
        candidate.inputs.remove(index);
        if !candidate.inputs.is_empty() {
            smaller(&mut case, &mut difference, candidate);
        }
    }
    for file in 0..case.files.len() {
        let mut length = case.files[file].1.lines().count();
        while length > 0 {
            let mut start = 0;
            loop {
                let lines: Vec<&[u8]> = case.files[file].1.lines_with_terminator().collect();
                if start >= lines.len() {
                    break;
                }
                let end = (start + length).min(lines.len());
                let rest: BString = [&lines[..start], &lines[end..]].concat().concat().into();
                let mut candidate = case.clone();
                candidate.files[file].1 = rest;
                if !smaller(&mut case, &mut difference, candidate) {
                    start = end;
                }
            }
            length /= 2;
        }
    }
    (case, difference)
}
