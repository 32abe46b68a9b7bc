//! What a run writes, to the letter: others read these files with programs of their own.

use crate::program::{FOUR_JOBS, SMALL, file, folder, manifest, names, results, table, tree, xtask};
use predicates::str::contains;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Plots by the figure that they belong to. Two figures of ours have two.
const FIGURES: [(&str, &[&str]); 17] = [
    ("fig2", &["fig2"]),
    ("fig3", &["fig3"]),
    ("fig4", &["fig4"]),
    ("fig5", &["fig5"]),
    ("fig6", &["fig6"]),
    ("fig7", &["fig7"]),
    ("fig7-bounded", &["fig7-bounded"]),
    ("table2", &["table2"]),
    ("fig8", &["fig8"]),
    ("fig9", &["fig9"]),
    ("fig10", &["fig10"]),
    ("fig11", &["fig11"]),
    ("fig12", &["fig12"]),
    ("fig13", &["fig13"]),
    ("fig14", &["fig14"]),
    ("by-size", &["by-size", "by-size-wrt"]),
    ("run-length", &["run-length", "run-length-completed"]),
];

const TIDY: [&str; 8] = ["figure", "series", "x", "metric", "mean", "ci_low", "ci_high", "reps"];

fn reproduce(out: &Path, arguments: &[&str]) {
    xtask().args(SMALL).args(arguments).arg("--quiet").arg("--out").arg(out).assert().code(0);
}

fn number(text: &str) -> f64 {
    text.parse().unwrap_or_else(|_| panic!("{text:?} is no number"))
}

/// The page opens offline: it says so to the browser, and its elements fetch nothing.
fn assert_self_contained(root: &Path) {
    let page = fs::read_to_string(root.join("report.html")).expect("a report");
    assert!(page.contains("http-equiv=\"Content-Security-Policy\" content=\"default-src 'none';"));
    // Scripts are inline: what is between their tags is not looked at.
    let mut markup = String::new();
    for piece in page.split("<script") {
        let (script, rest) = piece.split_once("</script>").unwrap_or(("", piece));
        assert!(!script.split('>').next().unwrap_or("").contains("src"), "a script is fetched");
        markup += rest;
    }
    for fetch in ["src=\"http", "href=\"http", "src='http", "href='http", "url(http", "@import", "<iframe", "<object"] {
        assert!(!markup.contains(fetch), "{fetch}");
    }
    // What it links to lies beside it.
    for link in markup.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next()) {
        let link = link.replace("&#x2f;", "/");
        if !link.starts_with('#') && !link.starts_with("data:") {
            assert!(root.join(&link).is_file(), "a link leads to {link}");
        }
    }
}

#[test]
fn reproduce_writes_the_files_of_the_design_and_no_others() {
    let folder = folder();
    reproduce(folder.path(), &[]);
    let mut expected: BTreeSet<String> =
        ["claims.csv", "data/claim-cells.csv", "manifest.json", "report.html", "runs.csv"].map(str::to_owned).into();
    for (figure, plots) in FIGURES {
        expected.insert(format!("data/{figure}.csv"));
        for plot in plots {
            expected.insert(format!("figures/{plot}.svg"));
            if cfg!(feature = "png") {
                expected.insert(format!("figures/{plot}.png"));
            }
        }
    }
    let written = tree(folder.path());
    let (cells, others): (BTreeSet<String>, BTreeSet<String>) =
        written.keys().cloned().partition(|name| name.starts_with("cells/"));
    assert_eq!(others, expected);
    assert_eq!(cells, BTreeSet::from(["cells/replications.jsonl".to_owned()]));
    let stored = String::from_utf8_lossy(&written["cells/replications.jsonl"]).lines().count();
    assert_eq!(stored, table(&folder.path().join("runs.csv")).1.len(), "a line for each run");
    for (name, content) in &written {
        assert!(!content.is_empty(), "{name} is empty");
        assert!(!name.ends_with(".png") || content.starts_with(b"\x89PNG"), "{name} is no PNG");
        assert!(!name.ends_with(".svg") || content.starts_with(b"<svg"), "{name} is no SVG");
    }
    assert_tidy(folder.path());
    assert_self_contained(folder.path());
}

/// A row per point: its mean within its interval.
fn assert_tidy(root: &Path) {
    for (figure, plots) in FIGURES {
        let (header, rows) = table(&root.join(format!("data/{figure}.csv")));
        assert_eq!(header, TIDY, "{figure}");
        assert!(!rows.is_empty(), "{figure}");
        let metrics: BTreeSet<&str> = rows.iter().map(|row| row["metric"].as_str()).collect();
        assert_eq!(metrics.len(), plots.len(), "{figure}: a metric for each plot");
        for row in &rows {
            assert_eq!(row["figure"], figure);
            assert_eq!(row["reps"], "2");
            let (low, mean, high) = (number(&row["ci_low"]), number(&row["mean"]), number(&row["ci_high"]));
            assert!(low <= mean && mean <= high, "{figure}: {low} {mean} {high}");
        }
    }
}

