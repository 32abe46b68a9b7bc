use super::*;
use serde_json::json;
use std::collections::BTreeMap;
use std::fs;

const OLD: [(&str, &str); 4] =
    [("a.csv", "old"), ("b.csv", "old"), ("figures/old.svg", "old"), ("figures/x.svg", "old")];
const NEW: [(&str, &str); 4] = [("a.csv", "new"), ("c.csv", "new"), ("data/x.csv", "new"), ("figures/x.svg", "new")];

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

fn run(folder: &Path, command: &str, files: &[(&str, &str)]) -> Result<()> {
    let out = OutDir::create(folder, command)?;
    files.iter().try_for_each(|(name, content)| out.write(name, content))?;
    out.finish(json!({"timings": {"wall_seconds": 0.25}}))
}

/// Returns the content of every file except the manifest.
fn content(folder: &Path) -> BTreeMap<String, String> {
    let names = manifest::names_below(folder).expect("a folder");
    let names = names.into_iter().filter(|name| name != MANIFEST);
    names.map(|name| (name.clone(), fs::read_to_string(folder.join(name)).expect("a file"))).collect()
}

fn owned(files: &[(&str, &str)]) -> BTreeMap<String, String> {
    files.iter().map(|(name, content)| ((*name).to_owned(), (*content).to_owned())).collect()
}

fn refusal(result: Result<()>) -> String {
    format!("{:#}", result.expect_err("it is refused"))
}

#[test]
fn what_a_killed_process_left_is_swept_and_what_a_living_one_writes_is_not() {
    let folder = folder();
    // Above the largest process number.
    let dead = folder.path().join(".gridproof-staging-4194305/files");
    fs::create_dir_all(&dead).expect("it can be made");
    fs::write(dead.join("jobs.csv"), "half").expect("it can be written");
    fs::write(folder.path().join(".gridproof-partial-4194305-abc"), "half").expect("it can be written");
    let living = partial_in(folder.path()).expect("it can be written");
    run(folder.path(), "test", &NEW).expect("it is no hindrance");
    let left = living.path().file_name().expect("a name").to_string_lossy().into_owned();
    let mut expected = owned(&NEW);
    expected.insert(left, String::new());
    assert_eq!(content(folder.path()), expected);
}

#[test]
fn a_folder_with_another_programs_manifest_is_refused_and_not_touched() {
    let folder = folder();
    run(folder.path(), "reproduce p", &OLD).expect("the first");
    fs::write(folder.path().join(MANIFEST), "{\"paper\": \"p\"}").expect("it can be written");
    let message = refusal(run(folder.path(), "reproduce p", &NEW));
    assert!(message.contains("lists no files"), "{message}");
    fs::write(folder.path().join(MANIFEST), "{").expect("it can be written");
    let message = refusal(run(folder.path(), "reproduce p", &NEW));
    assert!(message.contains("manifest.json") && message.contains("line 1"), "{message}");
    assert_eq!(content(folder.path()), owned(&OLD));
}

#[test]
fn a_foreign_file_in_the_way_stays_and_so_do_the_earlier_results() {
    for name in ["c.csv", "data"] {
        let folder = folder();
        run(folder.path(), "test", &OLD).expect("the first");
        fs::write(folder.path().join(name), "mine").expect("it can be written");
        let message = refusal(run(folder.path(), "test", &NEW));
        assert!(message.contains(name) && message.contains("move it away"), "{message}");
        assert!(folder.path().join(MANIFEST).exists());
        assert_eq!(content(folder.path()), owned(&[&OLD[..], &[(name, "mine")]].concat()));
    }
}

#[test]
fn a_manifest_that_names_files_outside_its_folder_is_refused() {
    let folder = folder();
    let out = folder.path().join("out");
    run(&out, "test", &OLD).expect("the first");
    fs::write(folder.path().join("mine.txt"), "mine").expect("it can be written");
    let text = fs::read_to_string(out.join(MANIFEST)).expect("a manifest");
    fs::write(out.join(MANIFEST), text.replace("a.csv", "../mine.txt")).expect("it can be edited");
    assert!(refusal(run(&out, "test", &NEW)).contains("expected a path inside the folder"));
    assert!(folder.path().join("mine.txt").exists());
}

#[test]
fn no_flipped_bit_of_a_manifest_changes_what_it_says_unnoticed() {
    let folder = folder();
    run(folder.path(), "test", &OLD).expect("a run");
    let path = folder.path().join(MANIFEST);
    let text = fs::read(&path).expect("a manifest");
    let files = Manifest::read(folder.path()).expect("whole").expect("there").files().expect("a list");
    for bit in 0..8 * text.len() {
        let mut flipped = text.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        fs::write(&path, &flipped).expect("it can be damaged");
        if let Ok(Some(manifest)) = Manifest::read(folder.path())
            && manifest.is_sound()
        {
            assert_eq!(manifest.command(), Some("test"), "bit {bit}");
            assert_eq!(manifest.files().expect("a list"), files, "bit {bit}");
        }
    }
}
