//! Holds the house to its plan: which folder may import which, no circles between files, and the picture of it in CONTRIBUTING.md.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod imports;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::Path;

use imports::{Import, Sources};

/// Each folder of `src`, in the direction of the data, and the folders that it may import.
///
/// What a folder does not need today is not in its line: adding a name here is a decision, and is seen in review.
const ALLOWED: [(&str, &[&str]); 14] = [
    ("unit", &[]),
    ("stats", &[]),
    ("common", &[]),
    ("input", &[]),
    ("record", &[]),
    ("query", &["common", "record"]),
    ("sample", &["common", "query", "record", "unit"]),
    (
        "read",
        &["common", "input", "query", "record", "sample", "unit"],
    ),
    ("report", &["common", "record", "sample", "stats", "unit"]),
    (
        "judge",
        &[
            "input", "query", "read", "record", "report", "sample", "stats", "unit",
        ],
    ),
    (
        "notes",
        &[
            "common", "input", "judge", "query", "read", "record", "report", "sample",
        ],
    ),
    (
        "render",
        &["common", "judge", "record", "report", "sample", "unit"],
    ),
    ("measure", &[]),
    (
        "cli",
        &[
            "common", "input", "judge", "measure", "notes", "query", "read", "record", "render",
            "report", "unit",
        ],
    ),
];

/// A library that one place knows, so that another could take its part.
const IN_ONE_PLACE: (&str, &str) = ("regorus", "engine.rs");

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn sources() -> Sources {
    Sources::read(&root().join("src"))
}

/// What is wrong with an import, if anything is.
fn offence(import: &Import) -> Option<String> {
    let own = folder(&import.from);
    let of = folder(&import.to);
    let is_allowed = match own {
        "lib" => true,
        _ if own == of => true,
        "main" => of == "cli",
        _ => {
            let line = ALLOWED.iter().find(|(name, _)| *name == own);
            line.is_some_and(|(_, allowed)| allowed.contains(&of))
        }
    };
    (!is_allowed).then(|| {
        format!(
            "{}: may not import {}",
            import.from.join("::"),
            import.to.join("::")
        )
    })
}

fn folder(module: &[String]) -> &str {
    module.first().map_or("lib", String::as_str)
}

#[test]
fn every_import_is_one_of_the_allowed() {
    let sources = sources();
    let imports = sources.imports();
    assert!(imports.len() > 300, "the imports were not found");
    let offences: BTreeSet<String> = imports.iter().filter_map(offence).collect();
    assert!(offences.is_empty(), "{offences:#?}");
}

#[test]
fn what_may_be_imported_is_and_every_folder_has_a_line() {
    let sources = sources();
    let edges = edges(&sources);
    for (own, allowed) in ALLOWED {
        for of in allowed {
            let edge = (own.to_owned(), (*of).to_owned());
            assert!(
                edges.contains(&edge),
                "{own} does not import {of}: take it out of the table"
            );
        }
    }
    for entry in fs::read_dir(root().join("src")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let is_known = if path.is_dir() {
            ALLOWED.iter().any(|(folder, _)| *folder == name)
        } else {
            ["lib.rs", "main.rs"].contains(&name.as_str())
        };
        assert!(is_known, "src/{name} has no line in the table of folders");
    }
}

#[test]
fn the_allowed_imports_make_no_circle() {
    for (own, allowed) in ALLOWED {
        let place = |name: &str| ALLOWED.iter().position(|(folder, _)| *folder == name);
        for of in allowed {
            assert!(place(of) < place(own), "{own} may not stand before {of}");
        }
    }
}

#[test]
fn files_make_no_circle_across_folders_and_none_of_more_than_two() {
    for folder in ["src", "bench-harness/src"] {
        let sources = Sources::read(&root().join(folder));
        for circle in circles(&sources) {
            let folders: BTreeSet<&str> = circle
                .iter()
                .map(|file| sources.folder_of(file).unwrap_or_default())
                .collect();
            assert!(
                circle.len() <= 2 && folders.len() == 1,
                "{folder}: {circle:?} import each other"
            );
        }
    }
}

#[test]
fn the_library_that_changes_every_month_is_known_in_one_place() {
    let (library, place) = IN_ONE_PLACE;
    let sources = Sources::read(&root().join("bench-harness/src"));
    assert_eq!(sources.naming(library), [place]);
}

