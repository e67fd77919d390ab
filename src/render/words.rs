//! The sentences that several formats share.
//!
//! A sentence comes in pieces, since names and other text that somebody else chose are escaped differently in each format.

use bstr::{BStr, BString, ByteSlice};
use indexmap::{IndexMap, IndexSet};

use super::format;
use super::subject::Subjects;
use crate::common::shell_word;
use crate::judge::judgement::WaiverState;
use crate::judge::noise::drift_advice;
use crate::judge::obstacle::Obstacle;
use crate::judge::shift::Shift;
use crate::judge::summary::Tolerance;
use crate::judge::waivers::{WaiverNote, WaiverNoteKind};
use crate::judge::{
    Counts, EstimatedBy, Judged, JudgedRow, Judgement, LoneRow, Outcome, Summary, Verdict,
};
use crate::report::Report;
use crate::report::model::{Change, Position};
use crate::sample::EnvironmentDifference;

/// A piece of a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SentencePart {
    /// The program's own words.
    Own(String),
    /// Text that somebody else chose.
    Foreign(BString),
}

/// A sentence in pieces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sentence(Vec<SentencePart>);

impl Sentence {
    fn own(mut self, text: impl Into<String>) -> Self {
        self.0.push(SentencePart::Own(text.into()));
        self
    }

    fn foreign(mut self, text: impl Into<BString>) -> Self {
        self.0.push(SentencePart::Foreign(text.into()));
        self
    }

    /// Names the column, unless there is one other than the baseline only.
    fn within(self, report: &Report, column: usize) -> Self {
        match report.columns.get(column) {
            Some(column) if report.columns.len() > 2 => self.own(" in ").foreign(column.label()),
            _ => self,
        }
    }

    fn then(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    fn list(mut self, texts: &[BString]) -> Self {
        for (index, text) in texts.iter().enumerate() {
            if index > 0 {
                self = self.own(", ");
            }
            self = if text.is_empty() {
                self.own("nothing")
            } else {
                self.foreign(text.clone())
            };
        }
        self
    }

    /// The sentence as it is, for what escapes lines as a whole.
    #[must_use]
    pub fn plain(&self) -> String {
        self.text(ToString::to_string)
    }

    /// The sentence with no more than the start of what somebody else chose, where that is long.
    #[must_use]
    pub fn shortened(&self) -> Self {
        const MOST_CHARS: usize = 60;
        let pieces = self.0.iter().map(|piece| match piece {
            SentencePart::Foreign(text) if text.chars().count() > MOST_CHARS => {
                let start = text.chars().take(MOST_CHARS);
                SentencePart::Foreign(start.chain(['…']).collect::<String>().into())
            }
            _ => piece.clone(),
        });
        Self(pieces.collect())
    }

    /// The sentence, with what somebody else chose as `escape` makes it.
    pub fn text(&self, escape: impl Fn(&BStr) -> String) -> String {
        let pieces = self.0.iter().map(|piece| match piece {
            SentencePart::Own(text) => text.clone(),
            SentencePart::Foreign(text) => escape(text.as_ref()),
        });
        pieces.collect()
    }
}

/// What changes are, where some of `rows` shows one that is not the quotient of the two values beside it.
pub fn estimates<'r>(
    rows: impl Iterator<Item = JudgedRow<'r>>,
) -> impl Iterator<Item = &'static str> {
    let used: IndexSet<EstimatedBy> = rows.filter_map(|row| unexpected_estimate(&row)).collect();
    used.into_iter().filter_map(|estimated_by| match estimated_by {
        EstimatedBy::Rows => None,
        EstimatedBy::Values => {
            Some("a change of values that are said to be exact, and vary, is that from the worst to the worst")
        }
        EstimatedBy::Pairs => Some(
            "a change is the median of the changes from each run of one side to each of the other, \
             not that from median to median",
        ),
        EstimatedBy::Means => Some(
            "a change of runs in two groups is that of the means: the medians jump from one group to the other",
        ),
        EstimatedBy::Rounds => {
            Some("a change is the mean of the changes within rounds, not that from median to median")
        }
    })
}

