//! Messages under the name by which the program was called.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::Path;

/// What messages start with.
const OWN: &[u8] = b"rbenchstat: ";
/// What they start with where a link stands in for the reference, so that scripts that look for its messages find them.
const REFERENCE: &[u8] = b"benchstat: ";

/// Whether a program called `name`, with or without a folder, stands in for the reference.
pub(super) fn stands_in(name: &OsStr) -> bool {
    let stem = Path::new(name).file_stem();
    stem.is_some_and(|stem| stem == "benchstat")
}

/// Replaces the name of the program at the start of each line.
pub(super) struct Renamed<'w> {
    out: &'w mut dyn Write,
    /// How much of [`OWN`] the line starts with that is not written yet; none further on in the line.
    matched: Option<usize>,
}

impl<'w> Renamed<'w> {
    pub fn new(out: &'w mut dyn Write) -> Self {
        Self {
            out,
            matched: Some(0),
        }
    }
}

impl Write for Renamed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for line in bytes.split_inclusive(|&byte| byte == b'\n') {
            let mut rest = line;
            while let (Some(matched), Some((first, after))) = (self.matched, rest.split_first()) {
                if *first != OWN[matched] {
                    self.out.write_all(&OWN[..matched])?;
                    self.matched = None;
                    break;
                }
                rest = after;
                self.matched = Some(matched + 1);
                if matched + 1 == OWN.len() {
                    self.out.write_all(REFERENCE)?;
                    self.matched = None;
                }
            }
            self.out.write_all(rest)?;
            if line.ends_with(b"\n") {
                self.matched = Some(0);
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_changes_at_the_start_of_lines_only_however_they_are_cut() {
        let text = "rbenchstat: rbenchstat: a\nrbench\nrbenchstat: note: b\nx rbenchstat: c\n\n";
        let renamed = "benchstat: rbenchstat: a\nrbench\nbenchstat: note: b\nx rbenchstat: c\n\n";
        for size in 1..text.len() {
            let mut out = Vec::new();
            let mut writer = Renamed::new(&mut out);
            for piece in text.as_bytes().chunks(size) {
                writer.write_all(piece).unwrap();
            }
            assert_eq!(String::from_utf8(out).unwrap(), renamed, "{size}");
        }
    }

    #[test]
    fn only_the_name_of_the_reference_stands_in() {
        for (name, stands) in [
            ("benchstat", true),
            ("/usr/bin/benchstat", true),
            ("benchstat.exe", true),
            ("rbenchstat", false),
            ("benchstat2", false),
        ] {
            assert_eq!(stands_in(OsStr::new(name)), stands, "{name}");
        }
    }
}
