//! The sides of a comparison: which commits they are, and the folders that hold them.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::git::{Repository, Worktrees};
use super::program::{self, End};
use super::{Bases, Listener, MeasureError, Plan};

/// One side, ready to be built.
#[derive(Clone, Debug)]
pub(super) struct Side {
    /// What its file is called, without the ending, and its column.
    pub label: String,
    /// The folder to build and run in.
    pub folder: PathBuf,
    /// The folder at the top of its checkout.
    pub top: PathBuf,
}

/// All sides, the bases first and the head last, and what has to be cleaned up after them.
#[derive(Debug)]
pub(super) struct Sides {
    pub all: Vec<Side>,
    /// Before `scratch`, which holds the checkouts: in this order they are dropped.
    _worktrees: Worktrees,
    pub scratch: TempDir,
}

/// A commit, and how it was found.
struct FoundCommit {
    commit: String,
    how: String,
}

impl Sides {
    /// Finds the commits, tells them, and checks out what is not the working tree.
    pub fn prepare(
        here: &Path,
        plan: &Plan,
        listener: &mut dyn Listener,
    ) -> Result<Self, MeasureError> {
        let repository = Repository::around(here)?;
        let head_name = plan.head.as_deref().unwrap_or("HEAD");
        let head = repository.commit(head_name)?;
        let edits = if plan.head.is_none() {
            repository.changed_files()?
        } else {
            0
        };
        let bases = bases(&repository, plan, &head, edits)?;
        tell(&bases, &head, edits, listener);

        let scratch = tempfile::Builder::new().prefix("rbenchstat-").tempdir();
        let scratch = scratch.map_err(MeasureError::file(std::env::temp_dir()))?;
        let mut worktrees = Worktrees::default();
        let mut all = Vec::new();
        for (index, base) in bases.iter().enumerate() {
            let label = if index == 0 {
                "base".to_owned()
            } else {
                format!("base-{}", index + 1)
            };
            all.push(checked_out(
                &repository,
                label,
                &base.commit,
                &scratch,
                &mut worktrees,
            )?);
        }
        all.push(match plan.head {
            Some(_) => checked_out(&repository, "head".into(), &head, &scratch, &mut worktrees)?,
            None => Side {
                label: "head".into(),
                folder: here.to_owned(),
                top: repository.top.clone(),
            },
        });
        let sides = Self {
            all,
            _worktrees: worktrees,
            scratch,
        };
        if let Some(setup) = &plan.setup {
            for side in &sides.all {
                set_up(side, setup)?;
            }
        }
        Ok(sides)
    }
}

fn bases(
    repository: &Repository,
    plan: &Plan,
    head: &str,
    edits: usize,
) -> Result<Vec<FoundCommit>, MeasureError> {
    match &plan.bases {
        Bases::Default => default_base(repository, plan, head, edits).map(|base| vec![base]),
        Bases::LastTag => last_tag(repository, head, edits).map(|base| vec![base]),
        Bases::Named(names) => names
            .iter()
            .map(|name| {
                if plan.exact_base {
                    let commit = repository.commit(name)?;
                    return Ok(FoundCommit { commit, how: name.clone() });
                }
                let commit = repository.merge_base(name, head)?;
                if commit == head && edits == 0 && repository.commit(name)? != head {
                    return MeasureError::refused(format!(
                        "{name} contains the head, so that they share all of it: -exact-base compares with {name} itself"
                    ));
                }
                Ok(FoundCommit { commit, how: format!("merge base of {name} and the head") })
            })
            .collect(),
    }
}

fn default_base(
    repository: &Repository,
    plan: &Plan,
    head: &str,
    edits: usize,
) -> Result<FoundCommit, MeasureError> {
    let Some(default) = repository.default_branch()? else {
        return MeasureError::refused(
            "there is no branch main or master to compare with: name a base",
        );
    };
    let own = if plan.head.is_none() {
        repository.branch()?
    } else {
        None
    };
    let is_on_it = own.is_some_and(|own| {
        default == own || default.split_once('/').is_some_and(|(_, name)| name == own)
    });
    let found = if is_on_it {
        FoundCommit {
            commit: head.to_owned(),
            how: "HEAD, which the working tree was changed from".into(),
        }
    } else {
        FoundCommit {
            commit: repository.merge_base(&default, head)?,
            how: format!(
                "merge base of {default} and {}",
                plan.head.as_deref().unwrap_or("HEAD")
            ),
        }
    };
    if found.commit == head && edits == 0 {
        return MeasureError::refused(format!(
            "nothing differs from {default}, and no file is changed: name another base, such as HEAD~1"
        ));
    }
    Ok(found)
}

fn last_tag(
    repository: &Repository,
    head: &str,
    edits: usize,
) -> Result<FoundCommit, MeasureError> {
    let none = "there is no tag before the head: git fetch --tags --unshallow may help, in a workflow fetch-depth: 0";
    let Some(mut tag) = repository.last_tag(head)? else {
        return MeasureError::refused(none);
    };
    if edits == 0 && repository.commit(&tag)? == head {
        // On the tag itself, the one before it is meant.
        let before = repository.commit(&format!("{head}^"));
        let Some(earlier) = before.and_then(|before| repository.last_tag(&before))? else {
            return MeasureError::refused(none);
        };
        tag = earlier;
    }
    Ok(FoundCommit {
        commit: repository.commit(&tag)?,
        how: format!("tag {tag}"),
    })
}

fn tell(bases: &[FoundCommit], head: &str, edits: usize, listener: &mut dyn Listener) {
    let short = |commit: &str| commit.chars().take(7).collect::<String>();
    let bases: Vec<_> = bases
        .iter()
        .map(|base| format!("base {} ({})", short(&base.commit), base.how))
        .collect();
    let edits = match edits {
        0 => String::new(),
        1 => " with 1 changed file".into(),
        count => format!(" with {count} changed files"),
    };
    listener.note(&format!(
        "{}, head {}{edits}",
        bases.join(", "),
        short(head)
    ));
}

fn checked_out(
    repository: &Repository,
    label: String,
    commit: &str,
    scratch: &TempDir,
    worktrees: &mut Worktrees,
) -> Result<Side, MeasureError> {
    // Links resolved, as programs see it.
    let scratch = fs::canonicalize(scratch.path()).map_err(MeasureError::file(scratch.path()))?;
    let top = scratch.join(&label);
    repository.check_out(commit, &top, worktrees)?;
    // No slash at the end, which joining nothing would add.
    let folder: PathBuf = top.join(&repository.within).components().collect();
    if !folder.is_dir() {
        let within = repository.within.display();
        return MeasureError::refused(format!(
            "{label} has no folder {within}: run it from one that all sides have"
        ));
    }
    Ok(Side { label, folder, top })
}

fn set_up(side: &Side, setup: &str) -> Result<(), MeasureError> {
    let mut command = program::shell(setup);
    command
        .current_dir(&side.folder)
        .env("RBENCHSTAT_SIDE", &side.label);
    let finished = program::run(&mut command, None)?;
    if finished.end == End::Interrupted {
        return Err(MeasureError::Interrupted);
    }
    if finished.is_success() {
        return Ok(());
    }
    let (end, tail) = (finished.end.sentence(), finished.tail());
    MeasureError::refused(format!("-setup {end} on {}:{tail}", side.label))
}
