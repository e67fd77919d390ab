//! The built program against servers, programs, policies and machines that do it no favours: it ends, says what went wrong,
//! and its events add up.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const PROGRAM: &str = env!("CARGO_BIN_EXE_bench-harness");

/// However busy the machine is: a program that has not ended by then hangs.
const LONGEST: Duration = Duration::from_secs(120);

struct Ran {
    status: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Ran {
    fn says(&self, text: &str) {
        let all = format!("{}{}", self.stdout, self.stderr);
        assert!(all.contains(text), "{text:?} is not in\n{all}");
    }

    fn fails_with(&self, text: &str) {
        assert_eq!(self.status, Some(2), "{}{}", self.stdout, self.stderr);
        self.says(text);
    }

    /// The rows of the table of events, each checked: accepted = uploaded + buffered + dropped.
    fn events(&self) -> Vec<Vec<u64>> {
        let rows: Vec<Vec<u64>> = self
            .stderr
            .lines()
            .filter(|line| line.starts_with("AuthorizeRequest"))
            .map(|line| {
                let cells = line.split_whitespace().skip(1);
                cells.map_while(|cell| cell.parse().ok()).collect()
            })
            .collect();
        assert!(!rows.is_empty(), "no table of events in\n{}", self.stderr);
        for row in &rows {
            assert_eq!(row[0], row[1..8].iter().sum::<u64>(), "{row:?}");
        }
        rows
    }
}

fn start(command: &mut Command) -> Child {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts")
}

fn end(mut child: Child) -> Ran {
    let mut stdout = child.stdout.take().expect("a pipe");
    let mut stderr = child.stderr.take().expect("a pipe");
    let reading = std::thread::spawn(move || {
        let mut text = Vec::new();
        let _ = stderr.read_to_end(&mut text);
        text
    });
    let printing = std::thread::spawn(move || {
        let mut text = Vec::new();
        let _ = stdout.read_to_end(&mut text);
        text
    });
    let started = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("a child") {
            break status;
        }
        if started.elapsed() > LONGEST {
            let _ = child.kill();
            panic!("it hangs");
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let text = |thread: std::thread::JoinHandle<Vec<u8>>| {
        String::from_utf8(thread.join().expect("read")).expect("UTF-8")
    };
    Ran {
        status: status.code(),
        stdout: text(printing),
        stderr: text(reading),
    }
}

fn run(arguments: &[&str]) -> Ran {
    end(start(Command::new(PROGRAM).args(arguments)))
}

/// A run of the minimal scenario with decision logs, and more.
fn logged(more: &[&str]) -> Ran {
    let mut arguments = vec![
        "-bench=^BenchmarkAuthorizeRequest/minimal/with",
        "-benchtime=300x",
        "-warmup=1ms",
        "-cpu=1",
        "-percentiles=50",
        "-shutdown-grace=300ms",
    ];
    arguments.extend(more);
    run(&arguments)
}

/// Answers every request with `answer`; with none it stays silent. Returns the address.
fn server(answer: Option<&'static str>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    std::thread::spawn(move || {
        let mut silent = Vec::new();
        for stream in listener.incoming().flatten() {
            match answer {
                None => silent.push(stream),
                Some(answer) => answer_once(stream, answer),
            }
        }
    });
    address
}

fn answer_once(mut stream: TcpStream, answer: &str) {
    let (mut text, mut block) = (Vec::new(), vec![0; 1 << 16]);
    let _ = stream.set_read_timeout(Some(Duration::from_secs(5)));
    loop {
        let Ok(length @ 1..) = stream.read(&mut block) else {
            return;
        };
        text.extend_from_slice(&block[..length]);
        let Some(head) = text.windows(4).position(|four| four == b"\r\n\r\n") else {
            continue;
        };
        let lines = String::from_utf8_lossy(&text[..head]).to_lowercase();
        let announced = lines
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "))
            .and_then(|length| length.parse::<usize>().ok());
        if text.len() >= head + 4 + announced.unwrap_or(0) {
            break;
        }
    }
    let _ = stream.write_all(answer.as_bytes());
}

