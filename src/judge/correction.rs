//! P-values after correction for the number of comparisons, each direction for itself, and what could have been shown.

use super::adjust::Adjust;
use super::collected::{Collected, Undisturbed};
use super::contrast::{Contrast, ContrastSides};
use super::effect::{Effect, EffectScale, ROUNDING};
use super::evidence::Evidence;
use super::judgement::Margin;
use super::judging::Judging;
use crate::report::model::Report;
use crate::stats::{
    Hurdles, Spread, among, benjamini_hochberg, countable, critical_z, smallest_p, t_critical,
    tarone_holm,
};
use crate::unit::Better;

/// What the correction of a run comes to.
pub(super) struct Correction {
    /// How many comparisons count.
    pub counted: usize,
    /// How many have evidence of their own, whether or not they count.
    pub tested: usize,
    /// What is known of each contrast that has a p-value; by contrast.
    pub corrected: Vec<Option<Corrected>>,
    /// The p-values for "worse" that count, ascending.
    pub worse: Vec<f64>,
}

/// What is known of a contrast after correction.
#[derive(Clone, Debug)]
pub(super) struct Corrected {
    /// How large the change is.
    pub effect: Effect,
    /// One-sided p in the direction of the change.
    pub p: f64,
    /// Whether values of these sizes could have been significant at all, had this row alone changed.
    pub could_be_significant: bool,
    /// What could have been shown; none where the effect is no ratio or unbounded.
    pub power: Option<Power>,
}

/// What could have been shown.
#[derive(Clone, Debug)]
pub(super) struct Power {
    /// The smallest lone change to the worse that is a regression in 80 % of runs.
    pub detectable: f64,
    /// How many values a side show one of twice the margin.
    pub detecting_count: Option<usize>,
}

/// The questions of one direction: one for each comparison that counts evidence of its own.
struct Family {
    /// The smallest p-values that there could be.
    smallest: Vec<f64>,
    p: Vec<f64>,
    /// What exact tests say.
    exact: Vec<f64>,
}

impl Family {
    /// Whether rows are worse, or better.
    fn of(is_worse: bool, is_two_sided: bool, evidence: &[(&Evidence, Option<Better>)]) -> Self {
        let each = |of: fn(&Evidence) -> [f64; 2]| -> Vec<f64> {
            let of_one = |&(one, better): &(&Evidence, Option<Better>)| {
                let [increase, decrease] = of(one);
                let sides = if is_two_sided { 2.0 } else { 1.0 };
                let p = match better {
                    Some(better) if (better == Better::Lower) == is_worse => sides * increase,
                    Some(_) => sides * decrease,
                    // Nobody knows which direction is bad: both are one question.
                    None => 2.0 * increase.min(decrease),
                };
                p.min(1.0)
            };
            evidence.iter().map(of_one).collect()
        };
        Self {
            smallest: each(|one| one.smallest),
            p: each(|one| one.p),
            exact: each(|one| one.exact),
        }
    }

    /// The p-values after correction; alone among the others of a run that nobody disturbed, if that is given.
    fn adjusted(&self, judging: &Judging, undisturbed: Option<&Undisturbed>) -> Vec<f64> {
        let adjusted: Vec<f64> = match (undisturbed, judging.adjust) {
            (Some(Undisturbed { worse, .. }), adjust) => {
                self.p.iter().map(|&p| alone(worse, p, adjust)).collect()
            }
            (None, Adjust::Holm) => tarone_holm(&self.p, &self.smallest, judging.alpha),
            (None, Adjust::Bh) => among(&self.counts(judging), &self.p, benjamini_hochberg),
            (None, Adjust::None) => self.p.clone(),
        };
        let with_exact = adjusted.iter().zip(&self.exact);
        with_exact
            .map(|(adjusted, exact)| adjusted.max(*exact))
            .collect()
    }

    /// Which of them could be significant at all.
    fn counts(&self, judging: &Judging) -> Vec<bool> {
        match judging.adjust {
            Adjust::None => vec![true; self.p.len()],
            Adjust::Holm | Adjust::Bh => countable(&self.smallest, judging.alpha),
        }
    }
}

/// Corrects all p-values, each direction for itself, and says what could have been shown.
pub(super) fn correct(
    report: &Report,
    contrasts: &[Contrast],
    collected: &Collected,
    judging: &Judging,
    undisturbed: Option<&Undisturbed>,
) -> Correction {
    let Collected {
        evidence, twins, ..
    } = collected;
    let better = |one: &Evidence| report.tables[contrasts[one.contrast].position.table].better;
    // The place of each among those that count evidence of their own.
    let mut places = vec![0; evidence.len()];
    let mut alone = Vec::new();
    for (index, one) in evidence.iter().enumerate() {
        if twins[index].is_none() {
            places[index] = alone.len();
            alone.push((one, better(one)));
        }
    }
    let families = [true, false].map(|is_worse| Family::of(is_worse, judging.is_two_sided, &alone));
    let adjusted = families
        .each_ref()
        .map(|family| family.adjusted(judging, undisturbed));
    let [family, _] = &families;
    let counts = family.counts(judging);
    let mut worse: Vec<f64> = family
        .p
        .iter()
        .zip(&counts)
        .filter_map(|(&p, &counts)| counts.then_some(p))
        .collect();
    worse.sort_unstable_by(f64::total_cmp);
    let counted = undisturbed.map_or(worse.len(), |undisturbed| undisturbed.worse.len());
    let mut corrected = vec![None; contrasts.len()];
    for (index, one) in evidence.iter().enumerate() {
        let place = places[twins[index].unwrap_or(index)];
        let adjusted = adjusted.each_ref().map(|p| p[place]);
        let contrast = &contrasts[one.contrast];
        if let ContrastSides::Both { margin, .. } = &contrast.sides {
            let sizes = sizes(report, contrast);
            let tested = Tested {
                evidence: one,
                margin,
                better: better(one),
                sizes,
            };
            corrected[one.contrast] = Some(tested.corrected(judging, counted, adjusted));
        }
    }
    Correction {
        counted,
        tested: alone.len(),
        corrected,
        worse,
    }
}

