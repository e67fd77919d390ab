//! The gate: one answer for a whole run, which is never a good one by default.

use bstr::{BStr, BString};
use indexmap::IndexSet;

use serde::Serialize;

use super::control::Control;
use super::counts::Counts;
use super::judgement::{JudgedRow, Judgement, Judgements};
use super::obstacle::{Found, Obstacle, ObstacleKind, SplitByKey, UnitDispute};
use super::rules::UnitRules;
use super::shift::Shift;
use super::sides;
use super::summary::Summary;
use super::verdict::Verdict;
use super::waivers::WaiverNote;
use crate::read::InputFacts;
use crate::record::Findings;
use crate::report::model::{Position, Report, Table};
use crate::unit::Tidied;

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
    /// At least one row is worse.
    Failed,
    /// No answer, so not a good one.
    CouldNotJudge,
}

/// The outcome of the gate and what led to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Gate {
    /// What it fails on.
    pub fail_on: FailOn,
    /// What it comes to.
    pub outcome: Outcome,
    /// The tables that it looks at, ascending.
    pub tables: Vec<usize>,
    /// The only column that it looks at; none for all.
    pub column: Option<usize>,
    /// How often each verdict was given among the rows that it looked at.
    pub counts: Counts,
    /// The rows it fails on, worst first.
    pub offending: Vec<Position>,
    /// The regressions that waivers tolerate, worst first.
    pub waived: Vec<Position>,
    /// Why there is no answer, or would be none if it were not allowed.
    pub obstacles: Vec<Found>,
    /// What is wrong with single waivers.
    pub waiver_notes: Vec<WaiverNote>,
}

impl Gate {
    /// Whether it looks at a row.
    #[must_use]
    pub fn looks_at(&self, position: Position) -> bool {
        self.tables.binary_search(&position.table).is_ok() && self.looks_at_column(position.column)
    }

    /// Whether it looks at a column.
    #[must_use]
    pub fn looks_at_column(&self, column: usize) -> bool {
        self.column.is_none_or(|only| only == column)
    }

    /// The obstacles that are not allowed.
    pub fn standing(&self) -> impl Iterator<Item = &Obstacle> {
        let standing = self.obstacles.iter().filter(|found| !found.is_allowed);
        standing.map(|found| &found.obstacle)
    }
}

/// What a gate is asked to do.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GateSettings {
    /// What it fails on.
    pub fail_on: FailOn,
    /// The units it looks at, in base form; all that it can judge, if empty.
    pub units: Vec<BString>,
    /// The obstacles that do not matter.
    pub allowed: Vec<ObstacleKind>,
    /// Which rows cannot have changed.
    pub control: Option<Control>,
    /// Whether only the last column is judged, against the first: those between are other bases.
    pub judges_last_column_only: bool,
}

/// What was noticed before there was a report.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InputProblems {
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

