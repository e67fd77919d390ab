//! Wires the stages together: the only place that names them all.

use std::ffi::OsString;
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};
use clap_complete::Shell;

use super::args::{Args, Generated};
use super::exit::Exit;
use super::goflags;
use super::older::OlderFlagError;
use super::options::{Format, OptionError, Options};
use super::read::{self, Query, ReadError};
use super::select::{self, SelectError};
use crate::input::{Source, sources};
use crate::render;
use crate::report::{self, Note};

/// The standard streams, or what stands for them.
pub struct Streams<'a> {
    /// Where results come from when no input is named.
    pub stdin: &'a mut (dyn Read + Send),
    /// Where the report goes.
    pub stdout: &'a mut dyn Write,
    /// Where errors, warnings and notes go.
    pub stderr: &'a mut dyn Write,
    /// Whether a person sits at `stdin`, so that waiting for results there makes no sense.
    pub stdin_is_terminal: bool,
}

/// Why a run ends early.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error(transparent)]
    Option(#[from] OptionError),
    #[error(transparent)]
    Older(#[from] OlderFlagError),
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error("write standard output: {0}")]
    Write(#[from] io::Error),
}

impl From<SelectError> for Failure {
    fn from(error: SelectError) -> Self {
        match error {
            SelectError::Read(error) => Self::Read(error),
            SelectError::Write(error) => Self::Write(error),
        }
    }
}

/// Runs the program with its arguments, of which the first is its own name.
pub fn run(arguments: impl IntoIterator<Item = OsString>, streams: &mut Streams<'_>) -> Exit {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let rewritten = goflags::rewrite(arguments.iter().cloned(), &Args::command());
    let outcome = match Args::try_parse_from(rewritten) {
        Ok(args) => act(args, streams),
        Err(error) => {
            if error.kind() == ErrorKind::UnknownArgument
                && let Some(file) = file_like_a_flag(&arguments)
            {
                let file = file.display();
                let _ = writeln!(
                    streams.stderr,
                    "rbenchstat: {file} is taken for a flag: to read the file, write ./{file}"
                );
                return Exit::Failure;
            }
            return tell(&error, streams);
        }
    };
    match outcome {
        Ok(exit) => exit,
        // Whoever read the output has seen enough.
        Err(Failure::Write(error)) if error.kind() == io::ErrorKind::BrokenPipe => Exit::Success,
        Err(failure) => {
            // With standard error gone too, the exit status alone tells.
            let _ = writeln!(streams.stderr, "rbenchstat: {failure}");
            Exit::Failure
        }
    }
}

/// The argument that looks like a flag and is a file.
fn file_like_a_flag(arguments: &[OsString]) -> Option<&Path> {
    let flags = arguments
        .iter()
        .skip(1)
        .take_while(|argument| *argument != "--");
    let paths = flags.map(Path::new);
    paths
        .filter(|path| path.as_os_str().as_encoded_bytes().starts_with(b"-"))
        .find(|path| path.is_file())
}

/// Prints help or version, or what is wrong with the arguments.
fn tell(error: &clap::Error, streams: &mut Streams<'_>) -> Exit {
    let is_answer = matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
    );
    let text = error.render();
    if is_answer {
        return match streams.stdout.write_all(text.to_string().as_bytes()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Exit::Failure,
            _ => Exit::Success,
        };
    }
    let _ = write!(streams.stderr, "{text}");
    Exit::Failure
}

/// The name that `-format` has for benchmark text, for which nothing is compared.
const BENCHMARK_TEXT: &str = "bench";

fn act(args: Args, streams: &mut Streams<'_>) -> Result<Exit, Failure> {
    if let Some(what) = args.generate {
        generate(what, streams.stdout)?;
        return Ok(Exit::Success);
    }
    let mut args = args.without_older_flags()?;
    let selects = args.format == BENCHMARK_TEXT;
    if selects {
        // Not the format of a report, which would have to be one that there is.
        args.format = "text".into();
    }
    let options = Options::new(&args)?;
    let mut sources = sources(&args.inputs);
    if sources.is_empty() {
        if streams.stdin_is_terminal {
            let help = Args::command().render_help();
            let _ = write!(streams.stderr, "{help}");
            return Ok(Exit::Failure);
        }
        sources.push(Source::standard_input());
    }
    let notes = if selects {
        select(&sources, &options, streams)?
    } else {
        compare(&sources, &options, streams)?
    };
    if !options.quiet {
        for note in notes {
            let _ = writeln!(streams.stderr, "rbenchstat: note: {note}");
        }
    }
    Ok(Exit::Success)
}

/// Prints the comparison of the inputs, and returns what else there is to say.
fn compare(
    sources: &[Source],
    options: &Options,
    streams: &mut Streams<'_>,
) -> Result<Vec<Note>, Failure> {
    let query = Query {
        filter: &options.filter,
        layout: &options.layout,
    };
    let inputs = read::read(sources, query, streams.stdin, streams.stderr)?;
    let report = report::build(inputs.samples, &inputs.metadata, options.settings);
    let mut out = BufWriter::new(&mut *streams.stdout);
    match options.format {
        Format::Text => render::text::write(&report, &mut out)?,
        Format::Csv => render::csv::write(&report, &mut out, streams.stderr)?,
    }
    out.flush()?;
    Ok(report::notes(&inputs.facts, &options.asked, &report))
}

/// Writes the selected results, and returns what else there is to say.
fn select(
    sources: &[Source],
    options: &Options,
    streams: &mut Streams<'_>,
) -> Result<Vec<Note>, Failure> {
    let query = Query {
        filter: &options.filter,
        layout: &options.layout,
    };
    let facts = select::select(
        sources,
        query,
        &options.asked.ignore,
        streams.stdin,
        streams.stdout,
        streams.stderr,
    )?;
    Ok(report::notes_on_inputs(&facts, &options.asked))
}

fn generate(what: Generated, out: &mut dyn Write) -> io::Result<()> {
    let mut command = Args::command();
    let shell = match what {
        Generated::Bash => Shell::Bash,
        Generated::Elvish => Shell::Elvish,
        Generated::Fish => Shell::Fish,
        Generated::Powershell => Shell::PowerShell,
        Generated::Zsh => Shell::Zsh,
        Generated::Man => return clap_mangen::Man::new(command).render(&mut { out }),
    };
    let mut script = Vec::new();
    let name = command.get_name().to_owned();
    clap_complete::generate(shell, &mut command, name, &mut script);
    out.write_all(&script)
}
