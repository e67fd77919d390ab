//! UTF-16 in, UTF-8 out, a chunk at a time.

use std::cell::Cell;
use std::io::{self, Cursor, Read};
use std::rc::Rc;

use memchr::memmem;

/// The bytes of a byte-order mark.
const MARK_LENGTH: u64 = 2;

/// How much is converted at once, in bytes.
const CHUNK: u64 = 16 * 1024;

/// Which byte of a unit comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteOrder {
    /// The lower one.
    LittleEndian,
    /// The higher one.
    BigEndian,
}

impl ByteOrder {
    /// The order that the byte-order mark at the start of a text tells, if there is one.
    #[must_use]
    pub fn of_mark(start: &[u8]) -> Option<Self> {
        match start {
            [0xff, 0xfe, ..] => Some(Self::LittleEndian),
            [0xfe, 0xff, ..] => Some(Self::BigEndian),
            _ => None,
        }
    }

    fn bytes(self, unit: u16) -> [u8; 2] {
        match self {
            Self::LittleEndian => unit.to_le_bytes(),
            Self::BigEndian => unit.to_be_bytes(),
        }
    }

    fn other(self) -> Self {
        match self {
            Self::LittleEndian => Self::BigEndian,
            Self::BigEndian => Self::LittleEndian,
        }
    }

    fn unit(self, bytes: [u8; 2]) -> u16 {
        match self {
            Self::LittleEndian => u16::from_le_bytes(bytes),
            Self::BigEndian => u16::from_be_bytes(bytes),
        }
    }
}

/// Where text in another encoding was met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EncodingChange {
    /// The byte, from 0.
    pub byte: u64,
    /// The line that it comes to stand in, from 1.
    pub line: u64,
}

/// The first change of the encoding of a text, as far as that was read.
#[derive(Clone, Debug, Default)]
pub struct FirstEncodingChange(Rc<Cell<Option<EncodingChange>>>);

impl FirstEncodingChange {
    /// Where it is, if there is one.
    #[must_use]
    pub fn get(&self) -> Option<EncodingChange> {
        self.0.get()
    }
}

/// What results and their configuration are known by.
const MARKERS: [&str; 3] = ["Benchmark", "goos: ", "pkg: "];

/// Enough to see a marker that a chunk ends within: its bytes in UTF-16 but for one.
const OVERLAP: usize = 17;

/// Text that is read as UTF-16. What is no character comes out as U+FFFD.
pub struct Utf16<R> {
    source: R,
    order: ByteOrder,
    /// How many bytes were read, with the mark.
    position: u64,
    /// The end of what was looked at for text in another encoding.
    seen: Vec<u8>,
    /// How many lines have ended.
    lines: u64,
    change: FirstEncodingChange,
    /// The bytes of a character that a chunk ended within.
    rest: Vec<u8>,
    text: Cursor<Vec<u8>>,
    has_ended: bool,
}

impl<R: Read> Utf16<R> {
    /// Reads what follows the mark.
    pub fn new(source: R, order: ByteOrder) -> Self {
        Self {
            source,
            order,
            position: MARK_LENGTH,
            seen: Vec::new(),
            lines: 0,
            change: FirstEncodingChange::default(),
            rest: Vec::new(),
            text: Cursor::default(),
            has_ended: false,
        }
    }

    /// Where the encoding changes, as far as the text has been read.
    pub fn change(&self) -> FirstEncodingChange {
        self.change.clone()
    }

    /// Looks for text that is not UTF-16, or UTF-16 of the other order, in bytes that were just read.
    fn look_at(&mut self, bytes: &[u8]) {
        let before = self.seen.len();
        let start = self.position - before as u64;
        self.seen.extend_from_slice(bytes);
        self.position += bytes.len() as u64;
        // The zero at an end may be any byte where pairs are turned around by an odd one before them. A letter between two
        // others looks the same, but for where it starts.
        let (first, is_even) = match self.order {
            ByteOrder::LittleEndian => (1, false),
            ByteOrder::BigEndian => (0, true),
        };
        let of_other_order = |text: &str| -> Option<usize> {
            let units = text.encode_utf16();
            let bytes = units.flat_map(|unit| self.order.other().bytes(unit));
            let text: Vec<u8> = bytes.skip(first).take(2 * text.len() - 1).collect();
            let parity = |at: usize| (start + at as u64).is_multiple_of(2);
            let at = memmem::find_iter(&self.seen, &text).find(|&at| parity(at) == is_even)?;
            Some(at.saturating_sub(first))
        };
        let of_bytes = |text: &str| memmem::find(&self.seen, text.as_bytes());
        let found = MARKERS
            .iter()
            .flat_map(|text| [of_bytes(text), of_other_order(text)]);
        if let Some(at) = found.flatten().min() {
            let lines = self.seen[before.min(at)..at].as_chunks::<2>().0.iter();
            let ended = lines
                .filter(|&&pair| self.order.unit(pair) == u16::from(b'\n'))
                .count();
            self.change.0.set(Some(EncodingChange {
                byte: start + at as u64,
                line: self.lines + ended as u64 + 1,
            }));
        }
        self.seen.drain(..self.seen.len().saturating_sub(OVERLAP));
    }

