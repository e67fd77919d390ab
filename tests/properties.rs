//! What whole runs must not care about: the order of results, how they are spread over files, and the scale of values.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::io;

use proptest::prelude::*;
use proptest::sample::{Index, select};
use rbenchstat::cli::Surroundings;

#[path = "common/in_process.rs"]
mod in_process;

use in_process::Run;

/// A file: its name in the folder of the run, its label, and its text.
type Input<'a> = (&'a str, &'a str, String);

/// Standard output and standard error, without the folder, of a run that ends well.
fn run(flags: &[&str], inputs: &[Input<'_>]) -> (String, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut arguments: Vec<OsString> = flags.iter().map(OsString::from).collect();
    for (name, label, text) in inputs {
        let path = folder.path().join(name);
        fs::write(&path, text).expect("a file");
        let mut argument = OsString::from(format!("{label}="));
        argument.push(path);
        arguments.push(argument);
    }
    let Run {
        status,
        stdout,
        stderr,
    } = in_process::run(arguments, io::empty(), Surroundings::default());
    assert_eq!(status, 0, "{stderr}");
    (String::from_utf8_lossy(&stdout).into_owned(), stderr)
}

/// What all inputs start with.
const HEADER: &str = "goos: linux\npkg: example.com/copy\nUnit allocs/op assume=exact\n";

/// Lines of results: a few names, each several times.
fn lines() -> impl Strategy<Value = Vec<String>> {
    let name = select(vec![
        "Copy-8",
        "Copy/size=4k-8",
        "Copy/size=16k-8",
        "Move-8",
    ]);
    let line = (name, 1..5000_u32, 0..4_u32).prop_map(|(name, time, allocations)| {
        format!("Benchmark{name} 100 {time} ns/op {allocations} allocs/op\n")
    });
    proptest::collection::vec(line, 1..60)
}

/// A file of these lines.
fn file(lines: &[String]) -> String {
    HEADER.to_owned() + &lines.concat()
}

/// The same lines in an order that the seed decides.
fn shuffled(lines: &[String], seeds: &[Index]) -> Vec<String> {
    let mut left = lines.to_vec();
    let mut seeds = seeds.iter().cycle();
    let mut order = Vec::new();
    while !left.is_empty() {
        let at = seeds.next().map_or(0, |seed| seed.index(left.len()));
        order.push(left.swap_remove(at));
    }
    order
}

/// The first results of every name, so that the names are first seen in the same order.
fn sorted_rows(csv: &str) -> Vec<&str> {
    let mut rows: Vec<&str> = csv
        .lines()
        .filter(|line| !line.starts_with("geomean"))
        .collect();
    rows.sort_unstable();
    rows
}

const DROP_IN: [&str; 2] = ["-format=text", "-format=csv"];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn the_order_of_results_is_that_of_rows_and_nothing_else(
        old in lines(),
        new in lines(),
        seeds in proptest::collection::vec(any::<Index>(), 1..20),
    ) {
        let inputs = |old: &[String], new: &[String]| {
            [("a", "old", file(old)), ("b", "new", file(new))]
        };
        let (plain, permuted) = (
            inputs(&old, &new),
            inputs(&shuffled(&old, &seeds), &shuffled(&new, &seeds)),
        );
        for format in DROP_IN {
            // With an order for rows that does not depend on the lines, every byte is the same.
            let flags = [format, "-row=.fullname@alpha"];
            prop_assert_eq!(run(&flags, &plain), run(&flags, &permuted));
        }
        let (plain, permuted) = (run(&DROP_IN[1..], &plain).0, run(&DROP_IN[1..], &permuted).0);
        prop_assert_eq!(sorted_rows(&plain), sorted_rows(&permuted));
    }

    #[test]
    fn files_under_one_label_are_one_file(
        old in lines(),
        new in lines(),
        at in any::<Index>(),
    ) {
        let (first, second) = new.split_at(at.index(new.len() + 1));
        let whole = [("a", "old", file(&old)), ("b", "new", file(&new))];
        let split = [
            ("a", "old", file(&old)),
            ("b", "new", file(first)),
            ("c", "new", file(second)),
        ];
        for format in ["-format=text", "-format=csv", "-format=pretty", "-format=jsonl"] {
            // A part without results has a note, which is no part of the report.
            prop_assert_eq!(run(&[format, "-q"], &whole), run(&[format, "-q"], &split));
        }
    }

    #[test]
    fn the_scale_of_values_shows_in_prefixes_only(
        old in primes(),
        new in primes(),
        power in select(vec![-3, 3, 6, 9]),
    ) {
        let scaled = |power: i32| {
            [("a", "old", scaled_file(&old, power)), ("b", "new", scaled_file(&new, power))]
        };
        let (plain, scaled) = (run(&[], &scaled(0)), run(&[], &scaled(power)));
        prop_assert_eq!(without_prefixes(&plain.0), without_prefixes(&scaled.0));
        prop_assert_eq!(plain.1, scaled.1);
    }
}

/// An odd number of values for each of a few benchmarks, all of them prime
/// numbers of four digits: their medians print in full at any scale, and no
/// ratio of two of them is half-way between two numbers of few digits, so that
/// the last bit of a product has no say in anything that is shown.
fn primes() -> impl Strategy<Value = Vec<Vec<u32>>> {
    let is_prime = |number: &u32| (2..100).all(|divisor| !number.is_multiple_of(divisor));
    let primes: Vec<u32> = (1009..9999).filter(is_prime).collect();
    let sample = proptest::collection::vec(select(primes), 1..12).prop_map(|mut sample| {
        if sample.len() % 2 == 0 {
            sample.pop();
        }
        sample
    });
    proptest::collection::vec(sample, 1..5)
}

/// Results in a unit that is tidied and in one that is not, times a power of ten.
fn scaled_file(samples: &[Vec<u32>], power: i32) -> String {
    let mut text = String::new();
    for (benchmark, sample) in samples.iter().enumerate() {
        for value in sample {
            writeln!(
                text,
                "Benchmark{benchmark} 1 {value}e{power} ns/op {value}e{power} widgets/op"
            )
            .expect("memory takes all");
        }
    }
    text
}

/// The words of the tables, numbers without a prefix behind them, and no rulers or blanks.
fn without_prefixes(text: &str) -> Vec<String> {
    let word = |word: &str| {
        let number = word.trim_end_matches(['T', 'G', 'M', 'k', 'm', 'µ', 'n']);
        match number.parse::<f64>() {
            Ok(_) => number.to_owned(),
            Err(_) => word.to_owned(),
        }
    };
    text.split_whitespace().map(word).collect()
}
