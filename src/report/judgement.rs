//! What the numbers mean: effects, verdicts, and the outcome of the gate.
//!
//! Plain data, as the rest of the model, and part of a report only where something asked for it: the drop-in formats do not.

use std::cmp::Ordering;
use std::fmt;

use bstr::BString;
use serde::Serialize;

use super::model::{Cell, Change, Report, Row, Table, lossy, lossy_list};
use crate::unit::Better;

/// What a comparison comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Worse by more than the margin, for sure.
    Regression,
    /// Different by more than the margin, for sure, in a unit of which nobody said which direction is better.
    Changed,
    /// Worse by more than the margin, as it looks, but not for sure.
    Suspect,
    /// Different for sure, but perhaps by less than the margin.
    Unclear,
    /// In the baseline only.
    Removed,
    /// Not significant, and yet the change may be larger than the margin; or too few values to tell anything.
    Inconclusive,
    /// Not in the baseline.
    Added,
    /// Better by more than the margin, for sure.
    Improvement,
    /// Better by more than the margin, as it looks, but not for sure.
    Promising,
    /// At most the margin apart, for sure.
    Unchanged,
}

impl Verdict {
    /// All verdicts, in the order of how much attention they want.
    pub const ALL: [Self; 10] = [
        Self::Regression,
        Self::Changed,
        Self::Suspect,
        Self::Unclear,
        Self::Removed,
        Self::Inconclusive,
        Self::Added,
        Self::Improvement,
        Self::Promising,
        Self::Unchanged,
    ];

    /// The word for it; the one place that has it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Regression => "regression",
            Self::Changed => "changed",
            Self::Suspect => "suspect",
            Self::Unclear => "unclear",
            Self::Removed => "removed",
            Self::Inconclusive => "inconclusive",
            Self::Added => "added",
            Self::Improvement => "improvement",
            Self::Promising => "promising",
            Self::Unchanged => "unchanged",
        }
    }

    /// The word for `count` of them.
    #[must_use]
    pub fn words(self, count: usize) -> &'static str {
        match self {
            Self::Regression if count != 1 => "regressions",
            Self::Improvement if count != 1 => "improvements",
            other => other.word(),
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.word())
    }
}

/// A row in one column of the run, against its baseline.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Judgement {
    /// What it comes to.
    pub verdict: Verdict,
    /// The column it was compared with, as an index of [`Report::columns`]: that of the table's first column.
    pub baseline: usize,
    /// How large the change is; none only for [`Verdict::Added`] and [`Verdict::Removed`].
    pub effect: Option<Effect>,
    /// One-sided p in the direction of the change, after correction for the comparisons of the run that count in that direction,
    /// 0 to 1; none where there is no p.
    pub adjusted_p: Option<f64>,
    /// Up to where a change does not matter; none where there is no effect.
    pub margin: Option<Margin>,
    /// Whether values of these sizes could have been significant at all, after correction, had this row alone changed.
    pub could_be_significant: bool,
    /// The smallest lone change to the worse, as a part of the baseline, > 0, that is a regression in 80 % of runs with values of
    /// this number and noise, after correction and beyond the margin; none where the effect is no ratio or unbounded.
    pub detectable: Option<f64>,
    /// How many values a side show a lone change of twice the margin in 80 % of runs, at this noise and after correction; none
    /// where [`Judgement::detectable`] is, or the margin is 0.
    pub detecting_count: Option<usize>,
    /// Whether the gate looks at this row; false without a gate.
    pub is_gated: bool,
    /// What a waiver makes of it; none where none names it.
    pub waiver: Option<WaiverState>,
}

impl Judgement {
    /// How bad the change is: the larger the worse, below 0 for a change to the better.
    ///
    /// The logarithm of the ratio in the bad direction, so that a halved throughput is as bad as a doubled time; infinite
    /// for a change from 0. Where the direction is unknown, any change counts as bad.
    #[must_use]
    pub fn badness(&self, better: Option<Better>) -> f64 {
        let Some(effect) = &self.effect else {
            return 0.0;
        };
        let size = match effect.scale {
            EffectScale::Ratio => effect.estimate.ln_1p(),
            EffectScale::RelativeDifference => effect.estimate,
            EffectScale::Difference if effect.estimate == 0.0 => 0.0,
            EffectScale::Difference => f64::INFINITY.copysign(effect.estimate),
        };
        match better {
            Some(Better::Lower) => size,
            Some(Better::Higher) => -size,
            None => size.abs(),
        }
    }