#[test]
fn the_picture_in_contributing_shows_the_imports_there_are() {
    let path = root().join("CONTRIBUTING.md");
    let text = fs::read_to_string(&path).unwrap().replace("\r\n", "\n");
    let (before, rest) = text
        .split_once("<!-- imports: drawn by tests/layers -->\n")
        .unwrap();
    let (drawn, after) = rest.split_once("<!-- end of imports -->").unwrap();
    let picture = picture(&sources());
    if std::env::var_os("BLESS").is_some() {
        let marked = format!(
            "{before}<!-- imports: drawn by tests/layers -->\n{picture}<!-- end of imports -->{after}"
        );
        fs::write(&path, marked).unwrap();
    } else {
        assert_eq!(
            drawn, picture,
            "draw it again with BLESS=1 cargo test --test layers"
        );
    }
}

/// Which folders import which.
fn edges(sources: &Sources) -> BTreeSet<(String, String)> {
    let imports = sources.imports();
    let between = imports
        .iter()
        .map(|import| (folder(&import.from), folder(&import.to)));
    let between = between.filter(|(own, of)| own != of && !["lib", "main"].contains(own));
    between
        .map(|(own, of)| (own.to_owned(), of.to_owned()))
        .collect()
}

/// The folders, and what each imports.
fn picture(sources: &Sources) -> String {
    let edges = edges(sources);
    let mut picture = String::from("```text\n");
    for (own, _) in ALLOWED {
        let is_imported = |of: &&str| edges.contains(&(own.to_owned(), (*of).to_owned()));
        let of: Vec<&str> = ALLOWED
            .iter()
            .map(|(of, _)| *of)
            .filter(is_imported)
            .collect();
        let line = if of.is_empty() {
            "nothing".into()
        } else {
            of.join(", ")
        };
        writeln!(picture, "{own:<8}← {line}").unwrap();
    }
    picture + "```\n"
}

/// The sets of files that import each other, in a row or at once.
fn circles(sources: &Sources) -> Vec<BTreeSet<String>> {
    let mut reach: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for import in sources.imports() {
        let [from, to] = [&import.from, &import.to].map(|module| module.join("/"));
        if from != to {
            reach.entry(from).or_default().insert(to);
        }
    }
    loop {
        let mut is_complete = true;
        for file in reach.keys().cloned().collect::<Vec<_>>() {
            let further = reach[&file].iter().filter_map(|next| reach.get(next));
            let further: BTreeSet<String> = further.flatten().cloned().collect();
            let of_file = reach.get_mut(&file).unwrap();
            let before = of_file.len();
            of_file.extend(further);
            is_complete &= of_file.len() == before;
        }
        if is_complete {
            break;
        }
    }
    let reaches =
        |from: &String, to: &String| reach.get(from).is_some_and(|files| files.contains(to));
    let circles = reach.keys().filter(|file| reaches(file, file)).map(|file| {
        let files = reach.keys();
        files
            .filter(|other| reaches(file, other) && reaches(other, file))
            .cloned()
            .collect()
    });
    circles
        .collect::<BTreeSet<BTreeSet<String>>>()
        .into_iter()
        .collect()
}

/// The imports of one file of a crate with `files` beside it.
fn of_file(path: &str, text: &str) -> Vec<Import> {
    let files = [
        "query/mod.rs",
        "query/filter.rs",
        "report/mod.rs",
        "report/model.rs",
        "render/mod.rs",
        "render/text.rs",
    ];
    let mut sources = Sources::default();
    for file in files {
        let text = if file == "report/mod.rs" {
            "pub mod model; pub use model::Report;"
        } else {
            ""
        };
        sources.add(Path::new(file), text);
    }
    sources.add(Path::new(path), text);
    let from = imports::module(Path::new(path));
    sources
        .imports()
        .into_iter()
        .filter(|import| import.from == from)
        .collect()
}

