//! Reads recorded cases; testdata/conformance/README.md describes their form.

use std::collections::BTreeMap;

use bstr::BString;

use crate::rules::Outcome;

/// One recorded run.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    pub name: String,
    pub arguments: Vec<String>,
    pub files: BTreeMap<String, BString>,
    pub stdin: BString,
    pub wanted: Outcome,
}

/// Where the lines of a section go.
enum Section {
    Preamble,
    /// The name of a case, and then its command.
    Head(String),
    File(String),
    Stdin,
    Stdout,
    Stderr,
}

/// Reads the cases of one file, `kind.txt`.
///
/// # Errors
/// A sentence with the number of the line that is wrong.
pub fn parse(kind: &str, text: &str) -> Result<Vec<Case>, String> {
    let mut cases: Vec<Case> = Vec::new();
    let (mut section, mut escaped) = (Section::Preamble, false);
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let place = || format!("{kind}.txt:{}", index + 1);
        let whole = line.strip_suffix('\n').unwrap_or(line);
        if let Some((head, is_escaped)) = marker(whole) {
            (section, escaped) = (head, is_escaped);
            match (&section, cases.last_mut()) {
                (Section::Head(name), _) => {
                    if name != kind && !name.starts_with(&format!("{kind}-")) {
                        return Err(format!("{}: a case here is named {kind}-…", place()));
                    }
                    if cases.iter().any(|case| case.name == *name) {
                        return Err(format!("{}: a second case {name}", place()));
                    }
                    cases.push(Case::new(name));
                }
                (_, None) => return Err(format!("{}: a section before the first case", place())),
                (Section::File(name), Some(case)) => {
                    case.files.insert(name.clone(), BString::default());
                }
                _ => {}
            }
            continue;
        }
        let Some((case, earlier)) = cases.split_last_mut() else {
            continue;
        };
        let body = match &section {
            Section::Preamble => continue,
            Section::Head(_) => {
                case.read_head(whole, earlier)
                    .map_err(|error| format!("{}: {error}", place()))?;
                continue;
            }
            Section::File(name) => case.files.entry(name.clone()).or_default(),
            Section::Stdin => &mut case.stdin,
            Section::Stdout => &mut case.wanted.stdout,
            Section::Stderr => &mut case.wanted.stderr,
        };
        if escaped {
            unescape(line, body).map_err(|error| format!("{}: {error}", place()))?;
        } else {
            body.extend_from_slice(line.as_bytes());
        }
    }
    match cases.iter().find(|case| case.arguments.is_empty()) {
        Some(case) => Err(format!("{kind}.txt: {} has no command", case.name)),
        None => Ok(cases),
    }
}

/// What a line `-- … --` starts, and whether the section has escapes.
fn marker(line: &str) -> Option<(Section, bool)> {
    let head = line.strip_prefix("-- ")?.strip_suffix(" --")?;
    let (head, escaped) = match head.strip_suffix(" escaped") {
        Some(head) => (head, true),
        None => (head, false),
    };
    let section = match head {
        "stdin" => Section::Stdin,
        "stdout" => Section::Stdout,
        "stderr" => Section::Stderr,
        _ => match head.strip_prefix("case ") {
            Some(name) => Section::Head(name.to_owned()),
            None => Section::File(head.strip_prefix("file ")?.to_owned()),
        },
    };
    Some((section, escaped))
}

impl Case {
    fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            arguments: Vec::new(),
            files: BTreeMap::new(),
            stdin: BString::default(),
            wanted: Outcome {
                stdout: BString::default(),
                stderr: BString::default(),
                fatal: false,
            },
        }
    }

    fn read_head(&mut self, line: &str, earlier: &[Self]) -> Result<(), String> {
        if let Some(command) = line.strip_prefix("$ ") {
            self.arguments = words(command)?;
            if self.arguments[..1] != ["rbenchstat"] {
                return Err("the command is not rbenchstat".into());
            }
        } else if let Some(name) = line.strip_prefix("with ") {
            let lender = earlier.iter().find(|case| case.name == name);
            let lender = lender.ok_or_else(|| format!("no case {name} before this"))?;
            self.files.extend(lender.files.clone());
        } else if line == "fatal" {
            self.wanted.fatal = true;
        } else if !line.is_empty() && !line.starts_with('#') {
            return Err(format!("not understood: {line}"));
        }
        Ok(())
    }
}

