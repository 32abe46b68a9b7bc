//! Days of the Gregorian calendar, counted from 1970-01-01.

/// Returns the day of a date.
pub(crate) fn day_of(year: i64, month: i64, day: i64) -> i64 {
    // Years begin in March, so that a leap day is the last of its year.
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Formats a second since 1970 as date and clock time, in the form of logs.
pub(crate) fn stamp(time: i64) -> String {
    let (day, second) = (time.div_euclid(86_400), time.rem_euclid(86_400));
    let (year, month) = month_of(day);
    let date = day - first_of(year * 12 + month - 1) + 1;
    format!("{year:04}-{month:02}-{date:02}T{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60)
}

/// Returns the year and month of a day.
pub(crate) fn month_of(day: i64) -> (i64, i64) {
    // The quotient is off by at most one month.
    let mut months = (day * 400 * 12).div_euclid(146_097) + 1970 * 12;
    while first_of(months + 1) <= day {
        months += 1;
    }
    while first_of(months) > day {
        months -= 1;
    }
    (months.div_euclid(12), months.rem_euclid(12) + 1)
}

/// Returns the first day of a month, which is counted from the year 0.
pub(crate) fn first_of(months: i64) -> i64 {
    day_of(months.div_euclid(12), months.rem_euclid(12) + 1, 1)
}
