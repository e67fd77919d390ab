//! Inputs that are packed, encoded or wrapped: the same text whatever the pieces they come in,
//! and the same text from every encoding of it.

use std::io::{self, Read, Write as _};

use flate2::{Compression, write::GzEncoder};
use rbenchstat::input::decode;

/// No text that is unpacked here is longer.
const LONGEST: u64 = 1 << 22;

/// Checks `data` as an input; its first byte says in what pieces it comes.
///
/// # Panics
/// Where something does not hold.
pub fn check(data: &[u8]) {
    let Some((&chunk, input)) = data.split_first() else {
        return;
    };
    let whole = text_of(input, usize::MAX);
    for length in [1, 2 + usize::from(chunk)] {
        assert_eq!(text_of(input, length), whole, "in pieces of {length}");
    }
    let Ok(text) = whole else { return };
    if text.len() as u64 >= LONGEST || !is_plain(&text) {
        return;
    }
    assert_eq!(
        text_of(&text, usize::MAX).as_deref(),
        Ok(&text[..]),
        "text stays as it is"
    );
    assert_eq!(text_of(&gzip(&text), usize::MAX).as_deref(), Ok(&text[..]));
    let marked = [b"\xef\xbb\xbf", &text[..]].concat();
    assert_eq!(text_of(&marked, usize::MAX).as_deref(), Ok(&text[..]));
    if let Ok(characters) = std::str::from_utf8(&text) {
        for unit in [u16::to_le_bytes, u16::to_be_bytes] {
            let units = std::iter::once(0xfeff).chain(characters.encode_utf16());
            let encoded: Vec<u8> = units.flat_map(unit).collect();
            assert_eq!(text_of(&encoded, usize::MAX).as_deref(), Ok(&text[..]));
        }
    }
}

/// The text of an input that comes in pieces of `chunk` bytes, or the sentence that says why there is none.
fn text_of(input: &[u8], chunk: usize) -> Result<Vec<u8>, String> {
    let mut text = Vec::new();
    decode(Chunks { input, chunk })
        .and_then(|decoded| decoded.text.take(LONGEST).read_to_end(&mut text))
        .map_err(|error| error.to_string())?;
    Ok(text)
}

/// Whether nothing in the text asks for decoding.
fn is_plain(text: &[u8]) -> bool {
    let starts: [&[u8]; 4] = [b"\x1f\x8b", b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff"];
    !starts.iter().any(|start| text.starts_with(start)) && !text.contains(&b'{')
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(text).expect("memory takes all");
    packed.finish().expect("memory takes all")
}

/// An input that is read `chunk` bytes at a time.
struct Chunks<'a> {
    input: &'a [u8],
    chunk: usize,
}

impl Read for Chunks<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = buffer.len().min(self.chunk);
        self.input.read(&mut buffer[..length])
    }
}
