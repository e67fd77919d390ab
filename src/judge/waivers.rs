//! Waivers: regressions that are tolerated for a while, up to a ceiling, for a reason.
//!
//! ```toml
//! [[waiver]]
//! benchmark = "Encode/size=1k-8"    # the row as the tables show it
//! package = "example.com/codec"     # its pkg, "" where there is none
//! unit = "sec/op"
//! ceiling = "15%"                   # as -threshold takes it
//! expires = 2027-01-31              # the last day
//! reason = "bounds checks, see #123"
//! ```

use std::collections::HashSet;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use toml::Spanned;
use toml::value::{Date, Datetime};

use super::effect::Effect;
use super::judgement::{Judgements, WaiverState};
use super::margin::{
    Amount, ReadFile, RowName, TomlError, line_of, parse_amount, read_toml, toml_error,
};
use super::verdict::Verdict;
use crate::report::model::Report;

/// All waivers of a run, and the day on which they are asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Waivers {
    today: Date,
    waivers: IndexMap<RowName, Waiver>,
}

#[derive(Clone, Debug, PartialEq)]
struct Waiver {
    line: usize,
    benchmark: String,
    ceiling: Amount,
    expires: Date,
    reason: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WaiverFile {
    waiver: Vec<Spanned<Entry>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    benchmark: String,
    package: String,
    unit: String,
    ceiling: String,
    expires: toml::Value,
    reason: String,
}

impl Default for Waivers {
    /// No waivers, so that no day matters.
    fn default() -> Self {
        let (year, month, day) = (0, 1, 1);
        Self {
            today: Date { year, month, day },
            waivers: IndexMap::new(),
        }
    }
}

impl Waivers {
    /// Reads a file of waivers, to be asked on `today`.
    ///
    /// # Errors
    /// The first mistake, with its line: an unknown or missing key, a ceiling or date that is none, an empty reason, or two
    /// waivers for one row. A file without any waiver is a mistake too.
    pub fn read(file: &str, today: Date, read_file: ReadFile<'_>) -> Result<Self, TomlError> {
        let text = read_toml(file, read_file)?;
        let parsed: WaiverFile =
            toml::from_str(&text).map_err(|error| toml_error(file, &text, &error))?;
        if parsed.waiver.is_empty() {
            return Err(TomlError::Content {
                file: file.into(),
                line: 1,
                message: "there is no waiver in it: add a [[waiver]], or leave -waivers out".into(),
            });
        }
        let mut waivers: IndexMap<RowName, Waiver> = IndexMap::new();
        for entry in parsed.waiver {
            let line = line_of(&text, entry.span().start);
            let wrong = |message: String| TomlError::Content {
                file: file.into(),
                line,
                message,
            };
            let entry = entry.into_inner();
            let expires = date(&entry.expires).ok_or_else(|| {
                wrong(
                    "expires must be a date such as 2027-01-31, the last day of the waiver".into(),
                )
            })?;
            let ceiling = parse_amount(&entry.ceiling, Some(&entry.unit))
                .map_err(|reason| wrong(format!("ceiling: {reason}")))?;
            for (key, value) in [
                ("benchmark", &entry.benchmark),
                ("unit", &entry.unit),
                ("reason", &entry.reason),
            ] {
                if value.trim().is_empty() {
                    return Err(wrong(format!("{key} must not be empty")));
                }
            }
            let name = RowName::new(&entry.benchmark, &entry.package, &entry.unit);
            if let Some(first) = waivers.get(&name) {
                return Err(wrong(format!(
                    "a second waiver for {} in {}; the first is on line {}",
                    entry.benchmark, entry.unit, first.line
                )));
            }
            let waiver = Waiver {
                line,
                benchmark: entry.benchmark,
                ceiling,
                expires,
                reason: entry.reason,
            };
            waivers.insert(name, waiver);
        }
        Ok(Self { today, waivers })
    }

    /// What the waiver for a row, if there is one, makes of its verdict; `centre` is that of the baseline.
    pub(super) fn state(
        &self,
        name: impl FnOnce() -> RowName,
        effect: &Effect,
        verdict: Verdict,
        centre: f64,
    ) -> Option<WaiverState> {
        if self.waivers.is_empty() {
            return None;
        }
        let waiver = self.waivers.get(&name())?;
        let expires = waiver.expires.to_string();
        if waiver.expires < self.today {
            return Some(WaiverState::Expired { expires });
        }
        let ceiling = waiver.ceiling.limit(effect.scale, centre);
        // What is worse than the ceiling is no longer what was waived, in either direction of better.
        if verdict == Verdict::Regression && effect.estimate.abs() > ceiling {
            return Some(WaiverState::OverCeiling { ceiling });
        }
        Some(WaiverState::Applies {
            ceiling,
            expires,
            reason: waiver.reason.clone(),
        })
    }

    /// What is wrong with single waivers, in the order of the file.
    #[must_use]
    pub fn notes(&self, report: &Report, judgements: &Judgements) -> Vec<WaiverNote> {
        let mut rows: HashSet<RowName> = HashSet::new();
        let mut regressions: HashSet<RowName> = HashSet::new();
        let mut over: HashSet<RowName> = HashSet::new();
        if !self.waivers.is_empty() {
            for judged in judgements.rows(report) {
                let name = RowName::of(judged.table, judged.row);
                if judged.judgement.verdict == Verdict::Regression {
                    regressions.insert(name.clone());
                }
                if let Some(WaiverState::OverCeiling { .. }) = judged.judgement.waiver {
                    over.insert(name.clone());
                }
                rows.insert(name);
            }
        }
        let waivers = self.waivers.iter();
        waivers
            .filter_map(|(name, waiver)| {
                let kind = if !rows.contains(name) {
                    WaiverNoteKind::Stale
                } else if waiver.expires < self.today {
                    WaiverNoteKind::Expired {
                        expires: waiver.expires.to_string(),
                    }
                } else if !regressions.contains(name) {
                    WaiverNoteKind::Unused
                } else if over.contains(name) {
                    WaiverNoteKind::OverCeiling
                } else {
                    return None;
                };
                Some(WaiverNote {
                    line: waiver.line,
                    benchmark: waiver.benchmark.clone(),
                    package: name.package.clone(),
                    unit: name.unit.clone(),
                    kind,
                })
            })
            .collect()
    }
}

/// What is wrong with a waiver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WaiverNote {
    /// The line of the waiver in its file, from 1.
    pub line: usize,
    /// The benchmark that it names.
    pub benchmark: String,
    /// The package that it names.
    pub package: String,
    /// The unit that it names.
    pub unit: String,
    /// What is wrong.
    pub kind: WaiverNoteKind,
}

/// What is wrong with a waiver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum WaiverNoteKind {
    /// No row is called this.
    Stale,
    /// The row has no regression.
    Unused,
    /// Its last day is past.
    Expired {
        /// The last day, as `YYYY-MM-DD`.
        expires: String,
    },
    /// The regression is larger than its ceiling.
    OverCeiling,
}

/// A date of TOML, or a string that is one.
fn date(value: &toml::Value) -> Option<Date> {
    match value {
        toml::Value::String(text) => parse_date(text),
        toml::Value::Datetime(moment) => day_of(moment),
        _ => None,
    }
}

/// Reads a date such as `2027-01-31`.
#[must_use]
pub fn parse_date(text: &str) -> Option<Date> {
    day_of(&text.parse().ok()?)
}

/// The day, if `moment` is a whole one.
fn day_of(moment: &Datetime) -> Option<Date> {
    match moment {
        Datetime {
            date,
            time: None,
            offset: None,
        } => *date,
        _ => None,
    }
}
