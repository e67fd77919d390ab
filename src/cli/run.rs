//! Wires the stages together: the only place that names them all.

use std::ffi::OsString;
use std::io::{self, BufWriter, Read, Write};

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};
use clap_complete::Shell;

use super::args::{Args, Generated};
use super::exit::Exit;
use super::goflags;
use super::options::{OptionError, Options};
use super::output::{Format, FormatNames};
use super::output_args::Color;
use super::read::{self, Query, ReadError};
use super::surroundings::Surroundings;
use crate::input::{Source, sources};
use crate::render::{self, Presentation};
use crate::report::{self, Report};

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
    /// What else there is.
    pub surroundings: Surroundings,
}

/// Why a run ends early.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error(transparent)]
    Option(#[from] OptionError),
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error("write standard output: {0}")]
    Write(#[from] io::Error),
    #[error("write {path}: {error}")]
    Output { path: String, error: io::Error },
}

/// Runs the program with its arguments, of which the first is its own name.
pub fn run(arguments: impl IntoIterator<Item = OsString>, streams: &mut Streams<'_>) -> Exit {
    let arguments = goflags::rewrite(arguments, &Args::command());
    let outcome = match Args::try_parse_from(arguments) {
        Ok(args) => act(&args, streams),
        Err(error) => return tell(&error, streams),
    };
    match outcome {
        Ok(exit) => exit,
        // Whoever read the output has seen enough.
        Err(Failure::Write(error)) if error.kind() == io::ErrorKind::BrokenPipe => Exit::Success,
        Err(failure) => {
            // With standard error gone too, the exit status alone tells.
            let _ = writeln!(streams.stderr, "rbenchstat: {failure}");
            if let Failure::Option(OptionError::Format) = failure {
                // Scripts compare the line above, so it stays as it is.
                let _ = writeln!(
                    streams.stderr,
                    "rbenchstat: note: the formats are {FormatNames}"
                );
            }
            Exit::Failure
        }
    }
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

fn act(args: &Args, streams: &mut Streams<'_>) -> Result<Exit, Failure> {
    if let Some(what) = args.generate {
        generate(what, streams.stdout)?;
        return Ok(Exit::Success);
    }
    let options = Options::new(args)?;
    let mut sources = sources(&args.inputs);
    if sources.is_empty() {
        if streams.stdin_is_terminal {
            let help = Args::command().render_help();
            let _ = write!(streams.stderr, "{help}");
            return Ok(Exit::Failure);
        }
        sources.push(Source::standard_input());
    }
    compare(&sources, &options, streams)?;
    Ok(Exit::Success)
}

fn compare(
    sources: &[Source],
    options: &Options,
    streams: &mut Streams<'_>,
) -> Result<(), Failure> {
    let query = Query {
        filter: &options.filter,
        layout: &options.layout,
    };
    let inputs = read::read(sources, query, streams.stdin, streams.stderr)?;
    if !options.quiet {
        for name in &inputs.without_results {
            let _ = writeln!(
                streams.stderr,
                "rbenchstat: note: {name}: no benchmark results found in it"
            );
        }
    }
    let mut report = report::build(inputs.samples, &inputs.metadata, options.settings);
    if options.shows_verdicts {
        let judging = report::verdict::Judging {
            alpha: options.settings.alpha,
            ..report::verdict::Judging::default()
        };
        report::verdict::judge(
            &mut report,
            &judging,
            crate::sample::Environments::default(),
        );
    }
    report.arrange(options.arrangement);
    // The files first: whoever reads standard output may go away early.
    write_outputs(&report, options, streams)?;
    let mut out = BufWriter::new(&mut *streams.stdout);
    let presentation = Presentation {
        has_colour: match options.colour {
            Color::Auto => streams.surroundings.shows_colour,
            Color::Always => true,
            Color::Never => false,
        },
        width: streams.surroundings.width,
        ..options.presentation.clone()
    };
    render(
        options.format,
        &report,
        &presentation,
        &mut out,
        streams.stderr,
    )?;
    out.flush()?;
    Ok(())
}

/// Writes the further reports; all of them exist in memory before the first is put in place.
fn write_outputs(
    report: &Report,
    options: &Options,
    streams: &mut Streams<'_>,
) -> Result<(), Failure> {
    let mut nowhere = io::sink();
    let mut reports = Vec::new();
    for output in &options.outputs {
        let mut bytes = Vec::new();
        // Standard output in the same format tells the same warnings.
        let warnings: &mut dyn Write = match options.format {
            Format::Csv => &mut nowhere,
            _ => &mut *streams.stderr,
        };
        render(
            output.format,
            report,
            &options.presentation,
            &mut bytes,
            warnings,
        )?;
        reports.push((output, bytes));
    }
    for (output, bytes) in reports {
        output
            .write(&bytes, &streams.surroundings)
            .map_err(|error| Failure::Output {
                path: output.path.display().to_string(),
                error,
            })?;
    }
    Ok(())
}

fn render(
    format: Format,
    report: &Report,
    presentation: &Presentation,
    out: &mut dyn Write,
    warnings: &mut dyn Write,
) -> io::Result<()> {
    match format {
        Format::Text => render::text::write(report, presentation.has_colour, out),
        Format::Csv => render::csv::write(report, out, warnings),
        Format::Pretty => render::pretty::write(report, presentation, out),
        Format::Markdown => render::markdown::write(report, out),
        Format::Comment => render::comment::write(report, presentation, out),
        Format::Json => render::json::write(report, presentation, out),
        Format::Jsonl => render::json::write_lines(report, presentation, out),
        Format::Html => render::html::write(report, presentation, out),
    }
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
