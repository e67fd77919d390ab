//! The one error of the filter and projection languages.

use bstr::{BStr, BString, ByteSlice};

use super::lex::{characters, is_graphic};

/// A query that is not well formed: what is wrong, and where.
///
/// It displays as three lines, the last of which points at the place:
///
/// ```text
/// syntax error: missing ")"
///     (.name:Copy
///                ^
/// ```
///
/// (The indentation is a tab.) The query is the user's own argument, so it may
/// hold invalid UTF-8; [`SyntaxError::render`] keeps its bytes, `Display`
/// replaces them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.render())]
pub struct SyntaxError(Box<Details>);

/// Boxed, because results carry it by value and it is rarely there.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Details {
    message: String,
    query: BString,
    offset: usize,
}

impl Details {
    fn render(&self) -> BString {
        let column = characters(&self.query[..self.offset])
            .filter(|(_, character)| character.is_none_or(is_graphic))
            .count();
        let mut text = BString::from(format!("syntax error: {}\n\t", self.message));
        text.extend_from_slice(&self.query);
        text.extend_from_slice(b"\n\t");
        text.extend(std::iter::repeat_n(b' ', column));
        text.push(b'^');
        text
    }
}

impl SyntaxError {
    /// An error at byte `offset` of `query`.
    pub(super) fn new(message: String, query: &[u8], offset: usize) -> Self {
        Self(Box::new(Details {
            message,
            query: query.into(),
            offset: offset.min(query.len()),
        }))
    }

    /// What is wrong, without the leading `syntax error: `.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The whole query.
    #[must_use]
    pub fn query(&self) -> &BStr {
        self.0.query.as_bstr()
    }

    /// Where in the query, in bytes from its start; its length means "at the end".
    #[must_use]
    pub fn offset(&self) -> usize {
        self.0.offset
    }

    /// The three lines, without a final line feed and with the query's own bytes.
    #[must_use]
    pub fn render(&self) -> BString {
        self.0.render()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caret_counts_characters_and_not_bytes() {
        let error = SyntaxError::new("unexpected \")\"".into(), "日本:語 )".as_bytes(), 11);
        assert_eq!(
            error.to_string(),
            "syntax error: unexpected \")\"\n\t日本:語 )\n\t     ^"
        );
    }

    #[test]
    fn characters_without_a_shape_do_not_move_the_caret() {
        let error = SyntaxError::new("m".into(), "\t \u{3000}\u{200b}\u{7f}@".as_bytes(), 9);
        assert!(error.to_string().ends_with("\n\t  ^"), "{error}");
    }

    #[test]
    fn a_byte_that_is_no_character_counts_as_one() {
        let error = SyntaxError::new("m".into(), b"\xe6\x97 )", 3);
        assert_eq!(
            error.render(),
            &b"syntax error: m\n\t\xe6\x97 )\n\t   ^"[..]
        );
    }
}
