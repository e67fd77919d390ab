//! Two sides in one run, interleaved, and their comparison.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result, bail};
use rbenchstat::input::Source;
use rbenchstat::query::Filter;
use rbenchstat::read::{self, Query};
use rbenchstat::render::text;
use rbenchstat::report::{self, Listing};

use crate::child::Program;
use crate::decision_log::settings::Settings;
use crate::emit;
use crate::options::{CompareArguments, Options, RunArguments};
use crate::plan::{PlannedCase, exactly};
use crate::progress::Progress;
use crate::run::{self, Notes, Table};
use crate::streams::{INTERRUPTED, Named, Status, Streams};

/// What makes a side.
enum Side {
    /// This program with these settings.
    Settings(Settings),
    /// Another build of it.
    Program(Box<Program>),
}

const LABELS: [&str; 2] = ["old", "new"];

/// Measures both sides A B B A, writes `old.txt` and `new.txt` and prints their comparison.
///
/// # Errors
/// As [`run::run`], and when a file cannot be written or a program not be run.
pub fn compare(
    arguments: &CompareArguments,
    options: &Options,
    streams: &mut Streams<'_>,
) -> Result<Status> {
    let mut sides = sides(arguments, options, streams.stop)?;
    run::prepare(options, streams)?;
    fs::create_dir_all(&arguments.output)
        .with_context(|| arguments.output.display().to_string())?;
    let mut files = [
        Partial::create(&arguments.output, "old.txt")?,
        Partial::create(&arguments.output, "new.txt")?,
    ];
    for (index, side) in sides.iter().enumerate() {
        let out = &mut files[index].file;
        run::header(options, out)?;
        match side {
            Side::Settings(settings) => {
                run::describe_settings(out, &format!("{}: ", LABELS[index]), settings)?;
            }
            Side::Program(program) => {
                let text = format!("{}: measured by {}", LABELS[index], program.describe());
                emit::comment(out, &text)?;
            }
        }
        emit::configuration(out)?;
    }
    let outcome = measure(&mut sides, arguments, options, &mut files, streams);
    if outcome.is_err() {
        for file in &files {
            file.tell_what_is_left(streams.stderr);
        }
    }
    let status = outcome?;
    let [old, new] = files;
    let (old, new) = (old.finish()?, new.finish()?);
    show(&old, &new, &sides, streams)?;
    Ok(status)
}

fn sides(arguments: &CompareArguments, options: &Options, stop: &AtomicBool) -> Result<[Side; 2]> {
    if let (Some(old), Some(new)) = (&arguments.old_bin, &arguments.new_bin) {
        let program = |path| Program::find(path, stop).map(Box::new).map(Side::Program);
        return Ok([program(old)?, program(new)?]);
    }
    let (Some(old), Some(new)) = (&arguments.old, &arguments.new) else {
        bail!("compare needs --old and --new, or --old-bin and --new-bin");
    };
    Ok([
        Side::Settings(options.settings(old).context("--old")?),
        Side::Settings(options.settings(new).context("--new")?),
    ])
}

fn measure(
    sides: &mut [Side; 2],
    arguments: &CompareArguments,
    options: &Options,
    files: &mut [Partial; 2],
    streams: &mut Streams<'_>,
) -> Result<Status> {
    let total = options.count * u32::try_from(options.plan.cases.len())? * 2;
    let mut progress = Progress::new(streams.stderr_is_terminal, total, &options.conditions);
    let mut tables = [Table::default(), Table::default()];
    let mut notes = Notes::default();
    let mut interrupted = false;
    'all: for round in 0..options.count {
        for case in &options.plan.cases {
            // A B, then B A: a drift that goes one way hits both sides alike.
            let order = if round % 2 == 0 { [0, 1] } else { [1, 0] };
            for index in order {
                let done = match &mut sides[index] {
                    Side::Settings(settings) => {
                        let outcome = run::one(options, case, settings, streams, &progress)?;
                        progress.clear(streams.stderr);
                        outcome
                            .map(|(measurement, ledger)| {
                                tables[index].add(&case.name.full(), ledger.as_ref());
                                emit::measurement(
                                    &mut files[index].file,
                                    &case.name,
                                    &measurement,
                                    &options.figures,
                                )
                            })
                            .transpose()?
                    }
                    Side::Program(program) => {
                        progress.show(streams.stderr, &case.name.full());
                        let lines = program.measure(
                            forwarded(&arguments.run, case),
                            case,
                            &options.figures.percentiles,
                            &mut tables[index],
                            streams.stop,
                            streams.stderr,
                        );
                        progress.clear(streams.stderr);
                        match lines? {
                            None => None,
                            Some(lines) => {
                                files[index].file.write_all(lines.as_bytes())?;
                                files[index].file.flush()?;
                                Some(Vec::new())
                            }
                        }
                    }
                };
                let Some(left_out) = done else {
                    interrupted = true;
                    break 'all;
                };
                notes.tell(streams.stderr, left_out);
                progress.advance();
            }
        }
    }
    if interrupted {
        for file in files {
            emit::comment(&mut file.file, "interrupted: the rest was not measured")?;
        }
    }
    let shares = tables.each_ref().map(Table::dropped_share);
    if (shares[0] - shares[1]).abs() > 0.01 {
        let _ = writeln!(
            streams.stderr,
            "bench-harness: warning: the decision log lost {:.0} % of the events of old and {:.0} % of \
             new; what is not encoded costs nothing, so compare at a -rate that neither loses at",
            shares[0] * 100.0,
            shares[1] * 100.0
        );
    }
    for (label, table) in LABELS.iter().zip(&tables) {
        if !table.is_empty() {
            let _ = writeln!(streams.stderr, "{label}:");
        }
        table.write(streams.stderr);
    }
    for table in &tables {
        table.ensure_taken(&options.conditions.server)?;
    }
    Ok(if interrupted { INTERRUPTED } else { 0 })
}

