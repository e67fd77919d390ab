//! Text that somebody else chose, made harmless for where it goes.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::mem;

use bstr::{BStr, ByteSlice};

/// For a terminal, or the log of a CI job.
///
/// Control characters, which could move the cursor or change colours, and characters that nobody sees are spelled out. So
/// is one character of what the runner of a CI job would take for a command: `::` at the start of a line, and `##[` or
/// `##word[` anywhere in it.
#[must_use]
pub fn terminal(text: &BStr) -> String {
    let mut escaped = String::new();
    let text = text.to_str_lossy();
    let mut is_start = true;
    for (at, char) in text.char_indices() {
        let rest = &text[at..];
        if is_invisible(char) || is_start && rest.starts_with("::") || starts_command(rest) {
            escaped.extend(char.escape_unicode());
        } else {
            escaped.push(char);
        }
        is_start &= char.is_whitespace();
    }
    escaped
}

/// [`terminal`] for whole lines that are written to `out` piece by piece. Tabs stay, and so does what is not UTF-8.
///
/// Whoever words a line need not know what of it was somebody else's: the program's own words have nothing to escape.
pub struct EscapedLines<'w> {
    out: &'w mut dyn Write,
    /// The start of a line that has not ended.
    line: Vec<u8>,
}

impl<'w> EscapedLines<'w> {
    /// Lines that go to `out`.
    pub fn new(out: &'w mut dyn Write) -> Self {
        Self {
            out,
            line: Vec::new(),
        }
    }

    fn write_line(&mut self) -> io::Result<()> {
        let line = mem::take(&mut self.line);
        let is_harmless = |byte: &u8| matches!(byte, b' '..=b'~' | b'\t' | b'\n');
        let may_be_command = line.trim_start().starts_with(b"::") || line.contains_str("##");
        if line.iter().all(is_harmless) && !may_be_command {
            return self.out.write_all(&line);
        }
        let pieces = line.split_inclusive(|byte| matches!(byte, b'\t' | b'\n'));
        for piece in pieces {
            for chunk in piece.utf8_chunks() {
                let text = chunk.valid();
                let end = text.trim_end_matches(['\t', '\n']).len();
                let escaped = terminal(text[..end].into());
                self.out.write_all(escaped.as_bytes())?;
                self.out.write_all(&text.as_bytes()[end..])?;
                self.out.write_all(chunk.invalid())?;
            }
        }
        Ok(())
    }
}

impl Write for EscapedLines<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for line in bytes.split_inclusive(|&byte| byte == b'\n') {
            self.line.extend_from_slice(line);
            if line.ends_with(b"\n") {
                self.write_line()?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.write_line()?;
        self.out.flush()
    }
}

impl Drop for EscapedLines<'_> {
    fn drop(&mut self) {
        // Nobody is left to tell.
        let _ = self.write_line();
    }
}

/// Whether the runners of Azure, GitHub (`##[error]`, `##vso[…]`) or `TeamCity` (`##teamcity[…]`) see a command here.
fn starts_command(text: &str) -> bool {
    text.strip_prefix("##").is_some_and(|rest| {
        rest.trim_start_matches(|char: char| char.is_ascii_alphanumeric())
            .starts_with('[')
    })
}

/// Strings of JSON on their way to `out`: they mean the same, but a runner that reads them in a log sees no command.
pub struct JsonStrings<'w>(pub &'w mut dyn Write);

impl Write for JsonStrings<'_> {
    /// Takes what no escape sequence divides in one piece, as the writer of JSON hands it out.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut rest = bytes;
        while let Some(at) = rest.find("##") {
            self.0.write_all(&rest[..at])?;
            let is_command = starts_command(&rest[at..].to_str_lossy());
            self.0
                .write_all(if is_command { b"\\u0023" } else { b"#" })?;
            rest = &rest[at + 1..];
        }
        self.0.write_all(rest)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// For HTML: text or the value of a quoted attribute.
#[must_use]
pub fn html(text: &BStr) -> String {
    let mut escaped = String::new();
    let text = text.to_str_lossy();
    for (at, char) in text.char_indices() {
        match char {
            '#' if starts_command(&text[at..]) => escaped.push_str("&#35;"),
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\t' | '\n' => escaped.push(char),
            _ if is_invisible(char) => escaped.extend(char.escape_unicode()),
            _ => escaped.push(char),
        }
    }
    escaped
}

/// For Markdown, also within a table: as it is where it means nothing there, else as [`markdown_code`].
#[must_use]
pub fn markdown(text: &BStr) -> String {
    if is_plain_markdown(text) {
        text.to_str_lossy().into_owned()
    } else {
        markdown_code(text)
    }
}

