//! The same bytes for the same revision, seed and options, with any number of threads and in any folder.

use crate::program::{SMALL, Workdir, assert_same, results, tree};
use std::fmt::Write;

#[test]
fn a_reproduction_does_not_depend_on_the_number_of_threads_or_on_the_folder() {
    let dir = Workdir::new();
    let run = |name: &str, jobs: u32| {
        let some = "--decide --only fig4,table2,fig14,run-length --quiet";
        dir.run(&format!("{SMALL} {some} --jobs {jobs} --out {name}"), 0);
        dir.path(name)
    };
    let (one, two) = (run("one", 1), run("below/another/folder", 2));
    assert_same(&results(&one), &results(&two));
    assert_same(&tree(&one.join("cells")), &tree(&two.join("cells")));
}

#[test]
fn a_simulation_does_not_depend_on_the_number_of_threads_or_on_the_folder() {
    let mut log = "; MaxProcs: 64\n".to_owned();
    for job in 1..=3_000_u32 {
        // Scattered without a random generator: multiples of a prime, modulo another.
        let (run, width) = (1 + job * 7_919 % 1_009, 1 + job * 104_729 % 61);
        let _ = writeln!(log, "{job} {} -1 {run} {width} -1 -1 {width} {} -1 1 7 1 -1 -1 -1 -1 -1", 300 * job, 2 * run);
    }
    let dir = Workdir::with("log.swf", log);
    let run = |name: &str, jobs: u32| {
        dir.run(&format!("simulate log.swf --policy fcfs,easy --quiet --jobs {jobs} --out {name}"), 0);
        results(&dir.path(name))
    };
    assert_same(&run("one", 1), &run("below/another/folder", 2));
}
