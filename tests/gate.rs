//! The gate from the command line: what it says, and the status it ends with.

#![expect(clippy::unwrap_used, reason = "helpers of tests are tests too")]

use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;

use rbenchstat::cli::{Streams, run};

/// A benchmark of an input: package, name, and a base value for each unit.
type Benchmark = (&'static str, &'static str, &'static [(f64, &'static str)]);

/// How an input is measured.
#[derive(Clone, Copy)]
struct Runs {
    count: usize,
    cpu: &'static str,
    /// Which of the sequences of noise.
    seed: u64,
}

const RUNS: Runs = Runs {
    count: 10,
    cpu: "Fast 3000",
    seed: 1,
};

/// Another run of the same.
const AGAIN: Runs = Runs { seed: 2, ..RUNS };

/// Uniform noise of ±0.5 %, the same on every run of the test.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        1.0 + ((self.0 >> 40) as f64 / f64::from(1 << 24) - 0.5) * 0.01
    }
}

/// The output of `go test -bench`. Time and throughput are noisy; bytes and allocations are the same in every run.
fn input(runs: Runs, benchmarks: &[Benchmark]) -> String {
    let mut noise = Noise(runs.seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let mut text = format!("goos: linux\ngoarch: amd64\ncpu: {}\n", runs.cpu);
    for (package, name, units) in benchmarks {
        writeln!(text, "pkg: {package}").unwrap();
        for _ in 0..runs.count {
            write!(text, "Benchmark{name}-8 \t1000").unwrap();
            for (value, unit) in *units {
                let factor = if unit.contains("alloc") || *unit == "B/op" {
                    1.0
                } else {
                    noise.next()
                };
                write!(text, "\t{} {unit}", value * factor).unwrap();
            }
            text.push('\n');
        }
    }
    text
}

/// How a run of the program ended.
#[derive(Debug)]
struct Ended {
    status: u8,
    stdout: String,
    stderr: String,
}

impl Ended {
    fn says(&self, text: &str) {
        assert!(
            self.stderr.contains(text),
            "no {text:?} in {}\n{}",
            self.stderr,
            self.stdout
        );
    }
}

/// A folder with files, in which the program runs.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        for (name, text) in files {
            folder.add(name, text);
        }
        folder
    }

    fn add(&self, name: &str, text: &str) {
        std::fs::write(self.0.path().join(name), text).unwrap();
    }

    /// Runs with these arguments, of which `%x` stands for the path of the file x, also within an argument.
    fn run(&self, arguments: &str) -> Ended {
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        let status = self.run_into(arguments, &mut stdout, &mut stderr);
        Ended {
            status,
            stdout: String::from_utf8(stdout).unwrap(),
            stderr: String::from_utf8(stderr)
                .unwrap()
                .replace(&format!("{}/", self.0.path().display()), ""),
        }
    }

    /// The exit status of a run with standard output and standard error of its own.
    fn run_into(&self, arguments: &str, stdout: &mut dyn Write, stderr: &mut dyn Write) -> u8 {
        let path = |name: &str| Path::new(self.0.path()).join(name).display().to_string();
        let arguments = arguments.split_whitespace().map(|argument| {
            match argument
                .split_once('%')
                .filter(|(_, rest)| rest.contains('.'))
            {
                Some((before, name)) => format!("{before}{}", path(name)).into(),
                None => argument.into(),
            }
        });
        let exit = run(
            ["rbenchstat".into()].into_iter().chain(arguments),
            &mut Streams {
                stdin: &mut io::empty(),
                stdout,
                stderr,
                stdin_is_terminal: false,
                surroundings: rbenchstat::cli::Surroundings::default(),
            },
        );
        exit.status()
    }
}

/// A reader that went away.
struct Gone;

