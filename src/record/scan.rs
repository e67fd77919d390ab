//! How texts start, told from eight bytes at a time.
//!
//! Nearly all of a file is read here. Runs of blanks and digits differ in
//! length from line to line, so that a loop over their bytes would mostly
//! be guessed wrongly by the processor at its end.

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH_BITS: u64 = ONES * 0x80;

/// The first eight bytes, of which the first is the lowest, and what follows them.
#[inline]
fn eight(text: &[u8]) -> Option<(u64, &[u8])> {
    let (bytes, rest) = text.split_first_chunk()?;
    Some((u64::from_le_bytes(*bytes), rest))
}

/// How many bytes there are before the first whose high bit is set.
#[inline]
fn before(marks: u64) -> usize {
    (marks & HIGH_BITS).trailing_zeros() as usize / 8
}

/// Sets the high bit of each byte that is not `byte`; the other bits mean nothing.
#[inline]
fn unlike(bytes: u64, byte: u8) -> u64 {
    let difference = bytes ^ (ONES * u64::from(byte));
    // Seven bits of a byte and as many ones: no sum leaves its byte.
    ((difference & !HIGH_BITS) + !HIGH_BITS) | difference
}

/// How many bytes from the start are ASCII and neither a blank nor a control character.
#[inline]
pub(super) fn leading_graphic(text: &[u8]) -> usize {
    /// The first ASCII byte that is no control character and no blank.
    const FIRST: u8 = 0x21;
    // A borrow can mark a byte falsely, but only behind one that is marked rightly.
    let others = |bytes: u64| bytes.wrapping_sub(ONES * u64::from(FIRST)) | bytes;
    leading(text, others, |byte| byte.is_ascii() && byte >= FIRST)
}

/// How many bytes from the start are blanks or tabs.
#[inline]
pub(super) fn leading_blanks(text: &[u8]) -> usize {
    let others = |bytes| unlike(bytes, b' ') & unlike(bytes, b'\t');
    leading(text, others, |byte| matches!(byte, b' ' | b'\t'))
}

/// How many bytes from the start are of a kind, given what marks the first that is not,
/// and the same for one byte.
#[inline]
fn leading(text: &[u8], others: impl Fn(u64) -> u64, is_one: impl Fn(u8) -> bool) -> usize {
    let mut rest = text;
    while let Some((bytes, after)) = eight(rest) {
        let length = before(others(bytes));
        if length < 8 {
            return text.len() - rest.len() + length;
        }
        rest = after;
    }
    let in_rest = rest.iter().take_while(|byte| is_one(**byte)).count();
    text.len() - rest.len() + in_rest
}

/// Appends the digits that `text` starts with to `number`, and counts them.
/// Beyond 19 digits in all the number is of no use, and wraps.
#[inline]
pub(super) fn leading_digits(text: &[u8], mut number: u64) -> (u64, usize) {
    const POWERS: [u64; 9] = [
        1,
        10,
        100,
        1_000,
        10_000,
        100_000,
        1_000_000,
        10_000_000,
        100_000_000,
    ];
    let mut count = 0;
    let mut rest = text;
    while let Some((bytes, after)) = eight(rest) {
        let digits = bytes ^ (ONES * u64::from(b'0'));
        let length = before(not_digits(digits));
        if length > 0 {
            // What follows the digits is shifted out, and zeros come before them.
            let digits = digits << (64 - 8 * length);
            number = number
                .wrapping_mul(POWERS[length])
                .wrapping_add(eight_digits(digits));
        }
        count += length;
        if length < 8 {
            return (number, count);
        }
        rest = after;
    }
    for byte in rest {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        number = number.wrapping_mul(10).wrapping_add(u64::from(digit));
        count += 1;
    }
    (number, count)
}

/// A decimal of at most eight bytes: its digits as one number, how many of them
/// follow the point, and its length.
#[inline]
pub(super) fn short_decimal(text: &[u8]) -> Option<(u64, usize, usize)> {
    let (bytes, rest) = eight(text)?;
    let digits = bytes ^ (ONES * u64::from(b'0'));
    let ends = not_digits(digits) & HIGH_BITS;
    let whole = before(ends);
    let after_first = ends & ends.wrapping_sub(1);
    let is_point = whole < 8 && bytes >> (8 * whole) & 0xff == u64::from(b'.');
    let (digits, length, fraction) = if is_point {
        // The digits behind the point move into its place.
        let before_point = (1 << (8 * whole)) - 1;
        let closed_up = digits & before_point | digits >> 8 & !before_point;
        let length = before(after_first);
        (closed_up, length, length - whole - 1)
    } else {
        (digits, whole, 0)
    };
    let count = length - usize::from(is_point);
    let goes_on = |next: &u8| next.is_ascii_digit() || (*next == b'.' && !is_point);
    if count == 0 || (length == 8 && rest.first().is_some_and(goes_on)) {
        return None;
    }
    Some((eight_digits(digits << (64 - 8 * count)), fraction, length))
}

