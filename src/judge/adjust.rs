//! How p-values are corrected.

use serde::Serialize;

/// How p-values are corrected for the number of comparisons in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Adjust {
    /// Holm (1979): at most α is the probability of even one false alarm in the run.
    #[default]
    Holm,
    /// Benjamini and Hochberg (1995): at most α is the expected share of false alarms among the alarms.
    Bh,
    /// Not at all.
    None,
}
