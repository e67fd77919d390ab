//! Records in, samples out.
//!
//! What the query makes of a result depends on its name, its configuration and
//! its units alone. So the builder works that out once for each combination,
//! keeps the answer as a [`Benchmark`] with the cell of each [`Series`], and for all later
//! lines only follows the series. Such a line allocates nothing but room for
//! its values.

use std::hash::{Hash, Hasher};
use std::num::NonZero;
use std::sync::Arc;

use bstr::{BStr, BString};
use hashbrown::HashMap;
use indexmap::Equivalent;
use smallvec::SmallVec;

use super::samples::{Field, Sample, SampleTable, Samples};
use super::seen::SeenKeys;
use super::values::Values;
use crate::common::Interner;
use crate::query::{Filter, KeyId, Layout, Placement, Projector, Projectors, Selected, Subject};
use crate::record::{Configuration, Measurement, Name, ResultRecord};
use crate::unit::Tidied;

/// Sorts the results of one or more inputs into cells.
#[derive(Debug)]
pub struct Builder<'q> {
    filter: &'q Filter,
    projectors: Projectors,
    configurations: Interner<Configuration>,
    /// How many values those have in all.
    configured: usize,
    /// The reader of the results before, whose versions and numbers are those below.
    reader: Option<u64>,
    /// The reader's version of the configuration that `configuration` numbers.
    configuration_version: Option<u64>,
    configuration: u32,
    /// All benchmarks, used or not.
    names: Interner<BenchmarkName>,
    /// By the numbers of `names`; none for those that the query drops.
    benchmarks: Vec<Option<Box<Benchmark>>>,
    /// The reader's version of the name before, and the number of its benchmark:
    /// results of one benchmark mostly stand together.
    previous: Option<(u64, u32)>,
    units: Units,
    cells: Vec<CellValues>,
    /// How many values the last complete cell has: the next ones mostly have as many.
    expected_values: usize,
    cell_numbers: HashMap<CellKey, CellNumber, foldhash::fast::RandomState>,
    /// Every new series in order, so that another builder can make the same ones.
    log: Vec<LoggedSeries>,
    /// By the index of the cell: the rounds of its values, up to the last that has one; cells without any are not here.
    rounds: HashMap<usize, Vec<u32>, foldhash::fast::RandomState>,
    /// How many measurements that the filter keeps were left out.
    not_finite: usize,
}

/// A benchmark by its name and the number of its configuration.
#[derive(Debug, PartialEq, Eq)]
struct BenchmarkName {
    configuration: u32,
    name: BString,
}

/// A [`BenchmarkName`] of which the name is borrowed.
#[derive(Hash)]
struct BenchmarkNameRef<'a> {
    configuration: u32,
    name: &'a BStr,
}

/// As the borrowed one, as each has to be found by the other.
impl Hash for BenchmarkName {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.borrowed().hash(state);
    }
}

impl Equivalent<BenchmarkName> for BenchmarkNameRef<'_> {
    fn equivalent(&self, owned: &BenchmarkName) -> bool {
        self.configuration == owned.configuration && owned.name == self.name
    }
}

impl BenchmarkName {
    fn borrowed(&self) -> BenchmarkNameRef<'_> {
        BenchmarkNameRef {
            configuration: self.configuration,
            name: self.name.as_ref(),
        }
    }
}

/// What the query makes of a benchmark under a configuration.
#[derive(Debug)]
struct Benchmark {
    /// Found out when the first measurement is kept: results of which nothing
    /// is kept must leave no trace in the keys.
    placement: Option<Placement>,
    outcome: Selected,
    /// One for each unit, of which there are few.
    series: SmallVec<[Series; 3]>,
}

impl Benchmark {
    /// Whether the filter keeps measurements in a unit, given as it is shown and as it is written.
    fn keeps(&self, shown: &BStr, written: &BStr) -> bool {
        match &self.outcome {
            Selected::Keep => true,
            Selected::Drop => false,
            Selected::ByUnit(filter) => filter.matches(shown, written),
        }
    }
}

