//! Everything, for programs: one document, or one flat record for each comparison.
//!
//! The shape is a promise of its own, told field by field in `docs/json.md`, so it is spelled out here and does not follow
//! the model by itself. A change that could break a reader raises [`SCHEMA_VERSION`].

use std::io::{self, Write};
use std::num::NonZero;

use bstr::ByteSlice;
use indexmap::IndexMap;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::presentation::Presentation;
use super::words::Sentence;
use super::{subject, words};
use crate::report::arrangement::Order;
use crate::report::judgement::{
    Counts, Environment, EnvironmentDifference, Judged, Obstacle, Place, Shift, Unbounded,
    WaiverNote, WaiverState,
};
use crate::report::model::{
    Cell, Change, Column, Field, Geomean, GeomeanChange, Row, Table, Values,
};
use crate::report::{
    Adjust, Effect, EffectScale, FailOn, Gate, Noise, Outcome, Report, Summary, Verdict, Warning,
};
use crate::unit::Better;

/// The version of the shape of both formats.
pub const SCHEMA_VERSION: u32 = 1;

/// Writes one document.
///
/// # Errors
/// Whatever `out` fails with.
pub fn write(report: &Report, presentation: &Presentation, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &Document::new(report, presentation))?;
    writeln!(out)
}

/// Writes one object a line for each comparison.
///
/// # Errors
/// Whatever `out` fails with.
pub fn write_lines(
    report: &Report,
    presentation: &Presentation,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut listed = report.listed();
    if report.arrangement.sort.is_none() {
        listed.sort_by_key(|judged| (judged.place.table, judged.place.row, judged.place.column));
    }
    listed.truncate(report.arrangement.limit.map_or(usize::MAX, NonZero::get));
    for judged in &listed {
        serde_json::to_writer(&mut *out, &record(report, judged, presentation))?;
        writeln!(out)?;
    }
    Ok(())
}

#[derive(Serialize)]
struct Document<'a> {
    schema_version: u32,
    generator: Generator,
    settings: Settings<'a>,
    columns: Vec<ColumnOut<'a>>,
    tables: Vec<TableOut<'a>>,
    summary: Option<SummaryOut<'a>>,
    gate: Option<GateOut<'a>>,
}

#[derive(Serialize)]
struct Generator {
    name: &'static str,
    version: &'static str,
}

#[derive(Serialize)]
struct Settings<'a> {
    alpha: Option<f64>,
    confidence: f64,
    adjust: Option<Adjust>,
    sort: Option<Order>,
    sort_descending: bool,
    changed_only: bool,
    limit: Option<NonZero<usize>>,
    base_ref: Option<&'a str>,
    head_ref: Option<&'a str>,
}

#[derive(Serialize)]
struct ColumnOut<'a> {
    label: String,
    key: &'a [Field],
    environment: Option<&'a Environment>,
}

#[derive(Serialize)]
struct TableOut<'a> {
    key: &'a [Field],
    unit: String,
    better: Option<Better>,
    is_exact: bool,
    columns: &'a [usize],
    rows: Vec<RowOut<'a>>,
    rows_not_shown: usize,
    geomeans: Vec<GeomeanOut<'a>>,
}

#[derive(Serialize)]
struct RowOut<'a> {
    name: String,
    key: &'a [Field],
    cells: Vec<CellOut<'a>>,
    comparisons: Vec<ComparisonOut<'a>>,
}

#[derive(Serialize)]
struct CellOut<'a> {
    column: usize,
    n: usize,
    values: &'a Values,
    centre: f64,
    centre_kind: &'static str,
    low: Option<f64>,
    high: Option<f64>,
    bounds_absent: Option<&'static str>,
    warnings: Vec<Told<&'a Warning>>,
    noise: Vec<Told<&'a Noise>>,
}

/// A typed remark with its sentence.
#[derive(Serialize)]
struct Told<T> {
    #[serde(flatten)]
    what: T,
    text: String,
}

impl<T: ToString> Told<T> {
    fn new(what: T) -> Self {
        Self {
            text: what.to_string(),
            what,
        }
    }
}

impl<'a, T> Told<&'a T> {
    /// Each of `remarks` with the sentence that reports have for it.
    fn all(remarks: &'a [T], sentence: impl Fn(&T) -> Sentence) -> Vec<Self> {
        let told = remarks.iter().map(|what| Told {
            what,
            text: sentence(what).plain(),
        });
        told.collect()
    }
}

