//! The comment on a pull request: found again by its marker, read in seconds, and never longer than it may be.
//!
//! Everything is written down first, row by row. A [`Extent`] says how much of each part is used; as long as the comment is
//! too long, parts give way in a fixed order, the least important first, and what is left out is counted.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{self, Write};

use bstr::{BStr, ByteSlice};

use super::alone;
use super::escape::{markdown, markdown_code};
use super::format;
use super::presentation::{Presentation, Request};
use super::subject::Subjects;
use super::words::{self, Conclusion, Sentence};
use crate::judge::{Adjust, Counts, Judged, JudgedRow, Judgement, LoneRow, Verdict};
use crate::report::Position;

/// The fewest bytes that a comment may be limited to: marker, verdict and what is left out always have room.
pub const LEAST_BYTES: usize = 1_000;

/// How many rows of each kind are kept before the more important kinds give way.
const A_FEW: usize = 3;
/// How many regressions are kept before other kinds give way altogether.
const SOME_REGRESSIONS: usize = 10;

/// Writes the comment.
///
/// # Errors
/// Whatever `out` fails with.
pub fn write(run: &Judged, presentation: &Presentation, out: &mut dyn Write) -> io::Result<()> {
    if let Some(rows) = run.alone() {
        return out.write_all(lone_comment(run, &rows, presentation).as_bytes());
    }
    let draft = CommentParts::new(run, presentation);
    out.write_all(draft.fit(presentation.max_bytes).as_bytes())
}

/// The comment on one input alone: as many rows as there is room for, the most unsteady first.
fn lone_comment(run: &Judged, rows: &[LoneRow<'_>], presentation: &Presentation) -> String {
    /// The last line and the tail have so many bytes.
    const RESERVE: usize = 600;
    let subjects = Subjects::new(&run.report);
    let icon = match words::conclusion(run) {
        Conclusion::Good => "📏",
        Conclusion::Bad => "❌",
        Conclusion::Doubtful => "⚠️",
    };
    let mut text = head(run, presentation, icon);
    for (index, warning) in words::warnings(run).iter().enumerate() {
        text.push_str(if index == 0 { "\n" } else { ">\n" });
        let _ = writeln!(text, "> ⚠️ {}", warning.shortened().text(markdown));
    }
    let [numbers @ .., _] = alone::COLUMNS;
    let mut table = format!("\n| benchmark | | {} |\n", numbers.join(" | "));
    table.push_str("| :-- | :-- | --: | --: | --: | --: | --: |\n");
    let mut shown = 0;
    for lone in rows.iter().take(run.limit()) {
        let [numbers @ .., remark] = alone::cells(lone);
        let line = format!(
            "| {} {} | {remark} | {} |\n",
            markdown_code(subjects.name_of(lone.table, lone.row).as_ref()),
            markdown(lone.table.unit.as_ref()),
            numbers.join(" | ")
        );
        if text.len() + table.len() + line.len() + RESERVE > presentation.max_bytes {
            break;
        }
        table.push_str(&line);
        shown += 1;
    }
    if shown > 0 {
        text.push_str(&table);
    }
    if shown < rows.len() {
        let rest = format::count(rows.len() - shown);
        let _ = writeln!(text, "\nNot shown: {rest} steadier.");
    }
    text.push_str(&link(presentation));
    text.push_str(&tail(presentation));
    text
}

/// What a row belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Part {
    Regressions,
    Others,
    Improvements,
    Gone,
    /// Counted, and not shown.
    Rest,
}

impl Part {
    /// The parts that the first table shows.
    const CHANGED: [Self; 3] = [Self::Regressions, Self::Others, Self::Improvements];

    fn of(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Regression => Self::Regressions,
            Verdict::Changed | Verdict::Suspect | Verdict::Unclear | Verdict::Promising => {
                Self::Others
            }
            Verdict::Improvement => Self::Improvements,
            Verdict::Added | Verdict::Removed => Self::Gone,
            Verdict::Unchanged | Verdict::Inconclusive => Self::Rest,
        }
    }
}

/// A row as Markdown.
struct CommentRow<'a> {
    part: Part,
    judgement: &'a Judgement,
    /// How many rows of its part are worse.
    rank: usize,
    text: String,
}

