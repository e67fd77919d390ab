//! GitHub-flavoured Markdown: one table for each unit of each configuration.

use std::io::{self, Write};

use bstr::ByteSlice;
use indexmap::IndexSet;

use super::escape::{markdown, markdown_code};
use super::text::changed_fields;
use super::{format, words};
use crate::judge::Judged;
use crate::report::model::{Cell, Position, Row, Table};
use crate::unit::Scale;

/// Writes all tables of a judged report.
///
/// # Errors
/// Whatever `out` fails with.
pub fn write(run: &Judged, out: &mut dyn Write) -> io::Result<()> {
    let mut previous: Option<&Table> = None;
    for (index, table) in run.report.tables.iter().enumerate() {
        if previous.is_some() {
            writeln!(out)?;
        }
        let mut has_fields = false;
        for field in changed_fields(previous, table) {
            let (key, value) = (field.key.as_bstr(), field.value.trim_end().as_bstr());
            // A backslash at the end of a line breaks it.
            if has_fields {
                writeln!(out, "\\")?;
            }
            write!(out, "{}: {}", markdown(key), markdown(value))?;
            has_fields = true;
        }
        if has_fields {
            writeln!(out, "\n")?;
        }
        write_table(run, index, table, out)?;
        previous = Some(table);
    }
    Ok(())
}

fn write_table(run: &Judged, index: usize, table: &Table, out: &mut dyn Write) -> io::Result<()> {
    let unit = markdown(table.unit.as_ref());
    let mut header = vec![unit];
    let mut rule = vec![":--"];
    let mut notes = Footnotes::default();
    for (index, column) in table.columns.iter().enumerate() {
        header.push(markdown(column.label().as_ref()));
        rule.push("--:");
        if index > 0 {
            header.extend(["vs base".to_owned(), "verdict".to_owned()]);
            rule.extend(["--:", ":--"]);
        }
    }
    write_row(&header, out)?;
    write_row(&rule, out)?;
    for (row, of_row) in run.listing.rows(index, table) {
        let position = Position {
            table: index,
            row,
            column: 0,
        };
        write_row(&cells(run, position, of_row, table, &mut notes), out)?;
    }
    if table.rows.len() > 1 {
        write_row(&geomeans(table, &mut notes), out)?;
    }
    notes.write(out)
}

/// What is odd about single cells, each marked there and told once below the table.
#[derive(Default)]
struct Footnotes(IndexSet<String>);

impl Footnotes {
    /// The marks of these notes.
    fn marks(&mut self, notes: impl IntoIterator<Item = String>) -> String {
        let mut marks = String::new();
        for note in notes {
            let (index, _) = self.0.insert_full(note);
            marks.push(' ');
            format::push_superscript(&mut marks, index + 1);
        }
        marks
    }

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        if !self.0.is_empty() {
            writeln!(out)?;
        }
        for (index, note) in self.0.iter().enumerate() {
            let mut mark = String::new();
            format::push_superscript(&mut mark, index + 1);
            writeln!(out, "- {mark} {}", markdown_note(note))?;
        }
        Ok(())
    }
}

fn cells(
    run: &Judged,
    position: Position,
    row: &Row,
    table: &Table,
    notes: &mut Footnotes,
) -> Vec<String> {
    let centres = row.filled().map(|cell| cell.centre);
    let scale = Scale::common(centres, table.class);
    let mut line = vec![markdown_code(row.label().as_ref())];
    for index in 0..table.columns.len() {
        let cell = row.cell(index);
        line.push(cell.map_or_else(String::new, |cell| {
            let column = table.places[index];
            let noise = run.noise.at(Position { column, ..position });
            let remarks = cell.warnings.iter().map(ToString::to_string);
            let marks = notes.marks(remarks.chain(noise.map(ToString::to_string)));
            sample(cell, scale) + &marks
        }));
        if index == 0 {
            continue;
        }
        let comparison = cell.and_then(|cell| cell.comparison.as_ref());
        let judged = run.at(Position {
            column: table.places[index],
            ..position
        });
        let change = judged.zip(comparison).map(|(judged, comparison)| {
            // Two of them in a table would strike out what is between them.
            let change = format::judged_change(&judged).replace('~', "\\~");
            let estimate = words::estimates(std::iter::once(judged)).map(str::to_owned);
            let warnings = comparison.warnings.iter().map(ToString::to_string);
            let marks = notes.marks(estimate.chain(warnings));
            format!("{change} ({}){marks}", format::evidence(comparison))
        });
        line.push(change.unwrap_or_default());
        line.push(judged.map_or_else(String::new, |judged| words::verdict(judged.judgement)));
    }
    line
}

fn sample(cell: &Cell, scale: Scale) -> String {
    let value = format::scaled(cell.centre, scale);
    format!("{value} ± {}", format::range(cell))
}

fn geomeans(table: &Table, notes: &mut Footnotes) -> Vec<String> {
    let mut line = vec!["geomean".to_owned()];
    for (index, geomean) in table.geomeans.iter().enumerate() {
        let value = geomean
            .value
            .map(|value| format::scaled(value, Scale::of(value, table.class)));
        let marks = notes.marks(geomean.warnings.iter().map(ToString::to_string));
        line.push(value.unwrap_or_default() + &marks);
        if index > 0 {
            let change = geomean.change.map(format::geomean_change);
            line.extend([change.unwrap_or_default(), String::new()]);
        }
    }
    line
}

/// A warning as it is, unless it has a name in it that Markdown would read.
fn markdown_note(note: &str) -> String {
    let is_special = |char: char| {
        matches!(
            char,
            '|' | '`' | '<' | '>' | '&' | '@' | '#' | '*' | '_' | '\\' | '[' | '~'
        )
    };
    if note.contains(is_special) || note.contains(char::is_control) {
        markdown_code(note.into())
    } else {
        note.to_owned()
    }
}

fn write_row<T: AsRef<str>>(cells: &[T], out: &mut dyn Write) -> io::Result<()> {
    write!(out, "|")?;
    for cell in cells {
        write!(out, " {} |", cell.as_ref())?;
    }
    writeln!(out)
}
