//! Random cases: inputs and flags that touch what people do and what they should not.
//!
//! What the two programs are known to tell apart is left out: values that are
//! not finite, lines over 64 KiB, flags after file names, wrong flags, no input.

use std::fmt::Write;

use bstr::{BStr, BString, ByteSlice};
use regex::bytes::Regex;

/// `SplitMix64` (Steele, Lea and Flood 2014): small, and the same everywhere.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ bits >> 31
    }

    /// From `low` to `high`, both included.
    pub fn within(&mut self, low: usize, high: usize) -> usize {
        let count = (high - low + 1) as u64;
        low + usize::try_from(self.next() % count).expect("below usize")
    }

    /// True in `percent` of a hundred.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.within(0, 99) < percent
    }

    pub fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.within(0, from.len() - 1)]
    }

    /// From 0 to below 1.
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Roughly normal, with mean 0 and standard deviation 1.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.unit()).sum::<f64>() - 6.0
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.within(0, last));
        }
    }
}

/// A run to compare.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Case {
    /// Flag and value; whether they are one argument.
    pub flags: Vec<(String, String, bool)>,
    /// As on the command line.
    pub inputs: Vec<String>,
    pub files: Vec<(String, BString)>,
    pub stdin: BString,
}

impl Case {
    pub fn arguments(&self) -> Vec<String> {
        let mut arguments = Vec::new();
        for (flag, value, joined) in &self.flags {
            if *joined {
                arguments.push(format!("{flag}={value}"));
            } else {
                arguments.extend([flag.clone(), value.clone()]);
            }
        }
        arguments.extend(self.inputs.iter().cloned());
        arguments
    }

    /// The value of a flag, without its dashes, if it is given.
    pub fn flag(&self, name: &str) -> Option<&str> {
        let mut flags = self.flags.iter().rev();
        let found = flags.find(|(flag, _, _)| flag.trim_start_matches('-') == name)?;
        Some(&found.1)
    }
}

pub fn case(seed: u64) -> Case {
    let random = &mut Random::new(seed);
    let mut case = Case::default();
    inputs(random, &mut case);
    flags(random, &mut case);
    case
}

// Files

fn inputs(random: &mut Random, case: &mut Case) {
    const NAMES: [&str; 6] = [
        "old.txt",
        "new.txt",
        "third.txt",
        "a-fourth-file-with-a-long-name.txt",
        "e",
        "größe.txt",
    ];
    const LABELS: [&str; 11] = [
        "",
        "old",
        "new",
        "x",
        "日本語",
        "a b",
        "q\"q",
        "a,b",
        "a/rather/long/label/for/a/narrow/column",
        "1",
        "10",
    ];
    let count = [1, 1, 2, 2, 2, 2, 2, 2, 3, 3, 4, 6][random.within(0, 11)];
    let plan = Plan::new(random);
    for name in &NAMES[..count] {
        let shift = if random.chance(40) {
            1.0
        } else {
            0.7 + 0.6 * random.unit()
        };
        case.files
            .push(((*name).into(), file(random, &plan, shift)));
        let label = random.chance(15).then(|| random.pick(&LABELS));
        case.inputs.push(match label {
            Some(label) => format!("{label}={name}"),
            None => (*name).to_owned(),
        });
    }
    match random.within(0, 39) {
        0 => case.inputs.push("missing.txt".into()),
        1 | 2 => case.inputs.push(NAMES[0].into()),
        3 => {
            case.stdin = file(random, &plan, 1.1);
            case.inputs.push(random.pick(&["-", "label=-"]).into());
        }
        4 => case.files[0].1.clear(),
        _ => {}
    }
}

/// What the files of a case have in common.
struct Plan {
    benchmarks: Vec<Benchmark>,
    sizes: Sizes,
    /// Percentages.
    odd_lines: usize,
    configured: usize,
    odd_numbers: bool,
    blocks: usize,
    metadata: usize,
    torn: usize,
    crlf: bool,
}

struct Benchmark {
    name: String,
    measures: Vec<Measure>,
}

struct Measure {
    unit: String,
    values: Values,
}

/// How many results a benchmark has in a block.
#[derive(Clone, Copy)]
enum Sizes {
    Same(usize),
    Between(usize, usize),
}

