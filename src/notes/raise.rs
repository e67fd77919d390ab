//! Finds what there is to say, and ranks it.

use bstr::{BStr, BString, ByteSlice};
use indexmap::IndexMap;

use super::note::{Aim, Note};
use super::pairing::{ChangingKey, Pairing};
use crate::judge::sides;
use crate::query::Key;
use crate::read::{InputFacts, Query};
use crate::record::Findings;
use crate::report::model::{Change, GeomeanChange, Report, Row, Table};
use crate::report::warning::Warning;

/// More would not be read.
const MOST_NOTES: usize = 5;

/// What there is to say, the most useful first.
#[must_use]
pub fn notes(inputs: &[InputFacts], query: &Query, report: &Report) -> Vec<Note> {
    let mut notes = Vec::new();
    without_results(inputs, &mut notes);
    missing_keys(inputs, query, &mut notes);
    if report.tables.is_empty() {
        nothing_left(inputs, query, &mut notes);
    }
    let pairing = Pairing::of(report);
    let changing = changing_keys(inputs, query, &pairing);
    let remedy = pairing.remedy(query, &changing);
    notes.extend(pairing.apart(&remedy));
    notes.extend(changing.into_iter().map(|(key, input, changing)| {
        let [old, new] = &changing.values;
        Note::Changing {
            key: key.clone(),
            input: input.clone(),
            name: changing.name.clone(),
            values: [old.clone(), new.clone()],
            remedy: remedy.clone(),
        }
    }));
    failures(inputs, &mut notes);
    let exclusion = pairing.exclusion(query);
    if let Some(note) = mostly_empty(query, report) {
        // A list of what each of many columns has alone would not be read.
        notes.push(note);
    } else {
        notes.extend(pairing.one_sided(exclusion.clone()));
        notes.extend(pairing.one_sided_units());
    }
    match input_per_run(inputs, query, report) {
        Some(note) => notes.push(note),
        None => runs(report, &mut notes),
    }
    if !pairing.is_apart() {
        geomean_sets(report, exclusion.as_deref(), &mut notes);
    }
    notes.extend(columns(report).find_map(|(table, column)| geomean_of_noise(table, column)));
    shortened(notes)
}

/// What a gate would say of the sides, for whoever asked for none.
pub fn without_gate(report: &Report) -> impl Iterator<Item = Note> {
    let same = sides::same_values(report).into_iter();
    same.map(|(column, rows)| Note::SameValues {
        column: report.columns[column].label(),
        rows,
    })
}

/// What there is to say of inputs of which nothing is compared.
#[must_use]
pub fn notes_on_inputs(inputs: &[InputFacts], query: &Query) -> Vec<Note> {
    let mut notes = Vec::new();
    without_results(inputs, &mut notes);
    if inputs.iter().all(|input| input.seen.used == 0) {
        nothing_left(inputs, query, &mut notes);
    }
    failures(inputs, &mut notes);
    shortened(notes)
}

/// The first few notes, each once: an input may be named twice.
fn shortened(all: Vec<Note>) -> Vec<Note> {
    let mut notes = Vec::new();
    for note in all {
        if notes.len() < MOST_NOTES && !notes.contains(&note) {
            notes.push(note);
        }
    }
    notes
}

fn without_results(inputs: &[InputFacts], notes: &mut Vec<Note>) {
    for input in inputs {
        let Some(likeness) = &input.likeness else {
            continue;
        };
        // They are told by notes of their own.
        if input.findings.behind_prefixes.count + input.findings.torn.count > 0 {
            continue;
        }
        notes.push(Note::NoResults {
            input: input.name.clone(),
            likeness: likeness.clone(),
            failed: {
                let failed = input.findings.failed_leaves().into_iter();
                failed.map(|(name, _)| name.clone()).collect()
            },
            refused: input.findings.refused.clone(),
        });
    }
}

fn missing_keys(inputs: &[InputFacts], query: &Query, notes: &mut Vec<Note>) {
    if inputs.iter().all(|input| input.results == 0) {
        return;
    }
    let seen = || inputs.iter().map(|input| &input.seen);
    let is_known = |key: &Key| {
        seen().any(|seen| match key {
            Key::Configuration(key) => seen.keys.contains(key),
            Key::Sub(key) => seen.parts.contains(key),
            Key::Gomaxprocs => seen.has_gomaxprocs || seen.parts.contains(BStr::new("gomaxprocs")),
            _ => true,
        })
    };
    let mut missing: Vec<&Key> = Vec::new();
    for (flag, key) in query.keys() {
        if is_known(key) || missing.contains(&key) {
            continue;
        }
        missing.push(key);
        let configuration = seen().flat_map(|seen| &seen.keys).cloned();
        let parts = seen().flat_map(|seen| &seen.parts).cloned();
        let suffix = seen().any(|seen| seen.has_gomaxprocs);
        let mut known: Vec<Key> = Vec::new();
        for key in configuration
            .map(Key::Configuration)
            .chain(parts.map(Key::Sub))
            .chain(suffix.then_some(Key::Gomaxprocs))
        {
            if !known.contains(&key) {
                known.push(key);
            }
        }
        let positional = seen().find_map(|seen| seen.positional.clone());
        notes.push(Note::MissingKey {
            flag,
            key: key.clone(),
            known,
            positional: positional.filter(|_| matches!(key, Key::Sub(_))),
        });
    }
}

