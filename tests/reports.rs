//! The formats for people and programs, against golden files and against other people's readers.
//!
//! With the environment variable BLESS set, golden files are written instead of compared; look at the difference then.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "common/in_process.rs"]
mod in_process;
#[path = "common/inputs.rs"]
mod inputs;
#[path = "common/program.rs"]
mod program;

use std::ffi::OsString;
use std::fmt::Write;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use comrak::nodes::{AstNode, NodeValue};
use comrak::{Arena, Options};
use inputs::{Sides, hostile, large, packages, small};
use program::{compare, compare_sides, lay};
use proptest::prelude::*;
use rbenchstat::cli::Surroundings;
use rbenchstat::render::escape::is_invisible;
use serde_json::Value;

const FORMATS: [&str; 9] = [
    "text", "csv", "pretty", "markdown", "comment", "json", "jsonl", "html", "github",
];

fn golden(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("testdata/render")
        .join(path)
}

#[track_caller]
fn assert_golden(path: &str, found: &[u8]) {
    let path = golden(path);
    if std::env::var_os("BLESS").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, found).unwrap();
        return;
    }
    let expected = fs::read(&path).unwrap_or_default();
    assert!(
        expected == found,
        "{} differs; found:\n{}",
        path.display(),
        String::from_utf8_lossy(found)
    );
}

/// All formats of one comparison.
fn assert_all_golden(name: &str, sides: &Sides, flags: &[&str], status: u8) {
    let folder = tempfile::tempdir().unwrap();
    lay(folder.path(), sides);
    for format in FORMATS {
        let flags = [flags, &["-format", format]].concat();
        let run = compare(folder.path(), &flags, Surroundings::default());
        assert_eq!(run.status, status, "{}", run.stderr);
        assert_golden(&format!("{name}/{format}"), &run.stdout);
    }
}

#[test]
fn a_small_comparison_looks_as_recorded() {
    assert_all_golden(
        "small",
        &small(),
        &["-base-ref", "v1.2.0", "-head-ref", "faster"],
        0,
    );
}

#[test]
fn a_failing_gate_looks_as_recorded() {
    let flags = ["-fail-on", "regression", "-allow", "removed"];
    assert_all_golden("failing", &small(), &flags, 1);
}

#[test]
fn a_gate_without_an_answer_looks_as_recorded() {
    let sides = small();
    let folder = tempfile::tempdir().unwrap();
    lay(folder.path(), &sides);
    for format in ["comment", "json", "pretty"] {
        let filter = ".name:(Hash OR Merge)";
        let flags = ["-fail-on=regression", "-filter", filter, "-format", format];
        let run = compare(folder.path(), &flags, Surroundings::default());
        assert_eq!(run.status, 3, "{}", run.stderr);
        assert_golden(&format!("undecided/{format}"), &run.stdout);
    }
}

/// The exit status and the headline of the comment of the same run.
fn status_and_headline(sides: &Sides, flags: &[&str]) -> (u8, String) {
    let run = compare_sides(sides, &[flags, &["-format", "comment"]].concat());
    (run.status, run.text().lines().nth(1).unwrap().to_owned())
}

#[test]
fn the_comment_agrees_with_the_gate() {
    for fail_on in ["regression", "unproven", "change"] {
        for allow in ["", "removed"] {
            for unit in ["", "sec/op", "allocs/op", "B/op"] {
                for sides in [small(), large(40), hostile()] {
                    let mut flags = vec!["-fail-on", fail_on];
                    if !allow.is_empty() {
                        flags.extend(["-allow", allow]);
                    }
                    if !unit.is_empty() {
                        flags.extend(["-gate-unit", unit]);
                    }
                    let (status, headline) = status_and_headline(&sides, &flags);
                    let outcome = match status {
                        0 => "### ✅ gate passed: ",
                        1 => "### ❌ gate failed: ",
                        3 => "### ⚠️ gate could not judge: ",
                        _ => panic!("{status}"),
                    };
                    assert!(
                        headline.starts_with(outcome),
                        "{flags:?} {status} {headline}"
                    );
                    let judged = headline.split(" (all rows").next().unwrap();
                    if status == 0 {
                        assert_eq!(counted(judged, "regression"), 0, "{headline}");
                    }
                }
            }
        }
    }
}

#[test]
fn hostile_names_look_as_recorded() {
    assert_all_golden("hostile", &hostile(), &[], 0);
}