#[derive(Clone, Copy)]
enum Values {
    /// Around a centre, with a relative spread.
    Noisy(f64, f64),
    /// One of a few neighbours of a whole number.
    Tied(f64, usize),
    Constant(f64),
    /// Zero, but for some percent of other values.
    Zero(usize),
    /// Around zero.
    Signed(f64),
    /// Beside a threshold where the printed digits change.
    Edge(f64),
    /// So small on one side and so large on the other that the ratio is no number.
    Vast(f64),
}

impl Plan {
    fn new(random: &mut Random) -> Self {
        let sizes = match random.within(0, 11) {
            0..=3 => Sizes::Same(random.within(4, 12)),
            4 => Sizes::Same(random.within(1, 5)),
            5 | 6 => Sizes::Same(random.within(18, 34)),
            7 => Sizes::Same(random.within(45, 56)),
            8 | 9 => Sizes::Between(1, 12),
            10 => Sizes::Between(18, 34),
            _ => Sizes::Between(40, 60),
        };
        let most = match sizes {
            Sizes::Same(size) | Sizes::Between(_, size) => size,
        };
        let units = units(random);
        // Unequal sizes with ties are compared wrongly by `benchstat`: seldom.
        let may_tie = matches!(sizes, Sizes::Same(_)) || random.chance(20);
        let count = random.within(1, if most > 20 { 4 } else { 9 });
        let shape = Shape::new(random);
        let benchmarks = (0..count)
            .map(|_| Benchmark {
                name: shape.name(random),
                measures: measures(random, &units, may_tie),
            })
            .collect();
        Self {
            benchmarks,
            sizes,
            odd_lines: [0, 0, 0, 2, 10][random.within(0, 4)],
            configured: [0, 30, 100, 100][random.within(0, 3)],
            odd_numbers: random.chance(25),
            blocks: [1, 1, 1, 2, 2, 3][random.within(0, 5)],
            metadata: [0, 0, 0, 30, 100][random.within(0, 4)],
            torn: [0, 0, 10, 40][random.within(0, 3)],
            crlf: random.chance(8),
        }
    }
}

/// What a benchmark measures: most of the units.
fn measures(random: &mut Random, units: &[String], may_tie: bool) -> Vec<Measure> {
    let mut measures = Vec::new();
    for unit in units {
        if random.chance(85) {
            measures.push(Measure {
                unit: unit.clone(),
                values: Values::new(random, may_tie),
            });
        }
    }
    measures
}

fn units(random: &mut Random) -> Vec<String> {
    const UNITS: [&str; 28] = [
        "ns/op",
        "ns/op",
        "ns/op",
        "sec/op",
        "B/op",
        "allocs/op",
        "MB/s",
        "p50-ns",
        "p99-ns",
        "x-MB/s",
        "bytes",
        "req/s",
        "ns",
        "MB",
        "ns*MB/op",
        "µs/op",
        "op/ns",
        "op/ns*ns",
        "widgets",
        "%",
        "ns/GC",
        "MB-ns/op",
        "B",
        "bytes/op",
        "ms",
        "a-very-long-unit-name-for-its-column/op",
        "ns-ns",
        "MB*MB/ns",
    ];
    let count = [1, 1, 1, 2, 2, 3, 4][random.within(0, 6)];
    (0..count).map(|_| random.pick(&UNITS).to_owned()).collect()
}

impl Values {
    fn new(random: &mut Random, may_tie: bool) -> Self {
        let centre = match random.within(0, 9) {
            0..=6 => 10_f64.powf(random.unit() * 9.0),
            7 => 10_f64.powf(random.unit() * 30.0 - 15.0),
            8 => 10_f64.powf(random.unit() * 300.0 - 150.0),
            _ => 2_f64.powi(i32::try_from(random.within(0, 50)).expect("small")),
        };
        let spread = [0.001, 0.01, 0.02, 0.05, 0.3][random.within(0, 4)];
        match random.within(0, 14) {
            0..=2 if may_tie => Self::Tied(centre.round(), random.within(2, 6)),
            3 | 4 if may_tie => Self::Constant(centre.round()),
            5 if may_tie => Self::Zero([0, 0, 20, 50][random.within(0, 3)]),
            6 => Self::Signed(centre),
            7 => Self::Noisy(-centre, spread),
            8 => {
                let edge = [
                    0.099_995, 0.99995, 9.9995, 99.995, 999.95, 1000.0, 1023.95, 1024.0,
                ][random.within(0, 7)];
                let base = [10_f64, 1024.0][random.within(0, 1)];
                Self::Edge(
                    edge * base.powi(3 * (i32::try_from(random.within(0, 6)).expect("small") - 2)),
                )
            }
            9 if random.chance(20) => Self::Vast(spread),
            _ => Self::Noisy(centre, spread),
        }
    }