/// How much of each part is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Extent {
    /// 2 with the worst as it is, 1 with what is long in it shortened, 0 without.
    worst: usize,
    warnings: usize,
    /// How many of the warnings stay as they are; what is long in the others is shortened.
    whole_warnings: usize,
    regressions: usize,
    others: usize,
    improvements: usize,
    gone: usize,
    reproduction: usize,
    remarks: usize,
}

impl Extent {
    fn of(&self, part: Part) -> usize {
        match part {
            Part::Regressions => self.regressions,
            Part::Others => self.others,
            Part::Improvements => self.improvements,
            Part::Gone => self.gone,
            Part::Rest => 0,
        }
    }
}

/// A part that can give way, and how much of it is kept at that step.
type Step = (fn(&mut Extent) -> &mut usize, usize);

/// In which order parts give way.
const STEPS: [Step; 14] = [
    (|plan| &mut plan.remarks, 0),
    (|plan| &mut plan.whole_warnings, 0),
    (|plan| &mut plan.worst, 1),
    (|plan| &mut plan.gone, A_FEW),
    (|plan| &mut plan.improvements, A_FEW),
    (|plan| &mut plan.others, A_FEW),
    (|plan| &mut plan.regressions, SOME_REGRESSIONS),
    (|plan| &mut plan.reproduction, 0),
    (|plan| &mut plan.gone, 0),
    (|plan| &mut plan.improvements, 0),
    (|plan| &mut plan.others, 0),
    (|plan| &mut plan.regressions, 0),
    (|plan| &mut plan.warnings, 0),
    (|plan| &mut plan.worst, 0),
];

/// A sentence as Markdown.
struct CommentSentence {
    whole: String,
    /// With what is long in it shortened.
    short: String,
}

impl CommentSentence {
    fn new(sentence: &Sentence, markdown: impl Fn(&Sentence) -> String) -> Self {
        Self {
            whole: markdown(sentence),
            short: markdown(&sentence.shortened()),
        }
    }
}

/// All that the comment could say.
struct CommentParts<'a> {
    head: String,
    worst: Option<CommentSentence>,
    warnings: Vec<CommentSentence>,
    table_head: String,
    lines: Vec<CommentRow<'a>>,
    /// The rows of the first table that it may not have, however much room there is.
    beyond_limit: usize,
    reproduction: Vec<String>,
    remarks: Vec<String>,
    link: String,
    tail: String,
}

impl<'a> CommentParts<'a> {
    fn new(run: &'a Judged, presentation: &Presentation) -> Self {
        let subjects = Subjects::new(&run.report);
        let icon = match words::conclusion(run) {
            Conclusion::Good => "✅",
            Conclusion::Bad => "❌",
            Conclusion::Doubtful => "⚠️",
        };
        let mut ranks: HashMap<Position, usize> = HashMap::new();
        let mut sizes: HashMap<Part, usize> = HashMap::new();
        for judged in run.worst_first() {
            let size = sizes.entry(Part::of(judged.judgement.verdict)).or_default();
            ranks.insert(judged.position(), *size);
            *size += 1;
        }
        let mut lines = Vec::new();
        let mut remarks = Vec::new();
        for judged in run.listed() {
            let verdict = judged.judgement.verdict;
            lines.push(CommentRow {
                part: Part::of(verdict),
                judgement: judged.judgement,
                rank: ranks.get(&judged.position()).copied().unwrap_or(usize::MAX),
                text: row(&judged, &subjects),
            });
            let said = words::remarks(run, &judged);
            if Part::of(verdict) != Part::Rest && !said.is_empty() {
                remarks.push(format!(
                    "- {} {}: {}\n",
                    markdown_code(subjects.name(&judged).as_ref()),
                    markdown(judged.table.unit.as_ref()),
                    note(&said.join("; "))
                ));
            }
        }
        let changed = lines
            .iter()
            .filter(|line| Part::CHANGED.contains(&line.part))
            .count();
        let limit = run.limit();
        let warning = |sentence: &Sentence| format!("> ⚠️ {}\n", sentence.text(markdown));
        let worst =
            |sentence: &Sentence| format!("\n{}\n", emphasize(&sentence.text(markdown_code)));
        Self {
            head: head(run, presentation, icon),
            link: link(presentation),
            tail: tail(presentation),
            worst: words::worst(run, &subjects)
                .map(|sentence| CommentSentence::new(&sentence, worst)),
            warnings: words::warnings(run)
                .iter()
                .map(|sentence| CommentSentence::new(sentence, warning))
                .collect(),
            table_head: table_head(run, &subjects),
            beyond_limit: changed.saturating_sub(limit),
            lines,
            reproduction: reproduction(run, presentation),
            remarks,
        }
    }

