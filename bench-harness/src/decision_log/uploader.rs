//! Takes events out of the buffer and sends them, chunk by chunk.

use std::cell::Cell;
use std::collections::VecDeque;
use std::fmt;
use std::fmt::Write as _;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use axum::body::Bytes;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt as _, SeedableRng as _};
use tokio::time::{Instant, sleep, sleep_until};

use super::chunk::{Chunk, ChunkEncoder};
use super::event::encode;
use super::event_buffer::{EventBuffer, Item};
use super::settings::{Settings, Trigger};
use super::size_buffer::SizeBuffer;
use super::{Buffer, Shared};
use crate::address::without_passwords;

/// The wait after failures grows from this.
const BACKOFF: Duration = Duration::from_millis(100);
/// By this factor with each.
const GROWTH: f64 = 1.6;
/// How far it is moved at random, up or down.
const JITTER: f64 = 0.2;

/// How long one upload may take, as OPA's `response_header_timeout_seconds`.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Why a chunk was not taken.
#[derive(Debug)]
pub struct Refused(pub String);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Where chunks are sent.
pub trait Transport {
    /// Sends one chunk; `Ok` when it was taken.
    fn send(&self, chunk: Bytes) -> impl Future<Output = Result<(), Refused>>;
}

/// Sends chunks over HTTP.
pub struct Http {
    client: reqwest::Client,
    url: reqwest::Url,
}

impl Http {
    /// Sends to `url`; without a path in it, to `/logs` there.
    ///
    /// # Errors
    /// When the URL is none, or not `http`.
    pub fn new(url: &str) -> Result<Self> {
        Ok(Self {
            client: reqwest::Client::builder()
                .no_proxy()
                // OPA does not follow one either: the logs would go to somebody else.
                .redirect(reqwest::redirect::Policy::none())
                .timeout(TIMEOUT)
                .build()?,
            url: logs_url(url)?,
        })
    }
}

/// Checks the URL of a decision-log server.
///
/// # Errors
/// When it is none, or not `http`.
pub fn logs_url(url: &str) -> Result<reqwest::Url> {
    let mut parsed = reqwest::Url::parse(url).with_context(|| {
        format!(
            "{:?} is no URL; write http://host:port/logs",
            without_passwords(url)
        )
    })?;
    if parsed.scheme() != "http" {
        bail!(
            "{}: only http is supported, TLS would be measured with it",
            without_passwords(url)
        );
    }
    if parsed.path() == "/" {
        parsed.set_path("/logs");
    }
    Ok(parsed)
}

impl Transport for Http {
    async fn send(&self, chunk: Bytes) -> Result<(), Refused> {
        let response = self
            .client
            .post(self.url.clone())
            .header("Content-Type", "application/json")
            .header("Content-Encoding", "gzip")
            .body(chunk)
            .send()
            .await
            .map_err(|error| Refused(with_causes(error)))?;
        let status = response.status();
        if status.is_success() {
            return Ok(());
        }
        let to = response.headers().get("location");
        Err(Refused(match to.filter(|_| status.is_redirection()) {
            Some(to) => format!(
                "status {status} to {}, which is not followed",
                without_passwords(&String::from_utf8_lossy(to.as_bytes()))
            ),
            None => format!("status {status}"),
        }))
    }
}

/// An error with all that led to it: the first alone says no more than that sending failed.
fn with_causes(error: reqwest::Error) -> String {
    let timed_out = error.is_timeout();
    // The address is the one on the command line, and may hold a password.
    let error = error.without_url();
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(&error);
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.ends_with(&more) {
            text.push_str(": ");
            text.push_str(&more);
        }
        cause = error.source();
    }
    if timed_out {
        // Writing to a string does not fail.
        let _ = write!(text, " (no answer within {TIMEOUT:?})");
    }
    text
}

/// The uploader's own state.
pub struct Uploader<T> {
    shared: Arc<Shared>,
    transport: T,
    encoder: ChunkEncoder,
    /// Taken from the buffer and not yet acknowledged.
    pending: VecDeque<Chunk>,
    random: ChaCha8Rng,
}

impl<T: Transport> Uploader<T> {
    /// An uploader for `shared`; its delays are drawn from `seed`.
    pub fn new(shared: Arc<Shared>, transport: T, seed: u64) -> Self {
        let encoder = ChunkEncoder::new(
            shared.settings.upload_size_limit_bytes,
            shared.settings.chunk_guess,
        );
        Self {
            shared,
            transport,
            encoder,
            pending: VecDeque::new(),
            random: ChaCha8Rng::seed_from_u64(seed),
        }
    }