#[test]
fn series_and_positions_are_called_as_the_paper_calls_them() {
    let folder = folder();
    reproduce(folder.path(), &["--only", "fig2,fig4,fig6,table2,fig12,fig8"]);
    let points = |figure: &str| -> Vec<(String, String)> {
        let (_, rows) = table(&folder.path().join(format!("data/{figure}.csv")));
        rows.into_iter()
            .map(|mut row| (row.remove("series").expect("it is there"), row.remove("x").expect("it is there")))
            .collect()
    };
    let over_loads = |names: &[&str]| -> Vec<(String, String)> {
        let loads = ["8.333", "10", "12.5"];
        names.iter().flat_map(|name| loads.map(|load| ((*name).to_owned(), load.to_owned()))).collect()
    };
    for figure in ["fig2", "fig4", "fig6", "table2"] {
        assert_eq!(points(figure), over_loads(&["Approach 1", "Approach 2", "Approach 3"]), "{figure}");
    }
    assert_eq!(points("fig12"), over_loads(&["Approach 2, T=0", "Approach 2, T=0.1", "Approach 2, T=0.15"]));
    assert_eq!(points("fig8"), over_loads(&["Approach 2, overhead=10%", "Approach 2, overhead=5%"]));
}

#[test]
fn claims_are_judged_cell_by_cell() {
    let folder = folder();
    reproduce(folder.path(), &["--only", "fig2,fig4,fig6,fig14"]);
    let (header, claims) = table(&folder.path().join("claims.csv"));
    let expected = "id,source,statement,test,expected,observed,ci_low,ci_high,verdict,recorded";
    assert_eq!(header.join(","), expected);
    let (_, cells) = table(&folder.path().join("data/claim-cells.csv"));
    let mut seen = BTreeSet::new();
    for claim in &claims {
        assert!(seen.insert(&claim["id"]), "{} twice", claim["id"]);
        let verdicts: Vec<&str> =
            cells.iter().filter(|cell| cell["id"] == claim["id"]).map(|cell| cell["verdict"].as_str()).collect();
        let verdict = if verdicts.contains(&"contradicted") {
            "contradicted"
        } else if verdicts.iter().all(|verdict| *verdict == "reproduced") {
            "reproduced"
        } else {
            "inconclusive"
        };
        assert!(!verdicts.is_empty());
        assert_eq!(claim["verdict"], verdict, "{}", claim["id"]);
    }
}

#[test]
fn every_row_of_runs_can_be_run_again_by_its_name() {
    let folder = folder();
    reproduce(folder.path(), &["--only", "fig8,run-length"]);
    let (header, rows) = table(&folder.path().join("runs.csv"));
    assert_eq!(header[..7], ["approach", "lambda", "threshold", "overhead", "jobs", "seed", "replication"]);
    assert_eq!(header.last().map(String::as_str), Some("run"));
    for row in [&rows[0], &rows[rows.len() / 2], &rows[rows.len() - 1]] {
        let run = xtask().args(&SMALL[..3]).args(&SMALL[5..]).args(["--json", "--run", &row["run"]]).assert().code(0);
        let metrics: BTreeMap<String, Option<f64>> = serde_json::from_slice(&run.get_output().stdout).expect("JSON");
        assert_eq!(metrics.len(), header.len() - 8);
        for (name, value) in metrics {
            let text = value.map_or_else(String::new, |value| value.to_string());
            assert_eq!(row[&name], text, "{name} of {}", row["run"]);
        }
    }
}

#[test]
#[cfg(unix)]
fn the_command_in_the_manifest_makes_the_same_run() {
    let folder = folder();
    let (one, two) = (folder.path().join("one"), folder.path().join("it's two"));
    reproduce(&one, &["--only", "fig4", "--seed", "7"]);
    let log = file(&folder, "a log's name.swf", FOUR_JOBS);
    let simulated = folder.path().join("simulated");
    xtask()
        .args(["simulate", "--policy", "easy", "--estimates", "factor:1.5", "--trace"])
        .arg(log)
        .arg("--out")
        .arg(&simulated)
        .assert()
        .code(0);
    for first in [one, simulated] {
        let command = manifest(&first)["command_line"].as_str().expect("text").to_owned();
        let program = command.replacen("cargo xtask", "exec \"$0\"", 1) + " --out \"$1\"";
        let status = std::process::Command::new("sh")
            .args(["-c", &program, env!("CARGO_BIN_EXE_xtask")])
            .arg(&two)
            .env("GIT_DIR", "nowhere")
            .output()
            .expect("a shell");
        assert!(status.status.success(), "{program}: {}", String::from_utf8_lossy(&status.stderr));
        crate::program::assert_same(&results(&first), &results(&two));
        fs::remove_dir_all(&two).expect("it was written");
    }
}

