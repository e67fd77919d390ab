//! Rego files and their data: built in, or read from a bundle.

use std::fs;
use std::io::Read as _;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail, ensure};
use flate2::read::MultiGzDecoder;
use serde_json::{Map, Value};

/// One Rego file.
#[derive(Clone, Debug)]
pub struct PolicyFile {
    /// What errors call it.
    pub name: String,
    /// Its contents.
    pub text: String,
}

/// Everything an engine compiles.
#[derive(Clone, Debug)]
pub struct Policy {
    /// Rego files, in the order compiled.
    pub files: Vec<PolicyFile>,
    /// The data document.
    pub data: Value,
    /// The path of the rule that decides, such as `envoy/authz/allow`.
    pub decision: String,
}

/// The largest file of a bundle, in bytes.
const LARGEST_FILE: u64 = 64 << 20;

/// All files of a bundle together, in bytes: a few megabytes of gzip can hold terabytes.
const LARGEST_BUNDLE: u64 = 256 << 20;

/// Directories in directories: deeper is a loop or a mistake.
const DEEPEST: usize = 64;

/// A file of a bundle: its parts below the root, what errors call it, and its contents.
struct Member {
    path: Vec<String>,
    name: String,
    contents: Vec<u8>,
}

impl Policy {
    /// A policy of this program's own files.
    #[must_use]
    pub fn built_in(name: &str, text: &str) -> Self {
        Self {
            files: vec![PolicyFile {
                name: name.to_owned(),
                text: text.to_owned(),
            }],
            data: Value::Object(Map::new()),
            decision: "envoy/authz/allow".to_owned(),
        }
    }

    /// Reads a directory or an OPA bundle (`.tar.gz`).
    ///
    /// As OPA does, a `data.json` in a directory becomes the data document at
    /// that path; tests (`*_test.rego`) are left out.
    ///
    /// # Errors
    /// With the file that cannot be read or makes no sense.
    pub fn load(path: &Path, decision: &str) -> Result<Self> {
        let members = if path.is_dir() {
            let mut members = Vec::new();
            walk(path, &mut Vec::new(), &mut members)?;
            members
        } else {
            unpack(path)?
        };
        let mut policy = Self {
            files: Vec::new(),
            data: Value::Object(Map::new()),
            decision: decision.to_owned(),
        };
        for member in members {
            policy.add(member)?;
        }
        if policy.files.is_empty() {
            bail!("{}: no .rego file in it", path.display());
        }
        Ok(policy)
    }

    /// Adds a Rego file, such as one with `system.log.mask`.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn add_file(&mut self, path: &Path) -> Result<()> {
        let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
        self.files.push(PolicyFile {
            name: path.display().to_string(),
            text,
        });
        Ok(())
    }

    fn add(&mut self, member: Member) -> Result<()> {
        let Some(file) = member.path.last() else {
            return Ok(());
        };
        if is_rego(file) && !file.ends_with("_test.rego") {
            let text = String::from_utf8(member.contents)
                .map_err(|_| anyhow!("{}: not UTF-8", member.name))?;
            self.files.push(PolicyFile {
                name: member.name,
                text,
            });
        } else if file == "data.json" {
            let value: Value = serde_json::from_slice(&member.contents)
                .map_err(|error| anyhow!("{}:{}: {error}", member.name, error.line()))?;
            let parents = &member.path[..member.path.len() - 1];
            let value = parents.iter().rev().fold(value, |inner, part| {
                Value::Object(Map::from_iter([(part.clone(), inner)]))
            });
            merge(&mut self.data, value).map_err(|key| {
                anyhow!(
                    "{}: the key {key:?} is set by another data.json too",
                    member.name
                )
            })?;
        } else if file == "data.yaml" || file == "data.yml" {
            bail!("{}: YAML is not read; convert it to data.json", member.name);
        }
        Ok(())
    }
}

/// Reads the files below `directory` in name order, without following links to directories.
fn walk(directory: &Path, parts: &mut Vec<String>, members: &mut Vec<Member>) -> Result<()> {
    ensure!(
        parts.len() <= DEEPEST,
        "{}: more than {DEEPEST} directories deep",
        directory.display()
    );
    let mut entries = fs::read_dir(directory)
        .and_then(Iterator::collect::<std::io::Result<Vec<_>>>)
        .with_context(|| directory.display().to_string())?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        parts.push(entry.file_name().to_string_lossy().into_owned());
        if entry.file_type()?.is_dir() {
            walk(&path, parts, members)?;
        } else if wanted(parts) {
            let shown = path.display().to_string();
            // Opening a pipe would wait for somebody to write to it.
            let regular = fs::metadata(&path)
                .with_context(|| shown.clone())?
                .is_file();
            ensure!(regular, "{shown}: not a regular file");
            let file = fs::File::open(&path).with_context(|| shown.clone())?;
            let contents = read(file, &shown, members)?;
            members.push(Member {
                path: parts.clone(),
                name: shown,
                contents,
            });
        }
        parts.pop();
    }
    Ok(())
}

