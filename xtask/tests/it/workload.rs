//! The commands that inspect logs, check them, convert them, and draw and fit models.

use crate::program::{Said, Workdir, assert_same, results, signal, stopped, table, tree, xtask_process};
use flate2::read::GzDecoder;
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

fn records(path: &Path) -> Vec<SwfRecord> {
    SwfReader::open(path).expect("a log").map(|record| record.expect("a record")).collect()
}

#[test]
fn inspect_summarizes_a_log_in_a_screenful() {
    let dir = Workdir::with("odd.swf", ODD);
    insta::assert_snapshot!(dir.run("workload inspect odd.swf --out out", 0).out);
}

#[test]
fn inspect_writes_figures_data_numbers_and_a_page() {
    let dir = Workdir::with("odd.swf", ODD);
    let printed = dir.run("workload inspect odd.swf --out out --json", 0).json();
    let written: serde_json::Value = serde_json::from_str(&dir.text("out/inspect.json")).expect("JSON");
    assert_eq!(printed, written);
    let seen = &printed["inspection"];
    assert_eq!((&seen["records"], &seen["jobs"], &seen["users"]), (&5.into(), &4.into(), &3.into()));
    // 4 · 100 + 8 · 300 + 50 + 9 · 3600 processor-seconds in two hours on eight processors.
    let load = seen["load"].as_f64().expect("a load");
    assert!((load - 35_250.0 / 57_600.0).abs() < 1e-12, "{load}");

    for figure in ["hours", "weekdays", "sizes", "times", "accuracy", "users"] {
        assert!(dir.text(&format!("out/figures/{figure}.svg")).starts_with("<svg"), "{figure}");
        assert!(dir.path(&format!("out/figures/{figure}.png")).exists() == cfg!(feature = "png"), "{figure}");
        let (header, rows) = table(&dir.path(&format!("out/data/{figure}.csv")));
        assert_eq!(header, ["figure", "series", "x", "metric", "mean", "ci_low", "ci_high", "reps"]);
        assert!(rows.iter().all(|row| row["figure"] == figure && row["mean"].parse::<f64>().is_ok()));
    }
    let days = dir.rows("out/data/weekdays.csv");
    let share = |row: usize| (days[row]["x"].as_str(), days[row]["mean"].as_str());
    // The thirteenth of September 1996 was a Friday; 11:30 in local time.
    assert_eq!((share(4), share(0)), (("Friday", "100"), ("Monday", "0")));
    let hours = dir.rows("out/data/hours.csv");
    assert_eq!((hours[13]["mean"].as_str(), hours.len()), ("25", 24));

    let page = dir.text("out/report.html");
    assert!(page.contains("cut-at-estimate") && page.contains("1996-09-13"));
}

#[test]
fn inspect_draws_what_there_is_and_says_what_is_not() {
    let bare = "1 0 -1 10 4 -1 -1 4 -1 -1 1 -1 -1 -1 -1 -1 -1 -1\n2 9 -1 10 4 -1 -1 4 -1 -1 1 -1 -1 -1 -1 -1 -1 -1\n";
    let dir = Workdir::with("bare.swf", bare);
    let told = dir.run("workload inspect bare.swf --out out", 0).out;
    for words in [
        "The load is unknown: the log does not say how many processors its machine has; give --procs N (the widest job requests 4)",
        "midnight on a Monday",
        "No job has a requested time",
    ] {
        assert!(told.contains(words), "no {words:?} in: {told}");
    }
    assert!(!dir.path("out/figures/accuracy.svg").exists() && !dir.path("out/figures/users.svg").exists());
    // A log of jobs that never ran is still a log.
    dir.file("never.swf", "1 0 -1 -1 4 -1 -1 4 -1 -1 1 -1 -1 -1 -1 -1 -1 -1\n");
    assert!(dir.run("workload inspect never.swf --out never", 0).out.contains("0 jobs"));
    assert!(dir.path("never/report.html").exists() && !dir.path("never/figures").exists());
}

