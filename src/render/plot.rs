//! The drawings of the page: positions on a scale, as inline SVG.

use std::fmt::Write;

use super::format;
use crate::judge::{Effect, EffectScale, JudgedRow};
use crate::report::model::Cell;

/// The width of the drawing of both samples, in pixels.
const SAMPLES_WIDTH: f64 = 180.0;
/// The width of the drawing of an interval, in pixels.
const INTERVAL_WIDTH: f64 = 220.0;
/// What stays free at both ends, so that a dot is not cut.
const PAD: f64 = 5.0;

/// Both samples on a scale of their own: each value a dot, the centre a tick, its interval a bar; the baseline above.
#[must_use]
pub fn samples(judged: &JudgedRow<'_>) -> String {
    let sides = [(judged.baseline, 'b', 8.0), (judged.cell, 'n', 27.0)];
    let values = || {
        let cells = sides.iter().filter_map(|(cell, ..)| *cell);
        cells.flat_map(|cell| cell.values.iter())
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
        "<svg width=\"{SAMPLES_WIDTH}\" height=\"40\" viewBox=\"0 0 {SAMPLES_WIDTH} 40\" aria-hidden=\"true\">"
    );
    for (cell, class, y) in sides {
        let Some(cell) = cell else { continue };
        let _ = write!(svg, "<path class=\"dot {class}\" d=\"");
        for value in cell.values.iter() {
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
            "<path class=\"bar {class}\" d=\"M{:.1} {}H{:.1}\"/>",
            x(cell.low),
            y + 6.0,
            x(cell.high)
        );
    }
    let _ = write!(
        svg,
        "<path class=\"tick {class}\" d=\"M{:.1} {}v15\"/>",
        x(cell.centre),
        y - 5.0
    );
}

/// The scale that all intervals of change share.
///
/// A change stands at the square root of its size: a change of one percent and one of fifty can both be seen.
pub struct Axis {
    /// The change at both ends, as a part of the baseline.
    limit: f64,
}

