//! Numbers, spans, units and findings in words.

use crate::chart::{decimals_for, fixed, significant};
use crate::measure::table::in_words;
use crate::report::page::Table;
use metrics::backlog::Trend;
use metrics::{ConfidenceInterval, Metric};
use workload::repair::Repair;

/// Whole numbers unchanged, others to four digits.
pub fn readable(value: f64) -> String {
    if value.fract() == 0.0 { fixed(value, 0) } else { significant(value) }
}

/// A number of things, with thousands separated.
pub fn count(number: u64) -> String {
    fixed(float(number), 0)
}

pub const fn float(count: u64) -> f64 {
    count as f64
}

pub const fn as_f64(things: usize) -> f64 {
    float(things as u64)
}

/// A time in its two largest units, and in seconds: `3 h 25 min (12 345 s)`; below two minutes only in seconds.
pub fn span(seconds: f64) -> String {
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

/// Size and name of the unit for a difference of this size: times have one of four, percentages points, and others none.
fn unit_of(metric: &Metric, value: f64) -> (f64, &'static str) {
    match (metric.unit(), value.abs()) {
        ("s", size) if size < 120.0 => (1.0, "s"),
        ("s", size) if size < 5_400.0 => (60.0, "min"),
        ("s", size) if size < 172_800.0 => (3_600.0, "h"),
        ("s", _) => (86_400.0, "days"),
        ("%", _) => (1.0, "points"),
        _ => (1.0, ""),
    }
}

/// About two digits, and whole numbers unchanged: `1.9`, `15`, `1,234`.
fn short(value: f64) -> String {
    fixed(value, if value.abs() < 9.95 && value.abs() > 0.0 { decimals_for(value, 2).min(3) } else { 0 })
}

/// One end of a range: one decimal below ten, two near zero.
fn end(value: f64) -> String {
    let decimals = match value.abs() {
        size if size >= 9.95 || size <= 0.0 => 0,
        size if size >= 0.095 => 1,
        _ => 2,
    };
    fixed(value, decimals)
}

/// A value of a metric for a reader: times in seconds, minutes, hours or days.
pub fn amount(metric: &Metric, value: f64) -> String {
    match unit_of(metric, value) {
        (_, "") => significant(value),
        (scale, unit) => format!("{} {unit}", short(value / scale)),
    }
}

/// The same of a value that is no difference: percentages are no points, a share has no unit, and any other unit is written.
pub fn level(metric: &Metric, value: f64) -> String {
    match metric.unit() {
        "s" => amount(metric, value),
        "" | "0 … 1" => significant(value),
        unit => format!("{} {unit}", significant(value)),
    }
}

/// `1.91 ± 0.14 h`: a mean with the half-width of its interval, in one unit.
pub fn with_half_width(metric: &Metric, estimate: &ConfidenceInterval) -> String {
    let (scale, unit) = unit_of(metric, estimate.mean);
    let unit = if unit == "points" { "%" } else { unit };
    format!("{} {unit}", in_words(&estimate.map(|value| value / scale))).trim_end().to_owned()
}

/// `6 to 24 min`: an interval around `mean`, in the unit of the mean unless its ends are too long for that.
pub fn range(metric: &Metric, mean: f64, low: f64, high: f64) -> String {
    let reach = low.abs().max(high.abs());
    let of_mean = unit_of(metric, mean);
    match if reach < 200.0 * of_mean.0 { of_mean } else { unit_of(metric, reach) } {
        (_, "") => format!("{} to {}", within(low, low, high), within(high, low, high)),
        (scale, unit) => format!("{} to {} {unit}", end(low / scale), end(high / scale)),
    }
}

/// A difference as [`amount`] writes it, with as many digits as its interval supports.
pub fn amount_within(metric: &Metric, value: f64, interval: Option<(f64, f64)>) -> String {
    match (metric.unit(), interval) {
        ("s" | "%", _) | (_, None) => amount(metric, value),
        (_, Some((low, high))) => within(value, low, high),
    }
}

/// A number with the digits that an interval supports: two of its half-width.
fn within(value: f64, low: f64, high: f64) -> String {
    if high > low { fixed(value, decimals_for((high - low) / 2.0, 2)) } else { significant(value) }
}

/// `13 %`.
pub fn percent(value: f64) -> String {
    format!("{} %", short(value))
}

/// A cell of a table for a reader and the exact value behind it, if they differ.
pub fn cells(metric: &Metric, value: Option<f64>) -> [String; 2] {
    match value {
        Some(seconds) if metric.unit() == "s" => [amount(metric, seconds), format!("{} s", readable(seconds))],
        value => [cell(metric, value, readable), String::new()],
    }
}

/// A cell without an exact value behind it.
pub fn alone(text: impl Into<String>) -> [String; 2] {
    [text.into(), String::new()]
}

/// A table whose cells come with the exact values behind them.
pub fn table(
    [id, title, caption]: [&str; 3],
    columns: impl IntoIterator<Item = impl Into<String>>,
    rows: impl IntoIterator<Item = Vec<[String; 2]>>,
) -> Table {
    let split = |row: Vec<[String; 2]>| row.into_iter().map(|[shown, exact]| (shown, exact)).unzip();
    let (rows, exact) = rows.into_iter().map(split).unzip();
    Table { exact, ..Table::new(id, title, caption, columns, rows) }
}

/// A value of a metric; empty without a value.
pub fn cell(metric: &Metric, value: Option<f64>, number: impl Fn(f64) -> String) -> String {
    match value {
        Some(value) if metric.is_flag() => if value > 0.5 { "yes" } else { "no" }.to_owned(),
        value => value.map_or_else(String::new, number),
    }
}

/// A rule for repairs in a table: its name, the number of records, the first line, and the problem.
pub fn repair(Repair { rule, count: records, first_line }: &Repair) -> [String; 4] {
    let line = first_line.map_or_else(String::new, |line| line.to_string());
    [rule.to_string(), count(*records), line, rule.description().to_owned()]
}

/// Sentence about a saturated policy; `None` for another.
pub fn saturation(policy: &str, trend: &Trend) -> Option<String> {
    let Trend { span, largest, stretch, drain, .. } = *trend;
    trend.is_saturated().then(|| {
        format!(
            "{policy} is saturated: work arrives faster than it is done, so its means grow with the length of the log. The queue held \
             up to {} of work and was never empty for {} out of {}; the last job ended {} after the last submission.",
            duration(largest),
            duration(stretch),
            duration(span),
            duration(drain)
        )
    })
}

/// Seconds in a suitable unit: `45 s`, `12.5 min`, `36 h`, `3.2 days`.
pub fn duration(seconds: f64) -> String {
    // Length of a unit, and the number of units from which the next one is used.
    const UNITS: [(f64, f64, &str); 3] = [(1.0, 60.0, "s"), (60.0, 60.0, "min"), (3_600.0, 48.0, "h")];
    let tenths = |length: f64| (seconds / length * 10.0).round() / 10.0;
    let suits = |(length, too_many, _): &&(f64, f64, &str)| tenths(*length) < *too_many;
    let (length, unit) = UNITS.iter().find(suits).map_or((86_400.0, "days"), |(length, _, unit)| (*length, *unit));
    let value = tenths(length);
    let decimals = if value.fract() == 0.0 || value >= 100.0 { 0 } else { 1 };
    format!("{} {unit}", fixed(value, decimals))
}

/// Rows with their columns aligned: the first to the left, the others to the right.
pub fn aligned(rows: &[Vec<String>]) -> String {
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..).map_while(width).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, width))| {
            if column == 0 { format!("{cell:width$}") } else { format!("  {cell:>width$}") }
        });
        format!("{}\n", cells.collect::<String>().trim_end())
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_printed_in_their_two_largest_units() {
        let plain = |seconds: f64| span(seconds).replace(['\u{202f}', '\u{2009}', '\u{a0}', ','], "");
        let found = [119.0, 125.0, 3_600.0, 12_345.0, 2.5 * 86_400.0].map(plain);
        assert_eq!(found[..3], ["119 s", "2 min 5 s (125 s)", "1 h 0 min (3600 s)"]);
        assert_eq!(found[3..], ["3 h 25 min (12345 s)", "2 d 12 h (216000 s)"]);
    }

    #[test]
    fn times_are_written_in_the_unit_that_suits_them() {
        assert_eq!([45.5, 59.99, 129_600.0, 172_799.0].map(duration), ["45.5 s", "1 min", "36 h", "2 days"]);
        let wait = Metric::of("wait_mean");
        let texts = [0.0, 7.25, 918.0, 6_891.0, 354_176.0].map(|seconds| amount(wait, seconds));
        assert_eq!(texts, ["0 s", "7.2 s", "15 min", "1.9 h", "4.1 days"]);
        assert_eq!(range(wait, -956.4, -2_215.0, -11.07), "−37 to −0.2 min");
        assert_eq!(range(wait, -1_228.0, -5_630.0, 3_173.0), "−94 to 53 min");
        assert_eq!(range(wait, 7.2, -1_260.0, 1_260.0), "−21 to 21 min");
        assert_eq!(range(Metric::of("bounded_slowdown_mean"), -6.638, -16.84, 3.561), "−17 to 4");
        let (low, high) = (Some(0.687_7), Some(0.707_3));
        let utilization = ConfidenceInterval { low, high, ..ConfidenceInterval::exact(0.697_5) };
        assert_eq!(with_half_width(Metric::of("utilization"), &utilization), "0.6975 ± 0.0098");
        assert_eq!([percent(13.2), percent(-1.81), percent(5_040.0)], ["13 %", "−1.8 %", "5,040 %"]);
    }
}
