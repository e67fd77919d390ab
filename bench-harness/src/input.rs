//! A request as a policy input document, the way the Envoy plugin of OPA lays it out.

use std::io::{self, Read};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::percent_decode_str;

use crate::engine::{self, Value, object};
use crate::request::Request;

/// A body as far as it was read.
#[derive(Debug, Default)]
pub struct Body {
    /// At most the limit.
    pub bytes: Vec<u8>,
    /// Whether there was more.
    pub partial: bool,
}

impl Body {
    /// Reads `source` up to `limit` bytes and notes whether more was there.
    ///
    /// # Errors
    /// When reading fails.
    pub fn read(source: impl Read, limit: usize) -> io::Result<Self> {
        let mut bytes = Vec::new();
        source.take(limit as u64 + 1).read_to_end(&mut bytes)?;
        let partial = bytes.len() > limit;
        bytes.truncate(limit);
        Ok(Self { bytes, partial })
    }
}

/// Builds input documents for one worker.
///
/// The texts that every document holds are made once: copying them would
/// measure the allocator.
pub struct InputBuilder {
    attributes: Value,
    request: Value,
    http: Value,
    method: Value,
    path: Value,
    host: Value,
    headers: Value,
    raw_body: Value,
    metadata_context: Value,
    filter_metadata: Value,
    open_policy_agent: Value,
    decision_id: Value,
    context_extensions: Value,
    parsed_path: Value,
    parsed_query: Value,
    parsed_body: Value,
    truncated_body: Value,
    version: Value,
    version_value: Value,
    partial_body: Value,
    is_true: Value,
    is_false: Value,
}

impl Default for InputBuilder {
    fn default() -> Self {
        let text = |text: &str| engine::text(Arc::from(text));
        Self {
            attributes: text("attributes"),
            request: text("request"),
            http: text("http"),
            method: text("method"),
            path: text("path"),
            host: text("host"),
            headers: text("headers"),
            raw_body: text("rawBody"),
            metadata_context: text("metadataContext"),
            filter_metadata: text("filterMetadata"),
            open_policy_agent: text("open_policy_agent"),
            decision_id: text("decision_id"),
            context_extensions: text("contextExtensions"),
            parsed_path: text("parsed_path"),
            parsed_query: text("parsed_query"),
            parsed_body: text("parsed_body"),
            truncated_body: text("truncated_body"),
            version: text("version"),
            version_value: object([
                (text("ext_authz"), text("v3")),
                (text("encoding"), text("protojson")),
            ]),
            partial_body: text("x-envoy-auth-partial-body"),
            is_true: text("true"),
            is_false: text("false"),
        }
    }
}

impl InputBuilder {
    /// The document for `request`, whose body has been read into `body`.
    /// Context extensions are the key-value pairs of the route's configuration.
    #[must_use]
    pub fn build(
        &self,
        request: &Request,
        body: Option<&Body>,
        decision_id: &Value,
        context_extensions: &[(String, String)],
    ) -> Value {
        let headers = joined_headers(request);
        let partial = body.is_some_and(|body| body.partial);
        let (parsed_body, truncated) =
            body.map_or((Value::Null, false), |body| parse_body(body, &headers));
        let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));

        let mut header_members: Vec<(Value, Value)> = headers
            .into_iter()
            .map(|(name, value)| (Value::from(name), Value::from(value)))
            .collect();
        header_members.push((
            self.partial_body.clone(),
            if partial {
                self.is_true.clone()
            } else {
                self.is_false.clone()
            },
        ));
        let mut http = vec![(self.headers.clone(), object(header_members))];
        for (key, text) in [
            (&self.method, &request.method),
            (&self.path, &request.path),
            (&self.host, &request.host),
        ] {
            if !text.is_empty() {
                http.push((key.clone(), Value::from(text.as_str())));
            }
        }
        if let Some(body) = body.filter(|body| !body.bytes.is_empty()) {
            let encoded = STANDARD.encode(&body.bytes);
            http.push((self.raw_body.clone(), Value::from(encoded)));
        }

        let nest = |key: &Value, value: Value| object([(key.clone(), value)]);
        let mut attributes = vec![
            (self.request.clone(), nest(&self.http, object(http))),
            (
                self.metadata_context.clone(),
                nest(
                    &self.filter_metadata,
                    nest(
                        &self.open_policy_agent,
                        nest(&self.decision_id, decision_id.clone()),
                    ),
                ),
            ),
        ];
        if !context_extensions.is_empty() {
            let members = context_extensions
                .iter()
                .map(|(key, value)| (Value::from(key.as_str()), Value::from(value.as_str())));
            attributes.push((self.context_extensions.clone(), object(members)));
        }
        object([
            (self.attributes.clone(), object(attributes)),
            (self.parsed_path.clone(), parse_path(path)),
            (self.parsed_query.clone(), parse_pairs(query)),
            (self.parsed_body.clone(), parsed_body),
            (self.truncated_body.clone(), Value::Bool(truncated)),
            (self.version.clone(), self.version_value.clone()),
        ])
    }
}

