//! The orders in which the values of a key are shown.

use std::cmp::Ordering;

use bstr::{BStr, BString};

use crate::record::number::parse_number;

/// The order of a key's values. What it cannot separate is ordered byte by byte.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ValueOrder {
    /// The order in which the values are first seen in this key.
    #[default]
    First,
    /// Byte by byte.
    Alpha,
    /// By the number that a value is; see [`sort_number`].
    Num,
    /// In the order of a list, which also drops every result with another value.
    ///
    /// Of a value that is listed twice the last place counts. A value that is
    /// not listed, which happens when `.fullname` is listed as it is written
    /// but shown without the parts of other keys, stands where the first listed
    /// one does.
    Fixed(Vec<BString>),
}

impl ValueOrder {
    /// Compares two values, given when each was first seen.
    pub(super) fn compare(&self, left: (usize, &BStr), right: (usize, &BStr)) -> Ordering {
        let by_order = match self {
            Self::First => left.0.cmp(&right.0),
            Self::Alpha => Ordering::Equal,
            Self::Num => NumberRank::of(left.1).cmp(NumberRank::of(right.1)),
            Self::Fixed(values) => place(values, left.1).cmp(&place(values, right.1)),
        };
        by_order.then_with(|| left.1.cmp(right.1))
    }

    /// The rank of each of several different values, given in the order in which they were first seen.
    pub(super) fn ranks(&self, values: &[&BStr]) -> Vec<u32> {
        let mut order: Vec<usize> = (0..values.len()).collect();
        match self {
            Self::First => {}
            Self::Alpha => order.sort_unstable_by_key(|&at| values[at]),
            Self::Num => {
                let numbers: Vec<_> = values.iter().map(|value| NumberRank::of(value)).collect();
                order.sort_unstable_by(|&left, &right| {
                    let by_number = numbers[left].cmp(numbers[right]);
                    by_number.then_with(|| values[left].cmp(values[right]))
                });
            }
            Self::Fixed(list) => {
                order.sort_by_cached_key(|&at| (place(list, values[at]), values[at]));
            }
        }
        let mut ranks = vec![0; values.len()];
        for (rank, at) in (0..).zip(order) {
            ranks[at] = rank;
        }
        ranks
    }
}

/// Where `value` stands in a fixed list.
fn place(list: &[BString], value: &BStr) -> usize {
    list.iter().rposition(|listed| listed == value).unwrap_or(0)
}

/// Where a value stands among numbers and other values.
#[derive(Clone, Copy, Debug)]
enum NumberRank {
    Number(f64),
    NotANumber,
    NoNumber,
}

impl NumberRank {
    fn of(value: &BStr) -> Self {
        match sort_number(value) {
            None => Self::NoNumber,
            Some(number) if number.is_nan() => Self::NotANumber,
            Some(number) => Self::Number(number),
        }
    }

    fn cmp(self, other: Self) -> Ordering {
        match (self, other) {
            // Unlike `total_cmp` this takes -0 for 0.
            (Self::Number(left), Self::Number(right)) => {
                left.partial_cmp(&right).unwrap_or(Ordering::Equal)
            }
            _ => self.class().cmp(&other.class()),
        }
    }

    fn class(self) -> u8 {
        match self {
            Self::Number(_) => 0,
            Self::NotANumber => 1,
            Self::NoNumber => 2,
        }
    }
}

