//! Statistics: slices in, numbers out.
