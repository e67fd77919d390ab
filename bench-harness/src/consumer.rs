//! A decision-log server on the loopback interface that checks what it takes.

use std::collections::HashSet;
use std::io::Read as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use flate2::bufread::GzDecoder;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::sync::oneshot;

/// The largest chunk it takes.
const LARGEST: usize = 64 << 20;

/// How it behaves.
#[derive(Clone, Copy, Debug, Default)]
pub struct Behaviour {
    /// Waits this long before it answers.
    pub delay: Duration,
    /// Refuses every n-th upload with status 500; 0 for none.
    pub fail_every: u64,
}

/// What it took.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Uploads taken.
    pub uploads: u64,
    /// Uploads refused because it was told to.
    pub refused: u64,
    /// Events in the uploads taken.
    pub events: u64,
    /// Events taken more than once.
    pub repeated: u64,
    /// The first upload that was not as it should be.
    pub malformed: Option<String>,
}

#[derive(Default)]
struct Inner {
    counts: Counts,
    seen: HashSet<Box<str>>,
    calls: u64,
}

#[derive(Clone)]
struct Shared {
    behaviour: Behaviour,
    inner: Arc<Mutex<Inner>>,
}

/// A running consumer.
pub struct Consumer {
    address: SocketAddr,
    inner: Arc<Mutex<Inner>>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Consumer {
    /// Listens on a free port of 127.0.0.1, on a thread of its own.
    ///
    /// # Errors
    /// When it cannot listen.
    pub fn start(behaviour: Behaviour) -> Result<Self> {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .context("listening on 127.0.0.1")?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let inner = Arc::new(Mutex::new(Inner::default()));
        let shared = Shared {
            behaviour,
            inner: Arc::clone(&inner),
        };
        let (stop, stopped) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let thread = std::thread::Builder::new()
            .name("consumer".to_owned())
            .spawn(move || {
                runtime.block_on(async move {
                    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else {
                        return;
                    };
                    let router = Router::new()
                        .route("/logs", post(take))
                        .layer(DefaultBodyLimit::max(LARGEST))
                        .with_state(shared);
                    // Ends when told to, connections that stay open or not.
                    tokio::select! {
                        _ = axum::serve(listener, router) => {}
                        _ = stopped => {}
                    }
                });
            })?;
        Ok(Self {
            address,
            inner,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    /// Where it listens.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/logs", self.address)
    }

    /// What it took so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.inner
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .counts
            .clone()
    }
}

impl Drop for Consumer {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

async fn take(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> StatusCode {
    if !shared.behaviour.delay.is_zero() {
        tokio::time::sleep(shared.behaviour.delay).await;
    }
    let mut inner = shared.inner.lock().unwrap_or_else(PoisonError::into_inner);
    inner.calls += 1;
    let every = shared.behaviour.fail_every;
    if every > 0 && inner.calls.is_multiple_of(every) {
        inner.counts.refused += 1;
        return StatusCode::INTERNAL_SERVER_ERROR;
    }
    let encoding = headers.get("content-encoding").map(AsRef::as_ref);
    let ids = if encoding == Some(b"gzip".as_slice()) {
        decode(&body)
    } else {
        Err(anyhow!("the content encoding is not gzip"))
    };
    match ids {
        Ok(ids) => {
            inner.counts.uploads += 1;
            inner.counts.events += ids.len() as u64;
            for id in ids {
                if !inner.seen.insert(id) {
                    inner.counts.repeated += 1;
                }
            }
            StatusCode::OK
        }
        Err(error) => {
            inner
                .counts
                .malformed
                .get_or_insert_with(|| format!("{error:#}"));
            StatusCode::BAD_REQUEST
        }
    }
}

/// The members an event must have.
#[derive(Deserialize)]
struct Logged<'a> {
    #[serde(borrow, rename = "labels")]
    _labels: &'a RawValue,
    decision_id: Box<str>,
    #[serde(rename = "path")]
    _path: Box<str>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    #[serde(default)]
    erased: Vec<Box<str>>,
    timestamp: Box<str>,
    #[serde(borrow, rename = "metrics")]
    _metrics: &'a RawValue,
}

/// Checks a chunk and gives the identifiers of its events.
///
/// # Errors
/// When it is not one gzip member with one JSON array of events.
pub fn decode(chunk: &[u8]) -> Result<Vec<Box<str>>> {
    let mut rest = chunk;
    let mut text = Vec::new();
    GzDecoder::new(&mut rest)
        .read_to_end(&mut text)
        .context("not gzip")?;
    anyhow::ensure!(
        rest.is_empty(),
        "{} bytes after the gzip member",
        rest.len()
    );
    let events: Vec<Logged> = serde_json::from_slice(&text).context("not an array of events")?;
    events
        .into_iter()
        .map(|event| {
            let id = &event.decision_id;
            let masked = event.erased.iter().any(|path| &**path == "/result");
            anyhow::ensure!(
                event.result.is_some() || event.error.is_some() || masked,
                "the event {id} has neither a result nor an error"
            );
            anyhow::ensure!(
                event.timestamp.parse::<jiff::Timestamp>().is_ok(),
                "the event {id} has the timestamp {:?}",
                event.timestamp
            );
            Ok(event.decision_id)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decision_log::chunk::ChunkEncoder;
    use crate::decision_log::event::{encode, tests::event};
    use crate::decision_log::settings::ChunkGuess;
    use crate::decision_log::uploader::{Http, Transport as _};
    use crate::engine::Value;

    fn chunk(first: u32, count: u32) -> Bytes {
        let mut encoder = ChunkEncoder::new(1 << 20, ChunkGuess::Opa);
        let mut closed = Vec::new();
        for number in first..first + count {
            let mut event = event(r#"{"a": "b"}"#);
            event.decision_id = Value::from(format!("id-{number}"));
            let text = encode(&event).unwrap();
            encoder.write(&text, &mut closed).unwrap();
        }
        encoder.flush(&mut closed).unwrap();
        closed.remove(0).bytes
    }

    fn send(consumer: &Consumer, chunks: &[Bytes]) -> Vec<bool> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let http = Http::new(&consumer.url()).unwrap();
            let mut taken = Vec::new();
            for chunk in chunks {
                taken.push(http.send(chunk.clone()).await.is_ok());
            }
            taken
        })
    }

    #[test]
    fn it_counts_the_events_it_takes_over_http() {
        let consumer = Consumer::start(Behaviour::default()).unwrap();
        assert_eq!(send(&consumer, &[chunk(0, 5), chunk(5, 7)]), [true, true]);
        let counts = consumer.counts();
        assert_eq!((counts.uploads, counts.events, counts.repeated), (2, 12, 0));
        assert_eq!(counts.malformed, None);
    }

    #[test]
    fn it_refuses_as_told_and_counts_nothing_of_that() {
        let behaviour = Behaviour {
            fail_every: 2,
            delay: Duration::from_millis(1),
        };
        let consumer = Consumer::start(behaviour).unwrap();
        let chunks = [chunk(0, 1), chunk(1, 1), chunk(1, 1)];
        assert_eq!(send(&consumer, &chunks), [true, false, true]);
        let counts = consumer.counts();
        assert_eq!((counts.uploads, counts.refused, counts.events), (2, 1, 2));
    }

    #[test]
    fn it_notices_events_that_come_twice_and_chunks_that_are_none() {
        let consumer = Consumer::start(Behaviour::default()).unwrap();
        let mut broken = chunk(9, 1).to_vec();
        broken.push(0);
        let chunks = [chunk(0, 2), chunk(1, 2), broken.into()];
        assert_eq!(send(&consumer, &chunks), [true, true, false]);
        let counts = consumer.counts();
        assert_eq!((counts.events, counts.repeated), (4, 1));
        assert_eq!(
            counts.malformed.as_deref(),
            Some("1 bytes after the gzip member")
        );
    }
}
