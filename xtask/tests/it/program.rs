//! Helpers that run the program and read its output.

use assert_cmd::Command;
use assert_cmd::assert::Assert;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Arguments for multi-site with runs of 2 000 jobs and two replications: a fraction of a second.
pub(crate) const SMALL: [&str; 9] = [
    "reproduce",
    "multi-site",
    "--quick",
    "--reps",
    "2",
    "--set",
    "run.quick_jobs=2000",
    "--set",
    "run.quick_run_lengths=[500,2000]",
];

/// Four jobs on eight processors: the second waits for the whole machine, the third can be backfilled and runs beyond its
/// estimate, the fourth is wider than the machine.
pub(crate) const FOUR_JOBS: &str = "\
; MaxProcs: 8
1 100 -1 10  4 -1 -1  4 20 -1 1 7 1 -1 -1 -1 -1 -1
2 105 -1 10  8 -1 -1  8 20 -1 1 7 1 -1 -1 -1 -1 -1
3 106 -1 10  2 -1 -1  2  5 -1 1 8 1 -1 -1 -1 -1 -1
4 107 -1 10 16 -1 -1 16 15 -1 1 8 1 -1 -1 -1 -1 -1
";

/// Returns the program.
pub(crate) fn xtask() -> Command {
    assert_cmd::cargo::cargo_bin_cmd!("xtask")
}

/// Runs a command with `--out`, which must end with exit code 0.
pub(crate) fn write(arguments: &[&str], out: &Path) -> Assert {
    xtask().args(arguments).arg("--out").arg(out).assert().code(0)
}

/// Returns the program as a process that can be interrupted.
pub(crate) fn xtask_process() -> std::process::Command {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_xtask"));
    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::piped());
    command
}

/// Creates a folder of the test's own, removed when the value is dropped.
pub(crate) fn folder() -> TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

/// Writes a file for the program to read.
pub(crate) fn file(folder: &TempDir, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.path().join(name);
    fs::write(&path, content).expect("the temporary folder can be written to");
    path
}

/// Returns a path as text.
pub(crate) fn utf8(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

/// Returns the path of every file below `root`, relative to it, in order. The program may be writing there meanwhile.
pub(crate) fn names(root: &Path) -> BTreeSet<String> {
    fn collect(root: &Path, folder: &Path, names: &mut BTreeSet<String>) {
        for entry in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
            if entry.is_dir() {
                collect(root, &entry, names);
            } else {
                let name = entry.strip_prefix(root).expect("it lies below");
                names.insert(name.to_string_lossy().replace('\\', "/"));
            }
        }
    }
    let mut found = BTreeSet::new();
    if root.exists() {
        collect(root, root, &mut found);
    }
    found
}

/// Returns every file below `root`, by its path relative to it. Call it after all writers have ended.
pub(crate) fn tree(root: &Path) -> BTreeMap<String, Vec<u8>> {
    names(root).into_iter().map(|name| (name.clone(), fs::read(root.join(name)).expect("a file"))).collect()
}

/// Returns the results that do not depend on time, place or number of threads: all files, without the timings in the manifest and without
/// finished replications (`cells/`).
pub(crate) fn results(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = tree(root);
    files.retain(|name, _| !name.starts_with("cells/"));
    let mut manifest = manifest(root);
    manifest.as_object_mut().expect("an object").remove("timings").expect("timings");
    files.insert("manifest.json".to_owned(), manifest.to_string().into_bytes());
    files
}

/// Fails with the name of the first file that differs.
pub(crate) fn assert_same(one: &BTreeMap<String, Vec<u8>>, two: &BTreeMap<String, Vec<u8>>) {
    assert_eq!(one.keys().collect::<Vec<_>>(), two.keys().collect::<Vec<_>>());
    for (name, content) in one {
        assert!(*content == two[name], "{name} differs");
    }
}

/// Reads `manifest.json`.
pub(crate) fn manifest(root: &Path) -> serde_json::Value {
    let text = fs::read(root.join("manifest.json")).expect("a manifest");
    serde_json::from_slice(&text).expect("JSON")
}

/// Reads a table: its header, and each row by column.
pub(crate) fn table(path: &Path) -> (Vec<String>, Vec<BTreeMap<String, String>>) {
    let mut reader = csv::Reader::from_path(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let header: Vec<String> = reader.headers().expect("a header").iter().map(str::to_owned).collect();
    let mut columns = BTreeSet::new();
    header.iter().for_each(|name| assert!(columns.insert(name), "{}: two columns {name}", path.display()));
    let row = |row: Result<csv::StringRecord, _>| {
        header.iter().cloned().zip(row.expect("a row").iter().map(str::to_owned)).collect()
    };
    let rows = reader.records().map(row).collect();
    (header, rows)
}

/// Parses a number of a table.
pub(crate) fn number(text: &str) -> f64 {
    text.parse().unwrap_or_else(|_| panic!("{text:?} is no number"))
}

/// Largest page of a paper.
const PAGE_BYTES: usize = 2_000_000;

/// Checks that the page opens offline: its security policy forbids loading, and its elements load nothing.
pub(crate) fn assert_self_contained(root: &Path) {
    let page = fs::read_to_string(root.join("report.html")).expect("a report");
    assert!(page.len() < PAGE_BYTES, "{} bytes are too many to send to anybody", page.len());
    assert!(page.contains("http-equiv=\"Content-Security-Policy\" content=\"default-src 'none';"));
    // Scripts are inline: the text between their tags is skipped.
    let mut markup = String::new();
    for piece in page.split("<script") {
        let (script, rest) = piece.split_once("</script>").unwrap_or(("", piece));
        assert!(!script.split('>').next().unwrap_or("").contains("src"), "a script is fetched");
        markup += rest;
    }
    for fetch in ["src=\"http", "href=\"http", "src='http", "href='http", "url(http", "@import", "<iframe", "<object"] {
        assert!(!markup.contains(fetch), "{fetch}");
    }
    // Linked files exist beside it.
    for link in markup.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next()) {
        let link = link.replace("&#x2f;", "/");
        if !link.starts_with('#') && !link.starts_with("data:") {
            assert!(root.join(&link).is_file(), "a link leads to {link}");
        }
    }
}
