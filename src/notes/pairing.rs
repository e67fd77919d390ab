//! Which rows have both sides, and why the others have not.

use bstr::{BStr, BString, ByteSlice};
use hashbrown::{HashMap, HashSet};
use indexmap::{IndexMap, IndexSet};
use smallvec::SmallVec;

use super::note::{Difference, Note, UnitsOfSide};
use crate::common::shell_word;
use crate::query::{Filter, Key, ProjectedKey, Projection, ValueOrder};
use crate::read::Query;
use crate::record::Name;
use crate::report::model::{Field, Report, Row, Table};

/// A key that changes within an input, with the name of the input.
pub(super) type ChangingKey<'a> = (&'a BString, &'a BString, &'a crate::sample::ChangingValues);

/// Rows of a report by whether they have both sides.
#[derive(Debug, Default)]
pub(super) struct Pairing<'r> {
    compared: usize,
    /// Rows that would have both sides if something were ignored.
    apart: usize,
    keys: Vec<Difference>,
    suffixes: Option<Difference>,
    /// Whether rows would not meet without the end of their names, or others that are several would.
    needs_suffixes: bool,
    /// The labels of benchmarks that only one column has, by the label of the column.
    one_sided: IndexMap<BString, IndexSet<BString>>,
    /// The units that only one column has, of benchmarks that others have too, by the label of the column.
    units: IndexMap<BString, OneSidedUnits>,
    /// The key of the rows, if it is one alone.
    row_key: Option<&'r BStr>,
}

/// Units that only one column has.
#[derive(Debug, Default)]
struct OneSidedUnits {
    units: IndexSet<BString>,
    benchmarks: IndexSet<BString>,
}

/// Rows without a partner, by unit and name, that without its end or as a whole; those of one name in the order of their columns of the run.
type Index<'r> = HashMap<(&'r BStr, BString), SmallVec<[Single<'r>; 1]>>;

/// A row without a partner: where it is, and its only column in the run.
#[derive(Clone, Copy)]
struct Single<'r> {
    table: &'r Table,
    row: &'r Row,
    place: usize,
}

/// Of that many possible partners the nearest is searched, so that many tables do not take forever.
const CANDIDATES: usize = 64;

impl<'r> Pairing<'r> {
    /// Pairs the rows of `report`.
    pub fn of(report: &'r Report) -> Self {
        let mut pairing = Self::default();
        if report.columns.len() < 2 {
            return pairing;
        }
        let mut singles = Vec::new();
        for table in &report.tables {
            for row in &table.rows {
                if let [field] = &row.key[..] {
                    pairing.row_key = Some(field.key.as_bstr());
                }
                let mut present = row.cells.iter().map(|&(at, _)| at);
                let Some(first) = present.next() else {
                    continue;
                };
                // Everything is compared with the first column of its table.
                if first == 0 && present.next().is_some() {
                    pairing.compared += 1;
                } else {
                    let place = table.places[first];
                    singles.push(Single { table, row, place });
                }
            }
        }
        // Mostly there is nothing to explain, and all names are looked at for that.
        if !singles.is_empty() {
            pairing.explain(report, &singles);
        }
        pairing
    }

