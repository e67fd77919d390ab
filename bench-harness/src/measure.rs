//! One measurement: workers, decision log, uploader and consumer, from start to account.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};
use hdrhistogram::Histogram;

use crate::allocation::{Allocations, Counter, Reader};
use crate::consumer::{Behaviour, Consumer, Counts};
use crate::decision_log::settings::Settings;
use crate::decision_log::uploader::{Http, Uploader};
use crate::decision_log::{Account, Logger, Shared, Tally};
use crate::engine::EngineKind;
use crate::filter::{Authorize, EmptyFilter, Filter, check};
use crate::latency::histogram;
use crate::load::{self, Arrival, Budget, Measured, Place, Share, StartLine};
use crate::rego_text::STACK;
use crate::scenario::Scenario;

/// Where decision logs go.
#[derive(Clone, Debug)]
pub enum Server {
    /// Nowhere: everything stays in the buffer, or is dropped there.
    None,
    /// A consumer on loopback, started for each measurement.
    Consumer(Behaviour),
    /// Somebody's server.
    Url(String),
}

/// What all measurements of a run have in common.
#[derive(Clone, Debug)]
pub struct Conditions {
    /// How policies are evaluated.
    pub engine: EngineKind,
    /// How much is measured.
    pub budget: Budget,
    /// How long before that nothing is.
    pub warm_up: Duration,
    /// Closed or open loop.
    pub arrival: Arrival,
    /// Where decision logs go.
    pub server: Server,
    /// How long they may take to get there at the end.
    pub grace: Duration,
    /// The longest body that is read, in bytes.
    pub body_limit: usize,
    /// Draws the uploader's delays.
    pub seed: u64,
}

/// What is measured.
#[derive(Clone, Copy, Debug)]
pub struct Case<'a> {
    /// Policy and requests.
    pub scenario: &'a Scenario,
    /// With decision logs, under these settings.
    pub log: Option<&'a Settings>,
    /// Leaves the filter out: what remains is the harness.
    pub empty: bool,
    /// Threads that decide.
    pub workers: u32,
}

/// What came out.
pub struct Measurement {
    /// Of all workers.
    pub operations: u64,
    /// Whether the loop was an open one.
    pub open: bool,
    /// From the first worker's start to the last one's end.
    pub wall: Duration,
    /// Of each operation, in nanoseconds.
    pub latencies: Histogram<u64>,
    /// Of the workers and the uploader while the workers ran.
    pub allocations: Allocations,
    /// Nanoseconds spent on signatures of tokens, over all workers.
    pub signatures: u64,
    /// With decision logs only.
    pub log: Option<LogFigures>,
}

impl fmt::Debug for Measurement {
    /// Without the histogram's thousands of buckets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Measurement")
            .field("operations", &self.operations)
            .field("wall", &self.wall)
            .field("log", &self.log)
            .finish_non_exhaustive()
    }
}

/// What the decision log did while the workers ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogFigures {
    /// Events dropped for any reason.
    pub dropped: u64,
    /// Chunks decoded and encoded again, since they came out too large.
    pub rescales: u64,
    /// Compressed bytes a server took.
    pub upload_bytes: u64,
    /// The uploader's share of the allocations.
    pub uploader: Allocations,
}

/// Where all events of a measurement went, warm-up included.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// What the log says.
    pub account: Account,
    /// What the consumer says, if there was one.
    pub consumer: Option<Counts>,
    /// Uploads taken and refused, as the uploader counts them.
    pub uploads: (u64, u64),
    /// Why the last upload was refused.
    pub refusal: Option<String>,
    /// Why the drop or mask policy failed last.
    pub policy_error: Option<String>,
    /// Whether there was a server to send to.
    pub has_server: bool,
    /// Events of refused chunks that the rate limit did not let in again.
    pub requeued_over_rate: u64,
}

