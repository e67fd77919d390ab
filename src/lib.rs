//! Compares Go benchmark results: what `rbenchstat` does, in stages that can be used one by one.
//!
//! Data flows one way, and every module knows only those before it:
//!
//! 1. [`input`]: where text comes from, and how bytes become text;
//! 2. [`record`]: lines of text become records (results, what is said of units, malformed lines); and the way back, with a
//!    writer;
//! 3. [`query`]: a filter says which results count, a layout of projections to which table, row and column each belongs;
//! 4. [`sample`]: a builder collects the values of each cell, in the order read;
//! 5. [`read`]: from paths to samples, and what else is known of the inputs;
//! 6. [`report`]: samples are summarized and compared, which yields facts as plain data: numbers, and warnings beside them;
//! 7. [`judge`]: what the facts mean, if anything asks: a verdict for each row, and the answer of a gate for all of them;
//! 8. [`notes`]: what to tell the person at the keyboard beside it;
//! 9. [`render`]: the report becomes text or CSV, and with verdicts Markdown, JSON or HTML; nothing is computed any more;
//! 10. [`cli`]: the arguments, and the wiring of all of this.
//!
//! Beside them stand [`common`], which numbers values and shares work among threads, [`unit`], which knows scales, base
//! forms and directions, and [`stats`], where slices go in and numbers come out. They import nothing of the others.
//!
//! Apart from all of this, [`measure`] produces results: it runs the benchmarks of two commits in turns.
//!
//! The whole way, from two files to a table:
//!
//! ```
//! use std::io;
//! use rbenchstat::{input::Source, read::{self, Query}, render, report::{self, Listing, Settings}};
//!
//! # let folder = tempfile::tempdir()?;
//! # let [old, new] = ["old.txt", "new.txt"].map(|name| folder.path().join(name));
//! # std::fs::write(&old, "BenchmarkEncode 100 10 ns/op\nBenchmarkEncode 100 12 ns/op\n".repeat(3))?;
//! # std::fs::write(&new, "BenchmarkEncode 100 7 ns/op\nBenchmarkEncode 100 8 ns/op\n".repeat(3))?;
//! let sources = [Source::new("old", old), Source::new("new", new)];
//! let inputs = read::read(&sources, &Query::default(), &mut io::empty(), &mut io::stderr())?;
//! let report = report::build(inputs.samples, &inputs.metadata, Settings::default());
//! let mut text = Vec::new();
//! render::text::write(&report, &Listing::default(), false, &mut text)?;
//!
//! assert_eq!(String::from_utf8(text)?, "
//!        │     old      │                new                 │
//!        │    sec/op    │   sec/op     vs base               │
//! Encode   11.000n ± 9%   7.500n ± 7%  -31.82% (p=0.002 n=6)
//! ".trim_start_matches('\n'));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A [`read::Query`] says which results are used, and what makes tables, rows and columns of them.
#![forbid(unsafe_code)]

pub mod cli;
pub mod common;
pub mod input;
pub mod judge;
pub mod measure;
pub mod notes;
pub mod query;
pub mod read;
pub mod record;
pub mod render;
pub mod report;
pub mod sample;
pub mod stats;
pub mod unit;
