//! What keeps a gate from an answer.

use bstr::BString;

use super::shift::Shift;
use crate::report::model::Position;
use crate::sample::EnvironmentDifference;

/// Why a gate has no answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Obstacle {
    /// No benchmark has both sides.
    NothingCompared {
        /// The unit asked for that has none; none if there is nothing at all.
        unit: Option<BString>,
        /// The keys that split the sides into tables of their own; empty if something else did.
        differing: Vec<BString>,
    },
    /// An input contributes nothing.
    EmptyInput {
        /// Its name.
        input: BString,
    },
    /// The sides were measured on different things.
    Environment(EnvironmentDifference),
    /// A benchmark is in the baseline only.
    Removed {
        /// Its rows, one for each unit.
        places: Vec<Position>,
    },
    /// A benchmark or package failed.
    FailedBenchmark {
        /// The input, the line, and what it says.
        line: BString,
    },
    /// A column has the very measurements of the baseline.
    SameValues {
        /// The column, an index of [`Report::columns`].
        column: usize,
        /// How many rows.
        rows: usize,
    },
    /// A configuration key that changes within an input takes runs of a compared benchmark out of the comparison.
    Configuration(SplitByKey),
    /// The judged side contradicts the rules for a unit.
    Unit(UnitDispute),
    /// Rows have too few values for any verdict at this correction.
    TooFewRuns {
        /// How many rows.
        rows: usize,
        /// How many values a side would do; none up to the limit of the search.
        needed: Option<usize>,
    },
    /// All rows of a unit moved alike, so that none of them says anything of the code alone.
    Shift(Shift),
    /// Rows changed that cannot have.
    Control {
        /// Which, the worst first.
        places: Vec<Position>,
    },
    /// Rows look worse, and are not proven to be.
    Suspect {
        /// Which, the worst first.
        places: Vec<Position>,
    },
    /// Lines of an input were not understood.
    Syntax {
        /// How many.
        lines: usize,
    },
}

/// A configuration key that takes runs out of the comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SplitByKey {
    /// The key.
    pub key: BString,
    /// The input in which it changes.
    pub input: BString,
    /// A benchmark of which only part of the runs is compared.
    pub benchmark: BString,
}

/// What an input of a judged side says of a unit, against the baseline or what is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitDispute {
    /// The unit as written.
    pub unit: BString,
    /// The pair, such as `better=higher`.
    pub claim: BString,
    /// The input.
    pub input: BString,
}

/// The names by which `-allow` calls obstacles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ObstacleKind {
    /// [`Obstacle::NothingCompared`].
    NothingCompared,
    /// [`Obstacle::EmptyInput`].
    EmptyInput,
    /// [`Obstacle::Environment`].
    Environment,
    /// [`Obstacle::Removed`].
    Removed,
    /// [`Obstacle::FailedBenchmark`].
    Failed,
    /// [`Obstacle::SameValues`].
    SameValues,
    /// [`Obstacle::Configuration`].
    Configuration,
    /// [`Obstacle::Unit`].
    Unit,
    /// [`Obstacle::TooFewRuns`].
    TooFewRuns,
    /// [`Obstacle::Shift`].
    Shift,
    /// [`Obstacle::Control`].
    Control,
    /// [`Obstacle::Suspect`].
    Suspect,
    /// [`Obstacle::Syntax`].
    Syntax,
}

impl ObstacleKind {
    /// All of them, in the order in which they are told.
    pub const ALL: [Self; 13] = [
        Self::Environment,
        Self::Shift,
        Self::Control,
        Self::SameValues,
        Self::Unit,
        Self::Configuration,
        Self::NothingCompared,
        Self::EmptyInput,
        Self::Failed,
        Self::Removed,
        Self::Syntax,
        Self::TooFewRuns,
        Self::Suspect,
    ];

    /// The word for `-allow`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::NothingCompared => "nothing-compared",
            Self::EmptyInput => "empty-input",
            Self::Environment => "environment",
            Self::Removed => "removed",
            Self::Failed => "failed",
            Self::SameValues => "same-values",
            Self::Configuration => "configuration",
            Self::Unit => "unit",
            Self::TooFewRuns => "too-few-runs",
            Self::Shift => "shift",
            Self::Control => "control",
            Self::Suspect => "suspect",
            Self::Syntax => "syntax",
        }
    }
}

impl Obstacle {
    /// Its kind.
    #[must_use]
    pub fn kind(&self) -> ObstacleKind {
        match self {
            Self::NothingCompared { .. } => ObstacleKind::NothingCompared,
            Self::EmptyInput { .. } => ObstacleKind::EmptyInput,
            Self::Environment(_) => ObstacleKind::Environment,
            Self::Removed { .. } => ObstacleKind::Removed,
            Self::FailedBenchmark { .. } => ObstacleKind::Failed,
            Self::SameValues { .. } => ObstacleKind::SameValues,
            Self::Configuration(_) => ObstacleKind::Configuration,
            Self::Unit(_) => ObstacleKind::Unit,
            Self::TooFewRuns { .. } => ObstacleKind::TooFewRuns,
            Self::Shift(_) => ObstacleKind::Shift,
            Self::Control { .. } => ObstacleKind::Control,
            Self::Suspect { .. } => ObstacleKind::Suspect,
            Self::Syntax { .. } => ObstacleKind::Syntax,
        }
    }
}

/// An obstacle, and whether `-allow` names it.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The obstacle.
    pub obstacle: Obstacle,
    /// Whether it is allowed.
    pub is_allowed: bool,
}