impl Write for Gone {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

const UNITS: &[(f64, &str)] = &[(1000.0, "ns/op"), (64.0, "B/op"), (5.0, "allocs/op")];
const SLOWER: &[(f64, &str)] = &[(1500.0, "ns/op"), (64.0, "B/op"), (5.0, "allocs/op")];
const BASE: &[Benchmark] = &[("a", "X", UNITS), ("a", "Y", UNITS), ("b", "Z", UNITS)];
const SLOW: &[Benchmark] = &[("a", "X", SLOWER), ("a", "Y", UNITS), ("b", "Z", UNITS)];

fn gate(old: &str, new: &str) -> Ended {
    Folder::new(&[("old.txt", old), ("new.txt", new)]).run("-fail-on regression %old.txt %new.txt")
}

fn with(old: &str, new: &str, flags: &str) -> Ended {
    Folder::new(&[("old.txt", old), ("new.txt", new)]).run(&format!("{flags} %old.txt %new.txt"))
}

// The ten situations.

#[test]
fn time_up_by_half_fails() {
    let ended = gate(&input(RUNS, BASE), &input(AGAIN, SLOW));
    assert_eq!(ended.status, 1);
    ended.says("rbenchstat: gate failed: 1 regression (1 regression, 8 unchanged)\n");
    ended.says(
        "  regression: X-8, sec/op, a: 999.5n → 1497.3n, +49.84% [+49.41%, +50.29%], limit 2.00%\n",
    );
}

#[test]
fn allocations_out_of_nothing_fail() {
    let none: &[Benchmark] = &[("a", "X", &[(1000.0, "ns/op"), (0.0, "allocs/op")])];
    let five: &[Benchmark] = &[("a", "X", &[(1000.0, "ns/op"), (5.0, "allocs/op")])];
    let ended = gate(&input(RUNS, none), &input(AGAIN, five));
    assert_eq!(ended.status, 1);
    ended.says("  regression: X-8, allocs/op: 0 → 5, +5 [+5, +5], limit 0\n");
}

const RATE: &[Benchmark] = &[("a", "X", &[(100.0, "MB/s"), (1000.0, "ns/op")])];

#[test]
fn doubled_throughput_passes() {
    let double: &[Benchmark] = &[("a", "X", &[(200.0, "MB/s"), (500.0, "ns/op")])];
    let ended = gate(&input(RUNS, RATE), &input(AGAIN, double));
    assert_eq!(ended.status, 0);
    ended.says("rbenchstat: gate passed: no regression (2 improvements)\n");
}

#[test]
fn another_cpu_cannot_be_judged() {
    let other = Runs {
        cpu: "Slow 1000",
        ..AGAIN
    };
    let (old, new) = (input(RUNS, BASE), input(other, SLOW));
    let ended = gate(&old, &new);
    assert_eq!(ended.status, 3);
    ended.says(
        "could not judge: the sides were measured on different machines; nothing was compared",
    );
    ended.says(
        "environment differs: cpu is Fast 3000 in the baseline and Slow 1000 now: measure both",
    );
    ended.says("the sides differ in cpu: add -ignore cpu");

    // Where the rows pair all the same, a clear regression still says nothing about the code.
    let ended = with(&old, &new, "-fail-on regression -table pkg");
    assert_eq!(ended.status, 3);
    let ended = with(
        &old,
        &new,
        "-fail-on regression -table pkg -allow environment",
    );
    assert_eq!(ended.status, 1);
    let ended = with(&old, &new, "-fail-on regression -ignore cpu");
    assert_eq!(ended.status, 1);
    assert!(!ended.stderr.contains("cpu"), "{}", ended.stderr);
}

#[test]
fn a_deleted_benchmark_cannot_be_judged() {
    let new: &[Benchmark] = &[("a", "X", UNITS), ("b", "Z", UNITS)];
    let (old, new) = (input(RUNS, BASE), input(AGAIN, new));
    let ended = gate(&old, &new);
    assert_eq!(ended.status, 3);
    ended.says("3 rows of the baseline not measured again: Y-8, a (-allow removed)\n");
    for flags in [
        "-fail-on regression -allow removed",
        "-allow removed -allow syntax",
    ] {
        assert_eq!(with(&old, &new, flags).status, 0, "{flags}");
    }
    let ended = with(&old, &new, "-fail-on regression -allow removed");
    assert_eq!(ended.status, 0);
    ended.says("  allowed: 3 rows of the baseline not measured again: Y-8, a");
}

#[test]
fn three_runs_cannot_be_judged() {
    let few = |runs| Runs { count: 3, ..runs };
    let (old, new) = (input(few(RUNS), BASE), input(few(AGAIN), SLOW));
    let ended = gate(&old, &new);
    assert_eq!(ended.status, 3);
    // Of the nine rows only the three times can vary.
    ended.says("too few runs for any verdict on 9 rows: run with -count 4,");
    let ended = with(&old, &new, "-fail-on regression -adjust none");
    assert_eq!(ended.status, 3);
    ended.says("run with -count 4");
    let ended = with(&old, &new, "-fail-on regression -allow too-few-runs");
    assert_eq!(ended.status, 0);
}

#[test]
fn a_regression_in_the_second_package_only_fails() {
    let new: &[Benchmark] = &[("a", "X", UNITS), ("a", "Y", UNITS), ("b", "Z", SLOWER)];
    let ended = gate(&input(RUNS, BASE), &input(AGAIN, new));
    assert_eq!(ended.status, 1);
    ended.says("  regression: Z-8, sec/op, b: ");
}

#[test]
fn halved_throughput_fails() {
    let half: &[Benchmark] = &[("a", "X", &[(50.0, "MB/s"), (1000.0, "ns/op")])];
    let ended = gate(&input(RUNS, RATE), &input(AGAIN, half));
    assert_eq!(ended.status, 1);
    ended.says("  regression: X-8, B/s: ");
}

#[test]
fn a_missing_file_is_an_error() {
    let folder = Folder::new(&[("old.txt", &input(RUNS, BASE))]);
    let ended = folder.run("-fail-on regression %old.txt %new.txt");
    assert_eq!(ended.status, 2);
    ended.says("rbenchstat: open new.txt: no such file or directory");
    assert!(ended.stdout.is_empty());
}

#[test]
fn the_same_code_twice_passes() {
    let ended = gate(&input(RUNS, BASE), &input(AGAIN, BASE));
    assert_eq!(ended.status, 0);
    ended.says("rbenchstat: gate passed: no regression (9 unchanged)\n");
}

// What else keeps it from an answer.

#[test]
fn one_side_cannot_be_judged() {
    let folder = Folder::new(&[("old.txt", &input(RUNS, BASE))]);
    let ended = folder.run("-fail-on regression %old.txt");
    assert_eq!(ended.status, 3);
    ended.says("there is one side only");
}

#[test]
fn an_input_without_results_cannot_be_judged() {
    let folder = Folder::new(&[
        ("old.txt", &input(RUNS, BASE)),
        ("new.txt", &input(AGAIN, BASE)),
        ("third.txt", "build failed\n"),
    ]);
    let ended = folder.run("-fail-on regression %old.txt %new.txt %third.txt");
    assert_eq!(ended.status, 3);
    ended.says("  cannot judge: no results in third.txt: look at");
}

#[test]
fn a_failed_benchmark_cannot_be_judged() {
    let old = input(RUNS, BASE);
    for line in [
        "BenchmarkW-8 \t--- FAIL: BenchmarkW-8\n",
        "--- FAIL: BenchmarkW-8\n",
        "FAIL\tb\t1.2s\n",
    ] {
        let new = input(AGAIN, BASE) + line;
        let ended = gate(&old, &new);
        assert_eq!(ended.status, 3, "{line}");
        ended.says("could not judge: benchmarks failed (");
        let ended = with(&old, &new, "-allow failed");
        assert_eq!(ended.status, 0, "{line}");
    }
}

#[test]
fn a_failure_is_told_without_its_tabs() {
    let new = input(AGAIN, BASE) + "FAIL\tb\t1.2s\n";
    let ended = gate(&input(RUNS, BASE), &new);
    ended.says("cannot judge: a benchmark failed: new.txt:37: FAIL b 1.2s (-allow failed)\n");
}

#[test]
fn no_control_character_of_an_input_reaches_the_terminal() {
    let red = "\u{1b}[31m";
    let coloured = |text: String| {
        text.replace("pkg: a", &format!("pkg: a{red}"))
            .replace("X-8", &format!("X{red}-8"))
            .replace("ns/op", &format!("ns{red}/op"))
    };
    let old = coloured(input(RUNS, BASE));
    let slow = coloured(input(AGAIN, SLOW)) + "FAIL\tb\u{7}\t1.2s\n";
    let gone = coloured(input(AGAIN, &BASE[1..]));
    let waivers = waiver("60%", "2027-01-31").replace("X-8", "\\u001b[31m")
        + &waiver("60%", "2027-01-31")
            .replace("X-8", "X\\u001b[31m-8")
            .replace("\"a\"", "\"a\\u001b[31m\"")
            .replace("sec/op", "ns\\u001b[31m/op")
            .replace("bounds", "\\u001b[31mbounds");
    let folder = Folder::new(&[
        ("old.txt", &old),
        ("slow.txt", &slow),
        ("gone.txt", &gone),
        ("waivers.toml", &waivers),
    ]);
    let row = r"regression: X\u{1b}[31m-8, ns\u{1b}[31m/op, a\u{1b}[31m: ";
    for (flags, told) in [
        ("-fail-on regression %old.txt %slow.txt", row),
        (
            "-fail-on regression %old.txt %slow.txt",
            r"FAIL b\u{7} 1.2s (-allow failed)",
        ),
        (
            "-fail-on regression %old.txt %gone.txt",
            r"again: X\u{1b}[31m-8, a\u{1b}[31m (-allow removed)",
        ),
        (
            "-waivers %waivers.toml %old.txt %slow.txt",
            r"31: \u{1b}[31mbounds checks",
        ),
        (
            "-waivers %waivers.toml %old.txt %slow.txt",
            r"note: waiver on line 1 (\u{1b}[31m, sec/op, a) is stale",
        ),
        (
            "-self-test 60% %old.txt %old.txt",
            r"✓ fired   a\u{1b}[31m · X\u{1b}[31m-8   ns\u{1b}[31m/op ",
        ),
    ] {
        // Quiet would silence the notes on waivers too; other notes than the gate's are no matter of this test.
        let ended = folder.run(&format!("-better ns{red}/op=lower {flags}"));
        let answer = if flags.starts_with("-self-test") {
            ended.stdout
        } else {
            ended.stderr
        };
        let lines = answer
            .lines()
            .filter(|line| !line.starts_with("rbenchstat: note: "));
        let answer = lines.collect::<Vec<&str>>().join("\n");
        assert!(answer.contains(told), "{flags}: no {told} in {answer}");
        let is_raw = |char: char| char.is_control() && char != '\n';
        assert!(!answer.contains(is_raw), "{flags}: {answer:?}");
    }
}

#[test]
fn lines_that_are_not_understood_cannot_be_judged() {
    let old = input(RUNS, BASE);
    let new = input(AGAIN, BASE) + "BenchmarkW-8 1 2\n";
    let ended = gate(&old, &new);
    assert_eq!(ended.status, 3);
    ended.says("new.txt:37: missing units\n");
    ended.says("1 line of the inputs not understood, see above (-allow syntax)");
    assert_eq!(with(&old, &new, "-allow syntax").status, 0);
}

#[test]
fn a_regression_is_told_even_where_something_else_could_not_be_judged() {
    let new: &[Benchmark] = &[("a", "X", SLOWER), ("b", "Z", UNITS)];
    let ended = gate(&input(RUNS, BASE), &input(AGAIN, new));
    assert_eq!(ended.status, 1);
    ended.says("  cannot judge: 3 rows of the baseline not measured again: Y-8, a");
}

#[test]
fn without_a_unit_of_known_direction_there_is_no_telling() {
    let old: &[Benchmark] = &[("a", "X", &[(10.0, "widgets")])];
    let new: &[Benchmark] = &[("a", "X", &[(20.0, "widgets")])];
    let (old, new) = (input(RUNS, old), input(AGAIN, new));
    assert_eq!(gate(&old, &new).status, 3);
    assert_eq!(
        with(&old, &new, "-fail-on regression -better widgets=lower").status,
        1
    );
    assert_eq!(
        with(&old, &new, "-fail-on regression -better widgets=higher").status,
        0
    );
    assert_eq!(with(&old, &new, "-fail-on change").status, 1);
    let ended = with(&old, &new, "-fail-on regression -gate-unit widgets");
    assert_eq!(ended.status, 2);
    ended.says("add -better widgets=lower or widgets=higher");
}

#[test]
fn a_later_column_is_compared_with_the_first() {
    let folder = Folder::new(&[
        ("old.txt", &input(RUNS, BASE)),
        ("mid.txt", &input(AGAIN, BASE)),
        ("new.txt", &input(Runs { seed: 3, ..RUNS }, SLOW)),
    ]);
    let ended = folder.run("-fail-on regression %old.txt %mid.txt %new.txt");
    assert_eq!(ended.status, 1);
    ended.says("gate failed: 1 regression (");
    assert!(ended.stderr.contains("X-8, sec/op, a · ") && ended.stderr.contains("new.txt: "));
}

#[test]
fn a_third_column_measured_elsewhere_cannot_be_judged() {
    let elsewhere = Runs {
        cpu: "Slow 1000",
        ..AGAIN
    };
    let folder = Folder::new(&[
        ("old.txt", &input(RUNS, BASE)),
        ("mid.txt", &input(AGAIN, BASE)),
        ("new.txt", &input(elsewhere, BASE)),
    ]);
    let ended = folder.run("-fail-on regression %old.txt %mid.txt %new.txt");
    assert_eq!(ended.status, 3);
    ended.says("cpu is Fast 3000 in the baseline and Slow 1000 now in new.txt: measure");
}

// What it is asked for.

#[test]
fn what_is_judged_can_be_chosen() {
    let (old, new) = (input(RUNS, BASE), input(AGAIN, SLOW));
    assert_eq!(with(&old, &new, "-gate-unit sec/op").status, 1);
    assert_eq!(with(&old, &new, "-gate-unit ns/op").status, 1);
    assert_eq!(with(&old, &new, "-gate-unit allocs/op,B/op").status, 0);
    assert_eq!(
        with(&old, &new, "-fail-on regression -filter .name:Y").status,
        0
    );
    let ended = with(&old, &new, "-gate-unit sec/op,B/s");
    assert_eq!(ended.status, 1);
    ended.says("nothing was compared in B/s: no input has it; there are sec/op, ");
}

#[test]
fn margins_decide_what_matters() {
    let (old, new) = (input(RUNS, BASE), input(AGAIN, SLOW));
    for (threshold, status) in [
        ("60%", 0),
        ("sec/op=60%", 0),
        ("B/op=60%", 1),
        ("sec/op=5%+1ms", 0),
        ("sec/op=5%+2ns", 1),
    ] {
        let ended = with(
            &old,
            &new,
            &format!("-fail-on regression -threshold {threshold}"),
        );
        assert_eq!(ended.status, status, "{threshold}");
    }
}

#[test]
fn unproven_wants_proof_and_change_wants_none() {
    let (old, same) = (input(RUNS, BASE), input(AGAIN, BASE));
    assert_eq!(with(&old, &same, "-fail-on unproven").status, 0);
    // The noise is more than so small a margin.
    let ended = with(&old, &same, "-fail-on unproven -threshold 0.01%");
    assert_eq!(ended.status, 1);
    ended.says("not proven to be unchanged or better");
    let faster = input(AGAIN, BASE);
    let slow = input(RUNS, SLOW);
    assert_eq!(with(&slow, &faster, "-fail-on regression").status, 0);
    assert_eq!(with(&slow, &faster, "-fail-on unproven").status, 0);
    assert_eq!(with(&slow, &faster, "-fail-on change").status, 1);
}

#[test]
fn exact_units_need_no_statistics_and_have_no_margin() {
    let unit = "Unit size assume=exact better=lower\n";
    let sized = |size: &str| format!("{unit}BenchmarkX 1 {size} size\n");
    assert_eq!(gate(&sized("1000"), &sized("1000")).status, 0);
    assert_eq!(gate(&sized("1000"), &sized("1001")).status, 1);
    assert_eq!(gate(&sized("0"), &sized("0")).status, 0);
    assert_eq!(gate(&sized("0"), &sized("1")).status, 1);
    assert_eq!(
        with(
            &sized("1000"),
            &sized("1001"),
            "-fail-on regression -threshold 1%"
        )
        .status,
        0
    );
}

#[test]
fn the_tables_stay_as_they_are() {
    let folder = Folder::new(&[
        ("old.txt", &input(RUNS, BASE)),
        ("new.txt", &input(AGAIN, SLOW)),
    ]);
    for format in ["text", "csv"] {
        let plain = folder.run(&format!("-format {format} %old.txt %new.txt"));
        let gated = folder.run(&format!(
            "-format {format} -fail-on regression %old.txt %new.txt"
        ));
        assert_eq!(plain.status, 0);
        assert_eq!(gated.status, 1);
        assert_eq!(plain.stdout, gated.stdout);
    }
}

#[test]
fn the_answer_stands_when_nobody_reads_it() {
    let folder = Folder::new(&[
        ("old.txt", &input(RUNS, BASE)),
        ("new.txt", &input(AGAIN, SLOW)),
    ]);
    for (flags, status) in [
        ("-fail-on regression", 1),
        ("-fail-on regression -format csv", 1),
        ("-fail-on regression -filter .name:Y", 0),
        ("-fail-on regression -gate-unit B/s", 3),
        ("-self-test 0.1%", 1),
    ] {
        let arguments = format!("{flags} %old.txt %new.txt");
        assert_eq!(
            folder.run_into(&arguments, &mut Gone, &mut Gone),
            status,
            "{flags}"
        );
        assert_eq!(
            folder.run_into(&arguments, &mut io::sink(), &mut Gone),
            status,
            "{flags}"
        );
    }
}

#[test]
fn flags_that_would_do_nothing_or_make_no_sense_are_errors() {
    let (old, new) = (input(RUNS, BASE), input(AGAIN, SLOW));
    for (flags, message) in [
        (
            "-threshold 2%",
            "-threshold has no effect: add -fail-on regression",
        ),
        ("-adjust bh", "-adjust has no effect"),
        (
            "-fail-on slower",
            "-fail-on must be regression, unproven or change, not \"slower\"",
        ),
        (
            "-fail-on regression -adjust all",
            "-adjust must be holm, bh or none, not \"all\"",
        ),
        (
            "-fail-on regression -allow all",
            "-allow must be environment, shift, control, same-values, ",
        ),
        (
            "-fail-on regression -better x",
            "-better must be UNIT=lower or UNIT=higher, not \"x\"",
        ),
        (
            "-fail-on regression -threshold x",
            "-threshold: \"x\" is not a margin: ",
        ),
        (
            "-fail-on regression -today tomorrow",
            "-today must be a date such as 2027-01-31",
        ),
        (
            "-self-test 10",
            "-self-test must be a percentage above 0% and below 100%",
        ),
        (
            "-noise -self-test 10%",
            "-noise and -self-test exclude each other",
        ),
        (
            "-noise -out json=report.json",
            "-noise and -out exclude each other",
        ),
        (
            "-self-test 10% -format csv",
            "-self-test and -format exclude each other",
        ),
    ] {
        let ended = with(&old, &new, flags);
        assert_eq!(ended.status, 2, "{flags}");
        ended.says(message);
        assert!(ended.stdout.is_empty(), "{flags}");
    }
}

// Self-test, noise, waivers.

#[test]
fn a_self_test_shows_that_the_gate_fires() {
    let (old, new) = (input(RUNS, BASE), input(AGAIN, BASE));
    let ended = with(&old, &new, "-self-test 10%");
    assert_eq!(ended.status, 0, "{ended:?}");
    assert!(ended.stdout.contains("✓ fired   a · X-8"));
    assert!(ended.stdout.contains("   from 2."), "{}", ended.stdout);
    assert!(
        ended
            .stdout
            .ends_with("the gate fired for 9 of 9 judged rows\n")
    );
    let ended = with(&old, &new, "-self-test 10% -threshold 15%");
    assert_eq!(ended.status, 1);
    assert!(
        ended
            .stdout
            .contains("the gate fired for 0 of 9 judged rows")
    );
    let few = |runs| input(Runs { count: 3, ..runs }, BASE);
    let ended = with(&few(RUNS), &few(AGAIN), "-self-test 10%");
    assert_eq!(ended.status, 3);
    assert!(
        ended
            .stdout
            .contains("never with so few runs: run with -count 4 at least")
    );
}

#[test]
fn a_self_test_makes_throughput_smaller_and_nothing_something() {
    let units: &[Benchmark] = &[("a", "X", &[(100.0, "MB/s"), (0.0, "allocs/op")])];
    let ended = with(&input(RUNS, units), &input(AGAIN, units), "-self-test 10%");
    assert_eq!(ended.status, 0);
    assert!(
        ended.stdout.contains("-9.") || ended.stdout.contains("-10."),
        "{}",
        ended.stdout
    );
    assert!(
        ended
            .stdout
            .contains("✓ fired   X-8         allocs/op         0            1     0 → 1"),
        "{}",
        ended.stdout
    );
}

#[test]
fn margins_measured_with_noise_make_the_same_code_unchanged() {
    let folder = Folder::new(&[
        ("one.txt", &input(RUNS, BASE)),
        ("two.txt", &input(AGAIN, BASE)),
    ]);
    let ended = folder.run("-noise %one.txt %two.txt");
    assert_eq!(ended.status, 0);
    assert_eq!(ended.stdout.matches("[[margin]]").count(), 9);
    folder.add("noise.toml", &ended.stdout);
    let ended = folder.run("-fail-on unproven -threshold @%noise.toml %one.txt %two.txt");
    assert_eq!(ended.status, 0, "{ended:?}");
    folder.add("bad.toml", "[[margin]]\nbenchmark = \"X-8\"\n");
    let ended = folder.run("-fail-on unproven -threshold @%bad.toml %one.txt %two.txt");
    assert_eq!(ended.status, 2);
    ended.says("bad.toml:1: missing field `package`");
}

/// Runs whose tables differ in a key other than the package, so that rows are called the same.
fn twice_named(runs: Runs, units: [&'static [(f64, &'static str)]; 2]) -> String {
    let [short, long] = units.map(|units| input(runs, &[("a", "X", units)]));
    format!("length: short\n{short}length: long\n{long}")
}

