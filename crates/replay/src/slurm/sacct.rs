//! Jobs of a Slurm cluster as `sacct` lists them.

use super::trace::{LoggedRun, Trace, seconds};
use anyhow::{Result, bail, ensure};
use slurm_sched::conf::YEAR;
use slurm_sched::workload::{Begin, Request, SubmittedJob};
use std::collections::BTreeMap;
use workload::sacct::SacctRule;
use workload::{SacctReader, SwfRecord};

/// Command whose output is read; the columns may be in any order, and further ones are ignored.
const COMMAND: &str = "SLURM_TIME_FORMAT=%s sacct --allusers --allocations --duplicates --parsable2 \
    --starttime 2026-01-01 --endtime 2026-02-01 \
    --format JobIDRaw,User,Account,QOS,Partition,Submit,Eligible,Start,ElapsedRaw,TimelimitRaw,NNodes,AllocCPUS,State";

/// Columns that [`SacctReader`] does without.
const COLUMNS: [&str; 6] = ["JobIDRaw", "User", "Account", "Partition", "TimelimitRaw", "NNodes"];

/// Lines that the reader leaves out.
const RULES: [(SacctRule, &str); 4] = [
    (SacctRule::Step, "steps"),
    (SacctRule::Unfinished, "jobs that have not ended"),
    (SacctRule::Revoked, "jobs that another cluster ran"),
    (SacctRule::NoSubmit, "jobs without a time of submission"),
];

/// Reads the output of [`COMMAND`] in the file named `file`.
///
/// A job gets the nodes and CPUs that it had. If it became eligible after its submission (begin time, dependency, hold), it
/// does so here after the same time. Tasks of arrays are separate jobs. A requeued job has a line for each run.
pub(super) fn read(file: &str, mut reader: SacctReader) -> Result<Trace> {
    for column in COLUMNS {
        ensure!(reader.cell(column).is_some(), "{file}:1: {column}: the heading has no such column; run: {COMMAND}");
    }
    // Jobs with the submission, start and end of each run.
    let (mut rows, mut never, mut reused) = (BTreeMap::<u32, (SubmittedJob, Vec<[i64; 3]>)>::new(), 0, 0);
    while let Some(job) = reader.next() {
        let Some((job, wait)) = started(file, &reader, &job?.record)? else {
            never += 1;
            continue;
        };
        let times = [job.submit, job.submit + wait, job.submit + wait + job.run];
        match rows.get_mut(&job.id) {
            // A requeue submits a job when its run ends. A number that comes back later is another job's.
            Some((_, runs)) if runs.last().is_some_and(|last| job.submit <= last[2] + 3600) => runs.push(times),
            earlier => {
                reused += u64::from(earlier.is_some());
                rows.insert(job.id, (job, vec![times]));
            }
        }
    }
    let mut left_out = BTreeMap::from([("jobs that never started", never), ("jobs of a number used again", reused)]);
    left_out.extend(RULES.map(|(rule, reason)| (reason, reader.repairs.count(rule))));
    let zero = rows.values().map(|(job, _)| job.submit).min().unwrap_or(0);
    let (mut jobs, mut log) = (Vec::new(), Vec::new());
    for (job, runs) in rows.into_values() {
        log.extend(runs.iter().map(|times| LoggedRun { job: job.id, times: times.map(|time| time - zero) }));
        let mut earlier_runs: Vec<i64> = runs.iter().map(|[_, start, end]| end - start).collect();
        let run = earlier_runs.pop().unwrap_or(job.run);
        jobs.push(SubmittedJob { submit: job.submit - zero, earlier_runs, run, ..job });
    }
    jobs.sort_by_key(|job| (job.submit, job.id));
    log.sort_by_key(|run| (run.times[0], run.job));
    let left_out = left_out.into_iter().filter(|(_, count)| *count > 0);
    Ok(Trace { jobs, log, zero: Some(zero), left_out: left_out.map(|(why, count)| format!("{count} {why}")).collect() })
}

/// The job of the line that was read last, submitted in seconds since 1970, and its wait; `None` if it never started.
fn started(file: &str, reader: &SacctReader, record: &SwfRecord) -> Result<Option<(SubmittedJob, i64)>> {
    let cell = |column| reader.cell(column).unwrap_or_default();
    let name = |column| Some(cell(column).to_owned()).filter(|name| !name.is_empty());
    let whole = |column: &str, found: &str| match found.parse::<u32>() {
        Ok(number) => Ok(number),
        Err(_) => bail!("{file}:{}: {column}: expected a number below 4294967296, found {found:?}", reader.line()),
    };
    let (Some(wait), Some(run)) = (record.wait, record.runtime) else { return Ok(None) };
    let nodes = whole("NNodes", cell("NNodes"))?;
    if nodes == 0 {
        return Ok(None);
    }
    let [submit, wait, run] = [record.submit.unwrap_or_default(), wait, run].map(seconds);
    let later = reader.eligible.and_then(|eligible| i64::try_from(eligible).ok()).map(|eligible| eligible - submit);
    let partitions = cell("Partition").split(',').map(str::trim);
    let request = Request {
        user: name("User"),
        account: name("Account"),
        qos: name("QOS"),
        partitions: partitions.filter(|name| !name.is_empty()).map(str::to_owned).collect(),
        nodes: Some(nodes),
        tasks: record.allocated_processors,
        begin: later.filter(|later| *later > 0).map(Begin::After),
        ..Request::default()
    };
    let limit = match cell("TimelimitRaw") {
        "UNLIMITED" => Some(YEAR),
        _ => record.requested_time.map(seconds),
    };
    let id = whole("JobIDRaw", cell("JobIDRaw"))?;
    let line = usize::try_from(reader.line()).unwrap_or(usize::MAX);
    Ok(Some((SubmittedJob { id, line, submit, earlier_runs: Vec::new(), run, limit, request }, wait)))
}
