//! Margins: up to where a change does not matter.
//!
//! ```text
//! margins  = item {"," item}
//! item     = [unit "="] amount | "@" file
//! amount   = part {"+" part}
//! part     = number "%" | number [suffix]
//! ```
//!
//! A part without `%` is a floor in absolute terms; a change matters if it exceeds the percentage and the floor.

use std::fmt::Write as _;
use std::io;

use bstr::{BStr, BString, ByteSlice};
use indexmap::IndexMap;
use serde::Deserialize;
use toml::Spanned;

use super::effect::{Effect, EffectScale};
use super::row_name::{ByRow, Keys, RowName};
use crate::report::model::{Row, Table};
use crate::unit::{Tidied, multiple};

/// The margin of measured units of which nothing else was said, as a part of the baseline.
pub const DEFAULT_MARGIN: f64 = 0.02;

/// A percentage and a floor. A change matters if it exceeds both.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Amount {
    /// As a part of the baseline, ≥ 0.
    pub relative: f64,
    /// In the unit of the table, ≥ 0.
    pub absolute: f64,
}

impl Amount {
    /// Both parts as one number on `scale`, for a baseline of `centre`.
    #[must_use]
    pub fn limit(self, scale: EffectScale, centre: f64) -> f64 {
        match scale {
            // No percentage of nothing is ever reached: any change from 0 exceeds that part.
            EffectScale::Difference => self.absolute,
            EffectScale::Ratio | EffectScale::RelativeDifference if self.absolute > 0.0 => {
                self.relative.max(self.absolute / centre.abs())
            }
            EffectScale::Ratio | EffectScale::RelativeDifference => self.relative,
        }
    }

    /// The smallest amount within which all of these effects of the same code lie, and the interval of a fresh pair of such runs
    /// nine times in ten; none if one of them could be of any size.
    ///
    /// A fresh estimate is within 1.645 standard errors of nothing in 90 % of runs, which is 0.84 of half the interval, and
    /// half the fresh interval comes on top: 1.84, made 2 as few runs know their interval to about 17 %.
    #[must_use]
    pub fn around(effects: &[Effect]) -> Option<Self> {
        let mut amount = Self::default();
        let halves = |is_difference: bool| {
            let of_scale = effects
                .iter()
                .filter(|effect| (effect.scale == EffectScale::Difference) == is_difference);
            let squares: Vec<f64> = of_scale
                .map(|effect| ((effect.high - effect.low) / 2.0).powi(2))
                .collect();
            let mean = squares.iter().sum::<f64>() / squares.len().max(1) as f64;
            2.0 * mean.sqrt()
        };
        let fresh = [false, true].map(halves);
        for effect in effects {
            if !effect.is_bounded() {
                return None;
            }
            let reach = effect.low.abs().max(effect.high.abs());
            match effect.scale {
                EffectScale::Difference => amount.absolute = amount.absolute.max(reach),
                EffectScale::Ratio | EffectScale::RelativeDifference => {
                    amount.relative = amount.relative.max(reach);
                }
            }
        }
        Some(Self {
            relative: amount.relative.max(fresh[0]),
            absolute: amount.absolute.max(fresh[1]),
        })
    }

    /// The larger of each part.
    fn max(self, other: Self) -> Self {
        Self {
            relative: self.relative.max(other.relative),
            absolute: self.absolute.max(other.absolute),
        }
    }
}

/// The margins of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Margins {
    general: Option<Amount>,
    units: IndexMap<BString, Amount>,
    rows: ByRow<Amount>,
}

