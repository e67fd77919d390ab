//! Chunks: one gzip member that holds one JSON array of events.

use std::io::{Read as _, Write as _};

use anyhow::{Context, Result};
use axum::body::Bytes;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde_json::value::RawValue;

/// A chunk filled less than this share of its limit was closed too early.
const WELL_FILLED: f64 = 0.9;

/// The first change of the limit is by 2¹.
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

#[derive(Clone, Copy, Debug, PartialEq)]
enum Direction {
    Up,
    Down,
}

/// Appends events to a gzip stream and closes chunks.
///
/// How large a stream becomes is known when it is closed. So the encoder
/// guesses how many bytes may go in, and corrects the guess at each chunk:
/// upwards when a chunk stayed below 90 % of its limit, downwards when it went
/// above, and then the chunk's events are encoded again. Each turn of
/// direction halves the step, so the guess settles.
#[derive(Debug)]
pub struct ChunkEncoder {
    /// Compressed bytes.
    limit: usize,
    /// Bytes that may go in.
    uncompressed_limit: f64,
    exponent: f64,
    direction: Option<Direction>,
    stream: GzEncoder<Vec<u8>>,
    uncompressed: usize,
    events: u64,
    /// Events encoded again because their chunk came out too large.
    encoded_again: u64,
}

impl ChunkEncoder {
    /// An encoder of chunks of at most `limit` compressed bytes.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            uncompressed_limit: limit as f64,
            exponent: FIRST_EXPONENT,
            direction: None,
            stream: stream(),
            uncompressed: 0,
            events: 0,
            encoded_again: 0,
        }
    }

    /// Events in the chunk that is still open.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Events encoded again so far.
    #[must_use]
    pub fn encoded_again(&self) -> u64 {
        self.encoded_again
    }

    /// Bytes that may go into a chunk at present.
    #[must_use]
    pub fn uncompressed_limit(&self) -> f64 {
        self.uncompressed_limit
    }

    /// Appends an encoded event; puts chunks closed on the way into `closed`.
    /// Returns the number of events left out because they exceed the limit on
    /// their own.
    ///
    /// # Errors
    /// Never in practice: the stream writes to memory.
    pub fn write(&mut self, event: &[u8], closed: &mut Vec<Chunk>) -> Result<u64> {
        let mut too_large = 0;
        let after = self.uncompressed + event.len() + 1;
        if self.events > 0 && after as f64 > self.uncompressed_limit {
            too_large = self.close(true, closed)?;
        }
        let separator: &[u8] = if self.events == 0 { b"[" } else { b"," };
        self.stream.write_all(separator)?;
        self.stream.write_all(event)?;
        self.uncompressed += event.len() + 1;
        self.events += 1;
        Ok(too_large)
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
        self.stream.write_all(b"]")?;
        let bytes = std::mem::replace(&mut self.stream, stream()).finish()?;
        let events = std::mem::take(&mut self.events);
        let uncompressed = std::mem::take(&mut self.uncompressed);
        if bytes.len() <= self.limit {
            if full && (bytes.len() as f64) < self.limit as f64 * WELL_FILLED {
                self.turn(Direction::Up);
                self.uncompressed_limit *= self.exponent.exp2();
            }
            closed.push(Chunk {
                bytes: bytes.into(),
                events,
            });
            return Ok(0);
        }
        if events == 1 {
            return Ok(1);
        }
        self.turn(Direction::Down);
        // From what this chunk held, which a flush may have closed early.
        let held = self.uncompressed_limit.min(uncompressed as f64);
        self.uncompressed_limit = held / self.exponent.exp2();
        self.encoded_again += events;
        let mut text = Vec::with_capacity(uncompressed + 1);
        GzDecoder::new(bytes.as_slice()).read_to_end(&mut text)?;
        let events: Vec<&RawValue> =
            serde_json::from_slice(&text).context("reading a chunk back to encode it again")?;
        let mut too_large = 0;
        for event in events {
            too_large += self.write(event.get().as_bytes(), closed)?;
        }
        Ok(too_large)
    }

    fn turn(&mut self, direction: Direction) {
        self.exponent = match self.direction {
            None => FIRST_EXPONENT,
            Some(last) if last == direction => self.exponent + LARGER,
            Some(_) => (self.exponent / 2.0).clamp(SMALLEST_EXPONENT, FIRST_EXPONENT / 2.0),
        };
        self.direction = Some(direction);
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

    /// Events of about 400 bytes that compress as real ones do: some texts repeat, others do not.
    fn events(count: usize) -> Vec<String> {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        (0..count)
            .map(|number| {
                let id: u128 = random.random();
                let filler = "attributes request http headers ".repeat(10);
                format!(r#"{{"n": {number}, "id": "{id:032x}", "filler": "{filler}"}}"#)
            })
            .collect()
    }

    fn decode(chunk: &Chunk) -> Vec<serde_json::Value> {
        serde_json::from_reader(GzDecoder::new(&chunk.bytes[..])).unwrap()
    }

    #[test]
    fn every_event_is_in_a_chunk_in_order_and_no_chunk_exceeds_its_limit() {
        let mut encoder = ChunkEncoder::new(2_000);
        let mut closed = Vec::new();
        let events = events(1_000);
        for event in &events {
            assert_eq!(encoder.write(event.as_bytes(), &mut closed).unwrap(), 0);
        }
        assert_eq!(encoder.flush(&mut closed).unwrap(), 0);
        assert!(closed.iter().all(|chunk| chunk.bytes.len() <= 2_000));
        let numbers: Vec<u64> = closed
            .iter()
            .flat_map(decode)
            .map(|event| event["n"].as_u64().unwrap())
            .collect();
        assert_eq!(numbers, (0..1_000).collect::<Vec<_>>());
        let counted: u64 = closed.iter().map(|chunk| chunk.events).sum();
        assert_eq!(counted, 1_000);
    }

    #[test]
    fn the_limit_settles_and_then_nothing_is_encoded_again() {
        let mut encoder = ChunkEncoder::new(2_000);
        let mut closed = Vec::new();
        let events = events(2_000);
        for event in &events[..1_000] {
            encoder.write(event.as_bytes(), &mut closed).unwrap();
        }
        let (settled, again) = (encoder.uncompressed_limit(), encoder.encoded_again());
        assert!(settled > 4_000.0, "gzip leaves less than half: {settled}");
        closed.clear();
        for event in &events[1_000..] {
            encoder.write(event.as_bytes(), &mut closed).unwrap();
        }
        assert_eq!(encoder.encoded_again(), again);
        assert!((encoder.uncompressed_limit() / settled - 1.0).abs() < 0.1);
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
    fn an_event_that_exceeds_the_limit_alone_is_counted_and_the_others_go_on() {
        let mut random = ChaCha8Rng::seed_from_u64(2);
        let large: String = (0..8_000)
            .map(|_| char::from(random.random_range(b'0'..=b'z')))
            .filter(char::is_ascii_alphanumeric)
            .collect();
        let mut encoder = ChunkEncoder::new(1_000);
        let mut closed = Vec::new();
        let mut too_large = 0;
        for event in [
            "{\"n\": 1}".to_owned(),
            format!("\"{large}\""),
            "{\"n\": 2}".to_owned(),
        ] {
            too_large += encoder.write(event.as_bytes(), &mut closed).unwrap();
        }
        too_large += encoder.flush(&mut closed).unwrap();
        assert_eq!(too_large, 1);
        assert_eq!(closed.iter().map(|chunk| chunk.events).sum::<u64>(), 2);
    }

    #[test]
    fn a_chunk_is_one_gzip_member_with_nothing_behind_it() {
        let mut encoder = ChunkEncoder::new(1_000);
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
        ChunkEncoder::new(1_000).flush(&mut closed).unwrap();
        assert!(closed.is_empty());
    }
}
