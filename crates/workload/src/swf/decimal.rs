//! Decimal numbers, exactly, from bytes.

use sim_core::Span;

/// A decimal number to nine places, the nearest one if it has more.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Decimal {
    pub(crate) negative: bool,
    /// The part before the point; `u64::MAX` stands for everything beyond the range.
    pub(crate) whole: u64,
    /// The part after the point, in billionths.
    pub(crate) billionths: u32,
}

impl Decimal {
    /// Whether this is −1, which stands for "unknown".
    #[inline]
    pub(crate) const fn is_minus_one(self) -> bool {
        self.negative && self.whole == 1 && self.billionths == 0
    }

    /// Whether this is less than zero.
    #[inline]
    pub(crate) const fn is_negative(self) -> bool {
        self.negative && (self.whole > 0 || self.billionths > 0)
    }

    /// The nearest whole number.
    #[inline]
    pub(crate) const fn rounded(self) -> u64 {
        self.whole.saturating_add((self.billionths >= 500_000_000) as u64)
    }

    /// A number of seconds; `None` below zero, or above the longest time that a file may hold.
    pub(crate) fn as_span(self) -> Option<Span> {
        (!self.is_negative() && self.whole <= LONGEST)
            .then(|| Span::from_nanos(1_000_000_000 * self.whole + u64::from(self.billionths)))
    }
}

/// Longest time that a field may hold, in seconds: 136 years. It leaves room for sums of times, and UNIX seconds fit.
pub(crate) const LONGEST: u64 = u32::MAX as u64;

/// Reads the whole number of up to 18 digits at the start of `text`, and gives it with the rest behind it, which begins
/// with a blank. `None` if something else stands there; [`parse`] may still know it.
#[inline]
pub(crate) fn short_integer(text: &[u8]) -> Option<(u64, &[u8])> {
    let (mut whole, mut length) = (0_u64, 0);
    for byte in text {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        whole = whole.wrapping_mul(10).wrapping_add(u64::from(digit));
        length += 1;
    }
    let rest = &text[length..];
    ((1..=18).contains(&length) && rest.first().is_none_or(u8::is_ascii_whitespace)).then_some((whole, rest))
}

/// Reads `12`, `-1`, `142.00`, `12.5` or `1.2e3`. `None` if it is no number: neither `nan` nor `inf` is one.
pub(crate) fn parse(token: &[u8]) -> Option<Decimal> {
    let (negative, token) = match token {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, token),
    };
    let (mantissa, exponent) = match token.iter().position(|byte| matches!(byte, b'e' | b'E')) {
        Some(at) => (&token[..at], std::str::from_utf8(&token[at + 1..]).ok()?.parse::<i16>().ok()?),
        None => (token, 0),
    };
    let (before, after) = match mantissa.iter().position(|byte| *byte == b'.') {
        Some(at) => (&mantissa[..at], &mantissa[at + 1..]),
        None => (mantissa, &mantissa[..0]),
    };
    if before.len() + after.len() == 0 || !before.iter().chain(after).all(u8::is_ascii_digit) {
        return None;
    }
    // The digit at position i stands `point - i` places before the point, i.e. below zero after it.
    let point = i64::try_from(before.len()).ok()? + i64::from(exponent);
    let digit = |at: i64| -> u64 {
        usize::try_from(at)
            .ok()
            .and_then(|at| before.iter().chain(after).nth(at))
            .map_or(0, |byte| u64::from(byte - b'0'))
    };
    let leading_zeros = before.iter().chain(after).take_while(|byte| **byte == b'0').count();
    let mut whole = 0_u64;
    // More than 20 digits before the point are beyond the range; no need to look at them all.
    let first = i64::try_from(leading_zeros).ok()?;
    if first < i64::try_from(before.len() + after.len()).ok()? {
        for at in first..point.min(first + 21) {
            whole = whole.saturating_mul(10).saturating_add(digit(at));
        }
    }
    let mut billionths = (point..point + 9).fold(0_u64, |sum, at| 10 * sum + digit(at));
    billionths += u64::from(digit(point + 9) >= 5);
    if billionths == 1_000_000_000 {
        (whole, billionths) = (whole.saturating_add(1), 0);
    }
    Some(Decimal { negative, whole, billionths: u32::try_from(billionths).ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(token: &str, whole: u64, billionths: u32) {
        let negative = token.starts_with('-');
        assert_eq!(parse(token.as_bytes()), Some(Decimal { negative, whole, billionths }), "{token}");
    }

    #[test]
    fn decimals_are_read_exactly() {
        check("0", 0, 0);
        check("-1", 1, 0);
        check("-1.00", 1, 0);
        check("12.5", 12, 500_000_000);
        check("142.00", 142, 0);
        check("0.03", 0, 30_000_000);
        check(".5", 0, 500_000_000);
        check("7.", 7, 0);
        check("1357052581.000000001", 1_357_052_581, 1);
        check("00000000000000000000012", 12, 0);
        check("18446744073709551614", u64::MAX - 1, 0);
    }

    #[test]
    fn short_integers_end_with_a_blank_or_the_line() {
        assert_eq!(short_integer(b"123"), Some((123, &b""[..])));
        assert_eq!(short_integer(b"0012\t3"), Some((12, &b"\t3"[..])));
        assert_eq!(short_integer(b"123456789012345678 "), Some((123_456_789_012_345_678, &b" "[..])));
        for text in ["", "1234567890123456789 ", "12.5 ", "-1 ", " 1 ", "1\u{e9} ", "12:30 ", "1/ "] {
            assert_eq!(short_integer(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn a_tenth_place_is_rounded() {
        check("0.1234567894", 0, 123_456_789);
        check("0.1234567895", 0, 123_456_790);
        check("0.9999999999", 1, 0);
    }

    #[test]
    fn exponents_move_the_point() {
        check("1e3", 1_000, 0);
        check("1.2345e+02", 123, 450_000_000);
        check("1.000000000000000000e+00", 1, 0);
        check("5E-1", 0, 500_000_000);
        check("5e-12", 0, 0);
        check("0e9999", 0, 0);
    }

    #[test]
    fn what_is_beyond_the_range_saturates() {
        check("99999999999999999999", u64::MAX, 0);
        check("1e300", u64::MAX, 0);
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for token in
            ["", "-", "--1", ".", "e5", "1e", "1e99999", "nan", "NaN", "inf", "12:30", "0x10", "1,5", "1.2.3", "½"]
        {
            assert_eq!(parse(token.as_bytes()), None, "{token}");
        }
    }
}
