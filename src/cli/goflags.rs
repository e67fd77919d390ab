//! Long flags with one dash, as Go programs take them.

use std::ffi::{OsStr, OsString};

use bstr::{ByteSlice, ByteVec};
use clap::{ArgAction, Command};

/// Rewrites `-col` to `--col` and `-col=x` to `--col=x`, for every argument
/// before `--` that looks like a long flag with one dash.
///
/// The argument after a flag that wants a value is that value, whatever it
/// looks like: `-filter -x:y` negates. Flags of one letter stay as they are.
#[must_use]
pub fn rewrite(arguments: impl IntoIterator<Item = OsString>, command: &Command) -> Vec<OsString> {
    let mut arguments = arguments.into_iter();
    let mut rewritten = Vec::new();
    rewritten.extend(arguments.next());
    while let Some(argument) = arguments.next() {
        if argument == "--" {
            rewritten.push(argument);
            rewritten.extend(arguments);
            return rewritten;
        }
        let Some((name, long)) = as_long_flag(&argument) else {
            rewritten.push(argument);
            continue;
        };
        let wants_value = wants_value(command, &name);
        rewritten.push(long);
        if wants_value {
            rewritten.extend(arguments.next());
        }
    }
    rewritten
}

/// The flag's name with any `=value`, and the flag with two dashes.
fn as_long_flag(argument: &OsStr) -> Option<(String, OsString)> {
    let bytes = argument.as_encoded_bytes();
    let rest = bytes
        .strip_prefix(b"--")
        .or_else(|| bytes.strip_prefix(b"-"))?;
    let is_long = rest.len() > 1 && rest[0].is_ascii_alphabetic() && rest[1] != b'=';
    if !is_long {
        return None;
    }
    let mut long = b"--".to_vec();
    long.extend_from_slice(rest);
    Some((
        rest.to_str_lossy().into_owned(),
        long.into_os_string_lossy(),
    ))
}

/// Whether the flag, of the command or of a subcommand, takes the next argument as its value.
fn wants_value(command: &Command, name: &str) -> bool {
    let own = command
        .get_arguments()
        .find(|argument| argument.get_long() == Some(name));
    match own {
        Some(argument) => {
            let has_value = matches!(argument.get_action(), ArgAction::Set | ArgAction::Append);
            has_value && !argument.is_require_equals_set()
        }
        None => command
            .get_subcommands()
            .any(|subcommand| wants_value(subcommand, name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::args::Args;
    use clap::CommandFactory;

    fn rewritten(arguments: &[&str]) -> Vec<String> {
        let arguments = ["rbenchstat"].iter().chain(arguments).map(OsString::from);
        rewrite(arguments, &Args::command())[1..]
            .iter()
            .map(|argument| argument.to_string_lossy().into_owned())
            .collect()
    }

    #[test]
    fn one_dash_is_as_good_as_two() {
        assert_eq!(
            rewritten(&["-col", "x", "-row=y", "--table", "z", "a.txt"]),
            ["--col", "x", "--row=y", "--table", "z", "a.txt"]
        );
    }

    #[test]
    fn a_value_may_look_like_a_flag() {
        assert_eq!(
            rewritten(&["-filter", "-row:x", "-col", "-"]),
            ["--filter", "-row:x", "--col", "-"]
        );
    }

    #[test]
    fn short_flags_numbers_and_standard_input_stay() {
        assert_eq!(
            rewritten(&["-q", "-", "-h", "-1x"]),
            ["-q", "-", "-h", "-1x"]
        );
    }

    #[test]
    fn a_flag_that_may_have_a_value_takes_it_after_an_equals_sign_only() {
        assert_eq!(
            rewritten(&["-csv", "-col", "x", "-csv=true"]),
            ["--csv", "--col", "x", "--csv=true"]
        );
    }

    #[test]
    fn flags_of_subcommands_are_known() {
        let compare = Command::new("compare").arg(clap::Arg::new("old").long("old"));
        let command = Command::new("x").subcommand(compare);
        let arguments = ["x", "compare", "-old", "-a"].map(OsString::from);
        assert_eq!(
            rewrite(arguments, &command),
            ["x", "compare", "--old", "-a"].map(OsString::from)
        );
    }

    #[test]
    fn nothing_after_two_dashes_is_a_flag() {
        assert_eq!(rewritten(&["--", "-col"]), ["--", "-col"]);
    }
}
