//! Load: workers that decide one request after the other, and measure.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::Result;
use hdrhistogram::Histogram;

use crate::allocation::{Allocations, Counter};
use crate::filter::{Authorize, check};
use crate::latency::{histogram, nanoseconds};
use crate::request::Request;

/// How much a measurement runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Budget {
    /// For this long.
    Time(Duration),
    /// This many operations over all workers.
    Operations(u64),
}

/// When operations start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arrival {
    /// Each as soon as the one before it is done.
    Closed,
    /// At this many a second over all workers, whatever the filter does.
    Open(f64),
}

/// Time as the open loop sees it, so that a test can stop it.
pub trait Clock {
    /// Since any fixed moment.
    fn now(&self) -> Duration;
    /// Returns at `moment`, or at once when it has passed.
    fn wait_until(&self, moment: Duration);
}

/// The time of this machine.
#[derive(Clone, Copy, Debug)]
pub struct MachineClock {
    start: Instant,
}

impl MachineClock {
    /// Counts from now.
    #[must_use]
    pub fn new() -> Self {
        Self {
            start: Instant::now(),
        }
    }
}

impl Default for MachineClock {
    fn default() -> Self {
        Self::new()
    }
}

/// A sleep ends this much late on an idle machine; the rest is waited for awake,
/// or it would be counted as latency of the filter.
const AWAKE: Duration = Duration::from_micros(200);

impl Clock for MachineClock {
    fn now(&self) -> Duration {
        self.start.elapsed()
    }

    fn wait_until(&self, moment: Duration) {
        let left = moment.saturating_sub(self.now()).saturating_sub(AWAKE);
        if !left.is_zero() {
            std::thread::sleep(left);
        }
        while self.now() < moment {
            std::hint::spin_loop();
        }
    }
}

/// What one worker measured.
pub struct Measured {
    /// Operations done.
    pub operations: u64,
    /// Nanoseconds of each.
    pub latencies: Histogram<u64>,
    /// From the first operation's start to the last one's end.
    pub started: Instant,
    /// See `started`.
    pub ended: Instant,
    /// What the worker's thread allocated meanwhile.
    pub allocations: Allocations,
}

/// One worker's part of a run.
pub struct Share<'a> {
    /// Decided in turn, from `first` on.
    pub requests: &'a [Request],
    /// Where this worker starts: different ones start apart.
    pub first: usize,
    /// Its number and how many there are.
    pub worker: u32,
    /// How many there are.
    pub workers: u32,
    /// For this worker alone.
    pub budget: Budget,
    /// Set from outside to end early.
    pub stop: &'a AtomicBool,
}

impl Share<'_> {
    /// The budget of `worker` out of `workers`: the first ones do the rest of a division.
    #[must_use]
    pub fn budget_of(budget: Budget, worker: u32, workers: u32) -> Budget {
        match budget {
            Budget::Time(_) => budget,
            Budget::Operations(all) => {
                let (worker, workers) = (u64::from(worker), u64::from(workers));
                Budget::Operations(all / workers + u64::from(worker < all % workers))
            }
        }
    }
}

/// Runs without measuring, in an open loop at its rate: a faster warm-up
/// would hand the measurement a full buffer.
///
/// # Errors
/// With the request that was not decided as expected.
pub fn warm_up(
    filter: &mut impl Authorize,
    share: &Share<'_>,
    time: Duration,
    arrival: Arrival,
) -> Result<u64> {
    let clock = MachineClock::new();
    let mut operations = 0_u64;
    let mut requests = share.requests.iter().cycle().skip(share.first);
    while clock.now() < time && !share.stop.load(Ordering::Relaxed) {
        let Some(request) = requests.next() else {
            break;
        };
        if let Arrival::Open(rate) = arrival {
            let number = operations as f64 * f64::from(share.workers);
            let moment = seconds(number / rate);
            // The last one may lie beyond the end.
            if moment >= time {
                break;
            }
            clock.wait_until(moment);
        }
        let decision = filter.authorize(request)?;
        check(request, &decision)?;
        operations += 1;
    }
    Ok(operations)
}

/// Where warm workers wait for each other, and for whoever takes the figures before they start.
pub struct StartLine(Barrier);

