//! UTF-16 in, UTF-8 out, a chunk at a time.

use std::io::{self, Cursor, Read};

/// How much is converted at once, in bytes.
const CHUNK: u64 = 16 * 1024;

/// Which byte of a unit comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The lower one.
    LittleEndian,
    /// The higher one.
    BigEndian,
}

impl Order {
    /// The order that the byte-order mark at the start of a text tells, if there is one.
    #[must_use]
    pub fn of_mark(start: &[u8]) -> Option<Self> {
        match start {
            [0xff, 0xfe, ..] => Some(Self::LittleEndian),
            [0xfe, 0xff, ..] => Some(Self::BigEndian),
            _ => None,
        }
    }

    fn unit(self, bytes: [u8; 2]) -> u16 {
        match self {
            Self::LittleEndian => u16::from_le_bytes(bytes),
            Self::BigEndian => u16::from_be_bytes(bytes),
        }
    }
}

/// Text that is read as UTF-16. What is no character comes out as U+FFFD.
pub struct Utf16<R> {
    source: R,
    order: Order,
    /// The bytes of a character that a chunk ended within.
    rest: Vec<u8>,
    text: Cursor<Vec<u8>>,
    has_ended: bool,
}

impl<R: Read> Utf16<R> {
    /// Reads what follows the mark.
    pub fn new(source: R, order: Order) -> Self {
        Self {
            source,
            order,
            rest: Vec::new(),
            text: Cursor::default(),
            has_ended: false,
        }
    }

    /// Converts the next chunk.
    fn refill(&mut self) -> io::Result<()> {
        const HIGH_SURROGATES: std::ops::RangeInclusive<u16> = 0xd800..=0xdbff;
        let mut bytes = std::mem::take(&mut self.rest);
        self.has_ended = (&mut self.source).take(CHUNK).read_to_end(&mut bytes)? == 0;
        let (pairs, half) = bytes.as_chunks::<2>();
        let mut units: Vec<u16> = pairs.iter().map(|&pair| self.order.unit(pair)).collect();
        if self.has_ended {
            // Half a unit is half a character.
            units.extend(half.first().map(|_| *HIGH_SURROGATES.start()));
        } else {
            self.rest = half.to_vec();
            if let Some(last) = units.pop_if(|unit| HIGH_SURROGATES.contains(unit)) {
                let bytes = match self.order {
                    Order::LittleEndian => last.to_le_bytes(),
                    Order::BigEndian => last.to_be_bytes(),
                };
                self.rest.splice(..0, bytes);
            }
        }
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

    fn text_of(bytes: impl Read, order: Order) -> String {
        let mut text = String::new();
        Utf16::new(bytes, order).read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn a_mark_tells_the_order() {
        assert_eq!(Order::of_mark(b"\xff\xfea\0"), Some(Order::LittleEndian));
        assert_eq!(Order::of_mark(b"\xfe\xff"), Some(Order::BigEndian));
        assert_eq!(Order::of_mark(b"\xff"), None);
    }

    #[test]
    fn what_is_no_character_is_replaced() {
        let order = Order::BigEndian;
        assert_eq!(text_of(&b"\0a\xd8\x3d\0b"[..], order), "a\u{fffd}b");
        assert_eq!(text_of(&b"\0a\xde\0\0b"[..], order), "a\u{fffd}b");
        assert_eq!(text_of(&b"\0a\xd8\x3d"[..], order), "a\u{fffd}");
        assert_eq!(text_of(&b"\0a\xd8"[..], order), "a\u{fffd}");
    }

    proptest! {
        #[test]
        fn text_comes_back_wherever_chunks_end(text in "(?s)[a😀é]{0,20}.{0,10}", times in 1usize..300) {
            let text = text.repeat(times);
            let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
            prop_assert_eq!(&text_of(&little[..], Order::LittleEndian), &text);
            let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
            prop_assert_eq!(&text_of(Slow(&big), Order::BigEndian), &text);
        }
    }
}
