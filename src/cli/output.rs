//! Where reports go, and in which format.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use bstr::{ByteSlice, ByteVec};
use clap::ValueEnum;
use same_file::Handle;
use tempfile::Builder;

use super::surroundings::Surroundings;
use super::words::names;

/// How a report is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Tables with aligned columns, as `benchstat` prints them
    Text,
    /// Comma-separated values, as `benchstat` prints them; warnings go to standard error
    Csv,
    /// A verdict and the changed rows, for a terminal
    Pretty,
    /// Tables in GitHub-flavoured Markdown
    #[value(alias = "md")]
    Markdown,
    /// A comment on a pull request
    Comment,
    /// Everything, for programs
    Json,
    /// One object a line for each comparison, for programs
    Jsonl,
    /// A page for a browser, in one file
    Html,
    /// Annotations of a GitHub workflow; `-out github=-` prints them before the report
    Github,
}

impl Format {
    /// All formats, in the order to tell them.
    pub const ALL: [Self; 9] = [
        Self::Text,
        Self::Csv,
        Self::Pretty,
        Self::Markdown,
        Self::Comment,
        Self::Json,
        Self::Jsonl,
        Self::Html,
        Self::Github,
    ];

    /// Whether the format says more than the drop-in ones.
    #[must_use]
    pub fn shows_verdicts(self) -> bool {
        !matches!(self, Self::Text | Self::Csv)
    }
}

/// A further report in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// How it is written.
    pub format: Format,
    /// Where to.
    pub path: PathBuf,
}

/// An `-out` that makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OutputError {
    /// There is no `=` in it.
    #[error("-out must be FORMAT=PATH, not {0:?}")]
    Shape(String),
    /// There is no such format.
    #[error("-out: there is no format {name:?}; there are {}", names::<Format>().join(", "))]
    Format {
        /// What stood before the `=`.
        name: String,
    },
    /// The path is empty or means standard output.
    #[error("-out {0:?}: needs the path of a file; -format says what standard output shows")]
    Path(String),
    /// Two reports would overwrite each other.
    #[error("-out: {0:?} is named twice")]
    Twice(String),
}

impl Output {
    /// Reads all values of `-out`.
    ///
    /// # Errors
    /// The first value that makes no sense.
    pub fn parse_all<T: AsRef<OsStr>>(values: &[T]) -> Result<Vec<Self>, OutputError> {
        let mut outputs: Vec<Self> = Vec::new();
        for value in values {
            let output = Self::parse(value.as_ref())?;
            let target = output.target();
            if outputs.iter().any(|other| other.target() == target) {
                return Err(OutputError::Twice(output.path.display().to_string()));
            }
            outputs.push(output);
        }
        Ok(outputs)
    }

    fn parse(value: &OsStr) -> Result<Self, OutputError> {
        let typed = || value.to_string_lossy().into_owned();
        let bytes = <[u8]>::from_os_str(value).unwrap_or_default();
        let (name, path) = bytes
            .split_once_str("=")
            .ok_or_else(|| OutputError::Shape(typed()))?;
        let name = name.to_str_lossy();
        let format = Format::from_str(&name, false).map_err(|_| OutputError::Format {
            name: name.clone().into_owned(),
        })?;
        let is_stdout = path == b"-";
        if path.is_empty() || is_stdout && format != Format::Github {
            return Err(OutputError::Path(typed()));
        }
        Ok(Self {
            format,
            path: path.to_vec().into_path_buf_lossy(),
        })
    }

    /// The file that the path names, however it is spelled.
    fn target(&self) -> PathBuf {
        let of_new_file = || {
            let parent = fs::canonicalize(parent(&self.path)).ok()?;
            Some(parent.join(self.path.file_name()?))
        };
        let known = fs::canonicalize(&self.path).ok();
        known
            .or_else(of_new_file)
            .unwrap_or_else(|| self.path.clone())
    }

    /// Whether writing the report would destroy the file at `read`, under whatever name.
    #[must_use]
    pub fn replaces(&self, read: &Path) -> bool {
        read.is_file() && same_file::is_same_file(read, &self.path).unwrap_or(false)
    }

    /// Whether writing the report would destroy the file that standard input comes from.
    #[must_use]
    pub fn replaces_standard_input(&self) -> bool {
        // What is no file, such as a terminal, can be read and written.
        let is_same = || Ok::<_, io::Error>(Handle::stdin()? == Handle::from_path(&self.path)?);
        self.path.is_file() && is_same().unwrap_or(false)
    }

    /// Whether it goes to standard output, before the report: as annotations of a workflow may.
    #[must_use]
    pub fn is_standard_output(&self) -> bool {
        self.path.as_os_str() == "-"
    }

    /// Writes `report` to the path: all of it or nothing, and to the summary of a step after what is there.
    ///
    /// # Errors
    /// Whatever the file system fails with.
    pub fn write(&self, report: &[u8], surroundings: &Surroundings) -> io::Result<()> {
        if surroundings.step_summary.as_ref() == Some(&self.path) {
            return append(&self.path, report);
        }
        match fs::metadata(&self.path) {
            // A device or a pipe is written to; a renamed file would take its place.
            Ok(metadata) if !metadata.is_file() => File::options()
                .write(true)
                .open(&self.path)?
                .write_all(report),
            // A link stays a link.
            Ok(metadata) => replace(
                &fs::canonicalize(&self.path)?,
                report,
                Some(metadata.permissions()),
            ),
            Err(_) => replace(&self.path, report, None),
        }
    }
}

