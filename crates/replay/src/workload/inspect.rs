//! `cargo xtask workload inspect`: a summary of a log.

mod figures;
mod text;

use super::cli::Inspect;
use super::io::{failed, printed, sha256_of, swf};
use super::words::{exact, percent, share};
use crate::options::{stem, words};
use anyhow::{Context, Result};
use figures::LOAD;
use lab::cli::{Common, Ending};
use lab::output::OutDir;
use lab::output::provenance::{self, quoted};
use lab::page::{self, Page, Part, Section, Table};
use lab::shown;
use lab::units::{count, duration, repair};
use std::path::Path;
use text::frequent;
use workload::Inspection;
use workload::swf::Header;

/// Rows of a table of frequent values.
const FREQUENT: usize = 20;

struct InspectedLog<'a> {
    options: &'a Inspect,
    header: Header,
    log: Inspection,
    /// SHA-256 of the file; `None` for a pipe.
    hash: Option<String>,
}

pub(super) fn inspect(options: &Inspect, common: &Common) -> Result<Ending> {
    let records = swf(&options.file, "inspect", common.quiet)?;
    let header = records.header().clone();
    let out = options.out.clone().unwrap_or_else(|| Path::new("results/workload").join(stem(&options.file)));
    let out = OutDir::create(&out, "workload inspect")?;
    let log = Inspection::of(records, options.machine.procs, options.zone.utc_offset).map_err(failed)?;
    let seen = InspectedLog { options, header, log, hash: sha256_of(&options.file) };

    let figures = shown::write(&figures::of(&seen.log, seen.start()), &[], &out)?;
    out.write("inspect.json", format!("{:#}\n", seen.as_json()))?;
    out.write("report.html", page::render(&seen.page(figures)).context("report.html")?)?;
    let path = out.path().to_owned();
    let mut manifest = seen.as_json();
    if let Some(manifest) = manifest.as_object_mut() {
        manifest.remove("inspection");
    }
    out.finish(manifest)?;

    Ok(printed(common, &seen.as_json(), &seen.as_text(common.quiet), &path.join("report.html")))
}

impl InspectedLog<'_> {
    fn as_json(&self) -> serde_json::Value {
        serde_json::json!({
            "log": self.options.file.file_name().unwrap_or_default().to_string_lossy(),
            "log_sha256": self.hash,
            "version": env!("CARGO_PKG_VERSION"),
            "git_revision": provenance::git_revision(),
            "sources_sha256": provenance::sources(),
            "command_line": self.command(),
            "inspection": self.log,
        })
    }

    fn command(&self) -> String {
        let Inspect { file, machine, zone, .. } = self.options;
        let hours = zone.utc_offset.map(|seconds| f64::from(seconds) / 3_600.0);
        format!("{} workload inspect {}", lab::cli::program(), quoted(&file.to_string_lossy()))
            + &words("procs", machine.procs)
            + &words("utc-offset", hours)
    }

    /// The first submission in local time, in seconds since 1970, if the log is tied to the calendar.
    fn start(&self) -> Option<i64> {
        let start = self.header.unix_start_time.and_then(|start| i64::try_from(start).ok()).unwrap_or(0);
        self.log.is_calendar.then(|| start + whole(self.log.first_submit) + i64::from(self.log.utc_offset))
    }

    fn notes(&self) -> Vec<String> {
        let log = &self.log;
        let mut notes = Vec::new();
        match (log.capacity, log.sizes.keys().last()) {
            (None, widest) => notes.push(format!(
                "The load is unknown: the log does not say how many processors its machine has; give --procs N{}.",
                widest.map_or_else(String::new, |widest| format!(" (the widest job requests {widest})"))
            )),
            (Some(nodes), _) if self.options.machine.procs.is_none() && self.header.max_procs.is_none() => {
                notes.push(format!(
                    "The header has no MaxProcs: its MaxNodes ({nodes}) are taken as the processors of the machine; give \
                     --procs N if a node has several."
                ));
            }
            (Some(_), _) => {}
        }
        if !log.is_calendar {
            notes.push(
                "Nothing ties the log to the calendar (no UnixStartTime in the header that could be a time): hours and weekdays are counted as if it \
                 began at midnight on a Monday."
                    .to_owned(),
            );
        } else if self.options.zone.utc_offset.is_none() && self.header.get("TimeZone").is_none() {
            notes.push(match self.header.get("TimeZoneString") {
                Some(zone) => format!("Hours are those of UTC; the header says {zone}: give its --utc-offset H."),
                None => "The time zone is unknown (no TimeZone in the header): hours are those of UTC; give it with \
                         --utc-offset H."
                    .to_owned(),
            });
        }
        if log.jobs > 0 && log.without_estimate == log.jobs {
            notes.push("No job has a requested time: a simulation takes the run times as estimates.".to_owned());
        }
        notes
    }

    fn page(&self, figures: Vec<page::Figure>) -> Page {
        let log = &self.log;
        let (load, figures): (Vec<_>, Vec<_>) = figures.into_iter().partition(|figure| figure.picture.id() == LOAD);
        let mut spreads = self.spreads();
        let heads = spreads.remove(0);
        let anomalies = log.anomalies.iter().map(|anomaly| repair(anomaly).to_vec());
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

#[expect(clippy::cast_possible_truncation, reason = "seconds of a log are far below 2^63")]
const fn whole(seconds: f64) -> i64 {
    seconds as i64
}
