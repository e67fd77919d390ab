//! What a user waits for, from the bytes to the report.
//!
//! `cargo bench` runs all of it; `cargo bench -- reading` a part. Beside the
//! times stand the numbers of allocations.

#![allow(missing_docs, reason = "the name of a benchmark says what it measures")]
#![allow(
    clippy::wildcard_imports,
    reason = "groups are there for their names, not as modules"
)]

mod workload;

use std::io;

use divan::counter::{BytesCount, ItemsCount};
use divan::{AllocProfiler, Bencher, black_box};
use rbenchstat::judge::{Judged, Judging, Provenance, judge};
use rbenchstat::query::{Filter, Layout, Projection, Subject};
use rbenchstat::record::{Configuration, Name, Reader, Record};
use rbenchstat::render::{self, Presentation};
use rbenchstat::report::{self, Listing, Settings};
use rbenchstat::sample::{Builder, Environments, Samples};
use rbenchstat::stats::{HodgesLehmann, UDistributions, UTest};
use rbenchstat::unit::{Class, Metadata, Scale, Tidied};

#[global_allocator]
static ALLOCATOR: AllocProfiler = AllocProfiler::system();

fn main() {
    divan::main();
}

fn read(text: &str, label: &str, builder: &mut Builder<'_>) -> u64 {
    let mut reader = Reader::new(text.as_bytes(), label);
    let mut results = 0;
    while let Some((_, record)) = reader.next_record().expect("text in memory") {
        if let Record::Result(result) = record {
            builder.add(&result, &mut |_, _| {});
            results += 1;
        }
    }
    results
}

/// Two sides of the same size, with what they were measured on.
fn sides(benchmarks: usize, runs: usize) -> (Samples, Environments) {
    let (filter, layout) = (Filter::default(), Layout::default());
    let mut builder = Builder::new(&filter, &layout);
    read(&workload::results(1, benchmarks, runs), "old", &mut builder);
    let mut new = Builder::new(&filter, &layout);
    read(&workload::results(2, benchmarks, runs), "new", &mut new);
    builder.merge(new);
    let environments = Environments::of(&builder, &layout);
    (builder.finish(), environments)
}

fn judged(benchmarks: usize) -> Judged {
    let (samples, environments) = sides(benchmarks, 10);
    let report = report::build(samples, &Metadata::default(), Settings::default());
    let provenance = Provenance {
        environments,
        ..Provenance::default()
    };
    judge(report, &Judging::default(), provenance).expect("no gate is asked")
}

#[divan::bench_group]
mod reading {
    use super::*;

    const BENCHMARKS: usize = 200;
    const RUNS: usize = 100;

    #[divan::bench]
    fn records(bencher: Bencher) {
        let text = workload::results(1, BENCHMARKS, RUNS);
        bencher
            .counter(BytesCount::of_str(&text))
            .counter(ItemsCount::new(BENCHMARKS * RUNS))
            .bench(|| {
                let mut reader = Reader::new(text.as_bytes(), "old");
                while let Some(record) = reader.next_record().expect("text in memory") {
                    black_box(record);
                }
            });
    }

    #[divan::bench]
    fn samples(bencher: Bencher) {
        let text = workload::results(1, BENCHMARKS, RUNS);
        let (filter, layout) = (Filter::default(), Layout::default());
        bencher
            .counter(BytesCount::of_str(&text))
            .counter(ItemsCount::new(BENCHMARKS * RUNS))
            .bench(|| {
                let mut builder = Builder::new(&filter, &layout);
                read(&text, "old", &mut builder);
                builder
            });
    }

    /// A benchmark seen before: each further line should allocate nothing but room for its values.
    #[divan::bench(args = [1_000, 10_000, 100_000])]
    fn lines_of_one_benchmark(bencher: Bencher, runs: usize) {
        let text = workload::results(1, 1, runs);
        let (filter, layout) = (Filter::default(), Layout::default());
        bencher.counter(ItemsCount::new(runs)).bench(|| {
            let mut builder = Builder::new(&filter, &layout);
            read(&text, "old", &mut builder);
            builder
        });
    }
}

#[divan::bench_group]
mod unit {
    use super::*;

    #[divan::bench(args = ["ns/op", "MB/s", "p99-ns/op"])]
    fn tidy(unit: &str) -> Tidied {
        Tidied::new(black_box(unit.as_bytes()))
    }

    #[divan::bench(args = [1e-13, 3.1e-6, 12_345.0])]
    fn scale(value: f64) -> Scale {
        Scale::of(black_box(value), Class::Decimal)
    }
}

#[divan::bench_group]
mod query {
    use super::*;

