//! The exit statuses.

use std::process::ExitCode;

use crate::judge::Outcome;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// 0: all went well, and the gate, if there is one, passed. So it is too when the reader of standard output went away,
    /// unless there is a gate: its answer stands.
    Success,
    /// 1: the gate failed, or the self-test of a gate found rows for which it does not fire.
    GateFailed,
    /// 2: wrong usage, or an input or output that failed.
    Failure,
    /// 3: the gate could not judge, which is no good answer.
    CouldNotJudge,
    /// 130: somebody ended the measuring early.
    Interrupted,
}

impl Exit {
    /// The status that the process ends with.
    #[must_use]
    pub fn status(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::GateFailed => 1,
            Self::Failure => 2,
            Self::CouldNotJudge => 3,
            Self::Interrupted => 130,
        }
    }
}

impl From<Outcome> for Exit {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Passed => Self::Success,
            Outcome::Failed => Self::GateFailed,
            Outcome::CouldNotJudge => Self::CouldNotJudge,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        exit.status().into()
    }
}
