//! The gate: one answer for a whole run, which is never a good one by default.

use bstr::{BStr, BString};
use indexmap::IndexSet;

use super::judgement::{
    Counts, FailOn, Found, Gate, Judged, Judgement, Obstacle, ObstacleKind, Outcome, Place, Shift,
    SplitByKey, UnitDispute, Verdict,
};
use super::model::{Report, Table};
use super::rules::UnitRules;
use super::sides;
use super::waivers::Waivers;
use crate::read::InputFacts;
use crate::record::Findings;
use crate::unit::Tidied;

/// What a gate is asked to do.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GateSettings {
    /// What it fails on.
    pub fail_on: FailOn,
    /// The units it looks at, in base form; all that it can judge, if empty.
    pub units: Vec<BString>,
    /// The obstacles that do not matter.
    pub allowed: Vec<ObstacleKind>,
}

/// What was noticed before there was a report.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evidence {
    /// The names of the inputs that contribute nothing.
    pub empty_inputs: Vec<BString>,
    /// What says that something failed, or that results are lost, each after the name of the input.
    pub failures: Vec<BString>,
    /// How many other lines were not understood.
    pub syntax_warnings: usize,
    /// What the judged sides say of units against the rules.
    pub disputes: Vec<UnitDispute>,
    /// The configuration keys that take runs out of the comparison.
    pub splits: Vec<SplitByKey>,
}

impl Evidence {
    /// What was noticed in the inputs of a report, for which units have these rules.
    #[must_use]
    pub fn of(inputs: &[InputFacts], report: &Report, rules: &UnitRules) -> Self {
        let is_of_report = |dispute: &&UnitDispute| {
            let unit = Tidied::new(&dispute.unit).unit;
            report.tables.iter().any(|table| table.unit == unit)
        };
        let mut evidence = Self {
            disputes: rules
                .disputes
                .iter()
                .filter(is_of_report)
                .cloned()
                .collect(),
            splits: sides::splits(report, inputs),
            ..Self::default()
        };
        for input in inputs {
            if !input.is_used {
                evidence.empty_inputs.push(input.name.clone());
            }
            evidence.add_findings(input.name.as_ref(), &input.findings);
            evidence.syntax_warnings += input.faults;
        }
        evidence
    }

    /// Adds what was found beside the results of `input`.
    pub fn add_findings(&mut self, input: &BStr, findings: &Findings) {
        let mut add = |text: String| self.failures.push(format!("{input}{text}").into());
        for (name, count) in findings.failed_leaves() {
            add(match count {
                1 => format!(": {name} failed"),
                count => format!(": {name} failed {count} times"),
            });
        }
        for (what, found) in [
            ("", &findings.panics),
            ("FAIL ", &findings.failures),
            (
                "results torn apart by other output, the first: ",
                &findings.torn,
            ),
        ] {
            if found.count > 0 {
                let line = format!(":{}: {what}{}", found.line, found.text);
                add(line.trim_end().to_owned());
            }
        }
        // How a binary ended says nothing new where something else says why.
        if findings.exits.count > 0 && findings.panics.count + findings.failures.count == 0 {
            add(format!(":{}: {}", findings.exits.line, findings.exits.text));
        }
        if let Some(line) = findings.truncated {
            add(format!(":{line}: the last line looks cut off"));
        }
    }
}

/// A gate that cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GateError {
    /// A regression is to be found in a unit of which nobody said what one is.
    #[error(
        "-gate-unit {unit}: nobody said which direction is better: add -better {unit}=lower or {unit}=higher"
    )]
    NoDirection {
        /// The unit.
        unit: BString,
    },
}

