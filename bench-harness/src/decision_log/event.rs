//! One decision as it is logged, and the masking of it.

use std::io::{self, Write};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use jiff::Timestamp;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::de::DeserializeOwned;
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::ser::Formatter;
use uuid::Uuid;

use crate::engine::{REGORUS_VERSION, Value, object};
use crate::input::has_whole_escapes;

/// What all events of a worker share.
#[derive(Debug)]
pub struct Origin {
    /// `labels`: environment, id, version.
    pub labels: Value,
    /// `path`: the decision path.
    pub path: Value,
}

impl Origin {
    /// Labels made anew, so that no worker touches another's reference
    /// counts. As in OPA, `id` is the process's and `version` the engine's.
    #[must_use]
    pub fn new(decision: &str, process: Uuid) -> Self {
        let text = Value::from;
        Self {
            labels: object([
                (text("environment"), text("bench")),
                (text("id"), Value::from(process.to_string())),
                (text("version"), text(REGORUS_VERSION)),
            ]),
            path: text(decision),
        }
    }
}

/// How a decision came out.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// The policy's result.
    Result(Value),
    /// Why there is none.
    Error(String),
}

/// How long what took, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Timers {
    /// The evaluation of the policy.
    pub evaluation: u64,
    /// All from the request to its decision.
    pub handler: u64,
}

/// A logged decision, not yet encoded.
#[derive(Clone, Debug)]
pub struct Event {
    /// Shared by all events of the worker.
    pub origin: Arc<Origin>,
    /// 32 hexadecimal digits.
    pub decision_id: Value,
    /// The input document; undefined once erased.
    pub input: Value,
    /// The decision.
    pub outcome: Outcome,
    /// When.
    pub timestamp: Timestamp,
    /// How long it took.
    pub timers: Timers,
    /// Paths the mask erased.
    pub erased: Vec<String>,
    /// Paths the mask wrote.
    pub masked: Vec<String>,
}

impl Serialize for Event {
    /// The members in OPA's order.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("labels", &self.origin.labels)?;
        map.serialize_entry("decision_id", &self.decision_id)?;
        map.serialize_entry("path", &self.origin.path)?;
        if self.input != Value::Undefined {
            map.serialize_entry("input", &self.input)?;
        }
        if let Outcome::Result(result) = &self.outcome
            && *result != Value::Undefined
        {
            map.serialize_entry("result", result)?;
        }
        if !self.erased.is_empty() {
            map.serialize_entry("erased", &self.erased)?;
        }
        if !self.masked.is_empty() {
            map.serialize_entry("masked", &self.masked)?;
        }
        if let Outcome::Error(error) = &self.outcome {
            map.serialize_entry("error", &Problem { message: error })?;
        }
        map.serialize_entry("timestamp", &format_args!("{}", self.timestamp))?;
        map.serialize_entry("metrics", &self.timers)?;
        map.end()
    }
}

/// An error as OPA's evaluator encodes it.
struct Problem<'a> {
    message: &'a str,
}

impl Serialize for Problem<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("code", "eval_internal_error")?;
        map.serialize_entry("message", self.message)?;
        map.end()
    }
}

impl Serialize for Timers {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("timer_rego_query_eval_ns", &self.evaluation)?;
        map.serialize_entry("timer_server_handler_ns", &self.handler)?;
        map.end()
    }
}

/// An event read back from a chunk: the same members in the same order.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub struct Decoded {
    labels: serde_json::Value,
    decision_id: serde_json::Value,
    path: serde_json::Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    input: Option<serde_json::Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    result: Option<serde_json::Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    erased: Option<serde_json::Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    masked: Option<serde_json::Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<serde_json::Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    timestamp: Option<serde_json::Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    metrics: Option<serde_json::Value>,
}

/// JSON as Go writes it: with `<`, `>`, `&` and the two line separators as escapes.
struct GoFormatter;

impl Formatter for GoFormatter {
    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let special = |letter| matches!(letter, '<' | '>' | '&' | '\u{2028}' | '\u{2029}');
        let mut rest = fragment;
        while let Some(at) = rest.find(special) {
            let (plain, tail) = rest.split_at(at);
            writer.write_all(plain.as_bytes())?;
            let mut letters = tail.chars();
            if let Some(letter) = letters.next() {
                write!(writer, "\\u{:04x}", u32::from(letter))?;
            }
            rest = letters.as_str();
        }
        writer.write_all(rest.as_bytes())
    }
}