#[test]
fn the_manifest_holds_what_a_run_depends_on() {
    let folder = folder();
    reproduce(folder.path(), &["--only", "fig4"]);
    let manifest = manifest(folder.path());
    let keys: Vec<&str> = manifest.as_object().expect("an object").keys().map(String::as_str).collect();
    let expected = [
        "paper",
        "scenario_hash",
        "seed",
        "reps",
        "options",
        "version",
        "git_revision",
        "sources_sha256",
        "models",
        "command_line",
        "command",
        "files",
        "manifest_sha256",
        "timings",
    ];
    assert_eq!(keys, expected);
    assert_eq!(manifest["paper"], "multi-site");
    assert_eq!(manifest["reps"], 2);
    assert_eq!(manifest["options"]["only"][0], "fig4");
}

/// The columns of `POLICY/jobs.csv`.
const JOBS_COLUMNS: &str = "job,submit,start,finish,processors,site,user,requested,run,deadline,state,allocated";

/// By hand: a job a week for ten weeks, of which the second to come in each waits for the first under FCFS, and does not where
/// it may pass.
#[test]
fn policies_are_compared_week_by_week_and_the_file_for_evalys_is_written_where_asked_for() {
    let folder = folder();
    let mut log = "; MaxProcs: 8\n".to_owned();
    for week in 0..10 {
        // One that runs, one too wide to start beside it, and a small one that may pass.
        let submit = week * 7 * 86_400;
        for (k, (procs, run)) in [(4, 1_000), (8, 10), (2, 100 + 10 * week)].into_iter().enumerate() {
            let number = 3 * week + k as u64 + 1;
            log += &format!("{number} {submit} -1 {run} {procs} -1 -1 {procs} {run} -1 1 7 1 -1 -1 -1 -1 -1\n");
        }
    }
    let (log, out) = (file(&folder, "weeks.swf", log), folder.path().join("out"));
    let run = ["simulate", "--policy", "fcfs,easy", "--format", "evalys", "--json", "--trace"];
    let told = xtask().args(run).arg(log).arg("--out").arg(&out).assert().code(0);
    let (header, rows) = table(&out.join("differences.csv"));
    assert_eq!(header, ["metric", "policy", "baseline", "mean", "ci_low", "ci_high", "blocks"]);
    let wait = rows.iter().find(|row| row["metric"] == "wait_mean").expect("a row");
    // The last week is no half one, and does not count.
    assert_eq!((wait["policy"].as_str(), wait["baseline"].as_str(), wait["blocks"].as_str()), ("easy", "fcfs", "9"));
    // The small one of three no longer waits for 1 010 s.
    let number = |column: &str| wait[column].parse::<f64>().expect("a number");
    assert!((number("mean") + 1_010.0 / 3.0).abs() < 1e-6 && number("ci_high") < 0.0, "{wait:?}");
    let json: serde_json::Value = serde_json::from_slice(&told.get_output().stdout).expect("JSON");
    assert_eq!(json["differences"][0]["blocks"], 9);
    let page = fs::read_to_string(out.join("report.html")).expect("a page");
    assert!(page.contains("lower than under fcfs (95 % interval"), "the comparison in words");
    assert!(page.len() < 1_000_000, "{} bytes", page.len());
    let (header, rows) = table(&out.join("easy/evalys.csv"));
    assert_eq!(header[0], "job_id");
    assert_eq!(header[12], "allocated_resources");
    assert_eq!((rows[1]["execution_time"].as_str(), rows[1]["allocated_resources"].as_str()), ("1000", "0-3"));
    assert!(out.join("figures/differences.svg").exists());
    // One of each three leaves first, then the next: in order of finish.
    assert_eq!(rows[0]["allocated_resources"], "4-5");
}

