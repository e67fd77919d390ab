//! When measuring ends: looks at what there is, and the second measuring of what is in doubt.
//!
//! Rows that could fail the gate are measured again, and only the fresh values decide. Whichever rows that are, and whenever the
//! first stage ended, a test of fresh values at α is right in 1 − α of the cases: looking at the first stage costs nothing.
//! Looks that can end a stage early cost [`early_level`] each, and what is left of α decides at its end.

use std::collections::HashSet;
use std::ffi::OsString;
use std::io;

use super::gate_options::Purpose;
use super::options::Options;
use crate::input::sources;
use crate::judge::doubt::{doubtful, early_level, is_decided, last_level};
use crate::judge::row_name::RowName;
use crate::judge::rules::UnitRules;
use crate::judge::{Judged, JudgedRow, Judging, Provenance, judge};
use crate::measure::{BenchmarkRow, Listener, MeasureError, Session};
use crate::{read, report};

/// How many rounds there are.
#[derive(Clone, Copy, Debug)]
pub struct RoundCounts {
    /// Before a stage can end early.
    pub least: usize,
    /// Of the first stage.
    pub usual: usize,
    /// Of the second stage; 0 for none.
    pub most: usize,
}

/// What the rounds came to.
pub struct Rounds {
    /// Whether nobody ended them.
    pub is_complete: bool,
    /// The level that is left for what decides.
    pub alpha: Option<f64>,
}

/// One of the two stages.
struct Stage {
    /// After how many rounds to look whether everything is decided.
    looks: Vec<usize>,
    rounds: usize,
    /// Whether nothing follows that would look into what got worse.
    is_last: bool,
}

impl Stage {
    fn new(least: usize, rounds: usize, is_last: bool) -> Self {
        let mut looks = vec![least, usize::midpoint(least, rounds)];
        looks.retain(|&look| 0 < look && look < rounds);
        looks.dedup();
        Self {
            looks,
            rounds,
            is_last,
        }
    }
}

/// Measures until everything that matters is decided, or cannot be within `counts`.
pub fn measure(
    session: &mut Session,
    counts: RoundCounts,
    options: &Options,
    inputs: &[OsString],
    listener: &mut dyn Listener,
) -> Result<Rounds, MeasureError> {
    let judging = options.gate.judging.as_ref();
    // What judges nothing has nothing to decide.
    let Some(judging) = judging.filter(|_| options.gate.purpose == Purpose::Show) else {
        session.begin(counts.usual);
        return Ok(Rounds {
            is_complete: session.run(counts.usual, listener)?,
            alpha: None,
        });
    };
    let looker = InterimReport {
        options,
        judging,
        inputs,
    };
    let first = Stage::new(counts.least, counts.usual, counts.most == 0);
    let mut rounds = looker.run(&first, session, listener)?;
    if first.is_last || !rounds.is_complete {
        return Ok(rounds);
    }
    let doubts = looker.doubts(counts.most);
    if doubts.is_empty() {
        return Ok(rounds);
    }
    listener.note(&again(&doubts, counts.most));
    session.measure_again(doubts);
    let second = Stage::new(counts.least, counts.most, true);
    let of_second = looker.run(&second, session, listener)?;
    rounds.is_complete = of_second.is_complete;
    // Whatever either stage says has to hold at the level that its looks leave.
    rounds.alpha = rounds
        .alpha
        .into_iter()
        .chain(of_second.alpha)
        .reduce(f64::min);
    Ok(rounds)
}

/// Looks at what is measured so far.
struct InterimReport<'a> {
    options: &'a Options,
    judging: &'a Judging,
    inputs: &'a [OsString],
}

impl InterimReport<'_> {
    fn run(
        &self,
        stage: &Stage,
        session: &mut Session,
        listener: &mut dyn Listener,
    ) -> Result<Rounds, MeasureError> {
        let rounds = |is_complete| Rounds {
            is_complete,
            alpha: Some(last_level(self.judging.alpha, stage.looks.len())),
        };
        session.begin(stage.rounds);
        let mut done = 0;
        for &look in &stage.looks {
            if !session.run(look - done, listener)? {
                return Ok(rounds(false));
            }
            done = look;
            // From here on there are enough fresh rounds to go by.
            session.decide_afresh()?;
            if self.is_decided(stage.is_last) {
                listener.note(&format!(
                    "every row is decided after {done} of {} rounds",
                    stage.rounds
                ));
                return Ok(rounds(true));
            }
        }
        let is_complete = session.run(stage.rounds - done, listener)?;
        if is_complete {
            session.decide_afresh()?;
        }
        Ok(rounds(is_complete))
    }

    fn is_decided(&self, is_last_stage: bool) -> bool {
        let alpha = self.judging.alpha;
        let judged = self.judge([alpha, early_level(alpha)]);
        judged.is_some_and(|[judged, strict]| is_decided(&judged, &strict, is_last_stage))
    }

    /// The rows to measure again, as results call them.
    fn doubts(&self, most_runs: usize) -> HashSet<BenchmarkRow> {
        let judged = self.judge([self.judging.alpha]);
        judged.map_or_else(HashSet::new, |[judged]| {
            let rows = doubtful(&judged, most_runs);
            rows.iter().filter_map(row).collect()
        })
    }

    /// Judges what is there at each of these levels. What cannot be read now cannot be read at the end either, and is told then.
    fn judge<const N: usize>(&self, levels: [f64; N]) -> Option<[Judged; N]> {
        let options = self.options;
        let read = read::read(
            &sources(self.inputs),
            &options.query,
            &mut io::empty(),
            &mut io::sink(),
        );
        let inputs = read.ok()?;
        let baseline = inputs.samples.columns.first().map(Vec::as_slice);
        let rules = UnitRules::of(&inputs.facts, baseline, &options.gate.better);
        let report = report::build(inputs.samples, &rules.metadata, options.settings);
        let judged = levels.map(|alpha| {
            let judging = Judging {
                alpha,
                whole_alpha: Some(self.judging.alpha),
                ..self.judging.clone()
            };
            judge(report.clone(), &judging, Provenance::default()).ok()
        });
        let judged: Option<Vec<_>> = judged.into_iter().collect();
        judged?.try_into().ok()
    }
}

/// What results call a row; none where rows are not benchmarks, as `-row` can have it.
fn row(row: &JudgedRow<'_>) -> Option<BenchmarkRow> {
    let mut fields = row.row.key.iter();
    let fullname = fields.find(|field| *field.key == ".fullname")?;
    let package = RowName::of(row.table, row.row).package;
    let package = (!package.is_empty()).then_some(package);
    Some((package, format!("Benchmark{}", fullname.value)))
}

/// Says what is measured again.
fn again(rows: &HashSet<BenchmarkRow>, rounds: usize) -> String {
    const NAMED: usize = 3;
    let mut names: Vec<String> = rows
        .iter()
        .map(|(package, name)| {
            let package = package
                .as_ref()
                .map_or_else(String::new, |package| format!("{package} "));
            let name = name.strip_prefix("Benchmark").unwrap_or(name);
            format!("{package}{name}")
        })
        .collect();
    names.sort_unstable();
    let (what, more) = (
        if rows.len() == 1 {
            "1 row is".into()
        } else {
            format!("{} rows are", rows.len())
        },
        if rows.len() > NAMED { ", …" } else { "" },
    );
    names.truncate(NAMED);
    format!(
        "{what} in doubt, and measured again in up to {rounds} fresh rounds, which decide: {}{more}",
        names.join(", ")
    )
}
