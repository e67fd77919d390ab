//! What there is to say, as facts; `wording` has the words.

use bstr::BString;

use crate::input::Likeness;
use crate::judge::settings::IdleSetting;
use crate::query::{Filter, Key};
use crate::record::{Findings, Occurrences};

/// Something worth knowing that the report does not say.
#[derive(Clone, Debug, PartialEq)]
pub enum Note {
    /// A setting does nothing here.
    Idle(IdleSetting),
    /// The value of `-alpha` was taken for 1.
    AlphaAboveOne {
        /// The value, above 1.
        given: f64,
    },
    /// An input has no result.
    NoResults {
        /// Its name.
        input: BString,
        /// What it looks like.
        likeness: Likeness,
        /// The benchmarks in it that failed.
        failed: Vec<BString>,
        /// Lines that look like results and are none.
        refused: Occurrences,
    },
    /// No input has a key that a flag names.
    MissingKey {
        /// The flag.
        flag: &'static str,
        /// The key.
        key: Key,
        /// The keys there are.
        known: Vec<Key>,
        /// A part of a name without a key, with its slash.
        positional: Option<BString>,
    },
    /// The query leaves nothing of what there is.
    NothingLeft {
        /// The filter.
        filter: Filter,
        /// How many benchmarks there are.
        benchmarks: usize,
        /// Whether there are measurements that the filter keeps, and that are no finite numbers.
        has_none: bool,
        /// Whether a projection has a list of values.
        has_lists: bool,
    },
    /// Rows have one side only because of something that can be ignored.
    Apart {
        /// How many rows have both sides.
        compared: usize,
        /// How many have one, for this reason.
        apart: usize,
        /// The keys in which the sides differ.
        keys: Vec<Difference>,
        /// Ends of names in which they differ.
        suffixes: Option<Difference>,
        /// Whether ignoring the ends would pool what is several, or cut a number that belongs to a name.
        needs_suffixes: bool,
        /// The flags to add; empty where none helps.
        remedy: String,
    },
    /// A configuration key changes between the results of one benchmark.
    Changing {
        /// The key.
        key: BString,
        /// The input.
        input: BString,
        /// The benchmark.
        name: BString,
        /// Two values.
        values: [BString; 2],
        /// The flag to add.
        remedy: String,
    },
    /// Something failed while an input was made.
    Broken {
        /// The input.
        input: BString,
        /// What was found in it.
        findings: Box<Findings>,
    },
    /// All results stood behind a prefix, which was taken away.
    Prefixed {
        /// The input.
        input: BString,
        /// The first one.
        prefix: BString,
    },
    /// Results are left out, as they stand behind prefixes of several kinds, or beside others without.
    BehindPrefixes {
        /// The input.
        input: BString,
        /// How many there are; the text is the first prefix.
        results: Occurrences,
    },
    /// Results were put together again.
    Joined {
        /// The input.
        input: BString,
        /// Which.
        results: Occurrences,
    },
    /// Results were torn apart, and remain so.
    Torn {
        /// The input.
        input: BString,
        /// Which.
        results: Occurrences,
    },
    /// A column has the measurements of the baseline.
    SameValues {
        /// The column.
        column: BString,
        /// In how many rows.
        rows: usize,
    },
    /// Benchmarks are on one side only.
    OneSided {
        /// How many rows have both sides.
        compared: usize,
        /// The sides with what only they have.
        sides: Vec<(BString, Vec<BString>)>,
        /// The flag that leaves them out; none where none is short enough.
        remedy: Option<String>,
    },
    /// Most of what a table has room for is not there.
    MostlyEmpty {
        /// How many rows the largest such table has.
        rows: usize,
        /// How many columns.
        columns: usize,
        /// How many cells.
        cells: usize,
        /// Whether the columns are inputs, which labels can bring together.
        is_by_file: bool,
    },
    /// Units are on one side only, though the benchmarks are on both.
    OneSidedUnits {
        /// How many rows have both sides.
        compared: usize,
        /// What only they have.
        sides: Vec<UnitsOfSide>,
    },
    /// Each run is in an input of its own.
    InputPerRun {
        /// The arguments that pool those of each side.
        arguments: Vec<BString>,
    },
    /// There are too few runs.
    FewRuns {
        /// The smallest number of runs.
        runs: usize,
        /// What they are too few for, with how many it needs; none if too many.
        aims: Vec<(Aim, Option<usize>)>,
    },
    /// The sides have different numbers of runs.
    UnequalRuns {
        /// In how many rows.
        rows: usize,
        /// One of them.
        row: BString,
        /// Its runs on both sides.
        runs: [usize; 2],
    },
    /// Geomeans are of different benchmarks.
    GeomeanSets {
        /// The unit of the first such table.
        unit: BString,
        /// The columns.
        columns: [BString; 2],
        /// How many rows they have.
        rows: [usize; 2],
        /// How many rows both have.
        common: usize,
        /// The flag that leaves out the others; none where none is short enough.
        remedy: Option<String>,
    },
    /// A geomean changes though no row does.
    GeomeanOfNoise {
        /// The unit of the first such table.
        unit: BString,
    },
}

/// Units that only one column has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitsOfSide {
    /// The column.
    pub column: BString,
    /// The units, at least one.
    pub units: Vec<BString>,
    /// The benchmarks that have them.
    pub benchmarks: Vec<BString>,
}

/// What takes a number of runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Aim {
    /// A confidence interval.
    Interval {
        /// Its level, 0 to 1.
        level: f64,
    },
    /// A significant change.
    Change {
        /// The level, 0 to 1, up to which a p-value is significant.
        alpha: f64,
    },
}

/// A value that differs between two columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Of what.
    pub key: BString,
    /// The columns.
    pub columns: [BString; 2],
    /// The values; empty where there is none.
    pub values: [BString; 2],
}

impl Difference {
    /// Whether only the number of blanks differs.
    pub(super) fn is_blank(&self) -> bool {
        let fields = |value: &BString| -> Vec<BString> {
            let fields = value.split(u8::is_ascii_whitespace);
            fields
                .filter(|field| !field.is_empty())
                .map(BString::from)
                .collect()
        };
        self.values.iter().all(|value| !value.is_empty())
            && fields(&self.values[0]) == fields(&self.values[1])
    }
}
