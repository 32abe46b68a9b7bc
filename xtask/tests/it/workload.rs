//! The commands that inspect logs, check them, convert them, and draw and fit models.

use crate::program::{assert_same, file, folder, results, table, tree, utf8, xtask, xtask_process};
use flate2::read::GzDecoder;
use predicates::str::contains;
use std::io::Read;
use std::path::Path;
use workload::model::{ModelEntry, models};
use workload::{SwfReader, SwfRecord};

/// A Friday morning in Stockholm, three users, and most anomalies of logs.
const ODD: &str = "\
; Computer: a small one
; MaxProcs: 8
; UnixStartTime: 842607000
; TimeZone: 7200
1    0   5  100 4  120 -1 4  200 -1 1 7 1 -1 1 -1 -1 -1
2   60  -1   -1 8   -1 -1 8   90 -1 5 7 1 -1 1 -1 -1 -1
3  300   0  300 8   -1 -1 4  150 -1 1 9 1 -1 2 -1 -1 -1
3  290  20   50 1   -1 -1 1   -1 -1 1 8 1 -1 2 -1 -1 -1
5 7200   0 3600 9   -1 -1 9 3600 -1 1 7 1 -1 1 -1  9 -1
";

/// Runs `workload` with the arguments, and returns its output.
fn workload(arguments: &[&str]) -> String {
    let run = xtask().arg("workload").args(arguments).assert().code(0);
    String::from_utf8(run.get_output().stdout.clone()).expect("UTF-8")
}

fn json(arguments: &[&str]) -> serde_json::Value {
    let run = xtask().arg("workload").args(arguments).arg("--json").assert().code(0);
    serde_json::from_slice(&run.get_output().stdout).expect("JSON and nothing else")
}

/// Runs `workload` and expects a refusal whose message contains each of `words`, without output.
fn refused(arguments: &[&str], words: &[&str]) {
    let folder = folder();
    let out = folder.path().join("below/out.swf");
    let run = xtask().arg("workload").args(arguments).args(["--quiet", "--out"]).arg(&out).assert().code(2).stdout("");
    let message = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
    assert!(message.starts_with("error: ") && !message.contains("panicked"), "{message}");
    for word in words {
        assert!(message.contains(word), "no {word:?} in: {message}");
    }
    assert!(tree(folder.path()).is_empty(), "something was written");
}

fn records(path: &Path) -> Vec<SwfRecord> {
    SwfReader::open(path).expect("a log").map(|record| record.expect("a record")).collect()
}

#[test]
fn inspect_summarizes_a_log_in_a_screenful() {
    let folder = folder();
    let (log, out) = (file(&folder, "odd.swf", ODD), folder.path().join("out"));
    let told = workload(&["inspect", utf8(&log), "--out", utf8(&out)]);
    let told = told.replace(utf8(folder.path()), "FOLDER");
    insta::assert_snapshot!(told);
}

#[test]
fn inspect_writes_figures_data_numbers_and_a_page() {
    let folder = folder();
    let (log, out) = (file(&folder, "odd.swf", ODD), folder.path().join("out"));
    let printed = json(&["inspect", utf8(&log), "--out", utf8(&out)]);
    let written = std::fs::read(out.join("inspect.json")).expect("inspect.json");
    assert_eq!(printed, serde_json::from_slice::<serde_json::Value>(&written).expect("JSON"));
    let seen = &printed["inspection"];
    assert_eq!((&seen["records"], &seen["jobs"], &seen["users"]), (&5.into(), &4.into(), &3.into()));
    // 4 · 100 + 8 · 300 + 50 + 9 · 3600 processor-seconds in two hours on eight processors.
    let load = seen["load"].as_f64().expect("a load");
    assert!((load - 35_250.0 / 57_600.0).abs() < 1e-12, "{load}");

    for figure in ["hours", "weekdays", "sizes", "times", "accuracy", "users"] {
        let svg = std::fs::read_to_string(out.join(format!("figures/{figure}.svg"))).expect(figure);
        assert!(svg.starts_with("<svg"), "{figure}");
        assert!(out.join(format!("figures/{figure}.png")).exists() == cfg!(feature = "png"), "{figure}");
        let (header, rows) = table(&out.join(format!("data/{figure}.csv")));
        assert_eq!(header, ["figure", "series", "x", "metric", "mean", "ci_low", "ci_high", "reps"]);
        assert!(rows.iter().all(|row| row["figure"] == figure && row["mean"].parse::<f64>().is_ok()));
    }
    let (_, days) = table(&out.join("data/weekdays.csv"));
    let share = |row: usize| (days[row]["x"].as_str(), days[row]["mean"].as_str());
    // The thirteenth of September 1996 was a Friday; 11:30 in local time.
    assert_eq!((share(4), share(0)), (("Friday", "100"), ("Monday", "0")));
    let (_, hours) = table(&out.join("data/hours.csv"));
    assert_eq!((hours[13]["mean"].as_str(), hours.len()), ("25", 24));

    let page = std::fs::read_to_string(out.join("report.html")).expect("a page");
    assert!(page.contains("cut-at-estimate") && page.contains("1996-09-13"));
}

