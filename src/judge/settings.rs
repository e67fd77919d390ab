//! Settings that hit nothing or can never fire: mistakes of which a gate would say nothing, and pass.

use bstr::{BString, ByteSlice};
use hashbrown::HashSet;
use indexmap::IndexSet;

use super::margin::Margins;
use super::row_name::RowName;
use crate::report::model::Report;
use crate::unit::{Better, Tidied};

/// A setting that does nothing here.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum IdleSetting {
    /// A flag names a unit that no input has.
    #[error("-{flag}: no input has {unit}; there are {}", bstr::join(", ", known).as_slice().as_bstr())]
    UnknownUnit {
        /// The flag.
        flag: &'static str,
        /// The unit in base form.
        unit: BString,
        /// The units there are.
        known: Vec<BString>,
    },
    /// A margin of what cannot fall that far.
    #[error(
        "-threshold: {unit} cannot fall by more than 100%, so that a margin of {:.0}% can never fire: give it one of its own, such as {unit}=50%",
        relative * 100.0
    )]
    NeverFires {
        /// The unit, of which more is better.
        unit: BString,
        /// The margin as a part of the baseline, at least 1.
        relative: f64,
    },
    /// The file of margins has a row that there is not.
    #[error(
        "-threshold: {rows} of the margins in a file hit nothing: there is no row {} in {}: write the file anew with -noise",
        first.benchmark, first.unit
    )]
    NoSuchRow {
        /// How many there are.
        rows: usize,
        /// The first.
        first: RowName,
    },
}

/// Mistakes in settings that would make a gate pass over what it is asked to look at.
#[must_use]
pub fn idle(report: &Report, margins: &Margins, better: &[(BString, Better)]) -> Vec<IdleSetting> {
    if report.tables.is_empty() {
        return Vec::new();
    }
    let known: IndexSet<&BString> = report.tables.iter().map(|table| &table.unit).collect();
    let margin_units = margins.units().map(|unit| ("threshold", unit.clone()));
    let better = better.iter();
    let better = better.map(|(unit, _)| ("better", Tidied::new(unit).unit));
    let unknown = margin_units
        .chain(better)
        .filter(|(_, unit)| !known.contains(unit));
    let unknown = unknown.map(|(flag, unit)| IdleSetting::UnknownUnit {
        flag,
        unit,
        known: known.iter().map(|unit| (*unit).clone()).collect(),
    });
    let rates = report
        .tables
        .iter()
        .filter(|table| table.better == Some(Better::Higher));
    let units: IndexSet<(&BString, bool)> =
        rates.map(|table| (&table.unit, table.is_exact)).collect();
    let never = units.into_iter().filter_map(|(unit, is_exact)| {
        let relative = margins.of_unit(unit.as_ref(), is_exact).relative;
        (relative >= 1.0).then(|| IdleSetting::NeverFires {
            unit: unit.clone(),
            relative,
        })
    });
    unknown.chain(never).collect()
}

/// The rows of a file of margins that the report does not have, as one remark.
#[must_use]
pub fn missing_rows(report: &Report, margins: &Margins) -> Option<IdleSetting> {
    let margins = margins.of_rows();
    let hit: HashSet<usize> = margins.rows(report).into_values().collect();
    let mut missing = margins.iter().filter(|(index, ..)| !hit.contains(index));
    let (_, first, _) = missing.next()?;
    Some(IdleSetting::NoSuchRow {
        first: first.clone(),
        rows: 1 + missing.count(),
    })
}
