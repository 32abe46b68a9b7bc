//! Ranges, ticks, numbers and dates: mapping from data units to a place between 0 and 1.

use super::{Axis, Chart, LineStyle, Point};
use jiff::Timestamp;
use jiff::tz::TimeZone;

const DAY: i64 = 86_400;

/// An axis with its final range and ticks.
#[derive(Debug, Clone)]
pub(super) struct Scale {
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) log: bool,
    /// Labelled ticks within the range, ascending.
    pub(super) ticks: Vec<Tick>,
    /// True if the ticks are values of the data, not round numbers.
    pub(super) exact: bool,
    /// Unit of spans, if it is not seconds.
    pub(super) unit: &'static str,
}

pub(super) type Tick = (f64, String);

impl Scale {
    /// Returns the position of `value` between the ends: 0 at `low`, 1 at `high`.
    pub(super) fn fraction(&self, value: f64) -> f64 {
        let place = |value: f64| if self.log { libm::log10(value) } else { value };
        (place(value) - place(self.low)) / (place(self.high) - place(self.low))
    }

    /// Returns true if `value` lies between the ends, apart from rounding.
    pub(super) fn has_inside(&self, value: f64) -> bool {
        (-1e-9..=1.0 + 1e-9).contains(&self.fraction(value))
    }

    /// Returns the vertical scale of a chart.
    ///
    /// It covers every mean. It shows zero for percentages and bars, and otherwise if that costs at most half of the height. It also covers
    /// intervals, up to one and a half times the spread of the means: two replications can give an interval so wide that it would hide all
    /// else. Bars that leave the picture end in an arrowhead. An axis of a nonnegative quantity does not go below zero, and an axis of
    /// percentages that all lie in the topmost seventh omits the empty rest.
    pub(super) fn of_y(chart: &Chart) -> Scale {
        let axis = &chart.y;
        let points = || points_of(chart);
        let (mean_low, mean_high) = extremes(points().map(|p| p.y)).unwrap_or_default();
        let ends = || points().filter_map(Point::finite_interval).flat_map(|(low, high)| [low, high]);
        if mean_high <= 0.0 && mean_low >= 0.0 && ends().all(|end| end.abs() <= 0.0) {
            // Without a value, or if all are zero, use one step of the counted unit, not thousandths.
            return Scale::linear(0.0, 1.0, 0.0, 1.0, axis);
        }
        if axis.log {
            let (low, high) = extremes(ends().filter(|&v| v > 0.0).chain([mean_low, mean_high])).expect("not empty");
            // A level may fall to zero: four decades are enough.
            let floor = if chart.has(LineStyle::Steps) { mean_low.max(mean_high / 1e4) } else { mean_low / 10.0 };
            return Scale::logarithmic(low.max(floor) / 1.1, high.min(mean_high * 10.0) * 1.1, axis);
        }
        let spread = 1.5 * (mean_high - mean_low).max(0.5 * mean_low.abs().max(mean_high.abs()));
        let (low, high) = extremes(ends().chain([mean_low, mean_high])).expect("not empty");
        let (low, high) = (low.max(mean_low - spread), high.min(mean_high + spread));
        let low = if axis.signed || mean_low < 0.0 { low } else { low.max(0.0) };

        let percent = axis.label.contains('%');
        if percent && low >= 0.0 && mean_high <= 100.0 && high > 85.0 {
            // A multiple of five at least two points below the lowest, so that no bar has zero height.
            let bottom = if low > 86.0 { ((low - 2.0) / 5.0).floor() * 5.0 } else { 0.0 };
            return Scale::linear(bottom, high.clamp(100.0, 105.0), bottom, 100.0, axis);
        }
        let with_zero = |near: f64, far: f64| percent || chart.has(LineStyle::Bars) || near <= 0.5 * far;
        let (floor, ceiling) = (low >= 0.0 && with_zero(low, high), high <= 0.0 && with_zero(-high, -low));
        let (low, high) = (if floor { 0.0 } else { low }, if ceiling { 0.0 } else { high });
        let room = if high > low { high - low } else { (0.2 * high.abs()).max(1.0) };
        let bottom = if floor { 0.0 } else { low - 0.05 * room };
        let top = if ceiling && !floor { 0.0 } else { high + 0.05 * room };
        // A tick just outside the range extends it.
        let unit = axis.measure(bottom, top).0;
        let step = unit * round_step((top - bottom) / unit);
        let (tick_above, tick_below) = ((top / step - 1e-9).ceil() * step, (bottom / step + 1e-9).floor() * step);
        let top = if tick_above - top < 0.06 * room { tick_above } else { top };
        let bottom = if bottom - tick_below < 0.06 * room { tick_below } else { bottom };
        Scale::linear(bottom, top, bottom, top, axis)
    }

