//! Reproduces the recorded runs of testdata/conformance, byte for byte.
//!
//! The environment variable CASE, a part of names, restricts which. `CONFORMANCE_PROGRAM` is another program to run, such as one for another
//! platform with its emulator before it, separated by blanks.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "conformance/format.rs"]
mod format;
#[path = "common/rules.rs"]
mod rules;

use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use format::Case;
use rules::{Outcome, differences};

/// All cases of a folder.
fn cases(folder: &Path) -> Vec<Case> {
    let mut paths: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "txt"))
        .collect();
    paths.sort();
    let mut cases = Vec::new();
    for path in paths {
        let kind = path.file_stem().unwrap().to_string_lossy();
        let text = fs::read_to_string(&path).unwrap();
        cases.extend(format::parse(&kind, &text).unwrap_or_else(|error| panic!("{error}")));
    }
    cases
}

fn recorded() -> Vec<Case> {
    cases(&Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/conformance"))
}

/// Runs the program as the case says, in a folder that holds its files.
fn run(case: &Case) -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in &case.files {
        fs::write(folder.path().join(name), content).unwrap();
    }
    let other = std::env::var("CONFORMANCE_PROGRAM").unwrap_or_default();
    let mut words = other.split_whitespace();
    let program = words.next().unwrap_or(env!("CARGO_BIN_EXE_rbenchstat"));
    let mut child = Command::new(program)
        .args(words)
        .args(&case.arguments[1..])
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stderr = child.stderr.take().unwrap();
    thread::scope(|scope| {
        // A program that stops early need not read all of it.
        scope.spawn(move || stdin.write_all(&case.stdin));
        let errors = scope.spawn(move || {
            let mut errors = Vec::new();
            stderr.read_to_end(&mut errors).unwrap();
            errors
        });
        let output = child.wait_with_output().unwrap();
        Outcome {
            stdout: output.stdout.into(),
            stderr: errors.join().unwrap().into(),
            fatal: !output.status.success(),
        }
    })
}

/// Whether `arguments` ask for CSV.
fn asks_for_csv(arguments: &[String]) -> bool {
    arguments
        .iter()
        .any(|argument| matches!(argument.as_str(), "csv" | "-format=csv" | "--format=csv"))
}

/// What is wrong with the cases, each with its name and a diff.
fn failures(cases: &[Case]) -> Vec<String> {
    let check = |case: &Case| {
        let found = differences(&case.wanted, &run(case), asks_for_csv(&case.arguments))?;
        Some(format!(
            "{}: {}\n{found}",
            case.name,
            case.arguments.join(" ")
        ))
    };
    let share = cases.len().div_ceil(2).max(1);
    thread::scope(|scope| {
        let workers: Vec<_> = cases
            .chunks(share)
            .map(|share| scope.spawn(|| share.iter().filter_map(check).collect::<Vec<_>>()))
            .collect();
        workers
            .into_iter()
            .flat_map(|worker| worker.join().unwrap())
            .collect()
    })
}

#[test]
fn every_recorded_run_is_reproduced() {
    let part = std::env::var("CASE").unwrap_or_default();
    let cases: Vec<Case> = recorded()
        .into_iter()
        .filter(|case| case.name.contains(&part))
        .collect();
    assert!(!cases.is_empty(), "no case has {part:?} in its name");
    let failures = failures(&cases);
    assert!(
        failures.is_empty(),
        "{}\n{} of {} cases differ",
        failures.join("\n"),
        failures.len(),
        cases.len()
    );
    println!("{} cases passed", cases.len());
}

#[test]
fn no_kind_of_case_is_missing() {
    let cases = recorded();
    for (kind, least) in [
        ("alpha", 14),
        ("basic", 13),
        ("combo", 24),
        ("confidence", 28),
        ("config", 22),
        ("csv", 2),
        ("file", 3),
        ("filter", 83),
        ("layout", 25),
        ("line", 65),
        ("n", 31),
        ("percentiles", 2),
        ("proj", 92),
        ("random", 120),
        ("ties", 16),
        ("unit", 7),
        ("unitscale", 31),
        ("zero", 7),
    ] {
        let prefix = format!("{kind}-");
        let count = cases
            .iter()
            .filter(|case| case.name.starts_with(&prefix))
            .count();
        assert!(
            count >= least,
            "{kind}: {count} cases, at least {least} wanted"
        );
    }
}

#[test]
fn an_altered_expectation_is_noticed() {
    let mut case = recorded()
        .into_iter()
        .find(|case| case.name == "basic-two")
        .unwrap();
    assert_eq!(failures(std::slice::from_ref(&case)), [""; 0]);
    let original = case.clone();

    let last = case.wanted.stdout.len() - 2;
    case.wanted.stdout[last] ^= 1;
    let found = failures(std::slice::from_ref(&case));
    assert_eq!(found.len(), 1);
    assert!(
        found[0].starts_with("basic-two: rbenchstat"),
        "{}",
        found[0]
    );

    let mut case = original.clone();
    case.wanted.stderr.extend_from_slice(b"x\n");
    assert_eq!(failures(&[case]).len(), 1);

    let mut case = original;
    case.wanted.fatal = true;
    assert_eq!(failures(&[case]).len(), 1);
}
