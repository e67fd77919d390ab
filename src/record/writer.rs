//! Writes records as text that the reader reads back as the same records.

use std::io::{self, Write};

use bstr::{BStr, BString, ByteSlice};
use indexmap::IndexSet;

use super::configuration::Configuration;
use super::line::{self, Line, Parser};
use super::reader::{Measurement, ResultRecord};
use super::spelling::Plain;

/// Writes benchmark text: configuration lines where the configuration changes,
/// unit lines, and results laid out as `go test` lays them out.
///
/// Every line is parsed before it is written, and refused unless the reader
/// would find in it what was meant. Each call writes its lines in one piece.
///
/// ```
/// use rbenchstat::record::{Configuration, Measurement, Writer};
///
/// let mut writer = Writer::new(Vec::new());
/// writer.unit("decisions/op", [("better", "higher"), ("assume", "exact")])?;
/// let mut configuration = Configuration::default();
/// configuration.set(b"logging", b"off");
/// let measurements = [Measurement::new(1532.0, "ns/op"), Measurement::new(2.5, "decisions/op")];
/// writer.result(&configuration, "Filter-8", 1000, measurements)?;
///
/// assert_eq!(String::from_utf8_lossy(&writer.into_inner()), "\
/// Unit decisions/op better=higher assume=exact
/// logging: off
/// BenchmarkFilter-8\t    1000\t      1532 ns/op\t         2.500 decisions/op
/// ");
/// # Ok::<(), rbenchstat::record::WriteError>(())
/// ```
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    /// What a reader of the text so far has in force; its label is never written.
    written: Configuration,
    /// The unit, key and value of all that unit lines have said.
    units: IndexSet<(BString, BString, BString)>,
    /// The lines of the call under way.
    text: Vec<u8>,
    parser: Parser,
}