/// Where the values of a unit go.
#[derive(Clone, Copy, Debug)]
struct Series {
    /// The unit as written.
    unit: u32,
    /// The reader's number for it; [`NO_UNIT`] if that is not known.
    reader_unit: u32,
    /// The unit's factor.
    factor: f64,
    cell: CellNumber,
}

/// A unit that no reader has seen.
const NO_UNIT: u32 = u32::MAX;

/// The index of a cell, once it is known; most values pass by here, so that it is one number.
#[derive(Clone, Copy, Debug, PartialEq)]
struct CellNumber(u32);

impl CellNumber {
    const UNKNOWN: Self = Self(u32::MAX);
    const DROPPED: Self = Self(u32::MAX - 1);

    fn cell(index: usize) -> Self {
        let index = u32::try_from(index)
            .ok()
            .filter(|index| *index < Self::DROPPED.0);
        Self(index.expect("fewer than 2^32 cells"))
    }

    /// No cell has this index unless it is known and not dropped.
    fn index(self) -> usize {
        self.0 as usize
    }

    fn is_cell(self) -> bool {
        self.0 < Self::DROPPED.0
    }
}

#[derive(Clone, Copy, Debug)]
struct LoggedSeries {
    benchmark: u32,
    unit: u32,
    cell: CellNumber,
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
struct CellValues {
    key: CellKey,
    /// What no projection names of the results that came here.
    /// Mostly they are all the same.
    residues: SmallVec<[KeyId; 2]>,
    values: Values,
}

/// The units of an input.
#[derive(Debug, Default)]
struct Units {
    written: Interner<BString>,
    tidied: Vec<Tidied>,
    /// The number of each one's table unit, once it is known.
    shown: Vec<Option<u32>>,
    /// The tidied units, in the order of the tables.
    tables: Interner<BString>,
}

impl Units {
    /// The number of a unit as written, and whether it is new.
    fn intern(&mut self, unit: &BStr) -> (u32, bool) {
        let (number, is_new) = self.written.intern(unit, ToOwned::to_owned);
        if is_new {
            self.tidied.push(Tidied::new(unit));
            self.shown.push(None);
        }
        (number, is_new)
    }

    /// The number of the table unit for values of a unit as written.
    fn table(&mut self, number: u32) -> u32 {
        self.shown[number as usize].unwrap_or_else(|| {
            let unit = &self.tidied[number as usize].unit;
            let (table, _) = self.tables.intern(unit, Clone::clone);
            self.shown[number as usize] = Some(table);
            table
        })
    }

    /// All units as written, in the order of their numbers.
    fn iter(&self) -> impl Iterator<Item = &BStr> {
        self.written.iter().map(AsRef::as_ref)
    }

    fn written(&self, number: u32) -> &BStr {
        self.written.get(number).as_ref()
    }

    fn tidied(&self, number: u32) -> &Tidied {
        &self.tidied[number as usize]
    }
}

/// Notes that the last of a cell's `count` values was measured in `round`.
fn note_round(
    rounds: &mut HashMap<usize, Vec<u32>, foldhash::fast::RandomState>,
    cell: usize,
    count: usize,
    round: NonZero<u32>,
) {
    let rounds = rounds.entry(cell).or_default();
    rounds.resize(count - 1, 0);
    rounds.push(round.get());
}

/// How many values all the different configurations of results may have
/// together. Some 100,000 configurations of 40 keys are in it.
///
/// Keys and reports hold each configuration whole, so that a file that sets
/// another new key before every result takes memory as the square of its length,
/// even if it deletes the key before.
pub const MOST_CONFIGURED: usize = 1 << 22;

/// Room for more values is only made when they come.
const MOST_EXPECTED: usize = 1024;

impl<'q> Builder<'q> {
    /// An empty builder.
    #[must_use]
    pub fn new(filter: &'q Filter, layout: &Layout) -> Self {
        Self {
            filter,
            projectors: layout.projectors(),
            configurations: Interner::default(),
            configured: 0,
            reader: None,
            configuration_version: None,
            configuration: 0,
            names: Interner::default(),
            benchmarks: Vec::new(),
            previous: None,
            units: Units::default(),
            cells: Vec::new(),
            expected_values: 0,
            cell_numbers: HashMap::default(),
            log: Vec::new(),
            rounds: HashMap::default(),
            not_finite: 0,
        }
    }

