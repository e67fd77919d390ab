//! For a person at a terminal: the verdict first, then what changed, the worst first.

use std::fmt::Write as _;
use std::io::{self, Write};

use anstyle::{Reset, Style};
use bstr::ByteSlice;
use comfy_table::{
    Cell, CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, Table, TableStyle, Width,
};

use super::presentation::Presentation;
use super::subject::Subjects;
use super::words::{self, Mood};
use super::{colour, escape, format};
use crate::judge::{Counts, Judged, JudgedRow, Verdict};

/// Below this many characters nothing fits.
const NARROWEST: u16 = 72;

/// Writes the verdict, what changes its meaning, and the changed rows.
///
/// # Errors
/// Whatever `out` fails with.
pub fn write(run: &Judged, presentation: &Presentation, out: &mut dyn Write) -> io::Result<()> {
    let subjects = Subjects::new(&run.report);
    let painter = Painter {
        has_colour: presentation.has_colour,
    };
    let style = match words::mood(run) {
        Mood::Good => colour::GOOD,
        Mood::Bad => colour::BAD,
        Mood::Doubtful => colour::DOUBTFUL,
    };
    writeln!(
        out,
        "{}",
        painter.paint(style.bold(), &words::headline(run))
    )?;
    if let Some(worst) = words::worst(run, &subjects) {
        writeln!(out, "{}", worst.text(escape::terminal))?;
    }
    for warning in words::warnings(run) {
        let text = format!("! {}", warning.text(escape::terminal));
        writeln!(out, "{}", painter.paint(colour::DOUBTFUL, &text))?;
    }

    let listed = run.listed();
    let (mut rows, rest): (Vec<_>, Vec<_>) = listed
        .into_iter()
        .partition(|judged| presentation.all || judged.judgement.verdict.is_change());
    let beyond = rows.split_off(rows.len().min(run.limit()));
    if !rows.is_empty() {
        writeln!(out)?;
        write_table(run, &rows, &subjects, presentation, out)?;
    }
    for (index, text) in words::estimates(rows.iter().copied()).enumerate() {
        let blank = if index == 0 { "\n" } else { "" };
        writeln!(out, "{blank}{}", painter.paint(colour::DIM, text))?;
    }
    write_rest(&beyond, "-limit", painter, out)?;
    write_rest(&rest, "-all shows them", painter, out)
}

/// Counts what the table does not show.
fn write_rest(
    rest: &[JudgedRow<'_>],
    why: &str,
    painter: Painter,
    out: &mut dyn Write,
) -> io::Result<()> {
    if rest.is_empty() {
        return Ok(());
    }
    let counts = Counts::of(rest.iter().map(|judged| judged.judgement));
    let text = format!("not shown: {} ({why})", words::counted(&counts));
    writeln!(out, "\n{}", painter.paint(colour::DIM, &text))
}

#[derive(Clone, Copy)]
struct Painter {
    has_colour: bool,
}

impl Painter {
    fn paint(self, style: Style, text: &str) -> String {
        if self.has_colour {
            format!("{style}{text}{style:#}")
        } else {
            text.into()
        }
    }

    /// The text of a cell with marks around each of its lines, for [`paint_marked`].
    fn mark(self, text: &str, verdict: Verdict) -> String {
        let (mark, _) = match verdict {
            Verdict::Regression => MARKS[0],
            Verdict::Improvement => MARKS[1],
            Verdict::Changed
            | Verdict::Suspect
            | Verdict::Unclear
            | Verdict::Promising
            | Verdict::Removed => MARKS[2],
            Verdict::Unchanged => MARKS[3],
            Verdict::Inconclusive | Verdict::Added => return text.into(),
        };
        if !self.has_colour {
            return text.into();
        }
        let lines = text.lines().map(|line| format!("{mark}{line}{MARK_END}"));
        lines.collect::<Vec<_>>().join("\n")
    }
}

/// Colours what is marked in a line of the table.
fn paint_marked(line: &str) -> String {
    let mut painted = String::with_capacity(line.len());
    for character in line.chars() {
        let mut marks = MARKS.iter();
        // Writing to a string cannot fail.
        let _ = match marks.find(|(mark, _)| *mark == character) {
            Some((_, style)) => write!(painted, "{style}"),
            None if character == MARK_END => write!(painted, "{Reset}"),
            None => painted.write_char(character),
        };
    }
    painted
}

/// Characters that mark where a style starts until the table is laid out. They have no width and no shape, and what is shown
/// of an input has none of them: they are escaped there.
const MARKS: [(char, Style); 4] = [
    ('\u{2061}', colour::BAD),
    ('\u{2062}', colour::GOOD),
    ('\u{2063}', colour::DOUBTFUL),
    ('\u{2064}', colour::DIM),
];

/// Marks where a style ends.
const MARK_END: char = '\u{2060}';

fn write_table(
    run: &Judged,
    rows: &[JudgedRow<'_>],
    subjects: &Subjects<'_>,
    presentation: &Presentation,
    out: &mut dyn Write,
) -> io::Result<()> {
    let painter = Painter {
        has_colour: presentation.has_colour,
    };
    let width = presentation.width.map(|width| width.max(NARROWEST));
    let mut table = table(run, rows, subjects, painter, true);
    if let Some(width) = width.filter(|&width| !fits(&table, width)) {
        table = self::table(run, rows, subjects, painter, false);
        table
            .set_content_arrangement(ContentArrangement::Dynamic)
            .set_width(width);
        // Names may wrap; numbers and verdicts may not.
        for column in table.column_iter_mut().skip(1) {
            column.set_constraint(ColumnConstraint::ContentWidth);
        }
        if let Some(first) = table.column_mut(0) {
            first.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(12)));
        }
    }
    for line in table.lines() {
        let line = line.trim_end();
        writeln!(out, "{}", paint_marked(line))?;
    }
    Ok(())
}

