//! The folder that the results are written to.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::MeasureError;

/// Tells our folders from others, and keeps them out of commits and out of the count of changed files.
const MARK: &str = ".gitignore";
const MARK_TEXT: &str = "# Written by rbenchstat run, which replaces what is in this folder.\n*\n";

/// A folder of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folder(PathBuf);

impl Folder {
    /// Makes the folder, or takes one that an earlier run made and empties it of results.
    ///
    /// # Errors
    /// It holds files that are not ours, or cannot be written.
    pub fn claim(path: &Path) -> Result<Self, MeasureError> {
        fs::create_dir_all(path).map_err(MeasureError::file(path))?;
        let entries: Vec<_> = fs::read_dir(path)
            .and_then(Iterator::collect)
            .map_err(MeasureError::file(path))?;
        let is_ours = fs::read_to_string(path.join(MARK)).is_ok_and(|text| text == MARK_TEXT);
        if !entries.is_empty() && !is_ours {
            return MeasureError::refused(format!(
                "{} holds files that rbenchstat run did not write: name another folder with -into",
                path.display()
            ));
        }
        let folder = Self(path.to_owned());
        folder.write(MARK, MARK_TEXT.as_bytes())?;
        for entry in entries {
            let (path, name) = (entry.path(), entry.file_name());
            let name = name.to_string_lossy();
            let is_of_side = name.starts_with("base") || name.starts_with("head");
            if is_of_side && path.extension().is_some_and(|extension| extension == "txt") {
                fs::remove_file(&path).map_err(MeasureError::file(&path))?;
            }
        }
        Ok(folder)
    }

    /// The file of a side.
    #[must_use]
    pub fn file(&self, label: &str) -> PathBuf {
        self.0.join(format!("{label}.txt"))
    }

    /// Writes the file of a side: all of it, or nothing.
    pub(super) fn write_results(&self, label: &str, text: &[u8]) -> Result<(), MeasureError> {
        self.write(&format!("{label}.txt"), text)
    }

    fn write(&self, name: &str, text: &[u8]) -> Result<(), MeasureError> {
        let path = self.0.join(name);
        let write = || {
            let mut builder = tempfile::Builder::new();
            builder.prefix(".rbenchstat-");
            #[cfg(unix)]
            {
                use std::os::unix::fs::PermissionsExt;
                // As for any new file: the mask of the user decides.
                builder.permissions(fs::Permissions::from_mode(0o666));
            }
            let mut file = builder.tempfile_in(&self.0)?;
            file.write_all(text)?;
            file.persist(&path).map_err(|error| error.error)?;
            Ok(())
        };
        write().map_err(MeasureError::file(&path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_folder_of_ours_is_used_again() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("base.txt"), "precious").unwrap();
        let refusal = Folder::claim(folder.path()).unwrap_err().to_string();
        assert!(refusal.contains("did not write"), "{refusal}");
        assert_eq!(
            fs::read(folder.path().join("base.txt")).unwrap(),
            b"precious"
        );

        let inner = folder.path().join("deep/run");
        let ours = Folder::claim(&inner).unwrap();
        ours.write_results("base", b"old").unwrap();
        Folder::claim(&inner).unwrap();
        assert!(!ours.file("base").exists());
    }
}
