//! What is measured and how: the arguments, and what they come to.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;

use crate::consumer::Behaviour;
use crate::decision_log::settings::Settings;
use crate::decision_log::uploader::logs_url;
use crate::duration::parse_duration;
use crate::emit::Figures;
use crate::engine::EngineKind;
use crate::latency::Percentile;
use crate::load::{Arrival, Budget};
use crate::measure::{Conditions, Server};
use crate::plan::{Pattern, Plan};
use crate::scenario::{BuiltIn, Scenario};

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

#[cfg(test)]
mod tests {
    use super::*;

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
}
