//! Hashes what determines a result, so that a stored replication is reused only by the code that computed it.

use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Sources that results depend on, relative to the workspace.
const DETERMINING: [&str; 2] = ["crates", "Cargo.lock"];

/// Sources among them that no result depends on: charts, pages and the command line.
const OTHERS: [&str; 4] = ["crates/gridproof", "crates/replay", "crates/lab/src/chart", "crates/lab/src/page"];

fn main() {
    let manifest = env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    let workspace = Path::new(&manifest).ancestors().nth(2).expect("crates/papers lies inside the workspace");
    let mut files = Vec::new();
    for root in DETERMINING {
        println!("cargo::rerun-if-changed={}", workspace.join(root).display());
        collect(&workspace.join(root), &mut files);
    }
    files.retain(|file| !OTHERS.iter().any(|other| file.starts_with(workspace.join(other))));
    files.sort();
    let mut hash = Sha256::new();
    for file in files {
        let name = file.strip_prefix(workspace).expect("it lies inside the workspace");
        hash.update(name.to_string_lossy().replace('\\', "/"));
        hash.update([0]);
        hash.update(fs::read(&file).expect("a source file can be read"));
        hash.update([0]);
    }
    println!("cargo::rustc-env=GRIDPROOF_MODELS={}", hex::encode(hash.finalize()));
}

/// Rust sources and the lock file; tests, benches and examples determine nothing.
fn collect(path: &Path, files: &mut Vec<PathBuf>) {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if path.is_dir() {
        if !["tests", "benches", "examples", "target"].contains(&name.as_ref()) {
            for entry in fs::read_dir(path).expect("a source folder can be read").flatten() {
                collect(&entry.path(), files);
            }
        }
    } else if name.ends_with(".rs") || name == "Cargo.lock" {
        files.push(path.to_owned());
    }
}
