//! The scripts, workflows and commands of docs/ci.md and docs/json.md, run as they stand.
//!
//! What stands for a service on the network is a script that records how it was called.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "common/inputs.rs"]
#[expect(dead_code, reason = "shared with tests that use more of it")]
mod inputs;
#[path = "common/service.rs"]
mod service;

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use service::{Request, Service};

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

/// Stands for `go`: builds programs that print results, other ones on base than on head, and records how it was called.
const GO: &str = r#"#!/usr/bin/env bash
echo "${PWD##*/} $*" >>"$PLACE/go.log"
case "$1 $2" in
  'list -e') if [[ $PWD != */base ]] || [ -z "${NO_BASE:-}" ]; then printf 'example.com/m\0%s\0\0m_test.go\001' "$PWD"; fi ;;
  'test -c')
    if [[ $PWD != */base ]] && [ -n "${BROKEN:-}" ]; then echo 'm_test.go:6:2: undefined: x' >&2; exit 1; fi
    if [ -n "${SAME:-}" ]; then echo same >"$4"; exit; fi
    cat >"$4" <<'END'
#!/usr/bin/env bash
echo "${PWD##*/} $*" >>"$PLACE/program.log"
case "$PWD" in */base) time=100 ;; *) time=${HEAD_TIME:-101} ;; esac
calls=$(wc -l <"$PLACE/program.log")
printf 'goos: linux\ngoarch: amd64\npkg: example.com/m\ncpu: Example\n'
printf 'BenchmarkOne-8 100 %s.%s ns/op\nPASS\n' "$time" "$((calls % 7))"
END
    echo '# '"$PWD" >>"$4"
    chmod +x "$4"
    ;;
  'test '*) printf 'BenchmarkOne-8 100 100 ns/op\nPASS\n' ;;
