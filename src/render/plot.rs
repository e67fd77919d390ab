//! The drawings of the page: positions on a scale, as inline SVG.

use std::fmt::Write;

use crate::report::EffectScale;
use crate::report::judgement::Judged;
use crate::report::model::Cell;

/// The width of the drawing of both samples, in pixels.
const SAMPLES_WIDTH: f64 = 180.0;
/// The width of the drawing of an interval, in pixels.
const INTERVAL_WIDTH: f64 = 220.0;
/// What stays free at both ends, so that a dot is not cut.
const PAD: f64 = 5.0;

/// Both samples on a scale of their own: each value a dot, the centre a tick, its interval a bar; the baseline above.
#[must_use]
pub fn samples(judged: &Judged<'_>) -> String {
    let sides = [(judged.baseline, 'b', 9.0), (judged.cell, 'n', 25.0)];
    let values = || {
        let cells = sides.iter().filter_map(|(cell, ..)| *cell);
        cells.flat_map(|cell| cell.values.iter().copied())
    };
    let least = values().fold(f64::INFINITY, f64::min);
    let most = values().fold(f64::NEG_INFINITY, f64::max);
    if least > most {
        return String::new();
    }
    let room = SAMPLES_WIDTH - 2.0 * PAD;
    let x = |value: f64| {
        let part = if most > least {
            (value - least) / (most - least)
        } else {
            0.5
        };
        PAD + room * part.clamp(0.0, 1.0)
    };
    let mut svg = format!(
        "<svg width=\"{SAMPLES_WIDTH}\" height=\"34\" viewBox=\"0 0 {SAMPLES_WIDTH} 34\" aria-hidden=\"true\">"
    );
    for (cell, class, y) in sides {
        let Some(cell) = cell else { continue };
        let _ = write!(svg, "<path class=\"dot {class}\" d=\"");
        for &value in &cell.values {
            let _ = write!(svg, "M{:.1} {y}h0", x(value));
        }
        svg.push_str("\"/>");
        push_summary(&mut svg, cell, class, y, x);
    }
    svg.push_str("</svg>");
    svg
}

fn push_summary(svg: &mut String, cell: &Cell, class: char, y: f64, x: impl Fn(f64) -> f64) {
    if cell.low.is_finite() && cell.high.is_finite() {
        let _ = write!(
            svg,
            "<path class=\"bar {class}\" d=\"M{:.1} {y}H{:.1}\"/>",
            x(cell.low),
            x(cell.high)
        );
    }
    let _ = write!(
        svg,
        "<path class=\"tick {class}\" d=\"M{:.1} {}v14\"/>",
        x(cell.centre),
        y - 7.0
    );
}

/// The scale that all intervals of change share.
pub struct Axis {
    /// The change at both ends, as a part of the baseline.
    limit: f64,
}

impl Axis {
    /// Wide enough for most intervals of `listed`; the few that are far wider run out of it.
    #[must_use]
    pub fn new(listed: &[Judged<'_>]) -> Self {
        /// The limits worth having: the numbers on the scale are round.
        const LIMITS: [f64; 9] = [0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 100.0];
        /// Of so many intervals one may run out.
        const OF: usize = 20;
        let mut reaches: Vec<f64> = listed
            .iter()
            .filter_map(|judged| judged.judgement.effect)
            .filter(|effect| effect.is_bounded() && effect.scale != EffectScale::Difference)
            .map(|effect| effect.low.abs().max(effect.high.abs()))
            .filter(|reach| reach.is_finite())
            .collect();
        reaches.sort_unstable_by(f64::total_cmp);
        let reach = reaches
            .get((reaches.len() - reaches.len() / OF).saturating_sub(1))
            .copied()
            .unwrap_or_default();
        let limit = LIMITS.into_iter().find(|&limit| limit >= reach);
        Self {
            limit: limit.unwrap_or(LIMITS[LIMITS.len() - 1]),
        }
    }

    fn x(&self, change: f64) -> f64 {
        let half = INTERVAL_WIDTH / 2.0;
        half + (half - PAD) * (change / self.limit).clamp(-1.0, 1.0)
    }

    /// The numbers of the scale, for the head of its column.
    #[must_use]
    pub fn scale(&self) -> String {
        let percent = self.limit * 100.0;
        format!(
            "<svg width=\"{INTERVAL_WIDTH}\" height=\"14\" viewBox=\"0 0 {INTERVAL_WIDTH} 14\" role=\"img\" aria-label=\"from -{percent}% to +{percent}%\">\
             <text x=\"0\" y=\"11\">−{percent}%</text>\
             <text x=\"{}\" y=\"11\" text-anchor=\"middle\">0</text>\
             <text x=\"{INTERVAL_WIDTH}\" y=\"11\" text-anchor=\"end\">+{percent}%</text></svg>",
            INTERVAL_WIDTH / 2.0
        )
    }

    /// The interval of a change, with its estimate a dot and its margin shaded; empty where there is none on this scale.
    #[must_use]
    pub fn interval(&self, judged: &Judged<'_>) -> String {
        let effect = match judged.judgement.effect {
            Some(effect) if effect.is_bounded() && effect.scale != EffectScale::Difference => {
                effect
            }
            _ => return String::new(),
        };
        let mut svg = format!(
            "<svg width=\"{INTERVAL_WIDTH}\" height=\"16\" viewBox=\"0 0 {INTERVAL_WIDTH} 16\" aria-hidden=\"true\">"
        );
        if let Some(margin) = judged.judgement.margin.filter(|margin| margin.limit > 0.0) {
            let (left, right) = (self.x(-margin.limit), self.x(margin.limit));
            let _ = write!(
                svg,
                "<rect class=\"margin\" x=\"{left:.1}\" y=\"0\" width=\"{:.1}\" height=\"16\"/>",
                right - left
            );
        }
        let zero = self.x(0.0);
        let (low, high, point) = (
            self.x(effect.low),
            self.x(effect.high),
            self.x(effect.estimate),
        );
        let _ = write!(
            svg,
            "<path class=\"axis\" d=\"M{zero:.1} 0v16\"/><path class=\"reach\" d=\"M{low:.1} 8H{high:.1}"
        );
        // An arrow says that the interval goes on.
        if effect.high > self.limit {
            let _ = write!(svg, "m-4 -4l4 4l-4 4");
        }
        if effect.low < -self.limit {
            let _ = write!(svg, "M{:.1} 4l-4 4l4 4", low + 4.0);
        }
        let _ = write!(
            svg,
            "\"/><circle class=\"point\" cx=\"{point:.1}\" cy=\"8\" r=\"4\"/></svg>"
        );
        svg
    }
}
