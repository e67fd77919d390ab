//! `rbenchstat run`: its arguments, and what it tells meanwhile.

use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Command, CommandFactory};

use super::args::Args;
use super::options::Options;
use super::stages::{self, RoundCounts};
use super::words::time;
use crate::measure::{
    self, Bases, Folder, GoWork, Listener, MeasureError, Plan, Progress, Session, Work, machine,
};
use crate::render::escape;

const EXAMPLE: &str = "\
What follows -- is given to `go test -c`: rbenchstat run -- -race

Examples:
  rbenchstat run                        the working tree against where it branched off
  rbenchstat run v1.4.0 -exact-base     against a release
  rbenchstat run -fail-on regression    as a gate
  rbenchstat run -bench Encode -packages ./wire -count 20
  rbenchstat run -command './bench.sh'  what is no Go benchmark

Exit status:
  0    the results are there, and the gate, if there is one, passed
  1    the gate failed
  2    wrong usage, or something that failed
  3    the gate could not judge
  130  interrupted; what was measured is shown all the same";

/// The arguments that only `run` has.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Measuring")]
pub struct MeasureArgs {
    /// Judge this commit, in a checkout of its own, and not the working tree as it is
    #[arg(long, value_name = "COMMIT")]
    head: Option<String>,

    /// Compare with BASE itself, and not with where the head branched off it
    #[arg(long, requires = "inputs")]
    exact_base: bool,

    /// Compare with the last tag before the head
    #[arg(long, conflicts_with = "inputs")]
    against_tag: bool,

    /// How many rounds: in each, every benchmark runs once on each side
    #[arg(long, value_name = "ROUNDS", default_value_t = 10)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    count: u32,

    /// End early from this round on, where every verdict is decided
    #[arg(long, value_name = "ROUNDS", default_value_t = 6)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    min_count: u32,

    /// Measure rows in doubt again, in up to so many fresh rounds; 0 for never [default: twice -count]
    #[arg(long, value_name = "ROUNDS")]
    #[arg(value_parser = clap::value_parser!(u32).range(0..=2_000_000))]
    max_count: Option<u32>,

    /// Which benchmarks, as `go test -bench`
    #[arg(
        long,
        value_name = "REGEXP",
        default_value = ".",
        allow_hyphen_values = true
    )]
    bench: String,

    /// How long or how often one runs in a round, as `go test -benchtime`: `2s`, `100x`
    #[arg(long, value_name = "TIME")]
    benchtime: Option<String>,

    /// With how many processors, as `go test -cpu`: `1,4`
    #[arg(long, value_name = "LIST")]
    cpu: Option<String>,

    /// Which packages, separated by commas or blanks
    #[arg(long, value_name = "PATTERNS", default_value = "./...")]
    packages: Vec<String>,

    /// Build tags, as `go build -tags`
    #[arg(long, value_name = "TAGS")]
    tags: Option<String>,

    /// Measure packages too whose programs are the same on all sides
    #[arg(long)]
    all_packages: bool,

    /// Run this command of the shell in each side's folder in each round, in place of Go's benchmarks
    #[arg(
        long,
        value_name = "COMMAND",
        long_help = "\
Run this command of the shell in each side's folder in each round, in place of Go's benchmarks

It prints results in Go's format, or writes them to the file $RBENCHSTAT_OUT. $RBENCHSTAT_SIDE is base or head, \
$RBENCHSTAT_ROUND counts from 1, and $RBENCHSTAT_BENCH says which benchmarks are wanted, as `go test -bench`."
    )]
    #[arg(conflicts_with_all = ["bench", "benchtime", "cpu", "packages", "tags", "all_packages"])]
    command: Option<String>,

    /// Run this command of the shell once in each side's folder, before anything is built
    #[arg(long, value_name = "COMMAND")]
    setup: Option<String>,

    /// End a program, and what it started, that runs longer than this in one round: `90s`, `10m`
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = time)]
    timeout: Duration,

    /// Write the results to base.txt and head.txt in this folder
    #[arg(long, value_name = "FOLDER", default_value = "rbenchstat-run")]
    into: PathBuf,

    /// Further flags for `go test -c`, after two dashes: clap has no word for a second list without a flag.
    #[arg(skip)]
    pub build_flags: Vec<OsString>,
}

/// What the first argument means.
pub enum Invocation {
    /// Compare files.
    Compare,
    /// Compare files, one of which is called as the command is.
    CompareFile,
    /// Measure, and compare that.
    Measure,
}

impl Invocation {
    /// Looks at the first argument after the program's name.
    pub fn by(arguments: &[OsString]) -> Self {
        let path = Path::new("run");
        match arguments.get(1).and_then(|first| first.to_str()) {
            // A folder cannot be read, so that it cannot be meant.
            Some("run") if path.exists() && !path.is_dir() => Self::CompareFile,
            Some("run" | "-run" | "--run") => Self::Measure,
            _ => Self::Compare,
        }
    }
}

/// The command with what `run` adds to it.
pub fn command() -> Command {
    <MeasureArgs as clap::Args>::augment_args(
        // The short help has the flags about measuring.
        Args::command().mut_args(|argument| argument.hide_short_help(true)),
    )
        .name("rbenchstat run")
        .bin_name("rbenchstat run")
        .about("Measures the benchmarks of a Go module on two commits in turns, and compares them")
        .long_about(
            "Measures the benchmarks of a Go module on two commits in turns, and compares them.\n\n\
             The head is the working tree as it is; the base is where it branched off the default branch. \
             All flags of rbenchstat itself work here too.",
        )
        .after_help(EXAMPLE)
        .mut_arg("inputs", |inputs| {
            inputs
                .value_name("BASE")
                .help("What to compare with: where the head branched off this branch or commit [default: off the default branch]")
                .help_heading("Measuring")
        })
}

