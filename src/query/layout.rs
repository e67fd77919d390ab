//! The four projections of a run together.

use std::borrow::Cow;
use std::sync::Arc;

use bstr::{BStr, BString};

use super::key::{Key, Subject};
use super::projection::{Field, Projection};
use super::projector::{KeyId, Projector};
use super::sort::Order;
use crate::record::Name;
use crate::record::name::part_value;

/// Where results go: the projections, resolved against each other.
///
/// A key named by itself in any of the four is left out of the groups
/// `.config` and `.fullname` in all of them, and a fixed list in any of the four
/// drops results before any of them sees them.
#[derive(Clone, Debug)]
pub struct Layout {
    table: Projection,
    row: Projection,
    column: Projection,
    residue: Projection,
    exclusions: Arc<Exclusions>,
    required: Arc<[Requirement]>,
}

/// The values that a fixed list lets pass.
#[derive(Debug)]
struct Requirement {
    key: Key,
    values: Vec<BString>,
}

impl Layout {
    /// Resolves `-table`, `-row`, `-col` and `-ignore`.
    #[must_use]
    pub fn new(
        table: Projection,
        row: Projection,
        column: Projection,
        ignore: &Projection,
    ) -> Self {
        let fields = || {
            [&table, &row, &column, ignore]
                .into_iter()
                .flat_map(Projection::fields)
        };
        let names = |key: &Key| fields().any(|field| field.key == *key);
        // What no projection reads may still differ between the results of one cell.
        let residue = [Key::Config, Key::FullName]
            .into_iter()
            .filter(|group| !names(group))
            .map(|key| Field {
                key,
                order: Order::First,
                span: 0..0,
            })
            .collect();
        let required = fields()
            .filter_map(|field| match &field.order {
                Order::Fixed(values) => Some(Requirement {
                    key: field.key.clone(),
                    values: values.clone(),
                }),
                _ => None,
            })
            .collect();
        let exclusions = Arc::new(Exclusions::new(fields().map(|field| &field.key)));
        Self {
            table,
            row,
            column,
            residue,
            exclusions,
            required,
        }
    }

    /// Whether a result passes all fixed lists. Unlike the filter this never
    /// depends on units. A list of `.fullname` holds names as they are written.
    #[must_use]
    pub fn keeps(&self, subject: &Subject<'_>) -> bool {
        passes(&self.required, subject)
    }

    /// What the groups `.config` and `.fullname` leave out.
    #[must_use]
    pub fn exclusions(&self) -> &Exclusions {
        &self.exclusions
    }

    /// What a configuration key does for what is compared with what.
    #[must_use]
    pub fn role(&self, key: &[u8]) -> Role {
        let is_excluded = self.exclusions.excludes_configuration(key);
        let reads = |projection: &Projection| {
            projection.fields().iter().any(|field| match &field.key {
                Key::Configuration(name) => name == key,
                Key::Config => !is_excluded,
                _ => false,
            })
        };
        if reads(&self.table) || reads(&self.row) {
            Role::Separates
        } else if !reads(&self.column) && reads(&self.residue) {
            Role::Pooled
        } else {
            Role::Exempt
        }
    }

    /// The groups that no projection names, `.config` before `.fullname`.
    #[must_use]
    pub fn residue(&self) -> &Projection {
        &self.residue
    }

    /// Fresh projectors, which have seen no result.
    #[must_use]
    pub fn projectors(&self) -> Projectors {
        let projector =
            |projection: &Projection| Projector::new(projection, Arc::clone(&self.exclusions));
        Projectors {
            table: projector(&self.table),
            row: projector(&self.row),
            column: projector(&self.column),
            residue: projector(&self.residue),
            required: Arc::clone(&self.required),
        }
    }
}

/// What a configuration key does for what is compared with what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Results that differ in it are in different tables or rows.
    Separates,
    /// Results may differ in it as if by accident: no projection names it.
    Pooled,
    /// Results differ in it on purpose: it makes the columns, or it is ignored.
    Exempt,
}

