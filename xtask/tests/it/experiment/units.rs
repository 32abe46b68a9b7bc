//! Units of an experiment: computed one by one, damaged, killed, by another program, or in a job array.

use super::{SMALL, prepared, run};
use crate::program::{assert_same, file, folder, manifest, results, table, tree, xtask, xtask_process};
use std::collections::BTreeMap;
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

    // Another machine has computed the first unit, too, and something else came out.
    let folder_of_units = parts.join("cells/units");
    let copy = fs::read_dir(&folder_of_units).expect("units").flatten().next().expect("a unit").path();
    let text = fs::read_to_string(&copy).expect("a unit");
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let at = lines[1].rfind("[").expect("its metrics") + 1;
    lines[1].replace_range(at..=at, "9");
    let content = lines[..lines.len() - 1].join("\n");
    let sum = hex_of_sha256(&content);
    fs::write(folder_of_units.join("other.jsonl"), format!("{content}\n{{\"sha256\":\"{sum}\"}}\n")).expect("written");
    let told = collect().code(2);
    let told = String::from_utf8_lossy(&told.get_output().stderr).into_owned();
    assert!(told.contains("other.jsonl") && told.contains("twice, with different numbers"), "{told}");
}

fn hex_of_sha256(text: &str) -> String {
    use sha2::{Digest, Sha256};
    hex::encode(Sha256::digest(text))
}

#[test]
fn a_damaged_unit_is_told_set_aside_and_computed_again() {
    let (folder, experiment) = prepared(SMALL);
    let out = folder.path().join("out");
    run(&experiment, &out, &["--units", "2"]);
    let before = results(&out);
    let units = out.join("cells/units");
    let one = fs::read_dir(&units).expect("units").flatten().next().expect("a unit").path();
    let whole = fs::read(&one).expect("a unit");
    xtask().arg("verify").arg(&out).assert().code(0);
    fs::write(&one, &whole[..whole.len() / 2]).expect("it is cut");
    xtask().arg("verify").arg(&out).assert().code(1);
    let again = xtask().arg("experiment").arg(&experiment).args(["--units", "2", "--out"]).arg(&out).assert().code(0);
    let told = String::from_utf8_lossy(&again.get_output().stderr).into_owned();
    assert!(told.contains("is damaged; it is kept as"), "{told}");
    let kept = fs::read_dir(out.join("cells/damaged")).expect("set aside").flatten().next().expect("the unit").path();
    assert_eq!(fs::read(kept).expect("it is as it was"), whole[..whole.len() / 2]);
    assert_eq!(fs::read(&one).expect("it is there again"), whole);
    assert_same(&before, &results(&out));
    assert_eq!(manifest(&out)["timings"]["units_computed"], 1);
}

/// An experiment killed fifty times at random moments keeps its finished units, byte by byte.
#[test]
fn fifty_kills_lose_nothing_but_the_unit_that_was_hit() {
    let (folder, experiment) = prepared(&SMALL.replace("count = 6", "count = 12"));
    let calm = folder.path().join("calm");
    let options = ["--units", "2"];
    run(&experiment, &calm, &options);
    let hit = folder.path().join("hit");
    let mut finished: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    let units = hit.join("cells/units");
    for kill in 0..50_u64 {
        let mut child = xtask_process();
        child.arg("experiment").arg(&experiment).args(["--quiet", "--out"]).arg(&hit).args(options);
        let mut child = child.spawn().expect("the program starts");
        std::thread::sleep(Duration::from_millis(5 + kill * 6_151 % 397));
        // It may have come to its end.
        let _ = child.kill();
        child.wait().expect("it ends");
        let mut now = tree(&units);
        now.retain(|name, _| name.ends_with(".jsonl") && !name.contains("partial"));
        for (name, content) in &finished {
            assert!(now.get(name) == Some(content), "the finished unit {name} has changed at kill {kill}");
        }
        finished = now;
    }
    run(&experiment, &hit, &options);
    assert_same(&results(&calm), &results(&hit));
    let timings = &manifest(&hit)["timings"];
    assert_eq!(timings["units_reused"].as_u64().expect("a count"), finished.len() as u64);
}

/// One log of a model under EASY and a program of the user's own.
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
    // How many units were computed, and the mean waits under the program and under EASY.
    let measured = || {
        inside(&["experiment", "own.toml", "--quiet", "--units", "2", "--out", "out"]).code(0);
        let (_, rows) = table(&out.join("results.csv"));
        let mean = |policy: &str| rows.iter().find(|row| row["policy"] == policy).expect("its row")["mean"].clone();
        let computed = manifest(&out)["timings"]["units_computed"].as_u64().expect("a count");
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
    assert!(computed > 0 && of_fcfs != of_easy, "{computed} units, {of_easy} and {of_fcfs} s");
    inside(&["verify", "out"]).code(0);

    program(easy);
    assert_eq!(measured(), (0, of_easy, ours), "its units are still there");
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