/// How the change of a row was estimated, where that is printed as another number than the quotient of the centres.
#[must_use]
pub fn unexpected_estimate(row: &JudgedRow<'_>) -> Option<EstimatedBy> {
    let effect = row.judgement.effect.as_ref()?;
    let (Change::By(shown), [base, cell]) = (row.change()?, [row.baseline?, row.cell?]) else {
        return None;
    };
    let quotient = cell.centre / base.centre - 1.0;
    (format::percent(shown) != format::percent(quotient)).then_some(effect.estimated_by)
}

/// What a run comes to at a glance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conclusion {
    /// Nothing to worry about.
    Good,
    /// Something got worse, or the gate failed.
    Bad,
    /// No answer.
    Doubtful,
}

/// What the run comes to, in agreement with the gate where there is one.
#[must_use]
pub fn conclusion(run: &Judged) -> Conclusion {
    let counts = &run.summary.counts;
    match &run.gate {
        Some(gate) => match gate.outcome {
            Outcome::Passed => Conclusion::Good,
            Outcome::Failed => Conclusion::Bad,
            Outcome::CouldNotJudge => Conclusion::Doubtful,
        },
        None if counts.regression > counts.waived => Conclusion::Bad,
        None if is_settled(counts) || is_alone(run) => Conclusion::Good,
        None => Conclusion::Doubtful,
    }
}

/// Whether most comparisons have an answer, and none asks for a look. What no answer says of the others is told beside it.
fn is_settled(counts: &Counts) -> bool {
    let settled = counts.improvement + counts.unchanged + counts.waived;
    settled > counts.inconclusive
        && counts.unclear + counts.changed + counts.removed + counts.suspect + counts.promising == 0
}

fn is_alone(run: &Judged) -> bool {
    run.report.columns.len() == 1
}

/// What one input alone comes to: `40 rows of one input: 3 unsteady`.
fn alone(rows: &[LoneRow<'_>]) -> String {
    let unsteady = rows.iter().filter(|lone| lone.is_unsteady()).count();
    let noun = if rows.len() == 1 { "row" } else { "rows" };
    let unsteady = match unsteady {
        0 => "all steady".into(),
        some => format!("{} unsteady", format::count(some)),
    };
    format!(
        "{} {noun} of one input: {unsteady}",
        format::count(rows.len())
    )
}

/// Nobody runs more than that to see a change of a few percent.
const MOST_RUNS: usize = 1000;

/// Changes of which size may have gone unseen, and in how many rows; none where each comparison has an answer.
#[must_use]
pub fn unseen(run: &Judged) -> Option<Sentence> {
    let is_looked_at = |judged: &JudgedRow<'_>| match &run.gate {
        Some(gate) => gate.looks_at(judged.position()),
        None => true,
    };
    let inconclusive = run
        .rows()
        .filter(|judged| is_looked_at(judged) && judged.judgement.verdict == Verdict::Inconclusive);
    let (mut rows, mut largest, mut runs) = (0, 0.0_f64, 0);
    for judged in inconclusive {
        let Some(detectable) = judged.judgement.detectable else {
            continue;
        };
        rows += 1;
        largest = largest.max(detectable);
        runs = runs.max(judged.more_values().unwrap_or_default());
    }
    if rows == 0 {
        return None;
    }
    let noun = if rows == 1 {
        "inconclusive row"
    } else {
        "inconclusive rows"
    };
    let tolerance = run.summary.tolerance.as_ref();
    let advice = match runs {
        0 => String::new(),
        1..=MOST_RUNS => {
            let slow = match tolerance.and_then(|tolerance| tolerance.with(runs)) {
                None | Some(0) => String::new(),
                Some(1) => ", even if one of them is slow".into(),
                Some(slow) => format!(", even if {slow} of them are slow"),
            };
            format!("; -count {runs} would show one of twice the margin at this noise{slow}")
        }
        _ => "; at this noise no usual -count shows one of twice the margin: measure on a steadier machine".into(),
    };
    Some(Sentence::default().own(format!(
        "{} {noun}: a lone change below {:.1}% may go unseen in more than one run of five{advice}",
        format::count(rows),
        largest * 100.0
    )))
}