    /// Finds out why rows have one side only.
    fn explain(&mut self, report: &'r Report, singles: &[Single<'r>]) {
        let (mut by_stem, mut by_name): (Index<'r>, Index<'r>) = Default::default();
        for single in singles {
            for (index, name) in [
                (&mut by_stem, stem(&single.row.key)),
                (&mut by_name, whole(&single.row.key)),
            ] {
                let of_name = index.entry((single.table.unit.as_bstr(), name));
                of_name.or_default().push(*single);
            }
        }
        for of_name in by_stem.values_mut().chain(by_name.values_mut()) {
            of_name.sort_by_key(|single| single.place);
        }
        let places = places_of_benchmarks(report);
        let column = |place: usize| report.columns[place].label();
        for single in singles {
            let (stem, name) = (stem(&single.row.key), whole(&single.row.key));
            let unit = single.table.unit.as_bstr();
            // A number at the end may be that of the processors on one side and belong to the name on the other.
            let nearest = [(&by_stem, &stem), (&by_stem, &name), (&by_name, &stem)]
                .into_iter()
                .find_map(|(index, name)| {
                    let found = index.get(&(unit, name.clone()));
                    let of_columns = found?.chunk_by(|left, right| left.place == right.place);
                    of_columns
                        .filter(|candidates| candidates[0].place != single.place)
                        .flat_map(|candidates| candidates.iter().take(CANDIDATES))
                        .min_by_key(|candidate| distance(single, candidate))
                });
            if let Some(partner) = nearest {
                self.apart += 1;
                let mut sides = [single, partner];
                sides.sort_by_key(|side| side.place);
                self.tell_apart(sides, &sides.map(|side| column(side.place)));
                continue;
            }
            let label = single.row.label();
            let others = || {
                let places = places.get(&name).into_iter().flatten();
                places.filter(|(_, place)| *place != single.place)
            };
            // In another table, such as under another value of a key that changes, it does have both sides or a partner.
            if others().any(|(its_unit, _)| *its_unit == unit) {
                continue;
            }
            if others().next().is_some() {
                let side = self.units.entry(column(single.place)).or_default();
                side.units.insert(single.table.unit.clone());
                side.benchmarks.insert(label);
            } else {
                let rows = self.one_sided.entry(column(single.place)).or_default();
                rows.insert(label);
            }
        }
        self.needs_suffixes |= self.suffixes.is_some() && pools_without_suffixes(report);
    }

    /// Notes what is different between two rows that could be one.
    fn tell_apart(&mut self, [old, new]: [&Single<'r>; 2], columns: &[BString; 2]) {
        for (old, new) in old.table.key.iter().zip(&new.table.key) {
            if old.value != new.value && !self.names_key(&old.key) {
                self.keys.push(Difference {
                    key: BString::clone(&old.key),
                    columns: columns.clone(),
                    values: [old.value.clone(), new.value.clone()],
                });
            }
        }
        let mut suffixes = [old, new].map(|side| suffix(&side.row.key));
        if suffixes[0] == suffixes[1] {
            return;
        }
        if stem(&old.row.key) != stem(&new.row.key) {
            // The shorter name is the longer one without its end.
            let shorter = usize::from(stem(&old.row.key) == whole(&new.row.key));
            suffixes[shorter] = BStr::new(b"");
            self.needs_suffixes = true;
        }
        if self.suffixes.is_none() {
            self.suffixes = Some(Difference {
                key: "/gomaxprocs".into(),
                columns: columns.clone(),
                values: suffixes.map(ToOwned::to_owned),
            });
        }
    }

    /// Whether this key is among those that keep rows apart.
    pub fn names_key(&self, key: &BString) -> bool {
        self.keys.iter().any(|difference| difference.key == *key)
    }

    /// The flags that bring the rows together and pool what changes within one benchmark.
    pub fn remedy(&self, query: &Query, changing: &[ChangingKey<'_>]) -> String {
        let is_named = |projection: &Projection, key: &Key| {
            projection.fields().iter().any(|field| field.key == *key)
        };
        let differing = self.keys.iter().map(|difference| &difference.key);
        let keys: Vec<Key> = differing
            .chain(changing.iter().map(|(key, ..)| *key))
            .map(|key| Key::from_word(key))
            .chain(self.ignores_suffixes().then_some(Key::Gomaxprocs))
            .collect();
        let (of_table, others): (Vec<&Key>, Vec<&Key>) = keys
            .iter()
            .partition(|key| is_named(query.layout.table(), key));
        let mut flags = Vec::new();
        if !of_table.is_empty() {
            let rest = query.layout.table().fields().iter();
            let rest: Projection = rest
                .filter(|field| !of_table.contains(&&field.key))
                .cloned()
                .collect();
            flags.push(format!("-table {}", shell_word(&rest.to_string())));
        }
        if !others.is_empty() {
            let ignored = query.layout.ignore().fields().iter().cloned();
            let ignored: Projection = ignored
                .chain(others.into_iter().map(|key| ProjectedKey {
                    key: key.clone(),
                    order: ValueOrder::First,
                    span: 0..0,
                }))
                .collect();
            flags.push(format!("-ignore {}", shell_word(&ignored.to_string())));
        }
        flags.join(" ")
    }

    /// Whether the ends of names keep rows apart and can be ignored.
    fn ignores_suffixes(&self) -> bool {
        self.suffixes.is_some() && !self.needs_suffixes
    }

    /// Whether something that can be ignored keeps rows apart.
    pub fn is_apart(&self) -> bool {
        self.apart > 0
    }

    /// What keeps rows apart, if anything does.
    pub fn apart(&self, remedy: &str) -> Option<Note> {
        self.is_apart().then(|| Note::Apart {
            compared: self.compared,
            apart: self.apart,
            keys: self.keys.clone(),
            suffixes: self.suffixes.clone(),
            needs_suffixes: self.needs_suffixes,
            remedy: remedy.to_owned(),
        })
    }

    /// The filter that leaves out what only one side has, if it is short.
    pub fn exclusion(&self, query: &Query) -> Option<String> {
        const MOST_NAMES: usize = 3;
        let rows: IndexSet<&BString> = self.one_sided.values().flatten().collect();
        let key = self.row_key?;
        let cuts_names = query
            .keys()
            .any(|(_, key)| matches!(key, Key::Name | Key::Gomaxprocs | Key::Sub(_)));
        let is_plain = key != ".fullname" || !cuts_names;
        if rows.is_empty() || rows.len() > MOST_NAMES || !is_plain || self.compared == 0 {
            return None;
        }
        let leave_out = Filter::without(&Key::from_word(key), rows.into_iter().cloned());
        let filter = if query.filter.keeps_everything() {
            leave_out
        } else {
            query.filter.clone().and(leave_out)
        };
        Some(format!("-filter {}", shell_word(&filter.to_string())))
    }

    /// Which units only one side has, of benchmarks that both have, if there are any.
    pub fn one_sided_units(&self) -> Option<Note> {
        let sides = self.units.iter().map(|(column, side)| UnitsOfSide {
            column: column.clone(),
            units: side.units.iter().cloned().collect(),
            benchmarks: side.benchmarks.iter().cloned().collect(),
        });
        (!self.units.is_empty()).then(|| Note::OneSidedUnits {
            compared: self.compared + self.apart,
            sides: sides.collect(),
        })
    }

    /// What only one side has, if anything.
    pub fn one_sided(&self, exclusion: Option<String>) -> Option<Note> {
        let sides = self.one_sided.iter();
        (!self.one_sided.is_empty()).then(|| Note::OneSided {
            compared: self.compared + self.apart,
            sides: sides
                .map(|(column, rows)| (column.clone(), rows.iter().cloned().collect()))
                .collect(),
            remedy: exclusion,
        })
    }
}

/// In how many things two rows differ.
fn distance(left: &Single<'_>, right: &Single<'_>) -> usize {
    let keys = left.table.key.iter().zip(&right.table.key);
    keys.filter(|(left, right)| left.value != right.value)
        .count()
        + usize::from(suffix(&left.row.key) != suffix(&right.row.key))
}

/// The end `-N` of a benchmark's name, if a row has names.
fn suffix(key: &[Field]) -> &BStr {
    let name = key.iter().find(|field| *field.key == ".fullname");
    name.map_or(BStr::new(b""), |field| Name::new(&field.value).suffix())
}

/// The benchmarks, each with its units in columns of the run.
fn places_of_benchmarks(report: &Report) -> HashMap<BString, HashSet<(&BStr, usize)>> {
    let mut places: HashMap<BString, HashSet<(&BStr, usize)>> = HashMap::new();
    for table in &report.tables {
        for row in &table.rows {
            let present = row.cells.iter().map(|&(at, _)| table.places[at]);
            let of_row = places.entry(whole(&row.key)).or_default();
            of_row.extend(present.map(|place| (table.unit.as_bstr(), place)));
        }
    }
    places
}

/// Whether some column has several benchmarks that differ in the end of their names only.
fn pools_without_suffixes(report: &Report) -> bool {
    report.tables.iter().any(|table| {
        let mut first: HashMap<(BString, usize), BString> = HashMap::new();
        table.rows.iter().any(|row| {
            let name = whole(&row.key);
            let mut present = row.cells.iter().map(|&(at, _)| at);
            present.any(|at| {
                let before = first.entry((stem(&row.key), at));
                *before.or_insert_with(|| name.clone()) != name
            })
        })
    })
}

/// The values of a row key.
fn whole(key: &[Field]) -> BString {
    bstr::join("\0", key.iter().map(|field| &field.value)).into()
}

/// The values of a row key without the end of the name.
fn stem(key: &[Field]) -> BString {
    let values = key.iter().map(|field| match field.key.as_slice() {
        b".fullname" => {
            let suffix = Name::new(&field.value).suffix().len();
            &field.value[..field.value.len() - suffix]
        }
        _ => &field.value[..],
    });
    bstr::join("\0", values).into()
}