#[test]
fn several_packages_and_units_look_as_recorded() {
    assert_all_golden("packages", &packages(), &[], 0);
}

#[test]
fn a_large_comparison_looks_as_recorded() {
    let sides = large(2000);
    assert_all_golden("large", &sides, &["-limit", "5"], 0);
    let comment = compare_sides(&sides, &["-format", "comment"]);
    assert_golden("large/comment-without-limit", &comment.stdout);
}

#[test]
fn one_input_alone_looks_as_recorded() {
    let folder = tempfile::tempdir().unwrap();
    lay(folder.path(), &large(12));
    let input = format!("old.txt={}", folder.path().join("old.txt").display());
    for format in FORMATS {
        let arguments = ["-format", format, &input].map(OsString::from);
        let run = in_process::run(arguments, io::empty(), Surroundings::default());
        assert_eq!(run.status, 0, "{}", run.stderr);
        let text = run.text();
        assert!(
            format == "github" || text.contains("Row/case=0011"),
            "{format}: {text}"
        );
        assert_golden(&format!("alone/{format}"), text.as_bytes());
    }
}

#[test]
fn a_section_of_a_comment_has_a_start_and_an_end_and_links_the_report() {
    let flags =
        "-format comment -id bench -section linux/amd64 -report-url https://ci.example/1?a=b#c";
    let flags: Vec<&str> = flags.split(' ').collect();
    let comment = compare_sides(&small(), &flags).text();
    let start = "<!-- rbenchstat:v1 id=bench -->\n<!-- rbenchstat:start section=linux/amd64 -->\n### ❌ linux/amd64: ";
    assert!(comment.starts_with(start), "{comment}");
    assert!(comment.ends_with("\n<!-- rbenchstat:end section=linux/amd64 -->\n"));
    assert!(comment.contains("\n[Full report](https://ci.example/1?a=b#c)\n"));
    for (flag, value) in [
        ("-section", "a -->"),
        ("-report-url", "javascript:x"),
        ("-report-url", "https://a)b"),
    ] {
        let run = compare_sides(&small(), &["-format", "comment", flag, value]);
        let start = format!("rbenchstat: {flag} must be ");
        assert!(
            run.status == 2 && run.stderr.starts_with(&start),
            "{}",
            run.stderr
        );
    }
}

#[test]
fn a_comment_says_how_to_get_the_same_again() {
    let flags = [
        "-format",
        "comment",
        "-fail-on",
        "regression",
        "-threshold",
        "3%",
    ];
    let refs = [
        "-base-ref",
        "v1",
        "-head-ref",
        "topic",
        "-filter",
        ".unit:(sec/op OR B/op)",
    ];
    let comment = compare_sides(&small(), &[&flags[..], &refs].concat()).text();
    let commands = "```sh\n\
        git switch --detach v1 && go test -run '^$' -bench . -count 10 ./... > base.txt\n\
        git switch --detach topic && go test -run '^$' -bench . -count 10 ./... > head.txt\n\
        rbenchstat -format pretty -fail-on regression -threshold 3% -filter '.unit:(sec/op OR B/op)' base.txt head.txt\n\
        ```\n";
    assert!(comment.contains(commands), "{comment}");
}

#[test]
fn a_green_tick_says_what_may_have_gone_unseen() {
    let flags = [
        "-format",
        "comment",
        "-fail-on",
        "regression",
        "-filter",
        ".name:Walk",
    ];
    let comment = compare_sides(&small(), &flags).text();
    let unseen = comment.lines().nth(3).unwrap();
    assert!(comment.contains("### ✅ gate passed"), "{comment}");
    assert!(
        unseen.starts_with("1 inconclusive row: a lone change below "),
        "{comment}"
    );
}

#[test]
fn annotations_may_stand_before_the_report() {
    let run = compare_sides(&small(), &["-out", "github=-", "-fail-on", "regression"]);
    let plain = compare_sides(&small(), &[]);
    let text = run.text();
    let (annotations, report) = text.split_at(text.len() - plain.text().len());
    assert_eq!(report, plain.text());
    assert!(
        annotations.starts_with("::error title=✗ regression%3A "),
        "{annotations}"
    );
    assert!(annotations.lines().all(|line| line.starts_with("::")));
    let run = compare_sides(&small(), &["-out", "json=-"]);
    assert_eq!(run.status, 2);
}

