//! `rbenchstat run` in real git repositories, and with the real `go` where there is one.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Whether all `programs` are there; says so if not.
#[expect(clippy::print_stdout, reason = "a test that skips says so")]
fn has_all(programs: &[&str]) -> bool {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let has = |program: &str| {
        std::env::split_paths(&folders).any(|folder| folder.join(program).is_file())
    };
    let missing: Vec<_> = programs.iter().filter(|program| !has(program)).collect();
    if !missing.is_empty() {
        println!("skipped: {missing:?} not found");
    }
    missing.is_empty()
}

/// A repository with a Go module in a folder that goes away.
struct Repository {
    folder: tempfile::TempDir,
}

/// A test file whose benchmark tells a number, which is how a side is told from another.
fn benchmark(package: &str, number: u32) -> String {
    format!(
        "package {package}\n\nimport \"testing\"\n\nfunc BenchmarkOne(b *testing.B) {{\n\
         \tfor i := 0; i < b.N; i++ {{\n\t}}\n\tb.ReportMetric({number}, \"things\")\n}}\n"
    )
}

/// A test file with further benchmarks.
fn benchmarks(package: &str, imports: &str, functions: &[(&str, &str)]) -> String {
    let function =
        |&(name, body): &(&str, &str)| format!("func {name}(b *testing.B) {{\n{body}\n}}\n\n");
    let functions = functions.iter().map(function).collect::<Vec<_>>().concat();
    format!("package {package}\n\nimport (\n\t\"testing\"\n{imports}\n)\n\n{functions}")
}

impl Repository {
    fn new() -> Self {
        let repository = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        fs::create_dir(repository.path("")).unwrap();
        repository.git(&["init", "--quiet", "--initial-branch", "main"]);
        repository.write("go.mod", "module example.com/m\n\ngo 1.20\n");
        repository
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("checkout").join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    #[track_caller]
    fn git(&self, arguments: &[&str]) {
        git(&self.path(""), arguments);
    }

    fn commit(&self, message: &str) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "-m", message]);
    }

    fn command(&self, within: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rbenchstat"));
        command
            .arg("run")
            .args(arguments)
            .current_dir(self.path(within));
        for variable in ["GIT_DIR", "GOFLAGS", "GOWORK"] {
            command.env_remove(variable);
        }
        command.env("GOTOOLCHAIN", "local").env("GOPROXY", "off");
        command
    }

    fn run(&self, arguments: &[&str]) -> Run {
        Run::of(&self.command("", arguments).output().unwrap())
    }

    /// Runs with benchmarks that take no time, twice.
    fn quick(&self, arguments: &[&str]) -> Run {
        let mut all = vec!["-benchtime", "1x", "-count", "2"];
        all.extend(arguments);
        self.run(&all)
    }

    /// The values of `things` in a file of results.
    fn things(&self, file: &str) -> Vec<String> {
        let text = self.read(&format!("rbenchstat-run/{file}"));
        let fields: Vec<_> = text.split_whitespace().collect();
        fields
            .windows(2)
            .filter(|pair| pair[1] == "things")
            .map(|pair| {
                pair[0]
                    .trim_end_matches('0')
                    .trim_end_matches('.')
                    .to_owned()
            })
            .collect()
    }

    /// Fails if anything is left of the checkouts.
    #[track_caller]
    fn is_tidy(&self) {
        let output = Command::new("git")
            .args(["worktree", "list"])
            .current_dir(self.path(""))
            .output()
            .unwrap();
        let list = String::from_utf8(output.stdout).unwrap();
        assert_eq!(list.lines().count(), 1, "{list}");
    }
}

#[track_caller]
fn git(folder: &Path, arguments: &[&str]) {
    let output = Command::new("git")
        .args([
            "-c",
            "user.name=Nobody",
            "-c",
            "user.email=nobody@example.com",
        ])
        .args([
            "-c",
            "commit.gpgsign=false",
            "-c",
            "protocol.file.allow=always",
        ])
        .args(arguments)
        .current_dir(folder)
        .env_remove("GIT_DIR")
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}

