//! Which rows are shown, and in which order.

use super::model::{Row, Table};

/// The rows to show of each table of a report; by default all as they stand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing(Option<Vec<Vec<usize>>>);

impl Listing {
    /// The rows with these indices, by table, in the order to show.
    #[must_use]
    pub fn of(tables: Vec<Vec<usize>>) -> Self {
        Self(Some(tables))
    }

    /// The rows to show of the table at `index`, each with its own index.
    pub fn rows<'r>(
        &self,
        index: usize,
        table: &'r Table,
    ) -> impl ExactSizeIterator<Item = (usize, &'r Row)> {
        let chosen = self.0.as_ref().map(|tables| tables[index].as_slice());
        let count = chosen.map_or(table.rows.len(), <[usize]>::len);
        (0..count).map(move |at| {
            let row = chosen.map_or(at, |chosen| chosen[at]);
            (row, &table.rows[row])
        })
    }
}
