//! The facts in, verdicts out.

use std::num::NonZero;

use super::adjust::Adjust;
use super::arrangement::{Arrangement, judged_listing, listed};
use super::collected::{Undisturbed, collect};
use super::contrast::{Contrast, ContrastSides, contrasts};
use super::correction::{self, Corrected, sizes};
use super::counts::Counts;
use super::effect::{SEARCH_LIMIT, smallest_size};
use super::gate::{self, Gate, GateError, InputProblems};
use super::geomean::GeomeanEffects;
use super::judgement::{JudgedRow, Judgement, Judgements};
use super::judging::Judging;
use super::noise::Noises;
use super::shift::shifts;
use super::summary::{Summary, Tolerance};
use super::verdict::Verdict;
use super::waivers::WaivedRows;
use crate::report::listing::Listing;
use crate::report::model::{Position, Report};
use crate::sample::Environments;
use crate::stats::{UDistributions, runs_that_tolerate, tolerated_slow_runs};
use crate::unit::Better;

/// A report with what it means. Nothing of it changes any more.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// The facts.
    pub report: Report,
    /// The judgement of each row.
    pub judgements: Judgements,
    /// What is odd about the order or the spread of values.
    pub noise: Noises,
    /// The changes of geometric means with their intervals.
    pub geomeans: GeomeanEffects,
    /// What the run comes to.
    pub summary: Summary,
    /// What a gate says; none where none was asked.
    pub gate: Option<Gate>,
    /// Which rows are shown, and in which order.
    pub arrangement: Arrangement,
    /// The rows of tables that are shown, but by the drop-in formats.
    pub listing: Listing,
}

/// What is known of the inputs besides their numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Provenance {
    /// What was measured on which machine.
    pub environments: Environments,
    /// What was noticed while reading.
    pub problems: InputProblems,
}

/// Judges all rows of `report`, and sums up.
///
/// # Errors
/// A [`GateError`] where a gate was asked what it cannot know.
pub fn judge(
    report: Report,
    judging: &Judging,
    provenance: Provenance,
) -> Result<Judged, GateError> {
    judge_given(report, judging, provenance, None).map(|(judged, _)| judged)
}

/// [`judge`], and what is known of the run for [`judge_one_at_a_time`].
///
/// # Errors
/// As those of [`judge`].
pub(super) fn judge_given(
    report: Report,
    judging: &Judging,
    provenance: Provenance,
    undisturbed: Option<&Undisturbed>,
) -> Result<(Judged, Undisturbed), GateError> {
    let contrasts = contrasts(&report, judging);
    let evidence = collect(&report, &contrasts, judging, undisturbed);
    let correction = correction::correct(&report, &contrasts, &evidence, judging, undisturbed);
    let comparisons = correction.counted;
    let known = contrasts.iter().zip(&correction.corrected);
    let too_few_runs = known
        .clone()
        .filter(|(contrast, corrected)| !could_be_significant(contrast, corrected.as_ref()))
        .count();
    // With enough runs all that vary would count.
    let runs_needed = runs_needed(judging, correction.tested);
    let tested = known.filter_map(|(contrast, corrected)| corrected.as_ref().map(|_| contrast));
    let fewest = tested.map(|contrast| sizes(&report, contrast).into_iter().min());
    let tolerance = tolerance(fewest.min().flatten(), judging, comparisons);
    let waived = judging.waivers.of_rows(&report);
    let deciding = Deciding {
        report: &report,
        alpha: judging.alpha,
        waived: &waived,
        least_runs: runs_needed.unwrap_or_default(),
    };
    let known = contrasts.into_iter().zip(correction.corrected);
    let judgements = Judgements::new(
        known
            .map(|(contrast, corrected)| deciding.judgement(contrast, corrected))
            .collect(),
    );
    let noise = Noises::of(&report);
    let shifts = match undisturbed {
        Some(undisturbed) => undisturbed.shifts.clone(),
        None => shifts(&report, &judgements, evidence.shifts),
    };
    let summary = Summary {
        counts: Counts::of(judgements.all()),
        alpha: judging.alpha,
        adjust: judging.adjust,
        comparisons,
        too_few_runs,
        runs_needed,
        tolerance,
        worst: worst(&judgements, &report),
        shifts: shifts.clone(),
        environments: provenance.environments,
        trends: [false, true]
            .map(|within_rounds| noise.trends(within_rounds).count())
            .iter()
            .sum(),
    };
    let gate = match &judging.gate {
        Some(settings) => Some(gate::ask(
            &report,
            &judgements,
            &summary,
            settings,
            provenance.problems,
            judging.waivers.notes(&waived, &report, &judgements),
        )?),
        None => None,
    };
    let judged = Judged {
        listing: judged_listing(&report, &judgements, judging.arrangement),
        arrangement: judging.arrangement,
        geomeans: GeomeanEffects::of(&report, &judgements, judging.alpha),
        report,
        judgements,
        noise,
        summary,
        gate,
    };
    let undisturbed = Undisturbed {
        worse: correction.worse,
        passes: evidence.passes,
        shifts,
    };
    Ok((judged, undisturbed))
}

