//! Policies compiled for one worker: the only file that names `regorus`.
//!
//! Every worker compiles its own copy. One compiled policy shared by all
//! workers makes them write to the same reference counts, and two workers
//! then decide less than one.

use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use clap::ValueEnum;
use regorus::languages::rego::compiler::Compiler;
use regorus::rvm::RegoVM;
use regorus::rvm::vm::{ExecutionMode, ExecutionState, SuspendReason};
use regorus::utils::limits::ExecutionTimerConfig;
use regorus::{CompiledPolicy, PolicyLengthConfig, Rc};

use crate::decision_log::settings::LogPolicy;
use crate::policy::Policy;
use crate::rego_text;
use crate::token::{self, TokenVerifier};

pub use regorus::Value;

/// The version of regorus, for the comment lines of a run.
pub const REGORUS_VERSION: &str = "0.14.1";

const MASK_RULE: &str = "data.system.log.mask";
const DROP_RULE: &str = "data.system.log.drop";

/// Rules that never hold: what a policy without rules for the log is asked where it is asked all the same.
const NO_DROP: (&str, &str) = ("no-drop.rego", "package system.log\n\ndrop if false\n");
const NO_MASK: (&str, &str) = (
    "no-mask.rego",
    "package system.log\n\nmask contains \"\" if false\n",
);

/// How a policy is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EngineKind {
    /// Walks the syntax tree.
    Interpreter,
    /// Compiles to the instructions of a register machine first.
    Rvm,
}

impl EngineKind {
    /// The name as typed on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Interpreter => "interpreter",
            Self::Rvm => "rvm",
        }
    }
}

/// Key-value pairs as a policy document.
pub fn object(members: impl IntoIterator<Item = (Value, Value)>) -> Value {
    members
        .into_iter()
        .collect::<std::collections::BTreeMap<_, _>>()
        .into()
}

/// Parses JSON text.
///
/// # Errors
/// When `text` is no JSON.
pub fn parse_json(text: &str) -> Result<Value> {
    Value::from_json_str(text)
}

/// A policy, ready to decide for one worker.
pub struct Engine {
    backend: Backend,
    decision: String,
    /// Nanoseconds spent on signatures of tokens.
    signatures: Arc<AtomicU64>,
    /// Entry points of the rules for the log, of those there are.
    mask: Option<usize>,
    drop: Option<usize>,
}

enum Backend {
    Interpreter(Box<regorus::Engine>),
    Rvm(Box<Machine>),
}

struct Machine {
    machine: RegoVM,
    tokens: TokenVerifier,
}