#[test]
fn an_inspection_does_not_depend_on_the_folder() {
    let dir = Workdir::with("odd.swf", ODD);
    let inspect = |name: &str| {
        dir.run(&format!("workload inspect odd.swf --procs 16 --utc-offset -8 --out {name}"), 0);
        results(&dir.path(name))
    };
    let (one, two) = (inspect("one"), inspect("below/two"));
    assert_same(&one, &two);
    let page = String::from_utf8_lossy(&one["report.html"]).into_owned();
    assert!(page.contains("--procs 16 --utc-offset -8"));
}

#[test]
fn validate_lists_every_anomaly_by_line_and_says_what_a_simulation_does() {
    let dir = Workdir::with("odd.swf", ODD);
    insta::assert_snapshot!(dir.run("workload validate odd.swf", 0).out);

    let told = dir.run("workload validate odd.swf --limit 1", 0).out;
    assert!(told.contains("job 1: more-cpu-time-than-run-time") && !told.contains("job 2: "), "{told}");
    assert!(told.contains("… and 8 more"), "{told}");

    let told = dir.run("workload validate odd.swf --limit 2 --json", 0).json();
    assert_eq!((&told["readable"], &told["anomalies"]), (&true.into(), &9.into()));
    assert_eq!(told["findings"].as_array().expect("a list").len(), 2);
    assert_eq!(told["findings"][1]["line"], 6);
}

#[test]
fn validate_goes_on_behind_a_line_that_cannot_be_read_and_ends_with_exit_code_2() {
    let dir = Workdir::with("bad.swf", ODD.replace("3  300   0  300", "3  300   0  3:00"));
    let Said { out, err } = dir.run("workload validate bad.swf", 2);
    for words in ["bad.swf:7: field 4 (run time)", "unreadable", "refuses the log", "wider-than-machine"] {
        assert!(out.contains(words), "no {words:?} in: {out}");
    }
    assert!(err.contains("bad.swf: 1 line cannot be read, the first of them line 7"), "{err}");
    // A log without anomalies.
    dir.file("clean.swf", "; MaxProcs: 8\n1 0 5 100 4 -1 -1 4 200 -1 1 7 1 -1 -1 -1 -1 -1\n");
    assert_eq!(dir.run("workload validate clean.swf", 0).out, "no anomaly\n");
}

