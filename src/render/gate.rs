//! What a gate, its self-test and the measurement of noise say.

use std::io::{self, Write};

use bstr::{BString, ByteSlice};
use comfy_table::{CellAlignment, ContentArrangement, LineStyle, Table as List, TableStyle};
use indexmap::IndexSet;

use super::subject::Subjects;
use super::{colour, escape, format, words};
use crate::common::shell_word;
use crate::judge::effect::Unbounded;
use crate::judge::judgement::WaiverState;
use crate::judge::margin::write_entry;
use crate::judge::noise_margins::{NoiseMargins, RowMargin};
use crate::judge::obstacle::{Found, Obstacle, ObstacleKind};
use crate::judge::self_test::{Reaction, SelfTest};
use crate::judge::sides::WHY_SAME;
use crate::judge::{
    Counts, Effect, EffectScale, EstimatedBy, FailOn, Gate, Judged, JudgedRow, Outcome, Verdict,
};
use crate::report::model::Table;
use crate::sample::EnvironmentDifference;
use crate::unit::Scale;

/// More rows than this are counted rather than told.
const ROWS: usize = 50;
/// Of the rows that keep the gate from an answer, more than this are counted rather than told.
const NAMED: usize = 10;
/// More lines about failures than this are counted rather than told.
const FAILURES: usize = 5;

/// How the answer is told.
#[derive(Clone, Copy, Debug, Default)]
pub struct Telling {
    /// Whether nothing is told but the answer and what led to it.
    pub quiet: bool,
    /// Whether the reader can show colour.
    pub has_colour: bool,
    /// Whether the rows to blame stand in the report above.
    pub rows_are_shown: bool,
}

/// Writes the answer of the gate: the rows to blame, worst first, what stood in the way of an answer, what else is worth
/// knowing, and last, where nothing scrolls it away, the answer.
///
/// # Errors
/// Whatever `out` fails with.
pub fn write(run: &Judged, telling: Telling, out: &mut dyn Write) -> io::Result<()> {
    let Some(gate) = &run.gate else {
        return Ok(());
    };
    details(run, gate, telling, out)?;
    let headline = headline(gate);
    if telling.has_colour {
        let style = match gate.outcome {
            Outcome::Passed => colour::GOOD,
            Outcome::Failed => colour::BAD,
            Outcome::CouldNotJudge => colour::DOUBTFUL,
        };
        let style = style.bold();
        return writeln!(out, "rbenchstat: {style}gate {headline}{style:#}");
    }
    writeln!(out, "rbenchstat: gate {headline}")
}

fn details(run: &Judged, gate: &Gate, telling: Telling, out: &mut dyn Write) -> io::Result<()> {
    let report = &run.report;
    let subjects = &Subjects::new(report);
    if !telling.rows_are_shown {
        for place in gate.offending.iter().take(ROWS) {
            if let Some(judged) = run.at(*place) {
                tell(out, &format!("  {}", row(subjects, &judged)))?;
            }
        }
        if gate.offending.len() > ROWS {
            writeln!(out, "  and {} more", gate.offending.len() - ROWS)?;
        }
    }
    let is_failure = |found: &&Found| found.obstacle.kind() == ObstacleKind::Failed;
    let failures = gate.obstacles.iter().filter(is_failure).count();
    let mut told = 0;
    for found in &gate.obstacles {
        if is_failure(&found) {
            told += 1;
            if told == FAILURES + 1 {
                writeln!(out, "  and {} more about failures", failures - FAILURES)?;
            }
            if told > FAILURES {
                continue;
            }
        }
        let word = if found.is_allowed {
            "allowed"
        } else {
            "cannot judge"
        };
        let allow = found.obstacle.kind().word();
        let fact = match &found.obstacle {
            Obstacle::Environment(difference) => words::environment(report, difference),
            Obstacle::SameValues { column, rows } => words::same_values(report, *column, *rows),
            obstacle => words::obstacle(obstacle),
        };
        let remedy = remedy(run, subjects, gate, &found.obstacle);
        tell(
            out,
            &format!("  {word}: {}{remedy} (-allow {allow})", fact.plain()),
        )?;
    }
    for place in &gate.waived {
        if let Some(judged) = run.at(*place) {
            tell(out, &format!("  waived: {}", row(subjects, &judged)))?;
        }
    }
    if !telling.quiet {
        notes(run, out)?;
    }
    Ok(())
}

