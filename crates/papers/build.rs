//! Hashes what determines a result, so that a stored replication is reused only by the code that computed it.
//!
//! That is what the compiler sees of the crates that simulate, and the versions of what they are built of. Comments,
//! documentation, tests, claims and figures are no part of it: none of them changes what a replication yields.

#[path = "build/sources.rs"]
mod sources;

use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Of the laboratory: who gives a replication its streams.
const LAB: &str = "crates/lab/src/study.rs";

/// Files of a paper that only show or judge what was found, or say what its metrics are called.
const SHOWING: [&str; 6] = ["claims.rs", "doubts.rs", "drawings.rs", "figures.rs", "metrics.rs", "tables.rs"];

fn main() {
    let manifest = env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    let workspace = Path::new(&manifest).ancestors().nth(2).expect("crates/papers lies inside the workspace");
    let read = |path: &Path| {
        println!("cargo::rerun-if-changed={}", path.display());
        fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    let root: toml::Table = toml::from_str(&read(&workspace.join("Cargo.toml"))).expect("a manifest");
    let about = |name: &str| &root["workspace"]["dependencies"][name];
    let mut files = vec![workspace.join(LAB)];
    let mut dependencies = BTreeSet::new();
    // This crate, and those of the workspace that it is built of: they simulate. The laboratory shows and judges.
    let mut open = vec!["papers".to_owned()];
    while let Some(name) = open.pop() {
        let Some(path) = about(&name).get("path").and_then(toml::Value::as_str) else { continue };
        if name == "lab" {
            continue;
        }
        let folder = workspace.join(path);
        println!("cargo::rerun-if-changed={}", folder.join("src").display());
        collect(&folder.join("src"), &mut files);
        let manifest: toml::Table = toml::from_str(&read(&folder.join("Cargo.toml"))).expect("a manifest");
        let table = manifest.get("dependencies").and_then(toml::Value::as_table);
        for name in table.into_iter().flat_map(toml::Table::keys) {
            if dependencies.insert(name.clone()) {
                open.push(name.clone());
            }
        }
    }
    files.sort();
    let mut hash = Sha256::new();
    let mut add = |name: &str, what: &str| {
        for part in [name, what] {
            hash.update(part);
            hash.update([0]);
        }
    };
    for file in files {
        let name = file.strip_prefix(workspace).expect("it lies inside the workspace");
        let code = sources::code(&read(&file)).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        add(&name.to_string_lossy().replace('\\', "/"), &code);
    }
    // Features are switched on here: some change the last digit of a number.
    for name in &dependencies {
        add(name, &about(name).to_string());
    }
    let lock = read(&workspace.join("Cargo.lock"));
    for package in sources::packages(&lock, dependencies).expect("a lock file") {
        add("package", &package);
    }
    println!("cargo::rustc-env=GRIDPROOF_MODELS={}", hex::encode(hash.finalize()));
}

/// Rust sources below `path` that determine a result.
fn collect(path: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(path).expect("a source folder can be read").flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        if path.is_dir() {
            collect(&path, files);
        } else if name.ends_with(".rs") && name != "tests.rs" && !SHOWING.contains(&name.as_str()) {
            files.push(path);
        }
    }
}
