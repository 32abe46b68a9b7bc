//! Units of work of an experiment: computed one by one, damaged, killed, by another program, or in a job array.

use super::{SMALL, prepared, ran};
use crate::program::{Workdir, assert_same, manifest, results, xtask_process};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

#[test]
fn units_computed_one_by_one_and_collected_give_the_same_bytes() {
    let dir = ran(SMALL, " --units 3");
    dir.run("experiment plan small.toml --units 3 --out parts", 0);
    let units = dir.text("parts/cells/plan.jsonl").lines().count() - 1;
    assert!(units >= 3, "{units} units");
    let work = |unit: usize| dir.run(&format!("experiment work parts/cells/plan.jsonl --unit {unit}"), 0).out;
    for unit in 1..units {
        assert!(work(unit).contains("computed"));
    }
    let collect = "experiment collect parts/cells/plan.jsonl";
    dir.refuses(collect, &[&format!("1 of {units} units are missing: 0;")]);
    assert!(work(0).contains("computed") && work(0).contains("was there"));
    dir.run(collect, 0);
    assert_same(&results(&dir.path("out")), &results(&dir.path("parts")));

    // Another machine has also computed the first unit, with a different result.
    let text = dir.text("parts/cells/units/0/replications.jsonl");
    let line = text.lines().next().expect("a replication");
    let (content, _) = line.rsplit_once(",\"sha256\"").expect("its hash");
    let mut content = content.to_owned();
    let at = content.rfind('[').expect("its metrics") + 1;
    content.replace_range(at..=at, "9");
    let sum = hex::encode(Sha256::digest(&content));
    fs::create_dir(dir.path("parts/cells/units/other")).expect("a folder");
    dir.file("parts/cells/units/other/replications.jsonl", format!("{content},\"sha256\":\"{sum}\"}}\n"));
    dir.refuses(collect, &["units/other/replications.jsonl", "twice, with different numbers"]);

    // Another plan does not replace this one, unless all begins again: then no finished unit stays.
    dir.refuses("experiment small.toml --engine script --units 2 --quick --out parts", &["is another plan"]);
    dir.run("experiment small.toml --engine script --units 2 --quick --fresh --out parts", 0);
    assert!(!dir.path("parts/cells/units/other/replications.jsonl").exists());
    assert!(work(0).contains("computed"));
    dir.run("experiment plan small.toml --units 2 --quick --fresh --out parts", 0);
    assert!(work(0).contains("computed"));
}

/// An experiment killed fifty times at random moments keeps its finished replications, byte by byte.
#[test]
fn fifty_kills_lose_nothing_but_the_replication_that_was_hit() {
    let dir = ran(&SMALL.replace("count = 6", "count = 12"), "");
    let hit = dir.path("hit");
    let mut finished: BTreeSet<String> = BTreeSet::new();
    for kill in 0..50_u64 {
        let mut child = xtask_process();
        child.current_dir(&dir.0).args(["experiment", "small.toml", "--quiet", "--out", "hit"]);
        let mut child = child.spawn().expect("the program starts");
        std::thread::sleep(Duration::from_millis(5 + kill * 6_151 % 397));
        // It may have ended already.
        let _ = child.kill();
        child.wait().expect("it ends");
        let text = fs::read_to_string(hit.join("cells/replications.jsonl")).unwrap_or_default();
        let now = text.split_inclusive('\n').filter(|line| line.ends_with('\n')).map(str::to_owned).collect();
        assert!(finished.is_subset(&now), "a finished replication is lost or has changed at kill {kill}");
        finished = now;
    }
    dir.run("experiment small.toml --quiet --out hit", 0);
    assert_same(&results(&dir.path("out")), &results(&hit));
    let timings = &manifest(&hit)["timings"];
    assert_eq!(timings["replications_reused"].as_u64().expect("a count"), finished.len() as u64);
}

/// An experiment with EASY and an external program on a log of a model.
const OWN: &str = r#"
name = "own"
policies = ["easy", "exec+python3 p.py"]
baseline = "easy"
metrics = ["wait_mean"]
[[log]]
model = "lublin"
procs = 64
count = 400
load = 0.9
[replicate]
method = "seeds"
count = 2
"#;

#[test]
fn an_edited_policy_in_python_is_computed_again_and_its_old_results_are_reported() {
    if test_data::program(test_data::Need::Python, &["python3"]).is_none() {
        return;
    }
    let dir = Workdir::with("own.toml", OWN);
    let easy = include_str!("../../../../examples/policies/easy.py");
    let fcfs = easy.replace("for job in queue[1:]:", "for job in []:");
    assert_ne!(easy, fcfs);
    // Returns the number of replications computed, and the mean waits under the program and under EASY.
    let measured = || {
        dir.run("experiment own.toml --quiet --units 2 --out out", 0);
        let rows = dir.rows("out/results.csv");
        let mean = |policy: &str| rows.iter().find(|row| row["policy"] == policy).expect("its row")["mean"].clone();
        let computed = manifest(&dir.path("out"))["timings"]["replications_computed"].as_u64();
        (computed.expect("a count"), mean("exec+python3_p.py"), mean("easy"))
    };
    dir.file("p.py", easy);
    let (computed, of_easy, ours) = measured();
    assert!(computed > 0 && of_easy == ours, "EASY is EASY: {of_easy} and {ours} s");
    dir.run("verify out", 0);

    dir.file("p.py", &fcfs);
    let told = dir.run("verify out", 1).out;
    assert!(told.contains("out: computed by another version of p.py (SHA-256 "), "{told}");
    let words = "p.py: is not the program of exec+python3_p.py";
    dir.refuses("experiment work out/cells/plan.jsonl --unit 0", &[words]);
    let (computed, of_fcfs, _) = measured();
    assert!(computed > 0 && of_fcfs != of_easy, "{computed} replications, {of_easy} and {of_fcfs} s");
    dir.run("verify out", 0);

    dir.file("p.py", easy);
    assert_eq!(measured(), (0, of_easy, ours), "its replications are still there");
}

#[test]
fn commands_and_the_script_of_a_job_array_name_what_is_missing() {
    let dir = prepared(SMALL);
    let ask = |options: &str| dir.run(&format!("experiment small.toml --units 3 --out out --engine {options}"), 0).out;
    let slurm = "slurm --partition batch --time 01:00:00 --max-parallel 2 --dry-run";
    let script = ask(slurm);
    let lines = ["#SBATCH --array=0-", "%2\n", "#SBATCH --partition=batch\n", "#SBATCH --time=01:00:00\n"];
    for line in lines.into_iter().chain(["$SLURM_ARRAY_TASK_ID"]) {
        assert!(script.contains(line), "no {line:?} in {script}");
    }
    assert!(!dir.path("out").exists(), "a dry run writes nothing");
    let commands = ask("script");
    let are_units = commands.lines().all(|line| line.contains("experiment work"));
    assert!(are_units && commands.lines().count() >= 3, "{commands}");
    dir.run("experiment work out/cells/plan.jsonl --unit 1", 0);
    assert!(ask(slurm).contains("#SBATCH --array=0,2"), "unit 1 is finished");
}
