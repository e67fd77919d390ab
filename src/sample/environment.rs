//! What results were measured on, and where that differs between what is compared.
//!
//! Under the default `-table .config`, results of different machines never meet in one row, so it takes more than the rows
//! to see that a benchmark moved. Under other projections they meet unseen. Both are found here, from the configuration of
//! every result that counts.

use bstr::{BStr, BString, ByteSlice};
use indexmap::{IndexMap, IndexSet};
use serde::Serialize;

use super::builder::Builder;
use super::samples::lossy_list;
use crate::query::layout::Role;
use crate::query::{KeyId, Layout, Projector};

/// The configuration keys that describe a machine.
pub const ENVIRONMENT_KEYS: [&str; 3] = ["goos", "goarch", "cpu"];

/// The values of a key.
type ValueSet = IndexSet<BString>;

/// What the columns of a run were measured on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environments {
    /// For each column of the run, the values of each of [`ENVIRONMENT_KEYS`], in order of first appearance; without blanks
    /// around them; an empty value where a result has none.
    pub columns: Vec<[Vec<BString>; ENVIRONMENT_KEYS.len()]>,
    /// Where a column differs from the first.
    pub differences: Vec<EnvironmentDifference>,
}

/// The same benchmark measured on different things.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct EnvironmentDifference {
    /// The index of the column; never 0.
    pub column: usize,
    /// One of [`ENVIRONMENT_KEYS`].
    pub key: &'static str,
    /// Its values in the first column.
    #[serde(serialize_with = "lossy_list")]
    pub baseline: Vec<BString>,
    /// Its values in this column.
    #[serde(serialize_with = "lossy_list")]
    pub values: Vec<BString>,
}

/// The values of all environment keys.
#[derive(Clone, Debug, Default)]
struct ValuesOfKeys([ValueSet; ENVIRONMENT_KEYS.len()]);

/// What identifies a benchmark whatever it was measured on: numbers of the rests of its table and row keys.
type BenchmarkIdentity = (usize, usize);

impl Environments {
    /// The keys with their values in a column; none where nobody looked.
    pub fn of_column(&self, column: usize) -> impl Iterator<Item = (&'static str, &[BString])> {
        let values = self.columns.get(column).into_iter().flatten();
        ENVIRONMENT_KEYS.into_iter().zip(values.map(Vec::as_slice))
    }

    /// Looks at all results in `builder` that came to a cell.
    #[must_use]
    pub fn of(builder: &Builder<'_>, layout: &Layout) -> Self {
        let columns = builder.columns();
        let projectors = builder.projectors();
        let mut tables = KeysWithoutEnvironment::new(&projectors.table);
        let mut rows = KeysWithoutEnvironment::new(&projectors.row);
        let mut sides: Vec<ValuesOfKeys> = vec![ValuesOfKeys::default(); columns.len()];
        let mut benchmarks: IndexMap<BenchmarkIdentity, IndexMap<usize, ValuesOfKeys>> =
            IndexMap::new();
        for (placement, configuration) in builder.placements() {
            let Some(column) = columns.iter().position(|id| *id == placement.column) else {
                continue;
            };
            let identity = (tables.number(placement.table), rows.number(placement.row));
            let seen = benchmarks.entry(identity).or_default();
            let seen = seen.entry(column).or_default();
            for (index, key) in ENVIRONMENT_KEYS.into_iter().enumerate() {
                // Some versions of Go leave blanks at the end of a processor's name.
                let value = configuration.get(key.as_bytes()).unwrap_or_default();
                let value = BStr::new(value.trim());
                for values in [&mut seen.0[index], &mut sides[column].0[index]] {
                    if !values.contains(value) {
                        values.insert(value.to_owned());
                    }
                }
            }
        }

        let mut differences: IndexSet<EnvironmentDifference> = IndexSet::new();
        let roles = ENVIRONMENT_KEYS.map(|key| layout.role(key.as_bytes()));
        for column in 1..columns.len() {
            let mut has_common = false;
            for seen in benchmarks.values() {
                if let (Some(baseline), Some(other)) = (seen.get(&0), seen.get(&column)) {
                    has_common = true;
                    differences.extend(baseline.differences(other, column, roles));
                }
            }
            if !has_common && let Some(baseline) = sides.first() {
                differences.extend(baseline.differences(&sides[column], column, roles));
            }
        }
        Self {
            columns: sides
                .into_iter()
                .map(|side| side.0.map(|values| values.into_iter().collect()))
                .collect(),
            differences: differences.into_iter().collect(),
        }
    }
}

impl ValuesOfKeys {
    /// The keys in which `other`, of `column`, differs in a way that matters for what `roles` say of the key.
    fn differences(
        &self,
        other: &Self,
        column: usize,
        roles: [Role; ENVIRONMENT_KEYS.len()],
    ) -> impl Iterator<Item = EnvironmentDifference> {
        (0..ENVIRONMENT_KEYS.len()).filter_map(move |index| {
            let (baseline, values) = (&self.0[index], &other.0[index]);
            let differs = match roles[index] {
                Role::Exempt => false,
                // Rows never mix values of the key: those in common are compared, each with its own.
                Role::Separates => baseline.is_disjoint(values),
                Role::Pooled => baseline != values,
            };
            differs.then(|| EnvironmentDifference {
                column,
                key: ENVIRONMENT_KEYS[index],
                baseline: baseline.iter().cloned().collect(),
                values: values.iter().cloned().collect(),
            })
        })
    }
}