    /// Whether it is a regression that a waiver tolerates.
    #[must_use]
    pub fn is_waived(&self) -> bool {
        self.verdict == Verdict::Regression
            && matches!(self.waiver, Some(WaiverState::Applies { .. }))
    }
}

/// How large a change is, with its interval.
///
/// All numbers have the same scale, and 0 is no change. The interval's level is 1 − α.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Effect {
    /// What the numbers mean.
    pub scale: EffectScale,
    /// The estimate; the Hodges-Lehmann one unless values are exact.
    pub estimate: f64,
    /// The lower bound of the interval, or −∞.
    pub low: f64,
    /// The upper bound of the interval, or ∞.
    pub high: f64,
    /// The probability that the interval covers the change, 0 to 1.
    pub coverage: f64,
    /// Why the bounds are infinite, where they are.
    pub unbounded: Option<Unbounded>,
}

impl Effect {
    /// Whether there is an interval worth the name.
    #[must_use]
    pub fn is_bounded(&self) -> bool {
        self.unbounded.is_none()
    }
}

/// What the numbers of an [`Effect`] mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EffectScale {
    /// new/old − 1, > −1; all values are positive, or exact.
    Ratio,
    /// (new − old)/|median of old|, as some value is not positive.
    RelativeDifference,
    /// new − old in the unit of the table, as the baseline's median is 0.
    Difference,
}

/// Why an interval has no bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Unbounded {
    /// Samples of these sizes cannot reach the level.
    TooFewRuns {
        /// How many values a side would; none up to the limit of the search.
        needed: Option<usize>,
    },
}

/// Up to where a change does not matter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Margin {
    /// As a part of the baseline, ≥ 0.
    pub relative: f64,
    /// In the unit of the table, ≥ 0. A change matters if it exceeds both.
    pub absolute: f64,
    /// The two as one number in the scale of the effect, ≥ 0: what the interval was held against.
    pub limit: f64,
}

/// What a waiver makes of a row.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum WaiverState {
    /// A regression here is tolerated.
    Applies {
        /// Up to where, in the scale of the effect.
        ceiling: f64,
        /// The last day on which it is tolerated, as `YYYY-MM-DD`.
        expires: String,
        /// Why it is tolerated.
        reason: String,
    },
    /// The regression is larger than what is tolerated.
    OverCeiling {
        /// Up to where it would have been tolerated, in the scale of the effect.
        ceiling: f64,
    },
    /// It was tolerated until a day that is past.
    Expired {
        /// The last day, as `YYYY-MM-DD`.
        expires: String,
    },
}

/// What is odd about the order or the spread of a cell's values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Noise {
    /// The values rise or fall with time: something other than the code changed while they were measured.
    Trend {
        /// Whether they rise.
        rises: bool,
        /// The probability of a trend as clear by chance, 0 to 0.01.
        p: f64,
    },
    /// Some values are far from the rest.
    Outliers {
        /// How many of the smallest.
        low: usize,
        /// How many of the largest.
        high: usize,
    },
}

impl fmt::Display for Noise {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Trend { rises, p } => {
                let moved = if *rises { "rise" } else { "fall" };
                write!(
                    formatter,
                    "values {moved} with time (p={p:.3}): interleave the runs of both sides"
                )
            }
            Self::Outliers { low, high } => {
                let count = low + high;
                let noun = if count == 1 { "outlier" } else { "outliers" };
                write!(formatter, "{count} {noun} ({low} low, {high} high), kept")
            }
        }
    }
}

/// Where a judgement is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Place {
    /// An index of [`Report::tables`].
    pub table: usize,
    /// An index of [`Table::rows`].
    pub row: usize,
    /// An index of [`Report::columns`].
    pub column: usize,
}

/// A judgement with all that it is about.
#[derive(Clone, Copy, Debug)]
pub struct Judged<'a> {
    /// Where it is.
    pub place: Place,
    /// The table it is in.
    pub table: &'a Table,
    /// The row it is about.
    pub row: &'a Row,
    /// The baseline's cell; none if added.
    pub baseline: Option<&'a Cell>,
    /// The cell; none if removed.
    pub cell: Option<&'a Cell>,
    /// The judgement.
    pub judgement: &'a Judgement,
}

