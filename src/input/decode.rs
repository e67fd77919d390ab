//! Bytes in, benchmark text out: gzip, UTF-16, byte-order marks and `go test -json` streams.
//!
//! What an input is, its first bytes tell. Plain text passes through as it is,
//! at no cost but that of looking at its start; stray zeros and invalid UTF-8
//! are left for the reader, which minds neither.

use std::io::{self, Chain, Cursor, Read};

use flate2::read::MultiGzDecoder;

use super::likeness::Start;
use super::size::Size;
use super::test_stream::{LineNumbers, TestStream};
use super::utf16::{ByteOrder, FirstEncodingChange, Utf16};

/// How much of an input is looked at: enough for a log before the first event of a stream.
const START_LENGTH: usize = 8 * 1024;

/// The text of an input.
pub struct Decoded<'r, R> {
    /// Where to read it from.
    pub text: Text<'r, R>,
    /// The lines of the input that its lines come from, where they are not the same.
    pub lines: Option<LineNumbers>,
    /// What tells what the text looks like, should there be no result in it.
    pub start: Start,
    /// How many bytes stood before the text that are no part of it.
    pub skipped: u64,
    /// Where text in another encoding was met, of a text that is decoded.
    pub change: FirstEncodingChange,
}

/// A stream of text, decoded where that is needed.
pub enum Text<'r, R> {
    /// Text that is read as it is.
    Plain(Peeked<R>),
    /// Text that is made from something else.
    Made(Box<dyn Read + 'r>),
}

/// A source whose first bytes were read already.
type Peeked<R> = Chain<Cursor<Vec<u8>>, R>;

impl<R: Read> Read for Text<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(text) => text.read(buffer),
            Self::Made(text) => text.read(buffer),
        }
    }
}

/// What packed data may unpack to unless more is asked for: what a few kilobytes
/// can unpack to would keep the program busy for days.
pub const MOST_UNPACKED: Size = Size(1 << 30);

/// Recognises what `source` holds by its first bytes, and makes text of it.
///
/// Reading that text fails where packed data unpacks to more than `most_unpacked`.
///
/// # Errors
/// Whatever reading those bytes fails with.
pub fn decode<'r, R: Read + 'r>(mut source: R, most_unpacked: Size) -> io::Result<Decoded<'r, R>> {
    let start = peek(&mut source)?;
    if !start.starts_with(GZIP) {
        return decode_text(start, source);
    }
    let mut unpacked: Box<dyn Read + 'r> = Box::new(Gzip {
        unpacker: MultiGzDecoder::new(Cursor::new(start).chain(source)),
        most: most_unpacked,
        left: most_unpacked.0,
    });
    let start = peek(&mut unpacked)?;
    let Decoded {
        text,
        lines,
        start,
        skipped,
        change,
    } = decode_text(start, unpacked)?;
    Ok(Decoded {
        text: Text::Made(match text {
            Text::Plain(text) => Box::new(text),
            Text::Made(text) => text,
        }),
        lines,
        start,
        skipped,
        change,
    })
}

const GZIP: &[u8] = b"\x1f\x8b";
const UTF_8_MARK: &[u8] = b"\xef\xbb\xbf";
const UTF_16_MARK_LENGTH: usize = 2;

/// Decodes what is not packed, and of which `start` was read already.
fn decode_text<'r, R: Read + 'r>(start: Vec<u8>, source: R) -> io::Result<Decoded<'r, R>> {
    if let Some(order) = ByteOrder::of_mark(&start) {
        let bytes = Cursor::new(start[UTF_16_MARK_LENGTH..].to_vec()).chain(source);
        let mut text = Utf16::new(bytes, order);
        let change = text.change();
        let start = peek(&mut text)?;
        return Ok(Decoded {
            change,
            ..made(start, text)
        });
    }
    let mark = if start.starts_with(UTF_8_MARK) {
        UTF_8_MARK.len()
    } else {
        0
    };
    if TestStream::<R>::is_recognised(&start[mark..]) {
        return Ok(made(start[mark..].to_vec(), source));
    }
    let text = start[mark..].to_vec();
    let mut start = Cursor::new(start);
    start.set_position(mark as u64);
    Ok(Decoded {
        text: Text::Plain(start.chain(source)),
        lines: None,
        start: Start::Text(text),
        skipped: mark as u64,
        change: FirstEncodingChange::default(),
    })
}

/// Text behind a box, that of a test stream taken out of it.
fn made<'r, R: Read + 'r, S: Read + 'r>(start: Vec<u8>, source: S) -> Decoded<'r, R> {
    if !TestStream::<S>::is_recognised(&start) {
        return Decoded {
            text: Text::Made(Box::new(Cursor::new(start.clone()).chain(source))),
            lines: None,
            start: Start::Text(start),
            skipped: 0,
            change: FirstEncodingChange::default(),
        };
    }
    let stream = TestStream::new(Cursor::new(start).chain(source));
    Decoded {
        lines: Some(stream.line_numbers()),
        text: Text::Made(Box::new(stream)),
        start: Start::TestStream,
        skipped: 0,
        change: FirstEncodingChange::default(),
    }
}