/// Writes a line. All of it is escaped, and not piece by piece: names, reasons and lines of logs are in most lines, and
/// the program's own words have nothing to escape.
fn tell(out: &mut dyn Write, line: &str) -> io::Result<()> {
    writeln!(out, "{}", escape::terminal(line.into()))
}

/// The answer in one line.
#[must_use]
pub fn headline(gate: &Gate) -> String {
    match gate.outcome {
        Outcome::Passed => {
            let nothing = match gate.fail_on {
                FailOn::Regression => "no regression",
                FailOn::Unproven => "everything is unchanged or better",
                FailOn::Change => "no change",
            };
            format!("passed: {nothing} ({})", gate.counts)
        }
        Outcome::Failed => {
            let count = gate.offending.len();
            let what = match gate.fail_on {
                FailOn::Regression => Verdict::Regression.words(count).to_owned(),
                FailOn::Unproven => "not proven to be unchanged or better".into(),
                FailOn::Change if count == 1 => "change".into(),
                FailOn::Change => "changes".into(),
            };
            format!("failed: {count} {what} ({})", gate.counts)
        }
        Outcome::CouldNotJudge => {
            let mut words: Vec<&str> = Vec::new();
            for obstacle in gate.standing() {
                let word = cause(obstacle.kind());
                if !words.contains(&word) {
                    words.push(word);
                }
            }
            let causes = words.join("; ");
            if gate.counts == Counts::default() {
                return format!("could not judge: {causes}");
            }
            format!("could not judge: {causes} ({})", gate.counts)
        }
    }
}

/// An obstacle as the cause of no answer.
fn cause(kind: ObstacleKind) -> &'static str {
    match kind {
        ObstacleKind::NothingCompared => "nothing was compared",
        ObstacleKind::EmptyInput => "an input contributes nothing",
        ObstacleKind::Environment => "the sides were measured on different machines",
        ObstacleKind::Removed => "benchmarks were removed",
        ObstacleKind::Failed => "benchmarks failed",
        ObstacleKind::SameValues => "both sides hold the same measurements",
        ObstacleKind::Configuration => "runs were left out of the comparison",
        ObstacleKind::Unit => "the judged side sets its own rules",
        ObstacleKind::TooFewRuns => "too few runs for any verdict",
        ObstacleKind::Shift => "everything moved alike",
        ObstacleKind::Control => "what cannot have changed did",
        ObstacleKind::Suspect => "what looks changed is not proven",
        ObstacleKind::Syntax => "lines were not understood",
    }
}

/// One row: verdict, name, values, change with interval and limit.
fn row(subjects: &Subjects<'_>, judged: &JudgedRow<'_>) -> String {
    let JudgedRow {
        table,
        baseline,
        cell,
        judgement,
        ..
    } = judged;
    let mut parts = vec![name(subjects, judged)];
    if let (Some(base), Some(cell)) = (baseline, cell) {
        let scale = Scale::common([base.centre, cell.centre], table.class);
        let value = |value: f64| match base.centre {
            0.0 => plain(value, table),
            _ => format::scaled(value, scale),
        };
        let (old, new) = (value(base.centre), value(cell.centre));
        parts[0].push_str(": ");
        parts[0].push_str(&old);
        parts[0].push_str(" → ");
        parts[0].push_str(&new);
    }
    let scale = judgement
        .effect
        .map_or(EffectScale::Ratio, |effect| effect.scale);
    if let (Some(shown), Some(margin)) = (&judgement.effect, &judgement.margin) {
        parts.push(effect(shown, table));
        if words::unexpected_estimate(judged) == Some(EstimatedBy::Values) {
            parts.push("from the worst value to the worst".into());
        }
        parts.push(format!("limit {}", size(margin.limit, scale, table)));
    }
    match &judgement.waiver {
        Some(WaiverState::Applies {
            ceiling,
            expires,
            reason,
        }) => {
            let ceiling = size(*ceiling, scale, table);
            parts.push(format!("ceiling {ceiling} until {expires}: {reason}"));
        }
        Some(WaiverState::OverCeiling { ceiling }) => {
            let ceiling = size(*ceiling, scale, table);
            parts.push(format!("over its waiver's ceiling of {ceiling}"));
        }
        Some(WaiverState::Expired { expires }) => {
            parts.push(format!("its waiver expired on {expires}"));
        }
        None => {}
    }
    format!("{}: {}", judgement.verdict, parts.join(", "))
}

