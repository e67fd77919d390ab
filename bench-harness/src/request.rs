//! The requests a run repeats: drawn from a seed, or read from a file.

use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt as _, SeedableRng as _};
use serde::Deserialize;
use serde_json::json;

use crate::engine::{self, Value};
use crate::scenario::BuiltIn;
use crate::token::sign;

/// How many different requests a scenario repeats.
pub const POOL: usize = 512;

/// How many users, and so tokens and mail addresses, there are.
pub const USERS: u32 = 16;

/// Until when the tokens are valid: the first second of the year 2100.
const EXPIRES: u64 = 4_102_444_800;

/// One HTTP request as the proxy hands it to the filter.
#[derive(Clone, Debug)]
pub struct Request {
    /// Such as `GET`; may be empty.
    pub method: String,
    /// With the query; may be empty.
    pub path: String,
    /// May be empty.
    pub host: String,
    /// In the order received; names in any case, possibly repeated.
    pub headers: Vec<(String, String)>,
    /// The whole body.
    pub body: Option<Vec<u8>>,
    /// What the policy must decide.
    pub expected: Expected,
    /// What errors call this request: file and line, or scenario and number.
    pub origin: String,
}

/// The decision a request must get.
#[derive(Clone, Debug)]
pub enum Expected {
    /// Allowed or denied, whatever else the result says.
    Allowed(bool),
    /// This very result.
    Result(Value),
}

/// Draws the requests of a scenario: the same ones for the same seed.
///
/// One request repeated would be too easy: gzip would find every event in its
/// window, and the processor every branch predicted.
///
/// # Errors
/// When a token cannot be signed.
pub fn draw(scenario: BuiltIn, seed: u64) -> Result<Vec<Request>> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(scenario as u64);
    let tokens = match scenario {
        BuiltIn::JwtValidation => (0..USERS)
            .map(|user| {
                sign(&json!({
                    "iss": "https://issuer.example.org",
                    "sub": format!("user-{user:04}"),
                    "aud": "bench-harness",
                    "iat": 1_767_225_600,
                    "exp": EXPIRES,
                    "email": format!("user-{user:04}@example.org"),
                    // Tokens of one issuer still differ in their random part.
                    "jti": format!("{:016x}", random.random::<u64>()),
                }))
            })
            .collect::<Result<Vec<_>>>()?,
        BuiltIn::Minimal | BuiltIn::WithBody => Vec::new(),
    };
    let draw = |number: usize| {
        let user = random.random_range(0..USERS);
        let item = random.random_range(0..100_000);
        let host = format!("tenant-{}.example.org", random.random_range(0..32));
        let origin = format!("{} request {number}", scenario.name());
        let expected = Expected::Allowed(true);
        match scenario {
            BuiltIn::Minimal => Request {
                method: "GET".to_owned(),
                path: format!("/allow?item={item}&user=user-{user:04}"),
                host,
                headers: Vec::new(),
                body: None,
                expected,
                origin,
            },
            BuiltIn::WithBody => {
                let body = json!({
                    "email": format!("bench-test-{user:04}@example.org"),
                    "item": item,
                })
                .to_string();
                Request {
                    method: "POST".to_owned(),
                    path: format!("/allow?item={item}"),
                    host,
                    headers: vec![
                        ("Content-Type".to_owned(), "application/json".to_owned()),
                        ("Content-Length".to_owned(), body.len().to_string()),
                    ],
                    body: Some(body.into_bytes()),
                    expected,
                    origin,
                }
            }
            BuiltIn::JwtValidation => Request {
                method: "GET".to_owned(),
                path: format!("/somepath/{item}"),
                host,
                headers: vec![(
                    "Authorization".to_owned(),
                    format!("Bearer {}", tokens[user as usize]),
                )],
                body: None,
                expected,
                origin,
            },
        }
    };
    Ok((0..POOL).map(draw).collect())
}

/// A line of a request file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    method: String,
    path: String,
    #[serde(default)]
    host: String,
    #[serde(default)]
    headers: serde_json::Map<String, serde_json::Value>,
    body: Option<serde_json::Value>,
    body_base64: Option<String>,
    expected: serde_json::Value,
}

/// Reads requests from JSON lines: `method`, `path`, `host`, `headers` (text,
/// or a list of texts for a repeated one), `body` (text as it is, any other
/// JSON as its text) or `body_base64`, and `expected` (true, false, or the
/// whole result). Empty lines are skipped.
///
/// # Errors
/// With file and line.
pub fn load(path: &Path) -> Result<Vec<Request>> {
    let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let mut requests = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let origin = format!("{}:{}", path.display(), index + 1);
        requests.push(parse(line, &origin).map_err(|error| anyhow!("{origin}: {error:#}"))?);
    }
    if requests.is_empty() {
        bail!("{}: no request in it", path.display());
    }
    Ok(requests)
}

