//! The four projections of a run together.

use std::borrow::Cow;
use std::sync::Arc;

use bstr::{BStr, BString};

use super::key::{Key, Subject};
use super::projection::{ProjectedKey, Projection};
use super::projector::{KeyId, Projector};
use super::sort::ValueOrder;
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
    ignore: Projection,
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

/// What the program does without flags: tables by `.config`, rows by
/// `.fullname`, columns by `.file`, and nothing ignored.
impl Default for Layout {
    fn default() -> Self {
        let whole = |key| {
            let field = ProjectedKey {
                key,
                order: ValueOrder::First,
                span: 0..0,
            };
            [field].into_iter().collect()
        };
        Self::new(
            whole(Key::Config),
            whole(Key::FullName),
            whole(Key::File),
            &Projection::default(),
        )
    }
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
            .map(|key| ProjectedKey {
                key,
                order: ValueOrder::First,
                span: 0..0,
            })
            .collect();
        let required = fields()
            .filter_map(|field| match &field.order {
                ValueOrder::Fixed(values) => Some(Requirement {
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
            ignore: ignore.clone(),
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

    /// The projections by their flags, in the order of `--help`.
    pub fn by_flag(&self) -> impl Iterator<Item = (&'static str, &Projection)> {
        [
            ("table", &self.table),
            ("row", &self.row),
            ("col", &self.column),
            ("ignore", &self.ignore),
        ]
        .into_iter()
    }

    /// What makes tables, beside the unit.
    #[must_use]
    pub fn table(&self) -> &Projection {
        &self.table
    }

    /// What makes columns.
    #[must_use]
    pub fn column(&self) -> &Projection {
        &self.column
    }

    /// What is left out of account.
    #[must_use]
    pub fn ignore(&self) -> &Projection {
        &self.ignore
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
    /// How much the keys hold of configurations, in values as reports have them.
    #[must_use]
    pub fn held(&self) -> usize {
        /// Residues stay numbers, of which so many take the room of a value.
        const NUMBERS_A_VALUE: usize = 8;
        let shown = [&self.table, &self.row, &self.column].map(Projector::member_values);
        let shown = shown.into_iter().fold(0, usize::saturating_add);
        shown.saturating_add(self.residue.numbers() / NUMBERS_A_VALUE)
    }

    /// Projects a result, unless a fixed list drops it, which leaves no trace.
    ///
    /// Equal configurations must come with equal numbers, others with others. The
    /// keys depend on nothing but the results projected before, in order.
    pub fn project(&mut self, subject: &Subject<'_>, configuration: u32) -> Option<Placement> {
        passes(&self.required, subject).then(|| Placement {
            table: self.table.project_numbered(subject, configuration),
            row: self.row.project_numbered(subject, configuration),
            column: self.column.project_numbered(subject, configuration),
            residue: self.residue.project_numbered(subject, configuration),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Configuration;

    fn layout(table: &str, row: &str, column: &str, ignore: &str) -> Layout {
        let parse = |query| Projection::parse(query).unwrap();
        Layout::new(parse(table), parse(row), parse(column), &parse(ignore))
    }

    fn full_name(keys: &str, name: &str) -> String {
        layout("", "", keys, "")
            .exclusions()
            .full_name(Name::new(name.as_bytes()))
            .to_string()
    }

    #[test]
    fn the_full_name_is_without_what_other_keys_read() {
        for (keys, name, rest) in [
            ("", "X/a=1-8", "X/a=1-8"),
            (".file,goos", "X/a=1-8", "X/a=1-8"),
            (".name", "X/a=1-8", "*/a=1-8"),
            (".name", "-8", "*-8"),
            ("/a", "X/a=1/b/a=2-4", "X/b-4"),
            ("/a", "X/ab=1/a/-8", "X/ab=1/a/-8"),
            ("/a", "/a=", ""),
            ("/", "X/=z/y", "X/y"),
            ("/gomaxprocs", "X-8-16", "X-8"),
            ("/gomaxprocs", "X/gomaxprocs=4/b-8", "X/b"),
            (".name,/a,/gomaxprocs", "X/a=1-8", "*"),
        ] {
            assert_eq!(full_name(keys, name), rest, "{keys} of {name}");
        }
    }

    #[test]
    fn a_name_that_loses_nothing_or_its_end_is_not_copied() {
        for keys in ["/b", "/gomaxprocs"] {
            let layout = layout("", "", keys, "");
            let name = layout.exclusions().full_name(Name::new(b"X/a=1-8"));
            assert!(matches!(name, Cow::Borrowed(_)), "{keys}");
        }
    }

    #[test]
    fn a_key_named_anywhere_leaves_the_groups() {
        for position in 0..4 {
            let mut queries = [""; 4];
            queries[position] = "goos@alpha";
            let [table, row, column, ignore] = queries;
            let layout = layout(table, row, column, ignore);
            assert!(layout.exclusions().excludes_configuration(b"goos"));
            assert!(!layout.exclusions().excludes_configuration(b"goarch"));
        }
    }

    #[test]
    fn the_residue_is_the_groups_that_are_not_named() {
        for (table, ignore, residue) in [
            ("", "", ".config,.fullname"),
            (".config", "", ".fullname"),
            (".name,goos", ".fullname", ".config"),
            (".config", ".fullname", ""),
        ] {
            assert_eq!(layout(table, "", "", ignore).residue().to_string(), residue);
        }
    }

    #[test]
    fn a_result_that_a_list_drops_leaves_no_trace() {
        let layout = layout("", "/a", ".config", "/v@(c)");
        let mut projectors = layout.projectors();
        let mut configuration = Configuration::new("x");
        for (number, (key, name, kept)) in (0..).zip([
            ("k1", "X/a=9/v=x", false),
            ("k2", "X/a=1/v=c", true),
            ("k2", "X/a=9/v=c", true),
        ]) {
            configuration.set(key.as_bytes(), b"1");
            let subject = Subject {
                name: Name::new(name.as_bytes()),
                configuration: &configuration,
            };
            assert_eq!(layout.keeps(&subject), kept);
            assert_eq!(projectors.project(&subject, number).is_some(), kept);
            configuration.set(key.as_bytes(), b"");
        }
        assert_eq!(projectors.column.names().collect::<Vec<_>>(), ["k2"]);
        let first = projectors.row.ids().next().unwrap();
        assert_eq!(projectors.row.values(first).next().unwrap().1, "1");
    }

    #[test]
    fn a_list_of_full_names_holds_them_as_written() {
        let layout = layout("", ".fullname@(X/v=c)", "/v", "");
        let configuration = Configuration::new("x");
        let subject = |name| Subject {
            name,
            configuration: &configuration,
        };
        assert!(layout.keeps(&subject(Name::new(b"X/v=c"))));
        assert!(!layout.keeps(&subject(Name::new(b"X"))));
    }
}
