//! The arguments about verdicts and the gate, as typed.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};

use super::words::Listed;
use crate::judge::control::Control;
use crate::judge::obstacle::ObstacleKind;
use crate::judge::{Adjust, FailOn};

const THRESHOLD_HELP: &str = "\
Changes up to these margins do not matter: 2%, or sec/op=5%,allocs/op=0, or @FILE

  2%              for all units
  sec/op=5%       for one unit
  sec/op=5%+2ns   for one unit: a change matters if it exceeds both
  @FILE           for single rows, from a file that -noise wrote; what else is given is then the least
Separate several by commas. Without it, 2% for measured units and 0 for exact ones.";

/// The arguments about verdicts and the gate. Lists that are given several times are one list.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Verdicts and gate")]
pub struct GateArgs {
    /// Gate: end with exit status 1 on this, and with 3 if there is no telling
    ///
    /// The verdict goes to standard error, followed by the rows to blame, worst first.
    #[arg(long, value_name = "VERDICT", value_enum)]
    pub fail_on: Option<FailOn>,

    /// Changes up to these margins do not matter: `2%`, or `sec/op=5%,allocs/op=0`, or `@FILE`
    #[arg(long, value_name = "MARGINS", allow_hyphen_values = true, long_help = THRESHOLD_HELP)]
    pub threshold: Vec<String>,

    /// Correct p-values for the number of comparisons [default: holm]
    #[arg(long, value_name = "METHOD", value_enum)]
    pub adjust: Option<Adjust>,

    /// Which direction of a unit is better, whatever the inputs say: `UNIT=lower` or `UNIT=higher`, separated by commas
    #[arg(long, value_name = "UNIT=DIRECTION")]
    pub better: Vec<String>,

    /// Units, separated by commas, that the gate looks at; otherwise all whose better direction is known
    #[arg(long, value_name = "UNITS")]
    pub gate_unit: Vec<String>,

    /// Reasons, separated by commas, for which the gate need not refuse to judge
    #[arg(long, value_name = "REASONS", value_delimiter = ',', value_parser = Listed::<ObstacleKind>::new())]
    pub allow: Vec<ObstacleKind>,

    /// Rows that cannot have changed, by a regular expression for their names: if they did, the gate could not judge
    #[arg(long, value_name = "REGEXP", allow_hyphen_values = true)]
    pub control: Option<Control>,

    /// Tolerate the regressions that this TOML file names, each up to a ceiling and a date
    #[arg(long, value_name = "FILE")]
    pub waivers: Option<OsString>,

    /// The day, as YYYY-MM-DD, on which waivers are asked [default: today, in UTC]
    #[arg(long, value_name = "DATE")]
    pub today: Option<String>,

    /// Make the new side worse by this much in memory, and tell for which rows the gate fires: exit status 0 if for all
    #[arg(long, value_name = "PERCENT", allow_hyphen_values = true)]
    pub self_test: Option<String>,

    /// Take the inputs for runs of the same code, and print the margins they need to be called unchanged
    #[arg(long)]
    pub noise: bool,
}

impl GateArgs {
    /// The files that settings are read from.
    #[must_use]
    pub fn settings_files(&self) -> Vec<PathBuf> {
        let items = self.threshold.iter().flat_map(|list| list.split(','));
        let margins = items.filter_map(|item| item.trim().strip_prefix('@'));
        let waivers = self.waivers.iter().map(PathBuf::from);
        margins.map(PathBuf::from).chain(waivers).collect()
    }
}

impl ValueEnum for FailOn {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Regression, Self::Unproven, Self::Change]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let (name, help) = match self {
            Self::Regression => (
                "regression",
                "A row is worse by more than its margin, for sure",
            ),
            Self::Unproven => ("unproven", "A row is not proven to be unchanged or better"),
            Self::Change => (
                "change",
                "A row is worse or better by more than its margin, for sure",
            ),
        };
        Some(PossibleValue::new(name).help(help))
    }
}

impl ValueEnum for Adjust {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Holm, Self::Bh, Self::None]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let (name, help) = match self {
            Self::Holm => (
                "holm",
                "Holm: at most alpha is the probability of even one false alarm",
            ),
            Self::Bh => (
                "bh",
                "Benjamini and Hochberg: at most alpha is the expected share of false alarms",
            ),
            Self::None => ("none", "Not at all"),
        };
        Some(PossibleValue::new(name).help(help))
    }
}

impl ValueEnum for ObstacleKind {
    fn value_variants<'a>() -> &'a [Self] {
        &Self::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let help = match self {
            Self::Environment => "goos, goarch or cpu differ between the sides",
            Self::NothingCompared => "No row, or none of a unit of -gate-unit, has both sides",
            Self::EmptyInput => "An input contributes nothing",
            Self::Failed => "A benchmark or package failed",
            Self::SameValues => "Both sides hold the same measurements",
            Self::Configuration => "A configuration line takes runs out of the comparison",
            Self::Unit => "The judged side contradicts what is known of a unit",
            Self::Removed => "A row is in the baseline only",
            Self::Syntax => "EscapedLines of an input were not understood",
            Self::Control => "A row of -control changed",
            Self::Shift => "All rows of a unit moved alike",
            Self::Suspect => "A row looks changed, and is not proven to be",
            Self::TooFewRuns => "A row has too few values for any verdict",
        };
        Some(PossibleValue::new(self.word()).help(help))
    }
}
