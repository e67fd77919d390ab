//! Fails on an import that points backwards.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};

/// The folders of `src` in the direction of the data; each may import only those before it.
const ORDER: [&str; 14] = [
    "common", "unit", "stats", "input", "record", "query", "sample", "read", "report", "judge",
    "notes", "render", "measure", "cli",
];
/// The folders that import nothing of ours.
const ALONE: [&str; 4] = ["common", "unit", "stats", "measure"];

#[test]
fn every_import_points_to_an_earlier_folder() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    collect(&root, &mut files);
    assert!(files.len() > ORDER.len(), "the sources were not found");
    let violations: Vec<String> = files
        .iter()
        .flat_map(|file| {
            let path = file.strip_prefix(&root).unwrap();
            violations(path, &fs::read_to_string(file).unwrap())
        })
        .collect();
    assert!(violations.is_empty(), "{}", violations.join("\n"));
}

#[test]
fn every_folder_has_its_place() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for entry in fs::read_dir(root).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let is_known = if path.is_dir() {
            ORDER.contains(&name.as_str())
        } else {
            ["lib.rs", "main.rs"].contains(&name.as_str())
        };
        assert!(is_known, "src/{name} has no place in the order of folders");
    }
}

#[test]
fn an_import_that_points_backwards_is_found() {
    let wrong = |path: &str, text: &str| violations(Path::new(path), text);
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
        ("query/mod.rs", "use super::cli;"),
        (
            "query/filter.rs",
            "mod tests { use super::super::super::render::text; }",
        ),
        ("input/decode.rs", "use crate::record::Reader;"),
        ("report/build.rs", "use crate::judge::Judged;"),
        ("judge/gate.rs", "use crate::notes::Note;"),
        ("unit/scale.rs", "use crate::record::number;"),
        ("stats/median.rs", "use crate::unit::Class;"),
        ("unit/scale.rs", "use crate::*;"),
        ("main.rs", "use rbenchstat::report::build;"),
        (
            "query/filter.rs",
            "let quote = '\"'; use crate::report::Report; let other = \"\";",
        ),
    ] {
        assert_eq!(wrong(path, text).len(), 1, "{path}: {text}");
    }
    for (path, text) in [
        (
            "query/filter.rs",
            "use crate::record::Name; use crate::query::key::Key; use crate::unit::Tidied;",
        ),
        (
            "query/filter.rs",
            "// use crate::report;\n/* crate::cli */ /// [`crate::render`]\n",
        ),
        (
            "query/filter.rs",
            "let text = \"\\\"crate::report\"; let raw = r#\"crate::\"cli\"#;",
        ),
        (
            "query/filter.rs",
            "use super::sample; fn f<'a>(x: &'a str) {}",
        ),
        ("query/filter.rs", "mod tests { use super::super::report; }"),
        ("cli/run.rs", "use crate::{render, report, sample};"),
        ("main.rs", "use rbenchstat::cli;"),
        ("lib.rs", "pub mod report; use crate::report::Report;"),
    ] {
        assert_eq!(wrong(path, text), [""; 0], "{path}: {text}");
    }
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// The imports of a file, by its path under `src`, that point backwards.
fn violations(path: &Path, text: &str) -> Vec<String> {
    let parts: Vec<String> = path
        .with_extension("")
        .iter()
        .map(|part| part.to_string_lossy().into_owned())
        .filter(|part| part != "mod")
        .collect();
    let (own, depth) = (parts[0].as_str(), parts.len());
    imports(&without_comments_and_strings(text), depth)
        .into_iter()
        .filter(|import| {
            import == "*" || ORDER.contains(&import.as_str()) && !may_import(own, import)
        })
        .map(|import| format!("src/{}: may not import {import}", path.display()))
        .collect()
}

