//! The program from arguments to output, and its output read back by rbenchstat.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::AtomicBool;

use bench_harness::cli::run;
use bench_harness::streams::Streams;
use rbenchstat::record::reader::{Reader, Record};

struct Ran {
    status: u8,
    stdout: String,
    stderr: String,
}

fn bench_harness(arguments: &[&str]) -> Ran {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let status = run(
        ["bench-harness"]
            .iter()
            .chain(arguments)
            .map(OsString::from),
        &mut Streams {
            stdout: &mut stdout,
            stderr: &mut stderr,
            stderr_is_terminal: false,
            stop: &AtomicBool::new(false),
        },
    );
    Ran {
        status,
        stdout: String::from_utf8(stdout).expect("UTF-8"),
        stderr: String::from_utf8(stderr).expect("UTF-8"),
    }
}

fn succeeds(arguments: &[&str]) -> Ran {
    let ran = bench_harness(arguments);
    assert_eq!(ran.status, 0, "{arguments:?}\n{}{}", ran.stdout, ran.stderr);
    ran
}

/// Unit → value of one line.
type Measurements = BTreeMap<String, f64>;

/// Name and lines, in order of first appearance.
type Results = Vec<(String, Vec<Measurements>)>;

/// The results and the configuration of the last one, as rbenchstat reads
/// them. Every line must be a result, configuration or a comment.
fn read(text: &str) -> (Results, BTreeMap<String, String>) {
    let mut reader = Reader::new(text.as_bytes(), "x");
    let mut results = Results::new();
    let mut configuration = BTreeMap::new();
    let mut count = 0;
    while let Some((line, record)) = reader.next_record().expect("reads from memory") {
        let Record::Result(result) = record else {
            panic!("line {line} is no result")
        };
        count += 1;
        let name = result.name().to_string();
        let measurements = result
            .measurements()
            .map(|one| (one.unit.to_string(), one.value))
            .collect();
        configuration = result
            .configuration()
            .iter()
            .map(|(key, value)| (key.to_string(), value.to_string()))
            .collect();
        match results.iter_mut().find(|(there, _)| *there == name) {
            Some((_, lines)) => lines.push(measurements),
            None => results.push((name, vec![measurements])),
        }
    }
    let lines = text
        .lines()
        .filter(|line| line.starts_with("Benchmark"))
        .count();
    assert_eq!(count, lines, "the reader saw every line");
    (results, configuration)
}

#[test]
fn all_six_cases_run_and_read_back_in_order() {
    let ran = succeeds(&[
        "-bench",
        "AuthorizeRequest",
        "-count=2",
        "-benchtime",
        "60x",
        "-benchmem",
        "-percentiles",
        "50,99",
        "-cpu",
        "2",
        "-warmup",
        "1ms",
    ]);
    let (results, configuration) = read(&ran.stdout);
    let names: Vec<&str> = results.iter().map(|(name, _)| name.as_str()).collect();
    let expected: Vec<String> = ["minimal", "with-body", "jwt-validation"]
        .iter()
        .flat_map(|scenario| {
            ["no", "with"].map(|log| format!("AuthorizeRequest/{scenario}/{log}-decision-logs"))
        })
        .flat_map(|stem| [format!("{stem}-2"), format!("{stem}/P50-2")])
        .collect();
    assert_eq!(names, expected);
    for (name, lines) in &results {
        assert_eq!(lines.len(), 2, "{name}");
        let units: Vec<&str> = lines[0].keys().map(String::as_str).collect();
        if name.contains("/P50") {
            assert_eq!(units, ["ns/op"], "{name}");
        } else if name.contains("/no-") {
            let signatures = name.contains("/jwt").then_some("signature-ns/op");
            let expected: Vec<&str> = ["B/op", "allocs/op", "ns/op"]
                .into_iter()
                .chain(signatures)
                .collect();
            assert_eq!(units, expected, "{name}");
        } else {
            assert!(units.contains(&"dropped-events/op"), "{name}");
            assert!(units.contains(&"rescales/op"), "{name}");
            assert!(units.contains(&"upload-B/op"), "{name}");
        }
        assert!(lines.iter().all(|line| line["ns/op"] > 0.0), "{name}");
    }
    let keys: Vec<&str> = configuration.keys().map(String::as_str).collect();
    assert!(
        keys.iter()
            .all(|key| ["cpu", "goarch", "goos", "pkg"].contains(key)),
        "{keys:?}"
    );
    // P99 needs 1,000 operations.
    assert!(ran.stdout.contains("/P99-2 left out: 60 operations"));
    assert!(ran.stderr.contains("left out"));
    for text in [
        "seed 1",
        "engine rvm",
        "regorus 0.14.1",
        "allocator",
        "buffer_type=size",
    ] {
        assert!(ran.stdout.contains(text), "{text}");
    }
}

