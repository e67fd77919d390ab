//! The exit statuses.

use std::process::ExitCode;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// All went well; so it is too when the reader of standard output went away.
    Success,
    /// Wrong usage, or an input or output that failed: nothing was compared.
    Failure,
}

impl Exit {
    /// The status that the process ends with.
    #[must_use]
    pub fn status(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Failure => 2,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        exit.status().into()
    }
}