/// The arguments for one case, measured once.
fn forwarded(arguments: &RunArguments, case: &PlannedCase) -> Vec<OsString> {
    let mut list: Vec<OsString> = Vec::new();
    let mut flag = |name: &str, value: &dyn std::fmt::Display| {
        list.push(format!("--{name}={value}").into());
    };
    flag("bench", &exactly(&case.parts));
    flag("count", &1);
    flag("cpu", &case.workers);
    flag("benchtime", &arguments.benchtime);
    flag("percentiles", &arguments.percentiles);
    flag("seed", &arguments.seed);
    flag("engine", &arguments.engine.name());
    flag("settings", &arguments.settings);
    flag("shutdown-grace", &arguments.shutdown_grace);
    flag("decision", &arguments.decision);
    flag("body-limit", &arguments.body_limit);
    if let Some(rate) = arguments.rate {
        flag("rate", &rate);
    }
    if let Some(warmup) = &arguments.warmup {
        flag("warmup", warmup);
    }
    if let Some(delay) = &arguments.consumer_delay {
        flag("consumer-delay", delay);
    }
    if let Some(every) = arguments.consumer_fail {
        flag("consumer-fail", &every);
    }
    if let Some(url) = &arguments.upload_to {
        flag("upload-to", url);
    }
    for (name, given) in [
        ("benchmem", arguments.benchmem),
        ("consumer", arguments.consumer),
    ] {
        if given {
            list.push(format!("--{name}").into());
        }
    }
    for (name, path) in [
        ("--bundle", &arguments.bundle),
        ("--requests", &arguments.requests),
        ("--log-policy", &arguments.log_policy),
    ] {
        if let Some(path) = path {
            list.push(name.into());
            list.push(path.into());
        }
    }
    list
}

/// Prints what changed with decision logs, and beside it the control.
fn show(old: &Path, new: &Path, sides: &[Side; 2], streams: &mut Streams<'_>) -> Result<()> {
    for (label, side) in LABELS.iter().zip(sides) {
        match side {
            Side::Settings(settings) => writeln!(streams.stdout, "{label}: {settings}")?,
            Side::Program(program) => writeln!(streams.stdout, "{label}: {}", program.describe())?,
        }
    }
    for (title, filter) in [
        ("With decision logs", ".fullname:/with-decision-logs/"),
        (
            "Control, without decision logs: what differs here is noise or drift",
            ".fullname:/no-decision-logs/",
        ),
    ] {
        let table = comparison(old, new, filter, streams.stderr)?;
        if !table.is_empty() {
            writeln!(streams.stdout, "\n{title}\n")?;
            streams.stdout.write_all(&table)?;
        }
    }
    streams.stdout.flush()?;
    Ok(())
}

/// The tables of what `filter` selects of both files; empty where it selects nothing.
fn comparison(old: &Path, new: &Path, filter: &str, stderr: &mut dyn Write) -> Result<Vec<u8>> {
    let sources = [Source::new("old", old), Source::new("new", new)];
    let query = Query {
        filter: Filter::parse(filter)?,
        ..Query::default()
    };
    let inputs = read::read(&sources, &query, &mut io::empty(), stderr)?;
    let report = report::build(
        inputs.samples,
        &inputs.metadata,
        report::Settings::default(),
    );
    let mut table = Vec::new();
    text::write(&report, &Listing::default(), false, &mut table)?;
    Ok(table)
}

/// A file under a temporary name that gets its own when it is complete.
struct Partial {
    file: Named<BufWriter<File>>,
    temporary: PathBuf,
    path: PathBuf,
    finished: bool,
}

impl Partial {
    fn create(directory: &Path, name: &str) -> Result<Self> {
        let path = directory.join(name);
        let temporary = directory.join(format!("{name}.partial"));
        let shown = temporary.display().to_string();
        let file = File::create(&temporary).with_context(|| shown.clone())?;
        Ok(Self {
            file: Named {
                inner: BufWriter::new(file),
                name: shown,
            },
            temporary,
            path,
            finished: false,
        })
    }

    /// A run that failed after an hour need not lose what it has measured.
    fn holds_results(&self) -> bool {
        // Some devices can be read without end.
        let regular = fs::metadata(&self.temporary).is_ok_and(|found| found.is_file());
        regular
            && fs::read(&self.temporary).is_ok_and(|text| {
                text.split(|byte| *byte == b'\n')
                    .any(|line| line.starts_with(b"Benchmark"))
            })
    }

    fn tell_what_is_left(&self, stderr: &mut dyn Write) {
        if self.holds_results() {
            let _ = writeln!(
                stderr,
                "bench-harness: note: what was measured until then is in {}",
                self.temporary.display()
            );
        }
    }

    fn finish(mut self) -> Result<PathBuf> {
        self.file.flush()?;
        fs::rename(&self.temporary, &self.path)
            .with_context(|| format!("renaming to {}", self.path.display()))?;
        self.finished = true;
        Ok(self.path.clone())
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        if !self.finished && !self.holds_results() {
            let _ = fs::remove_file(&self.temporary);
        }
    }
}
