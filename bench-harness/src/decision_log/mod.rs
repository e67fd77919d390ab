//! Decision logs: from the request's thread into a buffer, from there to a server.

pub mod chunk;
pub mod event;
pub mod event_buffer;
pub mod settings;
pub mod size_buffer;
pub mod uploader;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use anyhow::{Context, Result};
use tokio::sync::Notify;
use uuid::Uuid;

use crate::engine::Engine;
use event::Event;
use event_buffer::{EventBuffer, Item};
use settings::{BufferType, Settings, Trigger};
use size_buffer::{Dropped, SizeBuffer};
use uploader::Refused;

/// Where events wait.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "there is one for each measurement"
)]
pub enum Buffer {
    /// Compressed.
    Size(SizeBuffer),
    /// As they are.
    Event(EventBuffer),
}

/// What the uploader did so far.
#[derive(Debug, Default)]
pub struct Uploads {
    /// Events taken by the server.
    pub events: AtomicU64,
    /// Compressed bytes taken by the server.
    pub bytes: AtomicU64,
    /// Chunks taken by the server.
    pub chunks: AtomicU64,
    /// Chunks refused, each time counted.
    pub refused: AtomicU64,
    /// Events the uploader found too large to send.
    pub too_large: AtomicU64,
    /// Events of refused chunks that the rate limit did not let in again.
    pub dropped_by_rate: AtomicU64,
    /// Chunks the uploader encoded again, since they came out too large.
    pub rescales: AtomicU64,
}

/// What all workers and the uploader share.
#[derive(Debug)]
pub struct Shared {
    /// As configured.
    pub settings: Settings,
    /// What tells this log's events from others'.
    pub process: Uuid,
    /// Where events wait.
    pub buffer: Buffer,
    /// What the uploader did.
    pub uploads: Uploads,
    limiter: Option<Mutex<TokenBucket>>,
    wake: Notify,
    stop: Notify,
    last_refusal: Mutex<Option<String>>,
    last_policy_error: Mutex<Option<String>>,
}

impl Shared {
    /// An empty log.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        let buffer = match settings.buffer_type {
            BufferType::Size => Buffer::Size(SizeBuffer::new(
                settings.buffer_size_limit_bytes,
                settings.upload_size_limit_bytes,
                settings.chunk_guess,
            )),
            BufferType::Event => Buffer::Event(EventBuffer::new(settings.buffer_size_limit_events)),
        };
        let limiter = settings
            .max_decisions_per_second
            .map(|rate| Mutex::new(TokenBucket::new(rate, Instant::now())));
        Self {
            settings,
            process: Uuid::new_v4(),
            buffer,
            uploads: Uploads::default(),
            limiter,
            wake: Notify::new(),
            stop: Notify::new(),
            last_refusal: Mutex::default(),
            last_policy_error: Mutex::default(),
        }
    }

    /// Tells the uploader to send what is left and to end.
    pub fn stop(&self) {
        self.stop.notify_one();
    }

    /// Returns once told to stop.
    pub async fn stopped(&self) {
        self.stop.notified().await;
    }

    /// What a full buffer and the upload limit cost so far.
    #[must_use]
    pub fn dropped(&self) -> Dropped {
        let mut dropped = match &self.buffer {
            Buffer::Size(buffer) => buffer.dropped(),
            Buffer::Event(buffer) => Dropped {
                buffer_full: buffer.dropped(),
                too_large: 0,
            },
        };
        dropped.too_large += self.uploads.too_large.load(Ordering::Relaxed);
        dropped
    }

    /// Events waiting in the buffer.
    #[must_use]
    pub fn buffered(&self) -> u64 {
        match &self.buffer {
            Buffer::Size(buffer) => buffer.events(),
            Buffer::Event(buffer) => buffer.events(),
        }
    }

    /// Chunks encoded again so far, since they came out too large.
    #[must_use]
    pub fn rescales(&self) -> u64 {
        let by_workers = match &self.buffer {
            Buffer::Size(buffer) => buffer.rescales(),
            Buffer::Event(_) => 0,
        };
        by_workers + self.uploads.rescales.load(Ordering::Relaxed)
    }

    /// Whether the rate limit lets an event in.
    fn lets_in(&self) -> bool {
        self.limiter.as_ref().is_none_or(|limiter| {
            limiter
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take(Instant::now())
        })
    }

    /// Why the last event was dropped by an error of the mask or drop policy, if one was.
    #[must_use]
    pub fn last_policy_error(&self) -> Option<String> {
        self.last_policy_error
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Why the last chunk was refused, if one was.
    #[must_use]
    pub fn last_refusal(&self) -> Option<String> {
        self.last_refusal
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn note_refusal(&self, refused: &Refused) {
        *self
            .last_refusal
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Some(refused.to_string());
    }
}

/// What a worker handed to the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// All events.
    pub accepted: u64,
    /// Of these, dropped by `system.log.drop`.
    pub dropped_by_policy: u64,
    /// Of these, dropped by `max_decisions_per_second`.
    pub dropped_by_rate: u64,
    /// Of these, dropped since the drop or mask policy failed.
    pub dropped_by_error: u64,
}

