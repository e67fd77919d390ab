//! The rounds: every program of every side once in each, in an order that treats all sides alike.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bstr::ByteSlice;

use super::failing::{self, FailedRun};
use super::folder::Folder;
use super::go::{self, GoPackage};
use super::program::{self, End, Finished};
use super::progress::Progress;
use super::side::Sides;
use super::{GoWork, Listener, MeasureError, Plan, Work};

/// A row of results: the package, if it is known, and the name as in the results, with `Benchmark` before it.
pub type BenchmarkRow = (Option<String>, String);

/// What is measured together on each side.
#[derive(Debug)]
struct Program {
    package: Option<GoPackage>,
    /// The functions that are not run again, since they failed.
    skip: Vec<String>,
    is_dropped: bool,
    has_results: bool,
    /// Which benchmarks to run, where that is not all that were asked for.
    only: Option<String>,
}

impl Program {
    fn of(package: Option<GoPackage>) -> Self {
        Self {
            package,
            skip: Vec::new(),
            is_dropped: false,
            has_results: false,
            only: None,
        }
    }

    fn is_on(&self, side: usize) -> bool {
        self.package
            .as_ref()
            .is_none_or(|package| package.places[side].is_some())
    }

    fn name(&self) -> &str {
        self.package
            .as_ref()
            .map_or("-command", |package| &package.name)
    }
}

/// Sides that are built, with what was measured of them.
#[derive(Debug)]
pub struct Session {
    sides: Sides,
    work: Work,
    programs: Vec<Program>,
    folder: Folder,
    timeout: Duration,
    /// What the file of each side holds.
    results: Vec<Vec<u8>>,
    rounds: usize,
    /// Whether a package could not be built.
    is_broken: bool,
    progress: Progress,
    /// What measures some rows again.
    again: Option<Again>,
}

/// Rows that are measured again.
#[derive(Debug)]
struct Again {
    rows: RowSet,
    /// What was measured of them since, by side, until it takes the place of what was known.
    fresh: Option<Vec<Vec<u8>>>,
}

/// Rows of results, with or without their packages.
#[derive(Debug)]
struct RowSet(HashSet<BenchmarkRow>);

impl RowSet {
    fn has(&self, package: Option<&str>, name: &str) -> bool {
        let known = |package: Option<&str>| {
            self.0
                .contains(&(package.map(str::to_owned), name.to_owned()))
        };
        known(None) || package.is_some_and(|package| known(Some(package)))
    }