impl Engine {
    /// Compiles `policy`, with its rules for the decision log where there is one.
    ///
    /// # Errors
    /// With file, line and column when a policy does not compile, and with the
    /// packages there are when the decision path names no rule.
    pub fn compile(kind: EngineKind, policy: &Policy, log: Option<LogPolicy>) -> Result<Self> {
        let mut engine = regorus::Engine::new();
        engine.set_policy_length_config(PolicyLengthConfig {
            // An inlined certificate is one long line.
            max_col: NonZeroU32::new(1 << 20).context("zero columns")?,
            max_file_bytes: NonZeroUsize::new(64 << 20).context("zero bytes")?,
            max_lines: NonZeroUsize::new(1_000_000).context("zero lines")?,
        });
        // Without a configuration of its own every evaluation takes a lock
        // shared by the whole process.
        engine.set_execution_timer_config(timer()?);
        let signatures = Arc::new(AtomicU64::new(0));
        for (name, arguments) in token::BUILTINS {
            let mut tokens = TokenVerifier::new(Arc::clone(&signatures));
            let call = move |arguments: Vec<Value>| Ok(tokens.call(name, &arguments));
            engine.add_extension(name.to_owned(), arguments, Box::new(call))?;
        }
        for file in &policy.files {
            rego_text::check(&file.name, &file.text)?;
            let text = rego_text::without_prints(&file.text).into_owned();
            engine
                .add_policy(file.name.clone(), text)
                .map_err(|error| policy_error(&error))?;
        }
        engine
            .add_data_json(&policy.data.to_string())
            .context("the data document (data.json)")?;
        let decision = rule_path(&policy.decision)?;
        let mut compiled = compile(&mut engine, &decision, policy)?;
        let mut log_rules = Vec::new();
        let mut added = false;
        for (rule, (name, text)) in [(MASK_RULE, NO_MASK), (DROP_RULE, NO_DROP)] {
            let there = compiled.get_rules().contains_key(rule);
            if !there && log == Some(LogPolicy::Always) {
                engine.add_policy(name.to_owned(), text.to_owned())?;
                added = true;
            }
            if log.is_some() && (there || log == Some(LogPolicy::Always)) {
                log_rules.push(rule);
            }
        }
        if added {
            compiled = compile(&mut engine, &decision, policy)?;
        }
        let backend = match kind {
            EngineKind::Interpreter => Backend::Interpreter(Box::new(engine)),
            EngineKind::Rvm => {
                let mut entry_points = vec![decision.as_str()];
                entry_points.extend(&log_rules);
                let program = Compiler::compile_from_policy_with_host_await(
                    &compiled,
                    &entry_points,
                    &token::BUILTINS.map(|(name, arguments)| (name, usize::from(arguments))),
                )
                .map_err(|error| policy_error(&anyhow!("{error}")))
                .context("compiling for the rvm engine (--engine interpreter may know more)")?;
                let mut machine = RegoVM::new();
                if program.has_host_await() {
                    // The machine knows no token functions: it stops and asks.
                    machine.set_execution_mode(ExecutionMode::Suspendable);
                }
                machine.load_program(program);
                machine.set_max_instructions(usize::MAX);
                machine.set_execution_timer_config(Some(timer()?));
                machine
                    .set_data(engine.get_data())
                    .map_err(|error| anyhow!("the data document (data.json): {error}"))?;
                Backend::Rvm(Box::new(Machine {
                    machine,
                    tokens: TokenVerifier::new(Arc::clone(&signatures)),
                }))
            }
        };
        let entry_point = |rule| log_rules.iter().position(|there| *there == rule);
        Ok(Self {
            backend,
            decision,
            signatures,
            mask: entry_point(MASK_RULE).map(|index| index + 1),
            drop: entry_point(DROP_RULE).map(|index| index + 1),
        })
    }

    /// Evaluates the decision for `input`.
    ///
    /// # Errors
    /// When the evaluation fails or the decision is undefined.
    pub fn decide(&mut self, input: Value) -> Result<Value> {
        let value = match &mut self.backend {
            Backend::Interpreter(engine) => {
                engine.set_input(input);
                engine.eval_rule(self.decision.clone())?
            }
            Backend::Rvm(machine) => machine.run(0, input)?,
        };
        if value == Value::Undefined {
            bail!("{} is undefined for this input", self.decision);
        }
        Ok(value)
    }

    /// Nanoseconds spent on signatures of tokens so far.
    #[must_use]
    pub fn signatures(&self) -> u64 {
        self.signatures.load(Ordering::Relaxed)
    }

    /// Whether there are rules for the decision log to ask.
    #[must_use]
    pub fn has_log_policy(&self) -> bool {
        self.mask.is_some() || self.drop.is_some()
    }

    /// The masking rules for `event`: a set of paths and of objects with `op`, `path`, `value`.
    ///
    /// # Errors
    /// When the evaluation fails.
    pub fn mask(&mut self, event: Value) -> Result<Value> {
        match self.mask {
            Some(index) => self.side_rule(MASK_RULE, index, event),
            None => Ok(Value::Undefined),
        }
    }

    /// Whether the policy drops `event`.
    ///
    /// # Errors
    /// When the evaluation fails.
    pub fn drops(&mut self, event: Value) -> Result<bool> {
        match self.drop {
            Some(index) => Ok(self.side_rule(DROP_RULE, index, event)? == Value::Bool(true)),
            None => Ok(false),
        }
    }

    fn side_rule(&mut self, rule: &str, index: usize, event: Value) -> Result<Value> {
        match &mut self.backend {
            Backend::Interpreter(engine) => {
                engine.set_input(event);
                engine.eval_rule(rule.to_owned())
            }
            Backend::Rvm(machine) => machine.run(index, event),
        }
    }
}

