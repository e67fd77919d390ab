//! Units: tidying, scaling, metadata.