/// Margins that make no sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MarginError {
    /// An item that is not a margin.
    #[error("{item:?} is not a margin: {reason}")]
    Item {
        /// The item as given.
        item: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A file that cannot be read or understood.
    #[error("{0}")]
    File(#[from] TomlError),
}

/// What is wrong with a file of ours.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TomlError {
    /// It cannot be read.
    #[error("open {file}: {reason}")]
    Open {
        /// Its name.
        file: String,
        /// What the system says.
        reason: String,
    },
    /// It is not understood.
    #[error("{file}:{line}: {message}")]
    Content {
        /// Its name.
        file: String,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
}

/// Reads the text of a file.
pub type ReadFile<'a> = &'a dyn Fn(&str) -> io::Result<String>;

impl Margins {
    /// Reads `text` as given to `-threshold`; files are read by `read_file`.
    ///
    /// # Errors
    /// The first item that is not understood, or given twice, or the first mistake in a file.
    pub fn parse(text: &str, read_file: ReadFile<'_>) -> Result<Self, MarginError> {
        let mut margins = Self::default();
        for item in text.split(',') {
            let item = item.trim();
            if let Some(file) = item.strip_prefix('@') {
                margins.read_rows(file, read_file)?;
                continue;
            }
            let wrong = |reason: String| MarginError::Item {
                item: item.into(),
                reason,
            };
            let Some((unit, amount)) = item.rsplit_once('=') else {
                let amount = parse_amount(item, None).map_err(wrong)?;
                if margins.general.replace(amount).is_some() {
                    return Err(wrong("a margin for all units was given before".into()));
                }
                continue;
            };
            let tidied = Tidied::new(unit.as_bytes());
            let amount = parse_amount(amount, Some(unit)).map_err(wrong)?;
            if margins.units.insert(tidied.unit, amount).is_some() {
                return Err(wrong(format!("a margin for {unit} was given before")));
            }
        }
        Ok(margins)
    }

    fn read_rows(&mut self, file: &str, read_file: ReadFile<'_>) -> Result<(), MarginError> {
        let text = read_toml(file, read_file)?;
        let parsed: MarginFile =
            toml::from_str(&text).map_err(|error| toml_error(file, &text, &error))?;
        for entry in parsed.margin {
            let wrong = |message: String| TomlError::Content {
                file: file.into(),
                line: LinesOf::new(&text).line(entry.span().start),
                message,
            };
            let MarginEntry {
                benchmark,
                package,
                unit,
                keys,
                margin,
            } = entry.get_ref();
            let amount = parse_amount(margin, Some(unit)).map_err(&wrong)?;
            let name = RowName::new(benchmark, package, unit);
            if self.rows.insert(name, keys.clone(), amount).is_err() {
                return Err(wrong(format!("a second margin for {benchmark} in {unit}")).into());
            }
        }
        Ok(())
    }

    /// The units that have a margin of their own, in base form.
    pub fn units(&self) -> impl Iterator<Item = &BString> {
        self.units.keys()
    }

    /// The margins of single rows.
    #[must_use]
    pub fn of_rows(&self) -> &ByRow<Amount> {
        &self.rows
    }

    /// The margin of the rows of a unit that have none of their own.
    #[must_use]
    pub fn of_unit(&self, unit: &BStr, is_exact: bool) -> Amount {
        let given = self.units.get(unit).copied().or(self.general);
        given.unwrap_or(Amount {
            relative: if is_exact { 0.0 } else { DEFAULT_MARGIN },
            absolute: 0.0,
        })
    }

    /// The margin of a row: its own if there is one, else its unit's, else the general one; at least the unit's or the
    /// general one where that was given as well as its own.
    #[must_use]
    pub fn of(&self, table: &Table, row: &Row, is_exact: bool) -> Amount {
        let unit: &BStr = table.unit.as_ref();
        let own = if self.rows.is_empty() {
            None
        } else {
            self.rows.get(&RowName::of(table, row), table, row)
        };
        let given = self.units.get(unit).copied().or(self.general);
        match (own, given) {
            (Some((_, own)), Some(floor)) => own.max(floor),
            (Some((_, own)), None) => *own,
            (None, _) => self.of_unit(unit, is_exact),
        }
    }
}

/// The file that `-noise` writes and `-threshold @FILE` reads.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct MarginFile {
    #[serde(default)]
    margin: Vec<Spanned<MarginEntry>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct MarginEntry {
    benchmark: String,
    package: String,
    unit: String,
    /// Where rows share all of the above: what tells them apart.
    #[serde(default)]
    keys: Keys,
    margin: String,
}

/// One entry of a margin file: the smallest margin with two decimals that is at least `relative`, a part of the baseline,
/// or `absolute`, in the unit, where the baseline is 0.
#[must_use]
pub fn write_entry(row: &RowName, keys: &Keys, amount: Amount) -> String {
    let mut margin = format!("{:.2}%", (amount.relative * 1e4).ceil() / 100.0);
    if amount.absolute > 0.0 {
        let _ = write!(margin, "+{}{}", amount.absolute, sign_of_floors(&row.unit));
    }
    let quoted = |text: &str| toml_string(text);
    format!(
        "[[margin]]\nbenchmark = {}\npackage = {}\nunit = {}\n{}margin = {}\n",
        quoted(&row.benchmark),
        quoted(&row.package),
        quoted(&row.unit),
        keys_line(keys),
        quoted(&margin)
    )
}

/// The line that tells apart rows that are called the same; empty where nothing has to.
#[must_use]
pub fn keys_line(keys: &Keys) -> String {
    if keys.is_empty() {
        return String::new();
    }
    let pairs = keys.iter();
    let pairs = pairs.map(|(key, value)| format!("{} = {}", toml_string(key), toml_string(value)));
    format!("keys = {{ {} }}\n", pairs.collect::<Vec<_>>().join(", "))
}

/// What a floor in the base form of a unit needs behind its number.
fn sign_of_floors(unit: &str) -> &'static str {
    if counts_seconds(unit) { "s" } else { "" }
}