#[test]
fn inspect_draws_what_there_is_and_says_what_is_not() {
    let folder = folder();
    let bare = "1 0 -1 10 4 -1 -1 4 -1 -1 1 -1 -1 -1 -1 -1 -1 -1\n2 9 -1 10 4 -1 -1 4 -1 -1 1 -1 -1 -1 -1 -1 -1 -1\n";
    let (log, out) = (file(&folder, "bare.swf", bare), folder.path().join("out"));
    let told = workload(&["inspect", utf8(&log), "--out", utf8(&out)]);
    for words in [
        "The load is unknown: the log does not say how many processors its machine has; give --procs N (the widest job requests 4)",
        "midnight on a Monday",
        "No job has a requested time",
    ] {
        assert!(told.contains(words), "no {words:?} in: {told}");
    }
    assert!(!out.join("figures/accuracy.svg").exists() && !out.join("figures/users.svg").exists());
    // A log of jobs that never ran is still a log.
    let never = "1 0 -1 -1 4 -1 -1 4 -1 -1 1 -1 -1 -1 -1 -1 -1 -1\n";
    let (log, out) = (file(&folder, "never.swf", never), folder.path().join("never"));
    assert!(workload(&["inspect", utf8(&log), "--out", utf8(&out)]).contains("0 jobs"));
    assert!(out.join("report.html").exists() && !out.join("figures").exists());
}

#[test]
fn an_inspection_does_not_depend_on_the_folder() {
    let folder = folder();
    let log = file(&folder, "odd.swf", ODD);
    let inspect = |name: &str| {
        let out = folder.path().join(name);
        workload(&["inspect", utf8(&log), "--procs", "16", "--utc-offset", "-8", "--out", utf8(&out)]);
        results(&out)
    };
    let (one, two) = (inspect("one"), inspect("below/two"));
    assert_same(&one, &two);
    let page = String::from_utf8_lossy(&one["report.html"]).into_owned();
    assert!(page.contains("--procs 16 --utc-offset -8"));
}

#[test]
fn validate_lists_every_anomaly_by_line_and_says_what_a_simulation_does() {
    let folder = folder();
    let log = file(&folder, "odd.swf", ODD);
    let told = workload(&["validate", utf8(&log)]).replace(utf8(folder.path()), "FOLDER");
    insta::assert_snapshot!(told);

    let told = workload(&["validate", utf8(&log), "--limit", "1"]);
    assert!(told.contains("job 1: more-cpu-time-than-run-time") && !told.contains("job 2: "), "{told}");
    assert!(told.contains("… and 8 more"), "{told}");

    let told = json(&["validate", utf8(&log), "--limit", "2"]);
    assert_eq!((&told["readable"], &told["anomalies"]), (&true.into(), &9.into()));
    assert_eq!(told["findings"].as_array().expect("a list").len(), 2);
    assert_eq!(told["findings"][1]["line"], 6);
}

#[test]
fn validate_goes_on_behind_a_line_that_cannot_be_read_and_ends_with_exit_code_2() {
    let folder = folder();
    let log = file(&folder, "bad.swf", ODD.replace("3  300   0  300", "3  300   0  3:00"));
    let run = xtask().arg("workload").arg("validate").arg(&log).assert().code(2);
    run.stdout(contains("bad.swf:7: field 4 (run time)"))
        .stdout(contains("unreadable"))
        .stdout(contains("refuses the log"))
        .stdout(contains("wider-than-machine"))
        .stderr(contains("bad.swf: 1 line cannot be read, the first of them line 7"));
    // A log without anomalies.
    let clean = "; MaxProcs: 8\n1 0 5 100 4 -1 -1 4 200 -1 1 7 1 -1 -1 -1 -1 -1\n";
    assert_eq!(workload(&["validate", utf8(&file(&folder, "clean.swf", clean))]), "no anomaly\n");
}