    /// The longest comment that has at most `max_bytes`.
    fn fit(&self, max_bytes: usize) -> String {
        let count = |part: Part| self.lines.iter().filter(|line| line.part == part).count();
        let mut plan = Extent {
            worst: 2,
            warnings: self.warnings.len(),
            whole_warnings: self.warnings.len(),
            regressions: count(Part::Regressions),
            others: count(Part::Others),
            improvements: count(Part::Improvements),
            gone: count(Part::Gone),
            reproduction: self.reproduction.len(),
            remarks: self.remarks.len(),
        };
        self.keep_limit(&mut plan);
        let full = self.text(plan);
        if full.len() <= max_bytes {
            return full;
        }
        for (part, floor) in STEPS {
            let most = *part(&mut plan);
            let with = |kept: usize| {
                let mut plan = plan;
                *part(&mut plan) = kept;
                plan
            };
            let mut best = floor.min(most);
            let text = self.text(with(best));
            if text.len() > max_bytes {
                plan = with(best);
                continue;
            }
            let mut fitting = text;
            let mut too_many = most;
            while best + 1 < too_many {
                let middle = usize::midpoint(best, too_many);
                let text = self.text(with(middle));
                if text.len() <= max_bytes {
                    best = middle;
                    fitting = text;
                } else {
                    too_many = middle;
                }
            }
            return fitting;
        }
        self.text(plan)
    }

    /// Takes as many rows from the first table as are over the limit that the user set, the least important first.
    fn keep_limit(&self, plan: &mut Extent) {
        let mut over = self.beyond_limit;
        for part in [
            &mut plan.improvements,
            &mut plan.others,
            &mut plan.regressions,
        ] {
            let fewer = over.min(*part);
            *part -= fewer;
            over -= fewer;
        }
    }