/// Why something is not written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The format has no line for it: a name with a space, a configuration key
    /// with a capital, a result without measurements.
    #[error("not writable as a line of the benchmark format: {0:?}")]
    Unwritable(BString),
    /// The output fails.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl<W: Write> Writer<W> {
    /// Writes to `out`, which had better be buffered.
    pub fn new(out: W) -> Self {
        Self {
            out,
            written: Configuration::default(),
            units: IndexSet::new(),
            text: Vec::new(),
            parser: Parser::default(),
        }
    }

    /// Says something of a unit; pairs that were said before are left out.
    ///
    /// # Errors
    /// [`WriteError::Unwritable`] for an empty unit or key, or one with a space
    /// in it or in the value; [`WriteError::Io`] as `out` fails.
    pub fn unit<K, V>(
        &mut self,
        unit: impl AsRef<[u8]>,
        pairs: impl IntoIterator<Item = (K, V)>,
    ) -> Result<(), WriteError>
    where
        K: AsRef<[u8]>,
        V: AsRef<[u8]>,
    {
        let unit = BString::from(unit.as_ref());
        let new: Vec<_> = pairs
            .into_iter()
            .map(|(key, value)| (unit.clone(), key.as_ref().into(), value.as_ref().into()))
            .filter(|said| !self.units.contains(said))
            .collect();
        if new.is_empty() {
            return Ok(());
        }
        self.text.clear();
        self.text.extend_from_slice(b"Unit ");
        self.text.extend_from_slice(&unit);
        for (_, key, value) in &new {
            write!(self.text, " {key}={value}")?;
        }
        if !is_unit_line(&self.text, &new) {
            return Err(self.unwritable(0));
        }
        self.text.push(b'\n');
        self.out.write_all(&self.text)?;
        self.units.extend(new);
        Ok(())
    }

    /// Writes a result, after as many configuration lines as it takes to have
    /// `configuration` in force, in its order. The label of the input is no
    /// part of the text.
    ///
    /// # Errors
    /// [`WriteError::Unwritable`] for a name, key, value or unit that the
    /// format cannot hold, or without measurements; [`WriteError::Io`] as `out` fails.
    pub fn result<'m>(
        &mut self,
        configuration: &Configuration,
        name: impl AsRef<[u8]>,
        iterations: i64,
        measurements: impl IntoIterator<Item = Measurement<'m>>,
    ) -> Result<(), WriteError> {
        self.text.clear();
        let after = self.change_configuration(configuration)?;
        let start = self.text.len();
        self.text.extend_from_slice(b"Benchmark");
        self.text.extend_from_slice(name.as_ref());
        write!(self.text, "\t{iterations:8}")?;
        let measurements: Vec<Measurement<'m>> = measurements.into_iter().collect();
        for measurement in &measurements {
            self.text.push(b'\t');
            spell(&mut self.text, *measurement)?;
        }
        if !self.is_result_line(start, name.as_ref(), iterations, &measurements) {
            return Err(self.unwritable(start));
        }
        self.text.push(b'\n');
        self.out.write_all(&self.text)?;
        self.written = after;
        Ok(())
    }

    /// Writes a result that was read.
    ///
    /// # Errors
    /// As for [`Writer::result`].
    pub fn record(&mut self, record: &ResultRecord<'_>) -> Result<(), WriteError> {
        self.result(
            record.configuration(),
            record.name(),
            record.iterations(),
            record.measurements(),
        )
    }

    /// Flushes the output.
    ///
    /// # Errors
    /// Whatever it fails with.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// The output.
    pub fn into_inner(self) -> W {
        self.out
    }

    /// Adds the lines after which `wanted` is in force, and says what then is.
    fn change_configuration(
        &mut self,
        wanted: &Configuration,
    ) -> Result<Configuration, WriteError> {
        let mut now = self.written.clone();
        if now.iter().eq(wanted.iter()) {
            return Ok(now);
        }
        let gone: Vec<BString> = now
            .iter()
            .filter(|(key, _)| wanted.get(key).is_none())
            .map(|(key, _)| key.into())
            .collect();
        for key in gone {
            self.configure(&mut now, key.as_ref(), b"".into())?;
        }
        // A key keeps its place until it is deleted, so those behind the first
        // one out of place are set anew.
        let in_place = now
            .iter()
            .zip(wanted.iter())
            .take_while(|((old, _), (new, _))| old == new)
            .count();
        let misplaced: Vec<BString> = now
            .iter()
            .skip(in_place)
            .map(|(key, _)| key.into())
            .collect();
        for key in misplaced {
            self.configure(&mut now, key.as_ref(), b"".into())?;
        }
        for (key, value) in wanted.iter() {
            if now.get(key) != Some(value) {
                self.configure(&mut now, key, value)?;
            }
        }
        Ok(now)
    }

    /// Adds a configuration line.
    fn configure(
        &mut self,
        now: &mut Configuration,
        key: &BStr,
        value: &BStr,
    ) -> Result<(), WriteError> {
        let start = self.text.len();
        self.text.extend_from_slice(key);
        self.text.push(b':');
        if !value.is_empty() {
            self.text.push(b' ');
            self.text.extend_from_slice(value);
        }
        let line = &self.text[start..];
        // The reader drops carriage returns before a line end.
        let is_right = !line.contains(&b'\n')
            && !line.ends_with(b"\r")
            && matches!(
                self.parser.parse(line),
                Ok(Line::Configuration { key: read_key, value: read_value })
                    if line[read_key.clone()] == **key && line[read_value.clone()] == **value
            );
        if !is_right {
            return Err(self.unwritable(start));
        }
        self.text.push(b'\n');
        now.set(key, value);
        Ok(())
    }

    /// Whether the text from `start` on reads back as this result.
    fn is_result_line(
        &mut self,
        start: usize,
        name: &[u8],
        iterations: i64,
        measurements: &[Measurement<'_>],
    ) -> bool {
        let line = &self.text[start..];
        let Ok(Line::Result {
            name: read_name,
            iterations: read_iterations,
            ..
        }) = self.parser.parse(line)
        else {
            return false;
        };
        line[read_name] == *name
            && read_iterations == iterations
            && self.parser.measurements().len() == measurements.len()
            && self
                .parser
                .measurements()
                .iter()
                .zip(measurements)
                .all(|(read, meant)| {
                    self.parser.unit(read.unit) == meant.unit && is_same(read.value, meant.value)
                })
    }

    fn unwritable(&self, start: usize) -> WriteError {
        WriteError::Unwritable(self.text[start..].into())
    }
}

