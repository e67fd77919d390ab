//! Running programs: never longer than allowed, never printing more, and ended with all that they started.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use bstr::ByteSlice;

use super::MeasureError;

/// No benchmark prints as much; one that does must not fill the disk.
const MOST_OUTPUT: u64 = 64 << 20;

static INTERRUPTED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// Makes Ctrl-C, and what else asks the process to end, end the measuring and not the process.
#[cfg(unix)]
pub fn heed_interrupts() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    for (signal, name) in [
        (SIGTERM, None),
        (SIGINT, Some("INT")),
        (SIGHUP, Some("HUP")),
    ] {
        // As under nohup, or in the background of a script: what was to be ignored stays ignored.
        if name.is_none_or(|name| !is_ignored(name)) {
            // What cannot be heeded ends the process, as it would have.
            let _ = signal_hook::flag::register(signal, Arc::clone(&INTERRUPTED));
        }
    }
}

/// Whether this process, and so what it starts, ignores a signal: then a shell cannot catch it either.
#[cfg(unix)]
fn is_ignored(signal: &str) -> bool {
    let mut command = shell(&format!("trap 'exit 7' {signal}; kill -s {signal} $$"));
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Makes Ctrl-C, and what else asks the process to end, end the measuring and not the process.
#[cfg(windows)]
pub fn heed_interrupts() {
    // Where the process has a handler of its own, that one stays, and measuring cannot be interrupted.
    let _ = ctrlc::try_set_handler(|| {
        INTERRUPTED.store(true, Ordering::SeqCst);
    });
}

/// Whether somebody asked the process to end.
#[must_use]
pub fn is_interrupted() -> bool {
    INTERRUPTED.load(Ordering::SeqCst)
}

/// How a program ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum End {
    Exited(ExitStatus),
    TimedOut(Duration),
    PrintedTooMuch,
    Interrupted,
}

impl End {
    /// What to tell of a program that did not end well.
    pub fn sentence(&self) -> String {
        match self {
            Self::Exited(status) => format!("ended with {status}"),
            Self::TimedOut(limit) => {
                format!("was ended after {} s (-timeout)", limit.as_secs_f64())
            }
            Self::PrintedTooMuch => {
                format!("was ended: it printed more than {} MiB", MOST_OUTPUT >> 20)
            }
            Self::Interrupted => "was interrupted".into(),
        }
    }
}

/// A program that ended, and what it printed.
#[derive(Debug)]
pub(super) struct Finished {
    pub end: End,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

impl Finished {
    pub fn is_success(&self) -> bool {
        matches!(self.end, End::Exited(status) if status.success())
    }

    /// The last lines of what it printed, for a person to read.
    pub fn tail(&self) -> String {
        let mut text = last_lines(&self.stdout, 10);
        text.push_str(&last_lines(&self.stderr, 20));
        text
    }

