//! The command line: arguments in, exit status out.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use clap::error::ErrorKind;
use clap::{Args, CommandFactory, Parser, Subcommand};
use rbenchstat::record::WriteError;

use crate::compare;
use crate::consumer::Behaviour;
use crate::decision_log::settings::Settings;
use crate::decision_log::uploader::logs_url;
use crate::emit::Figures;
use crate::engine::EngineKind;
use crate::latency::Percentile;
use crate::load::{Arrival, Budget};
use crate::measure::{Conditions, Server};
use crate::plan::{Pattern, Plan};
use crate::request;
use crate::run;
use crate::scenario::{BuiltIn, Scenario};

const EXAMPLES: &str = "\
Examples:
  bench-harness -bench AuthorizeRequest -count 10 -benchtime 1s > new.txt
      the three scenarios without and with decision logs, ten times each
  bench-harness -bench Authorize/minimal/with -benchmem -cpu 1,2 --consumer
      one scenario with decision logs that a consumer on this machine takes
  bench-harness -bench EmptyFilter
      what the harness itself costs, without the filter
  bench-harness -bench Authorize/minimal -rate 5000 -benchtime 10s
      an open loop: latency counts from the moment a request was to start
  bench-harness --bundle bundle.tar.gz --decision authz/allow --requests r.jsonl
      your own policy and requests; a line of r.jsonl is
      {\"method\": \"GET\", \"path\": \"/x\", \"headers\": {\"a\": \"b\"}, \"expected\": true}
  bench-harness compare --old buffer_type=size --new buffer_type=event \\
                        --consumer -count 10 -o DIR
      two settings, interleaved A B B A, compared
  bench-harness compare --old-bin PATH --new-bin PATH -count 10 -o DIR
      two builds

Flags may have one dash, as in Go. Measurements go to standard output as they
are made; progress, notes and the decision logs' counters to standard error.
Exit status: 0; 2 after an error, and when a server of yours took no event at all;
130 when interrupted or terminated (what was measured is kept).";

/// Runs an authorization filter with and without decision logs, and writes Go
/// benchmark files for rbenchstat to compare.
#[derive(Parser, Debug)]
#[command(name = "bench-harness", version, after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
struct Arguments {
    #[command(flatten)]
    run: RunArguments,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Measures two settings, or two builds, interleaved, and compares them.
    #[command(after_help = EXAMPLES)]
    Compare(Box<CompareArguments>),
    /// Lists the benchmarks with a sentence each.
    List(Box<RunArguments>),
    /// Prints the requests of a scenario as JSON lines, as --requests reads them.
    Requests {
        /// minimal, with-body or jwt-validation
        scenario: String,
        /// Draws users, tokens and paths
        #[arg(long, value_name = "N", default_value_t = 1)]
        seed: u64,
    },
}

/// What a run measures, and how.
#[derive(Args, Clone, Debug)]
pub struct RunArguments {
    /// Benchmarks to run: a regular expression for each part between slashes, as in Go
    /// [default: `AuthorizeRequest`, and all for list]
    #[arg(long, value_name = "REGEX")]
    pub bench: Option<String>,
    /// How often to measure each benchmark
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub count: u32,
    /// How much to measure: a time such as 3s, or a number of operations such as 1000x
    #[arg(long, value_name = "TIME", default_value = "1s")]
    pub benchtime: String,
    /// Numbers of workers, one after the other [default: one less than there are cores, at least 1]
    #[arg(long, value_name = "N,…", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=200))]
    pub cpu: Vec<u32>,
    /// Print bytes and allocations
    #[arg(long)]
    pub benchmem: bool,
    /// Percentiles of the latency to print; none for an empty list
    #[arg(long, value_name = "P,…", default_value = "50,99,99.5,99.9")]
    pub percentiles: String,
    /// Open loop: start this many operations a second, whatever the filter does
    #[arg(long, value_name = "N")]
    pub rate: Option<f64>,
    /// Draws users, tokens, paths and the uploader's delays
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// How policies are evaluated
    #[arg(long, value_enum, default_value = "rvm")]
    pub engine: EngineKind,
    /// How long to run before measuring [default: a tenth of the benchtime, 50ms … 1s]
    #[arg(long, value_name = "TIME")]
    pub warmup: Option<String>,
    /// Settings of the decision logs under OPA's names, such as `buffer_type=event`
    #[arg(long, value_name = "SETTINGS", default_value = "")]
    pub settings: String,
    /// Send decision logs to a consumer on 127.0.0.1 that checks and counts them
    #[arg(long, conflicts_with = "upload_to")]
    pub consumer: bool,
    /// A consumer that waits this long before it answers
    #[arg(long, value_name = "TIME", conflicts_with = "upload_to")]
    pub consumer_delay: Option<String>,
    /// A consumer that fails every N-th upload
    #[arg(long, value_name = "N", conflicts_with = "upload_to")]
    pub consumer_fail: Option<u64>,
    /// Send decision logs to a server of yours (http only)
    #[arg(long, value_name = "URL")]
    pub upload_to: Option<String>,
    /// How long the last upload may take at the end of a measurement
    #[arg(long, value_name = "TIME", default_value = "5s")]
    pub shutdown_grace: String,
    /// Your own policy: a directory or an OPA bundle (.tar.gz)
    #[arg(long, value_name = "PATH", requires = "requests")]
    pub bundle: Option<PathBuf>,
    /// The rule that decides, in your own policy
    #[arg(long, value_name = "PATH/TO/RULE", default_value = "envoy/authz/allow")]
    pub decision: String,
    /// Your own requests, as JSON lines: method, path, host, headers, body, expected
    #[arg(long, value_name = "FILE", requires = "bundle")]
    pub requests: Option<PathBuf>,
    /// Another Rego file, such as one with system.log.mask or system.log.drop
    #[arg(long, value_name = "FILE")]
    pub log_policy: Option<PathBuf>,
    /// The longest request body that is read
    #[arg(long, value_name = "BYTES", default_value_t = 1 << 20)]
    pub body_limit: usize,
}

/// What `compare` adds.
#[derive(Args, Clone, Debug)]
pub struct CompareArguments {
    /// Settings of the old side, in addition to --settings
    #[arg(long, value_name = "SETTINGS", required_unless_present = "old_bin", conflicts_with_all = ["old_bin", "new_bin"])]
    pub old: Option<String>,
    /// Settings of the new side, in addition to --settings
    #[arg(long, value_name = "SETTINGS", required_unless_present = "new_bin", conflicts_with_all = ["old_bin", "new_bin"])]
    pub new: Option<String>,
    /// A bench-harness built from the old sources
    #[arg(long, value_name = "PATH", requires = "new_bin")]
    pub old_bin: Option<PathBuf>,
    /// A bench-harness built from the new sources
    #[arg(long, value_name = "PATH", requires = "old_bin")]
    pub new_bin: Option<PathBuf>,
    /// The directory that gets old.txt and new.txt
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
    /// The same as without compare.
    #[command(flatten)]
    pub run: RunArguments,
}

/// What the program talks to.
pub struct Streams<'a> {
    /// Measurements.
    pub stdout: &'a mut dyn Write,
    /// Progress, notes, counters, errors.
    pub stderr: &'a mut dyn Write,
    /// Whether somebody watches `stderr`.
    pub stderr_is_terminal: bool,
    /// Set to end early.
    pub stop: &'a AtomicBool,
}