impl Judged<'_> {
    /// How bad the change is; see [`Judgement::badness`].
    #[must_use]
    pub fn badness(&self) -> f64 {
        self.judgement.badness(self.table.better)
    }

    /// The change to show where the interval stands beside it: the estimate within that interval, not the quotient of the centres;
    /// insignificant where the values differ by chance, as it looks, and the interval holds no change. None where a side is missing.
    #[must_use]
    pub fn change(&self) -> Option<Change> {
        let shown = self.cell?.comparison.as_ref()?.change;
        let Some(effect) = self
            .judgement
            .effect
            .as_ref()
            .filter(|effect| effect.is_bounded())
        else {
            return Some(shown);
        };
        let holds_none = effect.low <= 0.0 && 0.0 <= effect.high;
        Some(match shown {
            Change::FromZero => shown,
            Change::Insignificant if holds_none => shown,
            _ if effect.scale == EffectScale::Difference => shown,
            _ => Change::By(effect.estimate),
        })
    }

    /// How many values a side would tell what is inconclusive, where that is more than there are.
    #[must_use]
    pub fn more_values(&self) -> Option<usize> {
        let sides = [self.baseline?, self.cell?];
        let count = sides.map(|cell| cell.values.len()).into_iter().min()?;
        let is_doubtful = self.judgement.verdict == Verdict::Inconclusive;
        let needed = self.judgement.detecting_count.filter(|_| is_doubtful);
        needed.filter(|&needed| needed > count)
    }
}

impl Report {
    /// The judgement at `place`, if there is one.
    #[must_use]
    pub fn judged(&self, place: Place) -> Option<Judged<'_>> {
        let table = self.tables.get(place.table)?;
        let row = table.rows.get(place.row)?;
        let judgement = row.judgement(place.column)?;
        let cell = |column: usize| {
            let at = table.places.binary_search(&column).ok()?;
            row.cell(at)
        };
        Some(Judged {
            place,
            table,
            row,
            baseline: cell(judgement.baseline).filter(|_| judgement.verdict != Verdict::Added),
            cell: cell(place.column),
            judgement,
        })
    }

    /// All judgements: by table, then row, then column.
    pub fn all_judged(&self) -> impl Iterator<Item = Judged<'_>> {
        let places = self
            .tables
            .iter()
            .enumerate()
            .flat_map(move |(table, rows)| {
                rows.rows.iter().enumerate().flat_map(move |(row, judged)| {
                    let columns = judged.judgements.iter().map(|(column, _)| *column);
                    columns.map(move |column| Place { table, row, column })
                })
            });
        places.filter_map(|place| self.judged(place))
    }

    /// All judgements: by verdict in the order of [`Verdict::ALL`], of one verdict the worst first, else as they stand.
    #[must_use]
    pub fn worst_first(&self) -> Vec<Judged<'_>> {
        let mut judged: Vec<_> = self.all_judged().collect();
        judged.sort_by(compare_badness);
        judged
    }
}

/// Orders judgements for [`Report::worst_first`].
fn compare_badness(left: &Judged<'_>, right: &Judged<'_>) -> Ordering {
    let rank = |judged: &Judged<'_>| {
        Verdict::ALL
            .iter()
            .position(|&verdict| verdict == judged.judgement.verdict)
    };
    // Of improvements the largest come first: the least bad.
    let badness = |judged: &Judged<'_>| match judged.judgement.verdict {
        Verdict::Improvement => -judged.badness(),
        _ => judged.badness(),
    };
    rank(left)
        .cmp(&rank(right))
        .then_with(|| badness(right).total_cmp(&badness(left)))
}

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

/// How often each verdict was given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// [`Verdict::Regression`], waived ones included.
    pub regression: usize,
    /// [`Verdict::Changed`].
    pub changed: usize,
    /// [`Verdict::Suspect`].
    pub suspect: usize,
    /// [`Verdict::Unclear`].
    pub unclear: usize,
    /// [`Verdict::Removed`].
    pub removed: usize,
    /// [`Verdict::Inconclusive`].
    pub inconclusive: usize,
    /// [`Verdict::Added`].
    pub added: usize,
    /// [`Verdict::Improvement`].
    pub improvement: usize,
    /// [`Verdict::Promising`].
    pub promising: usize,
    /// [`Verdict::Unchanged`].
    pub unchanged: usize,
    /// Of the regressions, those that a waiver tolerates.
    pub waived: usize,
}

