//! One decision as it is logged, and the masking of it.

use std::borrow::Cow;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use jiff::Timestamp;
use percent_encoding::percent_decode_str;
use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::engine::{Value, object};

/// What all events of a worker share.
#[derive(Debug)]
pub struct Origin {
    /// `labels`: environment, id, version.
    pub labels: Value,
    /// `bundles`: name → revision.
    pub bundles: Value,
    /// `path`: the decision path.
    pub path: Value,
}

impl Origin {
    /// Labels and bundles, made anew so that no worker touches another's
    /// reference counts.
    #[must_use]
    pub fn new(decision: &str, revision: Option<&str>) -> Self {
        let text = Value::from;
        let revision = revision.map_or_else(Value::new_object, |revision| {
            object([(text("revision"), text(revision))])
        });
        Self {
            labels: object([
                (text("environment"), text("bench")),
                (text("id"), text("bench-harness")),
                (text("version"), text(env!("CARGO_PKG_VERSION"))),
            ]),
            bundles: object([(text("bench"), revision)]),
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

/// A logged decision, not yet encoded.
#[derive(Clone, Debug)]
pub struct Event {
    /// Shared by all events of the worker.
    pub origin: Arc<Origin>,
    /// A UUID.
    pub decision_id: Value,
    /// The input document; undefined once erased.
    pub input: Value,
    /// The decision.
    pub outcome: Outcome,
    /// When.
    pub timestamp: Timestamp,
    /// How long the evaluation took, in nanoseconds.
    pub evaluation: u64,
    /// Paths the mask erased.
    pub erased: Vec<String>,
    /// Paths the mask wrote.
    pub masked: Vec<String>,
}

impl Serialize for Event {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("labels", &self.origin.labels)?;
        map.serialize_entry("decision_id", &self.decision_id)?;
        map.serialize_entry("bundles", &self.origin.bundles)?;
        map.serialize_entry("path", &self.origin.path)?;
        if self.input != Value::Undefined {
            map.serialize_entry("input", &self.input)?;
        }
        match &self.outcome {
            Outcome::Result(Value::Undefined) => {}
            Outcome::Result(result) => map.serialize_entry("result", result)?,
            Outcome::Error(error) => map.serialize_entry("error", error)?,
        }
        if !self.erased.is_empty() {
            map.serialize_entry("erased", &self.erased)?;
        }
        if !self.masked.is_empty() {
            map.serialize_entry("masked", &self.masked)?;
        }
        map.serialize_entry("timestamp", &format_args!("{:.9}", self.timestamp))?;
        map.serialize_entry("metrics", &Metrics(self.evaluation))?;
        map.end()
    }
}

struct Metrics(u64);

impl Serialize for Metrics {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry("timer_rego_query_eval_ns", &self.0)?;
        map.end()
    }
}

impl Event {
    /// The event as the input of the mask and drop policies.
    #[must_use]
    pub fn document(&self) -> Value {
        let text = Value::from;
        let mut members = vec![
            (text("labels"), self.origin.labels.clone()),
            (text("decision_id"), self.decision_id.clone()),
            (text("bundles"), self.origin.bundles.clone()),
            (text("path"), self.origin.path.clone()),
            (text("input"), self.input.clone()),
            (
                text("timestamp"),
                Value::from(format!("{:.9}", self.timestamp)),
            ),
        ];
        members.push(match &self.outcome {
            Outcome::Result(result) => (text("result"), result.clone()),
            Outcome::Error(error) => (text("error"), text(error)),
        });
        object(members)
    }

    /// Applies the rules of `system.log.mask`: a path to erase, or an object
    /// with `op` (remove or upsert), `path` and `value`.
    ///
    /// A path that is not there changes nothing, as in OPA.
    ///
    /// # Errors
    /// When a rule is neither, or its path starts with something other than
    /// `/input` or `/result`.
    pub fn mask(&mut self, rules: &Value) -> Result<()> {
        let rules: Vec<&Value> = match rules {
            Value::Set(rules) => rules.iter().collect(),
            Value::Array(rules) => rules.iter().collect(),
            Value::Undefined => return Ok(()),
            other => bail!("system.log.mask is {other}, not a set of rules"),
        };
        for rule in rules {
            match rule {
                Value::String(path) => self.apply(path, None)?,
                Value::Object(_) => {
                    let member = |name: &str| &rule[&Value::from(name)];
                    let path = member("path")
                        .as_string()
                        .with_context(|| format!("the mask rule {rule} has no path"))?;
                    match member("op").as_string().map(AsRef::as_ref) {
                        Ok("remove") => self.apply(path, None)?,
                        Ok("upsert") => self.apply(path, Some(member("value")))?,
                        _ => bail!("the mask rule {rule} needs an op: remove or upsert"),
                    }
                }
                other => bail!("the mask rule {other} is neither a path nor an object"),
            }
        }
        Ok(())
    }