#[test]
fn simulate_writes_the_files_of_the_design_and_no_others() {
    let folder = folder();
    let (log, out) = (file(&folder, "four.swf", FOUR_JOBS), folder.path().join("out"));
    xtask().args(["simulate", "--policy", "fcfs,easy", "--trace"]).arg(log).arg("--out").arg(&out).assert().code(0);
    let mut expected: BTreeSet<String> = [
        "columns.md",
        "differences.csv",
        "easy/jobs.csv",
        "easy/schedule.swf",
        "fcfs/jobs.csv",
        "fcfs/schedule.swf",
        "manifest.json",
        "report.html",
        "summary.csv",
        "data/bounded-slowdown-distribution.csv",
        "data/queue-length.csv",
        "data/utilization.csv",
        "data/wait-distribution.csv",
    ]
    .map(str::to_owned)
    .into();
    let plots = ["bounded-slowdown-distribution", "wait-distribution", "queue-length", "utilization"];
    for plot in plots.into_iter().chain(["gantt-easy", "gantt-fcfs"]) {
        expected.insert(format!("figures/{plot}.svg"));
        if cfg!(feature = "png") {
            expected.insert(format!("figures/{plot}.png"));
        }
    }
    assert_eq!(tree(&out).into_keys().collect::<BTreeSet<_>>(), expected);
    assert_self_contained(&out);

    let (header, rows) = table(&out.join("summary.csv"));
    assert_eq!(header[..4], ["policy", "jobs", "rejected", "cut"]);
    for metric in ["wait", "response", "slowdown", "bounded_slowdown", "tardiness"] {
        for form in ["mean", "median", "p95", "max", "weighted_mean"] {
            assert!(header.contains(&format!("{metric}_{form}")), "{metric}_{form}");
        }
    }
    assert!(header.contains(&"utilization".to_owned()) && header.contains(&"makespan".to_owned()));
    assert_eq!(rows.iter().map(|row| row["policy"].as_str()).collect::<Vec<_>>(), ["fcfs", "easy"]);
    assert_eq!(manifest(&out)["repairs"]["wider-than-machine"], 1);
}

/// By hand: job 1 holds 4 of 8 processors from 0 to 10, job 2 wants all 8. Under FCFS job 3 waits behind it. Under EASY it
/// may start at once, since its estimate of 5 s ends before job 1 is believed to end (20); and since it is cut at that
/// estimate, it holds up job 2 by one second.
#[test]
fn jobs_are_told_with_the_logs_own_numbers_and_in_seconds_from_the_first_submit() {
    let folder = folder();
    let (log, out) = (file(&folder, "four.swf", FOUR_JOBS), folder.path().join("out"));
    xtask().args(["simulate", "--policy", "easy,fcfs", "--trace"]).arg(log).arg("--out").arg(&out).assert().code(0);
    let jobs = |policy: &str| fs::read_to_string(out.join(policy).join("jobs.csv")).expect("a table");
    let header = format!("{}\n", JOBS_COLUMNS);
    let wide = "4,7,,,16,,8,15,10,,rejected,\n";
    let one = "1,0,0,10,4,pool,7,20,10,,done,0-3\n";
    assert_eq!(
        jobs("fcfs"),
        format!("{header}{wide}{one}2,5,10,20,8,pool,7,20,10,,done,0-7\n3,6,20,25,2,pool,8,5,5,,cut,0-1\n")
    );
    assert_eq!(
        jobs("easy"),
        format!("{header}{wide}{one}3,6,6,11,2,pool,8,5,5,,cut,4-5\n2,5,11,21,8,pool,7,20,10,,done,0-7\n")
    );
    // The same in the log's own format, in order of submission; times that are not whole stay so.
    let swf = fs::read_to_string(out.join("easy/schedule.swf")).expect("a schedule");
    let records: Vec<&str> = swf.lines().filter(|line| !line.starts_with(';')).collect();
    assert!(swf.contains("; MaxProcs: 8\n"), "{swf}");
    assert_eq!(
        records,
        [
            "1 0 0 10 4 -1 -1 4 20 -1 1 7 1 -1 -1 -1 -1 -1",
            "2 5 6 10 8 -1 -1 8 20 -1 1 7 1 -1 -1 -1 -1 -1",
            "3 6 0 5 2 -1 -1 2 5 -1 0 8 1 -1 -1 -1 -1 -1",
            "4 7 -1 -1 -1 -1 -1 16 15 -1 5 8 1 -1 -1 -1 -1 -1",
        ]
    );
}

