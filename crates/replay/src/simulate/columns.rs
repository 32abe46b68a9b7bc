//! `columns.md`: the meaning of the columns of the tables, with their units.

use super::cli::Format;
use super::report::SimulationReport;
use super::rows::LISTED;
use metrics::Metric;

/// Text of the file.
pub(super) fn text(report: &SimulationReport<'_>) -> String {
    let allocated = if report.sites().shares_processors() {
        "empty: tasks share processors here".to_owned()
    } else {
        format!(
            "processors that it held, as `0-3,7`, numbered from 0 on through the places in their order. Policies know no \
             processors apart: these are the free ones of lowest number. Empty on machines of more than {LISTED} processors"
        )
    };
    let evalys = if report.formats.contains(&Format::Evalys) { EVALYS } else { "" };
    format!("{JOBS}{allocated} |\n{SWF}{evalys}{SUMMARY}{}{REST}", metrics(report))
}

/// Rows about metrics: one for adjacent metrics with the same definition.
fn metrics(report: &SimulationReport<'_>) -> String {
    let measured: Vec<&Metric> = report.runs[0].columns.iter().map(|(metric, _)| *metric).collect();
    let groups = measured.chunk_by(|a, b| (a.text(), a.unit()) == (b.text(), b.unit()));
    let row = |group: &[&Metric]| {
        let names: Vec<String> = group.iter().map(|metric| format!("`{metric}`")).collect();
        format!("| {} | {} | {} |\n", names.join(", "), group[0].text(), group[0].unit())
    };
    groups.map(row).collect()
}

const JOBS: &str = "\
# Columns

An empty field is a value that does not exist: the start of a job that was rejected, tardiness without deadlines.

## POLICY/jobs.csv

One row per job, as they leave the system. Times in seconds since the first submit.

| column | what it is |
|---|---|
| `job` | the job's number in the log; where a comment of the log names it (`; Job: 12352 12345_7`), its name |
| `submit`, `start`, `finish` | when it was submitted, started and ended (s); of a job that a failure interrupted, the run that ended |
| `processors` | how many it held; of a rejected job, how many it asked for |
| `site` | the place where it ran, as the machine or clusters file calls it |
| `user` | who submitted it, by the log's number or, where a comment names the user (`; User: 3 alice`), by name |
| `requested` | run time that the log says was asked for (s), whatever estimate the policy saw |
| `run` | what it takes at reference speed (s), after a cut at its limit |
| `deadline` | when it is due (s since the first submit) |
| `state` | `done`, `cut` (ended at its limit) or `rejected` (no place can hold it) |
| `allocated` | ";

const SWF: &str = "
## POLICY/schedule.swf

The same in the Standard Workload Format, in order of submission: submit, wait and run time as simulated (s), status 1 for `done`,
0 for `cut` and 5 for `rejected`; the partition is the place, counted from 1, where there are several. User, group, executable,
queue and requests as in the log.
";

const EVALYS: &str = "
## POLICY/evalys.csv

The jobs that ran, as `evalys.jobset.JobSet.from_csv` of evalys 4 reads them. Times in seconds since the first submit; `success` is \
1, or 0 if the job was cut at its limit; `stretch` is turnaround / execution time; `allocated_resources` lists processors as `0-3 7`.
";

const SUMMARY: &str = "
## summary.csv

One row per policy. A weighted mean is weighted by processors.

| column | what it is | unit |
|---|---|---|
";

const REST: &str = "
A policy is saturated if its backlog is large and lasts. Large: `backlog_max` is at least 2 % of the time from the first to the last
submission, and at least 5 / √jobs of it. Lasts: `backlog_stretch` is at least a quarter of that time; or `backlog_end` is at least
half of `backlog_max`, and `backlog_end` and `drain` are both large. A log of fewer than 100 jobs, or shorter than four of its longest
jobs, is never saturated.

## differences.csv

One row per metric and pair of policies: the value of `policy` less that of `baseline`. Each pair is there once: first those with
the policy that `--baseline` names, then of two others the one named later less the one named earlier.

| column | what it is |
|---|---|
| `metric` | in the units above; `area_weighted_response` is the response weighted by processors × run time (s) |
| `mean` | difference of the means over jobs, as in summary.csv |
| `ci_low`, `ci_high` | its 95 % interval over blocks of the log; empty where there is none |
| `blocks` | blocks that it rests on |
| `correlation` | correlation of neighbouring blocks |

A block holds the jobs submitted between two instants at which no job waits under either policy; it is a week long at least. The
interval is the wider of Student's t and a studentized bootstrap over blocks, stretched by the mean length of a block in weeks, by 1.15 at least.
Fewer than ten blocks, or blocks of more than three weeks on average, give none. It covers the difference on another year of the same machine and users.

No interval, either, where a policy is saturated.

## best.csv

One row per metric and policy, where several are compared.

| column | what it is |
|---|---|
| `mean` | mean over jobs |
| `may_be_best` | `yes` if no policy is significantly better, `no` if one is; empty where there is no interval against the policy with the smallest mean |

Multiple comparisons with the best (Hsu 1984; Nelson & Matejcik 1995): each of k policies is compared with the k − 1 others at
1 − 0.05 / (k − 1), so that the best one is among those with `yes` with 95 % at least.

## data/FIGURE.csv

The points of a picture: `figure,series,x,metric,mean,ci_low,ci_high,reps`.
";
