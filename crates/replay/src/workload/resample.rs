//! `cargo xtask workload resample`: a log similar to a given one.

use super::cli::{Resample, seconds};
use super::io::{NewFile, failed, printed, sha256_of, swf};
use super::words::counted;
use crate::options::stem;
use anyhow::{Context, Result, anyhow, ensure};
use lab::chart::fixed;
use lab::cli::{Common, Ending};
use sim_core::{Span, Streams};
use std::io::Write as _;
use workload::resample::{Blocks, Fidelity, Users, shaken};
use workload::swf::Header;
use workload::{HeldLog, Options, SwfRecord, SwfWriter, capacity};

/// Keys of a header that hold for a resampled log, too, separated by spaces.
const KEPT: &str = "Acknowledge Information UnixStartTime TimeZone TimeZoneString MaxNodes MaxRuntime MaxMemory Queues Queue \
                    Partitions Partition User Group";

/// A resampled log, and its method.
struct Resampled {
    log: HeldLog,
    how: String,
    /// Bounds that the log keeps, if the method has bounds, and the number of draws outside of them.
    bounds: Option<(String, u32)>,
}

pub(super) fn resample(options: &Resample, common: &Common) -> Result<Ending> {
    let Resample { file, shake, out, .. } = options;
    let span = |text: &String| {
        let seconds = seconds(text).ok_or_else(|| anyhow!("--shake {text:?}: is no span; write 60s, 5m or 1h"));
        seconds.map(|seconds| Span::from_secs(seconds.into()))
    };
    let most = shake.as_ref().map(span).transpose()?;
    // `another.jobs.csv` beside `another.swf.gz`.
    let beside = out.with_file_name(format!("{}.jobs.csv", stem(out)));
    let (mut new, mut numbers) = (NewFile::create(out)?, NewFile::create(&beside)?);
    let records = swf(file, "resample", common.quiet)?;
    let header = records.header().clone();
    let mut originals = Vec::new();
    let (log, _) = HeldLog::read_with(records, Options::default(), |record| originals.push(record)).map_err(failed)?;
    ensure!(log.jobs().len() > 1, "{}: has fewer than two jobs that ran", file.display());
    // A job drawn twice keeps its number, by which its record is found.
    let log = log.renumbered();
    let made = made(options, &header, &log, most)?;
    ensure!(!made.log.jobs().is_empty(), "no user was drawn: there are too few users for so short a log");
    let describe = || format!("cannot write {}", out.display());
    let mut log_file = SwfWriter::new(&mut new);
    log_file.comment(&head(options, &header, &made)).with_context(describe)?;
    writeln!(numbers, "job,original").with_context(describe)?;
    for (number, job) in (1..).zip(made.log.jobs()) {
        let original = &originals[usize::try_from(job.number).expect("a position")];
        let record = SwfRecord { number, ..job.record(log.origin(), original.clone()) };
        log_file.record(&record).with_context(describe)?;
        writeln!(numbers, "{number},{}", original.number).with_context(describe)?;
    }
    new.keep()?;
    numbers.keep()?;
    Ok(report(&made, &log, options, common))
}

fn made(options: &Resample, header: &Header, log: &HeldLog, most: Option<Span>) -> Result<Resampled> {
    let Resample { file, users, weeks, machine, seed, .. } = options;
    let streams = Streams::new(*seed, 0);
    if let Some(most) = most {
        let how = format!("every submission moved by up to {most} s");
        return Ok(Resampled { log: shaken(log, most, &streams), how, bounds: None });
    }
    let named = |error: &dyn std::fmt::Display| anyhow!("{}: {error}", file.display());
    let processors = match machine.procs {
        Some(processors) => processors,
        None => capacity(header, file).map_err(|error| anyhow!("{error}: add --procs N"))?.0,
    };
    let (drawn, how, bounds) = if let Some(users) = users {
        ensure!((0.01..=100.0).contains(users), "--users {users}: is out of range; give 0.01 to 100");
        let of = Users::of(log).map_err(|error| named(&error))?.with_users(*users);
        let of = weeks.map_or(of.clone(), |weeks| of.with_weeks(weeks));
        let drawn = of.redrawn_within(log, (processors, 1.0), &streams).map_err(|error| named(&error))?;
        let how = format!("users drawn independently week by week, {users} times as many, within bounds");
        (drawn, how, Users::bounds())
    } else {
        let of = Blocks::of(log.clone(), processors, 1.0).map_err(|error| named(&error))?;
        let of = weeks.map_or(of.clone(), |weeks| of.with_weeks(weeks));
        let drawn = of.redrawn(&streams).map_err(|error| named(&error))?;
        (drawn, format!("weeks drawn in blocks of {} within bounds", of.length), Blocks::bounds())
    };
    let how = format!("{how} ({} refused)", counted(drawn.refused.into(), "draw"));
    Ok(Resampled { log: drawn.log, how, bounds: Some((bounds, drawn.refused)) })
}

/// The header, beginning with the entries kept from the original.
fn head(options: &Resample, header: &Header, made: &Resampled) -> String {
    let name = options.file.file_name().unwrap_or_default().to_string_lossy();
    let kept = header.entries().filter(|(key, _)| KEPT.split(' ').any(|kept| kept.eq_ignore_ascii_case(key)));
    let kept: String = kept.map(|(key, value)| format!("{key}: {value}\n")).collect();
    let processors = options.machine.procs.or(header.max_procs);
    let capacity = processors.map_or_else(String::new, |processors| format!("MaxProcs: {processors}\n"));
    let hash = sha256_of(&options.file).map_or_else(String::new, |hash| format!("Note: SHA-256 of that log: {hash}\n"));
    let (version, count) = (env!("CARGO_PKG_VERSION"), made.log.jobs().len());
    let (Resampled { how, .. }, Resample { seed, .. }) = (made, options);
    format!(
        "Version: 2.2\nComputer: as in {name}\nInstallation: Gridproof {version}\nMaxJobs: {count}\nMaxRecords: {count}\n\
         {kept}{capacity}Note: resampled from {name}: {how}; seed {seed}\n{hash}\
         Note: job numbers of that log are in the file .jobs.csv beside this one\n"
    )
}

fn report(made: &Resampled, log: &HeldLog, options: &Resample, common: &Common) -> Ending {
    let out = &options.out;
    let Resampled { log: resampled, how, bounds } = made;
    let numbers = Fidelity::of(resampled, log).numbers;
    let [jobs, work, median, runtimes, processors, limits, areas, day, week, burstiness, lag_one] =
        numbers.map(|(_, value)| fixed(value, 3));
    let mut words = format!(
        "{}: {how}\nrelative to the log: jobs {jobs}, work {work}, median run time {median}, variation of weekly work \
         {burstiness}; lag-1 correlation of weekly work {lag_one} higher\n\
         distances (0 equal, 1 at most): run times {runtimes}, sizes {processors}, estimates {limits}, areas {areas}; \
         hours of the day {day}, days of the week {week}\n",
        counted(resampled.jobs().len() as u64, "job")
    );
    let numbers: serde_json::Map<_, _> =
        numbers.into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect();
    let mut answer = serde_json::json!({ "out": out, "jobs": resampled.jobs().len(), "fidelity": numbers });
    if let Some((bounds, refused)) = bounds {
        answer["draws_refused"] = (*refused).into();
        answer["bounds"] = bounds.as_str().into();
        words += &format!("bounds of this log: {bounds}\n");
    }
    printed(common, &answer, if common.quiet { "" } else { &words }, out)
}