/// The number by which `@num` orders a value.
///
/// That is the whole value, if it is a number such as `1e3`, `1_000` or `inf`.
/// Otherwise it is the whole value if that is a number with a scale: an optional
/// sign, digits with at most one point, then one of `kKMGTPEZY` for a power of
/// 1000 or the same with an `i` for a power of 1024, then `b` or `B`, of which
/// each may be missing.
#[must_use]
pub fn sort_number(value: &[u8]) -> Option<f64> {
    if let Ok(number) = parse_number(value) {
        return Some(number);
    }
    let rest = value
        .strip_suffix(b"b")
        .or_else(|| value.strip_suffix(b"B"))
        .unwrap_or(value);
    let (base, rest): (f64, _) = match rest.strip_suffix(b"i") {
        Some(rest) => (1024.0, rest),
        None => (1000.0, rest),
    };
    let exponent = match rest.last() {
        Some(b'k' | b'K') => 1,
        Some(b'M') => 2,
        Some(b'G') => 3,
        Some(b'T') => 4,
        Some(b'P') => 5,
        Some(b'E') => 6,
        Some(b'Z') => 7,
        Some(b'Y') => 8,
        // An `i` belongs to a letter.
        _ if base == 1024.0 => return None,
        _ => 0,
    };
    let digits = &rest[..rest.len() - usize::from(exponent > 0)];
    let unsigned = digits
        .strip_prefix(b"+")
        .or_else(|| digits.strip_prefix(b"-"))
        .unwrap_or(digits);
    let is_plain = |byte: &u8| byte.is_ascii_digit() || *byte == b'.';
    if !unsigned.iter().all(is_plain) {
        return None;
    }
    Some(parse_number(digits).ok()? * base.powi(exponent))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sorted<'a>(order: &ValueOrder, values: &[&'a str]) -> Vec<&'a str> {
        let bytes: Vec<&BStr> = values.iter().map(|&value| value.into()).collect();
        let ranks = order.ranks(&bytes);
        let mut at: Vec<usize> = (0..values.len()).collect();
        at.sort_by_key(|&at| ranks[at]);
        at.into_iter().map(|at| values[at]).collect()
    }

    #[test]
    fn a_number_is_the_whole_value_with_a_scale_or_without() {
        for (value, number) in [
            ("1e3", 1000.0),
            ("1_000", 1000.0),
            ("-3", -3.0),
            ("0x1p4", 16.0),
            ("inf", f64::INFINITY),
            ("1k", 1e3),
            ("1KB", 1e3),
            ("1.5Mi", 1.5 * 1024.0 * 1024.0),
            ("2MiB", 2.0 * 1024.0 * 1024.0),
            (".5k", 500.0),
            ("5.k", 5e3),
            ("2Yi", 2.0 * 1024_f64.powi(8)),
            ("100b", 100.0),
            ("-3k", -3e3),
            ("+3k", 3e3),
        ] {
            assert_eq!(sort_number(value.as_bytes()), Some(number), "{value}");
        }
        for value in [
            "", "abc", ".", "..", "k", "b", ".k", "1..2", "a.b1", "٣", "x12", "Decode-8", "0x10",
            "0x1k", "1m", "1i", "1iB", "1kB/s", "1kk", "1bb", "1_0k", "1e3k", "infk", "nanb",
            "+-1k", "1e400",
        ] {
            assert_eq!(sort_number(value.as_bytes()), None, "{value}");
        }
    }

    // What `benchstat` was seen to do with such values.
    #[test]
    fn numbers_come_first_then_nan_then_other_values() {
        let expected = [
            "-1k", "9", "10", "100b", "1K", "1_000", "1e3", "1k", "1kB", "1ki", "1.5k", "2Ki",
            "1M", "1Mi", "inf", "NaN", "", "0x10", "1kk", "abc", "x12",
        ];
        let mut values = expected;
        values.reverse();
        assert_eq!(sorted(&ValueOrder::Num, &values), expected);
    }

    #[test]
    fn bytes_order_what_an_order_cannot() {
        assert_eq!(
            sorted(&ValueOrder::Num, &["b", "1k", "a", "1000", "1K"]),
            ["1000", "1K", "1k", "a", "b"]
        );
        assert_eq!(
            sorted(&ValueOrder::Alpha, &["b", "B", "10", "9"]),
            ["10", "9", "B", "b"]
        );
        assert_eq!(
            sorted(&ValueOrder::First, &["b", "B", "10"]),
            ["b", "B", "10"]
        );
    }

    #[test]
    fn in_a_list_the_last_place_counts_and_others_stand_with_the_first() {
        let list = ["z", "a", "c", "a"].map(Into::into).to_vec();
        assert_eq!(
            sorted(&ValueOrder::Fixed(list), &["a", "x", "c", "z", "y"]),
            ["x", "y", "z", "c", "a"]
        );
    }

    proptest! {
        #[test]
        fn ranks_agree_with_comparison(
            values in prop::collection::btree_set("[0-9.kKMia_-]{0,4}|nan|inf", 1..12),
            order in prop::sample::select(vec![
                ValueOrder::First,
                ValueOrder::Alpha,
                ValueOrder::Num,
                ValueOrder::Fixed(vec!["1".into(), "a".into(), "".into()]),
            ]),
        ) {
            let values: Vec<&BStr> = values.iter().map(|value| value.as_str().into()).collect();
            let ranks = order.ranks(&values);
            for left in 0..values.len() {
                for right in 0..values.len() {
                    let compared = order.compare((left, values[left]), (right, values[right]));
                    prop_assert_eq!(compared, ranks[left].cmp(&ranks[right]));
                }
            }
        }
    }
}
