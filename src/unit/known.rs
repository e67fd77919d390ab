//! What is known of the words that units are made of: the one table.

/// What a word in a unit says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// A time: less is better, and more of anything per time.
    Time,
    /// Memory: less is better, but for memory per time.
    Memory,
    /// Something that is paid: less is better.
    Cost,
    /// A rate by its name: more is better.
    Rate,
    /// What follows is the denominator, as after `/`.
    Per,
    /// Something of which more may be good or bad, whatever it is counted in: no direction.
    Undecided,
}

/// How values are converted where a word in the numerator is replaced.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Conversion {
    /// Divided by this.
    Divide(f64),
    /// Multiplied by this.
    Multiply(f64),
}

/// What something is counted in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unit {
    /// Spelled exactly so: `MB` and `Mb` are not the same.
    spelling: &'static str,
    pub meaning: Meaning,
    /// What one of it is worth, in what it has the meaning of: seconds, bytes or pieces; > 0.
    pub worth: f64,
    /// The unit that takes its place in the base form, and how values are converted.
    pub base: Option<(&'static str, Conversion)>,
    /// Whether values are shown with the prefixes of powers of 1024.
    pub is_binary: bool,
}

const fn unit_of(spelling: &'static str, meaning: Meaning, worth: f64) -> Unit {
    Unit {
        spelling,
        meaning,
        worth,
        base: None,
        is_binary: false,
    }
}

const fn time(spelling: &'static str, seconds: f64) -> Unit {
    unit_of(spelling, Meaning::Time, seconds)
}

const fn memory(spelling: &'static str, bytes: f64) -> Unit {
    unit_of(spelling, Meaning::Memory, bytes)
}

const UNITS: [Unit; 26] = [
    Unit {
        base: Some(("sec", Conversion::Divide(1e9))),
        ..time("ns", 1e-9)
    },
    time("us", 1e-6),
    // The micro sign and the Greek letter.
    time("\u{b5}s", 1e-6),
    time("\u{3bc}s", 1e-6),
    time("ms", 1e-3),
    time("s", 1.0),
    time("sec", 1.0),
    time("nsec", 1e-9),
    time("usec", 1e-6),
    time("msec", 1e-3),
    time("secs", 1.0),
    time("nanoseconds", 1e-9),
    time("microseconds", 1e-6),
    time("milliseconds", 1e-3),
    time("seconds", 1.0),
    Unit {
        is_binary: true,
        ..memory("B", 1.0)
    },
    Unit {
        is_binary: true,
        ..memory("bytes", 1.0)
    },
    Unit {
        base: Some(("B", Conversion::Multiply(1e6))),
        is_binary: true,
        ..memory("MB", 1e6)
    },
    memory("kB", 1e3),
    memory("KB", 1e3),
    memory("GB", 1e9),
    memory("TB", 1e12),
    memory("KiB", 1024.0),
    memory("MiB", 1024.0 * 1024.0),
    memory("GiB", 1024.0 * 1024.0 * 1024.0),
    memory("TiB", 1024.0 * 1024.0 * 1024.0 * 1024.0),
];

/// Other words in units, in small letters or capitals.
const WORDS: [(Meaning, &[&str]); 5] = [
    (Meaning::Cost, &["allocs"]),
    (Meaning::Per, &["per"]),
    (
        Meaning::Rate,
        &["qps", "rps", "tps", "iops", "throughput", "bandwidth"],
    ),
    // What is won.
    (
        Meaning::Undecided,
        &[
            "saved",
            "saving",
            "savings",
            "avoided",
            "free",
            "freed",
            "reclaimed",
            "available",
            "remaining",
            "idle",
            "hit",
            "hits",
            "reduction",
            "speedup",
        ],
    ),
    // What went wrong, which is no throughput.
    (
        Meaning::Undecided,
        &[
            "error",
            "errors",
            "errs",
            "err",
            "failure",
            "failures",
            "failed",
            "fails",
            "miss",
            "misses",
            "missed",
            "drop",
            "drops",
            "dropped",
            "lost",
            "loss",
            "retry",
            "retries",
            "timeout",
            "timeouts",
            "rejected",
            "rejects",
            "conflicts",
            "aborts",
            "evictions",
        ],
    ),
];

/// The unit with this spelling.
pub(super) fn unit(spelling: &[u8]) -> Option<&'static Unit> {
    let mut units = UNITS.iter();
    units.find(|unit| unit.spelling.as_bytes() == spelling)
}

/// What the word with this spelling means, if that is known.
pub(super) fn meaning(spelling: &[u8]) -> Option<Meaning> {
    if let Some(unit) = unit(spelling) {
        return Some(unit.meaning);
    }
    let is_spelled = |known: &str| known.as_bytes().eq_ignore_ascii_case(spelling);
    let mut words = WORDS.iter();
    let found = words.find(|(_, spellings)| spellings.iter().any(|known| is_spelled(known)));
    found.map(|(meaning, _)| *meaning)
}
