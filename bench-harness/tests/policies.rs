//! Policies as people have them, against the recorded answers of OPA, and against OPA itself where there is one.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use bench_harness::engine::{Engine, EngineKind, parse_json};
use bench_harness::policy::{Policy, PolicyFile};
use serde_json::Value;

/// What is known to differ: policy, engine (both where there is none), and what comes instead.
const DIFFERENT: [(&str, Option<EngineKind>, &str); 6] = [
    ("default-only", None, "names no rule"),
    ("numbers", None, "0.30000000000000004,1000,"),
    (
        "sprintf-verbs",
        Some(EngineKind::Interpreter),
        "number specified for format verb",
    ),
    ("sprintf-verbs", Some(EngineKind::Rvm), "undefined"),
    ("walk", Some(EngineKind::Rvm), "not yet supported"),
    ("with-input", Some(EngineKind::Rvm), "not supported"),
];

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("testdata/policies")
}

fn read(name: &str) -> String {
    fs::read_to_string(folder().join(name)).expect("a file")
}

/// Name and answer, in the form `value`, `undefined` or `error`.
fn recorded() -> Vec<(String, Value)> {
    let text: Value = serde_json::from_str(&read("answers.json")).expect("JSON");
    let answers = text["answers"].as_object().expect("an object");
    answers
        .iter()
        .map(|(name, answer)| (name.clone(), answer.clone()))
        .collect()
}

/// The answer, or the start of the error.
fn ours(name: &str, kind: EngineKind) -> Result<Value, String> {
    let policy = Policy {
        files: vec![PolicyFile {
            name: format!("{name}.rego"),
            text: read(&format!("{name}.rego")),
        }],
        data: Value::Object(serde_json::Map::new()),
        decision: "a/allow".to_owned(),
    };
    let mut engine = Engine::compile(kind, &policy, None).map_err(|error| format!("{error:#}"))?;
    let input = parse_json(&read(&format!("{name}.json"))).expect("JSON");
    let value = engine.decide(input).map_err(|error| format!("{error:#}"))?;
    Ok(serde_json::to_value(&value).expect("JSON"))
}

#[test]
fn policies_decide_as_opa_does_or_are_listed() {
    let recorded = recorded();
    assert!(recorded.len() >= 20);
    let mut wrong = Vec::new();
    for (name, answer) in &recorded {
        for kind in [EngineKind::Interpreter, EngineKind::Rvm] {
            let known = DIFFERENT.iter().find(|(policy, engine, _)| {
                policy == name && engine.is_none_or(|engine| engine == kind)
            });
            let outcome = ours(name, kind);
            let as_opa = match (&outcome, answer.get("value")) {
                (Ok(value), Some(expected)) => value == expected,
                (Err(error), None) => answer.get("error").is_some() || error.contains("undefined"),
                _ => false,
            };
            let as_listed = known.map(|(_, _, instead)| match &outcome {
                Ok(value) => value.to_string().contains(instead),
                Err(error) => error.contains(instead),
            });
            if !as_listed.unwrap_or(as_opa) {
                wrong.push(format!(
                    "{name}, {kind:?}: {outcome:?}, but OPA says {answer}"
                ));
            }
            if as_opa && known.is_some() {
                wrong.push(format!(
                    "{name}, {kind:?} is listed as different and is not"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_recorded_answers_are_those_of_the_opa_there_is() {
    let opa = std::env::var("OPA").unwrap_or_else(|_| "opa".to_owned());
    if Command::new(&opa).arg("version").output().is_err() {
        eprintln!("skipped: there is no opa on PATH, nor in OPA");
        return;
    }
    for (name, answer) in recorded() {
        let file = |ending: &str| folder().join(format!("{name}.{ending}"));
        let output = Command::new(&opa)
            .args(["eval", "-f", "json", "data.a.allow", "-d"])
            .arg(file("rego"))
            .arg("-i")
            .arg(file("json"))
            .output()
            .expect("runs");
        let said: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let value = said.pointer("/result/0/expressions/0/value");
        assert_eq!(value, answer.get("value"), "{name}: {said}");
    }
}
