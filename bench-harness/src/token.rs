//! `io.jwt.decode_verify`, as OPA documents it, for certificates and RSA keys.

use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Result;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation, decode};

use crate::engine::Value;

/// The name policies call it by.
pub const BUILTIN: &str = "io.jwt.decode_verify";

/// The version of jsonwebtoken, for the comment lines of a run.
pub const JSONWEBTOKEN_VERSION: &str = "12";

const CONSTRAINTS: [&str; 5] = ["cert", "alg", "iss", "aud", "time"];
const ALGORITHMS: [Algorithm; 6] = [
    Algorithm::RS256,
    Algorithm::RS384,
    Algorithm::RS512,
    Algorithm::PS256,
    Algorithm::PS384,
    Algorithm::PS512,
];

/// Verifies tokens and keeps the keys it has parsed.
///
/// A policy names few certificates, so the keys are a list and not a map.
#[derive(Clone, Default)]
pub struct TokenVerifier {
    keys: Vec<(String, DecodingKey)>,
}

/// What a policy asks of a token.
struct Constraints<'a> {
    certificate: &'a str,
    algorithm: Option<&'a str>,
    issuer: Option<&'a Value>,
    audience: Option<&'a Value>,
    /// Seconds since 1970.
    now: f64,
}

impl TokenVerifier {
    /// `io.jwt.decode_verify(token, constraints)`: `[valid, header, claims]`.
    ///
    /// As in OPA a token that does not verify gives `[false, {}, {}]`, while
    /// constraints that make no sense (none to verify with, an unknown name)
    /// are an error of the function, and so leave its value undefined.
    pub fn call<'a>(&mut self, arguments: impl IntoIterator<Item = &'a Value>) -> Value {
        let mut arguments = arguments.into_iter();
        let (Some(Value::String(token)), Some(constraints)) = (arguments.next(), arguments.next())
        else {
            return Value::Undefined;
        };
        let Some(constraints) = Constraints::read(constraints) else {
            return Value::Undefined;
        };
        let Some(key) = self.key(constraints.certificate) else {
            return Value::Undefined;
        };
        match verify(token, key, &constraints) {
            Some((header, claims)) => Value::from(vec![Value::Bool(true), header, claims]),
            None => Value::from(vec![
                Value::Bool(false),
                Value::new_object(),
                Value::new_object(),
            ]),
        }
    }

    fn key(&mut self, certificate: &str) -> Option<&DecodingKey> {
        let known = self.keys.iter().position(|(pem, _)| pem == certificate);
        let index = if let Some(index) = known {
            index
        } else {
            let key = DecodingKey::from_rsa_pem(certificate.as_bytes()).ok()?;
            self.keys.push((certificate.to_owned(), key));
            self.keys.len() - 1
        };
        Some(&self.keys[index].1)
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
        Some(Self {
            certificate: member("cert").and_then(string)?,
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

fn verify(token: &str, key: &DecodingKey, constraints: &Constraints) -> Option<(Value, Value)> {
    let mut validation = Validation::new(Algorithm::RS256);
    validation.algorithms = ALGORITHMS.to_vec();
    // The claims are checked below: OPA takes the time from the constraints
    // and treats a token without exp, or without aud, its own way.
    validation.validate_exp = false;
    validation.validate_aud = false;
    validation.required_spec_claims.clear();
    validation.leeway = 0;
    let claims = decode::<Value>(token, key, &validation).ok()?.claims;
    let header = URL_SAFE_NO_PAD.decode(token.split('.').next()?).ok()?;
    let header: Value = serde_json::from_slice(&header).ok()?;
    if let Some(algorithm) = constraints.algorithm
        && header[&Value::from("alg")].as_string().ok()?.as_ref() != algorithm
    {
        return None;
    }
    // A critical extension nobody here understands.
    if header[&Value::from("crit")] != Value::Undefined {
        return None;
    }
    let claim = |name: &str| match &claims[&Value::from(name)] {
        Value::Undefined => None,
        value => Some(value),
    };
    if let Some(issuer) = constraints.issuer
        && claim("iss") != Some(issuer)
    {
        return None;
    }
    let audience_fits = match (constraints.audience, claim("aud")) {
        (None, None) => true,
        (Some(wanted), Some(Value::Array(given))) => given.iter().any(|one| one == wanted),
        (Some(wanted), Some(given)) => wanted == given,
        (None, Some(_)) | (Some(_), None) => false,
    };
    if !audience_fits {
        return None;
    }
    if let Some(expires) = claim("exp")
        && constraints.now >= expires.as_f64().ok()?
    {
        return None;
    }
    if let Some(not_before) = claim("nbf")
        && constraints.now < not_before.as_f64().ok()?
    {
        return None;
    }
    Some((header, claims))
}

/// Signs `claims` with the test key, RS256.
///
/// # Errors
/// When the claims cannot be encoded.
pub fn sign(claims: &serde_json::Value) -> Result<String> {
    let key = EncodingKey::from_rsa_pem(include_bytes!("../policies/test-key.pem"))?;
    Ok(jsonwebtoken::encode(
        &Header::new(Algorithm::RS256),
        claims,
        &key,
    )?)
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
        TokenVerifier::default().call(&[Value::from(token), constraints(&members)])
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
        let value = TokenVerifier::default().call(&[Value::from(forged), certificate]);
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
            verifier.call(&[token.clone(), constraints(&[])]),
            Value::Undefined
        );
        let no_certificate = constraints(&[("cert", Value::from("no PEM"))]);
        assert_eq!(verifier.call(&[token, no_certificate]), Value::Undefined);
    }
}