#[test]
fn margins_of_rows_that_are_called_the_same_are_read_back() {
    let [one, two] = [RUNS, AGAIN].map(|runs| twice_named(runs, [UNITS; 2]));
    let folder = Folder::new(&[("one.txt", &one), ("two.txt", &two)]);
    let ended = folder.run("-noise %one.txt %two.txt");
    assert_eq!(ended.status, 0);
    for value in ["short", "long"] {
        let keys = format!("keys = {{ \"length\" = \"{value}\" }}");
        assert_eq!(ended.stdout.matches(&keys).count(), UNITS.len(), "{keys}");
    }
    folder.add("noise.toml", &ended.stdout);
    let ended = folder.run("-fail-on unproven -threshold @%noise.toml %one.txt %two.txt");
    assert_eq!(ended.status, 0, "{ended:?}");
}

#[test]
fn the_margin_of_a_time_that_is_mostly_nothing_is_read_back() {
    let text = |seed: usize| -> String {
        let value = |run: usize| if run < 6 { 0 } else { (run * seed) % 7 + 1 };
        let line = |run| {
            format!(
                "BenchmarkX 1 {} p99-ns {} MB/s\n",
                value(run),
                value(run + 1)
            )
        };
        (0..10).map(line).collect()
    };
    let folder = Folder::new(&[("one.txt", &text(3)), ("two.txt", &text(5))]);
    let ended = folder.run("-noise %one.txt %two.txt");
    assert_eq!(ended.status, 0, "{ended:?}");
    assert!(
        ended.stdout.contains("0.00%+0.00000000"),
        "{}",
        ended.stdout
    );
    folder.add("noise.toml", &ended.stdout);
    let ended = folder.run("-fail-on regression -threshold @%noise.toml %one.txt %two.txt");
    assert_eq!(ended.status, 0, "{ended:?}");
}

