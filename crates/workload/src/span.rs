//! Spans of time as options and files write them.

use crate::swf::decimal;
use sim_core::Span;

/// Parses a span such as `90s`, `15m`, `1.5h` or `30d`: at most 136 years.
pub fn span(text: &str) -> Option<Span> {
    let units = [('d', 86_400), ('h', 3_600), ('m', 60), ('s', 1)];
    let (unit, seconds) = units.into_iter().find(|(unit, _)| text.ends_with(*unit))?;
    let number = decimal::parse(text.strip_suffix(unit)?.as_bytes())?;
    let whole = number.whole.checked_mul(seconds).filter(|whole| *whole <= decimal::LONGEST)?;
    let nanos = 1_000_000_000 * whole + u64::from(number.billionths) * seconds;
    (!number.is_negative() && nanos <= 1_000_000_000 * decimal::LONGEST).then_some(Span::from_nanos(nanos))
}