#[test]
fn an_import_that_is_not_allowed_is_found_however_it_is_written() {
    for (path, text) in [
        ("query/filter.rs", "use crate::report::model::Report;"),
        ("query/filter.rs", "use crate::{record::Name, report};"),
        (
            "query/filter.rs",
            "use crate::{\n    record::{Name, number},\n    render::text,\n};",
        ),
        (
            "query/filter.rs",
            "fn f() -> crate :: cli :: Exit { todo() }",
        ),
        ("query/filter.rs", "pub use super::super::sample::Builder;"),
        (
            "query/filter.rs",
            "pub use super::super::{record::Name, sample::Builder};",
        ),
        ("query/mod.rs", "use super::cli;"),
        (
            "query/filter.rs",
            "mod tests { use super::super::super::render::text; }",
        ),
        (
            "query/filter.rs",
            "mod a { mod b { use super::super::super::super::render::text; } }",
        ),
        (
            "query/filter.rs",
            "#[serde(with = \"crate::render::text\")] struct S;",
        ),
        (
            "query/filter.rs",
            "macro_rules! m { () => { $crate::render::text::write() } }",
        ),
        (
            "query/filter.rs",
            "fn f() { println!(\"{}\", crate::render::text::NAME) }",
        ),
        ("query/filter.rs", "use ::rbenchstat::render::text;"),
        ("query/filter.rs", "pub(in crate::render) struct S;"),
        (
            "query/filter.rs",
            "let quote = '\"'; use crate::report::Report; let other = \"\";",
        ),
        ("input/decode.rs", "use crate::record::Reader;"),
        ("record/name.rs", "use crate::stats::median;"),
        ("render/text.rs", "use crate::input::Source;"),
        ("report/build.rs", "use crate::judge::Judged;"),
        ("judge/gate.rs", "use crate::notes::Note;"),
        ("unit/scale.rs", "use crate::record::number;"),
        ("stats/median.rs", "use crate::unit::Class;"),
        ("measure/go.rs", "use crate::report;"),
        ("main.rs", "use rbenchstat::report::build;"),
        ("unit/scale.rs", "use crate::*;"),
        ("unit/scale.rs", "use crate as c; use c::render::text;"),
        ("unit/scale.rs", "use crate::{self as c};"),
        ("unit/scale.rs", "use super::super as c;"),
        ("unit/scale.rs", "extern crate self as c;"),
    ] {
        let offences = of_file(path, text).iter().filter_map(offence).count();
        assert!(offences > 0, "{path}: {text}");
    }
}

#[test]
fn an_import_that_is_allowed_is_left_alone() {
    for (path, text) in [
        (
            "query/filter.rs",
            "use crate::record::Name; use crate::query::key::Key; use crate::common::Interner;",
        ),
        (
            "query/filter.rs",
            "// use crate::report;\n/* crate::cli */ /// [`crate::render`]\nstruct S;",
        ),
        (
            "query/filter.rs",
            "const A: &str = \"\\\"crate::report\"; const B: &str = r#\"crate::\"cli\"#;",
        ),
        (
            "query/filter.rs",
            "use super::sample; fn f<'a>(x: &'a str) {}",
        ),
        (
            "query/filter.rs",
            "mod tests { use super::super::report; use super::*; }",
        ),
        ("cli/run.rs", "use crate::{notes, render, report};"),
        ("main.rs", "use rbenchstat::cli;"),
        ("lib.rs", "pub mod report; use crate::report::Report;"),
    ] {
        let offences: Vec<String> = of_file(path, text).iter().filter_map(offence).collect();
        assert_eq!(offences, [""; 0], "{path}: {text}");
    }
}

#[test]
fn an_import_leads_to_the_file_that_has_the_thing() {
    for text in [
        "use crate::report::Report;",
        "use crate::report; fn f(_: report::Report) {}",
        "use crate::report::{self as facts}; fn f(_: facts::Report) {}",
        "use crate::report::model; fn f(_: model::Report) {}",
        "fn f(_: super::report::Report) {}",
    ] {
        let text = text.replace("super::", "super::super::");
        let to: BTreeSet<String> = of_file("query/filter.rs", &text)
            .iter()
            .map(|import| import.to.join("/"))
            .collect();
        assert!(to.contains("report/model"), "{text}: {to:?}");
    }
}

#[test]
fn a_circle_is_found() {
    let mut sources = Sources::default();
    for (path, text) in [
        ("a/mod.rs", "pub use one::One;"),
        ("a/one.rs", "use super::two::Two;"),
        ("a/two.rs", "use crate::b::Three;"),
        ("b/mod.rs", "pub struct Three(crate::a::One);"),
        ("c.rs", "use crate::a::One;"),
    ] {
        sources.add(Path::new(path), text);
    }
    let circle = BTreeSet::from(["a/one", "a/two", "b"].map(String::from));
    assert_eq!(circles(&sources), [circle]);
}
