//! A log in pictures.

use super::super::words::{counted, share};
use lab::chart::{Axis, Chart, Point, Series};
use lab::shown::{DataRow, Shown, seen};
use lab::units::{count, float};
use std::collections::BTreeMap;
use workload::Inspection;
use workload::inspect::{Spread, UserShare};

/// Charts of the log's content, load over time first.
pub(super) fn of(log: &Inspection, start: Option<i64>) -> Vec<Shown> {
    if log.jobs == 0 {
        return Vec::new();
    }
    let always = [hours(log), weekdays(log), sizes(log), times(log)];
    load(log, start).into_iter().chain(always).chain(accuracy(log)).chain(users(log)).collect()
}

/// The picture of load over time.
pub(super) const LOAD: &str = "load";

/// Offered load by day or week since the first submission; in processors if the machine is unknown. `None` below two days.
fn load(log: &Inspection, start: Option<i64>) -> Option<Shown> {
    const DAY: f64 = 86_400.0;
    let span = log.submission_span / DAY;
    let (slice, name) = if span > 60.0 { (7, "week") } else { (1, "day") };
    let mut work: BTreeMap<u64, f64> = BTreeMap::new();
    log.work_by_day.iter().for_each(|(day, seconds)| *work.entry(day / slice).or_default() += seconds);
    let last = *work.keys().last()?;
    if !(2.0..36_525.0).contains(&span) {
        return None;
    }
    let days = |slices: u64| float(slices * slice);
    let (scale, label) = match log.capacity {
        Some(processors) => (100.0 / f64::from(processors), "offered load (%)"),
        None => (1.0, "processors that the jobs would keep busy"),
    };
    // A partial day or week at the end would look like low load.
    let points =
        (0..last).map(|at| Point::new(days(at), scale * work.get(&at).copied().unwrap_or(0.0) / (DAY * days(1))));
    let mut points: Vec<Point> = points.collect();
    points.extend(points.last().map(|point| Point::new(days(last), point.y)));
    let x = Axis::of_days("time since the first submission", start, span);
    let title = format!("Load by {name}");
    let chart = Chart::new(LOAD, title, x, Axis::new(label), vec![Series::steps("offered load", points)]);
    let average = log.load.map_or_else(String::new, |load| format!("; {:.0} % over the whole log", 100.0 * load));
    let caption = format!(
        "Processor-seconds of the jobs submitted in each whole {name}, as a share of what the machine can do in it{average}. Above 100 %, \
         work piles up."
    );
    Some(shown(chart, &caption, &[]))
}

const SHARE: &str = "share of the jobs (%)";

fn hours(log: &Inspection) -> Shown {
    let points = (0..).zip(log.by_hour).map(|(hour, jobs)| Point::new(f64::from(hour), 100.0 * share(jobs, log.jobs)));
    let ticks = (0..24).step_by(3).map(|hour| (f64::from(hour), hour.to_string())).collect();
    let zone = if log.is_calendar { "local time" } else { "if the log began at midnight" };
    let x = Axis::new(format!("hour of submission, from 0 to 23, {zone}")).with_ticks(ticks);
    let bars = vec![Series::bars("jobs", points.collect())];
    let chart = Chart::new("hours", "Arrivals by hour of the day", x, Axis::new(SHARE), bars);
    shown(chart, "If all hours were alike, each would have 4.2 %.", &[])
}

fn weekdays(log: &Inspection) -> Shown {
    let caption = if log.is_calendar {
        "If all days were alike, each would have 14.3 %."
    } else {
        "Nothing ties the log to the calendar: its first day is called Monday."
    };
    let days = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"].map(str::to_owned);
    let texts = ["weekdays", "Arrivals by day of the week", "day of submission"];
    by_place(texts, days.to_vec(), (&log.by_weekday, log.jobs), caption)
}

fn sizes(log: &Inspection) -> Shown {
    // 1, 2, 3 to 4, 5 to 8, …: most sizes are powers of two, each of which ends its range.
    let mut jobs: Vec<u64> = Vec::new();
    for (size, count) in &log.sizes {
        let range = (0..32).find(|power| *size <= 1 << power).unwrap_or(32);
        jobs.resize(jobs.len().max(range + 1), 0);
        jobs[range] += count;
    }
    let places = (0..jobs.len()).map(|power| (1_u64 << power).to_string()).collect();
    let [serial, powers] = [log.serial, log.power_of_two].map(|share| 100.0 * share);
    let caption = format!("{serial:.1} % of the jobs have one processor, {powers:.1} % another power of two.");
    let texts = ["sizes", "Sizes of jobs", "largest number of processors in each range"];
    by_place(texts, places, (&jobs, log.jobs), &caption)
}

