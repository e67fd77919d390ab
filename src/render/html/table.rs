//! The controls and the rows of the page.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{self, Write};

use bstr::{BStr, BString, ByteSlice};
use indexmap::IndexMap;

use crate::judge::{Judged, JudgedRow, Verdict};
use crate::render::escape::{html, is_invisible};
use crate::render::subject::Subjects;
use crate::render::{format, plot, words};
use crate::report::model::{Column, Table};
use crate::unit::Scale;

/// So many rows are open when the page opens. Of longer lists, unchanged rows are folded, and rows beyond these.
const OPEN_ROWS: usize = 100;

/// The rows of the page, in the order to show.
pub struct Rows<'a> {
    run: &'a Judged,
    subjects: &'a Subjects<'a>,
    listed: &'a [JudgedRow<'a>],
    /// Whether unchanged rows are left out until somebody asks for them.
    is_folded: bool,
    axis: plot::Axis,
    /// The sides' names, escaped.
    sides: [String; 2],
}

impl<'a> Rows<'a> {
    pub fn new(run: &'a Judged, subjects: &'a Subjects<'a>, listed: &'a [JudgedRow<'a>]) -> Self {
        let is_unchanged = |judged: &JudgedRow<'_>| judged.judgement.verdict == Verdict::Unchanged;
        Self {
            run,
            subjects,
            listed,
            is_folded: listed.len() > OPEN_ROWS && !listed.iter().all(is_unchanged),
            axis: plot::Axis::new(listed),
            sides: subjects.sides().map(|side| html(side.as_bstr())),
        }
    }

    /// What to search for, which rows to show, and how many there are; `beyond` are not in the report.
    pub fn write_controls(&self, beyond: usize, out: &mut dyn Write) -> io::Result<()> {
        write!(
            out,
            "<form class=\"controls\" role=\"search\">\n\
             <input type=\"search\" id=\"search\" placeholder=\"Search  ( / )\" \
             aria-label=\"Search benchmarks\" autocomplete=\"off\" spellcheck=\"false\">\n"
        )?;
        let units = self.listed.iter().map(|judged| judged.table.unit.as_bstr());
        write_choice("unit", "unit", units, out)?;
        let packages = self
            .listed
            .iter()
            .filter_map(|judged| package(judged.table));
        write_choice("package", "package", packages, out)?;
        if self.run.report.columns.len() > 2 {
            let columns: Vec<BString> = self
                .listed
                .iter()
                .map(|judged| self.column(judged))
                .collect();
            write_choice(
                "column",
                "column",
                columns.iter().map(|name| name.as_bstr()),
                out,
            )?;
        }
        writeln!(out, "<fieldset aria-label=\"Verdicts to show\">")?;
        for verdict in Verdict::ALL {
            let is_it = |judged: &&JudgedRow<'_>| judged.judgement.verdict == verdict;
            let count = self.listed.iter().filter(is_it).count();
            if count > 0 {
                let checked = if self.is_folded && verdict == Verdict::Unchanged {
                    ""
                } else {
                    " checked"
                };
                writeln!(
                    out,
                    "<label><input type=\"checkbox\" name=\"verdict\" value=\"{verdict}\"{checked} autocomplete=\"off\"> {} {verdict} <span class=\"soft\">{}</span></label>",
                    words::glyph(verdict),
                    format::count(count),
                )?;
            }
        }
        let total = format::count(self.listed.len());
        let note = match beyond {
            0 => String::new(),
            beyond => format!(" ({} more not in this report)", format::count(beyond)),
        };
        write!(
            out,
            "</fieldset>\n<p class=\"soft count\"><output id=\"shown\" for=\"search\">{total} rows</output>{note} \
             <button type=\"button\" id=\"copy\" class=\"scripts\">copy as TSV</button> \
             <button type=\"button\" id=\"reset\" class=\"scripts\" hidden>show all</button> \
             <output id=\"said\" aria-live=\"polite\"></output></p>\n</form>\n"
        )
    }

    /// The table itself.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let [base, new] = &self.sides;
        let level = format::level(self.run.summary.alpha);
        let button = |name: &str, text: &str, kind: &str, class: &str| {
            format!(
                "<th scope=\"col\" class=\"{class}\" data-key=\"{name}\" data-type=\"{kind}\"><button type=\"button\">{text}</button></th>\n"
            )
        };
        write!(
            out,
            "<table id=\"rows\">\n<thead><tr>\n{}{}{}{}{}\
             <th scope=\"col\" class=\"interval\">{level} interval of the change\
             <span class=\"key\"><span class=\"shade\">margin{}</span></span>{}</th>\n\
             <th scope=\"col\" class=\"samples\">samples<span class=\"key\"><span>{base}</span><span class=\"new\">{new}</span></span></th>\n\
             {}</tr></thead>\n<tbody>\n",
            button("benchmark", "benchmark", "text", "name"),
            button("unit", "unit", "text", "unit"),
            button("base", base, "number", "number base"),
            button("new", new, "number", "number new"),
            button("change", "change", "number", "number change"),
            self.margin(),
            self.axis.scale(),
            button("verdict", "verdict", "number", "verdict"),
        )?;
        let mut addresses = Addresses::default();
        let mut open = 0;
        for judged in self.listed {
            let is_unchanged = judged.judgement.verdict == Verdict::Unchanged;
            let is_later = self.is_folded && (is_unchanged || open >= OPEN_ROWS);
            open += usize::from(!is_later);
            let row = TableRow {
                judged,
                rows: self,
                address: addresses.of(self.subjects, judged),
                is_later,
            };
            out.write_all(row.html().as_bytes())?;
        }
        write!(
            out,
            "</tbody>\n</table>\n<p class=\"scripts\"><button type=\"button\" id=\"more\" hidden>show more rows</button></p>\n\
             <p id=\"none\" class=\"soft\" hidden>No row fits the search.</p>\n"
        )
    }

