//! What notes promise comes true for whoever does what they say.

use super::*;

type Files = Vec<(String, Vec<u8>)>;

/// A way to get a note, and what it says to do.
struct Case {
    about: &'static str,
    files: Files,
    arguments: &'static str,
    /// A part of the note.
    note: &'static str,
    /// What a reader of the note does: changes files, and says how to call the program then.
    follow: fn(&mut Files, &str) -> String,
    /// What is printed then.
    printed: &'static str,
}

fn files(contents: &[(&str, String)]) -> Files {
    let contents = contents.iter();
    contents
        .map(|(name, text)| ((*name).to_owned(), text.clone().into_bytes()))
        .collect()
}

fn sides(old: String, new: String) -> Files {
    files(&[("old.txt", old), ("new.txt", new)])
}

/// What stands behind these words of a note.
fn behind<'n>(note: &'n str, words: &str) -> &'n str {
    note.rsplit_once(words).unwrap().1
}

/// Calls the program as a shell does.
fn call(files: &Files, arguments: &str) -> Run {
    shell(
        files,
        &format!("'{}' {arguments}", env!("CARGO_BIN_EXE_rbenchstat")),
    )
}

fn shell(files: &Files, command: &str) -> Run {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in files {
        fs::write(folder.path().join(name), content).unwrap();
    }
    let output = Command::new("sh")
        .args(["-c", command])
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    Run {
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        status: output.status.code().unwrap(),
    }
}

/// Runs the `sed` of a note over the first file.
fn sed(files: &mut Files, note: &str) {
    let start = note.find("LC_ALL=C sed").or(note.find("sed -E")).unwrap();
    let (command, _) = note[start..].split_once(" strips prefixes").unwrap();
    let done = shell(files, &format!("{command} {}", files[0].0));
    assert_eq!((done.stderr.as_str(), done.status), ("", 0), "{command}");
    files[0].1 = done.stdout.into_bytes();
}

const BOTH: &str = "old.txt new.txt";

fn x(runs: usize) -> String {
    results(&["X"], runs, 0)
}

fn lines(count: usize, line: fn(usize) -> String) -> String {
    (0..count).map(line).collect()
}