/// By hand: cluster `slow` has two machines of 2 processors, `fast` one of 4 at twice the speed. Jobs 1 and 3 find both
/// idle, go to the fast one and take half their time there; jobs 2 and 4 are wider than any place.
#[test]
fn a_job_runs_inside_one_cluster_or_one_machine() {
    let folder = folder();
    let log = file(&folder, "four.swf", FOUR_JOBS);
    let machines = file(&folder, "m.machines", "0\tslow\t2\t2\t1\t1000\n1\tfast\t1\t4\t2\t1000\n");
    let jobs = |inside: &str| {
        let out = folder.path().join(inside);
        let run = ["simulate", "--policy", "easy,eg-edf", "--inside", inside, "--trace"];
        let run = xtask().args(run).arg(&log).arg("--machines").arg(&machines).arg("--out").arg(&out).assert();
        let text = String::from_utf8_lossy(&run.code(0).get_output().stdout).into_owned();
        assert!(text.contains("2 jobs were rejected: no place is wider than 4 processors"), "{text}");
        let [easy, plan] =
            ["easy", "eg-edf"].map(|it| fs::read_to_string(out.join(it).join("jobs.csv")).expect("a table"));
        (easy, plan)
    };
    let header = format!("{}\n", JOBS_COLUMNS);
    let (easy, plan) = jobs("cluster");
    let wide = "2,5,,,8,,7,20,10,,rejected,\n";
    let wider = "4,7,,,16,,8,15,10,,rejected,\n";
    let ran = |place: &str| {
        let three = format!("3,6,6,8.5,2,{place},8,5,5,,cut,4-5\n");
        format!("{header}1,0,0,5,4,{place},7,20,10,,done,4-7\n{wide}{wider}{three}")
    };
    assert_eq!(easy, ran("fast"));
    assert_eq!(plan, easy, "both are idle when a job comes");
    let (easy, _) = jobs("machine");
    assert_eq!(easy, ran("fast-0"));
}

/// By hand: the machine fails at 6 s, after job 1 has run for 6 s and as job 3 comes, and is back at 8 s. Job 1 waits again,
/// behind job 2 but before job 3, which has not arrived yet, and starts anew. Nobody knows how long the repair takes, so the
/// planner cannot plan before 8 s; it then plans the jobs in the order in which they wait.
#[test]
fn jobs_that_a_failure_hits_start_anew() {
    let folder = folder();
    let log = file(&folder, "four.swf", FOUR_JOBS);
    let outages = file(&folder, "outages.csv", "machine,down,up\npool,6,8\n");
    let out = folder.path().join("out");
    let run = ["simulate", "--policy", "fcfs,eg-edf", "--trace"];
    xtask().args(run).arg(&log).arg("--outages").arg(&outages).arg("--out").arg(&out).assert().code(0);
    for policy in ["fcfs", "eg-edf"] {
        let jobs = fs::read_to_string(out.join(policy).join("jobs.csv")).expect("a table");
        let header = format!("{}\n", JOBS_COLUMNS);
        // By whom it was asked for, and what came of it.
        let ran = ["4,7,,,16,,8,15,10,,rejected,", "2,5,8,18,8,pool,7,20,10,,done,0-7"];
        assert!(jobs.starts_with(&format!("{header}{}\n", ran.join("\n"))), "{policy}: {jobs}");
        let places: Vec<&str> = jobs.lines().skip(3).filter_map(|row| row.split(",pool").next()).collect();
        assert_eq!(places, ["3,6,18,23,2", "1,0,18,28,4"], "{policy}");
    }
    let (_, rows) = table(&out.join("summary.csv"));
    assert_eq!(rows[0]["interrupted"], "1");
}

/// By hand: job 3 may pass job 2 under any number of reservations, since it is believed to end in time. With none, so may
/// whoever fits; of these jobs, nobody else.
#[test]
fn reservations_are_counted_in_the_policys_name() {
    let folder = folder();
    let (log, out) = (file(&folder, "four.swf", FOUR_JOBS), folder.path().join("out"));
    let policies = ["easy", "easy+reserve=0", "easy+reserve=1", "easy+reserve=all", "cons", "flex+reserve=2"];
    let run = ["simulate", "--policy", &policies.join(","), "--trace"];
    xtask().args(run).arg(log).arg("--out").arg(&out).assert().code(0);
    let jobs = policies.map(|policy| fs::read_to_string(out.join(policy).join("jobs.csv")).expect("a table"));
    assert!(jobs.iter().all(|other| *other == jobs[0]), "{jobs:?}");
    let (_, rows) = table(&out.join("summary.csv"));
    assert_eq!(rows.iter().map(|row| row["policy"].as_str()).collect::<Vec<_>>(), policies);
}

