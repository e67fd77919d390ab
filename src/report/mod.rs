//! The facts that renderers show.

pub mod arrangement;
pub mod build;
pub(crate) mod evidence;
pub mod gate;
pub mod judgement;
pub mod margin;
pub mod model;
pub mod notes;
pub mod rules;
pub mod self_test;
pub mod settings;
pub mod sides;
pub mod verdict;
pub mod waivers;
pub mod warning;

pub use arrangement::Arrangement;
pub use build::{Settings, build};
pub use judgement::{
    Adjust, Effect, EffectScale, FailOn, Gate, Judged, Judgement, Noise, Outcome, Place, Summary,
    Verdict,
};
pub use model::Report;
pub use notes::{Asked, Note, notes, notes_on_inputs};
pub use warning::Warning;
