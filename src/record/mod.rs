//! Records of the Go benchmark format.

pub mod configuration;
pub mod name;

pub use configuration::Configuration;
pub use name::Name;