#[test]
fn convert_goes_to_metacentrum_and_back_and_reports_what_is_lost() {
    let dir = Workdir::with("odd.swf", ODD);
    let told = dir.run("workload convert odd.swf --to swf21 --out new/odd.swf.gz", 0).out;
    assert!(told.contains("5 records from swf to swf21"), "{told}");
    let mut text = String::new();
    GzDecoder::new(std::fs::File::open(dir.path("new/odd.swf.gz")).expect("a file"))
        .read_to_string(&mut text)
        .expect("gzip");
    assert!(text.contains("MaxProcs: 8") && text.contains(" {} -1 4:ppn=1\n"), "{text}");

    let told = dir.run("workload convert new/odd.swf.gz --to swf --out back.swf", 0).out;
    let lost = "lost: queue name and requested nodes of 5 records; swf has no column for it";
    assert!(told.contains("5 records from swf21 to swf") && told.contains(lost), "{told}");
    assert_eq!(records(&dir.path("back.swf")), records(&dir.path("odd.swf")));
    dir.refuses("workload convert odd.swf --to gwf --out odd.gwf", &["expected swf, swf21 or sacct, found \"gwf\""]);
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
    let dir = Workdir::with("jobs.sacct", SACCT);
    let to_swf = "workload convert jobs.sacct --to swf --zone Europe/Berlin --procs 64 --out site.swf --json";
    let told = dir.run(to_swf, 0).json();
    assert_eq!((&told["from"], &told["records"], &told["names"]), (&"sacct".into(), &2.into(), &3.into()));
    let repair = |rule: &str, line: u64| serde_json::json!({ "rule": rule, "count": 1, "first_line": line });
    assert_eq!(told["repairs"], serde_json::json!([repair("step", 3), repair("cancelled-before-start", 4)]));
    let log = dir.path("site.swf");
    let header = SwfReader::open(&log).expect("a log").header().clone();
    assert_eq!((header.max_procs, header.unix_start_time), (Some(64), Some(1_782_900_000)));
    assert_eq!(records(&log).iter().map(|record| record.number).collect::<Vec<_>>(), [7, 8]);
    // The converted log is accepted by simulations, and the message for the other suggests the conversion.
    assert!(dir.run("workload validate site.swf", 0).out.contains("no-runtime"));
    const WRONG: &str = "validate jobs.sacct; inspect jobs.sacct; convert jobs.sacct --out x.swf --to sacct; \
        convert site.swf --out x.swf --to swf21 --zone UTC; convert jobs.sacct --out x.swf --to swf --zone CEST";
    let told = |words| dir.refuses(&format!("workload {words}"), &[]);
    insta::assert_snapshot!(WRONG.split("; ").map(told).collect::<String>());
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
    let dir = Workdir::with("jobs.sacct", NAMED);
    let told = dir.run("workload convert jobs.sacct --to swf --procs 4 --out site.swf", 0).out;
    assert!(told.contains("3 names became numbers; comments before their first jobs list them"), "{told}");
    dir.run("simulate site.swf --policy easy --out out", 0);

    let rows = dir.rows("out/easy/jobs.csv");
    let named: Vec<_> = rows.iter().map(|row| (row["job"].as_str(), row["user"].as_str())).collect();
    // A name is protected from being read as a formula by a spreadsheet.
    assert_eq!(named, [("7", "alice"), ("8_1", "bob"), ("8_2", "bob"), ("10+1", "'=carol")]);
    let schedule = dir.text("out/easy/schedule.swf");
    assert!(schedule.contains("\n; Job: 9 8_1\n9 10 "), "{schedule}");
    let page = dir.text("out/report.html");
    for shown in ["user bob, 4 processors", "<td>bob</td>", r#"data-job="8_1""#] {
        assert!(page.contains(shown), "{shown}");
    }

    // By name or by number; the answer has names.
    for job in ["8_2", "8"] {
        let told = dir.run(&format!("explain site.swf --policy easy --job {job}"), 0).out;
        assert!(told.starts_with("job 8_2 of ") && told.contains(" by user bob "), "{told}");
        assert!(told.contains("held by job 8_1"), "{told}");
    }
    let words = "there is no job 8_3; its jobs have the numbers from 7 to 11";
    dir.refuses("explain site.swf --policy easy --job 8_3", &[words]);
    // Output of simulate is checked by the names in it.
    for schedule in ["out/easy/jobs.csv", "out/easy/schedule.swf"] {
        dir.run(&format!("check site.swf --policy easy --schedule {schedule}"), 0);
    }
}

#[test]
fn a_log_that_ends_in_a_faulty_line_is_not_converted() {
    let dir = Workdir::with("cut.swf", &ODD[..ODD.len() - 20]);
    std::fs::create_dir(dir.path("here")).expect("a folder");
    let convert = |log: &str, out: &str, words: &[&str]| {
        dir.refuses(&format!("workload convert {log} --to swf21 --quiet --out {out}"), words);
    };
    convert("cut.swf", "below/out.swf", &["cut.swf:9: expected 18 columns", "download may be incomplete"]);
    convert("missing.swf", "below/out.swf", &["missing.swf: there is no such file"]);
    convert("cut.swf", "here", &["is a folder; name a file in it"]);
}

#[test]
fn help_lists_every_model() {
    let help = Workdir::new().run("workload generate --help", 0).out;
    let generate = help.split_whitespace().collect::<Vec<_>>().join(" ");
    for model in models() {
        let (name, summary) = (model.name, model.summary);
        assert!(generate.contains(&format!("- {name}: {summary}")), "{name} is not in {generate}");
    }
    let experiment = "name = \"x\"\npolicies = [\"fcfs\", \"easy\"]\nbaseline = \"easy\"\nmetrics = [\"wait_mean\"]\nseed = 1\n\
        [[log]]\nmodel = \"nobody's\"\ncount = 10\n[replicate]\nmethod = \"seeds\"\ncount = 2\n";
    let names: Vec<&str> = models().iter().map(|model| model.name).collect();
    let listed = format!("there are {}", names.join(", "));
    Workdir::with("x.toml", experiment).refuses("experiment x.toml", &[&listed]);
}

