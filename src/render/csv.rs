//! The drop-in CSV tables.
//!
//! The `csv` crate would write a lone empty field as `""` and leave a leading
//! space unquoted; Go's writer, whose bytes these are, does the opposite.

use std::io::{self, Write};

use bstr::ByteSlice;

use super::format;
use super::text::{changed_fields, key_line};
use crate::record::spelling::Shortest;
use crate::report::Listing;
use crate::report::model::{Cell, Geomean, Report, Row, Table};
use crate::report::warning::Warning;

/// The fields of the baseline column: value and interval.
const BASELINE_FIELDS: usize = 2;
/// The fields of a compared column: value, interval, change, p.
const COMPARED_FIELDS: usize = 4;

/// Writes the rows in `listing` of all tables of `report` to `out`, and its warnings to `warnings`,
/// each with the spreadsheet name of the cell that it is about.
///
/// # Errors
/// Whatever the writers fail with.
pub fn write(
    report: &Report,
    listing: &Listing,
    out: &mut dyn Write,
    warnings: &mut dyn Write,
) -> io::Result<()> {
    let mut sheet = Sheet {
        out,
        warnings,
        records: 0,
    };
    let mut previous: Option<&Table> = None;
    for (index, table) in report.tables.iter().enumerate() {
        if previous.is_some() {
            sheet.record(&[b""])?;
        }
        for field in changed_fields(previous, table) {
            sheet.record(&[key_line(field)])?;
        }
        write_table(index, table, listing, &mut sheet)?;
        previous = Some(table);
    }
    Ok(())
}

fn write_table(
    index: usize,
    table: &Table,
    listing: &Listing,
    sheet: &mut Sheet<'_>,
) -> io::Result<()> {
    let depth = table.columns.first().map_or(0, |column| column.key.len());
    for level in 0..depth {
        let mut record = vec![&b""[..]];
        for (index, column) in table.columns.iter().enumerate() {
            record.push(&column.key[level].value);
            record.resize(column_start(index + 1), b"");
        }
        sheet.record(&record)?;
    }
    let mut record = vec![&b""[..]];
    for index in 0..table.columns.len() {
        record.extend([&table.unit[..], b"CI"]);
        if index > 0 {
            record.extend([&b"vs base"[..], b"P"]);
        }
    }
    sheet.record(&record)?;
    for (_, row) in listing.rows(index, table) {
        write_row(row, sheet)?;
    }
    write_geomeans(&table.geomeans, sheet)
}

fn write_row(row: &Row, sheet: &mut Sheet<'_>) -> io::Result<()> {
    let mut record: Vec<(usize, Vec<u8>)> = vec![(0, row.label().into())];
    for (index, cell) in &row.cells {
        let start = column_start(*index);
        record.extend((start..).zip(sample_fields(cell)));
        sheet.warn(start, &cell.warnings)?;
        if let Some(comparison) = &cell.comparison {
            sheet.warn(start + BASELINE_FIELDS, &comparison.warnings)?;
            let fields = [
                format::change(comparison.change),
                format::evidence(comparison),
            ];
            record.extend((start + BASELINE_FIELDS..).zip(fields.map(Vec::from)));
        }
    }
    sheet.sparse_record(&record)
}

fn sample_fields(cell: &Cell) -> [Vec<u8>; BASELINE_FIELDS] {
    [
        Shortest(cell.centre).to_string().into(),
        format::range(cell).into(),
    ]
}

fn write_geomeans(geomeans: &[Geomean], sheet: &mut Sheet<'_>) -> io::Result<()> {
    let mut record = vec![b"geomean".to_vec()];
    for (index, geomean) in geomeans.iter().enumerate() {
        let start = column_start(index);
        let value = geomean.value.map(|value| Shortest(value).to_string());
        record.push(value.unwrap_or_default().into());
        record.push(Vec::new());
        if index > 0 {
            record.push(
                geomean
                    .change
                    .map(format::geomean_change)
                    .unwrap_or_default()
                    .into(),
            );
            record.push(Vec::new());
        }
        sheet.warn(start, &geomean.warnings)?;
    }
    sheet.record(&record)
}