fn times(log: &Inspection) -> Shown {
    let known = [("run time", &log.runtimes, 0), ("requested time", &log.estimates, 1), ("wait", &log.waits, 2)];
    let series = known
        .into_iter()
        .filter(|(_, spread, _)| spread.count > 0)
        .map(|(name, spread, slot)| Series::lines(name, cumulative(spread)).in_slot(slot));
    let ticks = [
        (1.0, "1 s"),
        (10.0, "10 s"),
        (60.0, "1 min"),
        (600.0, "10 min"),
        (3_600.0, "1 h"),
        (36_000.0, "10 h"),
        (259_200.0, "3 days"),
        (2_592_000.0, "30 days"),
    ];
    let ticks = ticks.map(|(at, label)| (at, label.to_owned())).to_vec();
    let x = Axis { log: true, ..Axis::new("time, on a logarithmic scale").with_ticks(ticks) };
    let title = "Run times, requested times and waits";
    let mut chart = Chart::new("times", title, x, Axis::new(SHARE), series.collect());
    let caption = "Share of jobs with a smaller run time, requested time or wait, among jobs for which the log has it.";
    let Shown { rows, .. } = shown(chart.clone(), caption, &[]);
    // Marks for all points would hide the curve.
    chart.series.iter_mut().for_each(|series| series.points = curve(&series.points));
    Shown::picture(chart, caption, rows)
}

/// Share of the values below each end of a bin, in percent.
fn cumulative(spread: &Spread) -> Vec<Point> {
    let below = spread.histogram().into_iter().scan(0, |below, bin| {
        *below += bin.count;
        Some(Point::new(bin.to, 100.0 * share(*below, spread.count)))
    });
    below.collect()
}

fn accuracy(log: &Inspection) -> Option<Shown> {
    let estimated = log.jobs - log.without_estimate;
    if estimated == 0 {
        return None;
    }
    let tenths = (0..10).map(|tenth| format!("{}–{}", 10 * tenth, 10 * (tenth + 1)));
    let places = tenths.chain(["beyond".to_owned()]).collect();
    let counts: Vec<u64> = log.accuracy.tenths.into_iter().chain([log.accuracy.beyond]).collect();
    let (jobs, mean) = (counted(estimated, "job"), 100.0 * log.accuracy.mean);
    let caption = format!(
        "Of {jobs} with a requested time. On average they run for {mean:.1} % of it, counted as 100 % at most."
    );
    let texts = ["accuracy", "Accuracy of estimates", "run time as a share of the requested time (%)"];
    Some(by_place(texts, places, (&counts, estimated), &caption))
}

fn users(log: &Inspection) -> Option<Shown> {
    if log.users < 2 {
        return None;
    }
    let points = |part: &dyn Fn(&UserShare) -> f64| {
        let sums = log.busiest_users.iter().scan(0.0, |sum, user| {
            *sum += 100.0 * part(user);
            Some(*sum)
        });
        (1..).zip(sums).map(|(rank, sum)| Point::new(f64::from(rank), sum)).collect()
    };
    let x = Axis::new(format!("number of users, of {}, by work", count(log.users)));
    let series = vec![
        Series::lines("work", points(&|user| user.work)),
        Series::lines("jobs", points(&|user| share(user.jobs, log.jobs))),
    ];
    let chart = Chart::new("users", "The busiest users", x, Axis::new("share of the whole (%)"), series);
    Some(shown(chart, "Work is processors times run time. Users are counted from the one with the most work on.", &[]))
}

/// Shares of the jobs over places without a numeric order, from their counts and the number of all.
fn by_place([id, title, label]: [&str; 3], places: Vec<String>, (counts, all): (&[u64], u64), caption: &str) -> Shown {
    let ticks = (0..).map(f64::from).zip(places.iter().cloned()).collect();
    let points = (0..).zip(counts).map(|(place, jobs)| Point::new(f64::from(place), 100.0 * share(*jobs, all)));
    let bars = vec![Series::bars("jobs", points.collect())];
    let chart = Chart::new(id, title, Axis::new(label).with_ticks(ticks), Axis::new(SHARE), bars);
    shown(chart, caption, &places)
}

/// Curve through the points, straight on a logarithmic x axis, in enough steps to be drawn without marks.
fn curve(points: &[Point]) -> Vec<Point> {
    const STEPS: u32 = 100;
    let steps = 1 + STEPS / u32::try_from(points.len()).unwrap_or(STEPS).max(1);
    let between = points.windows(2).flat_map(|pair| {
        (0..steps).map(move |step| {
            let part = f64::from(step) / f64::from(steps);
            Point::new(pair[0].x * libm::pow(pair[1].x / pair[0].x, part), pair[0].y + part * (pair[1].y - pair[0].y))
        })
    });
    between.chain(points.last().copied()).collect()
}

/// Chart with its points as data; `places` are names for the x of points.
fn shown(chart: Chart, caption: &str, places: &[String]) -> Shown {
    let mut rows: Vec<DataRow> = Vec::new();
    for series in &chart.series {
        rows.extend(series.points.iter().enumerate().map(|(place, point)| {
            let x = places.get(place).cloned().unwrap_or_else(|| point.x.to_string());
            (series.name.clone(), x, "share".to_owned(), seen(point.y))
        }));
    }
    Shown::picture(chart, caption, rows)
}
