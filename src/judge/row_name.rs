//! What single rows are called in files of settings.

use std::collections::BTreeMap;

use bstr::ByteSlice;
use hashbrown::HashMap;
use indexmap::IndexMap;

use crate::report::model::{Field, Report, Row, Table};
use crate::unit::Tidied;

/// What names rows; several, where tables are split by other keys too.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RowName {
    /// The row as tables show it, such as `Encode/size=1k-8`.
    pub benchmark: String,
    /// The value of `pkg`; empty where there is none.
    pub package: String,
    /// The unit in base form, such as `sec/op`.
    pub unit: String,
}

/// Further keys with their values, which tell rows of one name apart.
pub type Keys = BTreeMap<String, String>;

impl RowName {
    /// The name of a row; the unit in any form.
    #[must_use]
    pub fn new(benchmark: &str, package: &str, unit: &str) -> Self {
        Self {
            benchmark: benchmark.into(),
            package: package.into(),
            unit: Tidied::new(unit.as_bytes()).unit.to_string(),
        }
    }

    /// The name of a row of a table.
    #[must_use]
    pub fn of(table: &Table, row: &Row) -> Self {
        let package = fields(table, row).find(|field| *field.key == "pkg");
        Self::new(
            &row.label().to_str_lossy(),
            &package.map_or_else(String::new, |field| field.value.to_str_lossy().into_owned()),
            &table.unit.to_str_lossy(),
        )
    }
}

/// All fields of a row.
fn fields<'r>(table: &'r Table, row: &'r Row) -> impl Iterator<Item = &'r Field> {
    table.key.iter().chain(&*row.key)
}

/// Whether a row has all of these.
fn has(keys: &Keys, table: &Table, row: &Row) -> bool {
    keys.iter().all(|(key, value)| {
        let mut fields = fields(table, row);
        fields.any(|field| {
            field.key.as_bytes() == key.as_bytes() && field.value.to_str_lossy() == value.as_str()
        })
    })
}

/// What is said of single rows, in the order of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct ByRow<T> {
    entries: Vec<(RowName, Keys, T)>,
    /// The entries of each name.
    of_name: IndexMap<RowName, Vec<usize>>,
}

impl<T> Default for ByRow<T> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            of_name: IndexMap::new(),
        }
    }
}

impl<T> ByRow<T> {
    /// Says something of a row.
    ///
    /// # Errors
    /// What was said of the same name and keys before.
    pub fn insert(&mut self, name: RowName, keys: Keys, what: T) -> Result<(), &T> {
        let of_name = self.of_name.entry(name.clone()).or_default();
        let mut known = of_name.iter();
        if let Some(&at) = known.find(|&&at| self.entries[at].1 == keys) {
            return Err(&self.entries[at].2);
        }
        of_name.push(self.entries.len());
        self.entries.push((name, keys, what));
        Ok(())
    }

    /// Whether nothing is said.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// What is said, each with the name of the row and its index.
    #[must_use]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (usize, &RowName, &T)> {
        let entries = self.entries.iter().enumerate();
        entries.map(|(index, (name, _, what))| (index, name, what))
    }

    /// What is said of a row of this name, with its index: by whatever entry has the most of the row's keys.
    #[must_use]
    pub fn get(&self, name: &RowName, table: &Table, row: &Row) -> Option<(usize, &T)> {
        let of_name = self.of_name.get(name)?.iter().rev();
        let entries = of_name.map(|&at| (at, &self.entries[at]));
        let (at, (_, _, what)) = entries
            .filter(|(_, (_, keys, _))| has(keys, table, row))
            .max_by_key(|(_, (_, keys, _))| keys.len())?;
        Some((at, what))
    }

    /// Of each row of a report of which something is said, the index of that: by table and row.
    #[must_use]
    pub fn rows(&self, report: &Report) -> HashMap<(usize, usize), usize> {
        let mut rows = HashMap::new();
        if self.is_empty() {
            return rows;
        }
        for (index, table) in report.tables.iter().enumerate() {
            for (row, of_row) in table.rows.iter().enumerate() {
                if let Some((at, _)) = self.get(&RowName::of(table, of_row), table, of_row) {
                    rows.insert((index, row), at);
                }
            }
        }
        rows
    }
}

/// What tells rows of one name apart in a report.
#[derive(Debug)]
pub struct Distinctions<'r> {
    report: &'r Report,
    /// The rows of each name, by table and row.
    rows: HashMap<RowName, Vec<(usize, usize)>>,
}

impl<'r> Distinctions<'r> {
    /// Those of a report.
    #[must_use]
    pub fn new(report: &'r Report) -> Self {
        let mut rows: HashMap<RowName, Vec<(usize, usize)>> = HashMap::new();
        for (index, table) in report.tables.iter().enumerate() {
            for (row, of_row) in table.rows.iter().enumerate() {
                let of_name = rows.entry(RowName::of(table, of_row)).or_default();
                of_name.push((index, row));
            }
        }
        Self { report, rows }
    }

    /// The fields that rows of this name do not share, as they are in the row at `table` and `row`.
    #[must_use]
    pub fn of(&self, name: &RowName, (table, row): (usize, usize)) -> Keys {
        let same = self.rows.get(name).map_or(&[][..], Vec::as_slice);
        let fields_at = |(table, row): (usize, usize)| {
            let table = &self.report.tables[table];
            fields(table, &table.rows[row])
        };
        let shared = |field: &&Field| {
            let mut same = same.iter();
            same.all(|&other| fields_at(other).any(|other| other == *field))
        };
        let own = fields_at((table, row)).filter(|field| *field.key != "pkg" && !shared(field));
        own.map(|field| (field.key.to_string(), field.value.to_string()))
            .collect()
    }
}