/// Numbers for what is left of keys without the environment.
struct KeysWithoutEnvironment<'a> {
    projector: &'a Projector,
    numbers: Vec<Option<usize>>,
    seen: IndexSet<Vec<(BString, BString)>>,
}

impl<'a> KeysWithoutEnvironment<'a> {
    fn new(projector: &'a Projector) -> Self {
        Self {
            projector,
            numbers: vec![None; projector.len()],
            seen: IndexSet::new(),
        }
    }

    fn number(&mut self, id: KeyId) -> usize {
        if let Some(number) = self.numbers[id.index()] {
            return number;
        }
        let describes_machine = |key: &BStr| ENVIRONMENT_KEYS.iter().any(|word| key == *word);
        // A key without a value is as good as no key.
        let rest = self
            .projector
            .values(id)
            .filter(|(key, value)| !describes_machine(key) && !value.is_empty());
        let rest = rest.map(|(key, value)| (key.to_owned(), value.to_owned()));
        let (number, _) = self.seen.insert_full(rest.collect());
        self.numbers[id.index()] = Some(number);
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::{Filter, Projection};
    use crate::record::{Reader, Record};

    /// The differences between two inputs under `-table`, `-col` and `-ignore`, as `key: old|new`.
    fn differences(sides: [&str; 2], [table, column, ignore]: [&str; 3]) -> Vec<String> {
        let filter = Filter::parse("*").unwrap();
        let parse = |text: &str| Projection::parse(text).unwrap();
        let (table, row, column) = (parse(table), parse(".fullname"), parse(column));
        let layout = Layout::new(table, row, column, &parse(ignore));
        let mut builder = Builder::new(&filter, &layout);
        for (label, text) in ["old", "new"].into_iter().zip(sides) {
            let mut side = Builder::new(&filter, &layout);
            let mut reader = Reader::new(text.as_bytes(), label);
            while let Some((_, record)) = reader.next_record().unwrap() {
                if let Record::Result(record) = record {
                    side.add(&record, &mut |_, _| {});
                }
            }
            builder.merge(side);
        }
        let values = |values: &[BString]| bstr::join(",", values).to_str_lossy().into_owned();
        let differences = Environments::of(&builder, &layout).differences.into_iter();
        differences
            .map(|found| {
                let EnvironmentDifference {
                    key,
                    baseline,
                    values: new,
                    ..
                } = &found;
                format!("{key}: {}|{}", values(baseline), values(new))
            })
            .collect()
    }

    const DEFAULT: [&str; 3] = [".config", ".file", ""];
    const OLD: &str = "goos: linux\ncpu: A\nBenchmarkX 1 1 ns/op\n";
    const NEW: &str = "goos: linux\ncpu: B\nBenchmarkX 1 1 ns/op\n";

    #[test]
    fn another_cpu_is_found_whether_rows_pair_or_not() {
        assert_eq!(differences([OLD, NEW], DEFAULT), ["cpu: A|B"]);
        assert_eq!(differences([OLD, NEW], ["", ".file", ""]), ["cpu: A|B"]);
        assert!(differences([OLD, OLD], DEFAULT).is_empty());
    }

    #[test]
    fn a_difference_on_purpose_is_none() {
        assert!(differences([OLD, NEW], [".config", ".file", "cpu"]).is_empty());
        assert!(differences([OLD, NEW], ["", ".file", ".config"]).is_empty());
        assert!(differences([OLD, NEW], [".config", "cpu", ""]).is_empty());
    }

    #[test]
    fn a_side_without_the_key_differs() {
        let bare = "goos: linux\nBenchmarkX 1 1 ns/op\n";
        assert_eq!(differences([OLD, bare], DEFAULT), ["cpu: A|"]);
    }

    #[test]
    fn blanks_around_a_value_do_not_matter() {
        let blank = OLD.replace("cpu: A", "cpu: A   ");
        assert!(differences([OLD, &blank], DEFAULT).is_empty());
    }

    #[test]
    fn machines_that_only_one_side_has_matter_where_rows_mix_them() {
        let both = format!("{OLD}{NEW}");
        assert!(differences([OLD, &both], DEFAULT).is_empty());
        assert_eq!(differences([OLD, &both], ["", ".file", ""]), ["cpu: A|A,B"]);
    }

    #[test]
    fn a_benchmark_on_one_side_only_says_nothing_of_machines() {
        let new = "goos: linux\ncpu: A\nBenchmarkX 1 1 ns/op\ncpu: B\nBenchmarkY 1 1 ns/op\n";
        assert!(differences([OLD, new], DEFAULT).is_empty());
    }
}
