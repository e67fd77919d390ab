//! When two runs count as the same.

use std::fmt::Write;

use bstr::{BString, ByteSlice};

/// What a run leaves behind.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    pub stdout: BString,
    pub stderr: BString,
    pub fatal: bool,
}

/// What differs between two runs, or nothing.
pub fn differences(wanted: &Outcome, got: &Outcome, is_csv: bool) -> Option<String> {
    let mut report = String::new();
    if !same_output(&wanted.stdout, &got.stdout, is_csv) {
        report += &diff("standard output", &wanted.stdout, &got.stdout);
    }
    let (wanted_errors, got_errors) = (comparable(&wanted.stderr), comparable(&got.stderr));
    if wanted_errors != got_errors {
        report += &diff("standard error", &wanted_errors, &got_errors);
    }
    if wanted.fatal != got.fatal {
        writeln!(report, "fatal: wanted {}, got {}", wanted.fatal, got.fatal).unwrap();
    }
    (!report.is_empty()).then_some(report)
}

/// Equal bytes; in CSV the digits of a geomean may differ at the very end.
fn same_output(wanted: &[u8], got: &[u8], is_csv: bool) -> bool {
    wanted == got
        || is_csv
            && wanted.lines().count() == got.lines().count()
            && wanted.ends_with(b"\n") == got.ends_with(b"\n")
            && wanted
                .lines()
                .zip(got.lines())
                .all(|(wanted, got)| same_line(wanted, got))
}

fn same_line(wanted: &[u8], got: &[u8]) -> bool {
    let is_geomean = |line: &[u8]| line.starts_with(b"geomean,");
    let fields = |line| <[u8]>::split_str(line, ",");
    wanted == got
        || is_geomean(wanted)
            && is_geomean(got)
            && fields(wanted).count() == fields(got).count()
            && fields(wanted)
                .zip(fields(got))
                .all(|(wanted, got)| same_field(wanted, got))
}

fn same_field(wanted: &[u8], got: &[u8]) -> bool {
    let number = |field: &[u8]| field.to_str().ok()?.parse::<f64>().ok();
    wanted == got
        || matches!(
            (number(wanted), number(got)),
            (Some(wanted), Some(got)) if (wanted - got).abs() <= 1e-14 * wanted.abs().max(got.abs())
        )
}

/// Standard error without what is no part of the contract.
fn comparable(errors: &[u8]) -> BString {
    const REGEXP_ERROR: &[u8] = b"syntax error: error parsing regexp:";
    let lines = errors.lines_with_terminator();
    lines
        .filter(|line| !line.starts_with(b"rbenchstat: note: "))
        .flat_map(|line| match line.find(REGEXP_ERROR) {
            Some(at) => [&line[..at + REGEXP_ERROR.len()], b"\n"].concat(),
            None => line.to_vec(),
        })
        .collect::<Vec<u8>>()
        .into()
}

/// The lines of both, those only in one marked with `-` (wanted) or `+` (got).
fn diff(what: &str, wanted: &[u8], got: &[u8]) -> String {
    let wanted: Vec<&[u8]> = wanted.lines_with_terminator().collect();
    let got: Vec<&[u8]> = got.lines_with_terminator().collect();
    // The length of the longest common subsequence of what follows each pair of places.
    let mut common = vec![vec![0; got.len() + 1]; wanted.len() + 1];
    for i in (0..wanted.len()).rev() {
        for j in (0..got.len()).rev() {
            common[i][j] = if wanted[i] == got[j] {
                common[i + 1][j + 1] + 1
            } else {
                common[i + 1][j].max(common[i][j + 1])
            };
        }
    }
    let mut report = format!("{what} (-wanted +got):\n");
    let mut show = |mark: char, line: &[u8]| {
        let (text, end) = match line.strip_suffix(b"\n") {
            Some(text) => (text, ""),
            None => (line, " (no line end)"),
        };
        writeln!(report, "  {mark}{}{end}", BString::from(text)).unwrap();
    };
    let (mut i, mut j) = (0, 0);
    while i < wanted.len() || j < got.len() {
        if i < wanted.len() && j < got.len() && wanted[i] == got[j] {
            show(' ', wanted[i]);
            (i, j) = (i + 1, j + 1);
        } else if j == got.len() || i < wanted.len() && common[i + 1][j] >= common[i][j + 1] {
            show('-', wanted[i]);
            i += 1;
        } else {
            show('+', got[j]);
            j += 1;
        }
    }
    report
}

mod tests {
    use super::*;

    fn outcome(stdout: &str, stderr: &str) -> Outcome {
        Outcome {
            stdout: stdout.into(),
            stderr: stderr.into(),
            fatal: false,
        }
    }

    #[test]
    fn a_difference_in_output_is_shown_with_its_surroundings() {
        let report =
            differences(&outcome("a\nb\nc\n", ""), &outcome("a\nx\nc", ""), false).unwrap();
        assert_eq!(
            report,
            "standard output (-wanted +got):\n   a\n  -b\n  -c\n  +x\n  +c (no line end)\n"
        );
    }

    #[test]
    fn only_the_last_digits_of_a_csv_geomean_may_differ() {
        let wanted = outcome("x,1.5\ngeomean,1.2345678901234567,CI\n", "");
        for (stdout, is_csv, same) in [
            ("x,1.5\ngeomean,1.2345678901234569,CI\n", true, true),
            ("x,1.5\ngeomean,1.2345678901234569,CI\n", false, false),
            ("x,1.5\ngeomean,1.2345678901334567,CI\n", true, false),
            (
                "x,1.5000000000000002\ngeomean,1.2345678901234567,CI\n",
                true,
                false,
            ),
            ("x,1.5\ngeomean,1.2345678901234569,CI", true, false),
            ("x,1.5\ngeomean,1.2345678901234569\n", true, false),
        ] {
            let found = differences(&wanted, &outcome(stdout, ""), is_csv);
            assert_eq!(found.is_none(), same, "{stdout:?} {is_csv}");
        }
    }

    #[test]
    fn notes_and_the_wording_of_regexp_errors_are_free() {
        let wanted = outcome("", "syntax error: error parsing regexp: missing )\n\t^\n");
        let got = "rbenchstat: note: x\nsyntax error: error parsing regexp: other\n\t^\n";
        assert_eq!(differences(&wanted, &outcome("", got), false), None);
        let got = "syntax error: error parsing regexp: other\n\t ^\n";
        assert!(differences(&wanted, &outcome("", got), false).is_some());
    }

    #[test]
    fn a_wrong_exit_status_is_a_difference() {
        let fatal = Outcome {
            fatal: true,
            ..outcome("", "")
        };
        assert!(differences(&fatal, &outcome("", ""), false).is_some());
    }
}