#[test]
fn noise_cannot_be_measured_with_few_runs_or_on_two_machines() {
    let few = |runs| input(Runs { count: 3, ..runs }, BASE);
    let ended = with(&few(RUNS), &few(AGAIN), "-noise");
    assert_eq!(ended.status, 3);
    ended.says("9 of 9 rows have too few runs for a margin");
    let elsewhere = Runs {
        cpu: "Slow 1000",
        ..AGAIN
    };
    let ended = with(&input(RUNS, BASE), &input(elsewhere, BASE), "-noise");
    assert_eq!(ended.status, 3);
    ended.says("run the same code twice on one machine");
    assert!(ended.stdout.is_empty());
    // What keeps the sides apart is told as it is for tables.
    let apart = input(AGAIN, BASE).replace("pkg:", "commit: b\npkg:");
    let ended = with(&input(RUNS, BASE), &apart, "-noise");
    assert_eq!(ended.status, 3);
    ended.says("rbenchstat: -noise: no row has two sides\n");
    ended.says("-ignore commit");
}

#[test]
fn the_coverage_of_a_geomean_is_that_of_its_rows() {
    let flags = "-fail-on regression -alpha 0.01 -format json";
    let ended = with(&input(RUNS, BASE), &input(AGAIN, SLOW), flags);
    let report: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    let table = &report["tables"][0];
    assert_eq!(table["geomeans"][1]["effect"]["coverage"], 0.99);
}

#[test]
fn lists_are_sorted_by_the_column_that_they_are_about() {
    const TWICE: &[Benchmark] = &[("a", "X", &[(2000.0, "ns/op")])];
    const FOUR_TIMES: &[Benchmark] = &[("a", "X", &[(4000.0, "ns/op")])];
    let folder = Folder::new(&[
        ("a.txt", &input(RUNS, &[("a", "X", &[(1000.0, "ns/op")])])),
        ("b.txt", &input(AGAIN, TWICE)),
        ("c.txt", &input(AGAIN, FOUR_TIMES)),
    ]);
    let ended = folder.run("-format jsonl -sort delta %a.txt %b.txt %c.txt");
    let columns: Vec<String> = ended
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .filter_map(|record: serde_json::Value| Some(record["new"].as_str()?.to_owned()))
        .collect();
    assert!(
        columns[0].ends_with("c.txt") && columns[1].ends_with("b.txt"),
        "{columns:?}"
    );
}

fn waiver(ceiling: &str, expires: &str) -> String {
    format!(
        "[[waiver]]\nbenchmark = \"X-8\"\npackage = \"a\"\nunit = \"sec/op\"\nceiling = \"{ceiling}\"\n\
         expires = {expires}\nreason = \"bounds checks\"\n"
    )
}

fn waived(waivers: &str, new: &[Benchmark]) -> Ended {
    Folder::new(&[
        ("old.txt", &input(RUNS, BASE)),
        ("new.txt", &input(AGAIN, new)),
        ("waivers.toml", waivers),
    ])
    .run("-waivers %waivers.toml -today 2026-12-01 %old.txt %new.txt")
}

#[test]
fn a_waiver_is_for_one_row() {
    let old = twice_named(RUNS, [UNITS; 2]);
    let new = twice_named(AGAIN, [SLOWER; 2]);
    let waived = |waivers: &str| {
        let files = [
            ("old.txt", old.as_str()),
            ("new.txt", &new),
            ("w.toml", waivers),
        ];
        Folder::new(&files).run("-waivers %w.toml -today 2026-12-01 %old.txt %new.txt")
    };
    let both = waiver("60%", "2027-01-31");
    let ended = waived(&both);
    assert_eq!(ended.status, 1);
    ended.says("gate failed: 2 regressions (2 regressions, ");
    ended.says(
        "note: waiver on line 1 (X-8, sec/op, a) names 2 rows, and tolerates none of them: \
         add keys = { \"length\" = \"long\" }",
    );
    let short = format!("{both}keys = {{ length = \"short\" }}\n");
    let ended = waived(&short);
    assert_eq!(ended.status, 1);
    ended.says("gate failed: 1 regression (2 regressions (1 waived), ");
    let ended = waived(&format!("{short}{both}keys = {{ length = \"long\" }}\n"));
    assert_eq!(ended.status, 0, "{ended:?}");
    // What has all keys of a row is closer to it than what has some.
    let ended = waived(&format!("{}{short}", both.replace("60%", "1%")));
    ended.says("gate failed: 1 regression (2 regressions (1 waived), ");
    ended.says("over its waiver's ceiling of 1.00%");
}