/// Each model with the arguments to draw from it.
const MODELS: [&str; 5] = [
    "lublin",
    "lublin --procs 64 --estimates tsafrir:48h",
    "lublin --set start_hour=8 --estimates tsafrir",
    "wagap-like",
    "zewura-like",
];

#[test]
fn a_seed_gives_a_log_of_its_own_the_same_bytes_each_time() {
    let is_drawn = |model: &ModelEntry| MODELS.iter().any(|words| words.split(' ').next() == Some(model.name));
    assert!(models().iter().all(|model| is_drawn(model) || model.defaults.is_none()), "a model is missing here");
    let dir = Workdir::new();
    let generate = |model: &str, name: &str, seed: u32| {
        dir.run(&format!("workload generate {model} --count 300 --quiet --seed {seed} --out {name}"), 0);
        std::fs::read(dir.path(name)).expect("a log")
    };
    for model in MODELS {
        let one = generate(model, "one.swf", 1);
        assert!(one == generate(model, "below/two.swf", 1), "{model:?} draws something else each time");
        let body = |log: &[u8]| String::from_utf8_lossy(log).lines().skip_while(|line| line.starts_with(';')).count();
        assert_eq!(body(&one), 300, "{model:?}");
        assert!(one != generate(model, "three.swf", 2), "{model:?} does not care about the seed");
        // The packed file holds the same text, and is packed the same each time.
        let packed = generate(model, "one.swf.gz", 1);
        let mut text = Vec::new();
        GzDecoder::new(packed.as_slice()).read_to_end(&mut text).expect("gzip");
        assert!(text == one && packed == generate(model, "two.swf.gz", 1), "{model:?}");

        let log = dir.path("one.swf");
        let header = SwfReader::open(&log).expect("a log").header().clone();
        assert_eq!(header.get("Model"), model.split(' ').next());
        let capacity = header.max_procs.expect("processors");
        let jobs = records(&log);
        assert!(jobs.iter().all(|job| job.processors().is_some_and(|size| size <= capacity)), "{model:?}");
        assert!(jobs.is_sorted_by_key(|job| job.submit), "{model:?}");
        let is_estimated = model.contains("--estimates") || model.ends_with("-like");
        assert!(jobs.iter().all(|job| job.requested_time.is_some() == is_estimated), "{model:?}");
        // Stand-ins for logs have jobs that ran beyond their estimates, like the logs.
        if model.contains("--estimates") {
            assert!(jobs.iter().all(|job| job.requested_time >= job.runtime), "{model:?}");
        }
    }
}

#[test]
fn the_head_of_a_drawn_log_gives_the_command_that_draws_it() {
    let dir = Workdir::new();
    let asked = "lublin --procs 64 --count 50 --seed 7 --set classes.0.serial=0.3 --estimates tsafrir:2d";
    dir.run(&format!("workload generate {asked} --out one.swf"), 0);
    let header = SwfReader::open(&dir.path("one.swf")).expect("a log").header().clone();
    assert_eq!(header.max_procs, Some(64));
    assert!(header.get("Parameters").is_some_and(|parameters| parameters.contains("serial = 0.3")));
    let command = header.get("Command").expect("a command");
    let again = command.strip_prefix("cargo xtask ").expect("it is ours");
    dir.run(&format!("{again} --out two.swf"), 0);
    assert!(dir.text("one.swf") == dir.text("two.swf"));
}

#[test]
fn parameters_that_are_shown_are_a_preset() {
    let dir = Workdir::new();
    for (model, general) in [("lublin", "lublin"), ("wagap-like", "session")] {
        dir.file("preset.toml", dir.run(&format!("workload generate {model} --show"), 0).out);
        let draw = |model: &str, more: &str| {
            dir.run(&format!("workload generate {model} --count 200 --quiet --out drawn.swf{more}"), 0);
            records(&dir.path("drawn.swf"))
        };
        assert_eq!(draw(model, ""), draw(general, " --preset preset.toml"), "{model}");
    }
}