impl Counts {
    /// How often `verdict` was given.
    #[must_use]
    pub fn get(&self, verdict: Verdict) -> usize {
        match verdict {
            Verdict::Regression => self.regression,
            Verdict::Changed => self.changed,
            Verdict::Suspect => self.suspect,
            Verdict::Unclear => self.unclear,
            Verdict::Removed => self.removed,
            Verdict::Inconclusive => self.inconclusive,
            Verdict::Added => self.added,
            Verdict::Improvement => self.improvement,
            Verdict::Promising => self.promising,
            Verdict::Unchanged => self.unchanged,
        }
    }

    /// Counts one more of `verdict`.
    pub fn add(&mut self, verdict: Verdict) {
        *match verdict {
            Verdict::Regression => &mut self.regression,
            Verdict::Changed => &mut self.changed,
            Verdict::Suspect => &mut self.suspect,
            Verdict::Unclear => &mut self.unclear,
            Verdict::Removed => &mut self.removed,
            Verdict::Inconclusive => &mut self.inconclusive,
            Verdict::Added => &mut self.added,
            Verdict::Improvement => &mut self.improvement,
            Verdict::Promising => &mut self.promising,
            Verdict::Unchanged => &mut self.unchanged,
        } += 1;
    }
}

/// `2 regressions (1 waived), 1 improvement, 37 unchanged`: the verdicts that were given, in the order of [`Verdict::ALL`].
impl fmt::Display for Counts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for verdict in Verdict::ALL {
            let count = self.get(verdict);
            if count == 0 {
                continue;
            }
            write!(formatter, "{separator}{count} {}", verdict.words(count))?;
            if verdict == Verdict::Regression && self.waived > 0 {
                write!(formatter, " ({} waived)", self.waived)?;
            }
            separator = ", ";
        }
        if separator.is_empty() {
            formatter.write_str("nothing compared")?;
        }
        Ok(())
    }
}

/// What a run comes to as a whole.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// How often each verdict was given.
    pub counts: Counts,
    /// The significance level, 0 to 1; intervals of change have the level 1 − α.
    pub alpha: f64,
    /// How p-values were corrected.
    pub adjust: Adjust,
    /// How many comparisons the correction is for: those that could be significant at all, evidence that is told in two units
    /// counted once.
    pub comparisons: usize,
    /// How many of them have too few values to be significant after correction, had they alone changed.
    pub too_few_runs: usize,
    /// The smallest number of values a side with which a lone change could be significant after correction; none up to the
    /// limit of the search.
    pub runs_needed: Option<usize>,
    /// How many slow runs the smallest sample tolerates; none where nothing was compared.
    pub tolerance: Option<Tolerance>,
    /// The worst regression that no waiver tolerates.
    pub worst: Option<Place>,
    /// Units of which most rows moved by about the same.
    pub shifts: Vec<Shift>,
    /// What each column was measured on, one for each of [`Report::columns`].
    pub environments: Vec<Environment>,
    /// Where columns were measured on something other than the baseline.
    pub environment_differences: Vec<EnvironmentDifference>,
    /// How many cells have a trend.
    pub trends: usize,
}

/// How many runs of the faster side may be slower than all of the other, and the ranks alone still prove the change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Tolerance {
    /// How many runs a side the smallest comparison has.
    pub runs: usize,
    /// How many of them may be; none where the ranks prove nothing with so few runs.
    pub slow: Option<usize>,
    /// How many runs a side tolerate one such run; none up to the limit of the search.
    pub runs_for_one: Option<usize>,
}

/// Most rows of a unit moved by about the same: more likely the machine than the change.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Shift {
    /// The column, as an index of [`Report::columns`].
    pub column: usize,
    /// The unit.
    #[serde(serialize_with = "lossy")]
    pub unit: BString,
    /// How many rows moved in the direction of the shift.
    pub moved: usize,
    /// How many rows there are.
    pub rows: usize,
    /// The mean change: geometric mean of the ratios, less 1.
    pub mean: f64,
    /// Half the width of the mean's 95 % interval, as a part of the baseline, ≥ 0.
    pub reach: f64,
}

/// What a column was measured on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Environment {
    /// The keys goos, goarch and cpu, each with its values in order of first appearance.
    pub keys: Vec<EnvironmentKey>,
}