/// One projector for each projection of a layout, and one for the residue.
#[derive(Clone, Debug)]
pub struct Projectors {
    /// Of `-table`; the unit, which the table also depends on, is no part of it.
    pub table: Projector,
    /// Of `-row`.
    pub row: Projector,
    /// Of `-col`.
    pub column: Projector,
    /// Of what no projection names.
    pub residue: Projector,
    required: Arc<[Requirement]>,
}

/// Where a result goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Placement {
    /// Key of [`Projectors::table`].
    pub table: KeyId,
    /// Key of [`Projectors::row`].
    pub row: KeyId,
    /// Key of [`Projectors::column`].
    pub column: KeyId,
    /// Key of [`Projectors::residue`].
    pub residue: KeyId,
}

impl Projectors {
    /// Projects a result, unless a fixed list drops it, which leaves no trace.
    ///
    /// The keys depend on nothing but the results projected before, in order.
    pub fn project(&mut self, subject: &Subject<'_>) -> Option<Placement> {
        passes(&self.required, subject).then(|| Placement {
            table: self.table.project(subject),
            row: self.row.project(subject),
            column: self.column.project(subject),
            residue: self.residue.project(subject),
        })
    }
}

fn passes(required: &[Requirement], subject: &Subject<'_>) -> bool {
    required.iter().all(|Requirement { key, values }| {
        let value = key.value(subject);
        values.iter().any(|allowed| allowed == value)
    })
}

/// The keys that the groups `.config` and `.fullname` leave out.
#[derive(Clone, Debug, Default)]
pub struct Exclusions {
    name: bool,
    gomaxprocs: bool,
    /// Keys of parts `/key=value`, without the slash.
    parts: Vec<BString>,
    configuration: Vec<BString>,
}

impl Exclusions {
    /// Leaves out the given keys; the groups themselves and `.file` make no difference.
    fn new<'a>(keys: impl Iterator<Item = &'a Key>) -> Self {
        let mut exclusions = Self::default();
        for key in keys {
            match key {
                Key::Name => exclusions.name = true,
                Key::Gomaxprocs => {
                    exclusions.gomaxprocs = true;
                    exclusions.parts.push("gomaxprocs".into());
                }
                Key::Sub(key) => exclusions.parts.push(key.clone()),
                Key::Configuration(key) => exclusions.configuration.push(key.clone()),
                Key::FullName | Key::File | Key::Unit | Key::Config => {}
            }
        }
        exclusions
    }

    /// Whether `.config` leaves out this configuration key.
    #[must_use]
    pub fn excludes_configuration(&self, key: &[u8]) -> bool {
        self.configuration.iter().any(|excluded| excluded == key)
    }

    /// The value of `.fullname`: without all parts whose key is named elsewhere,
    /// without `-N` if `/gomaxprocs` is, and with `*` for the base if `.name` is.
    #[must_use]
    pub fn full_name<'a>(&self, name: Name<'a>) -> Cow<'a, BStr> {
        let suffix = if self.gomaxprocs {
            BStr::new(b"")
        } else {
            name.suffix()
        };
        if !self.name && !name.parts().any(|part| self.excludes_part(part)) {
            let cut = name.suffix().len() - suffix.len();
            let full: &'a [u8] = name.full();
            return Cow::Borrowed(BStr::new(&full[..full.len() - cut]));
        }
        let mut rest = BString::new(Vec::with_capacity(name.full().len() + 1));
        rest.extend_from_slice(if self.name { b"*" } else { name.base() });
        for part in name.parts().filter(|part| !self.excludes_part(part)) {
            rest.extend_from_slice(part);
        }
        rest.extend_from_slice(suffix);
        Cow::Owned(rest)
    }

    fn excludes_part(&self, part: &BStr) -> bool {
        self.parts.iter().any(|key| part_value(part, key).is_some())
    }
}