#[test]
fn a_waived_regression_passes_and_stays_visible() {
    let ended = waived(&waiver("60%", "2026-12-01"), SLOW);
    assert_eq!(ended.status, 0);
    ended.says("gate passed: no regression (1 regression (1 waived), 8 unchanged)");
    ended.says("  waived: regression: X-8, sec/op, a: ");
    ended.says("ceiling 60.00% until 2026-12-01: bounds checks\n");
}

#[test]
fn a_waiver_ends_at_its_ceiling_and_its_date() {
    let ended = waived(&waiver("40%", "2027-01-31"), SLOW);
    assert_eq!(ended.status, 1);
    ended.says("over its waiver's ceiling of 40.00%");
    let ended = waived(&waiver("60%", "\"2026-11-30\""), SLOW);
    assert_eq!(ended.status, 1);
    ended.says("its waiver expired on 2026-11-30");
}

#[test]
fn a_waiver_for_nothing_is_named() {
    let stale = waiver("60%", "2027-01-31").replace("X-8", "BenchmarkX-8");
    let ended = waived(&stale, BASE);
    assert_eq!(ended.status, 0);
    ended.says("note: waiver on line 1 (BenchmarkX-8, sec/op, a) is stale: there is no such row");
    let ended = waived(&waiver("60%", "2027-01-31"), BASE);
    assert_eq!(ended.status, 0);
    ended.says("note: waiver on line 1 (X-8, sec/op, a) is unused");
}

#[test]
fn a_malformed_waiver_file_is_an_error_and_never_an_empty_list() {
    let good = waiver("60%", "2027-01-31");
    for (text, message) in [
        (String::new(), "waivers.toml:1: missing field `waiver`"),
        (
            "[[waivers]]\n".into(),
            "waivers.toml:1: unknown field `waivers`",
        ),
        (
            good.replace("ceiling", "cieling"),
            "waivers.toml:5: unknown field `cieling`",
        ),
        (
            good.replace("reason = \"bounds checks\"\n", ""),
            "waivers.toml:1: missing field `reason`",
        ),
        (
            good.replace("bounds checks", " "),
            "waivers.toml:1: reason must not be empty",
        ),
        (
            good.replace("60%", "lots"),
            "waivers.toml:1: ceiling: \"lots\" does not start with a number",
        ),
        (
            good.replace("2027-01-31", "\"soon\""),
            "waivers.toml:1: expires must be a date such as 2027-01-31",
        ),
        (
            format!("{good}{good}"),
            "waivers.toml:8: a second waiver for X-8 in sec/op; the first is on line 1",
        ),
        (format!("{good}["), "waivers.toml:8: "),
    ] {
        let ended = waived(&text, SLOW);
        assert_eq!(ended.status, 2, "{text}");
        ended.says(message);
    }
    let ended = with(
        &input(RUNS, BASE),
        &input(AGAIN, SLOW),
        "-waivers gone.toml",
    );
    assert_eq!(ended.status, 2);
    ended.says("-waivers: open gone.toml: no such file or directory");
}

// What is proven, and what is not.

/// Ten runs of each benchmark, around its mean by up to 4.5 %, as `value` makes them of row, run and noise.
fn spread_runs(rows: usize, line: impl Fn(usize, usize, f64) -> String) -> String {
    // The order is not that of the values, which would be a drift.
    const NOISE: [f64; 10] = [-0.5, 3.5, -2.5, 1.5, 4.5, -4.5, 2.5, -1.5, 0.5, -3.5];
    let of_row = |row: usize| -> String {
        (0..10)
            .map(|run| line(row, run, 1.0 + NOISE[run] / 100.0))
            .collect()
    };
    (0..rows).map(of_row).collect()
}

#[test]
fn one_slow_run_of_the_baseline_hides_no_regression() {
    let side = |slow: f64, change: f64| {
        spread_runs(40, |row, run, noise| {
            let factor = if row == 7 { change } else { 1.0 };
            let factor = if row == 7 && run == 2 { slow } else { factor };
            format!("BenchmarkRow{row} 1 {} ns/op\n", 1000.0 * noise * factor)
        })
    };
    let ended = gate(&side(1.9, 1.0), &side(1.3, 1.3));
    assert_eq!(ended.status, 1, "{ended:?}");
    ended.says("  regression: Row7, sec/op: ");
}

#[test]
fn counts_that_never_vary_are_exact() {
    let side = |allocations: u32| {
        spread_runs(3, |row, _, noise| {
            let count = if row == 0 { allocations } else { 7 };
            format!(
                "BenchmarkRow{row} 1 {} ns/op {count} allocs/op\n",
                1000.0 * noise
            )
        })
    };
    let ended = gate(&side(100), &side(101));
    assert_eq!(ended.status, 1, "{ended:?}");
    ended
        .says("  regression: Row0, allocs/op: 100.0 → 101.0, +1.00% [+1.00%, +1.00%], limit 0.00%");
    let ended = with(&side(100), &side(101), "-fail-on regression -threshold 2%");
    assert_eq!(ended.status, 0, "{ended:?}");
}

#[test]
fn what_looks_worse_and_is_not_proven_is_no_pass() {
    let side = |change: f64| {
        spread_runs(7, |row, _, noise| {
            let factor = if row == 3 { change } else { 1.0 };
            format!("BenchmarkRow{row}-8 1 {} ns/op\n", 1000.0 * noise * factor)
        })
    };
    let flags = "-fail-on regression -threshold 0%";
    let ended = with(&side(1.0), &side(1.031), flags);
    assert_eq!(ended.status, 3, "{ended:?}");
    ended.says("gate could not judge: what looks changed is not proven (1 suspect, 6 ");
    ended.says("suspect: Row3-8, sec/op: ");
    ended.says("go test -run '^$' -bench '^Benchmark(Row3)$' -count 20 (-allow suspect)");
    for format in ["pretty", "markdown", "comment", "html", "json"] {
        let stdout = with(
            &side(1.0),
            &side(1.031),
            &format!("-threshold 0% -format {format}"),
        )
        .stdout;
        assert!(stdout.contains("suspect"), "{format}");
    }
    let ended = with(&side(1.0), &side(1.031), &format!("{flags} -allow suspect"));
    assert_eq!(ended.status, 0, "{ended:?}");
    // Its mirror image.
    let ended = with(&side(1.031), &side(1.0), flags);
    assert_eq!(ended.status, 0, "{ended:?}");
    ended.says("1 promising");
    assert_eq!(
        with(&side(1.031), &side(1.0), "-fail-on change -threshold 0%").status,
        0
    );
}

#[test]
fn what_is_computed_from_the_time_counts_once() {
    let side = |of_time: &dyn Fn(f64) -> String| {
        spread_runs(5, |row, _, noise| {
            let time = 1000.0 * noise;
            format!("BenchmarkRow{row} 1 {time:.1} ns/op{}\n", of_time(time))
        })
    };
    let nothing: &dyn Fn(f64) -> String = &|_| String::new();
    let rate: &dyn Fn(f64) -> String = &|time| format!(" {:.2} MB/s", 64_000.0 / time);
    let of_item: &dyn Fn(f64) -> String = &|time| format!(" {:.3} ns/item", time / 64.0);
    for (of_time, flags, count) in [
        (nothing, "", 5),
        (rate, "", 5),
        (of_item, "", 5),
        // What is asked for another direction is no twin.
        (rate, "-better MB/s=lower", 10),
        (of_item, "-better ns/item=higher", 10),
    ] {
        let old = side(of_time);
        // Something has to differ, or there is nothing to compare.
        let new = old.replacen("995.0", "995.5", 1);
        let json = with(&old, &new, &format!("{flags} -format json")).stdout;
        assert!(
            json.contains(&format!("\"comparisons\": {count},")),
            "{flags}: {json}"
        );
    }
}