esac
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
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_rbenchstat"), bin.join("rbenchstat"))
            .unwrap();
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

    /// Lays a release with this very program into a folder.
    fn release(&self, folder: &str) {
        let archive = release_name();
        self.bash(
            &format!(
                "mkdir -p {folder} {archive} && ln -s {} {archive}/rbenchstat && tar -chzf {folder}/{archive}.tar.gz {archive} && \
                 cd {folder} && sha256sum -b {archive}.tar.gz >{archive}.tar.gz.sha256",
                env!("CARGO_BIN_EXE_rbenchstat")
            ),
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

const RUN: &str = "cd checkout && bash \"$SCRIPTS/run.sh\"";

/// A checkout whose two commits are built and measured by what stands for `go`.
fn measured_by(go: &str) -> Place {
    let place = Place::new();
    place.command("go", go);
    place.checkout();
    place
}

/// What was called, as the log has it, with the names of files that go away left out.
fn calls(place: &Place, log: &str, of: &str) -> Vec<String> {
    let text = place.read(log);
    let lines = text.lines().filter(|line| line.contains(of));
    let is_file = |word: &&str| !word.starts_with('/');
    let words = lines.map(|line| {
        line.split(' ')
            .filter(is_file)
            .collect::<Vec<_>>()
            .join(" ")
    });
    words.collect()
}

#[test]
fn both_commits_are_measured_in_turns() {
    if !has_all(&["git", "bash"]) {
        return;
    }
    let place = measured_by(GO);
    let variables = [
        ("BASE_REF", "main"),
        ("HEAD_REF", "faster"),
        ("COUNT", "3"),
        ("BENCH", "One|Two"),
        ("BENCHTIME", "10x"),
        ("CPU", "1,2"),
        ("TAGS", "a,b"),
        ("FLAGS", "-race\n-short"),
        ("PACKAGES", "./a\n./b"),
        ("SETUP", "echo \"${PWD##*/} setup\" >>\"$PLACE/go.log\""),
        ("ARGUMENTS", "-max-count 0"),
    ];
    assert_eq!(place.run(RUN, &variables).status.code(), Some(3));
    assert_eq!(
        calls(&place, "go.log", "setup"),
        ["base setup", "head setup"]
    );
    let flags = "-trimpath -buildvcs=false -tags=a,b -race -short";
    let list = calls(&place, "go.log", "list");
    assert!(
        list[0].ends_with(&format!("{flags} -- ./a ./b")),
        "{list:?}"
    );
    let mut built = calls(&place, "go.log", "test -c");
    built.sort();
    let expected = ["base", "head"].map(|side| format!("{side} test -c -o {flags} example.com/m"));
    assert_eq!(built, expected);
    let flags = "-test.paniconexit0 -test.run=^$ -test.benchmem -test.count=1 -test.bench=One|Two -test.benchtime=10x -test.cpu=1,2";
    let order = ["base", "head", "head", "base", "base", "head"];
    let expected = order.map(|side| format!("{side} {flags}"));
    assert_eq!(calls(&place, "program.log", ""), expected);
    for side in ["base", "head"] {
        let results = place.read(&format!("checkout/rbenchstat-report/results/{side}.txt"));
        assert_eq!(results.matches("BenchmarkOne-8").count(), 3);
    }
    let worktrees = place.bash("cd checkout && git worktree list | wc -l", &[]);
    assert_eq!(worktrees.trim(), "1");
    let wrong = [&variables[..9], &[("SETUP", "false")]].concat();
    assert_eq!(place.run(RUN, &wrong).status.code(), Some(2));
}

#[test]
fn a_side_that_does_not_build_still_gets_a_report() {
    if !has_all(&["git", "bash"]) {
        return;
    }
    let place = measured_by(GO);
    let variables = [("BASE_REF", "main"), ("BROKEN", "yes"), ("COUNT", "3")];
    let output = place.run(RUN, &variables);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{stderr}");
    assert!(stderr.contains("undefined: x"), "{stderr}");
    let comment = place.read("checkout/rbenchstat-report/comment.md");
    assert!(comment.contains("[build failed]"), "{comment}");
}

#[test]
fn wrong_usage_of_the_measurement_is_refused() {
    if !has_all(&["git", "bash"]) {
        return;
    }
    let place = measured_by(GO);
    let main = ("BASE_REF", "main");
    for (variables, message) in [
        (vec![main, ("COUNT", "abc")], "abc"),
        (vec![main, ("COUNT", "0")], "0"),
        (vec![("BASE_REF", "gone")], "\"gone\" is no commit"),
        (vec![main, ("HEAD_REF", "gone")], "\"gone\" is no commit"),
    ] {
        let output = place.run(RUN, &variables);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{variables:?}\n{stderr}");
        assert!(stderr.contains(message), "{stderr}");
        assert!(
            stderr.contains("What to do next: mend the argument"),
            "{stderr}"
        );
    }
    assert_eq!(place.read("program.log"), "");
}

#[test]
fn real_benchmarks_are_measured_compared_and_gated() {
    if !has_all(&["git", "bash", "go"]) {
        return;
    }
    let place = Place::new();
    place.checkout();
    let variables = [
        ("BASE_REF", "main"),
        ("COUNT", "2"),
        ("BENCHTIME", "10x"),
        ("GOTOOLCHAIN", "local"),
        ("FLAGS", "-ldflags=-s"),
    ];
    let output = place.run(RUN, &variables);
    // A line break at the end of a file is no other program.
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    let comment = "<!-- rbenchstat:v1 id=default -->\nNothing to measure: every package with benchmarks is the same program on both sides.\n";
    assert_eq!(place.read("checkout/rbenchstat-report/comment.md"), comment);
    place.bash(
        "cd checkout && sed -i 's/b.N; i++ {/&\\n\\t\\tb.Log(i)/' m_test.go",
        &[],
    );
    // Two runs a side can show nothing, and the gate says so.
    let output = place.run(RUN, &variables);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{stderr}");
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
    if !has_all(&["git", "bash"]) {
        return;
    }
    let place = measured_by(GO);
    let variables = [
        ("BASE_REF", "main"),
        ("HEAD_TIME", "120"),
        ("ALLOW", "removed"),
        ("THRESHOLD", "3%"),
        ("ID", "codec"),
        // Lists may have several lines.
        ("ARGUMENTS", "-adjust bh\n  -sort name\n-changed-only\n"),
    ];
    let output = place.run(RUN, &variables);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    for name in [
        "comment.md",
        "report.json",
        "report.html",
        "results/base.txt",
        "results/head.txt",
    ] {
        let text = place.read(&format!("checkout/rbenchstat-report/{name}"));
        assert!(!text.is_empty(), "{name}");
    }
    let report: Value =
        serde_json::from_str(&place.read("checkout/rbenchstat-report/report.json")).unwrap();
    assert_eq!(report.to_string().matches("\"bh\"").count(), 1);
    assert!(report.to_string().contains("\"changed_only\":true"));

    fs::write(place.path("summary"), "before\n").unwrap();
    let (output, summary) = (place.path("output"), place.path("summary"));
    let github = [
        ("GITHUB_OUTPUT", output.to_str().unwrap()),
        ("GITHUB_STEP_SUMMARY", summary.to_str().unwrap()),
    ];
    place.bash(RUN, &[&variables[..], &github].concat());
    assert_eq!(place.read("output"), "status=1\n");
    let comment = place.read("checkout/rbenchstat-report/comment.md");
    assert!(comment.starts_with("<!-- rbenchstat:v1 id=codec -->\n### ❌ gate failed: "));
    let next = "mend the rows to blame above, or, if they are meant, waive them with a reason and a date (-waivers)";
    assert_eq!(
        place.read("summary"),
        format!("before\n\n\n{comment}\n**What to do next:** {next}.\n")
    );
}

#[test]
fn earlier_reports_do_not_outlive_a_comparison_that_fails() {
    if !has_all(&["git", "bash"]) {
        return;
    }
    let place = measured_by(GO);
    let reports = ["comment.md", "report.json", "report.html"];
    let path = |name: &str| place.path(&format!("checkout/rbenchstat-report/{name}"));
    let exist = || reports.map(|name| path(name).exists());
    let variables = [("BASE_REF", "main"), ("COUNT", "2")];
    place.run(RUN, &variables);
    assert_eq!(exist(), [true; 3]);
    fs::write(path("mine"), "").unwrap();
    let wrong = [&variables[..], &[("THRESHOLD", "much")]].concat();
    assert_eq!(place.run(RUN, &wrong).status.code(), Some(2));
    assert_eq!(exist(), [false; 3]);
    assert!(path("mine").exists());
}

const POST: &str = "bash \"$SCRIPTS/post.sh\"";
const PULL: [(&str, &str); 4] = [
    ("PULL_REQUEST", "12"),
    ("GITHUB_REPOSITORY", "owner/name"),
    ("COMMENT", "comment.md"),
    ("GH_TOKEN", "secret"),
];

/// Which of the lists of [`Site`] a path is about, and what follows its name.
const LISTS: [&str; 4] = [
    "/repos/owner/name/issues/12/comments",
    "/repos/owner/name/issues",
    "/repos/owner/name/pulls",
    "/api/v4/projects/5/merge_requests/6/notes",
];

/// What GitHub and GitLab know: lists of things that have an `id`, a `number` and a `body`.
#[derive(Default)]
struct Site {
    lists: [Vec<Value>; 4],
    /// Who the token is of; an app's own token may not ask.
    user: Option<Value>,
    refuses_to_write: bool,
}

impl Site {
    fn answer(&mut self, request: &Request) -> (u16, Vec<u8>) {
        let is_known = ["authorization: bearer secret", "private-token: secret"]
            .iter()
            .any(|header| request.headers.contains(header));
        if !is_known {
            return (401, b"{}".to_vec());
        }
        let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
        if path.ends_with("/user") {
            return match &self.user {
                Some(user) => (200, user.to_string().into_bytes()),
                None => (403, b"{}".to_vec()),
            };
        }
        if request.method != "GET" && self.refuses_to_write {
            return (403, b"{}".to_vec());
        }
        // Comments are changed by their own address.
        let path = path.replace("/issues/comments/", "/issues/12/comments/");
        let Some(at) = LISTS.iter().position(|list| path.starts_with(list)) else {
            return (404, b"{}".to_vec());
        };
        let list = &mut self.lists[at];
        let id = path[LISTS[at].len()..].trim_start_matches('/');
        match request.method.as_str() {
            "GET" => {
                let parameter =
                    |name: &str| query.split('&').find_map(|pair| pair.strip_prefix(name));
                assert_eq!(parameter("per_page="), Some("100"));
                let page: usize = parameter("page=").unwrap().parse().unwrap();
                let is_asked = |thing: &&Value| {
                    parameter("state=").is_none_or(|state| thing["state"].as_str() == Some(state))
                };
                let things = list
                    .iter()
                    .filter(is_asked)
                    .skip(100 * (page - 1))
                    .take(100);
                let things: Vec<&Value> = things.collect();
                (200, serde_json::to_vec(&things).unwrap())
            }
            "POST" if id.is_empty() => {
                let mut thing = sent(request);
                thing["id"] = json!(1000 + list.len());
                thing["number"] = thing["id"].clone();
                thing["user"] = json!({"type": "Bot", "login": "github-actions[bot]"});
                thing["author"] = json!({"id": 77});
                thing["state"] = json!("open");
                list.push(thing);
                (201, b"{}".to_vec())
            }
            _ => {
                let (id, below) = id.split_once('/').unwrap_or((id, ""));
                let id: u64 = id.parse().unwrap();
                let thing = list.iter_mut().find(|thing| thing["id"] == id).unwrap();
                let sent = sent(request);
                if below == "comments" {
                    thing["comments"] = sent["body"].clone();
                } else {
                    for (key, value) in sent.as_object().unwrap() {
                        thing[key] = value.clone();
                    }
                }
                (200, b"{}".to_vec())
            }
        }
    }
}

/// What is sent, as JSON or as a form with a body.
fn sent(request: &Request) -> Value {
    if request.headers.contains("application/json") {
        return serde_json::from_slice(&request.body).unwrap();
    }
    let form = String::from_utf8(request.body.clone()).unwrap();
    let mut text = Vec::new();
    let mut bytes = form.strip_prefix("body=").unwrap().bytes();
    while let Some(byte) = bytes.next() {
        text.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digits = [bytes.next().unwrap(), bytes.next().unwrap()];
                u8::from_str_radix(str::from_utf8(&digits).unwrap(), 16).unwrap()
            }
            byte => byte,
        });
    }
    json!({"body": String::from_utf8(text).unwrap()})
}

