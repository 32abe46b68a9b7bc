//! Notes on unused input: requests of the log and columns of the machine file that no world uses.

use lab::units::float;
use workload::repair::Unread;

/// One note per kind of information that the run ignores. `machines_tell_memory`: the machine file has memory per node.
pub(crate) fn notes(unread: &Unread, machines_tell_memory: bool) -> Vec<String> {
    let of_jobs = |count: u64, rest: &str| (count > 0).then(|| format!("{} {rest}", share(count, unread.jobs)));
    let memory = match (unread.memory, machines_tell_memory) {
        (0, true) => Some("the machine file gives memory per node, which this world ignores".to_owned()),
        (jobs, false) => of_jobs(jobs, "request memory (field 10), which this world ignores"),
        (jobs, true) => {
            let both = "and the machine file gives memory per node; this world ignores both";
            of_jobs(jobs, &format!("request memory (field 10), {both}"))
        }
    };
    let dependencies = "name a preceding job (field 17), which this world ignores: each job is submitted at the time in the log, \
                        whenever others end";
    let nodes =
        "request nodes (column 21), which this world ignores: it counts processors alone (--profile alea31 reads them)";
    let (dependencies, nodes) = (of_jobs(unread.preceding_job, dependencies), of_jobs(unread.nodes, nodes));
    let count = unread.partitions.len();
    let partitions = (count > 1).then(|| {
        format!("jobs name {count} partitions (field 16), which this world ignores: a job may start on any place that is wide enough")
    });
    [memory, dependencies, nodes, partitions].into_iter().flatten().collect()
}

/// `99 % of jobs`, never rounded to none or all.
fn share(count: u64, all: u64) -> String {
    if count == all {
        return "all jobs".to_owned();
    }
    match 100.0 * float(count) / float(all) {
        percent if percent < 1.0 => "less than 1 % of jobs".to_owned(),
        percent if percent > 99.0 && percent < 100.0 => format!("{:.1} % of jobs", (10.0 * percent).floor() / 10.0),
        percent => format!("{percent:.0} % of jobs"),
    }
}