#[test]
fn rounds_take_out_what_a_pass_does_to_all_rows() {
    // Passes at one of two speeds 6 % apart, not the same on both sides.
    let side = |speeds: [bool; 10], change: f64, in_rounds: bool| -> String {
        let runs = (0..10).map(|run| {
            let line = |row: usize| {
                let noise = 1.0
                    + (f64::from(u32::try_from((row * 7 + run * 3) % 10).unwrap()) - 4.5) / 500.0;
                let factor =
                    if speeds[run] { 1.06 } else { 1.0 } * if row == 4 { change } else { 1.0 };
                format!("BenchmarkRow{row} 1 {} ns/op\n", 1000.0 * noise * factor)
            };
            let lines: String = (0..10).map(line).collect();
            if in_rounds {
                format!("# rbenchstat round {}\n{lines}", run + 1)
            } else {
                lines
            }
        });
        runs.collect()
    };
    let old = [
        true, false, false, true, false, true, true, false, true, false,
    ];
    let new = [
        false, true, false, true, true, false, true, false, false, true,
    ];
    let ended = gate(&side(old, 1.0, true), &side(new, 1.04, true));
    assert_eq!(ended.status, 1, "{ended:?}");
    ended.says("(1 regression, 9 unchanged)");
    assert_ne!(
        gate(&side(old, 1.0, false), &side(new, 1.04, false)).status,
        1
    );
    // The tables do not look at rounds.
    let csv = |in_rounds| {
        let (old, new) = (side(old, 1.0, in_rounds), side(new, 1.04, in_rounds));
        let table = with(&old, &new, "-format csv").stdout;
        // All but the line with the names of the files.
        table.lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(csv(true), csv(false));
}

/// Sides whose medians say something else than their estimates: two modes, drawn-out tails, and rounds.
fn sides_of_many_shapes(is_new: bool, in_rounds: bool) -> String {
    let side = u64::from(is_new);
    let mut noise = Noise(7 + side);
    let mut text = String::new();
    for run in 0..12_u32 {
        if in_rounds {
            writeln!(text, "# rbenchstat round {}", run + 1).unwrap();
        }
        for row in 0..10_u32 {
            let uniform = (noise.next() - 0.995) * 100.0;
            let factor = match row % 3 {
                0 => 1.0 + 0.1 * f64::from(u8::from(uniform > 0.5)),
                1 => 1.0 + uniform.powi(4),
                _ => noise.next(),
            };
            let change = if is_new {
                1.0 + f64::from(row) / 20.0
            } else {
                1.0
            };
            writeln!(
                text,
                "BenchmarkRow{row} 1 {} ns/op",
                1000.0 * factor * change
            )
            .unwrap();
        }
    }
    text
}

#[test]
fn a_change_is_one_number_everywhere_and_within_its_interval() {
    for in_rounds in [false, true] {
        let [old, new] = [false, true].map(|is_new| sides_of_many_shapes(is_new, in_rounds));
        let folder = Folder::new(&[("old.txt", &old), ("new.txt", &new)]);
        let ended = folder.run("-fail-on regression -allow suspect -format json %old.txt %new.txt");
        let report: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
        let run = |format: &str| {
            folder
                .run(&format!("-all -format {format} %old.txt %new.txt"))
                .stdout
        };
        let [pretty, markdown, comment, html] = ["pretty", "markdown", "comment", "html"].map(run);
        let mut elsewhere = 0;
        for row in report["tables"][0]["rows"].as_array().unwrap() {
            let comparison = &row["comparisons"][0];
            let effect = &comparison["effect"];
            let [estimate, low, high] =
                ["estimate", "low", "high"].map(|field| effect[field].as_f64().unwrap());
            assert!(low <= estimate && estimate <= high, "{effect}");
            let Some(change) = comparison["change"].as_f64() else {
                assert!(low <= 0.0 && 0.0 <= high, "{effect}");
                continue;
            };
            assert_eq!(change, estimate);
            let centre = |cell: usize| row["cells"][cell]["centre"].as_f64().unwrap();
            let shown = format!("{:+.2}%", change * 100.0);
            let quotient = format!("{:+.2}%", (centre(1) / centre(0) - 1.0) * 100.0);
            elsewhere += usize::from(shown != quotient);
            for text in [&pretty, &markdown, &comment, &html] {
                assert!(text.contains(&shown), "{shown}: {text}");
            }
            if comparison["verdict"] == "regression" {
                ended.says(&format!(", {shown} ["));
            }
        }
        assert!(elsewhere > 3, "{elsewhere}");
        // Where it is not the quotient of what stands beside it, all say what it is.
        let what = if in_rounds {
            "within rounds"
        } else {
            "the median of the changes"
        };
        for text in [&pretty, &markdown, &comment, &html] {
            assert!(text.contains(what), "{text}");
        }
        // Sorted by that number as well.
        let sorted = folder
            .run("-sort delta -format json %old.txt %new.txt")
            .stdout;
        let sorted: serde_json::Value = serde_json::from_str(&sorted).unwrap();
        let rows = sorted["tables"][0]["rows"].as_array().unwrap().iter();
        let changes: Vec<f64> = rows
            .map(|row| row["comparisons"][0]["change"].as_f64().unwrap_or_default())
            .collect();
        assert!(
            changes.is_sorted_by(|left, right| left >= right),
            "{changes:?}"
        );
    }
}

#[test]
fn changes_beyond_all_numbers_are_still_numbers() {
    let side = |value: &str| {
        let exponent = if value == "1." { 300 } else { -300 };
        let line = |run| format!("BenchmarkX 1 {value}{run}e{exponent} frobs\n");
        (0..6).map(line).collect::<String>()
    };
    for (old, new) in [("2.", "1."), ("1.", "2.")] {
        let ended = with(&side(old), &side(new), "-format json -better frobs=lower");
        let report: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
        let comparison = &report["tables"][0]["rows"][0]["comparisons"][0];
        let effect = &comparison["effect"];
        for field in ["estimate", "low", "high"] {
            assert!(effect[field].is_f64(), "{effect}");
        }
        let expected = if old == "2." {
            "regression"
        } else {
            "improvement"
        };
        assert_eq!(comparison["verdict"], expected);
        assert!(comparison["change"].is_f64(), "{comparison}");
    }
}

#[test]
fn a_shift_of_everything_beyond_the_margin_is_no_answer() {
    let side = |change: f64| {
        spread_runs(9, |row, _, noise| {
            format!(
                "BenchmarkRow{row} 1 {} ns/op\n",
                1000.0 * change * (1.0 + (noise - 1.0) / 10.0)
            )
        })
    };
    let ended = gate(&side(1.0), &side(1.03));
    assert_eq!(ended.status, 3, "{ended:?}");
    ended.says("gate could not judge: everything moved alike (9 regressions)");
    assert_eq!(
        with(&side(1.0), &side(1.03), "-fail-on regression -allow shift").status,
        1
    );
    assert_eq!(
        with(&side(1.0), &side(1.03), "-fail-on regression -threshold 5%").status,
        0
    );
}

// Noise of the whole run.

#[test]
fn a_shift_of_everything_is_told() {
    let names = ["A", "B", "C", "D", "E", "F", "G", "H", "I"];
    let all = |units: &'static [(f64, &'static str)]| -> Vec<Benchmark> {
        names.iter().map(|&name| ("a", name, units)).collect()
    };
    let old = input(RUNS, &all(&[(1000.0, "ns/op")]));
    let new = input(AGAIN, &all(&[(1030.0, "ns/op")]));
    let ended = with(&old, &new, "-fail-on regression -threshold 10%");
    assert_eq!(ended.status, 0);
    let shift =
        "all 9 rows of sec/op moved by +2.89% ± 0.10%: more likely the machine than the change";
    ended.says(&format!("note: {shift}\n"));
    // In the same words everywhere.
    for format in ["comment", "json"] {
        let flags = format!("-fail-on regression -threshold 10% -format {format}");
        let stdout = with(&old, &new, &flags).stdout;
        assert!(stdout.contains(shift), "{stdout}");
    }
}

#[test]
fn a_drift_within_a_sample_is_told() {
    let line = |value: usize| format!("BenchmarkX 1 {value} ns/op\n");
    let rising: String = (0..10).map(|step| line(1000 + step)).collect();
    let ended = gate(&rising, &rising);
    ended.says("note: drift: 2 samples drift with time (X); interleave the runs of both sides");
}