/// A service that knows `site`.
fn serve(site: Site) -> (Service, Arc<Mutex<Site>>) {
    let site = Arc::new(Mutex::new(site));
    let shared = Arc::clone(&site);
    let service = Service::new(move |request| shared.lock().unwrap().answer(request));
    (service, site)
}

const MARKER: &str = "<!-- rbenchstat:v1 id=default -->\n";

fn comment(id: u64, kind: &str, login: &str, body: &str) -> Value {
    json!({"id": id, "user": {"type": kind, "login": login}, "author": {"id": id}, "body": body})
}

#[test]
fn one_comment_is_posted_and_then_updated() {
    if !has_all(&["curl", "jq"]) {
        return;
    }
    let place = Place::new();
    let text = format!("{MARKER}### \"fine\" \\ é\n");
    fs::write(place.path("comment.md"), &text).unwrap();
    // Somebody else wrote the marker, and a bot another one; the own one comes on the third page.
    let mut others = vec![
        comment(1, "User", "someone", MARKER),
        comment(
            2,
            "Bot",
            "github-actions[bot]",
            "<!-- rbenchstat:v1 id=other -->",
        ),
    ];
    others.extend((3..=250).map(|id| comment(id, "User", "someone", "hello")));
    let lists = [others, vec![], vec![], vec![]];
    let (service, site) = serve(Site {
        lists,
        ..Site::default()
    });
    let variables = [&PULL[..], &[("GITHUB_API_URL", service.address.as_str())]].concat();
    for _ in 0..2 {
        place.bash(POST, &variables);
        let comments = &site.lock().unwrap().lists[0];
        assert_eq!(comments.len(), 251);
        assert_eq!(comments[250]["body"], text);
    }
    let log = service.log();
    let written: Vec<&String> = log.iter().filter(|line| !line.starts_with("GET")).collect();
    let comments = "/repos/owner/name/issues";
    assert_eq!(
        written,
        [
            &format!("POST {comments}/12/comments 201"),
            &format!("PATCH {comments}/comments/1250 200"),
        ]
    );
    assert_eq!(
        log.iter()
            .filter(|line| line.contains("&page=3 200"))
            .count(),
        2
    );
}

#[test]
fn a_person_with_a_token_finds_the_own_comment_and_leaves_those_of_bots() {
    if !has_all(&["curl", "jq"]) {
        return;
    }
    let place = Place::with_comment();
    let comments = vec![
        comment(1, "Bot", "github-actions[bot]", MARKER),
        comment(2, "User", "me", &format!("{MARKER}old")),
    ];
    let (service, site) = serve(Site {
        lists: [comments, vec![], vec![], vec![]],
        user: Some(json!({"login": "me"})),
        ..Site::default()
    });
    let variables = [&PULL[..], &[("GITHUB_API_URL", service.address.as_str())]].concat();
    place.bash(POST, &variables);
    let comments = &site.lock().unwrap().lists[0];
    assert_eq!(comments.len(), 2);
    assert_eq!(comments[1]["body"], MARKER);
}

