//! Everything, for programs: one document, or one flat record for each comparison.
//!
//! The shape is a promise of its own, told field by field in `docs/json.md`, so it is spelled out here and does not follow
//! the model by itself. A change that could break a reader raises [`SCHEMA_VERSION`].

use std::io::{self, Write};
use std::num::NonZero;

use bstr::{BString, ByteSlice};
use indexmap::IndexMap;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::escape::JsonStrings;
use super::presentation::Presentation;
use super::words;
use super::words::Sentence;
use crate::judge::arrangement::RowOrder;
use crate::judge::effect::{EstimatedBy, Unbounded};
use crate::judge::geomean::{GeomeanEffect, NoGeomeanEffect};
use crate::judge::judgement::{Margin, WaiverState};
use crate::judge::obstacle::Obstacle;
use crate::judge::shift::Shift;
use crate::judge::waivers::WaiverNote;
use crate::judge::{
    Adjust, Counts, Effect, EffectScale, FailOn, Gate, Judged, JudgedRow, LoneRow, Noise, Outcome,
    Verdict,
};
use crate::report::Warning;
use crate::report::model::{
    Cell, Change, Column, Field, Geomean, GeomeanChange, Position, Row, Table, Values,
};
use crate::sample::EnvironmentDifference;
use crate::sample::samples::lossy_list;
use crate::unit::Better;

/// The version of the shape of both formats.
pub const SCHEMA_VERSION: u32 = 1;

/// Writes one document.
///
/// # Errors
/// Whatever `out` fails with.
pub fn write(run: &Judged, presentation: &Presentation, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(JsonStrings(out), &Document::new(run, presentation))?;
    writeln!(out)
}

/// Writes one object a line for each comparison.
///
/// # Errors
/// Whatever `out` fails with.
pub fn write_lines(
    run: &Judged,
    presentation: &Presentation,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut listed = run.listed();
    if run.arrangement.sort.is_none() {
        listed.sort_by_key(JudgedRow::position);
    }
    listed.truncate(run.limit());
    for judged in &listed {
        serde_json::to_writer(JsonStrings(out), &record(run, judged, presentation))?;
        writeln!(out)?;
    }
    for lone in run.alone().iter().flatten().take(run.limit()) {
        serde_json::to_writer(JsonStrings(out), &lone_record(run, lone))?;
        writeln!(out)?;
    }
    Ok(())
}

#[derive(Serialize)]
struct Document<'a> {
    schema_version: u32,
    generator: Generator,
    settings: SettingsOut<'a>,
    columns: Vec<ColumnOut<'a>>,
    tables: Vec<TableOut<'a>>,
    summary: SummaryOut<'a>,
    gate: Option<GateOut<'a>>,
}

#[derive(Serialize)]
struct Generator {
    name: &'static str,
    version: &'static str,
}

#[derive(Serialize)]
struct SettingsOut<'a> {
    alpha: f64,
    confidence: f64,
    adjust: Adjust,
    sort: Option<RowOrder>,
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
    environment: Option<EnvironmentOut<'a>>,
}

#[derive(Serialize)]
struct EnvironmentOut<'a> {
    keys: Vec<EnvironmentKey<'a>>,
}

/// A key that describes the machine, with its values.
#[derive(Serialize)]
struct EnvironmentKey<'a> {
    key: &'static str,
    #[serde(serialize_with = "lossy_list")]
    values: &'a [BString],
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
    warnings: Vec<Remark<&'a Warning>>,
    noise: Vec<Remark<&'a Noise>>,
}

/// A typed remark with its sentence.
#[derive(Serialize)]
struct Remark<T> {
    #[serde(flatten)]
    what: T,
    text: String,
}

impl<T: ToString> Remark<T> {
    fn new(what: T) -> Self {
        Self {
            text: what.to_string(),
            what,
        }
    }
}

