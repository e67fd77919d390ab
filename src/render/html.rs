//! One page for a browser, in one file that asks for nothing else.

mod table;

use std::io::{self, Write};
use std::num::NonZero;

use bstr::ByteSlice;

use super::escape::html;
use super::format;
use super::presentation::Presentation;
use super::subject::{Subjects, label};
use super::words::{self, Mood};
use crate::report::{Adjust, Report};
use crate::unit::Scale;
use table::Rows;

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
         <style>\n{STYLE}</style>\n<script>document.documentElement.className = \"scripted\";</script>\n</head>\n<body>\n",
        env!("CARGO_PKG_NAME"),
        env!("CARGO_PKG_VERSION"),
    )?;
    write_head(report, &subjects, presentation, &headline, out)?;
    if listed.is_empty() {
        writeln!(out, "<p>There is no row to show.</p>")?;
    } else {
        let rows = Rows::new(report, &subjects, &listed);
        rows.write_controls(all - listed.len(), out)?;
        rows.write(out)?;
        write_means(report, &subjects, out)?;
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
    for field in common_fields(report) {
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

/// The geometric mean of each table with several rows, with the change of the rows that both sides have.
fn write_means(report: &Report, subjects: &Subjects<'_>, out: &mut dyn Write) -> io::Result<()> {
    /// More lines than this are folded.
    const OPEN: usize = 12;
    let mut lines = Vec::new();
    for table in &report.tables {
        if table.rows.len() < 2 {
            continue;
        }
        let columns = table.geomeans.iter().zip(&table.columns);
        for (geomean, column) in columns.skip(1) {
            let Some(change) = geomean.change else {
                continue;
            };
            let interval = geomean.effect.map_or_else(String::new, |effect| {
                format!(
                    "{} to {}",
                    format::percent(effect.low),
                    format::percent(effect.high)
                )
            });
            let mut name = subjects.table(table).to_string();
            if report.columns.len() > 2 {
                name = [name.as_str(), &label(column).to_str_lossy()].join(" ");
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