#[test]
fn the_answer_of_a_gate_comes_last_and_once() {
    for format in ["text", "pretty"] {
        let flags = [
            "-fail-on",
            "regression",
            "-allow",
            "removed",
            "-format",
            format,
        ];
        let run = compare_sides(&small(), &flags);
        let last = run.stderr.lines().last().unwrap();
        assert!(
            last.starts_with("rbenchstat: gate failed: "),
            "{}",
            run.stderr
        );
        assert_eq!((run.text() + &run.stderr).matches("gate failed").count(), 1);
    }
    let run = compare_sides(&small(), &["-format", "pretty"]);
    let text = run.text();
    assert!(
        text.lines().last().unwrap().starts_with("2 regressions · "),
        "{text}"
    );
}

#[test]
fn a_terminal_gets_what_fits_it() {
    let folder = tempfile::tempdir().unwrap();
    lay(folder.path(), &small());
    for width in [72, 80, 160] {
        let surroundings = Surroundings {
            width: Some(width),
            ..Surroundings::default()
        };
        let run = compare(folder.path(), &["-format", "pretty", "-all"], surroundings);
        assert_golden(&format!("small/pretty-{width}"), &run.stdout);
        for line in run.text().lines().filter(|line| line.starts_with(' ')) {
            assert!(line.chars().count() <= usize::from(width), "{line}");
        }
    }
}

/// Removes the sequences that change colours.
fn without_colour(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let mut plain = String::new();
    let mut rest = &*text;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        plain.push_str(before);
        rest = after.split_once('m').unwrap().1;
    }
    plain + rest
}

#[test]
fn text_without_its_colour_is_the_drop_in_text() {
    let folder = tempfile::tempdir().unwrap();
    lay(folder.path(), &small());
    let run = |flags: &[&str]| compare(folder.path(), flags, Surroundings::default());
    let plain = run(&[]);
    let coloured = run(&["-color", "always"]);
    assert_ne!(plain.stdout, coloured.stdout);
    assert_eq!(without_colour(&coloured.stdout), plain.text());
    assert_golden("small/text-colour", &coloured.stdout);
    let pretty = run(&["-format", "pretty"]);
    let coloured = run(&["-format", "pretty", "-color=always"]);
    assert_ne!(pretty.stdout, coloured.stdout);
    assert_eq!(without_colour(&coloured.stdout), pretty.text());
}

#[test]
fn colour_is_for_those_who_can_see_it() {
    let folder = tempfile::tempdir().unwrap();
    lay(folder.path(), &small());
    let has_colour = |flags: &[&str], shows_colour: bool| {
        let surroundings = Surroundings {
            shows_colour,
            ..Surroundings::default()
        };
        let run = compare(folder.path(), flags, surroundings);
        run.stdout.contains(&0x1b)
    };
    assert!(has_colour(&[], true));
    assert!(!has_colour(&[], false));
    assert!(!has_colour(&["-color", "never"], true));
    assert!(has_colour(&["-color", "always"], false));
    assert!(!has_colour(&["-format", "csv"], true));
}

#[test]
fn one_run_writes_every_format_and_prints_the_drop_in_tables() {
    let folder = tempfile::tempdir().unwrap();
    lay(folder.path(), &small());
    let outputs: Vec<String> = FORMATS
        .iter()
        .map(|format| format!("-out={format}={}", folder.path().join(format).display()))
        .collect();
    let outputs: Vec<&str> = outputs.iter().map(String::as_str).collect();
    let run = compare(folder.path(), &outputs, Surroundings::default());
    let plain = compare(folder.path(), &[], Surroundings::default());
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert_eq!(run.stdout, plain.stdout);
    for format in FORMATS {
        let printed = compare(folder.path(), &["-format", format], Surroundings::default());
        assert_eq!(
            fs::read(folder.path().join(format)).unwrap(),
            printed.stdout
        );
    }
}

#[test]
fn a_report_that_cannot_be_written_ends_the_run() {
    let run = compare_sides(&small(), &["-out", "json=missing/folder/report.json"]);
    assert_eq!(run.status, 2);
    assert!(
        run.stderr
            .starts_with("rbenchstat: write missing/folder/report.json: ")
    );
}

#[test]
fn an_unknown_format_is_told_as_ever_and_the_others_are_named_below() {
    let run = compare_sides(&small(), &["-format", "docx"]);
    assert_eq!(run.status, 2);
    assert_eq!(
        run.stderr,
        "rbenchstat: -format must be text or csv\n\
         rbenchstat: note: the formats are text, csv, pretty, markdown, comment, json, jsonl, html, github, bench\n"
    );
}

