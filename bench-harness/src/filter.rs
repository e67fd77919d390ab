//! The authorization filter: all that happens to one request inside the measured time.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use jiff::Timestamp;
use uuid::Uuid;

use crate::decision_log::Logger;
use crate::decision_log::event::{Event, Origin, Outcome, Timers};
use crate::engine::{Engine, EngineKind, Value};
use crate::input::{Body, InputBuilder};
use crate::latency::nanoseconds;
use crate::policy::Policy;
use crate::request::{Expected, Request};

/// The answer to one request.
#[derive(Debug)]
pub struct Decision {
    /// Whether the request may pass.
    pub allowed: bool,
    /// The status of a refusal, 100 … 599.
    pub status: u16,
    /// Headers for the answer, or for the request passed on.
    pub headers: Vec<(String, String)>,
    /// The body of a refusal.
    pub body: Option<String>,
    /// The policy's result as it came.
    pub result: Value,
}

impl Decision {
    /// Interprets a result: a boolean, or an object with `allowed` and, if
    /// they are there, `http_status`, `headers` and `body`.
    ///
    /// # Errors
    /// When it is neither.
    pub fn interpret(result: Value) -> Result<Self> {
        let mut decision = Self {
            allowed: false,
            status: 403,
            headers: Vec::new(),
            body: None,
            result,
        };
        match &decision.result {
            Value::Bool(allowed) => decision.allowed = *allowed,
            Value::Object(members) => {
                let member = |name: &str| members.get(&Value::from(name));
                decision.allowed = match member("allowed") {
                    Some(Value::Bool(allowed)) => *allowed,
                    _ => bail!("the result {} has no boolean \"allowed\"", decision.result),
                };
                if let Some(status) = member("http_status") {
                    decision.status = status
                        .as_u32()
                        .ok()
                        .and_then(|status| u16::try_from(status).ok())
                        .filter(|status| (100..600).contains(status))
                        .with_context(|| format!("http_status is {status}, not 100 … 599"))?;
                }
                if let Some(headers) = member("headers") {
                    for (name, value) in headers.as_object()?.iter_sorted() {
                        let texts = (name.as_string(), value.as_string());
                        let (Ok(name), Ok(value)) = texts else {
                            bail!("the header {name}: {value} is no text");
                        };
                        decision.headers.push((name.to_string(), value.to_string()));
                    }
                }
                if let Some(body) = member("body") {
                    decision.body = Some(body.as_string().context("body")?.to_string());
                }
            }
            other => bail!("the result is {other}, neither a boolean nor an object"),
        }
        Ok(decision)
    }
}

/// Decides requests for one worker.
pub trait Authorize {
    /// Decides one request.
    ///
    /// # Errors
    /// When there is no decision.
    fn authorize(&mut self, request: &Request) -> Result<Decision>;
}

/// The real filter.
pub struct Filter {
    engine: Engine,
    inputs: InputBuilder,
    log: Option<(Logger, Arc<Origin>)>,
    body_limit: usize,
    context_extensions: Vec<(String, String)>,
}

impl Filter {
    /// Compiles `policy` for one worker.
    ///
    /// # Errors
    /// When it does not compile.
    pub fn new(
        kind: EngineKind,
        policy: &Policy,
        logger: Option<Logger>,
        body_limit: usize,
    ) -> Result<Self> {
        let log_policy = logger.as_ref().map(|logger| logger.settings().log_policy);
        let log = logger.map(|logger| {
            let origin = Origin::new(&policy.decision, logger.process());
            (logger, Arc::new(origin))
        });
        Ok(Self {
            engine: Engine::compile(kind, policy, log_policy)?,
            inputs: InputBuilder::default(),
            log,
            body_limit,
            context_extensions: Vec::new(),
        })
    }

    /// Nanoseconds spent on signatures of tokens so far.
    #[must_use]
    pub fn signatures(&self) -> u64 {
        self.engine.signatures()
    }

    /// The worker's way to the decision log, when it has one.
    #[must_use]
    pub fn logger(&self) -> Option<&Logger> {
        self.log.as_ref().map(|(logger, _)| logger)
    }
}

impl Authorize for Filter {
    fn authorize(&mut self, request: &Request) -> Result<Decision> {
        let arrived = Instant::now();
        let body = match &request.body {
            Some(bytes) => Some(Body::read(bytes.as_slice(), self.body_limit)?),
            None => None,
        };
        let mut id = Uuid::encode_buffer();
        let id = &*Uuid::new_v4().simple().encode_lower(&mut id);
        let id = Value::from(id);
        let input = self
            .inputs
            .build(request, body.as_ref(), &id, &self.context_extensions);
        let Some((logger, origin)) = &mut self.log else {
            return Decision::interpret(self.engine.decide(input)?);
        };
        let timestamp = Timestamp::now();
        let start = Instant::now();
        let result = self.engine.decide(input.clone());
        let evaluation = nanoseconds(start.elapsed());
        let decision = result.and_then(Decision::interpret);
        let event = Event {
            origin: Arc::clone(origin),
            decision_id: id,
            input,
            outcome: match &decision {
                Ok(decision) => Outcome::Result(decision.result.clone()),
                Err(error) => Outcome::Error(format!("{error:#}")),
            },
            timestamp,
            timers: Timers {
                evaluation,
                handler: nanoseconds(arrived.elapsed()),
            },
            erased: Vec::new(),
            masked: Vec::new(),
        };
        logger.log(event, &mut self.engine)?;
        decision
    }
}