/// How the program ends: 0, 2 after an error, 130 when interrupted.
pub type Status = u8;

/// The status after an error.
pub const FAILURE: Status = 2;
/// The status after an interruption.
pub const INTERRUPTED: Status = 130;

/// Runs the program with its arguments, of which the first is its own name.
pub fn run(arguments: impl IntoIterator<Item = OsString>, streams: &mut Streams<'_>) -> Status {
    let arguments = rbenchstat::cli::goflags::rewrite(arguments, &Arguments::command());
    let typed: Vec<String> = arguments
        .iter()
        .skip(1)
        .map(|argument| quoted(&argument.to_string_lossy()))
        .collect();
    let outcome = match Arguments::try_parse_from(&arguments) {
        Ok(parsed) => {
            let mut stdout = Named {
                inner: &mut *streams.stdout,
                name: "standard output".to_owned(),
            };
            let mut streams = Streams {
                stdout: &mut stdout,
                stderr: &mut *streams.stderr,
                ..*streams
            };
            act(&parsed, &without_passwords(&typed.join(" ")), &mut streams)
        }
        Err(error) => return tell(&error, streams),
    };
    match outcome {
        Ok(status) => status,
        Err(error) => {
            // Whoever read the output has seen enough.
            if is_closed_pipe(&error) {
                return 0;
            }
            // With standard error gone too, the exit status alone tells.
            let _ = writeln!(streams.stderr, "bench-harness: {error:#}");
            FAILURE
        }
    }
}

