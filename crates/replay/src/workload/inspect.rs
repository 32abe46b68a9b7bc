//! `cargo xtask workload inspect`: a summary of a log.

mod figures;
mod report;
mod text;

use super::cli::Inspect;
use super::source::{failed, sha256_of, swf};
use super::words::printed;
use crate::options::{stem, words};
use anyhow::{Context, Result};
use lab::chart::date;
use lab::cli::{Common, Ending};
use lab::output::OutDir;
use lab::page;
use lab::provenance::{self, quoted};
use lab::shown;
use std::path::Path;
use workload::Inspection;
use workload::swf::Header;

/// The summary of a log, and its options.
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
    /// `inspect.json`.
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

    /// First and last day with submissions.
    fn days(&self) -> Option<(String, String)> {
        let first = self.start()?;
        Some((date(first), date(first + whole(self.log.submission_span))))
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
}

#[expect(clippy::cast_possible_truncation, reason = "seconds of a log are far below 2^63")]
const fn whole(seconds: f64) -> i64 {
    seconds as i64
}