struct Run {
    status: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Run {
    fn of(output: &Output) -> Self {
        Self {
            status: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    #[track_caller]
    fn ends_with(&self, status: i32) -> &Self {
        assert_eq!(
            self.status,
            Some(status),
            "{}\n{}",
            self.stdout,
            self.stderr
        );
        self
    }

    #[track_caller]
    fn says(&self, text: &str) -> &Self {
        assert!(
            self.stderr.contains(text),
            "no {text:?} in:\n{}",
            self.stderr
        );
        self
    }
}

#[test]
fn the_base_is_where_the_branch_left_main_which_moved_on() {
    if !has_all(&["git", "go"]) {
        return;
    }
    let repository = Repository::new();
    repository.write("m_test.go", &benchmark("m", 1));
    repository.commit("one");
    repository.git(&["switch", "--quiet", "-c", "change"]);
    repository.write("m_test.go", &benchmark("m", 2));
    repository.commit("two");
    repository.git(&["switch", "--quiet", "main"]);
    repository.write("m_test.go", &benchmark("m", 3));
    repository.commit("three");
    repository.git(&["switch", "--quiet", "change"]);
    let run = repository.quick(&[]);
    run.ends_with(0)
        .says("(merge base of main and HEAD)")
        .says("1 package with benchmarks: 1 built differently and is measured");
    assert!(run.stdout.contains("things"), "{}", run.stdout);
    assert_eq!(repository.things("base.txt"), ["1", "1"]);
    assert_eq!(repository.things("head.txt"), ["2", "2"]);
    for side in ["base", "head"] {
        let text = repository.read(&format!("rbenchstat-run/{side}.txt"));
        assert!(
            text.starts_with("# rbenchstat round 1\n") && text.contains("\n# rbenchstat round 2\n"),
            "{text}"
        );
        assert!(
            text.contains("pkg: example.com/m\n") && text.contains(" allocs/op"),
            "{text}"
        );
    }
    repository.is_tidy();

    repository.quick(&["main", "-exact-base"]).ends_with(0);
    assert_eq!(repository.things("base.txt"), ["3", "3"]);
    // Detached, and with the head in a checkout of its own.
    repository.git(&["switch", "--quiet", "--detach", "main"]);
    repository
        .quick(&["main~1", "-head", "change", "-exact-base"])
        .ends_with(0);
    assert_eq!(repository.things("head.txt"), ["2", "2"]);
    repository.is_tidy();
}

#[test]
fn edits_are_measured_as_they_are_and_told() {
    if !has_all(&["git", "go"]) {
        return;
    }
    let repository = Repository::new();
    repository.write("m_test.go", &benchmark("m", 1));
    repository.commit("one");
    repository
        .quick(&[])
        .ends_with(2)
        .says("no file is changed: name another base, such as HEAD~1");
    repository.write("m_test.go", &benchmark("m", 2));
    repository.write("new.go", "package m\n");
    // What an earlier run wrote is no edit.
    for _ in 0..2 {
        repository
            .quick(&["-tags", "some", "--", "-ldflags=-s"])
            .ends_with(0)
            .says("with 2 changed files");
        assert_eq!(repository.things("base.txt"), ["1", "1"]);
        assert_eq!(repository.things("head.txt"), ["2", "2"]);
    }
}

#[test]
fn of_thirty_packages_only_those_that_changed_are_measured() {
    if !has_all(&["git", "go"]) {
        return;
    }
    let repository = Repository::new();
    for index in 0..30 {
        repository.write(&format!("p{index}/p_test.go"), &benchmark("p", 1));
    }
    repository.write("p3/testdata/input", "old");
    repository.write("none/none.go", "package none\n");
    repository.commit("one");
    repository.write("p7/p_test.go", &benchmark("p", 2));
    repository.write("p3/testdata/input", "new");
    let run = repository.quick(&["-fail-on", "regression", "-allow", "too-few-runs"]);
    run.says("30 packages with benchmarks: 2 built differently and are measured, 28 are the same program (-all-packages measures them)");
    let head = repository.read("rbenchstat-run/head.txt");
    let packages: Vec<_> = head
        .lines()
        .filter(|line| line.starts_with("pkg:"))
        .collect();
    let round = ["pkg: example.com/m/p3", "pkg: example.com/m/p7"];
    assert_eq!(packages, [round, round].concat());
}

#[test]
fn nothing_is_measured_where_no_program_differs() {
    if !has_all(&["git", "go"]) {
        return;
    }
    let repository = Repository::new();
    repository.write("sub/go.mod", "module example.com/sub\n\ngo 1.20\n");
    repository.write("sub/s_test.go", &benchmark("s", 1));
    repository.commit("one");
    repository.write("README", "changed");
    let run = |arguments: &[&str]| {
        let mut all = vec!["-benchtime", "1x", "-count", "2"];
        all.extend(arguments);
        Run::of(
            &repository
                .command("sub", &all)
                .env("CGO_ENABLED", "0")
                .output()
                .unwrap(),
        )
    };
    let same = run(&["-fail-on", "regression"]);
    same.ends_with(0)
        .says("0 built differently and are measured, 1 is the same program");
    assert_eq!(
        (
            same.stdout.as_str(),
            repository.read("sub/rbenchstat-run/head.txt").as_str()
        ),
        ("", "")
    );
    run(&["-all-packages"])
        .ends_with(0)
        .says("1 is the same program and measured too");
    assert!(
        repository
            .read("sub/rbenchstat-run/head.txt")
            .contains("pkg: example.com/sub\n")
    );
}

#[test]
fn a_benchmark_that_fails_costs_only_itself() {
    if !has_all(&["git", "go"]) {
        return;
    }
    let repository = Repository::new();
    let good = "\tfor i := 0; i < b.N; i++ {\n\t}";
    let imports = "\t\"fmt\"\n\t\"time\"\n\n\tvar _ = time.Now\n\tvar _ = fmt.Sprint";
    let imports = imports.split("\n\n").next().unwrap();
    let with = |panics: &str, hangs: &str, fails: &str| {
        benchmarks(
            "m",
            imports,
            &[
                ("BenchmarkA", good),
                ("BenchmarkB", panics),
                ("BenchmarkC", good),
                ("BenchmarkD", hangs),
                ("BenchmarkE", fails),
                (
                    "BenchmarkF",
                    "\tfmt.Println(\"BenchmarkF rubbish\\n# rbenchstat round 9\\nFAI\")\n\ttime.Sleep(0)",
                ),
            ],
        )
    };
    repository.write("m_test.go", &with(good, good, good));
    repository.write("other/o_test.go", &benchmark("o", 1));
    repository.commit("one");
    repository.write(
        "m_test.go",
        &with(
            "\tpanic(\"at the disco\")",
            "\ttime.Sleep(time.Hour)",
            "\tb.Fatal(\"no\")",
        ),
    );
    repository.write("other/o_test.go", &benchmark("o", 2));
    let run = repository.quick(&[
        "-timeout",
        "2s",
        "-fail-on",
        "regression",
        "-allow",
        "too-few-runs",
    ]);
    run.ends_with(3)
        .says("it goes on without BenchmarkB:")
        .says("panic: at the disco");
    run.says("was ended after 2 s (-timeout) on head, round 1; it goes on without BenchmarkD");
    run.says("it goes on without BenchmarkE");
    let head = repository.read("rbenchstat-run/head.txt");
    let count = |text: &str, name: &str| {
        text.lines()
            .filter(|line| line.starts_with(name) && line.contains("ns/op"))
            .count()
    };
    for name in ["BenchmarkA", "BenchmarkC"] {
        assert_eq!(count(&head, name), 2, "{head}");
    }
    for name in ["BenchmarkB", "BenchmarkD", "BenchmarkE"] {
        assert_eq!(count(&head, name), 0, "{head}");
    }
    assert!(!head.contains("round 9"), "{head}");
    assert_eq!(repository.things("head.txt"), ["2", "2"]);
}

#[test]
fn a_side_that_does_not_build_costs_only_its_package() {
    if !has_all(&["git", "go"]) {
        return;
    }
    let repository = Repository::new();
    repository.write("a/a_test.go", &benchmark("a", 1));
    repository.write("old/b_test.go", &benchmark("b", 1));
    repository.write("c/c_test.go", &benchmark("c", 1));
    repository.commit("one");
    repository.write("a/a_test.go", &benchmark("a", 2).replace("b.N", "b.M"));
    repository.git(&["mv", "old", "new"]);
    repository.write("c/c_test.go", &benchmark("c", 2));
    let run = repository.quick(&["-fail-on", "regression", "-allow", "too-few-runs,removed"]);
    run.ends_with(3)
        .says("example.com/m/a does not build on head")
        .says("b.M undefined");
    let (base, head) = (
        repository.read("rbenchstat-run/base.txt"),
        repository.read("rbenchstat-run/head.txt"),
    );
    assert!(
        head.contains("FAIL\texample.com/m/a [build failed]\n"),
        "{head}"
    );
    assert!(base.contains("pkg: example.com/m/old\n") && head.contains("pkg: example.com/m/new\n"));
    assert!(base.contains("pkg: example.com/m/c\n") && head.contains("pkg: example.com/m/c\n"));
}

/// Starts a measuring without end, lets `signal` arrive in the middle of its fourth round, and returns what came of it.
fn ended_by(repository: &Repository, before: &str, signal: &str) -> Run {
    let program = env!("CARGO_BIN_EXE_rbenchstat");
    let benchmark = "echo BenchmarkOne-8 1 $RBENCHSTAT_ROUND ns/op; if [ $RBENCHSTAT_ROUND = 4 ]; then sleep 60; fi";
    // The shell that ignores a signal passes that on to what takes its place.
    let child = Command::new("sh")
        .args([
            "-c",
            &format!("{before} exec '{program}' run -count 1000 -command \"$1\""),
            "sh",
            benchmark,
        ])
        .current_dir(repository.path(""))
        .env_remove("GIT_DIR")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let started = Instant::now();
    while !repository
        .read("rbenchstat-run/head.txt")
        .contains("round 3")
    {
        assert!(
            started.elapsed() < Duration::from_secs(60),
            "there are no rounds"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    // Into the middle of the fourth.
    std::thread::sleep(Duration::from_millis(300));
    let mut signals = vec![signal];
    if before.contains(signal) {
        // Ignored, so that something else has to end it.
        signals.push("TERM");
    }
    for signal in signals {
        let kill = Command::new("kill")
            .args(["-s", signal, &child.id().to_string()])
            .status();
        assert!(kill.unwrap().success());
        std::thread::sleep(Duration::from_millis(300));
    }
    let run = Run::of(&child.wait_with_output().unwrap());
    assert!(started.elapsed() < Duration::from_secs(50));
    run
}

#[test]
fn what_asks_the_program_to_end_keeps_the_rounds_that_are_complete() {
    if !has_all(&["git", "kill"]) {
        return;
    }
    for (before, signal) in [
        ("", "TERM"),
        ("", "INT"),
        ("", "HUP"),
        // As under nohup, and in the background of a script.
        ("trap '' HUP;", "HUP"),
        ("trap '' INT HUP;", "TERM"),
    ] {
        let repository = Repository::new();
        repository.commit("one");
        repository.write("changed", "");
        if before.is_empty() && signal != "TERM" && is_ignored(signal) {
            println!("skipped: SIG{signal} is ignored here");
            continue;
        }
        let run = ended_by(&repository, before, signal);
        run.ends_with(130)
            .says("interrupted: 3 of 1000 rounds are compared");
        assert!(run.stdout.contains("One-8"), "{}", run.stdout);
        for side in ["base", "head"] {
            let text = repository.read(&format!("rbenchstat-run/{side}.txt"));
            assert_eq!(text.matches("ns/op").count(), 3, "{text}");
        }
        repository.is_tidy();
    }
}

/// Whether this process, and so what it starts, ignores a signal: then no shell can catch it.
fn is_ignored(signal: &str) -> bool {
    let script = format!("trap 'exit 7' {signal}; kill -s {signal} $$");
    Command::new("sh")
        .args(["-c", &script])
        .status()
        .unwrap()
        .success()
}

#[test]
fn a_command_runs_in_the_folder_of_each_side_in_turns() {
    if !has_all(&["git"]) {
        return;
    }
    let repository = Repository::new();
    repository.write("number", "1\n");
    repository.commit("one");
    repository.write("number", "2\n");
    let log = repository.folder.path().join("log");
    let command = format!(
        "echo $RBENCHSTAT_SIDE $RBENCHSTAT_ROUND $(cat number) >>'{}'; echo noise; \
         echo \"BenchmarkOne 1 $(cat number) things\" >$RBENCHSTAT_OUT; test $RBENCHSTAT_SIDE$RBENCHSTAT_ROUND != head2",
        log.display()
    );
    let run = repository.run(&[
        "-count",
        "3",
        "-setup",
        "echo $RBENCHSTAT_SIDE >set-up",
        "-command",
        &command,
    ]);
    run.ends_with(0)
        .says("-command ended with exit status: 1 on head, round 2");
    let log = fs::read_to_string(log).unwrap();
    assert_eq!(
        log,
        "base 1 1\nhead 1 2\nhead 2 2\nbase 2 1\nbase 3 1\nhead 3 2\n"
    );
    assert_eq!(repository.things("base.txt"), ["1", "1", "1"]);
    assert_eq!(repository.things("head.txt"), ["2", "2", "2"]);
    assert!(!repository.read("rbenchstat-run/head.txt").contains("noise"));
    assert_eq!(repository.read("set-up"), "head\n");
}

/// What a side prints in a round, as a function of both; `cat` prints it in place of a benchmark.
fn machine(repository: &Repository, rounds: u32, text: &dyn Fn(&str, u32) -> String) -> String {
    let folder = repository.folder.path().join("machine");
    fs::create_dir_all(&folder).unwrap();
    for side in ["base", "head"] {
        for round in 1..=rounds {
            fs::write(folder.join(format!("{side}-{round}")), text(side, round)).unwrap();
        }
    }
    let folder = folder.display();
    format!(
        "echo $RBENCHSTAT_BENCH >>'{folder}/asked'; cat '{folder}/'$RBENCHSTAT_SIDE-$RBENCHSTAT_ROUND"
    )
}

/// A little noise, the same in every run of the test.
fn noise(row: u32, side: &str, round: u32) -> f64 {
    let seed = u64::from(row * 1009 + round * 31 + u32::from(side == "head") * 7);
    let mixed = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
    mixed as f64 / f64::from(1 << 24) - 0.5
}

/// Ten rows in which `factor` says how much slower each is.
fn rows(factor: &dyn Fn(u32) -> f64) -> String {
    let line = |row: u32| {
        let time = 1000.0 * factor(row);
        format!("BenchmarkRow{row}-8 1000 {time} ns/op\n")
    };
    let lines: Vec<_> = (0..10).map(line).collect();
    format!("pkg: example.com/m\n{}", lines.concat())
}

#[test]
fn a_row_in_doubt_is_measured_again_and_the_fresh_values_decide() {
    if !has_all(&["git"]) {
        return;
    }
    let repository = Repository::new();
    repository.commit("one");
    repository.write("changed", "");
    // Both look slower in the first ten rounds. One of them is; the other just had bad luck.
    let command = machine(&repository, 30, &|side, round| {
        rows(&|row| {
            let slower = side == "head" && (row == 3 || row == 5 && round <= 10);
            (1.0 + 0.01 * noise(row, side, round)) * if slower { 1.1 } else { 1.0 }
        })
    });
    let run = repository.run(&["-fail-on", "regression", "-command", &command]);
    run.ends_with(1)
        .says("2 rows are in doubt, and measured again in up to 20 fresh rounds, which decide: example.com/m Row3-8, example.com/m Row5-8")
        .says("gate failed: 1 regression")
        .says("regression: Row3-8");
    let head = repository.read("rbenchstat-run/head.txt");
    let rounds_of = |row: &str| -> Vec<u32> {
        let mut round = 0;
        let mut rounds = Vec::new();
        for line in head.lines() {
            if let Some(number) = line.strip_prefix("# rbenchstat round ") {
                round = number.parse().unwrap();
            }
            if line.starts_with(row) {
                rounds.push(round);
            }
        }
        rounds
    };
    let (first, again) = (rounds_of("BenchmarkRow1-8"), rounds_of("BenchmarkRow3-8"));
    assert_eq!(first[0], 1);
    assert_eq!(again[0] as usize, first.len() + 1, "{head}");
    assert_eq!(rounds_of("BenchmarkRow5-8"), again);
    let asked = fs::read_to_string(repository.folder.path().join("machine/asked")).unwrap();
    assert!(asked.starts_with(".\n"), "{asked}");
    assert!(
        asked.ends_with("^(BenchmarkRow3-8|BenchmarkRow3|BenchmarkRow5-8|BenchmarkRow5)$\n"),
        "{asked}"
    );
    // What is left in the files says the same.
    let again = Command::new(env!("CARGO_BIN_EXE_rbenchstat"))
        .args(["-fail-on", "regression", "base.txt", "head.txt"])
        .current_dir(repository.path("rbenchstat-run"))
        .output();
    Run::of(&again.unwrap())
        .ends_with(1)
        .says("gate failed: 1 regression");

    let once = repository.run(&[
        "-fail-on",
        "regression",
        "-max-count",
        "0",
        "-command",
        &command,
    ]);
    once.ends_with(1).says("gate failed: 2 regressions");
    assert!(!once.stderr.contains("in doubt"), "{}", once.stderr);
}

#[test]
fn a_quiet_machine_ends_early_and_a_noisy_one_does_not() {
    if !has_all(&["git"]) {
        return;
    }
    let repository = Repository::new();
    repository.commit("one");
    repository.write("changed", "");
    for (part, rounds) in [(0.002, 6), (0.1, 10)] {
        let command = machine(&repository, 30, &|side, round| {
            rows(&|row| 1.0 + part * noise(row, side, round))
        });
        let run = repository.run(&["-fail-on", "regression", "-command", &command]);
        run.ends_with(0);
        assert_eq!(
            run.stderr
                .contains("every row is decided after 6 of 10 rounds"),
            rounds == 6,
            "{}",
            run.stderr
        );
        let head = repository.read("rbenchstat-run/head.txt");
        assert_eq!(head.matches("BenchmarkRow0-8").count(), rounds);
    }
}

#[test]
fn what_cannot_have_changed_and_did_leaves_no_answer() {
    if !has_all(&["git"]) {
        return;
    }
    let repository = Repository::new();
    repository.commit("one");
    repository.write("changed", "");
    let command = machine(&repository, 30, &|side, round| {
        rows(&|row| {
            let slower = side == "head" && (row == 3 || row == 5);
            (1.0 + 0.01 * noise(row, side, round)) * if slower { 1.1 } else { 1.0 }
        })
    });
    let run = |control: &str| {
        repository.run(&[
            "-fail-on",
            "regression",
            "-control",
            control,
            "-command",
            &command,
        ])
    };
    run("Row5")
        .ends_with(3)
        .says("could not judge: what cannot have changed did")
        .says("cannot judge: 1 row changed that cannot have");
    run("Row[46]")
        .ends_with(1)
        .says("gate failed: 2 regressions");
    run("Nothing")
        .ends_with(2)
        .says("-control Nothing: no row has such a name");
    run("(").ends_with(2).says("control");
}

#[test]
fn of_several_bases_the_gate_judges_the_head_against_the_first() {
    if !has_all(&["git"]) {
        return;
    }
    let repository = Repository::new();
    for number in ["100", "150", "101"] {
        repository.write("number", number);
        repository.commit(number);
    }
    let command = "echo BenchmarkOne 1 $(cat number).$RBENCHSTAT_ROUND ns/op";
    let run = |bases: &[&str]| {
        let more = [
            "-exact-base",
            "-fail-on",
            "regression",
            "-max-count",
            "0",
            "-command",
            command,
        ];
        repository.run(&[bases, &more].concat())
    };
    // The base in the middle is slower, and not what is judged.
    let several = run(&["HEAD~2", "HEAD~1"]);
    several.ends_with(0).says("gate passed");
    run(&["HEAD~1", "HEAD~2"]).ends_with(0);
    repository.write("number", "150");
    run(&["HEAD", "HEAD~1"])
        .ends_with(1)
        .says("gate failed: 1 regression");
}

#[test]
fn the_first_benchmarks_are_told_and_not_red() {
    if !has_all(&["git", "go"]) {
        return;
    }
    let repository = Repository::new();
    repository.write("m.go", "package m\n");
    repository.commit("one");
    repository.write("m_test.go", &benchmark("m", 1));
    repository
        .quick(&["-fail-on", "regression"])
        .ends_with(0)
        .says("the base has no benchmarks, so there is nothing to compare these with");
    // A base that fails is another matter.
    repository.git(&["stash", "--quiet", "--include-untracked"]);
    repository.write("m_test.go", &benchmark("m", 1).replace("b.N", "b.M"));
    repository.commit("two");
    repository.write("m_test.go", &benchmark("m", 1));
    repository.quick(&["-fail-on", "regression"]).ends_with(3);
}

#[test]
fn several_bases_and_the_last_tag_can_be_compared_with() {
    if !has_all(&["git"]) {
        return;
    }
    let repository = Repository::new();
    for number in ["1", "2", "3"] {
        repository.write("number", number);
        repository.commit(number);
        if number != "3" {
            repository.git(&["tag", &format!("v1.{number}.0")]);
        }
    }
    let command = [
        "-count",
        "2",
        "-command",
        "echo BenchmarkOne 1 $(cat number) things",
    ];
    let run = |arguments: &[&str]| repository.run(&[&command[..], arguments].concat());
    let several = run(&["v1.1.0", "v1.2.0"]);
    several.ends_with(0);
    let (base, second, head) = (
        repository.things("base.txt"),
        repository.things("base-2.txt"),
        repository.things("head.txt"),
    );
    assert_eq!([base, second, head], [["1", "1"], ["2", "2"], ["3", "3"]]);
    assert!(several.stdout.contains("base-2"), "{}", several.stdout);
    run(&["-against-tag"]).ends_with(0).says("(tag v1.2.0)");
    assert!(!repository.path("rbenchstat-run/base-2.txt").exists());
    // On the tag itself, the one before it.
    repository.git(&["switch", "--quiet", "--detach", "v1.2.0"]);
    run(&["-against-tag"]).ends_with(0).says("(tag v1.1.0)");
}

#[test]
fn a_history_that_is_cut_off_is_told_with_the_remedy() {
    if !has_all(&["git"]) {
        return;
    }
    let repository = Repository::new();
    repository.commit("one");
    repository.commit("two");
    let url = format!("file://{}", repository.path("").display());
    git(
        repository.folder.path(),
        &["clone", "--quiet", "--depth", "1", &url, "shallow"],
    );
    let shallow = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rbenchstat"));
        command
            .arg("run")
            .args(arguments)
            .current_dir(repository.folder.path().join("shallow"));
        Run::of(&command.env_remove("GIT_DIR").output().unwrap())
    };
    shallow(&["HEAD~1"])
        .ends_with(2)
        .says("git fetch --unshallow origin, in a workflow with fetch-depth: 0");
    shallow(&["-head=--upload-pack=x"])
        .ends_with(2)
        .says("is no commit of this repository");
    let outside = Command::new(env!("CARGO_BIN_EXE_rbenchstat"))
        .arg("run")
        .current_dir(repository.folder.path())
        .output();
    Run::of(&outside.unwrap())
        .ends_with(2)
        .says("in no git working tree");
}

#[test]
fn submodules_are_as_each_side_has_them() {
    if !has_all(&["git"]) {
        return;
    }
    let inner = Repository::new();
    inner.write("number", "1");
    inner.commit("one");
    let repository = Repository::new();
    let url = inner.path("").display().to_string();
    repository.git(&["submodule", "--quiet", "add", &url, "inner"]);
    repository.commit("one");
    let submodule = repository.path("inner");
    fs::write(submodule.join("number"), "2").unwrap();
    git(&submodule, &["commit", "--quiet", "-am", "two"]);
    repository.commit("two");
    let run = repository.run(&[
        "HEAD~1",
        "-count",
        "1",
        "-command",
        "echo BenchmarkOne 1 $(cat inner/number) things",
    ]);
    run.ends_with(0);
    assert_eq!(
        (repository.things("base.txt"), repository.things("head.txt")),
        (vec!["1".into()], vec!["2".into()])
    );
    repository.is_tidy();
    let output = Command::new("git")
        .args(["worktree", "list"])
        .current_dir(submodule)
        .output()
        .unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap().lines().count(), 1);
}

#[test]
fn a_workspace_that_only_one_side_has_is_refused() {
    if !has_all(&["git", "go"]) {
        return;
    }
    let repository = Repository::new();
    repository.write("lib/go.mod", "module example.com/lib\n\ngo 1.20\n");
    repository.write("lib/lib.go", "package lib\n\nconst Number = 1\n");
    repository.write(
        "go.mod",
        "module example.com/m\n\ngo 1.20\n\nrequire example.com/lib v0.0.0\n",
    );
    let test = benchmark("m", 1).replace(
        "import \"testing\"",
        "import (\n\t\"testing\"\n\n\t\"example.com/lib\"\n)",
    );
    repository.write(
        "m_test.go",
        &test.replace("ReportMetric(1,", "ReportMetric(lib.Number,"),
    );
    repository.commit("one");
    repository.write("go.work", "go 1.20\n\nuse (\n\t.\n\t./lib\n)\n");
    repository
        .quick(&[])
        .ends_with(2)
        .says("go.work applies to head only: commit it on all sides, or set GOWORK=off");
    repository.commit("two");
    repository.write("lib/lib.go", "package lib\n\nconst Number = 2\n");
    repository.quick(&[]).ends_with(0);
    assert_eq!(
        (repository.things("base.txt"), repository.things("head.txt")),
        (vec!["1".into(); 2], vec!["2".into(); 2])
    );
}

#[test]
fn what_setup_generates_is_built() {
    if !has_all(&["git", "go"]) {
        return;
    }
    let repository = Repository::new();
    repository.write(".gitignore", "generated_test.go\n");
    repository.write("template", &benchmark("m", 1));
    repository.write("m.go", "package m\n");
    repository.commit("one");
    repository.write("template", &benchmark("m", 2));
    repository
        .quick(&["-setup", "false"])
        .ends_with(2)
        .says("-setup ended with exit status: 1 on base");
    repository
        .quick(&["-setup", "cp template generated_test.go"])
        .ends_with(0);
    assert_eq!(
        (repository.things("base.txt"), repository.things("head.txt")),
        (vec!["1".into(); 2], vec!["2".into(); 2])
    );
}

#[test]
fn no_file_of_others_is_replaced() {
    if !has_all(&["git"]) {
        return;
    }
    let repository = Repository::new();
    repository.write("mine/base.txt", "precious");
    repository.commit("one");
    repository.write("changed", "");
    let run = repository.run(&["-into", "mine", "-command", "true"]);
    run.ends_with(2)
        .says("mine holds files that rbenchstat run did not write");
    assert_eq!(repository.read("mine/base.txt"), "precious");
}

#[test]
fn a_file_called_run_is_read_and_the_command_is_told() {
    if !has_all(&["git"]) {
        return;
    }
    let repository = Repository::new();
    repository.write("run", "BenchmarkOne 1 5 ns/op\n");
    repository.commit("one");
    let run = repository.run(&[]);
    run.ends_with(0)
        .says("run is a file here, and read; rbenchstat -run measures");
    assert!(run.stdout.contains("One"), "{}", run.stdout);
    let mut command = Command::new(env!("CARGO_BIN_EXE_rbenchstat"));
    let output = command
        .args(["-run", "-head", "nowhere"])
        .current_dir(repository.path(""))
        .output()
        .unwrap();
    Run::of(&output)
        .ends_with(2)
        .says("\"nowhere\" is no commit");
}