/// A writer whose errors say what could not be written.
pub struct Named<W> {
    /// What is written to.
    pub inner: W,
    /// What errors call it.
    pub name: String,
}

impl<W> Named<W> {
    fn named<T>(&self, outcome: io::Result<T>) -> io::Result<T> {
        outcome.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", self.name)))
    }
}

impl<W: Write> Write for Named<W> {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        let outcome = self.inner.write(text);
        self.named(outcome)
    }

    fn flush(&mut self) -> io::Result<()> {
        let outcome = self.inner.flush();
        self.named(outcome)
    }
}

/// Takes `user:password@` out of every URL in `text`: result files are passed on.
#[must_use]
pub fn without_passwords(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("://") {
        let (before, after) = rest.split_at(start + 3);
        clean.push_str(before);
        let end = after
            .find(|letter: char| "/?# '\"".contains(letter))
            .unwrap_or(after.len());
        rest = after[..end].rfind('@').map_or(after, |at| &after[at + 1..]);
    }
    clean + rest
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    // A transparent error hides the one inside from anyhow, and from the chain of sources too.
    let error = match error.downcast_ref::<WriteError>() {
        Some(WriteError::Io(error)) => Some(error),
        _ => error.downcast_ref::<io::Error>(),
    };
    error.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

fn tell(error: &clap::Error, streams: &mut Streams<'_>) -> Status {
    let text = error.render().to_string();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            let _ = streams.stdout.write_all(text.as_bytes());
            0
        }
        _ => {
            let _ = streams.stderr.write_all(text.as_bytes());
            FAILURE
        }
    }
}

fn act(arguments: &Arguments, typed: &str, streams: &mut Streams<'_>) -> Result<Status> {
    match &arguments.command {
        None => {
            let options = Options::new(&arguments.run, typed)?;
            let settings = options.settings("")?;
            run::run(&options, &settings, streams)
        }
        Some(Command::List(arguments)) => {
            let mut arguments = arguments.clone();
            arguments.bench.get_or_insert_with(|| ".".to_owned());
            let options = Options::new(&arguments, typed)?;
            run::list(&options, streams)?;
            Ok(0)
        }
        Some(Command::Requests { scenario, seed }) => {
            let known = BuiltIn::ALL.into_iter().find(|one| one.name() == scenario);
            let known = known.with_context(|| {
                format!("no scenario is called {scenario:?}; `bench-harness list` shows all")
            })?;
            request::write(&request::draw(known, *seed)?, streams.stdout)?;
            Ok(0)
        }
        Some(Command::Compare(arguments)) => {
            let options = Options::new(&arguments.run, typed)?;
            compare::compare(arguments, &options, streams)
        }
    }
}

/// The arguments, read and checked.
#[derive(Debug)]
pub struct Options {
    /// As typed, for the comment lines.
    pub typed: String,
    /// What is measured.
    pub plan: Plan,
    /// How.
    pub conditions: Conditions,
    /// How often.
    pub count: u32,
    /// What is printed.
    pub figures: Figures,
    /// Seed of everything drawn.
    pub seed: u64,
    common_settings: String,
}

