//! The authorization-filter scenarios of an HTTP proxy, measured.
fn main() {}
