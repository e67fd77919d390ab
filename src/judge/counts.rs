//! How often each verdict was given.

use std::fmt;

use serde::Serialize;

use super::judgement::Judgement;
use super::verdict::Verdict;

/// How often each verdict was given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// [`Verdict::Regression`], waived ones included.
    pub regression: usize,
    /// [`Verdict::Changed`].
    pub changed: usize,
    /// [`Verdict::Suspect`].
    pub suspect: usize,
    /// [`Verdict::Unclear`].
    pub unclear: usize,
    /// [`Verdict::Removed`].
    pub removed: usize,
    /// [`Verdict::Added`].
    pub added: usize,
    /// [`Verdict::Improvement`].
    pub improvement: usize,
    /// [`Verdict::Promising`].
    pub promising: usize,
    /// [`Verdict::Inconclusive`].
    pub inconclusive: usize,
    /// [`Verdict::Unchanged`].
    pub unchanged: usize,
    /// Of the regressions, those that a waiver tolerates.
    pub waived: usize,
}

impl Counts {
    /// How often each verdict is among these.
    #[must_use]
    pub fn of<'a>(judgements: impl IntoIterator<Item = &'a Judgement>) -> Self {
        let mut counts = Self::default();
        for judgement in judgements {
            counts.add(judgement);
        }
        counts
    }

    /// How often `verdict` was given.
    #[must_use]
    pub fn get(&self, verdict: Verdict) -> usize {
        match verdict {
            Verdict::Regression => self.regression,
            Verdict::Changed => self.changed,
            Verdict::Suspect => self.suspect,
            Verdict::Unclear => self.unclear,
            Verdict::Removed => self.removed,
            Verdict::Inconclusive => self.inconclusive,
            Verdict::Added => self.added,
            Verdict::Improvement => self.improvement,
            Verdict::Promising => self.promising,
            Verdict::Unchanged => self.unchanged,
        }
    }

    /// Counts one more judgement.
    pub fn add(&mut self, judgement: &Judgement) {
        self.waived += usize::from(judgement.is_waived());
        *match judgement.verdict {
            Verdict::Regression => &mut self.regression,
            Verdict::Changed => &mut self.changed,
            Verdict::Suspect => &mut self.suspect,
            Verdict::Unclear => &mut self.unclear,
            Verdict::Removed => &mut self.removed,
            Verdict::Inconclusive => &mut self.inconclusive,
            Verdict::Added => &mut self.added,
            Verdict::Improvement => &mut self.improvement,
            Verdict::Promising => &mut self.promising,
            Verdict::Unchanged => &mut self.unchanged,
        } += 1;
    }
}

/// `2 regressions (1 waived), 1 improvement, 37 unchanged`: the verdicts that were given, in the order of [`Verdict::ALL`].
impl fmt::Display for Counts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for verdict in Verdict::ALL {
            let count = self.get(verdict);
            if count == 0 {
                continue;
            }
            write!(formatter, "{separator}{count} {}", verdict.words(count))?;
            if verdict == Verdict::Regression && self.waived > 0 {
                write!(formatter, " ({} waived)", self.waived)?;
            }
            separator = ", ";
        }
        if separator.is_empty() {
            formatter.write_str("nothing compared")?;
        }
        Ok(())
    }
}
