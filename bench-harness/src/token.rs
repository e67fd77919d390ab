//! The `io.jwt` functions, as OPA documents them: signatures by certificate, public key, JWK, JWKS or shared secret.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use anyhow::Result;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::jwk::{Jwk, JwkSet};
use jsonwebtoken::{Algorithm, AlgorithmFamily, DecodingKey, EncodingKey, Header, crypto};

use crate::engine::Value;
use crate::latency::nanoseconds;

/// The names policies call them by, each with its number of arguments.
pub const BUILTINS: [(&str, u8); 13] = [
    ("io.jwt.decode", 1),
    ("io.jwt.decode_verify", 2),
    ("io.jwt.verify_rs256", 2),
    ("io.jwt.verify_rs384", 2),
    ("io.jwt.verify_rs512", 2),
    ("io.jwt.verify_ps256", 2),
    ("io.jwt.verify_ps384", 2),
    ("io.jwt.verify_ps512", 2),
    ("io.jwt.verify_es256", 2),
    ("io.jwt.verify_es384", 2),
    ("io.jwt.verify_hs256", 2),
    ("io.jwt.verify_hs384", 2),
    ("io.jwt.verify_hs512", 2),
];

/// The version of jsonwebtoken, for the comment lines of a run.
pub const JSONWEBTOKEN_VERSION: &str = "12";

const CONSTRAINTS: [&str; 6] = ["cert", "secret", "alg", "iss", "aud", "time"];

/// Verifies tokens and keeps the keys it has parsed.
///
/// A policy names few keys, so they are a list and not a map.
#[derive(Clone, Default)]
pub struct TokenVerifier {
    keys: Vec<(String, Arc<[Key]>)>,
    /// Nanoseconds spent on signatures.
    spent: Arc<AtomicU64>,
}

/// A key, by its identifier where it has one.
struct Key {
    id: Option<String>,
    key: DecodingKey,
}

/// What a policy asks of a token.
struct Constraints<'a> {
    /// A certificate, public key, JWK or JWKS, or a shared secret.
    key: &'a str,
    secret: bool,
    algorithm: Option<&'a str>,
    issuer: Option<&'a Value>,
    audience: Option<&'a Value>,
    /// Seconds since 1970.
    now: f64,
}

/// A token, taken apart.
struct Token<'a> {
    /// What is signed.
    message: &'a str,
    signature: &'a str,
    header: Value,
    claims: Value,
}

impl TokenVerifier {
    /// One that counts what it spends on signatures in `spent`.
    #[must_use]
    pub fn new(spent: Arc<AtomicU64>) -> Self {
        Self {
            keys: Vec::new(),
            spent,
        }
    }

    /// Calls the function `name`. What is an error of the function in OPA
    /// leaves its value undefined.
    #[must_use]
    pub fn call(&mut self, name: &str, arguments: &[Value]) -> Value {
        let value = match (name.trim_start_matches("io.jwt."), arguments) {
            ("decode", [Value::String(token)]) => decode(token),
            ("decode_verify", [Value::String(token), constraints]) => {
                self.decode_verify(token, constraints)
            }
            (verify, [Value::String(token), Value::String(key)]) => verify
                .strip_prefix("verify_")
                .and_then(|algorithm| algorithm.to_uppercase().parse().ok())
                .and_then(|algorithm| self.verify(token, key, algorithm)),
            _ => None,
        };
        value.unwrap_or(Value::Undefined)
    }

    /// `[valid, header, claims]`; a token that does not verify gives `[false, {}, {}]`, while
    /// constraints that make no sense (none to verify with, an unknown name) are an error.
    fn decode_verify(&mut self, token: &str, constraints: &Value) -> Option<Value> {
        let constraints = Constraints::read(constraints)?;
        let keys = self.keys(constraints.key, constraints.secret)?;
        let verified = Token::read(token).filter(|token| self.fits(token, &keys, &constraints));
        Some(Value::from(match verified {
            Some(token) => vec![Value::Bool(true), token.header, token.claims],
            None => vec![Value::Bool(false), Value::new_object(), Value::new_object()],
        }))
    }

    /// Whether the signature is by one of the keys, whatever algorithm the token names.
    fn verify(&mut self, token: &str, key: &str, algorithm: Algorithm) -> Option<Value> {
        let token = Token::read(token)?;
        let keys = self.keys(key, algorithm.family() == AlgorithmFamily::Hmac)?;
        Some(Value::Bool(self.is_signed(&token, &keys, algorithm)))
    }

