//! The imports of a crate's files, from their tokens: strings and comments are none, and it does not matter how a path is spread over
//! lines, groups, macros and attributes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// The modules from the root of the crate to a file, such as `report`, `model`.
pub type Module = Vec<String>;

/// One file that uses something of another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Import {
    pub from: Module,
    pub to: Module,
}

/// The files of a crate.
#[derive(Default)]
pub struct Sources {
    files: BTreeMap<Module, File>,
}

#[derive(Default)]
struct File {
    path: PathBuf,
    /// Paths from the root of the crate, as far as they are written.
    paths: Vec<Vec<String>>,
    /// The path that each name stands for which a `use` brings into the file.
    names: BTreeMap<String, Vec<String>>,
    words: BTreeSet<String>,
}

/// The module of a file, by its path under `src`.
pub fn module(path: &Path) -> Module {
    let parts = path.with_extension("");
    let parts = parts.iter().map(|part| part.to_string_lossy().into_owned());
    parts
        .filter(|part| part != "mod" && part != "lib")
        .collect()
}

impl Sources {
    /// The files under a folder.
    pub fn read(folder: &Path) -> Self {
        let mut sources = Self::default();
        let mut folders = vec![folder.to_owned()];
        while let Some(next) = folders.pop() {
            for entry in fs::read_dir(next).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|extension| extension == "rs") {
                    let text = fs::read_to_string(&path).unwrap();
                    sources.add(path.strip_prefix(folder).unwrap(), &text);
                }
            }
        }
        sources
    }

    pub fn add(&mut self, path: &Path, text: &str) {
        let tokens = TokenStream::from_str(text)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let own = module(path);
        let mut file = File {
            path: path.to_owned(),
            ..File::default()
        };
        Scanner { file: &mut file }.scan(tokens, &own, Quoted::Text);
        self.files.insert(own, file);
    }

    /// The files that name `word`, by their paths under `src`.
    pub fn naming(&self, word: &str) -> Vec<String> {
        let files = self.files.values().filter(|file| file.words.contains(word));
        files
            .map(|file| file.path.to_string_lossy().into_owned())
            .collect()
    }

    /// The folder that a file is in, or stands for, such as `report` for `report/model`; none for a file beside the folders.
    pub fn folder_of<'f>(&self, file: &'f str) -> Option<&'f str> {
        let first = file.split('/').next()?;
        let mut files = self.files.keys();
        let is_folder = files.any(|module| module.len() > 1 && module[0] == first);
        is_folder.then_some(first)
    }

    /// What each file uses of others.
    pub fn imports(&self) -> Vec<Import> {
        let mut imports = BTreeSet::new();
        for (from, file) in &self.files {
            // A file that only says `pub use one::One` for its folder uses nothing itself.
            for path in &file.paths {
                imports.insert(Import {
                    from: from.clone(),
                    to: self.home(path, 0),
                });
            }
        }
        imports.into_iter().collect()
    }

    /// The file that has what `path` names; as much of the path as is a file, where nothing says more.
    fn home(&self, path: &[String], depth: usize) -> Module {
        let length = (0..=path.len())
            .rev()
            .find(|&length| length > 0 && self.files.contains_key(&path[..length]));
        let Some(length) = length else {
            // A folder that is not there, or all of the crate.
            return path.iter().take(1).cloned().collect();
        };
        let (file, rest) = path.split_at(length);
        let renamed = rest
            .first()
            .and_then(|name| self.files[file].names.get(name));
        match renamed {
            Some(target) if depth < 9 => {
                let target: Vec<String> = target.iter().chain(&rest[1..]).cloned().collect();
                self.home(&target, depth + 1)
            }
            _ => file.to_vec(),
        }
    }
}

/// What stands in quotes.
#[derive(Clone, Copy, PartialEq)]
enum Quoted {
    Text,
    /// In an attribute, maybe a path.
    Path,
}

struct Scanner<'f> {
    file: &'f mut File,
}

/// One path of a `use`, and the name that it gets.
struct Used {
    path: Vec<String>,
    name: String,
}

