//! A grid of text with headers that span columns: the reference's table layout.
//!
//! The grid's first column holds row labels. The others come in groups, one
//! for each column of the report; a group's first column alone may stretch to
//! make room for a wide header.

use std::io::{self, Write};
use std::ops::Range;

use anstyle::Style;
use bstr::{BStr, BString, ByteSlice};

/// On which side a cell's text stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// At the left edge of its column.
    Left,
    /// At the right edge of its column.
    Right,
}

/// One column of the grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GridColumn {
    /// What stands before every cell that is not empty.
    pub margin: &'static str,
    /// Where the text stands; a cell may say otherwise.
    pub align: Align,
}

/// The text of a cell; an empty one needs no room.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GridCell {
    /// What the cell shows.
    pub text: BString,
    /// Overrides the alignment of the column.
    pub align: Option<Align>,
    /// How the text looks, where the reader can show it; it takes no room.
    pub style: Style,
}

impl<T: Into<BString>> From<T> for GridCell {
    fn from(text: T) -> Self {
        Self {
            text: text.into(),
            align: None,
            style: Style::new(),
        }
    }
}

/// A text over some columns of the grid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The columns that it stands over.
    pub columns: Range<usize>,
    /// What it shows.
    pub text: BString,
    /// How it takes its place.
    pub place: Place,
}

/// How a header takes its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Centred behind a bar; its columns stretch where it is too wide.
    Centred,
    /// At the left without a bar; where it is too wide it pushes the rest of its line.
    Left,
}

const BAR: &str = " │ ";
const BAR_WIDTH: usize = 3;
const CLOSING_BAR: &str = " │";

/// Collects headers and rows, and writes them when all widths are known.
#[derive(Debug)]
pub struct Grid {
    columns: Vec<GridColumn>,
    headers: Vec<Vec<Header>>,
    rows: Vec<Vec<GridCell>>,
    /// The first column of each group.
    groups: Vec<usize>,
}

impl Grid {
    /// A grid with a label column and the given groups of columns.
    #[must_use]
    pub fn new(groups: &[&[GridColumn]]) -> Self {
        let label = GridColumn {
            margin: "",
            align: Align::Left,
        };
        let mut columns = vec![label];
        let mut starts = Vec::new();
        for group in groups {
            starts.push(columns.len());
            columns.extend_from_slice(group);
        }
        Self {
            columns,
            headers: Vec::new(),
            rows: Vec::new(),
            groups: starts,
        }
    }

    /// The columns of a group.
    #[must_use]
    pub fn group(&self, index: usize) -> Range<usize> {
        let end = self
            .groups
            .get(index + 1)
            .copied()
            .unwrap_or(self.columns.len());
        self.groups[index]..end
    }

    /// Adds a header line, from the top.
    pub fn header(&mut self, headers: Vec<Header>) {
        self.headers.push(headers);
    }

    /// Adds a row, which has one cell for each column or fewer.
    pub fn row(&mut self, cells: Vec<GridCell>) {
        self.rows.push(cells);
    }

    /// Writes headers and rows.
    ///
    /// # Errors
    /// Whatever `out` fails with.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let widths = self.widths();
        let mut line = Vec::new();
        for headers in &self.headers {
            line.clear();
            pad(&mut line, widths[0]);
            for header in headers {
                write_header(&mut line, header, &widths);
            }
            line.extend_from_slice(CLOSING_BAR.as_bytes());
            finish(&mut line, out)?;
        }
        for row in &self.rows {
            line.clear();
            for ((cell, column), &width) in row.iter().zip(&self.columns).zip(&widths) {
                write_cell(&mut line, cell, *column, width);
            }
            finish(&mut line, out)?;
        }
        Ok(())
    }

    /// The width of each column with its margin, 0 for one that holds nothing.
    fn widths(&self) -> Vec<usize> {
        let mut widths = vec![0; self.columns.len()];
        for row in &self.rows {
            for ((cell, column), width) in row.iter().zip(&self.columns).zip(&mut widths) {
                if !cell.text.is_empty() {
                    let needed = text_width(column.margin.into()) + text_width(cell.text.as_ref());
                    *width = needed.max(*width);
                }
            }
        }
        // Narrow headers first, so that wide ones only add what is still missing.
        for line in self.headers.iter().rev() {
            for header in line.iter().filter(|header| header.place == Place::Centred) {
                self.stretch(header, &mut widths);
            }
        }
        widths
    }

    /// Widens the groups under `header` evenly until it fits, the first ones by one more where needed.
    fn stretch(&self, header: &Header, widths: &mut [usize]) {
        let needed = BAR_WIDTH + text_width(header.text.as_ref());
        let available: usize = widths[header.columns.clone()].iter().sum();
        let missing = needed.saturating_sub(available);
        let starts: Vec<usize> = self
            .groups
            .iter()
            .copied()
            .filter(|start| header.columns.contains(start))
            .collect();
        for (index, &start) in starts.iter().enumerate() {
            widths[start] += missing / starts.len() + usize::from(index < missing % starts.len());
        }
    }
}

fn write_header(line: &mut Vec<u8>, header: &Header, widths: &[usize]) {
    let available: usize = widths[header.columns.clone()].iter().sum();
    let width = text_width(header.text.as_ref());
    match header.place {
        Place::Centred => {
            let blank = available.saturating_sub(BAR_WIDTH + width);
            line.extend_from_slice(BAR.as_bytes());
            pad(line, blank / 2);
            line.extend_from_slice(&header.text);
            pad(line, blank - blank / 2);
        }
        Place::Left => {
            // Too wide a text is followed by as many blanks as it is too wide.
            line.extend_from_slice(&header.text);
            pad(line, available.abs_diff(width));
        }
    }
}

fn write_cell(line: &mut Vec<u8>, cell: &GridCell, column: GridColumn, width: usize) {
    if cell.text.is_empty() {
        pad(line, width);
        return;
    }
    let blank = width - text_width(column.margin.into()) - text_width(cell.text.as_ref());
    line.extend_from_slice(column.margin.as_bytes());
    let align = cell.align.unwrap_or(column.align);
    if align == Align::Right {
        pad(line, blank);
    }
    // Both are empty where the style is none.
    line.extend_from_slice(cell.style.render().to_string().as_bytes());
    line.extend_from_slice(&cell.text);
    line.extend_from_slice(cell.style.render_reset().to_string().as_bytes());
    if align == Align::Left {
        pad(line, blank);
    }
}

/// Ends the line without trailing blanks.
fn finish(line: &mut Vec<u8>, out: &mut dyn Write) -> io::Result<()> {
    let length = line.trim_end_with(|char| char == ' ').len();
    line.truncate(length);
    line.push(b'\n');
    out.write_all(line)
}

fn pad(line: &mut Vec<u8>, count: usize) {
    line.resize(line.len() + count, b' ');
}

/// The number of Unicode scalar values, where each byte that is not UTF-8 counts as one.
fn text_width(text: &BStr) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    text.utf8_chunks()
        .map(|chunk| chunk.valid().chars().count() + chunk.invalid().len())
        .sum()
}