    fn subject<T>(act: impl FnOnce(&Subject<'_>) -> T) -> T {
        let mut configuration = Configuration::new("old.txt");
        configuration.set(b"goos", b"linux");
        configuration.set(b"pkg", b"example.com/p");
        act(&Subject {
            name: Name::new(b"Encode/size=4k/kind=json-8"),
            configuration: &configuration,
        })
    }

    #[divan::bench(args = ["*", ".name:Encode -/size:/k$/ (goos:linux OR goos:darwin)", ".unit:sec/op"])]
    fn filter(bencher: Bencher, query: &str) {
        let filter = Filter::parse(query).expect("a right query");
        subject(|subject| bencher.bench_local(|| filter.apply(black_box(subject))));
    }

    #[divan::bench(args = [".fullname", ".name,/size@num", ".config"])]
    fn projection_of_what_was_seen(bencher: Bencher, row: &str) {
        let parse = |text: &str| Projection::parse(text).expect("a right projection");
        let ignore = Projection::default();
        let layout = Layout::new(parse("pkg"), parse(row), parse(".file"), &ignore);
        let mut projectors = layout.projectors();
        subject(|subject| bencher.bench_local(|| projectors.project(black_box(subject), 0)));
    }

    #[divan::bench]
    fn parse_filter() -> Filter {
        Filter::parse(black_box(
            ".name:Encode -/size:4k (goos:linux OR goos:darwin)",
        ))
        .expect("a right query")
    }
}

#[divan::bench_group]
mod statistics {
    use super::*;

    #[divan::bench(args = [10, 25, 50])]
    fn u_test_without_ties(bencher: Bencher, count: usize) {
        let (x, y) = (
            workload::sample(1, count, None),
            workload::sample(2, count, None),
        );
        let mut test = UTest::new();
        bencher.bench_local(|| test.test(black_box(&x), black_box(&y)));
    }

    #[divan::bench(args = [10, 25, 50])]
    fn u_test_with_ties(bencher: Bencher, count: usize) {
        let distinct = Some(count as u64);
        let (x, y) = (
            workload::sample(1, count, distinct),
            workload::sample(2, count, distinct),
        );
        let mut test = UTest::new();
        bencher.bench_local(|| test.test(black_box(&x), black_box(&y)));
    }

    #[divan::bench(args = [10, 50, 200])]
    fn hodges_lehmann(bencher: Bencher, count: usize) {
        let (x, y) = (
            workload::sample(1, count, None),
            workload::sample(2, count, None),
        );
        let (mut estimator, mut distributions) = (HodgesLehmann::new(), UDistributions::new());
        bencher.bench_local(|| {
            estimator.ratio(&mut distributions, black_box(&x), black_box(&y), 0.95)
        });
    }
}

#[divan::bench_group]
mod whole {
    use super::*;

    /// From two texts to the tables, on one thread while reading.
    #[divan::bench(args = [(20, 10), (500, 10), (500, 100)])]
    fn comparison(bencher: Bencher, (benchmarks, runs): (usize, usize)) {
        let (old, new) = (
            workload::results(1, benchmarks, runs),
            workload::results(2, benchmarks, runs),
        );
        let (filter, layout) = (Filter::default(), Layout::default());
        bencher
            .counter(BytesCount::new(old.len() + new.len()))
            .bench(|| {
                let mut builder = Builder::new(&filter, &layout);
                read(&old, "old", &mut builder);
                let mut other = Builder::new(&filter, &layout);
                read(&new, "new", &mut other);
                builder.merge(other);
                let report =
                    report::build(builder.finish(), &Metadata::default(), Settings::default());
                render::text::write(&report, &Listing::default(), false, &mut io::sink())
            });
    }

    #[divan::bench(args = [20, 500])]
    fn verdicts(bencher: Bencher, benchmarks: usize) {
        bencher.bench(|| judged(black_box(benchmarks)));
    }
}

#[divan::bench_group]
mod rendering {
    use super::*;

    /// What a renderer has in common with the others.
    type Renderer = fn(&Judged, &Presentation, &mut dyn io::Write) -> io::Result<()>;

    const RENDERERS: [(&str, Renderer); 8] = [
        ("text", |judged, _, out| {
            render::text::write(&judged.report, &judged.listing, false, out)
        }),
        ("csv", |judged, _, out| {
            render::csv::write(&judged.report, &judged.listing, out, &mut io::sink())
        }),
        ("pretty", render::pretty::write),
        ("markdown", |judged, _, out| {
            render::markdown::write(judged, out)
        }),
        ("comment", render::comment::write),
        ("json", render::json::write),
        ("jsonl", render::json::write_lines),
        ("html", render::html::write),
    ];

    #[divan::bench(args = RENDERERS.map(|(name, _)| name))]
    fn of_500_benchmarks(bencher: Bencher, name: &str) {
        let (_, renderer) = RENDERERS
            .into_iter()
            .find(|(known, _)| *known == name)
            .expect("a renderer");
        let (judged, presentation) = (judged(500), Presentation::default());
        bencher.bench(|| {
            let mut out = Vec::new();
            renderer(&judged, &presentation, &mut out).map(|()| out)
        });
    }
}