impl StartLine {
    /// For so many workers and one starter.
    #[must_use]
    pub fn new(workers: u32) -> Self {
        Self(Barrier::new(workers as usize + 1))
    }

    /// A worker's place. Given up before the line is passed, it sets `stop`.
    #[must_use]
    pub fn place<'a>(&'a self, stop: &'a AtomicBool) -> Place<'a> {
        Place {
            line: self,
            stop,
            passed: false,
        }
    }

    fn wait(&self) {
        self.0.wait();
        self.0.wait();
    }

    /// The starter waits until all are here, looks around while nobody runs, and lets them go.
    pub fn start<Seen>(&self, look: impl FnOnce() -> Seen) -> Seen {
        self.0.wait();
        let seen = look();
        self.0.wait();
        seen
    }

    /// For one worker and no starter.
    #[cfg(test)]
    fn of_one() -> Self {
        Self(Barrier::new(1))
    }
}

/// A worker's place at the start line: passed, or given up by an error or a panic.
pub struct Place<'a> {
    line: &'a StartLine,
    stop: &'a AtomicBool,
    passed: bool,
}

impl Place<'_> {
    /// Waits until all are here and the starter has looked.
    pub fn pass(mut self) {
        self.passed = true;
        self.line.wait();
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        if !self.passed {
            // The others wait for everybody, and then need not run any more.
            self.stop.store(true, Ordering::Relaxed);
            self.line.wait();
        }
    }
}

/// Waits for the others and runs this worker's share.
///
/// # Errors
/// With the request that was not decided as expected.
pub fn closed_loop(
    filter: &mut impl Authorize,
    share: &Share<'_>,
    counter: &Counter,
    place: Place<'_>,
) -> Result<Measured> {
    let mut latencies = histogram()?;
    let (time, most) = match share.budget {
        Budget::Time(time) => (time, u64::MAX),
        Budget::Operations(operations) => (Duration::MAX, operations),
    };
    let mut requests = share.requests.iter().cycle().skip(share.first);
    place.pass();
    let before = counter.reader().read();
    let started = Instant::now();
    let mut ended = started;
    let mut operations = 0;
    while operations < most && ended - started < time && !share.stop.load(Ordering::Relaxed) {
        let Some(request) = requests.next() else {
            break;
        };
        let start = Instant::now();
        let decision = filter.authorize(request)?;
        ended = Instant::now();
        latencies.saturating_record(nanoseconds(ended - start).max(1));
        check(request, &decision)?;
        operations += 1;
    }
    Ok(Measured {
        operations,
        latencies,
        started,
        ended,
        allocations: counter.reader().read() - before,
    })
}

/// The longest duration where `seconds` are more than a clock holds.
fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
}

/// An open loop that has fallen behind this many times its time is given up.
const GIVE_UP: u32 = 4;

