//! Calling `go`: which packages have benchmarks, and their programs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use bstr::{ByteSlice, ByteVec};
use indexmap::{IndexMap, IndexSet};

use super::program::{self, End, Finished};
use super::side::Side;
use super::{GoWork, MeasureError, same};

/// A package of one side.
#[derive(Clone, Debug)]
pub(super) struct SideOfPackage {
    pub folder: PathBuf,
    pub program: Option<PathBuf>,
}

/// A package, by its import path, with its place on each side that has it.
#[derive(Clone, Debug)]
pub(super) struct GoPackage {
    pub name: String,
    pub places: Vec<Option<SideOfPackage>>,
}

/// A package that one side could not build.
#[derive(Debug)]
pub(super) struct Broken {
    pub package: usize,
    pub side: usize,
    pub reason: String,
}

fn go(folder: &Path, arguments: &[String]) -> Result<Finished, MeasureError> {
    let mut command = Command::new("go");
    // What a hook of git sets would stop `go` from asking git about this folder.
    command
        .args(arguments)
        .current_dir(folder)
        .env("PWD", folder)
        .env_remove("GIT_DIR");
    let finished = program::run(&mut command, None)?;
    if finished.end == End::Interrupted {
        return Err(MeasureError::Interrupted);
    }
    Ok(finished)
}

fn build_flags(work: &GoWork) -> Vec<String> {
    let mut flags = vec!["-trimpath".to_owned(), "-buildvcs=false".to_owned()];
    flags.extend(work.tags.iter().map(|tags| format!("-tags={tags}")));
    flags.extend(work.build_flags.iter().cloned());
    flags
}

/// One package is a list of its import path, folder, error and test files.
const LIST: &str = r#"{{.ImportPath}}{{"\x00"}}{{.Dir}}{{"\x00"}}{{with .Error}}{{.}}{{end}}{{range .TestGoFiles}}{{"\x00"}}{{.}}{{end}}{{range .XTestGoFiles}}{{"\x00"}}{{.}}{{end}}{{"\x01"}}"#;

/// The packages of all sides whose test files have benchmarks.
pub(super) fn packages(sides: &[Side], work: &GoWork) -> Result<Vec<GoPackage>, MeasureError> {
    let mut packages: IndexMap<String, Vec<Option<SideOfPackage>>> = IndexMap::new();
    for (index, side) in sides.iter().enumerate() {
        check_workspace(side, sides)?;
        let mut arguments = vec![
            "list".to_owned(),
            "-e".to_owned(),
            "-f".to_owned(),
            LIST.to_owned(),
        ];
        arguments.extend(build_flags(work));
        arguments.push("--".into());
        arguments.extend(work.packages.iter().cloned());
        let finished = go(&side.folder, &arguments)?;
        if !finished.is_success() {
            return MeasureError::refused(format!(
                "go list failed on {}:{}",
                side.label,
                finished.tail()
            ));
        }
        for record in finished.stdout.split_str("\x01") {
            let fields: Vec<_> = record.trim_start().split_str("\0").collect();
            let &[name, folder, error, ref files @ ..] = fields.as_slice() else {
                continue;
            };
            if folder.is_empty() {
                let (name, error) = (name.to_str_lossy(), error.to_str_lossy());
                return MeasureError::refused(format!("{name} on {}: {error}", side.label));
            }
            let folder = folder.to_vec().into_path_buf_lossy();
            if files
                .iter()
                .any(|file| has_benchmark(&folder.join(file.to_path_lossy())))
            {
                let name = name.to_str_lossy().into_owned();
                let places = packages
                    .entry(name)
                    .or_insert_with(|| vec![None; sides.len()]);
                places[index] = Some(SideOfPackage {
                    folder,
                    program: None,
                });
            }
        }
    }
    let packages = packages
        .into_iter()
        .map(|(name, places)| GoPackage { name, places });
    Ok(packages.collect())
}

