//! Completion scripts for shells, which know flags with one dash as well as with two.

use clap::{Arg, Command, CommandFactory};
use clap_complete::{Shell, generate};

use super::args::Args;

/// Stands in a name where one dash is meant, until the script is written: clap has no such flags.
const ONE_DASH: char = '\u{1}';

/// The script for `shell`.
#[must_use]
pub fn script(shell: Shell) -> String {
    let mut command = with_one_dash(Args::command());
    let name = command.get_name().to_owned();
    let mut script = Vec::new();
    generate(shell, &mut command, name, &mut script);
    let script = String::from_utf8_lossy(&script);
    script
        .replace(&format!("-l {ONE_DASH}"), "-o ")
        .replace(&format!("--{ONE_DASH}"), "-")
}

/// The command with each flag once more.
fn with_one_dash(command: Command) -> Command {
    let of_one_dash: Vec<Arg> = command
        .get_arguments()
        .filter_map(|argument| {
            let long = argument.get_long()?;
            // Clap keeps names for ever, and this runs once.
            let name: &'static str = format!("{ONE_DASH}{long}").leak();
            Some(argument.clone().id(name).short(None).long(name))
        })
        .collect();
    command.args(of_one_dash)
}