impl InputProblems {
    /// What was noticed in the inputs of a report, for which units have these rules.
    #[must_use]
    pub fn of(inputs: &[InputFacts], report: &Report, rules: &UnitRules) -> Self {
        let is_of_report = |dispute: &&UnitDispute| {
            let unit = Tidied::new(&dispute.unit).unit;
            report.tables.iter().any(|table| table.unit == unit)
        };
        let mut problems = Self {
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
                problems.empty_inputs.push(input.name.clone());
            }
            problems.add_findings(input.name.as_ref(), &input.findings);
            problems.syntax_warnings += input.faults;
        }
        problems
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
            (
                "results behind prefixes of several kinds, the first: ",
                &findings.behind_prefixes,
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
    /// What says which rows cannot have changed names none.
    #[error("-control {0}: no row has such a name")]
    NoControl(String),
}

/// Asks the gate about a judged report.
///
/// # Errors
/// A [`GateError`] where a unit was asked for of which no direction is known, or for control by no row.
pub(super) fn ask(
    report: &Report,
    judgements: &Judgements,
    summary: &Summary,
    settings: &GateSettings,
    problems: InputProblems,
    waiver_notes: Vec<WaiverNote>,
) -> Result<Gate, GateError> {
    let tables = gated_tables(report, settings)?;
    let column = settings
        .judges_last_column_only
        .then(|| report.columns.len().saturating_sub(1));
    let is_gated = |row: &JudgedRow<'_>| {
        let Position {
            table, column: of, ..
        } = row.position();
        tables.binary_search(&table).is_ok() && column.is_none_or(|only| only == of)
    };
    let is_control = |row: &JudgedRow<'_>| {
        let control = settings.control.as_ref();
        control.is_some_and(|control| control.names(&row.row.label()))
    };
    if let Some(control) = &settings.control
        && !judgements.rows(report).any(|row| is_control(&row))
    {
        return Err(GateError::NoControl(control.to_string()));
    }
    let mut ranked = judgements.worst_first(report);
    ranked.retain(is_gated);
    let controls: Vec<JudgedRow<'_>> = ranked.extract_if(.., |row| is_control(row)).collect();
    let obstacles = Gated {
        report,
        settings,
        summary,
        column,
        rows: judgements
            .rows(report)
            .filter(|row| is_gated(row) && !is_control(row))
            .collect(),
        controls: &controls,
        ranked: &ranked,
    }
    .obstacles(problems);
    let allows_few_runs = settings.allowed.contains(&ObstacleKind::TooFewRuns);
    let positions = |filter: &dyn Fn(&Judgement) -> bool| -> Vec<Position> {
        let rows = ranked.iter().filter(|row| filter(row.judgement));
        rows.map(JudgedRow::position).collect()
    };
    let offending = positions(&|judgement| offends(judgement, settings.fail_on, allows_few_runs));
    let has = |stands: &dyn Fn(&Obstacle) -> bool| {
        let mut found = obstacles.iter().filter(|found| !found.is_allowed);
        found.any(|found| stands(&found.obstacle))
    };
    let says_nothing = |obstacle: &Obstacle| {
        matches!(
            obstacle,
            Obstacle::Environment(_) | Obstacle::Shift(_) | Obstacle::Control { .. }
        )
    };
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
    Ok(Gate {
        fail_on: settings.fail_on,
        outcome,
        counts: Counts::of(ranked.iter().map(|row| row.judgement)),
        offending,
        waived: positions(&Judgement::is_waived),
        obstacles,
        waiver_notes,
        tables,
        column,
    })
}

/// The tables that the gate looks at.
fn gated_tables(report: &Report, settings: &GateSettings) -> Result<Vec<usize>, GateError> {
    let needs_direction = settings.fail_on != FailOn::Change;
    let mut tables = Vec::new();
    for (index, table) in report.tables.iter().enumerate() {
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
        tables.extend(is_gated.then_some(index));
    }
    Ok(tables)
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

/// What a gate looks at.
struct Gated<'a> {
    report: &'a Report,
    settings: &'a GateSettings,
    summary: &'a Summary,
    /// The only column that it looks at; none for all.
    column: Option<usize>,
    /// The rows that cannot have changed, the worst first.
    controls: &'a [JudgedRow<'a>],
    /// The rows that it looks at, in the order of their positions.
    rows: Vec<JudgedRow<'a>>,
    /// The same rows, the worst first.
    ranked: &'a [JudgedRow<'a>],
}

