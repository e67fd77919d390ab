//! The arguments that name inputs: `path`, `label=path`, `-`.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use bstr::{BString, ByteVec};

/// An input and the label of its results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The path as given; `-` is standard input.
    pub path: PathBuf,
    /// The value of `.file` for its results.
    pub label: BString,
}

impl Source {
    /// The file at `path`, or standard input if that is `-`; its results are a column `label` unless the query says
    /// otherwise.
    #[must_use]
    pub fn new(label: impl Into<BString>, path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            label: label.into(),
        }
    }

    /// Standard input under its own name.
    #[must_use]
    pub fn standard_input() -> Self {
        Self {
            path: STANDARD_INPUT.into(),
            label: STANDARD_INPUT.into(),
        }
    }

    /// Whether this is standard input.
    #[must_use]
    pub fn is_standard_input(&self) -> bool {
        self.path.as_os_str() == STANDARD_INPUT
    }

    /// The path as messages show it.
    #[must_use]
    pub fn name(&self) -> BString {
        bytes(self.path.as_os_str())
    }

    /// The length of a regular file in bytes; none for anything else.
    #[must_use]
    pub fn length(&self) -> Option<u64> {
        let metadata = std::fs::metadata(&self.path).ok()?;
        metadata.is_file().then_some(metadata.len())
    }

    /// Opens the file.
    ///
    /// # Errors
    /// An [`InputError`] that names the path.
    pub fn open(&self) -> Result<File, InputError> {
        File::open(&self.path).map_err(|error| InputError::Open(self.name(), Reason(error)))
    }
}

const STANDARD_INPUT: &str = "-";

/// Why an input cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    /// It cannot be opened.
    #[error("open {0}: {1}")]
    Open(BString, Reason),
    /// It is a directory.
    #[error("read {0}: is a directory: name the files in it, such as {0}/*.txt")]
    Directory(BString),
    /// It was opened, and not one line can be read.
    #[error("read {0}: {1}")]
    Start(BString, Reason),
    /// It was opened, and reading it fails after `line` lines.
    #[error("{name}:{line}: read {name}: {reason}")]
    Read {
        /// The path as given.
        name: BString,
        /// How many lines were read before.
        line: u64,
        /// What the operating system says.
        reason: Reason,
    },
}

impl InputError {
    /// Reading `source` fails after `line` lines.
    pub(crate) fn read(source: &Source, line: u64, error: io::Error) -> Self {
        let name = source.name();
        match (error.kind(), line) {
            (io::ErrorKind::IsADirectory, _) => Self::Directory(name),
            (_, 0) => Self::Start(name, Reason(error)),
            _ => Self::Read {
                name,
                line,
                reason: Reason(error),
            },
        }
    }
}

/// An operating system error in the words of `strerror`, in lower case and without its number.
#[derive(Debug)]
pub struct Reason(pub io::Error);

impl Reason {
    /// The words for `error`.
    #[must_use]
    pub fn of(error: &io::Error) -> String {
        let text = error.to_string();
        let text = text.split(" (os error ").next().unwrap_or_default();
        let mut chars = text.chars();
        let first = chars.next().map(char::to_lowercase);
        first.into_iter().flatten().chain(chars).collect()
    }
}

impl std::fmt::Display for Reason {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&Self::of(&self.0))
    }
}

/// The inputs that `arguments` name, in their order.
///
/// `label=path` splits at the first `=`, unless the whole argument is a file and
/// what follows the `=` is not. A path given unlabelled more than
/// once gets `#0`, `#1` and so on at its label; labels are left as they are,
/// so that inputs under one label are pooled.
#[must_use]
pub fn sources(arguments: &[OsString]) -> Vec<Source> {
    let split: Vec<(Option<BString>, PathBuf)> = arguments
        .iter()
        .map(|argument| split_label(argument))
        .collect();
    let mut counts: HashMap<&PathBuf, usize> = HashMap::new();
    for (_, path) in split.iter().filter(|(label, _)| label.is_none()) {
        *counts.entry(path).or_default() += 1;
    }
    let mut seen: HashMap<&PathBuf, usize> = HashMap::new();
    split
        .iter()
        .map(|(label, path)| {
            let label = label.clone().unwrap_or_else(|| {
                let mut name = bytes(path.as_os_str());
                if counts[path] > 1 {
                    let number = seen.entry(path).or_default();
                    name.push_str(format!("#{number}"));
                    *number += 1;
                }
                name
            });
            Source {
                path: path.clone(),
                label,
            }
        })
        .collect()
}

fn split_label(argument: &OsStr) -> (Option<BString>, PathBuf) {
    let text = bytes(argument);
    let Some(at) = text.iter().position(|&byte| byte == b'=') else {
        return (None, argument.into());
    };
    let path = path(&text[at + 1..]);
    let whole = Path::new(argument);
    if whole.is_file() && !path.exists() && path.as_os_str() != STANDARD_INPUT {
        return (None, whole.into());
    }
    (Some(text[..at].into()), path)
}

/// The bytes of an argument; on Unix exactly those, elsewhere as close as UTF-8 gets.
fn bytes(argument: &OsStr) -> BString {
    Vec::from_os_str_lossy(argument).into_owned().into()
}

fn path(bytes: &[u8]) -> PathBuf {
    bytes.to_vec().into_path_buf_lossy()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(arguments: &[&str]) -> Vec<String> {
        let arguments: Vec<OsString> = arguments.iter().map(Into::into).collect();
        sources(&arguments)
            .iter()
            .map(|source| format!("{} {}", source.label, source.name()))
            .collect()
    }

    #[test]
    fn an_argument_is_a_path_with_an_optional_label() {
        assert_eq!(
            labels(&["a.txt", "new=b.txt", "x=y=z", "=c", "-"]),
            ["a.txt a.txt", "new b.txt", "x y=z", " c", "- -"]
        );
    }

    #[test]
    fn repeated_paths_are_numbered_and_labels_are_not() {
        assert_eq!(
            labels(&["a", "b", "a", "l=a", "l=b"]),
            ["a#0 a", "b b", "a#1 a", "l a", "l b"]
        );
    }

    #[test]
    fn errors_are_told_in_lower_case() {
        let error = Source::standard_input();
        assert!(error.is_standard_input());
        let missing = Source {
            path: "no/such".into(),
            label: "x".into(),
        };
        assert_eq!(
            missing.open().unwrap_err().to_string(),
            "open no/such: no such file or directory"
        );
    }
}