    fn value(self, random: &mut Random, shift: f64) -> f64 {
        match self {
            Self::Noisy(centre, spread) => centre * shift * (1.0 + spread * random.normal()),
            Self::Tied(centre, count) => {
                (centre * shift).round() + random.within(0, count - 1) as f64
            }
            Self::Constant(value) => {
                if shift < 0.9 {
                    value + 1.0
                } else {
                    value
                }
            }
            Self::Zero(percent) => {
                if random.chance(percent) {
                    random.within(1, 3) as f64
                } else {
                    0.0
                }
            }
            Self::Signed(scale) => scale * random.normal(),
            Self::Edge(edge) => edge * (1.0 + 1e-6 * random.normal()),
            Self::Vast(spread) => {
                let centre = if shift == 1.0 { 1e-200 } else { 1e285 };
                centre * (1.0 + spread * random.normal())
            }
        }
    }
}

/// Which parts the names of a case have.
struct Shape {
    keys: Vec<&'static str>,
    bases: usize,
    suffixed: usize,
    odd: usize,
}

impl Shape {
    fn new(random: &mut Random) -> Self {
        let keys = [
            ["size", "fmt"],
            ["size", "n"],
            ["fmt", "workers"],
            ["n", "alg"],
        ];
        let count = random.within(0, 2);
        Self {
            keys: keys[random.within(0, 3)][..count].to_vec(),
            bases: random.within(1, 7),
            suffixed: [0, 60, 100][random.within(0, 2)],
            odd: [0, 0, 10, 40][random.within(0, 3)],
        }
    }

    fn name(&self, random: &mut Random) -> String {
        const BASES: [&str; 7] = [
            "Encode",
            "Decode",
            "Copy",
            "A",
            "Größe",
            "Authorize_request",
            "",
        ];
        let mut name = BASES[random.within(0, self.bases - 1)].to_owned();
        for key in &self.keys {
            let value = match *key {
                "size" => random.pick(&["4k", "16k", "512", "1M", "1.5KiB", "2GB", "1e3"]),
                "fmt" => random.pick(&["json", "gob", "xml"]),
                "alg" => random.pick(&["sha1", "md5", ""]),
                _ => random.pick(&["1", "2", "10", "100", "-5", "."]),
            };
            if random.chance(90) {
                name.extend(["/", key, "=", value]);
            }
        }
        if random.chance(self.odd) {
            name += random.pick(&[
                "/a",
                "/b/c",
                "/",
                "//x",
                "/=y",
                "/size=3",
                "/fmt=",
                "/p-8",
                "/gomaxprocs=3",
                "/k=a=b",
            ]);
        } else if self.keys.is_empty() && random.chance(self.odd) {
            name += random.pick(&["-", "-x", "*", "é", "-8-8"]);
        }
        if random.chance(self.suffixed) {
            name += random.pick(&["-8", "-8", "-16", "-1", "-008"]);
        }
        name
    }
}

fn file(random: &mut Random, plan: &Plan, shift: f64) -> BString {
    let mut lines: Vec<String> = Vec::new();
    for block in 0..plan.blocks {
        configure(random, plan, block, &mut lines);
        let mut results = Vec::new();
        for benchmark in &plan.benchmarks {
            if benchmark.measures.is_empty() || random.chance(7) {
                continue;
            }
            let size = match plan.sizes {
                Sizes::Same(size) => size,
                Sizes::Between(low, high) => random.within(low, high),
            };
            for _ in 0..size {
                let whole = result(random, plan, benchmark, shift);
                let is_torn = plan.torn > 0 && random.chance(plan.torn);
                results.push(if is_torn { tear(random, &whole) } else { whole });
            }
        }
        if random.chance(15) {
            random.shuffle(&mut results);
        }
        lines.append(&mut results);
    }
    let odd = lines.len() * plan.odd_lines / 100 + usize::from(plan.odd_lines > 0);
    for _ in 0..odd {
        let line = odd_line(random);
        let at = random.within(0, lines.len());
        lines.insert(at, line);
    }
    let end = if plan.crlf { "\r\n" } else { "\n" };
    let mut text = lines.join(end);
    if !text.is_empty() && !random.chance(5) {
        text += end;
    }
    text.into()
}