#[test]
fn wrong_arguments_are_told() {
    for (flags, message) in [
        (
            ["-sort", "size"],
            "-sort must be delta, -delta, name, -name, p, -p or none, not \"size\"",
        ),
        (
            ["-id", "a-->b"],
            "-id must be 1 to 64 letters, digits, `.`, `_`, `/` and `-`, and have no `--`",
        ),
        (["-max-bytes", "10"], "-max-bytes must be at least 1000"),
        (["-out", "json"], "-out must be FORMAT=PATH, not \"json\""),
    ] {
        let run = compare_sides(&small(), &flags);
        assert_eq!(
            (run.status, run.stderr),
            (2, format!("rbenchstat: {message}\n"))
        );
    }
}

/// The names of the rows of a format that has tables, in order.
fn names(sides: &Sides, format: &str, flags: &[&str]) -> Vec<String> {
    let run = compare_sides(sides, &[flags, &["-format", format]].concat());
    let text = run.text();
    match format {
        "json" => {
            let document: Value = serde_json::from_str(&text).unwrap();
            let rows = document["tables"][0]["rows"].as_array().unwrap();
            rows.iter()
                .map(|row| row["name"].as_str().unwrap().to_owned())
                .collect()
        }
        "jsonl" => text
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap())
            .filter(|record| record["unit"] == "sec/op")
            .map(|record| record["name"].as_str().unwrap().to_owned())
            .collect(),
        _ => {
            let unit = text
                .split("\n\n")
                .find(|table| table.contains("sec/op"))
                .unwrap_or(&text);
            let is_row = |word: &&str| word.ends_with("-8");
            let words = |line: &str| {
                let mut words = line
                    .split([' ', ',', '|', '`'])
                    .filter(|word| !word.is_empty());
                words.next().filter(is_row).map(str::to_owned)
            };
            let is_time =
                |line: &&str| !matches!(format, "pretty" | "comment") || line.contains("sec/op");
            unit.lines().filter(is_time).filter_map(words).collect()
        }
    }
}

#[test]
fn rows_are_sorted_in_every_format() {
    let sides = small();
    for format in ["text", "csv", "markdown", "json", "jsonl"] {
        assert_eq!(
            names(&sides, format, &["-sort", "delta"]),
            [
                "Decode-8", "Lookup-8", "Hash-8", "Walk-8", "Encode-8", "Merge-8", "Split-8"
            ],
            "{format}"
        );
        assert_eq!(
            names(&sides, format, &["-sort", "-name"]),
            [
                "Walk-8", "Split-8", "Merge-8", "Lookup-8", "Hash-8", "Encode-8", "Decode-8"
            ],
            "{format}"
        );
    }
    let run = compare_sides(&sides, &["-format", "html", "-sort", "name"]);
    let html = run.text();
    let position = |name: &str| html.find(&format!(">{name}<")).unwrap();
    assert!(position("Decode-8") < position("Encode-8"));
    assert!(position("Merge-8") < position("Walk-8"));
    for format in ["pretty", "comment"] {
        let names = names(&sides, format, &["-sort", "name"]);
        let mut sorted = names.clone();
        sorted.sort();
        assert!(names.len() > 2, "{format}: {names:?}");
        if format == "pretty" {
            assert_eq!(names, sorted);
        }
    }
}

#[test]
fn only_changed_rows_are_shown_in_every_format() {
    let sides = small();
    for format in ["text", "csv", "markdown", "json", "jsonl"] {
        let mut names = names(&sides, format, &["-changed-only"]);
        names.sort();
        assert_eq!(
            names,
            ["Decode-8", "Encode-8", "Lookup-8", "Merge-8", "Split-8"],
            "{format}"
        );
    }
    for format in ["pretty", "comment", "html"] {
        let run = compare_sides(&sides, &["-changed-only", "-format", format]);
        assert!(!run.text().contains("Hash-8"), "{format}");
        assert!(run.text().contains("Decode-8"), "{format}");
    }
}

#[test]
fn changed_rows_are_shown_whatever_the_new_side_says_of_the_unit() {
    let mut sides = small();
    // The drop-in formats go by it, and verdicts do not.
    sides.new.splice(..0, *b"Unit ns/op assume=exact\n");
    for format in ["text", "csv", "markdown"] {
        let names = names(&sides, format, &["-changed-only"]);
        assert!(
            names.iter().any(|name| name == "Encode-8"),
            "{format}: {names:?}"
        );
    }
}

