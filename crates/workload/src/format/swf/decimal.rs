//! Exact parsing of decimal numbers and of spans of time.

use sim_core::Span;

/// Decimal number to nine places, the nearest one if it has more.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Decimal {
    pub(crate) negative: bool,
    /// Part before the point; `u64::MAX` stands for everything beyond the range.
    pub(crate) whole: u64,
    /// Part after the point, in billionths.
    pub(crate) billionths: u32,
}

impl Decimal {
    /// Returns true for −1, which stands for "unknown".
    #[inline]
    pub(crate) const fn is_minus_one(self) -> bool {
        self.negative && self.whole == 1 && self.billionths == 0
    }

    #[inline]
    pub(crate) const fn is_negative(self) -> bool {
        self.negative && (self.whole > 0 || self.billionths > 0)
    }

    #[inline]
    pub(crate) const fn rounded(self) -> u64 {
        self.whole.saturating_add((self.billionths >= 500_000_000) as u64)
    }

    /// Returns a number of seconds; `None` below zero, or above the longest time that a file may hold.
    pub(crate) fn as_span(self) -> Option<Span> {
        (!self.is_negative() && self.whole <= LONGEST)
            .then(|| Span::from_nanos(1_000_000_000 * self.whole + u64::from(self.billionths)))
    }
}

/// Longest time that a field may hold, in seconds: 136 years. It leaves room for sums of times, and UNIX seconds fit.
pub(crate) const LONGEST: u64 = u32::MAX as u64;

/// Parses the whole number of up to 18 digits at the start of `text`, and returns it with the rest, which begins with a
/// blank. `None` for other text, which [`parse`] may still accept.
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

/// Parses `12`, `-1`, `142.00`, `12.5` or `1.2e3`. `None` for other text, including `nan` and `inf`.
pub(crate) fn parse(token: &[u8]) -> Option<Decimal> {
    let token = std::str::from_utf8(token).ok()?;
    let (negative, token) = token.strip_prefix('-').map_or((false, token), |token| (true, token));
    let (mantissa, exponent) = match token.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i16>().ok()?),
        None => (token, 0),
    };
    let (before, after) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = || before.bytes().chain(after.bytes());
    if digits().next().is_none() || !digits().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    // Value in billionths, as a whole number. After 37 digits, the rest is too small to matter, or the value is beyond the range.
    let (mut value, mut places) = (0_u128, 9 + i64::from(exponent) - i64::try_from(after.len()).ok()?);
    for digit in digits() {
        if value < 10_u128.pow(37) {
            value = 10 * value + u128::from(digit - b'0');
        } else {
            places += 1;
        }
    }
    let power = u32::try_from(places.unsigned_abs()).ok().and_then(|places| 10_u128.checked_pow(places));
    let billionths = match power {
        _ if value == 0 => 0,
        Some(power) if places < 0 => (value + power / 2) / power,
        Some(power) => value.saturating_mul(power),
        None if places < 0 => 0,
        None => u128::MAX,
    };
    let whole = u64::try_from(billionths / BILLION).unwrap_or(u64::MAX);
    Some(Decimal { negative, whole, billionths: u32::try_from(billionths % BILLION).ok()? })
}

const BILLION: u128 = 1_000_000_000;

/// Parses a span such as `90s`, `15m`, `1.5h` or `30d`: at most 136 years.
pub fn span(text: &str) -> Option<Span> {
    let units = [('d', 86_400), ('h', 3_600), ('m', 60), ('s', 1)];
    let (unit, seconds) = units.into_iter().find(|(unit, _)| text.ends_with(*unit))?;
    let number = parse(text.strip_suffix(unit)?.as_bytes())?;
    let whole = number.whole.checked_mul(seconds).filter(|whole| *whole <= LONGEST)?;
    let nanos = 1_000_000_000 * whole + u64::from(number.billionths) * seconds;
    (!number.is_negative() && nanos <= 1_000_000_000 * LONGEST).then_some(Span::from_nanos(nanos))
}
