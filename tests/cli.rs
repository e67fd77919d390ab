//! The program as a process: exit statuses, messages, streams.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use tempfile::TempDir;

/// How a run ended.
#[derive(Debug)]
struct Run {
    status: i32,
    stdout: String,
    stderr: String,
}

impl Run {
    /// What is on standard error but for the program's hints.
    fn messages(&self) -> String {
        let is_note = |line: &str| line.starts_with("rbenchstat: note: ");
        let lines = self.stderr.split_inclusive('\n');
        lines.filter(|line| !is_note(line)).collect()
    }
}

/// A folder with files to run the program in.
struct Bench(TempDir);

impl Bench {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(folder.path().join(name), text).unwrap();
        }
        Self(folder)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rbenchstat"));
        command.args(arguments).current_dir(self.0.path());
        command
    }

    fn run(&self, arguments: &[&str]) -> Run {
        self.run_with("", arguments)
    }

    fn run_with(&self, stdin: &str, arguments: &[&str]) -> Run {
        let mut child = self
            .command(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut pipe = child.stdin.take().unwrap();
        thread::scope(|scope| {
            // A program that fails early need not read all of it.
            scope.spawn(move || pipe.write_all(stdin.as_bytes()));
            let output = child.wait_with_output().unwrap();
            Run {
                status: output.status.code().unwrap(),
                stdout: String::from_utf8(output.stdout).unwrap(),
                stderr: String::from_utf8(output.stderr).unwrap(),
            }
        })
    }
}

const OLD: &str = "BenchmarkX 1 10 ns/op\nBenchmarkX 1 11 ns/op\n";
const NEW: &str = "BenchmarkX 1 20 ns/op\nBenchmarkX 1 21 ns/op\n";

fn old_and_new() -> Bench {
    Bench::new(&[("old.txt", OLD), ("new.txt", NEW)])
}

#[test]
fn two_files_are_compared_with_status_0() {
    let run = old_and_new().run(&["old.txt", "new.txt"]);
    assert_eq!((run.status, run.messages().as_str()), (0, ""));
    assert!(run.stdout.contains("p=0.333 n=2"), "{}", run.stdout);
}

#[test]
fn a_missing_file_is_fatal_and_nothing_is_printed() {
    let run = old_and_new().run(&["old.txt", "missing.txt"]);
    assert_eq!((run.status, run.stdout.as_str()), (2, ""));
    assert_eq!(
        run.stderr,
        "rbenchstat: open missing.txt: no such file or directory\n"
    );
}

#[test]
fn a_table_that_is_mostly_empty_says_how_to_get_a_useful_one() {
    let bench = old_and_new();
    let names: Vec<String> = (0..8).map(|file| format!("{file}.txt")).collect();
    for name in &names {
        let text = format!("BenchmarkOf{name} 1 5 ns/op\nBenchmarkOfAll 1 5 ns/op\n").repeat(6);
        fs::write(bench.0.path().join(name), text).unwrap();
    }
    let arguments: Vec<&str> = names.iter().map(String::as_str).collect();
    let run = bench.run(&arguments);
    let note = "rbenchstat: note: 9 rows and 8 columns share only 16 cells, so that the table is mostly empty: give the \
                inputs of each side one label, as in old=FILE old=FILE new=FILE, or name two inputs at a time\n";
    assert!(run.stderr.contains(note), "{}", run.stderr);
    assert!(!run.stderr.contains("only in"), "{}", run.stderr);
    let run = bench.run(&arguments[..7]);
    assert!(!run.stderr.contains("mostly empty"), "{}", run.stderr);
}

#[test]
fn a_directory_is_no_input() {
    let bench = old_and_new();
    fs::create_dir(bench.0.path().join("folder")).unwrap();
    let run = bench.run(&["folder"]);
    assert_eq!((run.status, run.stdout.as_str()), (2, ""));
    assert!(run.stderr.contains("folder: "), "{}", run.stderr);
}

