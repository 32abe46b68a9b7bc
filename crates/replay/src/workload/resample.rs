//! `cargo xtask workload resample`: another log like one.

use super::cli::{Resample, seconds};
use super::file::NewFile;
use super::source::{failed, sha256_of, swf};
use super::words::counted;
use anyhow::{Context, Result, anyhow, ensure};
use lab::chart::fixed;
use lab::cli::{Common, Ending, print};
use sim_core::{Span, Streams};
use workload::resample::{Fidelity, Users, shaken};
use workload::{HeldJob, HeldLog, Options, SwfRecord, SwfWriter};

pub(super) fn resample(options: &Resample, common: &Common) -> Result<Ending> {
    let Resample { file, shake, users, weeks, seed, out } = options;
    ensure!((0.01..=100.0).contains(users), "--users {users}: is out of range; give 0.01 to 100");
    let most = match shake {
        None => None,
        Some(text) => {
            let wrong = || anyhow!("--shake {text:?}: is no span; write 60s, 5m or 1h");
            Some(Span::from_secs(u64::from(seconds(text).ok_or_else(wrong)?)))
        }
    };
    let mut new = NewFile::create(out)?;
    let records = swf(file, "resample", common.quiet)?;
    let header = records.header().clone();
    let (log, _) = HeldLog::read(records, Options::default()).map_err(failed)?;
    ensure!(log.jobs().len() > 1, "{}: has fewer than two jobs that ran", file.display());
    let streams = Streams::new(*seed, 0);
    let (resampled, how) = if let Some(most) = most {
        (shaken(&log, most, &streams), format!("every submission moved by up to {most} s"))
    } else {
        let of = Users::of(&log).map_err(|error| anyhow!("{}: {error}", file.display()))?.with_users(*users);
        let of = weeks.map_or(of.clone(), |weeks| of.with_weeks(weeks));
        (of.redrawn(&streams), format!("users drawn anew week by week, {users} times as many"))
    };
    ensure!(!resampled.jobs().is_empty(), "nobody came: there are too few users for so short a log");
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let mut log_file = SwfWriter::new(&mut new);
    let describe = || format!("cannot write {}", out.display());
    let capacity = header.max_procs.map_or_else(String::new, |processors| format!("MaxProcs: {processors}\n"));
    let hash = sha256_of(file).map_or_else(String::new, |hash| format!("Note: SHA-256 of that log: {hash}\n"));
    let head = format!(
        "Version: 2.2\nComputer: as in {name}\nInstallation: Gridproof {}\nMaxJobs: {count}\nMaxRecords: {count}\n{capacity}\
         Note: resampled from {name}: {how}; seed {seed}\n{hash}",
        env!("CARGO_PKG_VERSION"),
        count = resampled.jobs().len(),
    );
    log_file.comment(&head).with_context(describe)?;
    for (number, job) in (1..).zip(resampled.jobs()) {
        log_file.record(&record(number, job)).with_context(describe)?;
    }
    new.keep()?;
    let fidelity = Fidelity::of(&resampled, &log);
    let numbers: Vec<(&str, f64)> = Fidelity::NAMES.into_iter().zip(fidelity.values()).collect();
    if common.json {
        let numbers: serde_json::Map<_, _> =
            numbers.into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect();
        let answer = serde_json::json!({ "out": out, "jobs": resampled.jobs().len(), "fidelity": numbers });
        print(&format!("{answer:#}\n"));
        return Ok(Ending::Done);
    }
    if !common.quiet {
        print(&format!("{}: {how}\n", counted(resampled.jobs().len() as u64, "job")));
        let [jobs, work, median, runtimes, processors, limits, areas, day, week, burstiness] = fidelity.values();
        print(&format!(
            "relative to the log: jobs {}, work {}, median run time {}, variation of weekly work {}\n\
             distances (0 equal, 1 at most): run times {}, sizes {}, estimates {}, areas {}; hours of the day {}, days of the week {}\n",
            fixed(jobs, 2),
            fixed(work, 2),
            fixed(median, 2),
            fixed(burstiness, 2),
            fixed(runtimes, 3),
            fixed(processors, 3),
            fixed(limits, 3),
            fixed(areas, 3),
            fixed(day, 3),
            fixed(week, 3),
        ));
    }
    print(&format!("{}\n", out.display()));
    Ok(Ending::Done)
}

/// A job as a record. Its wait is unknown: it has not been scheduled.
fn record(number: u64, job: &HeldJob) -> SwfRecord {
    SwfRecord {
        submit: Some(Span::from_nanos(job.submit.as_nanos())),
        runtime: Some(job.runtime),
        allocated_processors: Some(job.processors),
        requested_processors: Some(job.processors),
        requested_time: job.limit,
        user: job.user,
        ..SwfRecord::numbered(number)
    }
}