#[test]
fn a_limit_shortens_every_format() {
    let sides = large(30);
    for format in ["text", "csv", "markdown", "json", "jsonl"] {
        assert_eq!(names(&sides, format, &["-limit", "3"]).len(), 3, "{format}");
    }
    for format in ["pretty", "html"] {
        let text = compare_sides(&sides, &["-limit", "3", "-format", format]).text();
        // A warning names some rows of its own.
        let lines = text.lines().filter(|line| !line.contains("drift: "));
        let named: usize = lines.map(|line| line.matches("Row/case=").count()).sum();
        assert!(named <= 4, "{format}");
    }
    let comment = compare_sides(&sides, &["-limit", "1", "-format", "comment"]).text();
    let first_table = comment.split("<details>").next().unwrap();
    assert_eq!(first_table.matches("| `Row/").count(), 1);
    assert!(first_table.contains("Not shown: "), "{first_table}");
}

#[test]
fn what_is_summed_up_does_not_depend_on_what_is_shown() {
    let sides = large(40);
    let summary = |flags: &[&str]| {
        let run = compare_sides(&sides, &[flags, &["-format", "json"]].concat());
        let document: Value = serde_json::from_slice(&run.stdout).unwrap();
        (
            document["summary"].clone(),
            document["tables"][0]["geomeans"].clone(),
        )
    };
    let whole = summary(&[]);
    assert_eq!(summary(&["-limit", "2", "-sort", "-delta"]), whole);
    assert_eq!(summary(&["-changed-only"]), whole);
}

fn options() -> Options<'static> {
    let mut options = Options::default();
    options.extension.table = true;
    options.extension.autolink = true;
    options.extension.strikethrough = true;
    options.extension.tasklist = true;
    options
}

fn text_of<'a>(node: &'a AstNode<'a>, text: &mut String) {
    match &node.data.borrow().value {
        NodeValue::Text(found) => text.push_str(found),
        NodeValue::Code(code) => text.push_str(&code.literal),
        NodeValue::HtmlInline(tag) => {
            assert!(
                ["<code>", "</code>", "<!-- -->"].contains(&tag.as_str()),
                "{tag}"
            );
        }
        // Nothing may be read out of a name, not even a link.
        NodeValue::TableCell | NodeValue::TableRow(_) => {}
        other => panic!("{other:?} in a cell"),
    }
    for child in node.children() {
        text_of(child, text);
    }
}

/// The tables of a Markdown document, as a reader of GitHub's dialect finds them: rows of cells.
fn tables(markdown: &str) -> Vec<Vec<Vec<String>>> {
    let arena = Arena::new();
    let root = comrak::parse_document(&arena, markdown, &options());
    let mut tables = Vec::new();
    for node in root.descendants() {
        if !matches!(node.data.borrow().value, NodeValue::Table(_)) {
            continue;
        }
        let rows = node.children().map(|row| {
            let cells = row.children().map(|cell| {
                let mut text = String::new();
                text_of(cell, &mut text);
                text
            });
            cells.collect()
        });
        tables.push(rows.collect());
    }
    tables
}

/// How a name appears in Markdown: what cannot be seen is spelled out.
fn visible(name: &str) -> String {
    let mut text = String::new();
    for char in name.chars() {
        match char {
            '\t' | '\n' | '\r' => text.push(' '),
            _ if is_invisible(char) => text.extend(char.escape_unicode()),
            _ => text.push(char),
        }
    }
    text
}

#[test]
fn markdown_gives_the_same_cells_back() {
    let sides = hostile();
    let document: Value =
        serde_json::from_slice(&compare_sides(&sides, &["-format", "json"]).stdout).unwrap();
    let markdown = compare_sides(&sides, &["-format", "markdown"]).text();
    let read = tables(&markdown);
    let written = document["tables"].as_array().unwrap();
    assert_eq!(read.len(), written.len());
    for (read, written) in read.iter().zip(written) {
        assert_eq!(read[0][0], written["unit"].as_str().unwrap());
        assert_eq!(read[0][1..], ["old.txt", "new.txt", "vs base", "verdict"]);
        let rows = written["rows"].as_array().unwrap();
        assert_eq!(read.len(), rows.len() + 2);
        for (read, row) in read[1..].iter().zip(rows) {
            assert_eq!(read.len(), 5);
            assert_eq!(read[0], visible(row["name"].as_str().unwrap()));
            let verdict = row["comparisons"][0]["verdict"].as_str().unwrap();
            assert!(read[4].ends_with(verdict), "{} {verdict}", read[4]);
        }
    }
}