    fn is_signed(&self, token: &Token, keys: &[Key], algorithm: Algorithm) -> bool {
        let started = Instant::now();
        let id = token.header[&Value::from("kid")].as_string().ok();
        let named = |key: &&Key| id.is_some_and(|id| key.id.as_deref() == Some(id));
        let check = |key: &Key| {
            crypto::verify(
                token.signature,
                token.message.as_bytes(),
                &key.key,
                algorithm,
            )
            .unwrap_or(false)
        };
        // As in OPA the key that the token names is the only one, where there is one of that name.
        let signed = match keys.iter().find(named) {
            Some(key) => check(key),
            None => keys.iter().any(check),
        };
        self.spent
            .fetch_add(nanoseconds(started.elapsed()), Ordering::Relaxed);
        signed
    }

    fn keys(&mut self, text: &str, secret: bool) -> Option<Arc<[Key]>> {
        if secret {
            // Nothing to parse, and so nothing to keep.
            let key = DecodingKey::from_secret(text.as_bytes()).ok()?;
            return Some([Key { id: None, key }].into());
        }
        if let Some((_, keys)) = self.keys.iter().find(|(there, _)| there == text) {
            return Some(Arc::clone(keys));
        }
        let keys: Arc<[Key]> = parse_keys(text)?.into();
        self.keys.push((text.to_owned(), Arc::clone(&keys)));
        Some(keys)
    }

    fn fits(&self, token: &Token, keys: &[Key], constraints: &Constraints) -> bool {
        let header = |name: &str| &token.header[&Value::from(name)];
        let claim = |name: &str| match &token.claims[&Value::from(name)] {
            Value::Undefined => None,
            value => Some(value),
        };
        let Ok(algorithm) = header("alg").as_string() else {
            return false;
        };
        if constraints
            .algorithm
            .is_some_and(|wanted| wanted != algorithm.as_ref())
        {
            return false;
        }
        // A critical extension nobody here understands.
        if *header("crit") != Value::Undefined {
            return false;
        }
        let Ok(algorithm) = algorithm.parse::<Algorithm>() else {
            return false;
        };
        if !self.is_signed(token, keys, algorithm) {
            return false;
        }
        if constraints.issuer.is_some() && claim("iss") != constraints.issuer {
            return false;
        }
        let audience_fits = match (constraints.audience, claim("aud")) {
            (None, None) => true,
            (Some(wanted), Some(Value::Array(given))) => given.iter().any(|one| one == wanted),
            (Some(wanted), Some(given)) => wanted == given,
            (None, Some(_)) | (Some(_), None) => false,
        };
        let seconds = |name: &str, missing: f64| {
            claim(name).map_or(Some(missing), |value| value.as_f64().ok())
        };
        let (Some(expires), Some(not_before)) = (
            seconds("exp", f64::INFINITY),
            seconds("nbf", f64::NEG_INFINITY),
        ) else {
            return false;
        };
        audience_fits && constraints.now < expires && constraints.now >= not_before
    }
}

/// Keys of a certificate, a public key, a JWK or a JWKS.
fn parse_keys(text: &str) -> Option<Vec<Key>> {
    if text.trim_start().starts_with('{') {
        let keys = match serde_json::from_str::<JwkSet>(text) {
            Ok(set) => set.keys,
            Err(_) => vec![serde_json::from_str::<Jwk>(text).ok()?],
        };
        let parsed = keys.into_iter().filter_map(|jwk| {
            let key = DecodingKey::from_jwk(&jwk).ok()?;
            Some(Key {
                id: jwk.common.key_id,
                key,
            })
        });
        return Some(parsed.collect());
    }
    let pem = text.as_bytes();
    let key = DecodingKey::from_rsa_pem(pem)
        .or_else(|_| DecodingKey::from_ec_pem(pem))
        .ok()?;
    Some(vec![Key { id: None, key }])
}

/// `[header, claims, signature]`, the signature in hexadecimal digits, without verifying it.
fn decode(token: &str) -> Option<Value> {
    let token = Token::read(token)?;
    let signature = URL_SAFE_NO_PAD.decode(token.signature).ok()?;
    let digits = hexadecimal(&signature);
    Some(Value::from(vec![
        token.header,
        token.claims,
        Value::from(digits),
    ]))
}