impl std::ops::AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.accepted += other.accepted;
        self.dropped_by_policy += other.dropped_by_policy;
        self.dropped_by_rate += other.dropped_by_rate;
        self.dropped_by_error += other.dropped_by_error;
    }
}

impl std::ops::Sub for Tally {
    type Output = Self;

    fn sub(self, earlier: Self) -> Self {
        Self {
            accepted: self.accepted - earlier.accepted,
            dropped_by_policy: self.dropped_by_policy - earlier.dropped_by_policy,
            dropped_by_rate: self.dropped_by_rate - earlier.dropped_by_rate,
            dropped_by_error: self.dropped_by_error - earlier.dropped_by_error,
        }
    }
}

/// A worker's way to the log.
pub struct Logger {
    shared: Arc<Shared>,
    tally: Tally,
    scratch: Vec<u8>,
}

impl Logger {
    /// A way to `shared` for one worker.
    #[must_use]
    pub fn new(shared: Arc<Shared>) -> Self {
        Self {
            shared,
            tally: Tally::default(),
            scratch: Vec::new(),
        }
    }

    /// What was handed over so far.
    #[must_use]
    pub fn tally(&self) -> Tally {
        self.tally
    }

    /// The `id` in the labels of all events.
    #[must_use]
    pub fn process(&self) -> Uuid {
        self.shared.process
    }

    /// The settings of the log.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.shared.settings
    }

    /// Logs an event: drops or masks it by policy, applies the rate limit,
    /// and puts it into the buffer. An event whose policy fails is dropped.
    ///
    /// # Errors
    /// When the event cannot be encoded.
    pub fn log(&mut self, mut event: Event, engine: &mut Engine) -> Result<()> {
        self.tally.accepted += 1;
        match apply_policies(&mut event, engine) {
            Ok(true) => {}
            Ok(false) => {
                self.tally.dropped_by_policy += 1;
                return Ok(());
            }
            Err(error) => {
                self.tally.dropped_by_error += 1;
                *self
                    .shared
                    .last_policy_error
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner) = Some(format!("{error:#}"));
                return Ok(());
            }
        }
        if !self.shared.lets_in() {
            self.tally.dropped_by_rate += 1;
            return Ok(());
        }
        let wake = match &self.shared.buffer {
            Buffer::Size(buffer) => buffer.push(&event, &mut self.scratch)?,
            Buffer::Event(buffer) => {
                buffer.push(Item::Event(Box::new(event)));
                true
            }
        };
        if wake && self.shared.settings.trigger == Trigger::Immediate {
            self.shared.wake.notify_one();
        }
        Ok(())
    }
}