#[test]
fn a_comment_gives_the_same_cells_back_and_no_markup_of_a_name_stands() {
    let comment = compare_sides(&hostile(), &["-format", "comment"]).text();
    let mut found = 0;
    for table in tables(&comment) {
        for row in &table {
            assert_eq!(row.len(), 6);
            found += usize::from(row[0].ends_with(" sec/op"));
        }
    }
    // The rows that changed.
    assert_eq!(found, 10);
    let arena = Arena::new();
    let root = comrak::parse_document(&arena, &comment, &options());
    for node in root.descendants() {
        if let NodeValue::HtmlBlock(block) = &node.data.borrow().value {
            let is_own = block
                .literal
                .starts_with("<!-- rbenchstat:v1 id=default -->")
                || block.literal.starts_with("<details><summary>")
                || block.literal.starts_with("</details>");
            assert!(is_own, "{}", block.literal);
        }
    }
}

proptest! {
    #[test]
    fn a_name_in_a_table_is_read_as_it_was_written(name in "[ -~µé\u{202e}\n]{1,30}") {
        let cell = rbenchstat::render::escape::markdown_code(name.as_str().into());
        let table = format!("| a | b |\n| - | - |\n| {cell} | x |\n");
        let tables = tables(&table);
        prop_assert_eq!(&tables[0][1], &vec![visible(&name), "x".to_owned()]);
        let cell = rbenchstat::render::escape::markdown(name.as_str().into());
        let table = format!("| a | b |\n| - | - |\n| {cell} | x |\n");
        let read = self::tables(&table);
        prop_assert_eq!(&read[0][1], &vec![visible(&name), "x".to_owned()]);
    }
}