fn nothing_left(inputs: &[InputFacts], query: &Query, notes: &mut Vec<Note>) {
    let benchmarks: usize = inputs.iter().map(|input| input.seen.benchmarks).sum();
    if benchmarks > 0 {
        notes.push(Note::NothingLeft {
            filter: query.filter.clone(),
            benchmarks,
            has_none: inputs.iter().any(|input| input.seen.not_finite > 0),
            has_lists: query.has_lists(),
        });
    }
}

/// The keys that change between results of one benchmark, but for those that were asked for.
fn changing_keys<'a>(
    inputs: &'a [InputFacts],
    query: &Query,
    pairing: &Pairing<'_>,
) -> Vec<ChangingKey<'a>> {
    let mut found: Vec<ChangingKey<'a>> = Vec::new();
    for input in inputs {
        for (key, changing) in &input.seen.changing {
            let is_named = query
                .keys()
                .any(|(_, named)| matches!(named, Key::Configuration(named) if named == key));
            let is_known = found.iter().any(|(known, ..)| *known == key);
            if !is_named && !is_known && !pairing.names_key(key) {
                found.push((key, &input.name, changing));
            }
        }
    }
    found
}

fn failures(inputs: &[InputFacts], notes: &mut Vec<Note>) {
    for InputFacts {
        name,
        findings,
        results,
        ..
    } in inputs
    {
        let Findings {
            failed,
            panics,
            failures,
            exits,
            truncated,
            ..
        } = findings;
        let told_before = *results == 0 && !failed.is_empty();
        let counts = [panics.count, failures.count, exits.count];
        if !told_before
            && (!failed.is_empty() || truncated.is_some() || counts.iter().any(|&count| count > 0))
        {
            notes.push(Note::Broken {
                input: name.clone(),
                findings: Box::new(findings.clone()),
            });
        }
    }
    for InputFacts { name, findings, .. } in inputs {
        if let Some(prefix) = &findings.prefix {
            notes.push(Note::Prefixed {
                input: name.clone(),
                prefix: prefix.text.clone(),
            });
        }
        if findings.behind_prefixes.count > 0 {
            notes.push(Note::BehindPrefixes {
                input: name.clone(),
                results: findings.behind_prefixes.clone(),
            });
        }
        if findings.torn.count > 0 {
            notes.push(Note::Torn {
                input: name.clone(),
                results: findings.torn.clone(),
            });
        }
        if findings.joined.count > 0 {
            notes.push(Note::Joined {
                input: name.clone(),
                results: findings.joined.clone(),
            });
        }
    }
}

/// Whether a table has many columns, and most of its cells are empty.
fn mostly_empty(query: &Query, report: &Report) -> Option<Note> {
    const MANY_COLUMNS: usize = 8;
    let wide = report.tables.iter().filter_map(|table| {
        let (rows, columns) = (table.rows.len(), table.columns.len());
        let cells = table.rows.iter().map(|row| row.cells.len()).sum();
        let is_sparse = columns >= MANY_COLUMNS && cells < rows.saturating_mul(columns) / 2;
        is_sparse.then_some((rows, columns, cells))
    });
    let (rows, columns, cells) = wide.max_by_key(|(rows, columns, _)| rows * columns)?;
    Some(Note::MostlyEmpty {
        rows,
        columns,
        cells,
        is_by_file: matches!(query.layout.column().fields(), [field] if field.key == Key::File),
    })
}

fn runs(report: &Report, notes: &mut Vec<Note>) {
    let mut fewest = usize::MAX;
    let mut aims: Vec<(Aim, Option<usize>)> = Vec::new();
    let mut unequal: Option<(usize, BString, [usize; 2])> = None;
    for row in report.tables.iter().flat_map(|table| &table.rows) {
        let mut is_unequal = false;
        for cell in row.filled() {
            let of_comparison = cell.comparison.iter().flat_map(|side| &side.warnings);
            for warning in cell.warnings.iter().chain(of_comparison) {
                let aim = match *warning {
                    Warning::FewForInterval { needed, level } => (Aim::Interval { level }, needed),
                    Warning::FewForDifference { needed, alpha } => (Aim::Change { alpha }, needed),
                    _ => continue,
                };
                fewest = fewest.min(cell.values.len());
                if !aims.contains(&aim) {
                    aims.push(aim);
                }
            }
            if let Some(side) = &cell.comparison
                && side.baseline_count != side.count
                && !is_unequal
            {
                is_unequal = true;
                let runs = [side.baseline_count, side.count];
                unequal.get_or_insert((0, row.label(), runs)).0 += 1;
            }
        }
    }
    if !aims.is_empty() {
        notes.push(Note::FewRuns { runs: fewest, aims });
    }
    if let Some((rows, row, runs)) = unequal {
        notes.push(Note::UnequalRuns { rows, row, runs });
    }
}

