//! What a judgement is about, in as few words as tell it from the others of the run.

use bstr::{BStr, BString, ByteSlice};
use indexmap::IndexMap;

use crate::judge::JudgedRow;
use crate::report::Report;
use crate::report::model::{Column, Row, Table};

/// Names rows in lists that mix tables and columns.
pub struct Subjects<'a> {
    report: &'a Report,
    /// The keys whose values tables differ in, with what all their values start with.
    distinct: IndexMap<&'a BStr, usize>,
    has_columns: bool,
}

impl<'a> Subjects<'a> {
    /// Finds out what the tables of `report` differ in.
    #[must_use]
    pub fn new(report: &'a Report) -> Self {
        let mut values: IndexMap<&BStr, Vec<&BStr>> = IndexMap::new();
        for field in report.tables.iter().flat_map(|table| &table.key) {
            values
                .entry(field.key.as_bstr())
                .or_default()
                // Blanks at the end tell nothing apart.
                .push(field.value.trim_end().as_bstr());
        }
        let distinct = values
            .into_iter()
            .filter(|(_, values)| values.iter().any(|value| value != &values[0]))
            .map(|(key, values)| (key, common_folder(&values)))
            .collect();
        Self {
            report,
            distinct,
            has_columns: report.columns.len() > 2,
        }
    }

    /// What comes before the row's label: what its table and its column have of their own.
    #[must_use]
    pub fn qualifier(&self, judged: &JudgedRow<'_>) -> BString {
        let column = self
            .has_columns
            .then(|| self.report.columns.get(judged.position().column))
            .flatten()
            .map(Column::label);
        let mut parts = self.own(judged.table);
        parts.extend(column);
        bstr::join(" · ", parts).into()
    }

    /// What a row is called that is compared with nothing.
    #[must_use]
    pub fn name_of(&self, table: &Table, row: &Row) -> BString {
        let mut parts = self.own(table);
        parts.push(row.label());
        bstr::join(" · ", parts).into()
    }

    /// What the table has of its own.
    #[must_use]
    pub fn table(&self, table: &Table) -> BString {
        bstr::join(" · ", self.own(table)).into()
    }

    fn own(&self, table: &Table) -> Vec<BString> {
        let own = table.key.iter().filter_map(|field| {
            let start = *self.distinct.get(field.key.as_bstr())?;
            let value = field.value.get(start..).unwrap_or(&field.value);
            (!value.is_empty()).then(|| value.into())
        });
        own.collect()
    }

    /// The qualifier and the label of the row.
    #[must_use]
    pub fn name(&self, judged: &JudgedRow<'_>) -> BString {
        let qualifier = self.qualifier(judged);
        let label = judged.row.label();
        if qualifier.is_empty() {
            label
        } else {
            bstr::join(" · ", [qualifier, label]).into()
        }
    }

    /// What the run's baseline is called, and the other column if there is one other only; without what both names share.
    #[must_use]
    pub fn sides(&self) -> [BString; 2] {
        match &self.report.columns[..] {
            [base, new] => short(&base.label(), &new.label()),
            _ => None,
        }
        .unwrap_or_else(|| ["base".into(), "new".into()])
    }
}

/// Both names without the beginning and the end that they share, up to a separator; none if nothing is left of one.
fn short(left: &[u8], right: &[u8]) -> Option<[BString; 2]> {
    let is_separator = |byte: &u8| b"/\\-_. ".contains(byte);
    let file = |name: &'_ [u8]| name.rfind_byte(b'/').map_or(0, |slash| slash + 1);
    let (left, right) = match (&left[file(left)..], &right[file(right)..]) {
        (left_file, right_file) if left_file != right_file => (left_file, right_file),
        // In folders of their own, files are often called the same.
        _ => (left, right),
    };
    let same = left
        .iter()
        .zip(right)
        .take_while(|(left, right)| left == right);
    let start = left[..same.count()]
        .iter()
        .rposition(is_separator)
        .map_or(0, |separator| separator + 1);
    let (left, right) = (&left[start..], &right[start..]);
    let mut ends = left.iter().rev().zip(right.iter().rev());
    let same = ends
        .by_ref()
        .take_while(|(left, right)| left == right)
        .count();
    let end = left[left.len() - same..]
        .iter()
        .position(is_separator)
        .map_or(0, |separator| same - separator);
    let (left, right) = (&left[..left.len() - end], &right[..right.len() - end]);
    (!left.is_empty() && !right.is_empty() && left != right).then(|| [left.into(), right.into()])
}

/// The length of the longest path, up to a slash, that all values start with.
fn common_folder(values: &[&BStr]) -> usize {
    let mut common: &[u8] = values.first().map_or(&[], |value| value);
    for value in values {
        let same = common
            .iter()
            .zip(value.iter())
            .take_while(|(left, right)| left == right);
        common = &common[..same.count()];
    }
    common.rfind_byte(b'/').map_or(0, |slash| slash + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_are_called_by_what_tells_them_apart() {
        let sides = |left: &str, right: &str| {
            let names = short(left.as_bytes(), right.as_bytes());
            names.map(|names| names.map(|name| name.to_string()).join(" "))
        };
        assert_eq!(sides("old.txt", "new.txt").unwrap(), "old new");
        assert_eq!(
            sides("out/a-old-2.txt", "out/a-new-2.txt").unwrap(),
            "old new"
        );
        assert_eq!(sides("bold", "gold").unwrap(), "bold gold");
        assert_eq!(sides("../a/one.txt", "two.txt").unwrap(), "one two");
        assert_eq!(sides("v1/bench.txt", "v2/bench.txt").unwrap(), "v1 v2");
        assert_eq!(sides("a.txt", "a.txt"), None);
        assert_eq!(sides("a", "a-b"), Some("a a-b".into()));
    }

    #[test]
    fn the_common_folder_ends_with_a_slash() {
        let length = |values: &[&'static str]| {
            let values: Vec<&BStr> = values.iter().map(|value| BStr::new(*value)).collect();
            common_folder(&values)
        };
        assert_eq!(length(&["a/bc", "a/bd"]), 2);
        assert_eq!(length(&["a/b", "a/b/c"]), 2);
        assert_eq!(length(&["ab", "ac"]), 0);
        assert_eq!(length(&["a/b", ""]), 0);
    }
}
