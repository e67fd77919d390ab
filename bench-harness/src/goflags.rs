//! Long flags with one dash, as Go programs take them.

use std::ffi::OsString;

use clap::{ArgAction, Command};

/// Rewrites `-bench` to `--bench` and `-bench=x` to `--bench=x` for every long
/// flag that `command` or one of its subcommands knows. The argument after a
/// flag that wants a value is that value, whatever it looks like.
#[must_use]
pub fn rewrite(arguments: impl IntoIterator<Item = OsString>, command: &Command) -> Vec<OsString> {
    let mut arguments = arguments.into_iter();
    let mut rewritten = Vec::new();
    rewritten.extend(arguments.next());
    while let Some(argument) = arguments.next() {
        if argument == "--" {
            rewritten.push(argument);
            rewritten.extend(arguments);
            break;
        }
        let text = argument.to_string_lossy().into_owned();
        let Some(flag) = text.strip_prefix("--").or_else(|| text.strip_prefix('-')) else {
            rewritten.push(argument);
            continue;
        };
        let name = flag.split_once('=').map_or(flag, |(name, _)| name);
        match takes_value(command, name) {
            Some(takes_value) => {
                rewritten.push(format!("--{flag}").into());
                if takes_value && name == flag {
                    rewritten.extend(arguments.next());
                }
            }
            None => rewritten.push(argument),
        }
    }
    rewritten
}

/// Whether the flag takes a value; nothing when there is no such flag.
fn takes_value(command: &Command, name: &str) -> Option<bool> {
    let own = command
        .get_arguments()
        .find(|argument| argument.get_long() == Some(name))
        .map(|argument| matches!(argument.get_action(), ArgAction::Set | ArgAction::Append));
    own.or_else(|| {
        command
            .get_subcommands()
            .find_map(|subcommand| takes_value(subcommand, name))
    })
    // Added by clap when the command is built.
    .or_else(|| ["help", "version"].contains(&name).then_some(false))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Arg;

    fn rewritten(arguments: &[&str]) -> Vec<String> {
        let command = Command::new("x")
            .arg(Arg::new("bench").long("bench"))
            .arg(Arg::new("mem").long("benchmem").action(ArgAction::SetTrue))
            .subcommand(Command::new("compare").arg(Arg::new("old").long("old")));
        rewrite(["x"].iter().chain(arguments).map(OsString::from), &command)[1..]
            .iter()
            .map(|argument| argument.to_string_lossy().into_owned())
            .collect()
    }

    #[test]
    fn known_flags_get_their_second_dash() {
        assert_eq!(
            rewritten(&["-bench", "-x", "-benchmem", "-bench=y", "--bench=z"]),
            ["--bench", "-x", "--benchmem", "--bench=y", "--bench=z"]
        );
        assert_eq!(
            rewritten(&["compare", "-old", "a"]),
            ["compare", "--old", "a"]
        );
    }

    #[test]
    fn everything_else_stays() {
        assert_eq!(
            rewritten(&["-o", "-unknown", "x", "--", "-bench"]),
            ["-o", "-unknown", "x", "--", "-bench"]
        );
    }
}