/// Measures one case. `tick` is called a few times a second meanwhile.
/// Nothing comes back when `stop` was set before the end.
///
/// # Errors
/// When a policy does not compile, a decision is wrong, or the events do not add up.
pub fn measure(
    case: &Case<'_>,
    conditions: &Conditions,
    stop: &AtomicBool,
    tick: &mut dyn FnMut(),
) -> Result<Option<(Measurement, Option<Ledger>)>> {
    let log = case
        .log
        .map(|settings| Log::start(settings.clone(), conditions))
        .transpose()?;
    let ended = AtomicBool::new(false);
    let start = StartLine::new(case.workers);
    let mut parts = Vec::new();
    let mut before = LogFigures::default();
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..case.workers)
            .map(|worker| {
                let (log, ended) = (log.as_ref(), &ended);
                // Taken before the thread starts: where it cannot start, the others must not wait for it.
                let place = start.place(ended);
                std::thread::Builder::new()
                    .stack_size(STACK)
                    .spawn_scoped(scope, move || {
                        let part = work(case, conditions, worker, log, ended, place);
                        if part.is_err() {
                            ended.store(true, Ordering::Relaxed);
                        }
                        part
                    })
            })
            .collect();
        // Compiling and warming up may be interrupted as well, so look until all are there.
        let starter = scope.spawn(|| start.start(|| log.as_ref().map(Log::figures)));
        let mut watch = |done: &dyn Fn() -> bool| {
            let mut turn = 0_u32;
            while !done() {
                std::thread::sleep(Duration::from_millis(5));
                if stop.load(Ordering::Relaxed) {
                    ended.store(true, Ordering::Relaxed);
                }
                if turn.is_multiple_of(40) {
                    tick();
                }
                turn += 1;
            }
        };
        watch(&|| starter.is_finished());
        if let Ok(Some(figures)) = starter.join() {
            before = figures;
        }
        watch(&|| {
            let mut running = workers.iter().flatten();
            running.all(std::thread::ScopedJoinHandle::is_finished)
        });
        for worker in workers {
            parts.push(match worker {
                Ok(worker) => worker
                    .join()
                    .unwrap_or_else(|_| Err(anyhow!("a worker panicked"))),
                Err(error) => Err(anyhow!("starting a worker: {error}")),
            });
        }
    });
    let after = log.as_ref().map(Log::figures);
    let parts = parts.into_iter().collect::<Result<Vec<Part>>>();
    // The consumer and the uploader end in any case.
    let (parts, ledger) = match (parts, log) {
        (parts, None) => (parts?, None),
        (Err(error), Some(log)) => {
            let _ = log.finish(Tally::default());
            return Err(error);
        }
        (Ok(parts), Some(log)) => {
            let mut tally = Tally::default();
            let mut operations = 0;
            for part in &parts {
                tally += part.tally.1;
                operations += part.all_operations;
            }
            let ledger = log.finish(tally)?;
            ledger.check(operations)?;
            (parts, Some(ledger))
        }
    };
    if stop.load(Ordering::Relaxed) {
        return Ok(None);
    }
    let log_figures = after.map(|after| since(before, after, ledger.as_ref(), &parts));
    let open = matches!(conditions.arrival, Arrival::Open(_));
    let signatures = parts.iter().map(|part| part.signatures).sum();
    let mut measurement = combine(
        parts.into_iter().map(|part| part.measured),
        log_figures,
        open,
    )?;
    measurement.signatures = signatures;
    Ok(Some((measurement, ledger)))
}

/// What the log did between two looks at it. Dropped events are counted to the very end: what
/// was logged while measuring may be lost when the rest is sent.
fn since(
    before: LogFigures,
    after: LogFigures,
    ledger: Option<&Ledger>,
    parts: &[Part],
) -> LogFigures {
    let lost = ledger.map_or(after.dropped, |ledger| {
        let dropped = &ledger.account.dropped;
        dropped.buffer_full + dropped.too_large + ledger.requeued_over_rate
    });
    let mut dropped = lost - before.dropped;
    for part in parts {
        let tally = part.tally.1 - part.tally.0;
        dropped += tally.dropped_by_policy + tally.dropped_by_rate + tally.dropped_by_error;
    }
    LogFigures {
        dropped,
        rescales: after.rescales - before.rescales,
        upload_bytes: after.upload_bytes - before.upload_bytes,
        uploader: after.uploader - before.uploader,
    }
}

fn combine(
    parts: impl Iterator<Item = Measured>,
    log: Option<LogFigures>,
    open: bool,
) -> Result<Measurement> {
    let mut latencies = histogram()?;
    let mut allocations = log.map_or_else(Allocations::default, |log| log.uploader);
    let mut span: Option<(Instant, Instant)> = None;
    let mut operations = 0;
    for part in parts {
        latencies
            .add(&part.latencies)
            .map_err(|error| anyhow!("{error}"))?;
        allocations += part.allocations;
        operations += part.operations;
        span = Some(span.map_or((part.started, part.ended), |(started, ended)| {
            (started.min(part.started), ended.max(part.ended))
        }));
    }
    let (started, ended) = span.context("no worker")?;
    ensure!(operations > 0, "no operation was done; raise -benchtime");
    Ok(Measurement {
        operations,
        open,
        wall: ended - started,
        latencies,
        allocations,
        signatures: 0,
        log,
    })
}

