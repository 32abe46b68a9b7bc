//! Units of work of an experiment: computed one by one, damaged, killed, by another program, or in a job array.

use super::{SMALL, prepared, run};
use crate::program::{assert_same, file, folder, manifest, results, table, xtask, xtask_process};
use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

#[test]
fn units_computed_one_by_one_and_collected_give_the_same_bytes() {
    let (folder, experiment) = prepared(SMALL);
    let (local, parts) = (folder.path().join("local"), folder.path().join("parts"));
    run(&experiment, &local, &["--units", "3"]);
    let how = ["--units", "3", "--out"];
    xtask().args(["experiment", "plan"]).arg(&experiment).args(how).arg(&parts).assert().code(0);
    let plan = parts.join("cells/plan.jsonl");
    let units = fs::read_to_string(&plan).expect("the plan").lines().count() - 1;
    assert!(units >= 3, "{units} units");
    let work = |unit: usize| {
        let unit = unit.to_string();
        let run = xtask().args(["experiment", "work"]).arg(&plan).args(["--unit", &unit]).assert().code(0);
        String::from_utf8_lossy(&run.get_output().stdout).into_owned()
    };
    for unit in 1..units {
        assert!(work(unit).contains("computed"));
    }
    let collect = || xtask().args(["experiment", "collect"]).arg(&plan).assert();
    let told = collect().code(2);
    let told = String::from_utf8_lossy(&told.get_output().stderr).into_owned();
    assert!(told.contains(&format!("1 of {units} units are missing: 0;")), "{told}");
    assert!(work(0).contains("computed") && work(0).contains("was there"));
    collect().code(0);
    assert_same(&results(&local), &results(&parts));

    // Another machine has also computed the first unit, with a different result.
    let text = fs::read_to_string(parts.join("cells/units/0/replications.jsonl")).expect("a unit");
    let line = text.lines().next().expect("a replication");
    let (content, _) = line.rsplit_once(",\"sha256\"").expect("its hash");
    let mut content = content.to_owned();
    let at = content.rfind('[').expect("its metrics") + 1;
    content.replace_range(at..=at, "9");
    let sum = hex_of_sha256(&content);
    fs::create_dir(parts.join("cells/units/other")).expect("a folder");
    file(&folder, "parts/cells/units/other/replications.jsonl", format!("{content},\"sha256\":\"{sum}\"}}\n"));
    let told = collect().code(2);
    let told = String::from_utf8_lossy(&told.get_output().stderr).into_owned();
    assert!(
        told.contains("units/other/replications.jsonl") && told.contains("twice, with different numbers"),
        "{told}"
    );
}

fn hex_of_sha256(text: &str) -> String {
    use sha2::{Digest, Sha256};
    hex::encode(Sha256::digest(text))
}

#[test]
fn a_damaged_replication_is_reported_set_aside_and_computed_again() {
    let (folder, experiment) = prepared(SMALL);
    let out = folder.path().join("out");
    run(&experiment, &out, &[]);
    let (before, path) = (results(&out), out.join("cells/replications.jsonl"));
    let whole = fs::read(&path).expect("finished replications");
    xtask().arg("verify").arg(&out).assert().code(0);
    let mut damaged = whole.clone();
    damaged[whole.len() / 3] ^= 1;
    fs::write(&path, &damaged).expect("it is damaged");
    xtask().arg("verify").arg(&out).assert().code(1);
    let again = xtask().arg("experiment").arg(&experiment).arg("--out").arg(&out).assert().code(0);
    let told = String::from_utf8_lossy(&again.get_output().stderr).into_owned();
    assert!(told.contains("is damaged; the file as it was is kept as"), "{told}");
    assert_eq!(fs::read(out.join("cells/damaged/replications-1.jsonl")).expect("set aside"), damaged);
    assert_eq!(fs::read(&path).expect("it is there again"), whole);
    assert_same(&before, &results(&out));
    assert_eq!(manifest(&out)["timings"]["replications_computed"], 1);
}