#[test]
fn a_token_that_may_not_write_fails_the_step_and_no_more() {
    if !has_all(&["curl", "jq"]) {
        return;
    }
    let place = Place::with_comment();
    let (service, site) = serve(Site {
        refuses_to_write: true,
        ..Site::default()
    });
    let variables = [&PULL[..], &[("GITHUB_API_URL", service.address.as_str())]].concat();
    let output = place.run(POST, &variables);
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("403"));
    assert!(site.lock().unwrap().lists[0].is_empty());
    // The steps that post are those whose failure the action goes on after, and the gate comes last.
    let action = fs::read_to_string(repository().join("action.yml")).unwrap();
    let steps: Vec<&str> = action.split("\n    - name: ").skip(1).collect();
    for step in &steps {
        let posts = ["post.sh", "post_issue.sh", "upload-artifact"];
        let is_posting = posts.iter().any(|name| step.contains(name));
        assert_eq!(
            step.contains("continue-on-error: true"),
            is_posting,
            "{step}"
        );
    }
    let gate = steps.last().unwrap();
    assert!(gate.starts_with("Gate\n      if: ${{ !cancelled() && steps.run.outputs.status"));
}

#[test]
fn what_is_no_comment_of_ours_is_not_posted() {
    let place = Place::new();
    let (service, _) = serve(Site::default());
    let variables = [&PULL[..], &[("GITHUB_API_URL", service.address.as_str())]].concat();
    for text in [
        "hello\n".to_owned(),
        String::new(),
        format!("\n{MARKER}"),
        MARKER.repeat(2000),
    ] {
        fs::write(place.path("comment.md"), text).unwrap();
        assert_eq!(place.run(POST, &variables).status.code(), Some(2));
    }
    fs::write(place.path("target"), MARKER).unwrap();
    fs::remove_file(place.path("comment.md")).unwrap();
    std::os::unix::fs::symlink(place.path("target"), place.path("comment.md")).unwrap();
    assert_eq!(place.run(POST, &variables).status.code(), Some(2));
    let other = [&variables[1..], &[("PULL_REQUEST", "12/../13")]].concat();
    assert_eq!(place.run(POST, &other).status.code(), Some(2));
    assert!(service.log().is_empty());
}

#[test]
fn the_pull_request_of_a_fork_is_found_by_its_head() {
    if !has_all(&["curl", "jq"]) {
        return;
    }
    let place = Place::with_comment();
    let pull =
        |number: u64, sha: &str| json!({"number": number, "state": "open", "head": {"sha": sha}});
    let pulls = vec![pull(7, "aaa"), pull(12, "bbb")];
    let (service, site) = serve(Site {
        lists: [vec![], vec![], pulls, vec![]],
        ..Site::default()
    });
    let script = "bash \"$SCRIPTS/post_for_fork.sh\"";
    let run = |sha| {
        let variables = [
            ("HEAD_OWNER", "someone"),
            ("HEAD_BRANCH", "topic & more"),
            ("HEAD_SHA", sha),
            ("GITHUB_API_URL", service.address.as_str()),
        ];
        place.bash(script, &[&PULL[1..], &variables].concat())
    };
    assert!(run("ccc").contains("nothing to comment on"));
    assert!(service.log()[0].contains("head=someone%3Atopic%20%26%20more"));
    assert!(site.lock().unwrap().lists[0].is_empty());
    run("bbb");
    assert_eq!(site.lock().unwrap().lists[0][0]["body"], MARKER);
}

#[test]
fn an_issue_is_opened_updated_and_closed() {
    if !has_all(&["curl", "jq"]) {
        return;
    }
    let place = Place::with_comment();
    let (service, site) = serve(Site::default());
    let run = |status: &str| {
        let variables = [
            ("STATUS", status),
            ("RUN_URL", "https://example.com/run/1"),
            ("GITHUB_API_URL", service.address.as_str()),
        ];
        place.bash(
            "bash \"$SCRIPTS/post_issue.sh\"",
            &[&PULL[1..], &variables].concat(),
        );
        site.lock().unwrap().lists[1].clone()
    };
    assert!(run("0").is_empty());
    let issues = run("1");
    assert_eq!(issues[0]["title"], "Benchmarks: the gate fails");
    assert_eq!(
        issues[0]["body"],
        format!("{MARKER}\n\nhttps://example.com/run/1")
    );
    let issues = run("3");
    assert_eq!(
        (issues.len(), &issues[0]["title"]),
        (1, &json!("Benchmarks: the gate cannot judge"))
    );
    let issues = run("0");
    assert_eq!(issues[0]["state"], "closed");
    assert_eq!(
        issues[0]["comments"],
        "The gate passes again. https://example.com/run/1"
    );
    // The next one is another.
    assert_eq!(run("1").len(), 2);
}

#[test]
fn a_note_is_posted_on_a_merge_request_and_then_updated() {
    if !has_all(&["curl", "jq"]) {
        return;
    }
    let place = Place::with_comment();
    let script = "bash \"$SCRIPTS/post_gitlab.sh\"";
    // Somebody else's note has the marker, and the own one comes on the second page.
    let mut notes = vec![comment(1, "", "", MARKER)];
    notes.extend((2..=150).map(|id| comment(id, "", "", "hello")));
    let (service, site) = serve(Site {
        lists: [vec![], vec![], vec![], notes],
        user: Some(json!({"id": 77})),
        ..Site::default()
    });
    let address = format!("{}/api/v4", service.address);
    let variables = [
        ("CI_API_V4_URL", address.as_str()),
        ("CI_PROJECT_ID", "5"),
        ("CI_MERGE_REQUEST_IID", "6"),
        ("COMMENT", "comment.md"),
    ];
    assert!(place.bash(script, &variables).contains("no GITLAB_TOKEN"));
    assert!(service.log().is_empty());
    let variables = [&variables[..], &[("GITLAB_TOKEN", "secret")]].concat();
    let none = [&variables[..], &[("COMMENT", "none.md")]].concat();
    assert_eq!(place.run(script, &none).status.code(), Some(2));
    for text in [format!("{MARKER}a + b & ü"), format!("{MARKER}second")] {
        fs::write(place.path("comment.md"), &text).unwrap();
        place.bash(script, &variables);
        let notes = &site.lock().unwrap().lists[3];
        assert_eq!(notes.len(), 151);
        assert_eq!(notes[150]["body"], text);
        assert_eq!(notes[0]["body"], MARKER);
    }
}

