//! The `size` buffer: events are encoded by the request's own thread.
//!
//! Only the encoding to JSON happens outside the lock. Compression, closing a
//! chunk and encoding a too large one again happen under it, and every request
//! that logs at that moment waits: this is where the tail comes from. What is
//! flushed for an upload is closed outside the lock.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use anyhow::Result;

use super::chunk::{Chunk, ChunkEncoder};
use super::event::{Event, encode_into};
use super::settings::ChunkGuess;

/// Compressed events waiting for the uploader.
#[derive(Debug)]
pub struct SizeBuffer {
    /// Compressed bytes waiting, 0 for no limit.
    limit: usize,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    encoder: ChunkEncoder,
    chunks: Queue,
    dropped: Dropped,
    /// Chunks encoded again outside the lock.
    flushed_rescales: u64,
}

/// Closed chunks, the oldest first.
#[derive(Debug, Default)]
struct Queue {
    chunks: VecDeque<Chunk>,
    /// Their bytes.
    usage: usize,
}

/// What a buffer lost, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dropped {
    /// The buffer was full and the oldest had to go.
    pub buffer_full: u64,
    /// A single event exceeded the upload limit.
    pub too_large: u64,
}

impl SizeBuffer {
    /// A buffer of `limit` compressed bytes (0: no limit) in chunks of at most `upload_limit`.
    #[must_use]
    pub fn new(limit: usize, upload_limit: usize, guess: ChunkGuess) -> Self {
        Self {
            limit,
            state: Mutex::new(State {
                encoder: ChunkEncoder::new(upload_limit, guess),
                chunks: Queue::default(),
                dropped: Dropped::default(),
                flushed_rescales: 0,
            }),
        }
    }

    /// Encodes and appends an event; whether that closed a chunk. `scratch`
    /// is the worker's own and saves an allocation.
    ///
    /// # Errors
    /// When the event cannot be encoded.
    pub fn push(&self, event: &Event, scratch: &mut Vec<u8>) -> Result<bool> {
        scratch.clear();
        encode_into(event, scratch)?;
        self.push_encoded(scratch)
    }

    /// Appends an event that is encoded already; whether that closed a chunk.
    ///
    /// # Errors
    /// As [`SizeBuffer::push`].
    pub fn push_encoded(&self, event: &[u8]) -> Result<bool> {
        let mut state = self.lock();
        let mut closed = Vec::new();
        state.dropped.too_large += state.encoder.write(event, &mut closed)?;
        let any = !closed.is_empty();
        for chunk in closed {
            state.dropped.buffer_full += state.chunks.add(chunk, self.limit);
        }
        Ok(any)
    }

    /// Takes all chunks; with `flush` the open one too.
    ///
    /// # Errors
    /// Never in practice: chunks are closed in memory.
    pub fn take(&self, flush: bool) -> Result<VecDeque<Chunk>> {
        let mut state = self.lock();
        let mut taken = std::mem::take(&mut state.chunks);
        if !flush {
            return Ok(taken.chunks);
        }
        let mut open = state.encoder.split_off();
        drop(state);
        let mut closed = Vec::new();
        let mut dropped = Dropped {
            too_large: open.flush(&mut closed)?,
            buffer_full: 0,
        };
        for chunk in closed {
            dropped.buffer_full += taken.add(chunk, self.limit);
        }
        let mut state = self.lock();
        state.dropped.too_large += dropped.too_large;
        state.dropped.buffer_full += dropped.buffer_full;
        state.flushed_rescales += open.rescales();
        Ok(taken.chunks)
    }

    /// Takes back a chunk that could not be sent.
    pub fn requeue(&self, chunk: Chunk) {
        let mut state = self.lock();
        state.dropped.buffer_full += state.chunks.add(chunk, self.limit);
    }

    /// Chunks encoded again so far, since they came out too large.
    #[must_use]
    pub fn rescales(&self) -> u64 {
        let state = self.lock();
        state.encoder.rescales() + state.flushed_rescales
    }

    /// Events waiting.
    #[must_use]
    pub fn events(&self) -> u64 {
        let state = self.lock();
        let closed: u64 = state.chunks.chunks.iter().map(|chunk| chunk.events).sum();
        closed + state.encoder.events()
    }

    /// What was lost so far.
    #[must_use]
    pub fn dropped(&self) -> Dropped {
        self.lock().dropped
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        // A thread that panicked here ends the run anyway.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Queue {
    /// Appends a chunk; how many events went for it. Only the oldest chunk
    /// goes, even where that does not make enough room, as in OPA.
    fn add(&mut self, chunk: Chunk, limit: usize) -> u64 {
        let mut dropped = 0;
        if limit > 0
            && self.usage + chunk.bytes.len() > limit
            && let Some(oldest) = self.chunks.pop_front()
        {
            self.usage -= oldest.bytes.len();
            dropped = oldest.events;
        }
        self.usage += chunk.bytes.len();
        self.chunks.push_back(chunk);
        dropped
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decision_log::event::tests::event;

    fn chunk(number: u8, size: usize) -> Chunk {
        Chunk {
            bytes: vec![number; size].into(),
            events: 10,
        }
    }

    fn numbers(chunks: &VecDeque<Chunk>) -> Vec<u8> {
        chunks.iter().map(|chunk| chunk.bytes[0]).collect()
    }

    fn buffer(limit: usize, upload_limit: usize) -> SizeBuffer {
        SizeBuffer::new(limit, upload_limit, ChunkGuess::Opa)
    }

    #[test]
    fn over_the_limit_the_oldest_chunk_goes() {
        let buffer = buffer(250, 100);
        for number in 1..=4 {
            buffer.requeue(chunk(number, 100));
        }
        assert_eq!(buffer.dropped().buffer_full, 20);
        assert_eq!(numbers(&buffer.take(false).unwrap()), [3, 4]);
    }

    #[test]
    fn one_chunk_goes_for_one_that_comes_however_large_it_is() {
        let buffer = buffer(250, 100);
        for (number, size) in [(1, 100), (2, 100), (3, 251)] {
            buffer.requeue(chunk(number, size));
        }
        assert_eq!(buffer.dropped().buffer_full, 10);
        assert_eq!(numbers(&buffer.take(false).unwrap()), [2, 3]);
    }

    #[test]
    fn without_a_limit_nothing_goes() {
        let buffer = buffer(0, 100);
        for number in 1..=100 {
            buffer.requeue(chunk(number, 100));
        }
        assert_eq!(buffer.dropped(), Dropped::default());
        assert_eq!(buffer.events(), 1_000);
    }

    #[test]
    fn taking_with_a_flush_empties_the_open_chunk_too() {
        let buffer = buffer(0, 32_768);
        let mut scratch = Vec::new();
        assert!(!buffer.push(&event("{}"), &mut scratch).unwrap());
        assert_eq!(buffer.events(), 1);
        assert!(buffer.take(false).unwrap().is_empty());
        assert_eq!(buffer.take(true).unwrap().len(), 1);
        assert_eq!(buffer.events(), 0);
    }
}