    /// Those of a package, sorted.
    fn names(&self, package: Option<&str>) -> Vec<&str> {
        let of_package = self
            .0
            .iter()
            .filter(|(of, _)| of.is_none() || package.is_none() || of.as_deref() == package);
        let mut names: Vec<_> = of_package.map(|(_, name)| name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

/// What one program yielded on one side in one round.
enum Yield {
    Text(Vec<u8>),
    Interrupted,
}

impl Session {
    /// Finds the sides, and builds what is to be measured.
    ///
    /// # Errors
    /// There is nothing to measure, or it cannot be; the sentence says what to do.
    pub fn prepare(
        here: &Path,
        plan: &Plan,
        folder: Folder,
        listener: &mut dyn Listener,
    ) -> Result<Self, MeasureError> {
        let sides = Sides::prepare(here, plan, listener)?;
        let mut session = Self {
            results: vec![Vec::new(); sides.all.len()],
            sides,
            work: plan.work.clone(),
            programs: Vec::new(),
            folder,
            timeout: plan.timeout,
            rounds: 0,
            is_broken: false,
            progress: Progress::new(0, &[]),
            again: None,
        };
        match &plan.work {
            Work::Command(_) => session.programs.push(Program::of(None)),
            Work::Go(work) => session.build(work, listener)?,
        }
        session.write()?;
        Ok(session)
    }

    fn build(&mut self, work: &GoWork, listener: &mut dyn Listener) -> Result<(), MeasureError> {
        let sides = &self.sides.all;
        let mut packages = go::packages(sides, work)?;
        if packages.is_empty() {
            let patterns = work.packages.join(" ");
            return MeasureError::refused(format!("no package of {patterns} has benchmarks"));
        }
        let programs = self.sides.scratch.path().join("programs");
        fs::create_dir(&programs).map_err(MeasureError::file(&programs))?;
        let broken = go::build(&mut packages, sides, work, &programs)?;
        for broken in &broken {
            let (package, side) = (&packages[broken.package].name, &sides[broken.side].label);
            listener.say(&format!(
                "{package} does not build on {side}, and is not measured:{}",
                broken.reason
            ));
            self.results[broken.side]
                .extend(format!("FAIL\t{package} [build failed]\n").into_bytes());
        }
        self.is_broken = !broken.is_empty();
        let (found, mut same) = (packages.len(), 0);
        for (index, package) in packages.into_iter().enumerate() {
            if broken.iter().any(|broken| broken.package == index) {
                continue;
            }
            if go::is_same_program(&package, sides)? {
                same += 1;
                if !work.measures_same {
                    continue;
                }
            }
            self.programs.push(Program::of(Some(package)));
        }
        listener.note(&built(
            found,
            found - same - count_packages(&broken),
            same,
            work.measures_same,
        ));
        Ok(())
    }

    /// The column of each side and its file.
    #[must_use]
    pub fn files(&self) -> Vec<(String, PathBuf)> {
        let labels = self.sides.all.iter().map(|side| side.label.clone());
        labels
            .map(|label| (label.clone(), self.folder.file(&label)))
            .collect()
    }

    /// Whether all sides are the same programs, so that there is nothing to measure or to tell.
    #[must_use]
    pub fn is_all_the_same(&self) -> bool {
        self.programs.is_empty() && !self.is_broken
    }

    /// How many rounds are complete.
    #[must_use]
    pub fn rounds(&self) -> usize {
        self.rounds
    }

    /// Whether the head has the first benchmarks that there are: no other side has any, or says that something failed.
    #[must_use]
    pub fn are_the_first(&self) -> bool {
        let has = |text: &[u8], what: &dyn Fn(&[u8]) -> bool| text.lines().any(what);
        let Some((head, bases)) = self.results.split_last() else {
            return false;
        };
        let says_something = |line: &[u8]| failing::is_result(line) || line.starts_with(b"FAIL");
        has(head, &failing::is_result) && !bases.iter().any(|base| has(base, &says_something))
    }

    /// Whether some rows are measured again.
    #[must_use]
    pub fn is_measuring_again(&self) -> bool {
        self.again.is_some()
    }

    /// Measures from now on `rows` alone. What was measured of them stays until [`Session::decide_afresh`].
    pub fn measure_again(&mut self, rows: HashSet<BenchmarkRow>) {
        let rows = RowSet(rows);
        for program in &mut self.programs {
            let package = program
                .package
                .as_ref()
                .map(|package| package.name.as_str());
            let names = rows.names(package);
            program.is_dropped |= names.is_empty();
            program.only = Some(go::pattern(&names));
        }
        let fresh = Some(vec![Vec::new(); self.sides.all.len()]);
        self.again = Some(Again { rows, fresh });
    }

    /// Puts what was measured afresh in the place of what was known of those rows.
    ///
    /// # Errors
    /// The files cannot be written.
    pub fn decide_afresh(&mut self) -> Result<(), MeasureError> {
        let Some(Again { rows, fresh }) = &mut self.again else {
            return Ok(());
        };
        let Some(fresh) = fresh.take() else {
            return Ok(());
        };
        for (text, fresh) in self.results.iter_mut().zip(fresh) {
            *text = lines_where(text, &|package, name| !rows.has(package, name));
            text.extend(fresh);
        }
        self.write()
    }

    /// Begins a stage of so many rounds at most.
    pub fn begin(&mut self, rounds: usize) {
        let sides = self.sides.all.len();
        let runs = self.programs.iter().map(|program| {
            let runs = (0..sides).filter(|&side| program.is_on(side)).count();
            if program.is_dropped { 0 } else { runs }
        });
        self.progress = Progress::new(rounds, &runs.collect::<Vec<_>>());
    }

    /// Measures further rounds; ends early, and says so, where it is interrupted. What a round yielded is in the files when
    /// it is complete.
    ///
    /// # Errors
    /// A program cannot be started, or a file not written.
    pub fn run(
        &mut self,
        rounds: usize,
        listener: &mut dyn Listener,
    ) -> Result<bool, MeasureError> {
        for _ in 0..rounds {
            if self.programs.iter().all(|program| program.is_dropped) {
                break;
            }
            if !self.round(listener)? {
                return Ok(false);
            }
            self.progress.round += 1;
        }
        Ok(true)
    }

    /// Measures one round; false where it was interrupted.
    fn round(&mut self, listener: &mut dyn Listener) -> Result<bool, MeasureError> {
        let number = self.rounds + 1;
        let sides = self.sides.all.len();
        let mut texts = vec![format!("# rbenchstat round {number}\n").into_bytes(); sides];
        for program in 0..self.programs.len() {
            // Each side goes first every other time: what happens steadily meanwhile hits both alike.
            let mut order: Vec<usize> = (0..sides).collect();
            if number.is_multiple_of(2) {
                order.reverse();
            }
            for side in order {
                if self.programs[program].is_dropped || !self.programs[program].is_on(side) {
                    continue;
                }
                listener.progress(&self.progress, self.programs[program].name());
                let started = Instant::now();
                match self.one(program, side, number, listener)? {
                    Yield::Text(text) => texts[side].extend(text),
                    Yield::Interrupted => return Ok(false),
                }
                self.progress.ran(program, started.elapsed());
            }
            // What has no benchmark that was asked for need not be asked again.
            self.programs[program].is_dropped |= number == 1 && !self.programs[program].has_results;
            if self.programs[program].is_dropped {
                self.progress.dropped(program);
            }
        }
        let into = match &mut self.again {
            Some(Again { rows, fresh }) => {
                for text in &mut texts {
                    *text = lines_where(text, &|package, name| rows.has(package, name));
                }
                fresh.as_mut().unwrap_or(&mut self.results)
            }
            None => &mut self.results,
        };
        for (results, text) in into.iter_mut().zip(texts) {
            results.extend(text);
        }
        self.rounds = number;
        self.write()?;
        Ok(true)
    }

    fn one(
        &mut self,
        program: usize,
        side: usize,
        round: usize,
        listener: &mut dyn Listener,
    ) -> Result<Yield, MeasureError> {
        match self.work.clone() {
            Work::Command(line) => self.command(&line, side, round, listener),
            Work::Go(work) => self.package(program, side, round, &work, listener),
        }
    }

    /// Runs a command of the user.
    fn command(
        &mut self,
        line: &str,
        side: usize,
        round: usize,
        listener: &mut dyn Listener,
    ) -> Result<Yield, MeasureError> {
        let out = self.sides.scratch.path().join("out.txt");
        if out.exists() {
            fs::remove_file(&out).map_err(MeasureError::file(&out))?;
        }
        let of = &self.sides.all[side];
        let mut command = program::shell(line);
        command
            .current_dir(&of.folder)
            .env("RBENCHSTAT_SIDE", &of.label);
        command
            .env("RBENCHSTAT_ROUND", round.to_string())
            .env("RBENCHSTAT_OUT", &out);
        let only = self.programs[0].only.as_deref();
        command.env("RBENCHSTAT_BENCH", only.unwrap_or("."));
        let finished = program::run(&mut command, Some(self.timeout))?;
        if finished.end == End::Interrupted {
            return Ok(Yield::Interrupted);
        }
        let written = fs::read(&out).unwrap_or_default();
        let mut text = clean(if written.is_empty() {
            &finished.stdout
        } else {
            &written
        });
        if !finished.is_success() {
            let end = finished.end.sentence();
            listener.say(&format!(
                "-command {end} on {}, round {round}:{}",
                of.label,
                finished.tail()
            ));
            text.extend(format!("FAIL\tcommand {end}\n").into_bytes());
        }
        // A command that failed is tried again in the next round.
        self.programs[0].has_results = true;
        Ok(Yield::Text(text))
    }

    /// Runs the program of a package, and again without what made it fail.
    fn package(
        &mut self,
        program: usize,
        side: usize,
        round: usize,
        work: &GoWork,
        listener: &mut dyn Listener,
    ) -> Result<Yield, MeasureError> {
        let label = self.sides.all[side].label.clone();
        let Program {
            package: Some(package),
            skip: skipped,
            is_dropped,
            has_results,
            only,
        } = &mut self.programs[program]
        else {
            return Ok(Yield::Text(Vec::new()));
        };
        let Some((place, program)) = package.places[side]
            .as_ref()
            .and_then(|place| Some((place, place.program.as_ref()?)))
        else {
            return Ok(Yield::Text(Vec::new()));
        };
        let mut text = Vec::new();
        let mut skip = skipped.clone();
        let bench = only.as_deref().unwrap_or(&work.bench);
        loop {
            let mut command = go::bench(place, program, work, bench, &skip);
            let finished = program::run_go(&mut command, self.timeout)?;
            if finished.end == End::Interrupted {
                return Ok(Yield::Interrupted);
            }
            text.extend(clean(&finished.stdout));
            *has_results |= finished.stdout.lines().any(failing::is_result);
            if finished.is_success() {
                break;
            }
            *has_results = true;
            let FailedRun {
                mut failed,
                done,
                ran_to_end,
            } = failing::look(&finished.stdout, &finished.stderr);
            failed.retain(|name| !skip.contains(name));
            listener.say(&failure(&package.name, &label, round, &finished, &failed));
            text.extend(
                format!("FAIL\t{} {}\n", package.name, finished.end.sentence()).into_bytes(),
            );
            *is_dropped = failed.is_empty();
            skipped.extend(failed.iter().cloned());
            if failed.is_empty() || ran_to_end {
                break;
            }
            skip.extend(failed);
            skip.extend(done);
        }
        Ok(Yield::Text(text))
    }

    fn write(&self) -> Result<(), MeasureError> {
        for (side, results) in self.sides.all.iter().zip(&self.results) {
            self.folder.write_results(&side.label, results)?;
        }
        Ok(())
    }
}

fn count_packages(broken: &[go::Broken]) -> usize {
    broken
        .iter()
        .map(|broken| broken.package)
        .collect::<HashSet<_>>()
        .len()
}

fn built(found: usize, different: usize, same: usize, measures_same: bool) -> String {
    let packages = if found == 1 {
        "1 package".into()
    } else {
        format!("{found} packages")
    };
    let (is, are) = (
        |count| if count == 1 { "is" } else { "are" },
        if different == 1 { "is" } else { "are" },
    );
    let same = match (same, measures_same) {
        (0, _) => String::new(),
        (_, true) => format!(", {same} {} the same program and measured too", is(same)),
        (_, false) => format!(
            ", {same} {} the same program (-all-packages measures them)",
            is(same)
        ),
    };
    format!("{packages} with benchmarks: {different} built differently and {are} measured{same}")
}

fn failure(
    package: &str,
    side: &str,
    round: usize,
    finished: &Finished,
    failed: &[String],
) -> String {
    let consequence = if failed.is_empty() {
        "; it is not measured any more".into()
    } else {
        format!("; it goes on without {}", failed.join(", "))
    };
    let (end, tail) = (finished.end.sentence(), finished.tail());
    format!("{package} {end} on {side}, round {round}{consequence}:{tail}")
}

/// What a program printed, without what only we may say, and with a line break at its end.
fn clean(text: &[u8]) -> Vec<u8> {
    let mut cleaned = Vec::with_capacity(text.len());
    for line in text.lines_with_terminator() {
        if !line.starts_with(b"# rbenchstat") {
            cleaned.extend_from_slice(line);
        }
    }
    if cleaned.last().is_some_and(|&last| last != b'\n') {
        cleaned.push(b'\n');
    }
    cleaned
}

/// The text with those of its results whose package and name are wanted, and all that is no result.
fn lines_where(text: &[u8], wants: &dyn Fn(Option<&str>, &str) -> bool) -> Vec<u8> {
    let mut package = None;
    let mut kept = Vec::with_capacity(text.len());
    for line in text.lines_with_terminator() {
        if let Some(name) = line.strip_prefix(b"pkg:") {
            package = Some(name.trim().to_str_lossy());
        }
        let name = failing::is_result(line)
            .then(|| line.fields().next())
            .flatten();
        if name.is_none_or(|name| wants(package.as_deref(), &name.to_str_lossy())) {
            kept.extend_from_slice(line);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_prints_cannot_pass_for_a_round() {
        assert_eq!(clean(b"a\n# rbenchstat round 7\nb"), b"a\nb\n");
        assert_eq!(clean(b""), b"");
    }

    #[test]
    fn rows_are_told_apart_by_their_packages() {
        let text = b"pkg: a\nBenchmarkX-8 1 2 ns/op\nPASS\npkg: b\nBenchmarkX-8 1 3 ns/op\n";
        let rows = RowSet([(Some("b".to_owned()), "BenchmarkX-8".to_owned())].into());
        let kept = lines_where(text, &|package, name| !rows.has(package, name));
        assert_eq!(kept, b"pkg: a\nBenchmarkX-8 1 2 ns/op\nPASS\npkg: b\n");
    }
}
