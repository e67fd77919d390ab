//! What is measured: a policy and the requests it decides.

use std::path::Path;

use anyhow::{Result, bail};

use crate::policy::Policy;
use crate::request::{self, Request};

/// The scenarios this program brings along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuiltIn {
    /// A path alone decides.
    Minimal,
    /// A member of a JSON body decides.
    WithBody,
    /// A signed token decides.
    JwtValidation,
}

impl BuiltIn {
    /// All of them, in the order they run.
    pub const ALL: [Self; 3] = [Self::Minimal, Self::WithBody, Self::JwtValidation];

    /// The name, as part of a benchmark's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Minimal => "minimal",
            Self::WithBody => "with-body",
            Self::JwtValidation => "jwt-validation",
        }
    }

    /// A sentence on what it measures.
    #[must_use]
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Minimal => {
                "GET /allow without headers: the policy looks at the path and nothing else."
            }
            Self::WithBody => {
                "POST /allow with a JSON body: the body is read and parsed, the policy looks at a member of it."
            }
            Self::JwtValidation => {
                "GET with an RS256 token of 2048 bits: the policy verifies signature, audience and subject."
            }
        }
    }

    fn policy(self) -> Policy {
        match self {
            Self::Minimal => Policy::built_in(
                "policies/minimal.rego",
                include_str!("../policies/minimal.rego"),
            ),
            Self::WithBody => Policy::built_in(
                "policies/with-body.rego",
                include_str!("../policies/with-body.rego"),
            ),
            Self::JwtValidation => Policy::built_in(
                "policies/jwt-validation.rego",
                include_str!("../policies/jwt-validation.rego"),
            ),
        }
    }
}

/// A policy with the requests to decide.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Part of the benchmark's name.
    pub name: String,
    /// What `list` says about it.
    pub sentence: String,
    /// What decides.
    pub policy: Policy,
    /// What is decided, over and over; never empty.
    pub requests: Vec<Request>,
}

impl Scenario {
    /// A scenario of this program's own, with requests drawn from `seed`.
    ///
    /// # Errors
    /// When a token cannot be signed.
    pub fn built_in(scenario: BuiltIn, seed: u64) -> Result<Self> {
        Ok(Self {
            name: scenario.name().to_owned(),
            sentence: scenario.sentence().to_owned(),
            policy: scenario.policy(),
            requests: request::draw(scenario, seed)?,
        })
    }

    /// A scenario of someone else's: a bundle, its decision path, and a file of requests.
    ///
    /// # Errors
    /// With the file, and the line, that cannot be read.
    pub fn load(bundle: &Path, decision: &str, requests: &Path) -> Result<Self> {
        Ok(Self {
            name: name_of(bundle)?,
            sentence: format!("{decision} of {}", bundle.display()),
            policy: Policy::load(bundle, decision)?,
            requests: request::load(requests)?,
        })
    }
}

/// A bundle's file name as part of a benchmark's name: no slash, no space, no `-N` at the end.
fn name_of(bundle: &Path) -> Result<String> {
    let absolute = bundle.canonicalize().unwrap_or_else(|_| bundle.to_owned());
    let Some(file) = absolute.file_name() else {
        bail!("{}: a bundle needs a name", bundle.display());
    };
    let file = file.to_string_lossy();
    let stem = file
        .trim_end_matches(".gz")
        .trim_end_matches(".tgz")
        .trim_end_matches(".tar");
    let name: String = stem
        .chars()
        .map(|letter| match letter {
            letter if letter.is_alphanumeric() || "._-".contains(letter) => letter,
            _ => '_',
        })
        .collect();
    let ends_like_a_worker_count = name
        .rsplit_once('-')
        .is_some_and(|(_, end)| !end.is_empty() && end.bytes().all(|byte| byte.is_ascii_digit()));
    Ok(if ends_like_a_worker_count {
        name + "_"
    } else {
        name
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_certificate_in_the_policy_is_the_one_beside_it() {
        let policy = include_str!("../policies/jwt-validation.rego");
        let certificate = include_str!("../policies/test-certificate.pem").trim_end();
        assert!(policy.contains(certificate));
    }

    #[test]
    fn a_bundle_names_its_benchmark() {
        let name = |path: &str| name_of(Path::new(path)).unwrap();
        assert_eq!(name("/x/authz.tar.gz"), "authz");
        assert_eq!(name("/x/my policy"), "my_policy");
        assert_eq!(name("/x/release-12"), "release-12_");
    }
}