/// Asks the gate about a judged report, which then has its answer.
///
/// # Errors
/// A [`GateError`] where a unit was asked for of which no direction is known.
pub fn ask(
    report: &mut Report,
    settings: &GateSettings,
    evidence: Evidence,
    waivers: &Waivers,
) -> Result<(), GateError> {
    let needs_direction = settings.fail_on != FailOn::Change;
    for table in &mut report.tables {
        let is_named = settings.units.contains(&Tidied::new(&table.unit).unit);
        if is_named && needs_direction && table.better.is_none() {
            return Err(GateError::NoDirection {
                unit: table.unit.clone(),
            });
        }
        let is_gated = match settings.units.as_slice() {
            [] => table.better.is_some() || !needs_direction,
            _ => is_named,
        };
        for row in &mut table.rows {
            for (_, judgement) in &mut row.judgements {
                judgement.is_gated = is_gated;
            }
        }
    }

    let obstacles = obstacles(report, settings, evidence);
    let is_allowed = |kind: ObstacleKind| settings.allowed.contains(&kind);
    let ranked = report.worst_first();
    let gated = || ranked.iter().filter(|judged| judged.judgement.is_gated);
    let mut counts = Counts::default();
    for judged in gated() {
        counts.add(judged.judgement.verdict);
        counts.waived += usize::from(judged.judgement.is_waived());
    }
    let places = |rows: &mut dyn Iterator<Item = &Judged<'_>>| -> Vec<Place> {
        rows.map(|judged| judged.place).collect()
    };
    let offending = places(&mut gated().filter(|judged| {
        offends(
            judged.judgement,
            settings.fail_on,
            is_allowed(ObstacleKind::TooFewRuns),
        )
    }));
    let waived = places(&mut gated().filter(|judged| judged.judgement.is_waived()));
    let has = |stands: &dyn Fn(&Obstacle) -> bool| {
        let mut found = obstacles.iter().filter(|found| !found.is_allowed);
        found.any(|found| stands(&found.obstacle))
    };
    let says_nothing =
        |obstacle: &Obstacle| matches!(obstacle, Obstacle::Environment(_) | Obstacle::Shift(_));
    let outcome = if has(&says_nothing) {
        // A change between machines, or of a machine, says nothing about the code, however clear it is.
        Outcome::CouldNotJudge
    } else if !offending.is_empty() {
        Outcome::Failed
    } else if has(&|_| true) {
        Outcome::CouldNotJudge
    } else {
        Outcome::Passed
    };
    report.gate = Some(Gate {
        fail_on: settings.fail_on,
        outcome,
        counts,
        offending,
        waived,
        obstacles,
        waiver_notes: waivers.notes(report),
    });
    Ok(())
}

/// Whether a row fails the gate.
fn offends(judgement: &Judgement, fail_on: FailOn, allows_few_runs: bool) -> bool {
    if judgement.is_waived() {
        return false;
    }
    let verdict = judgement.verdict;
    match fail_on {
        FailOn::Regression => verdict == Verdict::Regression,
        FailOn::Change => matches!(
            verdict,
            Verdict::Regression | Verdict::Improvement | Verdict::Changed
        ),
        // Rows that could not have been judged are an obstacle, and rows on one side only no comparison.
        FailOn::Unproven => match verdict {
            Verdict::Unchanged | Verdict::Improvement | Verdict::Added | Verdict::Removed => false,
            Verdict::Inconclusive => judgement.could_be_significant || allows_few_runs,
            Verdict::Regression
            | Verdict::Changed
            | Verdict::Suspect
            | Verdict::Unclear
            | Verdict::Promising => true,
        },
    }
}