/// Equal, and zeros of the same sign; one NaN is as good as another.
fn is_same(left: f64, right: f64) -> bool {
    left.to_bits() == right.to_bits() || left.is_nan() && right.is_nan()
}

fn is_unit_line(line: &[u8], said: &[(BString, BString, BString)]) -> bool {
    let Ok(Line::Unit { unit, fields }) = Parser::default().parse(line) else {
        return false;
    };
    let read = line::unit_fields(line, fields);
    read.map(|field| field.map(|(key, value)| (line[unit.clone()].as_bstr(), key, value)))
        .eq(said
            .iter()
            .map(|(unit, key, value)| Ok((unit.as_ref(), key.as_ref(), value.as_ref()))))
}

/// Writes a value and its unit as `go test` does where that loses nothing, else
/// in the shortest form that loses nothing. Decimal points stand in one column.
fn spell(text: &mut Vec<u8>, measurement: Measurement<'_>) -> io::Result<()> {
    let Measurement { value, unit } = measurement;
    // The widths of whole parts and the decimals of Go's `testing.BenchmarkResult`.
    let (width, decimals) = match &**unit {
        b"B/op" | b"allocs/op" => (8, 0),
        b"MB/s" => (4, 2),
        _ => (10, decimals_for(value.abs())),
    };
    // From here on the digits are no longer worth their room.
    let is_large = value.abs() >= 1e21;
    let fixed = format!("{value:.decimals$}");
    let spelled = match fixed.parse::<f64>() {
        Ok(read) if !is_large && is_same(read, value) => fixed,
        _ => Plain(value).to_string(),
    };
    let whole = spelled.find('.').unwrap_or(spelled.len());
    let margin = width.max(whole) - whole;
    write!(text, "{:margin$}{spelled} ", "")?;
    text.extend_from_slice(unit);
    Ok(())
}

impl Measurement<'_> {
    /// The same with the digits that `go test` prints of such a value: four significant ones, but all before the point.
    #[must_use]
    pub fn rounded(self) -> Self {
        let decimals = decimals_for(self.value.abs());
        let value = format!("{:.decimals$}", self.value)
            .parse()
            .unwrap_or(self.value);
        Self { value, ..self }
    }
}