/// A configuration key that describes the machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EnvironmentKey {
    /// `goos`, `goarch` or `cpu`.
    #[serde(serialize_with = "lossy")]
    pub key: BString,
    /// Its values; the empty one where some result has none.
    #[serde(serialize_with = "lossy_list")]
    pub values: Vec<BString>,
}

/// The same benchmark measured on different things.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EnvironmentDifference {
    /// The column that differs from the baseline, as an index of [`Report::columns`].
    pub column: usize,
    /// `goos`, `goarch` or `cpu`.
    #[serde(serialize_with = "lossy")]
    pub key: BString,
    /// The values in the baseline.
    #[serde(serialize_with = "lossy_list")]
    pub baseline: Vec<BString>,
    /// The values in the column.
    #[serde(serialize_with = "lossy_list")]
    pub values: Vec<BString>,
}

/// What a gate fails on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FailOn {
    /// A regression.
    #[default]
    Regression,
    /// Whatever is not proven to be unchanged or better.
    Unproven,
    /// A change to the worse or to the better.
    Change,
}

/// What a gate comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// All that was to be judged was judged, and nothing offends.
    Passed,
    /// Some row offends.
    Failed,
    /// No answer, so not a good one.
    CouldNotJudge,
}

/// Why a gate has no answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Obstacle {
    /// No benchmark has both sides.
    NothingCompared {
        /// The unit asked for that has none; none if there is nothing at all.
        #[serde(serialize_with = "lossy_option")]
        unit: Option<BString>,
        /// The keys that split the sides into tables of their own; empty if something else did.
        #[serde(serialize_with = "lossy_list")]
        differing: Vec<BString>,
    },
    /// An input contributes nothing.
    EmptyInput {
        /// Its name.
        #[serde(serialize_with = "lossy")]
        input: BString,
    },
    /// The sides were measured on different things.
    Environment(EnvironmentDifference),
    /// A benchmark is in the baseline only.
    Removed {
        /// Its rows, one for each unit.
        places: Vec<Place>,
    },
    /// A benchmark or package failed.
    FailedBenchmark {
        /// The input, the line, and what it says.
        #[serde(serialize_with = "lossy")]
        line: BString,
    },
    /// A column has the very measurements of the baseline.
    SameValues {
        /// The column, an index of [`Report::columns`].
        column: usize,
        /// How many rows.
        rows: usize,
    },
    /// A configuration key that changes within an input takes runs of a compared benchmark out of the comparison.
    Configuration(SplitByKey),
    /// The judged side contradicts the rules for a unit.
    Unit(UnitDispute),
    /// Rows have too few values for any verdict at this correction.
    TooFewRuns {
        /// How many rows.
        rows: usize,
        /// How many values a side would do; none up to the limit of the search.
        needed: Option<usize>,
    },
    /// All rows of a unit moved alike, so that none of them says anything of the code alone.
    Shift(Shift),
    /// Rows look worse, and are not proven to be.
    Suspect {
        /// Which, the worst first.
        places: Vec<Place>,
    },
    /// Lines of an input were not understood.
    Syntax {
        /// How many.
        lines: usize,
    },
}

/// A configuration key that takes runs out of the comparison.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SplitByKey {
    /// The key.
    #[serde(serialize_with = "lossy")]
    pub key: BString,
    /// The input in which it changes.
    #[serde(serialize_with = "lossy")]
    pub input: BString,
    /// A benchmark of which only part of the runs is compared.
    #[serde(serialize_with = "lossy")]
    pub benchmark: BString,
}

/// What an input of a judged side says of a unit, against the baseline or what is known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnitDispute {
    /// The unit as written.
    #[serde(serialize_with = "lossy")]
    pub unit: BString,
    /// The pair, such as `better=higher`.
    #[serde(serialize_with = "lossy")]
    pub claim: BString,
    /// The input.
    #[serde(serialize_with = "lossy")]
    pub input: BString,
}

/// Serializes text that may be absent.
#[expect(clippy::ref_option, reason = "the signature that serde calls")]
fn lossy_option<S: serde::Serializer>(
    text: &Option<BString>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match text {
        Some(text) => lossy(text, serializer),
        None => serializer.serialize_none(),
    }
}