    /// Uploads until told to stop, then sends what is left for at most `grace`.
    ///
    /// Returns the number of events it still holds: they count as buffered.
    ///
    /// # Errors
    /// When an event cannot be encoded.
    pub async fn run(mut self, grace: Duration) -> Result<u64> {
        let immediate = self.shared.settings.trigger == Trigger::Immediate;
        let mut failures = 0;
        // As in OPA the first upload does not wait.
        let mut delay = match self.shared.settings.trigger {
            Trigger::Manual => None,
            Trigger::Periodic | Trigger::Immediate => Some(Duration::ZERO),
        };
        loop {
            let flush = tokio::select! {
                biased;
                () = self.shared.stop.notified() => break,
                () = self.shared.wake.notified(), if immediate && failures == 0 => false,
                () = wait(delay) => true,
            };
            // An upload under way goes on when it is time to stop, but no longer than `grace`.
            let stopped = Cell::new(None);
            let shared = Arc::clone(&self.shared);
            let out_of_time = async {
                shared.stop.notified().await;
                stopped.set(Some(Instant::now()));
                sleep(grace).await;
            };
            let taken = tokio::select! {
                biased;
                taken = self.upload(flush) => taken?,
                // The chunk under way stays in `pending` and is counted there.
                () = out_of_time => {
                    self.cut_off(grace);
                    return Ok(self.held());
                }
            };
            if let Some(moment) = stopped.get() {
                self.flush(moment + grace, grace).await?;
                return Ok(self.held());
            }
            delay = self.delay(taken.last, failures);
            failures = if taken.last { 0 } else { failures + 1 };
        }
        self.flush(Instant::now() + grace, grace).await?;
        Ok(self.held())
    }

    /// How long to wait: the reporting delay, or the backoff after a failure that followed `failures`.
    fn delay(&mut self, taken: bool, failures: u32) -> Option<Duration> {
        let settings = &self.shared.settings;
        if !taken {
            Some(backoff(
                settings,
                failures,
                self.random.random_range(-1.0..=1.0),
            ))
        } else if settings.trigger == Trigger::Manual {
            None
        } else {
            let spread = settings.max_delay.saturating_sub(settings.min_delay);
            Some(settings.min_delay + spread.mul_f64(self.random.random()))
        }
    }

    /// Remembers that the server had not answered when time was up.
    fn cut_off(&self, grace: Duration) {
        if !self.pending.is_empty() {
            self.shared.note_refusal(&Refused(format!(
                "no answer before the end, {grace:?} after the last operation (-shutdown-grace)"
            )));
        }
    }

    async fn flush(&mut self, deadline: Instant, grace: Duration) -> Result<()> {
        let mut failures = 0;
        loop {
            // What is cut off at the deadline stays in `pending` and is counted there.
            match tokio::time::timeout_at(deadline, self.upload(true)).await {
                Ok(Ok(taken)) if taken.all => return Ok(()),
                Err(_) => {
                    self.cut_off(grace);
                    return Ok(());
                }
                Ok(Ok(_)) => {}
                Ok(Err(error)) => return Err(error),
            }
            let settings = &self.shared.settings;
            let wait = backoff(settings, failures, self.random.random_range(-1.0..=1.0));
            failures += 1;
            if Instant::now() + wait >= deadline {
                return Ok(());
            }
            sleep(wait).await;
        }
    }

    /// Sends what waits; with `flush` the open chunk too.
    async fn upload(&mut self, flush: bool) -> Result<Taken> {
        let shared = Arc::clone(&self.shared);
        match &shared.buffer {
            Buffer::Size(buffer) => self.upload_size(buffer, flush).await,
            Buffer::Event(buffer) => self.upload_events(buffer, flush).await,
        }
    }

    /// The first refusal ends it: the rest goes back untried.
    async fn upload_size(&mut self, buffer: &SizeBuffer, flush: bool) -> Result<Taken> {
        self.pending.extend(buffer.take(flush)?);
        while !self.pending.is_empty() {
            if let Some(refused) = self.send_next().await {
                self.requeue(buffer, refused)?;
                while let Some(chunk) = self.pending.pop_front() {
                    self.requeue(buffer, chunk)?;
                }
                return Ok(Taken::NONE);
            }
        }
        Ok(Taken::BOTH)
    }

    /// With a rate limit the events of a refused chunk pass it once more.
    fn requeue(&self, buffer: &SizeBuffer, chunk: Chunk) -> Result<()> {
        if self.shared.limiter.is_none() {
            buffer.requeue(chunk);
            return Ok(());
        }
        for event in chunk.decode()? {
            if self.shared.lets_in() {
                buffer.push_encoded(&encode(&event)?)?;
            } else {
                self.dropped_by_rate(1);
            }
        }
        Ok(())
    }

    /// All chunks are tried, whatever became of those before. Only what is
    /// sent last decides when to try again.
    async fn upload_events(&mut self, buffer: &EventBuffer, flush: bool) -> Result<Taken> {
        // What arrives meanwhile is for the next time.
        let waiting = buffer.len();
        let mut all = self.send_pending(buffer).await;
        for _ in 0..waiting {
            let Some(item) = buffer.pop() else { break };
            self.encode(item)?;
            all &= self.send_pending(buffer).await;
        }
        if !flush {
            return Ok(Taken { all, last: all });
        }
        let mut closed = Vec::new();
        let too_large = self.encoder.flush(&mut closed)?;
        self.count(too_large);
        self.pending.extend(closed);
        let last = self.send_pending(buffer).await;
        Ok(Taken {
            all: all && last,
            last,
        })
    }