impl Scanner<'_> {
    /// Collects the paths in what stands in `module`.
    fn scan(&mut self, tokens: TokenStream, module: &[String], quoted: Quoted) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            at += self.step(&tokens[..at], &tokens[at..], module, quoted);
        }
    }

    /// Looks at what stands at the start of `tokens`; how many of them that were.
    fn step(
        &mut self,
        before: &[TokenTree],
        tokens: &[TokenTree],
        module: &[String],
        quoted: Quoted,
    ) -> usize {
        match tokens {
            [TokenTree::Ident(word), rest @ ..] if word == "use" => {
                let length = rest
                    .iter()
                    .position(|token| is(token, ';'))
                    .unwrap_or(rest.len());
                self.import(&rest[..length], is_public(before), module);
                1 + length
            }
            [
                TokenTree::Ident(word),
                TokenTree::Ident(name),
                TokenTree::Group(group),
                ..,
            ] if word == "mod" => {
                let inner: Module = module.iter().cloned().chain([name.to_string()]).collect();
                self.scan(group.stream(), &inner, quoted);
                3
            }
            [TokenTree::Ident(word), TokenTree::Ident(own), ..]
                if word == "crate" && own == "self" =>
            {
                // `extern crate self as name`.
                self.file.paths.push(whole_crate());
                2
            }
            [TokenTree::Ident(_), ..] => {
                let (path, length) = path(tokens);
                self.file.words.extend(path.first().cloned());
                if path.len() > 1 {
                    self.add(&path, module);
                }
                length
            }
            [TokenTree::Punct(sign), TokenTree::Group(group), ..] if sign.as_char() == '#' => {
                let is_doc = group
                    .stream()
                    .into_iter()
                    .next()
                    .is_some_and(|first| first.to_string() == "doc");
                if !is_doc {
                    self.scan(group.stream(), module, Quoted::Path);
                }
                2
            }
            [TokenTree::Literal(literal), ..] if quoted == Quoted::Path => {
                let text = literal.to_string();
                let is_sentence = text.contains(' ');
                if !is_sentence && let Ok(inner) = TokenStream::from_str(text.trim_matches('"')) {
                    self.scan(inner, module, Quoted::Text);
                }
                1
            }
            [TokenTree::Group(group), ..] => {
                self.scan(group.stream(), module, quoted);
                1
            }
            _ => 1,
        }
    }

    /// A `use` of what `tokens` name.
    fn import(&mut self, tokens: &[TokenTree], is_public: bool, module: &[String]) {
        let mut all = Vec::new();
        used(tokens, &[], &mut all);
        for Used { path, name } in all {
            self.file.words.extend(path.first().cloned());
            let full = self.full(&path, module);
            // A folder that only passes on what its files have uses nothing itself.
            if !(is_public && full.len() > module.len() && full.starts_with(module)) {
                self.file.paths.push(full.clone());
            }
            self.file.names.insert(name, full);
        }
    }

    fn add(&mut self, path: &[String], module: &[String]) {
        let full = self.full(path, module);
        self.file.paths.push(full);
    }

    /// A path from the root of the crate. One of another crate looks like one of a child, which is not there.
    fn full(&self, path: &[String], module: &[String]) -> Vec<String> {
        let (mut base, rest) = match path[0].as_str() {
            "crate" | "rbenchstat" => (Vec::new(), &path[1..]),
            "self" => (module.to_vec(), &path[1..]),
            first => match self.file.names.get(first) {
                Some(known) => (known.clone(), &path[1..]),
                None => (module.to_vec(), path),
            },
        };
        for part in rest {
            if part == "super" {
                base.pop();
            } else {
                base.push(part.clone());
            }
        }
        if base.is_empty() { whole_crate() } else { base }
    }
}

/// All of the crate, under whatever name: nobody can tell what is used of it.
fn whole_crate() -> Vec<String> {
    vec!["*".into()]
}

/// The paths of a `use` behind what stands before its braces.
fn used(tokens: &[TokenTree], before: &[String], all: &mut Vec<Used>) {
    for item in tokens.split(|token| is(token, ',')) {
        let start = item.iter().take_while(|token| is(token, ':')).count();
        let (parts, length) = path(&item[start..]);
        let mut path: Vec<String> = before.iter().cloned().chain(parts).collect();
        if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
            path.pop();
        }
        let name = path.last().cloned().unwrap_or_default();
        let rest: Vec<&TokenTree> = item[start + length..]
            .iter()
            .filter(|token| !is(token, ':'))
            .collect();
        match rest[..] {
            [TokenTree::Group(group)] if group.delimiter() == Delimiter::Brace => {
                let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                used(&inner, &path, all);
            }
            [sign] if is(sign, '*') => {
                path.push("*".into());
                all.push(Used {
                    path,
                    name: "*".into(),
                });
            }
            [_, ref name] if !path.is_empty() => all.push(Used {
                path,
                name: name.to_string(),
            }),
            _ if path.is_empty() => {}
            _ => all.push(Used { path, name }),
        }
    }
}

/// The path at the start of `tokens`, and of how many of them it is made.
fn path(tokens: &[TokenTree]) -> (Vec<String>, usize) {
    let mut path = Vec::new();
    let mut length = 0;
    while let Some(TokenTree::Ident(word)) = tokens.get(length) {
        path.push(word.to_string());
        length += 1;
        let is_next = |at: usize| tokens.get(at).is_some_and(|token| is(token, ':'));
        if is_next(length)
            && is_next(length + 1)
            && matches!(tokens.get(length + 2), Some(TokenTree::Ident(_)))
        {
            length += 2;
        } else {
            break;
        }
    }
    (path, length)
}

fn is(token: &TokenTree, sign: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == sign)
}

/// Whether what stands before an item makes it public.
fn is_public(before: &[TokenTree]) -> bool {
    match before {
        [.., TokenTree::Ident(word)] | [.., TokenTree::Ident(word), TokenTree::Group(_)] => {
            word == "pub"
        }
        _ => false,
    }
}
