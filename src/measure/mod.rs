//! Producing measurements: which sides there are, their programs, and the rounds in which they run.
//!
//! It knows nothing of what the results say, and imports nothing of ours. `git` and `go` are called as programs, with each
//! argument passed as it is; nothing that the measured code prints is trusted.

mod failing;
mod folder;
mod git;
mod go;
pub mod machine;
mod program;
mod progress;
mod rounds;
mod same;
mod side;

use std::io;
use std::path::PathBuf;
use std::time::Duration;

pub use folder::Folder;
pub use program::{heed_interrupts, is_interrupted};
pub use progress::Progress;
pub use rounds::{BenchmarkRow, Session};

/// Which commits the head is compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bases {
    /// The one where the head branched off the default branch.
    Default,
    /// These, or where the head branched off them.
    Named(Vec<String>),
    /// The last tag before the head.
    LastTag,
}

/// What is run in each round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Work {
    /// The benchmarks of Go packages.
    Go(GoWork),
    /// A command for the system's shell that prints benchmark results.
    Command(String),
}

/// Which benchmarks of which packages run, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoWork {
    /// As `go test -bench`.
    pub bench: String,
    /// As `go test -benchtime`.
    pub benchtime: Option<String>,
    /// As `go test -cpu`.
    pub cpu: Option<String>,
    /// As `go test -tags`.
    pub tags: Option<String>,
    /// Patterns of packages, as for `go list`.
    pub packages: Vec<String>,
    /// Further flags for `go test -c`, after our own.
    pub build_flags: Vec<String>,
    /// Whether programs that are the same on all sides are measured too.
    pub measures_same: bool,
}

/// What is measured, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// What the head is compared with.
    pub bases: Bases,
    /// Whether a named base means the commit itself.
    pub exact_base: bool,
    /// The commit to judge; the working tree as it is without one.
    pub head: Option<String>,
    /// A command for the system's shell that is run once in the folder of each side.
    pub setup: Option<String>,
    /// What runs.
    pub work: Work,
    /// How long one program may run in one round.
    pub timeout: Duration,
}

/// What is told while measuring.
pub trait Listener {
    /// What is good to know.
    fn note(&mut self, line: &str);
    /// What went wrong, in lines that stay. They can hold anything that a measured program printed.
    fn say(&mut self, line: &str);
    /// How far the rounds are, which takes the place of what was told before.
    fn progress(&mut self, progress: &Progress, doing: &str);
}

/// Why nothing could be measured.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// Something is not as it has to be; the sentence says what to do.
    #[error("{0}")]
    Refused(String),
    /// A program could not be started.
    #[error("start {program}: {error}")]
    Start {
        /// Its name.
        program: String,
        /// What the system said.
        error: io::Error,
    },
    /// A file or folder.
    #[error("{}: {error}", .path.display())]
    File {
        /// Where.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// Somebody pressed Ctrl-C before there was a round to compare.
    #[error("interrupted before the first round was complete")]
    Interrupted,
}

impl MeasureError {
    fn refused<T>(sentence: impl Into<String>) -> Result<T, Self> {
        Err(Self::Refused(sentence.into()))
    }

    fn file(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |error| Self::File { path, error }
    }
}
