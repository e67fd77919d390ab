//! Projected keys: small numbers for the tuples of values that results have.

use std::cmp::Ordering;
use std::sync::Arc;

use bstr::{BStr, BString, ByteSlice};
use indexmap::IndexMap;

use super::key::{Key, Subject};
use super::layout::Exclusions;
use super::projection::{ProjectedKey, Projection};
use super::sort::ValueOrder;
use crate::common::Interner;

type Hasher = foldhash::fast::RandomState;

/// The number of a key, in the order in which its projector first saw it.
///
/// Keys of different projectors have nothing to do with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KeyId(u32);

impl KeyId {
    /// The number: 0 for the first key seen, and so on without gaps.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Turns results into keys of one projection.
///
/// A key is a tuple of values. `.config` stands for one value of each
/// configuration key seen so far, in order of first appearance; when a key
/// appears later, all keys before have an empty value of it and stay the same.
/// Nothing but the sequence of results has a part in this.
#[derive(Clone, Debug)]
pub struct Projector {
    fields: Vec<ProjectedKey>,
    /// What each field is called.
    labels: Vec<BString>,
    exclusions: Arc<Exclusions>,
    /// The values of each field but `.config`, in order of first appearance.
    columns: Vec<Interner<BString>>,
    /// The members of `.config` with their values, of which the first is the empty one.
    members: IndexMap<BString, Interner<BString>, Hasher>,
    has_members: bool,
    /// Whether keys depend on more than the configuration.
    reads_names: bool,
    /// The key of the configuration before, if that is all keys depend on.
    previous: Option<(u32, KeyId)>,
    /// The tuples of all keys, each without the empty members at its end.
    tuples: Interner<Box<[u32]>>,
    /// How many numbers those have in all.
    numbers: usize,
    /// The tuple being made: numbers of values of the columns, then of the members.
    scratch: Vec<u32>,
}

/// One value of a tuple: where it is kept, and how it is called and ordered.
#[derive(Clone, Copy)]
struct Slot<'a> {
    name: &'a BStr,
    at: usize,
    values: &'a Interner<BString>,
    order: &'a ValueOrder,
}

impl Projector {
    pub(super) fn new(projection: &Projection, exclusions: Arc<Exclusions>) -> Self {
        let fields = projection.fields().to_vec();
        let single = fields.iter().filter(|field| field.key != Key::Config);
        let columns = vec![Interner::default(); single.count()];
        Self {
            has_members: columns.len() < fields.len(),
            reads_names: fields.iter().any(|field| field.key.reads_names()),
            previous: None,
            labels: fields.iter().map(|field| field.key.to_word()).collect(),
            fields,
            exclusions,
            columns,
            members: IndexMap::default(),
            tuples: Interner::default(),
            numbers: 0,
            scratch: Vec::new(),
        }
    }

    /// The key of a result.
    pub fn project(&mut self, subject: &Subject<'_>) -> KeyId {
        self.scratch.clear();
        let single = self.fields.iter().filter(|field| field.key != Key::Config);
        for (field, values) in single.zip(&mut self.columns) {
            let value = match field.key {
                Key::FullName => number_of(values, &self.exclusions.full_name(subject.name)),
                _ => number_of(values, field.key.value(subject)),
            };
            self.scratch.push(value);
        }
        if self.has_members {
            self.project_members(subject);
        }
        let (id, is_new) = self
            .tuples
            .intern(self.scratch.as_slice(), |tuple| tuple.into());
        if is_new {
            self.numbers += self.scratch.len();
        }
        KeyId(id)
    }

    /// [`Projector::project`] for results whose configurations have numbers of the
    /// caller's, equal ones for equal configurations: where only those count, as
    /// for most tables and columns, results that follow one another share the work.
    pub(super) fn project_numbered(&mut self, subject: &Subject<'_>, configuration: u32) -> KeyId {
        match self.previous {
            Some((previous, id)) if previous == configuration => id,
            _ => {
                let id = self.project(subject);
                self.previous = (!self.reads_names).then_some((configuration, id));
                id
            }
        }
    }