/// Sets the high bit of each byte that is above 9; the other bits mean nothing.
#[inline]
fn not_digits(digits: u64) -> u64 {
    ((digits & !HIGH_BITS) + ONES * (0x80 - 10)) | digits
}

/// The number with these eight digits, of which the lowest byte is the first.
///
/// Adds up pairs, pairs of pairs, and those (Lemire, "Quickly parsing eight
/// digits", 2018).
#[inline]
fn eight_digits(digits: u64) -> u64 {
    const EVERY_FOURTH: u64 = 0x0000_00ff_0000_00ff;
    const FIRST_AND_THIRD: u64 = 100 + (1_000_000 << 32);
    const SECOND_AND_FOURTH: u64 = 1 + (10_000 << 32);
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8);
    let first_and_third = (pairs & EVERY_FOURTH).wrapping_mul(FIRST_AND_THIRD);
    let second_and_fourth = (pairs >> 16 & EVERY_FOURTH).wrapping_mul(SECOND_AND_FOURTH);
    first_and_third.wrapping_add(second_and_fourth) >> 32
}

/// Whether `text` starts with `start`, for short ones without a call.
#[inline]
pub(super) fn starts_with(text: &[u8], start: &[u8]) -> bool {
    let length = start.len();
    if length > text.len() {
        return false;
    }
    match (eight(start), eight(text)) {
        (Some((ours, _)), Some((theirs, _))) if length <= 16 => {
            let (ours_end, theirs_end) = (start.last_chunk::<8>(), text[..length].last_chunk());
            ours == theirs && ours_end == theirs_end
        }
        _ => text.starts_with(start),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Texts of the bytes that count, and all others now and then.
    fn text() -> impl Strategy<Value = Vec<u8>> {
        let byte = prop_oneof![
            8 => prop::sample::select(b"0123456789".to_vec()),
            4 => prop::sample::select(b" \t".to_vec()),
            4 => prop::sample::select(b"abc/-=".to_vec()),
            1 => any::<u8>(),
        ];
        prop::collection::vec(byte, 0..40)
    }

    proptest! {
        #[test]
        fn eight_bytes_at_a_time_count_as_one_by_one(text in text(), at in 0..40_usize) {
            let text = &text[at.min(text.len())..];
            let count = |is: fn(u8) -> bool| text.iter().take_while(|byte| is(**byte)).count();
            prop_assert_eq!(leading_graphic(text), count(|byte| byte.is_ascii_graphic() || byte == 0x7f));
            prop_assert_eq!(leading_blanks(text), count(|byte| byte == b' ' || byte == b'\t'));
            prop_assert_eq!(leading_digits(text, 0).1, count(|byte| byte.is_ascii_digit()));
        }

        #[test]
        fn digits_are_read_as_one_by_one(number in any::<u64>(), rest in "[^0-9].{0,9}|", zeros in 0..9_usize) {
            let digits = format!("{}{number}", "0".repeat(zeros));
            let text = format!("{digits}{rest}");
            prop_assert_eq!(leading_digits(text.as_bytes(), 0), (number, digits.len()));
            // Digits before and behind a point are read one after the other.
            let (front, back) = digits.split_at(digits.len() / 2);
            let front = leading_digits(front.as_bytes(), 0).0;
            prop_assert_eq!(leading_digits(back.as_bytes(), front), (number, back.len()));
        }

        #[test]
        fn a_short_decimal_is_its_digits_with_the_place_of_the_point(text in "[0-9]{0,7}(\\.[0-9]{0,6})?[ x.].{0,9}") {
            let (whole, count) = leading_digits(text.as_bytes(), 0);
            let expected = if text[count..].starts_with('.') {
                let (number, fraction) = leading_digits(&text.as_bytes()[count + 1..], whole);
                (number, fraction, count + 1 + fraction)
            } else {
                (whole, 0, count)
            };
            match short_decimal(text.as_bytes()) {
                Some(found) => prop_assert_eq!(found, expected, "{}", text),
                None => prop_assert!(expected.2 > 8 || text.len() < 8 || count + expected.1 == 0),
            }
        }

        #[test]
        fn a_text_starts_with_its_beginning_alone(text in text(), length in 0..40_usize, at in 0..40_usize) {
            let mut start = text[..length.min(text.len())].to_vec();
            prop_assert!(starts_with(&text, &start));
            if let Some(byte) = start.get_mut(at) {
                *byte ^= 1;
                prop_assert!(!starts_with(&text, &start));
            }
            start = [&text[..], b"x"].concat();
            prop_assert!(!starts_with(&text, &start));
        }
    }
}