/// What a worker brings back.
struct Part {
    measured: Measured,
    /// Before and after measuring.
    tally: (Tally, Tally),
    /// Nanoseconds spent on signatures while measuring.
    signatures: u64,
    /// Warm-up included.
    all_operations: u64,
}

fn work(
    case: &Case<'_>,
    conditions: &Conditions,
    worker: u32,
    log: Option<&Log>,
    ended: &AtomicBool,
    place: Place<'_>,
) -> Result<Part> {
    let counter = Counter::start();
    let requests = &case.scenario.requests;
    let share = Share {
        requests,
        first: requests.len() * worker as usize / case.workers as usize,
        worker,
        workers: case.workers,
        budget: Share::budget_of(conditions.budget, worker, case.workers),
        stop: ended,
    };
    if case.empty {
        return go(
            &mut EmptyFilter,
            conditions,
            &share,
            &counter,
            place,
            &|_| (Tally::default(), 0),
        );
    }
    let logger = log.map(|log| Logger::new(Arc::clone(&log.shared)));
    let mut filter = Filter::new(
        conditions.engine,
        &case.scenario.policy,
        logger,
        conditions.body_limit,
    )?;
    go(
        &mut filter,
        conditions,
        &share,
        &counter,
        place,
        &|filter| {
            let tally = filter.logger().map(Logger::tally).unwrap_or_default();
            (tally, filter.signatures())
        },
    )
}

fn go<F: Authorize>(
    filter: &mut F,
    conditions: &Conditions,
    share: &Share<'_>,
    counter: &Counter,
    place: Place<'_>,
    look: &dyn Fn(&F) -> (Tally, u64),
) -> Result<Part> {
    let warmed_up = load::warm_up(filter, share, conditions.warm_up, conditions.arrival)?;
    let before = look(filter);
    let measured = match conditions.arrival {
        Arrival::Closed => load::closed_loop(filter, share, counter, place),
        Arrival::Open(rate) => {
            let clock = load::MachineClock::new();
            load::open_loop(filter, share, counter, place, rate, &clock)
        }
    }?;
    let after = look(filter);
    Ok(Part {
        all_operations: warmed_up + measured.operations,
        measured,
        tally: (before.0, after.0),
        signatures: after.1 - before.1,
    })
}

/// Decides every request once, without measuring.
///
/// # Errors
/// With the first request that fails or is not decided as expected.
pub fn rehearse(scenario: &Scenario, engine: EngineKind, body_limit: usize) -> Result<()> {
    let mut filter = Filter::new(engine, &scenario.policy, None, body_limit)?;
    for request in &scenario.requests {
        let decision = filter
            .authorize(request)
            .with_context(|| request.origin.clone())?;
        check(request, &decision)?;
    }
    Ok(())
}

/// A running decision log.
struct Log {
    shared: Arc<Shared>,
    uploader: JoinHandle<Result<u64>>,
    allocations: Reader,
    consumer: Option<Consumer>,
    has_server: bool,
}

impl Log {
    fn start(settings: Settings, conditions: &Conditions) -> Result<Self> {
        let shared = Arc::new(Shared::new(settings));
        let consumer = match &conditions.server {
            Server::Consumer(behaviour) => Some(Consumer::start(*behaviour)?),
            Server::None | Server::Url(_) => None,
        };
        let url = match &conditions.server {
            Server::Url(url) => Some(url.clone()),
            _ => consumer.as_ref().map(Consumer::url),
        };
        let (grace, seed) = (conditions.grace, conditions.seed);
        let has_server = url.is_some();
        let (ready, started) = mpsc::channel();
        let for_uploader = Arc::clone(&shared);
        let uploader = std::thread::Builder::new()
            .name("uploader".to_owned())
            .spawn(move || {
                let counter = Counter::start();
                // Whoever waits for the reader fails if this does.
                let _ = ready.send(counter.reader());
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .enable_all()
                    .build()?;
                runtime.block_on(async {
                    if let Some(url) = url {
                        let http = Http::new(&url)?;
                        return Uploader::new(for_uploader, http, seed).run(grace).await;
                    }
                    // All stays in the buffer: nothing is encoded for nobody.
                    for_uploader.stopped().await;
                    Ok(0)
                })
            })?;
        Ok(Self {
            shared,
            uploader,
            allocations: started.recv().context("the uploader did not start")?,
            consumer,
            has_server,
        })
    }

