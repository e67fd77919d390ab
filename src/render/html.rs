//! One page for a browser, in one file that asks for nothing else.

mod table;

use std::io::{self, Write};

use bstr::ByteSlice;

use super::alone;
use super::escape::html;
use super::format;
use super::presentation::Presentation;
use super::subject::Subjects;
use super::words::{self, Conclusion};
use crate::judge::{Adjust, Judged, LoneRow};
use crate::report::Report;
use crate::report::model::Field;
use crate::unit::Scale;
use table::Rows;

const STYLE: &str = include_str!("html/page.css");
const SCRIPT: &str = include_str!("html/page.js");

/// Writes the page.
///
/// # Errors
/// Whatever `out` fails with.
pub fn write(run: &Judged, presentation: &Presentation, out: &mut dyn Write) -> io::Result<()> {
    let subjects = Subjects::new(&run.report);
    let mut listed = run.listed();
    let all = listed.len();
    listed.truncate(run.limit());
    let headline = words::headline(run);
    write!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">\n\
         <meta name=\"generator\" content=\"{} {}\">\n\
         <link rel=\"icon\" href=\"data:,\">\n<title>{headline}</title>\n\
         <style>\n{STYLE}</style>\n<script>document.documentElement.className = \"scripted\";</script>\n</head>\n<body>\n",
        env!("CARGO_PKG_NAME"),
        env!("CARGO_PKG_VERSION"),
    )?;
    write_head(run, &subjects, presentation, &headline, out)?;
    if let Some(rows) = run.alone() {
        write_alone(run, &rows, &subjects, out)?;
    } else if listed.is_empty() {
        writeln!(out, "<p>There is no row to show.</p>")?;
    } else {
        let rows = Rows::new(run, &subjects, &listed);
        rows.write_controls(all - listed.len(), out)?;
        rows.write(out)?;
        write_means(run, &subjects, out)?;
    }
    write_settings(run, presentation, out)?;
    write!(out, "<script>\n{SCRIPT}</script>\n</body>\n</html>\n")
}

fn write_head(
    run: &Judged,
    subjects: &Subjects<'_>,
    presentation: &Presentation,
    headline: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    let conclusion = match words::conclusion(run) {
        Conclusion::Good => "good",
        Conclusion::Bad => "bad",
        Conclusion::Doubtful => "doubtful",
    };
    let escape = |text: &bstr::BStr| format!("<span class=\"foreign\">{}</span>", html(text));
    // A count and its word stay on one line.
    let counts: Vec<String> = headline
        .split(" · ")
        .map(|count| format!("<span>{count}</span>"))
        .collect();
    writeln!(
        out,
        "<header>\n<h1 class=\"{conclusion}\">{}</h1>",
        counts.join(" · ")
    )?;
    if let Some(worst) = words::worst(run, subjects) {
        writeln!(out, "<p>{}</p>", worst.text(escape))?;
    }
    let names: Vec<String> = run
        .report
        .columns
        .iter()
        .map(|column| html(column.label().as_ref()))
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
    for field in common_fields(&run.report) {
        if *field.key == "pkg" {
            line.push(format!(
                "package <span class=\"foreign\">{}</span>",
                html(field.value.as_ref())
            ));
        }
    }
    if !line.is_empty() {
        writeln!(out, "<p class=\"soft\">{}</p>", line.join(" · "))?;
    }
    let warnings: Vec<_> = words::warnings(run)
        .into_iter()
        .chain(words::unseen(run))
        .collect();
    if !warnings.is_empty() {
        writeln!(out, "<ul class=\"warnings\">")?;
        for warning in &warnings {
            writeln!(out, "<li>{}</li>", warning.text(escape))?;
        }
        writeln!(out, "</ul>")?;
    }
    writeln!(out, "</header>\n<main>")
}

