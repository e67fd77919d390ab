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

/// A word in a unit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word {
    /// All its spellings.
    spellings: &'static [&'static str],
    pub meaning: Meaning,
    /// The word that takes its place in the base form, and how values are converted.
    pub base: Option<(&'static str, Conversion)>,
    /// Whether values are shown with the prefixes of powers of 1024.
    pub is_binary: bool,
}

const fn word(spellings: &'static [&'static str], meaning: Meaning) -> Word {
    Word {
        spellings,
        meaning,
        base: None,
        is_binary: false,
    }
}

/// Spelled exactly so: `MB` and `Mb` are not the same.
const UNITS: [Word; 8] = [
    Word {
        base: Some(("sec", Conversion::Divide(1e9))),
        ..word(&["ns"], Meaning::Time)
    },
    word(&["sec", "s", "ms", "us", "µs", "μs"], Meaning::Time),
    word(&["secs", "seconds", "nsec", "usec", "msec"], Meaning::Time),
    word(
        &["nanoseconds", "microseconds", "milliseconds"],
        Meaning::Time,
    ),
    Word {
        base: Some(("B", Conversion::Multiply(1e6))),
        is_binary: true,
        ..word(&["MB"], Meaning::Memory)
    },
    Word {
        is_binary: true,
        ..word(&["B", "bytes"], Meaning::Memory)
    },
    word(
        &["kB", "KB", "GB", "TB", "KiB", "MiB", "GiB", "TiB"],
        Meaning::Memory,
    ),
    word(&["allocs"], Meaning::Cost),
];

/// In small letters or capitals.
const WORDS: [Word; 4] = [
    word(&["per"], Meaning::Per),
    word(
        &["qps", "rps", "tps", "iops", "throughput", "bandwidth"],
        Meaning::Rate,
    ),
    // What is won.
    word(
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
        Meaning::Undecided,
    ),
    // What went wrong, which is no throughput.
    word(
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
        Meaning::Undecided,
    ),
];

/// The unit of measurement with this spelling.
pub(super) fn unit(spelling: &[u8]) -> Option<&'static Word> {
    let is_spelled = |word: &&Word| {
        word.spellings
            .iter()
            .any(|known| known.as_bytes() == spelling)
    };
    UNITS.iter().find(is_spelled)
}

/// What the word with this spelling means, if that is known.
pub(super) fn meaning(spelling: &[u8]) -> Option<Meaning> {
    let is_spelled = |word: &&Word| {
        let mut known = word.spellings.iter();
        known.any(|known| known.as_bytes().eq_ignore_ascii_case(spelling))
    };
    let found = unit(spelling).or_else(|| WORDS.iter().find(is_spelled));
    found.map(|word| word.meaning)
}