/// Writes requests as [`load`] reads them.
///
/// # Errors
/// When `out` fails.
pub fn write(requests: &[Request], out: &mut dyn Write) -> Result<()> {
    for request in requests {
        let mut headers = serde_json::Map::new();
        for (name, value) in &request.headers {
            match headers.get_mut(name) {
                Some(serde_json::Value::Array(values)) => values.push(json!(value)),
                Some(one) => *one = json!([one.take(), value]),
                None => {
                    headers.insert(name.clone(), json!(value));
                }
            }
        }
        let mut line = json!({
            "method": request.method,
            "path": request.path,
            "host": request.host,
            "headers": headers,
            "expected": match &request.expected {
                Expected::Allowed(allowed) => json!(allowed),
                Expected::Result(result) => serde_json::to_value(result)?,
            },
        });
        if let Some(body) = &request.body {
            match std::str::from_utf8(body) {
                Ok(text) => line["body"] = json!(text),
                Err(_) => line["body_base64"] = json!(STANDARD.encode(body)),
            }
        }
        writeln!(out, "{line}")?;
    }
    Ok(())
}

fn parse(line: &str, origin: &str) -> Result<Request> {
    let line: Line = serde_json::from_str(line)?;
    let mut headers = Vec::new();
    for (name, value) in line.headers {
        let values = match value {
            serde_json::Value::Array(values) => values,
            one => vec![one],
        };
        for value in values {
            let serde_json::Value::String(value) = value else {
                bail!("the header {name:?} is {value}; write a text or a list of texts");
            };
            headers.push((name.clone(), value));
        }
    }
    let body = match (line.body, line.body_base64) {
        (Some(_), Some(_)) => bail!("both body and body_base64; keep one"),
        (Some(serde_json::Value::String(text)), None) => Some(text.into_bytes()),
        (Some(value), None) => Some(value.to_string().into_bytes()),
        (None, Some(text)) => Some(STANDARD.decode(text).context("body_base64")?),
        (None, None) => None,
    };
    let expected = match line.expected {
        serde_json::Value::Bool(allowed) => Expected::Allowed(allowed),
        result => Expected::Result(engine::parse_json(&result.to_string())?),
    };
    Ok(Request {
        method: line.method,
        path: line.path,
        host: line.host,
        headers,
        body,
        expected,
        origin: origin.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn the_same_seed_draws_the_same_requests() {
        let paths = |seed| -> Vec<String> {
            let requests = draw(BuiltIn::Minimal, seed).unwrap();
            requests.into_iter().map(|request| request.path).collect()
        };
        assert_eq!(paths(7), paths(7));
        assert_ne!(paths(7), paths(8));
    }

    #[test]
    fn requests_differ_in_user_token_and_path() {
        let requests = draw(BuiltIn::JwtValidation, 1).unwrap();
        let paths: HashSet<_> = requests.iter().map(|request| &request.path).collect();
        let tokens: HashSet<_> = requests
            .iter()
            .map(|request| &request.headers[0].1)
            .collect();
        assert!(paths.len() > POOL * 9 / 10);
        assert_eq!(tokens.len(), USERS as usize);
    }

    #[test]
    fn a_line_reads_as_a_request() {
        let line = r#"{"method":"POST","path":"/x","headers":{"A":["1","2"],"B":"3"},"body":{"k":1},"expected":false}"#;
        let request = parse(line, "f:1").unwrap();
        let headers: Vec<(&str, &str)> = request
            .headers
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        assert_eq!(headers, [("A", "1"), ("A", "2"), ("B", "3")]);
        assert_eq!(request.body.unwrap(), br#"{"k":1}"#);
        assert!(matches!(request.expected, Expected::Allowed(false)));
    }

    #[test]
    fn what_is_written_reads_back() {
        let line = r#"{"method":"POST","path":"/x","headers":{"A":["1","2","3"],"B":"4"},"body":"é","expected":{"allowed":true}}"#;
        let mut requests = vec![parse(line, "f:1").unwrap()];
        requests.push(Request {
            body: Some(vec![0xff]),
            ..requests[0].clone()
        });
        requests.extend(draw(BuiltIn::WithBody, 1).unwrap());
        let mut text = Vec::new();
        write(&requests, &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        for (line, request) in text.lines().zip(&requests) {
            let read = parse(line, "").unwrap();
            // Different names may change places.
            let sorted = |request: &Request| {
                let mut headers = request.headers.clone();
                headers.sort_by(|left, right| left.0.cmp(&right.0));
                headers
            };
            assert_eq!(sorted(&read), sorted(request));
            assert_eq!(
                (read.path, read.body),
                (request.path.clone(), request.body.clone())
            );
        }
        assert_eq!(text.lines().count(), requests.len());
    }

    #[test]
    fn a_bad_line_says_file_line_and_what() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("r.jsonl");
        for (line, message) in [
            (r#"{"method":"GET","path":"/"}"#, "missing field `expected`"),
            (
                r#"{"method":"GET","path":"/","expect":true}"#,
                "unknown field `expect`",
            ),
            (
                r#"{"method":"GET","path":"/","headers":{"a":1},"expected":true}"#,
                "the header \"a\" is 1",
            ),
            (
                r#"{"method":"GET","path":"/","body_base64":"*","expected":true}"#,
                "body_base64",
            ),
        ] {
            let good = r#"{"method":"GET","path":"/","expected":true}"#;
            fs::write(&file, format!("{good}\n\n{line}\n")).unwrap();
            let error = load(&file).unwrap_err().to_string();
            assert!(error.contains("r.jsonl:3: "), "{error}");
            assert!(error.contains(message), "{error}");
        }
    }
}