    fn text(&self, plan: Extent) -> String {
        let mut text = self.head.clone();
        text.push_str(match (&self.worst, plan.worst) {
            (None, _) | (_, 0) => "",
            (Some(worst), 1) => &worst.short,
            (Some(worst), _) => &worst.whole,
        });
        for (index, warning) in self.warnings[..plan.warnings].iter().enumerate() {
            // An empty line of the quotation between two of them: each is a paragraph.
            text.push_str(if index == 0 { "\n" } else { ">\n" });
            text.push_str(if index < plan.whole_warnings {
                &warning.whole
            } else {
                &warning.short
            });
        }
        let is_shown = |line: &&CommentRow<'_>| {
            // Ranks count from the worst, so the worst are kept.
            line.rank < plan.of(line.part)
        };
        let shown = |parts: &[Part]| -> Vec<&CommentRow<'_>> {
            let lines = self.lines.iter().filter(|line| parts.contains(&line.part));
            lines.filter(is_shown).collect()
        };
        self.push_table(&mut text, &shown(&Part::CHANGED));
        let hidden: Vec<&CommentRow<'_>> =
            self.lines.iter().filter(|line| !is_shown(line)).collect();
        let left_out = self.left_out(plan, &hidden);
        if !left_out.is_empty() {
            let _ = writeln!(text, "\nNot shown: {}.", left_out.join(" · "));
        }
        text.push_str(&self.link);
        let lines = shown(&[Part::Gone]);
        if !lines.is_empty() {
            let summary = words::counted(&counts(&lines));
            let _ = writeln!(text, "\n<details><summary>{summary}</summary>");
            self.push_table(&mut text, &lines);
            text.push_str("\n</details>\n");
        }
        push_details(
            &mut text,
            "Remarks on single rows",
            &self.remarks[..plan.remarks],
        );
        push_details(
            &mut text,
            "How to reproduce",
            &self.reproduction[..plan.reproduction],
        );
        text.push_str(&self.tail);
        text
    }

    /// What there was no room for.
    fn left_out(&self, plan: Extent, hidden: &[&CommentRow<'_>]) -> Vec<String> {
        let mut parts = Vec::new();
        if !hidden.is_empty() {
            parts.push(words::counted(&counts(hidden)));
        }
        for (all, shown, noun) in [
            (self.warnings.len(), plan.warnings, "warning"),
            (self.remarks.len(), plan.remarks, "remark"),
        ] {
            match all - shown {
                0 => {}
                1 => parts.push(format!("1 {noun}")),
                count => parts.push(format!("{} {noun}s", format::count(count))),
            }
        }
        if plan.reproduction < self.reproduction.len() {
            parts.push("details of how to reproduce".into());
        }
        parts
    }

    fn push_table(&self, text: &mut String, lines: &[&CommentRow<'_>]) {
        if !lines.is_empty() {
            text.push('\n');
            text.push_str(&self.table_head);
            text.extend(lines.iter().map(|line| line.text.as_str()));
        }
    }
}

/// The markers by which the comment, and its section, are found again, the verdict, and what it does not know.
fn head(run: &Judged, presentation: &Presentation, icon: &str) -> String {
    let mut head = format!("<!-- rbenchstat:v1 id={} -->\n", presentation.id);
    let headline = words::headline(run);
    let _ = match &presentation.section {
        None => writeln!(head, "### {icon} {headline}"),
        Some(section) => writeln!(
            head,
            "<!-- rbenchstat:start section={section} -->\n### {icon} {section}: {headline}"
        ),
    };
    let is_bad = words::conclusion(run) == Conclusion::Bad;
    if let Some(unseen) = words::unseen(run).filter(|_| !is_bad) {
        let _ = writeln!(head, "\n{}.", sentence_case(&unseen.text(markdown)));
    }
    head
}

/// Where the full report is.
fn link(presentation: &Presentation) -> String {
    let url = presentation.report_url.as_ref();
    url.map_or_else(String::new, |url| format!("\n[Full report]({url})\n"))
}

/// The marker at the end of a section.
fn tail(presentation: &Presentation) -> String {
    let section = presentation.section.as_ref();
    section.map_or_else(String::new, |section| {
        format!("\n<!-- rbenchstat:end section={section} -->\n")
    })
}

/// With a capital letter at the start.
fn sentence_case(sentence: &str) -> String {
    let mut chars = sentence.chars();
    let first = chars.next().into_iter().flat_map(char::to_uppercase);
    first.chain(chars.as_str().chars()).collect()
}

fn push_details(text: &mut String, summary: &str, lines: &[String]) {
    if !lines.is_empty() {
        let _ = writeln!(text, "\n<details><summary>{summary}</summary>\n");
        text.extend(lines.iter().map(String::as_str));
        text.push_str("\n</details>\n");
    }
}

fn counts(lines: &[&CommentRow<'_>]) -> Counts {
    Counts::of(lines.iter().map(|line| line.judgement))
}

/// `worst: …` with its first word in bold.
fn emphasize(sentence: &str) -> String {
    match sentence.split_once(':') {
        Some((_, rest)) => format!("**Worst:**{rest}"),
        None => sentence.to_owned(),
    }
}

fn table_head(run: &Judged, subjects: &Subjects<'_>) -> String {
    let [base, new] = subjects.sides().map(|side| markdown(side.as_bstr()));
    let level = format::level(run.summary.alpha);
    format!(
        "| benchmark | change | verdict | {level} interval | {base} | {new} |\n\
         | :-- | --: | :-- | --: | --: | --: |\n"
    )
}

fn row(judged: &JudgedRow<'_>, subjects: &Subjects<'_>) -> String {
    let name = markdown_code(subjects.name(judged).as_ref());
    let unit = markdown(judged.table.unit.as_ref());
    let [base, new] = format::centres(judged);
    // Two of them in a row would strike out what is between them.
    let change = format::judged_change(judged).replace('~', "\\~");
    // None of these may be broken into lines, however narrow the screen is.
    let whole = |text: &str| text.replace(' ', "\u{a0}");
    let interval = whole(&format::interval(judged).replace("% to ", " to "));
    let verdict = whole(&words::verdict(judged.judgement));
    let change = whole(&change);
    format!("| {name} {unit} | {change} | {verdict} | {interval} | {base} | {new} |\n")
}

/// Text with words of the user in it, as it is or as code.
fn note(text: &str) -> String {
    let is_harmless =
        |char: char| char.is_alphanumeric() || " .,;:=()%±+-><∞".contains(char) && char != '<';
    if text.chars().all(is_harmless) && !text.contains("://") && !text.contains("www.") {
        text.replace('>', "&gt;")
    } else {
        markdown_code(text.into())
    }
}

/// What somebody needs to see the same again, line by line.
fn reproduction(run: &Judged, presentation: &Presentation) -> Vec<String> {
    let mut lines = Vec::new();
    let refs = [
        ("base", &presentation.base_ref),
        ("head", &presentation.head_ref),
    ];
    for (side, name) in refs {
        if let Some(name) = name {
            lines.push(format!(
                "- {side}: {}\n",
                markdown_code(name.as_str().into())
            ));
        }
    }
    let summary = &run.summary;
    let adjust = match summary.adjust {
        Adjust::Holm => "Holm's correction",
        Adjust::Bh => "Benjamini and Hochberg's correction",
        Adjust::None => "no correction",
    };
    lines.push(format!(
        "- significance level {}, {adjust} for {} {}\n",
        summary.alpha,
        format::count(summary.comparisons),
        if summary.comparisons == 1 {
            "comparison"
        } else {
            "comparisons"
        }
    ));
    lines.extend(words::estimates(run.rows()).map(|text| format!("- {text}\n")));
    for (index, column) in run.report.columns.iter().enumerate() {
        let keys = summary.environments.of_column(index).map(|(key, values)| {
            let values: Vec<String> = values
                .iter()
                .map(|value| markdown(value.as_ref()))
                .collect();
            format!("{} {}", markdown(key.into()), values.join(", "))
        });
        let keys: Vec<String> = keys.collect();
        if !keys.is_empty() {
            let name = markdown_code(column.label().as_ref());
            lines.push(format!("- {name}: {}\n", keys.join(" · ")));
        }
    }
    if let Some(commands) = commands(run, presentation) {
        lines.push(format!("\n```sh\n{commands}\n```\n"));
    }
    lines
}

/// The commands that lead to the same report; none where nobody said how it was asked for.
fn commands(run: &Judged, presentation: &Presentation) -> Option<String> {
    let Request {
        measures,
        flags,
        operands,
    } = &presentation.request;
    let words = |parts: &[&[String]]| -> String {
        let words: Vec<&str> = parts
            .iter()
            .copied()
            .flatten()
            .map(String::as_str)
            .collect();
        words.join(" ")
    };
    let is_harmless = |text: &String| !text.contains(['`', '\n', '\r']);
    if !flags.iter().chain(operands).all(is_harmless) {
        return None;
    }
    let plain = |name: &Option<String>| {
        let name = name.clone()?;
        is_plain_ref(name.as_str().into()).then_some(name)
    };
    let (base, head) = (plain(&presentation.base_ref), plain(&presentation.head_ref));
    if *measures {
        let command = format!(
            "rbenchstat run -format pretty {}",
            words(&[flags, operands])
        );
        let switch = head.map(|head| format!("git switch --detach {head}\n"));
        return Some(switch.unwrap_or_default() + command.trim_end());
    }
    let operands = match operands.as_slice() {
        [] => return None,
        operands => operands,
    };
    let compare = |operands: &str| {
        let command = format!("rbenchstat -format pretty {}", words(&[flags]));
        format!("{} {operands}", command.trim_end())
    };
    let (Some(base), Some(head)) = (base, head) else {
        return Some(compare(&words(&[operands])));
    };
    let count = run.report.cells().map(|(_, cell)| cell.values.len()).max();
    let has_memory = run
        .report
        .tables
        .iter()
        .any(|table| *table.unit == *b"B/op");
    let measure = |commit: &str, file: &str| {
        format!(
            "git switch --detach {commit} && go test -run '^$' -bench .{} -count {} ./... > {file}\n",
            if has_memory { " -benchmem" } else { "" },
            count.unwrap_or(10)
        )
    };
    Some(format!(
        "{}{}{}",
        measure(&base, "base.txt"),
        measure(&head, "head.txt"),
        compare("base.txt head.txt")
    ))
}

/// Whether a shell takes the name as it is.
fn is_plain_ref(name: &BStr) -> bool {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"._/-".contains(byte);
    !name.is_empty() && name[0] != b'-' && name.as_bytes().iter().all(is_plain)
}