/// Answers as expected without looking: what remains is the harness itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct EmptyFilter;

impl Authorize for EmptyFilter {
    fn authorize(&mut self, request: &Request) -> Result<Decision> {
        let (allowed, result) = match &black_box(request).expected {
            Expected::Allowed(allowed) => (*allowed, Value::Bool(*allowed)),
            Expected::Result(result) => (false, result.clone()),
        };
        Ok(Decision {
            allowed,
            status: 200,
            headers: Vec::new(),
            body: None,
            result,
        })
    }
}

/// Checks a decision against the one expected.
///
/// # Errors
/// With the request and both decisions.
pub fn check(request: &Request, decision: &Decision) -> Result<()> {
    match &request.expected {
        Expected::Allowed(allowed) if *allowed == decision.allowed => Ok(()),
        Expected::Result(result) if *result == decision.result => Ok(()),
        Expected::Allowed(allowed) => bail!(
            "{}: the decision for {} {} is {}, expected {}",
            request.origin,
            request.method,
            request.path,
            decision.result,
            if *allowed { "allowed" } else { "denied" }
        ),
        Expected::Result(result) => bail!(
            "{}: the decision for {} {} is {}, expected {result}",
            request.origin,
            request.method,
            request.path,
            decision.result
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::parse_json;
    use crate::scenario::{BuiltIn, Scenario};

    #[test]
    fn every_scenario_decides_as_expected_on_both_engines() {
        for built_in in BuiltIn::ALL {
            let scenario = Scenario::built_in(built_in, 3).unwrap();
            for kind in [EngineKind::Interpreter, EngineKind::Rvm] {
                let mut filter = Filter::new(kind, &scenario.policy, None, 1 << 20).unwrap();
                for request in scenario.requests.iter().take(20) {
                    let decision = filter.authorize(request).unwrap();
                    assert!(decision.allowed);
                    check(request, &decision).unwrap();
                }
            }
        }
    }

    #[test]
    fn the_policies_deny_what_they_should() {
        for (built_in, spoil) in [
            (
                BuiltIn::Minimal,
                (|request| request.path = "/deny".to_owned()) as fn(&mut Request),
            ),
            (BuiltIn::WithBody, |request| {
                request.body = Some(br#"{"email": "x@example.com"}"#.to_vec());
            }),
            (BuiltIn::JwtValidation, |request| {
                // Another first letter in the signature.
                let token = &mut request.headers[0].1;
                let dot = token.rfind('.').unwrap() + 1;
                let letter = if token.as_bytes()[dot] == b'A' {
                    "B"
                } else {
                    "A"
                };
                token.replace_range(dot..=dot, letter);
            }),
        ] {
            let mut scenario = Scenario::built_in(built_in, 3).unwrap();
            spoil(&mut scenario.requests[0]);
            for kind in [EngineKind::Interpreter, EngineKind::Rvm] {
                let mut filter = Filter::new(kind, &scenario.policy, None, 1 << 20).unwrap();
                let decision = filter.authorize(&scenario.requests[0]).unwrap();
                assert!(!decision.allowed, "{}", built_in.name());
                let error = check(&scenario.requests[0], &decision).unwrap_err();
                assert!(error.to_string().contains("request 0"), "{error}");
            }
        }
    }

    #[test]
    fn an_object_is_interpreted_with_all_its_members() {
        let result =
            r#"{"allowed": false, "http_status": 401, "headers": {"a": "b"}, "body": "no"}"#;
        let decision = Decision::interpret(parse_json(result).unwrap()).unwrap();
        assert!(!decision.allowed);
        assert_eq!(decision.status, 401);
        assert_eq!(decision.headers, [("a".to_owned(), "b".to_owned())]);
        assert_eq!(decision.body.as_deref(), Some("no"));
    }

    #[test]
    fn a_result_that_is_no_decision_is_an_error() {
        for result in [
            "1",
            "{}",
            r#"{"allowed": 1}"#,
            r#"{"allowed": true, "http_status": 99}"#,
        ] {
            let error = Decision::interpret(parse_json(result).unwrap());
            assert!(error.is_err(), "{result}");
        }
    }
}