/// For Markdown, also within a table: as code, where GitHub makes no links of `@name`, `#1` and commit hashes.
///
/// What stands in HTML's `<code>` is still searched for addresses of pages and of mail, so what they need is broken up.
#[must_use]
pub fn markdown_code(text: &BStr) -> String {
    let text = text.to_str_lossy();
    let is_fit_for_backticks =
        |char: char| !matches!(char, '|' | '`' | '\\') && !is_invisible(char);
    let trims = text.starts_with(' ') || text.ends_with(' ');
    let has_command = text
        .match_indices('#')
        .any(|(at, _)| starts_command(&text[at..]));
    if !text.is_empty() && !trims && !has_command && text.chars().all(is_fit_for_backticks) {
        return format!("`{text}`");
    }
    // Readers disagree on `|` and `\` between backticks in a table, so here entities take their place.
    let mut escaped = String::from("<code>");
    for char in text.chars() {
        match char {
            _ if char.is_alphanumeric() && !is_invisible(char) => escaped.push(char),
            '@' => escaped.push_str("&#64;<!-- -->"),
            '.' if escaped.to_ascii_lowercase().ends_with("www") => entity(&mut escaped, char),
            '/' | '-' | '=' | '.' | ',' | '%' | ' ' | '(' | ')' => escaped.push(char),
            '\t' | '\n' | '\r' => entity(&mut escaped, ' '),
            _ if is_invisible(char) => {
                for char in char.escape_unicode() {
                    match char {
                        '\\' | '{' | '}' => entity(&mut escaped, char),
                        _ => escaped.push(char),
                    }
                }
            }
            _ => entity(&mut escaped, char),
        }
    }
    escaped.push_str("</code>");
    escaped
}

fn entity(escaped: &mut String, char: char) {
    // Writing to a string does not fail.
    let _ = write!(escaped, "&#{};", u32::from(char));
}

/// Whether Markdown, and GitHub beyond it, takes `text` for nothing but text.
fn is_plain_markdown(text: &BStr) -> bool {
    let Ok(text) = text.to_str() else {
        return false;
    };
    let is_plain_char = |char: char| {
        char.is_alphanumeric() && !is_invisible(char)
            || matches!(char, ' ' | '/' | '-' | '.' | '%' | ',')
    };
    // The words that become links to a site or a commit.
    let is_link = |word: &str| {
        word.to_ascii_lowercase().contains("www.")
            || (word.len() >= 7 && word.chars().all(|char| char.is_ascii_hexdigit()))
    };
    let mut words = text.split(|char: char| !char.is_alphanumeric() && char != '.');
    !text.is_empty()
        && text.trim() == text
        && text.chars().all(is_plain_char)
        && text.starts_with(char::is_alphanumeric)
        && !words.any(is_link)
        && !has_reference(text)
}

/// Whether `GH-2` or `%3` stands in `text`, which name an issue on GitHub and a milestone on GitLab.
fn has_reference(text: &str) -> bool {
    let starts_with_digit = |text: &str| text.starts_with(|char: char| char.is_ascii_digit());
    let lower = text.to_ascii_lowercase();
    let mut issues = lower.match_indices("gh-");
    issues.any(|(at, prefix)| {
        let is_word = !lower[..at].ends_with(char::is_alphanumeric);
        is_word && starts_with_digit(&lower[at + prefix.len()..])
    }) || text.split('%').skip(1).any(starts_with_digit)
}