    fn project_members(&mut self, subject: &Subject<'_>) {
        let first = self.columns.len();
        for (key, value) in subject.configuration.iter() {
            let member = match self.members.get_index_of(key) {
                Some(member) => member,
                None if self.exclusions.excludes_configuration(key) => continue,
                None => {
                    // A result without this key has an empty value of it.
                    let mut values = Interner::default();
                    values.intern(BStr::new(b""), ToOwned::to_owned);
                    self.members.insert_full(key.to_owned(), values).0
                }
            };
            let at = first + member;
            if at >= self.scratch.len() {
                self.scratch.resize(at + 1, 0);
            }
            self.scratch[at] = number_of(&mut self.members[member], value);
        }
        // A tuple ends at its last value, so that it stays the same when members are added.
        while self.scratch.len() > first && self.scratch.last() == Some(&0) {
            self.scratch.pop();
        }
    }

    /// How many keys there are: their numbers are all those below.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tuples.len()
    }

    /// How many values of `.config` a report of all keys has: each has one of every member.
    pub(super) fn member_values(&self) -> usize {
        self.len().saturating_mul(self.members.len())
    }

    /// How many numbers the tuples of all keys have.
    pub(super) fn numbers(&self) -> usize {
        self.numbers
    }

    /// Whether no result was projected.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All keys, in the order in which they were first seen.
    #[must_use]
    pub fn ids(&self) -> impl ExactSizeIterator<Item = KeyId> + use<> {
        // The length fits, as every key has a number.
        (0..self.len()).map(|number| KeyId(narrow(number)))
    }

    /// The names of the values of every key: of each field the key as a word, of `.config` its members.
    pub fn names(&self) -> impl Iterator<Item = &BStr> {
        self.slots().map(|slot| slot.name)
    }

    /// The values of a key with their names, which are the same for all keys; what a result lacks is empty.
    pub fn values(&self, id: KeyId) -> impl Iterator<Item = (&BStr, &BStr)> {
        self.slots()
            .map(move |slot| (slot.name, slot.value(self.number(&slot, id))))
    }

    /// The names of the values in which the keys differ.
    #[must_use]
    pub fn varying(&self, ids: &[KeyId]) -> Vec<&BStr> {
        let Some((first, others)) = ids.split_first() else {
            return Vec::new();
        };
        let varies = |slot: &Slot<'_>| {
            let number = self.number(slot, *first);
            others
                .iter()
                .any(|other| self.number(slot, *other) != number)
        };
        self.slots().filter(varies).map(|slot| slot.name).collect()
    }

    /// Compares two keys value by value, in the orders of their fields. Members of
    /// `.config` compare byte by byte, in order of first appearance.
    #[must_use]
    pub fn compare(&self, left: KeyId, right: KeyId) -> Ordering {
        self.slots()
            .map(|slot| {
                let (left, right) = (self.number(&slot, left), self.number(&slot, right));
                if left == right {
                    return Ordering::Equal;
                }
                let value = |number: usize| (number, slot.value(number));
                slot.order.compare(value(left), value(right))
            })
            .find(|ordering| ordering.is_ne())
            .unwrap_or(Ordering::Equal)
    }

    /// All keys, sorted as [`Projector::compare`] says.
    #[must_use]
    pub fn sort(&self) -> Vec<KeyId> {
        // Ranks spare the sort from reading numbers out of values again and again.
        let ranks: Vec<(usize, Vec<u32>)> = self
            .slots()
            .map(|slot| {
                let values: Vec<&BStr> = slot.values.iter().map(|value| value.as_bstr()).collect();
                (slot.at, slot.order.ranks(&values))
            })
            .collect();
        let rank = |id: KeyId, (at, ranks): &(usize, Vec<u32>)| ranks[self.number_at(*at, id)];
        let mut sorted: Vec<KeyId> = self.ids().collect();
        sorted.sort_unstable_by(|&left, &right| {
            ranks
                .iter()
                .map(|slot| rank(left, slot).cmp(&rank(right, slot)))
                .find(|ordering| ordering.is_ne())
                .unwrap_or(Ordering::Equal)
        });
        sorted
    }

    /// The place of each key, by number, among all keys when they are sorted.
    #[must_use]
    pub fn ranks(&self) -> Vec<u32> {
        let mut ranks = vec![0; self.len()];
        for (rank, id) in (0..).zip(self.sort()) {
            ranks[id.index()] = rank;
        }
        ranks
    }

    /// What the tuples of this projector are made of, in the order of the fields.
    fn slots(&self) -> impl Iterator<Item = Slot<'_>> {
        let mut columns = self.columns.iter().enumerate();
        let members = move || {
            let first = self.columns.len();
            (first..)
                .zip(&self.members)
                .map(|(at, (name, values))| Slot {
                    name: name.as_bstr(),
                    at,
                    values,
                    order: MEMBER_ORDER,
                })
        };
        self.fields
            .iter()
            .zip(&self.labels)
            .flat_map(move |(field, label)| {
                let is_group = field.key == Key::Config;
                let column = if is_group { None } else { columns.next() };
                let column = column.map(|(at, values)| Slot {
                    name: label.as_bstr(),
                    at,
                    values,
                    order: &field.order,
                });
                let group = is_group.then(members).into_iter().flatten();
                column.into_iter().chain(group)
            })
    }

    /// The number of a key's value in a slot.
    fn number(&self, slot: &Slot<'_>, id: KeyId) -> usize {
        self.number_at(slot.at, id)
    }

    fn number_at(&self, at: usize, id: KeyId) -> usize {
        // A tuple made before the slot was known has its empty value.
        self.tuples
            .get(id.0)
            .get(at)
            .map_or(0, |&number| number as usize)
    }
}