#[test]
fn an_empty_file_is_told_on_standard_error_unless_quiet() {
    let bench = Bench::new(&[("empty.txt", "")]);
    let run = bench.run(&["empty.txt"]);
    assert_eq!((run.status, run.stdout.as_str()), (0, ""));
    assert!(
        run.stderr.starts_with("rbenchstat: note: empty.txt: "),
        "{}",
        run.stderr
    );
    let run = bench.run(&["--quiet", "empty.txt"]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
}

#[test]
fn wrong_flags_and_values_have_status_2_and_name_the_flag() {
    let bench = old_and_new();
    for (arguments, part) in [
        (&["--no-such-flag", "old.txt"][..], "-no-such-flag"),
        (&["-nosuch", "old.txt"], "-nosuch"),
        (&["-format", "xml", "old.txt"], "-format"),
        (
            &["-alpha", "2", "old.txt"],
            "-alpha must be in range [0, 1]",
        ),
        (&["-alpha", "x", "old.txt"], "-alpha"),
        (
            &["-confidence=-1", "old.txt"],
            "-confidence must be in range [0, 1]",
        ),
        (
            &["-filter", "(", "old.txt"],
            "parsing -filter: syntax error: ",
        ),
        (&["-row", "@", "old.txt"], "parsing -row: syntax error: "),
        (&["--generate", "poetry"], "poetry"),
        (&["old.txt", "-col"], "-col needs a value: -col PROJECTION"),
    ] {
        let run = bench.run(arguments);
        assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{arguments:?}");
        assert!(run.stderr.contains(part), "{arguments:?}: {}", run.stderr);
    }
}

#[test]
fn flags_take_one_dash_or_two_a_blank_or_an_equals_sign_before_files_or_after() {
    let bench = old_and_new();
    let wanted = bench.run(&["--format", "csv", "old.txt", "new.txt"]);
    assert!(wanted.stdout.starts_with(",old.txt,"), "{}", wanted.stdout);
    for arguments in [
        &["-format", "csv", "old.txt", "new.txt"][..],
        &["-format=csv", "old.txt", "new.txt"],
        &["--format=csv", "old.txt", "new.txt"],
        &["old.txt", "new.txt", "-format", "csv"],
        &["old.txt", "-format=csv", "new.txt"],
        &[
            "-format", "text", "-format", "csv", "--", "old.txt", "new.txt",
        ],
    ] {
        let run = bench.run(arguments);
        assert_eq!(
            (run.status, run.stdout),
            (0, wanted.stdout.clone()),
            "{arguments:?}"
        );
    }
}

#[test]
fn two_dashes_end_the_flags() {
    let bench = Bench::new(&[("-format", OLD)]);
    let run = bench.run(&["--", "-format"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(run.stdout.contains("-format"), "{}", run.stdout);
}

#[test]
fn standard_input_is_read_without_a_name_as_a_dash_and_under_a_label() {
    let bench = old_and_new();
    for (arguments, label) in [
        (&[][..], "-"),
        (&["-"], "-"),
        (&["now=-"], "now"),
        (&["-row", ".name"], "-"),
    ] {
        let run = bench.run_with(OLD, arguments);
        assert_eq!(
            (run.status, run.messages().as_str()),
            (0, ""),
            "{arguments:?}"
        );
        let header = run.stdout.lines().next().unwrap();
        assert!(
            header.split(['│', ' ']).any(|word| word == label),
            "{arguments:?}: {header}"
        );
    }
    let run = bench.run_with(NEW, &["old.txt", "-"]);
    assert!(run.stdout.contains("p=0.333 n=2"), "{}", run.stdout);
}

#[test]
fn the_first_of_two_dashes_is_standard_input_and_the_second_finds_its_end() {
    let bench = old_and_new();
    // Whichever thread comes first.
    for _ in 0..20 {
        let run = bench.run_with(NEW, &["first=-", "old.txt", "second=-"]);
        let header = run.stdout.lines().next().unwrap();
        assert!(header.contains("first"), "{header}");
        assert!(!header.contains("second"), "{header}");
        assert!(
            run.stderr.contains("-: no benchmark results found in it"),
            "{}",
            run.stderr
        );
    }
}

#[test]
fn a_p_of_exactly_1_is_significant_at_level_1() {
    let results = |values: [u32; 4]| -> String {
        let line = |value| format!("BenchmarkX 1 {value} ns/op\n");
        values.map(line).concat()
    };
    // U is in the very middle of its range: no p is larger.
    let bench = Bench::new(&[
        ("old.txt", &results([1, 4, 5, 8])),
        ("new.txt", &results([2, 3, 6, 7])),
    ]);
    let run = bench.run(&["-alpha", "1", "old.txt", "new.txt"]);
    assert!(run.stdout.contains("0.00% (p=1.000 n=4)"), "{}", run.stdout);
}

#[test]
fn labels_name_columns_and_pool_files_under_one_name() {
    let bench = old_and_new();
    let run = bench.run(&["before=old.txt", "after=new.txt"]);
    let header = run.stdout.lines().next().unwrap();
    assert!(
        header.contains("before") && header.contains("after"),
        "{header}"
    );
    let run = bench.run(&["-format=csv", "all=old.txt", "all=new.txt"]);
    assert!(run.stdout.contains("X,1.55e-08,"), "{}", run.stdout);
    let run = bench.run(&["-format=csv", "old.txt", "old.txt"]);
    assert!(
        run.stdout.starts_with(",old.txt#0,,old.txt#1"),
        "{}",
        run.stdout
    );
}

#[test]
fn malformed_lines_are_warned_of_with_their_place_and_the_rest_counts() {
    let text = "BenchmarkX 1 10 ns/op\nBenchmarkX 1 ten ns/op\nUnit\n";
    let run = Bench::new(&[("a.txt", text)]).run(&["label=a.txt"]);
    assert_eq!(run.status, 0);
    assert_eq!(
        run.messages(),
        "a.txt:2: parsing measurement: invalid syntax\na.txt:3: missing unit\n"
    );
    assert!(run.stdout.contains("10.00n"), "{}", run.stdout);
}

#[test]
fn values_that_are_not_finite_are_left_out_with_a_sentence() {
    let text = "BenchmarkX 1 NaN ns/op 7 B/op\nBenchmarkX 1 10 ns/op +Inf B/op\nBenchmarkX 1 12 ns/op 8 B/op\n";
    let run = Bench::new(&[("a.txt", text)]).run(&["-format=csv", "a.txt"]);
    assert_eq!(run.status, 0);
    for place in ["a.txt:1: ", "a.txt:2: "] {
        let line = run
            .stderr
            .lines()
            .find(|line| line.starts_with(place))
            .unwrap();
        assert!(line.contains("not a finite number"), "{line}");
    }
    assert!(run.stdout.contains("X,1.1"), "{}", run.stdout);
    assert!(run.stdout.contains("X,7.5,"), "{}", run.stdout);
}

#[test]
fn lines_longer_than_64_kib_are_read() {
    let name = "x".repeat(100_000);
    let text = format!(
        "note: {}\nBenchmark{name} 1 10 ns/op\n",
        "y".repeat(300_000)
    );
    let run = Bench::new(&[("a.txt", &text)]).run(&["-table=", "a.txt"]);
    assert_eq!((run.status, run.messages().as_str()), (0, ""));
    assert!(run.stdout.contains(&name));
}

#[test]
fn csv_warnings_go_to_standard_error_with_their_cells() {
    let run = old_and_new().run(&["-format=csv", "old.txt", "new.txt"]);
    assert!(
        run.stderr.starts_with("B3: need >= 6 samples"),
        "{}",
        run.stderr
    );
    assert!(!run.stdout.contains("need"));
}

#[test]
fn a_reader_that_goes_away_ends_the_run_quietly() {
    // More than a pipe holds, so that some of it is written after the reader is gone.
    let mut text = String::new();
    for number in 0..20_000 {
        text += "BenchmarkX";
        text += &number.to_string();
        text += " 1 10 ns/op
";
    }
    let bench = Bench::new(&[("a.txt", &text)]);
    let mut child = bench
        .command(&["--quiet", "a.txt"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0; 16];
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_exact(&mut first).unwrap();
    drop(stdout);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn an_output_that_cannot_be_written_is_fatal() {
    let Ok(full) = File::options().write(true).open("/dev/full") else {
        println!("skipped: no /dev/full here to stand for a full disk");
        return;
    };
    let output = old_and_new()
        .command(&["old.txt", "new.txt"])
        .stdin(Stdio::null())
        .stdout(full)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
        .wait_with_output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        message.starts_with("rbenchstat: write standard output: "),
        "{message}"
    );
}

#[test]
fn help_has_every_flag_with_its_default_in_groups_and_an_example() {
    let bench = old_and_new();
    let run = bench.run(&["--help"]);
    assert_eq!((run.status, run.messages().as_str()), (0, ""));
    for part in [
        "Tells whether a change made Go benchmarks faster or slower.",
        "Usage: rbenchstat",
        "Input:",
        "Comparison:",
        "Statistics:",
        "Output:",
        "Examples:",
        "rbenchstat old.txt new.txt",
        "Exit status:",
    ] {
        assert!(run.stdout.contains(part), "{part} is missing");
    }
    for (flag, default) in [
        ("--filter", "[default: *]"),
        ("--table", "[default: .config]"),
        ("--row", "[default: .fullname]"),
        ("--col", "[default: .file]"),
        ("--ignore", "[default: \"\"]"),
        ("--alpha", "[default: 0.05]"),
        ("--confidence", "[default: 0.95]"),
        ("--format", "[default: text]"),
    ] {
        let (_, after) = run.stdout.split_once(&format!("{flag} <")).unwrap();
        let own = after.split("\n      --").next().unwrap();
        assert!(own.contains(default), "{flag}: {own}");
    }
    let completions = bench.run(&["--generate", "fish"]).stdout;
    let words: Vec<&str> = completions.split_whitespace().collect();
    let flags: Vec<&str> = words
        .windows(2)
        .filter(|pair| pair[0] == "-l")
        .map(|pair| pair[1])
        .collect();
    assert!(flags.len() >= 12, "{flags:?}");
    for flag in flags {
        let long = format!("--{flag}");
        assert!(run.stdout.contains(&long), "{long} is missing");
    }
    for arguments in [&["-help"][..], &["-q", "--help"]] {
        let run = bench.run(arguments);
        assert_eq!(run.status, 0, "{arguments:?}");
        assert!(run.stdout.contains("--confidence"), "{arguments:?}");
    }
    let run = bench.run(&["-h"]);
    assert_eq!((run.status, run.messages().as_str()), (0, ""));
    assert!(run.stdout.lines().count() <= 24, "{}", run.stdout);
    let run = bench.run(&["run", "-h"]);
    assert!(run.stdout.contains("--benchtime"), "{}", run.stdout);
    assert!(!run.stdout.contains("--fail-on"), "{}", run.stdout);
}

#[test]
fn what_is_wrong_with_arguments_is_one_line_that_names_the_flag() {
    let bench = old_and_new();
    for (arguments, message) in [
        (
            "-json",
            "there is no flag -json; for that format write -format json",
        ),
        ("-colr x", "there is no flag -colr; did you mean -color?"),
        (
            "-limit 0",
            "-limit must be a whole number from 1 on, not \"0\"",
        ),
        (
            "-limit -1",
            "-limit must be a whole number from 1 on, not \"-1\"",
        ),
        (
            "-max-bytes x",
            "-max-bytes must be a whole number from 1 on, not \"x\"",
        ),
        (
            "-max-unpacked 1z",
            "-max-unpacked must be a whole number with B, KiB, MiB, GiB or TiB behind it, such as 1GiB, not \"1z\"",
        ),
        ("-quiet=maybe", "-quiet takes no value"),
        (
            "-csv -format json",
            "-csv and -format exclude each other: leave one out",
        ),
        (
            "-out json=missing/a.json",
            "write missing/a.json: no such file or directory: make the folder missing first",
        ),
    ] {
        let arguments: Vec<&str> = arguments.split(' ').chain(["old.txt", "new.txt"]).collect();
        let run = bench.run(&["-q"].iter().copied().chain(arguments).collect::<Vec<_>>());
        let wanted = format!("rbenchstat: {message}\n");
        assert_eq!((run.status, run.stderr), (2, wanted));
    }
    let run = bench.run(&["run", "-count", "0"]);
    let wanted = "rbenchstat: -count must be from 1 to 1000000, not \"0\"\n";
    assert_eq!((run.status, run.stderr.as_str()), (2, wanted));
    let run = bench.run(&["."]);
    assert_eq!(
        run.stderr,
        "rbenchstat: read .: is a directory: name the files in it, such as ./*.txt\n"
    );
}

#[test]
fn completions_offer_flags_with_one_dash() {
    let bench = old_and_new();
    for (shell, part) in [
        ("bash", " -format "),
        ("zsh", "\n'-format=["),
        ("fish", "-o format "),
        ("elvish", "cand -format "),
        ("powershell", "'-format', '-format'"),
    ] {
        let script = bench.run(&["--generate", shell]).stdout;
        assert!(script.contains(part), "{shell}");
        assert!(!script.contains('\u{1}'), "{shell}");
    }
}

#[test]
fn lines_of_help_are_filled() {
    let run = old_and_new().run(&["--help"]);
    let paragraph: Vec<&str> = run
        .stdout
        .lines()
        .skip(2)
        .take_while(|line| !line.is_empty())
        .collect();
    let (_, filled) = paragraph.split_last().unwrap();
    assert!(filled.iter().all(|line| line.len() > 60), "{paragraph:#?}");
}

#[test]
fn the_version_is_that_of_the_package() {
    for flag in ["--version", "-version", "-V"] {
        let run = old_and_new().run(&[flag]);
        let wanted = format!("rbenchstat {}\n", env!("CARGO_PKG_VERSION"));
        assert_eq!((run.status, run.stdout), (0, wanted), "{flag}");
    }
}

#[test]
fn completions_and_the_manual_page_name_every_flag() {
    for (what, sign) in [
        ("bash", "complete -F"),
        ("zsh", "#compdef rbenchstat"),
        ("fish", "complete -c rbenchstat"),
        ("elvish", "rbenchstat"),
        ("powershell", "Register-ArgumentCompleter"),
        ("man", ".TH rbenchstat 1"),
    ] {
        let run = old_and_new().run(&["--generate", what]);
        assert_eq!((run.status, run.messages().as_str()), (0, ""), "{what}");
        assert!(run.stdout.contains(sign), "{what}");
        for flag in [
            "filter",
            "table",
            "row",
            "col",
            "ignore",
            "alpha",
            "confidence",
            "format",
        ] {
            assert!(run.stdout.contains(flag), "{what}: {flag}");
        }
    }
}

/// The peak memory of a run over a pipe that brings `lines` result lines of
/// one benchmark each time filtered away, in KiB; nothing where it cannot be known.
fn peak_memory(lines: usize) -> Option<u64> {
    let bench = Bench::new(&[]);
    let mut child = bench
        .command(&["-filter", ".name:Y"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let line =
        "BenchmarkX 1 10 ns/op                                                              \n";
    let block = line.repeat(1000);
    for _ in 0..lines / 1000 {
        pipe.write_all(block.as_bytes()).unwrap();
    }
    // Still alive, as its input has not ended.
    let status = fs::read_to_string(
        Path::new("/proc")
            .join(child.id().to_string())
            .join("status"),
    )
    .ok();
    drop(pipe);
    child.wait().unwrap();
    let peak = status?
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:").map(str::to_owned))?;
    peak.trim().trim_end_matches(" kB").parse().ok()
}

#[test]
fn memory_does_not_grow_with_the_length_of_the_text() {
    let (Some(short), Some(long)) = (peak_memory(1000), peak_memory(200_000)) else {
        println!("skipped: the system does not tell the peak memory of a process");
        return;
    };
    // 16 MB of text; keeping a tenth of it would show.
    assert!(
        long < short + 1500,
        "{short} KiB for a short text, {long} KiB for a long one"
    );
}

#[test]
fn a_report_does_not_replace_the_file_at_standard_input() {
    let bench = old_and_new();
    let input = File::open(bench.0.path().join("old.txt")).unwrap();
    let mut command = bench.command(&["-out", "json=old.txt"]);
    let output = command.stdin(input).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "rbenchstat: -out: old.txt is read, and the report would replace it: name another file\n"
    );
    let left = fs::read_to_string(bench.0.path().join("old.txt")).unwrap();
    assert_eq!(left, OLD);
}

#[cfg(unix)]
#[test]
fn called_as_benchstat_its_messages_have_that_name() {
    let bench = old_and_new();
    let link = bench.0.path().join("benchstat");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_rbenchstat"), &link).unwrap();
    let run = |arguments: &[&str]| {
        let output = Command::new(&link)
            .args(arguments)
            .current_dir(bench.0.path())
            .output()
            .unwrap();
        String::from_utf8(output.stderr).unwrap()
    };
    assert_eq!(
        run(&["missing.txt"]),
        "benchstat: open missing.txt: no such file or directory\n"
    );
    assert!(run(&["old.txt", "new.txt"]).starts_with("benchstat: note: too few runs"));
    let gated = run(&["-fail-on", "regression", "old.txt", "new.txt"]);
    assert!(gated.starts_with("benchstat: note"), "{gated}");
    assert!(
        gated.contains("\nbenchstat: gate could not judge"),
        "{gated}"
    );
}

#[test]
fn a_word_that_an_argument_does_not_take_is_told_with_those_that_it_does() {
    let bench = old_and_new();
    for (arguments, message) in [
        (
            "-format prety",
            "rbenchstat: -format must be text or csv\nrbenchstat: note: did you mean pretty? The formats are text, csv, pretty, markdown, \
             comment, json, jsonl, html, github, bench\n",
        ),
        (
            "-fail-on regresion",
            "rbenchstat: -fail-on must be regression, unproven or change, not \"regresion\"; did you mean regression?\n",
        ),
        (
            "-allow removed,faild",
            "rbenchstat: -allow must be environment, shift, control, same-values, unit, configuration, nothing-compared, empty-input, failed, removed, syntax, too-few-runs or suspect, \
             not \"faild\"; did you mean failed?\n",
        ),
        (
            "--color=maybe",
            "rbenchstat: -color must be auto, always or never, not \"maybe\"\n",
        ),
    ] {
        let arguments: Vec<&str> = arguments.split(' ').chain(["old.txt", "new.txt"]).collect();
        let run = bench.run(&arguments);
        assert_eq!((run.status, run.stderr.as_str()), (2, message));
    }
}

#[test]
fn blanks_around_the_items_of_a_list_are_no_part_of_them() {
    let run = old_and_new().run(&["-allow", "removed , failed", "-q", "old.txt", "new.txt"]);
    assert!(!run.stderr.contains("must be"), "{}", run.stderr);
}

#[test]
fn completions_offer_the_words_of_each_flag() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = old_and_new().run(&["--generate", shell]).stdout;
        let words = [
            "jsonl",
            "bench",
            "unproven",
            "too-few-runs",
            "-delta",
            "holm",
        ];
        // Those two complete flags, and leave values to the shell.
        if !matches!(shell, "elvish" | "powershell") {
            for word in words {
                assert!(script.contains(word), "{shell} does not know {word}");
            }
        }
    }
}
