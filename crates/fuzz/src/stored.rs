//! Files that a later run trusts: finished replications, and the manifest of a folder of results.

use super::Target;
use anyhow::Result;
use lab::output::OutDir;
use lab::output::manifest::{Listed, MANIFEST, Manifest};
use lab::store::{Identity, Store};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::OnceLock;
use tempfile::TempDir;

pub(crate) const TARGETS: [Target; 2] = [
    Target::of(
        "store",
        "finished replications: no line is believed that is not as it was written",
        || vec![samples().store.clone()],
        check_store,
    ),
    Target::of(
        "manifest",
        "manifests of results: one that is believed says what was written",
        || vec![samples().manifest.clone()],
        check_manifest,
    ),
];

thread_local! {
    /// Folder of this thread, since tests of several targets run at once.
    static FOLDER: TempDir = new_folder();
}

/// Creates a folder, in memory if possible: on a disk, each truncation of a rewritten file is flushed, some dozens of times a second.
fn new_folder() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a temporary folder")
}

/// Writes a file, which lasts until the next one of that name, into the folder of this thread. Returns the folder.
fn put(name: &str, input: &[u8]) -> Result<PathBuf, String> {
    let folder = FOLDER.with(|folder| folder.path().to_owned());
    std::fs::write(folder.join(name), input).map_err(|error| format!("cannot write the input: {error}"))?;
    Ok(folder)
}

/// Files in the form in which a run writes them.
struct Samples {
    store: Vec<u8>,
    manifest: Vec<u8>,
    files: Vec<Listed>,
}

fn samples() -> &'static Samples {
    static SAMPLES: OnceLock<Samples> = OnceLock::new();
    SAMPLES.get_or_init(|| written().unwrap_or_else(|error| panic!("a folder of results cannot be made: {error:#}")))
}

fn written() -> Result<Samples> {
    let folder = new_folder();
    let results = folder.path().join("results");
    let out = OutDir::create(&results, "fuzz")?;
    let cells = out.cells();
    let store = Store::open(&cells)?;
    let names = ["wait", "response"].map(str::to_owned);
    for replication in 0..8 {
        let cell = serde_json::json!({ "policy": "easy", "load": 0.7 });
        let identity = Identity { paper: "fuzz", models: "0", cell: &cell, seed: 1, replication };
        store.save(&identity, &names, &[f64::from(replication) / 3.0, f64::NAN])?;
    }
    store.settle()?;
    drop(store);
    out.write("a.csv", "a")?;
    out.write("figures/b.svg", "<svg/>")?;
    out.finish(serde_json::json!({ "seed": 1, "timings": { "wall_seconds": 0.25 } }))?;
    let files = Manifest::read(&results)?.map_or_else(|| Ok(Vec::new()), |manifest| manifest.files())?;
    Ok(Samples {
        store: std::fs::read(cells.join("replications.jsonl"))?,
        manifest: std::fs::read(results.join(MANIFEST))?,
        files,
    })
}

fn check_store(input: &[u8]) -> Result<bool, String> {
    let folder = put("replications.jsonl", input)?;
    let (sound, damaged) = Store::census(&folder).map_err(|error| error.to_string())?;
    let written: BTreeSet<&[u8]> = samples().store.split_inclusive(|byte| *byte == b'\n').collect();
    // A last line without its end was cut off by a kill, and does not count.
    let lines = input.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n"));
    let as_written = lines.clone().filter(|line| written.contains(line)).count() as u64;
    if sound != as_written || sound + damaged != lines.count() as u64 {
        return Err(format!("{as_written} lines are as they were written, {sound} are believed, {damaged} are not"));
    }
    Ok(damaged == 0)
}

fn check_manifest(input: &[u8]) -> Result<bool, String> {
    let folder = put(MANIFEST, input)?;
    let Ok(Some(manifest)) = Manifest::read(&folder) else { return Ok(false) };
    // An unsound manifest must be readable, too, without a panic.
    let (command, files) = (manifest.command().map(str::to_owned), manifest.files());
    if !manifest.is_sound() {
        return Ok(false);
    }
    if command.as_deref() == Some("fuzz") && files.as_ref().is_ok_and(|files| *files == samples().files) {
        return Ok(true);
    }
    Err(format!("it is believed, and lists {command:?} and {} files", files.map_or(0, |files| files.len())))
}