/// The field where a column of the report starts.
fn column_start(index: usize) -> usize {
    const LABEL_FIELDS: usize = 1;
    match index {
        0 => LABEL_FIELDS,
        _ => LABEL_FIELDS + BASELINE_FIELDS + (index - 1) * COMPARED_FIELDS,
    }
}

/// Writes records and counts them.
struct Sheet<'a> {
    out: &'a mut dyn Write,
    warnings: &'a mut dyn Write,
    records: usize,
}

impl Sheet<'_> {
    fn record<T: AsRef<[u8]>>(&mut self, fields: &[T]) -> io::Result<()> {
        for (index, field) in fields.iter().enumerate() {
            if index > 0 {
                self.out.write_all(b",")?;
            }
            write_field(field.as_ref(), self.out)?;
        }
        self.records += 1;
        self.out.write_all(b"\n")
    }

    /// Writes a record of which only these fields, each with its index, are not empty.
    fn sparse_record(&mut self, fields: &[(usize, Vec<u8>)]) -> io::Result<()> {
        let mut behind = 0;
        for (index, field) in fields {
            separate(index - behind, self.out)?;
            write_field(field, self.out)?;
            behind = *index;
        }
        self.records += 1;
        self.out.write_all(b"\n")
    }

    /// Warns about a field of the record that comes next.
    fn warn(&mut self, field: usize, warnings: &[Warning]) -> io::Result<()> {
        for warning in warnings {
            writeln!(
                self.warnings,
                "{}{}: {warning}",
                column_letters(field),
                self.records + 1
            )?;
        }
        Ok(())
    }
}

/// Writes so many separators.
fn separate(count: usize, out: &mut dyn Write) -> io::Result<()> {
    const MANY: [u8; 4096] = [b','; 4096];
    let mut left = count;
    while left > 0 {
        let next = left.min(MANY.len());
        out.write_all(&MANY[..next])?;
        left -= next;
    }
    Ok(())
}

/// Writes a field, quoted where Go's CSV writer quotes it.
fn write_field(field: &[u8], out: &mut dyn Write) -> io::Result<()> {
    let is_special = |byte: &u8| matches!(byte, b',' | b'"' | b'\r' | b'\n');
    let starts_with_space = field.chars().next().is_some_and(char::is_whitespace);
    if !field.iter().any(is_special) && !starts_with_space && field != br"\." {
        return out.write_all(field);
    }
    out.write_all(b"\"")?;
    out.write_all(&field.replace("\"", "\"\""))?;
    out.write_all(b"\"")
}

/// The spreadsheet's name of a column: A to Z, then AA, AB and so on.
fn column_letters(mut index: usize) -> String {
    let mut letters = Vec::new();
    loop {
        letters.push(char::from(
            b'A' + u8::try_from(index % 26).unwrap_or_default(),
        ));
        if index < 26 {
            return letters.iter().rev().collect();
        }
        index = index / 26 - 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_past_z_have_two_letters() {
        for (index, letters) in [
            (0, "A"),
            (25, "Z"),
            (26, "AA"),
            (51, "AZ"),
            (52, "BA"),
            (701, "ZZ"),
            (702, "AAA"),
        ] {
            assert_eq!(column_letters(index), letters);
        }
    }

    #[test]
    fn fields_are_quoted_where_go_quotes_them() {
        for (field, text) in [
            ("", ""),
            ("a b", "a b"),
            (" a", "\" a\""),
            ("\ta", "\"\ta\""),
            ("a,b", "\"a,b\""),
            ("q\"q", "\"q\"\"q\""),
            ("\\.", "\"\\.\""),
        ] {
            let mut out = Vec::new();
            write_field(field.as_bytes(), &mut out).unwrap();
            assert_eq!(out, text.as_bytes());
        }
    }
}
