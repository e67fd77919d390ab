//! What a program that failed says of its benchmarks.

use bstr::ByteSlice;

/// What can be seen in the output of a program that failed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct FailedRun {
    /// The benchmarks that failed, or that ran when the program ended, by their functions.
    pub failed: Vec<String>,
    /// Those with results.
    pub done: Vec<String>,
    /// Whether all the others ran nevertheless.
    pub ran_to_end: bool,
}

/// Looks through what a failing program printed as results and as errors.
pub(super) fn look(output: &[u8], errors: &[u8]) -> FailedRun {
    let mut seen = FailedRun::default();
    let mut running = None;
    for line in output.lines() {
        if let Some(name) = line.trim_start().strip_prefix(b"--- FAIL: ") {
            note(&mut seen.failed, name);
            running = None;
        } else if line.starts_with(b"Benchmark") {
            if is_result(line) {
                note(&mut seen.done, line);
                running = None;
            } else {
                running = Some(line);
            }
        } else if line == b"FAIL" {
            seen.ran_to_end = true;
        }
    }
    if !seen.ran_to_end {
        // The name of a benchmark is printed after its first iteration only; before that, the stack tells it.
        if let Some(name) = on_stack(errors).or(running) {
            note(&mut seen.failed, name);
        }
    }
    let FailedRun { failed, done, .. } = &mut seen;
    done.retain(|name| !failed.contains(name));
    seen
}

/// The first benchmark function that a stack trace names, as in `example.com/m.BenchmarkOne(0xc0)`.
fn on_stack(trace: &[u8]) -> Option<&[u8]> {
    let frames = trace.lines().filter(|line| !line.starts_with(b"\t"));
    frames
        .filter_map(|frame| Some(&frame[frame.find(".Benchmark")? + 1..]))
        .find(|name| {
            let rest = name.trim_start_with(|char| char.is_alphanumeric() || char == '_');
            matches!(rest.first(), Some(b'(' | b'.'))
        })
}

/// Whether the line has a name, a count and a value with a unit.
pub(super) fn is_result(line: &[u8]) -> bool {
    let fields: Vec<_> = line.fields().take(4).collect();
    let &[name, count, value, _] = fields.as_slice() else {
        return false;
    };
    let is_number = |text: &[u8]| text.to_str().is_ok_and(|text| text.parse::<f64>().is_ok());
    name.starts_with(b"Benchmark") && count.iter().all(u8::is_ascii_digit) && is_number(value)
}

/// Adds the function that a name such as `BenchmarkOne/size=1-8` starts with.
fn note(names: &mut Vec<String>, text: &[u8]) {
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80;
    let length = text.iter().take_while(|byte| is_name(byte)).count();
    let name = text[..length].to_str_lossy().into_owned();
    if !name.is_empty() && !names.contains(&name) {
        names.push(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(seen: &[String]) -> Vec<&str> {
        seen.iter().map(String::as_str).collect()
    }

    #[test]
    fn the_one_that_ran_last_made_the_program_panic() {
        let seen = look(
            b"goos: linux\nBenchmarkOne/a-8 \t 10\t 5 ns/op\nBenchmarkTwo-8 \t",
            b"",
        );
        assert_eq!(
            (names(&seen.failed), names(&seen.done)),
            (vec!["BenchmarkTwo"], vec!["BenchmarkOne"])
        );
        assert!(!seen.ran_to_end);
    }

    #[test]
    fn one_that_says_it_failed_lets_the_others_run() {
        let seen = look(
            b"--- FAIL: BenchmarkOne\n    x_test.go:5: no\nBenchmarkTwo-8 \t 10\t 5 ns/op\nFAIL\n",
            b"",
        );
        assert_eq!(
            (names(&seen.failed), names(&seen.done)),
            (vec!["BenchmarkOne"], vec!["BenchmarkTwo"])
        );
        assert!(seen.ran_to_end);
    }

    #[test]
    fn a_function_with_a_part_that_failed_is_not_done() {
        let seen = look(
            b"BenchmarkOne/a-8 10 5 ns/op\n--- FAIL: BenchmarkOne/b-8\nFAIL\n",
            b"",
        );
        assert_eq!(
            (names(&seen.failed), names(&seen.done)),
            (vec!["BenchmarkOne"], vec![])
        );
    }

    #[test]
    fn the_stack_tells_what_ran_before_its_name_was_printed() {
        let trace = b"panic: no\n\ngoroutine 1 [running]:\ntesting.runBenchmarks(1)\n\t/x.BenchmarkFile.go(:1\nexample.com/m.helper()\nexample.com/m.BenchmarkTwo.func1(0xc0)\nexample.com/m.BenchmarkThree(0xc0)\n";
        let seen = look(b"BenchmarkOne-8 \t 10\t 5 ns/op\n", trace);
        assert_eq!(names(&seen.failed), ["BenchmarkTwo"]);
        assert_eq!(look(b"", b"signal: killed\n").failed, [""; 0]);
    }

    #[test]
    fn what_a_benchmark_prints_is_no_result() {
        for line in [
            "BenchmarkOne-8 hello world of mine",
            "BenchmarkOne-8",
            "BenchmarkOne 5 x ns/op",
        ] {
            assert!(!is_result(line.as_bytes()), "{line}");
        }
    }
}
