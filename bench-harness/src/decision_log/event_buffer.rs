//! The `event` buffer: events wait as they are, the uploader encodes them.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::chunk::Chunk;
use super::event::Event;

/// What waits: an event, or a chunk that could not be sent.
#[derive(Debug)]
pub enum Item {
    /// Not yet encoded.
    Event(Box<Event>),
    /// Encoded already; it counts as one item, as in OPA.
    Chunk(Chunk),
}

impl Item {
    /// How many events it stands for.
    #[must_use]
    pub fn events(&self) -> u64 {
        match self {
            Self::Event(_) => 1,
            Self::Chunk(chunk) => chunk.events,
        }
    }
}

/// A bounded queue.
#[derive(Debug)]
pub struct EventBuffer {
    limit: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    items: VecDeque<Item>,
    dropped: u64,
}

impl EventBuffer {
    /// A queue of at most `limit` items.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            state: Mutex::default(),
        }
    }

    /// Appends an item; when the queue is full the oldest goes.
    pub fn push(&self, item: Item) {
        let mut state = self.lock();
        let oldest = if state.items.len() >= self.limit {
            state.items.pop_front()
        } else {
            None
        };
        state.dropped += oldest.as_ref().map_or(0, Item::events);
        state.items.push_back(item);
        drop(state);
        // Freeing an input document takes longer than the push: not under the lock.
        drop(oldest);
    }

    /// Takes the oldest item.
    #[must_use]
    pub fn pop(&self) -> Option<Item> {
        self.lock().items.pop_front()
    }

    /// Items waiting.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lock().items.len()
    }

    /// Whether nothing waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Events waiting.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.lock().items.iter().map(Item::events).sum()
    }

    /// Events lost because the queue was full.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.lock().dropped
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decision_log::event::tests::event;
    use crate::engine::Value;

    fn numbered(number: u32) -> Item {
        let mut event = event("{}");
        event.decision_id = Value::from(number);
        Item::Event(Box::new(event))
    }

    #[test]
    fn when_full_the_oldest_goes() {
        let buffer = EventBuffer::new(3);
        for number in 1..=5 {
            buffer.push(numbered(number));
        }
        assert_eq!(buffer.dropped(), 2);
        let ids: Vec<u32> = std::iter::from_fn(|| buffer.pop())
            .map(|item| match item {
                Item::Event(event) => event.decision_id.as_u32().unwrap(),
                Item::Chunk(_) => 0,
            })
            .collect();
        assert_eq!(ids, [3, 4, 5]);
    }

    #[test]
    fn a_dropped_chunk_counts_with_all_its_events() {
        let buffer = EventBuffer::new(2);
        buffer.push(Item::Chunk(Chunk {
            bytes: vec![0].into(),
            events: 7,
        }));
        assert_eq!(buffer.events(), 7);
        buffer.push(numbered(1));
        buffer.push(numbered(2));
        assert_eq!(buffer.dropped(), 7);
        assert_eq!(buffer.events(), 2);
    }
}