const REFS: &str = "cd checkout && bash \"$SCRIPTS/refs.sh\"";

#[test]
fn each_event_is_compared_with_what_it_is_about() {
    if !has_all(&["git", "bash"]) {
        return;
    }
    let place = Place::new();
    place.checkout();
    // main goes on after faster branched off.
    place.bash(
        "cd checkout && git switch --quiet main && echo >>m_test.go && git commit --quiet -am three && git switch --quiet faster \
         && echo >>m_test.go && git commit --quiet -am four",
        &[],
    );
    let commit = |name: &str| {
        place
            .bash(&format!("cd checkout && git rev-parse {name}"), &[])
            .trim()
            .to_owned()
    };
    let (main, branched, parent) = (commit("main"), commit("main^"), commit("faster^"));
    let refs = |variables: &[(&str, &str)]| {
        let output = place.path("output");
        let _ = fs::remove_file(&output);
        let given = [
            ("HEAD_REF", "faster"),
            ("GITHUB_OUTPUT", output.to_str().unwrap()),
        ];
        place.bash(REFS, &[&given[..], variables].concat());
        let written = place.read("output");
        let head = format!("\nhead={}\n", commit("faster"));
        written
            .strip_prefix("base=")
            .unwrap()
            .strip_suffix(&head)
            .unwrap()
            .to_owned()
    };
    let zeros = "0".repeat(40);
    assert_eq!(
        refs(&[("EVENT", "pull_request"), ("PULL_BASE", &main)]),
        branched
    );
    assert_eq!(
        refs(&[("EVENT", "merge_group"), ("MERGE_BASE", &parent)]),
        parent
    );
    assert_eq!(
        refs(&[("EVENT", "push"), ("PUSH_BASE", &branched)]),
        branched
    );
    assert_eq!(refs(&[("EVENT", "push"), ("PUSH_BASE", &zeros)]), parent);
    // What a push that rewrites history replaced is not there any more.
    assert_eq!(
        refs(&[("EVENT", "push"), ("PUSH_BASE", &"1".repeat(40))]),
        parent
    );
    assert_eq!(refs(&[("EVENT", "schedule")]), parent);
    place.bash("cd checkout && git tag v1 main^", &[]);
    assert_eq!(refs(&[("EVENT", "schedule")]), branched);
    assert_eq!(
        refs(&[("EVENT", "schedule"), ("GIVEN_BASE", &parent)]),
        parent
    );

    let wrong = [("HEAD_REF", "gone"), ("EVENT", "schedule")];
    let output = place.run(REFS, &wrong);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("fetch-depth: 0"));
}

#[test]
fn the_first_benchmarks_are_told_and_not_red() {
    if !has_all(&["git", "bash"]) {
        return;
    }
    let place = measured_by(GO);
    let summary = place.path("summary");
    let variables = [
        ("BASE_REF", "main"),
        ("NO_BASE", "yes"),
        ("GITHUB_STEP_SUMMARY", summary.to_str().unwrap()),
    ];
    let output = place.run(RUN, &variables);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert!(stderr.contains("the base has no benchmarks"), "{stderr}");
    let told = place.read("summary");
    assert!(told.contains("gate passed: 1 row of one input"), "{told}");
    // One that fails is another matter.
    let output = place.run(RUN, &[&variables[..], &[("BROKEN", "yes")]].concat());
    assert_eq!(output.status.code(), Some(3));
    let next = "**What to do next:** do what the reasons above say";
    assert!(place.read("summary").contains(next));
}

/// What a release calls the archive for this machine.
fn release_name() -> String {
    format!("rbenchstat-{}-unknown-linux-musl", std::env::consts::ARCH)
}

/// Serves releases from a folder, as the platform does.
fn releases(folder: PathBuf) -> Service {
    Service::new(
        move |request| match fs::read(folder.join(&request.path[1..])) {
            Ok(bytes) => (200, bytes),
            Err(_) => (404, Vec::new()),
        },
    )
}

#[cfg(target_os = "linux")]
#[test]
fn a_release_is_downloaded_and_its_checksum_compared() {
    if !has_all(&["curl", "tar", "sha256sum"]) {
        return;
    }
    let place = Place::new();
    fs::remove_file(place.path("bin/rbenchstat")).unwrap();
    let version = env!("CARGO_PKG_VERSION");
    let archive = release_name();
    let release = format!("releases/owner/name/releases/download/v{version}");
    place.release(&release);
    let service = releases(place.path("releases"));
    let install = |reference: &str, more: &[(&str, &str)]| {
        let _ = fs::remove_dir_all(place.path("runner"));
        fs::create_dir(place.path("runner")).unwrap();
        let (temp, paths) = (place.path("runner"), place.path("paths"));
        let output = place.path("output");
        let _ = fs::remove_file(&output);
        let variables = [
            ("PATH", "/usr/bin:/bin"),
            ("ACTION_REPOSITORY", "owner/name"),
            ("ACTION_REF", reference),
            ("GITHUB_SERVER_URL", service.address.as_str()),
            ("RUNNER_TEMP", temp.to_str().unwrap()),
            ("GITHUB_PATH", paths.to_str().unwrap()),
            ("GITHUB_OUTPUT", output.to_str().unwrap()),
            ("BUILD", "later"),
        ];
        place.run(
            "bash \"$SCRIPTS/install.sh\"",
            &[&variables[..], more].concat(),
        )
    };
    for tag in ["v1", &format!("v{version}")] {
        let output = install(tag, &[]);
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            format!("rbenchstat {version}\n")
        );
        assert!(place.path("runner/rbenchstat/rbenchstat").exists());
        assert!(place.read("paths").ends_with("/runner/rbenchstat\n"));
        assert_eq!(place.read("output"), "");
    }
    // A branch may have what no release has.
    service.log();
    assert!(install("main", &[]).status.success());
    assert!(place.read("output").starts_with("build=yes\nkey="));
    assert!(service.log().is_empty());
    // No release for a platform.
    place.command("uname", "#!/bin/sh\necho Plan9\n");
    let bin = format!("{}:/usr/bin:/bin", place.path("bin").display());
    assert!(install("v1", &[("PATH", &bin)]).status.success());
    assert!(place.read("output").starts_with("build=yes\nkey="));
    let output = install("v1", &[("PATH", &bin), ("BUILD", "")]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("no cargo"));
    // Somebody tampered with it.
    fs::write(place.path(&format!("{release}/{archive}.tar.gz")), "other").unwrap();
    let output = install("v1", &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("has the checksum"));
    assert!(!place.path("runner/rbenchstat/rbenchstat").exists());
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
            "PATH=$PLACE/bin:/usr/bin:/bin bash \"$SCRIPTS/../install.sh\" --quiet",
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

