//! Text that somebody else chose, made harmless for where it goes.

use std::fmt::Write;

use bstr::{BStr, ByteSlice};

/// For a terminal: control characters, which could move the cursor or change colours, are spelled out.
#[must_use]
pub fn terminal(text: &BStr) -> String {
    let mut escaped = String::new();
    for char in text.to_str_lossy().chars() {
        if is_invisible(char) {
            escaped.extend(char.escape_unicode());
        } else {
            escaped.push(char);
        }
    }
    escaped
}

/// For HTML: text or the value of a quoted attribute.
#[must_use]
pub fn html(text: &BStr) -> String {
    let mut escaped = String::new();
    for char in text.to_str_lossy().chars() {
        match char {
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
#[must_use]
pub fn markdown_code(text: &BStr) -> String {
    let text = text.to_str_lossy();
    let is_fit_for_backticks =
        |char: char| !matches!(char, '|' | '`' | '\\') && !is_invisible(char);
    let trims = text.starts_with(' ') || text.ends_with(' ');
    if !text.is_empty() && !trims && text.chars().all(is_fit_for_backticks) {
        return format!("`{text}`");
    }
    // Readers disagree on `|` and `\` between backticks in a table, so here entities take their place.
    let mut escaped = String::from("<code>");
    for char in text.chars() {
        match char {
            _ if char.is_alphanumeric() => escaped.push(char),
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
    let is_plain_char =
        |char: char| char.is_alphanumeric() || matches!(char, ' ' | '/' | '-' | '.' | '%' | ',');
    // The words that become links to a site or a commit.
    let is_link = |word: &str| {
        word.contains("www.")
            || (word.len() >= 7 && word.chars().all(|char| char.is_ascii_hexdigit()))
    };
    let mut words = text.split(|char: char| !char.is_alphanumeric() && char != '.');
    !text.is_empty()
        && text.trim() == text
        && text.chars().all(is_plain_char)
        && text.starts_with(char::is_alphanumeric)
        && !words.any(is_link)
}

/// Control characters, and those that reorder the text around them.
fn is_invisible(char: char) -> bool {
    char.is_control()
        || matches!(
            char,
            '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{2069}' | '\u{FEFF}'
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
            "a_b_", "@user", "#1", "<b>", "*a*", "www.a.b", "1234567", "http://a", "[a](b)", "~a~",
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
    }
}
