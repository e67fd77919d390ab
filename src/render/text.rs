//! The drop-in text tables.

use std::io::{self, Write};
use std::ops::Range;

use anstyle::Style;
use bstr::{BString, ByteSlice};
use indexmap::IndexSet;

use super::colour;
use super::format;
use super::layout::{Align, Grid, GridColumn, Header, HeaderPlace};
use crate::common::parallel;
use crate::report::Listing;
use crate::report::model::{Cell, Comparison, Field, Geomean, GeomeanChange, Report, Table};
use crate::report::warning::Warning;
use crate::unit::Scale;

const VALUE: GridColumn = GridColumn {
    margin: "   ",
    align: Align::Right,
};
const RANGE: GridColumn = GridColumn {
    margin: " ± ",
    align: Align::Right,
};
const NOTES: GridColumn = GridColumn {
    margin: " ",
    align: Align::Left,
};
const CHANGE: GridColumn = GridColumn {
    margin: "  ",
    align: Align::Right,
};
const EVIDENCE: GridColumn = GridColumn {
    margin: " ",
    align: Align::Left,
};

/// The columns of the baseline.
const BASELINE_GROUP: [GridColumn; 3] = [VALUE, RANGE, NOTES];
/// The columns of what is compared with it.
const COMPARED_GROUP: [GridColumn; 6] = [VALUE, RANGE, NOTES, CHANGE, EVIDENCE, NOTES];
/// How many columns of a group describe the sample itself.
const SAMPLE_COLUMNS: usize = BASELINE_GROUP.len();

/// Writes the rows in `listing` of all tables of `report`; without colour, these are the drop-in bytes.
///
/// # Errors
/// Whatever `out` fails with.
pub fn write(
    report: &Report,
    listing: &Listing,
    has_colour: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let tables = &report.tables;
    let write_part = |index: usize, grid: &mut Grid, out: &mut dyn Write| {
        let previous = index.checked_sub(1).map(|before| &tables[before]);
        if previous.is_some() {
            writeln!(out)?;
        }
        for field in changed_fields(previous, &tables[index]) {
            out.write_all(&key_line(field))?;
            out.write_all(b"\n")?;
        }
        write_table((index, &tables[index]), listing, has_colour, grid, out)
    };
    let rows: usize = tables.iter().map(|table| table.rows.len()).sum();
    let threads = parallel::threads_for(rows, ROWS_WORTH_A_THREAD);
    let places = tables
        .iter()
        .map(|table| table.rows.len() * table.columns.len());
    // Texts that several threads write are in memory until it is their turn.
    let is_large = places.fold(0, usize::saturating_add) > MOST_PLACES_IN_MEMORY;
    if is_large || threads.min(tables.len()) == 1 {
        let mut grid = Grid::default();
        return (0..tables.len()).try_for_each(|index| write_part(index, &mut grid, out));
    }
    let texts = parallel::map(
        shares_of(tables),
        threads,
        Grid::default,
        |grid, mut share: Range<usize>| {
            let mut text = Vec::new();
            let written = share.try_for_each(|index| write_part(index, grid, &mut text));
            written.map(|()| text)
        },
    );
    texts.into_iter().try_for_each(|text| out.write_all(&text?))
}

/// Tables one after the other that one thread writes: small ones together, as taking the next share has its price too.
fn shares_of(tables: &[Table]) -> Vec<Range<usize>> {
    const ROWS: usize = 100;
    let mut shares = Vec::new();
    let (mut start, mut rows) = (0, 0);
    for (index, table) in tables.iter().enumerate() {
        rows += table.rows.len();
        if rows >= ROWS || index + 1 == tables.len() {
            shares.push(start..index + 1);
            (start, rows) = (index + 1, 0);
        }
    }
    shares
}

/// Below this many rows a thread would cost more than it saves.
const ROWS_WORTH_A_THREAD: usize = 500;

/// Each takes some 30 bytes of text, even if there is nothing to show.
const MOST_PLACES_IN_MEMORY: usize = 1 << 19;

/// The key fields of `table` that differ from the previous table's: all, if there is none.
pub(super) fn changed_fields<'a>(
    previous: Option<&'a Table>,
    table: &'a Table,
) -> impl Iterator<Item = &'a Field> {
    table
        .key
        .iter()
        .enumerate()
        .filter(move |&(index, field)| {
            previous.and_then(|previous| previous.key.get(index)) != Some(field)
        })
        .map(|(_, field)| field)
}

/// `key: value`.
pub(super) fn key_line(field: &Field) -> BString {
    bstr::concat([field.key.as_bytes(), b": ", &field.value]).into()
}