/// How many values both sides of a contrast have.
pub(super) fn sizes(report: &Report, contrast: &Contrast) -> [usize; 2] {
    let row = &report.tables[contrast.position.table].rows[contrast.position.row];
    let cells = [row.cell(0), report.cell(contrast.position)];
    cells.map(|cell| cell.map_or(0, |cell| cell.values.len()))
}

/// A row whose p-value is corrected.
struct Tested<'e> {
    evidence: &'e Evidence,
    margin: &'e Margin,
    better: Option<Better>,
    sizes: [usize; 2],
}

impl Tested<'_> {
    /// What is known after correction among `counted`: `adjusted` has p for worse, and for better.
    fn corrected(&self, judging: &Judging, counted: usize, adjusted: [f64; 2]) -> Corrected {
        let sides = if judging.is_two_sided { 2.0 } else { 1.0 };
        let share = match judging.adjust {
            Adjust::None => judging.alpha,
            Adjust::Holm | Adjust::Bh => judging.alpha / counted.max(1) as f64,
        };
        let is_bad = self.evidence.effect.badness(self.better) >= 0.0;
        let p = adjusted[usize::from(!is_bad)];
        let effect = match &self.evidence.means {
            Some(means) if self.shows_means(means, p, judging.alpha) => *means,
            _ => self.evidence.effect,
        };
        let [old, new] = self.sizes;
        let needs = if self.evidence.error.is_some() {
            judging.alpha
        } else {
            share
        };
        let smallest = smallest_p(old, new) / 2.0;
        Corrected {
            effect,
            p,
            could_be_significant: effect.is_bounded()
                && sides * smallest <= needs * (1.0 + ROUNDING),
            power: self.power(&effect, share / sides),
        }
    }

    /// Whether to show the change of the means: where it is proven and ranks are surer than they have to be, and where its
    /// interval is beyond the margin while the other is not: of values with two modes the median of all ratios knows little.
    fn shows_means(&self, means: &Effect, p: f64, alpha: f64) -> bool {
        let effect = &self.evidence.effect;
        let limit = self.margin.limit;
        let is_beyond = |effect: &Effect| effect.low > limit || effect.high < -limit;
        let exact = self.evidence.exact[usize::from(means.estimate < 0.0)];
        p <= alpha
            && exact <= alpha / SURER
            && effect.is_bounded()
            && is_beyond(means)
            && !is_beyond(effect)
    }

    /// What could have been shown, and how many values would show a change of twice the margin.
    fn power(&self, effect: &Effect, alpha: f64) -> Option<Power> {
        if effect.scale != EffectScale::Ratio || !effect.is_bounded() || alpha <= 0.0 {
            return None;
        }
        let half_width = (effect.high.ln_1p() - effect.low.ln_1p()) / 2.0;
        let (error, critical) = match self.evidence.error {
            Some(Spread { variance, degrees }) => (variance.sqrt(), t_critical(alpha, degrees)),
            // The interval's level is 95 % or thereabouts.
            None => (half_width / 1.96, critical_z(alpha)),
        };
        let is_higher = self.better == Some(Better::Higher);
        let log = |part: f64| {
            if is_higher {
                -(-part).ln_1p()
            } else {
                part.ln_1p()
            }
        };
        let limit = self.margin.limit;
        let [old, new] = self.sizes;
        let hurdles = Hurdles {
            error,
            runs: old.min(new),
            slow_share: self.evidence.slow[0],
            slow_reach: self.evidence.slow[1],
            half_width,
            critical,
            margin: log(limit),
        };
        let detectable = hurdles.detectable();
        Some(Power {
            detectable: if is_higher {
                -(-detectable).exp_m1()
            } else {
                detectable.exp_m1()
            },
            detecting_count: (limit > 0.0)
                .then(|| hurdles.runs_to_detect(log(2.0 * limit)))
                .flatten(),
        })
    }
}

/// How many times surer than α ranks have to be for the interval of the means to be shown.
const SURER: f64 = 20.0;

/// The corrected p of a row that alone is worse than it was, among the sorted ones of the others as they are.
fn alone(others: &[f64], p: f64, adjust: Adjust) -> f64 {
    let count = others.len().max(1);
    let before = others.partition_point(|&other| other < p);
    let adjusted = match adjust {
        Adjust::None => p,
        Adjust::Bh => p * count as f64 / (before + 1).min(count) as f64,
        Adjust::Holm => {
            let steps = others[..before].iter().enumerate();
            let earlier = steps
                .map(|(step, other)| (count - step) as f64 * other)
                .fold(0.0, f64::max);
            earlier.max((count - before).max(1) as f64 * p)
        }
    };
    adjusted.min(1.0)
}