fn has_benchmark(file: &Path) -> bool {
    fs::read(file).is_ok_and(|text| text.contains_str("func Benchmark"))
}

/// Refuses a workspace that would build one side from the sources of another.
fn check_workspace(side: &Side, sides: &[Side]) -> Result<(), MeasureError> {
    let finished = go(&side.folder, &["env".into(), "GOWORK".into()])?;
    if !finished.is_success() {
        return MeasureError::refused(format!("go env failed:{}", finished.tail()));
    }
    let workspace = PathBuf::from(finished.text());
    if workspace.as_os_str().is_empty() || workspace == Path::new("off") {
        // Then no other side may have one.
        return Ok(());
    }
    let canonical = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let workspace = canonical(&workspace);
    let has_own = |side: &Side| workspace.strip_prefix(canonical(&side.top)).is_ok();
    let all_have = || {
        let place = workspace
            .strip_prefix(canonical(&side.top))
            .unwrap_or(&workspace);
        sides.iter().all(|other| other.top.join(place).is_file())
    };
    if has_own(side) && all_have() {
        return Ok(());
    }
    MeasureError::refused(format!(
        "{} applies to {} only: commit it on all sides, or set GOWORK=off",
        workspace.display(),
        side.label
    ))
}

/// Builds the programs of all packages into `folder`, several at a time; tells those that cannot be built.
pub(super) fn build(
    packages: &mut [GoPackage],
    sides: &[Side],
    work: &GoWork,
    folder: &Path,
) -> Result<Vec<Broken>, MeasureError> {
    let jobs: Vec<(usize, usize)> = packages
        .iter()
        .enumerate()
        .flat_map(|(package, of)| {
            (0..of.places.len())
                .filter(|&side| of.places[side].is_some())
                .map(move |side| (package, side))
        })
        .collect();
    let next = AtomicUsize::new(0);
    let workers = thread::available_parallelism()
        .map_or(1, usize::from)
        .min(jobs.len());
    let work_off = || {
        let mut built = Vec::new();
        while let Some(&(package, side)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let file = folder.join(format!(
                "{package}-{}.test{}",
                sides[side].label,
                std::env::consts::EXE_SUFFIX
            ));
            let outcome = build_one(&packages[package].name, &sides[side], work, &file)?;
            built.push((package, side, outcome.map(|()| file)));
        }
        Ok::<_, MeasureError>(built)
    };
    let built = thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work_off)).collect();
        let mut built = Vec::new();
        for worker in workers {
            let Ok(done) = worker.join() else {
                return MeasureError::refused("building stopped");
            };
            built.extend(done?);
        }
        Ok(built)
    })?;
    let mut broken = Vec::new();
    for (package, side, outcome) in built {
        match (outcome, packages[package].places[side].as_mut()) {
            (Ok(file), Some(place)) => place.program = Some(file),
            (Err(reason), _) => broken.push(Broken {
                package,
                side,
                reason,
            }),
            (Ok(_), None) => {}
        }
    }
    broken.sort_by_key(|broken| (broken.package, broken.side));
    Ok(broken)
}

fn build_one(
    package: &str,
    side: &Side,
    work: &GoWork,
    file: &Path,
) -> Result<Result<(), String>, MeasureError> {
    let mut arguments = vec![
        "test".to_owned(),
        "-c".to_owned(),
        "-o".to_owned(),
        file.to_string_lossy().into_owned(),
    ];
    arguments.extend(build_flags(work));
    arguments.push(package.to_owned());
    let finished = go(&side.folder, &arguments)?;
    if finished.is_success() && file.is_file() {
        return Ok(Ok(()));
    }
    Ok(Err(finished.tail()))
}