/// Compiles for one decision, whose rule there must be.
fn compile(
    engine: &mut regorus::Engine,
    decision: &str,
    policy: &Policy,
) -> Result<CompiledPolicy> {
    let compiled = engine
        .compile_with_entrypoint(&Rc::from(decision))
        .map_err(|error| {
            let error = policy_error(&error);
            if !error.to_string().contains("not a valid rule path") {
                return error;
            }
            let packages = engine.get_packages().unwrap_or_default().join(", ");
            anyhow!(
                "the decision path {} names no rule in {packages}; set it with --decision",
                policy.decision
            )
        })?;
    if !compiled.get_rules().contains_key(decision) {
        bail!(
            "the decision path {} names no rule; set it with --decision",
            policy.decision
        );
    }
    Ok(compiled)
}

impl Machine {
    fn run(&mut self, entry_point: usize, input: Value) -> Result<Value> {
        self.machine.set_input(input);
        let mut value = self
            .machine
            .execute_entry_point_by_index(entry_point)
            .map_err(|error| anyhow!("{error}"))?;
        loop {
            let answer = match self.machine.execution_state() {
                ExecutionState::Suspended {
                    reason:
                        SuspendReason::HostAwait {
                            argument,
                            identifier,
                            ..
                        },
                    ..
                } => {
                    let arguments: Vec<Value> = argument.as_array()?.iter().cloned().collect();
                    let name = identifier.as_string()?;
                    self.tokens.call(name, &arguments)
                }
                ExecutionState::Suspended { reason, .. } => bail!("stopped at {reason:?}"),
                _ => return Ok(value),
            };
            value = self
                .machine
                .resume(Some(answer))
                .map_err(|error| anyhow!("{error}"))?;
        }
    }
}

fn timer() -> Result<ExecutionTimerConfig> {
    Ok(ExecutionTimerConfig {
        limit: Duration::from_secs(3600),
        check_interval: NonZeroU32::new(1 << 30).context("zero interval")?,
    })
}

/// `envoy/authz/allow` → `data.envoy.authz.allow`.
fn rule_path(decision: &str) -> Result<String> {
    let mut path = "data".to_owned();
    for part in decision.split('/') {
        let mut letters = part.chars();
        let identifier = letters
            .next()
            .is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
            && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
        if part.is_empty() {
            bail!(
                "the decision path {decision:?} has an empty part: write it as package/parts/rule"
            );
        } else if identifier {
            path.push('.');
            path.push_str(part);
        } else {
            path.push('[');
            path.push_str(&serde_json::Value::from(part).to_string());
            path.push(']');
        }
    }
    Ok(path)
}

/// regorus starts its messages with an empty line and an arrow to `file:line:column`.
fn policy_error(error: &anyhow::Error) -> anyhow::Error {
    let text = error.to_string();
    anyhow!("{}", text.trim().trim_start_matches("--> "))
}

