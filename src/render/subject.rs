//! What a judgement is about, in as few words as tell it from the others of the run.

use bstr::{BStr, BString, ByteSlice};
use indexmap::IndexMap;

use crate::report::Report;
use crate::report::judgement::Judged;
use crate::report::model::{Column, Field};

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
                .entry(field.key.as_ref())
                .or_default()
                .push(field.value.as_ref());
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
    pub fn qualifier(&self, judged: &Judged<'_>) -> BString {
        let own = judged.table.key.iter().filter_map(|field| {
            let start = *self.distinct.get(BStr::new(&field.key))?;
            let value = field.value.get(start..).unwrap_or(&field.value);
            (!value.is_empty()).then_some(value)
        });
        let column = self
            .has_columns
            .then(|| self.report.columns.get(judged.place.column))
            .flatten()
            .map(label);
        let mut parts: Vec<BString> = own.map(BString::from).collect();
        parts.extend(column);
        bstr::join(" · ", parts).into()
    }

    /// The qualifier and the label of the row.
    #[must_use]
    pub fn name(&self, judged: &Judged<'_>) -> BString {
        let qualifier = self.qualifier(judged);
        let label = judged.row.label();
        if qualifier.is_empty() {
            label
        } else {
            bstr::join(" · ", [qualifier, label]).into()
        }
    }

    /// The label of the run's baseline, and of the other column if there is one other only.
    #[must_use]
    pub fn sides(&self) -> [BString; 2] {
        match &self.report.columns[..] {
            [base, new] if !label(base).is_empty() && label(base) != label(new) => {
                [label(base), label(new)]
            }
            _ => ["base".into(), "new".into()],
        }
    }
}

/// The values of the column's key, joined by spaces, without the empty ones.
#[must_use]
pub fn label(column: &Column) -> BString {
    let values = column.key.iter().map(|Field { value, .. }| value);
    bstr::join(" ", values.filter(|value| !value.is_empty())).into()
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
