//! A log as a page.

use super::super::words::{exact, line_of, percent, share};
use super::InspectedLog;
use super::figures::LOAD;
use super::text::frequent;
use crate::options::stem;
use crate::units::{count, duration};
use lab::page::{self, Page, Part, Section, Table};
use lab::provenance::quoted;
use std::collections::BTreeMap;

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
        let sizes = frequent(&log.sizes, FREQUENT);
        let estimates = frequent(&log.estimate_values, FREQUENT);
        let estimated = log.jobs - log.without_estimate;
        let users = log.busiest_users.iter().map(|user| {
            vec![user.user.to_string(), percent(user.work), count(user.jobs), percent(share(user.jobs, log.jobs))]
        });
        let tables = [
            Table::new(
                "spreads",
                "Sizes and times",
                "CV is the coefficient of variation, standard deviation over mean. Quantiles are within 1 %.",
                heads,
                if log.jobs > 0 { spreads } else { Vec::new() },
            ),
            Table::new(
                "sizes-often",
                "Most frequent sizes",
                "",
                ["processors", "jobs", "share"],
                sizes
                    .into_iter()
                    .map(|(size, jobs)| vec![count(u64::from(size)), count(jobs), percent(share(jobs, log.jobs))])
                    .collect(),
            ),
            Table::new(
                "estimates-often",
                "Most frequent requested times",
                "",
                ["requested time", "seconds", "jobs", "share"],
                estimates
                    .into_iter()
                    .map(|(time, jobs)| vec![exact(time), count(time), count(jobs), percent(share(jobs, estimated))])
                    .collect(),
            ),
            Table::new(
                "users-busiest",
                "Busiest users",
                "",
                ["user", "share of work", "jobs", "share of jobs"],
                users.collect(),
            ),
            self.numbered("queues", "Queues", "queue", &log.queues),
            self.numbered("partitions", "Partitions", "partition", &log.partitions),
            Table::new(
                "anomalies",
                "Anomalies",
                "Anomalies of the log; the command `workload validate` lists every line.",
                ["anomaly", "records", "first line", "what"],
                anomalies.collect(),
            ),
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

    /// Table of jobs by queue or partition.
    fn numbered(&self, id: &str, title: &str, name: &str, counts: &BTreeMap<u32, u64>) -> Table {
        let rows = counts
            .iter()
            .map(|(number_of, jobs)| vec![number_of.to_string(), count(*jobs), percent(share(*jobs, self.log.jobs))]);
        Table::new(id, title, "", [name, "jobs", "share"], rows.collect())
    }

    fn provenance(&self) -> Vec<(String, String)> {
        let entry = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let said = |key: &str| self.header.get(key).map(|value| entry(key, value.lines().next().unwrap_or_default()));
        let hash = self.hash.as_deref().map(|hash| entry("Log (SHA-256)", hash));
        ["Computer", "Installation", "Acknowledge", "Information"].into_iter().filter_map(said).chain(hash).collect()
    }
}
