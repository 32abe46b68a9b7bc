//! Notes on unused input: requests of the log and columns of the machine file that no world uses.

use lab::units::float;
use workload::repair::Unread;

/// One note per kind of information that the run ignores. `machines_tell_memory`: the machine file has memory per node.
pub fn notes(unread: &Unread, machines_tell_memory: bool) -> Vec<String> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use workload::{Intake, Options, SwfReader};

    #[test]
    fn what_jobs_request_and_no_world_reads_is_reported_with_its_share() {
        // Columns from the tenth on.
        let (plain, memory) = ("-1 1 1 1 1 1 -1 -1 -1", "512 1 1 1 1 1 -1 -1 -1");
        let parts = ["-1 1 1 1 1 1 1 -1 -1 {} q 1:ppn=8", "-1 1 1 1 1 1 2 -1 -1", "-1 1 1 1 1 1 1 -1 -1"];
        // Each note by its beginning.
        let cases: [(&[&str], bool, &[&str]); 6] = [
            (&[plain, "0 1 1 1 1 1 3 0 -1", "-1 1 1 1 1 1 3 -1 -1 {} q -1"], false, &[]),
            (&[plain], true, &["the machine file gives memory per node, which this world ignores"]),
            (&[memory, plain], false, &["50 % of jobs request memory (field 10), which this world ignores"]),
            (&[memory], true, &["all jobs request memory (field 10), and the machine file gives memory per node"]),
            (&[plain, plain, "-1 1 1 1 1 1 1 1 -1"], false, &["33 % of jobs name a preceding job (field 17)"]),
            (&parts, false, &["33 % of jobs request nodes (column 21)", "jobs name 2 partitions (field 16)"]),
        ];
        for (jobs, machines, expected) in cases {
            let lines = (1..).zip(jobs).map(|(number, rest)| format!("{number} 0 0 9 1 -1 -1 1 9 {rest}\n"));
            let log = std::io::Cursor::new(lines.collect::<String>());
            let mut intake = Intake::new(SwfReader::from_read("a.swf", log).expect("a log"), Options::default());
            assert_eq!(intake.by_ref().filter_map(Result::ok).count(), jobs.len());
            let notes = notes(&intake.repairs().unread, machines);
            let agree = notes.iter().zip(expected).all(|(note, beginning)| note.starts_with(beginning));
            assert!(agree && notes.len() == expected.len(), "{notes:?}");
        }
        let shares = [(1, 1_000), (99, 100), (995, 1_000), (99_999, 100_000)].map(|(count, all)| share(count, all));
        assert_eq!(shares, ["less than 1 %", "99 %", "99.5 %", "99.9 %"].map(|share| format!("{share} of jobs")));
    }
}