/// Two digits for each byte.
#[must_use]
pub fn hexadecimal(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// Signs `claims` with the test key, RS256.
///
/// # Errors
/// When the claims cannot be encoded.
pub fn sign(claims: &serde_json::Value) -> Result<String> {
    let key = EncodingKey::from_rsa_pem(include_bytes!("../policies/test-key.pem"))?;
    let header = Header::new(Algorithm::RS256);
    Ok(jsonwebtoken::encode(&header, claims, &key)?)
}

impl<'a> Token<'a> {
    fn read(token: &'a str) -> Option<Self> {
        let (message, signature) = token.rsplit_once('.')?;
        let (header, claims) = message.split_once('.')?;
        let object = |text: &str| -> Option<Value> {
            let text = URL_SAFE_NO_PAD.decode(text).ok()?;
            let value: Value = serde_json::from_slice(&text).ok()?;
            value.as_object().is_ok().then_some(value)
        };
        Some(Self {
            message,
            signature,
            header: object(header)?,
            claims: object(claims)?,
        })
    }
}

impl<'a> Constraints<'a> {
    fn read(constraints: &'a Value) -> Option<Self> {
        let members = constraints.as_object().ok()?;
        let known = |key: &Value| {
            key.as_string()
                .is_ok_and(|name| CONSTRAINTS.contains(&name.as_ref()))
        };
        if !members.keys().all(known) {
            return None;
        }
        let member = |name: &str| members.get(&Value::from(name));
        let string = |value: &'a Value| value.as_string().ok().map(AsRef::as_ref);
        let now = match member("time") {
            Some(nanoseconds) => nanoseconds.as_f64().ok()? / 1e9,
            None => SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .ok()?
                .as_secs_f64(),
        };
        let (key, secret) = match (member("cert"), member("secret")) {
            (Some(key), None) => (string(key)?, false),
            (None, Some(secret)) => (string(secret)?, true),
            _ => return None,
        };
        Some(Self {
            key,
            secret,
            algorithm: match member("alg") {
                Some(algorithm) => Some(string(algorithm)?),
                None => None,
            },
            issuer: member("iss"),
            audience: member("aud"),
            now,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::object;
    use serde_json::json;

    const CERTIFICATE: &str = include_str!("../policies/test-certificate.pem");

    fn constraints(members: &[(&str, Value)]) -> Value {
        object(
            members
                .iter()
                .map(|(name, value)| (Value::from(*name), value.clone())),
        )
    }

    fn call(claims: &serde_json::Value, extra: &[(&str, Value)]) -> Value {
        let token = sign(claims).unwrap();
        let mut members = vec![("cert", Value::from(CERTIFICATE))];
        members.extend_from_slice(extra);
        TokenVerifier::default().call(
            "io.jwt.decode_verify",
            &[Value::from(token), constraints(&members)],
        )
    }

    fn valid(claims: &serde_json::Value, extra: &[(&str, Value)]) -> bool {
        let value = call(claims, extra);
        let value = value.as_array().unwrap();
        *value.get(0).unwrap() == Value::Bool(true)
    }

    #[test]
    fn a_valid_token_gives_its_header_and_claims() {
        let value = call(
            &json!({"sub": "me", "aud": "here"}),
            &[("aud", Value::from("here"))],
        );
        assert_eq!(
            serde_json::to_value(&value).unwrap(),
            json!([true, {"typ": "JWT", "alg": "RS256"}, {"sub": "me", "aud": "here"}])
        );
    }

    #[test]
    fn the_audience_must_be_asked_for_and_fit() {
        let here = [("aud", Value::from("here"))];
        assert!(valid(&json!({"aud": ["there", "here"]}), &here));
        assert!(!valid(&json!({"aud": ["there"]}), &here));
        assert!(!valid(&json!({}), &here));
        assert!(!valid(&json!({"aud": "here"}), &[]));
        assert!(valid(&json!({}), &[]));
    }

    #[test]
    fn the_issuer_must_fit_when_asked_for() {
        let issuer = [("iss", Value::from("them"))];
        assert!(valid(&json!({"iss": "them"}), &issuer));
        assert!(!valid(&json!({"iss": "others"}), &issuer));
        assert!(!valid(&json!({}), &issuer));
        assert!(valid(&json!({"iss": "others"}), &[]));
    }

    #[test]
    fn expiry_and_not_before_have_no_leeway() {
        let at = |seconds: f64| [("time", Value::from(seconds * 1e9))];
        assert!(valid(&json!({"exp": 1000}), &at(999.0)));
        assert!(!valid(&json!({"exp": 1000}), &at(1000.0)));
        assert!(!valid(&json!({"nbf": 1000}), &at(999.0)));
        assert!(valid(&json!({"nbf": 1000}), &at(1000.0)));
        assert!(!valid(&json!({"exp": 1000}), &[]), "the clock says later");
    }

    #[test]
    fn another_signature_or_algorithm_is_refused() {
        let token = sign(&json!({"sub": "me"})).unwrap();
        let (message, signature) = token.rsplit_once('.').unwrap();
        let other = sign(&json!({"sub": "you"})).unwrap();
        let forged = format!("{message}.{}", other.rsplit_once('.').unwrap().1);
        assert_ne!(other.rsplit_once('.').unwrap().1, signature);
        let certificate = constraints(&[("cert", Value::from(CERTIFICATE))]);
        let value = TokenVerifier::default()
            .call("io.jwt.decode_verify", &[Value::from(forged), certificate]);
        assert_eq!(
            serde_json::to_value(&value).unwrap(),
            json!([false, {}, {}])
        );
        assert!(!valid(&json!({}), &[("alg", Value::from("RS512"))]));
        assert!(valid(&json!({}), &[("alg", Value::from("RS256"))]));
    }

    #[test]
    fn constraints_that_make_no_sense_leave_the_value_undefined() {
        assert_eq!(
            call(&json!({}), &[("audience", Value::from("x"))]),
            Value::Undefined
        );
        let token = Value::from(sign(&json!({})).unwrap());
        let mut verifier = TokenVerifier::default();
        assert_eq!(
            verifier.call("io.jwt.decode_verify", &[token.clone(), constraints(&[])]),
            Value::Undefined
        );
        let no_certificate = constraints(&[("cert", Value::from("no PEM"))]);
        assert_eq!(
            verifier.call("io.jwt.decode_verify", &[token, no_certificate]),
            Value::Undefined
        );
    }

    fn hmac(secret: &str) -> String {
        let key = EncodingKey::from_secret(secret.as_bytes()).unwrap();
        let header = Header::new(Algorithm::HS256);
        jsonwebtoken::encode(&header, &json!({"sub": "me"}), &key).unwrap()
    }

    /// The test key as a JWKS, after another key.
    fn key_set() -> String {
        let key = include_bytes!("../policies/test-key.pem");
        let key = EncodingKey::from_rsa_pem(key).unwrap();
        let own = Jwk::from_encoding_key(&key, Algorithm::RS256).unwrap();
        let own = serde_json::to_value(own).unwrap();
        let mut other = own.clone();
        other["n"] = json!("AQAB");
        json!({"keys": [other, own]}).to_string()
    }

    #[test]
    fn a_shared_secret_verifies_and_another_does_not() {
        let mut tokens = TokenVerifier::default();
        let token = Value::from(hmac("secret"));
        for (secret, fits) in [("secret", true), ("other", false)] {
            let arguments = [
                token.clone(),
                constraints(&[("secret", Value::from(secret))]),
            ];
            let value = tokens.call("io.jwt.decode_verify", &arguments);
            assert_eq!(
                *value.as_array().unwrap().get(0).unwrap(),
                Value::Bool(fits)
            );
            let arguments = [token.clone(), Value::from(secret)];
            assert_eq!(
                tokens.call("io.jwt.verify_hs256", &arguments),
                Value::Bool(fits)
            );
        }
        // A certificate is no secret: its text is known to all.
        let forged = Value::from(hmac(CERTIFICATE));
        let arguments = [forged, constraints(&[("cert", Value::from(CERTIFICATE))])];
        let value = tokens.call("io.jwt.decode_verify", &arguments);
        assert_eq!(
            *value.as_array().unwrap().get(0).unwrap(),
            Value::Bool(false)
        );
    }

    #[test]
    fn a_key_set_verifies_by_any_of_its_keys_unless_the_token_names_one() {
        let token = sign(&json!({"sub": "me"})).unwrap();
        let mut tokens = TokenVerifier::default();
        let mut fits = |token: &str, keys: &str| {
            let arguments = [Value::from(token), Value::from(keys)];
            tokens.call("io.jwt.verify_rs256", &arguments)
        };
        assert_eq!(fits(&token, &key_set()), Value::Bool(true));
        assert_eq!(fits(&token, CERTIFICATE), Value::Bool(true));
        assert_eq!(fits(&token, "{\"keys\": []}"), Value::Bool(false));
        assert_eq!(fits(&token, "{"), Value::Undefined);
        let mut named: serde_json::Value = serde_json::from_str(&key_set()).unwrap();
        named["keys"][0]["kid"] = json!("k");
        let key = include_bytes!("../policies/test-key.pem");
        let key = EncodingKey::from_rsa_pem(key).unwrap();
        let mut header = Header::new(Algorithm::RS256);
        header.kid = Some("k".to_owned());
        let token = jsonwebtoken::encode(&header, &json!({}), &key).unwrap();
        assert_eq!(fits(&token, &named.to_string()), Value::Bool(false));
        assert!(tokens.spent.load(Ordering::Relaxed) > 0);
    }

    #[test]
    fn a_token_is_decoded_without_a_key() {
        let mut tokens = TokenVerifier::default();
        let value = tokens.call("io.jwt.decode", &[Value::from(hmac("s"))]);
        let value = serde_json::to_value(&value).unwrap();
        assert_eq!(value[1], json!({"sub": "me"}));
        assert_eq!(value[2].as_str().unwrap().len(), 64);
        for broken in ["", "a.b", "a.b.c", "e30.e30.*"] {
            let value = tokens.call("io.jwt.decode", &[Value::from(broken)]);
            assert_eq!(value, Value::Undefined, "{broken}");
        }
    }
}
