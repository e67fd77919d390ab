//! What was asked for, so that reports can say how to ask for it again.

use std::ffi::{OsStr, OsString};

use clap::ArgMatches;
use clap::parser::ValueSource;

use crate::common::shell_word;
use crate::render::presentation::Request;

/// Flags that decide where a report goes and how it looks, and not what it says.
const LOOKS: [&str; 16] = [
    "all",
    "base_ref",
    "changed_only",
    "color",
    "format",
    "generate",
    "head_ref",
    "id",
    "into",
    "limit",
    "max_bytes",
    "out",
    "quiet",
    "report_url",
    "section",
    "sort",
];

/// What the arguments ask for, with further ones for `go`.
pub fn of(matches: &ArgMatches, measures: bool, build_flags: &[OsString]) -> Request {
    let mut request = Request {
        measures,
        ..Request::default()
    };
    for id in matches.ids() {
        let id = id.as_str();
        let is_typed = matches.value_source(id) == Some(ValueSource::CommandLine);
        // Groups have the names of types.
        let is_flag = !id.starts_with(char::is_uppercase);
        if !is_typed || !is_flag || LOOKS.contains(&id) {
            continue;
        }
        let values = matches.get_raw(id).into_iter().flatten();
        if id == "inputs" {
            let named = |value| if measures { word(value) } else { input(value) };
            request.operands.extend(values.map(named));
            continue;
        }
        let flag = format!("-{}", id.replace('_', "-"));
        let mut has_values = false;
        for value in values {
            has_values = true;
            request.flags.push(flag.clone());
            // The value of a switch.
            if value != "true" {
                request.flags.push(word(value));
            }
        }
        if !has_values {
            request.flags.push(flag);
        }
    }
    if !build_flags.is_empty() {
        request.operands.push("--".into());
        request
            .operands
            .extend(build_flags.iter().map(|flag| word(flag)));
    }
    request
}

/// An input; of a file that has a label, the folder says nothing to anybody else.
fn input(text: &OsStr) -> String {
    let text = text.to_string_lossy();
    let short = match text.split_once('=') {
        Some((label, path)) => {
            let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
            format!("{label}={name}")
        }
        None => text.into_owned(),
    };
    shell_word(&short).into_owned()
}

fn word(text: &OsStr) -> String {
    shell_word(&text.to_string_lossy()).into_owned()
}
