//! Words of a command line.

use std::borrow::Cow;

/// A word of a command line, in quotes where a shell needs them.
#[must_use]
pub fn shell_word(word: &str) -> Cow<'_, str> {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || "_./,:@%+=-".contains(char);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.into();
    }
    format!("'{}'", word.replace('\'', r"'\''")).into()
}
