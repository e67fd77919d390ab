//! What verdicts depend on besides the numbers.

use super::adjust::Adjust;
use super::arrangement::Arrangement;
use super::gate::GateSettings;
use super::margin::Margins;
use super::waivers::Waivers;

/// What verdicts depend on besides the numbers, and what is done with them.
#[derive(Clone, Debug, PartialEq)]
pub struct Judging {
    /// The level up to which a p-value is significant, 0 to 1; intervals of change have the level 1 − α.
    pub alpha: f64,
    /// The level of the whole run, where `alpha` is the part of it that an early look spends: what is compared by rounds goes by it.
    pub whole_alpha: Option<f64>,
    /// How p-values are corrected.
    pub adjust: Adjust,
    /// Up to where changes do not matter.
    pub margins: Margins,
    /// Which regressions are tolerated.
    pub waivers: Waivers,
    /// Whether changes in both directions are asked for at once; else each direction has its own correction.
    pub is_two_sided: bool,
    /// What a gate is asked to do; none where there is no gate.
    pub gate: Option<GateSettings>,
    /// Which rows are shown, and in which order.
    pub arrangement: Arrangement,
}

impl Default for Judging {
    fn default() -> Self {
        Self {
            alpha: 0.05,
            whole_alpha: None,
            adjust: Adjust::default(),
            margins: Margins::default(),
            waivers: Waivers::default(),
            is_two_sided: false,
            gate: None,
            arrangement: Arrangement::default(),
        }
    }
}
