//! A program reports the commit that it was built from, not the one that is checked out at run time.

#[path = "../../../crates/gridproof/build/revision.rs"]
mod revision;

use crate::program::{FOUR_JOBS, Workdir, folder, manifest, said};
use revision::Built;
use std::fs;
use std::path::Path;
use std::process::Command;

fn git(folder: &Path, arguments: &[&str]) {
    let identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"];
    let output = Command::new("git").arg("-C").arg(folder).args(identity).args(arguments).output().expect("git runs");
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn revision_changes_and_sources_are_those_of_the_working_tree() {
    let folder = folder();
    let root = folder.path();
    for (name, text) in [
        ("crates/a/src/lib.rs", "1"),
        ("crates/a/tests/it.rs", "1"),
        ("xtask/src/main.rs", "1"),
        ("Cargo.toml", ""),
        ("Cargo.lock", ""),
        ("rust-toolchain.toml", ""),
        ("README.md", ""),
    ] {
        fs::create_dir_all(root.join(name).parent().expect("a folder")).expect("it can be made");
        fs::write(root.join(name), text).expect("it can be written");
    }
    let built = || Built::of(root).expect("it can be read");
    let none = built();
    assert_eq!((none.revision.as_str(), none.is_dirty), ("unknown", false));

    git(root, &["init", "--quiet"]);
    git(root, &["add", "."]);
    git(root, &["commit", "--quiet", "--message", "one"]);
    let clean = built();
    assert_eq!((clean.revision.len(), clean.is_dirty), (40, false));
    assert_eq!(clean.sources, none.sources);
    // A commit changes a watched file, so that the program is built again and does not report an old revision.
    let git_folder = root.join(".git");
    let states = |built: &Built| -> Vec<Vec<u8>> {
        let watched = built.watched.iter().filter(|path| path.starts_with(&git_folder));
        watched.map(|path| fs::read(path).expect("it is there")).collect()
    };
    let before = states(&clean);
    assert!(!before.is_empty());

    for apart in ["README.md", "crates/a/tests/it.rs"] {
        fs::write(root.join(apart), "2").expect("it can be written");
        assert_eq!(built(), clean, "{apart} is no part of the program");
    }
    fs::write(root.join("crates/a/src/lib.rs"), "2").expect("it can be written");
    let dirty = built();
    assert_eq!((&dirty.revision, dirty.is_dirty), (&clean.revision, true));
    assert_ne!(dirty.sources, clean.sources);
    git(root, &["add", "."]);
    assert!(built().is_dirty, "what is staged is not committed");
    git(root, &["commit", "--quiet", "--message", "two"]);
    let second = built();
    assert_eq!((second.is_dirty, &second.sources), (false, &dirty.sources));
    assert_ne!(second.revision, clean.revision);
    assert_ne!(states(&clean), before);
}

#[test]
fn a_package_has_the_commit_that_cargo_noted_and_no_hash_of_sources() {
    let folder = folder();
    let of = |text: &str| {
        fs::write(folder.path().join(".cargo_vcs_info.json"), text).expect("it can be written");
        let Built { revision, is_dirty, sources, watched } = Built::of_package(folder.path());
        assert_eq!((sources.as_str(), watched.len()), ("unknown", 0));
        (revision, is_dirty)
    };
    let clean = "{\n  \"git\": {\n    \"sha1\": \"3bd8\"\n  },\n  \"path_in_vcs\": \"\"\n}";
    assert_eq!(of(clean), ("3bd8".to_owned(), false));
    assert_eq!(of("{\n  \"git\": {\n    \"sha1\": \"3bd8\",\n    \"dirty\": true\n  }\n}"), ("3bd8".to_owned(), true));
    assert_eq!(of("{}"), ("unknown".to_owned(), false));
}

#[test]
fn a_manifest_names_what_the_program_was_built_from_whatever_is_checked_out_now() {
    let dir = Workdir::with("log.swf", FOUR_JOBS);
    let mut command = dir.command("simulate log.swf --policy fcfs --quiet --out out");
    // Neither a repository nor git can be found.
    said(command.env("GIT_DIR", "nowhere").env("PATH", dir.0.path()), 0);
    let manifest = manifest(&dir.path("out"));
    assert_eq!(manifest["git_revision"], gridproof::GIT_REVISION);
    assert_eq!(manifest["sources_sha256"], gridproof::SOURCES);
}