/// An `Arc` of text as a policy value, without copying the text.
#[must_use]
pub fn text(value: Arc<str>) -> Value {
    Value::String(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::PolicyFile;

    fn policy(text: &str, decision: &str) -> Policy {
        Policy {
            files: vec![PolicyFile {
                name: "p.rego".to_owned(),
                text: text.to_owned(),
            }],
            data: serde_json::json!({"limit": 3}),
            decision: decision.to_owned(),
        }
    }

    #[test]
    fn both_engines_read_input_and_data() {
        let policy = policy(
            "package a.b\ndefault allow = false\nallow if input.n < data.limit",
            "a/b/allow",
        );
        for kind in [EngineKind::Interpreter, EngineKind::Rvm] {
            let mut engine = Engine::compile(kind, &policy, None).unwrap();
            for (number, expected) in [(2, true), (3, false), (1, true)] {
                let input = parse_json(&format!("{{\"n\": {number}}}")).unwrap();
                assert_eq!(engine.decide(input).unwrap(), Value::Bool(expected));
            }
        }
    }

    #[test]
    fn a_policy_that_does_not_parse_says_file_and_line() {
        let policy = policy("package a\nallow if {\n  input.x ==\n}\n", "a/allow");
        let error = Engine::compile(EngineKind::Rvm, &policy, None)
            .err()
            .unwrap();
        assert!(error.to_string().starts_with("p.rego:4:1"), "{error}");
    }

    #[test]
    fn a_policy_that_calls_an_unknown_function_says_file_and_line() {
        let policy = policy("package a\nallow if foo.bar(1)\n", "a/allow");
        let error = Engine::compile(EngineKind::Rvm, &policy, None)
            .err()
            .unwrap();
        assert!(format!("{error:#}").contains("p.rego:2:"), "{error:#}");
    }

    #[test]
    fn a_decision_path_without_a_rule_names_the_packages() {
        let policy = policy("package a.b\nallow = true", "a/b/deny");
        let error = Engine::compile(EngineKind::Interpreter, &policy, None)
            .err()
            .unwrap();
        let message = format!("{error:#}");
        assert!(message.contains("a/b/deny"), "{message}");
        assert!(message.contains("data.a.b"), "{message}");
    }

    #[test]
    fn an_undefined_decision_is_an_error() {
        let policy = policy("package a\nallow if input.x", "a/allow");
        for kind in [EngineKind::Interpreter, EngineKind::Rvm] {
            let mut engine = Engine::compile(kind, &policy, None).unwrap();
            let error = engine.decide(parse_json("{}").unwrap()).unwrap_err();
            assert!(error.to_string().contains("undefined"), "{error}");
        }
    }

    #[test]
    fn a_decision_path_part_that_is_no_identifier_is_quoted() {
        assert_eq!(rule_path("a/b-c/d").unwrap(), "data.a[\"b-c\"].d");
        assert!(rule_path("a//b").is_err());
    }

    #[test]
    fn mask_and_drop_rules_run_on_both_engines() {
        let text = "package a\nallow = true\n";
        let mut policy = policy(text, "a/allow");
        policy.files.push(PolicyFile {
            name: "log.rego".to_owned(),
            text: "package system.log\nmask contains \"/input/x\" if input.input.x\ndrop if input.path == \"skip\""
                .to_owned(),
        });
        for kind in [EngineKind::Interpreter, EngineKind::Rvm] {
            let mut engine = Engine::compile(kind, &policy, Some(LogPolicy::Present)).unwrap();
            assert!(engine.has_log_policy());
            let event = parse_json(r#"{"path": "skip", "input": {"x": 1}}"#).unwrap();
            let mask = engine.mask(event.clone()).unwrap();
            assert_eq!(serde_json::to_string(&mask).unwrap(), r#"["/input/x"]"#);
            assert!(engine.drops(event).unwrap());
            let event = parse_json(r#"{"path": "keep", "input": {}}"#).unwrap();
            assert!(!engine.drops(event).unwrap());
            assert_eq!(
                engine.decide(parse_json("{}").unwrap()).unwrap(),
                Value::Bool(true)
            );
        }
    }

    #[test]
    fn rules_for_the_log_are_asked_always_or_where_there_are_some() {
        for (log, text, asked) in [
            (None, "package system.log\ndrop if true", false),
            (
                Some(LogPolicy::Present),
                "package system.log\nother = 1",
                false,
            ),
            (
                Some(LogPolicy::Present),
                "package system.log\nmask = [\"/a\"]",
                true,
            ),
            (Some(LogPolicy::Always), "package other", true),
            (
                Some(LogPolicy::Always),
                "package system.log\nmask = [\"/a\"]",
                true,
            ),
            (
                Some(LogPolicy::Always),
                "package system.log\ndefault drop = false",
                true,
            ),
        ] {
            let mut policy = policy("package a\nallow = true\n", "a/allow");
            policy.files.push(PolicyFile {
                name: "log.rego".to_owned(),
                text: text.to_owned(),
            });
            for kind in [EngineKind::Interpreter, EngineKind::Rvm] {
                let mut engine = Engine::compile(kind, &policy, log).unwrap();
                assert_eq!(engine.has_log_policy(), asked, "{log:?} {text}");
                let event = parse_json(r#"{"input": {}}"#).unwrap();
                assert!(!engine.drops(event.clone()).unwrap());
                let mask = engine.mask(event).unwrap();
                let masks = mask.as_array().is_ok_and(|rules| !rules.is_empty());
                assert_eq!(masks, text.contains("mask"), "{log:?} {text}: {mask}");
            }
        }
    }

    #[test]
    fn the_printed_version_is_the_pinned_one() {
        assert!(
            include_str!("../Cargo.toml").contains(&format!("version = \"={REGORUS_VERSION}\""))
        );
    }
}