    /// All so far, without what workers dropped before the buffer.
    fn figures(&self) -> LogFigures {
        let dropped = self.shared.dropped();
        let uploads = &self.shared.uploads;
        LogFigures {
            dropped: dropped.buffer_full
                + dropped.too_large
                + uploads.dropped_by_rate.load(Ordering::Relaxed),
            rescales: self.shared.rescales(),
            upload_bytes: uploads.bytes.load(Ordering::Relaxed),
            uploader: self.allocations.read(),
        }
    }

    fn finish(self, mut tally: Tally) -> Result<Ledger> {
        self.shared.stop();
        let held = self
            .uploader
            .join()
            .map_err(|_| anyhow!("the uploader panicked"))??;
        let uploads = &self.shared.uploads;
        let requeued_over_rate = uploads.dropped_by_rate.load(Ordering::Relaxed);
        tally.dropped_by_rate += requeued_over_rate;
        Ok(Ledger {
            requeued_over_rate,
            policy_error: self.shared.last_policy_error(),
            account: Account {
                tally,
                uploaded: uploads.events.load(Ordering::Relaxed),
                buffered: self.shared.buffered() + held,
                dropped: self.shared.dropped(),
            },
            uploads: (
                uploads.chunks.load(Ordering::Relaxed),
                uploads.refused.load(Ordering::Relaxed),
            ),
            refusal: self.shared.last_refusal(),
            consumer: self.consumer.map(|consumer| consumer.counts()),
            has_server: self.has_server,
        })
    }
}

impl Ledger {
    /// Checks that every event is accounted for, and that the consumer has
    /// what it is said to have.
    ///
    /// # Errors
    /// With the figures that do not fit.
    pub fn check(&self, operations: u64) -> Result<()> {
        self.account.check(operations)?;
        if let Some(consumer) = &self.consumer {
            if let Some(malformed) = &consumer.malformed {
                return Err(anyhow!(
                    "the consumer got a chunk that is none: {malformed}"
                ));
            }
            // An upload cut off at the end may have arrived without the
            // uploader knowing; the other way round is a loss.
            let distinct = consumer.events - consumer.repeated;
            ensure!(
                distinct >= self.account.uploaded,
                "{} events count as uploaded, but the consumer has {distinct}",
                self.account.uploaded
            );
        }
        Ok(())
    }