#[test]
fn what_drifts_on_both_sides_alike_is_told_only_where_it_does_not_cancel() {
    // Both sides drift by 10 % over the run; the new one by as much again, if it drifts away.
    let side = |is_new: bool, drifts_away: bool, rounds: Option<u32>| -> String {
        let mut noise = Noise(u64::from(is_new));
        let mut text = String::new();
        for run in 0..12_u32 {
            if let Some(first) = rounds {
                writeln!(text, "# rbenchstat round {}", first + run).unwrap();
            }
            for row in 0..3 {
                let away = if is_new && drifts_away && row == 1 {
                    2.0
                } else {
                    1.0
                };
                let drift = 1.0 + away * f64::from(run) / 120.0;
                writeln!(
                    text,
                    "BenchmarkRow{row} 1 {} ns/op",
                    1000.0 * drift * noise.next()
                )
                .unwrap();
            }
        }
        text
    };
    let drift = |drifts_away: bool, rounds: [Option<u32>; 2]| {
        let sides =
            [false, true].map(|is_new| side(is_new, drifts_away, rounds[usize::from(is_new)]));
        let stderr = gate(&sides[0], &sides[1]).stderr;
        let note = stderr.lines().find(|line| line.contains("drift:"));
        note.map(|note| note.trim_start_matches("  note: ").to_owned())
    };
    let of_samples = Some(
        "drift: 6 samples drift with time (Row0, Row1, Row2); interleave the runs of both sides"
            .to_owned(),
    );
    assert_eq!(drift(false, [None, None]), of_samples);
    assert_eq!(drift(false, [Some(1), Some(1)]), None);
    assert_eq!(
        drift(true, [Some(1), Some(1)]).unwrap(),
        "drift: the change of 1 row drifts from round to round (Row1); start both sides afresh in each round"
    );
    // Rounds of their own are none in which the sides took turns.
    assert_eq!(drift(false, [Some(1), Some(13)]), of_samples);
    assert_eq!(drift(false, [Some(1), None]), of_samples);
}

#[test]
fn a_shift_is_seen_where_rounds_are_too_few_to_compare_by() {
    let side = |change: f64| -> String {
        let mut noise = Noise(change.to_bits());
        let mut text = String::new();
        for round in 1..=3 {
            writeln!(text, "# rbenchstat round {round}").unwrap();
            for row in (0..9).flat_map(|row| [row; 4]) {
                writeln!(
                    text,
                    "BenchmarkRow{row} 1 {} ns/op",
                    1000.0 * change * noise.next()
                )
                .unwrap();
            }
        }
        text
    };
    let ended = gate(&side(1.0), &side(1.03));
    assert_eq!(ended.status, 3, "{ended:?}");
    ended.says("gate could not judge: everything moved alike");
}

#[test]
fn the_documents_name_every_reason_verdict_and_flag() {
    use rbenchstat::judge::{Verdict, obstacle::ObstacleKind};
    let text = include_str!("../docs/gate.md");
    for kind in ObstacleKind::ALL {
        assert!(
            text.contains(&format!("| `{}` |", kind.word())),
            "{}",
            kind.word()
        );
    }
    for verdict in Verdict::ALL {
        assert!(text.contains(verdict.word()), "{verdict}");
    }
    let help = Folder::new(&[]).run("--help").stdout;
    let section = help.split("Verdicts and gate:").nth(1).unwrap();
    let section = section.split("\nOutput:").next().unwrap();
    let flags = section
        .split_whitespace()
        .filter_map(|word| word.strip_prefix("--"));
    for flag in flags {
        assert!(text.contains(&format!("-{flag}")), "-{flag}");
    }
}

#[test]
fn the_waiver_of_the_documents_is_read() {
    let text = include_str!("../docs/gate.md");
    let example = text
        .split("```toml\n")
        .nth(1)
        .unwrap()
        .split("```")
        .next()
        .unwrap();
    let ended = waived(example, BASE);
    assert_eq!(ended.status, 0, "{ended:?}");
    ended.says("waiver on line 1 (Encode/size=1k-8, sec/op, example.com/codec) is stale");
}

#[test]
fn the_same_measurements_on_both_sides_are_no_comparison() {
    let text = input(RUNS, &[("p", "X", &[(100.0, "ns/op"), (3.0, "allocs/op")])]);
    let other = input(
        AGAIN,
        &[("p", "X", &[(100.0, "ns/op"), (3.0, "allocs/op")])],
    );
    let folder = Folder::new(&[("old.txt", &text), ("copy.txt", &text), ("new.txt", &other)]);
    let copied = folder.run("-fail-on regression %old.txt %copy.txt");
    assert_eq!(copied.status, 3);
    copied.says("could not judge: both sides hold the same measurements");
    copied.says("the same measurements on both sides in 1 row: is one a copy of the other, or was it appended to it? (-allow same-values)");
    let allowed = folder.run("-fail-on regression -allow same-values %old.txt %copy.txt");
    assert_eq!(allowed.status, 0, "{}", allowed.stderr);
    // Counts are the same on every run, and say nothing.
    let measured = folder.run("-fail-on regression %old.txt %new.txt");
    assert!(
        !measured.stderr.contains("same measurements"),
        "{}",
        measured.stderr
    );
    let third = folder.run("-fail-on regression %old.txt %new.txt %copy.txt");
    third.says("the same measurements on both sides in 1 row in ");
    // Who asked for no verdict is told as well, once.
    let told = folder.run("%old.txt %copy.txt");
    assert_eq!(told.status, 0);
    told.says("note: copy.txt has the same measurements as the baseline in 1 row: is one a copy of the other");
}

#[test]
fn measurements_appended_to_those_of_the_other_side_are_no_comparison() {
    let old = input(RUNS, &[("p", "X", &[(100.0, "ns/op")])]);
    let again = input(AGAIN, &[("p", "X", &[(100.0, "ns/op")])]);
    for new in [format!("{old}{again}"), format!("{again}{old}")] {
        let folder = Folder::new(&[("old.txt", &old), ("new.txt", &new)]);
        for arguments in ["%old.txt %new.txt", "%new.txt %old.txt"] {
            let ended = folder.run(&format!("-fail-on regression {arguments}"));
            assert_eq!(ended.status, 3, "{}", ended.stderr);
            ended.says("the same measurements on both sides in 1 row");
        }
    }
}

#[test]
fn the_judged_side_does_not_set_the_rules() {
    let old = input(RUNS, &[("p", "X", &[(100.0, "ns/op")])]);
    let slow = input(AGAIN, &[("p", "X", &[(150.0, "ns/op")])]);
    let claim = "Unit ns/op better=higher\n";
    let folder = Folder::new(&[
        ("old.txt", &old),
        ("new.txt", &(claim.to_owned() + &slow)),
        ("said.txt", &(claim.to_owned() + &old)),
        ("slow.txt", &slow),
    ]);
    let claimed = folder.run("-fail-on regression %old.txt %new.txt");
    assert_eq!(claimed.status, 1);
    claimed.says("new.txt says better=higher of ns/op, against the baseline or what is known");
    claimed.says("(-allow unit)");
    // Nothing else is wrong: no answer.
    let fast = folder.run("-fail-on regression %slow.txt %said.txt");
    assert_eq!(fast.status, 3);
    fast.says("could not judge: the judged side sets its own rules");
    // The baseline may, and the flag always.
    let said = folder.run("-fail-on regression %said.txt %slow.txt");
    assert_eq!(said.status, 0, "{}", said.stderr);
    let flag = folder.run("-fail-on regression -better ns/op=higher %old.txt %new.txt");
    assert_eq!(flag.status, 0, "{}", flag.stderr);
    assert!(!flag.stderr.contains("says better"), "{}", flag.stderr);
}

#[test]
fn runs_that_a_line_takes_out_of_the_comparison_are_missed() {
    let old = input(RUNS, &[("p", "X", &[(100.0, "ns/op")])]);
    let slow = input(AGAIN, &[("p", "X", &[(300.0, "ns/op")])]);
    let new = old.replace("100", "101") + "server: listening\n" + &slow;
    let folder = Folder::new(&[("old.txt", &old), ("new.txt", &new)]);
    let split = folder.run("-fail-on regression %old.txt %new.txt");
    assert_eq!(split.status, 3, "{}", split.stderr);
    split.says("server changes within new.txt and takes runs of X-8 out of the comparison: add -ignore server to compare all runs (-allow configuration)");
    assert!(
        !split.stderr.contains("in the same units"),
        "{}",
        split.stderr
    );
    let pooled = folder.run("-fail-on regression -ignore server %old.txt %new.txt");
    assert!(
        !pooled.stderr.contains("out of the comparison"),
        "{}",
        pooled.stderr
    );
    // Both sides have it: every run is compared.
    let both = Folder::new(&[("old.txt", &new), ("new.txt", &new.replace("300", "302"))]);
    let both = both.run("-fail-on regression %old.txt %new.txt");
    assert!(
        !both.stderr.contains("out of the comparison"),
        "{}",
        both.stderr
    );
}

