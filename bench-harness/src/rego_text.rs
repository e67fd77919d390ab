//! The text of a policy, before the engine reads it.

use std::borrow::Cow;

use anyhow::{Result, bail};

/// Brackets in brackets, and operators in one expression: beyond this a policy is generated or hostile.
pub const DEEPEST: usize = 250;

/// Bytes of stack for whoever parses, compiles and evaluates policies: these call themselves for each level.
pub const STACK: usize = 64 << 20;

/// Checks the Rego file `text`.
///
/// # Errors
/// With file and line where it nests more than [`DEEPEST`] deep.
pub fn check(name: &str, text: &str) -> Result<()> {
    let mut scanner = Scanner {
        letters: text.chars().peekable(),
        line: 1,
    };
    // For each open bracket the operators since the last thing that ends an expression.
    let mut open = vec![0_usize];
    let mut after_operator = false;
    while let Some(letter) = scanner.next() {
        let depth = open.len();
        match letter {
            '"' => {
                scanner.skip_text('"', true);
            }
            '`' => {
                scanner.skip_text('`', false);
            }
            '#' => {
                scanner.skip_comment();
                continue;
            }
            '(' | '[' | '{' => open.push(0),
            ')' | ']' | '}' if depth > 1 => {
                open.pop();
            }
            ',' | ';' => open[depth - 1] = 0,
            // An expression goes on in the next line after an operator only.
            '\n' if !after_operator => open[depth - 1] = 0,
            '+' | '-' | '*' | '/' | '%' | '&' | '|' | '<' | '>' | '=' | '!' if !after_operator => {
                open[depth - 1] += 1;
            }
            _ => {}
        }
        if !letter.is_whitespace() {
            after_operator = "+-*/%&|<>=!".contains(letter);
        }
        if open.len() > DEEPEST {
            bail!(
                "{name}:{}: more than {DEEPEST} brackets in brackets",
                scanner.line
            );
        }
        if open.last().is_some_and(|operators| *operators > DEEPEST) {
            bail!(
                "{name}:{}: more than {DEEPEST} operators in one expression",
                scanner.line
            );
        }
    }
    Ok(())
}

/// Takes out calls of `print`, as OPA's compiler does where nobody asked to see them: their
/// place gets `true` and blanks, so that lines and columns stay.
#[must_use]
pub fn without_prints(text: &str) -> Cow<'_, str> {
    if !text.contains("print(") {
        return text.into();
    }
    let mut scanner = Scanner {
        letters: text.chars().peekable(),
        line: 1,
    };
    let mut kept = String::with_capacity(text.len());
    let mut copied = 0;
    // Letters of `print` seen in a row, and whether what stands before them is another name.
    let mut name = String::new();
    let mut call: Option<(usize, usize)> = None;
    let (mut at, mut depth) = (0, 0);
    while let Some(letter) = scanner.next() {
        let start = at;
        at += letter.len_utf8();
        match letter {
            '"' => at += scanner.skip_text('"', true),
            '`' => at += scanner.skip_text('`', false),
            '#' => at += scanner.skip_comment(),
            '(' | '[' | '{' => {
                depth += 1;
                if letter == '(' && name == "print" && call.is_none() {
                    call = Some((start - name.len(), depth));
                }
            }
            ')' | ']' | '}' => {
                if let Some((begin, _)) = call.filter(|(_, inside)| *inside == depth) {
                    kept.push_str(&text[copied..begin]);
                    kept.push_str("true");
                    let blank = |letter| if letter == '\n' { '\n' } else { ' ' };
                    kept.extend(text[begin + 4..at].chars().map(blank));
                    (copied, call) = (at, None);
                }
                depth = usize::saturating_sub(depth, 1);
            }
            _ => {}
        }
        if letter.is_alphanumeric() || letter == '_' || letter == '.' {
            name.push(letter);
        } else {
            name.clear();
        }
    }
    kept.push_str(&text[copied..]);
    kept.into()
}

struct Scanner<'a> {
    letters: std::iter::Peekable<std::str::Chars<'a>>,
    line: usize,
}

impl Scanner<'_> {
    fn next(&mut self) -> Option<char> {
        let letter = self.letters.next()?;
        self.line += usize::from(letter == '\n');
        Some(letter)
    }

    /// Skips to the end of a text; how many bytes that was.
    fn skip_text(&mut self, end: char, escapes: bool) -> usize {
        let mut skipped = 0;
        while let Some(letter) = self.next() {
            skipped += letter.len_utf8();
            if letter == end {
                break;
            }
            if escapes
                && letter == '\\'
                && let Some(escaped) = self.next()
            {
                skipped += escaped.len_utf8();
            }
        }
        skipped
    }

    /// Skips to the end of the line; how many bytes that was.
    fn skip_comment(&mut self) -> usize {
        let mut skipped = 0;
        while self.letters.peek().is_some_and(|letter| *letter != '\n') {
            skipped += self.next().map_or(0, char::len_utf8);
        }
        skipped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        check("p.rego", text)
            .err()
            .map_or_else(String::new, |error| error.to_string())
    }

    #[test]
    fn brackets_and_operators_are_counted_outside_of_texts_and_comments() {
        let brackets = "[".repeat(DEEPEST + 1);
        assert_eq!(
            error(&format!("a\nb {brackets}")),
            "p.rego:2: more than 250 brackets in brackets"
        );
        for harmless in [
            format!("x := \"\\\"{brackets}\""),
            format!("x := `\"{brackets}`"),
            format!("# {brackets}\n"),
            "[]".repeat(DEEPEST + 1),
        ] {
            assert_eq!(error(&harmless), "", "{harmless}");
        }
    }

    #[test]
    fn an_expression_ends_with_its_line_unless_an_operator_does() {
        let sum = vec!["1"; DEEPEST + 2];
        for (text, refused) in [
            (sum.join(" + "), true),
            (sum.join(" +\n"), true),
            (sum.join("\nx == "), false),
            (sum.join(", a + "), false),
            (sum.join("; a + "), false),
            (format!("f({})", sum.join(" + ")), true),
        ] {
            assert_eq!(error(&text).contains("operators"), refused, "{text}");
        }
    }

    #[test]
    fn calls_of_print_are_taken_out_and_nothing_moves() {
        for (text, expected) in [
            ("a\nprint(x)\nb", "a\ntrue    \nb"),
            ("print(f(1), \")\", [2])\ny", "true                 \ny"),
            ("print(\n1\n) ; z", "true  \n \n  ; z"),
            (
                "x.print(1); sprint(2); \"print(3)\" # print(4)",
                "x.print(1); sprint(2); \"print(3)\" # print(4)",
            ),
            ("{print(\"é\")}", "{true      }"),
        ] {
            assert_eq!(without_prints(text), expected);
        }
    }
}
