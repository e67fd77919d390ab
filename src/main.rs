//! The `rbenchstat` program.
fn main() {}
