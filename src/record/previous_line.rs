//! What the lines before had.

use bstr::{BStr, BString, ByteSlice};
use indexmap::IndexSet;

use super::line::is_field_end;

/// How many different units an input may have: each makes a table of its own, and what a line of a few megabytes can name
/// would make tables of gigabytes.
pub const MOST_UNITS: usize = 1 << 16;

/// The name and the units of the results before.
///
/// Most lines repeat them, and recognizing a text costs less than finding where it ends: without this, and without the parser's
/// memory of what follows the time, a comparison of many results takes 1.7 times the processor time. It also tells who sorts the
/// results that nothing is new.
#[derive(Debug, Default)]
pub(super) struct PreviousLine {
    /// The name of the last result.
    name: BString,
    /// How often the name changed; 0 before the first result.
    name_version: u64,
    /// All units so far.
    units: IndexSet<BString, foldhash::fast::RandomState>,
    /// The unit of each place in the last line that had the place.
    places: Vec<u32>,
}

impl PreviousLine {
    /// The length of the last result's name if `text` starts with it, followed by something else.
    #[inline]
    pub fn name_length(&self, text: &[u8]) -> Option<usize> {
        let length = self.name.len();
        let is_here = self.name_version > 0 && text.starts_with(&self.name);
        (is_here && length < text.len() && is_field_end(text, length)).then_some(length)
    }

    /// Keeps the name of a result.
    pub fn keep_name(&mut self, name: &[u8]) {
        name.clone_into(&mut self.name);
        self.name_version += 1;
    }

    /// Rises with each name kept.
    pub fn name_version(&self) -> u64 {
        self.name_version
    }

    /// The number of the unit that `text` starts with, if it is the one that was
    /// last seen at this place among the measurements, and its length.
    #[inline]
    pub fn unit_at(&self, place: usize, text: &[u8]) -> Option<(u32, usize)> {
        let number = *self.places.get(place)?;
        let unit = &self.units[number as usize];
        let length = unit.len();
        (text.starts_with(unit) && is_field_end(text, length)).then_some((number, length))
    }

    /// The number of a unit, which is kept for its place among the measurements; none if it is one too many.
    pub fn keep_unit(&mut self, place: usize, unit: &[u8]) -> Option<u32> {
        let index = match self.units.get_index_of(BStr::new(unit)) {
            Some(index) => index,
            None if self.units.len() >= MOST_UNITS => return None,
            None => self.units.insert_full(unit.into()).0,
        };
        let number = u32::try_from(index).unwrap_or(u32::MAX);
        match self.places.get_mut(place) {
            Some(kept) => *kept = number,
            None => self.places.push(number),
        }
        Some(number)
    }

    /// How many units there are.
    pub fn units(&self) -> usize {
        self.units.len()
    }

    /// Forgets all units but the first so many, as their line is left out.
    pub fn forget_units(&mut self, kept: usize) {
        self.units.truncate(kept);
        self.places.clear();
    }

    /// The unit with this number.
    pub fn unit(&self, number: u32) -> &BStr {
        self.units[number as usize].as_bstr()
    }
}
