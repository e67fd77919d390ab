//! The filter and projection languages, and the keys they read.