fn may_import(own: &str, import: &str) -> bool {
    let place = |name: &str| ORDER.iter().position(|folder| *folder == name);
    match own {
        "lib" => true,
        "main" => import == "cli",
        _ if own == import => true,
        _ => !ALONE.contains(&own) && place(import) < place(own),
    }
}

/// What stands right under the root of the crate in the paths of `code`, a
/// module at `depth`.
///
/// `super` counts as the root where there are at least as many as the module is
/// deep; inside a `mod tests` one more is needed, so that a path from there to
/// the root looks too far up, and one to the own folder names a file of it.
fn imports(code: &str, depth: usize) -> Vec<String> {
    let words = words(code);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut found = Vec::new();
    let mut inline = 0;
    for (at, &word) in words.iter().enumerate() {
        if word == "mod" && words.get(at + 2) == Some(&"{") {
            inline = 1;
        }
        let is_path_start = at == 0 || words[at - 1] != "::";
        let mut next = at;
        let is_root = match word {
            "crate" | "rbenchstat" => true,
            "super" if is_path_start => {
                let mut count = 1;
                while words.get(next + 1) == Some(&"::") && words.get(next + 2) == Some(&"super") {
                    count += 1;
                    next += 2;
                }
                count >= depth + inline
            }
            _ => false,
        };
        if !is_root || words.get(next + 1) != Some(&"::") {
            continue;
        }
        match words.get(next + 2) {
            Some(&"{") => found.extend(firsts(&words[next + 3..])),
            Some(name) => found.push((*name).to_owned()),
            None => {}
        }
    }
    found
}

/// The first word of each item of a list in braces that is open already.
fn firsts(words: &[&str]) -> Vec<String> {
    let mut firsts = Vec::new();
    let (mut depth, mut is_first) = (1, true);
    for &word in words {
        match word {
            "{" => depth += 1,
            "}" => depth -= 1,
            "," if depth == 1 => is_first = true,
            _ if depth == 1 && is_first => {
                firsts.push(word.to_owned());
                is_first = false;
            }
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    firsts
}

/// Words, `::`, and single other characters.
fn words(code: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut rest = code;
    while let Some(first) = rest.chars().next() {
        let is_word = |char: char| char.is_alphanumeric() || char == '_';
        let length = if is_word(first) {
            rest.find(|char| !is_word(char)).unwrap_or(rest.len())
        } else if rest.starts_with("::") {
            2
        } else {
            first.len_utf8()
        };
        if !first.is_whitespace() {
            words.push(rest[..length].to_owned());
        }
        rest = &rest[length..];
    }
    words
}

fn without_comments_and_strings(text: &str) -> String {
    let mut code = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let after = |pattern: &str, from: usize| {
            rest[from..]
                .find(pattern)
                .map_or(rest.len(), |at| from + at + pattern.len())
        };
        let length = if rest.starts_with("//") {
            after("\n", 0)
        } else if rest.starts_with("/*") {
            after("*/", 2)
        } else if let Some(hashes) = raw_string(rest) {
            after(&format!("\"{}", "#".repeat(hashes)), hashes + 2)
        } else if first == '"' {
            string_length(rest, '"')
        } else if first == '\'' && is_character(rest) {
            string_length(rest, '\'')
        } else {
            code.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        };
        code.push(' ');
        rest = &rest[length..];
    }
    code
}

/// The number of `#` of a raw string that starts here.
fn raw_string(text: &str) -> Option<usize> {
    let after = text.strip_prefix('r')?;
    let hashes = after.len() - after.trim_start_matches('#').len();
    after[hashes..].starts_with('"').then_some(hashes)
}

/// Whether a quote starts a character and not a lifetime.
fn is_character(text: &str) -> bool {
    let mut chars = text.chars().skip(1);
    chars.next() == Some('\\') || chars.next() == Some('\'')
}

/// How long a literal is that starts here and ends at the next unescaped `quote`.
fn string_length(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, char) in text.char_indices().skip(1) {
        match char {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if char == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}