fn configure(random: &mut Random, plan: &Plan, block: usize, lines: &mut Vec<String>) {
    const KEYS: [&str; 7] = ["goos", "goarch", "pkg", "cpu", "commit", "branch", "note"];
    for key in KEYS {
        let percent = if block == 0 { plan.configured / 2 } else { 25 };
        if !random.chance(percent) {
            continue;
        }
        let value = match key {
            "goos" => random.pick(&["linux", "darwin", "windows"]),
            "goarch" => random.pick(&["amd64", "arm64"]),
            "pkg" => random.pick(&["example.com/a", "example.com/b", "example.com/b/c"]),
            "commit" => random.pick(&["z", "ab", "9", "10", ""]),
            "note" => random.pick(&["alpha", "zeta ", "100k", "9.5", "a, \"b\"", "é", ""]),
            _ => random.pick(&["x", "y", "main line", ""]),
        };
        lines.push(match random.within(0, 19) {
            0 => format!("{key}:"),
            1 => format!("{key}:\t {value}"),
            2 => format!("{key}: "),
            _ => format!("{key}: {value}"),
        });
    }
    if random.chance(plan.metadata)
        && let Some(measure) = plan
            .benchmarks
            .iter()
            .flat_map(|benchmark| &benchmark.measures)
            .next()
    {
        let pairs = random.pick(&[
            "assume=exact",
            "assume=exact",
            "assume=exact better=lower",
            "better=higher",
            "assume=nothing",
            "better=lower x=y",
            "=",
            "assume",
            "assume=",
            "a=b=c",
        ]);
        lines.push(format!("Unit {} {pairs}", measure.unit));
    }
}

fn result(random: &mut Random, plan: &Plan, benchmark: &Benchmark, shift: f64) -> String {
    let mut line = format!("Benchmark{}", benchmark.name);
    line += random.pick(&["\t", " ", "   \t", "\u{a0}"]);
    line += &random.within(1, 9_999_999).to_string();
    for measure in &benchmark.measures {
        let value = measure.values.value(random, shift);
        let spelled = spell(random, value, plan.odd_numbers);
        let gap = random.pick(&["\t", " ", "\t  "]);
        line.extend([gap, &spelled, " ", &measure.unit]);
    }
    line
}

/// What stands in a text for lines that the programs are given differently: what we read, what `benchstat` does, and the end.
const OURS: char = '\u{e000}';
const THEIRS: char = '\u{e001}';
const END: char = '\u{e002}';
const NEW_LINE: char = '\u{e003}';

