//! Records in, samples out.
//!
//! What the query makes of a result depends on its name, its configuration and
//! its units alone. So the builder works that out once for each combination,
//! keeps the answer as a [`Recipe`] with [`Link`]s to cells, and for all later
//! lines only follows the links. Such a line allocates nothing but room for
//! its values.

use std::collections::BTreeSet;

use bstr::{BStr, BString, ByteSlice};
use hashbrown::HashMap;
use indexmap::IndexSet;

use super::names::{Names, Numbers};
use super::samples::{Sample, SampleTable, Samples};
use crate::query::{FieldValue, KeyId, Outcome, Projector, Query, Subject};
use crate::record::{Configuration, Name, ResultRecord};
use crate::unit::Tidied;

/// Sorts the results of one or more inputs into cells.
#[derive(Debug)]
pub struct Builder<'q> {
    query: &'q Query,
    table: Projector<'q>,
    row: Projector<'q>,
    column: Projector<'q>,
    configurations: Numbers<Configuration>,
    /// The reader's version of the configuration that `configuration` numbers.
    configuration_version: Option<u64>,
    configuration: u32,
    /// Configuration and name of each recipe.
    names: Names,
    /// By the numbers of `names`; none for results that the query drops.
    recipes: Vec<Option<Recipe>>,
    /// The recipe of the line before: results of one benchmark mostly stand together.
    previous: Option<u32>,
    units: Units,
    cells: Vec<Cell>,
    cell_numbers: HashMap<CellKey, u32, foldhash::fast::RandomState>,
    /// Every new link in order, so that another builder can make the same ones.
    log: Vec<LoggedLink>,
    /// All configuration keys, in order of first appearance.
    configuration_keys: IndexSet<BString>,
}

/// What the query makes of a benchmark under a configuration.
#[derive(Debug)]
struct Recipe {
    table: KeyId,
    row: KeyId,
    column: KeyId,
    outcome: Outcome,
    links: Vec<Link>,
}

/// Where the values of a unit go.
#[derive(Clone, Copy, Debug)]
struct Link {
    /// The unit as written.
    unit: u32,
    /// For values that tidying changes.
    tidied: Target,
    /// For values that keep their written unit.
    kept: Target,
}

/// A cell, once it is known.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Target {
    Unknown,
    Dropped,
    Cell(u32),
}

#[derive(Clone, Copy, Debug)]
struct LoggedLink {
    recipe: u32,
    unit: u32,
    keeps_unit: bool,
    cell: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct CellKey {
    table: KeyId,
    /// A number of `Units::tables`.
    unit: u32,
    row: KeyId,
    column: KeyId,
}

#[derive(Debug)]
struct Cell {
    key: CellKey,
    /// The first recipe that led here, with which all others are compared.
    recipe: u32,
    /// The configuration keys in which they differ, by their numbers.
    varying: BTreeSet<usize>,
    varies_in_name: bool,
    values: Vec<f64>,
}

/// The units of an input.
#[derive(Debug, Default)]
struct Units {
    written: Names,
    tidied: Vec<Tidied>,
    /// The units of tables: tidied ones, and written ones where a value kept it.
    /// Their order is that of the tables.
    tables: Numbers<BString>,
}

impl Units {
    /// The number of a unit as written.
    fn intern(&mut self, unit: &BStr) -> u32 {
        let (number, is_new) = self.written.intern(0, unit);
        if is_new {
            self.tidied.push(Tidied::new(unit));
        }
        number
    }

    fn written(&self, number: u32) -> &BStr {
        self.written.get(number).1
    }

    fn tidied(&self, number: u32) -> &Tidied {
        &self.tidied[number as usize]
    }
}

impl<'q> Builder<'q> {
    /// An empty builder.
    #[must_use]
    pub fn new(query: &'q Query) -> Self {
        Self {
            query,
            table: query.table(),
            row: query.row(),
            column: query.column(),
            configurations: Numbers::default(),
            configuration_version: None,
            configuration: 0,
            names: Names::default(),
            recipes: Vec::new(),
            previous: None,
            units: Units::default(),
            cells: Vec::new(),
            cell_numbers: HashMap::default(),
            log: Vec::new(),
            configuration_keys: IndexSet::new(),
        }
    }

