//! Runs the console blocks of README.md.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::env;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// A command of a console block, and what it prints there.
#[derive(Debug, PartialEq)]
struct Example {
    command: String,
    output: String,
}

#[test]
fn console_blocks_print_what_they_say() {
    let examples = examples(&readme());
    assert!(!examples.is_empty(), "README.md has no console block");
    if Command::new("sh").arg("-c").arg("true").status().is_err() {
        println!("skipped: no `sh` here to run the commands of README.md");
        return;
    }
    for example in &examples {
        assert_eq!(
            run(&example.command),
            example.output,
            "$ {}",
            example.command
        );
    }
}

#[test]
fn the_first_command_builds_and_compares_and_the_second_is_what_is_checked() {
    let readme = readme();
    let first = &examples(&readme)[0];
    assert!(
        first.command.starts_with(BUILD_AND_RUN),
        "{}",
        first.command
    );
    for part in ["vs base", " ~ ", "-17.40%", "geomean"] {
        assert!(first.output.contains(part), "{part} is missing");
    }
    let (_, after) = readme
        .split_once("this runs the tests:\n\n```sh\n")
        .unwrap();
    let tests = after.lines().next().unwrap();
    let checks = fs::read_to_string(root().join(".ci/run")).unwrap();
    assert!(
        checks.lines().any(|line| line == tests),
        "{tests} is not in .ci/run"
    );
}

#[test]
fn commands_and_their_output_are_found() {
    let text =
        "$ no\n```console\n$ a b\nx\n\ny\n$ c\n```\n```sh\n$ no\n```\n```console\n$ d\nz\n```\n";
    let example = |command: &str, output: &str| Example {
        command: command.into(),
        output: output.into(),
    };
    assert_eq!(
        examples(text),
        [
            example("a b", "x\n\ny\n"),
            example("c", ""),
            example("d", "z\n")
        ]
    );
}

/// How README.md starts the program before it is installed.
const BUILD_AND_RUN: &str = "cargo run -- ";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn readme() -> String {
    fs::read_to_string(root().join("README.md")).unwrap()
}

fn examples(text: &str) -> Vec<Example> {
    let mut examples: Vec<Example> = Vec::new();
    let mut is_console = false;
    for line in text.lines() {
        if line.starts_with("```") {
            is_console = line == "```console";
        } else if let Some(command) = line.strip_prefix("$ ").filter(|_| is_console) {
            examples.push(Example {
                command: command.to_owned(),
                output: String::new(),
            });
        } else if let Some(example) = examples.last_mut().filter(|_| is_console) {
            example.output += line;
            example.output.push('\n');
        }
    }
    examples
}

/// What a command prints on both streams, with the program that was built for the tests.
fn run(command: &str) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_rbenchstat"));
    let command = match command.strip_prefix(BUILD_AND_RUN) {
        Some(arguments) => format!("rbenchstat {arguments}"),
        None => command.to_owned(),
    };
    let mut folders = vec![program.parent().unwrap().to_owned()];
    folders.extend(env::split_paths(&env::var_os("PATH").unwrap_or_default()));
    let output = Command::new("sh")
        .arg("-c")
        .arg(format!("exec 2>&1\n{command}"))
        .current_dir(root())
        .env("PATH", env::join_paths(folders).unwrap())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}
