//! The scripts, workflows and commands of docs/ci.md and docs/json.md, run as they stand.
//!
//! What stands for a service on the network is a script that records how it was called.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "common/inputs.rs"]
#[expect(dead_code, reason = "shared with tests that use more of it")]
mod inputs;

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn has(program: &str) -> bool {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).any(|folder| folder.join(program).is_file())
}

/// Whether all `programs` are there; says so if not.
#[expect(clippy::print_stdout, reason = "a test that skips says so")]
fn has_all(programs: &[&str]) -> bool {
    let missing: Vec<_> = programs.iter().filter(|program| !has(program)).collect();
    if !missing.is_empty() {
        println!("skipped: {missing:?} not found");
    }
    missing.is_empty()
}

/// A folder with a checkout of a Go module, and commands that stand for services.
struct Place {
    folder: tempfile::TempDir,
}

/// Stands for `go`: prints results, and records whether for base or head.
const GO: &str = r#"#!/usr/bin/env bash
echo "${PWD##*/} $*" >>"$PLACE/go.log"
case "$PWD" in */base*) time=100 ;; *) time=101 ;; esac
calls=$(wc -l <"$PLACE/go.log")
printf 'goos: linux\ngoarch: amd64\npkg: example.com/m\ncpu: Example\n'
printf 'BenchmarkOne-8 100 %s.%s ns/op\nPASS\n' "$time" "$((calls % 7))"
"#;

/// Stands for `gh`: answers from files, and keeps what it is given.
const GH: &str = r#"#!/usr/bin/env bash
echo "$*" >>"$PLACE/gh.log"
filter=. body=
while [ $# -gt 0 ]; do
  case "$1" in
    --jq) filter=$2; shift ;;
    -F) body=${2#body=@}; shift ;;
    repos/*) path=$1 ;;
  esac
  shift
done
if [ -n "$body" ]; then
  cp "$body" "$PLACE/posted"
elif [[ $path == */pulls ]]; then
  jq -r "$filter" "$PLACE/pulls.json"
else
  jq -r "$filter" "$PLACE/comments.json"
fi
"#;

/// Stands for `curl`.
const CURL: &str = r#"#!/usr/bin/env bash
config= writes= last=
while [ $# -gt 0 ]; do
  case "$1" in
    --config) config=$(cat "$2"); shift ;;
    --request) writes=$2; shift ;;
    --data-urlencode) cp "${2#body@}" "$PLACE/posted"; shift ;;
    --output) shift ;;
    --*) ;;
    *) last=$1 ;;
  esac
  shift
done
echo "${writes:-GET} $last $config" >>"$PLACE/curl.log"
if [ -z "$writes" ]; then cat "$PLACE/comments.json"; fi
"#;

impl Place {
    /// One with a comment to post.
    fn with_comment() -> Self {
        let place = Self::new();
        let text = "<!-- rbenchstat:v1 id=default -->\n";
        fs::write(place.path("comment.md"), text).unwrap();
        place
    }