#[test]
fn a_link_makes_it_stand_in_for_the_reference() {
    let place = Place::new();
    place.command(
        "cargo",
        "#!/usr/bin/env bash\nmkdir -p root/bin && cp bin/rbenchstat root/bin/\n",
    );
    place.command(
        "rustc",
        "#!/usr/bin/env bash\necho host: aarch64-apple-darwin\n",
    );
    let script = "bash \"$SCRIPTS/../install.sh\" --root root --as benchstat && root/bin/benchstat --version";
    let told = place.bash(script, &[]);
    assert!(
        told.starts_with("root/bin/benchstat is rbenchstat\n"),
        "{told}"
    );
    assert!(
        told.ends_with(&format!(" {}\n", env!("CARGO_PKG_VERSION"))),
        "{told}"
    );
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
    if !has_all(&["git", "bash", "curl", "jq"]) {
        return;
    }
    let mut count = 0;
    for document in [
        "README.md",
        "docs/ci.md",
        "docs/json.md",
        "docs/gate.md",
        "docs/inputs.md",
    ] {
        let text = fs::read_to_string(repository().join(document)).unwrap();
        for (_, block) in blocks(&text, "sh") {
            let place = Place::new();
            place.command("go", GO);
            // What installs, builds and pages is none of this program.
            for name in ["brew", "cargo", "man", "pip", "uvx"] {
                place.command(name, "#!/bin/sh\ncat >/dev/null </dev/stdin\n");
            }
            place.checkout();
            let sides = inputs::small();
            // Nothing changed, so that the gate of a command passes: the same values, in two orders.
            let text = String::from_utf8(sides.old).unwrap();
            let (results, head): (Vec<&str>, Vec<&str>) =
                text.lines().partition(|line| line.starts_with("Benchmark"));
            let orders = [results.clone(), results.into_iter().rev().collect()];
            let texts = orders.map(|order| [&head[..], &order].concat().join("\n") + "\n");
            let mut names = vec![
                "base.txt", "head.txt", "old.txt", "new.txt", "a.txt", "b.txt",
            ];
            names.extend([
                "base1.txt",
                "base2.txt",
                "base3.txt",
                "monday.txt",
                "tuesday.txt",
                "results.txt",
            ]);
            for (index, name) in names.into_iter().enumerate() {
                fs::write(place.path("checkout").join(name), &texts[index % 2]).unwrap();
            }
            let script = format!("cd checkout && ln -s \"$SCRIPTS/..\" scripts\n{block}");
            let summary = place.path("summary");
            let (service, _) = serve(Site::default());
            let variables = [
                ("GITHUB_STEP_SUMMARY", summary.to_str().unwrap()),
                ("GITHUB_API_URL", service.address.as_str()),
                PULL[1],
                PULL[3],
            ];
            let output = place.run(&script, &variables);
            // The noise of one row hides what the self-test adds.
            let is_fine = output.status.success()
                || block.contains("-self-test") && output.status.code() == Some(1);
            assert!(
                is_fine,
                "{document}\n{block}\n{}",
                String::from_utf8_lossy(&output.stderr)
            );
            count += 1;
        }
    }
    assert!(count >= 13, "{count}");
}

/// The commands below `key:` in the example for GitLab.
fn gitlab_commands(text: &str, key: &str) -> String {
    let (_, after) = text.split_once(&format!("  {key}:\n")).unwrap();
    let commands = after.lines().map_while(|line| line.strip_prefix("    - "));
    commands.collect::<Vec<_>>().join("\n")
}

