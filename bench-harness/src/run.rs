//! A run: every case, every count, and where the events went.

use std::fmt::Write as _;
use std::io::Write;

use anyhow::{Result, ensure};

use crate::address::without_passwords;
use crate::allocation::ALLOCATOR;
use crate::consumer::Counts;
use crate::decision_log::settings::Settings;
use crate::decision_log::size_buffer::Dropped;
use crate::decision_log::{Account, Tally};
use crate::emit;
use crate::engine::REGORUS_VERSION;
use crate::latency::measure_overhead;
use crate::load::{Arrival, Budget};
use crate::measure::{self, Case, Ledger, Measurement, Server};
use crate::options::{Options, cores};
use crate::plan::PlannedCase;
use crate::progress::Progress;
use crate::streams::{INTERRUPTED, Status, Streams};
use crate::token::JSONWEBTOKEN_VERSION;

/// Measures all cases `count` times and writes the lines to standard output.
///
/// Counts are the outer loop: what drifts with time then spreads over all cases.
///
/// # Errors
/// When a policy, a request, a decision or the account of events is wrong.
pub fn run(options: &Options, settings: &Settings, streams: &mut Streams<'_>) -> Result<Status> {
    prepare(options, streams)?;
    header(options, streams.stdout)?;
    describe_settings(streams.stdout, "", settings)?;
    emit::configuration(streams.stdout)?;
    streams.stdout.flush()?;
    let mut progress = Progress::new(
        streams.stderr_is_terminal,
        options.count * u32::try_from(options.plan.cases.len())?,
        &options.conditions,
    );
    let mut table = Table::default();
    let mut notes = Notes::default();
    for _ in 0..options.count {
        for case in &options.plan.cases {
            let outcome = one(options, case, settings, streams, &progress)?;
            let Some((measurement, ledger)) = outcome else {
                progress.clear(streams.stderr);
                emit::comment(streams.stdout, "interrupted: the rest was not measured")?;
                table.write(streams.stderr);
                return Ok(INTERRUPTED);
            };
            progress.clear(streams.stderr);
            let left_out =
                emit::measurement(streams.stdout, &case.name, &measurement, &options.figures)?;
            notes.tell(streams.stderr, left_out);
            table.add(&case.name.full(), ledger.as_ref());
            progress.advance();
        }
    }
    table.write(streams.stderr);
    table.ensure_taken(&options.conditions.server)?;
    Ok(0)
}

/// Measures one case once.
///
/// # Errors
/// As [`measure::measure`].
pub fn one(
    options: &Options,
    case: &PlannedCase,
    settings: &Settings,
    streams: &mut Streams<'_>,
    progress: &Progress,
) -> Result<Option<(Measurement, Option<Ledger>)>> {
    let name = case.name.full();
    let stderr = &mut *streams.stderr;
    let measured = measure::measure(
        &Case {
            scenario: &options.plan.scenarios[case.scenario],
            log: case.log.then_some(settings),
            empty: case.empty,
            workers: case.workers,
        },
        &options.conditions,
        streams.stop,
        &mut || progress.show(stderr, &name),
    );
    measured.map_err(|error| {
        progress.clear(streams.stderr);
        error.context(name)
    })
}

/// Decides every request once and warns of what would mislead.
///
/// # Errors
/// With the policy that does not compile or the request that is decided wrongly.
pub fn prepare(options: &Options, streams: &mut Streams<'_>) -> Result<()> {
    let conditions = &options.conditions;
    for (index, scenario) in options.plan.scenarios.iter().enumerate() {
        let needed = |case: &PlannedCase| case.scenario == index && !case.empty;
        if options.plan.cases.iter().any(needed) {
            measure::rehearse(scenario, conditions.engine, conditions.body_limit)?;
        }
    }
    let cores = cores();
    let crowded = |case: &PlannedCase| case.log && case.workers >= cores;
    if options.plan.cases.iter().any(crowded) {
        // A closed pipe behind standard error must not end the run.
        let _ = writeln!(
            streams.stderr,
            "bench-harness: warning: with decision logs and as many workers as cores ({cores}), P99.9 shows \
             the scheduler; use -cpu {} or less",
            cores.saturating_sub(1).max(1)
        );
    }
    Ok(())
}