    /// Returns the horizontal scale of a chart: exact values as ticks if they are few.
    pub(super) fn of_x(chart: &Chart) -> Scale {
        let axis = &chart.x;
        let Some((low, high)) = extremes(points_of(chart).map(|p| p.x)) else {
            return Scale::linear(0.0, 1.0, 0.0, 1.0, axis);
        };
        if axis.log {
            let room = libm::pow(high / low, 0.05).max(1.05);
            return Scale::logarithmic(low / room, high * room, axis);
        }
        if chart.has(LineStyle::Steps) {
            // Time runs from edge to edge, starting at zero if the first value is near it.
            let low = if low > 0.0 && low < 0.1 * high { 0.0 } else { low };
            let high = if high > low { high } else { low + 1.0 };
            return Scale::linear(low, high, low, high, axis);
        }
        if chart.has(LineStyle::Bars) {
            return Scale::linear(low - 0.6, high + 0.6, low, high, axis);
        }
        let room = if high > low { 0.05 * (high - low) } else { (0.1 * high.abs()).max(1.0) };
        let mut scale = Scale::linear(low - room, high + room, low, high, axis);
        if !scale.exact {
            let mut values: Vec<f64> = points_of(chart).map(|p| p.x).collect();
            values.sort_by(f64::total_cmp);
            values.dedup_by(|a, b| (*a - *b).abs() <= 1e-9 * room);
            if values.len() <= 8 {
                scale.ticks = values.into_iter().map(|at| (at, exact(at))).collect();
                scale.exact = true;
            }
        }
        scale
    }

    /// Returns a linear scale from `low` to `high` with round ticks between `first` and `last`, or the axis' own.
    pub(super) fn linear(low: f64, high: f64, first: f64, last: f64, axis: &Axis) -> Scale {
        let (factor, unit) = axis.measure(first, last);
        let round = || {
            let ticks = round_ticks(first / factor, last / factor);
            ticks.into_iter().map(|(at, label)| (factor * at, label)).collect()
        };
        let ticks = axis.ticks.as_ref().map_or_else(round, |own| own_ticks(own, low, high));
        Scale { low, high, log: false, ticks, exact: axis.ticks.is_some(), unit }
    }

    fn logarithmic(low: f64, high: f64, axis: &Axis) -> Scale {
        let usual = || if axis.spans { own_ticks(&ladder(), low, high) } else { decade_ticks(low, high) };
        let ticks = axis.ticks.as_ref().map_or_else(usual, |own| own_ticks(own, low, high));
        Scale { low, high, log: true, ticks, exact: axis.ticks.is_some(), unit: "" }
    }
}

impl Axis {
    /// Returns the length in seconds and the name of the unit for values of this range; `(1, "")` if values stay as they are.
    fn measure(&self, low: f64, high: f64) -> (f64, &'static str) {
        match low.abs().max(high.abs()) {
            _ if !self.spans || self.ticks.is_some() => (1.0, ""),
            reach if reach <= 180.0 => (1.0, ""),
            reach if reach <= 3.0 * 3_600.0 => (60.0, "min"),
            reach if reach <= 3.0 * 86_400.0 => (3_600.0, "h"),
            _ => (86_400.0, "days"),
        }
    }