/// A bundle with one policy, and one request that it must decide so.
fn bundle(policy: &str, request: &str) -> (tempfile::TempDir, Vec<String>) {
    let directory = tempfile::tempdir().expect("a directory");
    let root = directory.path();
    fs::create_dir(root.join("b")).expect("a directory");
    fs::write(root.join("b/p.rego"), policy).expect("a file");
    fs::write(root.join("r.jsonl"), request).expect("a file");
    let path = |name: &str| root.join(name).display().to_string();
    let arguments = vec![
        format!("--bundle={}", path("b")),
        format!("--requests={}", path("r.jsonl")),
        "--decision=a/allow".to_owned(),
        "-benchtime=50x".to_owned(),
        "-warmup=1ms".to_owned(),
        "-cpu=1".to_owned(),
        "-percentiles=".to_owned(),
    ];
    (directory, arguments)
}

const REQUEST: &str = r#"{"method": "GET", "path": "/x", "expected": true}"#;

fn run_bundle(policy: &str, more: &[&str]) -> Ran {
    let (_directory, arguments) = bundle(policy, REQUEST);
    let mut arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    arguments.extend(more);
    run(&arguments)
}

#[test]
fn a_policy_that_prints_neither_hangs_nor_fails() {
    let policy = "package a\nallow if {\n  print(\"seen\", input.parsed_path)\n  true\n}\n";
    for engine in ["interpreter", "rvm"] {
        let ran = run_bundle(policy, &["-engine", engine]);
        if ran.status != Some(0) {
            // What an engine does not know is refused at once, with the place, and not by advice to use one that hangs.
            ran.fails_with("p.rego:3");
        }
    }
    let ran = run_bundle(policy, &["-engine", "interpreter"]);
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
}