    fn apply(&mut self, path: &str, value: Option<&Value>) -> Result<()> {
        let mut parts = path.strip_prefix('/').unwrap_or_default().split('/');
        let target = match (parts.next(), &mut self.outcome) {
            (Some("input"), _) => &mut self.input,
            (Some("result"), Outcome::Result(result)) => result,
            (Some("result"), Outcome::Error(_)) => return Ok(()),
            _ => bail!("the mask path {path:?} must start with /input or /result"),
        };
        let parts: Vec<Cow<'_, str>> = parts
            .map(|part| percent_decode_str(part).decode_utf8_lossy())
            .collect();
        let changed = match value {
            None => erase(target, &parts),
            Some(value) => upsert(target, &parts, value),
        };
        if changed {
            let list = match value {
                None => &mut self.erased,
                Some(_) => &mut self.masked,
            };
            list.push(path.to_owned());
        }
        Ok(())
    }
}

/// Removes what stands at `path`; whether there was something.
fn erase(target: &mut Value, path: &[Cow<'_, str>]) -> bool {
    let Some((part, rest)) = path.split_first() else {
        let there = *target != Value::Undefined;
        *target = Value::Undefined;
        return there;
    };
    // Changing a shared value copies it, so look before asking for a change.
    if !contains(target, path) {
        return false;
    }
    if rest.is_empty() {
        if let Ok(members) = target.as_object_mut() {
            return members.remove(&Value::from(part.as_ref())).is_some();
        }
        let (Ok(index), Ok(list)) = (part.parse::<usize>(), target.as_array_mut()) else {
            return false;
        };
        let mut position = 0;
        list.retain(|_| {
            position += 1;
            position != index + 1
        });
        return true;
    }
    child(target, part).is_some_and(|inner| erase(inner, rest))
}

/// Writes `value` at `path`, making the objects on the way.
fn upsert(target: &mut Value, path: &[Cow<'_, str>], value: &Value) -> bool {
    let Some((part, rest)) = path.split_first() else {
        *target = value.clone();
        return true;
    };
    if let Ok(members) = target.as_object_mut() {
        let key = Value::from(part.as_ref());
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

fn contains(target: &Value, path: &[Cow<'_, str>]) -> bool {
    path.iter()
        .try_fold(target, |inner, part| match inner {
            Value::Object(members) => members.get(&Value::from(part.as_ref())),
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
            origin: Arc::new(Origin::new("envoy/authz/allow", Some("r1"))),
            decision_id: Value::from("d-1"),
            input: parse_json(input).unwrap(),
            outcome: Outcome::Result(Value::Bool(true)),
            timestamp: Timestamp::new(1_700_000_000, 120_000_000).unwrap(),
            evaluation: 42,
            erased: Vec::new(),
            masked: Vec::new(),
        }
    }

    #[test]
    fn an_event_has_the_members_of_the_wire_format() {
        let text = serde_json::to_string(&event(r#"{"a": 1}"#)).unwrap();
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            value,
            json!({
                "labels": {"environment": "bench", "id": "bench-harness", "version": env!("CARGO_PKG_VERSION")},
                "decision_id": "d-1",
                "bundles": {"bench": {"revision": "r1"}},
                "path": "envoy/authz/allow",
                "input": {"a": 1},
                "result": true,
                "timestamp": "2023-11-14T22:13:20.120000000Z",
                "metrics": {"timer_rego_query_eval_ns": 42}
            })
        );
    }

    #[test]
    fn an_error_stands_in_the_place_of_the_result() {
        let mut event = event("{}");
        event.outcome = Outcome::Error("no".to_owned());
        let value = serde_json::to_value(&event).unwrap();
        assert_eq!(value["error"], json!("no"));
        assert!(value.get("result").is_none());
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
        let (value, event) = masked(r#"{"a": 1}"#, r#"["/input/x", "/input/a/b/c"]"#);
        assert_eq!(value["input"], json!({"a": 1}));
        assert!(event.erased.is_empty());
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
        let (value, _) = masked(r#"{"a": 1}"#, r#"["/input", "/result"]"#);
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
    fn a_path_elsewhere_or_a_rule_without_sense_is_an_error() {
        for rules in [
            r#"["/labels/id"]"#,
            r#"["input"]"#,
            "[1]",
            r#"[{"path": "/input/a"}]"#,
            "1",
        ] {
            let mut event = event("{}");
            assert!(event.mask(&parse_json(rules).unwrap()).is_err(), "{rules}");
        }
    }
}