impl Judged {
    /// The judgement at a position with all that it is about, if there is one.
    #[must_use]
    pub fn at(&self, position: Position) -> Option<JudgedRow<'_>> {
        let judgement = self.judgements.get(position)?;
        Some(JudgedRow::new(&self.report, judgement))
    }

    /// All judgements: by table, then row, then column.
    pub fn rows(&self) -> impl Iterator<Item = JudgedRow<'_>> {
        self.judgements.rows(&self.report)
    }

    /// See [`Judgements::worst_first`].
    #[must_use]
    pub fn worst_first(&self) -> Vec<JudgedRow<'_>> {
        self.judgements.worst_first(&self.report)
    }

    /// The judgements to list: sorted as asked for, else the worst first; not limited.
    #[must_use]
    pub fn listed(&self) -> Vec<JudgedRow<'_>> {
        listed(&self.report, &self.judgements, self.arrangement)
    }

    /// How many rows a list may have.
    #[must_use]
    pub fn limit(&self) -> usize {
        self.arrangement.limit.map_or(usize::MAX, NonZero::get)
    }

    /// Whether the gate looks at a row; false without a gate.
    #[must_use]
    pub fn is_gated(&self, position: Position) -> bool {
        let gate = self.gate.as_ref();
        gate.is_some_and(|gate| gate.looks_at(position))
    }
}

/// Whether values of these sizes could have been significant, after correction, had this row alone changed.
fn could_be_significant(contrast: &Contrast, corrected: Option<&Corrected>) -> bool {
    match (&contrast.sides, corrected) {
        (_, Some(corrected)) => corrected.could_be_significant,
        (ContrastSides::Both { effect, .. }, None) => effect.is_bounded(),
        (ContrastSides::Baseline | ContrastSides::New, None) => true,
    }
}

/// What the judgement of a contrast depends on.
struct Deciding<'a> {
    report: &'a Report,
    alpha: f64,
    waived: &'a WaivedRows<'a>,
    /// No advice is below so many runs.
    least_runs: usize,
}

impl Deciding<'_> {
    fn judgement(&self, contrast: Contrast, corrected: Option<Corrected>) -> Judgement {
        let could_be_significant = could_be_significant(&contrast, corrected.as_ref());
        let Contrast {
            position,
            baseline,
            sides,
        } = contrast;
        let one_sided = |verdict| Judgement {
            position,
            verdict,
            baseline,
            effect: None,
            adjusted_p: None,
            margin: None,
            could_be_significant,
            detectable: None,
            detecting_count: None,
            waiver: None,
        };
        let (effect, margin) = match sides {
            ContrastSides::Both { effect, margin } => (effect, margin),
            ContrastSides::Baseline => return one_sided(Verdict::Removed),
            ContrastSides::New => return one_sided(Verdict::Added),
        };
        let table = &self.report.tables[position.table];
        let cells = [table.rows[position.row].cell(0), self.report.cell(position)];
        let [old, new] = cells.map(|cell| cell.map_or(0.0, |cell| cell.centre));
        let (effect, adjusted_p, power) = match corrected {
            Some(corrected) => (corrected.effect, Some(corrected.p), corrected.power),
            None => (effect, None, None),
        };
        let mut verdict = Verdict::of(&effect, margin.limit, adjusted_p, table.better, self.alpha);
        if verdict == Verdict::Unclear && ends_in_nothing(old, new, table.better) {
            verdict = Verdict::Regression;
        }
        let count = power.as_ref().and_then(|power| power.detecting_count);
        Judgement {
            position,
            verdict,
            baseline,
            effect: Some(effect),
            adjusted_p,
            margin: Some(margin),
            could_be_significant,
            detectable: power.map(|power| power.detectable),
            detecting_count: count.map(|count| count.max(self.least_runs)),
            waiver: self.waived.state(position, &effect, verdict, old),
        }
    }
}