/// One for each kind of note that says what to do; what is done with `go test` is done here to the files.
#[expect(clippy::too_many_lines, reason = "a table")]
fn cases() -> Vec<Case> {
    vec![
        Case {
            about: "alpha above 1",
            files: sides(x(6), x(6)),
            arguments: "-alpha 1.2 old.txt new.txt",
            note: "write 1",
            follow: |_, _| format!("-alpha 1 {BOTH}"),
            printed: "p=1.000",
        },
        Case {
            about: "a unit that no input has",
            files: sides(x(6), x(6)),
            arguments: "-format json -threshold B/op=3% old.txt new.txt",
            note: "no input has B/op; there are sec/op",
            follow: |_, note| {
                let unit = behind(note, "there are ");
                format!("-format json -threshold {unit}=3% {BOTH}")
            },
            printed: "0.03",
        },
        Case {
            about: "a margin that can never fire",
            files: sides(x(6).replace("ns/op", "MB/s"), x(6).replace("ns/op", "MB/s")),
            arguments: "-format json -threshold 200% old.txt new.txt",
            note: "can never fire",
            follow: |_, note| {
                let margin = behind(note, "such as ");
                format!("-format json -threshold 200%,{margin} {BOTH}")
            },
            printed: "0.5",
        },
        Case {
            about: "no results in a gzip file within one",
            files: vec![("x".into(), gzip(&gzip(x(6).as_bytes())))],
            arguments: "x",
            note: "unpack it, and name what is in it",
            follow: |files, _| {
                files[0].1 = gzip(x(6).as_bytes());
                "x".into()
            },
            printed: "102.5n",
        },
        Case {
            about: "lines that look like results",
            files: files(&[("x", "BenchmarkX 0 0 ns/op\nBenchmarkY 1 5\n".into())]),
            arguments: "x",
            note: "2 lines would be, and cannot be used, first line 1: what is wrong with them stands above",
            follow: |files, _| {
                files[0].1 = x(6).into_bytes();
                "x".into()
            },
            printed: "102.5n",
        },
        Case {
            about: "a key that no input has",
            files: files(&[("x", results(&["X/4k", "X/8k"], 6, 0))]),
            arguments: "-filter /size:4k x",
            note: "-filter .fullname:/4k/ matches",
            follow: |_, note| {
                let flag = behind(note, "which ").strip_suffix(" matches").unwrap();
                format!("{flag} x")
            },
            printed: "X/4k",
        },
        Case {
            about: "a key that differs between the sides",
            files: sides(
                format!("commit: a b\n{}", x(6)),
                format!("commit: c\n{}", x(6)),
            ),
            arguments: BOTH,
            note: "commit is",
            follow: |_, note| format!("{} {BOTH}", behind(note, " with ")),
            printed: "n=6",
        },
        Case {
            about: "a key of -table that differs between the sides",
            files: sides(
                format!("commit: a\n{}", x(6)),
                format!("commit: c\n{}", x(6)),
            ),
            arguments: "-table goos,commit old.txt new.txt",
            note: "commit is",
            follow: |_, note| format!("{} {BOTH}", behind(note, " with ")),
            printed: "n=6",
        },
        Case {
            about: "the number of processors differs",
            files: sides(results(&["X-8"], 6, 0), results(&["X-4"], 6, 0)),
            arguments: BOTH,
            note: "names end in -8",
            follow: |_, note| format!("{} {BOTH}", behind(note, " with ")),
            printed: "n=6",
        },
        Case {
            about: "several numbers of processors",
            files: sides(results(&["X", "X-2"], 6, 0), results(&["X-8"], 6, 0)),
            arguments: BOTH,
            note: "run both sides with the same -cpu",
            follow: |files, _| {
                files[1].1 = files[0].1.clone();
                BOTH.into()
            },
            printed: "n=6",
        },
        Case {
            about: "a key that changes, to pool",
            files: files(&[("x", format!("conn: 1\n{}conn: 2\n{}", x(6), x(6)))]),
            arguments: "x",
            note: "conn changes between results",
            follow: |_, note| {
                let (flag, _) = behind(note, "pool them with ").split_once(", or").unwrap();
                format!("-format csv {flag} x")
            },
            printed: "X,1.025e-07,",
        },
        Case {
            about: "a key that changes, to compare",
            files: files(&[("x", format!("conn: 1\n{}conn: 2\n{}", x(6), x(6)))]),
            arguments: "x",
            note: "conn changes between results",
            follow: |_, note| format!("{} x", behind(note, "compare them with ")),
            printed: "n=6",
        },
        Case {
            about: "prefixes of several kinds",
            files: files(&[(
                "x",
                lines(6, |run| {
                    let prefixes = [
                        "[a] ",
                        "2026-01-01T00:00:01.5Z ",
                        "\t",
                        "> ",
                        "\"",
                        "\u{2502} : ",
                    ];
                    let end = if run == 4 { "\"," } else { "" };
                    format!("{}BenchmarkX 1 {run} ns/op{end}\n", prefixes[run])
                }),
            )]),
            arguments: "x",
            note: "behind a prefix that not all have",
            follow: |files, note| {
                sed(files, note);
                // One kind is stripped, and the next run tells of the next.
                loop {
                    let told = call(files, "x");
                    let notes = told.notes();
                    let Some(note) = notes.iter().find(|note| note.contains(" strips ")) else {
                        return "-format bench x".into();
                    };
                    sed(files, note);
                }
            },
            printed: "BenchmarkX\t       1\t         5.000 ns/op\n",
        },
        Case {
            about: "a torn result, joined",
            files: files(&[(
                "x",
                format!("BenchmarkX-8 \tlog\n     100\t 5 ns/op\n{}", x(6)),
            )]),
            arguments: "x",
            note: "-format bench writes the file mended",
            follow: |files, _| {
                files[0].1 = call(files, "-q -format bench x").stdout.into_bytes();
                "-format csv x".into()
            },
            printed: "\nX-8,5e-09,",
        },
        Case {
            about: "torn results",
            files: files(&[(
                "x",
                format!(
                    "BenchmarkX-8 \tlog\nBenchmarkY-8 \tlog\n     100\t 5 ns/op\n{}",
                    x(6)
                ),
            )]),
            arguments: "x",
            note: "run go test with -v, which writes results whole",
            follow: |files, _| {
                let of = |name: &str| {
                    format!("Benchmark{name}\nlog\nBenchmark{name}-8 \t     100\t 5 ns/op\n")
                };
                files[0].1 = (of("X") + &of("Y") + &x(6)).into_bytes();
                "x".into()
            },
            printed: "Y-8",
        },
        Case {
            about: "benchmarks on one side",
            files: sides(results(&["X", "A'b/1"], 6, 0), x(6)),
            arguments: BOTH,
            note: "1 benchmark only in old.txt (A'b/1)",
            follow: |_, note| format!("{} {BOTH}", behind(note, "leave out with ")),
            printed: "n=6",
        },
        Case {
            about: "geomeans of different rows",
            files: sides(x(6), results(&["X", "Y"], 6, 0)),
            arguments: BOTH,
            note: "the geomeans of sec/op are not of the same rows",
            follow: |_, note| format!("{} {BOTH}", behind(note, "in both with ")),
            printed: "n=6",
        },
        Case {
            about: "units on one side",
            files: sides(x(6).replace("ns/op", "ns/op 1 B/op"), x(6)),
            arguments: BOTH,
            note: "run both sides with -benchmem",
            follow: |files, _| {
                files[1].1 = files[0].1.clone();
                BOTH.into()
            },
            printed: "B/op",
        },
        Case {
            about: "each run in an input of its own",
            files: files(&[
                ("old0.txt", x(1)),
                ("old1.txt", x(1)),
                ("new0.txt", x(1)),
                ("new1.txt", x(1)),
            ]),
            arguments: "old0.txt old1.txt new0.txt new1.txt",
            note: "give those of one side one label",
            follow: |_, note| behind(note, "as in rbenchstat ").into(),
            printed: "n=2",
        },
        Case {
            about: "too few runs",
            files: sides(x(3), results(&["X"], 3, 50)),
            arguments: BOTH,
            note: "too few runs (3)",
            follow: |files, note| {
                let count = behind(note, "-count ").strip_suffix(" or more");
                let count = count.unwrap().parse().unwrap();
                *files = sides(x(count), results(&["X"], count, 50));
                BOTH.into()
            },
            printed: "p=0.002",
        },
        Case {
            about: "too few runs whatever their number",
            files: sides(x(6), x(6)),
            arguments: "-confidence 1 old.txt new.txt",
            note: "choose another -confidence",
            follow: |_, _| format!("-confidence 0.9 {BOTH}"),
            printed: "± 2%",
        },
        Case {
            about: "unequal numbers of runs",
            files: sides(x(8), x(6)),
            arguments: BOTH,
            note: "run both sides with the same -count",
            follow: |files, _| {
                files[1].1 = x(8).into_bytes();
                BOTH.into()
            },
            printed: "n=8",
        },
        Case {
            about: "a table that is mostly empty",
            files: (0..12)
                .map(|at| {
                    let text = results(&[&format!("X{at}")], 6, 0);
                    (format!("f{at}"), text.into_bytes())
                })
                .collect(),
            arguments: "f*",
            note: "give the inputs of each side one label",
            follow: |_, _| "old=f0 old=f1 old=f2 new=f0 new=f1 new=f2".into(),
            printed: "n=6",
        },
        Case {
            about: "a table of a key that is mostly empty",
            files: files(&[(
                "x",
                lines(12, |at| {
                    format!("k: {at}\n{}", results(&[&format!("X{at}")], 6, 0))
                }),
            )]),
            arguments: "-col k x",
            note: "the columns to compare with -filter",
            follow: |_, _| "-col k -filter 'k:(1 OR 2)' x".into(),
            printed: "X1",
        },
        Case {
            about: "the geomean of noise",
            files: {
                let slow = x(3) + &results(&["X"], 3, 40);
                let slow = slow.clone() + &slow.replace("BenchmarkX", "BenchmarkY");
                sides(results(&["X", "Y"], 6, 0), slow)
            },
            arguments: BOTH,
            note: "a higher -count tells",
            follow: |files, _| {
                for (_, content) in files {
                    *content = content.repeat(10);
                }
                BOTH.into()
            },
            printed: "n=60",
        },
    ]
}

