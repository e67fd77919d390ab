//! One page for a browser, in one file that asks for nothing else.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::num::NonZero;

use bstr::ByteSlice;

use super::escape::html;
use super::presentation::Presentation;
use super::subject::{Subjects, label};
use super::words::{self, Mood};
use super::{format, plot};
use crate::report::judgement::Judged;
use crate::report::{Adjust, Report, Verdict};

const STYLE: &str = include_str!("html/page.css");
const SCRIPT: &str = include_str!("html/page.js");

/// Writes the page.
///
/// # Errors
/// Whatever `out` fails with.
pub fn write(report: &Report, presentation: &Presentation, out: &mut dyn Write) -> io::Result<()> {
    let subjects = Subjects::new(report);
    let mut listed = report.listed();
    let all = listed.len();
    listed.truncate(report.arrangement.limit.map_or(usize::MAX, NonZero::get));
    let headline = words::headline(report);
    write!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">\n\
         <meta name=\"generator\" content=\"{} {}\">\n\
         <link rel=\"icon\" href=\"data:,\">\n<title>{headline}</title>\n\
         <style>\n{STYLE}</style>\n</head>\n<body>\n",
        env!("CARGO_PKG_NAME"),
        env!("CARGO_PKG_VERSION"),
    )?;
    write_head(report, &subjects, presentation, &headline, out)?;
    if listed.is_empty() {
        writeln!(out, "<p>There is no row to show.</p>")?;
    } else {
        write_controls(&listed, all, out)?;
        write_table(report, &listed, &subjects, out)?;
    }
    write_settings(report, presentation, out)?;
    write!(out, "<script>\n{SCRIPT}</script>\n</body>\n</html>\n")
}

fn write_head(
    report: &Report,
    subjects: &Subjects<'_>,
    presentation: &Presentation,
    headline: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mood = match words::mood(report) {
        Mood::Good => "good",
        Mood::Bad => "bad",
        Mood::Doubtful => "doubtful",
    };
    let escape = |text: &bstr::BStr| format!("<span class=\"foreign\">{}</span>", html(text));
    // A count and its word stay on one line.
    let counts: Vec<String> = headline
        .split(" · ")
        .map(|count| format!("<span>{count}</span>"))
        .collect();
    writeln!(
        out,
        "<header>\n<h1 class=\"{mood}\">{}</h1>",
        counts.join(" · ")
    )?;
    if let Some(worst) = words::worst(report, subjects) {
        writeln!(out, "<p>{}</p>", worst.text(escape))?;
    }
    let names: Vec<String> = report
        .columns
        .iter()
        .map(|column| html(label(column).as_ref()))
        .collect();
    let refs = [
        ("base", &presentation.base_ref),
        ("head", &presentation.head_ref),
    ];
    let mut line: Vec<String> = refs
        .into_iter()
        .filter_map(|(side, name)| {
            let name = html(name.as_deref()?.into());
            Some(format!("{side} <code>{name}</code>"))
        })
        .collect();
    if names.len() > 1 {
        line.insert(0, format!("{} against {}", names[1..].join(", "), names[0]));
    }
    if !line.is_empty() {
        writeln!(out, "<p class=\"soft\">{}</p>", line.join(" · "))?;
    }
    let warnings = words::warnings(report);
    if !warnings.is_empty() {
        writeln!(out, "<ul class=\"warnings\">")?;
        for warning in &warnings {
            writeln!(out, "<li>{}</li>", warning.text(escape))?;
        }
        writeln!(out, "</ul>")?;
    }
    writeln!(out, "</header>\n<main>")
}