/// A comparison with rows of random length, number and change.
fn any_sides() -> impl Strategy<Value = Sides> {
    let row = ("[A-Za-z|`<>@#*_/=.-]{0,60}", 0_u8..6);
    proptest::collection::vec(row, 1..80).prop_map(|rows| {
        let mut sides = [String::new(), String::new()];
        for (index, (name, kind)) in rows.iter().enumerate() {
            for (side, text) in sides.iter_mut().enumerate() {
                if *kind == 4 + u8::try_from(side).unwrap() {
                    continue;
                }
                let factor = match (side, kind) {
                    (1, 0) => 1.7,
                    (1, 1) => 0.6,
                    (1, 2) => 1.021,
                    _ => 1.0,
                };
                for run in 0..9 {
                    let time = 50.0 * factor * (1.0 + f64::from(run) / 1000.0);
                    writeln!(text, "Benchmark{index}{name} 1 {time} ns/op").unwrap();
                }
            }
        }
        let [old, new] = sides.map(String::into_bytes);
        Sides { old, new }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn a_comment_keeps_its_limit_its_marker_and_its_counts(
        sides in any_sides(),
        max_bytes in 1_000_usize..12_000,
        limit in prop_oneof![Just(None), (1_usize..20).prop_map(Some)],
    ) {
        let bytes = max_bytes.to_string();
        let limit = limit.map(|limit| limit.to_string());
        let mut flags = vec!["-format", "comment", "-max-bytes", &bytes, "-id", "law"];
        if let Some(limit) = &limit {
            flags.extend(["-limit", limit]);
        }
        let comment = compare_sides(&sides, &flags).text();
        prop_assert!(comment.len() <= max_bytes, "{} > {max_bytes}", comment.len());
        let mut lines = comment.lines();
        prop_assert_eq!(lines.next(), Some("<!-- rbenchstat:v1 id=law -->"));
        let headline = lines.next().unwrap();
        prop_assert!(headline.starts_with("### "));
        prop_assert_eq!(comment.matches("<details>").count(), comment.matches("</details>").count());
        for row in comment.lines().filter(|line| line.starts_with('|')) {
            prop_assert!(row.ends_with('|'), "{row}");
        }
        // One input alone has its spread beside its median, and no change.
        let width = if sides.old.is_empty() || sides.new.is_empty() { 7 } else { 6 };
        for table in tables(&comment) {
            for row in table {
                prop_assert_eq!(row.len(), width);
            }
        }
        // What the headline counts is in a row or counted below.
        for word in ["regression", "improvement"] {
            let rows = comment.lines().filter(|line| line.starts_with('|') && line.contains(&format!("\u{a0}{word} |")));
            let left_out = comment.lines().find_map(|line| line.strip_prefix("Not shown: "));
            let told = rows.count() + left_out.map_or(0, |line| counted(line, word));
            prop_assert_eq!(told, counted(headline, word), "{}", comment);
        }
        // And so is what stands around the tables.
        let everything = compare_sides(&sides, &["-format", "comment", "-max-bytes", "1000000"]).text();
        let left_out = comment.lines().find_map(|line| line.strip_prefix("Not shown: "));
        for (start, word) in [("> ⚠️ ", "warning"), ("- ", "remark")] {
            let lines = |text: &str| {
                let (remarks, _) = text.split_once("<summary>How to reproduce").unwrap_or((text, ""));
                remarks.lines().filter(|line| line.starts_with(start)).count()
            };
            let told = lines(&comment) + left_out.map_or(0, |line| counted(line, word));
            prop_assert_eq!(told, lines(&everything), "{} {}", word, comment);
        }
    }
}

/// The same on two machines with long names.
fn two_machines(words: &str) -> Sides {
    let side = |machine: &str| {
        let mut text = format!("cpu: {machine} {words}\n");
        for row in 0..10 {
            for _ in 0..10 {
                writeln!(text, "Benchmark{row} 1 50 ns/op").unwrap();
            }
        }
        text.into_bytes()
    };
    Sides {
        old: side("Fast"),
        new: side("Slow"),
    }
}

#[test]
fn a_warning_is_shortened_before_it_is_left_out() {
    let flags = ["-table", "", "-format", "comment", "-max-bytes", "1000"];
    let comment = compare_sides(&two_machines(&"core ".repeat(140)), &flags).text();
    let start = "core ".repeat(11);
    let warning = format!(
        "> ⚠️ environment differs: cpu is `Fast {start}…` in the baseline and `Slow {start}…` now\n"
    );
    assert!(comment.contains(&warning), "{comment}");
    let left_out = "\nNot shown: 10 unchanged · details of how to reproduce.\n";
    assert!(comment.contains(left_out), "{comment}");

    // Each of these is spelled out, so that even a few take much room.
    let comment = compare_sides(&two_machines(&"\u{202e}".repeat(140)), &flags).text();
    let left_out = "\nNot shown: 10 unchanged · 1 warning · details of how to reproduce.\n";
    assert!(comment.contains(left_out), "{comment}");
}

/// The number before `word` in a list of counts.
fn counted(list: &str, word: &str) -> usize {
    let words: Vec<&str> = list.split([' ', '.']).collect();
    words
        .windows(2)
        .find(|pair| pair[1].trim_end_matches('s') == word)
        .map_or(0, |pair| pair[0].replace(',', "").parse().unwrap())
}

#[test]
fn a_comment_on_two_thousand_rows_names_or_counts_every_regression() {
    let comment = compare_sides(&large(2000), &["-format", "comment"]).text();
    assert!(comment.len() <= 60_000);
    let headline = comment.lines().nth(1).unwrap();
    let rows = comment
        .lines()
        .filter(|line| line.contains("\u{a0}regression |"))
        .count();
    let left_out = comment
        .lines()
        .find_map(|line| line.strip_prefix("Not shown: "));
    let told = rows + left_out.map_or(0, |line| counted(line, "regression"));
    assert!(told > 80);
    assert_eq!(told, counted(headline, "regression"));
}

/// The schema, and that there are no fields beyond those that it names.
fn validator() -> jsonschema::Validator {
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/report.schema.json");
    let mut schema: Value = serde_json::from_slice(&fs::read(schema).unwrap()).unwrap();
    forbid_others(&mut schema);
    jsonschema::validator_for(&schema).unwrap()
}

fn forbid_others(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            // What has a kind has further fields, which depend on it.
            let names = fields.get("properties").and_then(Value::as_object);
            let is_closed = |names: &serde_json::Map<String, Value>| {
                !names.contains_key("kind") && !names.contains_key("differing")
            };
            if names.is_some_and(is_closed) {
                fields.insert("additionalProperties".into(), Value::Bool(false));
            }
            fields.values_mut().for_each(forbid_others);
        }
        Value::Array(items) => items.iter_mut().for_each(forbid_others),
        _ => {}
    }
}

