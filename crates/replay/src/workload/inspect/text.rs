//! A log in a screenful of text.

use super::super::words::{columns, counted, exact, percent, share};
use super::{InspectedLog, whole};
use lab::chart::{date, fixed};
use lab::units::{aligned, count, duration, readable, repair};
use std::collections::BTreeMap;
use workload::inspect::Spread;
use workload::repair::Repair;

/// Number of frequent values in a list.
const FREQUENT: usize = 4;

impl InspectedLog<'_> {
    /// The log as text; with `quiet` only its first line.
    pub(super) fn as_text(&self, quiet: bool) -> String {
        let text = format!("{}: {}\n", self.options.file.display(), self.in_one_line());
        if quiet || self.log.jobs == 0 {
            return text + &self.anomalies();
        }
        let notes: String = self.notes().iter().map(|note| format!("note: {note}\n")).collect();
        let facts: Vec<Vec<String>> = self.facts().into_iter().chain(self.arrivals()).collect();
        let width = facts.iter().map(|fact| fact[0].chars().count()).max().unwrap_or(0);
        let facts: String = facts.iter().map(|fact| format!("{:width$}  {}\n", fact[0], fact[1])).collect();
        let spreads = aligned(&self.spreads());
        format!("{text}{notes}\n{facts}\n{spreads}\n{}", self.anomalies())
    }

    /// `28,476 jobs of 214 users on 100 processors in 340 days`.
    pub(super) fn in_one_line(&self) -> String {
        let log = &self.log;
        let mut line = counted(log.jobs, "job");
        if log.users > 0 {
            line += &format!(" of {}", counted(log.users, "user"));
        }
        if let Some(processors) = log.capacity {
            line += &format!(" on {}", counted(u64::from(processors), "processor"));
        }
        line + &format!(" in {}", duration(log.submission_span))
    }

    pub(super) fn facts(&self) -> Vec<Vec<String>> {
        let log = &self.log;
        let mut facts = Vec::new();
        let mut add = |name: &str, text: String| facts.push(vec![name.to_owned(), text]);
        add("jobs", format!("{} of {}", count(log.jobs), counted(log.records, "record")));
        let days = |first| format!(", {} to {}", date(first), date(first + whole(log.submission_span)));
        let days = self.start().map_or_else(String::new, days);
        add("submitted", format!("over {}{days}", duration(log.submission_span)));
        match (log.load, log.capacity) {
            (Some(load), _) => add("load", format!("{} of the machine while jobs were submitted", percent(load))),
            (None, None) => add("load", "unknown: the number of processors is not in the header".to_owned()),
            (None, Some(_)) => {}
        }
        add("work", format!("{} processor-hours", readable((log.work / 3_600.0).round())));
        if let Some(busiest) = log.busiest_users.first() {
            add("users", format!("{}; the busiest has {} of the work", count(log.users), percent(busiest.work)));
        }
        let parts = [
            (log.groups, "group"),
            (log.executables, "application"),
            (log.queues.len() as u64, "queue"),
            (log.partitions.len() as u64, "partition"),
        ];
        let parts: Vec<String> = parts.into_iter().filter(|(n, _)| *n > 0).map(|(n, what)| counted(n, what)).collect();
        if !parts.is_empty() {
            add("also", parts.join(", "));
        }
        let [serial, powers] = [log.serial, log.power_of_two].map(percent);
        let often = listed(&log.sizes, log.jobs, |size| count(u64::from(size)));
        add("sizes", format!("{serial} serial, {powers} larger powers of two; often {often}"));
        let estimated = log.jobs - log.without_estimate;
        if estimated > 0 {
            let missing = match log.without_estimate {
                0 => String::new(),
                without => format!(", {} without one", counted(without, "job")),
            };
            let times = counted(log.estimate_values.len() as u64, "different time");
            let often = listed(&log.estimate_values, estimated, exact);
            add("requested", format!("{times}{missing}; often {often}"));
            let [mean, beyond] = [log.accuracy.mean, share(log.accuracy.beyond, estimated)].map(percent);
            let accuracy =
                format!("run time is {mean} of the requested time on average, and beyond it for {beyond} of the jobs");
            add("accuracy", accuracy);
        }
        facts
    }

    fn arrivals(&self) -> [Vec<String>; 2] {
        let (hours, days) = (&self.log.by_hour, &self.log.by_weekday);
        let busiest = (0..24).rev().max_by_key(|hour| hours[*hour]).unwrap_or(0);
        [
            vec!["by hour".to_owned(), format!("{}  0:00 to 23:00, most at {busiest}:00", columns(hours))],
            vec!["by weekday".to_owned(), format!("{}  Monday to Sunday", columns(days))],
        ]
    }

    /// Distributions of sizes and times, with a row of heads.
    pub(super) fn spreads(&self) -> Vec<Vec<String>> {
        let log = &self.log;
        let mut rows =
            vec![["", "least", "10 %", "median", "90 %", "99 %", "most", "mean", "CV"].map(str::to_owned).to_vec()];
        let mut add = |name: &str, spread: &Spread, words: fn(f64) -> String| {
            if spread.count > 0 {
                let [p10, median, p90, p99] = [0.1, 0.5, 0.9, 0.99].map(|share| spread.quantile(share));
                let values = [spread.min, p10, median, p90, p99, spread.max, spread.mean];
                let cells = values.into_iter().map(words);
                let variation = format!("{:.2}", spread.variation());
                rows.push([name.to_owned()].into_iter().chain(cells).chain([variation]).collect());
            }
        };
        add("processors", &log.processors, size);
        add("run time", &log.runtimes, duration);
        add("requested time", &log.estimates, duration);
        add("wait", &log.waits, duration);
        add("between submissions", &log.interarrival, duration);
        rows
    }

    fn anomalies(&self) -> String {
        if self.log.anomalies.is_empty() {
            return "no anomaly\n".to_owned();
        }
        let width = self.log.anomalies.iter().map(|anomaly| count(anomaly.count).len()).max().unwrap_or(0);
        let line = |anomaly: &Repair| {
            let [rule, times, first, what] = repair(anomaly);
            format!("{times:>width$} × {rule}: {what} (first: line {first})\n")
        };
        self.log.anomalies.iter().map(line).collect()
    }
}

/// Number of processors, or a mean of them.
fn size(processors: f64) -> String {
    let tenths = (processors * 10.0).round() / 10.0;
    fixed(tenths, if tenths.fract() == 0.0 || tenths >= 100.0 { 0 } else { 1 })
}

/// The values of most jobs with their numbers of jobs, the most frequent first.
pub(super) fn frequent<K: Copy + Ord>(counts: &BTreeMap<K, u64>, most: usize) -> Vec<(K, u64)> {
    let mut counts: Vec<(K, u64)> = counts.iter().map(|(value, jobs)| (*value, *jobs)).collect();
    counts.sort_by_key(|(value, jobs)| (std::cmp::Reverse(*jobs), *value));
    counts.truncate(most);
    counts
}

/// The most frequent values with their shares of `all` jobs.
fn listed<K: Copy + Ord>(counts: &BTreeMap<K, u64>, all: u64, words: impl Fn(K) -> String) -> String {
    let listed = frequent(counts, FREQUENT);
    let entries = listed.iter().map(|(value, jobs)| format!("{} ({})", words(*value), percent(share(*jobs, all))));
    entries.collect::<Vec<_>>().join(", ")
}