#[derive(Serialize)]
struct ComparisonOut<'a> {
    column: usize,
    baseline_column: usize,
    verdict: Verdict,
    reason: &'static str,
    base_n: usize,
    n: usize,
    p: Option<f64>,
    adjusted_p: Option<f64>,
    p_absent: Option<&'static str>,
    change: Option<f64>,
    change_absent: Option<&'static str>,
    effect: Option<EffectOut>,
    effect_absent: Option<&'static str>,
    margin: Option<MarginOut>,
    could_be_significant: bool,
    detectable: Option<f64>,
    detecting_n: Option<usize>,
    is_gated: bool,
    waiver: Option<&'a WaiverState>,
    is_waived: bool,
    warnings: Vec<Told<&'a Warning>>,
}

#[derive(Serialize)]
struct EffectOut {
    scale: EffectScale,
    estimate: f64,
    low: Option<f64>,
    high: Option<f64>,
    bounds_absent: Option<Unbounded>,
    coverage: f64,
}

#[derive(Serialize)]
struct MarginOut {
    relative: f64,
    absolute: f64,
    limit: f64,
}

#[derive(Serialize)]
struct GeomeanOut<'a> {
    column: usize,
    value: Option<f64>,
    value_absent: Option<&'static str>,
    change: Option<f64>,
    change_absent: Option<&'static str>,
    effect: Option<EffectOut>,
    effect_absent: Option<Value>,
    warnings: Vec<Told<&'a Warning>>,
}

#[derive(Serialize)]
struct SummaryOut<'a> {
    counts: Counts,
    comparisons: usize,
    too_few_runs: usize,
    runs_needed: Option<usize>,
    worst: Option<RowRef<'a>>,
    shifts: Vec<Told<&'a Shift>>,
    environment_differences: Vec<Told<&'a EnvironmentDifference>>,
    trends: usize,
}

/// Which comparison is meant, so that it can be found without the position of anything.
#[derive(Serialize)]
struct RowRef<'a> {
    table: &'a [Field],
    unit: String,
    name: String,
    column: usize,
    verdict: Verdict,
}

#[derive(Serialize)]
struct GateOut<'a> {
    fail_on: FailOn,
    outcome: Outcome,
    counts: Counts,
    offending: Vec<RowRef<'a>>,
    waived: Vec<RowRef<'a>>,
    obstacles: Vec<ObstacleOut<'a>>,
    waiver_notes: &'a [WaiverNote],
}

#[derive(Serialize)]
struct ObstacleOut<'a> {
    kind: &'static str,
    is_allowed: bool,
    detail: ObstacleDetail<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum ObstacleDetail<'a> {
    Rows {
        rows: Vec<RowRef<'a>>,
    },
    Environment(&'a EnvironmentDifference),
    Counted {
        count: usize,
        needed: Option<usize>,
    },
    Nothing {
        unit: Option<String>,
        differing: Vec<String>,
    },
    Text {
        text: String,
    },
}

impl<'a> Document<'a> {
    fn new(report: &'a Report, presentation: &'a Presentation) -> Self {
        let summary = report.summary.as_ref();
        let arrangement = report.arrangement;
        Self {
            schema_version: SCHEMA_VERSION,
            generator: Generator {
                name: env!("CARGO_PKG_NAME"),
                version: env!("CARGO_PKG_VERSION"),
            },
            settings: Settings {
                alpha: summary.map(|summary| summary.alpha),
                confidence: report.confidence,
                adjust: summary.map(|summary| summary.adjust),
                sort: arrangement.sort.map(|sort| sort.order),
                sort_descending: arrangement.sort.is_some_and(|sort| sort.is_descending),
                changed_only: arrangement.changed_only,
                limit: arrangement.limit,
                base_ref: presentation.base_ref.as_deref(),
                head_ref: presentation.head_ref.as_deref(),
            },
            columns: columns(&report.columns, summary),
            tables: report
                .tables
                .iter()
                .enumerate()
                .map(|(index, table)| TableOut::new(report, index, table))
                .collect(),
            summary: summary.map(|summary| SummaryOut::new(report, summary)),
            gate: report.gate.as_ref().map(|gate| GateOut::new(report, gate)),
        }
    }
}

fn columns<'a>(columns: &'a [Column], summary: Option<&'a Summary>) -> Vec<ColumnOut<'a>> {
    let environment = |index: usize| summary.and_then(|summary| summary.environments.get(index));
    columns
        .iter()
        .enumerate()
        .map(|(index, column)| ColumnOut {
            label: subject::label(column).to_str_lossy().into_owned(),
            key: &column.key,
            environment: environment(index),
        })
        .collect()
}