impl<'a, T> Remark<&'a T> {
    /// Each of `remarks` with the sentence that reports have for it.
    fn all(remarks: &'a [T], sentence: impl Fn(&T) -> Sentence) -> Vec<Self> {
        let told = remarks.iter().map(|what| Remark {
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
    margin: Option<Margin>,
    could_be_significant: bool,
    detectable: Option<f64>,
    detecting_n: Option<usize>,
    is_gated: bool,
    waiver: Option<&'a WaiverState>,
    is_waived: bool,
    warnings: Vec<Remark<&'a Warning>>,
}

#[derive(Serialize)]
struct EffectOut {
    scale: EffectScale,
    estimated_by: EstimatedBy,
    estimate: f64,
    low: Option<f64>,
    high: Option<f64>,
    bounds_absent: Option<Unbounded>,
    coverage: f64,
}

/// Why a geomean has no effect.
#[derive(Serialize)]
#[serde(untagged)]
enum NoGeomeanOut {
    Of(NoGeomeanEffect),
    Baseline(&'static str),
}

#[derive(Serialize)]
struct GeomeanOut<'a> {
    column: usize,
    value: Option<f64>,
    value_absent: Option<&'static str>,
    change: Option<f64>,
    change_absent: Option<&'static str>,
    effect: Option<EffectOut>,
    effect_absent: Option<NoGeomeanOut>,
    warnings: Vec<Remark<&'a Warning>>,
}

#[derive(Serialize)]
struct SummaryOut<'a> {
    counts: Counts,
    comparisons: usize,
    too_few_runs: usize,
    runs_needed: Option<usize>,
    worst: Option<RowRef<'a>>,
    shifts: Vec<Remark<&'a Shift>>,
    environment_differences: Vec<Remark<&'a EnvironmentDifference>>,
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
    fn new(run: &'a Judged, presentation: &'a Presentation) -> Self {
        let (report, arrangement) = (&run.report, run.arrangement);
        Self {
            schema_version: SCHEMA_VERSION,
            generator: Generator {
                name: env!("CARGO_PKG_NAME"),
                version: env!("CARGO_PKG_VERSION"),
            },
            settings: SettingsOut {
                alpha: run.summary.alpha,
                confidence: report.confidence,
                adjust: run.summary.adjust,
                sort: arrangement.sort.map(|sort| sort.order),
                sort_descending: arrangement.sort.is_some_and(|sort| sort.is_descending),
                changed_only: arrangement.changed_only,
                limit: arrangement.limit,
                base_ref: presentation.base_ref.as_deref(),
                head_ref: presentation.head_ref.as_deref(),
            },
            columns: columns(run),
            tables: report
                .tables
                .iter()
                .enumerate()
                .map(|(index, table)| TableOut::new(run, index, table))
                .collect(),
            summary: SummaryOut::new(run),
            gate: run.gate.as_ref().map(|gate| GateOut::new(run, gate)),
        }
    }
}

fn columns(run: &Judged) -> Vec<ColumnOut<'_>> {
    let environments = &run.summary.environments;
    let columns = run.report.columns.iter().enumerate();
    columns
        .map(|(index, column)| ColumnOut {
            label: column.label().to_str_lossy().into_owned(),
            key: &column.key,
            environment: (index < environments.columns.len()).then(|| EnvironmentOut {
                keys: environments
                    .of_column(index)
                    .map(|(key, values)| EnvironmentKey { key, values })
                    .collect(),
            }),
        })
        .collect()
}

impl<'a> TableOut<'a> {
    fn new(run: &'a Judged, index: usize, table: &'a Table) -> Self {
        let shown = run.listing.rows(index, table);
        let rows: Vec<_> = shown
            .map(|(at, row)| RowOut::new(run, (index, table), (at, row)))
            .collect();
        let geomeans = table.geomeans.iter().zip(&table.places).enumerate();
        Self {
            key: &table.key,
            unit: table.unit.to_str_lossy().into_owned(),
            better: table.better,
            is_exact: table.is_exact,
            columns: &table.places,
            rows_not_shown: table.rows.len() - rows.len(),
            rows,
            geomeans: geomeans
                .map(|(at, (geomean, &column))| {
                    GeomeanOut::new(geomean, run.geomeans.get(index, at), column)
                })
                .collect(),
        }
    }
}

impl<'a> RowOut<'a> {
    fn new(
        run: &'a Judged,
        (index, table): (usize, &'a Table),
        (at, row): (usize, &'a Row),
    ) -> Self {
        let cells = row.cells.iter().map(|(column, cell)| {
            let column = table.places[*column];
            let noise = run.noise.at(Position {
                table: index,
                row: at,
                column,
            });
            CellOut::new(cell, noise, column, table)
        });
        let judgements = run.judgements.of_row(index, at).iter();
        Self {
            name: row.label().to_str_lossy().into_owned(),
            key: &row.key,
            cells: cells.collect(),
            comparisons: judgements
                .map(|judgement| ComparisonOut::new(run, &JudgedRow::new(&run.report, judgement)))
                .collect(),
        }
    }
}

impl<'a> CellOut<'a> {
    fn new(
        cell: &'a Cell,
        noise: impl Iterator<Item = &'a Noise>,
        column: usize,
        table: &Table,
    ) -> Self {
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
            warnings: cell.warnings.iter().map(Remark::new).collect(),
            noise: noise.map(Remark::new).collect(),
        }
    }
}

impl<'a> ComparisonOut<'a> {
    fn new(run: &Judged, judged: &JudgedRow<'a>) -> Self {
        let judgement = judged.judgement;
        let comparison = judged.cell.and_then(|cell| cell.comparison.as_ref());
        let (change, change_absent) = change(judged);
        let size = |cell: Option<&Cell>| cell.map_or(0, |cell| cell.values.len());
        Self {
            column: judged.position().column,
            baseline_column: judgement.baseline,
            verdict: judgement.verdict,
            reason: reason(run, judged),
            base_n: size(judged.baseline),
            n: size(judged.cell),
            p: comparison.and_then(|comparison| comparison.p),
            adjusted_p: judgement.adjusted_p,
            p_absent: p_absent(judged),
            change,
            change_absent,
            effect: judgement.effect.as_ref().map(EffectOut::new),
            effect_absent: judgement.effect.is_none().then_some("one_side_missing"),
            margin: judgement.margin,
            could_be_significant: judgement.could_be_significant,
            detectable: judgement.detectable.and_then(finite),
            detecting_n: judgement.detecting_count,
            is_gated: run.is_gated(judged.position()),
            waiver: judgement.waiver.as_ref(),
            is_waived: judgement.is_waived(),
            warnings: comparison
                .iter()
                .flat_map(|comparison| &comparison.warnings)
                .map(Remark::new)
                .collect(),
        }
    }
}

impl EffectOut {
    fn new(effect: &Effect) -> Self {
        Self {
            scale: effect.scale,
            estimated_by: effect.estimated_by,
            estimate: effect.estimate,
            low: finite(effect.low),
            high: finite(effect.high),
            bounds_absent: effect.unbounded,
            coverage: effect.coverage,
        }
    }
}

impl<'a> GeomeanOut<'a> {
    fn new(geomean: &'a Geomean, effect: Option<GeomeanEffect>, column: usize) -> Self {
        let (change, change_absent) = match geomean.change {
            Some(GeomeanChange::By(part)) => (Some(within_numbers(part)), None),
            Some(GeomeanChange::Undefined) => (None, Some("undefined")),
            None => (None, Some("baseline")),
        };
        Self {
            column,
            value: geomean.value.and_then(finite),
            value_absent: geomean.value.is_none().then_some("not_positive"),
            change,
            change_absent,
            effect: effect.and_then(Result::ok).as_ref().map(EffectOut::new),
            effect_absent: match effect {
                Some(Ok(_)) => None,
                Some(Err(reason)) => Some(NoGeomeanOut::Of(reason)),
                None => Some(NoGeomeanOut::Baseline("baseline")),
            },
            warnings: geomean.warnings.iter().map(Remark::new).collect(),
        }
    }
}

impl<'a> SummaryOut<'a> {
    fn new(run: &'a Judged) -> Self {
        let (report, summary) = (&run.report, &run.summary);
        Self {
            counts: summary.counts,
            comparisons: summary.comparisons,
            too_few_runs: summary.too_few_runs,
            runs_needed: summary.runs_needed,
            worst: summary.worst.and_then(|place| row_ref(run, place)),
            shifts: Remark::all(&summary.shifts, |shift| words::shift(report, shift)),
            environment_differences: Remark::all(&summary.environments.differences, |difference| {
                words::environment(report, difference)
            }),
            trends: summary.trends,
        }
    }
}

impl<'a> GateOut<'a> {
    fn new(run: &'a Judged, gate: &'a Gate) -> Self {
        Self {
            fail_on: gate.fail_on,
            outcome: gate.outcome,
            counts: gate.counts,
            offending: row_refs(run, &gate.offending),
            waived: row_refs(run, &gate.waived),
            obstacles: gate
                .obstacles
                .iter()
                .map(|found| ObstacleOut {
                    kind: found.obstacle.kind().word(),
                    is_allowed: found.is_allowed,
                    detail: detail(run, &found.obstacle),
                })
                .collect(),
            waiver_notes: &gate.waiver_notes,
        }
    }
}

fn detail<'a>(run: &'a Judged, obstacle: &'a Obstacle) -> ObstacleDetail<'a> {
    let lossy = |text: &BString| text.to_str_lossy().into_owned();
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
        Obstacle::Removed { places }
        | Obstacle::Suspect { places }
        | Obstacle::Control { places } => ObstacleDetail::Rows {
            rows: row_refs(run, places),
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

fn row_refs<'a>(run: &'a Judged, places: &[Position]) -> Vec<RowRef<'a>> {
    let places = places.iter();
    places.filter_map(|&place| row_ref(run, place)).collect()
}

fn row_ref(run: &Judged, place: Position) -> Option<RowRef<'_>> {
    let judged = run.at(place)?;
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

/// The number nearest to one that JSON cannot say.
fn within_numbers(part: f64) -> f64 {
    part.clamp(f64::MIN, f64::MAX)
}

fn p_absent(judged: &JudgedRow<'_>) -> Option<&'static str> {
    match judged.cell.and_then(|cell| cell.comparison.as_ref()) {
        None => Some("one_side_missing"),
        Some(comparison) if comparison.p.is_none() => Some("exact"),
        Some(_) => None,
    }
}

fn change(judged: &JudgedRow<'_>) -> (Option<f64>, Option<&'static str>) {
    match judged.change() {
        None => (None, Some("one_side_missing")),
        Some(Change::Insignificant) => (None, Some("insignificant")),
        Some(Change::FromZero) => (None, Some("from_zero")),
        Some(Change::Same) => (Some(0.0), None),
        Some(Change::By(part)) => (Some(within_numbers(part)), None),
    }
}

/// Why the verdict is what it is.
fn reason(run: &Judged, judged: &JudgedRow<'_>) -> &'static str {
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
            if is_unbounded || !judgement.could_be_significant {
                "too_few_runs"
            } else if judgement.adjusted_p.is_some_and(|p| p > run.summary.alpha) {
                "not_significant"
            } else {
                "interval_straddles_margin"
            }
        }
    }
}

/// An object whose fields keep their order.
struct FlatRecord(IndexMap<String, Value>);

impl Serialize for FlatRecord {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(&self.0)
    }
}

/// A comparison as one flat object.
fn record(run: &Judged, judged: &JudgedRow<'_>, presentation: &Presentation) -> FlatRecord {
    let comparison = ComparisonOut::new(run, judged);
    let column = |index: usize| {
        run.report
            .columns
            .get(index)
            .map(|column| column.label().to_str_lossy().into_owned())
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
    put("new", json!(column(judged.position().column)));
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
    put("remarks", json!(words::remarks(run, judged).join("; ")));
    put_keys(&mut fields, judged.table, judged.row);
    FlatRecord(fields)
}

/// A row of one input alone as a flat object.
fn lone_record(run: &Judged, lone: &LoneRow<'_>) -> FlatRecord {
    let column = run.report.columns.first().map(Column::label);
    let remarks: Vec<String> = lone
        .cell
        .warnings
        .iter()
        .map(ToString::to_string)
        .chain(run.noise.at(lone.position).map(ToString::to_string))
        .collect();
    let mut fields: IndexMap<String, Value> = IndexMap::new();
    let mut put = |name: &str, value: Value| {
        fields.insert(name.to_owned(), value);
    };
    put("schema_version", json!(SCHEMA_VERSION));
    put("name", json!(lone.row.label().to_str_lossy()));
    put("unit", json!(lone.table.unit.to_str_lossy()));
    put("better", json!(lone.table.better));
    put(
        "base",
        json!(column.map(|name| name.to_str_lossy().into_owned())),
    );
    put("base_n", json!(lone.cell.values.len()));
    put("base_centre", json!(finite(lone.cell.centre)));
    put("base_low", json!(finite(lone.cell.low)));
    put("base_high", json!(finite(lone.cell.high)));
    put("base_lowest", json!(lone.lowest));
    put("base_highest", json!(lone.highest));
    put("is_unsteady", json!(lone.is_unsteady()));
    put("remarks", json!(remarks.join("; ")));
    put_keys(&mut fields, lone.table, lone.row);
    FlatRecord(fields)
}

/// The keys of a table and a row, under names that `jq` takes as they are: `key_pkg`, `key_size`.
fn put_keys(fields: &mut IndexMap<String, Value>, table: &Table, row: &Row) {
    for field in table.key.iter().chain(&*row.key) {
        let mut name = "key_".to_owned();
        let key = field.key.to_str_lossy();
        let key = key.trim_start_matches(['.', '/']).chars();
        name.extend(key.map(|char| if char.is_alphanumeric() { char } else { '_' }));
        // Blanks at the end, as some systems have them in the name of the processor, tell nothing.
        fields
            .entry(name)
            .or_insert_with(|| json!(field.value.trim_end().to_str_lossy()));
    }
}
