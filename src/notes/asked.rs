//! What was asked for, as notes talk of it.

use crate::query::{Filter, Key, Projection};

/// What was asked.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Of `-filter`.
    pub filter: Filter,
    /// Of `-table`.
    pub table: Projection,
    /// Of `-row`.
    pub row: Projection,
    /// Of `-col`.
    pub column: Projection,
    /// Of `-ignore`.
    pub ignore: Projection,
    /// The value of `-alpha` where it is above 1 and was taken for 1.
    pub alpha_above_one: Option<f64>,
}

impl Asked {
    /// Whether a flag names a key that inputs may lack.
    #[must_use]
    pub fn names_keys(&self) -> bool {
        self.keys()
            .any(|(_, key)| matches!(key, Key::Configuration(_) | Key::Sub(_) | Key::Gomaxprocs))
    }

    /// The flags with the keys they name, in the order of `--help`.
    pub(super) fn keys(&self) -> impl Iterator<Item = (&'static str, &Key)> {
        let projections = [
            ("table", &self.table),
            ("row", &self.row),
            ("col", &self.column),
            ("ignore", &self.ignore),
        ];
        let of_projections = projections.into_iter().flat_map(|(flag, projection)| {
            let fields = projection.fields().iter();
            fields.map(move |field| (flag, &field.key))
        });
        let of_filter = self.filter.keys().into_iter().map(|key| ("filter", key));
        of_filter.chain(of_projections)
    }
}
