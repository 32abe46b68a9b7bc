//! Calendar dates, and time axes that show them.

use super::Axis;

const DAY: i64 = 86_400;

/// Returns the civil date of a time in seconds since 1970: `1996-09-23`.
pub fn date(unix_seconds: i64) -> String {
    // Howard Hinnant's `civil_from_days`: years begin in March, so that the leap day is the last of its year.
    let days = unix_seconds.div_euclid(DAY) + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = 400 * era + year_of_era + i64::from(month <= 2);
    format!("{year}-{month:02}-{day:02}")
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

    /// Returns the date of a place on an axis that shows dates.
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
    fn dates_are_those_of_the_calendar() {
        let dates = [0, 951_782_400, 951_868_800, 1_356_998_400, -1].map(date);
        assert_eq!(dates, ["1970-01-01", "2000-02-29", "2000-03-01", "2013-01-01", "1969-12-31"]);
    }

    #[test]
    fn an_axis_shows_round_days_and_months() {
        let texts = |days: f64| ticks(843_435_540, days).into_iter().map(|(_, text)| text).collect::<Vec<_>>();
        assert_eq!(texts(3.0), ["1996-09-23", "1996-09-24", "1996-09-25"]);
        assert_eq!(texts(120.0), ["1996-10", "1996-11", "1996-12", "1997"]);
        assert_eq!(texts(1.0), [""; 0]);
    }
}