/// What a row is called: its label, its unit, and what tells its table and column from others.
fn name(subjects: &Subjects<'_>, judged: &JudgedRow<'_>) -> String {
    let mut parts = benchmark(subjects, judged);
    parts.insert(1, judged.table.unit.to_string());
    parts.join(", ")
}

/// What a row is called in any unit.
fn benchmark(subjects: &Subjects<'_>, judged: &JudgedRow<'_>) -> Vec<String> {
    let qualifier = subjects.qualifier(judged).to_string();
    let label = judged.row.label().to_string();
    [label, qualifier]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect()
}

/// The estimate and its interval.
#[must_use]
pub fn effect(effect: &Effect, table: &Table) -> String {
    let Effect {
        scale,
        estimate,
        low,
        high,
        ..
    } = *effect;
    format!(
        "{} [{}, {}]",
        signed(estimate, scale, table),
        signed(low, scale, table),
        signed(high, scale, table)
    )
}

fn signed(value: f64, scale: EffectScale, table: &Table) -> String {
    if value.is_infinite() {
        return if value > 0.0 {
            "∞".into()
        } else {
            "-∞".into()
        };
    }
    match scale {
        EffectScale::Ratio | EffectScale::RelativeDifference => format::percent(value),
        EffectScale::Difference => {
            let sign = if value < 0.0 { "-" } else { "+" };
            format!("{sign}{}", plain(value.abs(), table))
        }
    }
}

/// A margin or ceiling.
fn size(value: f64, scale: EffectScale, table: &Table) -> String {
    match scale {
        EffectScale::Ratio | EffectScale::RelativeDifference => format!("{:.2}%", value * 100.0),
        EffectScale::Difference => plain(value, table),
    }
}

/// A value in the unit of the table; whole numbers without decimals.
fn plain(value: f64, table: &Table) -> String {
    if value == value.trunc() && value < 1000.0 {
        return format!("{value}");
    }
    format::scaled(value, Scale::of(value, table.class))
}

fn has_empty_input(gate: &Gate) -> bool {
    let mut obstacles = gate.obstacles.iter();
    obstacles.any(|found| matches!(found.obstacle, Obstacle::EmptyInput { .. }))
}