/// A result as log output tears it. We have to read it as `benchstat` reads it whole, which stands in the line of the
/// numbers; or as it reads the pieces, where they could be put together in several ways or in none.
fn tear(random: &mut Random, whole: &str) -> String {
    let space = whole
        .find(|char: char| char.is_whitespace())
        .expect("a count");
    let (name, rest) = whole.split_at(space);
    let rest = rest.trim_start();
    let behind_count = rest
        .find(|char: char| char.is_whitespace())
        .expect("a measurement");
    let (count, measurements) = rest.split_at(behind_count);
    let measurements = measurements.trim_start();
    let numbers = format!("{count:>8}\t{measurements}");
    let gap = random.pick(&["\t", " \t", "  ", "   \t"]);
    let logs: Vec<&str> = (0..random.within(0, 2))
        .map(|_| {
            random.pick(&[
                "listening on port 80",
                "server: up",
                "100 requests",
                "",
                "  12 5 apples",
                "N=100",
                "ok",
            ])
        })
        .collect();
    let logs: String = logs.iter().flat_map(|log| [*log, "\n"]).collect();
    let joined = format!("{name}\t{count} {measurements}");
    let (ours, theirs) = match random.within(0, 9) {
        0..=3 => (
            format!("{name}{gap}log: x\n{logs}{numbers}"),
            format!("log\n{logs}{joined}"),
        ),
        4..=5 => (
            format!("{name}\n{logs}{numbers}"),
            format!("log\n{logs}{joined}"),
        ),
        6 => (format!("{name}{gap}half a line{numbers}"), joined),
        // The log may have printed either.
        7 => {
            let pieces = format!("{name}{gap}log: x\n{logs}{numbers}\n{numbers}");
            (pieces.clone(), pieces)
        }
        // Nobody knows whose numbers they are.
        8 => {
            let pieces = format!("{name}{gap}log: x\n{name}Other{gap}log\n{logs}{numbers}\nPASS");
            (pieces.clone(), pieces)
        }
        _ => {
            let pieces = format!("{name}{gap}log: x\n{logs}PASS\n{numbers}");
            (pieces.clone(), pieces)
        }
    };
    format!("{OURS}{ours}{THEIRS}{theirs}{END}").replace('\n', &NEW_LINE.to_string())
}

/// The text that we are given, or `benchstat`.
pub fn as_given(text: &BStr, to_us: bool) -> BString {
    let pattern = format!("(?s-u){OURS}(.*?){THEIRS}(.*?){END}");
    let torn = Regex::new(&pattern).expect("an expression");
    let chosen = if to_us { &b"$1"[..] } else { b"$2" };
    let text = torn.replace_all(text, chosen).into_owned();
    text.replace(NEW_LINE.to_string(), "\n").into()
}

fn spell(random: &mut Random, value: f64, odd: bool) -> String {
    let magnitude = value.abs();
    if odd && random.chance(30) {
        match random.within(0, 6) {
            0 if value >= 0.0 => return format!("+{value}"),
            1 => return format!("{value:e}"),
            2 => return format!("{value:E}").replace('E', "E+").replace("E+-", "E-"),
            3 if (1e4..1e15).contains(&magnitude) => {
                let whole = format!("{value:.0}");
                let (head, tail) = whole.split_at(whole.len() - 3);
                return format!("{head}_{tail}");
            }
            4 if (1.0..1e15).contains(&magnitude) => return format!("{value:.0}."),
            5 if value < 1.0 && value > 1e-6 => {
                return format!("{value:.9}").replacen("0.", ".", 1);
            }
            6 => return hexadecimal(value),
            _ => {}
        }
    }
    if (1e-3..1e15).contains(&magnitude) && random.chance(70) {
        let decimals = random.within(0, 4);
        let text = format!("{value:.decimals$}");
        // Rounding everything to zero would make another case of it.
        if text.parse() != Ok(0.0) {
            return text;
        }
    }
    if (1e-10..1e17).contains(&magnitude) || value == 0.0 {
        format!("{value}")
    } else {
        format!("{value:e}")
    }
}

/// The bits of a number, as Go's `%x` has them but for leading zeros.
fn hexadecimal(value: f64) -> String {
    let bits = value.to_bits();
    let exponent = bits >> 52 & 0x7ff;
    let mantissa = bits & ((1 << 52) - 1);
    let sign = if value.is_sign_negative() { "-" } else { "" };
    if exponent == 0 {
        return format!("{sign}0x{mantissa:x}p-1074");
    }
    let exponent = i64::try_from(exponent).expect("eleven bits") - 1023;
    format!("{sign}0x1.{mantissa:013x}p{exponent}")
}