fn append(path: &Path, report: &[u8]) -> io::Result<()> {
    let mut file = File::options().append(true).create(true).open(path)?;
    if file.metadata()?.len() > 0 {
        // What another step wrote may lack its last line break.
        file.write_all(b"\n\n")?;
    }
    file.write_all(report)
}

fn replace(path: &Path, report: &[u8], permissions: Option<fs::Permissions>) -> io::Result<()> {
    let mut builder = Builder::new();
    builder.prefix(".rbenchstat-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // As for any new file, so the user's mask decides; the crate's own default is private.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let mut file = builder.tempfile_in(parent(path))?;
    file.write_all(report)?;
    if let Some(permissions) = permissions {
        file.as_file().set_permissions(permissions)?;
    }
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// The folder that a file is in.
fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(value: &str) -> Result<Output, OutputError> {
        Output::parse(OsStr::new(value))
    }

    fn names(directory: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(directory)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn the_path_may_hold_an_equals_sign() {
        let output = parse("json=a=b.json").unwrap();
        assert_eq!(output.format, Format::Json);
        assert_eq!(output.path, Path::new("a=b.json"));
    }

    #[test]
    fn what_makes_no_sense_is_told() {
        assert_eq!(
            parse("json").unwrap_err().to_string(),
            "-out must be FORMAT=PATH, not \"json\""
        );
        assert_eq!(
            parse("xml=a").unwrap_err().to_string(),
            "-out: there is no format \"xml\"; there are text, csv, pretty, markdown, comment, json, jsonl, html, github"
        );
        assert_eq!(
            parse("json=-").unwrap_err().to_string(),
            "-out \"json=-\": needs the path of a file; -format says what standard output shows"
        );
        assert_eq!(
            Output::parse_all(&["json=a", "csv=a"])
                .unwrap_err()
                .to_string(),
            "-out: \"a\" is named twice"
        );
    }

    #[test]
    fn a_report_replaces_the_one_before_and_leaves_no_other_file() {
        let directory = tempfile::tempdir().unwrap();
        let output = Output {
            format: Format::Json,
            path: directory.path().join("report.json"),
        };
        for text in ["first, and longer", "second"] {
            output
                .write(text.as_bytes(), &Surroundings::default())
                .unwrap();
            assert_eq!(fs::read_to_string(&output.path).unwrap(), text);
            assert_eq!(names(directory.path()), ["report.json"]);
        }
    }

    #[test]
    fn one_file_is_one_however_it_is_spelled() {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("d")).unwrap();
        let path = |path: &str| directory.path().join(path).display().to_string();
        let both = |one: &str, other: &str| {
            Output::parse_all(&[
                format!("json={}", path(one)),
                format!("csv={}", path(other)),
            ])
        };
        assert!(both("a", "d/../a").is_err());
        assert!(both("a", "d/a").is_ok());
        fs::write(directory.path().join("input"), "text").unwrap();
        let output = parse(&format!("json={}", path("d/../input"))).unwrap();
        assert!(output.replaces(&directory.path().join("input")));
        assert!(!output.replaces(&directory.path().join("d")));
    }

    #[test]
    fn a_report_that_cannot_be_written_leaves_the_folder_as_it_was() {
        let directory = tempfile::tempdir().unwrap();
        let output = Output {
            format: Format::Json,
            path: directory.path().join("missing/report.json"),
        };
        assert!(output.write(b"text", &Surroundings::default()).is_err());
        assert!(names(directory.path()).is_empty());
    }

    #[test]
    fn the_summary_of_a_step_is_appended_to() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("summary");
        let surroundings = Surroundings {
            step_summary: Some(path.clone()),
            ..Surroundings::default()
        };
        let output = Output {
            format: Format::Comment,
            path: path.clone(),
        };
        output.write(b"one\n", &surroundings).unwrap();
        output.write(b"two\n", &surroundings).unwrap();
        assert_eq!(fs::read_to_string(path).unwrap(), "one\n\n\ntwo\n");
    }

    #[cfg(unix)]
    #[test]
    fn a_new_file_may_be_read_by_others_and_an_old_one_keeps_its_permissions() {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let directory = tempfile::tempdir().unwrap();
        let plain = directory.path().join("plain");
        fs::write(&plain, "").unwrap();
        let output = Output {
            format: Format::Json,
            path: directory.path().join("report.json"),
        };
        output.write(b"text", &Surroundings::default()).unwrap();
        assert_eq!(mode(&output.path), mode(&plain));
        fs::set_permissions(&output.path, fs::Permissions::from_mode(0o640)).unwrap();
        output.write(b"text", &Surroundings::default()).unwrap();
        assert_eq!(mode(&output.path), 0o640);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_a_link() {
        let directory = tempfile::tempdir().unwrap();
        let (target, link) = (directory.path().join("target"), directory.path().join("l"));
        fs::write(&target, "old").unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        let output = Output {
            format: Format::Json,
            path: link.clone(),
        };
        output.write(b"new", &Surroundings::default()).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(target).unwrap(), "new");
    }
}
