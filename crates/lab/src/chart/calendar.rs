//! Calendar dates, and time axes that show them.

use super::Axis;
use jiff::Timestamp;
use jiff::tz::TimeZone;

const DAY: i64 = 86_400;

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
        let ticks = start.map(|start| ticks(start, days)).unwrap_or_default();
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
#[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "a century of days at most")]
fn ticks(start: i64, days: f64) -> Vec<(f64, String)> {
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
    use super::*;

    #[test]
    fn an_axis_shows_round_days_and_months() {
        let texts = |days: f64| ticks(843_435_540, days).into_iter().map(|(_, text)| text).collect::<Vec<_>>();
        assert_eq!(texts(3.0), ["1996-09-23", "1996-09-24", "1996-09-25"]);
        assert_eq!(texts(120.0), ["1996-10", "1996-11", "1996-12", "1997"]);
        assert_eq!(texts(1.0), [""; 0]);
        assert_eq!([-1, i64::MIN, i64::MAX].map(date), ["1969-12-31", "-009999-01-02", "9999-12-30"]);
    }
}
