//! Rows that cannot have changed: if one did, it was the machine, or the way of measuring.

use std::str::FromStr;

use go_regexp::{Regexp, RegexpError};

/// A pattern for the names of rows that cannot have changed.
#[derive(Clone)]
pub struct Control {
    text: String,
    pattern: Regexp,
}

impl Control {
    /// Whether a row of this name is one.
    #[must_use]
    pub fn names(&self, label: &[u8]) -> bool {
        self.pattern.is_match(label)
    }
}

impl FromStr for Control {
    type Err = RegexpError;

    fn from_str(text: &str) -> Result<Self, RegexpError> {
        Ok(Self {
            text: text.into(),
            pattern: Regexp::new(text.as_bytes())?,
        })
    }
}

impl std::fmt::Display for Control {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl std::fmt::Debug for Control {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Control({:?})", self.text)
    }
}

impl PartialEq for Control {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}