fn odd_line(random: &mut Random) -> String {
    random
        .pick(&[
            "PASS",
            "ok  \texample.com/a\t1.234s",
            "",
            "BenchmarkEncode",
            "BenchmarkEncode ",
            "BenchmarkEncode 100",
            "BenchmarkEncode\t100\t5",
            "BenchmarkEncode 100 x ns/op",
            "BenchmarkEncode 100 1e999 ns/op",
            "BenchmarkEncode 1e3 5 ns/op",
            "Benchmarking is fun",
            "BenchmarkEncode 99999999999999999999 5 ns/op",
            "benchmarkEncode 1 5 ns/op",
            " BenchmarkEncode 1 5 ns/op",
            "Unit",
            "Unit ns/op",
            "Unit ns/op assume",
            "Unit ns/op assume=exact",
            "Unit sec/op better=higher",
            "Unit ns/op better=lower better=higher",
            "Unit MB/s =x y",
            "note:x",
            "Note: x",
            "no te: x",
            "note",
            "é: accent",
            "--- FAIL: BenchmarkX",
            "    x_test.go:10: log: line",
            "goos: plan",
            "x: ",
            "BenchmarkDecode 1 1_0 ns/op",
            "BenchmarkDecode 1 _1 ns/op",
            "BenchmarkDecode 1 0x1 ns/op",
            "BenchmarkDecode 1 5 ns/op 6",
            "BenchmarkDecode 1 5 ns/op 7 ns/op",
            "BenchmarkDecode -5 5 ns/op",
            "BenchmarkDecode +5 5 ns/op",
            "Benchmark 1 5 ns/op",
            "Benchmark\t1\t6 B/op",
            "BenchmarkÉ\u{2003}1 5 ns/op",
            "BenchmarkDecode 1 5\u{85}ns/op",
            "ª: x",
            "ﬀ: x",
            "ab\u{c}: x",
            "key:\u{a0}x",
            "key: \u{a0}x",
            "Unit\u{a0}ns/op\u{a0}assume=exact",
            "unit: x",
            ".file: x",
            "a:b: c",
            "a.b/c: d",
        ])
        .to_owned()
}

// Flags

fn flags(random: &mut Random, case: &mut Case) {
    let mut flags: Vec<(&str, String)> = Vec::new();
    for (flag, percent) in [("table", 25), ("row", 30), ("col", 30), ("ignore", 25)] {
        if random.chance(percent) {
            flags.push((flag, projection(random)));
        }
    }
    if random.chance(30) {
        flags.push(("filter", filter(random)));
    }
    if random.chance(25) {
        let alpha = random.pick(&[
            "0",
            "1",
            "0.05",
            "0.01",
            "0.001",
            "0.0001",
            "0.5",
            "0.1",
            "0.2",
            "1e-3",
            ".05",
            "0x1p-4",
            "1.5",
            "-0.1",
            "0.0079365079365079361",
            "0.03",
        ]);
        flags.push(("alpha", alpha.into()));
    }
    if random.chance(35) {
        let level = if random.chance(50) {
            random
                .pick(&[
                    "0", "0.5", "0.8", "0.9", "0.95", "0.99", "0.999", "0.9999", "1", "0.999999",
                    "2", "-1", "1e-3", ".9", "0.75", "0.96875",
                ])
                .to_owned()
        } else {
            format!("0.{:03}", random.within(1, 999))
        };
        flags.push(("confidence", level));
    }
    if random.chance(35) {
        flags.push(("format", random.pick(&["csv", "csv", "csv", "text"]).into()));
    }
    random.shuffle(&mut flags);
    for (flag, value) in flags {
        let dashes = if random.chance(20) { "--" } else { "-" };
        case.flags
            .push((format!("{dashes}{flag}"), value, random.chance(30)));
    }
}

const KEYS: [&str; 18] = [
    ".name",
    ".fullname",
    ".file",
    ".config",
    "/size",
    "/fmt",
    "/n",
    "/gomaxprocs",
    "/workers",
    "goos",
    "goarch",
    "pkg",
    "commit",
    "note",
    "branch",
    "nosuch",
    ".name",
    "/alg",
];

const VALUES: [&str; 26] = [
    "Encode",
    "Decode",
    "Copy",
    "4k",
    "16k",
    "512",
    "json",
    "gob",
    "linux",
    "darwin",
    "amd64",
    "example.com/a",
    "old.txt",
    "new.txt",
    "alpha",
    "zeta",
    "100",
    "8",
    "16",
    "\"\"",
    "\"zeta \"",
    "z",
    "\"\\u00e9\"",
    "1",
    "Encode-8",
    "Größe",
];

