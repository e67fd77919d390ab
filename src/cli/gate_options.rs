//! The arguments about verdicts and the gate, checked and typed.

use std::io;
use std::time::SystemTime;

use bstr::BString;
use humantime::format_rfc3339;
use toml::value::{Date, Datetime};

use super::gate_args::GateArgs;
use crate::judge::arrangement::Arrangement;
use crate::judge::gate::gate_unit;
use crate::judge::margin::{MarginError, Margins, TomlError};
use crate::judge::waivers::{Waivers, parse_date};
use crate::judge::{FailOn, GateSettings, Judging};
use crate::unit::Better;

/// What a run does with its comparisons.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Purpose {
    /// Shows them, with the answer of a gate if one is asked.
    #[default]
    Show,
    /// Gives them to a gate after making the new side worse by this part.
    SelfTest(f64),
    /// Tells how much runs of the same code differ.
    Noise,
}

impl Purpose {
    /// The flag for which something else than a report is written, if it is there.
    #[must_use]
    pub fn instead_of_report(self) -> Option<&'static str> {
        match self {
            Self::SelfTest(..) => Some("self-test"),
            Self::Noise => Some("noise"),
            Self::Show => None,
        }
    }
}

/// What verdicts depend on, and what becomes of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GateOptions {
    /// What verdicts depend on; none where nothing asks for verdicts.
    pub judging: Option<Judging>,
    /// What becomes of them.
    pub purpose: Purpose,
    /// The directions that overrule what the inputs say.
    pub better: Vec<(BString, Better)>,
}

