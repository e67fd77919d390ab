//! Benchmark names and their parts: `Base/part/key=value-8`.

use bstr::{BStr, ByteSlice};

/// A full benchmark name, without the leading `Benchmark`.
///
/// It splits into a base, parts that start with `/`, and a final `-N` (the
/// value of `GOMAXPROCS`), which is no part of the last `/part`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name<'a> {
    full: &'a BStr,
    /// Length of the name without its `-N`.
    stem: usize,
}

impl<'a> Name<'a> {
    /// Splits `full`, which may be empty.
    #[must_use]
    pub fn new(full: &'a [u8]) -> Self {
        let full = BStr::new(full);
        Self {
            full,
            stem: stem_length(full),
        }
    }

    /// The whole name.
    #[must_use]
    pub fn full(self) -> &'a BStr {
        self.full
    }

    /// The name up to the first `/`, or up to the final `-N` if it has no `/`.
    #[must_use]
    pub fn base(self) -> &'a BStr {
        let end = self.full.find_byte(b'/').unwrap_or(self.stem);
        self.full[..end].as_bstr()
    }

    /// The parts after the base, each with its leading `/`, without the final `-N`.
    pub fn parts(self) -> impl Iterator<Item = &'a BStr> {
        let start = self.full.find_byte(b'/').unwrap_or(self.stem);
        let mut rest: &'a [u8] = &self.full[start..self.stem];
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let end = rest[1..].find_byte(b'/').map_or(rest.len(), |at| at + 1);
            let (part, after) = rest.split_at(end);
            rest = after;
            Some(part.as_bstr())
        })
    }

    /// The final `-N` with its dash, or nothing.
    #[must_use]
    pub fn suffix(self) -> &'a BStr {
        self.full[self.stem..].as_bstr()
    }

    /// The digits of the final `-N`.
    #[must_use]
    pub fn gomaxprocs(self) -> Option<&'a BStr> {
        (self.stem < self.full.len()).then(|| self.full[self.stem + 1..].as_bstr())
    }

    /// The value of the first part `/key=value`; `key` comes without the slash.
    #[must_use]
    pub fn sub_value(self, key: &[u8]) -> Option<&'a BStr> {
        self.parts().find_map(|part| part_value(part, key))
    }
}

/// The value of `part` if it is `/key=value`.
#[must_use]
pub fn part_value<'a>(part: &'a BStr, key: &[u8]) -> Option<&'a BStr> {
    part.strip_prefix(b"/")
        .and_then(|rest| rest.strip_prefix(key))
        .and_then(|rest| rest.strip_prefix(b"="))
        .map(BStr::new)
}

/// The length of `full` without a final dash and one or more digits.
fn stem_length(full: &[u8]) -> usize {
    let digits = full
        .iter()
        .rev()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let end = full.len() - digits;
    if digits > 0 && end > 0 && full[end - 1] == b'-' {
        end - 1
    } else {
        full.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(full: &str) -> Vec<String> {
        Name::new(full.as_bytes())
            .parts()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn a_name_splits_into_base_parts_and_suffix() {
        let name = Name::new(b"Copy/size=4k/pos/x-16");
        assert_eq!(name.base(), "Copy");
        assert_eq!(parts("Copy/size=4k/pos/x-16"), ["/size=4k", "/pos", "/x"]);
        assert_eq!(name.suffix(), "-16");
        assert_eq!(name.gomaxprocs().unwrap(), "16");
        assert_eq!(name.sub_value(b"size").unwrap(), "4k");
        assert_eq!(name.sub_value(b"pos"), None);
    }

    #[test]
    fn only_a_dash_followed_by_digits_is_a_suffix() {
        for full in ["X-", "X-1a", "X8", "X"] {
            assert_eq!(Name::new(full.as_bytes()).gomaxprocs(), None, "{full}");
        }
        assert_eq!(Name::new(b"-8").base(), "");
    }

    #[test]
    fn empty_parts_are_kept() {
        assert_eq!(parts("X//a/"), ["/", "/a", "/"]);
    }
}