/// Waits for the others and starts operations at `rate` a second over all
/// workers. Latency counts from the moment an operation was to start, so a
/// filter that falls behind pays for everyone who waits.
///
/// # Errors
/// With the request that was not decided as expected.
pub fn open_loop(
    filter: &mut impl Authorize,
    share: &Share<'_>,
    counter: &Counter,
    place: Place<'_>,
    rate: f64,
    clock: &impl Clock,
) -> Result<Measured> {
    let mut latencies = histogram()?;
    let workers = f64::from(share.workers);
    let (planned, longest) = match share.budget {
        Budget::Time(time) => {
            // This worker's part of the operations that fit.
            let all = (rate * time.as_secs_f64()).round();
            let own = ((all - f64::from(share.worker)) / workers).ceil().max(0.0);
            (own, time.saturating_mul(GIVE_UP))
        }
        Budget::Operations(own) => {
            let own = own as f64;
            (own, seconds(own * workers / rate).saturating_mul(GIVE_UP))
        }
    };
    let mut requests = share.requests.iter().cycle().skip(share.first);
    place.pass();
    let before = counter.reader().read();
    let begin = clock.now();
    let started = Instant::now();
    let mut operations = 0_u64;
    while (operations as f64) < planned && !share.stop.load(Ordering::Relaxed) {
        let Some(request) = requests.next() else {
            break;
        };
        let number = operations as f64 * workers + f64::from(share.worker);
        let intended = begin.saturating_add(seconds(number / rate));
        clock.wait_until(intended);
        let decision = filter.authorize(request)?;
        let end = clock.now();
        latencies.saturating_record(nanoseconds(end.saturating_sub(intended)).max(1));
        check(request, &decision)?;
        operations += 1;
        if end.saturating_sub(begin) > longest {
            break;
        }
    }
    Ok(Measured {
        operations,
        latencies,
        started,
        ended: Instant::now(),
        allocations: counter.reader().read() - before,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Value;
    use crate::filter::Decision;
    use crate::request::Expected;
    use std::cell::Cell;
    use std::rc::Rc;
    use std::sync::{Arc, mpsc};

    /// Time that passes only when somebody waits or works.
    #[derive(Clone, Default)]
    struct Paused(Rc<Cell<Duration>>);

    impl Clock for Paused {
        fn now(&self) -> Duration {
            self.0.get()
        }

        fn wait_until(&self, moment: Duration) {
            self.0.set(self.0.get().max(moment));
        }
    }

    /// Takes a known time for each operation.
    struct Timed {
        clock: Paused,
        takes: Box<dyn Fn(u64) -> Duration>,
        operation: u64,
    }

    impl Authorize for Timed {
        fn authorize(&mut self, _: &Request) -> Result<Decision> {
            let takes = (self.takes)(self.operation);
            self.operation += 1;
            self.clock.0.set(self.clock.0.get() + takes);
            Ok(Decision {
                allowed: true,
                status: 200,
                headers: Vec::new(),
                body: None,
                result: Value::Bool(true),
            })
        }
    }

    fn requests(expected: bool) -> Vec<Request> {
        vec![Request {
            method: "GET".to_owned(),
            path: "/".to_owned(),
            host: String::new(),
            headers: Vec::new(),
            body: None,
            expected: Expected::Allowed(expected),
            origin: "r:1".to_owned(),
        }]
    }

    fn share<'a>(requests: &'a [Request], stop: &'a AtomicBool, budget: Budget) -> Share<'a> {
        Share {
            requests,
            first: 0,
            worker: 0,
            workers: 1,
            budget,
            stop,
        }
    }

    fn open(rate: f64, operations: u64, takes: impl Fn(u64) -> Duration + 'static) -> Measured {
        let clock = Paused::default();
        let mut filter = Timed {
            clock: clock.clone(),
            takes: Box::new(takes),
            operation: 0,
        };
        let (requests, stop) = (requests(true), AtomicBool::new(false));
        let share = share(&requests, &stop, Budget::Operations(operations));
        let counter = Counter::start();
        open_loop(
            &mut filter,
            &share,
            &counter,
            StartLine::of_one().place(&stop),
            rate,
            &clock,
        )
        .unwrap()
    }

    fn milliseconds(histogram: &Histogram<u64>, quantile: f64) -> f64 {
        (histogram.value_at_quantile(quantile) as f64 / 1e5).round() / 10.0
    }

    #[test]
    fn a_filter_that_keeps_up_is_as_slow_as_it_is() {
        let measured = open(100.0, 1_000, |_| Duration::from_millis(3));
        assert_eq!(measured.operations, 1_000);
        assert_eq!(milliseconds(&measured.latencies, 0.01), 3.0);
        assert_eq!(milliseconds(&measured.latencies, 1.0), 3.0);
    }

    #[test]
    fn a_pause_is_paid_for_by_everyone_who_waits_behind_it() {
        // Every 10 ms one that takes 1 ms; the first takes 100 ms. The ten
        // behind it were to start meanwhile and take 91, 82, 73 … ms.
        let measured = open(100.0, 1_000, |operation| {
            Duration::from_millis(if operation == 0 { 100 } else { 1 })
        });
        let late = measured.latencies.count_between(1_100_000, u64::MAX);
        assert_eq!(late, 11, "the paused one and ten behind it");
        assert_eq!(milliseconds(&measured.latencies, 1.0), 100.0);
        assert_eq!(milliseconds(&measured.latencies, 0.5), 1.0);
        // A closed loop would have seen one slow operation in a thousand.
        assert_eq!(milliseconds(&measured.latencies, 0.999), 91.0);
    }

    #[test]
    fn a_filter_slower_than_the_rate_falls_behind_and_is_given_up() {
        let measured = open(100.0, 1_000, |_| Duration::from_millis(100));
        assert!(measured.operations < 500, "{}", measured.operations);
        assert!(milliseconds(&measured.latencies, 1.0) > 30_000.0);
    }

    fn closed(filter: &mut impl Authorize, share: &Share<'_>) -> Result<Measured> {
        let line = StartLine::of_one();
        closed_loop(filter, share, &Counter::start(), line.place(share.stop))
    }

    #[test]
    fn a_closed_loop_does_exactly_the_operations_asked_for() {
        let (requests, stop) = (requests(true), AtomicBool::new(false));
        let share = share(&requests, &stop, Budget::Operations(123));
        let mut filter = crate::filter::EmptyFilter;
        let measured = closed(&mut filter, &share).unwrap();
        assert_eq!(measured.operations, 123);
        assert_eq!(measured.latencies.len(), 123);
    }

    #[test]
    fn the_loop_itself_allocates_nothing() {
        let (requests, stop) = (requests(true), AtomicBool::new(false));
        let share = share(&requests, &stop, Budget::Operations(10_000));
        let mut filter = crate::filter::EmptyFilter;
        let measured = closed(&mut filter, &share).unwrap();
        assert_eq!(measured.allocations, Allocations::default());
    }

    #[test]
    fn a_wrong_decision_ends_the_loop_and_names_the_request() {
        let clock = Paused::default();
        let mut filter = Timed {
            clock,
            takes: Box::new(|_| Duration::ZERO),
            operation: 0,
        };
        let (requests, stop) = (requests(false), AtomicBool::new(false));
        let share = share(&requests, &stop, Budget::Operations(5));
        let error = closed(&mut filter, &share).err().unwrap();
        assert_eq!(
            error.to_string(),
            "r:1: the decision for GET / is true, expected denied"
        );
    }

    #[test]
    fn an_open_loop_warms_up_at_its_rate() {
        let (requests, stop) = (requests(true), AtomicBool::new(false));
        let share = share(&requests, &stop, Budget::Operations(1));
        let mut filter = crate::filter::EmptyFilter;
        let time = Duration::from_millis(50);
        let paced = warm_up(&mut filter, &share, time, Arrival::Open(1_000.0)).unwrap();
        assert!((1..=50).contains(&paced), "{paced}");
        let unpaced = warm_up(&mut filter, &share, time, Arrival::Closed).unwrap();
        assert!(unpaced > 500, "{unpaced}");
    }

    #[test]
    fn a_worker_that_panics_before_the_line_stops_the_others_and_lets_them_pass() {
        // No scope: it would wait for threads that hang, where this is to fail.
        let all = Arc::new((StartLine::new(2), AtomicBool::new(false)));
        let (passed, seen) = mpsc::channel();
        let (there, starter) = (Arc::clone(&all), passed.clone());
        std::thread::spawn(move || {
            there.0.start(|| ());
            starter.send("starter")
        });
        let there = Arc::clone(&all);
        std::thread::spawn(move || {
            there.0.place(&there.1).pass();
            passed.send("worker")
        });
        let there = Arc::clone(&all);
        std::thread::spawn(move || {
            let _place = there.0.place(&there.1);
            // A panic without its message in the output of the tests.
            std::panic::resume_unwind(Box::new(()));
        });
        for _ in 0..2 {
            let other = seen.recv_timeout(Duration::from_secs(30));
            assert!(other.is_ok(), "the others wait for the one that panicked");
        }
        assert!(all.1.load(Ordering::Relaxed));
    }

    #[test]
    fn operations_are_shared_out_without_a_rest() {
        let of = |worker| Share::budget_of(Budget::Operations(10), worker, 3);
        assert_eq!(
            [of(0), of(1), of(2)],
            [
                Budget::Operations(4),
                Budget::Operations(3),
                Budget::Operations(3)
            ]
        );
    }
}