#[test]
fn convert_goes_to_the_grid_and_back_and_reports_what_is_lost() {
    let folder = folder();
    let log = file(&folder, "odd.swf", ODD);
    let (grid, back) = (folder.path().join("new/odd.gwf.gz"), folder.path().join("back.swf"));
    let told = workload(&["convert", utf8(&log), "--to", "gwf", "--out", utf8(&grid)]);
    assert!(told.contains("5 records from swf to gwf"), "{told}");
    assert!(told.contains("lost: preceding job of 1 record"), "{told}");
    let mut text = String::new();
    GzDecoder::new(std::fs::File::open(&grid).expect("a file")).read_to_string(&mut text).expect("gzip");
    assert!(text.contains("MaxProcs: 8") && text.contains("U7"), "{text}");
    for command in ["validate", "inspect"] {
        let run = xtask().args(["workload", command]).arg(&grid).assert().code(2);
        run.stderr(contains("convert it first: cargo xtask workload convert"));
    }

    let told = json(&["convert", utf8(&grid), "--to", "swf", "--out", utf8(&back)]);
    assert_eq!((&told["from"], &told["records"], &told["names"]), (&"gwf".into(), &5.into(), &0.into()));
    let mut expected = records(&log);
    expected[4].preceding_job = None;
    assert_eq!(records(&back), expected);
}

/// Two jobs of a Slurm cluster in Berlin, one of which was cancelled while it waited, and a step.
const SACCT: &str = "\
JobIDRaw|User|Partition|Submit|Start|End|ElapsedRaw|TimelimitRaw|AllocCPUS|ReqCPUS|State
7|alice|batch|2026-07-01T12:00:00|2026-07-01T12:00:30|2026-07-01T12:10:30|600|60|4|4|COMPLETED
7.batch||||2026-07-01T12:00:30|2026-07-01T12:10:30|600||4|4|COMPLETED
8|bob|batch|2026-07-01T12:01:00|None|2026-07-01T12:02:00|0|60|0|8|CANCELLED by 1000
";

#[test]
fn what_sacct_prints_becomes_a_log_and_every_repair_is_counted() {
    let folder = folder();
    let (sacct, log) = (file(&folder, "jobs.sacct", SACCT), folder.path().join("site.swf"));
    let to_swf = ["convert", utf8(&sacct), "--to", "swf", "--zone", "Europe/Berlin", "--procs", "64"];
    let told = json(&[&to_swf[..], &["--out", utf8(&log)]].concat());
    assert_eq!((&told["from"], &told["records"], &told["names"]), (&"sacct".into(), &2.into(), &3.into()));
    let repair = |rule: &str, line: u64| serde_json::json!({ "rule": rule, "count": 1, "first_line": line });
    assert_eq!(told["repairs"], serde_json::json!([repair("step", 3), repair("cancelled-before-start", 4)]));
    let header = SwfReader::open(&log).expect("a log").header().clone();
    assert_eq!((header.max_procs, header.unix_start_time), (Some(64), Some(1_782_900_000)));
    assert_eq!(records(&log).iter().map(|record| record.number).collect::<Vec<_>>(), [7, 8]);
    // The converted log is accepted by simulations, and the message for the other suggests the conversion.
    assert!(workload(&["validate", utf8(&log)]).contains("no-runtime"));
    let run = xtask().args(["workload", "validate"]).arg(&sacct).assert().code(2);
    run.stderr(contains("is what sacct prints; convert it first: cargo xtask workload convert"));
    refused(&["convert", utf8(&sacct), "--to", "sacct"], &["read and not written"]);
    refused(
        &["convert", utf8(&log), "--to", "gwf", "--zone", "UTC"],
        &["--zone goes with a log from sacct", "is in swf"],
    );
    refused(&["convert", utf8(&sacct), "--to", "swf", "--zone", "CEST"], &["a place such as Europe/Berlin"]);
}

/// An array and a heterogeneous job of two users, after a job of four processors.
const NAMED: &str = "\
JobIDRaw|JobID|User|Submit|Start|End|ElapsedRaw|TimelimitRaw|AllocCPUS|State
7|7|alice|100|100|400|300|60|4|COMPLETED
9|8_1|bob|110|400|500|100|60|4|COMPLETED
8|8_2|bob|110|400|500|100|60|4|COMPLETED
11|10+1|=carol|120|500|600|100|60|2|COMPLETED
";