    /// The margin, where all rows have the same.
    fn margin(&self) -> String {
        let limits = self
            .listed
            .iter()
            .filter(|judged| judged.judgement.margin.is_some());
        let mut limits = limits.map(format::limit);
        match limits.next() {
            Some(first) if limits.all(|limit| limit == first) => format!(" {first}"),
            _ => String::new(),
        }
    }

    fn column(&self, judged: &JudgedRow<'_>) -> BString {
        let column = self.run.report.columns.get(judged.position().column);
        column.map_or_else(BString::default, Column::label)
    }
}

/// The package of a table, if it has one.
fn package(table: &Table) -> Option<&BStr> {
    let mut fields = table.key.iter();
    let field = fields.find(|field| *field.key == "pkg" && !field.value.is_empty())?;
    Some(field.value.as_bstr())
}

/// A list to choose from, unless there is nothing to choose.
fn write_choice<'a>(
    id: &str,
    what: &str,
    values: impl Iterator<Item = &'a BStr>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut counts: IndexMap<&BStr, usize> = IndexMap::new();
    for value in values {
        *counts.entry(value).or_default() += 1;
    }
    if counts.len() < 2 {
        return Ok(());
    }
    writeln!(
        out,
        "<select id=\"{id}\" aria-label=\"{what}\" autocomplete=\"off\"><option value=\"\">every {what}</option>"
    )?;
    for (value, count) in counts {
        let value = html(value);
        writeln!(
            out,
            "<option value=\"{value}\">{value} ({})</option>",
            format::count(count)
        )?;
    }
    writeln!(out, "</select>")
}

/// Names for rows within the page's address, the same in every report that has the row.
#[derive(Default)]
struct Addresses {
    taken: HashMap<String, usize>,
}

impl Addresses {
    fn of(&mut self, subjects: &Subjects<'_>, judged: &JudgedRow<'_>) -> String {
        let name = address(&subjects.name(judged).to_str_lossy());
        let unit = address(&judged.table.unit.to_str_lossy());
        let wanted = format!("{name}.{unit}");
        let count = self.taken.entry(wanted.clone()).or_default();
        *count += 1;
        match *count {
            1 => wanted,
            count => format!("{wanted}.{count}"),
        }
    }
}

/// Letters and digits as they are, and a hyphen for what is between them.
fn address(text: &str) -> String {
    let words = text.split(|char: char| !char.is_alphanumeric() || is_invisible(char));
    let words: Vec<String> = words
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    words.join("-")
}

struct TableRow<'a> {
    judged: &'a JudgedRow<'a>,
    rows: &'a Rows<'a>,
    address: String,
    is_later: bool,
}

