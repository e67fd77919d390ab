//! Where benchmarks stand in the source, for annotations: found in the module of the working folder.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use bstr::{BString, ByteSlice};

use crate::judge::Judged;
use crate::render::presentation::SourceLine;

/// Finds the functions of the benchmarks of a run; of those that it does not find it says nothing.
pub fn find(run: &Judged, folder: &Path) -> HashMap<(BString, BString), SourceLine> {
    let mut places = HashMap::new();
    let Some((root, module)) = module(folder) else {
        return places;
    };
    let repository = repository(&root);
    for table in &run.report.tables {
        let Some(package) = table.key.iter().find(|field| *field.key == "pkg") else {
            continue;
        };
        let package = package.value.clone();
        let name = package.to_str_lossy();
        let Some(path) = within(&name, &module) else {
            continue;
        };
        for (name, path, line) in functions(&root.join(path)) {
            let file = path.strip_prefix(&repository).unwrap_or(&path);
            let file = file.to_string_lossy().replace('\\', "/");
            let key = (package.clone(), name.into());
            places.entry(key).or_insert(SourceLine { file, line });
        }
    }
    places
}

/// The nearest folder upwards with a `go.mod`, and the path of the module.
fn module(folder: &Path) -> Option<(PathBuf, String)> {
    folder.ancestors().find_map(|folder| {
        let text = fs::read_to_string(folder.join("go.mod")).ok()?;
        let name = text.lines().find_map(|line| line.strip_prefix("module "))?;
        Some((folder.to_owned(), name.trim().trim_matches('"').to_owned()))
    })
}

/// The nearest folder upwards that is a repository, else `folder` itself.
fn repository(folder: &Path) -> PathBuf {
    let mut folders = folder.ancestors();
    let found = folders.find(|folder| folder.join(".git").exists());
    found.unwrap_or(folder).to_owned()
}

/// The folder of a package within its module.
fn within<'p>(package: &'p str, module: &str) -> Option<&'p str> {
    let path = package.strip_prefix(module)?;
    match path.strip_prefix('/') {
        Some(path) => (!path.split('/').any(|part| part == "..")).then_some(path),
        None => path.is_empty().then_some(path),
    }
}

/// The benchmarks in the test files of a folder: name without `Benchmark`, file, line.
fn functions(folder: &Path) -> Vec<(String, PathBuf, usize)> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = files.map(|file| file.path());
    let mut paths: Vec<PathBuf> = paths
        .filter(|path| path.to_string_lossy().ends_with("_test.go"))
        .collect();
    paths.sort();
    let mut functions = Vec::new();
    for path in paths {
        let text = fs::read_to_string(&path).unwrap_or_default();
        for (index, line) in text.lines().enumerate() {
            let name = line
                .strip_prefix("func Benchmark")
                .and_then(|rest| rest.split_once('('));
            if let Some((name, _)) = name {
                functions.push((name.to_owned(), path.clone(), index + 1));
            }
        }
    }
    functions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_of_a_package_are_found_in_its_folder() {
        let root = tempfile::tempdir().unwrap();
        fs::write(
            root.path().join("go.mod"),
            "module example.com/m\n\ngo 1.24\n",
        )
        .unwrap();
        fs::create_dir(root.path().join("wire")).unwrap();
        let text = "package wire\n\nfunc BenchmarkEncode(b *testing.B) {\n}\n";
        fs::write(root.path().join("wire/wire_test.go"), text).unwrap();
        let (folder, module) = module(&root.path().join("wire")).unwrap();
        assert_eq!(folder, root.path());
        assert_eq!(within("example.com/m/wire", &module), Some("wire"));
        assert_eq!(within("example.com/more", &module), None);
        assert_eq!(within("example.com/m/../x", &module), None);
        let found = functions(&folder.join("wire"));
        let wanted = ("Encode".to_owned(), folder.join("wire/wire_test.go"), 3);
        assert_eq!(found, [wanted]);
    }
}
