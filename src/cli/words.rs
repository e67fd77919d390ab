//! What arguments may be: one word of a few, a number, a time; and what a wrong word was.

use std::ffi::OsStr;
use std::str::FromStr;
use std::time::Duration;

use clap::builder::{EnumValueParser, PossibleValue, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, ValueEnum};

/// One word of a list separated by commas, with blanks around it.
#[derive(Clone)]
pub struct Listed<E: ValueEnum + Clone + Send + Sync + 'static>(EnumValueParser<E>);

impl<E: ValueEnum + Clone + Send + Sync + 'static> Listed<E> {
    pub fn new() -> Self {
        Self(EnumValueParser::new())
    }
}

impl<E: ValueEnum + Clone + Send + Sync + 'static> TypedValueParser for Listed<E> {
    type Value = E;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<E, clap::Error> {
        let word = value.to_str().map_or(value, |text| OsStr::new(text.trim()));
        self.0.parse_ref(command, argument, word)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        self.0.possible_values()
    }
}

/// The names of all values, in the order to tell them.
#[must_use]
pub fn names<E: ValueEnum>() -> Vec<String> {
    let values = E::value_variants().iter();
    values
        .filter_map(|value| Some(value.to_possible_value()?.get_name().to_owned()))
        .collect()
}

/// A word that is none of those that an argument takes.
pub struct WrongWord<'e> {
    /// The flag, without dashes.
    pub flag: &'e str,
    /// The words that it takes.
    pub allowed: &'e [String],
    /// What was given.
    pub given: &'e str,
    /// What it may have been meant to be.
    pub meant: Option<&'e str>,
}

impl<'e> WrongWord<'e> {
    /// What `error` is about, if it is about such a word.
    #[must_use]
    pub fn of(error: &'e clap::Error) -> Option<Self> {
        if error.kind() != ErrorKind::InvalidValue {
            return None;
        }
        let text = |kind| match error.get(kind) {
            Some(ContextValue::String(text)) => Some(text.as_str()),
            _ => None,
        };
        let Some(ContextValue::Strings(allowed)) = error.get(ContextKind::ValidValue) else {
            return None;
        };
        // Clap names the flag as its usage does: `--format <FORMAT>`.
        let usage = text(ContextKind::InvalidArg)?.trim_start_matches('-');
        // A flag that takes any value lacks its value.
        if allowed.is_empty() {
            return None;
        }
        Some(Self {
            flag: usage.split([' ', '=']).next().unwrap_or(usage),
            allowed,
            given: text(ContextKind::InvalidValue)?,
            meant: text(ContextKind::SuggestedValue),
        })
    }
}

/// Words as a sentence has them: `a, b or c`.
#[must_use]
pub fn alternatives(words: &[String]) -> String {
    match words {
        [all @ .., last] if !all.is_empty() => format!("{} or {last}", all.join(", ")),
        words => words.concat(),
    }
}

/// A whole number from 1 on, for clap.
///
/// # Errors
/// What the argument must be.
pub fn whole_number<N: FromStr>(text: &str) -> Result<N, &'static str> {
    text.parse().map_err(|_| "must be a whole number from 1 on")
}

/// A time, for clap.
///
/// # Errors
/// What the argument must be.
pub fn time(text: &str) -> Result<Duration, &'static str> {
    humantime::parse_duration(text).map_err(|_| "must be a time such as 90s or 10m")
}