fn counts_seconds(unit: &str) -> bool {
    multiple("s", unit.as_bytes()) == Some(1.0)
}

/// `text` as a basic string of TOML: a string of JSON is one, but that TOML has DEL escaped too.
fn toml_string(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted.replace('\u{7f}', "\\u007F")
}

/// Reads a TOML file as text.
pub(super) fn read_toml(file: &str, read_file: ReadFile<'_>) -> Result<String, TomlError> {
    read_file(file).map_err(|error| TomlError::Open {
        file: file.into(),
        reason: crate::input::Reason(error).to_string(),
    })
}

/// Where TOML is wrong.
pub(super) fn toml_error(file: &str, text: &str, error: &toml::de::Error) -> TomlError {
    TomlError::Content {
        file: file.into(),
        line: error
            .span()
            .map_or(1, |span| LinesOf::new(text).line(span.start)),
        message: error.message().replace('\n', " "),
    }
}

/// Tells the lines, from 1, of bytes of a text, each behind the one before: so that it goes over the text once.
pub(super) struct LinesOf<'t> {
    rest: &'t [u8],
    offset: usize,
    line: usize,
}

impl<'t> LinesOf<'t> {
    pub fn new(text: &'t str) -> Self {
        Self {
            rest: text.as_bytes(),
            offset: 0,
            line: 1,
        }
    }

    /// The line of the byte at `offset`.
    pub fn line(&mut self, offset: usize) -> usize {
        let length = offset.saturating_sub(self.offset).min(self.rest.len());
        let (before, rest) = self.rest.split_at(length);
        self.line += before.find_iter(b"\n").count();
        self.rest = rest;
        self.offset += length;
        self.line
    }
}