#[test]
fn both_engines_and_both_buffers_run_every_scenario_with_a_consumer() {
    for engine in ["interpreter", "rvm"] {
        for buffer in ["size", "event"] {
            let settings = format!("buffer_type={buffer}");
            let ran = succeeds(&[
                "-bench=Authorize/./with",
                "-benchtime=40x",
                "-warmup=1ms",
                "-cpu=1",
                "-engine",
                engine,
                "-settings",
                &settings,
                "--consumer",
            ]);
            let rows: Vec<&str> = ran
                .stderr
                .lines()
                .filter(|line| line.starts_with("AuthorizeRequest/"))
                .collect();
            assert_eq!(rows.len(), 3, "{}", ran.stderr);
            for row in rows {
                // accepted, uploaded, …, what the consumer has.
                let cells: Vec<&str> = row.split_whitespace().collect();
                assert_eq!(cells[1], cells[2], "{row}");
                assert_eq!(cells[1], cells[10], "{row}");
            }
        }
    }
}

#[test]
fn the_example_of_an_own_policy_runs() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("policies");
    let ran = succeeds(&[
        "--bundle",
        root.join("example").to_str().unwrap(),
        "--decision",
        "shop/authz/allow",
        "--requests",
        root.join("example-requests.jsonl").to_str().unwrap(),
        "-benchtime=40x",
        "-cpu=1",
        "-percentiles=",
    ]);
    let (results, _) = read(&ran.stdout);
    let names: Vec<&str> = results.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        [
            "AuthorizeRequest/example/no-decision-logs",
            "AuthorizeRequest/example/with-decision-logs"
        ]
    );
}

#[test]
fn an_own_policy_that_is_wrong_says_file_and_line() {
    let directory = tempfile::tempdir().unwrap();
    let bundle = directory.path().join("bundle");
    fs::create_dir(&bundle).unwrap();
    let requests = directory.path().join("r.jsonl");
    let good_policy = "package a\ndefault allow = false\nallow if input.parsed_path == [\"x\"]\n";
    let good_request = r#"{"method": "GET", "path": "/x", "expected": true}"#;
    let bad_policy = "package a\nallow if {\n";
    let wrong_request = r#"{"method": "GET", "path": "/y", "expected": true}"#;
    let undefined = "package a\nallow if input.nothing\n";
    for (policy, request, message) in [
        (bad_policy, good_request, "p.rego:3:"),
        (
            good_policy,
            wrong_request,
            "r.jsonl:2: the decision for GET /y is false, expected allowed",
        ),
        (good_policy, "{", "r.jsonl:2: "),
        (
            undefined,
            good_request,
            "r.jsonl:1: data.a.allow is undefined",
        ),
    ] {
        fs::write(bundle.join("p.rego"), policy).unwrap();
        fs::write(&requests, format!("{good_request}\n{request}\n")).unwrap();
        let ran = bench_harness(&[
            "--bundle",
            bundle.to_str().unwrap(),
            "--decision=a/allow",
            "--requests",
            requests.to_str().unwrap(),
        ]);
        assert_eq!(ran.status, 2);
        assert!(ran.stderr.contains(message), "{message}: {}", ran.stderr);
        assert!(!ran.stdout.contains("Benchmark"), "{}", ran.stdout);
    }
}