#[test]
fn what_changed_and_is_not_judged_is_named_with_the_flag_that_would() {
    let old = input(
        RUNS,
        &[(
            "p",
            "X",
            &[(100.0, "ns/op"), (70.0, "hit%"), (5.0, "frobs")],
        )],
    );
    let new = input(
        AGAIN,
        &[(
            "p",
            "X",
            &[(100.0, "ns/op"), (20.0, "hit%"), (5.0, "frobs")],
        )],
    );
    let folder = Folder::new(&[("old.txt", &old), ("new.txt", &new)]);
    let ended = folder.run("-fail-on regression %old.txt %new.txt");
    ended.says("note: changed, and not judged: hit% of X-8: nobody said which direction is better: add -better hit%=lower or -better hit%=higher");
    let judged = folder.run("-fail-on regression -better hit%=higher %old.txt %new.txt");
    assert_eq!(judged.status, 1);
    assert!(!judged.stderr.contains("not judged"), "{}", judged.stderr);
}

#[test]
fn settings_that_hit_nothing_or_never_fire_are_told() {
    let old = input(RUNS, &[("p", "X", &[(100.0, "ns/op"), (9.0, "MB/s")])]);
    let new = input(AGAIN, &[("p", "X", &[(100.0, "ns/op"), (9.0, "MB/s")])]);
    let margins =
        "[[margin]]\nbenchmark = \"Gone-8\"\npackage = \"p\"\nunit = \"sec/op\"\nmargin = \"3%\"\n";
    let folder = Folder::new(&[
        ("old.txt", &old),
        ("new.txt", &new),
        ("margins.toml", margins),
        ("none.toml", "waiver = []\n"),
    ]);
    for (flags, message) in [
        (
            "-threshold 5%,alloc/op=0",
            "-threshold: no input has alloc/op; there are sec/op, B/s\n",
        ),
        (
            "-better qps=higher",
            "-better: no input has qps; there are sec/op, B/s\n",
        ),
        (
            "-better ns/op=lower,sec/op=lower",
            "-better: sec/op is named twice: leave one out\n",
        ),
        (
            "-gate-unit ns/op,sec/op",
            "-gate-unit: sec/op is named twice: leave one out\n",
        ),
        (
            "-gate-unit sec/op,",
            "-gate-unit must be a list of units, such as sec/op,B/op: one item of it is empty\n",
        ),
        (
            "-threshold 200%",
            "-threshold: B/s cannot fall by more than 100%, so that a margin of 200% can never fire: give it one of its own, such as B/s=50%\n",
        ),
        (
            "-waivers %none.toml",
            "-waivers: none.toml:1: there is no waiver in it: add a [[waiver]], or leave -waivers out\n",
        ),
    ] {
        let ended = folder.run(&format!("-fail-on regression {flags} %old.txt %new.txt"));
        assert_eq!(ended.status, 2, "{flags}: {}", ended.stderr);
        ended.says(message);
    }
    // A margin of its own makes the general one harmless; without a gate a note is enough.
    let ended = folder.run("-fail-on regression -threshold 200%,B/s=50% %old.txt %new.txt");
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    let shown = folder.run("-format pretty -threshold 5%,alloc/op=0 %old.txt %new.txt");
    assert_eq!(shown.status, 0);
    shown.says("note: -threshold: no input has alloc/op");
    let gone = folder.run("-fail-on regression -threshold @%margins.toml %old.txt %new.txt");
    assert_eq!(gone.status, 0, "{}", gone.stderr);
    gone.says("note: -threshold: 1 of the margins in a file hit nothing: there is no row Gone-8 in sec/op: write the file anew with -noise");
}

#[test]
fn the_worst_value_of_a_unit_said_to_be_exact_decides() {
    let side = |values: [u32; 4]| {
        let mut text = "Unit allocs/op assume=exact\n".to_owned();
        for value in values {
            writeln!(text, "BenchmarkX 1000 {value} allocs/op").unwrap();
        }
        text
    };
    let folder = Folder::new(&[
        ("old.txt", &side([5, 5, 5, 5])),
        ("new.txt", &side([5, 5, 5, 500])),
        ("less.txt", &side([4, 4, 4, 4])),
    ]);
    let worse = folder.run("-fail-on regression %old.txt %new.txt");
    assert_eq!(worse.status, 1);
    worse.says("regression: X, allocs/op: 5.000 → 5.000, +9900.00%");
    worse.says(", from the worst value to the worst, limit ");
    assert_eq!(
        folder.run("-fail-on regression %new.txt %old.txt").status,
        0
    );
    assert_eq!(
        folder.run("-fail-on regression %less.txt %old.txt").status,
        1
    );
}

#[test]
fn a_rate_that_mostly_falls_to_nothing_is_a_regression() {
    let side = |values: [&str; 10]| {
        let lines = values.map(|value| format!("BenchmarkQ 1000 {value} MB/s\n"));
        lines.concat()
    };
    let old = side(["0.01"; 10]);
    let new = side([
        "0.00", "0.00", "0.00", "0.00", "0.00", "0.00", "0.01", "0.01", "0.01", "0.01",
    ]);
    let folder = Folder::new(&[("old.txt", &old), ("new.txt", &new)]);
    let ended = folder.run("-fail-on regression %old.txt %new.txt");
    assert_eq!(ended.status, 1, "{}", ended.stderr);
    assert_eq!(
        folder.run("-fail-on regression %new.txt %old.txt").status,
        0
    );
}

#[test]
fn text_that_nobody_can_be_sure_of_gives_no_answer() {
    let whole = input(RUNS, &[("p", "X", &[(100.0, "ns/op")])]);
    let torn = "BenchmarkY-8\tcalibrating\n     100\t     12.50 ns/op\n   50000\t4500 ns/op\n";
    let utf_16: String = "\u{feff}BenchmarkZ-8 1 2 ns/op\n".to_owned();
    let wide: Vec<u8> = utf_16.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let folder = Folder::new(&[
        ("old.txt", &whole),
        (
            "torn.txt",
            &(input(AGAIN, &[("p", "X", &[(100.0, "ns/op")])]) + torn),
        ),
    ]);
    let ended = folder.run("-fail-on regression %old.txt %torn.txt");
    assert_eq!(ended.status, 3, "{}", ended.stderr);
    ended.says("results torn apart by other output, the first: Y-8");
    let again = input(AGAIN, &[("p", "X", &[(100.0, "ns/op")])]);
    let appended = [again.as_bytes(), &wide].concat();
    std::fs::write(folder.0.path().join("wide.txt"), appended).unwrap();
    let ended = folder.run("-fail-on regression %old.txt %wide.txt");
    assert_eq!(ended.status, 3, "{}", ended.stderr);
    ended.says(&format!(
        "wide.txt:15: from here on, byte {} of the text, its encoding is another one",
        again.len()
    ));
    // The other way round, and one kind of UTF-16 behind the other.
    let old: Vec<u8> = "\u{feff}"
        .encode_utf16()
        .chain(again.encode_utf16())
        .flat_map(u16::to_le_bytes)
        .collect();
    let other: Vec<u8> = utf_16.encode_utf16().flat_map(u16::to_be_bytes).collect();
    for (name, behind, at) in [
        ("back.txt", &utf_16.as_bytes()[3..], 0),
        ("turned.txt", &other, 2),
    ] {
        std::fs::write(folder.0.path().join(name), [&old[..], behind].concat()).unwrap();
        let ended = folder.run(&format!("-fail-on regression %old.txt %{name}"));
        assert_eq!(ended.status, 3, "{}", ended.stderr);
        ended.says(&format!(
            "{name}:15: from here on, byte {} of the text, its encoding is another one",
            old.len() + at
        ));
    }
    // A mark alone, where files were put together, changes nothing.
    let marked = again.replace("pkg: p", "\u{feff}pkg: p");
    folder.add("marked.txt", &marked);
    let ended = folder.run("-fail-on regression %old.txt %marked.txt");
    assert_eq!(ended.status, 0, "{}", ended.stderr);
}
