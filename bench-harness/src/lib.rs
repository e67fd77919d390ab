//! The authorization-filter scenarios of an HTTP proxy, measured with and
//! without decision logs.
//!
//! ```text
//! request → input document → policy → decision → decision log → buffer → uploader → server
//! ```
//!
//! All of it up to the buffer happens on the request's own thread and inside
//! the measured time; what the uploader does competes with it for processors,
//! locks and memory, which is what the tail shows.

pub mod address;
pub mod allocation;
mod child;
pub mod cli;
mod compare;
pub mod consumer;
pub mod decision_log;
pub mod duration;
pub mod emit;
pub mod engine;
pub mod filter;
pub mod input;
pub mod latency;
pub mod load;
pub mod measure;
pub mod options;
pub mod plan;
pub mod policy;
mod progress;
pub mod rego_text;
pub mod request;
mod run;
pub mod scenario;
pub mod streams;
pub mod token;
