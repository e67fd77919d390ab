//! The facts that renderers show.

pub mod build;
pub mod judgement;
pub mod model;
pub mod warning;

pub use build::{Settings, build};
pub use judgement::{
    Adjust, Effect, EffectScale, FailOn, Gate, Judged, Judgement, Noise, Outcome, Place, Summary,
    Verdict,
};
pub use model::Report;
pub use warning::Warning;
