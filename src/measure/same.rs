//! Whether two files or folders hold the same.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::Path;

/// Whether both files hold the same bytes.
pub(super) fn same_file(one: &Path, other: &Path) -> io::Result<bool> {
    let (one, other) = (File::open(one)?, File::open(other)?);
    if one.metadata()?.len() != other.metadata()?.len() {
        return Ok(false);
    }
    let (mut one, mut other) = (BufReader::new(one), BufReader::new(other));
    let (mut left, mut right) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    loop {
        let length = one.read(&mut left)?;
        if length == 0 {
            return Ok(other.read(&mut right)? == 0);
        }
        if other.read_exact(&mut right[..length]).is_err() || left[..length] != right[..length] {
            return Ok(false);
        }
    }
}

/// Whether both paths hold the same files with the same names, or neither is there.
pub(super) fn same_tree(one: &Path, other: &Path) -> io::Result<bool> {
    let (left, right) = (one.symlink_metadata().ok(), other.symlink_metadata().ok());
    let (left, right) = match (left, right) {
        (None, None) => return Ok(true),
        (Some(left), Some(right)) => (left.file_type(), right.file_type()),
        _ => return Ok(false),
    };
    if left.is_dir() && right.is_dir() {
        let names = names(one)?;
        if names != self::names(other)? {
            return Ok(false);
        }
        for name in names {
            if !same_tree(&one.join(&name), &other.join(&name))? {
                return Ok(false);
            }
        }
        return Ok(true);
    }
    if left.is_symlink() && right.is_symlink() {
        return Ok(fs::read_link(one)? == fs::read_link(other)?);
    }
    Ok(left.is_file() && right.is_file() && same_file(one, other)?)
}

fn names(folder: &Path) -> io::Result<BTreeSet<OsString>> {
    fs::read_dir(folder)?
        .map(|entry| Ok(entry?.file_name()))
        .collect()
}

/// Whether a package has the same `testdata` on both sides, and so have the folders above it, up to the tops.
pub(super) fn same_testdata(one: (&Path, &Path), other: (&Path, &Path)) -> io::Result<bool> {
    let ((one, top), (other, other_top)) = (one, other);
    let within = |folder: &Path, top: &Path| folder.strip_prefix(top).map(Path::to_owned).ok();
    let (Some(place), Some(other_place)) = (within(one, top), within(other, other_top)) else {
        return same_tree(&one.join("testdata"), &other.join("testdata"));
    };
    // Of a package that moved, the folders above it are others.
    if place != other_place {
        return Ok(false);
    }
    for place in place.ancestors() {
        if !same_tree(
            &top.join(place).join("testdata"),
            &other_top.join(place).join("testdata"),
        )? {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_bytes_both_count() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for side in ["a", "b"] {
            fs::create_dir_all(path(side).join("m/p/testdata")).unwrap();
            fs::create_dir_all(path(side).join("m/testdata/deep")).unwrap();
            fs::write(path(side).join("m/p/testdata/one"), vec![7; 200_000]).unwrap();
            fs::write(path(side).join("m/testdata/deep/two"), "x").unwrap();
        }
        let (a, b) = (path("a"), path("b"));
        let same = || same_testdata((&a.join("m/p"), &a), (&b.join("m/p"), &b)).unwrap();
        assert!(same());
        fs::write(b.join("m/testdata/deep/two"), "y").unwrap();
        assert!(!same());
        fs::write(b.join("m/testdata/deep/two"), "x").unwrap();
        fs::write(b.join("m/p/testdata/new"), "").unwrap();
        assert!(!same());
    }
}
