//! Sizes as people write them: `64MiB`.

use std::fmt;
use std::str::FromStr;

/// A number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size(pub u64);

/// A text that is no size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a whole number with B, KiB, MiB, GiB or TiB behind it, such as 1GiB")]
pub struct SizeError;

/// The units, largest first, each with its power of two.
const UNITS: [(&str, u32); 5] = [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10), ("B", 0)];

impl FromStr for Size {
    type Err = SizeError;

    fn from_str(text: &str) -> Result<Self, SizeError> {
        let (number, shift) = UNITS
            .iter()
            .find_map(|&(unit, shift)| Some((text.strip_suffix(unit)?, shift)))
            .ok_or(SizeError)?;
        let number: u64 = number.trim_end().parse().map_err(|_| SizeError)?;
        number.checked_mul(1 << shift).map(Self).ok_or(SizeError)
    }
}

/// In the largest unit of which it is a whole number.
impl fmt::Display for Size {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fits = |&&(_, shift): &&(&str, u32)| self.0 >> shift << shift == self.0;
        let (unit, shift) = UNITS.iter().find(fits).copied().unwrap_or(("B", 0));
        match self.0 {
            0 => out.write_str("0B"),
            bytes => write!(out, "{}{unit}", bytes >> shift),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_a_whole_number_with_a_unit() {
        for (text, bytes, shown) in [
            ("1GiB", 1 << 30, "1GiB"),
            ("1024 KiB", 1 << 20, "1MiB"),
            ("1500B", 1500, "1500B"),
            ("0MiB", 0, "0B"),
        ] {
            let size: Size = text.parse().unwrap();
            assert_eq!(size, Size(bytes), "{text}");
            assert_eq!(size.to_string(), shown);
        }
        for text in ["", "1", "GiB", "-1GiB", "1.5GiB", "1GB", "17000000TiB"] {
            assert_eq!(text.parse::<Size>(), Err(SizeError), "{text}");
        }
    }
}