fn projection(random: &mut Random) -> String {
    let mut text = String::new();
    let count = [0, 1, 1, 1, 1, 2, 2, 3][random.within(0, 7)];
    for index in 0..count {
        if index > 0 {
            text += random.pick(&[",", " ", ", ", " ,"]);
        }
        let key = if random.chance(2) {
            random.pick(&[".unit", ".bogus", "/", "\"pkg\"", "\"\"", "Größe"])
        } else {
            random.pick(&KEYS)
        };
        text += key;
        match random.within(0, 11) {
            0 | 1 => text += "@alpha",
            // Whether a value with a number somewhere in it counts as one, and
            // whether groups have orders, depends on the version.
            2 | 3 if !["goarch", ".name", ".fullname", ".config", "/alg"].contains(&key) => {
                text += "@num";
            }
            4 => {
                let values: Vec<&str> = (0..random.within(1, 4))
                    .map(|_| random.pick(&VALUES))
                    .collect();
                write!(text, "@({})", values.join(random.pick(&[" ", "  "]))).unwrap();
            }
            _ => {}
        }
    }
    mangled(random, text)
}

fn filter(random: &mut Random) -> String {
    let text = expression(random, 3);
    mangled(random, text)
}

fn expression(random: &mut Random, depth: usize) -> String {
    match random.within(0, 9) {
        0 if depth > 0 => format!("({})", expression(random, depth - 1)),
        1 | 2 if depth > 0 => format!("-{}", expression(random, depth - 1)),
        3 if depth > 0 => format!(
            "{} OR {}",
            expression(random, depth - 1),
            expression(random, depth - 1)
        ),
        4 if depth > 0 => format!(
            "{} AND {}",
            expression(random, depth - 1),
            expression(random, depth - 1)
        ),
        5 if depth > 0 => format!(
            "{} {}",
            expression(random, depth - 1),
            expression(random, depth - 1)
        ),
        6 => random.pick(&["*", "-*", "*"]).into(),
        7 => {
            let unit = random.pick(&[
                "ns/op",
                "sec/op",
                "B/op",
                "/ns/",
                "(ns/op OR B/op)",
                "MB/s",
                "B/s",
                "/^p\\d+-/",
                "/op$/",
                "allocs/op",
                "\"ns/op\"",
            ]);
            format!(".unit:{unit}")
        }
        _ => {
            let key = random.pick(&KEYS);
            let key = if key == ".config" && !random.chance(5) {
                ".name"
            } else {
                key
            };
            match random.within(0, 4) {
                0 => {
                    let values: Vec<&str> = (0..random.within(1, 3))
                        .map(|_| random.pick(&VALUES))
                        .collect();
                    format!("{key}:({})", values.join(" OR "))
                }
                1 | 2 => {
                    let regexp = random.pick(&[
                        "code",
                        "^[A-D]",
                        "k$",
                        ".",
                        "^$",
                        "^.$",
                        "(?i)ENCODE",
                        "[0-9]+",
                        "En|Co",
                        "a/b",
                        "[/]",
                        "(/x)",
                        "o{2}",
                        "\\w+",
                        "\\W",
                        "\\bCopy\\b",
                        "\\d",
                        "[[:alpha:]]+$",
                        "é",
                        "ö.e",
                        "\\pL",
                        "(?s).",
                        "^(?:4k|16k)$",
                        "x*",
                        "\\.",
                        "*",
                        "(",
                        "[",
                        "\\",
                        "a**",
                        "(?P<x>e)",
                        "\\z",
                        "[^a-z]",
                    ]);
                    format!("{key}:/{regexp}/")
                }
                _ => format!("{key}:{}", random.pick(&VALUES)),
            }
        }
    }
}

/// Sometimes breaks a query at a random place.
fn mangled(random: &mut Random, text: String) -> String {
    if !random.chance(12) {
        return text;
    }
    let mut chars: Vec<char> = text.chars().collect();
    for _ in 0..random.within(1, 2) {
        let at = random.within(0, chars.len());
        if random.chance(50) && at < chars.len() {
            chars.remove(at);
        } else {
            let inserted = random.pick(&[
                "(", ")", ":", "@", ",", "\"", "/", "-", "*", " ", "\\", "OR", " AND ", "x", "é",
                "\t", "\u{2003}", ".", "\\x", "日",
            ]);
            chars.splice(at..at, inserted.chars());
        }
    }
    chars.into_iter().collect()
}