/// By hand: jobs 3 to 5 are promised 20 s, 10 s and 30 s; then job 1 ends 16 s early. Who moves first decides. On one cluster
/// the searches of bgt and sg have nothing to find, which a run says, to whoever reads its page as well.
#[test]
fn both_orders_of_compression_have_names_and_idle_searches_are_told() {
    const FIVE_JOBS: &str = "\
1 0 -1  4 2 -1 -1 2 20 -1 1 7 1 -1 -1 -1 -1 -1
2 0 -1 10 2 -1 -1 2 10 -1 1 7 1 -1 -1 -1 -1 -1
3 1 -1 10 3 -1 -1 3 10 -1 1 7 1 -1 -1 -1 -1 -1
4 1 -1 10 2 -1 -1 2 10 -1 1 7 1 -1 -1 -1 -1 -1
5 1 -1 10 2 -1 -1 2 10 -1 1 7 1 -1 -1 -1 -1 -1
";
    let folder = folder();
    let (log, out) = (file(&folder, "five.swf", FIVE_JOBS), folder.path().join("out"));
    let policies = "cons,cons+compress=arrival,cons+compress=reserved,easy+reserve=all,bgt,sg";
    let run = ["simulate", "--quiet", "--procs", "4", "--policy", policies, "--trace"];
    let told = xtask().args(run).arg(log).arg("--out").arg(&out).assert().code(0);
    let starts = |policy: &str| {
        let mut starts: Vec<(String, String)> = (table(&out.join(policy).join("jobs.csv")).1.iter())
            .map(|row| (row["job"].clone(), row["start"].clone()))
            .collect();
        starts.sort();
        starts.into_iter().map(|(_, start)| start).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(starts("cons"), "0 0 20 4 10");
    for policy in ["cons+compress=reserved", "bgt", "sg"] {
        assert_eq!(starts(policy), "0 0 14 4 24", "{policy}");
    }
    // Given anew in order of arrival, job 3 gets 10 s, and job 4, once promised that, comes after it.
    assert_eq!(starts("easy+reserve=all"), "0 0 10 20 20");
    assert!(!out.join("cons+compress=arrival").exists(), "it is cons");
    let page = fs::read_to_string(out.join("report.html")).expect("a page");
    let stderr = String::from_utf8_lossy(&told.get_output().stderr).into_owned();
    let manifest = crate::program::manifest(&out);
    let notes = manifest["notes"].as_array().expect("a list");
    assert_eq!(notes.len(), 2);
    for (policy, note) in ["bgt", "sg"].iter().zip(notes) {
        let note = note.as_str().expect("a sentence");
        assert!(note.starts_with(policy) && note.contains("cons+compress=reserved"), "{note}");
        assert!(stderr.contains(note) && page.contains(note), "{note}: {stderr}");
    }
}

/// Names are legal for files on every system, and what was once written with a colon is called the same as what is written
/// with keys: one folder, one row.
#[test]
fn policies_of_old_names_are_called_by_their_new_ones() {
    let folder = folder();
    let (log, out) = (file(&folder, "four.swf", FOUR_JOBS), folder.path().join("out"));
    let run = ["simulate", "--policy", "easy:2,easy+reserve=2,flex:all", "--trace"];
    xtask().args(run).arg(log).arg("--out").arg(&out).assert().code(0);
    let (_, rows) = table(&out.join("summary.csv"));
    let named: Vec<_> = rows.iter().map(|row| row["policy"].as_str()).collect();
    assert_eq!(named, ["easy+reserve=2", "flex+reserve=all"]);
    let written = names(&out);
    assert!(written.contains("figures/gantt-easy+reserve=2.svg"), "{written:?}");
    // What Windows forbids in a name, and what a shell would take for something else.
    let forbidden =
        |name: &&String| name.contains(['<', '>', ':', '"', '\\', '|', '?', '*', ' ', '$', '&', ';', '(', '!']);
    assert_eq!(written.iter().find(forbidden), None);
}

/// By hand: the third job fills a gap before the second, which is promised 20 s. When the first job ends early, all but Best
/// Gap compress their plans.
#[test]
fn best_gap_alone_keeps_to_its_plan() {
    let folder = folder();
    let (log, out) = (file(&folder, "four.swf", FOUR_JOBS), folder.path().join("out"));
    let policies = ["cons", "best-gap", "bgt", "sg"];
    let run = ["simulate", "--policy", &policies.join(","), "--seed", "7", "--trace"];
    xtask().args(run).arg(log).arg("--out").arg(&out).assert().code(0);
    let jobs = policies.map(|policy| fs::read_to_string(out.join(policy).join("jobs.csv")).expect("a table"));
    assert!(jobs[0].contains("\n2,5,11,21,8,pool,"), "{jobs:?}");
    assert!([&jobs[2], &jobs[3]].into_iter().all(|other| *other == jobs[0]), "{jobs:?}");
    assert_eq!(jobs[1], jobs[0].replace("\n2,5,11,21,", "\n2,5,20,30,"));
    let report = fs::read_to_string(out.join("report.html")).expect("a report");
    assert!(report.contains("--seed 7"), "the command tells the seed of the search");
}

#[test]
fn a_time_limit_is_marked_as_not_reproducible() {
    let folder = folder();
    let (log, out) = (file(&folder, "four.swf", FOUR_JOBS), folder.path().join("out"));
    let check = |policy: &str, is_reproducible: bool| {
        let run = xtask()
            .args(["simulate", "--time-limit", "0.5", "--policy", policy, "--trace"])
            .arg(&log)
            .arg("--out")
            .arg(&out)
            .assert();
        let text = String::from_utf8_lossy(&run.code(0).get_output().stdout).into_owned();
        let report = fs::read_to_string(out.join("report.html")).expect("a report");
        assert_eq!(manifest(&out)["reproducible"], is_reproducible);
        for text in [text, report] {
            assert_eq!(text.contains("Not reproducible"), !is_reproducible, "{policy}");
        }
    };
    check("easy,eg-edf-tabu", false);
    check("easy,eg-edf", true);
}

#[test]
fn with_json_the_result_is_alone_on_standard_output() {
    let folder = folder();
    let (log, out) = (file(&folder, "four.swf", FOUR_JOBS), folder.path().join("out"));
    let json = |arguments: &[&str]| -> serde_json::Value {
        let run = xtask().args(arguments).arg("--json").assert().code(0);
        serde_json::from_slice(&run.get_output().stdout).expect("nothing but JSON")
    };
    let (log, path) = (log.to_str().expect("UTF-8"), out.to_str().expect("UTF-8"));
    let simulated = json(&["simulate", "--policy", "fcfs,easy", "--trace", log, "--out", path]);
    assert_eq!(simulated["policies"]["easy"]["jobs"], 3.0);
    assert_eq!(simulated["policies"]["easy"]["rejected"], 1);
    let listed = json(&["list"]);
    assert_eq!(listed[0]["slug"], "multi-site");
    let paper = folder.path().join("paper");
    let claims = json(&[&SMALL[..], &["--only", "fig4", "--out", paper.to_str().expect("UTF-8")]].concat());
    assert_eq!(claims[0]["claims"][0]["id"], "P1");
}

#[test]
fn quiet_tells_the_result_and_no_progress() {
    let folder = folder();
    let out = folder.path().join("out");
    let run = |quiet: &[&str]| {
        let run =
            xtask().args(SMALL).args(["--fresh", "--only", "fig4"]).args(quiet).arg("--out").arg(&out).assert().code(0);
        let output = run.get_output().clone();
        (String::from_utf8(output.stdout).expect("UTF-8"), String::from_utf8(output.stderr).expect("UTF-8"))
    };
    let (result, progress) = run(&[]);
    assert!(result.contains("P1 ") && progress.contains("100 %"), "{result}{progress}");
    assert!(!result.contains('\x1b') && !progress.contains('\x1b'), "colours off a terminal");
    let (result, progress) = run(&["--quiet"]);
    assert_eq!(progress, "");
    assert!(
        !result.contains("P1 ") && result.starts_with("multi-site: ") && result.contains("report.html"),
        "{result}"
    );
}

/// Where every gang has two tasks, nobody starves: approach 1 completes all gangs, and not the 80 % that the paper prints.
#[test]
fn check_ends_with_1_where_a_verdict_differs_from_the_recorded_one() {
    let folder = folder();
    let run = |arguments: &[&str]| {
        let setting = ["reproduce", "multi-site", "--quick", "--only", "fig4", "--quiet"];
        xtask().args(setting).args(arguments).arg("--out").arg(folder.path()).assert()
    };
    run(&["--check"]).code(0).stderr("");
    let other = ["--set", "workload.gang_sizes=[2]"];
    run(&other).code(0).stderr("");
    let differs = run(&[&other[..], &["--check"]].concat()).code(1);
    differs.stderr(contains("multi-site P1: contradicted, but ")).stderr(contains("on record"));
}

#[test]
fn the_command_line_has_every_option_of_the_design() {
    let help = |command: &str, options: &[&str]| {
        let run = xtask().args([command, "--help"]).assert().code(0);
        let text = String::from_utf8(run.get_output().stdout.clone()).expect("UTF-8");
        for option in options.iter().chain(&["--jobs", "--quiet", "--json"]) {
            assert!(text.contains(option), "{command} {option}");
        }
        text
    };
    help("list", &[]);
    let reproduce = ["--quick", "--check", "--decide", "--only", "--reps", "--seed", "--set", "--out", "--fresh"];
    assert!(help("reproduce", &reproduce).contains("Examples:"));
    let doubt = ["--quick", "--reading", "--product", "--check", "--out"];
    assert!(help("doubt", &doubt).contains("Examples:"));
    let simulate = ["--trace", "--policy", "--machines", "--procs", "--estimates", "--max-jobs", "--out", "per-event"];
    assert!(help("simulate", &simulate).contains("Examples:"));
    help("bench", &[]);
    help("ci", &[]);
}

/// Under each of the seeds 1 to N the same run, judged anew: the seed of the run among them gives its own verdicts.
#[test]
fn seeds_judges_the_claims_under_other_seeds() {
    let folder = folder();
    let out = folder.path().to_str().expect("UTF-8");
    let setting = ["reproduce", "eg-edf", "--quick", "--reps", "2", "--set", "run.quick_jobs=200", "--seed", "2"];
    let run = xtask().args(setting).args(["--seeds", "3", "--json", "--quiet", "--out", out]).assert().success();
    let told: serde_json::Value = serde_json::from_slice(&run.get_output().stdout).expect("JSON");
    let (_, claims) = table(&folder.path().join("claims.csv"));
    let (header, rows) = table(&folder.path().join("seeds.csv"));
    assert_eq!(header.join(","), "id,seed,verdict,stays,expected,observed,ci_low,ci_high");
    for (claim, told) in claims.iter().zip(told[0]["claims"].as_array().expect("claims")) {
        let of: Vec<_> = rows.iter().filter(|row| row["id"] == claim["id"]).collect();
        assert_eq!(of.iter().map(|row| row["seed"].as_str()).collect::<Vec<_>>(), ["1", "2", "3"], "{}", claim["id"]);
        assert_eq!(of[1]["verdict"], claim["verdict"], "{}: the seed of the run itself", claim["id"]);
        assert_eq!(of[1]["observed"], claim["observed"], "{}: the seed of the run itself", claim["id"]);
        let stays = of.iter().filter(|row| row["verdict"] == claim["verdict"]).count();
        assert_eq!(of.iter().filter(|row| row["stays"] == "yes").count(), stays, "{}", claim["id"]);
        assert_eq!(told["stays"], format!("{stays} of 3"), "{}", claim["id"]);
    }
    assert!(rows.iter().any(|row| row["stays"] == "no"), "with 200 jobs some verdict hangs on the seed");
    assert!(
        claims.iter().any(|claim| rows
            .iter()
            .any(|row| { row["id"] == claim["id"] && row["seed"] != "2" && row["observed"] != claim["observed"] })),
        "other seeds give other numbers"
    );
}

/// A sentence about earlier work has no verdict, and keeps its id and its number.
#[test]
fn sentences_that_are_not_judged_are_shown_apart() {
    let folder = folder();
    let run = ["reproduce", "metaloras", "--quick", "--only", "prediction", "--quiet", "--json", "--out"];
    let run = xtask().args(run).arg(folder.path()).assert().success();
    let told: serde_json::Value = serde_json::from_slice(&run.get_output().stdout).expect("JSON");
    assert_eq!(told[0]["not_judged"], serde_json::json!(["C20"]));
    let (_, claims) = table(&folder.path().join("claims.csv"));
    assert!(claims.iter().all(|claim| claim["id"] != "C20"));
    let (header, rows) = table(&folder.path().join("data/not-judged.csv"));
    assert_eq!(header.join(","), "id,source,statement,why,shown,mean,ci_low,ci_high,reps");
    assert!(!rows.is_empty());
    assert!(rows.iter().all(|row| row["id"] == "C20" && number(&row["mean"]) > 0.0));
}

/// eg-edf: five policies over the mean time between jobs, and the same bytes on one thread as on two.
#[test]
fn eg_edf_compares_five_policies_over_the_time_between_jobs() {
    let folders = [folder(), folder()];
    for (folder, threads) in folders.iter().zip(["1", "2"]) {
        xtask()
            .args(["reproduce", "eg-edf", "--quick", "--reps", "2", "--set", "run.quick_jobs=200", "--quiet"])
            .args(["--jobs", threads, "--out"])
            .arg(folder.path())
            .assert()
            .success();
    }
    let (_, rows) = table(&folders[0].path().join("data/fig1-left.csv"));
    let points: Vec<(&str, &str)> = rows.iter().map(|row| (row["series"].as_str(), row["x"].as_str())).collect();
    let expected: Vec<(&str, &str)> = ["FCFS", "EASY", "Flex", "EG-EDF", "Tabu"]
        .into_iter()
        .flat_map(|series| ["1", "2", "3", "4", "5"].map(|x| (series, x)))
        .collect();
    assert_eq!(points, expected);
    assert_eq!(results(folders[0].path()), results(folders[1].path()));
}