    pub(super) fn shown(&self, scale: &Scale) -> String {
        if scale.unit.is_empty() { self.label.clone() } else { self.label.replace("(s)", &format!("({})", scale.unit)) }
    }
}

/// Returns the ticks of a logarithmic axis of spans.
fn ladder() -> Vec<(f64, String)> {
    let steps = [(1.0, "1 s"), (10.0, "10 s"), (60.0, "1 min"), (600.0, "10 min"), (3_600.0, "1 h"), (21_600.0, "6 h")];
    let days = [(86_400.0, "1 day"), (864_000.0, "10 days"), (8_640_000.0, "100 days")];
    steps.into_iter().chain(days).map(|(at, label)| (at, label.to_owned())).collect()
}

fn points_of(chart: &Chart) -> impl Iterator<Item = &Point> {
    chart.shown().flat_map(|series| &series.points).filter(|p| has_place(p, chart))
}

/// Returns true if a point can be drawn: finite, and positive on a logarithmic axis.
pub(super) fn has_place(point: &Point, chart: &Chart) -> bool {
    let fits = |value: f64, axis: &Axis| value.is_finite() && (!axis.log || value > 0.0);
    fits(point.x, &chart.x) && fits(point.y, &chart.y)
}

/// Returns the smallest and the largest value, if there is one.
pub fn extremes(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.map(|value| (value, value)).reduce(|(least, most), (value, _)| (least.min(value), most.max(value)))
}

fn own_ticks(own: &[Tick], low: f64, high: f64) -> Vec<Tick> {
    let mut ticks: Vec<Tick> = own.iter().filter(|(at, _)| (low..=high).contains(at)).cloned().collect();
    ticks.sort_by(|a, b| a.0.total_cmp(&b.0));
    ticks
}

/// Returns a round step that divides `range` into three to six: 1, 2, 2.5 or 5 × 10ⁿ.
fn round_step(range: f64) -> f64 {
    let raw = range / 6.0;
    let power = libm::exp10(libm::log10(raw).floor());
    let factor = [1.0, 2.0, 2.5, 5.0].into_iter().find(|f| f * power >= raw * (1.0 - 1e-9)).unwrap_or(10.0);
    factor * power
}

#[expect(clippy::cast_possible_truncation, reason = "an axis has a handful of ticks, a number a few digits")]
fn round_ticks(low: f64, high: f64) -> Vec<Tick> {
    let step = round_step(high - low);
    let whole = |d: &i32| ((step * 10f64.powi(*d)).round() - step * 10f64.powi(*d)).abs() < 1e-6;
    let decimals = (0..12).find(whole).unwrap_or(12);
    let (first, last) = ((low / step - 1e-9).ceil() as i64, (high / step + 1e-9).floor() as i64);
    (first..=last).map(|k| k as f64 * step).map(|at| (at, fixed(at, decimals))).collect()
}

/// Returns powers of ten, or enough multiples of them for three ticks; round numbers if these do not suffice.
#[expect(clippy::cast_possible_truncation, reason = "an f64 has about 600 decades")]
fn decade_ticks(low: f64, high: f64) -> Vec<Tick> {
    const FACTORS: [&[f64]; 3] = [&[1.0], &[1.0, 2.0, 5.0], &[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0]];
    let (first, last) = (libm::log10(low).floor() as i32, libm::log10(high).ceil() as i32);
    let ticks = |factors: &[f64]| -> Vec<Tick> {
        let all = (first..=last).flat_map(|power| factors.iter().map(move |factor| factor * 10f64.powi(power)));
        all.filter(|at| (low..=high).contains(at)).map(|at| (at, exact(at))).collect()
    };
    FACTORS.into_iter().map(ticks).find(|ticks| ticks.len() >= 3).unwrap_or_else(|| round_ticks(low, high))
}