/// Names in lower case, values of a repeated one joined, in order of first appearance.
fn joined_headers(request: &Request) -> Vec<(String, String)> {
    let mut joined: Vec<(String, String)> = Vec::with_capacity(request.headers.len());
    for (name, value) in &request.headers {
        let name = name.to_ascii_lowercase();
        match joined.iter_mut().find(|(there, _)| *there == name) {
            Some((_, values)) => {
                values.push_str(", ");
                values.push_str(value);
            }
            None => joined.push((name, value.clone())),
        }
    }
    joined
}

/// Unescaped first and split afterwards, so `%2F` separates too, as in OPA.
fn parse_path(path: &str) -> Value {
    let unescaped = percent_decode_str(path).decode_utf8_lossy();
    let parts: Vec<Value> = unescaped
        .trim_start_matches('/')
        .split('/')
        .map(Value::from)
        .collect();
    Value::from(parts)
}

/// Whether two hexadecimal digits follow each `%`.
#[must_use]
pub fn has_whole_escapes(text: &str) -> bool {
    text.split('%').skip(1).all(|after| {
        let digits = after.as_bytes().get(..2);
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    })
}

/// `k=v&k=w` as a key → list of values.
///
/// As Go does, a pair with a semicolon or a broken escape is left out.
fn parse_pairs(text: &str) -> Value {
    let mut pairs: Vec<(String, Vec<Value>)> = Vec::new();
    let whole = |pair: &&str| !pair.contains(';') && has_whole_escapes(pair);
    let parsed = text
        .split('&')
        .filter(whole)
        .flat_map(|pair| form_urlencoded::parse(pair.as_bytes()));
    for (key, value) in parsed {
        let value = Value::from(value.as_ref());
        match pairs.iter_mut().find(|(there, _)| *there == key) {
            Some((_, values)) => values.push(value),
            None => pairs.push((key.into_owned(), vec![value])),
        }
    }
    object(
        pairs
            .into_iter()
            .map(|(key, values)| (Value::from(key), Value::from(values))),
    )
}

