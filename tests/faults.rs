//! What goes wrong around the program: full disks, closed pipes, odd files and hostile inputs.
//!
//! Each ends with a status and a sentence, within bounded memory, and its output is whole or absent.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use flate2::{Compression, write::GzEncoder};
use rbenchstat::cli::Surroundings;
use tempfile::TempDir;

#[path = "common/in_process.rs"]
mod in_process;

/// The formats of a report, and benchmark text last, which is no report.
const FORMATS: &[&str] = &[
    "text", "csv", "pretty", "markdown", "comment", "json", "jsonl", "html", "bench",
];

/// The formats that `-out` takes.
fn report_formats() -> &'static [&'static str] {
    &FORMATS[..FORMATS.len() - 1]
}

const PROGRAM: &str = env!("CARGO_BIN_EXE_rbenchstat");

/// Tells of tests that need what only Linux has.
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn is_linux() -> bool {
    let is_linux = cfg!(target_os = "linux");
    if !is_linux {
        eprintln!("skipped: needs files and limits that only Linux has");
    }
    is_linux
}

/// The program under a limit of its address space.
fn within(mebibytes: u32) -> Command {
    let mut command = Command::new("sh");
    let kibibytes = (mebibytes * 1024).to_string();
    command.args(["-c", "ulimit -v \"$0\" && exec \"$@\"", &kibibytes, PROGRAM]);
    command
}

fn status(output: &Output) -> i32 {
    output.status.code().expect("ended by itself")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// An input that is not accepted: nothing is printed, and standard error says all of `told`.
fn is_refused(output: &Output, told: &[&str]) {
    assert_eq!(status(output), 2);
    assert!(output.stdout.is_empty());
    let found = stderr(output);
    for part in told {
        assert!(found.contains(part), "no {part:?} in {found}");
    }
}

#[test]
fn a_line_of_a_million_units_is_left_out_within_bounded_memory() {
    if !is_linux() {
        return;
    }
    let units: String = (0..1_000_000_u32)
        .map(|unit| [" 5 unit", &unit.to_string()].concat())
        .collect();
    let text = format!("BenchmarkWide 1{units}\n{}", results(8));
    let (_folder, path) = folder_with("x.txt", text);
    let output = within(256).arg(&path).output().expect("it starts");
    let told = stderr(&output);
    assert!(
        told.contains("x.txt:1: the input has more than 65536 different units"),
        "{told}"
    );
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(shown.contains("X-8"), "{shown}");
    assert_eq!(status(&output), 0);
    // A gate does not pass over it.
    let gated = within(256)
        .args(["-fail-on", "regression"])
        .args([&path, &path])
        .output()
        .expect("it starts");
    assert_eq!(status(&gated), 3, "{}", stderr(&gated));
    // One unit as often does no harm.
    let repeated = "BenchmarkLong 1".to_owned() + &" 5 ns/op".repeat(1_000_000) + "\n";
    let (_folder, path) = folder_with("y.txt", repeated);
    let output = within(256).arg(&path).output().expect("it starts");
    assert_eq!(
        (status(&output), stderr(&output).contains("left out")),
        (0, false)
    );
}

fn results(count: usize) -> String {
    let lines = (0..count).map(|run| format!("BenchmarkX-8 1 {} ns/op\n", 100 + run % 7));
    lines.collect()
}

fn folder_with(name: &str, text: impl AsRef<[u8]>) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(name);
    fs::write(&path, text).expect("a file");
    (folder, path)
}

fn full() -> Stdio {
    OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .expect("a full device")
        .into()
}

/// Runs with pieces of text as standard input, as many as the program takes.
fn fed(mut command: Command, pieces: impl Iterator<Item = Vec<u8>> + Send) -> Output {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    thread::scope(|scope| {
        scope.spawn(move || {
            for piece in pieces {
                if stdin.write_all(&piece).is_err() {
                    return;
                }
            }
        });
        child.wait_with_output().expect("the program ends")
    })
}

