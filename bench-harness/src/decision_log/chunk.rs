//! Chunks: one gzip member that holds one JSON array of events.

use std::io::{Read as _, Write as _};

use anyhow::{Context, Result};
use axum::body::Bytes;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

use super::event::{Decoded, encode};
use super::settings::ChunkGuess;

/// A chunk filled less than this share of its limit was closed too early.
const WELL_FILLED: f64 = 0.9;

/// The first change of a settling limit is by 2¹.
const FIRST_EXPONENT: f64 = 1.0;
/// Another change in the same direction has an exponent larger by this.
const LARGER: f64 = 0.2;
/// The smallest change, 2^(1/16) or 4 %, fits into the well-filled tenth.
const SMALLEST_EXPONENT: f64 = 1.0 / 16.0;

/// A closed chunk, ready to be sent.
#[derive(Clone, Debug)]
pub struct Chunk {
    /// The gzip member.
    pub bytes: Bytes,
    /// How many events are in it.
    pub events: u64,
}

impl Chunk {
    /// Its events, by value.
    ///
    /// # Errors
    /// When it is no gzip member, or not of events.
    pub fn decode(&self) -> Result<Vec<Decoded>> {
        let mut text = Vec::new();
        GzDecoder::new(&self.bytes[..]).read_to_end(&mut text)?;
        let mut deserializer = serde_json::Deserializer::from_slice(&text);
        // What nests deeply has passed the limit of whoever read it first.
        deserializer.disable_recursion_limit();
        serde::Deserialize::deserialize(&mut deserializer)
            .context("reading a chunk back to encode it again")
    }
}

/// How many bytes may go into a chunk, and how that changes with each one closed.
///
/// How large a gzip stream becomes is known when it is closed, so the limit of
/// what goes in is guessed.
#[derive(Clone, Debug)]
enum Guess {
    Opa(Doubling),
    Settling(Settling),
}

/// OPA's rule: more than doubled whenever a chunk stayed below 90 % of its limit,
/// and divided when one came out too large. Most texts compress so that no
/// doubling lands in the tenth between, so this goes on for good.
#[derive(Clone, Debug)]
struct Doubling {
    bytes: u64,
    up: f64,
    down: f64,
}

impl Doubling {
    fn raise(&mut self) {
        self.bytes = self.bytes.saturating_mul(power_of_two(self.up + 1.0));
        self.up += LARGER;
    }

    fn lower(&mut self, limit: u64) {
        if self.bytes > limit {
            self.down = self.down.max(self.up);
            self.bytes /= power_of_two(self.down - self.up + 1.0);
            // As in OPA, where a rounding error can make it negative, and the next change none.
            if self.up > 0.0 {
                self.up -= LARGER;
            }
        } else {
            // OPA leaves it as it is, encodes the same again, and never ends.
            self.bytes /= 2;
        }
    }
}

/// Rounded down, as OPA does.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "at least 1, and rounded down on purpose"
)]
fn power_of_two(exponent: f64) -> u64 {
    exponent.exp2() as u64
}

/// Each turn of direction halves the step, so the guess settles.
#[derive(Clone, Debug)]
struct Settling {
    bytes: f64,
    exponent: f64,
    direction: Option<Direction>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Direction {
    Up,
    Down,
}

impl Settling {
    fn turn(&mut self, direction: Direction) {
        self.exponent = match self.direction {
            None => FIRST_EXPONENT,
            Some(last) if last == direction => self.exponent + LARGER,
            Some(_) => (self.exponent / 2.0).clamp(SMALLEST_EXPONENT, FIRST_EXPONENT / 2.0),
        };
        self.direction = Some(direction);
    }
}

impl Guess {
    fn new(kind: ChunkGuess, limit: usize) -> Self {
        match kind {
            ChunkGuess::Opa => Self::Opa(Doubling {
                bytes: limit as u64,
                up: 0.0,
                down: 0.0,
            }),
            ChunkGuess::Settling => Self::Settling(Settling {
                bytes: limit as f64,
                exponent: FIRST_EXPONENT,
                direction: None,
            }),
        }
    }

    /// Whether a chunk of so many bytes is still open.
    fn fits(&self, uncompressed: usize) -> bool {
        match self {
            Self::Opa(guess) => (uncompressed as u64) < guess.bytes,
            Self::Settling(guess) => uncompressed as f64 <= guess.bytes,
        }
    }

