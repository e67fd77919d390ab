//! What renderers are told beside the report.

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
            base_ref: None,
            head_ref: None,
        }
    }
}