/// Control characters, those that reorder the text around them, and those that take no room or are blank without being
/// white space: soft hyphens, joiners, fillers, marks between languages, variation selectors and tags.
#[must_use]
pub fn is_invisible(char: char) -> bool {
    char.is_control()
        || matches!(
            char,
            '\u{AD}'
                | '\u{34F}'
                | '\u{61C}'
                | '\u{115F}'..='\u{1160}'
                | '\u{17B4}'..='\u{17B5}'
                | '\u{180B}'..='\u{180F}'
                | '\u{200B}'..='\u{200F}'
                | '\u{2028}'..='\u{202E}'
                | '\u{2060}'..='\u{206F}'
                | '\u{2800}'
                | '\u{3164}'
                | '\u{FE00}'..='\u{FE0F}'
                | '\u{FEFF}'
                | '\u{FFA0}'
                | '\u{FFF0}'..='\u{FFFB}'
                | '\u{1BCA0}'..='\u{1BCA3}'
                | '\u{1D173}'..='\u{1D17A}'
                | '\u{E0000}'..='\u{E0FFF}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_gets_no_control_characters() {
        assert_eq!(terminal("a\u{1b}[31mb\tµ".into()), "a\\u{1b}[31mb\\u{9}µ");
    }

    #[test]
    fn lines_are_escaped_as_wholes_however_they_are_cut() {
        let text = b"a:1: n\x1b[31ms is\tleft \xff out\n::error::x\nplain ##[x]\nlast\x07";
        let escaped = b"a:1: n\\u{1b}[31ms is\tleft \xff out\n\\u{3a}:error::x\nplain \\u{23}#[x]\nlast\\u{7}";
        for size in 1..text.len() {
            let mut out = Vec::new();
            let mut lines = EscapedLines::new(&mut out);
            for piece in text.chunks(size) {
                lines.write_all(piece).unwrap();
            }
            drop(lines);
            assert_eq!(out.as_bstr(), escaped.as_bstr(), "{size}");
        }
    }

    #[test]
    fn a_log_gets_no_commands_for_the_runner_of_a_job() {
        for (text, harmless) in [
            ("::add-mask::a", "\\u{3a}:add-mask::a"),
            ("  ::error::a", "  \\u{3a}:error::a"),
            ("a::b", "a::b"),
            ("x##[error]", "x\\u{23}#[error]"),
            ("###[group]", "#\\u{23}#[group]"),
            ("##vso[task.setvariable]", "\\u{23}#vso[task.setvariable]"),
            ("## [a]", "## [a]"),
        ] {
            assert_eq!(terminal(text.into()), harmless);
            assert!(!html(text.into()).contains("##["), "{text}");
            assert!(!markdown(text.into()).contains("##["), "{text}");
        }
    }

    #[test]
    fn strings_of_json_mean_the_same_and_are_no_commands() {
        for text in ["x##[error]", "###[group]", "##vso[a]", "## [a]", "#", "###"] {
            let mut out = Vec::new();
            serde_json::to_writer(JsonStrings(&mut out), text).unwrap();
            assert!(
                !out.contains_str("##[") && !out.contains_str("##vso["),
                "{text}"
            );
            assert_eq!(serde_json::from_slice::<String>(&out).unwrap(), text);
        }
    }

    #[test]
    fn characters_that_nobody_sees_are_spelled_out() {
        for char in [
            '\u{61C}',
            '\u{AD}',
            '\u{34F}',
            '\u{180E}',
            '\u{3164}',
            '\u{FFF9}',
            '\u{E0041}',
            '\u{202E}',
            '\u{FE0F}',
            '\u{2800}',
        ] {
            let spelled: String = char.escape_unicode().collect();
            assert_eq!(terminal(char.to_string().as_str().into()), spelled);
            assert_eq!(html(char.to_string().as_str().into()), spelled);
            assert!(!markdown(char.to_string().as_str().into()).contains(char));
        }
    }

    #[test]
    fn html_gets_no_markup() {
        assert_eq!(
            html("<a href=\"x\" id='y'>&".into()),
            "&lt;a href=&quot;x&quot; id=&#39;y&#39;&gt;&amp;"
        );
    }

    #[test]
    fn plain_words_stay_plain_in_markdown() {
        for text in ["sec/op", "old.txt", "p99-µs", "Intel Xeon, 2.1 GHz"] {
            assert_eq!(markdown(text.into()), text);
        }
    }

    #[test]
    fn what_markdown_or_github_would_read_is_code() {
        for text in [
            "a_b_",
            "@user",
            "#1",
            "<b>",
            "*a*",
            "www.a.b",
            "1234567",
            "http://a",
            "[a](b)",
            "~a~",
            "GH-2",
            "a/gh-12",
            "WWW.a.b",
            "50%1",
            "owner/repo#1",
            "a@b.c",
        ] {
            assert_eq!(markdown(text.into()), format!("`{text}`"));
        }
    }

    #[test]
    fn pipes_backticks_and_line_breaks_are_entities() {
        assert_eq!(
            markdown("a|b`c\n<d\\|".into()),
            "<code>a&#124;b&#96;c&#32;&#60;d&#92;&#124;</code>"
        );
        assert_eq!(markdown("".into()), "<code></code>");
        // Pages and mail addresses are links in there as well.
        assert_eq!(
            markdown("a|(www.b.c a@b.c".into()),
            "<code>a&#124;(www&#46;b.c a&#64;<!-- -->b.c</code>"
        );
    }

    #[test]
    fn words_that_only_look_like_references_stay_plain() {
        for text in ["high-2", "GH-x", "100%", "hit%", "www"] {
            assert_eq!(markdown(text.into()), text);
        }
    }
}
