//! The arguments about verdicts and the gate, as typed.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

const THRESHOLD_HELP: &str = "\
Changes up to these margins do not matter: 2%, or sec/op=5%,allocs/op=0, or @FILE

  2%              for all units
  sec/op=5%       for one unit
  sec/op=5%+2ns   for one unit: a change matters if it exceeds both
  @FILE           for single rows, from a file that -noise wrote; what else is given is then the least
Separate several by commas. Without it, 2% for measured units and 0 for exact ones.";

const ALLOW_HELP: &str = "\
Reasons, separated by commas, for which the gate need not refuse to judge

  environment       goos, goarch or cpu differ between the sides
  nothing-compared  no row, or none of a unit of -gate-unit, has both sides
  empty-input       an input contributes nothing
  failed            a benchmark or package failed
  removed           a row is in the baseline only
  syntax            lines of an input were not understood
  too-few-runs      a row has too few values for any verdict";

const FAIL_ON_HELP: &str = "\
Gate: end with exit status 1 on this, and with 3 if there is no telling

  regression  a row is worse by more than its margin, for sure
  unproven    a row is not proven to be unchanged or better
  change      a row is worse or better by more than its margin, for sure
The verdict goes to standard error, followed by the rows to blame, worst first.";

/// The arguments about verdicts and the gate. Lists that are given several times are one list.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Verdicts and gate")]
pub struct GateArgs {
    /// Gate: end with exit status 1 on `regression`, `unproven` or `change`, and with 3 if there is no telling
    #[arg(long, value_name = "VERDICT", long_help = FAIL_ON_HELP)]
    pub fail_on: Option<String>,

    /// Changes up to these margins do not matter: `2%`, or `sec/op=5%,allocs/op=0`, or `@FILE`
    #[arg(long, value_name = "MARGINS", allow_hyphen_values = true, long_help = THRESHOLD_HELP)]
    pub threshold: Vec<String>,

    /// Correct p-values for the number of comparisons: `holm`, `bh` or `none` [default: holm]
    #[arg(long, value_name = "METHOD")]
    pub adjust: Option<String>,

    /// Which direction of a unit is better, whatever the inputs say: `UNIT=lower` or `UNIT=higher`, separated by commas
    #[arg(long, value_name = "UNIT=DIRECTION")]
    pub better: Vec<String>,

    /// Units, separated by commas, that the gate looks at; otherwise all whose better direction is known
    #[arg(long, value_name = "UNITS")]
    pub gate_unit: Vec<String>,

    /// Reasons, separated by commas, for which the gate need not refuse to judge
    #[arg(long, value_name = "REASONS", long_help = ALLOW_HELP)]
    pub allow: Vec<String>,

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
