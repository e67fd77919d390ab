//! A grid of text with headers that span columns: the reference's table layout.
//!
//! The grid's first column holds row labels. The others come in groups, one
//! for each column of the report; a group's first column alone may stretch to
//! make room for a wide header.

use std::fmt::{self, Display, Write as _};
use std::io::{self, Write};
use std::ops::Range;

use anstyle::Style;
use bstr::{BString, ByteSlice};

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

impl GridColumn {
    fn margin_width(&self) -> usize {
        text_width(self.margin.as_bytes())
    }
}

/// A cell that is not empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct GridCell {
    column: usize,
    /// Where its text ends; it starts where that of the cell before ends.
    end: usize,
}

/// How a cell stands or looks otherwise than its column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Exception {
    /// The cell, by its place among all that have text.
    cell: usize,
    /// Overrides the alignment of the column.
    align: Option<Align>,
    /// How the text looks, where the reader can show it; it takes no room.
    style: Style,
}

/// A text over some columns of the grid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The columns that it stands over.
    pub columns: Range<usize>,
    /// What it shows.
    pub text: BString,
    /// How it takes its place.
    pub place: HeaderPlace,
}

/// How a header takes its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderPlace {
    /// Centred behind a bar; its columns stretch where it is too wide.
    Centred,
    /// At the left without a bar; where it is too wide it pushes the rest of its line.
    Left,
}

const BAR: &str = " │ ";
const BAR_WIDTH: usize = 3;
const CLOSING_BAR: &str = " │";

/// Collects headers and rows, and writes them when all widths are known.
///
/// The texts of all cells stand behind one another in one buffer: tables have
/// many cells, and most texts are short.
#[derive(Debug, Default)]
pub struct Grid {
    columns: Vec<GridColumn>,
    headers: Vec<Vec<Header>>,
    text: LineBuffer,
    /// The cells with text, row by row; what is not here takes neither time nor memory.
    cells: Vec<GridCell>,
    /// How many cells there are up to the end of each row.
    ends: Vec<usize>,
    /// The column of the next cell.
    next: usize,
    /// The widest text of each column, in characters.
    widths: Vec<usize>,
    /// In the order of the cells.
    exceptions: Vec<Exception>,
    /// The first column of each group.
    groups: Vec<usize>,
}

