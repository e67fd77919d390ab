//! Compares Go benchmark results: what `rbenchstat` does, in stages that can be used one by one.
//!
//! Data flows one way, and every module knows only those before it:
//!
//! 1. [`input`]: where text comes from, and how bytes become text;
//! 2. [`record`]: lines of text become records (results, what is said of units, malformed lines); and the way back, with a
//!    writer;
//! 3. [`query`]: a filter says which results count, a layout of projections to which table, row and column each belongs;
//! 4. [`sample`]: a builder collects the values of each cell, in the order read;
//! 5. [`report`]: samples are summarized and compared, which yields plain data: numbers, and warnings beside them;
//! 6. [`render`]: the report becomes text or CSV, and nothing is computed any more;
//! 7. [`cli`]: the arguments, and the wiring of all of this.
//!
//! Beside them stand [`unit`], which knows scales, base forms and directions, and [`stats`], where slices go in and numbers
//! come out. They import nothing of the others.
//!
//! The whole way, from two texts to a table:
//!
//! ```
//! use rbenchstat::query::{Filter, Layout};
//! use rbenchstat::record::{Reader, Record};
//! use rbenchstat::report::{self, Settings};
//! use rbenchstat::sample::Builder;
//! use rbenchstat::unit::Metadata;
//! use rbenchstat::render;
//!
//! let old = "BenchmarkEncode 100 10 ns/op\nBenchmarkEncode 100 12 ns/op\n".repeat(3);
//! let new = "BenchmarkEncode 100 7 ns/op\nBenchmarkEncode 100 8 ns/op\n".repeat(3);
//!
//! let (filter, layout) = (Filter::default(), Layout::default());
//! let mut samples = Builder::new(&filter, &layout);
//! let mut metadata = Metadata::default();
//! for (label, text) in [("old", old), ("new", new)] {
//!     // Each input has a builder of its own, so that inputs may be read side by side.
//!     let mut builder = Builder::new(&filter, &layout);
//!     let mut reader = Reader::new(text.as_bytes(), label);
//!     while let Some((line, record)) = reader.next_record()? {
//!         match record {
//!             Record::Result(result) => builder.add(&result, &mut |value, unit| {
//!                 eprintln!("{label}:{line}: {value} {unit} left out");
//!             }),
//!             Record::Unit(unit) => {
//!                 for field in unit.fields() {
//!                     let (key, value) = field?;
//!                     metadata.set(unit.unit(), key, value)?;
//!                 }
//!             }
//!             Record::SyntaxError(error) | Record::NoResult(error) => eprintln!("{label}:{line}: {error}"),
//!         }
//!     }
//!     samples.merge(builder);
//! }
//!
//! let report = report::build(samples.finish(), &metadata, Settings::default());
//! let mut out = Vec::new();
//! render::text::write(&report, false, &mut out)?;
//! assert_eq!(String::from_utf8(out)?, "
//!        │     old      │                new                 │
//!        │    sec/op    │   sec/op     vs base               │
//! Encode   11.000n ± 9%   7.500n ± 7%  -31.82% (p=0.002 n=6)
//! ".trim_start_matches('\n'));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

pub mod cli;
pub mod input;
pub mod query;
pub mod record;
pub mod render;
pub mod report;
pub mod sample;
pub mod stats;
pub mod unit;
