//! Runs the fuzz targets on their corpora and on a few thousand seeded mutations of them.
//!
//! `FUZZ_MUTATIONS` is how many of those each target gets.

use std::fs;
use std::path::Path;

#[path = "../fuzz/src/lib.rs"]
mod properties;

/// The inputs of a target in the order of their names.
fn corpus(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fuzz/corpus")
        .join(target);
    let entries = fs::read_dir(folder).expect("a corpus");
    let mut paths: Vec<_> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    assert!(!paths.is_empty(), "{target} has no corpus");
    let read = |path| fs::read(path).expect("an input");
    paths.iter().map(read).collect()
}

/// The words of a target's dictionary.
fn dictionary(target: &str) -> Vec<Vec<u8>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fuzz/dictionaries")
        .join(format!("{target}.dict"));
    let text = fs::read_to_string(path).expect("a dictionary");
    text.lines()
        .map(|line| unquote(line.trim_matches('"')))
        .collect()
}

fn unquote(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = match (byte, after) {
            (b'\\', [b'x', high, low, after @ ..]) => {
                let digit = |byte: &u8| char::from(*byte).to_digit(16).expect("a digit");
                bytes.push(u8::try_from(digit(high) * 16 + digit(low)).expect("a byte"));
                after
            }
            (b'\\', [escaped, after @ ..]) => {
                bytes.push(*escaped);
                after
            }
            _ => {
                bytes.push(byte);
                after
            }
        };
    }
    bytes
}

/// A small generator of numbers, the same ones on every machine (Vigna's `SplitMix64`).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        usize::try_from(mixed % limit.max(1) as u64).expect("below a limit")
    }

    fn mutate(&mut self, input: &mut Vec<u8>, corpus: &[Vec<u8>], words: &[Vec<u8>]) {
        for _ in 0..=self.below(4) {
            let at = self.below(input.len() + 1);
            let end = (at + self.below(9)).min(input.len());
            match self.below(6) {
                0 => drop(input.drain(at..end)),
                1 if at < input.len() => input[at] ^= 1 << self.below(8),
                2 => input.insert(at, u8::try_from(self.below(256)).expect("a byte")),
                3 => {
                    let piece = input[at..end].to_vec();
                    input.splice(at..at, piece);
                }
                4 => {
                    let other = &corpus[self.below(corpus.len())];
                    let start = self.below(other.len() + 1);
                    let end = (start + self.below(40)).min(other.len());
                    input.splice(at..at, other[start..end].iter().copied());
                }
                _ => {
                    let word = &words[self.below(words.len())];
                    input.splice(at..at, word.iter().copied());
                }
            }
        }
    }
}

fn replay(target: &str, check: fn(&[u8]), mutations: usize) {
    let mutations = std::env::var("FUZZ_MUTATIONS")
        .ok()
        .and_then(|count| count.parse().ok())
        .unwrap_or(mutations);
    let (corpus, words) = (corpus(target), dictionary(target));
    let run = |input: &[u8]| {
        let outcome = std::panic::catch_unwind(|| check(input));
        assert!(
            outcome.is_ok(),
            "{target} fails on {}",
            input.escape_ascii()
        );
    };
    for input in &corpus {
        run(input);
    }
    let mut random = Random(20_261_130);
    for _ in 0..mutations {
        let mut input = corpus[random.below(corpus.len())].clone();
        random.mutate(&mut input, &corpus, &words);
        run(&input);
    }
}

#[test]
fn lines_hold() {
    replay("line", properties::line::check, 2000);
}

#[test]
fn numbers_hold() {
    replay("number", properties::number::check, 20_000);
}

#[test]
fn filters_hold() {
    replay("filter", properties::filter::check, 1000);
}

#[test]
fn projections_hold() {
    replay("projection", properties::projection::check, 2000);
}

#[test]
fn decoding_holds() {
    replay("decode", properties::decode::check, 1000);
}

#[test]
fn whole_runs_hold() {
    replay("run", properties::run::check, 200);
}