    fn encode(&mut self, item: Item) -> Result<()> {
        match item {
            Item::Chunk(chunk) => self.pending.push_back(chunk),
            Item::Event(event) => {
                let text = encode(&event)?;
                let mut closed = Vec::new();
                let too_large = self.encoder.write(&text, &mut closed)?;
                self.count(too_large);
                self.pending.extend(closed);
            }
        }
        Ok(())
    }

    fn count(&self, too_large: u64) {
        let uploads = &self.shared.uploads;
        uploads.too_large.fetch_add(too_large, Ordering::Relaxed);
        let rescales = self.encoder.rescales();
        uploads.rescales.store(rescales, Ordering::Relaxed);
    }

    fn dropped_by_rate(&self, events: u64) {
        let uploads = &self.shared.uploads;
        uploads.dropped_by_rate.fetch_add(events, Ordering::Relaxed);
    }

    /// Sends the pending chunks in order, and queues those that are refused; whether all were taken.
    async fn send_pending(&mut self, buffer: &EventBuffer) -> bool {
        let mut all = true;
        while !self.pending.is_empty() {
            if let Some(refused) = self.send_next().await {
                all = false;
                // A chunk counts as one event here.
                if self.shared.lets_in() {
                    buffer.push(Item::Chunk(refused));
                } else {
                    self.dropped_by_rate(refused.events);
                }
            }
        }
        all
    }

    /// Sends the first pending chunk, and returns it when it was refused.
    ///
    /// Until it is answered it stays pending: time may be up before.
    async fn send_next(&mut self) -> Option<Chunk> {
        let bytes = self.pending.front()?.bytes.clone();
        let answer = self.transport.send(bytes).await;
        let chunk = self.pending.pop_front()?;
        let uploads = &self.shared.uploads;
        match answer {
            Ok(()) => {
                uploads.events.fetch_add(chunk.events, Ordering::Relaxed);
                uploads
                    .bytes
                    .fetch_add(chunk.bytes.len() as u64, Ordering::Relaxed);
                uploads.chunks.fetch_add(1, Ordering::Relaxed);
                None
            }
            Err(refused) => {
                uploads.refused.fetch_add(1, Ordering::Relaxed);
                self.shared.note_refusal(&refused);
                Some(chunk)
            }
        }
    }

    fn held(&self) -> u64 {
        let pending: u64 = self.pending.iter().map(|chunk| chunk.events).sum();
        pending + self.encoder.events()
    }
}

async fn wait(delay: Option<Duration>) {
    match delay {
        Some(delay) => sleep_until(Instant::now() + delay).await,
        None => std::future::pending().await,
    }
}

/// What became of an upload.
#[derive(Clone, Copy, Debug)]
struct Taken {
    /// Whether the server took all chunks.
    all: bool,
    /// Whether the wait until the next one is the usual one.
    last: bool,
}

impl Taken {
    const BOTH: Self = Self {
        all: true,
        last: true,
    };

    const NONE: Self = Self {
        all: false,
        last: false,
    };
}

/// Nothing after a first failure, then 160 ms, and 1.6 times as long after
/// each, up to the maximum delay; moved by up to a fifth so that many clients
/// do not return at once.
fn backoff(settings: &Settings, failures: u32, jitter: f64) -> Duration {
    if failures == 0 {
        return Duration::ZERO;
    }
    let exponent = i32::try_from(failures).unwrap_or(i32::MAX);
    let grown = BACKOFF.as_secs_f64() * GROWTH.powi(exponent);
    Duration::from_secs_f64(grown.min(settings.max_delay.as_secs_f64()) * (1.0 + JITTER * jitter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_after_failures_grows_up_to_the_maximum_delay() {
        let settings = Settings::parse("min_delay_seconds=1 max_delay_seconds=1", false).unwrap();
        let waits: Vec<u128> = (0..=6)
            .map(|failures| backoff(&settings, failures, 0.0).as_millis())
            .collect();
        assert_eq!(waits, [0, 160, 256, 409, 655, 1000, 1000]);
        assert_eq!(backoff(&settings, u32::MAX, 0.0).as_millis(), 1000);
        assert_eq!(backoff(&settings, 1, -1.0).as_millis(), 128);
        assert_eq!(backoff(&settings, 1, 1.0).as_millis(), 192);
    }

    #[test]
    fn a_url_without_a_path_means_logs() {
        assert_eq!(logs_url("http://127.0.0.1:8/").unwrap().path(), "/logs");
        assert_eq!(logs_url("http://127.0.0.1:8/a").unwrap().path(), "/a");
        assert!(logs_url("https://127.0.0.1/").is_err());
        assert!(logs_url("logs").is_err());
    }
}
