//! Tells the program which revision it is built from. Here and not below: a commit builds little more than the front door again.

#[path = "build/revision.rs"]
mod revision;

use revision::Built;
use std::env;
use std::path::Path;

fn main() {
    let manifest = env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    let workspace = Path::new(&manifest).ancestors().nth(2).expect("crates/gridproof lies inside the workspace");
    let built = Built::of(workspace).expect("source files can be read");
    for file in &built.watched {
        println!("cargo::rerun-if-changed={}", file.display());
    }
    println!("cargo::rustc-env=GRIDPROOF_REVISION={}", built.revision);
    println!("cargo::rustc-env=GRIDPROOF_DIRTY={}", if built.is_dirty { "-dirty" } else { "" });
    println!("cargo::rustc-env=GRIDPROOF_SOURCES={}", built.sources);
}
