//! Runs the program as a process would be, without starting one.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use rbenchstat::cli::{self, Streams, Surroundings};

use crate::inputs::Sides;

/// What a run left behind.
pub struct Run {
    pub status: u8,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

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
    let mut arguments: Vec<OsString> = vec!["rbenchstat".into()];
    arguments.extend(flags.iter().map(OsString::from));
    for side in ["old", "new"] {
        let mut input = OsString::from(format!("{side}.txt="));
        input.push(folder.join(format!("{side}.txt")));
        arguments.push(input);
    }
    let mut stdin: &[u8] = b"";
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let exit = cli::run(
        arguments,
        &mut Streams {
            stdin: &mut stdin,
            stdout: &mut stdout,
            stderr: &mut stderr,
            stdin_is_terminal: false,
            surroundings,
        },
    );
    Run {
        status: exit.status(),
        stdout,
        stderr: String::from_utf8_lossy(&stderr).into_owned(),
    }
}

/// Compares `sides` in a folder of their own.
pub fn compare_sides(sides: &Sides, flags: &[&str]) -> Run {
    let folder = tempfile::tempdir().unwrap();
    lay(folder.path(), sides);
    compare(folder.path(), flags, Surroundings::default())
}
