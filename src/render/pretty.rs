//! For a person at a terminal: what changed, the worst first, and at the end the verdict.

use std::fmt::Write as _;
use std::io::{self, Write};

use anstyle::{Reset, Style};
use bstr::ByteSlice;
use comfy_table::{
    Cell, CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, Table, TableStyle, Width,
};

use super::presentation::Presentation;
use super::subject::Subjects;
use super::words::{self, Conclusion};
use super::{alone, colour, escape, format};
use crate::judge::{Counts, Judged, JudgedRow, LoneRow, Verdict};

/// Below this many characters nothing fits.
const NARROWEST: u16 = 72;

/// Writes the changed rows, what changes their meaning, and last, where nothing scrolls it away, the verdict.
///
/// # Errors
/// Whatever `out` fails with.
pub fn write(run: &Judged, presentation: &Presentation, out: &mut dyn Write) -> io::Result<()> {
    let subjects = Subjects::new(&run.report);
    let painter = Painter {
        has_colour: presentation.has_colour,
    };
    if let Some(rows) = run.alone() {
        write_alone(run, &rows, &subjects, presentation, out)?;
    } else {
        write_changes(run, &subjects, presentation, out)?;
    }
    let is_told = presentation.gate_is_told;
    let warnings = if is_told {
        Vec::new()
    } else {
        words::warnings(run)
    };
    for warning in warnings {
        let text = format!("! {}", warning.text(escape::terminal));
        writeln!(out, "{}", painter.paint(colour::DOUBTFUL, &text))?;
    }
    if let Some(worst) = words::worst(run, &subjects) {
        writeln!(out, "{}", worst.text(escape::terminal))?;
    }
    if !is_told {
        let headline = words::headline(run);
        let counts: Vec<String> = headline
            .split(" · ")
            .map(|count| painter.paint(style_of_count(run, count), count))
            .collect();
        writeln!(out, "{}", counts.join(" · "))?;
    }
    Ok(())
}

/// Each count has the colour of what it counts, so that one row in doubt colours no other; the answer of a gate has its own.
fn style_of_count(run: &Judged, count: &str) -> Style {
    if count.starts_with("gate ") {
        return match words::conclusion(run) {
            Conclusion::Good => colour::GOOD,
            Conclusion::Bad => colour::BAD,
            Conclusion::Doubtful => colour::DOUBTFUL,
        }
        .bold();
    }
    let is_of = |verdict: &Verdict| count.contains(verdict.word());
    match Verdict::ALL.iter().find(|verdict| is_of(verdict)) {
        Some(Verdict::Regression) => colour::BAD.bold(),
        Some(Verdict::Improvement) => colour::GOOD.bold(),
        Some(
            Verdict::Changed
            | Verdict::Suspect
            | Verdict::Unclear
            | Verdict::Promising
            | Verdict::Removed
            | Verdict::Inconclusive,
        ) => colour::DOUBTFUL,
        Some(Verdict::Added | Verdict::Unchanged) | None => Style::new(),
    }
}

fn write_changes(
    run: &Judged,
    subjects: &Subjects<'_>,
    presentation: &Presentation,
    out: &mut dyn Write,
) -> io::Result<()> {
    let painter = Painter {
        has_colour: presentation.has_colour,
    };
    let (mut rows, rest): (Vec<_>, Vec<_>) = run
        .listed()
        .into_iter()
        .partition(|judged| presentation.all || judged.judgement.verdict.is_change());
    let beyond = rows.split_off(rows.len().min(run.limit()));
    if !rows.is_empty() {
        write_table(run, &rows, subjects, presentation, out)?;
        writeln!(out)?;
    }
    for text in words::estimates(rows.iter().copied()) {
        writeln!(out, "{}", painter.paint(colour::DIM, text))?;
    }
    write_rest(&beyond, "-limit", painter, out)?;
    write_rest(&rest, "-all shows them", painter, out)
}

/// The rows of one input alone.
fn write_alone(
    run: &Judged,
    rows: &[LoneRow<'_>],
    subjects: &Subjects<'_>,
    presentation: &Presentation,
    out: &mut dyn Write,
) -> io::Result<()> {
    let painter = Painter {
        has_colour: presentation.has_colour,
    };
    let shown = &rows[..rows.len().min(run.limit())];
    let mut table = new_table();
    let [numbers @ .., remark] = alone::COLUMNS;
    let header = ["benchmark", "unit"].map(Cell::new).into_iter();
    table.set_header(
        header
            .chain(numbers.map(right))
            .chain([Cell::new(remark)])
            .collect::<Vec<_>>(),
    );
    for lone in shown {
        let [numbers @ .., remark] = alone::cells(lone);
        let unit = escape::terminal(lone.table.unit.as_ref());
        let name = escape::terminal(subjects.name_of(lone.table, lone.row).as_ref());
        let numbers = numbers.iter().map(|text| right(text));
        let remark = if lone.is_unsteady() {
            painter.mark(&remark, Verdict::Changed)
        } else {
            remark
        };
        let start = [name, unit].map(Cell::new).into_iter();
        let row = start.chain(numbers).chain([Cell::new(remark)]);
        table.add_row(row.collect::<Vec<_>>());
    }
    if !shown.is_empty() {
        print_table(&table, out)?;
        writeln!(out)?;
    }
    match rows.len() - shown.len() {
        0 => Ok(()),
        beyond => {
            let text = format!("not shown: {} steadier (-limit)", format::count(beyond));
            writeln!(out, "{}", painter.paint(colour::DIM, &text))
        }
    }
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
    writeln!(out, "{}", painter.paint(colour::DIM, &text))
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
    print_table(&table, out)
}

fn print_table(table: &Table, out: &mut dyn Write) -> io::Result<()> {
    for line in table.lines() {
        writeln!(out, "{}", paint_marked(line.trim_end()))?;
    }
    Ok(())
}

fn new_table() -> Table {
    let mut table = Table::new();
    table
        .load_style(TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─')))
        .set_content_arrangement(ContentArrangement::Disabled);
    table
}

fn right(text: &str) -> Cell {
    Cell::new(text).set_alignment(CellAlignment::Right)
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
    let mut table = new_table();
    let [base, new] = subjects
        .sides()
        .map(|side| escape::terminal(side.as_bstr()));
    let level = format::level(run.summary.alpha);
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
