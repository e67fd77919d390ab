//! Compares two sides.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::Path;

use rbenchstat::cli::Surroundings;

use crate::in_process::{self, Run};
use crate::inputs::Sides;

impl Run {
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }
}

/// Writes both sides into `folder` as `old.txt` and `new.txt`.
pub fn lay(folder: &Path, sides: &Sides) {
    fs::write(folder.join("old.txt"), &sides.old).unwrap();
    fs::write(folder.join("new.txt"), &sides.new).unwrap();
}

/// Compares `old.txt` and `new.txt` of `folder`.
pub fn compare(folder: &Path, flags: &[&str], surroundings: Surroundings) -> Run {
    let mut arguments: Vec<OsString> = flags.iter().map(OsString::from).collect();
    for side in ["old", "new"] {
        let mut input = OsString::from(format!("{side}.txt="));
        input.push(folder.join(format!("{side}.txt")));
        arguments.push(input);
    }
    in_process::run(arguments, io::empty(), surroundings)
}

/// Compares `sides` in a folder of their own.
pub fn compare_sides(sides: &Sides, flags: &[&str]) -> Run {
    let folder = tempfile::tempdir().unwrap();
    lay(folder.path(), sides);
    compare(folder.path(), flags, Surroundings::default())
}
