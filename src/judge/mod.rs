//! What the facts mean: effects, verdicts, and the answer of a gate.
//!
//! [`judge()`] takes a report and gives back the same report with what it means. It goes over the rows once for each step, and each
//! step makes something new of what those before it found:
//!
//! 1. `contrast`: what is compared with what, and how large each change is ([`effect`], held against a [`margin`]);
//! 2. `collected`: the `evidence` of all rows, a p-value for each direction of each `pair`, with what whole `passes` did taken out and
//!    `twins` counted once;
//! 3. `correction`: what is left of them among all comparisons of the run, and what could have been shown;
//! 4. [`judgement`]: the verdict of each row, and what [`waivers`] make of it;
//! 5. [`summary`]: what the run comes to, with [`shift`], [`noise`] and the intervals of geometric means ([`geomean`]);
//! 6. [`gate`]: one answer for all of it, or the [`obstacle`]s to one;
//! 7. [`arrangement`]: which rows are shown, and in which order.
//!
//! Nothing here changes what the drop-in formats show, and none of it runs unless something asks for verdicts.

pub mod adjust;
pub mod alone;
pub mod arrangement;
mod collected;
mod contrast;
pub mod control;
mod correction;
pub mod counts;
pub mod doubt;
pub mod effect;
mod evidence;
pub mod gate;
pub mod geomean;
pub mod judged;
pub mod judgement;
pub mod judging;
pub mod margin;
pub mod noise;
pub mod noise_margins;
pub mod obstacle;
mod pair;
mod passes;
mod rounds;
pub mod row_name;
pub mod rules;
pub mod self_test;
pub mod settings;
pub mod shift;
pub mod sides;
pub mod summary;
mod twins;
pub mod verdict;
pub mod waivers;

pub use adjust::Adjust;
pub use alone::LoneRow;
pub use counts::Counts;
pub use effect::{Effect, EffectScale, EstimatedBy};
pub use gate::{FailOn, Gate, GateSettings, InputProblems, Outcome};
pub use judged::{Judged, Provenance, judge};
pub use judgement::{JudgedRow, Judgement};
pub use judging::Judging;
pub use noise::Noise;
pub use summary::Summary;
pub use verdict::Verdict;
