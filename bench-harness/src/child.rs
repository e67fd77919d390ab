//! Another build of this program, measuring one case at a time.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Read as _, Seek as _, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use aws_lc_rs::digest;
use rbenchstat::record::reader::{Reader, Record};

use crate::latency::Percentile;
use crate::plan::PlannedCase;
use crate::run::Table;
use crate::token::hexadecimal;

/// How often to look whether a program has ended.
const LOOK: Duration = Duration::from_millis(10);

/// A program, and what tells it from others.
pub struct Program {
    path: PathBuf,
    /// What it answers to `--version`.
    version: String,
    /// SHA-256 of its file, in hexadecimal digits.
    hash: String,
    told: BTreeSet<String>,
}

/// What a program printed.
struct Output {
    stdout: String,
    stderr: String,
}

impl Program {
    /// Looks at the program at `path`.
    ///
    /// # Errors
    /// When it cannot be read, or does not tell its version.
    pub fn find(path: &Path, stop: &AtomicBool) -> Result<Self> {
        let shown = || path.display().to_string();
        ensure!(path.is_file(), "{}: no such program", shown());
        let mut file = File::open(path).with_context(shown)?;
        let mut context = digest::Context::new(&digest::SHA256);
        let mut block = vec![0; 1 << 16];
        loop {
            match file.read(&mut block).with_context(shown)? {
                0 => break,
                length => context.update(&block[..length]),
            }
        }
        let mut program = Self {
            path: path.to_owned(),
            version: String::new(),
            hash: hexadecimal(context.finish().as_ref()),
            told: BTreeSet::new(),
        };
        if let Some(output) = program.run(["--version"], stop)? {
            output.stdout.trim().clone_into(&mut program.version);
            ensure!(
                program.version.starts_with("bench-harness "),
                "{} answers {:?} to --version: it is no bench-harness",
                shown(),
                program.version
            );
        }
        Ok(program)
    }

    /// For the comment lines of a result file.
    #[must_use]
    pub fn describe(&self) -> String {
        format!(
            "{}, {}, sha256 {}",
            self.path.display(),
            self.version,
            self.hash
        )
    }

    /// Has it measure one case once: its benchmark lines and the notes among them. Where the
    /// events went is added to `table`; what else it says is passed on, each line once.
    ///
    /// Nothing comes back when `stop` was set before the end.
    ///
    /// # Errors
    /// When it fails, or prints anything but the lines of the case.
    pub fn measure(
        &mut self,
        arguments: impl IntoIterator<Item = impl AsRef<std::ffi::OsStr>>,
        case: &PlannedCase,
        percentiles: &[Percentile],
        table: &mut Table,
        stop: &AtomicBool,
        stderr: &mut dyn Write,
    ) -> Result<Option<String>> {
        let Some(output) = self.run(arguments, stop)? else {
            return Ok(None);
        };
        let mut rows = table.reader();
        for line in output.stderr.lines() {
            if !rows.read(line) && self.told.insert(line.to_owned()) {
                let _ = writeln!(stderr, "{}: {line}", self.path.display());
            }
        }
        let lines: String = output
            .stdout
            .lines()
            .filter(|line| line.starts_with("Benchmark") || is_note(line))
            .flat_map(|line| [line, "\n"])
            .collect();
        self.check(&output.stdout, &lines, case, percentiles)?;
        Ok(Some(lines))
    }

    fn check(
        &self,
        stdout: &str,
        lines: &str,
        case: &PlannedCase,
        percentiles: &[Percentile],
    ) -> Result<()> {
        let shown = self.path.display();
        let full = case.name.full();
        let percentile = |percentile: &Percentile| {
            format!(
                "{}/P{}{}",
                case.name.stem, percentile.text, case.name.suffix
            )
        };
        let wanted: Vec<String> = std::iter::once(full.clone())
            .chain(percentiles.iter().map(percentile))
            .collect();
        let mut found = Vec::new();
        let mut reader = Reader::new(stdout.as_bytes(), "");
        while let Some((line, record)) = reader.next_record()? {
            let index = usize::try_from(line.saturating_sub(1))?;
            let text = || stdout.lines().nth(index).unwrap_or_default();
            match record {
                Record::Result(result) => {
                    let name = format!("Benchmark{}", result.name());
                    ensure!(
                        wanted.contains(&name) && !found.contains(&name),
                        "{shown} printed {name:?}, which was not asked for; asked for was {full}"
                    );
                    found.push(name);
                }
                _ => bail!("{shown} printed {:?}, which is no result", text()),
            }
        }
        let missing = wanted.iter().find(|name| {
            let left_out = format!("# {name} left out: ");
            !found.contains(name) && !lines.lines().any(|line| line.starts_with(&left_out))
        });
        if let Some(missing) = missing {
            bail!("{shown} printed no line for {missing}");
        }
        Ok(())
    }

    /// Runs it to its end; nothing when `stop` was set before.
    fn run(
        &self,
        arguments: impl IntoIterator<Item = impl AsRef<std::ffi::OsStr>>,
        stop: &AtomicBool,
    ) -> Result<Option<Output>> {
        let shown = || self.path.display().to_string();
        // Files and not pipes: nobody has to read while it runs.
        let (mut stdout, mut stderr) = (tempfile::tempfile()?, tempfile::tempfile()?);
        let mut child = Command::new(&self.path)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(stdout.try_clone()?)
            .stderr(stderr.try_clone()?)
            .spawn()
            .with_context(shown)?;
        let status = loop {
            if let Some(status) = child.try_wait().with_context(shown)? {
                break status;
            }
            if stop.load(Ordering::Relaxed) {
                let _ = child.kill();
                let _ = child.wait();
                return Ok(None);
            }
            std::thread::sleep(LOOK);
        };
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let output = Output {
            stdout: text(&mut stdout)?,
            stderr: text(&mut stderr)?,
        };
        ensure!(
            status.success(),
            "{} ended with {status}:\n{}",
            shown(),
            output.stderr.trim_end()
        );
        Ok(Some(output))
    }
}

fn is_note(line: &str) -> bool {
    line.starts_with("# Benchmark")
        && (line.contains(" left out: ") || line.contains(" fell behind: "))
}

fn text(file: &mut File) -> Result<String> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