fn write_table(
    (index, table): (usize, &Table),
    listing: &Listing,
    has_colour: bool,
    grid: &mut Grid,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut groups: Vec<&[GridColumn]> = vec![&COMPARED_GROUP; table.columns.len()];
    groups[0] = &BASELINE_GROUP;
    grid.start(&groups);
    let mut footnotes = Footnotes::default();

    add_column_headers(grid, table);
    add_unit_header(grid, table);
    for (_, row) in listing.rows(index, table) {
        let centres = row.filled().map(|cell| cell.centre);
        let scale = Scale::common(centres, table.class);
        grid.cell(&row.label());
        for (column, cell) in &row.cells {
            grid.start_group(*column);
            add_sample(grid, cell, scale, &mut footnotes);
            if let Some(comparison) = &cell.comparison {
                let style = if has_colour {
                    colour::of_change(comparison.change, cell.centre, table.better)
                } else {
                    Style::new()
                };
                add_comparison(grid, comparison, style, &mut footnotes);
            }
        }
        grid.end_row();
    }
    if table.rows.len() > 1 {
        grid.cell(b"geomean");
        for (column, geomean) in table.geomeans.iter().enumerate() {
            grid.start_group(column);
            add_geomean(grid, geomean, table, &mut footnotes);
        }
        grid.end_row();
    }
    grid.write(out)?;
    footnotes.write(out)
}

/// One line for each field of the column key, where equal neighbours under a common prefix are merged.
fn add_column_headers(grid: &mut Grid, table: &Table) {
    let depth = table.columns.first().map_or(0, |column| column.key.len());
    for level in 0..depth {
        let mut headers: Vec<Header> = Vec::new();
        for (index, column) in table.columns.iter().enumerate() {
            let group = grid.group(index);
            let same = index > 0 && table.columns[index - 1].key[..=level] == column.key[..=level];
            match headers.last_mut() {
                Some(last) if same => last.columns.end = group.end,
                _ => headers.push(Header {
                    columns: group,
                    text: column.key[level].value.clone(),
                    place: HeaderPlace::Centred,
                }),
            }
        }
        grid.header(headers);
    }
}

fn add_unit_header(grid: &mut Grid, table: &Table) {
    let mut headers = Vec::new();
    for index in 0..table.columns.len() {
        let group = grid.group(index);
        let split = group.start + SAMPLE_COLUMNS;
        headers.push(Header {
            columns: group.start..split,
            text: table.unit.clone(),
            place: HeaderPlace::Centred,
        });
        if split < group.end {
            headers.push(Header {
                columns: split..group.end,
                text: "  vs base".into(),
                place: HeaderPlace::Left,
            });
        }
    }
    grid.header(headers);
}

fn add_sample<'r>(grid: &mut Grid, cell: &'r Cell, scale: Scale, footnotes: &mut Footnotes<'r>) {
    grid.display(format::Scaled(cell.centre, scale));
    grid.display(format::Range(cell));
    grid.cell(footnotes.mark(&cell.warnings).as_bytes());
}

fn add_comparison<'r>(
    grid: &mut Grid,
    comparison: &'r Comparison,
    style: Style,
    footnotes: &mut Footnotes<'r>,
) {
    let evidence = format::Significance(comparison);
    grid.styled(format::Changed(comparison.change), None, style);
    grid.styled(format_args!("({evidence})"), None, style);
    grid.cell(footnotes.mark(&comparison.warnings).as_bytes());
}

fn add_geomean<'r>(
    grid: &mut Grid,
    geomean: &'r Geomean,
    table: &Table,
    footnotes: &mut Footnotes<'r>,
) {
    match geomean.value {
        Some(value) => grid.display(format::Scaled(value, Scale::of(value, table.class))),
        None => grid.cell(b""),
    }
    grid.cell(b"");
    let Some(change) = geomean.change else {
        grid.cell(footnotes.mark(&geomean.warnings).as_bytes());
        return;
    };
    grid.cell(b"");
    let align = (change == GeomeanChange::Undefined).then_some(Align::Left);
    grid.styled(format::geomean_change(change), align, Style::new());
    grid.cell(b"");
    grid.cell(footnotes.mark(&geomean.warnings).as_bytes());
}

/// Messages numbered in the order of their first use.
#[derive(Default)]
struct Footnotes<'r> {
    messages: IndexSet<String>,
    /// Neighbours mostly share their warnings.
    latest: Option<(&'r Warning, usize)>,
}

impl<'r> Footnotes<'r> {
    /// The numbers of `warnings`, as superscripts.
    fn mark(&mut self, warnings: &'r [Warning]) -> String {
        let mut marks = String::new();
        for warning in warnings {
            if !marks.is_empty() {
                marks.push(' ');
            }
            format::push_superscript(&mut marks, self.number(warning));
        }
        marks
    }

    /// The number of a warning, from 1.
    fn number(&mut self, warning: &'r Warning) -> usize {
        match self.latest {
            Some((latest, number)) if latest == warning => number,
            _ => {
                let number = self.messages.insert_full(warning.to_string()).0 + 1;
                self.latest = Some((warning, number));
                number
            }
        }
    }

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        for (message, number) in self.messages.iter().zip(1..) {
            let mut mark = String::new();
            format::push_superscript(&mut mark, number);
            writeln!(out, "{mark} {message}")?;
        }
        Ok(())
    }
}