/// Whether the table needs no more than `width` characters a line.
fn fits(table: &Table, width: u16) -> bool {
    /// A blank on either side of each column.
    const PADDING: u32 = 2;
    let contents = table.column_max_content_widths().into_iter();
    let needed: u32 = contents.map(|content| u32::from(content) + PADDING).sum();
    needed <= u32::from(width)
}

/// The table with one line for each row, or with two, which takes less width.
fn table(
    run: &Judged,
    rows: &[JudgedRow<'_>],
    subjects: &Subjects<'_>,
    painter: Painter,
    is_wide: bool,
) -> Table {
    let mut table = Table::new();
    table
        .load_style(TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─')))
        .set_content_arrangement(ContentArrangement::Disabled);
    let [base, new] = subjects
        .sides()
        .map(|side| escape::terminal(side.as_bstr()));
    let level = format::level(run.summary.alpha);
    let right = |text: &str| Cell::new(text).set_alignment(CellAlignment::Right);
    let interval = format!("{level} interval");
    table.set_header(if is_wide {
        vec![
            Cell::new("benchmark"),
            Cell::new("unit"),
            right(&base),
            right(&new),
            right("change"),
            right(&interval),
            Cell::new("verdict"),
        ]
    } else {
        vec![
            Cell::new("benchmark\n  unit"),
            right(&base),
            right(&new),
            right(&format!("change\n{interval}")),
            Cell::new("verdict"),
        ]
    });
    for judged in rows {
        table.add_row(row(judged, subjects, is_wide, painter));
    }
    table
}

fn row(
    judged: &JudgedRow<'_>,
    subjects: &Subjects<'_>,
    is_wide: bool,
    painter: Painter,
) -> Vec<Cell> {
    let verdict = judged.judgement.verdict;
    let name = escape::terminal(subjects.name(judged).as_ref());
    let unit = escape::terminal(judged.table.unit.as_ref());
    let [base, new] = format::centres(judged);
    let change = format::judged_change(judged);
    let interval = format::interval(judged);
    let right = |text: &str| Cell::new(text).set_alignment(CellAlignment::Right);
    let word = Cell::new(painter.mark(&words::verdict(judged.judgement), verdict));
    if is_wide {
        vec![
            Cell::new(name),
            Cell::new(unit),
            right(&base),
            right(&new),
            right(&painter.mark(&change, verdict)),
            right(&interval),
            word,
        ]
    } else {
        vec![
            Cell::new(format!("{name}\n  {unit}")),
            right(&base),
            right(&new),
            right(&painter.mark(&format!("{change}\n{interval}"), verdict)),
            word,
        ]
    }
}
