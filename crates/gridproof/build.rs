//! Passes the revision of the build to the program. It is here because a commit then rebuilds little more than this crate.
//! In a package of a registry the revision is the commit that cargo recorded, and the hash of the sources is unknown.

#[path = "build/revision.rs"]
mod revision;

use revision::Built;
use std::env;
use std::path::Path;

fn main() {
    let manifest = env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    let package = Path::new(&manifest);
    let workspace = package.join("../..");
    let is_checkout = workspace.join("crates/gridproof/build.rs").is_file();
    let built =
        if is_checkout { Built::of(&workspace).expect("source files can be read") } else { Built::of_package(package) };
    for file in &built.watched {
        println!("cargo::rerun-if-changed={}", file.display());
    }
    println!("cargo::rustc-env=GRIDPROOF_REVISION={}", built.revision);
    println!("cargo::rustc-env=GRIDPROOF_DIRTY={}", if built.is_dirty { "-dirty" } else { "" });
    println!("cargo::rustc-env=GRIDPROOF_SOURCES={}", built.sources);
}