#[test]
fn whoever_follows_a_note_gets_what_it_promises() {
    for case in cases() {
        let Case {
            about,
            mut files,
            arguments,
            note,
            follow,
            printed,
        } = case;
        let told = call(&files, arguments);
        let notes = told.notes();
        let found = notes.iter().find(|told| told.contains(note));
        let found = *found.unwrap_or_else(|| panic!("{about}: {}", told.stderr));
        let arguments = follow(&mut files, found);
        let followed = call(&files, &arguments);
        let Run {
            stdout,
            stderr,
            status,
        } = &followed;
        assert_eq!(*status, 0, "{about}: {arguments}: {stderr}");
        assert!(stdout.contains(printed), "{about}: {arguments}: {stdout}");
        assert!(!stderr.contains(note), "{about}: {arguments}: {stderr}");
    }
}

#[test]
fn the_sed_of_a_note_makes_what_is_read_without_prefixes() {
    let body = results(&["X-8", "Y-8"], 6, 0);
    let text = format!("goos: linux\npkg: a\n{body}PASS\nok  \ta\t1s\n");
    for prefix in [
        "[bench] ",
        "2026-01-01T00:00:01.1234567Z ",
        "bench-1  | ",
        "#15 21.66 ",
        "    ",
        "> ",
        "- 7 ",
        "| ",
        "Jan  1 00:00:00 host go[12]: ",
        "12:00:01 (a+b) {c} *.?^$/\\ : ",
        "it's 'quoted': ",
        "&~;<=>%@!#:\u{2502} \u{e9}: ",
        "\"",
        "  \"",
        "  1: \"",
        "\u{1b}[1;32m",
    ] {
        let behind = match prefix.chars().next_back() {
            Some('"') => "\",",
            Some('m') => "\u{1b}[22m\u{1b}[0m",
            _ => "",
        };
        let prefixed = text.lines().map(|line| format!("{prefix}{line}{behind}\n"));
        let prefixed: String = prefixed.collect();
        // One result without a prefix makes it a note, and is the same afterwards.
        let plain = "BenchmarkZ 1 5 ns/op\n";
        let mut files = files(&[("x", prefixed.clone() + plain)]);
        let told = call(&files, "x");
        let notes = told.notes();
        let note = notes.iter().find(|note| note.contains(" strips "));
        let note = note.unwrap_or_else(|| panic!("{prefix}: {}", told.stderr));
        sed(&mut files, note);
        let stripped = String::from_utf8(files[0].1.clone()).unwrap();
        assert_eq!(stripped, format!("{text}{plain}"), "{note}");
        // It is what is read of a file in which all have the prefix.
        let read = run(&[("x", prefixed.as_bytes())], &["x"]);
        let same = run(&[("x", text.as_bytes())], &["x"]);
        assert_eq!(read.stdout, same.stdout, "{prefix}");
        let notes = read.notes();
        assert!(
            notes[0].contains("all results stand behind a prefix"),
            "{notes:?}"
        );
    }
}

