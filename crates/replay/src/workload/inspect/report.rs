//! A log as a page.

use super::super::words::{exact, line_of, percent, share};
use super::InspectedLog;
use super::figures::LOAD;
use super::text::frequent;
use crate::options::stem;
use crate::units::{count, duration};
use lab::page::{self, Page, Part, Section, Table};
use lab::provenance::quoted;

/// Rows of a table of frequent values.
const FREQUENT: usize = 20;

impl InspectedLog<'_> {
    pub(super) fn page(&self, figures: Vec<page::Figure>) -> Page {
        let log = &self.log;
        let (load, figures): (Vec<_>, Vec<_>) = figures.into_iter().partition(|figure| figure.picture.id() == LOAD);
        let mut spreads = self.spreads();
        let heads = spreads.remove(0);
        let anomalies = log.anomalies.iter().map(|anomaly| {
            let (name, what) = (anomaly.rule.name().to_owned(), anomaly.rule.description().to_owned());
            vec![name, count(anomaly.count), line_of(anomaly), what]
        });
        let users = log.busiest_users.iter().map(|user| {
            vec![user.user.to_string(), percent(user.work), count(user.jobs), percent(share(user.jobs, log.jobs))]
        });
        let sizes = shares(frequent(&log.sizes, FREQUENT), log.jobs, |size| vec![count(size.into())]);
        let times = frequent(&log.estimate_values, FREQUENT);
        let times = shares(times, log.jobs - log.without_estimate, |time| vec![exact(time), count(time)]);
        let [queues, partitions] = [&log.queues, &log.partitions].map(|counts| {
            shares(counts.iter().map(|(number, jobs)| (*number, *jobs)), log.jobs, |number| vec![number.to_string()])
        });
        let spread = "CV is the coefficient of variation, standard deviation over mean. Quantiles are within 1 %.";
        let odd = "Anomalies of the log; the command `workload validate` lists every line.";
        let of_users = ["user", "share of work", "jobs", "share of jobs"];
        let of_times = ["requested time", "seconds", "jobs", "share"];
        let of_anomalies = ["anomaly", "records", "first line", "what"];
        let tables = [
            Table::new("spreads", "Sizes and times", spread, heads, if log.jobs > 0 { spreads } else { Vec::new() }),
            Table::new("sizes-often", "Most frequent sizes", "", ["processors", "jobs", "share"], sizes),
            Table::new("estimates-often", "Most frequent requested times", "", of_times, times),
            Table::new("users-busiest", "Busiest users", "", of_users, users.collect()),
            Table::new("queues", "Queues", "", ["queue", "jobs", "share"], queues),
            Table::new("partitions", "Partitions", "", ["partition", "jobs", "share"], partitions),
            Table::new("anomalies", "Anomalies", odd, of_anomalies, anomalies.collect()),
        ];
        let file = quoted(&self.options.file.to_string_lossy()).into_owned();
        let program = lab::cli::program();
        Page {
            title: stem(&self.options.file),
            subtitle: self.in_one_line(),
            lead: self.key_numbers(),
            notes: self.notes(),
            sections: vec![self.glance(load)],
            figures,
            tables: tables.into_iter().filter(|table| !table.rows.is_empty()).collect(),
            commands: vec![
                ("Look again".to_owned(), self.command()),
                ("List every anomaly".to_owned(), format!("{program} workload validate {file}")),
                ("Simulate".to_owned(), format!("{program} simulate --trace {file} --policy fcfs,easy")),
            ],
            provenance: self.provenance(),
            ..Page::default()
        }
    }

    fn glance(&self, load: Vec<page::Figure>) -> Section {
        let facts = Table::new("facts", "At a glance", "", ["property", "value"], self.facts());
        let parts = load.into_iter().map(|figure| Part::Figure(Box::new(figure))).chain([Part::Table(facts)]);
        Section { id: "glance".to_owned(), title: "Load".to_owned(), parts: parts.collect(), ..Section::default() }
    }

    /// Load, run times and waits in a sentence.
    fn key_numbers(&self) -> Vec<String> {
        let log = &self.log;
        let load = log.load.map(|load| format!("The jobs offer {} of the machine.", percent(load)));
        let runs = (log.runtimes.count > 0).then(|| {
            let [median, tail] = [0.5, 0.9].map(|share| duration(log.runtimes.quantile(share)));
            format!("Half of them run for at most {median}, nine in ten for at most {tail}.")
        });
        let waits = (log.waits.count > 0).then(|| {
            let [mean, median] = [log.waits.mean, log.waits.quantile(0.5)].map(duration);
            format!("In the log they waited {mean} on average, half of them at most {median}.")
        });
        let all: Vec<String> = load.into_iter().chain(runs).chain(waits).collect();
        if all.is_empty() { all } else { vec![all.join(" ")] }
    }

    fn provenance(&self) -> Vec<(String, String)> {
        let entry = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let said = |key: &str| self.header.get(key).map(|value| entry(key, value.lines().next().unwrap_or_default()));
        let hash = self.hash.as_deref().map(|hash| entry("Log (SHA-256)", hash));
        ["Computer", "Installation", "Acknowledge", "Information"].into_iter().filter_map(said).chain(hash).collect()
    }
}

/// Rows of values, each with the number of its jobs and their share of `all`.
fn shares<K>(
    counts: impl IntoIterator<Item = (K, u64)>,
    all: u64,
    names: impl Fn(K) -> Vec<String>,
) -> Vec<Vec<String>> {
    let row = |(value, jobs)| names(value).into_iter().chain([count(jobs), percent(share(jobs, all))]).collect();
    counts.into_iter().map(row).collect()
}
