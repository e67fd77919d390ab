//! Inputs made for the tests of reports, the same on every run.

use std::fmt::Write;

/// Both sides of a comparison, as benchmark results.
#[derive(Debug)]
pub struct Sides {
    pub old: Vec<u8>,
    pub new: Vec<u8>,
}

/// A handful of rows, of each kind of verdict at least one.
pub fn small() -> Sides {
    let mut old = header("example.com/fast/codec");
    let mut new = old.clone();
    for run in 0..10 {
        let wave = f64::from((run * 7) % 10) / 1000.0;
        let wide = f64::from((run * 3) % 10) / 20.0;
        let mut line =
            |name: &str, before: Option<f64>, after: Option<f64>, allocations: (u32, u32)| {
                for (text, time, allocations) in [
                    (&mut old, before, allocations.0),
                    (&mut new, after, allocations.1),
                ] {
                    if let Some(time) = time {
                        let _ = writeln!(
                            text,
                            "Benchmark{name}-8 \t1000\t{time:.3} ns/op\t{allocations} allocs/op"
                        );
                    }
                }
            };
        let around = |centre: f64| Some(centre * (1.0 + wave));
        line("Decode", around(120.0), around(150.0), (2, 2));
        line("Encode", around(950.0), around(700.0), (4, 3));
        line("Hash", around(35.0), around(35.0), (0, 0));
        line("Lookup", around(64.0), around(65.2), (0, 5));
        line(
            "Walk",
            Some(80.0 * (1.0 + wide)),
            Some(80.0 * (1.02 + wide)),
            (1, 1),
        );
        line("Merge", around(10.0), None, (0, 0));
        line("Split", None, around(10.0), (0, 0));
    }
    Sides {
        old: old.into_bytes(),
        new: new.into_bytes(),
    }
}

/// Three packages, each with the same four benchmarks, in two units.
#[allow(dead_code, reason = "not every test that has this module uses it")]
pub fn packages() -> Sides {
    let mut sides = [Vec::new(), Vec::new()];
    for (side, text) in sides.iter_mut().enumerate() {
        for (package, factors) in [
            ("example.com/store/disk", [1.1, 1.0, 1.0, 0.8]),
            ("example.com/store/memory", [1.0, 1.0, 13.5, 1.0]),
            ("example.com/store/wire", [1.0, 0.9, 1.0, 1.04]),
        ] {
            text.extend_from_slice(header(package).as_bytes());
            for (index, name) in ["Read", "Write", "Scan", "Delete"].iter().enumerate() {
                let factor = if side == 0 { 1.0 } else { factors[index] };
                for run in 0..10_u8 {
                    // The runs of one benchmark get slower with time.
                    let wave = match (*name, run) {
                        ("Delete", run) => f64::from(run) / 500.0,
                        (_, run) => f64::from((run * 7 + 2) % 10) / 1000.0,
                    };
                    let time = 200.0 * (1.0 + index as f64) * factor * (1.0 + wave);
                    let bytes = 64 * (index + 1);
                    text.extend_from_slice(
                        format!("Benchmark{name}-8 1000 {time:.3} ns/op {bytes} B/op\n").as_bytes(),
                    );
                }
            }
        }
    }
    let [old, new] = sides;
    Sides { old, new }
}

/// Names that mean something to Markdown, HTML, a terminal, or GitHub.
pub fn hostile() -> Sides {
    let names: [&[u8]; 16] = [
        b"Pipe|a|b",
        b"Tick`a``b`",
        b"Tag<script>alert(1)</script>",
        b"Image<img/src=x/onerror=alert(1)>",
        b"Mention/@octocat",
        b"Issue/#1",
        b"Star*bold*_under_~strike~",
        b"Link[a](http://example.com/)",
        b"Auto/https://example.com/?a=1&b=2",
        b"Back\\slash\\|pipe",
        b"Close</code></details>-->",
        b"Entity&lt;&#124;",
        b"Escape\x1b[31mred\x1b[0m",
        "Turn\u{202e}around".as_bytes(),
        b"Raw\xff\xfebytes",
        b"Quote\"'=x",
    ];
    let mut sides = [Vec::new(), Vec::new()];
    for (side, text) in sides.iter_mut().enumerate() {
        text.extend_from_slice(header("a|b`c`<b>@team #7").as_bytes());
        for (index, name) in names.iter().enumerate() {
            let factor = match index % 3 {
                0 => 1.0,
                1 => 1.5,
                _ => 0.5,
            };
            for run in 0..8 {
                let factor = if side == 0 { 1.0 } else { factor };
                let time = 100.0 * factor * (1.0 + f64::from((run * 5) % 8) / 1000.0);
                text.extend_from_slice(b"Benchmark");
                text.extend_from_slice(name);
                text.extend_from_slice(format!(" 10 {time} ns/op 1 odd|`<unit>\n").as_bytes());
            }
        }
    }
    let [old, new] = sides;
    Sides { old, new }
}

/// Many rows with all sizes of change.
pub fn large(rows: u32) -> Sides {
    let mut old = header("example.com/large");
    let mut new = old.clone();
    let mut state = 1_u32;
    let mut random = move || {
        // A linear congruential generator; its upper bits are random enough.
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(state >> 8) / f64::from(1 << 24)
    };
    for row in 0..rows {
        let centre = 10_f64.powf(1.0 + 4.0 * random());
        let factor = match row % 20 {
            0 => 1.05 + random(),
            1 => 0.5 + 0.4 * random(),
            2 => 1.02,
            _ => 1.0,
        };
        let noise = if row % 7 == 0 { 0.1 } else { 0.005 };
        for (text, factor) in [(&mut old, 1.0), (&mut new, factor)] {
            for _ in 0..10 {
                let time = centre * factor * (1.0 + noise * (random() - 0.5));
                let _ = writeln!(
                    text,
                    "BenchmarkRow/case={row:04}/kind=long-8 100 {time:.3} ns/op"
                );
            }
        }
    }
    Sides {
        old: old.into_bytes(),
        new: new.into_bytes(),
    }
}

fn header(package: &str) -> String {
    format!("goos: linux\ngoarch: amd64\npkg: {package}\ncpu: Example CPU @ 3.00GHz\n")
}