impl Gated<'_> {
    /// All that keeps the gate from an answer, in the order of [`ObstacleKind::ALL`].
    fn obstacles(&self, problems: InputProblems) -> Vec<Found> {
        let mut obstacles = Vec::new();
        let differences = self.summary.environments.differences.iter();
        obstacles.extend(differences.cloned().map(Obstacle::Environment));

        // What moves all rows by less than matters moves none of them beyond what does not.
        let matters = |shift: &&Shift| {
            self.rows.iter().any(|row| {
                let margin = row.judgement.margin;
                row.position().column == shift.column
                    && row.table.unit == shift.unit
                    && margin.is_some_and(|margin| margin.limit < shift.mean.abs())
            })
        };
        let shifts = self.summary.shifts.iter().filter(matters);
        obstacles.extend(shifts.cloned().map(Obstacle::Shift));
        let moved = self
            .controls
            .iter()
            .filter(|row| row.judgement.verdict.is_proven_change());
        let places: Vec<Position> = moved.map(JudgedRow::position).collect();
        if !places.is_empty() {
            obstacles.push(Obstacle::Control { places });
        }
        let same = sides::same_values(self.report).into_iter();
        let same = same.filter(|(column, _)| self.column.is_none_or(|only| only == *column));
        obstacles.extend(same.map(|(column, rows)| Obstacle::SameValues { column, rows }));
        obstacles.extend(problems.disputes.into_iter().map(Obstacle::Unit));
        obstacles.extend(problems.splits.into_iter().map(Obstacle::Configuration));
        obstacles.extend(self.nothing_compared());
        let inputs = problems.empty_inputs.into_iter();
        obstacles.extend(inputs.map(|input| Obstacle::EmptyInput { input }));
        let failures = problems.failures.into_iter();
        obstacles.extend(failures.map(|line| Obstacle::FailedBenchmark { line }));
        let removed = self.rows.iter();
        let removed = removed.filter(|row| row.judgement.verdict == Verdict::Removed);
        let places: Vec<Position> = removed.map(JudgedRow::position).collect();
        if !places.is_empty() {
            obstacles.push(Obstacle::Removed { places });
        }
        if problems.syntax_warnings > 0 {
            obstacles.push(Obstacle::Syntax {
                lines: problems.syntax_warnings,
            });
        }
        let few = self.rows.iter().filter(|row| {
            // What is known to be unchanged needs no more runs.
            row.judgement.verdict == Verdict::Inconclusive && !row.judgement.could_be_significant
        });
        let rows = few.count();
        if rows > 0 {
            obstacles.push(Obstacle::TooFewRuns {
                rows,
                needed: self.summary.runs_needed,
            });
        }
        let places = self.suspects();
        if !places.is_empty() {
            obstacles.push(Obstacle::Suspect { places });
        }
        obstacles
            .into_iter()
            .map(|obstacle| Found {
                is_allowed: self.settings.allowed.contains(&obstacle.kind()),
                obstacle,
            })
            .collect()
    }

    /// Whether nothing was compared at all, or in one of the units asked for.
    fn nothing_compared(&self) -> Vec<Obstacle> {
        let nothing = |unit: Option<&BString>| {
            let is_unit = |row: &JudgedRow<'_>| {
                unit.is_none_or(|unit| Tidied::new(&row.table.unit).unit == *unit)
            };
            let mut compared = self
                .rows
                .iter()
                .filter(|row| row.judgement.effect.is_some());
            (!compared.any(is_unit)).then(|| Obstacle::NothingCompared {
                unit: unit.cloned(),
                differing: differing_keys(self.report),
            })
        };
        match self.settings.units.as_slice() {
            [] => nothing(None).into_iter().collect(),
            units => units
                .iter()
                .filter_map(|unit| nothing(Some(unit)))
                .collect(),
        }
    }

    /// The rows that look changed and are not proven to be, the worst first.
    fn suspects(&self) -> Vec<Position> {
        let looks_changed =
            |row: &&JudgedRow<'_>| match (row.judgement.verdict, self.settings.fail_on) {
                // What fails the gate anyway keeps it from nothing.
                (_, FailOn::Unproven) => false,
                (Verdict::Suspect, _) | (Verdict::Promising, FailOn::Change) => true,
                _ => false,
            };
        let suspects = self.ranked.iter().filter(looks_changed);
        suspects.map(JudgedRow::position).collect()
    }
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
