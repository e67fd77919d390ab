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
//! keys = { note = "short" }          # only where several rows are called this: what tells them apart
//! ```

use std::cell::LazyCell;

use hashbrown::{HashMap, HashSet};
use serde::{Deserialize, Serialize};
use toml::Spanned;
use toml::value::{Date, Datetime};

use super::effect::Effect;
use super::judgement::{Judgements, WaiverState};
use super::margin::{
    Amount, LinesOf, ReadFile, TomlError, keys_line, parse_amount, read_toml, toml_error,
};
use super::row_name::{ByRow, Distinctions, Keys, RowName};
use super::verdict::Verdict;
use crate::report::model::{Position, Report};

/// All waivers of a run, and the day on which they are asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Waivers {
    today: Date,
    waivers: ByRow<Waiver>,
}

#[derive(Clone, Debug, PartialEq)]
struct Waiver {
    line: usize,
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
    #[serde(default)]
    keys: Keys,
}

impl Default for Waivers {
    /// No waivers, so that no day matters.
    fn default() -> Self {
        let (year, month, day) = (0, 1, 1);
        Self {
            today: Date { year, month, day },
            waivers: ByRow::default(),
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
        let mut waivers = ByRow::default();
        let mut lines = LinesOf::new(&text);
        for entry in parsed.waiver {
            let line = lines.line(entry.span().start);
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
            let waiver = Waiver {
                line,
                ceiling,
                expires,
                reason: entry.reason,
            };
            if let Err(first) = waivers.insert(name, entry.keys, waiver) {
                let first: &Waiver = first;
                return Err(wrong(format!(
                    "a second waiver for {} in {}; the first is on line {}",
                    entry.benchmark, entry.unit, first.line
                )));
            }
        }
        Ok(Self { today, waivers })
    }

    /// Which waivers are for which rows of a report.
    pub(super) fn of_rows(&self, report: &Report) -> WaivedRows<'_> {
        let waivers = self.waivers.iter().map(|(_, _, waiver)| waiver);
        let mut waived = WaivedRows {
            today: self.today,
            waivers: waivers.collect(),
            of_row: self.waivers.rows(report),
            rows: vec![Vec::new(); self.waivers.iter().len()],
        };
        for (&row, &waiver) in &waived.of_row {
            waived.rows[waiver].push(row);
        }
        waived
    }

    /// What is wrong with single waivers, in the order of the file.
    pub(super) fn notes(
        &self,
        waived: &WaivedRows<'_>,
        report: &Report,
        judgements: &Judgements,
    ) -> Vec<WaiverNote> {
        let (mut regressions, mut over) = (HashSet::new(), HashSet::new());
        if !self.waivers.is_empty() {
            for judgement in judgements.all() {
                let Position { table, row, .. } = judgement.position;
                if judgement.verdict == Verdict::Regression {
                    regressions.insert((table, row));
                }
                if let Some(WaiverState::OverCeiling { .. }) = judgement.waiver {
                    over.insert((table, row));
                }
            }
        }
        let distinctions = LazyCell::new(|| Distinctions::new(report));
        let kind = |index: usize, name: &RowName, waiver: &Waiver| {
            let [row] = waived.rows[index][..] else {
                let Some(&first) = waived.rows[index].iter().min() else {
                    return Some(WaiverNoteKind::Stale);
                };
                let keys = distinctions.of(name, first);
                return Some(WaiverNoteKind::Ambiguous {
                    rows: waived.rows[index].len(),
                    add: keys_line(&keys).trim_end().to_owned(),
                });
            };
            if waiver.expires < self.today {
                Some(WaiverNoteKind::Expired {
                    expires: waiver.expires.to_string(),
                })
            } else if !regressions.contains(&row) {
                Some(WaiverNoteKind::Unused)
            } else if over.contains(&row) {
                Some(WaiverNoteKind::OverCeiling)
            } else {
                None
            }
        };
        let waivers = self.waivers.iter();
        waivers
            .filter_map(|(index, name, waiver)| {
                Some(WaiverNote {
                    line: waiver.line,
                    benchmark: name.benchmark.clone(),
                    package: name.package.clone(),
                    unit: name.unit.clone(),
                    kind: kind(index, name, waiver)?,
                })
            })
            .collect()
    }
}

/// Which waivers are for which rows of a report.
pub(super) struct WaivedRows<'w> {
    today: Date,
    waivers: Vec<&'w Waiver>,
    /// The waiver of each row that has one, by table and row.
    of_row: HashMap<(usize, usize), usize>,
    /// The rows of each waiver.
    rows: Vec<Vec<(usize, usize)>>,
}

impl WaivedRows<'_> {
    /// What the waiver for a row, if there is one, makes of its verdict; `centre` is that of the baseline.
    ///
    /// One that is for several rows is for none: whoever wrote it had one in mind.
    pub fn state(
        &self,
        position: Position,
        effect: &Effect,
        verdict: Verdict,
        centre: f64,
    ) -> Option<WaiverState> {
        let &waiver = self.of_row.get(&(position.table, position.row))?;
        if self.rows[waiver].len() > 1 {
            return None;
        }
        let waiver = self.waivers[waiver];
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
    /// Several rows are called this, and it is for none of them.
    Ambiguous {
        /// How many.
        rows: usize,
        /// The line that would make it one for the first of them.
        add: String,
    },
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