#[cfg(target_os = "linux")]
#[test]
fn the_example_for_gitlab_works_from_the_installation_to_the_note() {
    if !has_all(&["git", "bash", "curl", "jq", "tar", "sha256sum"]) {
        return;
    }
    let place = Place::new();
    fs::remove_file(place.path("bin/rbenchstat")).unwrap();
    place.command("go", GO);
    place.command("apt-get", "#!/bin/sh\nexit 0\n");
    place.checkout();
    let folder = "releases/owner/rbenchstat/releases";
    place.release(&format!("{folder}/download/v{}", env!("CARGO_PKG_VERSION")));
    place.bash(
        &format!(
            "mkdir -p {folder}/latest/download && cd \"$SCRIPTS/../..\" && \
             tar -czf \"$PLACE/{folder}/latest/download/source.tar.gz\" --transform s,^,rbenchstat/, Cargo.toml scripts"
        ),
        &[],
    );
    let downloads = releases(place.path("releases"));
    let (service, site) = serve(Site {
        user: Some(json!({"id": 77})),
        ..Site::default()
    });
    let text = fs::read_to_string(repository().join("docs/ci/gitlab.yml")).unwrap();
    let tools = place.path("tools");
    let text = text
        .replace("OWNER", "owner")
        .replace("https://github.com", &downloads.address)
        .replace("/usr/local", tools.to_str().unwrap());
    let (_, variables) = text.split_once("  variables:\n").unwrap();
    let variables = variables
        .lines()
        .map_while(|line| line.strip_prefix("    "));
    let given = variables.map(|line| {
        let (name, value) = line.split_once(": ").unwrap();
        format!("export {name}={value}\n")
    });
    let api = format!("{}/api/v4", service.address);
    let path = format!(
        "{}/bin:{}:/usr/bin:/bin",
        tools.display(),
        place.path("bin").display()
    );
    let [base, head] = ["main", "faster"]
        .map(|name| place.bash(&format!("cd checkout && git rev-parse {name}"), &[]));
    let of_gitlab = [
        ("PATH", path.as_str()),
        ("CI_MERGE_REQUEST_DIFF_BASE_SHA", base.trim()),
        ("CI_COMMIT_SHA", head.trim()),
        ("CI_API_V4_URL", &api),
        ("CI_PROJECT_ID", "5"),
        ("CI_MERGE_REQUEST_IID", "6"),
        ("GITLAB_TOKEN", "secret"),
    ];
    let before = gitlab_commands(&text, "before_script");
    let script = gitlab_commands(&text, "script");
    let given: String = given.collect();
    let output = place.run(
        &format!("cd checkout\n{given}{before}\n{script}"),
        &of_gitlab,
    );
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    let after = gitlab_commands(&text, "after_script");
    place.bash(&format!("cd checkout\n{given}{after}"), &of_gitlab);
    let notes = &site.lock().unwrap().lists[3];
    assert!(notes[0]["body"].as_str().unwrap().starts_with(MARKER));
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
    let is_file = |(before, _): &(String, String)| before.starts_with("<!-- ");
    assert_eq!(
        workflows
            .iter()
            .filter(|workflow| is_file(workflow))
            .count(),
        3
    );
    for (before, block) in workflows.into_iter().filter(is_file) {
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
    assert_eq!(scripts, 10);
}

/// Every script of the shell in the repository.
fn scripts() -> Vec<PathBuf> {
    let folders = ["scripts", "scripts/ci"].map(|folder| repository().join(folder));
    let entries = folders
        .iter()
        .flat_map(|folder| fs::read_dir(folder).unwrap());
    let mut scripts: Vec<PathBuf> = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "sh"))
        .collect();
    scripts.sort();
    assert!(scripts.len() >= 10);
    scripts
}

#[test]
fn scripts_have_no_fault_that_shellcheck_knows() {
    if !has_all(&["shellcheck"]) {
        return;
    }
    let output = Command::new("shellcheck")
        .arg("--external-sources")
        .args(scripts())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );
}

/// A Mac has bash 3.2, for which an empty list is an unset variable too.
#[test]
fn scripts_use_nothing_that_bash_3_2_lacks() {
    const LACKING: [&str; 9] = [
        "mapfile",
        "readarray",
        "declare -A",
        "local -n",
        ",,}",
        "^^}",
        "|&",
        "&>>",
        "coproc",
    ];
    for path in scripts() {
        let text = fs::read_to_string(&path).unwrap();
        let code = text
            .lines()
            .filter(|line| !line.trim_start().starts_with('#'));
        for line in code {
            for lacking in LACKING {
                assert!(!line.contains(lacking), "{}: {line}", path.display());
            }
            // A list that may be empty; the others hold something from their first line on.
            for list in ["more", "sends"] {
                let expanded = line.matches(&format!("\"${{{list}[@]}}\"")).count();
                let guarded = line
                    .matches(&format!("${{{list}[@]+\"${{{list}[@]}}\"}}"))
                    .count();
                assert_eq!(expanded, guarded, "{}: {line}", path.display());
            }
        }
    }
}

#[test]
fn actions_are_pinned_by_commit() {
    let mut count = 0;
    let workflows = fs::read_dir(repository().join(".github/workflows")).unwrap();
    let workflows = workflows.map(|entry| entry.unwrap().path());
    let others = [
        "action.yml",
        "docs/ci.md",
        "docs/gate.md",
        "docs/ci/github.yml",
        "docs/ci/github-forks.yml",
    ];
    for path in workflows.chain(others.map(|path| repository().join(path))) {
        let text = fs::read_to_string(&path).unwrap();
        for line in text.lines() {
            let line = line.trim().trim_start_matches("- ");
            let Some(uses) = line.strip_prefix("uses: ") else {
                continue;
            };
            if uses.starts_with("./") || uses.starts_with("OWNER/rbenchstat@v1") {
                continue;
            }
            let commit = uses.split(['@', ' ']).nth(1).unwrap();
            let is_commit =
                commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
            assert!(is_commit, "{}: {uses}", path.display());
            count += 1;
        }
    }
    assert!(count >= 20, "{count}");
}

#[test]
fn the_owner_is_set_in_one_go_and_no_other_placeholder_is_left() {
    if !has_all(&["bash", "git"]) {
        return;
    }
    let place = Place::new();
    let list = Command::new("git")
        .args(["ls-files", "*.toml", "*.md", "*.yml", "scripts/owner.sh"])
        .current_dir(repository())
        .output()
        .unwrap();
    // A packed checkout is no repository.
    let listed = String::from_utf8(list.stdout).unwrap();
    let files: Vec<&str> = listed.lines().collect();
    if files.is_empty() {
        return;
    }
    let mut owners = 0;
    for file in &files {
        let Ok(text) = fs::read_to_string(repository().join(file)) else {
            continue;
        };
        for placeholder in [
            "FIXME",
            "TODO",
            "YOUR_",
            "your-org",
            "example-org",
            "<owner>",
            "CHANGEME",
        ] {
            assert!(!text.contains(placeholder), "{file}: {placeholder}");
        }
        owners +=
            text.matches("/OWNER/rbenchstat").count() + text.matches(" OWNER/rbenchstat").count();
        let copy = place.path("copy").join(file);
        fs::create_dir_all(copy.parent().unwrap()).unwrap();
        fs::write(copy, text).unwrap();
    }
    if owners == 0 {
        // It is set.
        return;
    }
    assert!(owners >= 8, "{owners}");
    place.bash("bash copy/scripts/owner.sh some-one", &[]);
    for file in &files {
        let text = place.read(&format!("copy/{file}"));
        assert!(!text.contains("OWNER/rbenchstat"), "{file}");
    }
    assert!(
        place
            .read("copy/Cargo.toml")
            .contains("repository = \"https://github.com/some-one/rbenchstat\"")
    );
    assert!(
        place
            .read("copy/action.yml")
            .contains("Measures Go benchmarks")
    );
}

