//! The arguments as typed.

use std::ffi::OsString;

use clap::builder::PossibleValue;
use clap::{Parser, ValueEnum};

use super::gate_args::GateArgs;
use super::older::OlderArgs;
use super::output::Format;
use super::output_args::OutputArgs;
use crate::input::{MOST_UNPACKED, Size};

/// How it is used, for help and manual.
pub const EXAMPLE: &str = "\
  go test -run '^$' -bench . -count 10 ./... > old.txt
  (change the code)
  go test -run '^$' -bench . -count 10 ./... > new.txt
  rbenchstat old.txt new.txt
  rbenchstat -fail-on regression old.txt new.txt   (fails a build)
";

/// How flags may be written.
pub const SPELLING: &str = "\
Every flag can be written with one dash or two, as in Go: -col .file, -format=csv.
Scripts may still use --csv, --html, --split, --geomean, --delta-test and --norange.";

/// What each exit status means.
pub const EXIT_STATUS: [(u8, &str); 4] = [
    (
        0,
        "the inputs were read, and the gate, if there is one, passed",
    ),
    (1, "the gate failed"),
    (2, "wrong usage, or an input or output that failed"),
    (
        3,
        "the gate could not judge: for one, too few runs, or another machine",
    ),
];

fn after_help() -> String {
    let statuses = EXIT_STATUS.map(|(status, meaning)| format!("\n  {status}  {meaning}"));
    let statuses = statuses.concat();
    format!("Examples:\n{EXAMPLE}\n{SPELLING}\n\nExit status:{statuses}")
}

const PROJECTION_HELP: &str = "\
Keys, separated by commas or spaces:
  .fullname     the benchmark's whole name
  .name         its name up to the first slash
  /key          the value of a part /key=value of its name
  /gomaxprocs   the number at the end of its name
  .file         the input's label
  .config       all configuration keys
  KEY           one configuration key, such as pkg or goos
An order may follow: KEY@alpha, KEY@num, KEY@(first second third);
the list also leaves out all other values.";

const FILTER_HELP: &str = "\
KEY:VALUE keeps the results with that value; .unit:VALUE keeps measurements.
VALUE is a word, a \"quoted word\", a /regular expression/, or a list
(a OR b). Combine with blanks (AND), OR, - (NOT) and parentheses:
  .name:Encode -/size:/k$/ (goos:linux OR goos:darwin)";

/// Tells whether a change made Go benchmarks faster or slower.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100, args_override_self = true, after_long_help = after_help())]
#[command(long_about = "\
Tells whether a change made Go benchmarks faster or slower.

Reads the output of `go test -bench`, one file for each side. Shows for each benchmark the median with its \
confidence interval, and for each file after the first the change with the probability that chance alone \
would show one as large. `~` stands for a change that may well be noise.")]
pub struct Args {
    /// Files with benchmark results: `path`, `label=path`, or `-` for standard input, which is also read when
    /// there is none
    #[arg(value_name = "INPUT", help_heading = "Input")]
    pub inputs: Vec<OsString>,

    /// Use only the results that match this query
    #[arg(
        long,
        value_name = "QUERY",
        default_value = "*",
        allow_hyphen_values = true,
        help_heading = "Input"
    )]
    #[arg(long_help = format!("Use only the results that match this query\n\n{FILTER_HELP}"))]
    pub filter: OsString,

    /// Refuse gzip data that unpacks to more than this, per input
    #[arg(
        long,
        value_name = "SIZE",
        default_value_t = MOST_UNPACKED,
        help_heading = "Input"
    )]
    pub max_unpacked: Size,

    /// Show one table for each value of this projection
    #[arg(
        long,
        value_name = "PROJECTION",
        default_value = ".config",
        allow_hyphen_values = true,
        help_heading = "Comparison"
    )]
    #[arg(long_help = format!("Show one table for each value of this projection\n\n{PROJECTION_HELP}"))]
    pub table: OsString,

    /// Show one row for each value of this projection
    #[arg(
        long,
        value_name = "PROJECTION",
        default_value = ".fullname",
        allow_hyphen_values = true,
        help_heading = "Comparison"
    )]
    pub row: OsString,

    /// Show one column for each value of this projection, and compare all with the first
    #[arg(
        long,
        value_name = "PROJECTION",
        default_value = ".file",
        allow_hyphen_values = true,
        help_heading = "Comparison"
    )]
    pub col: OsString,

    /// Pool results that differ in these keys only
    #[arg(
        long,
        value_name = "KEYS",
        default_value = "",
        allow_hyphen_values = true,
        help_heading = "Comparison"
    )]
    pub ignore: OsString,

    /// Call a change significant if its p-value is at most this, 0 to 1
    #[arg(
        long,
        value_name = "ALPHA",
        default_value = "0.05",
        allow_hyphen_values = true,
        help_heading = "Statistics"
    )]
    pub alpha: OsString,

    /// Confidence level of the ranges after `±`, 0 to 1
    #[arg(
        long,
        value_name = "LEVEL",
        default_value = "0.95",
        allow_hyphen_values = true,
        help_heading = "Statistics"
    )]
    pub confidence: OsString,

    /// Verdicts and the gate.
    #[command(flatten)]
    pub gate: GateArgs,

    /// What standard output shows
    #[arg(
        long,
        value_name = "FORMAT",
        default_value_t = Shown::Report(Format::Text),
        value_enum,
        help_heading = "Output"
    )]
    pub format: Shown,

    /// What is shown, how, and where it goes.
    #[command(flatten)]
    pub output: OutputArgs,

    /// Print no notes on standard error; errors and warnings about lines stay
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,

    /// Print a completion script for a shell, or the manual page, and do nothing else
    #[arg(long, value_name = "WHAT", help_heading = "Output")]
    pub generate: Option<Generated>,

    /// Flags that scripts may still use.
    #[command(flatten)]
    pub older: OlderArgs,
}

/// What standard output shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// A report.
    Report(Format),
    /// The selected results, compared with nothing.
    BenchmarkText,
}

impl ValueEnum for Shown {
    fn value_variants<'a>() -> &'a [Self] {
        const ALL: [Shown; Format::ALL.len() + 1] = {
            let mut all = [Shown::BenchmarkText; Format::ALL.len() + 1];
            let mut index = 0;
            while index < Format::ALL.len() {
                all[index] = Shown::Report(Format::ALL[index]);
                index += 1;
            }
            all
        };
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match self {
            Self::Report(format) => format.to_possible_value(),
            Self::BenchmarkText => Some(
                PossibleValue::new("bench")
                    .help("The selected results as benchmark text, compared with nothing"),
            ),
        }
    }
}

/// What can be generated from the definition of the arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Generated {
    /// Completions for bash
    Bash,
    /// Completions for elvish
    Elvish,
    /// Completions for fish
    Fish,
    /// Completions for PowerShell
    Powershell,
    /// Completions for zsh
    Zsh,
    /// The manual page
    Man,
}