#[test]
fn a_redirect_is_no_success_and_is_not_followed() {
    for status in ["302 Found", "307 Temporary Redirect"] {
        let elsewhere = server(Some("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"));
        let answer = format!(
            "HTTP/1.1 {status}\r\nLocation: http://me:secret@{elsewhere}/x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        );
        let address = server(Some(Box::leak(answer.into_boxed_str())));
        let ran = logged(&["-upload-to", &format!("http://{address}/logs")]);
        ran.fails_with("took none of the");
        ran.says(status);
        ran.says("which is not followed");
        assert!(!ran.stderr.contains("secret"), "{}", ran.stderr);
        assert_eq!(ran.events()[0][1], 0, "nothing is uploaded");
    }
}

#[test]
fn a_server_that_never_answers_ends_the_run_with_a_word() {
    for buffer in ["buffer_type=size", "buffer_type=event"] {
        let ran = logged(&[
            "-upload-to",
            &format!("http://{}", server(None)),
            "-settings",
            buffer,
        ]);
        ran.fails_with("took none of the");
        ran.says("no answer before the end");
        ran.events();
    }
}

#[test]
fn a_refused_connection_says_its_cause() {
    let port = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = port.local_addr().expect("an address");
    drop(port);
    let ran = logged(&["-upload-to", &format!("http://{address}")]);
    ran.fails_with("took none of the");
    ran.says("Connection refused");
    ran.events();
}

#[test]
fn a_run_that_loses_nearly_everything_says_so() {
    let small = ["-settings=buffer_type=event buffer_size_limit_events=3"];
    let ran = logged(&small);
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    ran.says("% of the events were lost");
    ran.events();
}

#[test]
fn events_dropped_after_the_measurement_are_in_its_figure() {
    // Nothing is closed before the end; then no event fits.
    let ran = logged(&[
        "--consumer",
        "-settings=buffer_type=event upload_size_limit_bytes=90 trigger=manual",
    ]);
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    let row = &ran.events()[0];
    assert_eq!(row[4], row[0], "all are too large: {row:?}");
    let line = ran
        .stdout
        .lines()
        .find(|line| line.contains("dropped-events/op"));
    let cells: Vec<&str> = line.expect("a line").split_whitespace().collect();
    let at = cells
        .iter()
        .position(|cell| *cell == "dropped-events/op")
        .expect("a unit");
    let share: f64 = cells[at - 1].parse().expect("a number");
    assert!(share >= 1.0, "{share}");
}

#[test]
fn what_the_server_does_the_events_add_up() {
    let cases: &[(&str, &[&str])] = &[
        ("200 OK", &[]),
        ("204 No Content", &[]),
        ("500 Internal Server Error", &[]),
        ("401 Unauthorized", &["-settings=buffer_type=event"]),
        ("500 Oops", &["-settings=max_decisions_per_second=50"]),
        (
            "500 Oops",
            &["-settings=buffer_type=event max_decisions_per_second=50"],
        ),
        (
            "500 Oops",
            &["-settings=buffer_size_limit_bytes=2000 upload_size_limit_bytes=1000"],
        ),
        (
            "500 Oops",
            &["-settings=buffer_type=event trigger=immediate upload_size_limit_bytes=400"],
        ),
    ];
    for (status, settings) in cases {
        let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        let address = server(Some(Box::leak(answer.into_boxed_str())));
        let url = format!("http://{address}");
        let mut more = vec!["-upload-to", url.as_str()];
        more.extend(*settings);
        let ran = logged(&more);
        let uploaded = ran.events()[0][1];
        if status.starts_with('2') {
            assert_eq!(ran.status, Some(0), "{}", ran.stderr);
            assert!(uploaded > 0);
        } else {
            ran.fails_with("took none of the");
            assert_eq!(uploaded, 0);
        }
    }
}

#[test]
fn user_and_password_of_a_url_are_in_no_output() {
    let address = server(Some(
        "HTTP/1.1 500 Oops\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
    ));
    let ran = logged(&["-upload-to", &format!("http://me:secret@{address}/x")]);
    ran.fails_with("took none of the");
    assert!(!format!("{}{}", ran.stdout, ran.stderr).contains("secret"));
    let ran = logged(&["-upload-to", "http://me:secret@ no URL"]);
    ran.fails_with("-upload-to");
    assert!(!ran.stderr.contains("secret"), "{}", ran.stderr);
}

#[test]
fn numbers_beyond_reason_are_refused_with_their_flag() {
    for (arguments, flag) in [
        (vec!["-rate", "1e-300"], "-rate"),
        (vec!["-rate", "1e300"], "-rate"),
        (vec!["-rate", "NaN"], "-rate"),
        (vec!["-benchtime", "99999999999h"], "-benchtime"),
        (vec!["-warmup", "1e300s"], "-warmup"),
        (vec!["-consumer-delay", "9999999h"], "-consumer-delay"),
        (
            vec!["-shutdown-grace", "99999999999999999999s"],
            "-shutdown-grace",
        ),
        (
            vec!["-settings", "min_delay_seconds=0 max_delay_seconds=1e300"],
            "max_delay_seconds",
        ),
        (
            vec!["-settings", "max_decisions_per_second=inf"],
            "max_decisions_per_second",
        ),
    ] {
        logged(&arguments).fails_with(flag);
    }
    // And what is only strange runs.
    for settings in [
        "min_delay_seconds=0 max_delay_seconds=0",
        "max_decisions_per_second=1e-300",
        "max_decisions_per_second=1e300",
        "min_delay_seconds=31536000 max_delay_seconds=31536000",
        "upload_size_limit_bytes=18446744073709551615",
        "buffer_type=event buffer_size_limit_events=18446744073709551615",
    ] {
        let ran = logged(&["--consumer", "-settings", settings]);
        assert_eq!(ran.status, Some(0), "{settings}: {}", ran.stderr);
        ran.events();
    }
}

#[test]
fn a_policy_too_deep_or_too_long_is_an_error_or_runs() {
    let deep = |open: &str, close: &str, count: usize| {
        format!(
            "package a\nallow if {{\n  x := {}1{}\n  x == x\n}}\n",
            open.repeat(count),
            close.repeat(count)
        )
    };
    let terms = vec!["1"; 100_000].join(" + ");
    let elements = vec!["1"; 100_000].join(",\n");
    let literals = vec!["  true"; 100_000].join("\n");
    for (name, policy) in [
        ("arrays", deep("[", "]", 20_000)),
        ("parentheses", deep("(", ")", 20_000)),
        ("objects", deep("{\"a\":", "}", 20_000)),
        ("comprehensions", deep("[y | y := ", "]", 20_000)),
        ("terms", format!("package a\nallow if {terms} > 1\n")),
        (
            "elements",
            format!("package a\nallow if count([{elements}]) == 100000\n"),
        ),
        (
            "literals",
            format!("package a\nallow if {{\n{literals}\n}}\n"),
        ),
    ] {
        for engine in ["interpreter", "rvm"] {
            let ran = run_bundle(&policy, &["-engine", engine]);
            assert!(
                matches!(ran.status, Some(0 | 2)),
                "{name} with {engine}: {:?}\n{}",
                ran.status,
                &ran.stderr[..ran.stderr.len().min(2_000)]
            );
            if ran.status == Some(2) {
                let placed =
                    ran.stderr.contains("p.rego") || ran.stderr.contains("for the rvm engine");
                assert!(placed, "{name} with {engine}: {}", ran.stderr);
                assert!(
                    ran.stderr.len() < 2_000,
                    "{name}: an error of {} bytes",
                    ran.stderr.len()
                );
            }
        }
    }
}

#[test]
fn a_body_nested_deeply_is_decided_and_logged() {
    let body = format!("{}1{}", "[".repeat(120), "]".repeat(120));
    let headers = r#"{"content-type": "application/json"}"#;
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for body in [body, deep] {
        let request = format!(
            r#"{{"method": "POST", "path": "/", "headers": {headers}, "body": {}, "expected": true}}"#,
            serde_json::to_string(&body).expect("a text")
        );
        let (_directory, arguments) = bundle("package a\nallow = true\n", &request);
        let mut arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        arguments.extend(["--consumer", "-settings=upload_size_limit_bytes=2000"]);
        let ran = run(&arguments);
        assert_eq!(ran.status, Some(0), "{}", ran.stderr);
        ran.events();
    }
}

#[cfg(unix)]
#[test]
fn a_bundle_with_a_pipe_a_loop_or_an_endless_file_is_refused() {
    let (directory, arguments) = bundle("package a\nallow = true\n", REQUEST);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let root = directory.path().join("b");
    let made = Command::new("mkfifo").arg(root.join("pipe.rego")).status();
    if made.is_ok_and(|status| status.success()) {
        run(&arguments).fails_with("not a regular file");
        fs::remove_file(root.join("pipe.rego")).expect("removed");
    }
    std::os::unix::fs::symlink("/dev/zero", root.join("zero.rego")).expect("a link");
    run(&arguments).fails_with("not a regular file");
    fs::remove_file(root.join("zero.rego")).expect("removed");
    std::os::unix::fs::symlink(&root, root.join("loop")).expect("a link");
    assert_eq!(
        run(&arguments).status,
        Some(0),
        "links to directories are not followed"
    );
    let large = fs::File::create(root.join("large.rego")).expect("a file");
    large.set_len(65 << 20).expect("a hole");
    run(&arguments).fails_with("64 MiB");
}

#[test]
fn a_bundle_of_few_bytes_that_holds_gigabytes_is_refused() {
    let directory = tempfile::tempdir().expect("a directory");
    let archive = directory.path().join("b.tar.gz");
    let file = fs::File::create(&archive).expect("a file");
    let mut builder = tar::Builder::new(flate2::write::GzEncoder::new(
        file,
        flate2::Compression::fast(),
    ));
    for number in 0..5 {
        let mut header = tar::Header::new_gnu();
        header.set_size(60 << 20);
        header.set_cksum();
        let name = format!("{number}/p.rego");
        let zeros = std::io::repeat(b' ').take(60 << 20);
        builder
            .append_data(&mut header, name, zeros)
            .expect("appended");
    }
    builder
        .into_inner()
        .expect("ended")
        .finish()
        .expect("ended");
    let requests = directory.path().join("r.jsonl");
    fs::write(&requests, REQUEST).expect("a file");
    let ran = run(&[
        "--bundle",
        archive.to_str().expect("UTF-8"),
        "--requests",
        requests.to_str().expect("UTF-8"),
    ]);
    ran.fails_with("256 MiB");
}

/// A program that prints what it is told to, to `--version` too.
#[cfg(unix)]
fn script(directory: &Path, name: &str, version: &str, text: &str) -> PathBuf {
    use std::os::unix::fs::PermissionsExt as _;
    let path = directory.join(name);
    let text =
        format!("#!/bin/sh\ncase \"$*\" in *--version*) echo '{version}'; exit;; esac\n{text}\n");
    fs::write(&path, text).expect("a file");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("executable");
    path
}

#[cfg(unix)]
fn compare(old: &Path, output: &Path) -> Ran {
    run(&[
        "compare",
        "--old-bin",
        old.to_str().expect("UTF-8"),
        "--new-bin",
        PROGRAM,
        "-bench=^BenchmarkAuthorizeRequest/minimal",
        "-benchtime=50x",
        "-warmup=1ms",
        "-count=1",
        "-cpu=1",
        "-percentiles=50",
        "-o",
        output.to_str().expect("UTF-8"),
    ])
}

#[cfg(unix)]
#[test]
fn a_program_that_prints_rubbish_or_other_names_is_no_side() {
    let directory = tempfile::tempdir().expect("a directory");
    let (root, output) = (directory.path(), directory.path().join("out"));
    let version = "bench-harness 0.0.1";
    for (text, message) in [
        ("echo rubbish", "printed no line for"),
        ("echo 'BenchmarkOther 1 1 ns/op'", "which was not asked for"),
        (
            "echo 'BenchmarkAuthorizeRequest/minimal/no-decision-logs 1 x ns/op'",
            "which is no result",
        ),
        ("echo went wrong >&2; exit 3", "went wrong"),
        ("exit 0", "printed no line for"),
    ] {
        let old = script(root, "old", version, text);
        let ran = compare(&old, &output);
        ran.fails_with(message);
        assert!(!output.join("old.txt").exists() && !output.join("new.txt").exists());
    }
    compare(&script(root, "other", "other 1.0", "exit 0"), &output)
        .fails_with("it is no bench-harness");
    compare(&root.join("none"), &output).fails_with("no such program");
}

#[cfg(unix)]
#[test]
fn two_programs_are_named_by_version_and_hash_and_their_words_are_passed_on() {
    let directory = tempfile::tempdir().expect("a directory");
    let output = directory.path().join("out");
    let old = script(
        directory.path(),
        "old",
        "bench-harness 0.0.1",
        &format!("echo 'a warning of old' >&2\nexec {PROGRAM} \"$@\""),
    );
    let ran = compare(&old, &output);
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    ran.says("a warning of old");
    assert_eq!(ran.stderr.matches("a warning of old").count(), 1);
    ran.says("decision log events");
    let rows = ran.events();
    assert_eq!(rows.len(), 2, "{}", ran.stderr);
    for (file, version) in [
        ("old.txt", "bench-harness 0.0.1"),
        ("new.txt", "bench-harness 0."),
    ] {
        let text = fs::read_to_string(output.join(file)).expect("a file");
        let line = text
            .lines()
            .find(|line| line.contains("measured by"))
            .expect("a line");
        assert!(line.contains(version), "{line}");
        let (_, hash) = line.rsplit_once("sha256 ").expect("a hash");
        assert_eq!(hash.len(), 64, "{line}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_named_and_leaves_no_file() {
    let full = fs::OpenOptions::new().write(true).open("/dev/full");
    let Ok(full) = full else {
        eprintln!("skipped: there is no /dev/full");
        return;
    };
    let mut command = Command::new(PROGRAM);
    command.args([
        "-bench=EmptyFilter/minimal",
        "-benchtime=50x",
        "-warmup=1ms",
    ]);
    let child = command
        .stdin(Stdio::null())
        .stdout(full)
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts");
    let output = child.wait_with_output().expect("ends");
    let stderr = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("standard output: "), "{stderr}");

    // A file that cannot be written, beside one that can.
    let directory = tempfile::tempdir().expect("a directory");
    let output = directory.path().join("out");
    fs::create_dir(&output).expect("a directory");
    std::os::unix::fs::symlink("/dev/full", output.join("new.txt.partial")).expect("a link");
    let ran = run(&[
        "compare",
        "--old=buffer_type=size",
        "--new=buffer_type=event",
        "-bench=^BenchmarkAuthorizeRequest/minimal",
        "-benchtime=50x",
        "-warmup=1ms",
        "-cpu=1",
        "-o",
        output.to_str().expect("UTF-8"),
    ]);
    ran.fails_with("new.txt.partial");
    assert!(!output.join("old.txt").exists() && !output.join("new.txt").exists());
}

#[cfg(unix)]
#[test]
fn a_run_that_is_terminated_leaves_a_mark_and_its_events_add_up() {
    let child = start(Command::new(PROGRAM).args([
        "-bench=^BenchmarkAuthorizeRequest/minimal/with",
        "-benchtime=300ms",
        "-warmup=1ms",
        "-count=1000",
        "-cpu=1",
        "-percentiles=50",
    ]));
    std::thread::sleep(Duration::from_secs(2));
    let kill = Command::new("kill").arg(child.id().to_string()).status();
    assert!(kill.expect("kill").success());
    let ran = end(child);
    assert_eq!(ran.status, Some(130), "{}", ran.stderr);
    assert!(
        ran.stdout
            .ends_with("# interrupted: the rest was not measured\n"),
        "{}",
        ran.stdout
    );
    assert!(
        ran.stdout.contains("\nBenchmarkAuthorizeRequest/"),
        "{}",
        ran.stdout
    );
    ran.events();
}
