//! The `size` buffer: events are encoded by the request's own thread.
//!
//! Only the encoding to JSON happens outside the lock. Compression, closing a
//! chunk and encoding a too large one again happen under it, and every request
//! that logs at that moment waits: this is where the tail comes from.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use anyhow::Result;

use super::chunk::{Chunk, ChunkEncoder};
use super::event::Event;

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
    chunks: VecDeque<Chunk>,
    /// Bytes of `chunks`.
    usage: usize,
    dropped: Dropped,
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
    pub fn new(limit: usize, upload_limit: usize) -> Self {
        Self {
            limit,
            state: Mutex::new(State {
                encoder: ChunkEncoder::new(upload_limit),
                chunks: VecDeque::new(),
                usage: 0,
                dropped: Dropped::default(),
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
        serde_json::to_writer(&mut *scratch, event)?;
        let mut state = self.lock();
        let mut closed = Vec::new();
        state.dropped.too_large += state.encoder.write(scratch, &mut closed)?;
        let any = !closed.is_empty();
        for chunk in closed {
            state.add(chunk, self.limit);
        }
        Ok(any)
    }

    /// Takes all chunks; with `flush` the open one too.
    ///
    /// # Errors
    /// Never in practice: chunks are closed in memory.
    pub fn take(&self, flush: bool) -> Result<VecDeque<Chunk>> {
        let mut state = self.lock();
        if flush {
            let mut closed = Vec::new();
            state.dropped.too_large += state.encoder.flush(&mut closed)?;
            for chunk in closed {
                state.add(chunk, self.limit);
            }
        }
        state.usage = 0;
        Ok(std::mem::take(&mut state.chunks))
    }

    /// Takes back a chunk that could not be sent.
    pub fn requeue(&self, chunk: Chunk) {
        self.lock().add(chunk, self.limit);
    }

    /// Events waiting.
    #[must_use]
    pub fn events(&self) -> u64 {
        let state = self.lock();
        let closed: u64 = state.chunks.iter().map(|chunk| chunk.events).sum();
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

impl State {
    fn add(&mut self, chunk: Chunk, limit: usize) {
        let size = chunk.bytes.len();
        if limit > 0 {
            if size > limit {
                self.dropped.buffer_full += chunk.events;
                return;
            }
            while self.usage + size > limit
                && let Some(oldest) = self.chunks.pop_front()
            {
                self.usage -= oldest.bytes.len();
                self.dropped.buffer_full += oldest.events;
            }
        }
        self.usage += size;
        self.chunks.push_back(chunk);
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

    #[test]
    fn over_the_limit_the_oldest_chunks_go() {
        let buffer = SizeBuffer::new(250, 100);
        for number in 1..=4 {
            buffer.requeue(chunk(number, 100));
        }
        assert_eq!(buffer.dropped().buffer_full, 20);
        assert_eq!(numbers(&buffer.take(false).unwrap()), [3, 4]);
    }

    #[test]
    fn a_chunk_larger_than_the_whole_buffer_is_dropped_itself() {
        let buffer = SizeBuffer::new(250, 100);
        buffer.requeue(chunk(1, 100));
        buffer.requeue(chunk(2, 251));
        assert_eq!(buffer.dropped().buffer_full, 10);
        assert_eq!(numbers(&buffer.take(false).unwrap()), [1]);
    }

    #[test]
    fn without_a_limit_nothing_goes() {
        let buffer = SizeBuffer::new(0, 100);
        for number in 1..=100 {
            buffer.requeue(chunk(number, 100));
        }
        assert_eq!(buffer.dropped(), Dropped::default());
        assert_eq!(buffer.events(), 1_000);
    }

    #[test]
    fn taking_with_a_flush_empties_the_open_chunk_too() {
        let buffer = SizeBuffer::new(0, 32_768);
        let mut scratch = Vec::new();
        assert!(!buffer.push(&event("{}"), &mut scratch).unwrap());
        assert_eq!(buffer.events(), 1);
        assert!(buffer.take(false).unwrap().is_empty());
        assert_eq!(buffer.take(true).unwrap().len(), 1);
        assert_eq!(buffer.events(), 0);
    }
}