/// Splits a command as a POSIX shell does that knows only single quotes.
fn words(command: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = command.chars();
    while let Some(char) = chars.next() {
        match char {
            ' ' => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next() {
                        Some('\'') => break,
                        Some(char) => word.push(char),
                        None => return Err("a quote is not closed".into()),
                    }
                }
            }
            // How a quote inside single quotes is spelled: 'it'"'"'s'.
            '"' => {
                let word = word.get_or_insert_default();
                if (chars.next(), chars.next()) != (Some('\''), Some('"')) {
                    return Err("double quotes hold a single quote alone".into());
                }
                word.push('\'');
            }
            _ => word.get_or_insert_default().push(char),
        }
    }
    words.extend(word);
    Ok(words)
}

/// Adds a line with its escapes undone.
fn unescape(line: &str, body: &mut Vec<u8>) -> Result<(), String> {
    let mut rest = line;
    while let Some(at) = rest.find('\\') {
        body.extend_from_slice(&rest.as_bytes()[..at]);
        rest = &rest[at + 1..];
        let mut buffer = [0; 4];
        let (bytes, length): (&[u8], usize) = match rest.chars().next() {
            Some('\n') => (b"", 1),
            Some('\\') => (b"\\", 1),
            Some('r') => (b"\r", 1),
            Some('t') => (b"\t", 1),
            Some('n') => (b"\n", 1),
            Some('x') => {
                let byte = rest
                    .get(1..3)
                    .and_then(|digits| u8::from_str_radix(digits, 16).ok());
                buffer[0] = byte.ok_or("\\x wants two hexadecimal digits")?;
                (&buffer[..1], 3)
            }
            Some('u') => {
                let digits = rest
                    .strip_prefix("u{")
                    .and_then(|rest| rest.split_once('}'));
                let (digits, _) = digits.ok_or("\\u wants digits in braces")?;
                let code = u32::from_str_radix(digits, 16)
                    .ok()
                    .and_then(char::from_u32);
                let char = code.ok_or("\\u wants a character")?;
                (char.encode_utf8(&mut buffer).as_bytes(), digits.len() + 3)
            }
            _ => return Err("no such escape".into()),
        };
        body.extend_from_slice(bytes);
        rest = &rest[length..];
    }
    body.extend_from_slice(rest.as_bytes());
    Ok(())
}

mod tests {
    use super::*;

    #[test]
    fn a_case_has_a_command_files_and_expectations() {
        let text = "A comment.\n\
            -- case k-a --\n$ rbenchstat -filter '' 'it'\"'\"'s' a.txt\n\
            -- file a.txt --\nx\n-- file b=c escaped --\n\\xff\\u{e9}\\r\\\\\n-- --\ny\\\n-- stdout --\nout\n\
            -- case k-b --\n# Why.\n\n$ rbenchstat\nfatal\nwith k-a\n-- file a.txt --\n-- stdin --\nin\n-- stderr --\nerr\n";
        let cases = parse("k", text).unwrap();
        let [a, b] = &cases[..] else {
            panic!("two cases wanted")
        };
        assert_eq!(a.arguments, ["rbenchstat", "-filter", "", "it's", "a.txt"]);
        assert_eq!(a.files["a.txt"], "x\n");
        assert_eq!(a.files["b=c"], b"\xff\xc3\xa9\r\\\n-- --\ny"[..]);
        assert_eq!((&a.wanted.stdout, a.wanted.fatal), (&"out\n".into(), false));
        assert_eq!(
            b.files["a.txt"], "",
            "its own file stands over the lent one"
        );
        assert_eq!(b.files["b=c"], a.files["b=c"]);
        assert_eq!(
            (&b.stdin, &b.wanted.stderr, b.wanted.fatal),
            (&"in\n".into(), &"err\n".into(), true)
        );
    }

    #[test]
    fn what_is_wrong_with_a_file_is_told_with_its_line() {
        for (text, error) in [
            ("-- case x-a --\n", "k.txt:1: a case here is named k-…"),
            ("-- stdout --\n", "k.txt:1: a section before the first case"),
            ("-- case k-a --\n", "k.txt: k-a has no command"),
            (
                "-- case k-a --\n$ rbenchstat\n-- case k-a --\n",
                "k.txt:3: a second case k-a",
            ),
            (
                "-- case k-a --\nwith k-b\n",
                "k.txt:2: no case k-b before this",
            ),
            ("-- case k-a --\nwhat\n", "k.txt:2: not understood: what"),
            (
                "-- case k-a --\n$ rbenchstat 'a\n",
                "k.txt:2: a quote is not closed",
            ),
            (
                "-- case k-a --\n$ rm\n",
                "k.txt:2: the command is not rbenchstat",
            ),
            (
                "-- case k-a --\n$ rbenchstat\n-- stdout escaped --\n\\q\n",
                "k.txt:4: no such escape",
            ),
        ] {
            assert_eq!(parse("k", text).unwrap_err(), error);
        }
    }
}
