//! What queries could have asked an input for.

use bstr::{BStr, BString};
use hashbrown::HashMap;
use indexmap::{IndexMap, IndexSet};

use crate::record::{Configuration, Name};

/// The keys of an input's results, whether the query uses those or not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeenKeys {
    /// The configuration keys in order of first appearance.
    pub keys: IndexSet<BString>,
    /// The keys of the parts `/key=value` of names, without the slash. This and the
    /// two below are only filled in where names were looked at.
    pub parts: IndexSet<BString>,
    /// The first part of a name that has no key, with its slash.
    pub positional: Option<BString>,
    /// Whether some name ends in `-N`.
    pub has_gomaxprocs: bool,
    /// The configuration keys of which one benchmark of one package has several values.
    pub changing: IndexMap<BString, ChangingValues>,
    /// How many pairs of a name and a configuration there are.
    pub benchmarks: usize,
    /// How many of those the query uses.
    pub used: usize,
    /// How many measurements that the filter keeps are left out, as they are no finite numbers.
    pub not_finite: usize,
}

/// A key that changes between results of one benchmark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangingValues {
    /// The benchmark.
    pub name: BString,
    /// Two values in the order read; empty where there is none.
    pub values: [BString; 2],
}

/// What go test itself writes, which changes where packages or machines do.
const OF_GO_TEST: [&[u8]; 4] = [b"goos", b"goarch", b"pkg", b"cpu"];

impl SeenKeys {
    /// Adds a benchmark with the names of its parts.
    pub(super) fn add_name(&mut self, name: &BStr) {
        let name = Name::new(name);
        self.has_gomaxprocs |= name.gomaxprocs().is_some();
        for part in name.parts() {
            match part.iter().position(|&byte| byte == b'=') {
                Some(end) => {
                    let key = BStr::new(&part[1..end]);
                    if !self.parts.contains(key) {
                        self.parts.insert(key.to_owned());
                    }
                }
                None if self.positional.is_none() => self.positional = Some(part.to_owned()),
                None => {}
            }
        }
    }

    /// Adds the configurations that results have, and tells whether they differ
    /// in more than what changes with package and machine.
    pub(super) fn add_configurations<'a>(
        &mut self,
        configurations: impl Iterator<Item = &'a Configuration>,
    ) -> bool {
        let mut first: Option<&Configuration> = None;
        let mut differ = false;
        for configuration in configurations {
            for (key, _) in configuration.iter() {
                if !self.keys.contains(key) {
                    self.keys.insert(key.to_owned());
                }
            }
            let first = *first.get_or_insert(configuration);
            let keys = first.iter().chain(configuration.iter());
            differ |= keys
                .filter(|(key, _)| !OF_GO_TEST.contains(&key.as_ref()))
                .any(|(key, _)| first.get(key) != configuration.get(key));
        }
        differ
    }

    /// Finds what changes between the results of one benchmark, given with their configurations in the order read.
    pub(super) fn find_changing<'a>(
        &mut self,
        results: impl Iterator<Item = (&'a BStr, &'a Configuration)>,
    ) {
        let none = BStr::new(b"");
        let mut first: HashMap<(&BStr, Option<&BStr>), &Configuration> = HashMap::new();
        for (name, configuration) in results {
            let before = *first
                .entry((name, configuration.get(b"pkg")))
                .or_insert(configuration);
            if std::ptr::eq(before, configuration) {
                continue;
            }
            let keys = before.iter().chain(configuration.iter());
            for (key, _) in keys.filter(|(key, _)| !OF_GO_TEST.contains(&key.as_ref())) {
                let value = |of: &'a Configuration| of.get(key).unwrap_or(none).to_owned();
                if before.get(key) != configuration.get(key) && !self.changing.contains_key(key) {
                    let changing = ChangingValues {
                        name: name.to_owned(),
                        values: [value(before), value(configuration)],
                    };
                    self.changing.insert(key.to_owned(), changing);
                }
            }
        }
    }
}