impl Grid {
    /// Starts an empty grid with a label column and the given groups of columns, in the room of the one before.
    pub fn start(&mut self, groups: &[&[GridColumn]]) {
        let Self {
            columns,
            headers,
            text,
            cells,
            ends,
            next,
            widths,
            exceptions,
            groups: starts,
        } = self;
        columns.clear();
        columns.push(GridColumn {
            margin: "",
            align: Align::Left,
        });
        starts.clear();
        for group in groups {
            starts.push(columns.len());
            columns.extend_from_slice(group);
        }
        headers.clear();
        text.0.clear();
        cells.clear();
        ends.clear();
        *next = 0;
        widths.clear();
        widths.resize(columns.len(), 0);
        exceptions.clear();
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

    /// Adds a cell behind the one before.
    pub fn cell(&mut self, text: &[u8]) {
        self.text.0.extend_from_slice(text);
        self.end_cell(None, Style::new());
    }

    /// Adds a cell with a text that is written for it.
    pub fn display(&mut self, text: impl Display) {
        self.styled(text, None, Style::new());
    }

    /// Adds a cell that stands or looks otherwise than its column.
    pub fn styled(&mut self, text: impl Display, align: Option<Align>, style: Style) {
        // A buffer takes everything.
        let _ = write!(self.text, "{text}");
        self.end_cell(align, style);
    }

    /// Leaves cells empty up to the start of a group.
    pub fn start_group(&mut self, index: usize) {
        self.next = self.groups[index];
    }

    /// Leaves the rest of the row empty.
    pub fn end_row(&mut self) {
        self.ends.push(self.cells.len());
        self.next = 0;
    }

    fn end_cell(&mut self, align: Option<Align>, style: Style) {
        let column = self.next;
        self.next += 1;
        let start = self.cells.last().map_or(0, |cell| cell.end);
        let end = self.text.0.len();
        if start == end {
            return;
        }
        let widest = &mut self.widths[column];
        *widest = text_width(&self.text.0[start..]).max(*widest);
        if align.is_some() || !style.is_plain() {
            let cell = self.cells.len();
            self.exceptions.push(Exception { cell, align, style });
        }
        self.cells.push(GridCell { column, end });
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
        // Where each column starts in the line, and behind them the last ends.
        let mut starts = vec![0];
        for width in &widths {
            starts.push(starts[starts.len() - 1] + width);
        }
        let mut exceptions = self.exceptions.iter().peekable();
        let (mut text_start, mut first) = (0, 0);
        for &end in &self.ends {
            line.clear();
            let mut filled = 0;
            for (cell, &GridCell { column, end }) in (first..).zip(&self.cells[first..end]) {
                let exception = exceptions.next_if(|exception| exception.cell == cell);
                let text = &self.text.0[text_start..end];
                let margin = self.columns[column].margin_width();
                let blank = widths[column] - margin - text_width(text);
                pad(&mut line, starts[column] - starts[filled]);
                write_cell(&mut line, text, self.columns[column], blank, exception);
                text_start = end;
                filled = column + 1;
            }
            first = end;
            finish(&mut line, out)?;
        }
        Ok(())
    }

    /// The width of each column with its margin, 0 for one that holds nothing.
    fn widths(&self) -> Vec<usize> {
        let mut widths = self.widths.clone();
        for (column, width) in self.columns.iter().zip(&mut widths) {
            if *width > 0 {
                *width += column.margin_width();
            }
        }
        // Narrow headers first, so that wide ones only add what is still missing.
        for line in self.headers.iter().rev() {
            for header in line
                .iter()
                .filter(|header| header.place == HeaderPlace::Centred)
            {
                self.stretch(header, &mut widths);
            }
        }
        widths
    }

    /// Widens the groups under `header` evenly until it fits, the first ones by one more where needed.
    fn stretch(&self, header: &Header, widths: &mut [usize]) {
        let needed = BAR_WIDTH + text_width(&header.text);
        let available: usize = widths[header.columns.clone()].iter().sum();
        let missing = needed.saturating_sub(available);
        // A header for every group, and a look at every group for each of them, would be slow.
        let group_at = |column| self.groups.partition_point(|&start| start < column);
        let starts = &self.groups[group_at(header.columns.start)..group_at(header.columns.end)];
        for (index, &start) in starts.iter().enumerate() {
            widths[start] += missing / starts.len() + usize::from(index < missing % starts.len());
        }
    }
}

fn write_header(line: &mut Vec<u8>, header: &Header, widths: &[usize]) {
    let available: usize = widths[header.columns.clone()].iter().sum();
    let width = text_width(&header.text);
    match header.place {
        HeaderPlace::Centred => {
            let blank = available.saturating_sub(BAR_WIDTH + width);
            line.extend_from_slice(BAR.as_bytes());
            pad(line, blank / 2);
            line.extend_from_slice(&header.text);
            pad(line, blank - blank / 2);
        }
        HeaderPlace::Left => {
            // Too wide a text is followed by as many blanks as it is too wide.
            line.extend_from_slice(&header.text);
            pad(line, available.abs_diff(width));
        }
    }
}

fn write_cell(
    line: &mut Vec<u8>,
    text: &[u8],
    column: GridColumn,
    blank: usize,
    exception: Option<&Exception>,
) {
    line.extend_from_slice(column.margin.as_bytes());
    let align = exception.and_then(|exception| exception.align);
    let align = align.unwrap_or(column.align);
    if align == Align::Right {
        pad(line, blank);
    }
    match exception.map(|exception| exception.style) {
        Some(style) if !style.is_plain() => {
            line.extend_from_slice(style.render().to_string().as_bytes());
            line.extend_from_slice(text);
            line.extend_from_slice(style.render_reset().to_string().as_bytes());
        }
        _ => line.extend_from_slice(text),
    }
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
fn text_width(text: &[u8]) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    match str::from_utf8(text) {
        Ok(text) => text.chars().count(),
        Err(_) => text
            .utf8_chunks()
            .map(|chunk| chunk.valid().chars().count() + chunk.invalid().len())
            .sum(),
    }
}

/// Bytes that take formatted text as it is, without the detour over the errors of [`io::Write`].
#[derive(Debug, Default)]
struct LineBuffer(Vec<u8>);

impl fmt::Write for LineBuffer {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.extend_from_slice(text.as_bytes());
        Ok(())
    }
}