#[test]
fn the_jq_of_a_note_takes_results_out_of_log_records() {
    if Command::new("jq").arg("--version").output().is_err() {
        eprintln!("skipped: what notes say of log records (needs jq)");
        return;
    }
    let text = format!("goos: linux\npkg: a\n{}", results(&["X-8", "Y-8"], 6, 0));
    let escaped = |line: &str| line.replace('\t', "\\t").replace('"', "\\\"");
    let record: [fn(String) -> String; 4] = [
        |line| format!("{{\"log\":\"{line}\\n\",\"stream\":\"stdout\"}}\n"),
        |line| format!("{{\"time\":\"1\",\"textPayload\":\"{line}\"}}\n"),
        |line| format!("\"{line}\" \n"),
        |line| {
            format!(
                "{{\"message\":\"{{\\\"Action\\\":\\\"output\\\",\\\"Output\\\":\\\"{}\\\\n\\\"}}\"}}\n",
                line.replace('\\', "\\\\")
            )
        },
    ];
    // As programs that format JSON write it.
    let events = text.lines().map(|line| {
        format!(
            "{{\n  \"Action\": \"output\",\n  \"Output\": \"{}\\n\"\n}}",
            escaped(line)
        )
    });
    let array = format!("[\n{}\n]\n", events.collect::<Vec<_>>().join(",\n"));
    let records = record.map(|record| text.lines().map(|line| record(escaped(line))).collect());
    let same = run(&[("x", text.as_bytes())], &["x"]);
    for records in records.into_iter().chain([array]) {
        let records: String = records;
        let mut files = files(&[("x", records)]);
        let told = call(&files, "x");
        let notes = told.notes();
        let note = notes
            .first()
            .unwrap_or_else(|| panic!("{}", String::from_utf8_lossy(&files[0].1)));
        let command = behind(note, " with ").to_owned();
        let taken = shell(&files, &format!("{command} x"));
        assert_eq!((taken.stderr.as_str(), taken.status), ("", 0), "{command}");
        files[0].1 = taken.stdout.into_bytes();
        assert_eq!(call(&files, "x").stdout, same.stdout, "{command}");
    }
}