/// What follows the fact that keeps the gate from an answer: its detail, and what to do about it.
fn remedy(run: &Judged, subjects: &Subjects<'_>, gate: &Gate, obstacle: &Obstacle) -> String {
    let report = &run.report;
    match obstacle {
        Obstacle::Environment(EnvironmentDifference { key, .. }) => format!(
            ": measure both sides on one machine, or add -ignore {key} to compare all the same"
        ),
        Obstacle::NothingCompared { differing, .. } if !differing.is_empty() => {
            let keys = bstr::join(",", differing);
            format!(": add -ignore {} to compare all the same", keys.as_bstr())
        }
        Obstacle::NothingCompared {
            unit: Some(unit), ..
        } => {
            let units: IndexSet<&BString> = report.tables.iter().map(|table| &table.unit).collect();
            if units.contains(unit) {
                ": no row has both sides".into()
            } else {
                let units = bstr::join(", ", units);
                format!(": no input has it; there are {}", units.as_bstr())
            }
        }
        // An input that holds nothing is told by itself.
        Obstacle::NothingCompared { .. } if has_empty_input(gate) => String::new(),
        Obstacle::NothingCompared { .. } if report.columns.len() < 2 => {
            ": there is one side only: name a second input, or make columns with -col".into()
        }
        Obstacle::NothingCompared { .. } => {
            ": no row has both sides and a unit with a known better direction".into()
        }
        Obstacle::EmptyInput { .. } => ": look at what `go test` printed, and at -filter".into(),
        Obstacle::FailedBenchmark { .. } => String::new(),
        Obstacle::SameValues { .. } => format!(": {WHY_SAME}"),
        Obstacle::Configuration(split) => {
            let key = shell_word(&split.key.to_str_lossy()).into_owned();
            format!(": add -ignore {key} to compare all runs")
        }
        Obstacle::Unit(dispute) => {
            let unit = &dispute.unit;
            let has_direction = dispute.claim.starts_with(b"better=");
            let flag = if has_direction {
                format!(", or add -better {unit}=lower or {unit}=higher")
            } else {
                String::new()
            };
            format!(": the baseline has to say so{flag}")
        }
        Obstacle::Removed { places } => {
            // A benchmark has several units, and each is missing.
            let rows = places.iter().filter_map(|place| run.at(*place));
            let names: IndexSet<String> = rows
                .map(|judged| benchmark(subjects, &judged).join(", "))
                .collect();
            format!(": {}", first_of(names))
        }
        Obstacle::Shift(_) => {
            ": measure again, both sides in turn, or allow it if the change is meant to do that"
                .into()
        }
        Obstacle::Control { places } => {
            let rows = places.iter().filter_map(|place| run.at(*place));
            let rows = first_of(rows.map(|judged| row(subjects, &judged)));
            format!(": {rows}; measure again on a quiet machine")
        }
        Obstacle::Suspect { places } => {
            let judged: Vec<JudgedRow<'_>> =
                places.iter().filter_map(|place| run.at(*place)).collect();
            let runs = judged
                .iter()
                .filter_map(|judged| judged.cell)
                .map(|cell| cell.values.len());
            let runs = 2 * runs.max().unwrap_or_default();
            format!(
                ": {}; measure just them again: go test -run '^$' -bench '{}' -count {runs}",
                first_of(judged.iter().map(|judged| row(subjects, judged))),
                bench_pattern(&judged)
            )
        }
        Obstacle::Syntax { .. } => ", see above".into(),
        Obstacle::TooFewRuns { needed, .. } => {
            let count = needed.map_or_else(|| "above 100".into(), |needed| needed.to_string());
            format!(": run with -count {count}, or compare less with -filter")
        }
    }
}

/// The first few of these, and how many more there are.
fn first_of(texts: impl IntoIterator<Item = String>) -> String {
    let mut texts = texts.into_iter();
    let shown: Vec<String> = texts.by_ref().take(NAMED).collect();
    let shown = shown.join("; ");
    match texts.count() {
        0 => shown,
        more => format!("{shown}; and {more} more"),
    }
}

