//! The arguments, checked and typed.

use std::ffi::OsStr;

use bstr::ByteSlice;

use super::args::{Args, Shown};
use super::gate_options::{GateOptionError, GateOptions};
use super::output::{Format, Output, OutputError};
use super::output_args::{Color, OutputArgs};
use crate::judge::arrangement::Arrangement;
use crate::query::{Filter, Layout, Projection, SyntaxError};
use crate::read::Query;
use crate::record::number::parse_number;
use crate::render::Presentation;
use crate::render::comment::LEAST_BYTES;
use crate::report::Settings;

/// What a run is asked to do.
#[derive(Debug)]
pub struct Options {
    /// Which results are read, and where they go.
    pub query: Query,
    /// The value of `-alpha` where it is above 1 and was taken for 1.
    pub alpha_above_one: Option<f64>,
    /// What the statistics are judged by.
    pub settings: Settings,
    /// Whether the selected results are printed instead of a report.
    pub selects: bool,
    /// How the report is printed on standard output, if there is one.
    pub format: Format,
    /// Which verdicts are given, and what becomes of them.
    pub gate: GateOptions,
    /// The further reports.
    pub outputs: Vec<Output>,
    /// When to use colour on standard output.
    pub colour: Color,
    /// Which rows are shown, and in which order.
    pub arrangement: Arrangement,
    /// What the further formats show beside the report.
    pub presentation: Presentation,
    /// Whether notes are left out.
    pub quiet: bool,
}

/// An argument that makes no sense.
#[derive(Debug, thiserror::Error)]
pub enum OptionError {
    /// A further report that cannot be written.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// An identity that the marker of a comment cannot hold.
    #[error("-{0} must be 1 to 64 letters, digits, `.`, `_`, `/` and `-`, and have no `--`")]
    Name(&'static str),
    /// An address that a link cannot hold.
    #[error(
        "-report-url must be an http or https address without blanks, brackets and quotes, not {0:?}"
    )]
    Url(String),
    /// Less room than a comment needs at least.
    #[error("-max-bytes must be at least {LEAST_BYTES}")]
    MaxBytes,
    /// A query that is not well formed.
    #[error("parsing -{flag}: {error}")]
    Query {
        /// The flag's name.
        flag: &'static str,
        /// What is wrong, and where.
        error: SyntaxError,
    },
    /// An argument about verdicts or the gate.
    #[error(transparent)]
    Gate(#[from] GateOptionError),
    /// A value that is no number.
    #[error("-{flag} must be a number in range [0, 1], not {value:?}")]
    NoNumber {
        /// The flag's name.
        flag: &'static str,
        /// What was given.
        value: String,
    },
    /// A number outside 0 to 1.
    #[error("-{flag} must be in range [0, 1]")]
    Range {
        /// The flag's name.
        flag: &'static str,
    },
}

impl Options {
    /// Checks `args`; of several errors the first in the reference's order is told.
    ///
    /// # Errors
    /// An [`OptionError`] that names the flag.
    pub fn new(args: &Args) -> Result<Self, OptionError> {
        let syntax = |flag| move |error| OptionError::Query { flag, error };
        let filter = Filter::parse(bytes(&args.filter)).map_err(syntax("filter"))?;
        let table = Projection::parse(bytes(&args.table)).map_err(syntax("table"))?;
        let row = Projection::parse(bytes(&args.row)).map_err(syntax("row"))?;
        let column = Projection::parse(bytes(&args.col)).map_err(syntax("col"))?;
        let ignore = Projection::parse(bytes(&args.ignore)).map_err(syntax("ignore"))?;
        let (alpha, alpha_above_one) = alpha(&args.alpha)?;
        let confidence = part(&args.confidence, "confidence")?;
        let outputs = Output::parse_all(&args.output.out)?;
        let arrangement = arrangement(&args.output);
        let (selects, format) = match args.format {
            Shown::Report(format) => (false, format),
            Shown::BenchmarkText => (true, Format::Text),
        };
        let mut formats = outputs.iter().map(|output| output.format).chain([format]);
        let shows_verdicts = arrangement.changed_only || formats.any(Format::shows_verdicts);
        let gate = GateOptions::new(&args.gate, alpha, arrangement, shows_verdicts)?;
        if let Some(flag) = gate.purpose.instead_of_report() {
            // Nobody should look for a report that is not there.
            let asked = [
                ("out", !outputs.is_empty()),
                ("format", format != Format::Text),
            ];
            if let Some((other, _)) = asked.into_iter().find(|(_, is_asked)| *is_asked) {
                return Err(GateOptionError::Both(flag, other).into());
            }
        }
        Ok(Self {
            query: Query {
                filter,
                layout: Layout::new(table, row, column, &ignore),
                most_unpacked: args.max_unpacked,
                compares_environments: gate.judging.is_some(),
            },
            settings: Settings {
                alpha,
                confidence,
                keeps_sorted: gate.judging.is_some(),
            },
            gate,
            selects,
            format,
            alpha_above_one,
            colour: args.output.color,
            outputs,
            arrangement,
            presentation: presentation(&args.output)?,
            quiet: args.quiet,
        })
    }
}

