//! The paper's statements on its policies that a few replications suffice to show.

use crate::common::{Policy, run};
use crate::generator::Load;
use metasched::Config;
use sim_core::{Streams, testkit};

fn turnaround(level: u32, policy: Policy, replication: u32) -> f64 {
    let jobs = Load::OF_THE_PAPER.submissions(&Streams::new(2006, replication));
    let outcomes = run(&Config::of_the_paper(level), policy, &jobs).1;
    outcomes.iter().map(|outcome| outcome.turnaround().as_secs_f64()).sum::<f64>() / 60.0
}

/// Checks that `better` has a shorter mean turnaround than `worse`, by paired replications.
fn check(level: u32, better: Policy, worse: Policy) {
    let differences: Vec<f64> = (0..10)
        .map(|replication| turnaround(level, better, replication) - turnaround(level, worse, replication))
        .collect();
    let (mean, stderr) = testkit::mean_and_stderr(&differences);
    assert!(mean + 3.0 * stderr < 0.0, "{better:?} − {worse:?} at level {level}: {mean} ± {stderr} s");
}

#[test]
fn tat_beats_ffit_at_every_level() {
    for level in 0..=3 {
        check(level, Policy::Tat, Policy::Ffit);
    }
}

#[test]
fn rr_beats_ffit_and_tat_beats_rr_without_local_users() {
    check(0, Policy::Rr, Policy::Ffit);
    check(0, Policy::Tat, Policy::Rr);
}

#[test]
fn ptt_that_looks_at_users_alone_pays_for_it_in_turnaround() {
    check(1, Policy::Tat, Policy::Ptt(0.0));
}