/// The columns that are compared in tables that show a geomean.
fn columns(report: &Report) -> impl Iterator<Item = (&Table, usize)> {
    let tables = report.tables.iter().filter(|table| table.rows.len() > 1);
    tables.flat_map(|table| (1..table.columns.len()).map(move |column| (table, column)))
}

fn geomean_sets(report: &Report, exclusion: Option<&str>, notes: &mut Vec<Note>) {
    let tables = report.tables.iter().filter(|table| table.rows.len() > 1);
    let different = tables.into_iter().find_map(|table| {
        // How many rows each column has, and how many of those the first has too.
        let mut counts = vec![[0, 0]; table.columns.len()];
        for row in &table.rows {
            let is_common = usize::from(row.cell(0).is_some());
            for (column, _) in &row.cells {
                counts[*column][0] += 1;
                counts[*column][1] += is_common;
            }
        }
        let baseline = counts.first()?[0];
        let mut columns = counts.into_iter().enumerate().skip(1);
        columns.find_map(|(column, [count, common])| {
            let rows = [baseline, count];
            (common > 0 && rows != [common; 2]).then(|| Note::GeomeanSets {
                unit: table.unit.clone(),
                columns: [0, column].map(|column| table.columns[column].label()),
                rows,
                common,
                remedy: exclusion.map(ToOwned::to_owned),
            })
        })
    });
    notes.extend(different);
}

/// Whether the sides of the comparison are each in several inputs of one run.
fn input_per_run(inputs: &[InputFacts], query: &Query, report: &Report) -> Option<Note> {
    const FEWEST_INPUTS: usize = 4;
    let is_by_file = matches!(query.layout.column().fields(), [field] if field.key == Key::File);
    let cells = || report.tables.iter().flat_map(|table| &table.rows);
    let is_one = |row: &Row| row.filled().all(|cell| cell.values.len() == 1);
    // With labels the person has said what belongs together.
    let is_unlabelled = report.columns.len() == inputs.len()
        && report
            .columns
            .iter()
            .zip(inputs)
            .all(|(column, input)| column.label() == input.name);
    if !is_by_file || !is_unlabelled || inputs.len() < FEWEST_INPUTS || !cells().all(is_one) {
        return None;
    }
    let mut sides: IndexMap<BString, Vec<&BString>> = IndexMap::new();
    for input in inputs {
        sides
            .entry(side_of(&input.name)?)
            .or_default()
            .push(&input.name);
    }
    let has_sides = sides.len() > 1 && sides.values().all(|inputs| inputs.len() > 1);
    let arguments = sides.iter().flat_map(|(side, inputs)| {
        inputs
            .iter()
            .map(move |input| format!("{side}={input}").into())
    });
    has_sides.then(|| Note::InputPerRun {
        arguments: arguments.collect(),
    })
}

/// What names of inputs have in common that differ in a number at the end only: the last part of the path that has more.
fn side_of(name: &BString) -> Option<BString> {
    let text = name.to_str().ok()?;
    text.rsplit(['/', '\\']).find_map(|part| {
        let stem = part.rsplit_once('.').map_or(part, |(stem, _)| stem);
        let side = stem.trim_end_matches(|char: char| char.is_ascii_digit());
        let side = side.trim_matches(|char: char| !char.is_alphanumeric());
        (!side.is_empty()).then(|| side.into())
    })
}

fn geomean_of_noise(table: &Table, column: usize) -> Option<Note> {
    /// The margin that measured units have by default: less is what clean runs show.
    const MARGIN: f64 = 0.02;
    let sides = || {
        let cells = table.rows.iter().filter_map(|row| row.cell(column));
        cells.filter_map(|cell| cell.comparison.as_ref())
    };
    let Some(GeomeanChange::By(change)) = table.geomeans[column].change else {
        return None;
    };
    let is_noise = sides().count() > 1 && sides().all(|side| side.change == Change::Insignificant);
    (is_noise && change.abs() >= MARGIN).then(|| Note::GeomeanOfNoise {
        unit: table.unit.clone(),
    })
}