/// Whether most values of a rate fell to 0, or most values of a cost rose from it.
///
/// Values that tie at 0 leave the interval of the change a bound there, however clear the change is. Where it is
/// significant, this is larger than any margin.
fn ends_in_nothing(old: f64, new: f64, better: Option<Better>) -> bool {
    match better {
        Some(Better::Higher) => old > 0.0 && new == 0.0,
        Some(Better::Lower) => old == 0.0 && new > 0.0,
        None => false,
    }
}

/// The worst regression that no waiver tolerates.
fn worst(judgements: &Judgements, report: &Report) -> Option<Position> {
    let regressions = judgements
        .rows(report)
        .filter(|row| row.judgement.verdict == Verdict::Regression && !row.judgement.is_waived());
    let worst = regressions.reduce(|worst, row| {
        if row.badness().total_cmp(&worst.badness()).is_gt() {
            row
        } else {
            worst
        }
    });
    worst.map(|worst| worst.position())
}

/// How many slow runs the smallest sample, of so many `runs`, tolerates, so that the ranks alone still prove a change.
fn tolerance(runs: Option<usize>, judging: &Judging, comparisons: usize) -> Option<Tolerance> {
    let sides = if judging.is_two_sided { 2.0 } else { 1.0 };
    let alpha = judging.alpha / factor(judging, comparisons) / sides;
    let runs = runs.filter(|&runs| runs <= SEARCH_LIMIT)?;
    let distributions = &mut UDistributions::new();
    Some(Tolerance {
        alpha,
        runs,
        slow: tolerated_slow_runs(distributions, runs, alpha),
        runs_for_one: runs_that_tolerate(distributions, 1, alpha, SEARCH_LIMIT),
    })
}

/// What the p-value of a change is multiplied by if nothing else changed: the first step of Holm, the last of Benjamini and
/// Hochberg.
fn factor(judging: &Judging, comparisons: usize) -> f64 {
    match judging.adjust {
        Adjust::Holm | Adjust::Bh => comparisons.max(1) as f64,
        Adjust::None => 1.0,
    }
}