/// Everything needed to repeat the run, in lines that readers ignore.
///
/// # Errors
/// When `out` fails.
pub fn header(options: &Options, out: &mut dyn Write) -> Result<()> {
    let conditions = &options.conditions;
    let overhead = measure_overhead()?;
    let budget = match conditions.budget {
        Budget::Time(time) => format!("{time:?}"),
        Budget::Operations(operations) => format!("{operations} operations"),
    };
    let arrival = match conditions.arrival {
        Arrival::Closed => "closed loop".to_owned(),
        Arrival::Open(rate) => {
            format!("open loop, {rate} operations/s, latency from the intended start")
        }
    };
    let server = match &conditions.server {
        Server::None => "none: nothing is uploaded".to_owned(),
        Server::Consumer(behaviour) => format!(
            "consumer on 127.0.0.1, answers after {:?}, fails {}",
            behaviour.delay,
            match behaviour.fail_every {
                0 => "never".to_owned(),
                1 => "always".to_owned(),
                2 => "every other upload".to_owned(),
                every => format!("one upload in {every}"),
            }
        ),
        Server::Url(url) => without_passwords(url),
    };
    emit::comment(
        out,
        &format!(
            "bench-harness {version} {typed}\n\
             seed {seed}, engine {engine}, regorus {REGORUS_VERSION}, jsonwebtoken {JSONWEBTOKEN_VERSION}, \
             allocator {ALLOCATOR}\n\
             {arrival}, {budget} after {warm_up:?} of warm-up, {cores} cores\n\
             decision log server: {server}\n\
             measuring costs {clock:.1} ns a clock reading (two an operation) and {histogram:.1} ns a histogram entry",
            version = env!("CARGO_PKG_VERSION"),
            typed = options.typed,
            seed = options.seed,
            engine = conditions.engine.name(),
            warm_up = conditions.warm_up,
            cores = cores(),
            clock = overhead.clock,
            histogram = overhead.histogram,
        ),
    )?;
    Ok(())
}

/// The decision logs' settings in force, as a comment.
///
/// # Errors
/// When `out` fails.
pub fn describe_settings(out: &mut dyn Write, side: &str, settings: &Settings) -> Result<()> {
    emit::comment(out, &format!("{side}decision log settings: {settings}"))?;
    Ok(())
}

/// Prints every benchmark that the pattern selects.
///
/// # Errors
/// When standard output fails.
pub fn list(options: &Options, streams: &mut Streams<'_>) -> Result<()> {
    let mut seen = Vec::new();
    for case in &options.plan.cases {
        if !seen.contains(&&case.name.stem) {
            writeln!(streams.stdout, "{}\n    {}", case.name.stem, case.sentence)?;
            seen.push(&case.name.stem);
        }
    }
    Ok(())
}

/// Notes on standard error, each once.
#[derive(Debug, Default)]
pub struct Notes {
    told: Vec<String>,
}

impl Notes {
    /// Tells what was not told yet. What differs in the number of operations only is the same note.
    pub fn tell(&mut self, stderr: &mut dyn Write, notes: Vec<String>) {
        for note in notes {
            let start = note.split(':').next().unwrap_or_default().to_owned();
            if !self.told.contains(&start) {
                let _ = writeln!(stderr, "bench-harness: note: {note}");
                self.told.push(start);
            }
        }
    }
}

/// A log that lost this share of its events did less than it was asked to.
const NOTICEABLE: f64 = 0.01;

/// What is to be said of a log that lost events, or that nobody listened to.
fn loss(ledger: &Ledger) -> Option<String> {
    let account = &ledger.account;
    let accepted = account.tally.accepted;
    let lost = account.dropped_events() - account.tally.dropped_by_policy;
    if accepted > 0 && ledger.has_server && account.uploaded == 0 {
        return Some(format!("the server took none of the {accepted} events"));
    }
    let share = lost as f64 / accepted as f64;
    (share >= NOTICEABLE).then(|| {
        format!(
            "{:.0} % of the events were lost; what is lost is not sent, and may not have been encoded, so this \
             log did less than one that loses nothing",
            share * 100.0
        )
    })
}

/// The columns of the table of events. Its rows are read back from other builds by these names.
const COLUMNS: [&str; 11] = [
    "decision log events",
    "accepted",
    "= uploaded",
    "+ buffered",
    "+ full",
    "+ too large",
    "+ rate",
    "+ policy",
    "+ failed policy",
    "refused uploads",
    "consumer has",
];

/// Reads a table of events that another build has written.
pub struct TableReader<'a> {
    table: &'a mut Table,
    columns: Option<Vec<String>>,
}

impl TableReader<'_> {
    /// Adds a row to the table; whether `line` was one, or the columns' names.
    pub fn read(&mut self, line: &str) -> bool {
        let cells: Vec<&str> = line
            .split("  ")
            .map(str::trim)
            .filter(|cell| !cell.is_empty())
            .collect();
        if cells.first() == COLUMNS.first() {
            self.columns = Some(cells.into_iter().map(str::to_owned).collect());
            return true;
        }
        let Some(columns) = self
            .columns
            .as_ref()
            .filter(|columns| columns.len() == cells.len())
        else {
            return false;
        };
        let number = |name: &str| -> Option<u64> {
            let column = columns.iter().position(|column| column == name)?;
            cells[column].parse().ok()
        };
        let numbers = COLUMNS.map(number);
        let [
            _,
            Some(accepted),
            Some(uploaded),
            Some(buffered),
            Some(buffer_full),
            Some(too_large),
            Some(rate),
            Some(policy),
            failed,
            Some(refused),
            consumer,
        ] = numbers
        else {
            return false;
        };
        let ledger = Ledger {
            account: Account {
                tally: Tally {
                    accepted,
                    dropped_by_policy: policy,
                    dropped_by_rate: rate,
                    // Builds that did not count them had none: there they ended the run.
                    dropped_by_error: failed.unwrap_or(0),
                },
                uploaded,
                buffered,
                dropped: Dropped {
                    buffer_full,
                    too_large,
                },
            },
            consumer: consumer.map(|events| Counts {
                events,
                ..Counts::default()
            }),
            uploads: (0, refused),
            ..Ledger::default()
        };
        self.table.add(cells[0], Some(&ledger));
        true
    }
}