    /// Adds the measurements of `record`, but for those that are not finite,
    /// which go to `left_out` with their unit.
    ///
    /// Records may come from several readers. That pays where those follow one another; inputs read side by side take a
    /// builder each and [`Builder::merge`].
    pub fn add(&mut self, record: &ResultRecord<'_>, left_out: &mut dyn FnMut(f64, &BStr)) {
        let number = self.benchmark_number(record);
        let Some(benchmark) = &self.benchmarks[number as usize] else {
            return;
        };
        let round = record.round();
        // All parts of a line that were seen before are followed here, and the rest below.
        let mut known = 0;
        for ((value, unit), series) in record.numbered_measurements().zip(&benchmark.series) {
            let scaled = value * series.factor;
            let Some(cell) = self.cells.get_mut(series.cell.index()) else {
                break;
            };
            if series.reader_unit != unit || !scaled.is_finite() {
                break;
            }
            cell.values.push_of(scaled, self.expected_values);
            if let Some(round) = round {
                note_round(
                    &mut self.rounds,
                    series.cell.index(),
                    cell.values.len(),
                    round,
                );
            }
            known += 1;
        }
        if known == record.numbered_measurements().len() {
            return;
        }
        let numbered = record.numbered_measurements().zip(record.measurements());
        for (place, ((_, unit), measurement)) in numbered.enumerate().skip(known) {
            self.add_measurement(number, place, (unit, measurement), round, left_out);
        }
    }