#[test]
fn jobs_and_users_of_a_cluster_keep_their_names_through_every_command() {
    let folder = folder();
    let (sacct, log) = (file(&folder, "jobs.sacct", NAMED), folder.path().join("site.swf"));
    let told = workload(&["convert", utf8(&sacct), "--to", "swf", "--procs", "4", "--out", utf8(&log)]);
    assert!(told.contains("3 names became numbers; comments before their first jobs list them"), "{told}");
    let out = folder.path().join("out");
    let of_log = ["--policy", "easy", "--trace", utf8(&log)];
    xtask().arg("simulate").args(of_log).args(["--format", "evalys", "--out", utf8(&out)]).assert().code(0);

    let (_, rows) = table(&out.join("easy/jobs.csv"));
    let named: Vec<_> = rows.iter().map(|row| (row["job"].as_str(), row["user"].as_str())).collect();
    // A name is protected from being read as a formula by a spreadsheet.
    assert_eq!(named, [("7", "alice"), ("8_1", "bob"), ("8_2", "bob"), ("10+1", "'=carol")]);
    let schedule = std::fs::read_to_string(out.join("easy/schedule.swf")).expect("a log");
    assert!(schedule.contains("\n; Job: 9 8_1\n9 10 "), "{schedule}");
    let page = std::fs::read_to_string(out.join("report.html")).expect("a page");
    for shown in ["user bob, 4 processors", "<td>bob</td>", r#"data-job="8_1""#] {
        assert!(page.contains(shown), "{shown}");
    }

    // By name or by number; the answer has names.
    for job in ["8_2", "8"] {
        let told = xtask().arg("explain").args(of_log).args(["--job", job]).assert().code(0);
        let told = String::from_utf8_lossy(&told.get_output().stdout).into_owned();
        assert!(told.starts_with("job 8_2 of ") && told.contains(" by user bob "), "{told}");
        assert!(told.contains("held by job 8_1"), "{told}");
    }
    let told = xtask().arg("explain").args(of_log).args(["--job", "8_3"]).assert().code(2);
    told.stderr(contains("there is no job 8_3; its jobs have the numbers from 7 to 11"));
    // Output of simulate is checked by the names in it.
    for file in ["easy/jobs.csv", "easy/schedule.swf"] {
        xtask().arg("check").args(of_log).args(["--schedule", utf8(&out.join(file))]).assert().code(0);
    }
}

#[test]
fn a_log_that_ends_in_a_faulty_line_is_not_converted() {
    let folder = folder();
    let log = file(&folder, "cut.swf", &ODD[..ODD.len() - 20]);
    refused(&["convert", utf8(&log), "--to", "gwf"], &["cut.swf:9: expected 18 columns", "download may be incomplete"]);
    refused(&["convert", "missing.swf", "--to", "gwf"], &["missing.swf: there is no such file"]);
    let out = folder.path().join("here");
    std::fs::create_dir(&out).expect("a folder");
    let run = xtask().args(["workload", "convert", "--to", "gwf"]).arg(&log).arg("--out").arg(&out).assert().code(2);
    run.stderr(contains("is a folder; name a file in it"));
}