/// Members of `.config` have no order to choose.
const MEMBER_ORDER: &ValueOrder = &ValueOrder::Alpha;

impl<'a> Slot<'a> {
    fn value(&self, number: usize) -> &'a BStr {
        self.values.get(narrow(number)).as_bstr()
    }
}

/// The number of a value, which is its place in order of first appearance.
fn number_of(values: &mut Interner<BString>, value: &BStr) -> u32 {
    values.intern(value, ToOwned::to_owned).0
}

/// Numbers values and tuples, of which memory ends before the numbers do.
fn narrow(number: usize) -> u32 {
    u32::try_from(number).expect("fewer than 2^32 different keys")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::record::{Configuration, Name};

    /// A name and the pairs of a configuration.
    type Result<'a> = (&'a str, &'a [(&'a str, &'a str)]);

    fn projector(query: &str) -> Projector {
        let projection = Projection::parse(query).unwrap();
        let none = Projection::default();
        let layout = super::super::Layout::new(projection, none.clone(), none.clone(), &none);
        layout.projectors().table
    }

    fn project(projector: &mut Projector, (name, pairs): Result<'_>) -> KeyId {
        let mut configuration = Configuration::new("x.txt");
        for (key, value) in pairs {
            configuration.set(key.as_bytes(), value.as_bytes());
        }
        projector.project(&Subject {
            name: Name::new(name.as_bytes()),
            configuration: &configuration,
        })
    }

    fn text(projector: &Projector, id: KeyId) -> String {
        let pairs = projector
            .values(id)
            .map(|(key, value)| format!("{key}={value}"));
        pairs.collect::<Vec<_>>().join(" ")
    }

    fn sorted(query: &str, names: &[&str]) -> Vec<String> {
        let mut projector = projector(query);
        for name in names {
            project(&mut projector, (name, &[]));
        }
        let ids = projector.sort();
        ids.into_iter().map(|id| text(&projector, id)).collect()
    }

    #[test]
    fn equal_values_have_one_key() {
        let mut projector = projector("/a,.file");
        let ids = ["X/a=1", "Y/a=2", "Z/a=1-8"].map(|name| project(&mut projector, (name, &[])));
        assert_eq!(ids.map(KeyId::index), [0, 1, 0]);
        assert_eq!(text(&projector, ids[1]), "/a=2 .file=x.txt");
    }

    #[test]
    fn an_empty_projection_has_one_key_without_values() {
        let mut projector = projector("");
        assert!(projector.is_empty());
        let id = project(&mut projector, ("X", &[("k", "v")]));
        assert_eq!(id, project(&mut projector, ("Y", &[])));
        assert_eq!((projector.len(), text(&projector, id)), (1, String::new()));
    }

    #[test]
    fn the_default_order_is_that_of_each_field_and_not_of_the_whole() {
        let names = ["X/a=1/b=2", "X/a=2/b=1", "X/a=1/b=1", "X/a=2/b=2"];
        assert_eq!(
            sorted("/a,/b", &names),
            ["/a=1 /b=2", "/a=1 /b=1", "/a=2 /b=2", "/a=2 /b=1"]
        );
        assert_eq!(
            sorted("/b@alpha,/a", &names),
            ["/b=1 /a=1", "/b=1 /a=2", "/b=2 /a=1", "/b=2 /a=2"]
        );
    }

    #[test]
    fn a_member_that_appears_later_changes_no_key() {
        let mut projector = projector(".config,/a");
        let results: [Result; 5] = [
            ("X/a=1", &[]),
            ("X/a=1", &[("goos", "linux")]),
            ("X/a=1", &[("cpu", "b"), ("goos", "linux")]),
            ("X/a=1", &[("goos", "linux")]),
            ("X/a=1", &[("cpu", "a")]),
        ];
        let ids = results.map(|result| project(&mut projector, result));
        assert_eq!(ids.map(KeyId::index), [0, 1, 2, 1, 3]);
        let texts: Vec<_> = projector
            .sort()
            .into_iter()
            .map(|id| text(&projector, id))
            .collect();
        assert_eq!(
            texts,
            [
                "goos= cpu= /a=1",
                "goos= cpu=a /a=1",
                "goos=linux cpu= /a=1",
                "goos=linux cpu=b /a=1"
            ]
        );
    }

    #[test]
    fn keys_named_elsewhere_are_no_members() {
        let mut projector = projector(".config,goos");
        project(&mut projector, ("X", &[("goos", "linux"), ("cpu", "a")]));
        assert_eq!(projector.names().collect::<Vec<_>>(), ["cpu", "goos"]);
    }

    #[test]
    fn what_varies_is_named_in_the_order_of_the_fields() {
        let mut projector = projector(".config,.fullname");
        let results: [Result; 3] = [
            ("X", &[("goos", "linux"), ("cpu", "a")]),
            ("X", &[("goos", "linux")]),
            ("Y", &[("goos", "linux"), ("cpu", "a")]),
        ];
        let [first, second, third] = results.map(|result| project(&mut projector, result));
        assert_eq!(projector.varying(&[first, second]), ["cpu"]);
        assert_eq!(
            projector.varying(&[first, second, third]),
            ["cpu", ".fullname"]
        );
        assert!(projector.varying(&[first, first]).is_empty());
        assert!(projector.varying(&[]).is_empty());
    }

    #[test]
    fn projectors_can_be_sent_to_other_threads() {
        fn check<T: Send + Sync>(_: &T) {}
        check(&projector(".config"));
    }

    proptest! {
        #[test]
        fn sorting_comparing_and_ranking_agree(
            query in prop::sample::select(vec![
                ".config", ".config,/a@num", "/a@num,.name@alpha,.config", "/a@(1 2),k1", ".fullname,.config,.config",
            ]),
            results in prop::collection::vec(
                ("[XY](/a=[12])?", prop::collection::btree_map("k[123]", "[12]", 0..3)),
                1..20,
            ),
        ) {
            let mut first = projector(query);
            let mut second = projector(query);
            for (name, pairs) in &results {
                let pairs: Vec<_> = pairs.iter().map(|(key, value)| (&**key, &**value)).collect();
                let id = project(&mut first, (name, &pairs));
                prop_assert_eq!(project(&mut second, (name, &pairs)), id);
            }
            let ids: Vec<_> = first.ids().collect();
            let ranks = first.ranks();
            for &left in &ids {
                for &right in &ids {
                    let compared = first.compare(left, right);
                    prop_assert_eq!(compared, ranks[left.index()].cmp(&ranks[right.index()]));
                    let same = text(&first, left) == text(&first, right);
                    prop_assert_eq!(same, left == right);
                }
            }
        }
    }
}