    /// Adds a measurement that may be the first of its kind.
    fn add_measurement(
        &mut self,
        number: u32,
        place: usize,
        (unit, measurement): (u32, Measurement<'_>),
        round: Option<NonZero<u32>>,
        left_out: &mut dyn FnMut(f64, &BStr),
    ) {
        let Some(mut benchmark) = self.benchmarks[number as usize].take() else {
            return;
        };
        if measurement.value.is_finite() {
            let series = self.series_for(&mut benchmark, place, measurement.unit);
            benchmark.series[series].reader_unit = unit;
            let value = measurement.value * benchmark.series[series].factor;
            if value.is_finite() {
                let cell_number = self.cell_of_series(number, &mut benchmark, series);
                if let Some(cell) = self.cells.get_mut(cell_number.index()) {
                    cell.values.push_of(value, self.expected_values);
                    if let Some(round) = round {
                        note_round(
                            &mut self.rounds,
                            cell_number.index(),
                            cell.values.len(),
                            round,
                        );
                    }
                }
            } else {
                self.leave_out(&benchmark, value, measurement.unit, left_out);
            }
        } else {
            self.leave_out(&benchmark, measurement.value, measurement.unit, left_out);
        }
        self.benchmarks[number as usize] = Some(benchmark);
    }

    /// Tells of a measurement that is no finite number.
    fn leave_out(
        &mut self,
        benchmark: &Benchmark,
        value: f64,
        unit: &BStr,
        left_out: &mut dyn FnMut(f64, &BStr),
    ) {
        let shown = Tidied::new(unit).unit;
        self.not_finite += usize::from(benchmark.keeps(shown.as_ref(), unit));
        left_out(value, unit);
    }

    /// What there is to ask for in the results so far. It takes time to look at
    /// every name, so that is only done `with_names`.
    #[must_use]
    pub fn seen(&self, with_names: bool) -> SeenKeys {
        let mut seen = SeenKeys {
            benchmarks: self.benchmarks.len(),
            used: self.benchmarks.iter().flatten().count(),
            not_finite: self.not_finite,
            ..SeenKeys::default()
        };
        let names = self.names.iter();
        if with_names {
            for benchmark in names.clone() {
                seen.add_name(benchmark.name.as_ref());
            }
        }
        if seen.add_configurations(self.configurations.iter()) {
            seen.find_changing(names.map(
                |BenchmarkName {
                     configuration,
                     name,
                 }| { (name.as_ref(), self.configurations.get(*configuration)) },
            ));
        }
        seen
    }

    /// Appends what `other` has collected, as if its records had been added here.
    pub fn merge(&mut self, other: Self) {
        self.previous = None;
        self.configuration_version = None;
        self.cells.reserve(other.cells.len());
        self.cell_numbers.reserve(other.cells.len());
        let mut cells = vec![CellNumber::UNKNOWN; other.cells.len()];
        let units: Vec<u32> = other
            .units
            .iter()
            .map(|unit| self.units.intern(unit).0)
            .collect();
        // Series of one benchmark mostly stand together, and benchmarks of one configuration.
        let (mut last_benchmark, mut last_configuration) = (None, None);
        for logged in &other.log {
            let number = match last_benchmark {
                Some((theirs, ours)) if theirs == logged.benchmark => ours,
                _ => {
                    let BenchmarkName {
                        configuration: theirs,
                        name,
                    } = other.names.get(logged.benchmark);
                    let configuration = match last_configuration {
                        Some((known, ours)) if known == *theirs => ours,
                        _ => self.configuration_number(other.configurations.get(*theirs)),
                    };
                    last_configuration = Some((*theirs, configuration));
                    self.benchmark_of(configuration, name.as_ref())
                }
            };
            last_benchmark = Some((logged.benchmark, number));
            let Some(mut benchmark) = self.benchmarks[number as usize].take() else {
                continue;
            };
            let series = self.series_of_unit(&mut benchmark, units[logged.unit as usize]);
            cells[logged.cell.index()] = self.cell_of_series(number, &mut benchmark, series);
            self.benchmarks[number as usize] = Some(benchmark);
        }
        for (index, (cell_number, theirs)) in cells.into_iter().zip(other.cells).enumerate() {
            let Some(cell) = self.cells.get_mut(cell_number.index()) else {
                continue;
            };
            let ours = &mut cell.values;
            if let Some(theirs) = other.rounds.get(&index) {
                let rounds = self.rounds.entry(cell_number.index()).or_default();
                rounds.resize(ours.len(), 0);
                rounds.extend(theirs);
            }
            if ours.is_empty() {
                *ours = theirs.values;
            } else {
                ours.extend(theirs.values.iter());
            }
        }
    }

    /// Whether configurations have no more values than [`MOST_CONFIGURED`], and keys no more than twice as many: a key has
    /// a value of each configuration key there ever was.
    #[must_use]
    pub fn has_room(&self) -> bool {
        self.configured <= MOST_CONFIGURED && self.projectors.held() <= 2 * MOST_CONFIGURED
    }

    fn configuration_number(&mut self, configuration: &Configuration) -> u32 {
        let (number, is_new) = self.configurations.intern(configuration, Clone::clone);
        if is_new {
            self.configured += configuration.len();
        }
        number
    }

    /// Forgets what is known of the numbers and versions of the reader before.
    fn change_reader(&mut self, reader: u64) {
        self.reader = Some(reader);
        self.configuration_version = None;
        self.previous = None;
        for benchmark in self.benchmarks.iter_mut().flatten() {
            for series in &mut benchmark.series {
                series.reader_unit = NO_UNIT;
            }
        }
    }

    /// The number of the benchmark for a record.
    fn benchmark_number(&mut self, record: &ResultRecord<'_>) -> u32 {
        if self.reader != Some(record.reader()) {
            self.change_reader(record.reader());
        }
        let version = Some(record.configuration_version());
        if self.configuration_version != version {
            self.configuration_version = version;
            self.configuration = self.configuration_number(record.configuration());
            self.previous = None;
        }
        match self.previous {
            Some((name_version, number)) if name_version == record.name_version() => number,
            _ => {
                let number = self.benchmark_of(self.configuration, record.name());
                self.previous = Some((record.name_version(), number));
                number
            }
        }
    }

    /// The number of the benchmark for a name under a configuration, made now if it is new.
    fn benchmark_of(&mut self, configuration: u32, name: &BStr) -> u32 {
        let benchmark = BenchmarkNameRef {
            configuration,
            name,
        };
        let (number, is_new) = self.names.intern(&benchmark, |benchmark| BenchmarkName {
            configuration,
            name: benchmark.name.to_owned(),
        });
        if is_new {
            self.expected_values = self
                .cells
                .last()
                .map_or(0, |cell| cell.values.len().min(MOST_EXPECTED));
            let benchmark = self.new_benchmark(configuration, name);
            self.benchmarks.push(benchmark);
        }
        number
    }

    fn new_benchmark(&mut self, configuration: u32, name: &BStr) -> Option<Box<Benchmark>> {
        let subject = Subject {
            name: Name::new(name),
            configuration: self.configurations.get(configuration),
        };
        let outcome = self.filter.apply(&subject);
        if matches!(outcome, Selected::Drop) {
            return None;
        }
        Some(Box::new(Benchmark {
            placement: None,
            outcome,
            series: SmallVec::new(),
        }))
    }

    /// The index of the series for a unit, which mostly is the one at the
    /// measurement's own place in the line.
    fn series_for(&mut self, benchmark: &mut Benchmark, place: usize, unit: &BStr) -> usize {
        let is_unit = |series: &Series| self.units.written(series.unit) == unit;
        if benchmark.series.get(place).is_some_and(is_unit) {
            return place;
        }
        let (unit, is_new) = self.units.intern(unit);
        // A unit that is new to all has no series here either: a line of many units takes one step for each.
        if is_new {
            self.new_series(benchmark, unit)
        } else {
            self.series_of_unit(benchmark, unit)
        }
    }

    /// The index of the series for a unit that has a number.
    fn series_of_unit(&self, benchmark: &mut Benchmark, unit: u32) -> usize {
        let known = benchmark
            .series
            .iter()
            .position(|series| series.unit == unit);
        known.unwrap_or_else(|| self.new_series(benchmark, unit))
    }

    fn new_series(&self, benchmark: &mut Benchmark, unit: u32) -> usize {
        benchmark.series.push(Series {
            unit,
            reader_unit: NO_UNIT,
            factor: self.units.tidied(unit).factor,
            cell: CellNumber::UNKNOWN,
        });
        benchmark.series.len() - 1
    }

    /// Where values of a series go, found out now if it is not known yet.
    fn cell_of_series(
        &mut self,
        number: u32,
        benchmark: &mut Benchmark,
        series: usize,
    ) -> CellNumber {
        let Series { unit, cell, .. } = benchmark.series[series];
        if cell != CellNumber::UNKNOWN {
            return cell;
        }
        let written = self.units.written(unit);
        let shown = self.units.tidied(unit).unit.as_ref();
        let is_kept = benchmark.keeps(shown, written);
        let placement = if is_kept {
            self.placement(number, benchmark)
        } else {
            None
        };
        let cell = if let Some(placement) = placement {
            let key = CellKey {
                table: placement.table,
                unit: self.units.table(unit),
                row: placement.row,
                column: placement.column,
            };
            let cell = self.cell(key, placement.residue);
            self.log.push(LoggedSeries {
                benchmark: number,
                unit,
                cell,
            });
            cell
        } else {
            CellNumber::DROPPED
        };
        benchmark.series[series].cell = cell;
        cell
    }

    /// Where the results of a benchmark go, unless a fixed list drops them.
    fn placement(&mut self, number: u32, benchmark: &mut Benchmark) -> Option<Placement> {
        if benchmark.placement.is_none() {
            let BenchmarkName {
                configuration,
                name,
            } = self.names.get(number);
            let subject = Subject {
                name: Name::new(name),
                configuration: self.configurations.get(*configuration),
            };
            benchmark.placement = self.projectors.project(&subject, *configuration);
            if benchmark.placement.is_none() {
                benchmark.outcome = Selected::Drop;
            }
        }
        benchmark.placement
    }

    /// The cell for `key`, to which results with this residue come from now on.
    fn cell(&mut self, key: CellKey, residue: KeyId) -> CellNumber {
        let cell = *self.cell_numbers.entry(key).or_insert_with(|| {
            self.cells.push(CellValues {
                key,
                residues: SmallVec::new(),
                values: Values::default(),
            });
            CellNumber::cell(self.cells.len() - 1)
        });
        let residues = &mut self.cells[cell.index()].residues;
        if residues.last() != Some(&residue) {
            residues.push(residue);
        }
        cell
    }

    /// Whether no measurement came to a cell.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// The projectors, which know the keys of all placements.
    pub(super) fn projectors(&self) -> &Projectors {
        &self.projectors
    }

    /// The keys of all columns with a cell, in the order to show.
    pub(super) fn columns(&self) -> Vec<KeyId> {
        let keys = self.cells.iter().map(|cell| cell.key);
        columns_of(keys, &self.projectors.column.ranks())
    }

    /// The fields of the keys of all columns with a cell, in the order to show.
    #[must_use]
    pub fn column_keys(&self) -> Vec<Vec<Field>> {
        let fields = KeyFields::of(&self.projectors.column);
        let columns = self.columns();
        columns.into_iter().map(|id| fields.get(id)).collect()
    }

    /// Where results with a measurement that counts go, with the configuration they stand under.
    pub(super) fn placements(&self) -> impl Iterator<Item = (Placement, &Configuration)> {
        let counts = |series: &Series| series.cell.is_cell();
        let benchmarks = self.benchmarks.iter().zip(self.names.iter());
        benchmarks.filter_map(move |(benchmark, name)| {
            let benchmark = benchmark.as_ref()?;
            let configuration = self.configurations.get(name.configuration);
            benchmark
                .series
                .iter()
                .any(counts)
                .then_some((benchmark.placement?, configuration))
        })
    }

    /// Sorts cells into tables, rows and columns.
    #[must_use]
    pub fn finish(self) -> Samples {
        let Projectors {
            table,
            row,
            column,
            residue,
            ..
        } = &self.projectors;
        let (table_ranks, row_ranks, column_ranks) = (table.ranks(), row.ranks(), column.ranks());
        let (table_fields, row_fields, column_fields) = (
            KeyFields::of(table),
            KeyFields::of(row),
            KeyFields::of(column),
        );
        let mut cells = self.cells;
        let mut all_rounds = self.rounds;
        let ordered = in_order(&cells, [&table_ranks, &row_ranks, &column_ranks]);
        let all_columns = columns_of(cells.iter().map(|cell| cell.key), &column_ranks);
        let place = |id: &KeyId| {
            let rank = column_ranks[id.index()];
            all_columns.partition_point(|id| column_ranks[id.index()] < rank)
        };
        let mut row_keys: Vec<Option<Arc<[Field]>>> = vec![None; row.len()];
        let mut tables = Vec::new();
        for group in ordered.chunk_by(|left, right| left.table == right.table) {
            let keys = || group.iter().map(|place| cells[place.cell].key);
            let CellKey {
                table: id, unit, ..
            } = cells[group[0].cell].key;
            let mut rows: Vec<KeyId> = keys().map(|key| key.row).collect();
            rows.dedup();
            let columns = columns_of(keys(), &column_ranks);

            let mut sample = |place: &CellPosition| {
                let cell = &mut cells[place.cell];
                let rank = column_ranks[cell.key.column.index()];
                let column_index = columns.partition_point(|id| column_ranks[id.index()] < rank);
                let sample = Sample {
                    rounds: {
                        let mut rounds = all_rounds.remove(&place.cell).unwrap_or_default();
                        if !rounds.is_empty() {
                            rounds.resize(cell.values.len(), 0);
                        }
                        rounds
                    },
                    values: std::mem::take(&mut cell.values),
                    varying: residue
                        .varying(&cell.residues)
                        .into_iter()
                        .map(ToOwned::to_owned)
                        .collect(),
                };
                (column_index, sample)
            };
            // All places of a row have its rank in the upper half.
            let samples = group
                .chunk_by(|left, right| left.row() == right.row())
                .map(|row| row.iter().map(&mut sample).collect())
                .collect();
            tables.push(SampleTable {
                key: table_fields.get(id),
                unit: self.units.tables.get(unit).clone(),
                places: columns.iter().map(place).collect(),
                columns: columns
                    .into_iter()
                    .map(|id| column_fields.get(id))
                    .collect(),
                rows: rows
                    .into_iter()
                    .map(|id| {
                        let key = &mut row_keys[id.index()];
                        Arc::clone(key.get_or_insert_with(|| row_fields.get(id)))
                    })
                    .collect(),
                samples,
            });
        }
        Samples {
            tables,
            columns: all_columns
                .iter()
                .map(|&id| column_fields.get(id))
                .collect(),
        }
    }
}

/// Where a cell is shown.
struct CellPosition {
    /// The rank of its table's key, and its unit.
    table: u64,
    /// The ranks of its row and its column.
    in_table: u64,
    /// Its index.
    cell: usize,
}

impl CellPosition {
    /// The rank of the row.
    fn row(&self) -> u64 {
        self.in_table >> u32::BITS
    }
}

/// Places of `cells` in the order to show, given the ranks of their keys.
fn in_order(cells: &[CellValues], [tables, rows, columns]: [&[u32]; 3]) -> Vec<CellPosition> {
    // One large number compares faster than two small ones.
    let both = |first: u32, second: u32| u64::from(first) << u32::BITS | u64::from(second);
    let places = cells
        .iter()
        .enumerate()
        .map(|(cell, CellValues { key, .. })| CellPosition {
            table: both(tables[key.table.index()], key.unit),
            in_table: both(rows[key.row.index()], columns[key.column.index()]),
            cell,
        });
    let mut places: Vec<CellPosition> = places.collect();
    // There are few tables, and the cells of each came in the order of their rows, one input after the other: a stable
    // sort takes both for little more than putting runs together.
    places.sort_by_key(|place| place.table);
    for table in places.chunk_by_mut(|left, right| left.table == right.table) {
        table.sort_by_key(|place| place.in_table);
    }
    places
}

/// All columns of cells with these keys, in the order to show.
fn columns_of(keys: impl Iterator<Item = CellKey>, ranks: &[u32]) -> Vec<KeyId> {
    let mut columns: Vec<KeyId> = Vec::new();
    let mut known = vec![false; ranks.len()];
    for CellKey { column, .. } in keys {
        let is_known = &mut known[column.index()];
        if !std::mem::replace(is_known, true) {
            columns.push(column);
        }
    }
    columns.sort_unstable_by_key(|id| ranks[id.index()]);
    columns
}

/// The fields of the keys of a projection, which share their names.
struct KeyFields<'a> {
    projector: &'a Projector,
    names: Vec<Arc<BString>>,
}

impl<'a> KeyFields<'a> {
    fn of(projector: &'a Projector) -> Self {
        let names = projector.names();
        Self {
            projector,
            names: names.map(|name| Arc::new(name.to_owned())).collect(),
        }
    }