#[track_caller]
fn assert_valid(validator: &jsonschema::Validator, json: &[u8]) {
    let document: Value = serde_json::from_slice(json).unwrap();
    let errors: Vec<String> = validator
        .iter_errors(&document)
        .map(|error| format!("{error} at {}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

#[test]
fn json_is_as_its_schema_says() {
    let validator = validator();
    for sides in [small(), hostile(), large(60)] {
        for flags in [
            &["-format", "json"][..],
            &["-format", "json", "-fail-on", "unproven"],
            &[
                "-format",
                "json",
                "-limit",
                "2",
                "-sort",
                "-p",
                "-head-ref",
                "x",
            ],
            &["-format", "json", "-row", ".name", "-col", ".fullname"],
            &["-format", "json", "-alpha", "0.00001"],
            &["-format", "json", "-filter", "nothing:here"],
        ] {
            assert_valid(&validator, &compare_sides(&sides, flags).stdout);
        }
    }
}

#[test]
fn a_schema_that_fits_nothing_else_is_no_schema() {
    let mut document: Value =
        serde_json::from_slice(&compare_sides(&small(), &["-format", "json"]).stdout).unwrap();
    let validator = validator();
    assert!(validator.is_valid(&document));
    document["tables"][0]["rows"][0]["surprise"] = Value::Bool(true);
    assert!(!validator.is_valid(&document));
}

#[test]
fn every_field_of_json_is_documented() {
    let documented =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/json.md")).unwrap();
    let schema =
        fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/report.schema.json")).unwrap();
    let schema: Value = serde_json::from_slice(&schema).unwrap();
    let mut names = Vec::new();
    property_names(&schema, &mut names);
    let lines = compare_sides(&small(), &["-format", "jsonl"]).text();
    let record: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    let fields = record.as_object().unwrap().keys();
    names.extend(fields.filter(|name| !name.starts_with("key_")).cloned());
    for name in names {
        assert!(
            documented.contains(&format!("`{name}`")),
            "{name} is not in docs/json.md"
        );
    }
}

fn property_names(schema: &Value, names: &mut Vec<String>) {
    match schema {
        Value::Object(fields) => {
            for (key, value) in fields {
                if key == "properties" {
                    names.extend(value.as_object().unwrap().keys().cloned());
                }
                property_names(value, names);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| property_names(item, names)),
        _ => {}
    }
}

#[test]
fn numbers_come_back_as_they_were_read() {
    let values = [
        "0.1",
        "123456789.123456789",
        "1e-7",
        "3",
        "2.2250738585072014e-308",
        "1.7976931348623157e308",
    ];
    let mut text = String::new();
    for value in values {
        writeln!(text, "BenchmarkX 1 {value} widgets").unwrap();
    }
    let sides = Sides {
        old: text.clone().into_bytes(),
        new: text.into_bytes(),
    };
    let run = compare_sides(&sides, &["-format", "json"]);
    let document: Value = serde_json::from_slice(&run.stdout).unwrap();
    let read = document["tables"][0]["rows"][0]["cells"][0]["values"]
        .as_array()
        .unwrap();
    for (read, value) in read.iter().zip(values) {
        let value: f64 = value.parse().unwrap();
        assert_eq!(read.as_f64().unwrap().to_bits(), value.to_bits());
    }
}

#[test]
fn a_record_a_line_has_the_same_fields_in_every_line() {
    let text = compare_sides(&small(), &["-format", "jsonl"]).text();
    let keys: Vec<Vec<String>> = text
        .lines()
        .map(|line| {
            let record: Value = serde_json::from_str(line).unwrap();
            let fields = record.as_object().unwrap();
            assert!(
                fields
                    .values()
                    .all(|value| !value.is_object() && !value.is_array())
            );
            fields.keys().cloned().collect()
        })
        .collect();
    assert_eq!(keys.len(), 14);
    assert!(keys.iter().all(|fields| *fields == keys[0]));
}

#[test]
fn the_variables_that_ask_for_colour_or_against_it_are_heard() {
    let folder = tempfile::tempdir().unwrap();
    lay(folder.path(), &small());
    let has_colour = |variables: &[(&str, &str)]| {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_rbenchstat"))
            .args(["old.txt", "new.txt"])
            .current_dir(folder.path())
            .env_remove("NO_COLOR")
            .env_remove("CLICOLOR_FORCE")
            .envs(variables.iter().copied())
            .output()
            .unwrap();
        output.stdout.contains(&0x1b)
    };
    assert!(!has_colour(&[]));
    assert!(has_colour(&[("CLICOLOR_FORCE", "1")]));
    assert!(!has_colour(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
}
