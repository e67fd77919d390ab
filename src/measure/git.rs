//! Calling `git`.

use std::path::{Path, PathBuf};
use std::process::Command;

use bstr::{ByteSlice, ByteVec};

use super::MeasureError;
use super::program::{self, Finished};

/// A repository, seen from a folder of its working tree.
#[derive(Debug)]
pub(super) struct Repository {
    /// The folder at the top of the working tree.
    pub top: PathBuf,
    /// The way from there to the folder.
    pub within: PathBuf,
}

/// Calls git in `folder`.
fn git(folder: &Path, arguments: &[&str]) -> Result<Finished, MeasureError> {
    let mut command = Command::new("git");
    // A checkout for measuring is nobody's business; hooks could do anything.
    command.args(["-c", "core.hooksPath=/dev/null"]);
    command.args(arguments).current_dir(folder);
    // Set inside hooks of git, and then about another folder.
    for variable in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"] {
        command.env_remove(variable);
    }
    program::run(&mut command, None)
}

/// What git answers, or nothing where it says no.
fn ask(folder: &Path, arguments: &[&str]) -> Result<Option<String>, MeasureError> {
    let finished = git(folder, arguments)?;
    let answer = finished.is_success().then(|| finished.text());
    Ok(answer.filter(|answer| !answer.is_empty()))
}

fn path(bytes: &[u8]) -> PathBuf {
    bytes.to_vec().into_path_buf_lossy()
}

impl Repository {
    /// The repository that `folder` is in.
    pub fn around(folder: &Path) -> Result<Self, MeasureError> {
        let finished = git(folder, &["rev-parse", "--show-toplevel", "--show-prefix"])?;
        if !finished.is_success() {
            let reason = finished.tail();
            return MeasureError::refused(format!(
                "this folder is in no git working tree:{reason}"
            ));
        }
        let mut lines = finished.stdout.lines();
        let mut next = || path(lines.next().unwrap_or_default());
        Ok(Self {
            top: next(),
            within: next(),
        })
    }

    fn ask(&self, arguments: &[&str]) -> Result<Option<String>, MeasureError> {
        ask(&self.top, arguments)
    }

    /// The commit that `name` stands for.
    pub fn commit(&self, name: &str) -> Result<String, MeasureError> {
        // What starts with a dash would be a flag, and can be no name.
        let found = if name.starts_with('-') {
            None
        } else {
            self.ask(&[
                "rev-parse",
                "--verify",
                "--quiet",
                &format!("{name}^{{commit}}"),
            ])?
        };
        match found {
            Some(commit) => Ok(commit),
            None => MeasureError::refused(format!(
                "{name:?} is no commit of this repository{}",
                self.why_missing()?
            )),
        }
    }

