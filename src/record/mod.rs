//! Records of the Go benchmark format: reading and writing them.

pub mod broken;
pub mod configuration;
pub mod line;
pub mod name;
pub mod number;
pub mod prefix;
mod previous_line;
pub mod reader;
pub mod spelling;
pub mod writer;

pub use broken::{Findings, Occurrences};
pub use configuration::Configuration;
pub use line::{LineError, ROUND_PREFIX};
pub use name::Name;
pub use prefix::Prefix;
pub use reader::{Measurement, Reader, Record, ResultRecord, UnitRecord};
pub use writer::{WriteError, Writer};