/// Reads `5%`, `5%+2ns` or `0`, floors being in any multiple of `unit`.
///
/// # Errors
/// A sentence that says what is wrong and what to write.
pub(super) fn parse_amount(text: &str, unit: Option<&str>) -> Result<Amount, String> {
    let mut amount = Amount::default();
    let (mut has_relative, mut has_absolute) = (false, false);
    for part in text.split('+') {
        let part = part.trim();
        let digits = part
            .find(|character: char| !character.is_ascii_digit() && character != '.')
            .unwrap_or(part.len());
        let (number, suffix) = part.split_at(digits);
        let number: f64 = number
            .parse()
            .map_err(|_| format!("{part:?} does not start with a number; write 2%, 5%+2ns or 0"))?;
        let suffix = suffix.trim();
        let is_repeated;
        if suffix == "%" {
            amount.relative = number / 100.0;
            is_repeated = std::mem::replace(&mut has_relative, true);
        } else if number == 0.0 && suffix.is_empty() {
            is_repeated = std::mem::replace(&mut has_absolute, true);
        } else {
            let Some(unit) = unit else {
                return Err(format!(
                    "{part:?} is an absolute floor and needs a unit; write sec/op=2%+2ns, or {number}% for a percentage"
                ));
            };
            amount.absolute = number * factor(suffix, unit)?;
            is_repeated = std::mem::replace(&mut has_absolute, true);
        }
        if is_repeated {
            return Err("one percentage and one floor are enough; write 5%+2ns".into());
        }
    }
    Ok(amount)
}

