//! Which benchmarks there are, and which of them run.

use anyhow::{Context, Result};
use regex::Regex;

use crate::emit::Name;
use crate::scenario::Scenario;

/// Everything to measure.
#[derive(Debug)]
pub struct Plan {
    /// The scenarios that cases refer to.
    pub scenarios: Vec<Scenario>,
    /// In the order measured.
    pub cases: Vec<PlannedCase>,
}

/// One benchmark.
#[derive(Clone, Debug)]
pub struct PlannedCase {
    /// As printed.
    pub name: Name,
    /// Between the slashes, for matching.
    pub parts: Vec<String>,
    /// Which scenario.
    pub scenario: usize,
    /// With decision logs.
    pub log: bool,
    /// Without the filter.
    pub empty: bool,
    /// Threads that decide.
    pub workers: u32,
    /// What `list` says.
    pub sentence: String,
}

impl Plan {
    /// All cases that `pattern` selects, in the order scenario, logs, workers.
    #[must_use]
    pub fn new(
        scenarios: Vec<Scenario>,
        workers: &[u32],
        rate: Option<f64>,
        pattern: &Pattern,
    ) -> Self {
        let at_rate = if rate.is_some() { "AtRate" } else { "" };
        let mut cases = Vec::new();
        for (base, empty, variants) in [
            (
                "BenchmarkAuthorizeRequest",
                false,
                ["no-decision-logs", "with-decision-logs"].as_slice(),
            ),
            ("BenchmarkEmptyFilter", true, [""].as_slice()),
        ] {
            for (index, scenario) in scenarios.iter().enumerate() {
                for variant in variants {
                    let mut parts = vec![format!("{base}{at_rate}"), scenario.name.clone()];
                    if !variant.is_empty() {
                        parts.push((*variant).to_owned());
                    }
                    parts.extend(rate.map(|rate| format!("rate={rate}")));
                    if !pattern.matches(&parts) {
                        continue;
                    }
                    for workers in workers {
                        cases.push(PlannedCase {
                            name: Name::new(parts.join("/"), *workers),
                            parts: parts.clone(),
                            scenario: index,
                            log: *variant == "with-decision-logs",
                            empty,
                            workers: *workers,
                            sentence: sentence(scenario, variant, empty),
                        });
                    }
                }
            }
        }
        Self { scenarios, cases }
    }
}

fn sentence(scenario: &Scenario, variant: &str, empty: bool) -> String {
    if empty {
        return format!(
            "What the harness itself costs with the requests of {}: nothing is decided.",
            scenario.name
        );
    }
    let log = match variant {
        "with-decision-logs" => "Every decision is logged.",
        _ => "The control: nothing is logged.",
    };
    format!("{} {log}", scenario.sentence)
}

/// A `-bench` expression: a regular expression for each part of a name, as in Go.
#[derive(Debug)]
pub struct Pattern(Vec<Regex>);

impl Pattern {
    /// Splits at slashes outside brackets, as Go does.
    ///
    /// # Errors
    /// With the part that is no regular expression.
    pub fn parse(text: &str) -> Result<Self> {
        let mut parts = vec![String::new()];
        let mut depth = 0_u32;
        let mut escaped = false;
        for letter in text.chars() {
            match letter {
                '/' if depth == 0 && !escaped => {
                    parts.push(String::new());
                    continue;
                }
                '[' | '(' if !escaped => depth += 1,
                ']' | ')' if !escaped => depth = depth.saturating_sub(1),
                _ => {}
            }
            escaped = letter == '\\' && !escaped;
            if let Some(part) = parts.last_mut() {
                part.push(letter);
            }
        }
        parts
            .iter()
            .map(|part| Regex::new(part).with_context(|| format!("{part:?}")))
            .collect::<Result<_>>()
            .map(Self)
    }

    /// Whether a benchmark of the scenario `name` can match.
    #[must_use]
    pub fn may_match_scenario(&self, name: &str) -> bool {
        self.0.get(1).is_none_or(|pattern| pattern.is_match(name))
    }

    fn matches(&self, parts: &[String]) -> bool {
        self.0.len() <= parts.len()
            && self
                .0
                .iter()
                .zip(parts)
                .all(|(pattern, part)| pattern.is_match(part))
    }
}

/// The expression that matches these parts and nothing else.
#[must_use]
pub fn exactly(parts: &[String]) -> String {
    let parts: Vec<String> = parts
        .iter()
        .map(|part| format!("^{}$", regex::escape(part)))
        .collect();
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::BuiltIn;

    fn names(pattern: &str, workers: &[u32], rate: Option<f64>) -> Vec<String> {
        let scenarios = [BuiltIn::Minimal, BuiltIn::WithBody]
            .map(|scenario| Scenario::built_in(scenario, 1).unwrap());
        let pattern = Pattern::parse(pattern).unwrap();
        let plan = Plan::new(scenarios.to_vec(), workers, rate, &pattern);
        plan.cases.iter().map(|case| case.name.full()).collect()
    }

    #[test]
    fn names_are_those_people_have_in_their_files() {
        assert_eq!(
            names("AuthorizeRequest", &[10], None),
            [
                "BenchmarkAuthorizeRequest/minimal/no-decision-logs-10",
                "BenchmarkAuthorizeRequest/minimal/with-decision-logs-10",
                "BenchmarkAuthorizeRequest/with-body/no-decision-logs-10",
                "BenchmarkAuthorizeRequest/with-body/with-decision-logs-10",
            ]
        );
    }

    #[test]
    fn an_open_loop_says_so_in_its_name() {
        assert_eq!(
            names("Authorize/minimal/no", &[1, 2], Some(500.0)),
            [
                "BenchmarkAuthorizeRequestAtRate/minimal/no-decision-logs/rate=500",
                "BenchmarkAuthorizeRequestAtRate/minimal/no-decision-logs/rate=500-2",
            ]
        );
    }

    #[test]
    fn each_part_of_a_pattern_matches_a_part_of_the_name() {
        assert_eq!(names("/minimal/with", &[1], None).len(), 1);
        assert_eq!(names(".", &[1], None).len(), 6);
        assert_eq!(names("Empty", &[1], None).len(), 2);
        assert_eq!(names("Empty/minimal/x", &[1], None).len(), 0);
        assert_eq!(names("Author(ize|/)/[a/b]", &[1], None).len(), 4);
        assert!(Pattern::parse("a/(").is_err());
    }

    #[test]
    fn an_exact_pattern_matches_one_case() {
        let scenarios = vec![Scenario::built_in(BuiltIn::Minimal, 1).unwrap()];
        let all = Plan::new(scenarios.clone(), &[1], None, &Pattern::parse(".").unwrap());
        for case in all.cases {
            let pattern = Pattern::parse(&exactly(&case.parts)).unwrap();
            let one = Plan::new(scenarios.clone(), &[1], None, &pattern);
            assert_eq!(one.cases.len(), 1);
            assert_eq!(one.cases[0].name, case.name);
        }
    }
}