/// The verdict with its counts: `gate failed: 2 regressions · 1 improvement · 37 unchanged`.
#[must_use]
pub fn headline(run: &Judged) -> String {
    let counts = match run.alone() {
        Some(rows) if !rows.is_empty() => alone(&rows),
        _ => counted(&run.summary.counts),
    };
    let Some(gate) = &run.gate else {
        return counts;
    };
    let outcome = match gate.outcome {
        Outcome::Passed => "gate passed",
        Outcome::Failed => "gate failed",
        Outcome::CouldNotJudge => "gate could not judge",
    };
    let judged = counted(&gate.counts);
    if judged == counts || is_alone(run) {
        format!("{outcome}: {counts}")
    } else {
        // A gate may look at some units only.
        format!("{outcome}: {judged} (all rows: {counts})")
    }
}

/// `2 regressions (1 waived) · 1 improvement`: the verdicts that were given, in the order of [`Verdict::ALL`].
#[must_use]
pub fn counted(counts: &Counts) -> String {
    let parts: Vec<String> = Verdict::ALL
        .iter()
        .filter(|&&verdict| counts.get(verdict) > 0)
        .map(|&verdict| {
            let count = counts.get(verdict);
            let words = format!("{} {}", format::count(count), verdict.words(count));
            if verdict == Verdict::Regression && counts.waived > 0 {
                format!("{words} ({} waived)", format::count(counts.waived))
            } else {
                words
            }
        })
        .collect();
    if parts.is_empty() {
        "nothing compared".into()
    } else {
        parts.join(" · ")
    }
}

/// A sign for the verdict; the word always stands beside it.
#[must_use]
pub fn glyph(verdict: Verdict) -> char {
    match verdict {
        Verdict::Regression => '✗',
        Verdict::Improvement => '✓',
        Verdict::Changed => '≠',
        Verdict::Suspect => '!',
        Verdict::Promising => '¡',
        Verdict::Unclear => '≈',
        Verdict::Removed => '−',
        Verdict::Added => '+',
        Verdict::Inconclusive => '?',
        Verdict::Unchanged => '=',
    }
}

/// The verdict as sign and word, and what a waiver makes of it.
#[must_use]
pub fn verdict(judgement: &Judgement) -> String {
    let waiver = match judgement.waiver {
        Some(WaiverState::Applies { .. }) if judgement.is_waived() => ", waived",
        Some(WaiverState::OverCeiling { .. }) => ", over its waiver",
        Some(WaiverState::Expired { .. }) => ", waiver expired",
        _ => "",
    };
    let verdict = judgement.verdict;
    format!("{} {verdict}{waiver}", glyph(verdict))
}

/// The worst regression with its interval and limit.
#[must_use]
pub fn worst(run: &Judged, subjects: &Subjects<'_>) -> Option<Sentence> {
    let judged = run.at(run.summary.worst?)?;
    let mut sentence = Sentence::default()
        .own("worst: ")
        .foreign(subjects.name(&judged))
        .own(" ")
        .foreign(judged.table.unit.clone())
        .own(format!(" {}", format::judged_change(&judged)));
    let interval = format::interval(&judged);
    if !interval.is_empty() {
        sentence = sentence.own(format!(" ({interval})"));
    }
    let limit = format::limit(&judged);
    if !limit.is_empty() {
        sentence = sentence.own(format!(", limit {limit}"));
    }
    Some(sentence)
}

/// What changes the meaning of the verdicts.
#[must_use]
pub fn warnings(run: &Judged) -> Vec<Sentence> {
    let mut sentences = conditions(run);
    sentences.extend(gate_notes(run));
    sentences
}