    /// Learns from a full chunk that is not too large.
    fn closed(&mut self, compressed: usize, limit: usize) {
        let well_filled = compressed as f64 >= limit as f64 * WELL_FILLED;
        match self {
            Self::Opa(guess) if well_filled => guess.down = guess.up,
            Self::Opa(guess) => guess.raise(),
            Self::Settling(guess) if !well_filled => {
                guess.turn(Direction::Up);
                guess.bytes *= guess.exponent.exp2();
            }
            Self::Settling(_) => {}
        }
    }

    /// Learns from a chunk that came out too large.
    fn too_large(&mut self, uncompressed: usize, limit: usize) {
        match self {
            Self::Opa(guess) => guess.lower(limit as u64),
            Self::Settling(guess) => {
                guess.turn(Direction::Down);
                // From what this chunk held, which a flush may have closed early.
                let held = guess.bytes.min(uncompressed as f64);
                guess.bytes = held / guess.exponent.exp2();
            }
        }
    }

    /// Learns from an event that filled a chunk on its own.
    fn filled_by_one(&mut self, uncompressed: usize, compressed: usize, limit: usize) {
        match self {
            Self::Opa(guess) => {
                guess.bytes = uncompressed as u64;
                guess.raise();
            }
            Self::Settling(_) => self.closed(compressed, limit),
        }
    }
}

/// Appends events to a gzip stream and closes chunks.
///
/// A chunk that came out too large is decoded, and its events are encoded
/// again, one by one and by value.
#[derive(Debug)]
pub struct ChunkEncoder {
    /// Compressed bytes.
    limit: usize,
    guess: Guess,
    /// Events of so many bytes were too large on their own.
    hopeless: Option<usize>,
    stream: GzEncoder<Vec<u8>>,
    uncompressed: usize,
    events: u64,
    /// Chunks encoded again because they came out too large.
    rescales: u64,
}

impl ChunkEncoder {
    /// An encoder of chunks of at most `limit` compressed bytes.
    #[must_use]
    pub fn new(limit: usize, guess: ChunkGuess) -> Self {
        Self {
            limit,
            guess: Guess::new(guess, limit),
            hopeless: None,
            stream: stream(),
            uncompressed: 0,
            events: 0,
            rescales: 0,
        }
    }

    /// Gives the open chunk away, and goes on with an empty one.
    #[must_use]
    pub fn split_off(&mut self) -> Self {
        let empty = Self {
            limit: self.limit,
            guess: self.guess.clone(),
            hopeless: None,
            stream: stream(),
            uncompressed: 0,
            events: 0,
            rescales: self.rescales,
        };
        let mut full = std::mem::replace(self, empty);
        full.rescales = 0;
        full
    }

    /// Events in the chunk that is still open.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Chunks encoded again so far, since they came out too large.
    #[must_use]
    pub fn rescales(&self) -> u64 {
        self.rescales
    }

    /// Appends an encoded event; puts chunks closed on the way into `closed`.
    /// Returns the number of events left out because they exceed the limit on
    /// their own.
    ///
    /// # Errors
    /// Never in practice: the stream writes to memory.
    pub fn write(&mut self, event: &[u8], closed: &mut Vec<Chunk>) -> Result<u64> {
        if self.hopeless.is_some_and(|bytes| event.len() >= bytes) {
            return Ok(1);
        }
        let mut too_large = 0;
        // Encoding a chunk again may leave another full one.
        while !self.guess.fits(self.uncompressed + event.len() + 1) {
            if self.events == 0 {
                return Ok(too_large + self.write_alone(event, closed)?);
            }
            too_large += self.close(true, closed)?;
        }
        self.append(event)?;
        Ok(too_large)
    }

    fn append(&mut self, event: &[u8]) -> Result<()> {
        let separator: &[u8] = if self.events == 0 { b"[" } else { b"," };
        self.stream.write_all(separator)?;
        self.stream.write_all(event)?;
        self.uncompressed += event.len() + 1;
        self.events += 1;
        Ok(())
    }

    /// An event larger than what a chunk may hold at present.
    fn write_alone(&mut self, event: &[u8], closed: &mut Vec<Chunk>) -> Result<u64> {
        self.append(event)?;
        let chunk = self.finish()?;
        if chunk.bytes.len() <= self.limit {
            self.guess
                .filled_by_one(event.len(), chunk.bytes.len(), self.limit);
            closed.push(chunk);
            return Ok(0);
        }
        self.hopeless = Some(self.hopeless.unwrap_or(usize::MAX).min(event.len()));
        Ok(1)
    }