impl Axis {
    /// Wide enough for most of what changed and most of the rest. What is far wider runs out of it, with its number.
    #[must_use]
    pub fn new(listed: &[JudgedRow<'_>]) -> Self {
        /// The limits worth having: the numbers on the scale are round.
        const LIMITS: [f64; 7] = [0.05, 0.1, 0.2, 0.5, 1.0, 5.0, 10.0];
        /// Of so many unchanged rows one may run out.
        const OF_UNCHANGED: usize = 20;
        /// Of so many changes one may.
        const OF_CHANGED: usize = 5;
        let reaches = |is_change: bool| {
            let mut reaches: Vec<f64> = listed
                .iter()
                .filter(|judged| judged.judgement.verdict.is_change() == is_change)
                .filter_map(|judged| drawable(judged))
                .map(|effect| effect.low.abs().max(effect.high.abs()))
                .collect();
            reaches.sort_unstable_by(f64::total_cmp);
            reaches
        };
        let most = |is_change: bool, of: usize| {
            let reaches = reaches(is_change);
            let most = (reaches.len() - reaches.len() / of).saturating_sub(1);
            reaches.get(most).copied().unwrap_or_default()
        };
        let reach = most(true, OF_CHANGED).max(most(false, OF_UNCHANGED));
        let limit = LIMITS.into_iter().find(|&limit| limit >= reach);
        Self {
            limit: limit.unwrap_or(LIMITS[LIMITS.len() - 1]),
        }
    }

    fn x(&self, change: f64) -> f64 {
        let half = INTERVAL_WIDTH / 2.0;
        let part = (change.abs() / self.limit).min(1.0).sqrt();
        half + (half - PAD) * part.copysign(change)
    }

    /// The changes that are marked on the scale.
    fn marks(&self) -> [f64; 4] {
        let inner = self.limit / 5.0;
        [-self.limit, -inner, inner, self.limit]
    }

    /// The numbers of the scale, for the head of its column.
    #[must_use]
    pub fn scale(&self) -> String {
        let mut svg = format!(
            "<svg width=\"{INTERVAL_WIDTH}\" height=\"14\" viewBox=\"0 0 {INTERVAL_WIDTH} 14\" aria-hidden=\"true\">\
             <text x=\"{}\" y=\"11\" text-anchor=\"middle\">0</text>",
            INTERVAL_WIDTH / 2.0
        );
        // Numbers of four digits need the room of those beside them.
        let marks = self.marks();
        let marks = marks
            .iter()
            .filter(|mark| self.limit < 5.0 || mark.abs() == self.limit);
        for &mark in marks {
            let anchor = if mark.abs() < self.limit {
                "middle"
            } else if mark < 0.0 {
                "start"
            } else {
                "end"
            };
            let x = match anchor {
                "middle" => self.x(mark),
                "start" => 0.0,
                _ => INTERVAL_WIDTH,
            };
            let sign = if mark < 0.0 { '−' } else { '+' };
            let percent = (mark.abs() * 1e4).round() / 100.0;
            let _ = write!(
                svg,
                "<text x=\"{x:.1}\" y=\"11\" text-anchor=\"{anchor}\">{sign}{percent}%</text>"
            );
        }
        svg.push_str("</svg>");
        svg
    }

    /// The interval of a change, with its estimate a dot and its margin shaded; empty where there is none on this scale.
    #[must_use]
    pub fn interval(&self, judged: &JudgedRow<'_>) -> String {
        let Some(effect) = drawable(judged) else {
            return String::new();
        };
        let mut svg = format!(
            "<svg width=\"{INTERVAL_WIDTH}\" height=\"16\" viewBox=\"0 0 {INTERVAL_WIDTH} 16\" aria-hidden=\"true\">"
        );
        if let Some(margin) = judged.judgement.margin.filter(|margin| margin.limit > 0.0) {
            let (left, right) = (self.x(-margin.limit), self.x(margin.limit));
            let _ = write!(
                svg,
                "<path class=\"margin\" d=\"M{left:.1} 0H{right:.1}V16H{left:.1}z\"/>"
            );
        }
        svg.push_str("<path class=\"grid\" d=\"");
        for mark in self.marks() {
            let _ = write!(svg, "M{:.1} 0v16", self.x(mark));
        }
        let (low, high) = (self.x(effect.low), self.x(effect.high));
        let _ = write!(
            svg,
            "\"/><path class=\"axis\" d=\"M{:.1} 0v16\"/><path class=\"reach\" d=\"M{low:.1} 8H{high:.1}",
            self.x(0.0)
        );
        // An arrow says that the interval goes on.
        if effect.high > self.limit {
            let _ = write!(svg, "m-5 -5l5 5l-5 5");
        }
        if effect.low < -self.limit {
            let _ = write!(svg, "M{:.1} 3l-5 5l5 5", low + 5.0);
        }
        svg.push_str("\"/>");
        if effect.estimate.abs() <= self.limit {
            let point = self.x(effect.estimate);
            let _ = write!(
                svg,
                "<circle class=\"point\" cx=\"{point:.1}\" cy=\"8\" r=\"4\"/>"
            );
        } else {
            // What has no place on the scale is said beside the arrow.
            let (x, anchor) = if effect.estimate > 0.0 {
                (INTERVAL_WIDTH - 2.0 * PAD, "end")
            } else {
                (2.0 * PAD, "start")
            };
            let _ = write!(
                svg,
                "<text class=\"beyond\" x=\"{x}\" y=\"12\" text-anchor=\"{anchor}\">{}</text>",
                format::percent(effect.estimate)
            );
        }
        svg.push_str("</svg>");
        svg
    }
}

/// The effect of a judgement, if it has a place on a scale of ratios.
fn drawable(judged: &JudgedRow<'_>) -> Option<Effect> {
    judged.judgement.effect.filter(|effect| {
        effect.is_bounded()
            && effect.scale != EffectScale::Difference
            && effect.estimate.is_finite()
    })
}