    fn get<Key: FromIterator<Field>>(&self, id: KeyId) -> Key {
        let values = self.projector.values(id).map(|(_, value)| value);
        let named = self.names.iter().zip(values);
        named
            .map(|(key, value)| Field {
                key: Arc::clone(key),
                value: value.to_owned(),
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::Projection;
    use crate::record::{Reader, Record};

    fn samples(filter: &str, table: &str, text: &str) -> Samples {
        let filter = Filter::parse(filter).unwrap();
        let projection = |text: &str| Projection::parse(text).unwrap();
        let layout = Layout::new(
            projection(table),
            projection(".fullname"),
            projection(".file"),
            &projection(""),
        );
        let mut builder = Builder::new(&filter, &layout);
        let mut reader = Reader::new(text.as_bytes(), "a");
        while let Some((_, record)) = reader.next_record().unwrap() {
            let Record::Result(result) = record else {
                panic!("a result wanted")
            };
            builder.add(&result, &mut |value, unit| panic!("{value} {unit}"));
        }
        builder.finish()
    }

    #[test]
    fn a_result_of_which_no_measurement_is_kept_leaves_no_key() {
        let text =
            "BenchmarkX 1 5 B/op\nlater: y\nBenchmarkX 1 5 ns/op\nBenchmarkX 1 6 B/op 7 ns/op\n";
        let keys = |text: &str| -> Vec<String> {
            let tables = samples(".unit:B/op", ".config", text).tables;
            let key = |field: &Field| format!("{}={}", field.key, field.value);
            tables
                .iter()
                .flat_map(|table| table.key.iter().map(key))
                .collect()
        };
        let without_last = text.trim_end().rsplit_once('\n').unwrap().0;
        assert_eq!(keys(without_last), [""; 0]);
        assert_eq!(keys(text), ["later=", "later=y"]);
    }

    #[test]
    fn values_know_the_round_they_were_measured_in() {
        let text = "BenchmarkX 1 5 B/op\n# rbenchstat round 1\nBenchmarkX 1 5 B/op 1 ns/op\n# rbenchstat round 0\n\
                    BenchmarkX 1 5 B/op\n# rbenchstat round 2\nBenchmarkY 1 6 B/op\n";
        let rounds = |text: &str| -> Vec<Vec<u32>> {
            let tables = samples("*", ".config", text).tables.into_iter();
            let samples = tables.flat_map(|table| table.samples).flatten();
            samples.map(|(_, sample)| sample.rounds).collect()
        };
        assert_eq!(rounds(text), [vec![0, 1, 1], vec![2], vec![1]]);
        assert_eq!(rounds("BenchmarkX 1 5 B/op\n"), [vec![0_u32; 0]]);
    }

    #[test]
    fn records_of_several_readers_come_to_the_cells_that_merging_brings_them_to() {
        let texts = [
            "k: a\nBenchmarkX 1 5 ns/op 7 B/op\nBenchmarkX 1 6 ns/op\nBenchmarkY 1 8 ns/op\n",
            "k: b\nBenchmarkY 1 1 B/op 2 ns/op\nBenchmarkX 1 3 B/op 4 ns/op\nBenchmarkX 1 9 B/op\n",
        ];
        let (filter, layout) = (Filter::default(), Layout::default());
        let labels = ["old", "new"];
        let mut merged = Builder::new(&filter, &layout);
        for (text, label) in texts.iter().zip(labels) {
            let mut builder = Builder::new(&filter, &layout);
            add_all(
                &mut builder,
                &mut Reader::new(text.as_bytes(), label),
                usize::MAX,
            );
            merged.merge(builder);
        }
        let merged = merged.finish();
        // One after the other, and by turns.
        for at_once in [usize::MAX, 1] {
            let mut builder = Builder::new(&filter, &layout);
            let mut readers = [0, 1].map(|side| Reader::new(texts[side].as_bytes(), labels[side]));
            let mut are_open = true;
            while are_open {
                are_open = false;
                for reader in &mut readers {
                    are_open |= add_all(&mut builder, reader, at_once);
                }
            }
            let samples = builder.finish();
            let values = |samples: &Samples| -> Vec<String> {
                let mut all: Vec<String> = samples
                    .tables
                    .iter()
                    .flat_map(|table| {
                        let rows = table.rows.iter().zip(&table.samples);
                        let filled = rows.flat_map(|(row, samples)| {
                            samples
                                .iter()
                                .map(move |(column, sample)| (row, column, sample))
                        });
                        filled.map(move |(row, &column, sample)| {
                            let values: Vec<f64> = sample.values.iter().collect();
                            format!(
                                "{:?} {} {} {}: {values:?}",
                                table.key[0].value,
                                table.unit,
                                row[0].value,
                                table.columns[column][0].value
                            )
                        })
                    })
                    .collect();
                all.sort();
                all
            };
            assert_eq!(values(&samples), values(&merged));
            assert_eq!(values(&samples).len(), 7);
        }
    }

    /// Adds up to so many records of a reader, and tells whether there may be more.
    fn add_all(builder: &mut Builder<'_>, reader: &mut Reader<&[u8]>, most: usize) -> bool {
        for _ in 0..most {
            let Some((_, record)) = reader.next_record().unwrap() else {
                return false;
            };
            let Record::Result(result) = record else {
                panic!("a result wanted")
            };
            builder.add(&result, &mut |value, unit| panic!("{value} {unit}"));
        }
        true
    }

    #[test]
    fn a_fixed_list_drops_results() {
        let text = "BenchmarkX/k=1 1 5 B/op\nBenchmarkX/k=2 1 6 B/op\nBenchmarkX/k=1 1 7 B/op\n";
        let tables = samples("*", "/k@(1)", text).tables;
        let values: Vec<_> = tables
            .iter()
            .flat_map(|table| table.samples.iter().flatten())
            .collect();
        assert_eq!(values.len(), 1);
        assert_eq!(values[0].1.values, [5.0, 7.0].into_iter().collect());
    }
}