/// Whether the event stays, and masks it.
fn apply_policies(event: &mut Event, engine: &mut Engine) -> Result<bool> {
    if !engine.has_log_policy() {
        return Ok(true);
    }
    let document = event.document()?;
    if engine
        .drops(document.clone())
        .context("evaluating system.log.drop")?
    {
        return Ok(false);
    }
    let rules = engine
        .mask(document)
        .context("evaluating system.log.mask")?;
    event.mask(&rules)?;
    Ok(true)
}

/// Lets through a number of events a second, and as many at once.
#[derive(Debug)]
struct TokenBucket {
    rate: f64,
    capacity: f64,
    tokens: f64,
    last: Instant,
}

impl TokenBucket {
    fn new(rate: f64, now: Instant) -> Self {
        let capacity = rate.max(1.0);
        Self {
            rate,
            capacity,
            tokens: capacity,
            last: now,
        }
    }

    fn take(&mut self, now: Instant) -> bool {
        let passed = now.saturating_duration_since(self.last).as_secs_f64();
        self.last = self.last.max(now);
        self.tokens = (self.tokens + passed * self.rate).min(self.capacity);
        let there = self.tokens >= 1.0;
        if there {
            self.tokens -= 1.0;
        }
        there
    }
}

/// Where every event went. All figures are events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// Handed to the log.
    pub tally: Tally,
    /// Taken by the server.
    pub uploaded: u64,
    /// Still waiting at the end.
    pub buffered: u64,
    /// Lost in the buffer or for their size.
    pub dropped: Dropped,
}

impl Account {
    /// All that were lost, whatever the reason.
    #[must_use]
    pub fn dropped_events(&self) -> u64 {
        self.tally.dropped_by_policy
            + self.tally.dropped_by_rate
            + self.tally.dropped_by_error
            + self.dropped.buffer_full
            + self.dropped.too_large
    }

