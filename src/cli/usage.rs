//! What is wrong with the arguments, in the program's own words and with its one prefix; and the help that fits a screen.

use std::error::Error;
use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::words::{WrongWord, alternatives};

/// The everyday flags, on one screen of 80 columns; `--help` has all.
pub const SHORT_HELP: &str = "\
Tells whether a change made Go benchmarks faster or slower.

  rbenchstat [FLAGS] OLD NEW      compare two files of go test -bench output
  rbenchstat run [FLAGS] [BASE]   measure two commits in turns and compare them

  -format FORMAT     text, csv, pretty, markdown, comment, json, jsonl, html,
                     github or bench [default: text]
  -out FORMAT=FILE   write a further report to a file; can be repeated
  -filter QUERY      compare only these results: '.name:Encode .unit:sec/op'
  -col KEYS          compare by these keys in place of files: /codec
  -row, -table KEYS  what makes a row, and what makes a table
  -ignore KEYS       pool results that differ in these keys only: cpu
  -fail-on VERDICT   exit with 1 on a regression, and with 3 if nobody can tell
  -threshold MARGIN  changes up to this do not matter [default: 2%]
  -alpha ALPHA       significance level, 0 to 1 [default: 0.05]
  -sort ORDER        delta (worst first), name or p
  -changed-only      show only rows that changed
  -all               in pretty: show unchanged rows too
  -q                 print no notes
  -h, --help         this page; all flags with examples

First: go test -run '^$' -bench . -count 10 ./... > old.txt, then the same with
the change > new.txt. Flags take one dash or two.
";

/// Whether the short help is meant, where some help is.
#[must_use]
pub fn is_short_help(arguments: &[OsString]) -> bool {
    let mut flags = arguments.iter().take_while(|argument| *argument != "--");
    !flags.any(|argument| argument == "--help" || argument == "-help")
}

/// Says what clap found wrong, without its prefix, in lines; `formats` are the words that `-format` takes.
#[must_use]
pub fn message(error: &clap::Error, formats: &[String]) -> Vec<String> {
    if let Some(wrong) = WrongWord::of(error) {
        return wrong_word(&wrong);
    }
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        Some(ContextValue::Strings(texts)) => texts.first().map(String::as_str),
        _ => None,
    };
    let given = text(ContextKind::InvalidArg).unwrap_or_default();
    let flag = flag(given);
    let value = text(ContextKind::InvalidValue).unwrap_or_default();
    let message = match error.kind() {
        ErrorKind::UnknownArgument if given == "-=" => "-q takes no value".into(),
        ErrorKind::UnknownArgument => {
            let name = given.trim_start_matches('-');
            if name == "md" || formats.iter().any(|format| format == name) {
                format!("there is no flag -{name}; for that format write -format {name}")
            } else if let Some(meant) = text(ContextKind::SuggestedArg) {
                let meant = meant.trim_start_matches('-');
                format!("there is no flag {flag}; did you mean -{meant}?")
            } else {
                format!("there is no flag {flag}; -h shows the everyday ones, --help all")
            }
        }
        ErrorKind::InvalidValue if value.is_empty() => {
            let name = given
                .split_once('<')
                .map(|(_, name)| name.trim_end_matches('>'));
            format!("{flag} needs a value: {flag} {}", name.unwrap_or("VALUE"))
        }
        ErrorKind::ValueValidation => {
            let reason = error.source().map(ToString::to_string).unwrap_or_default();
            match reason.as_str() {
                "invalid digit found in string" => {
                    format!("{flag} must be a whole number, not {value:?}")
                }
                must if must.starts_with("must be") => format!("{flag} {must}, not {value:?}"),
                other => match range(other) {
                    Some((low, high)) => {
                        format!("{flag} must be from {low} to {high}, not {value:?}")
                    }
                    None => format!("{flag}: {other}"),
                },
            }
        }
        ErrorKind::MissingRequiredArgument => {
            let what = given.trim_matches(['<', '>', '.']);
            format!("name {what}, which another flag needs")
        }
        ErrorKind::TooManyValues => format!("{flag} takes no value"),
        ErrorKind::ArgumentConflict => {
            let other = text(ContextKind::PriorArg).unwrap_or_default();
            let other = self::flag(other);
            format!("{flag} and {other} exclude each other: leave one out")
        }
        _ => {
            let rendered = error.render().to_string();
            let first = rendered.lines().next().unwrap_or_default();
            first.trim_start_matches("error: ").to_owned()
        }
    };
    vec![message]
}

/// The bounds in clap's words for a number beyond them: `0 is not in 1..=100`.
fn range(reason: &str) -> Option<(&str, &str)> {
    let (_, range) = reason.split_once(" is not in ")?;
    range.split_once("..=")
}

/// `--format <FORMAT>` as it is typed in Go: `-format`.
fn flag(usage: &str) -> String {
    let name = usage.trim_start_matches('-');
    let name = name.split([' ', '=', '[']).next().unwrap_or(name);
    format!("-{name}")
}

/// Says that an argument is none of the words that it may be.
fn wrong_word(wrong: &WrongWord<'_>) -> Vec<String> {
    let (flag, given) = (wrong.flag, wrong.given);
    let is_format = flag == "format";
    let meant = wrong.meant.map(|meant| format!("did you mean {meant}?"));
    if is_format {
        // Scripts compare the first line, so what helps beyond it stands in a note.
        let formats = wrong.allowed.join(", ");
        let help = match meant {
            Some(meant) => format!("note: {meant} The formats are {formats}"),
            None => format!("note: the formats are {formats}"),
        };
        return vec!["-format must be text or csv".into(), help];
    }
    let allowed = alternatives(wrong.allowed);
    let not = if given.is_empty() {
        String::new()
    } else {
        format!(", not {given:?}")
    };
    let meant = meant.map(|meant| format!("; {meant}")).unwrap_or_default();
    vec![format!("-{flag} must be {allowed}{not}{meant}")]
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, ValueEnum};

    use super::*;
    use crate::cli::args::{Args, Shown};
    use crate::cli::words::names;

    #[test]
    fn the_short_help_fits_a_screen_and_has_no_flag_that_there_is_not() {
        assert!(SHORT_HELP.lines().count() <= 24);
        assert!(SHORT_HELP.lines().all(|line| line.chars().count() <= 80));
        let command = Args::command();
        let long: Vec<&str> = command
            .get_arguments()
            .filter_map(clap::Arg::get_long)
            .collect();
        for line in SHORT_HELP
            .lines()
            .filter_map(|line| line.strip_prefix("  -"))
        {
            let flag = line.split([' ', ',']).next().unwrap();
            assert!(flag.len() == 1 || long.contains(&flag), "{flag}");
        }
        for format in names::<Shown>() {
            assert!(SHORT_HELP.contains(&format), "{format}");
        }
        assert!(Shown::value_variants().len() > 1);
    }
}