impl Options {
    /// Reads and checks `arguments`.
    ///
    /// # Errors
    /// With the flag, or the file and line, that makes no sense.
    pub fn new(arguments: &RunArguments, typed: &str) -> Result<Self> {
        let bench = arguments.bench.as_deref().unwrap_or("AuthorizeRequest");
        let budget = parse_budget(&arguments.benchtime).context("-benchtime")?;
        let arrival = match arguments.rate {
            None => Arrival::Closed,
            Some(rate) if (SLOWEST..=FASTEST).contains(&rate) => Arrival::Open(rate),
            Some(rate) => bail!(
                "-rate {rate}: a rate is at least {SLOWEST} and at most {FASTEST} operations a second"
            ),
        };
        let warm_up = match (&arguments.warmup, budget) {
            (Some(text), _) => parse_duration(text).context("-warmup")?,
            (None, Budget::Time(time)) => {
                (time / 10).clamp(Duration::from_millis(50), Duration::from_secs(1))
            }
            (None, Budget::Operations(_)) => Duration::from_millis(100),
        };
        let percentiles = arguments
            .percentiles
            .split(',')
            .filter(|text| !text.trim().is_empty())
            .map(Percentile::parse)
            .collect::<Result<Vec<_>>>()
            .context("-percentiles")?;
        let server = server(arguments)?;
        let pattern = Pattern::parse(bench).context("-bench")?;
        let mut scenarios = match (&arguments.bundle, &arguments.requests) {
            (Some(bundle), Some(requests)) => {
                vec![Scenario::load(bundle, &arguments.decision, requests)?]
            }
            // Signing tokens takes a while: not for scenarios nobody asked for.
            _ => BuiltIn::ALL
                .into_iter()
                .filter(|scenario| pattern.may_match_scenario(scenario.name()))
                .map(|scenario| Scenario::built_in(scenario, arguments.seed))
                .collect::<Result<Vec<_>>>()?,
        };
        if let Some(file) = &arguments.log_policy {
            for scenario in &mut scenarios {
                scenario.policy.add_file(file)?;
            }
        }
        let workers = if arguments.cpu.is_empty() {
            vec![default_workers()]
        } else {
            arguments.cpu.clone()
        };
        let plan = Plan::new(scenarios, &workers, arguments.rate, &pattern);
        ensure!(
            !plan.cases.is_empty(),
            "-bench {bench:?} matches no benchmark; write a slash before a scenario, as in /minimal \
             (`bench-harness list` shows all)"
        );
        Ok(Self {
            typed: typed.to_owned(),
            plan,
            conditions: Conditions {
                engine: arguments.engine,
                budget,
                warm_up,
                arrival,
                server,
                grace: parse_duration(&arguments.shutdown_grace).context("-shutdown-grace")?,
                body_limit: arguments.body_limit,
                seed: arguments.seed,
            },
            count: arguments.count,
            figures: Figures {
                percentiles,
                memory: arguments.benchmem,
                rate: arguments.rate,
            },
            seed: arguments.seed,
            common_settings: arguments.settings.clone(),
        })
    }

    /// The settings of `--settings`, then of `side`.
    ///
    /// # Errors
    /// With the setting that makes no sense.
    pub fn settings(&self, side: &str) -> Result<Settings> {
        let consumed = !matches!(self.conditions.server, Server::None);
        Settings::parse(&format!("{} {side}", self.common_settings), consumed)
    }
}

fn server(arguments: &RunArguments) -> Result<Server> {
    let fail_every = match arguments.consumer_fail {
        Some(0) => bail!("-consumer-fail 0: write 2 to fail every other upload"),
        other => other.unwrap_or(0),
    };
    let delay = match &arguments.consumer_delay {
        Some(text) => parse_duration(text).context("-consumer-delay")?,
        None => Duration::ZERO,
    };
    let wanted = arguments.consumer
        || arguments.consumer_delay.is_some()
        || arguments.consumer_fail.is_some();
    Ok(match &arguments.upload_to {
        Some(url) => {
            logs_url(url).context("-upload-to")?;
            Server::Url(url.clone())
        }
        None if wanted => Server::Consumer(Behaviour { delay, fail_every }),
        None => Server::None,
    })
}

/// Rates of an open loop, in operations a second. Below, a single wait would last a day.
const SLOWEST: f64 = 0.001;
const FASTEST: f64 = 1e7;

/// The longest time that can be asked for, a year: sums of a few of them still fit a clock.
pub const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);