    /// Adds the measurements of `record`, but for those that are not finite,
    /// which go to `left_out` with their unit.
    ///
    /// All records must come from one reader: several inputs take a builder
    /// each and [`Builder::merge`].
    pub fn add(&mut self, record: &ResultRecord<'_>, left_out: &mut dyn FnMut(f64, &BStr)) {
        let number = self.recipe_number(record);
        let Some(mut recipe) = self.recipes[number as usize].take() else {
            return;
        };
        for (index, measurement) in record.measurements().enumerate() {
            if !measurement.value.is_finite() {
                left_out(measurement.value, measurement.unit);
                continue;
            }
            let link = self.link_for(&mut recipe, index, measurement.unit);
            let tidied = self.units.tidied(recipe.links[link].unit).apply(measurement.value);
            let keeps_unit = tidied.is_none();
            let value = tidied.unwrap_or(measurement.value);
            if !value.is_finite() {
                left_out(value, measurement.unit);
                continue;
            }
            match self.target(number, &mut recipe, link, keeps_unit) {
                Target::Cell(cell) => self.cells[cell as usize].values.push(value),
                Target::Dropped | Target::Unknown => {}
            }
        }
        self.recipes[number as usize] = Some(recipe);
    }

    /// Appends what `other` has collected, as if its records had been added here.
    pub fn merge(&mut self, other: Self) {
        self.previous = None;
        self.configuration_version = None;
        let mut cells = vec![None; other.cells.len()];
        for logged in &other.log {
            let (configuration, name) = other.names.get(logged.recipe);
            let configuration = self.configurations.intern_ref(other.configurations.get(configuration));
            let number = self.recipe_of(configuration, name);
            let Some(mut recipe) = self.recipes[number as usize].take() else {
                continue;
            };
            let link = self.link_for(&mut recipe, usize::MAX, other.units.written(logged.unit));
            if let Target::Cell(cell) = self.target(number, &mut recipe, link, logged.keeps_unit) {
                cells[logged.cell as usize] = Some(cell);
            }
            self.recipes[number as usize] = Some(recipe);
        }
        for (cell, theirs) in cells.into_iter().zip(other.cells) {
            let Some(cell) = cell else { continue };
            let ours = &mut self.cells[cell as usize].values;
            if ours.is_empty() {
                *ours = theirs.values;
            } else {
                ours.extend(theirs.values);
            }
        }
    }

    /// The number of the recipe for a record.
    fn recipe_number(&mut self, record: &ResultRecord<'_>) -> u32 {
        if self.configuration_version != Some(record.configuration_version()) {
            self.configuration_version = Some(record.configuration_version());
            self.configuration = self.configurations.intern_ref(record.configuration());
        }
        if let Some(previous) = self.previous
            && self.names.get(previous) == (self.configuration, record.name())
        {
            return previous;
        }
        let number = self.recipe_of(self.configuration, record.name());
        self.previous = Some(number);
        number
    }

    /// The number of the recipe for a name under a configuration, made now if it is new.
    fn recipe_of(&mut self, configuration: u32, name: &BStr) -> u32 {
        let (number, is_new) = self.names.intern(configuration, name);
        if is_new {
            let recipe = self.new_recipe(configuration, name);
            self.recipes.push(recipe);
        }
        number
    }

    fn new_recipe(&mut self, configuration: u32, name: &BStr) -> Option<Recipe> {
        let subject = Subject {
            name: Name::new(name),
            configuration: self.configurations.get(configuration),
        };
        let outcome = self.query.filter().apply(&subject);
        if outcome == Outcome::Drop || !self.query.keeps(&subject) {
            return None;
        }
        for (key, _) in subject.configuration.iter() {
            if !self.configuration_keys.contains(key) {
                self.configuration_keys.insert(key.into());
            }
        }
        Some(Recipe {
            table: self.table.project(&subject),
            row: self.row.project(&subject),
            column: self.column.project(&subject),
            outcome,
            links: Vec::new(),
        })
    }

    /// The index of the link for a unit, which mostly is the one at the
    /// measurement's own place in the line.
    fn link_for(&mut self, recipe: &mut Recipe, place: usize, unit: &BStr) -> usize {
        let is_unit = |link: &Link| self.units.written(link.unit) == unit;
        if recipe.links.get(place).is_some_and(is_unit) {
            return place;
        }
        if let Some(index) = recipe.links.iter().position(is_unit) {
            return index;
        }
        recipe.links.push(Link {
            unit: self.units.intern(unit),
            tidied: Target::Unknown,
            kept: Target::Unknown,
        });
        recipe.links.len() - 1
    }

