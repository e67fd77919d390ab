//! Lines whose name, units and keys were seen before allocate nothing but room for their values, and cells that do not
//! exist nothing at all.

use std::fmt::Write;

use rbenchstat::query::{Filter, Layout, Projection};
use rbenchstat::record::{Reader, Record};
use rbenchstat::render;
use rbenchstat::report::{self, Listing, Settings};
use rbenchstat::sample::Builder;
use rbenchstat::unit::Metadata;

/// How many allocations it takes to read `runs` results of each of three benchmarks, which take turns.
fn allocations(runs: usize, values: impl Fn(usize) -> String) -> u64 {
    let mut text = String::from("goos: linux\npkg: example.com/p\n");
    for run in 0..runs {
        for name in ["Encode/size=4k-8", "Decode/size=4k-8", "Größe-8"] {
            writeln!(text, "Benchmark{name} \t 1000\t{}", values(run))
                .expect("a string takes everything");
        }
    }
    let (filter, layout) = (Filter::default(), Layout::default());
    let mut builder = Builder::new(&filter, &layout);
    let mut reader = Reader::new(text.as_bytes(), "old.txt");
    let info = allocation_counter::measure(|| {
        while let Some((_, record)) = reader.next_record().expect("text in memory") {
            let Record::Result(result) = record else {
                panic!("{record:?}")
            };
            builder.add(&result, &mut |value, unit| panic!("{value} {unit}"));
        }
    });
    info.count_total
}

#[test]
fn lines_seen_before_allocate_only_room_for_their_values() {
    let values = |run| format!("{}.5 ns/op {run} B/op 7 allocs/op 1e3 MB/s", 100 + run);
    let (few, many) = (allocations(1 << 10, values), allocations(1 << 14, values));
    // Twelve cells, and one of zero bytes for each benchmark. Each doubles its room four times more.
    let doublings = 12 * 4;
    assert!(many <= few + doublings, "{few} for few, {many} for many");
}

#[test]
fn a_zero_costs_no_more_than_another_value() {
    let values = |run| format!("{} ns/op 5 B/op", run % 2);
    let (few, many) = (allocations(1 << 10, values), allocations(1 << 14, values));
    let doublings = 9 * 4;
    assert!(many <= few + doublings, "{few} for few, {many} for many");
}

/// How many allocations and bytes at once it takes to compare so many columns with two benchmarks of their own each.
fn of_own_names(columns: usize) -> (u64, u64) {
    let mut text = String::new();
    for column in 0..columns {
        for name in 0..2 {
            writeln!(
                text,
                "column: {column}\nBenchmarkX{column}of{name} 1 5 ns/op"
            )
            .expect("a string takes everything");
        }
    }
    let parse = |query| Projection::parse(query).expect("a right query");
    let (table, row, column) = (parse(""), parse(".fullname"), parse("column"));
    let (filter, layout) = (
        Filter::default(),
        Layout::new(table, row, column, &parse("")),
    );
    let mut builder = Builder::new(&filter, &layout);
    let mut reader = Reader::new(text.as_bytes(), "all.txt");
    while let Some((_, record)) = reader.next_record().expect("text in memory") {
        if let Record::Result(result) = record {
            builder.add(&result, &mut |value, unit| panic!("{value} {unit}"));
        }
    }
    let info = allocation_counter::measure(|| {
        let samples = builder.finish();
        let report = report::build(samples, &Metadata::default(), Settings::default());
        let all = Listing::default();
        render::text::write(&report, &all, false, &mut std::io::sink())
            .expect("a sink takes everything");
        render::csv::write(&report, &all, &mut std::io::sink(), &mut std::io::sink())
            .expect("a sink takes everything");
    });
    (info.count_total, info.bytes_max)
}

#[test]
fn cells_that_do_not_exist_take_no_memory() {
    // So few that one thread does it all.
    let (few, many) = (of_own_names(6), of_own_names(60));
    // A hundred times as many rows times columns, ten times as many cells.
    assert!(many.0 <= 12 * few.0, "{few:?} for few, {many:?} for many");
    assert!(many.1 <= 12 * few.1, "{few:?} for few, {many:?} for many");
}
