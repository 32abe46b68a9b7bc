//! Jobs of a Slurm cluster as `sacct` lists them.

use super::trace::Trace;
use slurm_sched::error::{Collector, Faults};
use slurm_sched::workload::{Begin, Request, SubmittedJob};
use std::collections::BTreeMap;

/// Command whose output is read; the columns may be in any order, and further ones are ignored.
pub(super) const COMMAND: &str = "SLURM_TIME_FORMAT=%s sacct --allusers --allocations --duplicates --parsable2 \
    --starttime 2026-01-01 --endtime 2026-02-01 \
    --format JobIDRaw,User,Account,QOS,Partition,Submit,Eligible,Start,ElapsedRaw,TimelimitRaw,NNodes,AllocCPUS,State";

/// Returns true if `text` begins like the output of `sacct --parsable2`.
pub(super) fn is_sacct(text: &str) -> bool {
    text.lines().next().is_some_and(|heading| heading.contains('|') && heading.contains("JobID"))
}

/// Reads the output of [`COMMAND`] in the file named `file`.
///
/// A job gets the nodes and CPUs that it had. If it became eligible after its submission (begin time, dependency, hold), it
/// does so here after the same time. Tasks of arrays are separate jobs.
pub(super) fn read(file: &str, text: &str) -> Result<Trace, Faults> {
    let mut faults = Collector::new(file);
    let mut lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    let heading: Vec<&str> = lines.next().map_or(Vec::new(), |(_, line)| line.split('|').map(str::trim).collect());
    let mut left_out: BTreeMap<&str, usize> = BTreeMap::new();
    let mut rows: BTreeMap<u32, Started> = BTreeMap::new();
    for column in COLUMNS.iter().filter(|column| !heading.contains(column)) {
        faults.push(1, column, format_args!("the heading has no such column; run: {COMMAND}"));
    }
    let mut faults = faults.finish(Collector::new(file))?;
    for (line, text) in lines {
        let cells: Vec<&str> = text.split('|').map(str::trim).collect();
        let row = Row { heading: &heading, cells: &cells, line };
        match row.job() {
            Ok(Ok(started)) => {
                // A requeued job has a line for each run; the last one is kept.
                if rows.insert(started.job.id, started).is_some() {
                    *left_out.entry("earlier runs of requeued jobs").or_default() += 1;
                }
            }
            Ok(Err(reason)) => *left_out.entry(reason).or_default() += 1,
            Err((key, problem)) => faults.push(line, key, problem),
        }
    }
    faults.finish(())?;
    let zero = rows.values().map(|started| started.job.submit).min().unwrap_or(0);
    let waits = rows.iter().map(|(id, Started { job, start })| (*id, start - job.submit)).collect();
    let at_zero = |Started { job, .. }: Started| SubmittedJob { submit: job.submit - zero, ..job };
    let mut jobs: Vec<SubmittedJob> = rows.into_values().map(at_zero).collect();
    jobs.sort_by_key(|job| (job.submit, job.id));
    let left_out = left_out.into_iter().map(|(reason, count)| format!("{count} {reason}")).collect();
    Ok(Trace { jobs, waits, zero: Some(zero), left_out })
}

const COLUMNS: [&str; 10] = [
    "JobIDRaw",
    "User",
    "Account",
    "Partition",
    "Submit",
    "Start",
    "ElapsedRaw",
    "TimelimitRaw",
    "NNodes",
    "AllocCPUS",
];

/// A job with its times of submission and start since 1970.
struct Started {
    job: SubmittedJob,
    start: i64,
}

struct Row<'a> {
    heading: &'a [&'a str],
    cells: &'a [&'a str],
    line: usize,
}