/// Encodes an event into `text`.
///
/// # Errors
/// When it cannot be encoded.
pub fn encode_into(event: &impl Serialize, text: &mut Vec<u8>) -> Result<()> {
    event.serialize(&mut serde_json::Serializer::with_formatter(
        text,
        GoFormatter,
    ))?;
    Ok(())
}

/// Encodes an event.
///
/// # Errors
/// When it cannot be encoded.
pub fn encode(event: &impl Serialize) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    encode_into(event, &mut text)?;
    Ok(text)
}

/// A value made anew from the JSON text of another, as OPA does for each event.
fn by_way_of_json<T: DeserializeOwned>(value: &impl Serialize) -> Result<T> {
    let text = serde_json::to_vec(value)?;
    let mut deserializer = serde_json::Deserializer::from_slice(&text);
    // What nests deeply has passed the limit of whoever read it first.
    deserializer.disable_recursion_limit();
    Ok(T::deserialize(&mut deserializer)?)
}

impl Event {
    /// The event as the input of the mask and drop policies.
    ///
    /// OPA has the input and the result in another form than its policies
    /// take, and converts both by way of JSON; so does this.
    ///
    /// # Errors
    /// Never in practice: all that is in an event can be encoded.
    pub fn document(&self) -> Result<Value> {
        let text = Value::from;
        let mut members = vec![
            (text("labels"), by_way_of_json(&self.origin.labels)?),
            (text("decision_id"), self.decision_id.clone()),
            (text("path"), self.origin.path.clone()),
            (text("input"), by_way_of_json(&self.input)?),
            (text("timestamp"), Value::from(self.timestamp.to_string())),
        ];
        // As in OPA, an error is added only when these policies have run.
        if let Outcome::Result(result) = &self.outcome {
            members.push((text("result"), by_way_of_json(result)?));
        }
        Ok(object(members))
    }

    /// Applies the rules of `system.log.mask`: a path to erase, or an object
    /// with `op` (remove or upsert), `path` and `value`.
    ///
    /// A path that is not there changes nothing, as in OPA.
    ///
    /// # Errors
    /// When a rule is neither, or its path starts with something other than
    /// `/input` or `/result`. Nothing is changed then.
    pub fn mask(&mut self, rules: &Value) -> Result<()> {
        let rules: Vec<MaskRule> = match rules {
            Value::Set(rules) => rules.iter().map(MaskRule::read).collect::<Result<_>>()?,
            Value::Array(rules) => rules.iter().map(MaskRule::read).collect::<Result<_>>()?,
            Value::Undefined => return Ok(()),
            other => bail!("system.log.mask is {other}, not a set of rules"),
        };
        for rule in rules {
            self.apply(&rule);
        }
        Ok(())
    }

    fn apply(&mut self, rule: &MaskRule) {
        let Some((root, parts)) = rule.parts.split_first() else {
            return;
        };
        let target = match (root.as_str(), &mut self.outcome) {
            ("input", _) => &mut self.input,
            ("result", Outcome::Result(result)) => result,
            _ => return,
        };
        if *target == Value::Undefined {
            return;
        }
        let changed = match &rule.value {
            None => erase(target, parts, true),
            Some(value) => upsert(target, parts, value),
        };
        if changed {
            let list = match rule.value {
                None => &mut self.erased,
                Some(_) => &mut self.masked,
            };
            list.push(format!("/{}", rule.parts.join("/")));
        }
    }
}

/// What `url.PathEscape` of Go leaves as it is.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~')
    .remove(b'$')
    .remove(b'&')
    .remove(b'+')
    .remove(b'=')
    .remove(b':')
    .remove(b'@');

/// One rule of `system.log.mask`.
struct MaskRule {
    /// Escaped once more, as OPA does: a key that needs escapes is never found.
    parts: Vec<String>,
    /// What to write; none to erase.
    value: Option<Value>,
}

