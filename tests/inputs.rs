//! What people hand over: encodings, broken lines, notes, flags of old scripts, and benchmark text written back.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;

/// What a run prints, and its exit status.
#[derive(Debug, PartialEq)]
struct Run {
    stdout: String,
    stderr: String,
    status: i32,
}

impl Run {
    /// The notes without what stands before each.
    fn notes(&self) -> Vec<&str> {
        let lines = self.stderr.lines();
        lines
            .filter_map(|line| line.strip_prefix("rbenchstat: note: "))
            .collect()
    }
}

/// Runs the program in a folder with these files.
fn run(files: &[(&str, &[u8])], arguments: &[&str]) -> Run {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    let output = Command::new(env!("CARGO_BIN_EXE_rbenchstat"))
        .args(arguments)
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    Run {
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        status: output.status.code().unwrap(),
    }
}

/// The notes on a comparison of two files, which must not change what a quiet run prints.
fn notes_on(old: &str, new: &str, flags: &[&str]) -> Vec<String> {
    let files = [("old.txt", old.as_bytes()), ("new.txt", new.as_bytes())];
    let arguments = [flags, &["old.txt", "new.txt"]].concat();
    let loud = run(&files, &arguments);
    let quiet = run(&files, &[&["-q"], &arguments[..]].concat());
    assert_eq!((&loud.stdout, loud.status), (&quiet.stdout, 0));
    assert_eq!(quiet.notes(), [""; 0], "-q silences notes");
    loud.notes().iter().map(ToString::to_string).collect()
}

