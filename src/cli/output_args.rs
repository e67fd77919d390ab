//! The arguments about what is shown, how, and where it goes.

use std::ffi::OsString;
use std::num::NonZero;

use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};

use super::words::whole_number;
use crate::judge::arrangement::{RowOrder, Sort};

/// The most bytes that a comment may have unless told otherwise; GitHub refuses more than 65,536 characters.
const COMMENT_BYTES: &str = "60000";

/// What is shown, how, and where it goes.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    /// Write a further report to a file, in any format; give it again for more of them
    #[arg(long, value_name = "FORMAT=PATH")]
    pub out: Vec<OsString>,

    /// Sort the rows of each table; `delta` has the worst change first, `-delta` the best
    #[arg(
        long,
        value_name = "ORDER",
        default_value = "none",
        value_enum,
        allow_hyphen_values = true
    )]
    pub sort: Sorting,

    /// Show only rows where something changed
    #[arg(long)]
    pub changed_only: bool,

    /// Show at most this many rows of each table; what is summed up and judged is still all of them
    #[arg(long, value_name = "N", value_parser = whole_number::<NonZero<usize>>, allow_negative_numbers = true)]
    pub limit: Option<NonZero<usize>>,

    /// When to use colour: in `auto`, on a terminal only, and as `NO_COLOR` and `CLICOLOR_FORCE` say
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Color::Auto)]
    pub color: Color,

    /// In `pretty`: show unchanged and inconclusive rows too
    #[arg(long)]
    pub all: bool,

    /// In `comment`: what tells this comment from others on the same pull request
    #[arg(long, value_name = "ID", default_value = "default")]
    pub id: String,

    /// In `comment`: what this section is called; several jobs with one -id make one comment with a section each
    #[arg(long, value_name = "NAME")]
    pub section: Option<String>,

    /// In `comment`: where the full report is, to be linked
    #[arg(long, value_name = "URL")]
    pub report_url: Option<String>,

    /// In `comment`: the most bytes it may have; detail is left out and counted until it fits
    #[arg(long, value_name = "N", default_value = COMMENT_BYTES, value_parser = whole_number::<usize>)]
    pub max_bytes: usize,

    /// The commit that the first input was made from, to be named in reports
    #[arg(long, value_name = "REF")]
    pub base_ref: Option<String>,

    /// The commit that the last input was made from, to be named in reports
    #[arg(long, value_name = "REF")]
    pub head_ref: Option<String>,
}

/// How rows are sorted, if they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sorting(pub Option<Sort>);

impl Sorting {
    const fn by(order: RowOrder, is_descending: bool) -> Self {
        Self(Some(Sort {
            order,
            is_descending,
        }))
    }
}

impl ValueEnum for Sorting {
    fn value_variants<'a>() -> &'a [Self] {
        &const {
            [
                Self::by(RowOrder::Change, false),
                Self::by(RowOrder::Change, true),
                Self::by(RowOrder::Name, false),
                Self::by(RowOrder::Name, true),
                Self::by(RowOrder::P, false),
                Self::by(RowOrder::P, true),
                Self(None),
            ]
        }
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let (name, help) = match self.0 {
            None => ("none", "As read"),
            Some(sort) => match (sort.order, sort.is_descending) {
                (RowOrder::Change, false) => ("delta", "By the change, the worst first"),
                (RowOrder::Change, true) => ("-delta", "By the change, the best first"),
                (RowOrder::Name, false) => ("name", "By the name of the row"),
                (RowOrder::Name, true) => ("-name", "By the name of the row, from the last"),
                (RowOrder::P, false) => ("p", "By the p-value, from the lowest"),
                (RowOrder::P, true) => ("-p", "By the p-value, from the highest"),
            },
        };
        Some(PossibleValue::new(name).help(help))
    }
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