    /// Checks accepted = uploaded + still buffered + dropped.
    ///
    /// # Errors
    /// With all four when they do not add up, or when not every operation was logged.
    pub fn check(&self, operations: u64) -> Result<()> {
        let accepted = self.tally.accepted;
        anyhow::ensure!(
            accepted == operations,
            "{operations} operations, but {accepted} events were handed to the decision log"
        );
        let dropped = self.dropped_events();
        anyhow::ensure!(
            accepted == self.uploaded + self.buffered + dropped,
            "the decision log does not add up: {accepted} accepted, {} uploaded + {} still \
             buffered + {dropped} dropped",
            self.uploaded,
            self.buffered
        );
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decision_log::event::tests::event;
    use crate::decision_log::settings::LogPolicy;
    use crate::decision_log::uploader::{Transport, Uploader};
    use crate::engine::{EngineKind, Value};
    use crate::policy::{Policy, PolicyFile};
    use axum::body::Bytes;
    use flate2::read::GzDecoder;
    use std::collections::BTreeSet;
    use std::time::Duration;
    use tokio::time::sleep;

    /// What the pretended server does.
    #[derive(Clone, Copy)]
    enum Server {
        Takes,
        Slow(Duration),
        FailsEveryOther,
        Dead,
    }

    #[derive(Default)]
    struct Taken {
        ids: Vec<u64>,
        largest: usize,
        calls: usize,
        times: Vec<tokio::time::Instant>,
    }

    #[derive(Clone)]
    struct Pretended {
        server: Server,
        taken: Arc<Mutex<Taken>>,
    }

    impl Transport for Pretended {
        async fn send(&self, chunk: Bytes) -> Result<(), Refused> {
            let call = {
                let mut taken = self.taken.lock().unwrap();
                taken.calls += 1;
                taken.times.push(tokio::time::Instant::now());
                taken.calls
            };
            match self.server {
                Server::Slow(delay) => sleep(delay).await,
                Server::FailsEveryOther if call % 2 == 0 => return Err(Refused("500".to_owned())),
                Server::Takes | Server::FailsEveryOther => {}
                Server::Dead => return Err(Refused("connection refused".to_owned())),
            }
            let events: Vec<serde_json::Value> =
                serde_json::from_reader(GzDecoder::new(&chunk[..])).unwrap();
            let mut taken = self.taken.lock().unwrap();
            taken.largest = taken.largest.max(chunk.len());
            taken.ids.extend(
                events
                    .iter()
                    .map(|event| event["decision_id"].as_u64().unwrap()),
            );
            Ok(())
        }
    }

    fn engine(log: &str) -> Engine {
        let mut policy = Policy::built_in("p.rego", "package envoy.authz\nallow = true");
        if !log.is_empty() {
            policy.files.push(PolicyFile {
                name: "log.rego".to_owned(),
                text: log.to_owned(),
            });
        }
        Engine::compile(EngineKind::Rvm, &policy, Some(LogPolicy::Present)).unwrap()
    }

    struct Run {
        account: Account,
        taken: Arc<Mutex<Taken>>,
        calls_before_stop: usize,
    }

    /// Logs `count` events, one a millisecond, then waits `idle` and stops.
    async fn run(
        settings: &str,
        server: Server,
        count: u64,
        idle: Duration,
        grace: Duration,
    ) -> Run {
        let shared = Arc::new(Shared::new(Settings::parse(settings, false).unwrap()));
        let taken = Arc::new(Mutex::new(Taken::default()));
        let transport = Pretended {
            server,
            taken: Arc::clone(&taken),
        };
        let uploader = Uploader::new(Arc::clone(&shared), transport, 1);
        let uploading = uploader.run(grace);
        let logging = async {
            let mut logger = Logger::new(Arc::clone(&shared));
            let mut engine = engine("");
            for number in 0..count {
                let mut event = event(r#"{"some": "input"}"#);
                event.decision_id = Value::from(number);
                logger.log(event, &mut engine).unwrap();
                sleep(Duration::from_millis(1)).await;
            }
            sleep(idle).await;
            let calls = taken.lock().unwrap().calls;
            shared.stop();
            (logger.tally(), calls)
        };
        let (held, (tally, calls_before_stop)) = tokio::join!(uploading, logging);
        let account = Account {
            tally,
            uploaded: shared.uploads.events.load(Ordering::Relaxed),
            buffered: shared.buffered() + held.unwrap(),
            dropped: shared.dropped(),
        };
        account.check(count).unwrap();
        let delivered: BTreeSet<u64> = taken.lock().unwrap().ids.iter().copied().collect();
        assert_eq!(delivered.len() as u64, account.uploaded);
        Run {
            account,
            taken,
            calls_before_stop,
        }
    }

    const QUICK: &str = " min_delay_seconds=0.05 max_delay_seconds=0.1";
    const BUFFERS: [&str; 2] = ["buffer_type=size", "buffer_type=event"];
    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn a_server_that_takes_everything_gets_everything_in_order() {
        for buffer in BUFFERS {
            let run = run(
                &format!("{buffer}{QUICK}"),
                Server::Takes,
                500,
                SECOND,
                SECOND,
            )
            .await;
            assert_eq!(run.account.uploaded, 500);
            assert!(run.taken.lock().unwrap().ids.is_sorted());
            assert!(run.calls_before_stop >= 5, "{}", run.calls_before_stop);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_fails_every_other_upload_loses_nothing() {
        for buffer in BUFFERS {
            let run = run(
                &format!("{buffer}{QUICK}"),
                Server::FailsEveryOther,
                500,
                SECOND,
                SECOND,
            )
            .await;
            assert_eq!(run.account.uploaded, 500);
            assert_eq!(run.account.dropped_events(), 0);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_server_with_a_small_buffer_drops_and_counts() {
        let slow = Server::Slow(Duration::from_millis(400));
        let small = format!("buffer_type=event buffer_size_limit_events=50{QUICK}");
        let event = run(&small, slow, 2_000, SECOND, SECOND).await;
        assert!(
            event.account.dropped.buffer_full > 250,
            "{:?}",
            event.account
        );
        let small = format!("buffer_size_limit_bytes=3000 upload_size_limit_bytes=1000{QUICK}");
        let size = run(&small, slow, 2_000, SECOND, SECOND).await;
        assert!(size.account.dropped.buffer_full > 50, "{:?}", size.account);
    }

    #[tokio::test(start_paused = true)]
    async fn a_dead_server_leaves_everything_buffered_or_dropped() {
        for (settings, dropped) in [
            (format!("buffer_type=size{QUICK}"), false),
            (format!("buffer_type=event{QUICK}"), false),
            (
                format!("buffer_type=event buffer_size_limit_events=10{QUICK}"),
                true,
            ),
        ] {
            let run = run(&settings, Server::Dead, 500, SECOND, SECOND).await;
            assert_eq!(run.account.uploaded, 0);
            assert_eq!(run.account.dropped_events() > 0, dropped, "{settings}");
            assert!(run.account.buffered > 0);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_never_answers_is_cut_off_and_its_chunk_stays_buffered() {
        for buffer in BUFFERS {
            let stuck = Server::Slow(Duration::from_secs(3600));
            let started = tokio::time::Instant::now();
            let run = run(buffer, stuck, 100, SECOND, SECOND).await;
            assert_eq!(run.account.buffered, 100);
            assert!(started.elapsed() < 4 * SECOND);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_upload_under_way_at_the_end_may_take_the_grace_and_no_longer() {
        for buffer in BUFFERS {
            let settings = format!("{buffer} upload_size_limit_bytes=300{QUICK}");
            for (slow, all) in [(100, true), (60_000, false)] {
                let server = Server::Slow(Duration::from_millis(slow));
                let started = tokio::time::Instant::now();
                let run = run(&settings, server, 50, Duration::ZERO, 10 * SECOND).await;
                assert!(started.elapsed() < 11 * SECOND, "{:?}", started.elapsed());
                assert_eq!(run.account.buffered == 0, all, "{:?}", run.account);
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_left_is_sent_at_the_end() {
        for buffer in BUFFERS {
            for trigger in ["periodic", "manual", "immediate"] {
                let settings = format!("{buffer} trigger={trigger}");
                let run = run(&settings, Server::Takes, 100, SECOND, SECOND).await;
                assert_eq!(run.calls_before_stop, 0, "{settings}");
                assert_eq!(run.account.uploaded, 100, "{settings}");
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn immediately_means_when_a_chunk_is_full() {
        for buffer in BUFFERS {
            let settings = format!("{buffer} trigger=immediate upload_size_limit_bytes=1000");
            let run = run(&settings, Server::Takes, 500, Duration::ZERO, SECOND).await;
            assert!(
                run.calls_before_stop > 3,
                "{settings}: {}",
                run.calls_before_stop
            );
            assert!(run.taken.lock().unwrap().largest <= 1_000);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_first_upload_comes_at_once_and_the_waits_after_failures_grow() {
        let settings = "min_delay_seconds=1 max_delay_seconds=10";
        let run = run(settings, Server::Dead, 1, 60 * SECOND, Duration::ZERO).await;
        let taken = run.taken.lock().unwrap();
        let waits: Vec<f64> = taken
            .times
            .windows(2)
            .map(|pair| (pair[1] - pair[0]).as_secs_f64())
            .collect();
        assert!(waits.len() >= 6, "{waits:?}");
        assert!(waits[0] < 0.01, "{waits:?}");
        for (index, wait) in waits.iter().skip(1).take(5).enumerate() {
            let expected = 0.16 * 1.6_f64.powf(index as f64);
            // A timer has whole milliseconds.
            let (least, most) = (expected * 0.8 - 0.002, expected * 1.2 + 0.002);
            assert!((least..=most).contains(wait), "{waits:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn after_a_refusal_the_event_buffer_tries_the_next_chunk_and_the_size_buffer_does_not() {
        // Many chunks wait when the only upload comes, at the end and without time for another.
        for (buffer, all) in [(BUFFERS[0], false), (BUFFERS[1], true)] {
            let settings = format!("{buffer} upload_size_limit_bytes=1000 trigger=manual");
            let grace = Duration::from_millis(1);
            let run = run(&settings, Server::Dead, 500, SECOND, grace).await;
            let calls = run.taken.lock().unwrap().calls;
            assert_eq!(calls > 10, all, "{buffer}: {calls}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_refused_passes_the_rate_limit_once_more() {
        for buffer in BUFFERS {
            let settings = format!("{buffer}{QUICK} max_decisions_per_second=1");
            let run = run(&settings, Server::FailsEveryOther, 300, SECOND, SECOND).await;
            // The clock of the limit is the real one, which hardly moves here: after the first hardly any passes.
            assert!(
                run.account.tally.dropped_by_rate >= 200,
                "{:?}",
                run.account
            );
        }
    }

    #[test]
    fn a_policy_that_fails_drops_the_event_and_says_why() {
        for log in [
            "package system.log\nmask contains \"/labels\"",
            "package system.log\nmask contains 1",
            "package system.log\nmask = 1",
        ] {
            let settings = Settings::parse("", false).unwrap();
            let shared = Arc::new(Shared::new(settings));
            let mut logger = Logger::new(Arc::clone(&shared));
            logger.log(event("{}"), &mut engine(log)).unwrap();
            assert_eq!(logger.tally().dropped_by_error, 1, "{log}");
            assert_eq!(shared.buffered(), 0);
            let error = shared.last_policy_error().unwrap();
            assert!(error.contains("mask") || error.contains("drop"), "{error}");
        }
    }

    #[test]
    fn the_rate_limit_lets_through_its_rate() {
        let start = Instant::now();
        let mut bucket = TokenBucket::new(100.0, start);
        let taken = (0..10_000)
            .filter(|millisecond| bucket.take(start + Duration::from_millis(*millisecond)))
            .count();
        // A full bucket at the start, then 100 a second for ten seconds.
        assert!((1_090..=1_101).contains(&taken), "{taken}");
    }

    #[test]
    fn events_over_the_rate_are_dropped_and_counted() {
        let settings = Settings::parse("max_decisions_per_second=5", false).unwrap();
        let shared = Arc::new(Shared::new(settings));
        let mut logger = Logger::new(Arc::clone(&shared));
        let mut engine = engine("");
        for _ in 0..100 {
            logger.log(event("{}"), &mut engine).unwrap();
        }
        let tally = logger.tally();
        assert_eq!(tally.accepted, 100);
        assert!(tally.dropped_by_rate >= 90);
        assert_eq!(shared.buffered(), 100 - tally.dropped_by_rate);
    }

    #[test]
    fn the_drop_policy_drops_and_the_mask_policy_masks() {
        let log = "package system.log\ndrop if input.input.n == 1\nmask contains \"/input/secret\"";
        let shared = Arc::new(Shared::new(
            Settings::parse("buffer_type=event", false).unwrap(),
        ));
        let mut logger = Logger::new(Arc::clone(&shared));
        let mut engine = engine(log);
        logger.log(event(r#"{"n": 1}"#), &mut engine).unwrap();
        logger
            .log(event(r#"{"n": 2, "secret": "s"}"#), &mut engine)
            .unwrap();
        assert_eq!(logger.tally().dropped_by_policy, 1);
        let Buffer::Event(buffer) = &shared.buffer else {
            unreachable!()
        };
        let Some(Item::Event(event)) = buffer.pop() else {
            unreachable!()
        };
        let event = serde_json::to_value(&event).unwrap();
        assert_eq!(event["input"], serde_json::json!({"n": 2}));
        assert_eq!(event["erased"], serde_json::json!(["/input/secret"]));
    }

    #[test]
    fn an_account_that_does_not_add_up_says_so() {
        let mut account = Account::default();
        account.tally.accepted = 10;
        account.uploaded = 4;
        account.buffered = 5;
        let message = account.check(10).unwrap_err().to_string();
        assert!(message.contains("10 accepted, 4 uploaded + 5 still buffered + 0 dropped"));
        account.dropped.buffer_full = 1;
        account.check(10).unwrap();
        assert!(account.check(11).is_err());
    }
}