fn write_controls(listed: &[Judged<'_>], all: usize, out: &mut dyn Write) -> io::Result<()> {
    write!(
        out,
        "<form class=\"controls\" role=\"search\">\n\
         <input type=\"search\" id=\"search\" placeholder=\"Search benchmarks  ( / )\" \
         aria-label=\"Search benchmarks\" autocomplete=\"off\" spellcheck=\"false\">\n\
         <fieldset aria-label=\"Verdicts to show\">\n"
    )?;
    for verdict in Verdict::ALL {
        let count = listed
            .iter()
            .filter(|judged| judged.judgement.verdict == verdict)
            .count();
        if count > 0 {
            writeln!(
                out,
                "<label><input type=\"checkbox\" name=\"verdict\" value=\"{verdict}\" checked autocomplete=\"off\"> {} {verdict} <span class=\"soft\">{}</span></label>",
                words::glyph(verdict),
                format::count(count),
            )?;
        }
    }
    let total = format::count(listed.len());
    let beyond = all - listed.len();
    let note = if beyond == 0 {
        String::new()
    } else {
        format!(
            " <span class=\"soft\">({} more not in this report)</span>",
            format::count(beyond)
        )
    };
    write!(
        out,
        "</fieldset>\n<span class=\"soft\"><output id=\"shown\" for=\"search\">{total} rows</output>{note}</span>\n</form>\n"
    )
}

fn write_table(
    report: &Report,
    listed: &[Judged<'_>],
    subjects: &Subjects<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let [base, new] = subjects.sides().map(|side| html(side.as_bstr()));
    let level = report
        .summary
        .as_ref()
        .map_or_else(String::new, |summary| format::level(summary.alpha));
    let axis = plot::Axis::new(listed);
    let button = |text: &str, kind: &str, class: &str| {
        format!(
            "<th scope=\"col\" class=\"{class}\" data-type=\"{kind}\"><button type=\"button\">{text}</button></th>\n"
        )
    };
    write!(
        out,
        "<div class=\"scroll\">\n<table>\n<thead><tr>\n{}{}{}{}\
         <th scope=\"col\">samples<br><small class=\"key soft\"><span>{base}</span><span class=\"new\">{new}</span></small></th>\n\
         {}<th scope=\"col\">{level} interval of the change<br>{}</th>\n{}</tr></thead>\n<tbody>\n",
        button("benchmark", "text", ""),
        button("unit", "text", ""),
        button(&base, "number", "number"),
        button(&new, "number", "number"),
        button("change", "number", "number"),
        axis.scale(),
        button("verdict", "number", ""),
    )?;
    for judged in listed {
        let row = Row {
            judged,
            subjects,
            axis: &axis,
            sides: [&base, &new],
        };
        out.write_all(row.html().as_bytes())?;
    }
    write!(
        out,
        "</tbody>\n</table>\n</div>\n<p id=\"none\" class=\"soft\" hidden>No row fits the search.</p>\n"
    )
}

struct Row<'a> {
    judged: &'a Judged<'a>,
    subjects: &'a Subjects<'a>,
    axis: &'a plot::Axis,
    /// Escaped already.
    sides: [&'a str; 2],
}

impl Row<'_> {
    fn html(&self) -> String {
        let Self { judged, .. } = self;
        let verdict = judged.judgement.verdict;
        let qualifier = self.subjects.qualifier(judged);
        let mut row = format!("<tr class=\"{verdict}\" data-verdict=\"{verdict}\">\n<td>");
        let _ = write!(
            row,
            "<span class=\"name\">{}</span>",
            html(judged.row.label().as_ref())
        );
        if !qualifier.is_empty() {
            let _ = write!(
                row,
                "<small class=\"foreign\">{}</small>",
                html(qualifier.as_ref())
            );
        }
        let remarks = words::remarks(judged);
        let _ = write!(
            row,
            "</td>\n<td class=\"unit\">{}</td>\n",
            html(judged.table.unit.as_ref())
        );
        let cells = [judged.baseline, judged.cell];
        for ((text, cell), side) in format::centres(judged).iter().zip(cells).zip(self.sides) {
            let value = cell.map_or_else(String::new, |cell| cell.centre.to_string());
            let runs = cell.map_or_else(String::new, |cell| {
                format!(
                    "<small>± {} n={}</small>",
                    format::range(cell),
                    cell.values.len()
                )
            });
            let _ = writeln!(
                row,
                "<td class=\"number\" data-label=\"{side}\" data-value=\"{value}\">{text}{runs}</td>"
            );
        }
        let _ = writeln!(row, "<td class=\"plot\">{}</td>", plot::samples(judged));
        let effect = judged.judgement.effect.map(|effect| effect.estimate);
        let _ = writeln!(
            row,
            "<td class=\"number change\" data-label=\"change\" data-value=\"{}\">{}{}</td>",
            effect.map_or_else(String::new, |effect| effect.to_string()),
            format::judged_change(judged),
            evidence(judged),
        );
        let interval = format::interval(judged);
        let _ = writeln!(
            row,
            "<td class=\"plot\">{}<small>{interval}</small></td>",
            self.axis.interval(judged)
        );
        let rank = Verdict::ALL
            .iter()
            .position(|&other| other == verdict)
            .unwrap_or_default();
        let _ = write!(
            row,
            "<td class=\"verdict\" data-value=\"{rank}\"><span>{}</span>",
            words::verdict(judged.judgement)
        );
        if !remarks.is_empty() && verdict != Verdict::Unchanged {
            let list: Vec<String> = remarks
                .iter()
                .map(|remark| html(remark.as_str().into()))
                .collect();
            let _ = write!(
                row,
                "<details class=\"soft\"><summary>remarks</summary><small>{}</small></details>",
                list.join("<br>")
            );
        }
        row.push_str("</td>\n</tr>\n");
        row
    }
}

/// The p-value before and after correction.
fn evidence(judged: &Judged<'_>) -> String {
    let p = judged
        .cell
        .and_then(|cell| cell.comparison.as_ref())
        .and_then(|comparison| comparison.p);
    match (p, judged.judgement.adjusted_p) {
        (Some(p), Some(adjusted)) => {
            format!(
                "<small title=\"{} before correction\">{}</small>",
                format::probability(p),
                format::probability(adjusted)
            )
        }
        _ => String::new(),
    }
}

fn write_settings(
    report: &Report,
    presentation: &Presentation,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out, "<h2>Settings and environment</h2>\n<dl>")?;
    let refs = [
        ("base", &presentation.base_ref),
        ("head", &presentation.head_ref),
    ];
    for (side, name) in refs {
        if let Some(name) = name {
            writeln!(
                out,
                "<dt>{side}</dt><dd><code>{}</code></dd>",
                html(name.as_str().into())
            )?;
        }
    }
    if let Some(summary) = &report.summary {
        let adjust = match summary.adjust {
            Adjust::Holm => "Holm",
            Adjust::Bh => "Benjamini and Hochberg",
            Adjust::None => "none",
        };
        writeln!(
            out,
            "<dt>significance level</dt><dd>{}</dd>\n<dt>correction of p</dt><dd>{adjust}, {} comparisons</dd>",
            summary.alpha,
            format::count(summary.comparisons)
        )?;
        for (column, environment) in report.columns.iter().zip(&summary.environments) {
            let keys: Vec<String> = environment
                .keys
                .iter()
                .map(|key| {
                    let values: Vec<String> = key
                        .values
                        .iter()
                        .map(|value| html(value.as_ref()))
                        .collect();
                    format!("{} {}", html(key.key.as_ref()), values.join(", "))
                })
                .collect();
            if !keys.is_empty() {
                writeln!(
                    out,
                    "<dt>{}</dt><dd>{}</dd>",
                    html(label(column).as_ref()),
                    keys.join(" · ")
                )?;
            }
        }
    }
    for field in common_fields(report) {
        writeln!(
            out,
            "<dt>{}</dt><dd class=\"foreign\">{}</dd>",
            html(field.key.as_bstr()),
            html(field.value.as_ref())
        )?;
    }
    writeln!(out, "</dl>\n</main>")
}

/// The fields that all tables share.
fn common_fields(report: &Report) -> Vec<&crate::report::model::Field> {
    let Some((first, rest)) = report.tables.split_first() else {
        return Vec::new();
    };
    let is_common = |field: &&crate::report::model::Field| {
        !field.value.is_empty() && rest.iter().all(|table| table.key.contains(field))
    };
    first.key.iter().filter(is_common).collect()
}