/// Four significant digits, but none cut off before the point.
fn decimals_for(magnitude: f64) -> usize {
    match magnitude {
        0.0 => 0,
        _ if magnitude >= 999.95 => 0,
        _ if magnitude >= 99.995 => 1,
        _ if magnitude >= 9.9995 => 2,
        _ if magnitude >= 0.99995 => 3,
        _ if magnitude >= 0.099_995 => 4,
        _ if magnitude >= 0.009_999_5 => 5,
        _ if magnitude >= 0.000_999_95 => 6,
        _ => 7,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Reader, Record};
    use proptest::prelude::*;

    fn configuration(pairs: &[(&str, &str)]) -> Configuration {
        let mut configuration = Configuration::default();
        for (key, value) in pairs {
            configuration.set(key.as_bytes(), value.as_bytes());
        }
        configuration
    }

    fn written(work: impl FnOnce(&mut Writer<Vec<u8>>) -> Result<(), WriteError>) -> String {
        let mut writer = Writer::new(Vec::new());
        work(&mut writer).unwrap();
        String::from_utf8(writer.into_inner()).unwrap()
    }

    fn spelled(value: f64, unit: &str) -> String {
        let mut text = Vec::new();
        spell(&mut text, Measurement::new(value, unit)).unwrap();
        String::from_utf8(text).unwrap()
    }

    fn one() -> [Measurement<'static>; 1] {
        [Measurement::new(1.0, "x")]
    }
    const ONE_TEXT: &str = "\t       1\t         1.000 x\n";

    #[test]
    fn numbers_are_spelled_as_go_test_spells_them_where_that_is_exact() {
        for (value, unit, text) in [
            (1_234_567.0, "ns/op", "   1234567 ns/op"),
            (152.3, "ns/op", "       152.3 ns/op"),
            (12.3, "ns/op", "        12.30 ns/op"),
            (5.0, "ns/op", "         5.000 ns/op"),
            (0.25, "ns/op", "         0.2500 ns/op"),
            (0.0, "ns/op", "         0 ns/op"),
            (16.0, "B/op", "      16 B/op"),
            (3.0, "allocs/op", "       3 allocs/op"),
            (90.5, "MB/s", "  90.50 MB/s"),
        ] {
            assert_eq!(spelled(value, unit), text);
        }
    }

    #[test]
    fn a_rounded_measurement_has_about_four_digits() {
        for (value, rounded) in [
            (0.0, 0.0),
            (0.251_149, 0.2511),
            (9.9915, 9.992),
            (99.994, 99.99),
            (999.94, 999.9),
            (1_234.5, 1_234.0),
            (12_345_678.9, 12_345_679.0),
            (f64::INFINITY, f64::INFINITY),
        ] {
            assert_eq!(Measurement::new(value, "ns/op").rounded().value, rounded);
        }
    }

    #[test]
    fn numbers_that_would_lose_digits_are_spelled_in_full() {
        for (value, text) in [
            (1_234.5, "      1234.5 x"),
            (12.345_678, "        12.345678 x"),
            (1e-9, "     1e-09 x"),
            (1e20, "100000000000000000000 x"),
            (1e22, "1e+22 x"),
            (f64::NAN, "       NaN x"),
            (f64::NEG_INFINITY, "      -Inf x"),
        ] {
            assert_eq!(spelled(value, "x").trim_start(), text.trim_start());
        }
    }

    #[test]
    fn configuration_lines_appear_only_where_something_changes() {
        let text = written(|writer| {
            writer.result(&configuration(&[("a", "1"), ("b", "2")]), "X", 1, one())?;
            writer.result(&configuration(&[("a", "1"), ("b", "2")]), "X", 1, one())?;
            writer.result(&configuration(&[("a", "1"), ("b", "3")]), "X", 1, one())?;
            writer.result(&configuration(&[("b", "3"), ("c", "4")]), "X", 1, one())
        });
        let x = format!("BenchmarkX{ONE_TEXT}");
        assert_eq!(text, format!("a: 1\nb: 2\n{x}{x}b: 3\n{x}a:\nc: 4\n{x}"));
    }

    #[test]
    fn keys_out_of_order_are_set_anew() {
        let text = written(|writer| {
            writer.result(&configuration(&[("a", "1"), ("b", "2")]), "X", 1, one())?;
            writer.result(&configuration(&[("b", "2"), ("a", "1")]), "X", 1, one())
        });
        let x = format!("BenchmarkX{ONE_TEXT}");
        assert_eq!(text, format!("a: 1\nb: 2\n{x}a:\nb:\nb: 2\na: 1\n{x}"));
    }

    #[test]
    fn a_unit_is_not_told_the_same_twice() {
        let text = written(|writer| {
            writer.unit("x", [("assume", "exact")])?;
            writer.unit("x", [("assume", "exact"), ("better", "lower")])?;
            writer.unit("x", [("better", "lower")])
        });
        assert_eq!(text, "Unit x assume=exact\nUnit x better=lower\n");
    }

    #[test]
    fn what_would_not_be_read_back_is_refused_and_writes_nothing() {
        let empty = Configuration::default();
        let mut writer = Writer::new(Vec::new());
        for pairs in [
            [("Key", "x")],
            [("k ey", "x")],
            [("k:y", "x")],
            [("key", " x")],
            [("key", "a\nb")],
        ] {
            let refused = writer.result(&configuration(&pairs), "X", 1, one());
            assert!(
                matches!(refused, Err(WriteError::Unwritable(_))),
                "{pairs:?}"
            );
        }
        for (name, unit) in [("a b", "x"), ("a\n", "x"), ("X", ""), ("X", "a b")] {
            let refused = writer.result(&empty, name, 1, [Measurement::new(1.0, unit)]);
            assert!(
                matches!(refused, Err(WriteError::Unwritable(_))),
                "{name:?} {unit:?}"
            );
        }
        assert!(writer.result(&empty, "X", 1, []).is_err(), "no measurement");
        for (unit, key, value) in [
            ("", "a", "b"),
            ("x", "", "b"),
            ("x", "a", "b c"),
            ("x y", "a", "b"),
        ] {
            assert!(
                writer.unit(unit, [(key, value)]).is_err(),
                "{unit:?} {key:?} {value:?}"
            );
        }
        let error = writer.result(&empty, "a b", 1, one()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "not writable as a line of the benchmark format: \"Benchmarka b\\t       1\\t         1.000 x\""
        );
        writer.result(&empty, "X", 1, one()).unwrap();
        assert_eq!(
            writer.into_inner(),
            format!("BenchmarkX{ONE_TEXT}").as_bytes()
        );
    }

    /// Everything in a result but the label.
    type Owned = (Vec<(String, String)>, String, i64, Vec<(u64, String)>);

    fn results() -> impl Strategy<Value = Vec<Owned>> {
        let value = prop_oneof![
            any::<f64>().prop_filter("one NaN is as good as another", |value| !value.is_nan()),
            (0_i32..100_000).prop_map(|value| f64::from(value) / 8.0),
        ];
        let pair = ("[a-cé]{1,2}", "[ -~é][ -~é]{0,3}")
            .prop_map(|(key, value)| (key, value.trim_start().to_owned()));
        let result = (
            prop::collection::vec(pair, 0..5),
            "[!-~é]{0,8}",
            any::<i64>(),
            prop::collection::vec(
                (value.prop_map(f64::to_bits), "[!-~é]{1,8}|ns/op|B/op|MB/s"),
                1..4,
            ),
        );
        prop::collection::vec(result, 1..6)
    }

    proptest! {
        #[test]
        fn results_are_read_back_as_they_were_written(results in results()) {
            let mut writer = Writer::new(Vec::new());
            let mut meant = Vec::new();
            for (pairs, name, iterations, measurements) in &results {
                let pairs: Vec<_> = pairs.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
                let configuration = configuration(&pairs);
                let measured = measurements.iter().map(|(bits, unit)| Measurement::new(f64::from_bits(*bits), unit));
                writer.result(&configuration, name, *iterations, measured).unwrap();
                meant.push(configuration);
            }
            let text = writer.into_inner();
            let mut reader = Reader::new(&text[..], "");
            for (configuration, (_, name, iterations, measurements)) in meant.iter().zip(&results) {
                let Some((_, Record::Result(read))) = reader.next_record().unwrap() else {
                    panic!("a result is missing");
                };
                prop_assert_eq!(read.configuration(), configuration);
                prop_assert_eq!(read.name(), name.as_str());
                prop_assert_eq!(read.iterations(), *iterations);
                let read: Vec<_> = read.measurements().map(|measurement| (measurement.value.to_bits(), measurement.unit.to_string())).collect();
                prop_assert_eq!(&read, measurements);
            }
            prop_assert!(reader.next_record().unwrap().is_none());
        }
    }
}