/// What `go test -bench` takes to run the benchmarks of these rows: the names up to the first slash, without `-N`.
fn bench_pattern(judged: &[JudgedRow<'_>]) -> String {
    let mut names: IndexSet<String> = IndexSet::new();
    for judged in judged {
        names.insert(judged.function().to_string());
    }
    let names: Vec<String> = names.into_iter().take(NAMED).collect();
    format!("^Benchmark({})$", names.join("|"))
}

/// Writes what is worth knowing beside the answer.
fn notes(run: &Judged, out: &mut dyn Write) -> io::Result<()> {
    let waivers = run.gate.iter().flat_map(|gate| &gate.waiver_notes);
    let shifts = run.summary.shifts.iter();
    let notes = waivers
        .map(words::waiver)
        .chain(shifts.map(|shift| words::shift(&run.report, shift)))
        .chain(words::drift(run))
        .chain(words::unjudged(run))
        .chain(words::tolerance(&run.summary))
        .chain(words::unseen(run));
    for note in notes {
        tell(out, &format!("  note: {}", note.plain()))?;
    }
    Ok(())
}

/// Writes for which rows the gate fires after the new side got worse by `part`.
///
/// # Errors
/// Whatever `out` fails with.
pub fn write_self_test(
    run: &Judged,
    test: &SelfTest,
    part: f64,
    out: &mut dyn Write,
) -> io::Result<()> {
    let subjects = &Subjects::new(&run.report);
    let mut table = list(&[
        "",
        "benchmark",
        "unit",
        "old",
        "made worse",
        "change",
        "fires",
    ]);
    for (position, reaction) in &test.rows {
        let Some(judged) = run.at(*position) else {
            continue;
        };
        let word = match reaction {
            Reaction::Fired => "✓ fired",
            Reaction::Waived => "− waived",
            Reaction::AtWorst => "− at worst",
            Reaction::Silent => "✗ silent",
        };
        let judgement = judged.judgement;
        let unbounded = judgement.effect.and_then(|effect| effect.unbounded);
        let fires = match (judgement.detectable, unbounded) {
            (Some(smallest), _) => format!("from {:.2}%", smallest * 100.0),
            (
                None,
                Some(Unbounded::TooFewRuns {
                    needed: Some(needed),
                }),
            ) => format!("never with so few runs: run with -count {needed} at least"),
            (None, _) => String::new(),
        };
        let [old, new] = format::centres(&judged);
        table.add_row([
            word.to_owned(),
            escape::terminal(subjects.name(&judged).as_ref()),
            escape::terminal(judged.table.unit.as_ref()),
            old,
            new,
            format::judged_change(&judged),
            fires,
        ]);
    }
    for line in table.lines() {
        writeln!(out, "{}", line.trim_end())?;
    }
    let fired = test.count(Reaction::Fired);
    let rows = fired + test.count(Reaction::Silent);
    writeln!(
        out,
        "\nself-test: made worse by {}%, the gate fired for {fired} of {rows} judged rows",
        (part * 1e6).round() / 1e4
    )
}

/// A table with these columns, of which the numbers stand to the right.
fn list(header: &[&str]) -> List {
    let mut table = List::new();
    table
        .load_style(TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─')))
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(header);
    for column in table.column_iter_mut().skip(3).take(3) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// Writes margins as `-threshold @FILE` reads them.
///
/// # Errors
/// Whatever `out` fails with.
pub fn write_margins(margins: &[RowMargin], out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "# Margins within which each row of the same code stays unchanged in 83 % of fresh runs or more: rbenchstat -noise.\n\
         # Read with -threshold @FILE, or -threshold 2%,@FILE for at least 2%."
    )?;
    for RowMargin { name, keys, amount } in margins {
        if let Some(amount) = amount {
            write!(out, "\n{}", write_entry(name, keys, *amount))?;
        } else {
            let (benchmark, unit) = (&name.benchmark, &name.unit);
            writeln!(out, "\n# Too few runs: {benchmark:?} in {unit:?}")?;
        }
    }
    Ok(())
}

/// Why noise has no margins, or not for all rows; none if it has.
#[must_use]
pub fn no_margins(run: &Judged, noise: &NoiseMargins) -> Option<String> {
    let differ = |what: &str| {
        format!("the sides really differ ({what}): measure the same code on both sides, in turn")
    };
    Some(match noise {
        NoiseMargins::OtherMachine(difference) => {
            let difference = words::environment(&run.report, difference).plain();
            format!("{difference}: run the same code twice on one machine")
        }
        NoiseMargins::OtherCode(Some(shift)) => differ(&words::shift(&run.report, shift).plain()),
        NoiseMargins::OtherCode(None) => differ(&run.summary.counts.to_string()),
        NoiseMargins::NothingCompared if run.report.columns.len() < 2 => {
            "no row has two sides: name two inputs, runs of the same code".into()
        }
        NoiseMargins::NothingCompared => "no row has two sides".into(),
        NoiseMargins::Measured(margins) => {
            let needed = run.summary.runs_needed;
            let needed = needed.map_or_else(|| "more".into(), |needed| needed.to_string());
            match noise.too_few_runs() {
                0 => return None,
                few => format!(
                    "{few} of {} rows have too few runs for a margin: run with -count {needed} at least",
                    margins.len()
                ),
            }
        }
    })
}

/// Writes a sentence about noise for the person at the keyboard.
///
/// # Errors
/// Whatever `out` fails with.
pub fn write_about_noise(sentence: &str, out: &mut dyn Write) -> io::Result<()> {
    tell(out, &format!("rbenchstat: -noise: {sentence}"))
}