/// What `suffix` multiplies a number by to give a value in the base form of `unit`.
fn factor(suffix: &str, unit: &str) -> Result<f64, String> {
    let Tidied { unit: base, factor } = Tidied::new(unit.as_bytes());
    if suffix.is_empty() {
        // Nobody means seconds who forgets the sign of a percentage.
        if base == unit && counts_seconds(unit) {
            return Err(format!(
                "a number alone would be in {base}; write it with % for a percentage, or with ns, us, ms or s"
            ));
        }
        return Ok(factor);
    }
    multiple(suffix, &base).ok_or_else(|| {
        format!("{suffix:?} does not measure {base}; write the number in {base}, without a suffix")
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::report::model::Field;
    use crate::unit::Class;
    use proptest::prelude::*;

    fn parse(text: &str) -> Result<Margins, MarginError> {
        Margins::parse(text, &|_| Err(io::ErrorKind::NotFound.into()))
    }

    fn row(benchmark: &str, package: &str, unit: &str) -> (Table, Row) {
        let field = |key: &str, value: &str| Field {
            key: Arc::new(key.into()),
            value: value.into(),
        };
        let table = Table {
            key: vec![field("pkg", package), field("note", "a")],
            unit: unit.into(),
            class: Class::Decimal,
            better: None,
            is_exact: false,
            columns: Vec::new(),
            places: Vec::new(),
            rows: Vec::new(),
            geomeans: Vec::new(),
        };
        let row = Row {
            key: Arc::new([field(".fullname", benchmark)]),
            cells: Vec::new(),
        };
        (table, row)
    }

    fn margin(margins: &Margins, unit: &str, is_exact: bool) -> Amount {
        let (table, row) = row("X-8", "p", unit);
        margins.of(&table, &row, is_exact)
    }

    #[test]
    fn measured_units_have_two_percent_by_default_and_exact_ones_none() {
        let margins = Margins::default();
        assert_eq!(margin(&margins, "sec/op", false).relative, 0.02);
        assert_eq!(margin(&margins, "sec/op", true), Amount::default());
    }

    #[test]
    fn a_unit_of_its_own_beats_the_general_margin() {
        let margins = parse("3%,sec/op=5%,allocs/op=0").unwrap();
        assert_eq!(margin(&margins, "sec/op", false).relative, 0.05);
        assert_eq!(margin(&margins, "allocs/op", false), Amount::default());
        assert_eq!(margin(&margins, "B/op", true).relative, 0.03);
    }

    #[test]
    fn floors_are_in_multiples_of_the_unit_and_units_in_any_form() {
        let close = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-12;
        for (text, unit, absolute) in [
            ("sec/op=5%+2ns", "sec/op", 2e-9),
            ("ns/op=5%+2", "sec/op", 2e-9),
            ("sec/op=1.5ms+5%", "sec/op", 1.5e-3),
            ("B/op=4KiB", "B/op", 4096.0),
            ("MB/s=1", "B/s", 1e6),
            ("allocs/op=2allocs", "allocs/op", 2.0),
            ("p99-ns=10µs", "p99-sec", 1e-5),
        ] {
            let amount = margin(&parse(text).unwrap(), unit, false);
            assert!(close(amount.absolute, absolute), "{text}: {amount:?}");
        }
    }

    #[test]
    fn mistakes_say_what_to_write() {
        for (text, message) in [
            (
                "",
                "\"\" is not a margin: \"\" does not start with a number; write 2%, 5%+2ns or 0",
            ),
            (
                "x%",
                "\"x%\" is not a margin: \"x%\" does not start with a number; write 2%, 5%+2ns or 0",
            ),
            (
                "-2%",
                "\"-2%\" is not a margin: \"-2%\" does not start with a number; write 2%, 5%+2ns or 0",
            ),
            (
                "2",
                "\"2\" is not a margin: \"2\" is an absolute floor and needs a unit; write sec/op=2%+2ns, or 2% for a percentage",
            ),
            (
                "2%,3%",
                "\"3%\" is not a margin: a margin for all units was given before",
            ),
            (
                "ns/op=1%,sec/op=2%",
                "\"sec/op=2%\" is not a margin: a margin for sec/op was given before",
            ),
            (
                "sec/op=5",
                "\"sec/op=5\" is not a margin: a number alone would be in sec/op; write it with % for a percentage, or with ns, us, ms or s",
            ),
            (
                "B/op=2ns",
                "\"B/op=2ns\" is not a margin: \"ns\" does not measure B/op; write the number in B/op, without a suffix",
            ),
            (
                "1%+2%",
                "\"1%+2%\" is not a margin: one percentage and one floor are enough; write 5%+2ns",
            ),
            ("@gone", "open gone: entity not found"),
        ] {
            assert_eq!(parse(text).unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn a_file_gives_margins_to_single_rows_and_other_items_are_their_floor() {
        let read = |_: &str| {
            Ok("# A/A\n[[margin]]\nbenchmark = \"X-8\"\npackage = \"p\"\nunit = \"ns/op\"\nmargin = \"3.50%\"\n".into())
        };
        let margins = Margins::parse("@f", &read).unwrap();
        assert_eq!(margin(&margins, "sec/op", false).relative, 0.035);
        assert_eq!(margin(&margins, "B/op", false).relative, 0.02);
        let margins = Margins::parse("5%,@f", &read).unwrap();
        assert_eq!(margin(&margins, "sec/op", false).relative, 0.05);
    }

    #[test]
    fn a_malformed_file_is_told_with_its_line() {
        for (text, message) in [
            ("[[margin]\n", "f:1: "),
            ("\n[[margin]]\nbenchmark = 1\n", "f:3: "),
            ("\n[[margins]]\n", "f:2: unknown field"),
            (
                "\n\n[[margin]]\nbenchmark=\"a\"\npackage=\"\"\nunit=\"B/op\"\nmargin=\"5\u{20ac}\"\n",
                "f:3: \"\u{20ac}\" does not measure B/op",
            ),
        ] {
            let read = |_: &str| Ok(text.to_owned());
            let error = Margins::parse("@f", &read).unwrap_err().to_string();
            assert!(error.starts_with(message), "{error}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_and_never_less(
            relative in 0.0..0.9_f64,
            absolute in 0.0..9.0_f64,
            benchmark in "\\PC{0,20}",
            unit in prop::sample::select(vec!["allocs/op", "sec/op", "B/s", "B/op", "p99-sec", "sec", "frobs"]),
            keys in prop::sample::select(vec![vec![], vec![("note", "a")]]),
        ) {
            let (table, row) = row(&benchmark, "p\"\\\u{7f}", unit);
            let keys = keys.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
            let text = write_entry(&RowName::of(&table, &row), &keys, Amount { relative, absolute });
            let margins = Margins::parse("@f", &|_| Ok(text.clone())).unwrap();
            let read = margins.of(&table, &row, false);
            prop_assert!(read.relative >= relative - 1e-15 && read.relative < relative + 2e-4);
            prop_assert_eq!(read.absolute, absolute);
        }
    }
}