/// What changes the meaning of the verdicts, other than what the gate says.
fn conditions(run: &Judged) -> Vec<Sentence> {
    let mut sentences = Vec::new();
    let (report, summary) = (&run.report, &run.summary);
    let differences = summary.environments.differences.iter();
    sentences.extend(differences.map(|difference| environment(report, difference)));
    sentences.extend(summary.shifts.iter().map(|moved| shift(report, moved)));
    if summary.too_few_runs > 0 {
        let remedy = match summary.runs_needed {
            Some(needed) => format!("run each side at least {needed} times"),
            None => "compare fewer benchmarks".into(),
        };
        sentences.push(Sentence::default().own(format!(
            "too few runs: {} {} cannot show any change; {remedy}",
            format::count(summary.too_few_runs),
            if summary.too_few_runs == 1 {
                "comparison"
            } else {
                "comparisons"
            },
        )));
    }
    sentences.extend(drift(run));
    sentences
}

/// What the column was measured on, other than the baseline.
#[must_use]
pub fn environment(report: &Report, difference: &EnvironmentDifference) -> Sentence {
    Sentence::default()
        .own("environment differs: ")
        .foreign(difference.key)
        .own(" is ")
        .list(&difference.baseline)
        .own(" in the baseline and ")
        .list(&difference.values)
        .own(" now")
        .within(report, difference.column)
}

/// By how much most rows of a unit moved.
#[must_use]
pub fn shift(report: &Report, shift: &Shift) -> Sentence {
    let rows = format::count(shift.rows);
    let rows = if shift.moved == shift.rows {
        format!("all {rows} rows of ")
    } else {
        format!("{} of {rows} rows of ", format::count(shift.moved))
    };
    Sentence::default()
        .own(rows)
        .foreign(shift.unit.clone())
        .own(format!(
            " moved by {} ± {}",
            format::percent(shift.mean),
            format::percent(shift.reach).trim_start_matches('+')
        ))
        .within(report, shift.column)
        .own(": more likely the machine than the change")
}

/// Which rows have a sample with a trend, and which a change that has one from round to round.
pub fn drift(run: &Judged) -> impl Iterator<Item = Sentence> {
    [false, true].into_iter().filter_map(|within_rounds| {
        let positions: Vec<Position> = run.noise.trends(within_rounds).collect();
        let what = match (positions.len(), within_rounds) {
            (0, _) => return None,
            (1, false) => "1 sample drifts with time".into(),
            (count, false) => format!("{} samples drift with time", format::count(count)),
            (1, true) => "the change of 1 row drifts from round to round".into(),
            (count, true) => format!(
                "the changes of {} rows drift from round to round",
                format::count(count)
            ),
        };
        let labels = positions
            .iter()
            .map(|at| run.report.tables[at.table].rows[at.row].label());
        let labels: IndexSet<BString> = labels.collect();
        let (named, more) = labels.as_slice().split_at(labels.len().min(NAMED));
        let named: Vec<BString> = named.iter().cloned().collect();
        let more = if more.is_empty() { "" } else { ", …" };
        let advice = drift_advice(within_rounds);
        let sentence = Sentence::default()
            .own(format!("drift: {what} ("))
            .list(&named);
        Some(sentence.own(format!("{more}); {advice}")))
    })
}

/// More rows that drift are counted rather than named.
const NAMED: usize = 5;

/// What slow runs do to the proof of a change, where fewer than two of them are tolerated.
#[must_use]
pub fn tolerance(summary: &Summary) -> Option<Sentence> {
    let Tolerance {
        runs,
        slow,
        runs_for_one,
        ..
    } = summary.tolerance?;
    let advice = runs_for_one.filter(|&needed| slow == Some(0) && needed > runs)?;
    Some(Sentence::default().own(format!(
        "{runs} runs a side prove a change by their ranks only if no run of the faster side is slow; {advice} tolerate one"
    )))
}