impl<'a> TableOut<'a> {
    fn new(report: &'a Report, index: usize, table: &'a Table) -> Self {
        let shown = table.shown.rows.iter().take(table.shown.listed);
        let rows: Vec<_> = shown
            .filter_map(|&row| Some((row, table.rows.get(row)?)))
            .map(|(position, row)| RowOut::new(report, index, table, position, row))
            .collect();
        let geomeans = table.geomeans.iter().zip(&table.places);
        Self {
            key: &table.key,
            unit: table.unit.to_str_lossy().into_owned(),
            better: table.better,
            is_exact: table.is_exact,
            columns: &table.places,
            rows_not_shown: table.rows.len() - rows.len(),
            rows,
            geomeans: geomeans
                .map(|(geomean, &column)| GeomeanOut::new(geomean, column))
                .collect(),
        }
    }
}

impl<'a> RowOut<'a> {
    fn new(
        report: &'a Report,
        table_index: usize,
        table: &'a Table,
        position: usize,
        row: &'a Row,
    ) -> Self {
        let cells = row.cells.iter();
        let comparisons = row.judgements.iter().filter_map(|&(column, _)| {
            report.judged(Place {
                table: table_index,
                row: position,
                column,
            })
        });
        Self {
            name: row.label().to_str_lossy().into_owned(),
            key: &row.key,
            cells: cells
                .map(|(at, cell)| CellOut::new(cell, table.places[*at], table))
                .collect(),
            comparisons: comparisons
                .map(|judged| ComparisonOut::new(report, &judged))
                .collect(),
        }
    }
}

impl<'a> CellOut<'a> {
    fn new(cell: &'a Cell, column: usize, table: &Table) -> Self {
        let is_bounded = cell.low.is_finite() && cell.high.is_finite();
        Self {
            column,
            n: cell.values.len(),
            values: &cell.values,
            centre: cell.centre,
            centre_kind: if table.is_exact { "mode" } else { "median" },
            low: finite(cell.low),
            high: finite(cell.high),
            bounds_absent: (!is_bounded).then_some("too_few_runs"),
            warnings: cell.warnings.iter().map(Told::new).collect(),
            noise: cell.noise.iter().map(Told::new).collect(),
        }
    }
}

impl<'a> ComparisonOut<'a> {
    fn new(report: &Report, judged: &Judged<'a>) -> Self {
        let judgement = judged.judgement;
        let comparison = judged.cell.and_then(|cell| cell.comparison.as_ref());
        let (change, change_absent) = change(judged);
        let size = |cell: Option<&Cell>| cell.map_or(0, |cell| cell.values.len());
        Self {
            column: judged.place.column,
            baseline_column: judgement.baseline,
            verdict: judgement.verdict,
            reason: reason(report, judged),
            base_n: size(judged.baseline),
            n: size(judged.cell),
            p: comparison.and_then(|comparison| comparison.p),
            adjusted_p: judgement.adjusted_p,
            p_absent: p_absent(judged),
            change,
            change_absent,
            effect: judgement.effect.as_ref().map(EffectOut::new),
            effect_absent: judgement.effect.is_none().then_some("one_side_missing"),
            margin: judgement.margin.map(|margin| MarginOut {
                relative: margin.relative,
                absolute: margin.absolute,
                limit: margin.limit,
            }),
            could_be_significant: judgement.could_be_significant,
            detectable: judgement.detectable.and_then(finite),
            detecting_n: judgement.detecting_count,
            is_gated: judgement.is_gated,
            waiver: judgement.waiver.as_ref(),
            is_waived: judgement.is_waived(),
            warnings: comparison
                .iter()
                .flat_map(|comparison| &comparison.warnings)
                .map(Told::new)
                .collect(),
        }
    }
}

impl EffectOut {
    fn new(effect: &Effect) -> Self {
        Self {
            scale: effect.scale,
            estimate: effect.estimate,
            low: finite(effect.low),
            high: finite(effect.high),
            bounds_absent: effect.unbounded,
            coverage: effect.coverage,
        }
    }
}

impl<'a> GeomeanOut<'a> {
    fn new(geomean: &'a Geomean, column: usize) -> Self {
        let (change, change_absent) = match geomean.change {
            Some(GeomeanChange::By(part)) => (finite(part), None),
            Some(GeomeanChange::Undefined) => (None, Some("undefined")),
            None => (None, Some("baseline")),
        };
        Self {
            column,
            value: geomean.value.and_then(finite),
            value_absent: geomean.value.is_none().then_some("not_positive"),
            change,
            change_absent,
            effect: geomean.effect.as_ref().map(EffectOut::new),
            effect_absent: match (&geomean.effect, geomean.no_effect) {
                (Some(_), _) => None,
                (None, Some(why)) => Some(json!(why)),
                (None, None) => Some(json!("baseline")),
            },
            warnings: geomean.warnings.iter().map(Told::new).collect(),
        }
    }
}

