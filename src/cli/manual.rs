//! The manual page.

use std::fmt::Write as _;
use std::io::{self, Write};

use clap::CommandFactory;
use clap_mangen::Man;

use super::args::{Args, EXAMPLE, EXIT_STATUS, SPELLING};

/// Writes the page in roff.
///
/// # Errors
/// Whatever `out` fails with.
pub fn write(out: &mut dyn Write) -> io::Result<()> {
    let page = Man::new(Args::command().after_help("").after_long_help(""));
    let mut generated = Vec::new();
    page.render(&mut generated)?;
    let generated = String::from_utf8_lossy(&generated);
    let (flags, version) = generated
        .split_once(".SH VERSION")
        .unwrap_or((&generated, ""));
    let flags = flags.replace("[default: ]", "[default: \"\"]");
    let mut text = unfilled(&flags);
    text.push_str(".SH EXAMPLES\n");
    text.push_str(&unfilled(&escaped(EXAMPLE)));
    text.push_str(".PP\n");
    text.push_str(&escaped(SPELLING));
    text.push_str("\n.SH EXIT STATUS\n");
    for (status, meaning) in EXIT_STATUS {
        // Writing to a string cannot fail.
        let _ = writeln!(text, ".TP 4\n\\fB{status}\\fR\n{}", escaped(meaning));
    }
    write!(out, "{text}.SH VERSION{version}")
}

/// With lines that start with blanks as they are, and not filled into a paragraph.
fn unfilled(text: &str) -> String {
    let mut marked = String::with_capacity(text.len());
    let mut was_list = false;
    for line in text.lines() {
        let is_list = line.starts_with("  ");
        match (was_list, is_list) {
            (false, true) => marked.push_str(".nf\n"),
            (true, false) => marked.push_str(".fi\n"),
            _ => {}
        }
        marked.push_str(line);
        marked.push('\n');
        was_list = is_list;
    }
    if was_list {
        marked.push_str(".fi\n");
    }
    marked
}

/// Plain text in roff.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\e")
        .replace('-', "\\-")
        .replace('\'', "\\(aq")
}