impl TableRow<'_> {
    fn html(&self) -> String {
        let Self { judged, rows, .. } = self;
        let mut row = self.start();
        let qualifier = rows.subjects.qualifier(judged);
        let _ = write!(
            row,
            "<td class=\"name\"><a href=\"#{}\">{}</a>",
            self.address,
            html(judged.row.label().as_ref())
        );
        if !qualifier.is_empty() {
            let _ = write!(
                row,
                "<small class=\"foreign\">{}</small>",
                html(qualifier.as_ref())
            );
        }
        let unit = html(judged.table.unit.as_ref());
        let _ = writeln!(row, "</td>\n<td class=\"unit\">{unit}</td>");
        self.push_sides(&mut row);
        let effect = judged.judgement.effect;
        let _ = writeln!(
            row,
            "<td class=\"number change\" data-value=\"{}\">{}{}</td>",
            effect.map_or_else(String::new, |effect| format!("{:e}", effect.estimate)),
            format::judged_change(judged),
            evidence(judged),
        );
        let _ = writeln!(
            row,
            "<td class=\"interval\">{}<small>{}</small></td>",
            rows.axis.interval(judged),
            format::interval(judged),
        );
        let _ = writeln!(row, "<td class=\"samples\">{}</td>", plot::samples(judged));
        self.push_verdict(&mut row);
        row.push_str("</tr>\n");
        row
    }

    /// The row's start, with what the script needs to filter, draw and copy it.
    fn start(&self) -> String {
        let Self { judged, rows, .. } = self;
        let verdict = judged.judgement.verdict;
        let later = if self.is_later { " later" } else { "" };
        let mut row = format!(
            "<tr id=\"{}\" class=\"{verdict}{later}\" data-verdict=\"{verdict}\"",
            self.address
        );
        if let Some(package) = package(judged.table) {
            let _ = write!(row, " data-package=\"{}\"", html(package));
        }
        if rows.run.report.columns.len() > 2 {
            let column = rows.column(judged);
            let _ = write!(row, " data-column=\"{}\"", html(column.as_ref()));
        }
        let sides = [("base", judged.baseline), ("new", judged.cell)];
        for (side, cell) in sides {
            let Some(cell) = cell else { continue };
            let values: Vec<String> = cell
                .values
                .iter()
                .map(|value| format!("{value:e}"))
                .collect();
            let _ = write!(
                row,
                " data-{side}=\"{}\" data-{side}-interval=\"{:e},{:e}\"",
                values.join(","),
                cell.low,
                cell.high
            );
        }
        let centres = sides
            .iter()
            .filter_map(|(_, cell)| Some(cell.as_ref()?.centre));
        let scale = Scale::common(centres, judged.table.class);
        let _ = write!(
            row,
            " data-scale=\"{:e},{},{}\"",
            scale.factor, scale.prefix, scale.decimals
        );
        if let Some(effect) = judged.judgement.effect {
            let _ = write!(row, " data-effect=\"{:e},{:e}\"", effect.low, effect.high);
        }
        let limit = format::limit(judged);
        if !limit.is_empty() {
            let _ = write!(row, " data-margin=\"{limit}\"");
        }
        row.push_str(">\n");
        row
    }

    fn push_sides(&self, row: &mut String) {
        let Self { judged, rows, .. } = self;
        let cells = [judged.baseline, judged.cell];
        let centres = format::centres(judged);
        for (index, (text, cell)) in centres.iter().zip(cells).enumerate() {
            let class = ["base", "new"][index];
            let side = &rows.sides[index];
            let value = cell.map_or_else(String::new, |cell| format!("{:e}", cell.centre));
            let runs = cell.map_or_else(String::new, |cell| {
                format!(
                    "<small>± {} n={}</small>",
                    format::range(cell),
                    cell.values.len()
                )
            });
            let _ = writeln!(
                row,
                "<td class=\"number {class}\" data-label=\"{side}\" data-value=\"{value}\">{text}{runs}</td>"
            );
        }
    }

    fn push_verdict(&self, row: &mut String) {
        let verdict = self.judged.judgement.verdict;
        let rank = Verdict::ALL.iter().position(|&other| other == verdict);
        let _ = write!(
            row,
            "<td class=\"verdict\" data-value=\"{}\"><span>{}</span>",
            rank.unwrap_or_default(),
            words::verdict(self.judged.judgement)
        );
        let remarks = words::remarks(self.rows.run, self.judged);
        if !remarks.is_empty() {
            let noun = if remarks.len() == 1 {
                "remark"
            } else {
                "remarks"
            };
            let list: Vec<String> = remarks
                .iter()
                .map(|remark| format!("<span>{}</span>", html(remark.as_str().into())))
                .collect();
            let _ = write!(
                row,
                "<small class=\"remarks\" data-count=\"{} {noun}\">{}</small>",
                remarks.len(),
                list.join(" ")
            );
        }
        row.push_str("</td>\n");
    }
}

/// The p-value before and after correction.
fn evidence(judged: &JudgedRow<'_>) -> String {
    let comparison = judged.cell.and_then(|cell| cell.comparison.as_ref());
    let p = comparison.and_then(|comparison| comparison.p);
    match (p, judged.judgement.adjusted_p) {
        (Some(p), Some(adjusted)) => {
            format!(
                "<small title=\"{} before correction, two-sided\">corrected {}</small>",
                format::probability(p),
                format::probability(adjusted)
            )
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::address;

    #[test]
    fn an_address_has_letters_digits_and_hyphens() {
        assert_eq!(address("Decode/size=1k-8"), "decode-size-1k-8");
        assert_eq!(address("<b>\"x\" y</b>"), "b-x-y-b");
        assert_eq!(address("Größe"), "größe");
        assert_eq!(address("//"), "");
    }
}