impl MaskRule {
    fn read(rule: &Value) -> Result<Self> {
        let (path, value) = match rule {
            Value::String(path) => (path, None),
            Value::Object(_) => {
                let member = |name: &str| &rule[&Value::from(name)];
                let path = member("path")
                    .as_string()
                    .with_context(|| format!("the mask rule {rule} has no path"))?;
                match member("op").as_string().map(AsRef::as_ref) {
                    Ok("remove") => (path, None),
                    Ok("upsert") => match member("value") {
                        Value::Undefined => (path, Some(Value::Null)),
                        value => (path, Some(value.clone())),
                    },
                    _ => bail!("the mask rule {rule} needs an op: remove or upsert"),
                }
            }
            other => bail!("the mask rule {other} is neither a path nor an object"),
        };
        let parts: Vec<&str> = path
            .strip_prefix('/')
            .unwrap_or_default()
            .split('/')
            .collect();
        if !["input", "result", "nd_builtin_cache"].contains(&parts[0]) {
            bail!("the mask path {path:?} must start with /input or /result");
        }
        if !parts.iter().all(|part| has_whole_escapes(part)) {
            bail!("the mask path {path:?} has a % without two hexadecimal digits");
        }
        Ok(Self {
            parts: parts
                .into_iter()
                .map(|part| utf8_percent_encode(part, PLAIN).to_string())
                .collect(),
            value,
        })
    }
}

/// Removes what stands at `path`; whether there was something. An element of a
/// list at the very top stays, as in OPA.
fn erase(target: &mut Value, path: &[String], top: bool) -> bool {
    let Some((part, rest)) = path.split_first() else {
        *target = Value::Undefined;
        return true;
    };
    // Changing a shared value copies it, so look before asking for a change.
    if !contains(target, path) {
        return false;
    }
    if !rest.is_empty() {
        return child(target, part).is_some_and(|inner| erase(inner, rest, false));
    }
    if let Ok(members) = target.as_object_mut() {
        return members.remove(&Value::from(part.as_str())).is_some();
    }
    let (Ok(index), Ok(list), false) = (part.parse::<usize>(), target.as_array_mut(), top) else {
        return false;
    };
    let mut position = 0;
    list.retain(|_| {
        position += 1;
        position != index + 1
    });
    true
}

/// Writes `value` at `path`, making the objects on the way.
fn upsert(target: &mut Value, path: &[String], value: &Value) -> bool {
    let Some((part, rest)) = path.split_first() else {
        *target = value.clone();
        return true;
    };
    if let Ok(members) = target.as_object_mut() {
        let key = Value::from(part.as_str());
        if members.get(&key).is_none() {
            members.insert(key.clone(), Value::new_object());
        }
        return members
            .get_mut(&key)
            .is_some_and(|inner| upsert(inner, rest, value));
    }
    child(target, part).is_some_and(|inner| upsert(inner, rest, value))
}

fn child<'a>(target: &'a mut Value, part: &str) -> Option<&'a mut Value> {
    match target {
        Value::Object(_) => target.as_object_mut().ok()?.get_mut(&Value::from(part)),
        Value::Array(_) => target.as_array_mut().ok()?.get_mut(part.parse().ok()?),
        _ => None,
    }
}

