//! The command line: arguments in, exit status out.

use std::ffi::OsString;
use std::io;

use anyhow::{Context, Result};
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};
use rbenchstat::common::shell_word;
use rbenchstat::record::WriteError;

use crate::address::without_passwords;
use crate::compare;
use crate::options::{CompareArguments, Options, RunArguments};
use crate::request;
use crate::run;
use crate::scenario::BuiltIn;
use crate::streams::{FAILURE, Named, Status, Streams};

const EXAMPLES: &str = "\
Examples:
  bench-harness -bench AuthorizeRequest -count 10 -benchtime 1s > new.txt
      the three scenarios without and with decision logs, ten times each
  bench-harness -bench Authorize/minimal/with -benchmem -cpu 1,2 --consumer
      one scenario with decision logs that a consumer on this machine takes
  bench-harness -bench EmptyFilter
      what the harness itself costs, without the filter
  bench-harness -bench Authorize/minimal -rate 5000 -benchtime 10s
      an open loop: latency counts from the moment a request was to start
  bench-harness --bundle bundle.tar.gz --decision authz/allow --requests r.jsonl
      your own policy and requests; a line of r.jsonl is
      {\"method\": \"GET\", \"path\": \"/x\", \"headers\": {\"a\": \"b\"}, \"expected\": true}
  bench-harness compare --old buffer_type=size --new buffer_type=event \\
                        --consumer -count 10 -o DIR
      two settings, interleaved A B B A, compared
  bench-harness compare --old-bin PATH --new-bin PATH -count 10 -o DIR
      two builds

Flags may have one dash, as in Go. Measurements go to standard output as they
are made; progress, notes and the decision logs' counters to standard error.
Exit status: 0; 2 after an error, and when a server of yours took no event at all;
130 when interrupted or terminated (what was measured is kept).";

/// Runs an authorization filter with and without decision logs, and writes Go
/// benchmark files for rbenchstat to compare.
#[derive(Parser, Debug)]
#[command(name = "bench-harness", version, after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
struct Arguments {
    #[command(flatten)]
    run: RunArguments,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Measures two settings, or two builds, interleaved, and compares them.
    #[command(after_help = EXAMPLES)]
    Compare(Box<CompareArguments>),
    /// Lists the benchmarks with a sentence each.
    List(Box<RunArguments>),
    /// Prints the requests of a scenario as JSON lines, as --requests reads them.
    Requests {
        /// minimal, with-body or jwt-validation
        scenario: String,
        /// Draws users, tokens and paths
        #[arg(long, value_name = "N", default_value_t = 1)]
        seed: u64,
    },
}

/// Runs the program with its arguments, of which the first is its own name.
pub fn run(arguments: impl IntoIterator<Item = OsString>, streams: &mut Streams<'_>) -> Status {
    let arguments = rbenchstat::cli::goflags::rewrite(arguments, &Arguments::command());
    let typed: Vec<String> = arguments
        .iter()
        .skip(1)
        .map(|argument| shell_word(&argument.to_string_lossy()).into_owned())
        .collect();
    let outcome = match Arguments::try_parse_from(&arguments) {
        Ok(parsed) => {
            let mut stdout = Named {
                inner: &mut *streams.stdout,
                name: "standard output".to_owned(),
            };
            let mut streams = Streams {
                stdout: &mut stdout,
                stderr: &mut *streams.stderr,
                ..*streams
            };
            act(&parsed, &without_passwords(&typed.join(" ")), &mut streams)
        }
        Err(error) => return tell(&error, streams),
    };
    match outcome {
        Ok(status) => status,
        Err(error) => {
            // Whoever read the output has seen enough.
            if is_closed_pipe(&error) {
                return 0;
            }
            // With standard error gone too, the exit status alone tells.
            let _ = writeln!(streams.stderr, "bench-harness: {error:#}");
            FAILURE
        }
    }
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    // A transparent error hides the one inside from anyhow, and from the chain of sources too.
    let error = match error.downcast_ref::<WriteError>() {
        Some(WriteError::Io(error)) => Some(error),
        _ => error.downcast_ref::<io::Error>(),
    };
    error.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

fn tell(error: &clap::Error, streams: &mut Streams<'_>) -> Status {
    let text = error.render().to_string();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            let _ = streams.stdout.write_all(text.as_bytes());
            0
        }
        _ => {
            let _ = streams.stderr.write_all(text.as_bytes());
            FAILURE
        }
    }
}

fn act(arguments: &Arguments, typed: &str, streams: &mut Streams<'_>) -> Result<Status> {
    match &arguments.command {
        None => {
            let options = Options::new(&arguments.run, typed)?;
            let settings = options.settings("")?;
            run::run(&options, &settings, streams)
        }
        Some(Command::List(arguments)) => {
            let mut arguments = arguments.clone();
            arguments.bench.get_or_insert_with(|| ".".to_owned());
            let options = Options::new(&arguments, typed)?;
            run::list(&options, streams)?;
            Ok(0)
        }
        Some(Command::Requests { scenario, seed }) => {
            let known = BuiltIn::ALL.into_iter().find(|one| one.name() == scenario);
            let known = known.with_context(|| {
                format!("no scenario is called {scenario:?}; `bench-harness list` shows all")
            })?;
            request::write(&request::draw(known, *seed)?, streams.stdout)?;
            Ok(0)
        }
        Some(Command::Compare(arguments)) => {
            let options = Options::new(&arguments.run, typed)?;
            compare::compare(arguments, &options, streams)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }
}