#[test]
fn help_lists_every_model() {
    let help = |arguments: &[&str]| {
        let words = workload(&[arguments, &["--help"]].concat());
        words.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let generate = help(&["generate"]);
    for model in models() {
        let (name, summary) = (model.name, model.summary);
        assert!(generate.contains(&format!("- {name}: {summary}")), "{name} is not in {generate}");
    }
    let experiment = "name = \"x\"\npolicies = [\"fcfs\", \"easy\"]\nbaseline = \"easy\"\nmetrics = [\"wait_mean\"]\nseed = 1\n\
        [[log]]\nmodel = \"nobody's\"\ncount = 10\n[replicate]\nmethod = \"seeds\"\ncount = 2\n";
    let folder = folder();
    let experiment = file(&folder, "x.toml", experiment);
    let run = xtask().arg("experiment").arg(&experiment).assert().code(2);
    let names: Vec<&str> = models().iter().map(|model| model.name).collect();
    run.stderr(contains(format!("there are {}", names.join(", "))));
}

/// Each model with the arguments to draw from it.
const MODELS: [&[&str]; 6] = [
    &["lublin"],
    &["lublin", "--procs", "64", "--estimates", "tsafrir:48h"],
    &["downey", "--procs", "100", "--set", "variation=1"],
    &["jann", "--estimates", "tsafrir"],
    &["wagap-like"],
    &["zewura-like"],
];

#[test]
fn a_seed_gives_a_log_of_its_own_the_same_bytes_each_time() {
    let is_drawn = |model: &ModelEntry| MODELS.iter().any(|arguments| arguments[0] == model.name);
    assert!(models().iter().all(|model| is_drawn(model) || model.defaults.is_none()), "a model is missing here");
    let folder = folder();
    let generate = |model: &[&str], name: &str, seed: &str| {
        let out = folder.path().join(name);
        let run = [&["generate"], model, &["--count", "300", "--quiet", "--seed", seed, "--out", utf8(&out)]].concat();
        workload(&run);
        std::fs::read(&out).expect("a log")
    };
    for model in MODELS {
        let one = generate(model, "one.swf", "1");
        assert!(one == generate(model, "below/two.swf", "1"), "{model:?} draws something else each time");
        let body = |log: &[u8]| String::from_utf8_lossy(log).lines().skip_while(|line| line.starts_with(';')).count();
        assert_eq!(body(&one), 300, "{model:?}");
        assert!(one != generate(model, "three.swf", "2"), "{model:?} does not care about the seed");
        // The packed file holds the same text, and is packed the same each time.
        let packed = generate(model, "one.swf.gz", "1");
        let mut text = Vec::new();
        GzDecoder::new(packed.as_slice()).read_to_end(&mut text).expect("gzip");
        assert!(text == one && packed == generate(model, "two.swf.gz", "1"), "{model:?}");

        let log = folder.path().join("one.swf");
        let header = SwfReader::open(&log).expect("a log").header().clone();
        assert_eq!(header.get("Model"), Some(model[0]));
        let capacity = header.max_procs.expect("processors");
        let jobs = records(&log);
        assert!(jobs.iter().all(|job| job.processors().is_some_and(|size| size <= capacity)), "{model:?}");
        assert!(jobs.is_sorted_by_key(|job| job.submit), "{model:?}");
        let is_estimated = model.contains(&"--estimates") || model[0].ends_with("-like");
        assert!(jobs.iter().all(|job| job.requested_time.is_some() == is_estimated), "{model:?}");
        // Stand-ins for logs have jobs that ran beyond their estimates, like the logs.
        if model.contains(&"--estimates") {
            assert!(jobs.iter().all(|job| job.requested_time >= job.runtime), "{model:?}");
        }
    }
}

#[test]
fn the_head_of_a_drawn_log_gives_the_command_that_draws_it() {
    let folder = folder();
    let (one, two) = (folder.path().join("one.swf"), folder.path().join("two.swf"));
    let asked =
        ["generate", "lublin", "--procs", "64", "--count", "50", "--seed", "7", "--set", "classes.0.serial=0.3"];
    workload(&[&asked[..], &["--estimates", "tsafrir:2d", "--out", utf8(&one)]].concat());
    let header = SwfReader::open(&one).expect("a log").header().clone();
    assert_eq!(header.max_procs, Some(64));
    assert!(header.get("Parameters").is_some_and(|parameters| parameters.contains("serial = 0.3")));
    let command = header.get("Command").expect("a command");
    let again = command.strip_prefix("cargo xtask workload ").expect("it is ours");
    workload(&again.split(' ').chain(["--out", utf8(&two)]).collect::<Vec<_>>());
    assert!(std::fs::read(&one).expect("a log") == std::fs::read(&two).expect("a log"));
}

#[test]
fn parameters_that_are_shown_are_a_preset() {
    let folder = folder();
    for model in ["lublin", "downey", "jann"] {
        let preset = file(&folder, "preset.toml", workload(&["generate", model, "--show"]));
        let draw = |name: &str, more: &[&str]| {
            let out = folder.path().join(name);
            workload(&[&["generate", model, "--count", "200", "--quiet", "--out", utf8(&out)], more].concat());
            records(&out)
        };
        assert_eq!(draw("one.swf", &[]), draw("two.swf", &["--preset", utf8(&preset)]), "{model}");
    }
}

#[test]
fn a_model_that_was_measured_in_a_log_draws_one_like_it() {
    let folder = folder();
    let [log, preset, more] = ["log.swf", "site.toml", "more.swf"].map(|name| folder.path().join(name));
    workload(&["generate", "wagap-like", "--count", "2000", "--seed", "3", "--quiet", "--out", utf8(&log)]);
    let told = workload(&["fit", utf8(&log), "--out", utf8(&preset)]);
    assert!(told.ends_with(&format!("{}\n", preset.display())), "{told}");
    workload(&["generate", "session", "--preset", utf8(&preset), "--count", "2000", "--quiet", "--out", utf8(&more)]);
    // Only sizes that the log has, and serial jobs about as often.
    let sizes = |path: &Path| records(path).iter().map(|job| job.processors().expect("a size")).collect::<Vec<_>>();
    let (measured, drawn) = (sizes(&log), sizes(&more));
    assert!(drawn.iter().all(|size| measured.contains(size)));
    let serial = |sizes: &[u32]| sizes.iter().filter(|size| **size == 1).count();
    assert!(serial(&measured).abs_diff(serial(&drawn)) < 400, "{} of 2000", serial(&drawn));
    for hours in ["25", "NaN"] {
        refused(&["fit", utf8(&log), "--utc-offset", hours], &["expected hours from -24 to 24"]);
    }
    let few = file(&folder, "few.swf", ODD);
    refused(&["fit", utf8(&few)], &["few.swf: expected at least 100 jobs that ran, found 4"]);
}

#[test]
fn parameters_that_describe_no_workload_are_refused_with_the_way_out() {
    let folder = folder();
    let check = |arguments: &[&str], words: &[&str]| {
        refused(&[&["generate"], arguments, &["--count", "10"]].concat(), words);
    };
    check(&["downey", "--set", "variatio=1"], &["--set variatio=1", "did you mean \"variation\"?"]);
    check(&["downey", "--set", "variation=wide"], &["\"wide\" is no value"]);
    check(&["downey", "--set", "variation=1\nother=2"], &["is no value"]);
    check(&["downey", "--set", "variation.low=7"], &["inside a single value"]);
    check(&["downey", "--set", "variation"], &["expected KEY=VALUE"]);
    check(&["downey", "--set", "processors=-3"], &["--set processors=-3"]);
    check(&["downey", "--set", "longest=1"], &["downey: longest: expected at least shortest"]);
    check(&["lublin", "--set", "classes.2.serial=1"], &["no position in a list of 2"]);
    check(&["lublin", "--procs", "1"], &["at least 2 processors"]);
    check(&["wagap-like", "--procs", "64"], &["--procs does not fit wagap-like"]);
    check(&["session"], &["needs --preset FILE", "workload fit"]);
    check(&["lublin", "--estimates", "tsafrir:1m"], &["max_estimate: expected at least 3600 seconds"]);
    for wrong in ["exact", "tsafrir:", "tsafrir:36", "tsafrir:h", "tsafrir:99999999d", "tsafrir:3ü"] {
        check(&["lublin", "--estimates", wrong], &["expected tsafrir or tsafrir:SPAN such as tsafrir:36h"]);
    }
    check(&["lublin", "--preset", "missing.toml"], &["missing.toml"]);
    let preset = file(&folder, "bad.toml", "classes = []\nhour = 3\n");
    check(&["lublin", "--preset", utf8(&preset)], &["bad.toml", "line 2", "unknown field `hour`"]);
    let preset = file(&folder, "empty.toml", "classes = []\n");
    check(&["lublin", "--preset", utf8(&preset)], &["lublin: "]);
    // clap reports the missing option.
    xtask().args(["workload", "generate", "lublin", "--out", "x.swf"]).assert().code(2).stderr(contains("--count <N>"));
}

/// Ctrl-C in the middle of ten million jobs.
#[cfg(unix)]
#[test]
fn an_interrupted_drawing_leaves_nothing_behind() {
    let folder = folder();
    let arguments = ["workload", "generate", "lublin", "--count", "10000000", "--quiet", "--out"];
    let mut child =
        xtask_process().args(arguments).arg(folder.path().join("long.swf")).spawn().expect("the program starts");
    let has_begun = || tree(folder.path()).values().any(|content| !content.is_empty());
    while !has_begun() {
        assert!(child.try_wait().expect("a child").is_none(), "it ended before it could be stopped");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let kill = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(kill.expect("kill runs").success());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130));
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("error: interrupted; nothing was written"));
    assert!(tree(folder.path()).is_empty());
}