    /// Converts the next chunk.
    fn refill(&mut self) -> io::Result<()> {
        const HIGH_SURROGATES: std::ops::RangeInclusive<u16> = 0xd800..=0xdbff;
        let mut bytes = std::mem::take(&mut self.rest);
        let kept = bytes.len();
        self.has_ended = (&mut self.source).take(CHUNK).read_to_end(&mut bytes)? == 0;
        if self.change.get().is_none() {
            self.look_at(&bytes[kept..]);
        }
        let (pairs, half) = bytes.as_chunks::<2>();
        let mut units: Vec<u16> = pairs.iter().map(|&pair| self.order.unit(pair)).collect();
        if self.has_ended {
            // Half a unit is half a character.
            units.extend(half.first().map(|_| *HIGH_SURROGATES.start()));
        } else {
            self.rest = half.to_vec();
            if let Some(last) = units.pop_if(|unit| HIGH_SURROGATES.contains(unit)) {
                self.rest.splice(..0, self.order.bytes(last));
            }
        }
        let ended = units.iter().filter(|&&unit| unit == u16::from(b'\n'));
        self.lines += ended.count() as u64;
        let characters = char::decode_utf16(units);
        let text: String = characters
            .map(|character| character.unwrap_or(char::REPLACEMENT_CHARACTER))
            .collect();
        self.text = Cursor::new(text.into_bytes());
        Ok(())
    }
}

impl<R: Read> Read for Utf16<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let count = self.text.read(buffer)?;
            if count > 0 || self.has_ended || buffer.is_empty() {
                return Ok(count);
            }
            self.refill()?;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Gives a byte at a time.
    struct Slow<'b>(&'b [u8]);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = buffer.len().min(1);
            self.0.read(&mut buffer[..count])
        }
    }

    fn text_of(bytes: impl Read, order: ByteOrder) -> String {
        let mut text = String::new();
        Utf16::new(bytes, order).read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn a_mark_tells_the_order() {
        assert_eq!(
            ByteOrder::of_mark(b"\xff\xfea\0"),
            Some(ByteOrder::LittleEndian)
        );
        assert_eq!(ByteOrder::of_mark(b"\xfe\xff"), Some(ByteOrder::BigEndian));
        assert_eq!(ByteOrder::of_mark(b"\xff"), None);
    }

    #[test]
    fn what_is_no_character_is_replaced() {
        let order = ByteOrder::BigEndian;
        assert_eq!(text_of(&b"\0a\xd8\x3d\0b"[..], order), "a\u{fffd}b");
        assert_eq!(text_of(&b"\0a\xde\0\0b"[..], order), "a\u{fffd}b");
        assert_eq!(text_of(&b"\0a\xd8\x3d"[..], order), "a\u{fffd}");
        assert_eq!(text_of(&b"\0a\xd8"[..], order), "a\u{fffd}");
    }

    #[test]
    fn a_change_of_encoding_is_met_wherever_chunks_end() {
        let utf_16 = |text: &str, order: ByteOrder| -> Vec<u8> {
            text.encode_utf16()
                .flat_map(|unit| order.bytes(unit))
                .collect()
        };
        let result = "BenchmarkX 1 5 ns/op\n";
        for order in [ByteOrder::LittleEndian, ByteOrder::BigEndian] {
            // A chunk ends within the last but one, or the last.
            let full = usize::try_from(CHUNK).unwrap() / (2 * result.len());
            for before in [0, 1, full, full + 1] {
                let start = utf_16(&result.repeat(before), order);
                for (other, byte) in [
                    (result.as_bytes().to_vec(), 0),
                    (b"ok\npkg: a\n".to_vec(), 3),
                    (utf_16(result, order.other()), 0),
                    (utf_16(&format!("\u{feff}{result}"), order.other()), 2),
                    // An odd byte between turns all pairs around.
                    (
                        [b"\n", &utf_16(result, order)[..]].concat(),
                        usize::from(order == ByteOrder::BigEndian) * 2,
                    ),
                ] {
                    let bytes = [&start[..], &other].concat();
                    for slow in [false, true] {
                        let source: Box<dyn Read> = if slow {
                            Box::new(Slow(&bytes))
                        } else {
                            Box::new(&bytes[..])
                        };
                        let mut text = Utf16::new(source, order);
                        let change = text.change();
                        io::copy(&mut text, &mut io::sink()).unwrap();
                        let change = change.get().expect("a change");
                        assert_eq!(
                            change.byte,
                            2 + (start.len() + byte) as u64,
                            "{order:?} {before} {other:?}"
                        );
                        assert_eq!(change.line, before as u64 + 1, "{order:?} {before}");
                    }
                }
                let mut text = Utf16::new(&start[..], order);
                let change = text.change();
                io::copy(&mut text, &mut io::sink()).unwrap();
                assert_eq!(change.get(), None);
            }
        }
    }

    proptest! {
        #[test]
        fn text_comes_back_wherever_chunks_end(text in "(?s)[a😀é]{0,20}.{0,10}", times in 1usize..300) {
            let text = text.repeat(times);
            let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
            prop_assert_eq!(&text_of(&little[..], ByteOrder::LittleEndian), &text);
            let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
            prop_assert_eq!(&text_of(Slow(&big), ByteOrder::BigEndian), &text);
        }
    }
}