/// An argument about verdicts or the gate that makes no sense.
#[derive(Debug, thiserror::Error)]
pub enum GateOptionError {
    /// No unit with its direction.
    #[error("-better must be UNIT=lower or UNIT=higher, not {0:?}")]
    Better(String),
    /// Margins that make no sense.
    #[error("-threshold: {0}")]
    Threshold(#[from] MarginError),
    /// Waivers that make no sense.
    #[error("-waivers: {0}")]
    Waivers(#[from] TomlError),
    /// No date.
    #[error("-today must be a date such as 2027-01-31, not {0:?}")]
    Today(String),
    /// No percentage that a value can get worse by.
    #[error("-self-test must be a percentage above 0% and below 100%, such as 10%, not {0:?}")]
    SelfTest(String),
    /// A unit that is named twice, perhaps in two forms.
    #[error("-{0}: {1} is named twice: leave one out")]
    Twice(&'static str, String),
    /// An item of `-gate-unit` without a name.
    #[error("-gate-unit must be a list of units, such as sec/op,B/op: one item of it is empty")]
    NoUnit,
    /// Two flags that exclude each other.
    #[error("-{0} and -{1} exclude each other: leave one out")]
    Both(&'static str, &'static str),
    /// A flag without which nothing reads the other.
    #[error("-{0} has no effect: add -fail-on regression")]
    NoEffect(&'static str),
}

impl GateOptions {
    /// Whether a gate is asked, which passes over nothing in silence.
    #[must_use]
    pub fn has_gate(&self) -> bool {
        let judging = self.judging.as_ref();
        judging.is_some_and(|judging| judging.gate.is_some())
    }

    /// Whether anything but showing a report is asked.
    #[must_use]
    pub fn does_more_than_show(&self) -> bool {
        self.has_gate() || self.purpose != Purpose::Show
    }

    /// Checks `args`. The format of the report `shows_verdicts` or not.
    ///
    /// # Errors
    /// A [`GateOptionError`] that names the flag.
    pub fn new(
        args: &GateArgs,
        alpha: f64,
        arrangement: Arrangement,
        shows_verdicts: bool,
    ) -> Result<Self, GateOptionError> {
        let (purpose, gate) = purpose(args)?;
        let needs_verdicts = shows_verdicts || gate.is_some() || purpose != Purpose::Show;
        if !needs_verdicts {
            // A flag that looks like a gate and is none would let everything pass.
            let given = [
                ("threshold", !args.threshold.is_empty()),
                ("adjust", args.adjust.is_some()),
                ("better", !args.better.is_empty()),
                ("today", args.today.is_some()),
            ];
            if let Some((flag, _)) = given.into_iter().find(|(_, is_given)| *is_given) {
                return Err(GateOptionError::NoEffect(flag));
            }
        }
        let judging = Judging {
            is_two_sided: args.fail_on == Some(FailOn::Change),
            alpha,
            whole_alpha: None,
            adjust: args.adjust.unwrap_or_default(),
            margins: match args.threshold.as_slice() {
                [] => Margins::default(),
                lists => Margins::parse(&lists.join(","), &read_text)?,
            },
            waivers: waivers(args)?,
            gate,
            arrangement,
        };
        Ok(Self {
            judging: needs_verdicts.then_some(judging),
            purpose,
            better: better(args)?,
        })
    }
}

/// Reads a file of settings.
fn read_text(path: &str) -> io::Result<String> {
    std::fs::read_to_string(path)
}

fn purpose(args: &GateArgs) -> Result<(Purpose, Option<GateSettings>), GateOptionError> {
    // Whoever says what a gate is to look at or to tolerate wants one.
    let wants_gate = args.fail_on.is_some()
        || !args.gate_unit.is_empty()
        || !args.allow.is_empty()
        || args.control.is_some()
        || args.waivers.is_some();
    if args.noise {
        for (flag, is_given) in [
            ("fail-on", wants_gate),
            ("self-test", args.self_test.is_some()),
        ] {
            if is_given {
                return Err(GateOptionError::Both("noise", flag));
            }
        }
        return Ok((Purpose::Noise, None));
    }
    let settings = GateSettings {
        fail_on: args.fail_on.unwrap_or_default(),
        units: gate_units(args)?,
        allowed: args.allow.clone(),
        control: args.control.clone(),
        judges_last_column_only: false,
    };
    Ok(match &args.self_test {
        Some(text) => (Purpose::SelfTest(percentage(text)?), Some(settings)),
        None => (Purpose::Show, wants_gate.then_some(settings)),
    })
}

/// The items of lists separated by commas.
fn list(lists: &[String]) -> impl Iterator<Item = &str> {
    let items = lists.iter().flat_map(|list| list.split(','));
    items.map(str::trim)
}

fn percentage(text: &str) -> Result<f64, GateOptionError> {
    let number = text
        .strip_suffix('%')
        .and_then(|text| text.trim().parse::<f64>().ok());
    match number {
        Some(number) if number > 0.0 && number < 100.0 => Ok(number / 100.0),
        _ => Err(GateOptionError::SelfTest(text.into())),
    }
}

fn better(args: &GateArgs) -> Result<Vec<(BString, Better)>, GateOptionError> {
    let mut directions: Vec<(BString, Better)> = Vec::new();
    for item in list(&args.better) {
        let wrong = || GateOptionError::Better(item.into());
        let (unit, direction) = item.rsplit_once('=').ok_or_else(wrong)?;
        let (unit, direction) = (unit.trim(), direction.trim());
        let better = Better::named(direction.as_bytes()).ok_or_else(wrong)?;
        let is_same =
            |(known, _): &(BString, Better)| gate_unit(known.as_ref()) == gate_unit(unit.into());
        if unit.is_empty() {
            return Err(wrong());
        }
        if directions.iter().any(is_same) {
            return Err(GateOptionError::Twice("better", unit.into()));
        }
        directions.push((unit.into(), better));
    }
    Ok(directions)
}

/// The units of `-gate-unit`, in base form.
fn gate_units(args: &GateArgs) -> Result<Vec<BString>, GateOptionError> {
    let mut units: Vec<BString> = Vec::new();
    for item in list(&args.gate_unit) {
        if item.is_empty() {
            return Err(GateOptionError::NoUnit);
        }
        let unit = gate_unit(item.into());
        if units.contains(&unit) {
            return Err(GateOptionError::Twice("gate-unit", item.into()));
        }
        units.push(unit);
    }
    Ok(units)
}

fn waivers(args: &GateArgs) -> Result<Waivers, GateOptionError> {
    let today = match &args.today {
        Some(text) => parse_date(text).ok_or_else(|| GateOptionError::Today(text.clone()))?,
        None => today(),
    };
    match &args.waivers {
        Some(file) => Ok(Waivers::read(&file.to_string_lossy(), today, &|_| {
            std::fs::read_to_string(file)
        })?),
        None => Ok(Waivers::default()),
    }
}

/// The day in UTC.
fn today() -> Date {
    let now = format_rfc3339(SystemTime::now()).to_string();
    let moment: Option<Datetime> = now.parse().ok();
    moment
        .and_then(|moment| moment.date)
        .expect("RFC 3339 starts with a date of TOML")
}
