//! What looks how in a terminal; every colour repeats what a word or sign says too.

use anstyle::{AnsiColor, Style};

use crate::report::model::Change;
use crate::unit::Better;

/// For what got better.
pub const GOOD: Style = AnsiColor::Green.on_default();
/// For what got worse.
pub const BAD: Style = AnsiColor::Red.on_default();
/// For what wants a look.
pub const DOUBTFUL: Style = AnsiColor::Yellow.on_default();
/// For what needs no look.
pub const DIM: Style = Style::new().dimmed();

/// The style of a change, to the value `centre`.
#[must_use]
pub fn of_change(change: Change, centre: f64, better: Option<Better>) -> Style {
    let is_rise = match change {
        Change::Insignificant | Change::Same => return DIM,
        Change::FromZero => centre > 0.0,
        Change::By(part) => part > 0.0,
    };
    match better {
        None => Style::new().bold(),
        Some(better) if (better == Better::Higher) == is_rise => GOOD,
        Some(_) => BAD,
    }
}