impl<'a> SummaryOut<'a> {
    fn new(report: &'a Report, summary: &'a Summary) -> Self {
        Self {
            counts: summary.counts,
            comparisons: summary.comparisons,
            too_few_runs: summary.too_few_runs,
            runs_needed: summary.runs_needed,
            worst: summary.worst.and_then(|place| row_ref(report, place)),
            shifts: Told::all(&summary.shifts, |shift| words::shift(report, shift)),
            environment_differences: Told::all(&summary.environment_differences, |difference| {
                words::environment(report, difference)
            }),
            trends: summary.trends,
        }
    }
}

impl<'a> GateOut<'a> {
    fn new(report: &'a Report, gate: &'a Gate) -> Self {
        Self {
            fail_on: gate.fail_on,
            outcome: gate.outcome,
            counts: gate.counts,
            offending: row_refs(report, &gate.offending),
            waived: row_refs(report, &gate.waived),
            obstacles: gate
                .obstacles
                .iter()
                .map(|found| ObstacleOut {
                    kind: found.obstacle.kind().word(),
                    is_allowed: found.is_allowed,
                    detail: detail(report, &found.obstacle),
                })
                .collect(),
            waiver_notes: &gate.waiver_notes,
        }
    }
}

fn detail<'a>(report: &'a Report, obstacle: &'a Obstacle) -> ObstacleDetail<'a> {
    let lossy = |text: &bstr::BString| text.to_str_lossy().into_owned();
    match obstacle {
        Obstacle::NothingCompared { unit, differing } => ObstacleDetail::Nothing {
            unit: unit.as_ref().map(lossy),
            differing: differing.iter().map(lossy).collect(),
        },
        Obstacle::EmptyInput { input } => ObstacleDetail::Text { text: lossy(input) },
        Obstacle::FailedBenchmark { line } => ObstacleDetail::Text { text: lossy(line) },
        Obstacle::Environment(difference) => ObstacleDetail::Environment(difference),
        Obstacle::SameValues { rows, .. } => ObstacleDetail::Counted {
            count: *rows,
            needed: None,
        },
        Obstacle::Configuration(split) => ObstacleDetail::Text {
            text: lossy(&split.key),
        },
        Obstacle::Unit(dispute) => ObstacleDetail::Text {
            text: lossy(&dispute.unit),
        },
        Obstacle::Shift(shift) => ObstacleDetail::Text {
            text: lossy(&shift.unit),
        },
        Obstacle::Removed { places } | Obstacle::Suspect { places } => ObstacleDetail::Rows {
            rows: row_refs(report, places),
        },
        Obstacle::TooFewRuns { rows, needed } => ObstacleDetail::Counted {
            count: *rows,
            needed: *needed,
        },
        Obstacle::Syntax { lines } => ObstacleDetail::Counted {
            count: *lines,
            needed: None,
        },
    }
}

fn row_refs<'a>(report: &'a Report, places: &[Place]) -> Vec<RowRef<'a>> {
    let places = places.iter();
    places.filter_map(|&place| row_ref(report, place)).collect()
}

fn row_ref(report: &Report, place: Place) -> Option<RowRef<'_>> {
    let judged = report.judged(place)?;
    Some(RowRef {
        table: &judged.table.key,
        unit: judged.table.unit.to_str_lossy().into_owned(),
        name: judged.row.label().to_str_lossy().into_owned(),
        column: place.column,
        verdict: judged.judgement.verdict,
    })
}

/// A number that JSON can say.
fn finite(number: f64) -> Option<f64> {
    number.is_finite().then_some(number)
}

