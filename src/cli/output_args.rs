//! The arguments about what is shown, how, and where it goes.

use std::ffi::OsString;
use std::num::NonZero;

use clap::{Args, ValueEnum};

/// The most bytes that a comment may have unless told otherwise; GitHub refuses more than 65,536 characters.
const COMMENT_BYTES: &str = "60000";

/// What is shown, how, and where it goes.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    /// Write a further report to a file, in any format; give it again for more of them
    #[arg(long, value_name = "FORMAT=PATH")]
    pub out: Vec<OsString>,

    /// Sort the rows of each table; with a `-` in front (`-sort -delta`) the other way round
    #[arg(
        long,
        value_name = "delta|name|p|none",
        default_value = "none",
        allow_hyphen_values = true
    )]
    pub sort: String,

    /// Show only rows where something changed
    #[arg(long)]
    pub changed_only: bool,

    /// Show at most this many rows of each table; what is summed up and judged is still all of them
    #[arg(long, value_name = "N")]
    pub limit: Option<NonZero<usize>>,

    /// When to use colour: in `auto`, on a terminal only, and as `NO_COLOR` and `CLICOLOR_FORCE` say
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Color::Auto)]
    pub color: Color,

    /// In `pretty`: show unchanged rows too
    #[arg(long)]
    pub all: bool,

    /// In `comment`: what tells this comment from others on the same pull request
    #[arg(long, value_name = "ID", default_value = "default")]
    pub id: String,

    /// In `comment`: the most bytes it may have; detail is left out, with a word on it, until it fits
    #[arg(long, value_name = "N", default_value = COMMENT_BYTES)]
    pub max_bytes: usize,

    /// The commit that the first input was made from, to be named in reports
    #[arg(long, value_name = "REF")]
    pub base_ref: Option<String>,

    /// The commit that the last input was made from, to be named in reports
    #[arg(long, value_name = "REF")]
    pub head_ref: Option<String>,
}

/// When to use colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal
    Auto,
    /// In files and pipes too
    Always,
    /// Not at all
    Never,
}