/// Why the gate has no answer, beside what [`warnings`] tells anyway, and what is wrong with waivers.
fn gate_notes(run: &Judged) -> Vec<Sentence> {
    let Some(gate) = &run.gate else {
        return Vec::new();
    };
    let mut sentences = Vec::new();
    for found in &gate.obstacles {
        // Those are conditions, which are told anyway.
        if let Obstacle::Environment(_) | Obstacle::Shift(_) = found.obstacle {
            continue;
        }
        let sentence = Sentence::default().own(if found.is_allowed {
            "allowed: "
        } else {
            "could not judge: "
        });
        sentences.push(sentence.then(obstacle(&found.obstacle)));
    }
    sentences.extend(gate.waiver_notes.iter().map(waiver));
    sentences
}

/// What keeps the gate from an answer.
#[must_use]
pub fn obstacle(obstacle: &Obstacle) -> Sentence {
    let sentence = Sentence::default();
    match obstacle {
        Obstacle::NothingCompared { unit, differing } => {
            let mut sentence = sentence.own("nothing was compared");
            if let Some(unit) = unit {
                sentence = sentence.own(" in ").foreign(unit.clone());
            }
            if differing.is_empty() {
                sentence
            } else {
                sentence.own(": the sides differ in ").list(differing)
            }
        }
        Obstacle::EmptyInput { input } => sentence.own("no results in ").foreign(input.clone()),
        Obstacle::Environment(difference) => sentence
            .own("the environment differs in ")
            .foreign(difference.key),
        Obstacle::Removed { places } => sentence.own(format!(
            "{} {} of the baseline not measured again",
            format::count(places.len()),
            if places.len() == 1 { "row" } else { "rows" }
        )),
        Obstacle::SameValues { rows, .. } => sentence.own(format!(
            "the same measurements on both sides in {} {}",
            format::count(*rows),
            if *rows == 1 { "row" } else { "rows" }
        )),
        Obstacle::Configuration(split) => sentence
            .foreign(split.key.clone())
            .own(" changes within ")
            .foreign(split.input.clone())
            .own(" and takes runs of ")
            .foreign(split.benchmark.clone())
            .own(" out of the comparison"),
        Obstacle::Unit(dispute) => sentence
            .foreign(dispute.input.clone())
            .own(" says ")
            .foreign(dispute.claim.clone())
            .own(" of ")
            .foreign(dispute.unit.clone())
            .own(", against the baseline or what is known"),
        // `go test` sets the columns of a failure apart by tabs, which are no columns within a sentence.
        Obstacle::FailedBenchmark { line } => sentence
            .own("a benchmark failed: ")
            .foreign(line.replace("\t", " ")),
        Obstacle::TooFewRuns { rows, .. } => sentence.own(format!(
            "too few runs for any verdict on {} {}",
            format::count(*rows),
            if *rows == 1 { "row" } else { "rows" }
        )),
        Obstacle::Shift(Shift { unit, mean, .. }) => sentence
            .own("all rows of ")
            .foreign(unit.clone())
            .own(format!(
                " moved alike, by {}, so that none says anything of the code alone",
                format::percent(*mean)
            )),
        Obstacle::Control { places } => sentence.own(format!(
            "{} {} changed that cannot have, so that none says anything of the code alone",
            format::count(places.len()),
            if places.len() == 1 { "row" } else { "rows" }
        )),
        Obstacle::Suspect { places } => sentence.own(format!(
            "{} {} changed, and {} not proven to be",
            format::count(places.len()),
            if places.len() == 1 {
                "row looks"
            } else {
                "rows look"
            },
            if places.len() == 1 { "is" } else { "are" },
        )),
        Obstacle::Syntax { lines } => sentence.own(format!(
            "{} {} of the inputs not understood",
            format::count(*lines),
            if *lines == 1 { "line" } else { "lines" }
        )),
    }
}

/// That a column has the very measurements of the baseline.
#[must_use]
pub fn same_values(report: &Report, column: usize, rows: usize) -> Sentence {
    obstacle(&Obstacle::SameValues { column, rows }).within(report, column)
}