fn contains(target: &Value, path: &[String]) -> bool {
    path.iter()
        .try_fold(target, |inner, part| match inner {
            Value::Object(members) => members.get(&Value::from(part.as_str())),
            Value::Array(list) => list.get(part.parse().ok()?),
            _ => None,
        })
        .is_some()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::engine::parse_json;
    use serde_json::json;

    pub(crate) fn event(input: &str) -> Event {
        Event {
            origin: Arc::new(Origin::new("envoy/authz/allow", Uuid::nil())),
            decision_id: Value::from("d-1"),
            input: parse_json(input).unwrap(),
            outcome: Outcome::Result(Value::Bool(true)),
            timestamp: Timestamp::new(1_700_000_000, 120_000_000).unwrap(),
            timers: Timers {
                evaluation: 42,
                handler: 43,
            },
            erased: Vec::new(),
            masked: Vec::new(),
        }
    }

    #[test]
    fn an_event_is_what_opa_would_write() {
        let text = String::from_utf8(encode(&event(r#"{"a": "<&>\u2028é"}"#)).unwrap()).unwrap();
        assert_eq!(
            text,
            r#"{"labels":{"environment":"bench","id":"00000000-0000-0000-0000-000000000000","version":"0.14.1"},"#.to_owned()
                + r#""decision_id":"d-1","path":"envoy/authz/allow","input":{"a":"\u003c\u0026\u003e\u2028é"},"result":true,"#
                + r#""timestamp":"2023-11-14T22:13:20.12Z","metrics":{"timer_rego_query_eval_ns":42,"timer_server_handler_ns":43}}"#
        );
    }

    #[test]
    fn what_is_read_back_is_written_as_it_was() {
        let mut failed = event("{}");
        failed.outcome = Outcome::Error("no".to_owned());
        let deep = format!(r#"{{"a": {}1{}}}"#, "[".repeat(120), "]".repeat(120));
        for event in [
            event(r#"{"b": 1.5, "a": [null, "<"]}"#),
            event(&deep),
            failed,
        ] {
            let text = encode(&event).unwrap();
            let read: Decoded = by_way_of_json(&event).unwrap();
            assert_eq!(encode(&read).unwrap(), text);
        }
    }

    #[test]
    fn an_error_is_an_object_before_the_timestamp_and_takes_the_place_of_the_result() {
        let mut event = event("{}");
        event.outcome = Outcome::Error("no".to_owned());
        let text = String::from_utf8(encode(&event).unwrap()).unwrap();
        let error =
            r#""input":{},"error":{"code":"eval_internal_error","message":"no"},"timestamp""#;
        assert!(text.contains(error), "{text}");
    }

    #[test]
    fn the_document_for_the_policies_is_the_event_without_its_timers() {
        let document = event(r#"{"a": [1, "x"]}"#).document().unwrap();
        let mut expected = serde_json::to_value(event(r#"{"a": [1, "x"]}"#)).unwrap();
        expected.as_object_mut().unwrap().remove("metrics");
        assert_eq!(serde_json::to_value(&document).unwrap(), expected);
    }

    fn masked(input: &str, rules: &str) -> (serde_json::Value, Event) {
        let mut event = event(input);
        event.mask(&parse_json(rules).unwrap()).unwrap();
        (serde_json::to_value(&event).unwrap(), event)
    }

    #[test]
    fn a_path_is_erased_and_listed() {
        let (value, _) = masked(
            r#"{"a": {"b": 1, "c": 2}, "l": [1, 2, 3]}"#,
            r#"["/input/a/b", "/input/l/1"]"#,
        );
        assert_eq!(value["input"], json!({"a": {"c": 2}, "l": [1, 3]}));
        assert_eq!(value["erased"], json!(["/input/a/b", "/input/l/1"]));
    }

    #[test]
    fn a_path_that_is_not_there_changes_nothing() {
        let rules =
            r#"["/input/x", "/input/a/b/c", "/nd_builtin_cache", "/input/s%2Ft", "/input/s/t"]"#;
        let (value, event) = masked(r#"{"a": 1, "s/t": 2}"#, rules);
        assert_eq!(value["input"], json!({"a": 1, "s/t": 2}));
        assert!(event.erased.is_empty());
        let (value, _) = masked("[1, 2]", r#"["/input/0"]"#);
        assert_eq!(value["input"], json!([1, 2]));
    }

    #[test]
    fn an_upsert_writes_and_is_listed() {
        let rules = r#"[{"op": "upsert", "path": "/input/a/b", "value": "***"}]"#;
        let (value, _) = masked(r#"{"a": {"b": 1}}"#, rules);
        assert_eq!(value["input"], json!({"a": {"b": "***"}}));
        assert_eq!(value["masked"], json!(["/input/a/b"]));
        let (value, _) = masked("{}", rules);
        assert_eq!(value["input"], json!({"a": {"b": "***"}}));
    }

    #[test]
    fn the_whole_input_and_the_result_can_go() {
        let (value, _) = masked(r#"{"a": 1}"#, r#"["/input", "/result", "/input/a"]"#);
        assert!(value.get("input").is_none() && value.get("result").is_none());
        assert_eq!(value["erased"], json!(["/input", "/result"]));
    }

    #[test]
    fn masking_leaves_the_input_the_request_still_holds_alone() {
        let shared = parse_json(r#"{"a": {"b": 1}}"#).unwrap();
        let mut event = event("{}");
        event.input = shared.clone();
        event
            .mask(&parse_json(r#"["/input/a/b"]"#).unwrap())
            .unwrap();
        assert_eq!(shared, parse_json(r#"{"a": {"b": 1}}"#).unwrap());
    }

    #[test]
    fn a_path_elsewhere_or_a_rule_without_sense_is_an_error_and_changes_nothing() {
        for rules in [
            r#"["/input/a", "/labels/id"]"#,
            r#"["/input/a", "input"]"#,
            r#"["/input/a", "/input/%zz"]"#,
            r#"["/input/a", 1]"#,
            r#"["/input/a", {"path": "/input/a"}]"#,
            "1",
        ] {
            let mut event = event(r#"{"a": 1}"#);
            assert!(event.mask(&parse_json(rules).unwrap()).is_err(), "{rules}");
            assert_eq!(event.input, parse_json(r#"{"a": 1}"#).unwrap());
        }
    }
}