    fn why_missing(&self) -> Result<&'static str, MeasureError> {
        let is_shallow = self
            .ask(&["rev-parse", "--is-shallow-repository"])?
            .as_deref()
            == Some("true");
        Ok(if is_shallow {
            ": it has part of the history only; get the rest with git fetch --unshallow origin, in a workflow with fetch-depth: 0"
        } else {
            "; git fetch may help"
        })
    }

    /// The commit where `head` branched off `base`.
    pub fn merge_base(&self, base: &str, head: &str) -> Result<String, MeasureError> {
        let commit = self.commit(base)?;
        match self.ask(&["merge-base", &commit, head])? {
            Some(commit) => Ok(commit),
            None => MeasureError::refused(format!(
                "{base} and the head have no commit in common{}; -exact-base compares with {base} itself",
                self.why_missing()?
            )),
        }
    }

    /// The branch that changes go to, if it can be told.
    pub fn default_branch(&self) -> Result<Option<String>, MeasureError> {
        for remote in ["upstream", "origin"] {
            let head = format!("refs/remotes/{remote}/HEAD");
            if let Some(branch) = self.ask(&["symbolic-ref", "--quiet", "--short", &head])? {
                return Ok(Some(branch));
            }
        }
        for branch in ["origin/main", "origin/master", "main", "master"] {
            let verify = ["rev-parse", "--verify", "--quiet", branch];
            if self.ask(&verify)?.is_some() {
                return Ok(Some(branch.into()));
            }
        }
        Ok(None)
    }

    /// The branch that is checked out; there is none on a detached head.
    pub fn branch(&self) -> Result<Option<String>, MeasureError> {
        self.ask(&["symbolic-ref", "--quiet", "--short", "HEAD"])
    }

    /// The last tag that `head` contains, of this module if its tags have the folder's name before them.
    pub fn last_tag(&self, head: &str) -> Result<Option<String>, MeasureError> {
        let mut patterns = vec!["v[0-9]*".to_owned(), "*".to_owned()];
        if let Some(within) = self.within.to_str().filter(|within| !within.is_empty()) {
            patterns.insert(0, format!("{}/v[0-9]*", within.trim_end_matches('/')));
        }
        for pattern in patterns {
            let tag = self.ask(&[
                "describe",
                "--tags",
                "--abbrev=0",
                "--match",
                &pattern,
                head,
            ])?;
            if tag.is_some() {
                return Ok(tag);
            }
        }
        Ok(None)
    }

    /// How many files of the working tree differ from its commit.
    pub fn changed_files(&self) -> Result<usize, MeasureError> {
        let finished = git(
            &self.top,
            &[
                "status",
                "--porcelain",
                "-z",
                "--no-renames",
                "--untracked-files=all",
            ],
        )?;
        if finished.is_success() {
            Ok(finished
                .stdout
                .split_str("\0")
                .filter(|entry| !entry.is_empty())
                .count())
        } else {
            MeasureError::refused(format!("git status failed:{}", finished.tail()))
        }
    }

    /// Checks `commit` out into the new folder `into`, with the submodules that the working tree has.
    pub fn check_out(
        &self,
        commit: &str,
        into: &Path,
        worktrees: &mut Worktrees,
    ) -> Result<(), MeasureError> {
        add_worktree(&self.top, commit, into, worktrees)?;
        check_out_submodules(&self.top, into, worktrees)
    }
}

fn add_worktree(
    repository: &Path,
    commit: &str,
    into: &Path,
    worktrees: &mut Worktrees,
) -> Result<(), MeasureError> {
    let name = into.to_string_lossy().into_owned();
    // Before it is there: it may be interrupted.
    worktrees.0.push((repository.to_owned(), into.to_owned()));
    let finished = git(
        repository,
        &[
            "worktree", "add", "--quiet", "--force", "--detach", &name, commit,
        ],
    )?;
    if finished.is_success() {
        return Ok(());
    }
    MeasureError::refused(format!(
        "git could not check out {commit}:{}",
        finished.tail()
    ))
}

/// Submodules come from those of the working tree, so that neither a network nor a password is needed.
fn check_out_submodules(
    from: &Path,
    into: &Path,
    worktrees: &mut Worktrees,
) -> Result<(), MeasureError> {
    if !into.join(".gitmodules").exists() {
        return Ok(());
    }
    let entries = git(into, &["ls-files", "--stage", "-z"])?.stdout;
    for entry in entries
        .split_str("\0")
        .filter(|entry| entry.starts_with(b"160000 "))
    {
        let Some((facts, name)) = entry.split_once_str("\t") else {
            continue;
        };
        let commit = facts
            .split_str(" ")
            .nth(1)
            .unwrap_or_default()
            .to_str_lossy();
        let (source, target) = (from.join(path(name)), into.join(path(name)));
        // One that nobody checked out cannot be needed to build.
        if !source.join(".git").exists() {
            continue;
        }
        let exists = format!("{commit}^{{commit}}");
        if ask(&source, &["rev-parse", "--verify", "--quiet", &exists])?.is_none() {
            let name = name.to_str_lossy();
            return MeasureError::refused(format!(
                "the submodule {name} lacks its commit {commit}: git -C {name} fetch gets it"
            ));
        }
        add_worktree(&source, &commit, &target, worktrees)?;
        check_out_submodules(&source, &target, worktrees)?;
    }
    Ok(())
}

/// The checkouts made so far, which go away with this.
#[derive(Debug, Default)]
pub(super) struct Worktrees(Vec<(PathBuf, PathBuf)>);

impl Drop for Worktrees {
    fn drop(&mut self) {
        // Those inside others first.
        for (repository, folder) in self.0.iter().rev() {
            let mut command = Command::new("git");
            command
                .args(["worktree", "remove", "--force", "--force"])
                .arg(folder)
                .current_dir(repository);
            for variable in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"] {
                command.env_remove(variable);
            }
            // Not as above: an interrupt must not keep us from cleaning up. What fails is told by `git worktree list`.
            let _ = command.output();
        }
    }
}