/// Formats `value` with the digits that it needs, at most nine decimals: `8.333`, `0.1`, `60,000`.
fn exact(value: f64) -> String {
    let text = fixed(value, 9);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Formats `value` to about four significant digits, never dropping whole digits: `0.01235`, `18.10`, `60,834`.
pub fn significant(value: f64) -> String {
    match value {
        _ if value.is_nan() => "–".to_owned(),
        f64::INFINITY => "∞".to_owned(),
        f64::NEG_INFINITY => "−∞".to_owned(),
        _ if value.abs() < 1e-12 => "0".to_owned(),
        _ => fixed(value, decimals_for(value, 4)),
    }
}

/// Returns the number of decimals, 0 to 8, that show `digits` significant digits of `value`.
#[expect(clippy::cast_possible_truncation, reason = "clamped just before")]
pub(crate) fn decimals_for(value: f64, digits: i32) -> i32 {
    (f64::from(digits - 1) - libm::log10(value.abs()).floor()).clamp(0.0, 8.0) as i32
}

/// Formats with fixed decimals, a comma between thousands, and a true minus sign.
pub fn fixed(value: f64, decimals: i32) -> String {
    let text = format!("{:.*}", usize::try_from(decimals).unwrap_or(0), value.abs());
    let point = text.find('.').unwrap_or(text.len());
    let is_negative = value < 0.0 && text.bytes().any(|b| (b'1'..=b'9').contains(&b));
    let mut out = String::from(if is_negative { "−" } else { "" });
    for (k, digit) in text.chars().enumerate() {
        if (1..point).contains(&k) && (point - k).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Returns the civil date of a time in seconds since 1970: `1996-09-23`. Times outside of jiff's 20 000 years have its first or last date.
pub fn date(unix_seconds: i64) -> String {
    let (first, last) = (Timestamp::MIN.as_second(), Timestamp::MAX.as_second());
    let time = Timestamp::from_second(unix_seconds.clamp(first, last)).unwrap_or_default();
    time.to_zoned(TimeZone::UTC).date().to_string()
}

impl Axis {
    /// Returns an axis of days since `start`, in seconds since 1970, labelled with dates. Without a start, or for less than two days, the
    /// axis shows numbers of days and keeps the label.
    pub fn of_days(label: &str, start: Option<i64>, days: f64) -> Self {
        let ticks = start.map(|start| day_ticks(start, days)).unwrap_or_default();
        if ticks.len() < 2 {
            return Self::new(format!("{label} (days)"));
        }
        Self { start, ..Self::new("date").with_ticks(ticks) }
    }

    #[expect(clippy::cast_possible_truncation, reason = "a century of days at most")]
    pub(crate) fn date(&self, days: f64) -> Option<String> {
        Some(date(self.start? + (days * DAY as f64) as i64))
    }
}

/// Returns places in days from `start` with their dates: up to seven days, or the first of months, quarters or years.
#[expect(clippy::cast_possible_truncation, reason = "a century of days at most")]
fn day_ticks(start: i64, days: f64) -> Vec<(f64, String)> {
    if !(2.0..36_525.0).contains(&days) {
        return Vec::new();
    }
    let (first, days) = (start.div_euclid(DAY) + 1, days as i64);
    let step = days / 7 + 1;
    let is_shown = |day: &i64| {
        let (date, months) = (date(day * DAY), [1, 3, 12].into_iter().find(|months| days <= 400 * months));
        let month: i64 = date[date.len() - 5..date.len() - 3].parse().unwrap_or(1);
        if days <= 60 {
            (day - first) % step == 0
        } else {
            date.ends_with("-01") && (month - 1) % months.unwrap_or(12) == 0
        }
    };
    let place = |day: i64| (day * DAY - start) as f64 / DAY as f64;
    let text = |day: i64| if days <= 60 { date(day * DAY) } else { date(day * DAY).trim_end_matches("-01").to_owned() };
    (first..=first + days - 1).filter(is_shown).map(|day| (place(day), text(day))).collect()
}

#[cfg(test)]
mod tests {
    use super::super::Series;
    use super::*;

    /// x, y and an interval.
    type Place = (f64, f64, Option<(f64, f64)>);

    fn chart(label: &str, points: &[Place]) -> Chart {
        let point = |&(x, y, interval)| Point { interval, ..Point::new(x, y) };
        let series = vec![Series::lines("a", points.iter().map(point).collect())];
        Chart { y: Axis::new(label), series, ..Chart::default() }
    }

    fn labels(scale: &Scale) -> Vec<&str> {
        scale.ticks.iter().map(|(_, label)| label.as_str()).collect()
    }

    #[test]
    fn the_vertical_axis_shows_what_is_there_and_zero_where_that_costs_little() {
        let check = |label: &str, points: &[Place], expected: &[&str]| {
            assert_eq!(labels(&Scale::of_y(&chart(label, points))), expected, "{label}: {points:?}");
        };
        check("Completed (%)", &[(1.0, 80.0, None), (2.0, 99.0, None)], &["0", "20", "40", "60", "80", "100"]);
        // Values close together and far from zero have their own range.
        let near = [(1.0, 60_300.0, None), (2.0, 60_833.0, None)];
        check("Response (s)", &near, &["60,300", "60,400", "60,500", "60,600", "60,700", "60,800"]);
        // One enormous interval does not flatten the means, and what cannot be negative is not drawn below zero.
        let enormous = [(1.0, 10.0, Some((-900.0, 920.0))), (2.0, 14.0, None)];
        check("Wait (s)", &enormous, &["0", "5", "10", "15", "20", "25"]);
        // Percentages that are all high are not pressed against the top.
        let usage = |least: f64, expected| check("Usage (%)", &[(1.0, least, None), (2.0, 99.5, None)], expected);
        usage(92.0, &["90", "92", "94", "96", "98", "100"]);
        usage(91.0, &["85.0", "87.5", "90.0", "92.5", "95.0", "97.5", "100.0"]);
        usage(80.0, &["0", "20", "40", "60", "80", "100"]);
        let mut difference = chart("Wait (s)", &enormous);
        difference.y.signed = true;
        assert!(Scale::of_y(&difference).low < 0.0, "a difference may be negative");
    }

    #[test]
    fn few_x_values_are_their_own_ticks_and_logarithmic_ticks_are_decades() {
        let few = chart("", &[(8.333, 0.5, None), (10.0, 20_000.0, None), (12.5, 0.0, None)]);
        assert_eq!(labels(&Scale::of_x(&few)), ["8.333", "10", "12.5"]);
        let logarithmic = Chart { y: Axis { log: true, ..Axis::default() }, ..few };
        assert_eq!(labels(&Scale::of_y(&logarithmic)), ["1", "10", "100", "1,000", "10,000"]);
        let texts = |low, high| decade_ticks(low, high).into_iter().map(|(_, label)| label).collect::<Vec<_>>();
        assert_eq!(texts(300.0, 9_000.0), ["500", "1,000", "2,000", "5,000"]);
        assert_eq!(texts(14_000.0, 35_000.0), ["15,000", "20,000", "30,000"]);
        assert_eq!(texts(310.0, 390.0), ["320", "340", "360", "380"]);
    }

    #[test]
    fn numbers_keep_four_significant_digits_and_all_whole_ones() {
        let text = [0.012_345, 18.1, 1092.4, 60_833.6, -2.5, 0.0, f64::NAN].map(significant);
        assert_eq!(text, ["0.01235", "18.10", "1,092", "60,834", "−2.500", "0", "–"]);
    }

    #[test]
    fn an_axis_shows_round_days_and_months() {
        let texts = |days: f64| day_ticks(843_435_540, days).into_iter().map(|(_, text)| text).collect::<Vec<_>>();
        assert_eq!(texts(3.0), ["1996-09-23", "1996-09-24", "1996-09-25"]);
        assert_eq!(texts(120.0), ["1996-10", "1996-11", "1996-12", "1997"]);
        assert_eq!(texts(1.0), [""; 0]);
        assert_eq!([-1, i64::MIN, i64::MAX].map(date), ["1969-12-31", "-009999-01-02", "9999-12-30"]);
    }
}