/// An experiment killed fifty times at random moments keeps its finished replications, byte by byte.
#[test]
fn fifty_kills_lose_nothing_but_the_replication_that_was_hit() {
    let (folder, experiment) = prepared(&SMALL.replace("count = 6", "count = 12"));
    let calm = folder.path().join("calm");
    run(&experiment, &calm, &[]);
    let hit = folder.path().join("hit");
    let mut finished: BTreeSet<String> = BTreeSet::new();
    for kill in 0..50_u64 {
        let mut child = xtask_process();
        child.arg("experiment").arg(&experiment).args(["--quiet", "--out"]).arg(&hit);
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
    run(&experiment, &hit, &[]);
    assert_same(&results(&calm), &results(&hit));
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
    let folder = folder();
    file(&folder, "own.toml", OWN);
    let easy = include_str!("../../../../examples/policies/easy.py");
    let fcfs = easy.replace("for job in queue[1:]:", "for job in []:");
    assert_ne!(easy, fcfs);
    let program = |text: &str| file(&folder, "p.py", text);
    let out = folder.path().join("out");
    let inside = |words: &[&str]| {
        let mut command = xtask();
        command.args(words).current_dir(folder.path());
        command.assert()
    };
    // Returns the number of replications computed, and the mean waits under the program and under EASY.
    let measured = || {
        inside(&["experiment", "own.toml", "--quiet", "--units", "2", "--out", "out"]).code(0);
        let (_, rows) = table(&out.join("results.csv"));
        let mean = |policy: &str| rows.iter().find(|row| row["policy"] == policy).expect("its row")["mean"].clone();
        let computed = manifest(&out)["timings"]["replications_computed"].as_u64().expect("a count");
        (computed, mean("exec+python3_p.py"), mean("easy"))
    };
    program(easy);
    let (computed, of_easy, ours) = measured();
    assert!(computed > 0 && of_easy == ours, "EASY is EASY: {of_easy} and {ours} s");
    inside(&["verify", "out"]).code(0);

    program(&fcfs);
    let other = "out: computed by another version of p.py (SHA-256 ";
    inside(&["verify", "out"]).code(1).stdout(predicates::str::contains(other));
    let unit = ["experiment", "work", "out/cells/plan.jsonl", "--unit", "0"];
    inside(&unit).code(2).stderr(predicates::str::contains("p.py: is not the program of exec+python3_p.py"));
    let (computed, of_fcfs, _) = measured();
    assert!(computed > 0 && of_fcfs != of_easy, "{computed} replications, {of_easy} and {of_fcfs} s");
    inside(&["verify", "out"]).code(0);

    program(easy);
    assert_eq!(measured(), (0, of_easy, ours), "its replications are still there");
}

#[test]
fn commands_and_the_script_of_a_job_array_name_what_is_missing() {
    let (folder, experiment) = prepared(SMALL);
    let out = folder.path().join("out");
    let ask = |options: &[&str]| {
        let run =
            xtask().arg("experiment").arg(&experiment).args(["--units", "3", "--out"]).arg(&out).args(options).assert();
        String::from_utf8_lossy(&run.code(0).get_output().stdout).into_owned()
    };
    let slurm = ["--engine", "slurm", "--partition", "batch", "--time", "01:00:00", "--max-parallel", "2", "--dry-run"];
    let script = ask(&slurm);
    for line in [
        "#SBATCH --array=0-",
        "%2\n",
        "#SBATCH --partition=batch\n",
        "#SBATCH --time=01:00:00\n",
        "$SLURM_ARRAY_TASK_ID",
    ] {
        assert!(script.contains(line), "no {line:?} in {script}");
    }
    assert!(!out.exists(), "a dry run writes nothing");
    let commands = ask(&["--engine", "script"]);
    assert!(
        commands.lines().count() >= 3 && commands.lines().all(|line| line.contains("experiment work")),
        "{commands}"
    );
    let plan = out.join("cells/plan.jsonl");
    xtask().args(["experiment", "work"]).arg(&plan).args(["--unit", "1"]).assert().code(0);
    assert!(ask(&slurm).contains("#SBATCH --array=0,2"), "unit 1 is finished");
}
