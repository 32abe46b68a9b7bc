//! Hashes the sources that determine a result, so that a stored replication is reused only by the code that computed it.
//!
//! These are the sources of `crates/` and the versions and features of the packages that they are built of. Crates above the simulations
//! and the files of a paper that only show or judge results are left out. A package from a registry lacks the sources of other crates: its
//! hash is empty, and a replication belongs to the executable that computed it.

use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Crates that only show, judge, test or call. The laboratory's file that gives a replication its streams is hashed.
const ABOVE: [&str; 6] = ["experiment", "gridproof", "lab", "replay", "slurm-sched", "test-data"];

/// Files of a paper that only show or judge.
const SHOWING: [&str; 4] = ["claims.rs", "drawings.rs", "figures.rs", "tables.rs"];

fn main() {
    let manifest = env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    let workspace = Path::new(&manifest).join("../..");
    if !workspace.join("crates/papers/build.rs").is_file() {
        println!("cargo::rustc-env=GRIDPROOF_MODELS=");
        return;
    }
    let mut files = ["Cargo.toml", "Cargo.lock", "crates/lab/src/study.rs"].map(|name| workspace.join(name)).to_vec();
    for folder in entries(&workspace.join("crates")).into_iter().filter(|folder| !is_one_of(folder, &ABOVE)) {
        println!("cargo::rerun-if-changed={}", folder.join("src").display());
        collect(&folder.join("src"), &mut files);
    }
    let mut hash = Sha256::new();
    // A source distribution of the Python package has no lock file of the workspace.
    for file in files.into_iter().filter(|file| file.is_file()) {
        println!("cargo::rerun-if-changed={}", file.display());
        hash.update(fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display())));
    }
    println!("cargo::rustc-env=GRIDPROOF_MODELS={}", hex::encode(hash.finalize()));
}

fn is_one_of(path: &Path, names: &[&str]) -> bool {
    path.file_name().is_some_and(|name| names.iter().any(|known| name == *known))
}

/// Returns the entries of a folder, in order of names; none if there is no such folder.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder).into_iter().flatten().flatten().map(|it| it.path()).collect();
    entries.sort();
    entries
}

/// Collects the Rust sources below `folder` that determine a result.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for path in entries(folder) {
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|kind| kind == "rs") && !is_one_of(&path, &SHOWING) {
            files.push(path);
        }
    }
}
