//! metaloras: its output, and properties of any correct implementation of the paper.

use crate::program::{Workdir, number};
use std::collections::BTreeMap;

const POLICIES: [&str; 6] = ["FFIT", "RR", "TAT", "PTT W=0", "PTT W=0.5", "PTT W=1"];

/// Returns a folder with the results of a run.
fn reproduced(options: &str) -> Workdir {
    let dir = Workdir::new();
    dir.run(&format!("reproduce metaloras --quiet --out . {options}"), 0);
    dir
}

#[test]
fn a_quick_run_gives_the_verdicts_on_record() {
    reproduced("--quick --check");
}

#[test]
fn figures_name_policies_and_levels_as_the_paper_does_and_the_preset_beside_them() {
    let dir = reproduced("--quick --reps 2");
    for (figure, levels) in
        [("fig3", &["0", "30", "60", "100"][..]), ("fig4", &["0", "30", "60", "100"]), ("fig5", &["30", "60", "100"])]
    {
        let rows = dir.rows(&format!("data/{figure}.csv"));
        let points: Vec<(String, &str)> = rows.iter().map(|row| (row["series"].clone(), row["x"].as_str())).collect();
        let of = |suffix: &'static str| {
            POLICIES
                .iter()
                .flat_map(move |policy| levels.iter().map(move |level| (format!("{policy}{suffix}"), *level)))
        };
        assert_eq!(points, of("").chain(of(", reading-b")).collect::<Vec<_>>(), "{figure}");
        assert!(rows.iter().all(|row| number(&row["mean"]) > 0.0), "{figure}");
    }
    let rows = dir.rows("data/tradeoff.csv");
    let weights: Vec<&str> = rows
        .iter()
        .filter(|row| row["series"] == "30 %" && row["metric"] == "turnaround")
        .map(|row| row["x"].as_str())
        .collect();
    assert_eq!(weights, ["0", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9", "1"]);
    let rows = dir.rows("data/prediction.csv");
    assert_eq!(rows.iter().filter(|row| row["metric"] == "actual_seconds" && row["series"] == "TAT").count(), 60);
}

/// Returns the metrics of each run under the default readings, by level, replication and policy.
fn runs(dir: &Workdir) -> BTreeMap<(String, String, String), BTreeMap<String, String>> {
    let rows = dir.rows("runs.csv").into_iter().filter(|row| row["variant"] == "default");
    rows.map(|row| {
        let key = |name: &str| row[name].clone();
        ((key("local_activity"), key("replication"), key("policy")), row.into_iter().collect())
    })
    .collect()
}

#[test]
fn half_the_arrival_rate_is_half_the_execution_times() {
    let run = |set: &str| runs(&reproduced(&format!("--reps 2 --only fig3 --set {set}")));
    let rare = run("workload.interarrival=80.0");
    let short = run("workload.times=[120.0,60.0,90.0,240.0]");
    assert_eq!((rare.len(), short.len()), (48, 48));
    for (key, run) in &rare {
        let (rare, short) = (number(&run["turnaround"]), number(&short[key]["turnaround"]));
        assert!((rare / short - 2.0).abs() < 1e-6, "{key:?}: {rare} and {short}");
    }
}