#[test]
fn masking_and_dropping_by_policy_run_and_are_counted() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("policies");
    for (file, dropped) in [("mask.rego", false), ("drop.rego", true)] {
        let ran = succeeds(&[
            "-bench=Authorize/minimal/with",
            "-benchtime=500x",
            "-cpu=1",
            "--consumer",
            "--log-policy",
            root.join(file).to_str().unwrap(),
        ]);
        let (results, _) = read(&ran.stdout);
        let share = results[0].1[0]["dropped-events/op"];
        if dropped {
            // Items are drawn evenly: about half of them are odd.
            assert!((0.4..0.6).contains(&share), "{share}");
        } else {
            assert_eq!(share, 0.0);
        }
    }
}

#[test]
fn an_open_loop_says_its_rate() {
    let ran = succeeds(&[
        "-bench=Authorize/minimal/no",
        "-rate=2000",
        "-benchtime=200ms",
        "-cpu=1",
        "-percentiles=50",
    ]);
    let (results, _) = read(&ran.stdout);
    let (name, lines) = &results[0];
    assert_eq!(
        name,
        "AuthorizeRequestAtRate/minimal/no-decision-logs/rate=2000"
    );
    assert!(
        (1_000.0..=2_100.0).contains(&lines[0]["ops/s"]),
        "{lines:?}"
    );
    assert!(!lines[0].contains_key("ns/op"));
    assert!(results[1].0.ends_with("/rate=2000/P50"));
}

#[test]
fn compare_writes_two_files_and_prints_both_comparisons() {
    let directory = tempfile::tempdir().unwrap();
    let output = directory.path().join("out");
    let ran = succeeds(&[
        "compare",
        "-old",
        "buffer_type=size",
        "-new",
        "buffer_type=event",
        "-bench=Authorize/minimal",
        "-count=2",
        "-benchtime=100x",
        "-cpu=1",
        "-percentiles=50",
        "--consumer",
        "-o",
        output.to_str().unwrap(),
    ]);
    let control = ran.stdout.find("\nControl").unwrap();
    let logged = ran.stdout.find("\nWith decision logs").unwrap();
    assert!(logged < control);
    assert!(
        ran.stdout[logged..control].contains("AuthorizeRequest/minimal/with-decision-logs/P50")
    );
    assert!(!ran.stdout[logged..control].contains("no-decision-logs"));
    assert!(ran.stdout[control..].contains("AuthorizeRequest/minimal/no-decision-logs"));
    for (file, buffer) in [
        ("old.txt", "buffer_type=size"),
        ("new.txt", "buffer_type=event"),
    ] {
        let text = fs::read_to_string(output.join(file)).unwrap();
        assert!(text.contains(buffer));
        let (results, _) = read(&text);
        assert_eq!(results.len(), 4);
        assert!(results.iter().all(|(_, lines)| lines.len() == 2));
    }
    let left: Vec<_> = fs::read_dir(&output).unwrap().collect();
    assert_eq!(left.len(), 2, "no temporary file stays");
}

#[test]
fn compare_runs_two_programs() {
    let directory = tempfile::tempdir().unwrap();
    let output = directory.path().join("out");
    let program = env!("CARGO_BIN_EXE_bench-harness");
    succeeds(&[
        "compare",
        "--old-bin",
        program,
        "--new-bin",
        program,
        "-bench=Authorize/with-body/no",
        "-count=3",
        "-benchtime=50x",
        "-warmup=1ms",
        "-cpu=1",
        "-percentiles=50,99",
        "-o",
        output.to_str().unwrap(),
    ]);
    for file in ["old.txt", "new.txt"] {
        let text = fs::read_to_string(output.join(file)).unwrap();
        let (results, configuration) = read(&text);
        assert_eq!(results[0].1.len(), 3);
        assert_eq!(configuration["pkg"], "bench-harness");
        assert!(text.contains("/P99 left out"));
    }
}

