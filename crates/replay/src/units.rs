//! Numbers, spans and units as people read them.

use lab::chart::{fixed, significant};
use metrics::Metric;

/// Whole numbers as they are, others to four digits.
pub(super) fn readable(value: f64) -> String {
    if value.fract() == 0.0 { fixed(value, 0) } else { significant(value) }
}

/// A number of things, with thousands apart.
pub(super) fn count(number: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "a count, to be read")]
    let number = number as f64;
    fixed(number, 0)
}

/// A time in its two largest units, and in seconds: `3 h 25 min (12 345 s)`; below two minutes in seconds alone.
pub(crate) fn span(seconds: f64) -> String {
    let exact = format!("{} s", readable(seconds));
    if seconds < 120.0 {
        return exact;
    }
    let whole = seconds.round();
    let (large, small, large_unit, small_unit) = match whole {
        _ if whole < 3_600.0 => (60.0, 1.0, "min", "s"),
        _ if whole < 86_400.0 => (3_600.0, 60.0, "h", "min"),
        _ => (86_400.0, 3_600.0, "d", "h"),
    };
    let (count, rest) = ((whole / large).floor(), (whole % large / small).floor());
    format!("{} {large_unit} {} {small_unit} ({exact})", fixed(count, 0), fixed(rest, 0))
}

/// A value of a metric; empty where there is none.
pub(super) fn cell(metric: &Metric, value: Option<f64>, number: impl Fn(f64) -> String) -> String {
    match value {
        Some(value) if metric.is_flag() => if value > 0.5 { "yes" } else { "no" }.to_owned(),
        value => value.map_or_else(String::new, number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_told_in_their_two_largest_units() {
        let plain = |seconds: f64| span(seconds).replace(['\u{202f}', '\u{2009}', '\u{a0}', ','], "");
        assert_eq!(plain(119.0), "119 s");
        assert_eq!(plain(125.0), "2 min 5 s (125 s)");
        assert_eq!(plain(3_600.0), "1 h 0 min (3600 s)");
        assert_eq!(plain(12_345.0), "3 h 25 min (12345 s)");
        assert_eq!(plain(2.5 * 86_400.0), "2 d 12 h (216000 s)");
    }
}