/// Stands for `cargo`: records how it was called, and answers as far as scripts read it.
const CARGO: &str = r#"#!/usr/bin/env bash
echo "cargo $* ${CONFORMANCE_PROGRAM-}" >>"$PLACE/calls"
case "$1" in
  metadata) printf '{"packages":[{"name":"go-regexp","rust_version":"1.1"},{"name":"rbenchstat","rust_version":"1.1"},'
    printf '{"name":"bench-harness","rust_version":"1.2"}],"target_directory":"%s/target"}\n' "$PLACE" ;;
  run) shift 7; exec rbenchstat "$@" ;;
  build)
    mkdir -p "$PLACE/target/s390x-unknown-linux-gnu/release"
    ln -sf "$PLACE/bin/rbenchstat" "$PLACE/target/s390x-unknown-linux-gnu/release/rbenchstat" ;;
esac
"#;

/// Stands for `rustup`.
const RUSTUP: &str = r#"#!/usr/bin/env bash
echo "rustup $*" >>"$PLACE/calls"
case "$1" in
  toolchain) if [ "$2" = list ]; then echo 1.1-x86_64; fi ;;
  run) shift 2; exec "$@" ;;
esac
"#;

/// The scripts for who keeps this repository, with what stands for the tools; the real ones are run by hand.
#[test]
fn scripts_for_keepers_call_what_they_say() {
    if !has_all(&["bash", "python3"]) {
        return;
    }
    let place = Place::new();
    place.command("cargo", CARGO);
    place.command("rustup", RUSTUP);
    place.command("qemu-s390x", "#!/usr/bin/env bash\nshift 2\nexec \"$@\"\n");
    let run = |script: &str| {
        let _ = fs::remove_file(place.path("calls"));
        place.bash(&format!("bash \"$SCRIPTS/../{script}\""), &[]);
        place.read("calls")
    };
    let _ = run("generate.sh\" \"$PLACE/generated");
    let page = place.read("generated/man/rbenchstat.1");
    assert!(page.contains(".TH rbenchstat"), "{page}");
    for name in [
        "rbenchstat.bash",
        "rbenchstat.elv",
        "rbenchstat.fish",
        "_rbenchstat",
        "_rbenchstat.ps1",
    ] {
        assert!(
            place
                .read(&format!("generated/completions/{name}"))
                .contains("fail-on"),
            "{name}"
        );
    }

    assert!(run("long.sh").starts_with("cargo test --release -p rbenchstat -- --ignored"));

    let calls = run("oldest.sh");
    assert!(!calls.contains("install 1.1 "), "{calls}");
    assert!(
        calls.contains("rustup toolchain install 1.2 --profile minimal\n"),
        "{calls}"
    );
    for (package, version) in [
        ("go-regexp", "1.1"),
        ("rbenchstat", "1.1"),
        ("bench-harness", "1.2"),
    ] {
        let check = format!("rustup run {version} cargo check --quiet --locked -p {package}\n");
        assert!(calls.contains(&check), "{calls}");
    }

    let calls = run("platform.sh\" \"s390x-linux");
    assert!(
        calls.contains("rustup target add s390x-unknown-linux-gnu\n"),
        "{calls}"
    );
    let emulated = "qemu-s390x -L /usr/s390x-linux-gnu";
    let cases = format!(
        "every_recorded_run {emulated} {}/target/s390x-unknown-linux-gnu/release/rbenchstat\n",
        place.folder.path().display()
    );
    assert!(calls.ends_with(&cases), "{calls}");
    let wrong = place.run("bash \"$SCRIPTS/../platform.sh\" vax", &[]);
    assert_eq!(wrong.status.code(), Some(2));
}

#[test]
fn every_script_is_run_by_a_test() {
    let tests = fs::read_to_string(repository().join("tests/ci.rs")).unwrap();
    // These need a network, or root and the archive and wheel that they try: `just wheel`, `just from-nothing`.
    let by_hand = ["wheel.sh", "from_nothing.sh"];
    for path in scripts() {
        let name = path.file_name().unwrap().to_str().unwrap();
        let is_run = [
            format!("$SCRIPTS/{name}"),
            format!("$SCRIPTS/../{name}"),
            format!("run(\"{name}"),
            format!("scripts/{name}"),
        ];
        // Sourced by those that post.
        let is_sourced = name == "api.sh";
        assert!(
            is_sourced || by_hand.contains(&name) || is_run.iter().any(|call| tests.contains(call)),
            "{name}"
        );
    }
}

#[test]
fn the_oldest_compiler_of_the_readme_is_the_one_of_each_package() {
    let readme = fs::read_to_string(repository().join("README.md")).unwrap();
    let version = |path: &str| {
        let text = fs::read_to_string(repository().join(path)).unwrap();
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix("rust-version = \""));
        line.unwrap().trim_end_matches('"').to_owned()
    };
    let (own, harness) = (version("Cargo.toml"), version("bench-harness/Cargo.toml"));
    assert!(readme.contains(&format!("Rust {own} or later is all it needs")));
    assert!(readme.contains(&format!(
        "With Rust {harness}, which the bundled `bench-harness` needs"
    )));
}