    fn new() -> Self {
        let place = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        let bin = place.path("bin");
        fs::create_dir(&bin).unwrap();
        for (name, text) in [("gh", GH), ("curl", CURL)] {
            place.command(name, text);
        }
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_rbenchstat"), bin.join("rbenchstat"))
            .unwrap();
        fs::write(place.path("comments.json"), "[]").unwrap();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    fn command(&self, name: &str, text: &str) {
        let path = self.path("bin").join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Makes the folder `checkout` a repository with a Go module, in which the branch `faster` follows `main`.
    fn checkout(&self) {
        self.bash(
            r#"git init --quiet --initial-branch main checkout && cd checkout
            git config user.email nobody@example.com && git config user.name Nobody && git config commit.gpgsign false
            printf 'module example.com/m\n\ngo 1.20\n' >go.mod
            printf 'package m\n\nimport "testing"\n\nfunc BenchmarkOne(b *testing.B) {\n\tfor i := 0; i < b.N; i++ {\n\t}\n}\n' >m_test.go
            git add . && git commit --quiet -m one
            git switch --quiet -c faster && echo >>m_test.go && git commit --quiet -am two"#,
            &[],
        );
    }

    fn run(&self, script: &str, variables: &[(&str, &str)]) -> Output {
        let mut path = OsString::from(self.path("bin"));
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        Command::new("bash")
            .args(["-euo", "pipefail", "-c", script])
            .current_dir(self.folder.path())
            .env("PATH", path)
            .env("PLACE", self.folder.path())
            .env("SCRIPTS", repository().join("scripts/ci"))
            .env_remove("GITHUB_OUTPUT")
            .env_remove("GITHUB_STEP_SUMMARY")
            .env_remove("GIT_DIR")
            .env_remove("BASE_REF")
            .envs(variables.iter().copied())
            .output()
            .unwrap()
    }

    /// Runs what has to go well.
    #[track_caller]
    fn bash(&self, script: &str, variables: &[(&str, &str)]) -> String {
        let output = self.run(script, variables);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{script}\n{stderr}");
        String::from_utf8(output.stdout).unwrap()
    }
}

#[test]
fn both_commits_are_measured_in_turns() {
    if !has_all(&["git", "bash"]) {
        return;
    }
    let place = Place::new();
    place.command("go", GO);
    place.checkout();
    place.bash(
        "cd checkout && bash \"$SCRIPTS/measure.sh\"",
        &[
            ("BASE_REF", "main"),
            ("COUNT", "3"),
            ("BENCH", "One|Two"),
            ("BENCHTIME", "10x"),
        ],
    );
    let flags = "test -run ^$ -bench One|Two -count 1 -benchtime 10x ./...";
    let order = ["base", "head", "head", "base", "base", "head"];
    let expected = order.map(|side| format!("{side} {flags}")).join("\n");
    assert_eq!(place.read("go.log").trim_end(), expected);
    assert_eq!(
        place
            .read("checkout/base.txt")
            .matches("BenchmarkOne-8")
            .count(),
        3
    );
    assert_eq!(
        place
            .read("checkout/head.txt")
            .matches("BenchmarkOne-8")
            .count(),
        3
    );
    assert_eq!(
        place
            .bash("cd checkout && git worktree list | wc -l", &[])
            .trim(),
        "1"
    );
}

const MEASURE: &str = "cd checkout && bash \"$SCRIPTS/measure.sh\"";
const COMPARE: &str = "cd checkout && bash \"$SCRIPTS/compare.sh\"";

/// Stands for `go`, with something to run first that knows the side and how many calls there were before.
fn go_that(fails: &str) -> String {
    let count = r#"calls=$(cat "$PLACE/go.log" 2>/dev/null | wc -l)"#;
    format!("#!/usr/bin/env bash\nside=${{PWD##*/}}\n{count}\n{fails}\n{GO}")
}

/// Measures with such a `go`; returns what is said on standard error.
fn measure_with(place: &Place, go: &str, count: &str) -> String {
    place.command("go", &go_that(go));
    place.checkout();
    let variables = [("BASE_REF", "main"), ("COUNT", count)];
    let output = place.run(MEASURE, &variables);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    let worktrees = place.bash("cd checkout && git worktree list | wc -l", &[]);
    assert_eq!(worktrees.trim(), "1");
    stderr
}

#[test]
fn a_benchmark_that_fails_is_told_and_left_to_the_gate() {
    if !has_all(&["git", "bash"]) {
        return;
    }
    let place = Place::new();
    // The fourth call is the one on base in the second round.
    let fails = r#"if [ "$calls" -eq 3 ]; then
  echo "$side fails" >>"$PLACE/go.log"
  seq -f 'line %g' 30
  printf -- '--- FAIL: BenchmarkOne-8\n    m_test.go:6: broken\nFAIL\nexit status 1\nFAIL\texample.com/m\t0.004s\n'
  exit 1
fi"#;
    let stderr = measure_with(&place, fails, "10");
    let commit = place.bash("cd checkout && git rev-parse main", &[]);
    let expected = format!(
        "go test failed with status 1 on base, commit {}, round 2 of 10;",
        commit.trim()
    );
    assert!(stderr.contains(&expected), "{stderr}");
    assert!(stderr.contains("  line 16\n") && stderr.contains("broken"));
    assert!(!stderr.contains("line 15\n"), "{stderr}");
    assert!(stderr.contains("1 of 20 times go test failed"), "{stderr}");

    assert_eq!(place.read("go.log").lines().count(), 20);
    let base = place.read("checkout/base.txt");
    assert!(base.contains("line 1\nline 2\n"));
    assert_eq!(base.matches("FAIL").count(), 3, "{base}");
    assert_eq!(base.matches("BenchmarkOne-8 ").count(), 9);
    let head = place.read("checkout/head.txt");
    assert_eq!(head.matches("BenchmarkOne-8 ").count(), 10);

    assert_eq!(place.run(COMPARE, &[]).status.code(), Some(3));
    let comment = place.read("checkout/rbenchstat-report/comment.md");
    assert!(comment.contains("a benchmark failed"), "{comment}");
    place.bash(COMPARE, &[("ALLOW", "failed")]);
}

#[test]
fn a_side_that_does_not_build_still_gets_a_report() {
    if !has_all(&["git", "bash"]) {
        return;
    }
    let place = Place::new();
    let fails = r#"if [ "$side" = head ]; then
  echo "$side fails" >>"$PLACE/go.log"
  echo 'm_test.go:6:2: undefined: x' >&2
  printf 'FAIL\texample.com/m [build failed]\nFAIL\n'
  exit 1
fi"#;
    let stderr = measure_with(&place, fails, "3");
    assert!(stderr.contains("undefined: x"), "{stderr}");
    assert!(stderr.contains("3 of 6 times"), "{stderr}");
    let base = place.read("checkout/base.txt");
    assert_eq!(base.matches("BenchmarkOne-8 ").count(), 3);
    assert_eq!(
        place.read("checkout/head.txt"),
        "FAIL\texample.com/m [build failed]\nFAIL\n".repeat(3)
    );
    let output = place.run(COMPARE, &[("ALLOW", "failed")]);
    assert_eq!(output.status.code(), Some(3));
    let comment = place.read("checkout/rbenchstat-report/comment.md");
    assert!(comment.contains("[build failed]"), "{comment}");
}

#[test]
fn a_run_that_ends_without_a_word_is_seen_by_the_gate() {
    if !has_all(&["git", "bash"]) {
        return;
    }
    let place = Place::new();
    // Killed within a line.
    let fails = r#"if [ "$calls" -eq 3 ]; then
  echo "$side fails" >>"$PLACE/go.log"
  printf 'pkg: example.com/m\nBenchmarkOne-8 '
  exit 137
fi"#;
    measure_with(&place, fails, "10");
    let base = place.read("checkout/base.txt");
    let told = "BenchmarkOne-8 \nFAIL\tgo test ended with status 137\ngoos: ";
    assert!(base.contains(told), "{base}");
    assert_eq!(place.run(COMPARE, &[]).status.code(), Some(3));
}

#[test]
fn wrong_usage_of_the_measurement_is_refused() {
    if !has_all(&["git", "bash"]) {
        return;
    }
    let place = Place::new();
    place.command("go", GO);
    place.checkout();
    let main = ("BASE_REF", "main");
    let counts = ["abc", "0", "-1", "2.5", "1 2", "99999999999999999999"];
    let mut wrong = counts
        .map(|count| (vec![main, ("COUNT", count)], "COUNT"))
        .to_vec();
    wrong.push((vec![], "BASE_REF is not set"));
    wrong.push((vec![("BASE_REF", "")], "BASE_REF is not set"));
    wrong.push((vec![("BASE_REF", "gone")], "BASE_REF is 'gone'"));
    wrong.push((vec![main, ("HEAD_REF", "gone")], "HEAD_REF is 'gone'"));
    for (variables, message) in wrong {
        let output = place.run(MEASURE, &variables);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{variables:?}\n{stderr}");
        assert!(
            stderr.contains(&format!("measure.sh: {message}")),
            "{stderr}"
        );
    }
    assert_eq!(place.read("go.log"), "");
    assert!(!place.path("checkout/base.txt").exists());
    // An error that is nobody's usage: status 1 is the gate's.
    fs::create_dir(place.path("checkout/base.txt")).unwrap();
    assert_eq!(place.run(MEASURE, &[main]).status.code(), Some(2));
}

#[test]
fn a_measurement_that_is_interrupted_ends() {
    if !has_all(&["git", "bash"]) {
        return;
    }
    let place = Place::new();
    // Who ignores the signal hands that down, and then there is nothing to interrupt.
    if place.run("kill -INT $$; exit 7", &[]).status.code() == Some(7) {
        return;
    }
    place.command(
        "go",
        "#!/usr/bin/env bash\necho >>\"$PLACE/go.log\"\nkill -INT \"$MEASURE\"\nexit 1\n",
    );
    place.checkout();
    let output = place.run(
        "cd checkout && export MEASURE=$$ && exec bash \"$SCRIPTS/measure.sh\"",
        &[("BASE_REF", "main")],
    );
    assert_eq!(output.status.code(), Some(130));
    assert_eq!(place.read("go.log"), "\n");
    let worktrees = place.bash("cd checkout && git worktree list | wc -l", &[]);
    assert_eq!(worktrees.trim(), "1");
}

#[test]
fn real_benchmarks_are_measured_compared_and_gated() {
    if !has_all(&["git", "bash", "go"]) {
        return;
    }
    let place = Place::new();
    place.checkout();
    place.bash(
        "cd checkout && bash \"$SCRIPTS/measure.sh\"",
        &[
            ("BASE_REF", "main"),
            ("COUNT", "2"),
            ("BENCHTIME", "10x"),
            ("GOFLAGS", "-mod=mod"),
            ("GOTOOLCHAIN", "local"),
        ],
    );
    let output = place.run(COMPARE, &[]);
    // Two runs a side can show nothing, and the gate says so.
    assert_eq!(
        output.status.code(),
        Some(3),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

fn lay(place: &Place, sides: &inputs::Sides) {
    for (name, text) in [
        ("base.txt", &sides.old),
        ("head.txt", &sides.new),
        ("old.txt", &sides.old),
        ("new.txt", &sides.new),
    ] {
        fs::write(place.path(name), text).unwrap();
    }
}

#[test]
fn all_reports_are_written_and_the_status_is_kept_for_the_last_step() {
    let place = Place::new();
    lay(&place, &inputs::small());
    let compare = "bash \"$SCRIPTS/compare.sh\"";
    let variables = [
        ("BASE_REF", "v1"),
        ("ALLOW", "removed"),
        ("THRESHOLD", "3%"),
        ("ID", "codec"),
        ("ARGUMENTS", "-adjust bh -sort name"),
    ];
    let output = place.run(compare, &variables);
    assert_eq!(
        output.status.code(),
        Some(1),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    for name in [
        "comment.md",
        "report.json",
        "report.html",
        "base.txt",
        "head.txt",
    ] {
        assert!(
            !place.read(&format!("rbenchstat-report/{name}")).is_empty(),
            "{name}"
        );
    }
    let comment = place.read("rbenchstat-report/comment.md");
    assert!(comment.starts_with("<!-- rbenchstat:v1 id=codec -->\n### ❌ gate failed: "));

    fs::write(place.path("summary"), "before\n").unwrap();
    let (output, summary) = (place.path("output"), place.path("summary"));
    let github = [
        ("GITHUB_OUTPUT", output.to_str().unwrap()),
        ("GITHUB_STEP_SUMMARY", summary.to_str().unwrap()),
    ];
    place.bash(compare, &[&variables[..], &github].concat());
    assert_eq!(place.read("output"), "status=1\n");
    assert_eq!(place.read("summary"), format!("before\n\n\n{comment}"));
}

#[test]
fn earlier_reports_do_not_outlive_a_comparison_that_fails() {
    let place = Place::new();
    lay(&place, &inputs::small());
    let compare = "bash \"$SCRIPTS/compare.sh\"";
    let reports = ["comment.md", "report.json", "report.html"];
    let exist = |folder: &str| reports.map(|name| place.path(&format!("{folder}/{name}")).exists());
    for (folder, variables) in [
        ("rbenchstat-report", vec![]),
        // Reports beside the inputs, which have to stay.
        (".", vec![("REPORTS", ".")]),
    ] {
        fs::create_dir_all(place.path(folder)).unwrap();
        fs::write(place.path(folder).join("mine"), "").unwrap();
        place.run(compare, &variables);
        assert_eq!(exist(folder), [true; 3]);
        let wrong = [&variables[..], &[("THRESHOLD", "much")]].concat();
        assert_eq!(place.run(compare, &wrong).status.code(), Some(2));
        assert_eq!(exist(folder), [false; 3]);
        for name in ["mine", "base.txt", "head.txt"] {
            assert!(place.path(folder).join(name).exists(), "{folder}/{name}");
        }
    }
    // An input that is not there is an error as well, and its earlier copy goes.
    fs::remove_file(place.path("head.txt")).unwrap();
    place.bash("echo >rbenchstat-report/comment.md", &[]);
    assert_eq!(place.run(compare, &[]).status.code(), Some(2));
    assert_eq!(exist("rbenchstat-report"), [false; 3]);
    assert!(!place.path("rbenchstat-report/head.txt").exists());
}

const POST: &str = "bash \"$SCRIPTS/post.sh\"";
const PULL: [(&str, &str); 3] = [
    ("PULL_REQUEST", "12"),
    ("GITHUB_REPOSITORY", "owner/name"),
    ("COMMENT", "comment.md"),
];

#[test]
fn one_comment_is_posted_and_then_updated() {
    if !has_all(&["jq"]) {
        return;
    }
    let place = Place::new();
    let comment = "<!-- rbenchstat:v1 id=default -->\n### fine\n";
    fs::write(place.path("comment.md"), comment).unwrap();
    // Somebody else wrote the marker, and a bot another one.
    let others = r#"{"id": 1, "user": {"type": "User"}, "body": "<!-- rbenchstat:v1 id=default -->"},
        {"id": 2, "user": {"type": "Bot"}, "body": "<!-- rbenchstat:v1 id=other -->"}"#;
    fs::write(place.path("comments.json"), format!("[{others}]")).unwrap();
    place.bash(POST, &PULL);
    assert!(
        place
            .read("gh.log")
            .contains("--method POST repos/owner/name/issues/12/comments")
    );
    assert_eq!(place.read("posted"), comment);
    let own =
        r#"{"id": 3, "user": {"type": "Bot"}, "body": "<!-- rbenchstat:v1 id=default -->\nold"}"#;
    fs::write(place.path("comments.json"), format!("[{others}, {own}]")).unwrap();
    place.bash(POST, &PULL);
    assert!(
        place
            .read("gh.log")
            .contains("--method PATCH repos/owner/name/issues/comments/3")
    );
}

#[test]
fn what_is_no_comment_of_ours_is_not_posted() {
    let place = Place::new();
    let marker = "<!-- rbenchstat:v1 id=default -->\n";
    for text in [
        "hello\n".to_owned(),
        String::new(),
        format!("\n{marker}"),
        marker.repeat(2000),
    ] {
        fs::write(place.path("comment.md"), text).unwrap();
        assert_eq!(place.run(POST, &PULL).status.code(), Some(2));
    }
    fs::write(place.path("target"), marker).unwrap();
    fs::remove_file(place.path("comment.md")).unwrap();
    std::os::unix::fs::symlink(place.path("target"), place.path("comment.md")).unwrap();
    assert_eq!(place.run(POST, &PULL).status.code(), Some(2));
    let other = [PULL[1], PULL[2], ("PULL_REQUEST", "12/../13")];
    assert_eq!(place.run(POST, &other).status.code(), Some(2));
    assert_eq!(place.read("gh.log"), "");
}

#[test]
fn the_pull_request_of_a_fork_is_found_by_its_head() {
    if !has_all(&["jq"]) {
        return;
    }
    let place = Place::with_comment();
    let pulls = r#"[{"number": 7, "head": {"sha": "aaa"}}, {"number": 8, "head": {"sha": "bbb"}}]"#;
    fs::write(place.path("pulls.json"), pulls).unwrap();
    let script = "bash \"$SCRIPTS/post_for_fork.sh\"";
    let run = |sha| {
        let variables = [
            ("HEAD_OWNER", "someone"),
            ("HEAD_BRANCH", "topic"),
            ("HEAD_SHA", sha),
            PULL[1],
            PULL[2],
        ];
        place.bash(script, &variables)
    };
    assert!(run("ccc").contains("nothing to comment on"));
    assert!(!place.path("posted").exists());
    run("bbb");
    assert!(
        place
            .read("gh.log")
            .contains("--method POST repos/owner/name/issues/8/comments")
    );
}

#[test]
fn a_note_is_posted_on_a_merge_request_and_then_updated() {
    if !has_all(&["jq"]) {
        return;
    }
    let place = Place::with_comment();
    let script = "bash \"$SCRIPTS/post_gitlab.sh\"";
    let variables = [
        ("CI_API_V4_URL", "https://gitlab.example.com/api/v4"),
        ("CI_PROJECT_ID", "5"),
        ("CI_MERGE_REQUEST_IID", "6"),
        ("COMMENT", "comment.md"),
    ];
    assert!(place.bash(script, &variables).contains("no GITLAB_TOKEN"));
    let variables = [&variables[..], &[("GITLAB_TOKEN", "secret")]].concat();
    place.bash(script, &variables);
    let notes = "https://gitlab.example.com/api/v4/projects/5/merge_requests/6/notes";
    let token = "header = \"PRIVATE-TOKEN: secret\"";
    assert_eq!(
        place.read("curl.log"),
        format!("GET {notes}?per_page=100&sort=asc {token}\nPOST {notes} {token}\n")
    );
    let none = [&variables[..], &[("COMMENT", "none.md")]].concat();
    assert_eq!(place.run(script, &none).status.code(), Some(2));
    let own = r#"[{"id": 9, "body": "<!-- rbenchstat:v1 id=default -->\nold"}]"#;
    fs::write(place.path("comments.json"), own).unwrap();
    place.bash(script, &variables);
    assert!(place.read("curl.log").contains(&format!("PUT {notes}/9 ")));
}

#[test]
fn the_program_is_installed_only_where_it_is_missing() {
    let place = Place::new();
    let version = place.bash("bash \"$SCRIPTS/install.sh\"", &[]);
    assert_eq!(
        version,
        format!("rbenchstat {}\n", env!("CARGO_PKG_VERSION"))
    );
    // Without it, the package beside the script is built; what stands for cargo only records it.
    fs::remove_file(place.path("bin/rbenchstat")).unwrap();
    place.command(
        "cargo",
        "#!/usr/bin/env bash\necho \"$* ${RUSTFLAGS-}\" >>\"$PLACE/cargo.log\"\n",
    );
    let install = |host: &str, library: &str| {
        place.command(
            "rustc",
            &format!("#!/usr/bin/env bash\necho rustc\necho host: {host}\n"),
        );
        place.command("cc", &format!("#!/usr/bin/env bash\necho {library}\n"));
        place.bash(
            "PATH=$PLACE/bin:/usr/bin:/bin bash \"$SCRIPTS/install.sh\"",
            &[("RUSTFLAGS", "-C debuginfo=0")],
        );
        let log = place.read("cargo.log");
        fs::remove_file(place.path("cargo.log")).unwrap();
        log
    };
    let package = format!(
        "install --locked --path {} --bin rbenchstat",
        repository().display()
    );
    let linux = "x86_64-unknown-linux-gnu";
    let shared = format!("{package} --profile dist --quiet -C debuginfo=0\n");
    assert_eq!(install("aarch64-apple-darwin", "/lib/libc.a"), shared);
    assert_eq!(install(linux, "libc.a"), shared);
    // Where the C library can be linked in, it is.
    let whole = format!(
        "{package} --target {linux} --profile dist --quiet -C debuginfo=0 -C target-feature=+crt-static -C relocation-model=static\n"
    );
    assert_eq!(install(linux, "/usr/lib/x86_64-linux-gnu/libc.a"), whole);
}

/// The blocks of a document in a language, each with the line before it.
fn blocks(document: &str, language: &str) -> Vec<(String, String)> {
    let mut blocks = Vec::new();
    let mut lines = document.lines();
    let mut before = "";
    while let Some(line) = lines.next() {
        if line == format!("```{language}") {
            let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            blocks.push((before.to_owned(), block.join("\n") + "\n"));
        }
        before = line;
    }
    blocks
}

#[test]
fn the_commands_of_the_documents_run() {
    if !has_all(&["git", "bash", "jq"]) {
        return;
    }
    let mut count = 0;
    for document in ["ci.md", "json.md"] {
        let text = fs::read_to_string(repository().join("docs").join(document)).unwrap();
        for (_, block) in blocks(&text, "sh") {
            let place = Place::new();
            place.command("go", GO);
            place.checkout();
            let sides = inputs::small();
            // Nothing changed, so that the gate of a command passes.
            let same = inputs::Sides {
                new: sides.old.clone(),
                old: sides.old,
            };
            for name in ["base.txt", "head.txt", "old.txt", "new.txt"] {
                fs::write(place.path("checkout").join(name), &same.new).unwrap();
            }
            let script = format!("cd checkout && ln -s \"$SCRIPTS/..\" scripts\n{block}");
            let summary = place.path("summary");
            let variables = [("GITHUB_STEP_SUMMARY", summary.to_str().unwrap()), PULL[1]];
            place.bash(&script, &variables);
            count += 1;
        }
    }
    assert_eq!(count, 6);
}

#[test]
fn regressions_are_sorted_by_size_whichever_direction_is_better() {
    if !has_all(&["bash", "jq"]) {
        return;
    }
    let text = fs::read_to_string(repository().join("docs/json.md")).unwrap();
    let blocks = blocks(&text, "sh");
    let (_, recipe) = blocks
        .iter()
        .find(|(_, block)| block.contains("jq"))
        .unwrap();
    let place = Place::new();
    let runs = |sides: [(&str, u32, u32); 3]| -> String {
        let lines = (0..30).map(|run| {
            let (name, time, speed) = sides[run % 3];
            format!("Benchmark{name} 1 {time}.{run} ns/op {speed}.{run} MB/s\n")
        });
        lines.collect()
    };
    let old = runs([("A", 100, 100), ("B", 100, 100), ("C", 100, 100)]);
    let new = runs([("A", 120, 70), ("B", 110, 20), ("C", 150, 60)]);
    fs::write(place.path("old.txt"), old).unwrap();
    fs::write(place.path("new.txt"), new).unwrap();
    let sorted = place.bash(recipe, &[]);
    let rows: Vec<Vec<&str>> = sorted
        .lines()
        .map(|line| line.split('\t').take(2).collect())
        .collect();
    let expected = [
        ["B", "B/s"],
        ["C", "sec/op"],
        ["C", "B/s"],
        ["A", "B/s"],
        ["A", "sec/op"],
        ["B", "sec/op"],
    ];
    assert_eq!(rows, expected, "{sorted}");
}

#[test]
fn the_files_that_commands_of_the_harness_name_are_found_from_the_root() {
    let text = fs::read_to_string(repository().join("bench-harness/README.md")).unwrap();
    let commands = text.lines().filter(|line| line.starts_with("    "));
    let paths: Vec<&str> = commands
        .flat_map(str::split_whitespace)
        .filter(|word| word.contains("policies/"))
        .collect();
    assert_eq!(paths.len(), 2);
    for path in paths {
        assert!(repository().join(path).exists(), "{path}");
    }
}

#[test]
fn where_nothing_is_compared_only_a_gate_minds() {
    let place = Place::new();
    lay(&place, &inputs::small());
    fs::write(place.path("empty.txt"), "").unwrap();
    for (command, status) in [
        ("rbenchstat old.txt empty.txt", 0),
        ("rbenchstat -fail-on regression old.txt empty.txt", 3),
        ("rbenchstat old.txt gone.txt", 2),
    ] {
        assert_eq!(place.run(command, &[]).status.code(), Some(status));
    }
}

#[test]
fn the_workflows_of_the_document_are_the_files() {
    let document = fs::read_to_string(repository().join("docs/ci.md")).unwrap();
    let workflows = blocks(&document, "yaml");
    assert_eq!(workflows.len(), 3);
    for (before, block) in workflows {
        let path = before.trim_start_matches("<!-- ").trim_end_matches(" -->");
        assert_eq!(block, fs::read_to_string(repository().join(path)).unwrap());
    }
}

#[test]
fn workflows_run_nothing_but_the_scripts_tested_here() {
    let tests = fs::read_to_string(repository().join("tests/ci.rs")).unwrap();
    let mut scripts = 0;
    for path in [
        "action.yml",
        "docs/ci/github.yml",
        "docs/ci/github-forks.yml",
        "docs/ci/gitlab.yml",
    ] {
        let text = fs::read_to_string(repository().join(path)).unwrap();
        let commands = text.lines().filter_map(|line| {
            let line = line.trim();
            line.strip_prefix("run: ")
                .or_else(|| line.strip_prefix("- bash ").map(|_| &line[2..]))
        });
        for command in commands {
            if command == "exit \"$STATUS\"" {
                continue;
            }
            let name = command.rsplit('/').next().unwrap().trim_end_matches('"');
            assert!(
                command.starts_with("bash ")
                    && repository().join("scripts/ci").join(name).is_file(),
                "{path}: {command}"
            );
            assert!(tests.contains(&format!("$SCRIPTS/{name}")), "{name}");
            scripts += 1;
            // What comes from a pull request gets into a script as a variable only.
            assert!(!command.contains("${{"), "{path}: {command}");
        }
    }
    assert_eq!(scripts, 8);
}