    /// Adds another measurement's.
    pub fn add(&mut self, other: &Self) {
        let (sum, part) = (&mut self.account, &other.account);
        sum.tally += part.tally;
        sum.uploaded += part.uploaded;
        sum.buffered += part.buffered;
        sum.dropped.buffer_full += part.dropped.buffer_full;
        sum.dropped.too_large += part.dropped.too_large;
        self.uploads.0 += other.uploads.0;
        self.uploads.1 += other.uploads.1;
        if let Some(part) = &other.consumer {
            let sum = self.consumer.get_or_insert_with(Counts::default);
            sum.uploads += part.uploads;
            sum.refused += part.refused;
            sum.events += part.events;
            sum.repeated += part.repeated;
        }
        self.has_server |= other.has_server;
        for (last, other) in [
            (&mut self.refusal, &other.refusal),
            (&mut self.policy_error, &other.policy_error),
        ] {
            if other.is_some() {
                last.clone_from(other);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::BuiltIn;

    fn conditions(server: Server) -> Conditions {
        Conditions {
            engine: EngineKind::Rvm,
            budget: Budget::Operations(300),
            warm_up: Duration::from_millis(20),
            arrival: Arrival::Closed,
            server,
            grace: Duration::from_secs(5),
            body_limit: 1 << 20,
            seed: 1,
        }
    }

    fn run(scenario: BuiltIn, settings: &str, server: Server) -> (Measurement, Ledger) {
        run_under(&conditions(server), scenario, settings)
    }

    fn run_under(
        conditions: &Conditions,
        scenario: BuiltIn,
        settings: &str,
    ) -> (Measurement, Ledger) {
        let scenario = Scenario::built_in(scenario, 1).unwrap();
        let settings = Settings::parse(settings, true).unwrap();
        let case = Case {
            scenario: &scenario,
            log: Some(&settings),
            empty: false,
            workers: 2,
        };
        let stop = AtomicBool::new(false);
        let (measurement, ledger) = measure(&case, conditions, &stop, &mut || {})
            .unwrap()
            .unwrap();
        (measurement, ledger.unwrap())
    }

    #[test]
    fn a_consumer_that_fails_every_other_upload_gets_everything_in_the_end() {
        for buffer in ["size", "event"] {
            let behaviour = Behaviour {
                delay: Duration::ZERO,
                fail_every: 2,
            };
            let settings = format!("buffer_type={buffer} upload_size_limit_bytes=2000");
            let mut conditions = conditions(Server::Consumer(behaviour));
            // It ends as soon as all is taken, however busy the machine is.
            conditions.grace = Duration::from_secs(120);
            let (_, ledger) = run_under(&conditions, BuiltIn::Minimal, &settings);
            let consumer = ledger.consumer.clone().unwrap();
            assert!(consumer.refused > 0);
            assert_eq!(consumer.events, ledger.account.uploaded, "{ledger:?}");
            assert_eq!(consumer.repeated, 0);
            assert_eq!(ledger.account.buffered, 0);
            assert_eq!(ledger.account.dropped_events(), 0);
        }
    }

    #[test]
    fn a_slow_consumer_and_a_short_grace_leave_events_buffered_and_counted() {
        let scenario = Scenario::built_in(BuiltIn::Minimal, 1).unwrap();
        let settings = Settings::parse("upload_size_limit_bytes=1000", true).unwrap();
        let case = Case {
            scenario: &scenario,
            log: Some(&settings),
            empty: false,
            workers: 1,
        };
        let mut conditions = conditions(Server::Consumer(Behaviour {
            delay: Duration::from_secs(5),
            fail_every: 0,
        }));
        conditions.grace = Duration::from_millis(300);
        let stop = AtomicBool::new(false);
        let (_, ledger) = measure(&case, &conditions, &stop, &mut || {})
            .unwrap()
            .unwrap();
        let account = ledger.unwrap().account;
        assert!(account.buffered > 0, "{account:?}");
    }

    #[test]
    fn without_a_server_everything_stays_in_the_buffer_or_is_dropped_there() {
        let (measurement, ledger) = run(
            BuiltIn::WithBody,
            "buffer_type=event buffer_size_limit_events=100 min_delay_seconds=300 max_delay_seconds=300",
            Server::None,
        );
        assert_eq!(ledger.account.uploaded, 0);
        assert_eq!(ledger.account.buffered, 100);
        // Of the 300 measured, however long the machine was busy elsewhere.
        assert!(measurement.log.unwrap().dropped >= 200);
    }

    #[test]
    fn allocations_are_counted_for_the_workers_and_the_uploader() {
        let mut conditions = conditions(Server::Consumer(Behaviour::default()));
        // Long enough for an upload, however busy the machine is.
        conditions.budget = Budget::Time(Duration::from_secs(1));
        let settings = "trigger=immediate buffer_type=event";
        let (measurement, _) = run_under(&conditions, BuiltIn::Minimal, settings);
        let per_operation = measurement.allocations.count / measurement.operations;
        assert!((20..2_000).contains(&per_operation), "{per_operation}");
        assert!(measurement.log.unwrap().uploader.count > 0);
    }

    #[test]
    fn a_stopped_measurement_gives_nothing() {
        let scenario = Scenario::built_in(BuiltIn::Minimal, 1).unwrap();
        let case = Case {
            scenario: &scenario,
            log: None,
            empty: false,
            workers: 2,
        };
        let mut conditions = conditions(Server::None);
        conditions.budget = Budget::Time(Duration::from_secs(60));
        let stop = AtomicBool::new(true);
        let started = Instant::now();
        assert!(
            measure(&case, &conditions, &stop, &mut || {})
                .unwrap()
                .is_none()
        );
        assert!(started.elapsed() < Duration::from_secs(10));
    }

    #[test]
    fn a_policy_that_fails_on_one_worker_ends_all() {
        let mut scenario = Scenario::built_in(BuiltIn::Minimal, 1).unwrap();
        scenario.requests[200].path = "/deny".to_owned();
        let case = Case {
            scenario: &scenario,
            log: None,
            empty: false,
            workers: 2,
        };
        let stop = AtomicBool::new(false);
        let mut conditions = conditions(Server::None);
        // Every worker comes by the spoilt request.
        conditions.budget = Budget::Operations(2_000);
        let error = measure(&case, &conditions, &stop, &mut || {}).unwrap_err();
        assert!(error.to_string().contains("minimal request 200"), "{error}");
        let error = rehearse(&scenario, EngineKind::Rvm, 1 << 20).unwrap_err();
        assert!(error.to_string().contains("minimal request 200"), "{error}");
    }
}
