//! The arguments, checked and typed.

use std::ffi::OsStr;

use bstr::ByteSlice;

use super::args::Args;
use super::gate_options::{GateOptionError, GateOptions};
use crate::query::{Filter, Layout, Projection, SyntaxError};
use crate::record::number::parse_number;
use crate::report::{Asked, Settings};

/// How the report is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Tables with aligned columns.
    Text,
    /// Comma-separated values.
    Csv,
}

/// What a run is asked to do.
#[derive(Debug)]
pub struct Options {
    /// Which results are used.
    pub filter: Filter,
    /// To which cells they go.
    pub layout: Layout,
    /// What was asked, for notes.
    pub asked: Asked,
    /// What the statistics are judged by.
    pub settings: Settings,
    /// How the report is printed.
    pub format: Format,
    /// Which verdicts are given, and what becomes of them.
    pub gate: GateOptions,
    /// Whether notes are left out.
    pub quiet: bool,
}

/// An argument that makes no sense.
#[derive(Debug, thiserror::Error)]
pub enum OptionError {
    /// A format that does not exist.
    #[error("-format must be text or csv")]
    Format,
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
        let settings = Settings {
            alpha: part(&args.alpha, "alpha")?,
            confidence: part(&args.confidence, "confidence")?,
        };
        let format = match args.format.as_str() {
            "text" => Format::Text,
            "csv" => Format::Csv,
            _ => return Err(OptionError::Format),
        };
        let shows_verdicts = match format {
            Format::Text | Format::Csv => false,
        };
        Ok(Self {
            asked: Asked {
                filter: filter.clone(),
                table: table.clone(),
                row: row.clone(),
                column: column.clone(),
                ignore: ignore.clone(),
            },
            gate: GateOptions::new(&args.gate, settings.alpha, shows_verdicts)?,
            settings,
            format,
            filter,
            layout: Layout::new(table, row, column, &ignore),
            quiet: args.quiet,
        })
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
