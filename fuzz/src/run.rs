//! Whole runs: they end with a known status, whatever they are given, and twice the same.

use std::ffi::OsString;
use std::fs;
use std::io::Write as _;

use bstr::{ByteSlice, ByteVec};
use rbenchstat::cli::{self, Streams, Surroundings};

/// The most inputs of one run.
const INPUTS: usize = 4;

/// Flags that read or write other files, or wait for something.
const UNFIT: &[&str] = &["out", "watch", "config", "generate"];

/// Checks `data` as flags and files: separated by NUL bytes, flags first with a line each.
/// The last file is standard input.
///
/// # Panics
/// Where something does not hold.
pub fn check(data: &[u8]) {
    let mut parts = data.split(|&byte| byte == 0);
    let flags = parts.next().unwrap_or_default();
    let mut arguments: Vec<OsString> = vec!["rbenchstat".into()];
    for flag in flags
        .split(|&byte| byte == b'\n')
        .filter(|flag| !flag.is_empty())
    {
        if UNFIT.iter().any(|unfit| {
            flag.trim_start_with(|char| char == '-')
                .starts_with(unfit.as_bytes())
        }) {
            return;
        }
        arguments.push(flag.to_vec().into_os_string_lossy());
    }
    let folder = tempfile::tempdir().expect("a folder");
    let mut files: Vec<&[u8]> = parts.collect();
    if files.len() > INPUTS {
        // Packed files hold NUL bytes; the last file takes what is left.
        let start = files[INPUTS - 1].as_ptr() as usize - data.as_ptr() as usize;
        files.truncate(INPUTS - 1);
        files.push(&data[start..]);
    }
    let stdin = files.pop().unwrap_or_default();
    // The words of flags must not be taken for paths.
    arguments.retain(|argument| {
        argument == "rbenchstat"
            || argument.as_encoded_bytes().starts_with(b"-")
            || !files.is_empty()
    });
    for (number, file) in files.iter().enumerate() {
        let path = folder.path().join(format!("{number}"));
        fs::File::create(&path)
            .and_then(|mut out| out.write_all(file))
            .expect("a file");
        let mut argument = OsString::from(format!("{number}="));
        argument.push(&path);
        arguments.push(argument);
    }
    arguments.push("-".into());
    let first = run(&arguments, stdin);
    let second = run(&arguments, stdin);
    assert_eq!(first.0, second.0);
    assert_eq!(first.1.as_bstr(), second.1.as_bstr());
    assert_eq!(first.2.as_bstr(), second.2.as_bstr());
    assert!(first.0 <= 3, "status {}", first.0);
    if first.0 == 2 {
        assert!(!first.2.is_empty(), "a failure says why");
        // Benchmark text is written while it is read.
        let selects = arguments
            .iter()
            .any(|argument| argument.as_encoded_bytes().ends_with(b"bench"));
        assert!(selects || first.1.is_empty(), "a failure prints nothing");
    }
}

/// Status, standard output and standard error.
fn run(arguments: &[OsString], mut stdin: &[u8]) -> (u8, Vec<u8>, Vec<u8>) {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let exit = cli::run(
        arguments.iter().cloned(),
        &mut Streams {
            stdin: &mut stdin,
            stdout: &mut stdout,
            stderr: &mut stderr,
            stdin_is_terminal: false,
            surroundings: Surroundings::default(),
        },
    );
    (exit.status(), stdout, stderr)
}