#[test]
fn a_model_that_was_measured_in_a_log_draws_one_like_it() {
    let dir = Workdir::with("few.swf", ODD);
    dir.run("workload generate wagap-like --count 2000 --seed 3 --quiet --out log.swf", 0);
    let told = dir.run("workload fit log.swf --out site.toml", 0).out;
    assert!(told.ends_with("site.toml\n"), "{told}");
    dir.run("workload generate session --preset site.toml --count 2000 --quiet --out more.swf", 0);
    // Only sizes that the log has, and serial jobs about as often.
    let sizes =
        |log: &str| records(&dir.path(log)).iter().map(|job| job.processors().expect("a size")).collect::<Vec<_>>();
    let (measured, drawn) = (sizes("log.swf"), sizes("more.swf"));
    assert!(drawn.iter().all(|size| measured.contains(size)));
    let serial = |sizes: &[u32]| sizes.iter().filter(|size| **size == 1).count();
    assert!(serial(&measured).abs_diff(serial(&drawn)) < 400, "{} of 2000", serial(&drawn));
    for hours in ["25", "NaN"] {
        let words = &["expected hours from -24 to 24"];
        dir.refuses(&format!("workload fit log.swf --quiet --out x.toml --utc-offset {hours}"), words);
    }
    let words = &["few.swf: expected at least 100 jobs that ran, found 4"];
    dir.refuses("workload fit few.swf --quiet --out x.toml", words);
}

#[test]
fn parameters_that_describe_no_workload_are_refused_with_the_way_out() {
    let dir = Workdir::with("bad.toml", "classes = []\nhour = 3\n");
    dir.file("empty.toml", "classes = []\n");
    let check = |model: &str, words: &[&str]| {
        dir.refuses(&format!("workload generate {model} --count 10 --quiet --out below/out.swf"), words);
    };
    check("lublin --set start_hor=1", &["--set start_hor=1", "did you mean \"start_hour\"?"]);
    check("lublin --set start_hour=wide", &["\"wide\" is no value"]);
    check("lublin --set start_hour=1\nother=2", &["is no value"]);
    check("lublin --set start_hour.low=7", &["inside a single value"]);
    check("lublin --set start_hour", &["expected KEY=VALUE"]);
    check("lublin --set start_hour=-3", &["--set start_hour=-3"]);
    check("lublin --set start_hour=24", &["lublin: start_hour: expected 0 to 23"]);
    check("lublin --set classes.2.serial=1", &["no position in a list of 2"]);
    check("lublin --procs 1", &["at least 2 processors"]);
    check("wagap-like --procs 64", &["--procs does not fit wagap-like"]);
    check("session", &["needs --preset FILE", "workload fit"]);
    check("lublin --estimates tsafrir:1m", &["max_estimate: expected at least 3600 seconds"]);
    for wrong in ["exact", "tsafrir:", "tsafrir:36", "tsafrir:h", "tsafrir:99999999d", "tsafrir:3ü"] {
        check(&format!("lublin --estimates {wrong}"), &["expected tsafrir or tsafrir:SPAN such as tsafrir:36h"]);
    }
    check("lublin --preset missing.toml", &["missing.toml"]);
    check("lublin --preset bad.toml", &["bad.toml", "line 2", "unknown field `hour`"]);
    check("lublin --preset empty.toml", &["lublin: "]);
    // clap reports the missing option.
    dir.refuses("workload generate lublin --out x.swf", &["--count <N>"]);
}

/// Ctrl-C in the middle of ten million jobs.
#[cfg(unix)]
#[test]
fn an_interrupted_drawing_leaves_nothing_behind() {
    let dir = Workdir::new();
    let mut command = xtask_process();
    let words = "workload generate lublin --count 10000000 --quiet --out long.swf";
    command.current_dir(&dir.0).args(words.split(' '));
    let has_begun = || tree(dir.0.path()).values().any(|content| !content.is_empty());
    let (code, message) = stopped(&mut command, has_begun, |child| signal(child, "INT"));
    assert!(code == Some(130) && message.starts_with("error: interrupted; nothing was written"), "{message}");
    assert!(tree(dir.0.path()).is_empty());
}
