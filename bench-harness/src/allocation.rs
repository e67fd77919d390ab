//! Allocations, counted for each thread apart.
//!
//! One counter for the whole process would cost most of what it measures as
//! soon as two threads write to it. So every measured thread owns a cell, and
//! the cells are added up afterwards.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// The allocator's name, for the comment lines of a run.
pub const ALLOCATOR: &str = "system, counted";

/// At most this many threads are counted at a time.
const CELLS: usize = 256;

/// What was allocated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allocations {
    /// Calls; one that changes a size counts as one.
    pub count: u64,
    /// Bytes asked for; one that changes a size counts with the new size.
    pub bytes: u64,
}

impl std::ops::Sub for Allocations {
    type Output = Self;

    fn sub(self, earlier: Self) -> Self {
        Self {
            count: self.count - earlier.count,
            bytes: self.bytes - earlier.bytes,
        }
    }
}

impl std::ops::AddAssign for Allocations {
    fn add_assign(&mut self, other: Self) {
        self.count += other.count;
        self.bytes += other.bytes;
    }
}

/// Two counters on a cache line of their own: threads that count must not
/// slow each other down.
#[repr(align(128))]
struct Counts {
    count: AtomicU64,
    bytes: AtomicU64,
}

static COUNTS: [Counts; CELLS] = [const {
    Counts {
        count: AtomicU64::new(0),
        bytes: AtomicU64::new(0),
    }
}; CELLS];

static FREE: Mutex<Vec<usize>> = Mutex::new(Vec::new());
static NEXT: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// Without a destructor, so that reading it in the allocator allocates nothing.
    static CELL: Cell<Option<&'static Counts>> = const { Cell::new(None) };
}

/// Counts the allocations of the thread that made it, until it is dropped.
#[derive(Debug)]
pub struct Counter {
    index: usize,
}

impl Counter {
    /// Starts counting on this thread. With more than 256 counted threads the
    /// last ones share a cell and their counts are approximate.
    #[must_use]
    pub fn start() -> Self {
        let reused = FREE.lock().ok().and_then(|mut free| free.pop());
        let index = reused.unwrap_or_else(|| {
            let next = NEXT.fetch_add(1, Ordering::Relaxed);
            usize::try_from(next).map_or(CELLS - 1, |next| next.min(CELLS - 1))
        });
        CELL.set(Some(&COUNTS[index]));
        Self { index }
    }

    /// A way to read the counts from another thread.
    #[must_use]
    pub fn reader(&self) -> Reader {
        Reader { index: self.index }
    }
}

impl Drop for Counter {
    fn drop(&mut self) {
        CELL.set(None);
        if let Ok(mut free) = FREE.lock() {
            free.push(self.index);
        }
    }
}

/// Reads the counts of a counted thread.
#[derive(Clone, Copy, Debug)]
pub struct Reader {
    index: usize,
}

impl Reader {
    /// All the thread allocated so far; take differences.
    #[must_use]
    pub fn read(self) -> Allocations {
        let counts = &COUNTS[self.index];
        Allocations {
            count: counts.count.load(Ordering::Relaxed),
            bytes: counts.bytes.load(Ordering::Relaxed),
        }
    }
}

fn count(size: usize) {
    // A thread that is being torn down has no cell any more.
    let _ = CELL.try_with(|cell| {
        if let Some(counts) = cell.get() {
            // Only this thread writes here: no atomic addition is needed.
            let calls = counts.count.load(Ordering::Relaxed);
            counts.count.store(calls + 1, Ordering::Relaxed);
            let bytes = counts.bytes.load(Ordering::Relaxed);
            counts.bytes.store(bytes + size as u64, Ordering::Relaxed);
        }
    });
}

/// The system's allocator, counted.
pub struct CountingAllocator;

// SAFETY: every method hands its arguments unchanged to the system's
// allocator, whose contract is the same; counting neither allocates nor panics.
#[expect(unsafe_code, reason = "an allocator cannot be written without")]
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller keeps the contract of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size);
        // SAFETY: the caller keeps the contract of `realloc`.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR_IN_USE: CountingAllocator = CountingAllocator;

#[cfg(test)]
mod tests {
    use super::*;
    use std::hint::black_box;
    use std::thread;

    #[test]
    fn known_allocations_are_counted_on_each_thread_apart() {
        let threads: Vec<_> = (1..=4_u64)
            .map(|number| {
                thread::spawn(move || {
                    let counter = Counter::start();
                    let before = counter.reader().read();
                    for _ in 0..number * 100 {
                        black_box(vec![0_u8; 1000]);
                    }
                    (number, counter.reader().read() - before)
                })
            })
            .collect();
        for thread in threads {
            let (number, allocations) = thread.join().unwrap();
            assert_eq!(allocations.count, number * 100);
            assert_eq!(allocations.bytes, number * 100_000);
        }
    }

    #[test]
    fn a_change_of_size_counts_as_one_allocation_of_the_new_size() {
        let counter = Counter::start();
        let before = counter.reader().read();
        let mut list: Vec<u8> = Vec::with_capacity(100);
        black_box(&mut list).reserve_exact(300);
        let made = counter.reader().read() - before;
        assert_eq!(
            made,
            Allocations {
                count: 2,
                bytes: 400
            }
        );
    }

    #[test]
    fn a_thread_without_a_counter_counts_nowhere() {
        let counter = Counter::start();
        let reader = counter.reader();
        let before = reader.read();
        let handle = thread::Builder::new();
        let spawned = reader.read() - before;
        drop(handle);
        thread::scope(|scope| {
            scope.spawn(|| black_box(vec![0_u8; 1 << 20]));
        });
        let after = reader.read() - before;
        assert!(after.bytes - spawned.bytes < 1 << 20, "{after:?}");
    }
}