type RowFault = (&'static str, String);

impl Row<'_> {
    /// The job, or the reason for leaving it out.
    fn job(&self) -> Result<Result<Started, &'static str>, RowFault> {
        if self.cells.len() != self.heading.len() {
            let (found, expected) = (self.cells.len(), self.heading.len());
            return Err(("row", format!("{found} columns, expected {expected}; leave out columns of free text")));
        }
        if self.cell("JobIDRaw").contains('.') {
            return Ok(Err("steps"));
        }
        let id = u32::try_from(self.whole("JobIDRaw", "a number")?)
            .map_err(|_| ("JobIDRaw", "expected a number below 4294967296".to_owned()))?;
        if ["RUNNING", "PENDING", "SUSPENDED", "REQUEUED"].iter().any(|state| self.cell("State").starts_with(state)) {
            return Ok(Err("jobs that have not ended"));
        }
        let start = self.cell("Start");
        if start.is_empty() || ["Unknown", "None"].contains(&start) || self.cell("NNodes") == "0" {
            return Ok(Err("jobs that never started"));
        }
        let time = "seconds since 1970; set SLURM_TIME_FORMAT=%s for sacct";
        let (submit, start) = (self.whole("Submit", time)?, self.whole("Start", time)?);
        let eligible = if self.has_time("Eligible") { self.whole("Eligible", time)? } else { submit };
        let count = |key| {
            let n = u32::try_from(self.whole(key, "a number")?);
            n.ok().filter(|n| *n > 0).map(Some).ok_or((key, "expected a number above 0".to_owned()))
        };
        let request = Request {
            user: self.name("User"),
            account: self.name("Account"),
            qos: self.name("QOS"),
            partitions: self.cell("Partition").split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect(),
            nodes: count("NNodes")?,
            tasks: count("AllocCPUS")?,
            begin: (eligible > submit).then_some(Begin::After(eligible - submit)),
            ..Request::default()
        };
        let limit = match self.cell("TimelimitRaw") {
            "" | "Partition_Limit" => None,
            "UNLIMITED" => Some(slurm_sched::conf::YEAR),
            _ => Some(60 * self.whole("TimelimitRaw", "minutes, UNLIMITED or Partition_Limit")?),
        };
        let run = self.whole("ElapsedRaw", "seconds")?;
        Ok(Ok(Started { job: SubmittedJob { id, line: self.line, submit, run, limit, request }, start }))
    }

    fn cell(&self, name: &str) -> &str {
        self.heading.iter().position(|column| *column == name).map_or("", |at| self.cells[at])
    }

    fn name(&self, column: &str) -> Option<String> {
        Some(self.cell(column).to_owned()).filter(|name| !name.is_empty())
    }

    fn has_time(&self, column: &str) -> bool {
        !["", "Unknown", "None"].contains(&self.cell(column))
    }

    fn whole(&self, column: &'static str, expected: &str) -> Result<i64, RowFault> {
        let text = self.cell(column);
        let number =
            Some(text).filter(|text| !text.is_empty() && text.len() <= 12 && text.bytes().all(|b| b.is_ascii_digit()));
        let fault = || (column, format!("expected {expected}, found {text:?}"));
        number.and_then(|text| text.parse().ok()).ok_or_else(fault)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADING: &str =
        "JobIDRaw|User|Account|QOS|Partition|Submit|Eligible|Start|ElapsedRaw|TimelimitRaw|NNodes|AllocCPUS|State";

    #[test]
    fn jobs_of_sacct_are_submitted_as_they_were() {
        let text = format!(
            "{HEADING}\n12|ann|phys|high|main|1700000100|1700000160|1700000200|300|10|2|8|COMPLETED\n\
            12.batch||phys||||||||1|4|COMPLETED\n\
            11|bob|chem||a,b|1700000000|1700000000|1700000000|60|UNLIMITED|1|4|TIMEOUT\n\
            13|bob|chem||main|1700000200|Unknown|Unknown|0|Partition_Limit|0|0|CANCELLED by 7\n\
            14|bob|chem||main|1700000300|1700000300|1700000400|5|Partition_Limit|1|4|NODE_FAIL\n\
            14|bob|chem||main|1700000300|1700000300|1700000500|50|Partition_Limit|1|4|COMPLETED\n\
            15|bob|chem||main|1700000300|1700000300|1700000400|5|1|1|4|RUNNING\n"
        );
        assert!(is_sacct(&text) && !is_sacct("id,submit,run,limit,args\n"));
        let Ok(Trace { jobs, waits, zero, left_out }) = read("jobs.sacct", &text) else { panic!("valid") };
        assert_eq!((zero, waits), (Some(1_700_000_000), BTreeMap::from([(11, 0), (12, 100), (14, 200)])));
        let own: Vec<_> = jobs.iter().map(|job| (job.id, job.submit, job.run, job.limit, job.request.begin)).collect();
        assert_eq!(
            own,
            [
                (11, 0, 60, Some(slurm_sched::conf::YEAR), None),
                (12, 100, 300, Some(600), Some(Begin::After(60))),
                (14, 300, 50, None, None)
            ]
        );
        let request = &jobs[1].request;
        assert_eq!(
            (request.user(), request.account.as_deref(), request.qos.as_deref()),
            ("ann", Some("phys"), Some("high"))
        );
        assert_eq!((request.nodes, request.tasks, jobs[0].request.partitions.len()), (Some(2), Some(8), 2));
        assert_eq!(
            left_out,
            ["1 earlier runs of requeued jobs", "1 jobs that have not ended", "1 jobs that never started", "1 steps"]
        );
    }

    #[test]
    fn a_fault_names_line_column_and_fix() {
        for (text, fault) in [
            (
                format!("{HEADING}\n12|a|b||p|2026-01-01T00:00:00|1|1|1|1|1|1|COMPLETED"),
                "f:2: Submit: expected seconds since 1970; set SLURM_TIME_FORMAT=%s for sacct, found \"2026-01-01T00:00:00\"".to_owned(),
            ),
            (format!("{HEADING}\n12|a"), "f:2: row: 2 columns, expected 13; leave out columns of free text".to_owned()),
            (
                HEADING.replace("NNodes", "Nodes"),
                format!("f:1: NNodes: the heading has no such column; run: {COMMAND}"),
            ),
        ] {
            assert_eq!(read("f", &text).err().expect("a fault").to_string(), fault);
        }
    }
}
