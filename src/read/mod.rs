//! From paths to samples: opens inputs, reads their records, and keeps what is known of each.
//!
//! [`read()`] collects samples for a comparison, [`select()`] writes what a query selects as benchmark text. Both go over
//! the records of an input in the one loop of this module.

mod facts;
mod inputs;
mod pass;
mod select;

pub use facts::{InputFacts, UnitStatement};
pub use inputs::{Inputs, read};
pub use select::{SelectError, select};

use std::io;

use crate::input::decode::MOST_UNPACKED;
use crate::input::{InputError, Size};
use crate::query::{Filter, Key, Layout, ValueOrder};

/// Which results are read, and where they go.
#[derive(Clone, Debug)]
pub struct Query {
    /// Which results are used.
    pub filter: Filter,
    /// To which cells they go.
    pub layout: Layout,
    /// What each packed input may unpack to.
    pub most_unpacked: Size,
    /// Whether to find out what results were measured on, which verdicts are about.
    pub compares_environments: bool,
}

impl Query {
    /// The keys that it names, each with the flag that does, in the order of `--help`.
    pub fn keys(&self) -> impl Iterator<Item = (&'static str, &Key)> {
        let of_layout = self.layout.by_flag().flat_map(|(flag, projection)| {
            let fields = projection.fields().iter();
            fields.map(move |field| (flag, &field.key))
        });
        let of_filter = self.filter.keys().into_iter().map(|key| ("filter", key));
        of_filter.chain(of_layout)
    }

    /// Whether a projection has a list of values, and drops all others.
    pub(crate) fn has_lists(&self) -> bool {
        let projections = self.layout.by_flag();
        let mut fields = projections.flat_map(|(_, projection)| projection.fields());
        fields.any(|field| matches!(field.order, ValueOrder::Fixed(_)))
    }

    /// Whether it names a key that inputs may lack.
    #[must_use]
    pub fn names_keys(&self) -> bool {
        self.keys()
            .any(|(_, key)| matches!(key, Key::Configuration(_) | Key::Sub(_) | Key::Gomaxprocs))
    }
}

/// What the program does without flags: all results, a column for each input.
impl Default for Query {
    fn default() -> Self {
        Self {
            filter: Filter::default(),
            layout: Layout::default(),
            most_unpacked: MOST_UNPACKED,
            compares_environments: false,
        }
    }
}

/// Why reading stopped.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// An input cannot be read.
    #[error(transparent)]
    Input(#[from] InputError),
    /// A warning cannot be written.
    #[error("write standard error: {0}")]
    Warning(#[from] io::Error),
}