/// Whether the package is one program on all sides, which reads the same files.
pub(super) fn is_same_program(package: &GoPackage, sides: &[Side]) -> Result<bool, MeasureError> {
    let mut places = package.places.iter().zip(sides);
    let Some((Some(first), first_side)) = places.next() else {
        return Ok(false);
    };
    for (place, side) in places {
        let Some(place) = place else { return Ok(false) };
        let (Some(one), Some(other)) = (&first.program, &place.program) else {
            return Ok(false);
        };
        let is_same = || {
            let of_first = (first.folder.as_path(), first_side.top.as_path());
            let of_other = (place.folder.as_path(), side.top.as_path());
            Ok(same::same_file(one, other)? && same::same_testdata(of_first, of_other)?)
        };
        if !is_same().map_err(MeasureError::file(&place.folder))? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A pattern for `-test.bench` that has these names, as results have them, and perhaps others.
///
/// Results have the number of processors at their end, unless it is one; who can tell it from a name that ends in a number?
/// Each part between slashes is matched for itself, and a pattern of fewer parts than a name has everything below.
pub(super) fn pattern(names: &[&str]) -> String {
    let parts: Vec<Vec<&str>> = names.iter().map(|name| name.split('/').collect()).collect();
    let depth = |parts: &Vec<&str>| parts.len();
    let (least, most) = (
        parts.iter().map(depth).min().unwrap_or(1),
        parts.iter().map(depth).max().unwrap_or(1),
    );
    // A pattern of more parts than a name has runs nothing of it.
    let depth = if least == most { least } else { 1 };
    let of_depth = |at: usize| {
        let mut alternatives = IndexSet::new();
        for part in parts.iter().filter_map(|parts| parts.get(at)) {
            alternatives.insert(quoted(part));
            let number = part.rsplit_once('-');
            if let Some((name, _)) = number.filter(|(_, number)| is_number(number)) {
                alternatives.insert(quoted(name));
            }
        }
        let alternatives: Vec<_> = alternatives.into_iter().collect();
        format!("^({})$", alternatives.join("|"))
    };
    (0..depth).map(of_depth).collect::<Vec<_>>().join("/")
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The text as a pattern of Go that matches nothing else.
fn quoted(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    for char in text.chars() {
        if r"\.+*?()|[]{}^$".contains(char) {
            pattern.push('\\');
        }
        pattern.push(char);
    }
    pattern
}

/// The command that runs those benchmarks of a program that match `bench`, but for those in `skip`.
pub(super) fn bench(
    place: &SideOfPackage,
    program: &Path,
    work: &GoWork,
    bench: &str,
    skip: &[String],
) -> Command {
    let mut command = Command::new(program);
    // As `go test` runs it: in the folder of the package, and with this flag.
    command.current_dir(&place.folder).env("PWD", &place.folder);
    command.args([
        "-test.paniconexit0",
        "-test.run=^$",
        "-test.benchmem",
        "-test.count=1",
    ]);
    command.arg(format!("-test.bench={bench}"));
    if let Some(benchtime) = &work.benchtime {
        command.arg(format!("-test.benchtime={benchtime}"));
    }
    if let Some(cpu) = &work.cpu {
        command.arg(format!("-test.cpu={cpu}"));
    }
    if !skip.is_empty() {
        command.arg(format!("-test.skip=^({})$", skip.join("|")));
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_found_again_by_a_pattern() {
        assert_eq!(
            pattern(&["BenchmarkOne-8", "BenchmarkTwo"]),
            "^(BenchmarkOne-8|BenchmarkOne|BenchmarkTwo)$"
        );
        assert_eq!(
            pattern(&["BenchmarkOne/a.b=1-8"]),
            r"^(BenchmarkOne)$/^(a\.b=1-8|a\.b=1)$"
        );
        // Of names of several depths all below the function is run.
        assert_eq!(
            pattern(&["BenchmarkOne/a-8", "BenchmarkTwo-8"]),
            "^(BenchmarkOne|BenchmarkTwo-8|BenchmarkTwo)$"
        );
    }
}
