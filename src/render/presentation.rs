//! What renderers are told beside the report.

use std::collections::HashMap;

use bstr::BString;

/// What a run was asked for, in words that a shell takes as they are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// Whether it measured by itself.
    pub measures: bool,
    /// The flags that decide what comes out.
    pub flags: Vec<String>,
    /// What they were about: the inputs, or the bases to measure.
    pub operands: Vec<String>,
}

/// A line of a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLine {
    /// The file, from the root of the repository.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
}

/// What renderers are told beside the report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Presentation {
    /// Whether the reader can show colour.
    pub has_colour: bool,
    /// How many characters fit on a line; as many as it takes if none.
    pub width: Option<u16>,
    /// Whether a list of changes has unchanged rows too.
    pub all: bool,
    /// What tells a comment from others on the same pull request.
    pub id: String,
    /// The most bytes of a comment.
    pub max_bytes: usize,
    /// What tells the sections of a comment apart that several jobs share.
    pub section: Option<String>,
    /// Where the whole report is.
    pub report_url: Option<String>,
    /// Whether the answer of the gate, and what led to it, is told elsewhere for the same reader.
    pub gate_is_told: bool,
    /// What was asked for, to be asked for again.
    pub request: Request,
    /// Where benchmarks stand in the source, by package and name up to the first slash.
    pub places: HashMap<(BString, BString), SourceLine>,
    /// The commit of the first input, as the user names it.
    pub base_ref: Option<String>,
    /// The commit of the last input, as the user names it.
    pub head_ref: Option<String>,
}

impl Default for Presentation {
    fn default() -> Self {
        Self {
            has_colour: false,
            width: None,
            all: false,
            id: "default".into(),
            max_bytes: 60_000,
            section: None,
            report_url: None,
            gate_is_told: false,
            request: Request::default(),
            places: HashMap::new(),
            base_ref: None,
            head_ref: None,
        }
    }
}