impl MeasureArgs {
    fn counts(&self) -> RoundCounts {
        let most = self.max_count.unwrap_or(2 * self.count);
        RoundCounts {
            least: self.min_count as usize,
            usual: self.count as usize,
            most: most as usize,
        }
    }

    fn plan(&self, bases: &[OsString]) -> Result<Plan, MeasureError> {
        let as_text = |base: &OsString| {
            let text = base.to_str().map(str::to_owned);
            text.ok_or_else(|| MeasureError::Refused(format!("{} is not UTF-8", base.display())))
        };
        let bases = match bases {
            _ if self.against_tag => Bases::LastTag,
            [] => Bases::Default,
            names => Bases::Named(names.iter().map(as_text).collect::<Result<_, _>>()?),
        };
        let packages = self.packages.iter().flat_map(|list| list.split([',', ' ']));
        let work = match &self.command {
            Some(command) => Work::Command(command.clone()),
            None => Work::Go(GoWork {
                bench: self.bench.clone(),
                benchtime: self.benchtime.clone(),
                cpu: self.cpu.clone(),
                tags: self.tags.clone(),
                packages: packages
                    .filter(|pattern| !pattern.is_empty())
                    .map(str::to_owned)
                    .collect(),
                build_flags: self
                    .build_flags
                    .iter()
                    .map(as_text)
                    .collect::<Result<_, _>>()?,
                measures_same: self.all_packages,
            }),
        };
        Ok(Plan {
            bases,
            exact_base: self.exact_base,
            head: self.head.clone(),
            setup: self.setup.clone(),
            work,
            timeout: self.timeout,
        })
    }
}

/// What measuring led to.
pub struct Measured {
    /// The inputs to compare, as typed on a command line.
    pub inputs: Vec<OsString>,
    /// Whether all sides are the same programs, so that there is nothing to compare.
    pub is_all_the_same: bool,
    /// Whether somebody ended it early.
    pub is_interrupted: bool,
    /// Whether the head has the first benchmarks that there are.
    pub are_the_first: bool,
    /// The level that is left for verdicts, where looking at unfinished measurements cost some of it.
    pub alpha: Option<f64>,
}

/// Measures what the arguments ask for.
pub fn measure(
    args: &MeasureArgs,
    bases: &[OsString],
    options: &Options,
    stderr: &mut dyn Write,
) -> Result<Measured, MeasureError> {
    let quiet = options.quiet;
    let plan = args.plan(bases)?;
    let here = std::env::current_dir().map_err(|error| MeasureError::File {
        path: ".".into(),
        error,
    })?;
    measure::heed_interrupts();
    let mut teller = MeasureMessages {
        stderr,
        quiet,
        shows_progress: io::stderr().is_terminal() && !quiet,
        stands: false,
    };
    for remark in if quiet {
        Vec::new()
    } else {
        machine::remarks()
    } {
        teller.note(&remark);
    }
    let folder = Folder::claim(&args.into)?;
    let mut session = Session::prepare(&here, &plan, folder, &mut teller)?;
    let files = session.files();
    let inputs: Vec<OsString> = files
        .iter()
        .map(|(label, file)| input(label, file))
        .collect();
    let rounds = stages::measure(&mut session, args.counts(), options, &inputs, &mut teller)?;
    teller.clear();
    if !rounds.is_complete {
        if session.rounds() == 0 {
            return Err(MeasureError::Interrupted);
        }
        teller.say(&interrupted(&session, args.count));
    }
    if session.are_the_first() {
        teller.note("the base has no benchmarks, so there is nothing to compare these with");
    }
    Ok(Measured {
        inputs,
        is_all_the_same: session.is_all_the_same(),
        are_the_first: session.are_the_first(),
        is_interrupted: !rounds.is_complete,
        alpha: rounds.alpha,
    })
}

fn interrupted(session: &Session, count: u32) -> String {
    let rounds = session.rounds();
    if session.is_measuring_again() {
        return format!(
            "interrupted after {rounds} rounds: what was measured until then is compared"
        );
    }
    format!("interrupted: {rounds} of {count} rounds are compared")
}

/// `label=path`.
fn input(label: &str, file: &Path) -> OsString {
    let mut input = OsString::from(label);
    input.push(OsStr::new("="));
    input.push(file);
    input
}

/// Tells on standard error how it goes.
struct MeasureMessages<'s> {
    stderr: &'s mut dyn Write,
    quiet: bool,
    shows_progress: bool,
    /// Whether a line stands there that the next one replaces.
    stands: bool,
}

impl MeasureMessages<'_> {
    fn clear(&mut self) {
        if std::mem::take(&mut self.stands) {
            let _ = write!(self.stderr, "\r\x1b[K");
        }
    }
}

impl Listener for MeasureMessages<'_> {
    fn note(&mut self, line: &str) {
        if !self.quiet {
            self.say(line);
        }
    }

    fn say(&mut self, line: &str) {
        self.clear();
        for line in line.lines() {
            // With standard error gone, the files and the exit status still tell.
            let _ = writeln!(self.stderr, "{}", escape::terminal(line.into()));
        }
    }

    fn progress(&mut self, progress: &Progress, doing: &str) {
        if !self.shows_progress {
            return;
        }
        self.clear();
        let line = format!(
            "round {} of {} · {doing}{}",
            progress.round,
            progress.rounds,
            progress.words_left()
        );
        let line: String = line.chars().take(78).collect();
        let _ = write!(self.stderr, "{}", escape::terminal(line.as_str().into()));
        let _ = self.stderr.flush();
        self.stands = true;
    }
}