#[test]
fn wrong_arguments_say_what_would_be_right() {
    for (arguments, message) in [
        (vec!["-bench=minimal"], "a slash before a scenario"),
        (vec!["-benchtime=3"], "write 100ms, 3s or 1m30s"),
        (vec!["-percentiles=101"], "-percentiles"),
        (
            vec!["-settings=buffer_type=x"],
            "the types are size and event",
        ),
        (vec!["-rate=-1"], "-rate"),
        (vec!["-upload-to=https://127.0.0.1"], "only http"),
        (vec!["--bundle=x"], "--requests"),
        (vec!["compare", "--old=a=b"], "--new"),
        (vec!["--bundle=/nowhere", "--requests=/nowhere"], "/nowhere"),
        (vec!["-consumer-fail=0"], "write 2"),
    ] {
        let ran = bench_harness(&arguments);
        assert_eq!(ran.status, 2, "{arguments:?}");
        assert!(
            ran.stderr.contains(message),
            "{arguments:?}: {}",
            ran.stderr
        );
        assert_eq!(ran.stdout, "", "{arguments:?}");
    }
}

#[test]
fn list_has_a_sentence_for_every_benchmark() {
    let ran = succeeds(&["list"]);
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(lines.len(), 18);
    for pair in lines.chunks(2) {
        assert!(pair[0].starts_with("Benchmark"), "{}", pair[0]);
        assert!(
            pair[1].starts_with("    ") && pair[1].ends_with('.'),
            "{}",
            pair[1]
        );
    }
}

#[test]
fn an_interrupted_run_keeps_what_it_has() {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let stop = AtomicBool::new(true);
    let status = run(
        ["bench-harness", "-bench=Authorize/minimal"].map(OsString::from),
        &mut Streams {
            stdout: &mut stdout,
            stderr: &mut stderr,
            stderr_is_terminal: false,
            stop: &stop,
        },
    );
    assert_eq!(status, 130);
    let text = String::from_utf8(stdout).unwrap();
    assert!(text.contains("goos: "));
    assert!(
        text.ends_with("# interrupted: the rest was not measured\n"),
        "{text}"
    );
}

/// An output that fails at the first text with this start.
struct FailsAt(&'static str, io::ErrorKind);

impl Write for FailsAt {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        if text.starts_with(self.0.as_bytes()) {
            return Err(self.1.into());
        }
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn into_failing(stdout: &mut FailsAt) -> (u8, String) {
    let mut stderr = Vec::new();
    let status = run(
        "bench-harness -bench EmptyFilter/minimal -benchtime 20x -warmup 1ms -count 2"
            .split(' ')
            .map(OsString::from),
        &mut Streams {
            stdout,
            stderr: &mut stderr,
            stderr_is_terminal: false,
            stop: &AtomicBool::new(false),
        },
    );
    (status, String::from_utf8(stderr).expect("UTF-8"))
}

#[test]
fn a_closed_pipe_ends_the_run_quietly_wherever_it_closes() {
    for start in ["# ", "goos", "Benchmark"] {
        let mut stdout = FailsAt(start, io::ErrorKind::BrokenPipe);
        assert_eq!(into_failing(&mut stdout), (0, String::new()), "{start}");
    }
}

#[test]
fn a_full_disk_is_an_error_wherever_it_is_full() {
    for start in ["# ", "goos", "Benchmark"] {
        let mut stdout = FailsAt(start, io::ErrorKind::StorageFull);
        let (status, stderr) = into_failing(&mut stdout);
        assert_eq!(status, 2, "{start}");
        assert!(stderr.starts_with("bench-harness: "), "{stderr}");
    }
}
