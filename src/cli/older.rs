//! Flags of the older generation of benchstat, which scripts still use.

use std::ffi::OsString;

use super::args::{Args, Shown};
use super::output::Format;

/// The flags as typed. They are hidden: nobody should start to use them.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub struct OlderArgs {
    /// The same as `-format csv`
    #[arg(long, hide = true, conflicts_with = "format")]
    #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value_t = false)]
    #[arg(action = clap::ArgAction::Set)]
    pub csv: bool,

    /// The same as `-format html`
    #[arg(long, hide = true, conflicts_with = "format")]
    #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value_t = false)]
    #[arg(action = clap::ArgAction::Set)]
    pub html: bool,

    /// Nothing: there always is a geomean
    #[arg(long, hide = true)]
    #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value_t = false)]
    #[arg(action = clap::ArgAction::Set)]
    pub geomean: bool,

    /// Refused: ranges have a column of their own
    #[arg(long, hide = true)]
    #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value_t = false)]
    #[arg(action = clap::ArgAction::Set)]
    pub norange: bool,

    /// `utest`, which is what there is, or `none`, the same as `-alpha 1`
    #[arg(long, hide = true, value_name = "TEST")]
    pub delta_test: Option<String>,

    /// The same as `-table KEYS`
    #[arg(
        long,
        hide = true,
        value_name = "KEYS",
        conflicts_with = "table",
        allow_hyphen_values = true
    )]
    pub split: Option<OsString>,
}

/// A flag that has no counterpart.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum OlderFlagError {
    /// `-norange`.
    #[error(
        "-norange is no more: leave it out; in -format csv the ranges are columns of their own, called CI"
    )]
    Norange,
    /// `-delta-test ttest`.
    #[error("-delta-test {0} is no more: leave it out for the U test, or use -alpha 1 for no test")]
    Ttest(String),
    /// `-delta-test` with something else.
    #[error("-delta-test must be utest or none, not {0:?}")]
    DeltaTest(String),
}

impl Args {
    /// Replaces flags of the older generation by those that do the same now.
    ///
    /// # Errors
    /// An [`OlderFlagError`] for a flag without a counterpart.
    pub fn without_older_flags(mut self) -> Result<Self, OlderFlagError> {
        if self.older.norange {
            return Err(OlderFlagError::Norange);
        }
        if self.older.csv {
            self.format = Shown::Report(Format::Csv);
        }
        if self.older.html {
            self.format = Shown::Report(Format::Html);
        }
        if let Some(test) = &self.older.delta_test {
            match test.to_ascii_lowercase().replace('-', "").as_str() {
                "u" | "utest" | "mannwhitney" | "mannwhitneyutest" => {}
                "none" => self.alpha = "1".into(),
                "t" | "ttest" => return Err(OlderFlagError::Ttest(test.clone())),
                _ => return Err(OlderFlagError::DeltaTest(test.clone())),
            }
        }
        if let Some(keys) = self.older.split.take() {
            self.table = keys;
        }
        Ok(self)
    }
}