    /// Where values of a link go, found out now if it is not known yet.
    fn target(&mut self, number: u32, recipe: &mut Recipe, link: usize, keeps_unit: bool) -> Target {
        let Link { unit, tidied, kept } = recipe.links[link];
        let known = if keeps_unit { kept } else { tidied };
        if known != Target::Unknown {
            return known;
        }
        let written = self.units.written(unit);
        let shown: &BStr = if keeps_unit { written } else { self.units.tidied(unit).unit.as_ref() };
        let is_kept = match &recipe.outcome {
            Outcome::Keep => true,
            Outcome::Drop => false,
            Outcome::ByUnit(filter) => filter.matches(shown, written),
        };
        let target = if is_kept {
            let key = CellKey {
                table: recipe.table,
                unit: self.units.tables.intern(shown.to_owned()),
                row: recipe.row,
                column: recipe.column,
            };
            let cell = self.cell(key, number);
            self.log.push(LoggedLink { recipe: number, unit, keeps_unit, cell });
            Target::Cell(cell)
        } else {
            Target::Dropped
        };
        let link = &mut recipe.links[link];
        *(if keeps_unit { &mut link.kept } else { &mut link.tidied }) = target;
        target
    }

    /// The cell for `key`, to which results of recipe `number` come from now on.
    fn cell(&mut self, key: CellKey, number: u32) -> u32 {
        if let Some(&cell) = self.cell_numbers.get(&key) {
            self.note_residue(cell, number);
            return cell;
        }
        let cell = u32::try_from(self.cells.len()).expect("fewer than 2^32 cells");
        self.cell_numbers.insert(key, cell);
        self.cells.push(Cell {
            key,
            recipe: number,
            varying: BTreeSet::new(),
            varies_in_name: false,
            values: Vec::new(),
        });
        cell
    }

    /// Notes in which keys that no projection names the results of a cell differ.
    fn note_residue(&mut self, cell: u32, number: u32) {
        let cell = &mut self.cells[cell as usize];
        let (first_configuration, first_name) = self.names.get(cell.recipe);
        let (configuration, name) = self.names.get(number);
        let residue = self.query.residue();
        if residue.configuration() && configuration != first_configuration {
            let first = self.configurations.get(first_configuration);
            let other = self.configurations.get(configuration);
            for key in first.iter().chain(other.iter()).map(|(key, _)| key) {
                if first.get(key) != other.get(key) && !residue.excludes_configuration(key) {
                    cell.varying.extend(self.configuration_keys.get_index_of(key));
                }
            }
        }
        if residue.full_name() && name != first_name {
            let shorten = |name| residue.shorten(Name::new(name));
            cell.varies_in_name |= shorten(name) != shorten(first_name);
        }
    }

    /// Sorts cells into tables, rows and columns.
    #[must_use]
    pub fn finish(self) -> Samples {
        let tables = ranks(&self.table);
        let rows = ranks(&self.row);
        let columns = ranks(&self.column);
        let mut cells = self.cells;
        cells.sort_by_key(|cell| (tables[cell.key.table.index()], cell.key.unit, rows[cell.key.row.index()]));
        let mut cells = cells.into_iter().peekable();
        let mut samples = Samples { tables: Vec::new() };
        while let Some(first) = cells.peek().map(|cell| cell.key) {
            let mut group: Vec<Cell> = Vec::new();
            while let Some(cell) = cells.next_if(|cell| (cell.key.table, cell.key.unit) == (first.table, first.unit)) {
                group.push(cell);
            }
            let mut column_ids: Vec<KeyId> = group.iter().map(|cell| cell.key.column).collect();
            column_ids.sort_by_key(|id| columns[id.index()]);
            column_ids.dedup();
            let mut row_ids: Vec<KeyId> = group.iter().map(|cell| cell.key.row).collect();
            row_ids.dedup();
            let mut places: Vec<Option<Sample>> = Vec::new();
            places.resize_with(row_ids.len() * column_ids.len(), || None);
            let mut row = 0;
            for cell in group {
                row += row_ids[row..].iter().position(|id| *id == cell.key.row).unwrap_or_default();
                let column = column_ids
                    .binary_search_by_key(&columns[cell.key.column.index()], |id| columns[id.index()])
                    .unwrap_or_default();
                let mut varying: Vec<BString> =
                    cell.varying.iter().map(|&key| self.configuration_keys[key].clone()).collect();
                if cell.varies_in_name {
                    varying.push(".fullname".into());
                }
                places[row * column_ids.len() + column] = Some(Sample { values: cell.values, varying });
            }
            samples.tables.push(SampleTable {
                key: self.table.values(first.table),
                unit: self.units.tables.get(first.unit).clone(),
                columns: column_ids.iter().map(|&id| self.column.values(id)).collect(),
                rows: row_ids.iter().map(|&id| self.row.values(id)).collect(),
                samples: places,
            });
        }
        samples
    }
}

/// The place of each key in the order of its projection, by the key's index.
fn ranks(projector: &Projector<'_>) -> Vec<usize> {
    let order = projector.sorted();
    let mut ranks = vec![0; order.len()];
    for (rank, id) in order.iter().enumerate() {
        ranks[id.index()] = rank;
    }
    ranks
}