/// The value of `-alpha`, and what was given where that is a little more than 1.
///
/// Scripts for the older generation of the reference write 1.1 or so to have every change shown. From 1.5 on it is a
/// mistake, such as a percentage, and an error for the reference too.
fn alpha(value: &OsStr) -> Result<(f64, Option<f64>), OptionError> {
    const MISTAKEN: f64 = 1.5;
    match parse_number(bytes(value)) {
        Ok(number) if number > 1.0 && number < MISTAKEN => Ok((1.0, Some(number))),
        _ => Ok((part(value, "alpha")?, None)),
    }
}

/// A number from 0 to 1, in any spelling of the benchmark format.
fn part(value: &OsStr, flag: &'static str) -> Result<f64, OptionError> {
    match parse_number(bytes(value)) {
        Ok(number) if (0.0..=1.0).contains(&number) => Ok(number),
        Ok(_) => Err(OptionError::Range { flag }),
        Err(_) => Err(OptionError::NoNumber {
            flag,
            value: value.to_string_lossy().into_owned(),
        }),
    }
}

/// The bytes of an argument; they are the user's own on Unix and close to them elsewhere.
fn bytes(argument: &OsStr) -> &[u8] {
    <[u8]>::from_os_str(argument).unwrap_or_default()
}

/// The order and choice of rows.
fn arrangement(args: &OutputArgs) -> Arrangement {
    Arrangement {
        sort: args.sort.0,
        changed_only: args.changed_only,
        limit: args.limit,
    }
}

/// What the further formats show beside the report.
fn presentation(args: &OutputArgs) -> Result<Presentation, OptionError> {
    const LONGEST_ID: usize = 64;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._/-".contains(&byte);
    let id = &args.id;
    // Two hyphens would end the comment in which the identity stands, as far as some readers are concerned.
    let is_name = |name: &String| {
        let length = 1..=LONGEST_ID;
        length.contains(&name.len()) && name.bytes().all(is_plain) && !name.contains("--")
    };
    if !is_name(id) {
        return Err(OptionError::Name("id"));
    }
    if !args.section.iter().all(is_name) {
        return Err(OptionError::Name("section"));
    }
    let is_url = |url: &String| {
        let is_web = url.starts_with("https://") || url.starts_with("http://");
        is_web
            && url
                .bytes()
                .all(|byte| byte.is_ascii_graphic() && !b"<>()[]\"`\\".contains(&byte))
    };
    if let Some(url) = args.report_url.iter().find(|url| !is_url(url)) {
        return Err(OptionError::Url(url.clone()));
    }
    if args.max_bytes < LEAST_BYTES {
        return Err(OptionError::MaxBytes);
    }
    Ok(Presentation {
        all: args.all,
        id: id.clone(),
        max_bytes: args.max_bytes,
        section: args.section.clone(),
        report_url: args.report_url.clone(),
        base_ref: args.base_ref.clone(),
        head_ref: args.head_ref.clone(),
        ..Presentation::default()
    })
}