/// Runs with `close` called before there is any input.
fn run_after(format: &str, input: &str, close: fn(&mut Child)) -> Output {
    let (_folder, base) = folder_with("base.txt", results(8));
    let mut child = Command::new(PROGRAM)
        .arg(format!("-format={format}"))
        .args([base.as_os_str(), "x=-".as_ref()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    close(&mut child);
    stdin
        .write_all(input.as_bytes())
        .expect("the program reads");
    drop(stdin);
    child.wait_with_output().expect("the program ends")
}

/// Runs in this process, where arguments may be longer than an operating system takes them.
fn told(arguments: &[&str]) -> (u8, String) {
    let arguments = arguments.iter().map(OsString::from);
    let stdin = &b"BenchmarkX 1 5 ns/op\n"[..];
    let run = in_process::run(arguments, stdin, Surroundings::default());
    assert!(run.status == 0 || run.stdout.is_empty());
    (run.status, run.stderr)
}

#[test]
fn a_full_disk_is_told_and_ends_with_status_2() {
    if !is_linux() {
        return;
    }
    let (_folder, path) = folder_with("a.txt", results(8));
    for format in FORMATS {
        let output = Command::new(PROGRAM)
            .arg(format!("-format={format}"))
            .args([&path, &path])
            .stdout(full())
            .output()
            .expect("the program starts");
        assert_eq!(status(&output), 2, "{format}");
        let told = stderr(&output);
        assert!(
            told.contains("rbenchstat: write standard output: "),
            "{told}"
        );
        assert!(
            told.to_lowercase().contains("no space left on device"),
            "{told}"
        );
    }
}

#[test]
fn a_further_report_on_a_full_disk_is_told_and_ends_with_status_2() {
    if !is_linux() {
        return;
    }
    let (_folder, path) = folder_with("a.txt", results(8));
    for format in report_formats() {
        let output = Command::new(PROGRAM)
            .arg(format!("-out={format}=/dev/full"))
            .args([&path, &path])
            .output()
            .expect("the program starts");
        assert_eq!(status(&output), 2, "{format}");
        assert!(output.stdout.is_empty(), "{format}");
        let told = stderr(&output).to_lowercase();
        assert!(told.contains("/dev/full"), "{told}");
        assert!(told.contains("no space left on device"), "{told}");
    }
}

#[test]
fn a_further_report_is_whole_or_what_was_there_before() {
    if !is_linux() {
        return;
    }
    let mut text = String::new();
    for name in 0..200 {
        text += &results(6).replace('X', &format!("X{name}"));
    }
    // All rows changed, so that every report has something to say of each.
    let slower = text.replace(" 1 1", " 1 2");
    let (folder, path) = folder_with("a.txt", text);
    let new = folder.path().join("b.txt");
    fs::write(&new, slower).expect("a file");
    for format in report_formats() {
        let report = folder.path().join(format);
        fs::write(&report, "the one before").expect("a file");
        // A file of a kibibyte is as large as one gets; the signal for that is ignored.
        let output = Command::new("sh")
            .args([
                "-c",
                "trap '' XFSZ; ulimit -f 2; exec \"$@\"",
                "sh",
                PROGRAM,
            ])
            .arg("-all")
            .arg(format!("-out={format}={}", report.display()))
            .args([&path, &new])
            .output()
            .expect("the program starts");
        assert_eq!(status(&output), 2, "{format}: {}", stderr(&output));
        assert!(output.stdout.is_empty(), "{format}");
        assert!(
            stderr(&output).contains(&*report.to_string_lossy()),
            "{}",
            stderr(&output)
        );
        let kept = fs::read_to_string(&report).expect("a file");
        assert_eq!(kept, "the one before", "{format}");
        fs::remove_file(report).expect("a file");
    }
    let left = fs::read_dir(folder.path()).expect("a folder").count();
    assert_eq!(left, 2, "nothing but the inputs is left");
}

#[test]
fn help_and_completions_for_a_full_disk_end_with_status_2() {
    if !is_linux() {
        return;
    }
    for argument in ["--help", "--version", "--generate=man", "--generate=bash"] {
        let output = Command::new(PROGRAM)
            .arg(argument)
            .stdout(full())
            .output()
            .expect("the program starts");
        assert_eq!(status(&output), 2, "{argument}");
    }
}

#[test]
fn warnings_that_cannot_be_written_end_the_run_before_the_report() {
    if !is_linux() {
        return;
    }
    let (_folder, path) = folder_with("a.txt", format!("BenchmarkX 1 q x\n{}", results(8)));
    let run = |format: &str, stderr: Stdio| {
        Command::new(PROGRAM)
            .arg(format!("-format={format}"))
            .args([&path, &path])
            .stderr(stderr)
            .output()
            .expect("the program starts")
    };
    for format in report_formats() {
        let output = run(format, full());
        assert_eq!(status(&output), 2, "{format}");
        assert!(output.stdout.is_empty(), "{format}");
        let whole = run(format, Stdio::null());
        assert_eq!(status(&whole), 0, "{format}");
        assert!(!whole.stdout.is_empty(), "{format}");
    }
}

#[test]
fn a_reader_of_the_report_may_go_away() {
    for format in FORMATS {
        let output = run_after(format, &results(8), |child| drop(child.stdout.take()));
        assert_eq!(status(&output), 0, "{format}: {}", stderr(&output));
        assert!(
            !stderr(&output).contains("write standard output"),
            "{format}"
        );
    }
}

#[test]
fn a_report_is_whole_or_absent_when_nobody_reads_the_warnings() {
    let input = format!("BenchmarkX 1 q x\n{}", results(8));
    for format in report_formats() {
        let whole = run_after(format, &input, |_| {});
        let output = run_after(format, &input, |child| drop(child.stderr.take()));
        match status(&output) {
            0 => assert_eq!(output.stdout, whole.stdout, "{format}"),
            2 => assert!(output.stdout.is_empty(), "{format}"),
            status => panic!("{format}: status {status}"),
        }
    }
}

#[test]
fn a_file_that_cannot_be_read_is_named_and_nothing_is_printed() {
    if !is_linux() {
        return;
    }
    let (folder, good) = folder_with("good.txt", results(8));
    let missing = folder.path().join("missing.txt");
    for (path, reason) in [
        (missing.as_path(), "no such file or directory"),
        (folder.path(), "is a directory"),
        (Path::new("/proc/self/mem"), "input/output error"),
    ] {
        let output = Command::new(PROGRAM)
            .args([&good, path])
            .output()
            .expect("the program starts");
        is_refused(&output, &[path.to_str().expect("a plain path"), reason]);
    }
}

#[test]
fn a_file_that_grows_while_it_is_read_is_read_to_some_end() {
    let (_folder, path) = folder_with("a.txt", results(1000));
    let writer = {
        let path = path.clone();
        thread::spawn(move || {
            let mut file = OpenOptions::new().append(true).open(path).expect("a file");
            for _ in 0..100 {
                file.write_all(results(1000).as_bytes()).expect("room");
                thread::sleep(Duration::from_millis(1));
            }
        })
    };
    for _ in 0..3 {
        let output = Command::new(PROGRAM)
            .arg("-format=csv")
            .arg(&path)
            .output()
            .expect("the program starts");
        assert_eq!(status(&output), 0);
        // A line may be half written; half a name or number must not become a row of its own.
        let table = String::from_utf8_lossy(&output.stdout).into_owned();
        let rows = table.lines().filter(|line| line.starts_with('X'));
        assert!(rows.count() >= 1, "{table}");
    }
    writer.join().expect("the writer ends");
}

#[test]
fn a_file_that_vanishes_or_shrinks_is_missing_or_read_as_far_as_it_is() {
    let text = results(100_000);
    let spawn = |path: &Path| {
        let mut command = Command::new(PROGRAM);
        command
            .args(["-format=csv", &format!("x={}", path.display())])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command.spawn().expect("the program starts")
    };
    let end = |child: Child| child.wait_with_output().expect("the program ends");
    let (_folder, path) = folder_with("a.txt", &text);
    let whole = end(spawn(&path)).stdout;
    let whole = String::from_utf8(whole).expect("text");
    let heading = whole.split_inclusive('\n').take(2).collect::<String>();
    for shrinks in [false, true] {
        let (_folder, path) = folder_with("a.txt", &text);
        let child = spawn(&path);
        thread::sleep(Duration::from_millis(3));
        if shrinks {
            File::create(&path).expect("an empty file");
        } else {
            fs::remove_file(&path).expect("a file to remove");
        }
        let output = end(child);
        let table = String::from_utf8_lossy(&output.stdout);
        match status(&output) {
            // What is open stays there without its name.
            0 if !shrinks => assert_eq!(table, whole),
            // What was read so far, and perhaps nothing.
            0 if table.is_empty() => {
                assert!(stderr(&output).contains("no benchmark results found"));
            }
            0 => {
                let row = table.strip_prefix(&heading).expect("the same heading");
                assert!(row.starts_with("X-8,1.0"), "{row}");
            }
            2 => {
                assert!(table.is_empty());
                assert!(
                    stderr(&output).contains("no such file"),
                    "{}",
                    stderr(&output)
                );
            }
            status => panic!("status {status}"),
        }
    }
}

#[test]
fn a_named_pipe_is_as_good_as_a_file() {
    if !is_linux() {
        return;
    }
    let (folder, file) = folder_with("a.txt", results(8));
    let pipe = folder.path().join("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status().expect("mkfifo");
    assert!(made.success());
    let labelled = |path: &Path| format!("x={}", path.display());
    let writer = {
        let pipe = pipe.clone();
        thread::spawn(move || fs::write(pipe, results(8)).expect("a reader"))
    };
    let run = |path: &Path| {
        let output = Command::new(PROGRAM).arg(labelled(path)).output();
        output.expect("the program starts")
    };
    let (from_pipe, from_file) = (run(&pipe), run(&file));
    writer.join().expect("the writer ends");
    assert_eq!(status(&from_pipe), 0);
    assert_eq!(from_pipe.stdout, from_file.stdout);
}

#[test]
fn many_values_of_a_configuration_key_make_as_many_tables() {
    many_values(10_000);
}

#[test]
#[ignore = "takes a while without optimisation"]
fn a_hundred_thousand_values_of_a_configuration_key_make_as_many_tables() {
    many_values(100_000);
}

fn many_values(count: usize) {
    if !is_linux() {
        return;
    }
    let mut text = String::new();
    for value in 0..count {
        text += "k: v";
        text += &value.to_string();
        text += "\n";
        text += &results(1);
    }
    let (_folder, path) = folder_with("a.txt", text);
    let output = within(1024)
        .arg(&path)
        .output()
        .expect("the program starts");
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(
        text.lines().filter(|line| line.starts_with("k: ")).count(),
        count
    );
}

#[test]
fn many_configuration_keys_at_once_are_no_trouble() {
    if !is_linux() {
        return;
    }
    let mut text = String::new();
    for key in 0..100_000 {
        text += "k";
        text += &key.to_string();
        text += ": v\n";
    }
    let (_folder, path) = folder_with("a.txt", text + &results(8));
    let output = within(512).arg(&path).output().expect("the program starts");
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    assert_eq!(
        output
            .stdout
            .split(|&byte| byte == b'\n')
            .filter(|line| line.starts_with(b"k"))
            .count(),
        100_000
    );
}

#[test]
#[ignore = "takes a while without optimisation"]
fn too_many_configurations_are_refused_before_they_fill_the_memory() {
    if !is_linux() {
        return;
    }
    let set = |key: usize| format!("k{key}: v\n{}", results(1));
    let set_and_deleted = |key: usize| format!("{}k{key}:\n", set(key));
    for (text, flags) in [
        ((0..100_000).map(set).collect::<String>(), &[][..]),
        ((0..100_000).map(set_and_deleted).collect(), &[]),
        ((0..100_000).map(set_and_deleted).collect(), &["-table", ""]),
    ] {
        let (_folder, path) = folder_with("a.txt", text);
        let output = within(2048)
            .args(flags)
            .arg(&path)
            .output()
            .expect("the program starts");
        is_refused(&output, &["a.txt:", "too many configurations"]);
    }
}

/// Standard input for a run: `count` times each of several pieces, one piece after the other.
fn repeated(count: usize, pieces: &[fn(usize) -> String]) -> String {
    let mut text = String::new();
    for piece in pieces {
        for number in 0..count {
            text += &piece(number);
        }
    }
    text
}

#[test]
fn fifty_thousand_of_anything_take_a_moment() {
    const COUNT: usize = 50_000;
    let inputs: [(&str, String); 6] = [
        (
            "failures",
            repeated(COUNT, &[|n| format!("--- FAIL: BenchmarkX{n}\n")]),
        ),
        (
            "parts of a failure",
            format!("--- FAIL: BenchmarkX{}\n", "/a".repeat(COUNT)),
        ),
        (
            "units",
            format!("BenchmarkX 1{}", repeated(COUNT, &[|n| format!(" 5 u{n}")])),
        ),
        (
            "torn results",
            repeated(
                COUNT,
                &[
                    |_| "Benchmark 1 q x\n".into(),
                    |_| "BenchmarkX-8 \tlog\n     100\t   5 ns/op\n".into(),
                ],
            ),
        ),
        (
            "packages",
            repeated(
                COUNT,
                &[
                    |n| {
                        format!(
                            "{{\"Action\":\"output\",\"Package\":\"p{n}\",\"Output\":\"x\\n\"}}\n"
                        )
                    },
                    |n| format!("{{\"Action\":\"pass\",\"Package\":\"p{n}\"}}\n"),
                ],
            ),
        ),
        (
            "metadata",
            repeated(COUNT, &[|n| format!("Unit u{n} better=higher a=b\n")]),
        ),
    ];
    for (what, text) in inputs {
        // What takes the square of its length takes minutes of the processor here, and is ended.
        let mut command = Command::new("sh");
        command.args(["-c", "ulimit -t 60 && exec \"$0\"", PROGRAM]);
        let output = fed(command, std::iter::once(text.into_bytes()));
        assert_eq!(output.status.code(), Some(0), "{what}");
    }
}

const MEBIBYTE: usize = 1 << 20;

/// A line of about `mebibytes`, in pieces, and results after it.
fn long_line(start: &str, filling: u8, mebibytes: usize) -> impl Iterator<Item = Vec<u8>> + Send {
    let start = std::iter::once(start.into());
    let end = std::iter::once(format!("\n{}", results(8)).into_bytes());
    start
        .chain(std::iter::repeat_n(vec![filling; MEBIBYTE], mebibytes))
        .chain(end)
}

#[test]
fn a_line_of_a_gigabyte_that_is_no_result_is_passed_over() {
    if !is_linux() {
        return;
    }
    for (start, mebibytes) in [("log output ", 1024), ("", 70), ("KEY: ", 70)] {
        let output = fed(within(320), long_line(start, b'x', mebibytes));
        assert_eq!(status(&output), 0, "{}", stderr(&output));
        assert!(String::from_utf8_lossy(&output.stdout).contains("X-8"));
    }
}

#[test]
fn a_line_of_a_gigabyte_that_may_matter_is_refused_with_its_place() {
    if !is_linux() {
        return;
    }
    for (start, filling) in [
        ("BenchmarkX 1 5 ", b'x'),
        ("Unit x ", b'y'),
        ("key: ", b'v'),
        ("Benchmark", b'\0'),
    ] {
        let pieces = std::iter::once(b"\n\n".to_vec()).chain(long_line(start, filling, 1024));
        let output = fed(within(320), pieces);
        assert_eq!(status(&output), 2, "{start}: {}", stderr(&output));
        assert!(output.stdout.is_empty());
        let told = stderr(&output);
        let expected =
            "rbenchstat: -:3: read -: the line is longer than 64 MiB, which is the limit\n";
        assert!(told.ends_with(expected), "{told}");
    }
}

#[test]
fn a_long_line_within_the_limit_is_read() {
    let name = "x".repeat(5 * MEBIBYTE);
    let line = format!("Benchmark{name} 1 5 ns/op\n");
    let output = fed(Command::new(PROGRAM), std::iter::once(line.into_bytes()));
    assert_eq!(status(&output), 0);
    assert!(output.stdout.len() > 5 * MEBIBYTE);
}

#[test]
fn a_test_stream_without_line_ends_is_refused() {
    if !is_linux() {
        return;
    }
    let start = r#"{"Action":"output","Output":""#;
    let output = fed(within(512), long_line(start, b'x', 1024));
    assert_eq!(status(&output), 2);
    let told = stderr(&output);
    assert!(
        told.contains("line 1 of the test stream is longer than 64MiB"),
        "{told}"
    );
}

#[test]
fn ten_thousand_files_need_few_handles_and_little_memory() {
    if !is_linux() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    for number in 0..10_000 {
        fs::write(folder.path().join(number.to_string()), results(1)).expect("a file");
    }
    let output = Command::new("sh")
        .current_dir(folder.path())
        .args([
            "-c",
            "ulimit -n 32 && ulimit -v 1048576 && exec \"$@\" $(seq 0 9999)",
            "sh",
            PROGRAM,
        ])
        .arg("-format=csv")
        .output()
        .expect("the program starts");
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    let table = String::from_utf8_lossy(&output.stdout);
    let header = table
        .lines()
        .find(|line| line.contains("9999"))
        .expect("a header");
    assert!(header.split(',').filter(|field| !field.is_empty()).count() >= 10_000);
}

#[test]
fn deep_and_large_regular_expressions_are_refused() {
    let nested = |depth: usize| format!(".name:/{}a{}/", "(".repeat(depth), ")".repeat(depth));
    for (filter, reason) in [
        (nested(100_000), "expression nests too deeply"),
        (format!(".name:/{}/", "(".repeat(100_000)), "missing close"),
        (".name:/a{1001}/".into(), "invalid repeat count"),
        (".name:/(a{500}){500}/".into(), "invalid repeat count"),
        (
            ".name:/((((a{10}){10}){10}){10}){10}/".into(),
            "invalid repeat count",
        ),
    ] {
        let (status, told) = told(&["-filter", &filter]);
        assert_eq!(status, 2);
        assert!(told.contains(reason), "{}", &told[..told.len().min(200)]);
    }
    assert_eq!(told(&["-filter", &nested(500)]).0, 0);
}

#[test]
fn a_regular_expression_that_compiles_to_too_much_is_refused_within_bounded_memory() {
    if !is_linux() {
        return;
    }
    let filter = format!(".name:/{}/", r"\pL{1000}".repeat(200));
    let output = within(2048)
        .args(["-filter", &filter])
        .stdin(Stdio::null())
        .output()
        .expect("the program starts");
    assert_eq!(status(&output), 2);
    assert!(
        stderr(&output).contains("expression too large"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn filters_and_projections_of_any_depth_and_length_end_with_an_answer() {
    const MANY: usize = 100_000;
    for (filter, expected) in [
        ("(".repeat(MANY), 2),
        ("-".repeat(MANY), 2),
        ("-(".repeat(MANY), 2),
        (format!("{}*{}", "(".repeat(MANY), ")".repeat(MANY)), 2),
        (format!("{}*", "-".repeat(MANY)), 2),
        ("a:b ".repeat(MANY), 0),
        (format!("a:b{}", " OR a:b".repeat(MANY)), 0),
        (format!("a:(b{})", " OR b".repeat(MANY)), 0),
        (format!("a:{}", "(".repeat(MANY)), 2),
        (format!("a:\"{}\"", "\\n".repeat(MANY)), 0),
    ] {
        let (status, told) = told(&["-filter", &filter]);
        assert_eq!(
            status,
            expected,
            "{}: {}",
            &filter[..20],
            &told[..told.len().min(200)]
        );
    }
    for (projection, expected) in [
        ("a ".repeat(1000), 0),
        ("a@(".repeat(MANY), 2),
        (format!("a@({})", "b ".repeat(MANY)), 0),
        (",".repeat(MANY), 2),
    ] {
        let (status, told) = told(&["-row", &projection]);
        assert_eq!(
            status,
            expected,
            "{}: {}",
            &projection[..9],
            &told[..told.len().min(200)]
        );
    }
}

/// Gzip data of `count` members, each of which unpacks to a mebibyte of `filling`.
fn packed(filling: u8, count: usize) -> Vec<u8> {
    let mut member = GzEncoder::new(Vec::new(), Compression::best());
    member
        .write_all(&vec![filling; MEBIBYTE])
        .expect("memory takes all");
    member.finish().expect("memory takes all").repeat(count)
}

#[test]
fn what_unpacks_to_more_than_allowed_is_refused() {
    if !is_linux() {
        return;
    }
    for filling in [b'\0', b'\n'] {
        let (_folder, path) = folder_with("a.gz", packed(filling, 4));
        let output = within(320)
            .arg("-max-unpacked=3MiB")
            .arg(&path)
            .output()
            .expect("the program starts");
        let reason = "unpacks to more than 3MiB: -max-unpacked allows for more";
        is_refused(&output, &["a.gz", reason]);
        let allowed = within(320).arg("-max-unpacked=4MiB").arg(&path).output();
        assert_eq!(status(&allowed.expect("the program starts")), 0);
    }
}

#[test]
#[ignore = "takes a while without optimisation"]
fn a_bomb_of_a_gibibyte_is_refused_without_a_flag() {
    if !is_linux() {
        return;
    }
    let bomb = packed(b'\n', 1025);
    assert!(bomb.len() < 2 * MEBIBYTE);
    let (_folder, path) = folder_with("a.gz", bomb);
    let output = within(320).arg(&path).output().expect("the program starts");
    assert_eq!(status(&output), 2);
    assert!(
        stderr(&output).contains("unpacks to more than 1GiB"),
        "{}",
        stderr(&output)
    );
}

/// A source that hands out its text in pieces, and then fails.
struct Failing<'a>(&'a [u8]);

impl Read for Failing<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.0.is_empty() {
            return Err(io::Error::other("the cable is loose"));
        }
        let length = buffer.len().min(7);
        self.0.read(&mut buffer[..length])
    }
}

#[test]
fn an_input_that_fails_half_way_leaves_nothing_on_standard_output() {
    let text = results(100);
    let stdin = Failing(text.as_bytes());
    let run = in_process::run([], stdin, Surroundings::default());
    assert_eq!(run.status, 2);
    assert!(run.stdout.is_empty());
    let told = run.stderr;
    assert!(told.contains("the cable is loose"), "{told}");
}