/// All that keeps the gate from an answer, in the order of [`ObstacleKind::ALL`].
fn obstacles(report: &Report, settings: &GateSettings, evidence: Evidence) -> Vec<Found> {
    let gated = || {
        report
            .all_judged()
            .filter(|judged| judged.judgement.is_gated)
    };
    let mut obstacles = Vec::new();

    let summary = report.summary.as_ref();
    let differences = summary
        .into_iter()
        .flat_map(|summary| &summary.environment_differences);
    obstacles.extend(differences.cloned().map(Obstacle::Environment));

    let shifts = summary.into_iter().flat_map(|summary| &summary.shifts);
    // What moves all rows by less than matters moves none of them beyond what does not.
    let matters = |shift: &&Shift| {
        gated().any(|judged| {
            judged.place.column == shift.column
                && judged.table.unit == shift.unit
                && judged
                    .judgement
                    .margin
                    .is_some_and(|margin| margin.limit < shift.mean.abs())
        })
    };
    obstacles.extend(shifts.filter(matters).cloned().map(Obstacle::Shift));
    let same = sides::same_values(report).into_iter();
    obstacles.extend(same.map(|(column, rows)| Obstacle::SameValues { column, rows }));
    obstacles.extend(evidence.disputes.into_iter().map(Obstacle::Unit));
    obstacles.extend(evidence.splits.into_iter().map(Obstacle::Configuration));

    let is_compared = |judged: &Judged<'_>| judged.judgement.effect.is_some();
    if settings.units.is_empty() {
        if !gated().any(|judged| is_compared(&judged)) {
            obstacles.push(Obstacle::NothingCompared {
                unit: None,
                differing: differing_keys(report),
            });
        }
    } else {
        for unit in &settings.units {
            let is_unit = |judged: &Judged<'_>| Tidied::new(&judged.table.unit).unit == *unit;
            if !gated().any(|judged| is_compared(&judged) && is_unit(&judged)) {
                obstacles.push(Obstacle::NothingCompared {
                    unit: Some(unit.clone()),
                    differing: differing_keys(report),
                });
            }
        }
    }
    let inputs = evidence.empty_inputs.into_iter();
    obstacles.extend(inputs.map(|input| Obstacle::EmptyInput { input }));
    let failures = evidence.failures.into_iter();
    obstacles.extend(failures.map(|line| Obstacle::FailedBenchmark { line }));
    let removed = gated().filter(|judged| judged.judgement.verdict == Verdict::Removed);
    let places: Vec<Place> = removed.map(|judged| judged.place).collect();
    if !places.is_empty() {
        obstacles.push(Obstacle::Removed { places });
    }
    if evidence.syntax_warnings > 0 {
        obstacles.push(Obstacle::Syntax {
            lines: evidence.syntax_warnings,
        });
    }
    let few = gated()
        .filter(|judged| {
            let judgement = judged.judgement;
            // What is known to be unchanged needs no more runs.
            judgement.verdict == Verdict::Inconclusive && !judgement.could_be_significant
        })
        .count();
    if few > 0 {
        obstacles.push(Obstacle::TooFewRuns {
            rows: few,
            needed: summary.and_then(|summary| summary.runs_needed),
        });
    }
    // What fails the gate anyway keeps it from nothing.
    if settings.fail_on != FailOn::Unproven {
        let looks_changed = |judged: &Judged<'_>| match judged.judgement.verdict {
            Verdict::Suspect => true,
            Verdict::Promising => settings.fail_on == FailOn::Change,
            _ => false,
        };
        let ranked = report.worst_first();
        let suspects = ranked
            .iter()
            .filter(|judged| judged.judgement.is_gated && looks_changed(judged));
        let places: Vec<Place> = suspects.map(|judged| judged.place).collect();
        if !places.is_empty() {
            obstacles.push(Obstacle::Suspect { places });
        }
    }
    obstacles
        .into_iter()
        .map(|obstacle| Found {
            is_allowed: settings.allowed.contains(&obstacle.kind()),
            obstacle,
        })
        .collect()
}

/// The keys in which no table of the baseline agrees with any other table: why nothing pairs.
fn differing_keys(report: &Report) -> Vec<BString> {
    let has_baseline = |table: &&Table| table.places.first() == Some(&0);
    let (baseline, others): (Vec<&Table>, Vec<&Table>) =
        report.tables.iter().partition(has_baseline);
    let values = |tables: &[&Table], key: &BString| -> IndexSet<BString> {
        let fields = tables.iter().flat_map(|table| &table.key);
        let fields = fields.filter(|field| *field.key == *key);
        fields.map(|field| field.value.clone()).collect()
    };
    if baseline.is_empty() || others.is_empty() {
        return Vec::new();
    }
    let keys: IndexSet<&BString> = report
        .tables
        .iter()
        .flat_map(|table| table.key.iter().map(|field| &*field.key))
        .collect();
    keys.into_iter()
        .filter(|key| values(&baseline, key).is_disjoint(&values(&others, key)))
        .cloned()
        .collect()
}

/// A unit as given to `-gate-unit`, in base form.
#[must_use]
pub fn gate_unit(unit: &BStr) -> BString {
    Tidied::new(unit).unit
}