/// Where the events of each case went, over all counts.
#[derive(Debug, Default)]
pub struct Table {
    rows: Vec<(String, Ledger)>,
}

impl Table {
    /// Adds the events of a measurement under `name`.
    pub fn add(&mut self, name: &str, ledger: Option<&Ledger>) {
        let Some(ledger) = ledger else { return };
        if let Some((_, sum)) = self.rows.iter_mut().find(|(there, _)| there == name) {
            sum.add(ledger);
        } else {
            let mut sum = Ledger::default();
            sum.add(ledger);
            self.rows.push((name.to_owned(), sum));
        }
    }

    /// Reads rows that another build has written.
    pub fn reader(&mut self) -> TableReader<'_> {
        TableReader {
            table: self,
            columns: None,
        }
    }

    /// Which share of all events was lost because a buffer was full or an event too large, 0 … 1.
    #[must_use]
    pub fn dropped_share(&self) -> f64 {
        let (mut lost, mut accepted) = (0, 0);
        for (_, ledger) in &self.rows {
            let dropped = &ledger.account.dropped;
            lost += dropped.buffer_full + dropped.too_large;
            accepted += ledger.account.tally.accepted;
        }
        if accepted == 0 {
            0.0
        } else {
            lost as f64 / accepted as f64
        }
    }

    /// Whether no case logged.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Writes the table, or nothing when no case logged.
    pub fn write(&self, stderr: &mut dyn Write) {
        if self.rows.is_empty() {
            return;
        }
        let header = COLUMNS;
        let mut lines = vec![header.map(str::to_owned)];
        for (name, ledger) in &self.rows {
            let account = &ledger.account;
            let consumer = ledger.consumer.as_ref().map_or("-".to_owned(), |counts| {
                (counts.events - counts.repeated).to_string()
            });
            lines.push([
                name.strip_prefix("Benchmark").unwrap_or(name).to_owned(),
                account.tally.accepted.to_string(),
                account.uploaded.to_string(),
                account.buffered.to_string(),
                account.dropped.buffer_full.to_string(),
                account.dropped.too_large.to_string(),
                account.tally.dropped_by_rate.to_string(),
                account.tally.dropped_by_policy.to_string(),
                account.tally.dropped_by_error.to_string(),
                ledger.uploads.1.to_string(),
                consumer,
            ]);
        }
        let widths: Vec<usize> = (0..header.len())
            .map(|column| {
                let cells = lines.iter().map(|line| line[column].chars().count());
                cells.max().unwrap_or(0)
            })
            .collect();
        for line in lines {
            let mut text = format!("{:<width$}", line[0], width = widths[0]);
            for (cell, width) in line.iter().zip(&widths).skip(1) {
                // Writing to a text cannot fail.
                let _ = write!(text, "  {cell:>width$}");
            }
            // Counters are for people: losing them must not lose the run.
            let _ = writeln!(stderr, "{text}");
        }
        for (name, ledger) in &self.rows {
            if let Some(refusal) = &ledger.refusal {
                let _ = writeln!(
                    stderr,
                    "bench-harness: note: {name}: last refusal: {refusal}"
                );
            }
            if let Some(error) = &ledger.policy_error {
                let _ = writeln!(
                    stderr,
                    "bench-harness: note: {name}: last event dropped by an error: {error}"
                );
            }
            if let Some(warning) = loss(ledger) {
                let _ = writeln!(stderr, "bench-harness: warning: {name}: {warning}");
            }
        }
    }

    /// Checks that a server somebody named took something: a mistyped address is no result.
    ///
    /// # Errors
    /// When it took none of the events.
    pub fn ensure_taken(&self, server: &Server) -> Result<()> {
        if let Server::Url(url) = server {
            let sum = |part: fn(&Ledger) -> u64| -> u64 {
                self.rows.iter().map(|(_, ledger)| part(ledger)).sum()
            };
            let accepted = sum(|ledger| ledger.account.tally.accepted);
            let uploaded = sum(|ledger| ledger.account.uploaded);
            ensure!(
                accepted == 0 || uploaded > 0,
                "{} took none of the {accepted} events",
                without_passwords(url)
            );
        }
        Ok(())
    }
}