/// The smallest number of values a side with which a lone change among `comparisons` could be significant.
fn runs_needed(judging: &Judging, comparisons: usize) -> Option<usize> {
    let sides = if judging.is_two_sided { 1.0 } else { 2.0 };
    let by_ranks = smallest_size(sides * judging.alpha / factor(judging, comparisons))?;
    Some(by_ranks.max(smallest_size(judging.alpha)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::effect::{EffectScale, Unbounded};
    use crate::judge::gate::{GateSettings, Outcome};
    use crate::judge::geomean::NoGeomeanEffect;
    use crate::judge::margin::Margins;
    use crate::judge::noise::Noise;
    use crate::query::{Filter, Layout, Projection};
    use crate::record::{Reader, Record};
    use crate::report::{Settings, build};
    use crate::sample::Builder;
    use crate::unit::Metadata;
    use proptest::prelude::*;

    /// Judges two samples of a unit, in a run of their own.
    fn judged_report(unit: &str, old: &[f64], new: &[f64], judging: &Judging) -> Judged {
        let filter = Filter::parse("*").unwrap();
        let parse = |text: &str| Projection::parse(text).unwrap();
        let layout = Layout::new(
            parse(".config"),
            parse(".fullname"),
            parse(".file"),
            &parse(""),
        );
        let mut builder = Builder::new(&filter, &layout);
        for (label, values) in [("old", old), ("new", new)] {
            let line = |value: &f64| format!("BenchmarkX 1 {value} {unit}\n");
            let text: String = values.iter().map(line).collect();
            let mut side = Builder::new(&filter, &layout);
            let mut reader = Reader::new(text.as_bytes(), label);
            while let Some((_, record)) = reader.next_record().unwrap() {
                let Record::Result(record) = record else {
                    panic!("{record:?}")
                };
                side.add(&record, &mut |_, _| {});
            }
            builder.merge(side);
        }
        let environments = Environments::of(&builder, &layout);
        let settings = Settings {
            keeps_sorted: true,
            alpha: judging.alpha,
            ..Settings::default()
        };
        let report = build(builder.finish(), &Metadata::default(), settings);
        let provenance = Provenance {
            environments,
            ..Provenance::default()
        };
        judge(report, judging, provenance).unwrap()
    }

    const PLACE: Position = Position {
        table: 0,
        row: 0,
        column: 1,
    };

    fn judging(margins: &str) -> Judging {
        let unread = |_: &str| Err(std::io::ErrorKind::NotFound.into());
        Judging {
            margins: Margins::parse(margins, &unread).unwrap(),
            ..Judging::default()
        }
    }

    fn judgement(unit: &str, old: &[f64], new: &[f64], margins: &str) -> Judgement {
        let judged = judged_report(unit, old, new, &judging(margins));
        judged.at(PLACE).unwrap().judgement.clone()
    }

    fn around(centre: f64) -> Vec<f64> {
        (-5..5)
            .map(|step| centre * (1.0 + f64::from(step) * 0.001))
            .collect()
    }

    #[test]
    fn the_interval_against_the_margin_decides() {
        for (unit, old, new, margins, verdict) in [
            ("sec/op", 100.0, 110.0, "2%", Verdict::Regression),
            ("sec/op", 100.0, 90.0, "2%", Verdict::Improvement),
            ("B/s", 100.0, 90.0, "2%", Verdict::Regression),
            ("B/s", 100.0, 110.0, "2%", Verdict::Improvement),
            ("widgets", 100.0, 110.0, "2%", Verdict::Changed),
            ("sec/op", 100.0, 101.0, "2%", Verdict::Unchanged),
            ("sec/op", 100.0, 100.0, "2%", Verdict::Unchanged),
            ("sec/op", 100.0, 102.0, "2%", Verdict::Unclear),
            ("sec/op", 100.0, 100.1, "0", Verdict::Inconclusive),
            ("sec/op", 100.0, 110.0, "sec/op=2%+20s", Verdict::Unchanged),
            ("sec/op", 100.0, 110.0, "sec/op=2%+5s", Verdict::Regression),
        ] {
            let judgement = judgement(unit, &around(old), &around(new), margins);
            assert_eq!(
                judgement.verdict, verdict,
                "{unit} {old} {new} {margins}: {judgement:?}"
            );
        }
    }

    #[test]
    fn values_that_are_not_positive_have_a_difference() {
        let judgement = judgement("sec/op", &[0.0; 6], &[5.0; 6], "2%");
        assert_eq!(judgement.verdict, Verdict::Regression);
        let effect = judgement.effect.unwrap();
        assert_eq!(
            (effect.scale, effect.low, effect.high),
            (EffectScale::Difference, 5.0, 5.0)
        );
        assert_eq!(effect.badness(Some(Better::Lower)), f64::INFINITY);

        let judgement = self::judgement("B/op", &[0.0, 2.0, 2.0, 2.0, 2.0, 2.0], &[3.0; 6], "2%");
        let effect = judgement.effect.unwrap();
        assert_eq!(
            (effect.scale, effect.estimate),
            (EffectScale::RelativeDifference, 0.5)
        );
    }

    #[test]
    fn nothing_that_stays_nothing_is_unchanged() {
        assert_eq!(
            judgement("B/op", &[0.0; 6], &[0.0; 6], "0").verdict,
            Verdict::Unchanged
        );
    }

    #[test]
    fn too_few_values_have_no_bounds_and_say_how_many_it_takes() {
        let judgement = judgement("sec/op", &[1.0, 2.0, 3.0], &[11.0, 12.0, 13.0], "2%");
        assert_eq!(judgement.verdict, Verdict::Inconclusive);
        assert!(!judgement.could_be_significant);
        let effect = judgement.effect.unwrap();
        assert_eq!(
            (effect.low, effect.high),
            (f64::NEG_INFINITY, f64::INFINITY)
        );
        assert_eq!(
            effect.unbounded,
            Some(Unbounded::TooFewRuns { needed: Some(4) })
        );
    }

    #[test]
    fn a_lone_change_passes_holm_among_as_many_as_the_reference_says() {
        let judging = judging("2%");
        for (size, most) in [(5, 12), (6, 46), (8, 643), (10, 9237)] {
            assert_eq!(runs_needed(&judging, most), Some(size));
            assert!(runs_needed(&judging, most + 1) > Some(size));
        }
    }

    #[test]
    fn the_geomean_of_one_row_has_the_interval_of_that_row() {
        let judged = judged_report("sec/op", &around(1.0), &around(2.0), &judging("2%"));
        let row = judged.at(PLACE).unwrap().judgement.effect.unwrap();
        let effect = judged.geomeans.get(0, 1).unwrap().unwrap();
        let ratio = |low: f64, high: f64| (1.0 + high) / (1.0 + low);
        assert!((ratio(effect.low, effect.high) / ratio(row.low, row.high) - 1.0).abs() < 1e-12);
        assert!(effect.low < 1.0 && 1.0 < effect.high);
        assert_eq!(judged.geomeans.get(0, 0), None);

        let few = judged_report("sec/op", &[1.0], &[2.0], &judging("2%"));
        let too_few = Err(NoGeomeanEffect::TooFewRuns);
        assert_eq!(few.geomeans.get(0, 1), Some(too_few));
        let none = judged_report("B/op", &[0.0, 0.0, 0.0, 1.0], &[2.0; 4], &judging("2%"));
        assert!(none.geomeans.get(0, 1).unwrap().is_err());
    }

    #[test]
    fn cells_say_what_is_odd_about_their_values() {
        let rising: Vec<f64> = (1..=9).map(f64::from).collect();
        let mut outlier = around(1.0);
        outlier[3] = 9.0;
        let judged = judged_report("sec/op", &rising, &outlier, &judging("2%"));
        let noise = |column: usize| -> Vec<Noise> {
            let at = judged.noise.at(Position { column, ..PLACE });
            at.copied().collect()
        };
        assert!(matches!(noise(0)[..], [Noise::Trend { rises: true, .. }]));
        assert_eq!(noise(1).last(), Some(&Noise::Outliers { low: 0, high: 1 }));
        assert_eq!(judged.summary.trends, 1 + usize::from(noise(1).len() > 1));
    }

    #[test]
    fn verdicts_can_be_walked_worst_first() {
        let judged = judged_report("sec/op", &around(1.0), &around(2.0), &judging("2%"));
        assert_eq!(judged.worst_first().len(), 1);
        let summary = &judged.summary;
        assert_eq!((summary.worst, summary.counts.regression), (Some(PLACE), 1));
        assert_eq!(summary.counts.to_string(), "1 regression");
    }

    proptest! {
        /// Without ties; p as the tables have it, interval as the verdict has it.
        #[test]
        fn the_interval_excludes_no_change_exactly_when_p_is_below_alpha(
            old in prop::collection::hash_set(1_u32..40_000, 2..14),
            new in prop::collection::hash_set(1_u32..60_000, 2..14),
            alpha in prop::sample::select(vec![0.01, 0.05, 0.1]),
        ) {
            prop_assume!(old.is_disjoint(&new));
            let values = |set: &std::collections::HashSet<u32>| -> Vec<f64> {
                set.iter().map(|&value| f64::from(value)).collect()
            };
            let judging = Judging { alpha, ..Judging::default() };
            let judged = judged_report("widgets", &values(&old), &values(&new), &judging);
            let row = judged.at(PLACE).unwrap();
            let p = row.cell.unwrap().comparison.as_ref().unwrap().p.unwrap();
            let effect = row.judgement.effect.unwrap();
            // The bounds are ratios of two values, so one of exactly 1 would be a tie.
            let excludes = effect.low > 0.0 || effect.high < 0.0;
            prop_assume!((p - alpha).abs() > 1e-12);
            prop_assert_eq!(excludes, p < alpha, "p {} {:?}", p, effect);
        }

        #[test]
        fn a_gate_that_fails_and_one_that_passes_agree_with_the_counts(
            old in prop::collection::vec(1_u32..100, 4..12),
            new in prop::collection::vec(1_u32..200, 4..12),
        ) {
            let values = |values: &[u32]| -> Vec<f64> { values.iter().map(|&value| f64::from(value)).collect() };
            let judging = Judging { gate: Some(GateSettings::default()), ..judging("2%") };
            let judged = judged_report("sec/op", &values(&old), &values(&new), &judging);
            let gate = judged.gate.unwrap();
            let expected = if gate.counts.regression > 0 {
                Outcome::Failed
            } else if gate.counts.suspect > 0 {
                Outcome::CouldNotJudge
            } else {
                Outcome::Passed
            };
            prop_assert_eq!(gate.outcome, expected);
        }
    }
}