/// Results of each name with the values 100, 101 and so on, plus `shift`.
fn results(names: &[&str], runs: usize, shift: usize) -> String {
    let mut text = String::new();
    for name in names {
        for value in 0..runs {
            writeln!(
                text,
                "Benchmark{name} \t 100\t {} ns/op",
                100 + value + shift
            )
            .unwrap();
        }
    }
    text
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

fn utf_16(text: &str, unit: fn(u16) -> [u8; 2]) -> Vec<u8> {
    std::iter::once(0xfeff)
        .chain(text.encode_utf16())
        .flat_map(unit)
        .collect()
}

mod decoding {
    use super::*;

    /// A package's text, cut into pieces as its events have them.
    type Pieces = Vec<String>;

    /// One event a line; pieces of different packages mixed as `order` says.
    fn stream(packages: &[Pieces], order: &[prop::sample::Index], is_old: bool) -> String {
        let mut queues: Vec<_> = packages.iter().map(|pieces| pieces.iter()).collect();
        let mut stream = String::new();
        let field = |package: usize| {
            if is_old {
                String::new()
            } else {
                format!(r#""Package":"p{package}","#)
            }
        };
        for package in 0..packages.len() {
            writeln!(stream, r#"{{{}"Action":"start"}}"#, field(package)).unwrap();
        }
        let mut order = order.iter().cycle();
        while queues.iter().any(|queue| queue.len() > 0) {
            let waiting: Vec<usize> = (0..queues.len())
                .filter(|&at| queues[at].len() > 0)
                .collect();
            let package = *order.next().unwrap().get(&waiting);
            let output = serde_json::to_string(queues[package].next().unwrap()).unwrap();
            let field = field(package);
            writeln!(
                stream,
                r#"{{{field}"Action":"output","Test":"BenchmarkX","Output":{output}}}"#
            )
            .unwrap();
        }
        for package in 0..packages.len() {
            writeln!(
                stream,
                r#"{{{}"Action":"pass","Elapsed":1}}"#,
                field(package)
            )
            .unwrap();
        }
        stream
    }

    fn line() -> impl Strategy<Value = String> {
        prop_oneof![
            4 => ("[XY](/size=[0-9]k)?(-8)?", 1..999_u32, "[0-9]{1,3}(\\.[0-9])?").prop_map(
                |(name, count, value)| format!("Benchmark{name} \t{count:8}\t{value} ns/op\t 16 B/op")
            ),
            1 => "[a-z]{1,4}: [a-zé]{0,3}",
            1 => "Benchmark[XY]",
            1 => "log [a-z😀\"]{0,9}",
            1 => Just("PASS".into()),
        ]
    }

    /// A package's text in pieces that need not end with a line.
    fn package() -> impl Strategy<Value = Pieces> {
        let cuts = prop::collection::vec(any::<prop::sample::Index>(), 0..6);
        (prop::collection::vec(line(), 1..12), cuts).prop_map(|(lines, cuts)| {
            let text = lines.join("\n") + "\n";
            let chars: Vec<char> = text.chars().collect();
            let mut ends: Vec<usize> = cuts.iter().map(|cut| cut.index(chars.len())).collect();
            ends.extend([0, chars.len()]);
            ends.sort_unstable();
            ends.windows(2)
                .map(|ends| chars[ends[0]..ends[1]].iter().collect())
                .collect()
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn every_encoding_of_a_file_reads_the_same(
            packages in prop::collection::vec(package(), 1..4),
            order in prop::collection::vec(any::<prop::sample::Index>(), 1..20),
        ) {
            let text: String = packages.concat().concat();
            let plain = run(&[("x", text.as_bytes())], &["-q", "x"]);
            let joined: Pieces = packages.concat();
            for (encoding, bytes) in [
                ("byte-order mark", [b"\xef\xbb\xbf", text.as_bytes()].concat()),
                ("UTF-16LE", utf_16(&text, u16::to_le_bytes)),
                ("UTF-16BE", utf_16(&text.replace('\n', "\r\n"), u16::to_be_bytes)),
                ("CRLF", text.replace('\n', "\r\n").into_bytes()),
                ("gzip", gzip(text.as_bytes())),
                ("test stream", stream(&packages, &order, false).into_bytes()),
                ("old test stream", stream(&[joined], &order, true).into_bytes()),
                ("test stream from PowerShell, packed", gzip(&utf_16(
                    &stream(&packages, &order, false).replace('\n', "\r\n"), u16::to_le_bytes,
                ))),
            ] {
                let other = run(&[("x", &bytes)], &["-q", "x"]);
                prop_assert_eq!(&other.stdout, &plain.stdout, "{}", encoding);
                prop_assert_eq!(other.status, 0);
            }
        }
    }

    #[test]
    fn stray_zeros_and_invalid_utf_8_are_read_over() {
        let text = b"log \0\0 \xff\xfe\nBenchmarkX 1 5 ns/op\n\0\nBenchmarkY\xff 1 5 ns/op\n";
        let run = run(&[("x.txt", text)], &["-q", "-format", "csv", "x.txt"]);
        assert_eq!(run.status, 0);
        assert!(run.stdout.contains("\nX,5e-09,"), "{}", run.stdout);
        assert!(run.stdout.contains("\nY\u{fffd},5e-09,"), "{}", run.stdout);
    }

    #[test]
    fn packages_of_a_stream_keep_their_own_configuration() {
        let events = [
            ("a", "pkg: a\\n"),
            ("b", "pkg: b\\n"),
            ("a", "BenchmarkX \\t"),
            ("b", "BenchmarkX \\t     100\\t 7 ns/op\\n"),
            ("a", "     100\\t 5 ns/op\\n"),
        ];
        let mut stream = String::new();
        for (package, output) in events {
            let event = r#""Action":"output","Test":"BenchmarkX""#;
            writeln!(
                stream,
                r#"{{{event},"Package":"{package}","Output":"{output}"}}"#
            )
            .unwrap();
        }
        let run = run(&[("x", stream.as_bytes())], &["-q", "x"]);
        assert_eq!(
            run.stdout,
            "\
pkg: a
  │      x       │
  │    sec/op    │
X   5.000n ± ∞ ¹
¹ need >= 6 samples for confidence interval at level 0.95

pkg: b
  │      x       │
  │    sec/op    │
X   7.000n ± ∞ ¹
¹ need >= 6 samples for confidence interval at level 0.95
"
        );
    }

    #[test]
    fn messages_name_the_line_of_the_stream() {
        let stream = concat!(
            "{\"Action\":\"start\",\"Package\":\"a\"}\n",
            "{\"Action\":\"output\",\"Package\":\"a\",\"Output\":\"BenchmarkX 1 5 \"}\n",
            "{\"Action\":\"output\",\"Package\":\"a\",\"Output\":\"ns/op\\nBenchmarkY 1 z ns/op\\n\"}\n",
        );
        let run = run(&[("x", stream.as_bytes())], &["-q", "x"]);
        assert_eq!(run.stderr, "x:3: parsing measurement: invalid syntax\n");
    }

    #[test]
    fn gzip_that_ends_early_stops_the_run_and_says_what_to_do() {
        let mut packed = gzip(results(&["X"], 9, 0).as_bytes());
        packed.truncate(packed.len() - 6);
        let run = run(&[("x.gz", &packed)], &["x.gz"]);
        assert_eq!(run.status, 2);
        assert_eq!(
            run.stderr,
            "rbenchstat: read x.gz: the gzip data ends early: pack or fetch the file again\n"
        );
    }
}

mod broken_lines {
    use super::*;

    /// Between the name of a benchmark that failed and the end there is more than a reader keeps line numbers of.
    #[test]
    fn lines_of_a_long_test_stream_keep_their_numbers() {
        let event = |text: &str| {
            format!("{{\"Action\":\"output\",\"Package\":\"p\",\"Output\":\"{text}\\n\"}}\n")
        };
        let mut stream = event("panic: boom") + &event("BenchmarkX-8 \\t--- FAIL: BenchmarkX-8");
        stream.push_str(&event("more").repeat(300_000));
        stream.push_str(&event("BenchmarkY 1 5 ns/op"));
        let files = [("x", stream.as_bytes())];
        let quiet = run(&files, &["-q", "x"]);
        assert_eq!(
            quiet.stderr,
            "x:2: parsing iteration count: invalid syntax\n"
        );
        let told = run(&files, &["x"]).notes().concat();
        assert!(told.contains("panic (line 1,"), "{told}");
        // That the benchmark failed is allowed, and nothing else is wrong with its line.
        let gated = run(&files, &["-fail-on", "regression", "-allow", "failed", "x"]);
        assert!(!gated.stderr.contains("not understood"), "{}", gated.stderr);
        let selected = run(&files, &["-q", "-format", "bench", "x"]);
        assert_eq!(selected.stderr, quiet.stderr);
    }

    #[test]
    fn a_torn_result_is_joined_with_a_note_instead_of_a_warning() {
        let torn = "BenchmarkX-8  \tlistening\nmore\n     100\t 5 ns/op\n";
        let files = [
            ("x", torn.as_bytes()),
            ("y", &b"BenchmarkX-8 \t 100\t 5 ns/op\n"[..]),
        ];
        let torn = run(&files, &["-format", "csv", "l=x"]);
        let whole = run(&files, &["-q", "-format", "csv", "l=y"]);
        assert_eq!(torn.stdout, whole.stdout);
        assert_eq!(
            torn.stderr
                .lines()
                .filter(|line| !line.starts_with("B3: "))
                .collect::<Vec<_>>(),
            [
                "rbenchstat: note: x:1: joined again 1 result that log output had torn apart, first \
                 BenchmarkX-8: -format bench writes the file mended",
                "rbenchstat: note: too few runs (1) for an interval at confidence level 0.95: run go \
                 test with -count 6 or more",
            ]
        );
    }

    #[test]
    fn what_cannot_be_joined_is_named() {
        let text = "BenchmarkX-8 \tlog\nBenchmarkY-8 \tlog\n     100\t 5 ns/op\n";
        let text = text.to_owned() + &results(&["Z"], 6, 0);
        let run = run(&[("x", text.as_bytes())], &["x"]);
        assert_eq!(
            run.notes(),
            [
                "x:1: left out 2 results that log output has torn apart, first \"X-8\": run go test \
              with -v, which writes results whole"
            ]
        );
    }

    #[test]
    fn failed_benchmarks_panics_and_the_end_of_a_cut_file_are_named() {
        let text = results(&["X"], 6, 0)
            + "BenchmarkA-8 \t\x1b[31m--- FAIL: BenchmarkA-8\x1b[0m\n--- FAIL: BenchmarkB\n"
            + "panic: boom\nexit status 2\nFAIL\tex/a\t0.1s\nFAIL\nBenchmarkX \t 100\t 5 n";
        let run = run(&[("x", text.as_bytes())], &["-filter", ".unit:sec/op", "x"]);
        assert_eq!(
            run.notes(),
            [
                "x: panic changes between results of X (from not set to \"boom\") and looks like log \
                 output, which sets them apart: pool them with -ignore panic",
                "x: 2 benchmarks failed (BenchmarkA-8, BenchmarkB), 1 panic (line 9, \"panic: boom\"), \
              FAIL ex/a (line 11, 2 times in all), exit status 2 (line 10), the last line (13) is cut \
              off: results may be missing; mend it and run go test -bench again"
            ]
        );
    }
}

mod notes {
    use super::*;

    const SIX: usize = 6;

    /// Another run of the same, as no two have the same values.
    fn again(text: &str) -> String {
        text.replace(" 100 ns/op", " 106 ns/op")
    }

    #[test]
    fn nothing_to_remark_is_nothing_said() {
        let text = results(&["X-8"], SIX, 0);
        assert_eq!(notes_on(&text, &again(&text), &[]), [""; 0]);
    }

    #[test]
    fn keys_that_keep_all_rows_apart_are_named_with_the_flag() {
        let body = results(&["X"], SIX, 0);
        let old = format!("commit: abc\ncpu: A  B\n{body}");
        let new = format!("commit: def\ncpu: A B \n{}", again(&body));
        assert_eq!(
            notes_on(&old, &new, &[]),
            [
                "nothing was compared, as no row has both sides: commit is \"abc\" in old.txt and \"def\" \
              in new.txt; cpu is \"A  B\" in old.txt and \"A B \" in new.txt (only blanks differ): \
              compare them all the same with -ignore commit,cpu"
            ]
        );
        assert_eq!(notes_on(&old, &new, &["-ignore", "commit,cpu"]), [""; 0]);
    }

    #[test]
    fn the_flag_to_add_holds_what_was_ignored_before() {
        let body = results(&["X"], SIX, 0);
        let old = format!("commit: abc\ncpu: A\n{body}");
        let new = format!("commit: def\ncpu: B\n{body}");
        let notes = notes_on(&old, &new, &["-ignore", "commit"]);
        assert!(notes[0].ends_with(" with -ignore commit,cpu"), "{notes:?}");
    }

    #[test]
    fn a_key_in_the_table_projection_is_to_be_taken_out_of_it() {
        let body = results(&["X"], SIX, 0);
        let notes = notes_on(
            &format!("commit: abc\n{body}"),
            &format!("commit: def\n{body}"),
            &["-table", "goos commit"],
        );
        assert!(
            notes.iter().any(|note| note.ends_with(" with -table goos")),
            "{notes:?}"
        );
    }

    #[test]
    fn a_log_line_that_reads_as_configuration_is_seen_through() {
        let body = results(&["X"], SIX, 0);
        let old = format!("server: 12:00:01 listening on port 80\n{body}");
        assert_eq!(
            notes_on(&old, &body, &[]),
            [
                "nothing was compared, as no row has both sides: server is \"12:00:01 listening on port \
              80\" in old.txt and not set in new.txt (log output, it seems): compare them all the same \
              with -ignore server"
            ]
        );
    }

    #[test]
    fn a_key_that_changes_between_results_of_a_benchmark_is_named() {
        let text = format!(
            "conn: 1\n{}conn: 2\n{}",
            results(&["X"], SIX, 0),
            results(&["X"], SIX, 1)
        );
        assert_eq!(
            notes_on(&text, &again(&text), &[]),
            [
                "old.txt: conn changes between results of X (from \"1\" to \"2\"), which sets them apart: \
              pool them with -ignore conn, or compare them with -col conn"
            ]
        );
        assert_eq!(notes_on(&text, &again(&text), &["-col", "conn"]), [""; 0]);
    }

    #[test]
    fn names_that_differ_by_their_end_only_are_named() {
        let (old, new) = (
            results(&["X-8", "Y-8"], SIX, 0),
            again(&results(&["X-16", "Y-16"], SIX, 0)),
        );
        assert_eq!(
            notes_on(&old, &new, &[]),
            [
                "nothing was compared, as no row has both sides: names end in -8 in old.txt and in -16 in \
              new.txt: compare them all the same with -ignore /gomaxprocs"
            ]
        );
        assert_eq!(notes_on(&old, &new, &["-ignore", "/gomaxprocs"]), [""; 0]);
    }

    #[test]
    fn some_rows_apart_are_counted_against_all() {
        let old = results(&["X", "Y"], SIX, 0);
        let new = results(&["X"], SIX, 0) + "mode: fast\n" + &results(&["Y"], SIX, 0);
        let notes = notes_on(&old, &again(&new), &[]);
        assert_eq!(
            notes,
            [
                "2 of 3 rows have one side only: mode is not set in old.txt and \"fast\" in new.txt: \
              compare them all the same with -ignore mode"
            ]
        );
    }

    #[test]
    fn keys_that_no_input_has_are_told_with_those_there_are() {
        let text = format!("goos: linux\n{}", results(&["X/size=1/4k-8"], SIX, 0));
        let notes = notes_on(
            &text,
            &again(&text),
            &["-filter", "-goso:x", "-row", "/sise"],
        );
        let known = "there are .file, .name, .fullname, goos, /size, /gomaxprocs";
        assert_eq!(
            notes,
            [
                format!("-filter: no input has goso; {known}"),
                format!(
                    "-row: no input has /sise; {known}; names have parts without a key, such as /4k, \
                     which -filter .fullname:/4k/ matches"
                ),
            ]
        );
    }

    #[test]
    fn why_nothing_is_left_is_told_as_it_is() {
        let nan = "BenchmarkX 1 NaN unit\nBenchmarkX 1 1e308 ns/op +Inf unit\n";
        let fast = results(&["X"], 1, 0);
        let no_number = "what they measured is no finite number, so mend the benchmark";
        let no_value = "a list in -table, -row, -col or -ignore has none of their values";
        for (text, flags, reasons) in [
            (&nan[..22], &[][..], no_number.to_owned()),
            (nan, &["-filter", ".unit:unit"], no_number.to_owned()),
            (
                nan,
                &["-filter", ".name:Y"],
                "-filter .name:Y matches none of them".to_owned(),
            ),
            (
                nan,
                &["-filter", ".unit:B/op"],
                "-filter .unit:B/op matches none of them".to_owned(),
            ),
            (
                nan,
                &["-row", ".name@(Y Z)"],
                format!("{no_number}, or {no_value}"),
            ),
            (&fast, &["-row", ".name@(Y Z)"], no_value.to_owned()),
            (
                &fast,
                &["-row", ".name@(Y Z)", "-filter", ".unit:B/op"],
                format!("-filter .unit:B/op matches none of them, or {no_value}"),
            ),
        ] {
            let run = run(&[("x", text.as_bytes())], &[flags, &["x"]].concat());
            let told = format!("nothing is left of 1 benchmark: {reasons}");
            assert_eq!(run.notes(), [told], "{text} {flags:?}");
        }
    }

    #[test]
    fn the_same_measurements_on_both_sides_are_told() {
        let text = results(&["X"], SIX, 0);
        let told = "new.txt has the same measurements as the baseline in 1 row: is one a copy of the other, or was it appended \
                    to it?";
        assert_eq!(notes_on(&text, &text, &[]), [told]);
        let appended = text.clone() + &again(&text);
        assert!(notes_on(&text, &appended, &[]).contains(&told.to_owned()));
    }

    #[test]
    fn a_filter_that_matches_nothing_is_told() {
        let text = results(&["X"], SIX, 0);
        assert_eq!(
            notes_on(&text, &text, &["-filter", ".name:Z"]),
            ["nothing is left of 2 benchmarks: -filter .name:Z matches none of them"]
        );
    }

    #[test]
    fn benchmarks_on_one_side_are_counted_and_left_out_on_request() {
        let (old, new) = (
            results(&["X", "A", "B"], SIX, 0),
            results(&["X", "C"], SIX, 0),
        );
        let filter = "-filter '-.fullname:(A OR B OR C)'";
        assert_eq!(
            notes_on(&old, &again(&new), &[]),
            [
                format!(
                    "2 benchmarks only in old.txt (A, B), and 1 benchmark only in new.txt (C): leave \
                     out with {filter}"
                ),
                format!(
                    "the geomeans of sec/op are not of the same rows (3 in old.txt, 2 in new.txt, 1 in \
                     both): keep to those in both with {filter}"
                ),
            ]
        );
        assert_eq!(
            notes_on(&old, &again(&new), &["-filter", "-.fullname:(A OR B OR C)"]),
            [""; 0]
        );
    }

    #[test]
    fn no_common_benchmark_at_all_is_told_so() {
        let (old, new) = (results(&["X"], SIX, 0), results(&["Y"], SIX, 0));
        assert_eq!(
            notes_on(&old, &new, &[]),
            [
                "nothing was compared, as no benchmark is on both sides: 1 benchmark only in old.txt (X), \
              and 1 benchmark only in new.txt (Y): run the same go test -bench on both sides"
            ]
        );
    }

    #[test]
    fn a_geomean_over_more_rows_on_the_new_side_is_told_too() {
        let (old, new) = (results(&["X"], SIX, 0), results(&["X", "Y"], SIX, 0));
        let notes = notes_on(&old, &new, &[]);
        assert_eq!(
            notes[1],
            "the geomeans of sec/op are not of the same rows (1 in old.txt, 2 in new.txt, 1 in both): \
             keep to those in both with -filter -.fullname:Y"
        );
    }

    #[test]
    fn too_few_runs_are_told_once_with_the_number_to_use() {
        let (old, new) = (results(&["X"], 3, 0), results(&["X"], 3, 1));
        assert_eq!(
            notes_on(&old, &new, &[]),
            [
                "too few runs (3) for an interval at confidence level 0.95 and for a significant change at \
              alpha 0.05: run go test with -count 6 or more"
            ]
        );
        assert_eq!(
            notes_on(&old, &new, &["-confidence", "1"]),
            [
                "too few runs (3) for an interval at confidence level 1 and for a significant change at \
              alpha 0.05: no usual number is enough, so choose another -confidence"
            ]
        );
    }

    #[test]
    fn unequal_numbers_of_runs_are_told() {
        let (old, new) = (results(&["X"], 8, 0), results(&["X"], 6, 0));
        assert_eq!(
            notes_on(&old, &again(&new), &[]),
            [
                "1 row compared with unequal numbers of runs (X: 8 and 6): run both sides with the same \
              -count"
            ]
        );
    }

    #[test]
    fn a_geomean_of_changes_that_are_all_insignificant_is_told_beyond_the_margin() {
        let old = results(&["X", "Y"], SIX, 0);
        assert_eq!(notes_on(&old, &results(&["X", "Y"], SIX, 1), &[]), [""; 0]);
        let mut new = results(&["X", "Y"], SIX, 0);
        // Slower in half of the runs by far: nothing is significant.
        for (run, line) in results(&["X", "Y"], SIX, 40).lines().enumerate() {
            if run % 2 == 0 {
                new = new.replacen(new.clone().lines().nth(run).unwrap(), line, 1);
            }
        }
        assert_eq!(
            notes_on(&old, &new, &[]),
            [
                "the geomean of sec/op changes, but no row of it does significantly, so that it may be \
                 chance too: a higher -count tells"
            ]
        );
    }

    #[test]
    fn units_on_one_side_are_units_and_not_benchmarks() {
        let new = results(&["X-8", "Y-8"], SIX, 0);
        let old = new.replace(" ns/op", " ns/op 16 B/op 1 allocs/op");
        let of_both = "B/op, allocs/op of X-8, Y-8 only in";
        assert_eq!(
            notes_on(&old, &again(&new), &[]),
            [format!("{of_both} old.txt: run both sides with -benchmem")]
        );
        assert_eq!(
            notes_on(&new, &again(&old), &[]),
            [format!("{of_both} new.txt: run both sides with -benchmem")]
        );
        let renamed = new.replace("ns/op", "wall-us");
        assert_eq!(
            notes_on(&renamed, &new, &[]),
            [
                "nothing was compared, as no benchmark has one unit on both sides: wall-us of X-8, Y-8 only \
                 in old.txt, and sec/op of X-8, Y-8 only in new.txt: report them in the same units on both \
                 sides"
            ]
        );
    }

    #[test]
    fn the_end_of_names_is_not_ignored_where_it_tells_several_apart() {
        let cpu = "run both sides with the same -cpu, as without their ends several names would become one";
        for (old, new, ends) in [
            (
                &["Fib", "Fib-2", "Fib-4"][..],
                &["Fib-8"][..],
                "names end without a number in old.txt and in -8 in new.txt",
            ),
            (
                &["Sort/n-100", "Sort/n-1000"],
                &["Sort/n-100-8", "Sort/n-1000-8"],
                "names end without a number in old.txt and in -8 in new.txt",
            ),
            (
                &["Sort/n-100-8"],
                &["Sort/n-100"],
                "names end in -8 in old.txt and without a number in new.txt",
            ),
        ] {
            let notes = notes_on(&results(old, SIX, 0), &results(new, SIX, 0), &[]);
            assert_eq!(
                notes,
                [format!(
                    "nothing was compared, as no row has both sides: {ends}: {cpu}"
                )]
            );
        }
        // Another key can be ignored all the same, and is.
        let old = "mode: a\n".to_owned() + &results(&["Fib", "Fib-2"], SIX, 0);
        let new = "mode: b\n".to_owned() + &results(&["Fib-8"], SIX, 0);
        let notes = notes_on(&old, &new, &[]);
        assert!(
            notes[0].ends_with(&format!("-ignore mode, and {cpu}")),
            "{notes:?}"
        );
    }

    #[test]
    fn inputs_of_one_run_each_are_given_labels_and_then_compare() {
        for (paths, sides) in [
            (
                ["old0.txt", "old1.txt", "new0.txt", "new1.txt"],
                ["old", "new"],
            ),
            (["a/1.txt", "a/2.txt", "b/1.txt", "b/2.txt"], ["a", "b"]),
            (["v1-1", "v1-2", "v2-1", "v2-2"], ["v1", "v2"]),
        ] {
            let texts: Vec<String> = (0..4).map(|run| results(&["X"], 1, run)).collect();
            let files: Vec<(&str, &[u8])> = paths
                .iter()
                .zip(&texts)
                .map(|(path, text)| (*path, text.as_bytes()))
                .collect();
            let arguments: Vec<String> = paths
                .iter()
                .enumerate()
                .map(|(at, path)| format!("{}={path}", sides[at / 2]))
                .collect();
            let advice = format!(
                "each run is in an input of its own: give those of one side one label, as in rbenchstat {}",
                arguments.join(" ")
            );
            assert!(
                run(&files, &paths).notes().contains(&advice.as_str()),
                "{advice}"
            );
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            let followed = run(&files, &arguments);
            assert!(followed.stdout.contains("n=2"), "{}", followed.stdout);
            assert!(
                !followed.stderr.contains("of its own"),
                "{}",
                followed.stderr
            );
        }
        // Files that are sides of their own get no such advice.
        let text = results(&["X"], 1, 0);
        let files = ["a.txt", "b.txt", "c.txt", "d.txt"].map(|name| (name, text.as_bytes()));
        let others = run(&files, &["a.txt", "b.txt", "c.txt", "d.txt"]);
        assert!(!others.stderr.contains("of its own"), "{}", others.stderr);
    }

    #[test]
    fn inputs_without_results_say_what_they_look_like() {
        let prefix = "x: no benchmark results found in it: ";
        for (content, note) in [
            (&b""[..], "it is empty: did go test run, and with -bench?"),
            (
                "X-8   1.5n \u{b1} 2%   ~ (p=0.1 n=6)\n".as_bytes(),
                "it looks like a comparison, not like results: name the files that go test -bench wrote",
            ),
            (
                b"{\"benchmarks\": []}\n",
                "it looks like the JSON report of another tool: name the output of go test -bench, as \
                 text or with -json",
            ),
            (
                b"PK\x03\x04\x14\0",
                "it is a zip archive: unpack it, and name what is in it",
            ),
            (
                b"{\"Action\":\"start\",\"Package\":\"a\"}\n",
                "it is a go test -json stream without any: run go test with -bench",
            ),
            (
                b"PASS\nok  \ta\t0.1s\n",
                "it looks like test output: run go test with -bench",
            ),
            (
                b"--- FAIL: BenchmarkX\nFAIL\n",
                "1 benchmark failed (BenchmarkX): mend what fails, or choose others with go test -bench",
            ),
            (
                b"hello\n",
                "results are lines such as BenchmarkX-8 100 5 ns/op: run go test with -bench",
            ),
        ] {
            let run = run(&[("x", content)], &["x"]);
            assert_eq!(run.notes(), [format!("{prefix}{note}")]);
            assert_eq!((run.stdout.as_str(), run.status), ("", 0));
        }
    }

    #[test]
    fn there_are_five_notes_at_most() {
        let inputs: Vec<String> = (0..9).map(|number| number.to_string()).collect();
        let files: Vec<(&str, &[u8])> = inputs
            .iter()
            .map(|name| (name.as_str(), &b""[..]))
            .collect();
        let arguments: Vec<&str> = inputs.iter().map(String::as_str).collect();
        assert_eq!(run(&files, &arguments).notes().len(), 5);
    }
}

#[path = "inputs/advice.rs"]
mod advice;

mod flags_and_files {
    use super::*;

    #[test]
    fn a_report_does_not_replace_what_the_run_reads() {
        let text = results(&["X"], 6, 0);
        let waivers = "[[waiver]]\nbenchmark = \"X\"\npackage = \"\"\nunit = \"ns/op\"\nceiling = \"5%\"\nexpires = 2099-01-01\nreason = \"r\"\n";
        let margins =
            "[[margin]]\nbenchmark = \"X\"\npackage = \"\"\nunit = \"sec/op\"\nmargin = \"3%\"\n";
        let files: [(&str, &[u8]); 3] = [
            ("old.txt", text.as_bytes()),
            ("waivers.toml", waivers.as_bytes()),
            ("margins.toml", margins.as_bytes()),
        ];
        for (out, flags) in [
            ("./old.txt", &[][..]),
            ("./waivers.toml", &["-waivers", "waivers.toml"]),
            ("./margins.toml", &["-threshold", "1%,@margins.toml"]),
        ] {
            let out_flag = format!("json={out}");
            let run = run(
                &files,
                &[&["-out", &out_flag], flags, &["old.txt"]].concat(),
            );
            assert_eq!((run.stdout.as_str(), run.status), ("", 2));
            assert_eq!(
                run.stderr,
                format!(
                    "rbenchstat: -out: {out} is read, and the report would replace it: name another file\n"
                )
            );
        }
    }

    #[test]
    fn nothing_named_and_nothing_at_standard_input_is_wrong_usage() {
        let run = run(&[], &[]);
        assert_eq!((run.stdout.as_str(), run.status), ("", 2));
        let usage = "rbenchstat [FLAGS] OLD NEW";
        assert!(run.stderr.contains(usage), "{}", run.stderr);
    }

    /// A run on two files with these flags.
    fn with(flags: &[&str]) -> Run {
        let (old, new) = (results(&["X"], 6, 0), results(&["X"], 6, 1));
        let head = "pkg: a\nnote: n\n";
        let files = [
            ("old.txt", head.to_owned() + &old),
            ("new.txt", head.to_owned() + &new),
        ];
        let files: Vec<(&str, &[u8])> = files
            .iter()
            .map(|(name, text)| (*name, text.as_bytes()))
            .collect();
        run(&files, &[flags, &["old.txt", "new.txt"]].concat())
    }

    #[test]
    fn old_flags_with_a_counterpart_do_the_same() {
        for (old, new) in [
            (&["-csv"][..], &["-format", "csv"][..]),
            (&["-csv=true"], &["-format", "csv"]),
            (&["-csv=false", "-geomean", "-html=false"], &[]),
            (&["-html"], &["-format", "html"]),
            (&["-split", "pkg"], &["-table", "pkg"]),
            (&["-delta-test", "none"], &["-alpha", "1"]),
            (&["-delta-test=utest"], &[]),
            (&["-delta-test", "u-test"], &[]),
            (&["-delta-test", "U"], &[]),
            (&["-delta-test", "MannWhitney"], &[]),
        ] {
            assert_eq!(with(old), with(new), "{old:?}");
        }
    }

    #[test]
    fn alpha_a_little_above_1_means_1_and_far_above_is_a_mistake() {
        let above = with(&["-alpha", "1.1"]);
        assert_eq!(above.stdout, with(&["-alpha", "1"]).stdout);
        assert_eq!(
            above.notes()[0],
            "-alpha 1.1 is taken for 1, at which every change is shown: write 1"
        );
        let mistaken = with(&["-alpha", "5"]);
        assert_eq!((mistaken.stdout.as_str(), mistaken.status), ("", 2));
        assert_eq!(
            mistaken.stderr,
            "rbenchstat: -alpha must be in range [0, 1]\n"
        );
    }

    #[test]
    fn old_flags_without_a_counterpart_name_what_to_do() {
        for (flags, message) in [
            (
                &["-norange"][..],
                "-norange is no more: leave it out; in -format csv the ranges are columns of their own, \
                 called CI",
            ),
            (
                &["-delta-test", "ttest"],
                "-delta-test ttest is no more: leave it out for the U test, or use -alpha 1 for no test",
            ),
            (
                &["-delta-test=x"],
                "-delta-test must be utest or none, not \"x\"",
            ),
        ] {
            let run = with(flags);
            assert_eq!((run.stdout.as_str(), run.status), ("", 2));
            assert_eq!(run.stderr, format!("rbenchstat: {message}\n"));
        }
    }

    #[test]
    fn a_file_named_like_a_flag_is_told_from_one() {
        let text = results(&["X"], 6, 0);
        let files = [("-old.txt", text.as_bytes())];
        let refused = run(&files, &["-old.txt"]);
        assert_eq!(
            (refused.stderr.as_str(), refused.status),
            (
                "rbenchstat: -old.txt is taken for a flag: to read the file, write ./-old.txt\n",
                2
            )
        );
        assert_eq!(run(&files, &["./-old.txt"]).status, 0);
        assert_eq!(run(&files, &["--", "-old.txt"]).status, 0);
    }

    #[test]
    fn an_argument_with_an_equals_sign_that_is_a_file_is_one() {
        let (one, other) = (results(&["X"], 6, 0), results(&["Y"], 6, 0));
        let files = [
            ("count=6/x.txt", one.as_bytes()),
            ("b.txt", other.as_bytes()),
        ];
        let whole = run(&files, &["count=6/x.txt"]);
        assert!(
            whole.stdout.contains("│ count=6/x.txt │"),
            "{}",
            whole.stdout
        );
        // Where the part behind it is one too, it is a label, as it always was.
        let files = [("a=b.txt", one.as_bytes()), ("b.txt", other.as_bytes())];
        let label = run(&files, &["a=b.txt"]);
        assert!(label.stdout.contains("\nY "), "{}", label.stdout);
    }

    #[test]
    fn what_cannot_be_read_is_told_and_stops_the_run() {
        for (argument, message) in [
            ("no.txt", "open no.txt: no such file or directory"),
            (
                "d",
                "read d: is a directory: name the files in it, such as d/*.txt",
            ),
            ("l=no.txt", "open no.txt: no such file or directory"),
        ] {
            let run = run(&[("d/x.txt", b"")], &[argument]);
            assert_eq!((run.stdout.as_str(), run.status), ("", 2));
            assert_eq!(run.stderr, format!("rbenchstat: {message}\n"));
        }
    }
}

mod benchmark_text {
    use super::*;

    #[test]
    fn results_that_are_joined_one_after_the_other_are_no_errors() {
        let text = "BenchmarkX-8 \tlog\n     100\t 5 ns/op\n".repeat(3);
        let run = run(
            &[("torn", text.as_bytes())],
            &["-q", "-format", "bench", "torn"],
        );
        assert_eq!(run.stdout.matches("5.000 ns/op").count(), 3);
        assert_eq!((run.stderr.as_str(), run.status), ("", 0));
    }

    #[test]
    fn selected_results_are_written_with_configuration_where_it_changes() {
        let old = "goos: linux\npkg: a\nBenchmarkX-8 \t 100\t 5 ns/op\t 7 B/op\nlog\n\
                   BenchmarkX-8 \t 100\t 6 ns/op\nUnit B/op assume=exact\n";
        let new =
            "pkg: b\nBenchmarkX-8 \tlog\n     100\t0.5 ns/op\nBenchmarkY-8 \t 100\t 6 ns/op\n";
        let files = [("old.txt", old.as_bytes()), ("new.txt", new.as_bytes())];
        let run = run(
            &files,
            &[
                "-q", "-format", "bench", "-filter", ".name:X", "old.txt", "new.txt",
            ],
        );
        assert_eq!(
            run.stdout,
            "\
goos: linux
pkg: a
BenchmarkX-8\t     100\t         5.000 ns/op\t       7 B/op
BenchmarkX-8\t     100\t         6.000 ns/op
Unit B/op assume=exact
goos:
pkg: b
BenchmarkX-8\t     100\t         0.5000 ns/op
"
        );
        assert_eq!((run.stderr.as_str(), run.status), ("", 0));
    }

    #[test]
    fn ignored_keys_are_left_out() {
        let text = "goos: linux\nlog: 12:00\nBenchmarkX \t 100\t 5 ns/op\n";
        let run = run(
            &[("x", text.as_bytes())],
            &["-format=bench", "-ignore", "log", "x"],
        );
        assert_eq!(
            run.stdout,
            "goos: linux\nBenchmarkX\t     100\t         5.000 ns/op\n"
        );
    }

    #[test]
    fn warnings_on_lines_bring_no_control_characters_to_the_terminal() {
        let text = b"Unit n\x1b[31ms better=higher\nUnit n\x1b[31ms better=lower\nBenchmarkX 1 NaN n\x1b[31ms\n";
        for arguments in [&["x"][..], &["-format", "csv", "x"]] {
            let run = run(&[("x", text)], arguments);
            assert!(run.stderr.contains(r"n\u{1b}[31ms"), "{}", run.stderr);
            assert!(!run.stderr.contains('\u{1b}'), "{}", run.stderr);
        }
        let missing = run(&[], &["gone\u{1b}[31m.txt"]);
        assert!(
            missing
                .stderr
                .starts_with(r"rbenchstat: open gone\u{1b}[31m.txt: "),
            "{}",
            missing.stderr
        );
    }

    #[test]
    fn a_gate_and_further_reports_are_refused() {
        for (flags, named) in [
            (
                &["-fail-on", "regression"][..],
                "-fail-on, -self-test and -noise",
            ),
            (&["-out", "html=x.html"], "-out"),
            (&["-sort", "delta"], "-sort"),
            (&["-limit", "1"], "-limit"),
            (&["-changed-only"], "-changed-only"),
            (&["-color", "always"], "-color"),
        ] {
            let arguments = [&["-format", "bench", "x"], flags].concat();
            let run = run(&[("x", b"BenchmarkX 1 5 ns/op\n")], &arguments);
            assert_eq!((run.stdout.as_str(), run.status), ("", 2));
            assert_eq!(
                run.stderr,
                format!("rbenchstat: -format bench compares nothing: leave out {named}\n")
            );
        }
    }

    #[test]
    fn a_selection_of_nothing_is_told() {
        let run = run(
            &[("x", b"BenchmarkX 1 5 ns/op\n")],
            &["-format", "bench", "-filter", ".name:Z", "x"],
        );
        assert_eq!(run.stdout, "");
        assert_eq!(
            run.notes(),
            ["nothing is left of 1 benchmark: -filter .name:Z matches none of them"]
        );
    }

    #[test]
    fn what_is_written_without_a_result_of_the_input_is_no_success() {
        let good = "BenchmarkX 1 5 ns/op\n";
        let event = r#"{"Action":"output","Package":"p","Output":"BenchmarkX 1 5 ns/op\n"}"#;
        for (bad, count) in [
            ("BenchmarkX 1 z ns/op\n", 1),
            ("BenchmarkX 1 1e400 ns/op\nBenchmarkX 1 5\n", 2),
            ("BenchmarkX 99999999999999999999 5 ns/op\n", 1),
            ("BenchmarkX 0 0 ns/op\n", 1),
            ("[a] BenchmarkX 1 5 ns/op\n", 1),
            (
                "BenchmarkY \tlog\n     100\t 5 ns/op\n     100\t 6 ns/op\n",
                1,
            ),
            ("\0B\0e\0n\0c\0h\0m\0a\0r\0k\0X\n", 1),
        ] {
            let text = format!("{good}{bad}");
            let files = [("x", text.as_bytes())];
            let run = run(&files, &["-format", "bench", "x"]);
            assert_eq!(
                run.stdout, "BenchmarkX\t       1\t         5.000 ns/op\n",
                "{bad}"
            );
            let told = format!("rbenchstat: x: {count} of its results could not be written");
            assert!(run.stderr.contains(&told), "{bad}: {}", run.stderr);
            assert_eq!(run.status, 2, "{bad}");
        }
        let stream = format!("{event}\n{}\n", &event[..50]);
        let damaged = run(&[("x", stream.as_bytes())], &["-format", "bench", "x"]);
        assert_eq!(damaged.status, 2, "{}", damaged.stderr);
        // What is no result may be left out.
        for other in [
            "Benchmarking is fun\n",
            "Benchmark results follow\n",
            "BenchmarkY \t--- FAIL: BenchmarkY\n",
            "BenchmarkY\n",
            "Unit ns/op x\n",
            "BenchmarkConcat 523 68.6 -86.88%\n",
            "BenchmarkY \tlog\n     100\t 5 ns/op\n",
        ] {
            let text = format!("{good}{other}");
            let run = run(&[("x", text.as_bytes())], &["-format", "bench", "x"]);
            assert_eq!(run.status, 0, "{other}: {}", run.stderr);
        }
    }

    #[test]
    fn carriage_returns_at_ends_of_lines_are_none_of_the_text() {
        let text = "goos: linux\npkg: a\nBenchmarkX-8 \t 100\t 5 ns/op\nUnit ns/op assume=exact\n\
                    BenchmarkY-8 \tlog\n     100\t 5 ns/op\nPASS\n";
        for end in ["\r\n", "\r\r\n", "\r\r\r\n"] {
            let returned = text.replace('\n', end);
            for flags in [
                &["-q"][..],
                &["-q", "-format", "bench"],
                &["-q", "-format", "csv"],
            ] {
                let arguments = [flags, &["x"]].concat();
                let with = run(&[("x", returned.as_bytes())], &arguments);
                assert_eq!(with, run(&[("x", text.as_bytes())], &arguments), "{end:?}");
            }
            let sides = [
                ("old.txt", text.as_bytes()),
                ("new.txt", returned.as_bytes()),
            ];
            let compared = run(&sides, &["-q", "old.txt", "new.txt"]);
            assert!(compared.stdout.contains("n=1"), "{}", compared.stdout);
        }
    }

    fn line() -> impl Strategy<Value = String> {
        let value = prop_oneof![
            "-?[0-9]{1,4}(\\.[0-9]{1,3})?(e-?[0-9]{1,2})?",
            Just("0".to_owned()),
            Just("0x1p4".to_owned()),
        ];
        let unit = prop_oneof![
            Just("ns/op"),
            Just("B/op"),
            Just("MB/s"),
            Just("ns/op·x"),
            Just("widgets")
        ];
        let measurements = prop::collection::vec((value, unit), 1..4);
        prop_oneof![
            6 => ("[XYé](/size=[0-9]k)?(/a)?(-8)?", 1..999_u32, measurements).prop_map(
                |(name, count, measurements)| measurements.iter().fold(
                    format!("Benchmark{name} \t{count:8}"),
                    |line, (value, unit)| format!("{line}\t{value} {unit}"),
                )
            ),
            2 => "[a-c]{1}: [xyzé ]{0,3}",
            1 => "Unit (B/op|widgets) (assume=exact|better=higher|x=)",
            1 => "log [a-z]{0,9}",
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn benchmark_text_compares_as_what_it_was_made_from(
            lines in prop::collection::vec(line(), 1..40),
            flags in prop::sample::select(vec![
                vec![],
                vec!["-filter", ".name:X"],
                vec!["-filter", ".unit:(sec/op OR B/op) -/size:0k"],
                vec!["-col", "a"],
                vec!["-col", "/size@(1k 2k)", "-ignore", "b"],
            ]),
        ) {
            let text = lines.join("\n") + "\n";
            let files = [("x", text.as_bytes())];
            let selected = run(&files, &[&["-q", "-format", "bench", "x"], &flags[..]].concat());
            let again = run(&[("x", selected.stdout.as_bytes())], &[&["-q", "x"], &flags[..]].concat());
            let direct = run(&files, &[&["-q", "x"], &flags[..]].concat());
            prop_assert_eq!(&again.stdout, &direct.stdout, "{}", selected.stdout);
        }
    }
}

#[test]
fn a_torn_result_with_blanks_for_tabs_is_joined() {
    let text = "BenchmarkMap-4                  N=100.\nN=10000.\n 1486742               718 ns/op          11.14 MB/s\n";
    let joined = run(&[("map.txt", text.as_bytes())], &["map.txt"]);
    assert!(joined.stdout.contains("Map-4"), "{}", joined.stderr);
}

#[test]
fn the_output_of_an_older_comparison_holds_no_results() {
    let text = "benchmark           old ns/op     new ns/op     delta\nBenchmarkConcat     523           68.6          -86.88%\n";
    let told = run(&[("cmp.txt", text.as_bytes())], &["cmp.txt"]);
    assert_eq!((told.stdout.as_str(), told.status), ("", 0));
    assert!(
        told.stderr
            .starts_with("cmp.txt:2: this is the output of a comparison and no result"),
        "{}",
        told.stderr
    );
}