/// One core is for the uploader and everything else on the machine: a worker
/// that has to share its core measures the scheduler.
fn default_workers() -> u32 {
    let cores = cores();
    cores.saturating_sub(1).max(1)
}

/// How many cores there are.
#[must_use]
pub fn cores() -> u32 {
    std::thread::available_parallelism()
        .ok()
        .and_then(|cores| u32::try_from(cores.get()).ok())
        .unwrap_or(1)
}

/// Reads `3s` or `1000x`.
fn parse_budget(text: &str) -> Result<Budget> {
    if let Some(number) = text.strip_suffix('x') {
        return match number.parse::<u64>() {
            Ok(operations) if operations > 0 => Ok(Budget::Operations(operations)),
            _ => bail!("{text:?} is no number of operations; write 1000x"),
        };
    }
    let time = parse_duration(text)?;
    ensure!(!time.is_zero(), "{text:?} is no time to measure in");
    Ok(Budget::Time(time))
}

/// Reads a time as Go writes it: `1.5s`, `2m30s`, `100ms`.
///
/// # Errors
/// When it is none, or negative.
pub fn parse_duration(text: &str) -> Result<Duration> {
    if text == "0" {
        return Ok(Duration::ZERO);
    }
    let wrong = || format!("{text:?} is no time; write 100ms, 3s or 1m30s");
    let mut rest = text;
    let mut total = Duration::ZERO;
    while !rest.is_empty() {
        let digits = rest
            .find(|letter: char| !letter.is_ascii_digit() && letter != '.')
            .with_context(wrong)?;
        let (number, after) = rest.split_at(digits);
        let end = after
            .find(|letter: char| letter.is_ascii_digit() || letter == '.')
            .unwrap_or(after.len());
        let (unit, after) = after.split_at(end);
        let seconds = match unit {
            "ns" => 1e-9,
            "us" | "µs" | "μs" => 1e-6,
            "ms" => 1e-3,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            _ => bail!(wrong()),
        };
        let number: f64 = number.parse().ok().with_context(wrong)?;
        let part = Duration::try_from_secs_f64(number * seconds)
            .ok()
            .with_context(wrong)?;
        total = total.checked_add(part).with_context(wrong)?;
        rest = after;
    }
    ensure!(!text.is_empty(), wrong());
    ensure!(total <= LONGEST, "{text:?} is more than a year (8760h)");
    Ok(total)
}

/// As a shell would want it back.
fn quoted(argument: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || "-_=./,:@%+".contains(letter);
    if !argument.is_empty() && argument.chars().all(plain) {
        argument.to_owned()
    } else {
        format!("'{}'", argument.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn times_read_as_go_writes_them() {
        for (text, milliseconds) in [
            ("1.5s", 1_500),
            ("2m30s", 150_000),
            ("100ms", 100),
            ("0", 0),
        ] {
            assert_eq!(parse_duration(text).unwrap().as_millis(), milliseconds);
        }
        for text in ["", "3", "s", "-1s", "1x", "1.2.3s", "1s2", "8761h", "1e9h"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_budget_is_a_time_or_a_number_of_operations() {
        assert_eq!(
            parse_budget("3s").unwrap(),
            Budget::Time(Duration::from_secs(3))
        );
        assert_eq!(parse_budget("1000x").unwrap(), Budget::Operations(1000));
        for text in ["0x", "x", "0s", "10"] {
            assert!(parse_budget(text).is_err(), "{text}");
        }
    }

    #[test]
    fn user_and_password_of_a_url_are_taken_out() {
        for (text, clean) in [
            (
                "--upload-to=http://me:secret@h:8/a@b",
                "--upload-to=http://h:8/a@b",
            ),
            ("http://h/a http://u:p@g", "http://h/a http://g"),
            ("'http://u:p@q@g/x'", "'http://g/x'"),
            ("no URL @ all", "no URL @ all"),
        ] {
            assert_eq!(without_passwords(text), clean);
        }
    }

    #[test]
    fn arguments_are_quoted_for_a_shell() {
        assert_eq!(quoted("-count"), "-count");
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
    }
}