/// The rows of one input alone.
fn write_alone(
    run: &Judged,
    rows: &[LoneRow<'_>],
    subjects: &Subjects<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let [numbers @ .., _] = alone::COLUMNS;
    let head = numbers.map(|name| format!("<th scope=\"col\" class=\"number\">{name}</th>"));
    write!(
        out,
        "<section class=\"lone\">\n<table>\n<thead><tr><th scope=\"col\">benchmark</th><th scope=\"col\">unit</th>{}<th></th></tr></thead>\n<tbody>\n",
        head.concat()
    )?;
    for lone in rows.iter().take(run.limit()) {
        let [numbers @ .., remark] = alone::cells(lone);
        let numbers = numbers.map(|text| format!("<td class=\"number\">{text}</td>"));
        let class = if lone.is_unsteady() {
            " class=\"unsteady\""
        } else {
            ""
        };
        writeln!(
            out,
            "<tr{class}><th scope=\"row\">{}</th><td>{}</td>{}<td>{remark}</td></tr>",
            html(subjects.name_of(lone.table, lone.row).as_ref()),
            html(lone.table.unit.as_ref()),
            numbers.concat()
        )?;
    }
    write!(out, "</tbody>\n</table>\n")?;
    if rows.len() > run.limit() {
        let rest = format::count(rows.len() - run.limit());
        writeln!(
            out,
            "<p class=\"soft\">{rest} steadier rows are not in this report.</p>"
        )?;
    }
    writeln!(out, "</section>")
}

/// The geometric mean of each table with several rows, with the change of the rows that both sides have.
fn write_means(run: &Judged, subjects: &Subjects<'_>, out: &mut dyn Write) -> io::Result<()> {
    /// More lines than this are folded.
    const OPEN: usize = 12;
    let mut lines = Vec::new();
    for (index, table) in run.report.tables.iter().enumerate() {
        if table.rows.len() < 2 {
            continue;
        }
        let columns = table.geomeans.iter().zip(&table.columns).enumerate();
        for (at, (geomean, column)) in columns.skip(1) {
            let Some(change) = geomean.change else {
                continue;
            };
            let interval = match run.geomeans.get(index, at) {
                Some(Ok(effect)) => format!(
                    "{} to {}",
                    format::percent(effect.low),
                    format::percent(effect.high)
                ),
                _ => String::new(),
            };
            let mut name = subjects.table(table).to_string();
            if run.report.columns.len() > 2 {
                name = [name.as_str(), &column.label().to_str_lossy()].join(" ");
            }
            let value = |value: Option<f64>| {
                value.map_or_else(String::new, |value| {
                    format::scaled(value, Scale::of(value, table.class))
                })
            };
            let base = table.geomeans.first().and_then(|geomean| geomean.value);
            lines.push(format!(
                "<tr><th scope=\"row\">{}<small class=\"foreign\">{}</small></th><td class=\"number\">{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td><td class=\"soft\">{interval}</td></tr>\n",
                html(table.unit.as_ref()),
                html(name.as_str().into()),
                value(base),
                value(geomean.value),
                format::geomean_change(change),
            ));
        }
    }
    if lines.is_empty() {
        return Ok(());
    }
    let open = if lines.len() > OPEN { "" } else { " open" };
    let [base, new] = subjects.sides().map(|side| html(side.as_bstr()));
    write!(
        out,
        "<details class=\"means\"{open}><summary>Geometric means</summary>\n<table>\n\
         <thead><tr><th scope=\"col\">unit</th><th scope=\"col\" class=\"number\">{base}</th><th scope=\"col\" class=\"number\">{new}</th>\
         <th scope=\"col\" class=\"number\">change</th><th scope=\"col\">interval</th></tr></thead>\n<tbody>\n{}</tbody>\n</table>\n</details>\n",
        lines.concat()
    )
}

fn write_settings(
    run: &Judged,
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
    let summary = &run.summary;
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
    for text in words::estimates(run.rows()) {
        writeln!(out, "<dt>change</dt><dd>{text}</dd>")?;
    }
    for (index, column) in run.report.columns.iter().enumerate() {
        let keys = summary.environments.of_column(index).map(|(key, values)| {
            let values: Vec<String> = values.iter().map(|value| html(value.as_ref())).collect();
            format!("{} {}", html(key.into()), values.join(", "))
        });
        let keys: Vec<String> = keys.collect();
        if !keys.is_empty() {
            writeln!(
                out,
                "<dt>{}</dt><dd>{}</dd>",
                html(column.label().as_ref()),
                keys.join(" · ")
            )?;
        }
    }
    for field in common_fields(&run.report) {
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
fn common_fields(report: &Report) -> Vec<&Field> {
    let Some((first, rest)) = report.tables.split_first() else {
        return Vec::new();
    };
    let is_common = |field: &&Field| {
        !field.value.is_empty() && rest.iter().all(|table| table.key.contains(field))
    };
    first.key.iter().filter(is_common).collect()
}