/// The body as a value, and whether it stayed unparsed because a part of it is missing.
///
/// A body that is not what its content type says gives null: the policy sees
/// the same as without a body, and the raw one if it wants to know.
fn parse_body(body: &Body, headers: &[(String, String)]) -> (Value, bool) {
    let header = |name: &str| {
        headers
            .iter()
            .find(|(there, _)| there == name)
            .map(|(_, value)| value.as_str())
    };
    let announced = header("content-length").and_then(|length| length.parse::<u64>().ok());
    let missing = announced.is_some_and(|length| length > body.bytes.len() as u64);
    if body.partial || missing {
        return (Value::Null, true);
    }
    let content_type = header("content-type").unwrap_or_default();
    let value = if content_type.contains("application/json") {
        std::str::from_utf8(&body.bytes)
            .ok()
            .and_then(|text| engine::parse_json(text).ok())
            .unwrap_or(Value::Null)
    } else if content_type.contains("application/x-www-form-urlencoded") && !body.bytes.is_empty() {
        parse_pairs(&String::from_utf8_lossy(&body.bytes))
    } else {
        Value::Null
    };
    (value, false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Expected;
    use serde_json::json;

    fn request(method: &str, path: &str, headers: &[(&str, &str)], body: Option<&[u8]>) -> Request {
        Request {
            method: method.to_owned(),
            path: path.to_owned(),
            host: "h.example.org".to_owned(),
            headers: headers
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
            body: body.map(<[u8]>::to_vec),
            expected: Expected::Allowed(true),
            origin: String::new(),
        }
    }

    fn document(request: &Request, limit: usize) -> serde_json::Value {
        let body = request
            .body
            .as_deref()
            .map(|bytes| Body::read(bytes, limit).unwrap());
        let document =
            InputBuilder::default().build(request, body.as_ref(), &Value::from("id-1"), &[]);
        serde_json::to_value(&document).unwrap()
    }

    #[test]
    fn a_get_with_a_query_gives_the_whole_document() {
        let request = request("GET", "/a%20b/c?x=1&y=%2F&x=two+words", &[], None);
        assert_eq!(
            document(&request, 100),
            json!({
                "attributes": {
                    "request": {"http": {
                        "method": "GET",
                        "path": "/a%20b/c?x=1&y=%2F&x=two+words",
                        "host": "h.example.org",
                        "headers": {"x-envoy-auth-partial-body": "false"}
                    }},
                    "metadataContext": {"filterMetadata": {"open_policy_agent": {"decision_id": "id-1"}}}
                },
                "parsed_path": ["a b", "c"],
                "parsed_query": {"x": ["1", "two words"], "y": ["/"]},
                "parsed_body": null,
                "truncated_body": false,
                "version": {"ext_authz": "v3", "encoding": "protojson"}
            })
        );
    }

    #[test]
    fn a_pair_of_the_query_with_a_semicolon_or_a_broken_escape_is_left_out() {
        let request = request("GET", "/?a=1;b=2&c=%zz&d=%4&%=e&f=%41", &[], None);
        assert_eq!(document(&request, 9)["parsed_query"], json!({"f": ["A"]}));
    }

    #[test]
    fn empty_members_are_absent_and_an_empty_path_has_one_empty_part() {
        let mut request = request("", "", &[], None);
        request.host.clear();
        let document = document(&request, 100);
        assert_eq!(
            document["attributes"]["request"]["http"],
            json!({"headers": {"x-envoy-auth-partial-body": "false"}})
        );
        assert_eq!(document["parsed_path"], json!([""]));
        assert_eq!(document["parsed_query"], json!({}));
    }

    #[test]
    fn the_root_path_has_one_empty_part_and_leading_slashes_count_once() {
        assert_eq!(
            document(&request("GET", "/", &[], None), 9)["parsed_path"],
            json!([""])
        );
        let path = document(&request("GET", "//a//b/", &[], None), 9);
        assert_eq!(path["parsed_path"], json!(["a", "", "b", ""]));
        let escaped = document(&request("GET", "/a%2Fb", &[], None), 9);
        assert_eq!(escaped["parsed_path"], json!(["a", "b"]));
    }

    #[test]
    fn repeated_headers_are_joined_under_their_lower_case_name() {
        let request = request(
            "GET",
            "/",
            &[("X-A", "1"), ("Via", "p"), ("x-a", "2")],
            None,
        );
        assert_eq!(
            document(&request, 9)["attributes"]["request"]["http"]["headers"],
            json!({"x-a": "1, 2", "via": "p", "x-envoy-auth-partial-body": "false"})
        );
    }

    #[test]
    fn a_json_body_is_parsed_and_kept_raw() {
        let headers = [("Content-Type", "application/json; charset=utf-8")];
        let request = request("POST", "/", &headers, Some(br#"{"a": [1, 2.5]}"#));
        let document = document(&request, 100);
        assert_eq!(document["parsed_body"], json!({"a": [1, 2.5]}));
        assert_eq!(
            document["attributes"]["request"]["http"]["rawBody"],
            json!("eyJhIjogWzEsIDIuNV19")
        );
        assert_eq!(document["truncated_body"], json!(false));
    }

    #[test]
    fn a_form_body_gives_lists_of_values() {
        let headers = [("content-type", "application/x-www-form-urlencoded")];
        let request = request("POST", "/", &headers, Some(b"a=1&b=%C3%A4&a=2"));
        assert_eq!(
            document(&request, 100)["parsed_body"],
            json!({"a": ["1", "2"], "b": ["ä"]})
        );
    }

    #[test]
    fn a_body_over_the_limit_is_cut_and_not_parsed() {
        let headers = [("content-type", "application/json")];
        let request = request("POST", "/", &headers, Some(br#"{"a": 1}"#));
        let document = document(&request, 4);
        let http = &document["attributes"]["request"]["http"];
        assert_eq!(http["rawBody"], json!("eyJhIg=="));
        assert_eq!(http["headers"]["x-envoy-auth-partial-body"], json!("true"));
        assert_eq!(document["parsed_body"], json!(null));
        assert_eq!(document["truncated_body"], json!(true));
    }

    #[test]
    fn a_body_of_exactly_the_limit_is_whole() {
        let headers = [("content-type", "application/json")];
        let request = request("POST", "/", &headers, Some(b"[1]"));
        assert_eq!(document(&request, 3)["parsed_body"], json!([1]));
        assert_eq!(document(&request, 3)["truncated_body"], json!(false));
    }

    #[test]
    fn a_body_shorter_than_announced_is_truncated() {
        let headers = [
            ("content-type", "application/json"),
            ("content-length", "9"),
        ];
        let request = request("POST", "/", &headers, Some(b"[1]"));
        assert_eq!(document(&request, 100)["parsed_body"], json!(null));
        assert_eq!(document(&request, 100)["truncated_body"], json!(true));
    }

    #[test]
    fn invalid_utf_8_gives_no_parsed_body_and_replacement_characters_in_paths() {
        let headers = [("content-type", "application/json")];
        let request = request("POST", "/%FF?q=%FF", &headers, Some(b"\"\xff\""));
        let document = document(&request, 100);
        assert_eq!(document["parsed_body"], json!(null));
        assert_eq!(document["truncated_body"], json!(false));
        assert_eq!(
            document["attributes"]["request"]["http"]["rawBody"],
            json!("Iv8i")
        );
        assert_eq!(document["parsed_path"], json!(["\u{fffd}"]));
        assert_eq!(document["parsed_query"], json!({"q": ["\u{fffd}"]}));
    }

    #[test]
    fn a_body_that_is_no_json_and_an_unknown_type_give_null() {
        for (content_type, body) in [("application/json", "{"), ("text/plain", "{}")] {
            let headers = [("content-type", content_type)];
            let request = request("POST", "/", &headers, Some(body.as_bytes()));
            assert_eq!(document(&request, 100)["parsed_body"], json!(null));
        }
    }

    #[test]
    fn context_extensions_appear_when_there_are_any() {
        let request = request("GET", "/", &[], None);
        let extensions = [("team".to_owned(), "blue".to_owned())];
        let document =
            InputBuilder::default().build(&request, None, &Value::from("id"), &extensions);
        let document = serde_json::to_value(&document).unwrap();
        assert_eq!(
            document["attributes"]["contextExtensions"],
            json!({"team": "blue"})
        );
    }
}