    /// What it printed, without the blanks around it.
    pub fn text(&self) -> String {
        self.stdout.to_str_lossy().trim().to_owned()
    }
}

fn last_lines(text: &[u8], count: usize) -> String {
    let lines: Vec<_> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let last = &lines[lines.len().saturating_sub(count)..];
    last.iter().fold(String::new(), |mut text, line| {
        text.push_str("\n  ");
        let line = line.to_str_lossy().replace('\t', "    ");
        text.extend(line.chars().take(400));
        text
    })
}

/// Runs `command` to its end, with nothing to read.
pub(super) fn run(
    command: &mut Command,
    limit: Option<Duration>,
) -> Result<Finished, MeasureError> {
    run_until(command, limit, kill)
}

/// The same for a Go program, which gets the time to tell what it was doing.
pub(super) fn run_go(command: &mut Command, limit: Duration) -> Result<Finished, MeasureError> {
    run_until(command, Some(limit), |child| {
        #[cfg(unix)]
        if !is_interrupted() {
            // A Go program prints the stacks of its goroutines, and ends.
            signal(child, rustix::process::Signal::QUIT);
            for _ in 0..100 {
                if child.try_wait()?.is_some() {
                    break;
                }
                std::thread::sleep(Duration::from_millis(20));
            }
        }
        kill(child)
    })
}

fn run_until(
    command: &mut Command,
    limit: Option<Duration>,
    end: impl Fn(&mut Child) -> io::Result<()>,
) -> Result<Finished, MeasureError> {
    let program = command.get_program().to_string_lossy().into_owned();
    let start = |error| MeasureError::Start { program, error };
    let mut try_run = || {
        // Not pipes: whatever the program leaves running would keep them open.
        let (mut stdout, mut stderr) = (tempfile::tempfile()?, tempfile::tempfile()?);
        command
            .stdin(Stdio::null())
            .stdout(stdout.try_clone()?)
            .stderr(stderr.try_clone()?);
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        let mut child = command.spawn()?;
        let end = wait(&mut child, limit, [&stdout, &stderr], &end)?;
        Ok(Finished {
            end,
            stdout: read(&mut stdout)?,
            stderr: read(&mut stderr)?,
        })
    };
    try_run().map_err(start)
}

fn read(file: &mut File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.take(MOST_OUTPUT).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn wait(
    child: &mut Child,
    limit: Option<Duration>,
    printed: [&File; 2],
    end_it: &impl Fn(&mut Child) -> io::Result<()>,
) -> io::Result<End> {
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(End::Exited(status));
        }
        let mut length = 0;
        for file in printed {
            length = file.metadata()?.len().max(length);
        }
        let end = if is_interrupted() {
            Some(End::Interrupted)
        } else if length > MOST_OUTPUT {
            Some(End::PrintedTooMuch)
        } else {
            limit
                .filter(|limit| started.elapsed() >= *limit)
                .map(End::TimedOut)
        };
        if let Some(end) = end {
            end_it(child)?;
            return Ok(end);
        }
        // Short programs are seen to end soon, and long ones are hardly disturbed.
        let pause = started.elapsed() / 20;
        std::thread::sleep(pause.clamp(Duration::from_millis(1), Duration::from_millis(50)));
    }
}

/// Ends a program, and what it started, at once.
fn kill(child: &mut Child) -> io::Result<()> {
    #[cfg(unix)]
    signal(child, rustix::process::Signal::KILL);
    // It can have ended just now.
    let _ = child.kill();
    child.wait().map(drop)
}

/// Sends a signal to a program and what it started.
#[cfg(unix)]
fn signal(child: &Child, signal: rustix::process::Signal) {
    let id = i32::try_from(child.id()).ok();
    if let Some(group) = id.and_then(rustix::process::Pid::from_raw) {
        let _ = rustix::process::kill_process_group(group, signal);
    }
}

/// A command for the system's shell.
pub(super) fn shell(line: &str) -> Command {
    let (program, flag) = if cfg!(windows) {
        ("cmd", "/C")
    } else {
        ("sh", "-c")
    };
    let mut command = Command::new(program);
    command.args([flag, line]);
    command
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    #[test]
    fn what_takes_too_long_is_ended_with_all_that_it_started() {
        let folder = tempfile::tempdir().unwrap();
        let started = Instant::now();
        let mut command = shell("(sleep 1; touch late) & echo begun; sleep 30");
        command.current_dir(&folder);
        let finished = run(&mut command, Some(Duration::from_millis(200))).unwrap();
        assert_eq!(finished.end, End::TimedOut(Duration::from_millis(200)));
        assert_eq!(finished.text(), "begun");
        assert!(started.elapsed() < Duration::from_secs(20));
        std::thread::sleep(Duration::from_millis(1200));
        assert!(!folder.path().join("late").exists());
    }

    #[test]
    fn what_prints_without_end_is_ended() {
        let finished = run(&mut shell("yes"), Some(Duration::from_secs(60))).unwrap();
        assert_eq!(finished.end, End::PrintedTooMuch);
        assert!(finished.stdout.len() as u64 <= MOST_OUTPUT);
    }

    #[test]
    fn what_is_left_running_does_not_hold_up_the_end() {
        let started = Instant::now();
        assert!(
            run(&mut shell("sleep 15 & echo done"), None)
                .unwrap()
                .is_success()
        );
        assert!(started.elapsed() < Duration::from_secs(10));
    }
}
