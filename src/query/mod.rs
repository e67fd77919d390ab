//! The filter and projection languages, and the keys they read.
//!
//! A caller reads the queries, resolves the four projections against each
//! other, and then asks about each result, or rather about each new pair of
//! name and configuration, as nothing else matters but the unit:
//!
//! 1. [`Filter::apply`] keeps it, drops it, or leaves a [`UnitFilter`] to ask
//!    about each measurement. A result with no measurement left goes no further.
//! 2. [`Projectors::project`] drops it if it fails a fixed list, or says by
//!    four small numbers to which table, row, column and residue it belongs.
//!    Projecting the same results in the same order gives the same numbers.
//! 3. When all results are in, [`Projector::sort`] orders the keys of each
//!    projection and [`Projector::values`] says what they are made of. A table
//!    is a key of [`Projectors::table`] and a unit: compare the keys first,
//!    then when the units were first seen. [`Projector::varying`] names what
//!    differs among the residues of one cell.
//!
//! ```
//! use rbenchstat::query::{Filter, Layout, Projection, Selected, Subject};
//! use rbenchstat::record::{Configuration, Name};
//!
//! let filter = Filter::parse(".name:Copy -/size:1k .unit:sec/op")?;
//! let layout = Layout::new(
//!     Projection::parse(".config")?,
//!     Projection::parse(".fullname")?,
//!     Projection::parse("/size@num")?,
//!     &Projection::parse("")?,
//! );
//! let mut projectors = layout.projectors();
//!
//! let mut configuration = Configuration::new("old.txt");
//! configuration.set(b"goos", b"linux");
//! for name in ["Copy/size=16k-8", "Copy/size=4k-8", "Move/size=4k-8"] {
//!     let subject = Subject { name: Name::new(name.as_bytes()), configuration: &configuration };
//!     match filter.apply(&subject) {
//!         Selected::ByUnit(units) if units.matches(b"sec/op", b"ns/op") => {
//!             projectors.project(&subject, 0);
//!         }
//!         Selected::ByUnit(_) | Selected::Keep | Selected::Drop => assert_eq!(name, "Move/size=4k-8"),
//!     }
//! }
//!
//! let sizes: Vec<String> = projectors.column.sort().into_iter()
//!     .flat_map(|id| projectors.column.values(id))
//!     .map(|(key, value)| format!("{key}={value}"))
//!     .collect();
//! assert_eq!(sizes, ["/size=4k", "/size=16k"]);
//! assert_eq!(projectors.row.len(), 1, "both are Copy-8 without their size");
//! # Ok::<(), rbenchstat::query::SyntaxError>(())
//! ```

pub mod error;
pub mod filter;
pub mod key;
pub mod layout;
mod lex;
pub mod projection;
pub mod projector;
pub mod sort;

pub use error::SyntaxError;
pub use filter::{Filter, Selected, UnitFilter};
pub use key::{Key, Subject};
pub use layout::{Exclusions, Layout, Placement, Projectors};
pub use projection::{ProjectedKey, Projection};
pub use projector::{KeyId, Projector};
pub use sort::ValueOrder;
