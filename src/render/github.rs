//! Workflow commands of GitHub Actions: what shows as annotations beside the code.

use std::io::{self, Write};

use super::presentation::{Presentation, SourceLine};
use super::subject::Subjects;
use super::words::Sentence;
use super::{escape, format, words};
use crate::judge::{Judged, JudgedRow, Outcome, Verdict};

/// GitHub shows so many annotations of a kind for each step.
const SHOWN: usize = 10;

/// How loud an annotation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Error,
    Warning,
    Notice,
}

impl Level {
    const ALL: [Self; 3] = [Self::Error, Self::Warning, Self::Notice];

    fn word(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Notice => "notice",
        }
    }

    /// How loud a row is; none that needs no look.
    fn of(run: &Judged, judged: &JudgedRow<'_>) -> Option<Self> {
        match judged.judgement.verdict {
            _ if judged.judgement.is_waived() => Some(Self::Notice),
            // A gate may look at some units only.
            Verdict::Regression if run.gate.is_none() || run.is_gated(judged.position()) => {
                Some(Self::Error)
            }
            Verdict::Regression | Verdict::Suspect | Verdict::Removed => Some(Self::Warning),
            _ => None,
        }
    }
}

/// Writes one command for each row that got worse or may have, the worst first, and one for the whole.
///
/// # Errors
/// Whatever `out` fails with.
pub fn write(run: &Judged, presentation: &Presentation, out: &mut dyn Write) -> io::Result<()> {
    let subjects = Subjects::new(&run.report);
    let rows = run.worst_first();
    for level in Level::ALL {
        let rows = rows
            .iter()
            .filter(|judged| Level::of(run, judged) == Some(level));
        let rows: Vec<_> = rows.collect();
        // The last one tells of those that would not be shown, and the whole takes a place too.
        let most = SHOWN - 2;
        for judged in rows.iter().take(most.min(run.limit())) {
            write_row(judged, &subjects, level, presentation, out)?;
        }
        if rows.len() > most {
            let more = format!("and {} more", format::count(rows.len() - most));
            write_command(level, "rbenchstat", None, &more, out)?;
        }
    }
    let level = match run.gate.as_ref().map(|gate| gate.outcome) {
        Some(Outcome::Failed) => Level::Error,
        Some(Outcome::CouldNotJudge) => Level::Warning,
        Some(Outcome::Passed) | None => Level::Notice,
    };
    let mut whole = vec![words::headline(run)];
    whole.extend(words::warnings(run).iter().map(Sentence::plain));
    whole.extend(words::unseen(run).map(|unseen| unseen.plain()));
    write_command(level, "rbenchstat", None, &whole.join("\n"), out)
}

fn write_row(
    judged: &JudgedRow<'_>,
    subjects: &Subjects<'_>,
    level: Level,
    presentation: &Presentation,
    out: &mut dyn Write,
) -> io::Result<()> {
    let verdict = words::verdict(judged.judgement);
    let name = subjects.name(judged);
    let [base, new] = format::centres(judged);
    let mut message = format!("{}: {base} → {new}", judged.table.unit);
    if judged.judgement.verdict == Verdict::Removed {
        message = format!("{}: not measured again", judged.table.unit);
    } else {
        for part in [format::judged_change(judged), format::interval(judged)] {
            // From what to what stands there.
            if !part.is_empty() && !part.contains('→') {
                message.push_str(", ");
                message.push_str(&part);
            }
        }
    }
    let place = place(judged, presentation);
    write_command(level, &format!("{verdict}: {name}"), place, &message, out)
}

/// Where the benchmark of a row stands in the source, if that is known.
fn place<'p>(judged: &JudgedRow<'_>, presentation: &'p Presentation) -> Option<&'p SourceLine> {
    let mut fields = judged.table.key.iter();
    let package = fields.find(|field| *field.key == "pkg")?;
    let name = judged.function();
    presentation.places.get(&(package.value.clone(), name))
}

fn write_command(
    level: Level,
    title: &str,
    place: Option<&SourceLine>,
    message: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    write!(out, "::{} title={}", level.word(), property(title))?;
    if let Some(SourceLine { file, line }) = place {
        write!(out, ",file={},line={line}", property(file))?;
    }
    writeln!(out, "::{}", data(message))
}

/// What stands after the second `::`.
fn data(text: &str) -> String {
    let lines = text.lines().map(|line| {
        // Nothing that shows must be hidden, and nothing may look like what it is not.
        escape::terminal(line.into()).replace('%', "%25")
    });
    lines.collect::<Vec<_>>().join("%0A")
}

/// The value of a property.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ends_a_property_or_a_line_is_escaped() {
        assert_eq!(property("a:b,c%d"), "a%3Ab%2Cc%25d");
        assert_eq!(data("one\ntwo::error::x"), "one%0Atwo::error::x");
    }
}