fn p_absent(judged: &Judged<'_>) -> Option<&'static str> {
    match judged.cell.and_then(|cell| cell.comparison.as_ref()) {
        None => Some("one_side_missing"),
        Some(comparison) if comparison.p.is_none() => Some("exact"),
        Some(_) => None,
    }
}

fn change(judged: &Judged<'_>) -> (Option<f64>, Option<&'static str>) {
    match judged
        .cell
        .and_then(|cell| cell.comparison.as_ref())
        .map(|comparison| comparison.change)
    {
        None => (None, Some("one_side_missing")),
        Some(Change::Insignificant) => (None, Some("insignificant")),
        Some(Change::FromZero) => (None, Some("from_zero")),
        Some(Change::Same) => (Some(0.0), None),
        Some(Change::By(part)) => (finite(part), None),
    }
}

/// Why the verdict is what it is.
fn reason(report: &Report, judged: &Judged<'_>) -> &'static str {
    let judgement = judged.judgement;
    let is_exact = judged.table.is_exact;
    match judgement.verdict {
        Verdict::Added => "no_baseline",
        Verdict::Removed => "no_new",
        Verdict::Regression | Verdict::Improvement | Verdict::Changed if is_exact => {
            "values_beyond_margin"
        }
        Verdict::Regression | Verdict::Improvement | Verdict::Changed => "interval_beyond_margin",
        Verdict::Unchanged if is_exact => "values_within_margin",
        Verdict::Unchanged => "interval_within_margin",
        Verdict::Suspect | Verdict::Promising => "interval_beyond_margin_not_significant",
        Verdict::Unclear => "interval_straddles_margin",
        Verdict::Inconclusive => {
            let is_unbounded = judgement.effect.is_some_and(|effect| !effect.is_bounded());
            let alpha = report.summary.as_ref().map_or(0.0, |summary| summary.alpha);
            if is_unbounded || !judgement.could_be_significant {
                "too_few_runs"
            } else if judgement.adjusted_p.is_some_and(|p| p > alpha) {
                "not_significant"
            } else {
                "interval_straddles_margin"
            }
        }
    }
}

/// An object whose fields keep their order.
struct Record(IndexMap<String, Value>);

impl Serialize for Record {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(&self.0)
    }
}

/// A comparison as one flat object.
fn record(report: &Report, judged: &Judged<'_>, presentation: &Presentation) -> Record {
    let comparison = ComparisonOut::new(report, judged);
    let column = |index: usize| {
        report
            .columns
            .get(index)
            .map(|column| subject::label(column).to_str_lossy().into_owned())
    };
    let mut fields: IndexMap<String, Value> = IndexMap::new();
    let mut put = |name: &str, value: Value| {
        fields.insert(name.to_owned(), value);
    };
    put("schema_version", json!(SCHEMA_VERSION));
    put("name", json!(judged.row.label().to_str_lossy()));
    put("unit", json!(judged.table.unit.to_str_lossy()));
    put("better", json!(judged.table.better));
    put("base", json!(column(judged.judgement.baseline)));
    put("new", json!(column(judged.place.column)));
    put("base_ref", json!(presentation.base_ref));
    put("head_ref", json!(presentation.head_ref));
    put("verdict", json!(comparison.verdict));
    put("reason", json!(comparison.reason));
    put("is_gated", json!(comparison.is_gated));
    put("is_waived", json!(comparison.is_waived));
    for (side, cell) in [("base", judged.baseline), ("new", judged.cell)] {
        let number = |of: fn(&Cell) -> f64| json!(cell.map(of).and_then(finite));
        put(
            &format!("{side}_n"),
            json!(cell.map_or(0, |cell| cell.values.len())),
        );
        put(&format!("{side}_centre"), number(|cell| cell.centre));
        put(&format!("{side}_low"), number(|cell| cell.low));
        put(&format!("{side}_high"), number(|cell| cell.high));
    }
    put("p", json!(comparison.p));
    put("adjusted_p", json!(comparison.adjusted_p));
    put("p_absent", json!(comparison.p_absent));
    put("change", json!(comparison.change));
    put("change_absent", json!(comparison.change_absent));
    let effect = comparison.effect.as_ref();
    put("effect_scale", json!(effect.map(|effect| effect.scale)));
    put("effect", json!(effect.map(|effect| effect.estimate)));
    put("effect_low", json!(effect.and_then(|effect| effect.low)));
    put("effect_high", json!(effect.and_then(|effect| effect.high)));
    let bounds_absent = match effect {
        None => Some("one_side_missing"),
        Some(effect) => effect.bounds_absent.map(|_| "too_few_runs"),
    };
    put("effect_absent", json!(bounds_absent));
    put(
        "margin",
        json!(comparison.margin.as_ref().map(|margin| margin.limit)),
    );
    put("detectable", json!(comparison.detectable));
    put("detecting_n", json!(comparison.detecting_n));
    for field in judged.table.key.iter().chain(&*judged.row.key) {
        let name = format!("key_{}", field.key.to_str_lossy());
        fields
            .entry(name)
            .or_insert_with(|| json!(field.value.to_str_lossy()));
    }
    Record(fields)
}