/// The first bytes of `source`, fewer only where it ends.
fn peek(source: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut start = Vec::with_capacity(START_LENGTH);
    source.take(START_LENGTH as u64).read_to_end(&mut start)?;
    Ok(start)
}

/// Unpacks gzip, of which several may stand behind one another, and says so when it is damaged or too much.
struct Gzip<R> {
    unpacker: MultiGzDecoder<R>,
    /// The size that it may unpack to, for the message.
    most: Size,
    /// How much of that is left, in bytes.
    left: u64,
}

impl<R: Read> Read for Gzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.unpacker.read(buffer).map_err(|error| {
            let reason = match error.kind() {
                io::ErrorKind::UnexpectedEof => "ends early",
                io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => "is damaged",
                _ => return error,
            };
            let message = format!("the gzip data {reason}: pack or fetch the file again");
            io::Error::new(error.kind(), message)
        })?;
        self.left = self.left.checked_sub(count as u64).ok_or_else(|| {
            let most = self.most;
            let message =
                format!("the gzip data unpacks to more than {most}: -max-unpacked allows for more");
            io::Error::new(io::ErrorKind::InvalidData, message)
        })?;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, write::GzEncoder};
    use proptest::prelude::*;
    use std::io::Write;

    fn text_of(bytes: &[u8]) -> Vec<u8> {
        let mut text = Vec::new();
        decode(bytes, MOST_UNPACKED)
            .unwrap()
            .text
            .read_to_end(&mut text)
            .unwrap();
        text
    }

    fn utf_16(text: &str, unit: fn(u16) -> [u8; 2]) -> Vec<u8> {
        let units = std::iter::once(0xfeff).chain(text.encode_utf16());
        units.flat_map(unit).collect()
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(bytes).unwrap();
        packed.finish().unwrap()
    }

    #[test]
    fn plain_text_passes_unchanged() {
        for text in [&b""[..], b"goos: linux\n", b"a\0b\xff\xfe\n", b"\xef\xbb"] {
            let decoded = decode(text, MOST_UNPACKED).unwrap();
            assert!(matches!(decoded.text, Text::Plain(_)));
            assert_eq!(text_of(text), text);
        }
    }

    #[test]
    fn a_byte_order_mark_is_dropped_and_the_rest_kept_as_it_is() {
        assert_eq!(text_of(b"\xef\xbb\xbfgoos: \xff\n"), b"goos: \xff\n");
    }

    #[test]
    fn half_a_character_of_utf_16_does_no_harm() {
        let mut bytes = utf_16("Benchmark\u{1f600}\n", u16::to_le_bytes);
        bytes.truncate(bytes.len() - 3);
        assert!(text_of(&bytes).starts_with(b"Benchmark"));
    }

    #[test]
    fn gzip_members_behind_one_another_are_one_text() {
        assert_eq!(text_of(&[gzip(b"a\n"), gzip(b"b\n")].concat()), b"a\nb\n");
    }

    #[test]
    fn damaged_gzip_says_what_to_do() {
        let mut packed = gzip(&b"BenchmarkX 1 5 ns/op\n".repeat(9));
        packed.truncate(packed.len() - 4);
        let mut text = Vec::new();
        let error = decode(&packed[..], MOST_UNPACKED)
            .and_then(|mut decoded| decoded.text.read_to_end(&mut text))
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "the gzip data ends early: pack or fetch the file again"
        );
    }

    #[test]
    fn gzip_may_unpack_to_so_much_and_no_more() {
        let packed = gzip(&b"BenchmarkX 1 5 ns/op\n".repeat(1000));
        let read = |most| {
            let mut text = Vec::new();
            let decoded = decode(&packed[..], Size(most));
            decoded.and_then(|mut decoded| decoded.text.read_to_end(&mut text))
        };
        assert_eq!(read(21_000).unwrap(), 21_000);
        assert_eq!(
            read(20_480).unwrap_err().to_string(),
            "the gzip data unpacks to more than 20KiB: -max-unpacked allows for more"
        );
    }

    #[test]
    fn a_mark_alone_is_no_text() {
        assert_eq!(text_of(b"\xff\xfe"), b"");
        assert_eq!(text_of(b"\xfe\xff"), b"");
        assert_eq!(text_of(&gzip(b"\xff\xfe")), b"");
    }

    proptest! {
        // Texts of several chunks take a while each.
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn every_encoding_yields_the_same_text(text in "(?s)[a-zé😀\\x00\n\t ].{0,20000}") {
            prop_assume!(!TestStream::<&[u8]>::is_recognised(text.as_bytes()));
            let plain = text.as_bytes();
            for bytes in [
                [UTF_8_MARK, plain].concat(),
                utf_16(&text, u16::to_le_bytes),
                utf_16(&text, u16::to_be_bytes),
                gzip(plain),
                gzip(&utf_16(&text, u16::to_be_bytes)),
            ] {
                prop_assert_eq!(text_of(&bytes), plain);
            }
        }
    }
}