    /// Closes the open chunk, however small. Returns as [`ChunkEncoder::write`].
    ///
    /// # Errors
    /// As [`ChunkEncoder::write`].
    pub fn flush(&mut self, closed: &mut Vec<Chunk>) -> Result<u64> {
        let mut too_large = 0;
        // Encoding again may leave another open chunk, a smaller one.
        while self.events > 0 {
            too_large += self.close(false, closed)?;
        }
        Ok(too_large)
    }

    fn close(&mut self, full: bool, closed: &mut Vec<Chunk>) -> Result<u64> {
        let uncompressed = self.uncompressed;
        let chunk = self.finish()?;
        // OPA takes a chunk of just the limit for one too large.
        if chunk.bytes.len() < self.limit {
            if full {
                self.guess.closed(chunk.bytes.len(), self.limit);
            }
            closed.push(chunk);
            return Ok(0);
        }
        self.guess.too_large(uncompressed, self.limit);
        self.rescales += 1;
        let mut too_large = 0;
        for event in chunk.decode()? {
            too_large += self.write(&encode(&event)?, closed)?;
        }
        Ok(too_large)
    }

    /// Ends the stream and begins another.
    fn finish(&mut self) -> Result<Chunk> {
        self.stream.write_all(b"]")?;
        self.uncompressed = 0;
        Ok(Chunk {
            bytes: std::mem::replace(&mut self.stream, stream())
                .finish()?
                .into(),
            events: std::mem::take(&mut self.events),
        })
    }
}

fn stream() -> GzEncoder<Vec<u8>> {
    GzEncoder::new(Vec::new(), Compression::default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::ChaCha8Rng;
    use rand::{RngExt as _, SeedableRng as _};

    const GUESSES: [ChunkGuess; 2] = [ChunkGuess::Opa, ChunkGuess::Settling];

    fn event(number: usize, filler: &str) -> String {
        format!(r#"{{"labels":{{}},"decision_id":{number},"path":"p","input":"{filler}"}}"#)
    }

    /// Events of about 400 bytes that compress as real ones do: some texts repeat, others do not.
    fn events(count: usize) -> Vec<String> {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        (0..count)
            .map(|number| {
                let id: u128 = random.random();
                let filler = "attributes request http headers ".repeat(10);
                event(number, &format!("{id:032x}{filler}"))
            })
            .collect()
    }

    /// Letters that compress to three quarters.
    fn noise(length: usize, seed: u64) -> String {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        (0..length)
            .map(|_| {
                char::from(
                    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
                        [random.random_range(0..64)],
                )
            })
            .collect()
    }

    fn numbers(chunks: &[Chunk]) -> Vec<u64> {
        let ids = |chunk: &Chunk| -> Vec<u64> {
            let events: Vec<serde_json::Value> =
                serde_json::from_reader(GzDecoder::new(&chunk.bytes[..])).unwrap();
            let number = |event: &serde_json::Value| event["decision_id"].as_u64().unwrap();
            events.iter().map(number).collect()
        };
        chunks.iter().flat_map(ids).collect()
    }

    #[test]
    fn every_event_is_in_a_chunk_in_order_and_no_chunk_exceeds_its_limit() {
        for guess in GUESSES {
            let mut encoder = ChunkEncoder::new(2_000, guess);
            let mut closed = Vec::new();
            for event in &events(1_000) {
                assert_eq!(encoder.write(event.as_bytes(), &mut closed).unwrap(), 0);
            }
            assert_eq!(encoder.flush(&mut closed).unwrap(), 0);
            assert!(closed.iter().all(|chunk| chunk.bytes.len() <= 2_000));
            assert_eq!(numbers(&closed), (0..1_000).collect::<Vec<_>>());
            let counted: u64 = closed.iter().map(|chunk| chunk.events).sum();
            assert_eq!(counted, 1_000);
        }
    }

    #[test]
    fn the_settling_limit_settles_and_then_nothing_is_encoded_again() {
        let mut encoder = ChunkEncoder::new(2_000, ChunkGuess::Settling);
        let mut closed = Vec::new();
        let events = events(2_000);
        for event in &events[..1_000] {
            encoder.write(event.as_bytes(), &mut closed).unwrap();
        }
        let rescales = encoder.rescales();
        closed.clear();
        for event in &events[1_000..] {
            encoder.write(event.as_bytes(), &mut closed).unwrap();
        }
        assert_eq!(encoder.rescales(), rescales);
        let filled = closed
            .iter()
            .filter(|chunk| chunk.bytes.len() >= 1_800)
            .count();
        assert!(
            filled * 10 >= closed.len() * 9,
            "{filled} of {}",
            closed.len()
        );
    }

    #[test]
    fn opas_limit_is_multiplied_by_2_2_2_3_3_and_4_and_divided_by_2() {
        let mut guess = Doubling {
            bytes: 1,
            up: 0.0,
            down: 0.0,
        };
        let mut factors = Vec::new();
        for _ in 0..6 {
            let before = guess.bytes;
            guess.raise();
            factors.push(guess.bytes / before);
        }
        assert_eq!(factors, [2, 2, 2, 3, 3, 4]);
        let before = guess.bytes;
        guess.lower(1);
        assert_eq!(guess.bytes, before / 2);
        // Since the last stable one the exponent has fallen by 0.2: 2^1.2 and 2^1.4 are still 2.
        guess.lower(1);
        guess.lower(1);
        assert_eq!(guess.bytes, before / 8);
    }

    #[test]
    fn opas_limit_never_settles() {
        let mut encoder = ChunkEncoder::new(2_000, ChunkGuess::Opa);
        let mut closed = Vec::new();
        let mut rescales = Vec::new();
        for event in &events(4_000) {
            encoder.write(event.as_bytes(), &mut closed).unwrap();
            rescales.push(encoder.rescales());
        }
        for quarter in rescales.chunks(1_000) {
            assert!(quarter[999] > quarter[0], "{rescales:?}");
        }
    }

    #[test]
    fn an_event_that_exceeds_the_limit_alone_is_counted_and_the_others_go_on() {
        for guess in GUESSES {
            let mut encoder = ChunkEncoder::new(1_000, guess);
            let mut closed = Vec::new();
            let mut too_large = 0;
            for number in 0..20 {
                let filler = noise(if number % 5 == 4 { 4_000 } else { 10 }, number as u64);
                let event = event(number, &filler);
                too_large += encoder.write(event.as_bytes(), &mut closed).unwrap();
            }
            too_large += encoder.flush(&mut closed).unwrap();
            assert_eq!(too_large, 4);
            assert_eq!(closed.iter().map(|chunk| chunk.events).sum::<u64>(), 16);
        }
    }

    #[test]
    fn events_about_as_large_as_the_limit_end_and_add_up() {
        for guess in GUESSES {
            for limit in [90, 100, 150, 200, 400] {
                for length in 0..400 {
                    let mut encoder = ChunkEncoder::new(limit, guess);
                    let (mut closed, mut too_large) = (Vec::new(), 0);
                    for number in 0..6 {
                        let event = event(number, &noise(length + number, number as u64));
                        too_large += encoder.write(event.as_bytes(), &mut closed).unwrap();
                    }
                    too_large += encoder.flush(&mut closed).unwrap();
                    let sent: u64 = closed.iter().map(|chunk| chunk.events).sum();
                    assert_eq!(sent + too_large, 6, "{guess:?} {limit} {length}");
                }
            }
        }
    }

    #[test]
    fn what_is_given_away_is_closed_on_its_own_and_the_guess_stays() {
        let mut encoder = ChunkEncoder::new(2_000, ChunkGuess::Opa);
        let mut closed = Vec::new();
        for event in &events(50) {
            encoder.write(event.as_bytes(), &mut closed).unwrap();
        }
        let (open, rescales) = (encoder.events(), encoder.rescales());
        let mut full = encoder.split_off();
        assert_eq!((full.events(), full.rescales()), (open, 0));
        assert_eq!((encoder.events(), encoder.rescales()), (0, rescales));
        full.flush(&mut closed).unwrap();
        assert_eq!(numbers(&closed), (0..50).collect::<Vec<_>>());
    }

    #[test]
    fn a_chunk_is_one_gzip_member_with_nothing_behind_it() {
        let mut encoder = ChunkEncoder::new(1_000, ChunkGuess::Opa);
        let mut closed = Vec::new();
        encoder.write(b"1", &mut closed).unwrap();
        encoder.write(b"2", &mut closed).unwrap();
        encoder.flush(&mut closed).unwrap();
        let mut rest: &[u8] = &closed[0].bytes;
        let mut text = String::new();
        flate2::bufread::GzDecoder::new(&mut rest)
            .read_to_string(&mut text)
            .unwrap();
        assert_eq!(text, "[1,2]");
        assert!(rest.is_empty());
    }

    #[test]
    fn flushing_an_empty_encoder_gives_no_chunk() {
        let mut closed = Vec::new();
        let mut encoder = ChunkEncoder::new(1_000, ChunkGuess::Opa);
        encoder.flush(&mut closed).unwrap();
        assert!(closed.is_empty());
    }
}