fn unpack(path: &Path) -> Result<Vec<Member>> {
    let shown = path.display();
    let file = fs::File::open(path).with_context(|| shown.to_string())?;
    let mut archive = tar::Archive::new(MultiGzDecoder::new(file).take(4 * LARGEST_BUNDLE));
    let not_a_bundle = || format!("{shown}: neither a directory nor a gzip-compressed tar archive");
    let mut members = Vec::new();
    for entry in archive.entries().with_context(not_a_bundle)? {
        let mut entry = entry.with_context(not_a_bundle)?;
        if !entry.header().entry_type().is_file() {
            continue;
        }
        let inner = entry.path().with_context(not_a_bundle)?;
        let parts: Vec<String> = inner
            .components()
            .filter_map(|part| match part {
                std::path::Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
                _ => None,
            })
            .collect();
        if wanted(&parts) {
            let name = format!("{shown}:/{}", parts.join("/"));
            let contents = read(&mut entry, &name, &members)?;
            members.push(Member {
                path: parts,
                name,
                contents,
            });
        }
    }
    members.sort_by(|left, right| left.path.cmp(&right.path));
    Ok(members)
}

/// Reads a file that joins `members`.
fn read(file: impl std::io::Read, name: &str, members: &[Member]) -> Result<Vec<u8>> {
    let before: u64 = members
        .iter()
        .map(|member| member.contents.len() as u64)
        .sum();
    let limit = LARGEST_FILE.min(LARGEST_BUNDLE.saturating_sub(before));
    let mut contents = Vec::new();
    file.take(limit + 1)
        .read_to_end(&mut contents)
        .with_context(|| name.to_owned())?;
    ensure!(
        contents.len() as u64 <= limit,
        "{name}: a file of a bundle may have {} MiB, and all together {} MiB",
        LARGEST_FILE >> 20,
        LARGEST_BUNDLE >> 20
    );
    Ok(contents)
}

fn is_rego(file: &str) -> bool {
    Path::new(file).extension() == Some("rego".as_ref())
}

fn wanted(path: &[String]) -> bool {
    path.last().is_some_and(|file| {
        is_rego(file) || ["data.json", "data.yaml", "data.yml"].contains(&file.as_str())
    })
}

/// Merges `addition` into `target`; the error is the key both set.
fn merge(target: &mut Value, addition: Value) -> Result<(), String> {
    match (target, addition) {
        (Value::Object(target), Value::Object(addition)) => {
            for (key, value) in addition {
                match target.get_mut(&key) {
                    None => {
                        target.insert(key, value);
                    }
                    Some(there) if there.is_object() && value.is_object() => merge(there, value)?,
                    Some(_) => return Err(key),
                }
            }
            Ok(())
        }
        (_, other) => Err(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn bundle() -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        fs::create_dir_all(root.join("roles/eu")).unwrap();
        fs::write(root.join("p.rego"), "package p\nallow = true").unwrap();
        fs::write(root.join("p_test.rego"), "package p_test").unwrap();
        fs::write(root.join("data.json"), r#"{"a": 1}"#).unwrap();
        fs::write(root.join("roles/data.json"), r#"{"admin": ["x"]}"#).unwrap();
        fs::write(root.join("roles/eu/data.json"), r#"{"b": 2}"#).unwrap();
        directory
    }

    #[test]
    fn data_files_stand_at_the_path_of_their_directory() {
        let directory = bundle();
        let policy = Policy::load(directory.path(), "p/allow").unwrap();
        assert_eq!(policy.files.len(), 1);
        assert!(policy.files[0].name.ends_with("p.rego"));
        let expected = json!({"a": 1, "roles": {"admin": ["x"], "eu": {"b": 2}}});
        assert_eq!(policy.data, expected);
    }

    #[test]
    fn an_archive_reads_as_its_directory_does() {
        let directory = bundle();
        let archive = directory.path().with_extension("tar.gz");
        let file = fs::File::create(&archive).unwrap();
        let encoder = flate2::write::GzEncoder::new(file, flate2::Compression::default());
        let mut builder = tar::Builder::new(encoder);
        builder.append_dir_all(".", directory.path()).unwrap();
        builder.into_inner().unwrap().finish().unwrap();
        let unpacked = Policy::load(&archive, "p/allow").unwrap();
        let walked = Policy::load(directory.path(), "p/allow").unwrap();
        fs::remove_file(&archive).unwrap();
        assert_eq!(unpacked.data, walked.data);
        assert_eq!(unpacked.files[0].text, walked.files[0].text);
    }

    #[test]
    fn a_broken_data_file_says_file_and_line() {
        let directory = bundle();
        fs::write(directory.path().join("data.json"), "{\n\"a\": }").unwrap();
        let error = Policy::load(directory.path(), "p/allow").unwrap_err();
        assert!(error.to_string().contains("data.json:2:"), "{error}");
    }

    #[test]
    fn a_key_set_twice_is_an_error() {
        let directory = bundle();
        fs::write(
            directory.path().join("data.json"),
            r#"{"roles": {"eu": 1}}"#,
        )
        .unwrap();
        let error = Policy::load(directory.path(), "p/allow").unwrap_err();
        assert!(error.to_string().contains("\"eu\""), "{error}");
    }

    #[test]
    fn a_file_that_is_no_archive_says_so() {
        let directory = bundle();
        let error = Policy::load(&directory.path().join("p.rego"), "p/allow").unwrap_err();
        assert!(error.to_string().contains("neither a directory"), "{error}");
    }
}
