//! Wires the stages together: the only place that names them all.

use std::ffi::OsString;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches};
use clap_complete::Shell;

use super::args::{Args, Generated, Shown};
use super::exit::Exit;
use super::gate_options::Purpose;
use super::goflags;
use super::measure::{self, Invocation, MeasureArgs};
use super::older::OlderFlagError;
use super::options::{OptionError, Options};
use super::output::{Format, Output};
use super::output_args::Color;
use super::renamed::{Renamed, stands_in};
use super::surroundings::Surroundings;
use super::usage::{self, SHORT_HELP, is_short_help};
use super::words::names;
use super::{completion, manual, places, request};
use crate::input::{InputError, Reason, Source, sources};
use crate::judge::arrangement::listing;
use crate::judge::gate::GateError;
use crate::judge::judgement::Judgements;
use crate::judge::noise_margins::NoiseMargins;
use crate::judge::obstacle::ObstacleKind;
use crate::judge::rules::UnitRules;
use crate::judge::self_test::{self, SelfTest};
use crate::judge::settings::{self, IdleSetting};
use crate::judge::{Gate, InputProblems, Judged, Outcome, Provenance, judge};
use crate::measure::MeasureError;
use crate::notes::{self, Note};
use crate::read::{self, InputFacts, Inputs, ReadError, SelectError};
use crate::render::gate::Telling;
use crate::render::presentation::Request;
use crate::render::{self, Presentation, escape};
use crate::report::{self, Listing, Report};

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
    Older(#[from] OlderFlagError),
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Gate(#[from] GateError),
    #[error(transparent)]
    Setting(#[from] IdleSetting),
    #[error("run: {0}")]
    Measure(#[from] MeasureError),
    #[error("write standard output: {reason}", reason = Reason::of(.0))]
    Write(#[from] io::Error),
    #[error("-format bench compares nothing: leave out {0}")]
    NotForSelection(&'static str),
    #[error(
        "{input}: {count} of its results could not be written: mend them, or do without the file"
    )]
    NotAllWritten { input: bstr::BString, count: u64 },
    #[error("write {path}: {reason}{}", remedy(.path, .error), reason = Reason::of(.error))]
    Output { path: String, error: io::Error },
    #[error("-out: {0} is read, and the report would replace it: name another file")]
    ReplacesWhatIsRead(String),
}

/// What to do about a file that cannot be written.
fn remedy(path: &str, error: &io::Error) -> String {
    match (error.kind(), Path::new(path).parent()) {
        (io::ErrorKind::NotFound, Some(folder)) => {
            format!(": make the folder {} first", folder.display())
        }
        (io::ErrorKind::IsADirectory, _) => ": name a file in it".into(),
        _ => String::new(),
    }
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
    if arguments.first().is_some_and(|name| stands_in(name)) {
        return run_under_own_name(
            &arguments,
            &mut Streams {
                stdin: &mut *streams.stdin,
                stdout: &mut *streams.stdout,
                stderr: &mut Renamed::new(&mut *streams.stderr),
                stdin_is_terminal: streams.stdin_is_terminal,
                surroundings: streams.surroundings.clone(),
            },
        );
    }
    run_under_own_name(&arguments, streams)
}

fn run_under_own_name(arguments: &[OsString], streams: &mut Streams<'_>) -> Exit {
    let outcome = match parse(arguments) {
        Ok((args, measuring, request)) => {
            if matches!(Invocation::by(arguments), Invocation::CompareFile) && !args.quiet {
                let hint = "run is a file here, and read; rbenchstat -run measures";
                let _ = writeln!(streams.stderr, "rbenchstat: note: {hint}");
            }
            act(args, measuring.as_ref(), request, streams)
        }
        Err(error) => {
            if error.kind() == ErrorKind::UnknownArgument
                && let Some(file) = file_like_a_flag(arguments)
            {
                let file = file.display();
                let _ = writeln!(
                    streams.stderr,
                    "rbenchstat: {file} is taken for a flag: to read the file, write ./{file}"
                );
                return Exit::Failure;
            }
            return tell(&error, arguments, streams);
        }
    };
    match outcome {
        Ok(exit) => exit,
        // Whoever read the output has seen enough.
        Err(Failure::Write(error)) if error.kind() == io::ErrorKind::BrokenPipe => Exit::Success,
        Err(Failure::Measure(MeasureError::Interrupted)) => Exit::Interrupted,
        Err(failure) => {
            // With standard error gone too, the exit status alone tells.
            let _ = tell_failure(
                &failure,
                &mut escape::EscapedLines::new(&mut *streams.stderr),
            );
            Exit::Failure
        }
    }
}

/// [`clap::Parser::try_parse_from`] with flags as Go's have them, on one and the same command; and how to measure first,
/// where that is meant.
fn parse(arguments: &[OsString]) -> Result<(Args, Option<MeasureArgs>, Request), clap::Error> {
    let measures = matches!(Invocation::by(arguments), Invocation::Measure);
    let (mut command, skipped) = if measures {
        (measure::command(), 1)
    } else {
        (Args::command(), 0)
    };
    let mut arguments = arguments[skipped..].to_vec();
    let dashes = arguments.iter().position(|argument| argument == "--");
    let build_flags = match dashes.filter(|_| measures) {
        Some(dashes) => arguments.split_off(dashes).split_off(1),
        None => Vec::new(),
    };
    let mut matches = command.try_get_matches_from_mut(goflags::rewrite(arguments, &command))?;
    let request = request::of(&matches, measures, &build_flags);
    let both = || {
        let args = Args::from_arg_matches_mut(&mut matches)?;
        if !measures {
            return Ok((args, None, request));
        }
        let mut measuring = MeasureArgs::from_arg_matches_mut(&mut matches)?;
        measuring.build_flags.clone_from(&build_flags);
        Ok((args, Some(measuring), request))
    };
    both().map_err(|error: clap::Error| error.format(&mut command))
}

/// Says what went wrong.
fn tell_failure(failure: &Failure, stderr: &mut dyn Write) -> io::Result<()> {
    if let Failure::Option(OptionError::Query { flag, error }) = failure {
        // The query is the user's own bytes, and may not be UTF-8.
        write!(stderr, "rbenchstat: parsing -{flag}: ")?;
        stderr.write_all(&error.render())?;
        return writeln!(stderr);
    }
    writeln!(stderr, "rbenchstat: {failure}")
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
fn tell(error: &clap::Error, arguments: &[OsString], streams: &mut Streams<'_>) -> Exit {
    let help_for_a_screen = || {
        let measures = matches!(Invocation::by(arguments), Invocation::Measure);
        !measures && is_short_help(arguments)
    };
    let answer = match error.kind() {
        ErrorKind::DisplayHelp if help_for_a_screen() => SHORT_HELP.to_owned(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => error.render().to_string(),
        _ => {
            for line in usage::message(error, &names::<Shown>()) {
                let line = escape::terminal(line.as_str().into());
                let _ = writeln!(streams.stderr, "rbenchstat: {line}");
            }
            return Exit::Failure;
        }
    };
    match streams.stdout.write_all(answer.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Exit::Failure,
        _ => Exit::Success,
    }
}

fn act(
    args: Args,
    measuring: Option<&MeasureArgs>,
    request: Request,
    streams: &mut Streams<'_>,
) -> Result<Exit, Failure> {
    if let Some(what) = args.generate {
        generate(what, streams.stdout)?;
        return Ok(Exit::Success);
    }
    let mut args = args.without_older_flags()?;
    let mut options = Options::new(&args)?;
    options.presentation.request = request;
    if options.selects {
        refuse_what_compares(&options)?;
    }
    if let Some(measuring) = measuring {
        if let Some(gate) = options
            .gate
            .judging
            .as_mut()
            .and_then(|judging| judging.gate.as_mut())
        {
            gate.judges_last_column_only = true;
        }
        let measured = measure::measure(measuring, &args.inputs, &options, &mut *streams.stderr)?;
        if measured.is_all_the_same {
            return Ok(Exit::Success);
        }
        args.inputs = measured.inputs;
        if let Some(judging) = &mut options.gate.judging {
            judging.alpha = measured.alpha.unwrap_or(judging.alpha);
            if let Some(gate) = judging.gate.as_mut().filter(|_| measured.are_the_first) {
                // Nobody could have avoided that.
                let without_base = [ObstacleKind::EmptyInput, ObstacleKind::NothingCompared];
                gate.allowed.extend(without_base);
            }
        }
        let exit = act_on(&args, &options, streams);
        return exit.map(|exit| {
            if measured.is_interrupted {
                Exit::Interrupted
            } else {
                exit
            }
        });
    }
    act_on(&args, &options, streams)
}

/// Refuses what is for reports where the selected results are written instead.
fn refuse_what_compares(options: &Options) -> Result<(), Failure> {
    let arrangement = options.arrangement;
    let flags = [
        ("-out", !options.outputs.is_empty()),
        // A gate that does not judge must not look as if it passed.
        (
            "-fail-on, -self-test and -noise",
            options.gate.does_more_than_show(),
        ),
        ("-sort", arrangement.sort.is_some()),
        ("-limit", arrangement.limit.is_some()),
        ("-changed-only", arrangement.changed_only),
        ("-color", options.colour == Color::Always),
    ];
    match flags.into_iter().find(|(_, is_given)| *is_given) {
        Some((flag, _)) => Err(Failure::NotForSelection(flag)),
        None => Ok(()),
    }
}

/// Reads the inputs, and writes what is asked for.
fn act_on(args: &Args, options: &Options, streams: &mut Streams<'_>) -> Result<Exit, Failure> {
    let mut sources = sources(&args.inputs);
    let mut start = Vec::new();
    if sources.is_empty() {
        let source = Source::standard_input();
        if !streams.stdin_is_terminal {
            let mut stdin = (&mut *streams.stdin).take(1);
            let read = stdin.read_to_end(&mut start);
            read.map_err(|error| ReadError::from(InputError::read(&source, 0, error)))?;
        }
        if start.is_empty() {
            // As in a script whose variable is not set.
            let _ = write!(streams.stderr, "{SHORT_HELP}");
            return Ok(Exit::Failure);
        }
        sources.push(source);
    }
    protect(&options.outputs, &sources, &args.gate.settings_files())?;
    let mut streams = Streams {
        stdin: &mut start.as_slice().chain(&mut *streams.stdin),
        stdout: &mut *streams.stdout,
        stderr: &mut *streams.stderr,
        stdin_is_terminal: streams.stdin_is_terminal,
        surroundings: streams.surroundings.clone(),
    };
    if options.selects {
        select(&sources, options, &mut streams)
    } else {
        compare(&sources, options, &mut streams)
    }
}

/// Refuses to replace what the run reads: its inputs, and the files of its settings.
fn protect(
    outputs: &[Output],
    sources: &[Source],
    settings_files: &[PathBuf],
) -> Result<(), Failure> {
    for output in outputs {
        let replaces_input = sources.iter().any(|source| {
            if source.is_standard_input() {
                output.replaces_standard_input()
            } else {
                output.replaces(&source.path)
            }
        });
        if replaces_input || settings_files.iter().any(|file| output.replaces(file)) {
            let path = output.path.display().to_string();
            return Err(Failure::ReplacesWhatIsRead(path));
        }
    }
    Ok(())
}

/// Writes the selected results.
fn select(
    sources: &[Source],
    options: &Options,
    streams: &mut Streams<'_>,
) -> Result<Exit, Failure> {
    let facts = read::select(
        sources,
        &options.query,
        streams.stdin,
        streams.stdout,
        &mut escape::EscapedLines::new(&mut *streams.stderr),
    )?;
    let notes = notes::notes_on_inputs(&facts, &options.query);
    tell_notes(&notes, options.quiet, streams.stderr);
    // Whoever goes on with the text would take it for all there is.
    match facts.iter().find(|facts| facts.lost() > 0) {
        Some(facts) => Err(Failure::NotAllWritten {
            input: facts.name.clone(),
            count: facts.lost(),
        }),
        None => Ok(Exit::Success),
    }
}

fn tell_notes(notes: &[Note], quiet: bool, stderr: &mut dyn Write) {
    if !quiet {
        for note in notes {
            let note = escape::terminal(note.to_string().as_str().into());
            let _ = writeln!(stderr, "rbenchstat: note: {note}");
        }
    }
}

fn compare(
    sources: &[Source],
    options: &Options,
    streams: &mut Streams<'_>,
) -> Result<Exit, Failure> {
    let mut inputs = read::read(
        sources,
        &options.query,
        streams.stdin,
        &mut escape::EscapedLines::new(&mut *streams.stderr),
    )?;
    let rules = UnitRules::of(
        &inputs.facts,
        inputs.samples.columns.first().map(Vec::as_slice),
        &options.gate.better,
    );
    let facts = std::mem::take(&mut inputs.facts);
    let (reports, idle) = build(inputs, &facts, &rules, options)?;
    let notes = if options.quiet {
        Vec::new()
    } else {
        let above_one = options.alpha_above_one;
        let above_one = above_one.map(|given| Note::AlphaAboveOne { given });
        let settings = idle.into_iter().map(Note::Idle).chain(above_one);
        let notes = notes::notes(&facts, &options.query, reports.facts());
        let has_gate = reports.gate().is_some();
        let sides = (!has_gate).then(|| notes::without_gate(reports.facts()));
        settings
            .chain(notes)
            .chain(sides.into_iter().flatten())
            .collect()
    };
    let exit = match (options.gate.purpose, reports.judged(), reports.gate()) {
        (Purpose::Noise, Some(judged), _) => tell_noise(judged, streams)?,
        (Purpose::SelfTest(part), Some(judged), Some(gate)) => {
            let proof = SelfTest::of(judged, gate);
            let exit = tell_self_test(judged, &proof, part, streams)?;
            if proof.outcome == Outcome::CouldNotJudge {
                tell_gate(&reports, options, streams);
            }
            exit
        }
        _ => {
            show(&reports, options, streams)?;
            tell_notes(&notes, options.quiet, streams.stderr);
            // The answer of a gate stands even if nobody reads the tables to their end.
            return Ok(tell_gate(&reports, options, streams));
        }
    };
    tell_notes(&notes, options.quiet, streams.stderr);
    Ok(exit)
}

/// Writes the reports that were asked for: the files before standard output, whose reader may go away early.
fn show(reports: &Reports, options: &Options, streams: &mut Streams<'_>) -> Result<(), Failure> {
    let mut presentation = options.presentation.clone();
    let mut formats = options.outputs.iter().map(|output| output.format);
    let annotates = options.format == Format::Github || formats.any(|it| it == Format::Github);
    if let (true, Some(judged)) = (annotates, reports.judged()) {
        let here = std::env::current_dir().unwrap_or_default();
        presentation.places = places::find(judged, &here);
    }
    write_outputs(reports, options, &presentation, streams)?;
    let presentation = Presentation {
        has_colour: shows_colour(options, streams.surroundings.shows_colour),
        width: streams.surroundings.width,
        gate_is_told: reports.gate().is_some(),
        ..presentation
    };
    let mut out = BufWriter::new(&mut *streams.stdout);
    let warnings = &mut escape::EscapedLines::new(&mut *streams.stderr);
    let outcome = render(options.format, reports, &presentation, &mut out, warnings);
    finish(outcome.and_then(|()| out.flush()), Exit::Success)?;
    Ok(())
}

/// Whether colour goes where `auto` means this.
fn shows_colour(options: &Options, auto: bool) -> bool {
    match options.colour {
        Color::Auto => auto,
        Color::Always => true,
        Color::Never => false,
    }
}

/// The exit status after writing to standard output: its reader may go away early, and the answer is still the answer.
fn finish(outcome: io::Result<()>, exit: Exit) -> Result<Exit, Failure> {
    match outcome {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(exit),
    }
}

/// What there is to show.
enum Reports {
    /// The facts, with the rows of them to show.
    Facts(Report, Listing),
    /// With verdicts, as something asks for them.
    Judged {
        judged: Box<Judged>,
        /// What the drop-in formats show, where that is something else: they go by what any input says of units.
        drop_in: Option<Box<Report>>,
        /// The rows that they show, sorted by what they show.
        listing: Listing,
    },
}

impl Reports {
    fn judged(&self) -> Option<&Judged> {
        match self {
            Self::Facts(..) => None,
            Self::Judged { judged, .. } => Some(judged),
        }
    }

    fn gate(&self) -> Option<&Gate> {
        self.judged().and_then(|judged| judged.gate.as_ref())
    }

    /// What was judged, if anything was.
    fn facts(&self) -> &Report {
        match self {
            Self::Facts(report, _) => report,
            Self::Judged { judged, .. } => &judged.report,
        }
    }

    /// What the drop-in formats show.
    fn drop_in(&self) -> (&Report, &Listing) {
        match self {
            Self::Facts(report, listing) => (report, listing),
            Self::Judged {
                judged,
                drop_in,
                listing,
            } => (drop_in.as_deref().unwrap_or(&judged.report), listing),
        }
    }
}

/// Makes the reports, and says which settings do nothing.
fn build(
    inputs: Inputs,
    facts: &[InputFacts],
    rules: &UnitRules,
    options: &Options,
) -> Result<(Reports, Vec<IdleSetting>), Failure> {
    let Some(judging) = &options.gate.judging else {
        let report = report::build(inputs.samples, &inputs.metadata, options.settings);
        let listing = listing(&report, &Judgements::default(), options.arrangement);
        return Ok((Reports::Facts(report, listing), Vec::new()));
    };
    let differs = inputs.samples.tables.iter().any(|table| {
        let unit = table.unit.as_ref();
        inputs.metadata.assumes_exact(unit) != rules.metadata.assumes_exact(unit)
    });
    let drop_in =
        differs.then(|| report::build(inputs.samples.clone(), &inputs.metadata, options.settings));
    let worse = match options.gate.purpose {
        Purpose::SelfTest(part) => {
            let mut worse = inputs.samples.clone();
            self_test::worsen(&mut worse, &rules.metadata, part);
            Some(report::build(worse, &rules.metadata, options.settings))
        }
        Purpose::Show | Purpose::Noise => None,
    };
    let report = report::build(inputs.samples, &rules.metadata, options.settings);
    let mut idle = settings::idle(&report, &judging.margins, &options.gate.better);
    if !idle.is_empty() && options.gate.has_gate() {
        return Err(Failure::Setting(idle.swap_remove(0)));
    }
    idle.extend(settings::missing_rows(&report, &judging.margins));
    let provenance = Provenance {
        environments: inputs.environments,
        problems: InputProblems::of(facts, &report, rules),
    };
    let judged = match worse {
        Some(worse) => self_test::judge_one_at_a_time(report, worse, judging, provenance)?,
        None => judge(report, judging, provenance)?,
    };
    // Which rows changed is what the verdicts say.
    let listing = listing(
        drop_in.as_ref().unwrap_or(&judged.report),
        &judged.judgements,
        judging.arrangement,
    );
    let reports = Reports::Judged {
        judged: Box::new(judged),
        drop_in: drop_in.map(Box::new),
        listing,
    };
    Ok((reports, idle))
}

/// Tells the answer of the gate, if there is one.
fn tell_gate(reports: &Reports, options: &Options, streams: &mut Streams<'_>) -> Exit {
    let Some(judged) = reports.judged() else {
        return Exit::Success;
    };
    let telling = Telling {
        quiet: options.quiet,
        has_colour: shows_colour(options, streams.surroundings.shows_colour_of_messages),
        rows_are_shown: options.format == Format::Pretty,
    };
    // With standard error gone, the exit status alone tells.
    let _ = render::gate::write(judged, telling, streams.stderr);
    let gate = judged.gate.as_ref();
    gate.map_or(Exit::Success, |gate| gate.outcome.into())
}

/// Prints for which rows the gate fires after the new side was made worse by `part`.
fn tell_self_test(
    judged: &Judged,
    proof: &SelfTest,
    part: f64,
    streams: &mut Streams<'_>,
) -> Result<Exit, Failure> {
    let mut text = Vec::new();
    render::gate::write_self_test(judged, proof, part, &mut text)?;
    print(&text, streams.stdout, proof.outcome.into())
}

/// Prints margins instead of tables, unless the inputs cannot be runs of the same code on the same machine.
fn tell_noise(judged: &Judged, streams: &mut Streams<'_>) -> Result<Exit, Failure> {
    let noise = NoiseMargins::of(judged);
    let exit = noise.outcome().into();
    let mut text = Vec::new();
    if let NoiseMargins::Measured(margins) = &noise {
        render::gate::write_margins(margins, &mut text)?;
    }
    if let Some(sentence) = render::gate::no_margins(judged, &noise) {
        let _ = render::gate::write_about_noise(&sentence, streams.stderr);
    }
    print(&text, streams.stdout, exit)
}

/// Writes to standard output what is no report.
fn print(text: &[u8], out: &mut dyn Write, exit: Exit) -> Result<Exit, Failure> {
    let written = out.write_all(text);
    finish(written.and_then(|()| out.flush()), exit)
}

/// Writes the further reports; all of them exist in memory before the first is put in place.
fn write_outputs(
    reports: &Reports,
    options: &Options,
    presentation: &Presentation,
    streams: &mut Streams<'_>,
) -> Result<(), Failure> {
    let failure = |output: &Output, error| Failure::Output {
        path: output.path.display().to_string(),
        error,
    };
    let mut nowhere = io::sink();
    let mut written = Vec::new();
    for output in &options.outputs {
        let mut bytes = Vec::new();
        // Standard output in the same format tells the same warnings.
        let warnings: &mut dyn Write = match options.format {
            Format::Csv => &mut nowhere,
            _ => &mut escape::EscapedLines::new(&mut *streams.stderr),
        };
        render(output.format, reports, presentation, &mut bytes, warnings)
            .map_err(|error| failure(output, error))?;
        written.push((output, bytes));
    }
    for (output, bytes) in written {
        if output.is_standard_output() {
            print(&bytes, streams.stdout, Exit::Success)?;
            continue;
        }
        output
            .write(&bytes, &streams.surroundings)
            .map_err(|error| failure(output, error))?;
    }
    Ok(())
}

fn render(
    format: Format,
    reports: &Reports,
    presentation: &Presentation,
    out: &mut dyn Write,
    warnings: &mut dyn Write,
) -> io::Result<()> {
    let (report, listing) = reports.drop_in();
    match (format, reports.judged()) {
        (Format::Csv, _) => render::csv::write(report, listing, out, warnings),
        (Format::Pretty, Some(judged)) => render::pretty::write(judged, presentation, out),
        (Format::Markdown, Some(judged)) => render::markdown::write(judged, out),
        (Format::Comment, Some(judged)) => render::comment::write(judged, presentation, out),
        (Format::Json, Some(judged)) => render::json::write(judged, presentation, out),
        (Format::Jsonl, Some(judged)) => render::json::write_lines(judged, presentation, out),
        (Format::Github, Some(judged)) => render::github::write(judged, presentation, out),
        (Format::Html, Some(judged)) => render::html::write(judged, presentation, out),
        // The options ask for verdicts where a format shows them.
        (Format::Text, _) | (_, None) => {
            render::text::write(report, listing, presentation.has_colour, out)
        }
    }
}

fn generate(what: Generated, out: &mut dyn Write) -> io::Result<()> {
    let script = match what {
        Generated::Bash => completion::script(Shell::Bash),
        Generated::Elvish => completion::script(Shell::Elvish),
        Generated::Fish => completion::script(Shell::Fish),
        Generated::Powershell => completion::script(Shell::PowerShell),
        Generated::Zsh => completion::script(Shell::Zsh),
        Generated::Man => return manual::write(out),
    };
    out.write_all(script.as_bytes())
}