/// What a gate passes over: rows that changed in units of which nobody said which direction is better.
#[must_use]
pub fn unjudged(run: &Judged) -> Option<Sentence> {
    /// More units than this are counted rather than told.
    const UNITS: usize = 5;
    let mut units: IndexMap<&BString, Vec<BString>> = IndexMap::new();
    for judged in run.worst_first() {
        let has_changed = judged.judgement.verdict == Verdict::Changed;
        if has_changed && !run.is_gated(judged.position()) && judged.table.better.is_none() {
            let rows = units.entry(&judged.table.unit).or_default();
            rows.push(judged.row.label());
        }
    }
    let mut sentence = Sentence::default().own("changed, and not judged: ");
    for (index, (unit, rows)) in units.iter().take(UNITS).enumerate() {
        let more = match rows.len() {
            1 => String::new(),
            count => format!(" and {} more", count - 1),
        };
        let separator = if index == 0 { "" } else { "; " };
        sentence = sentence
            .own(separator)
            .foreign((*unit).clone())
            .own(" of ")
            .foreign(rows[0].clone())
            .own(more);
    }
    if units.len() > UNITS {
        sentence = sentence.own(format!("; and {} more units", units.len() - UNITS));
    }
    let (unit, _) = units.first()?;
    let flag = |direction: &str| shell_word(&format!("{unit}={direction}")).into_owned();
    Some(sentence.own(format!(
        ": nobody said which direction is better: add -better {} or -better {}",
        flag("lower"),
        flag("higher")
    )))
}

/// What is wrong with a waiver.
#[must_use]
pub fn waiver(note: &WaiverNote) -> Sentence {
    let mut sentence = Sentence::default()
        .own(format!("waiver on line {} (", note.line))
        .foreign(note.benchmark.as_str())
        .own(", ")
        .foreign(note.unit.as_str());
    if !note.package.is_empty() {
        sentence = sentence.own(", ").foreign(note.package.as_str());
    }
    let sentence = sentence.own(") ");
    match &note.kind {
        WaiverNoteKind::Stale => sentence.own(
            "is stale: there is no such row, by the name tables show it under; remove or correct it",
        ),
        WaiverNoteKind::Ambiguous { rows, add } => sentence
            .own(format!("names {rows} rows, and tolerates none of them: add "))
            .foreign(add.as_str()),
        WaiverNoteKind::Unused => sentence.own("is unused: there is no regression; remove it"),
        WaiverNoteKind::Expired { expires } => {
            sentence.own("expired on ").foreign(expires.as_str())
        }
        WaiverNoteKind::OverCeiling => {
            sentence.own("does not reach: the regression is over its ceiling")
        }
    }
}

/// Remarks on both samples of a judgement and on its comparison, as far as they are about noise or numbers of runs.
#[must_use]
pub fn remarks(run: &Judged, judged: &JudgedRow<'_>) -> Vec<String> {
    let mut remarks = Vec::new();
    let position = judged.position();
    let baseline = Position {
        column: judged.judgement.baseline,
        ..position
    };
    for (side, cell, position) in [
        ("base", judged.baseline, baseline),
        ("new", judged.cell, position),
    ] {
        let Some(cell) = cell else { continue };
        for warning in &cell.warnings {
            remarks.push(format!("{side}: {warning}"));
        }
        for noise in run.noise.at(position) {
            remarks.push(format!("{side}: {noise}"));
        }
    }
    if let Some(comparison) = judged.cell.and_then(|cell| cell.comparison.as_ref()) {
        remarks.extend(comparison.warnings.iter().map(ToString::to_string));
    }
    let judgement = judged.judgement;
    if judgement.verdict == Verdict::Inconclusive {
        if let Some(detectable) = judgement.detectable {
            remarks.push(format!(
                "shows a lone change of {} in four runs of five",
                format::percent(detectable).trim_start_matches('+')
            ));
        }
        if let Some(count) = judged.more_values() {
            remarks.push(format!(
                "about {count} runs a side show one of twice the margin"
            ));
        }
    }
    if let Some(WaiverState::Applies {
        expires, reason, ..
    }) = &judgement.waiver
    {
        remarks.push(format!("waived until {expires}: {reason}"));
    }
    remarks
}
