//! The authorization-filter scenarios of an HTTP proxy, measured.
pub mod engine;
pub mod input;
pub mod policy;
pub mod request;
pub mod scenario;
pub mod token;
pub mod allocation;
pub mod decision_log;
pub mod latency;
pub mod consumer;
pub mod filter;
pub mod load;