/// The names by which `-allow` calls obstacles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ObstacleKind {
    /// [`Obstacle::NothingCompared`].
    NothingCompared,
    /// [`Obstacle::EmptyInput`].
    EmptyInput,
    /// [`Obstacle::Environment`].
    Environment,
    /// [`Obstacle::Removed`].
    Removed,
    /// [`Obstacle::FailedBenchmark`].
    Failed,
    /// [`Obstacle::SameValues`].
    SameValues,
    /// [`Obstacle::Configuration`].
    Configuration,
    /// [`Obstacle::Unit`].
    Unit,
    /// [`Obstacle::TooFewRuns`].
    TooFewRuns,
    /// [`Obstacle::Shift`].
    Shift,
    /// [`Obstacle::Suspect`].
    Suspect,
    /// [`Obstacle::Syntax`].
    Syntax,
}

impl ObstacleKind {
    /// All of them, in the order in which they are told.
    pub const ALL: [Self; 12] = [
        Self::Environment,
        Self::Shift,
        Self::SameValues,
        Self::Unit,
        Self::Configuration,
        Self::NothingCompared,
        Self::EmptyInput,
        Self::Failed,
        Self::Removed,
        Self::Syntax,
        Self::TooFewRuns,
        Self::Suspect,
    ];

    /// The word for `-allow`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::NothingCompared => "nothing-compared",
            Self::EmptyInput => "empty-input",
            Self::Environment => "environment",
            Self::Removed => "removed",
            Self::Failed => "failed",
            Self::SameValues => "same-values",
            Self::Configuration => "configuration",
            Self::Unit => "unit",
            Self::TooFewRuns => "too-few-runs",
            Self::Shift => "shift",
            Self::Suspect => "suspect",
            Self::Syntax => "syntax",
        }
    }
}

impl Obstacle {
    /// Its kind.
    #[must_use]
    pub fn kind(&self) -> ObstacleKind {
        match self {
            Self::NothingCompared { .. } => ObstacleKind::NothingCompared,
            Self::EmptyInput { .. } => ObstacleKind::EmptyInput,
            Self::Environment(_) => ObstacleKind::Environment,
            Self::Removed { .. } => ObstacleKind::Removed,
            Self::FailedBenchmark { .. } => ObstacleKind::Failed,
            Self::SameValues { .. } => ObstacleKind::SameValues,
            Self::Configuration(_) => ObstacleKind::Configuration,
            Self::Unit(_) => ObstacleKind::Unit,
            Self::TooFewRuns { .. } => ObstacleKind::TooFewRuns,
            Self::Shift(_) => ObstacleKind::Shift,
            Self::Suspect { .. } => ObstacleKind::Suspect,
            Self::Syntax { .. } => ObstacleKind::Syntax,
        }
    }
}

/// The outcome of the gate and what led to it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Gate {
    /// What it fails on.
    pub fail_on: FailOn,
    /// What it comes to.
    pub outcome: Outcome,
    /// How often each verdict was given among the rows that it looked at.
    pub counts: Counts,
    /// The rows it fails on, worst first.
    pub offending: Vec<Place>,
    /// The regressions that waivers tolerate, worst first.
    pub waived: Vec<Place>,
    /// Why there is no answer, or would be none if it were not allowed.
    pub obstacles: Vec<Found>,
    /// What is wrong with single waivers.
    pub waiver_notes: Vec<WaiverNote>,
}

impl Gate {
    /// The obstacles that are not allowed.
    pub fn standing(&self) -> impl Iterator<Item = &Obstacle> {
        let standing = self.obstacles.iter().filter(|found| !found.is_allowed);
        standing.map(|found| &found.obstacle)
    }
}

/// An obstacle, and whether `-allow` names it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Found {
    /// The obstacle.
    pub obstacle: Obstacle,
    /// Whether it is allowed.
    pub is_allowed: bool,
}

/// What is wrong with a waiver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WaiverNote {
    /// The line of the waiver in its file, from 1.
    pub line: usize,
    /// The benchmark that it names.
    pub benchmark: String,
    /// The package that it names.
    pub package: String,
    /// The unit that it names.
    pub unit: String,
    /// What is wrong.
    pub kind: WaiverNoteKind,
}

/// What is wrong with a waiver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum WaiverNoteKind {
    /// No row is called this.
    Stale,
    /// The row has no regression.
    Unused,
    /// Its last day is past.
    Expired {
        /// The last day, as `YYYY-MM-DD`.
        expires: String,
    },
    /// The regression is larger than its ceiling.
    OverCeiling,
}
