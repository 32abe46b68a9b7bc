//! Helpers that run the program and read its output.

use assert_cmd::Command;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::Duration;
use tempfile::TempDir;

/// Command that runs multi-site with runs of 2 000 jobs and two replications: a fraction of a second.
pub(crate) const SMALL: &str =
    "reproduce multi-site --quick --reps 2 --set run.quick_jobs=2000 --set run.quick_run_lengths=[500,2000]";

/// Four jobs on eight processors: the second waits for the whole machine, the third can be backfilled and runs beyond its
/// estimate, the fourth is wider than the machine.
pub(crate) const FOUR_JOBS: &str = "\
; MaxProcs: 8
1 100 -1 10  4 -1 -1  4 20 -1 1 7 1 -1 -1 -1 -1 -1
2 105 -1 10  8 -1 -1  8 20 -1 1 7 1 -1 -1 -1 -1 -1
3 106 -1 10  2 -1 -1  2  5 -1 1 8 1 -1 -1 -1 -1 -1
4 107 -1 10 16 -1 -1 16 15 -1 1 8 1 -1 -1 -1 -1 -1
";

/// Ten jobs on a machine of ten processors.
pub(crate) const TEN_JOBS: &str = include_str!("ten-jobs.swf");

/// Returns the program.
pub(crate) fn xtask() -> Command {
    assert_cmd::cargo::cargo_bin_cmd!("xtask")
}

/// Returns the program as a process that can be interrupted.
pub(crate) fn xtask_process() -> std::process::Command {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_xtask"));
    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::piped());
    command
}

/// Starts a program, waits until `has_begun`, stops it, and returns its exit code and standard error.
pub(crate) fn stopped(
    command: &mut std::process::Command,
    has_begun: impl Fn() -> bool,
    stop: impl FnOnce(&mut Child),
) -> (Option<i32>, String) {
    let mut child = command.spawn().expect("the program starts");
    while !has_begun() {
        assert!(child.try_wait().expect("a child").is_none(), "it ended before it could be stopped");
        std::thread::sleep(Duration::from_millis(2));
    }
    stop(&mut child);
    let output = child.wait_with_output().expect("it ends");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Sends a signal; that of Ctrl-C is `INT`.
#[cfg(unix)]
pub(crate) fn signal(child: &Child, name: &str) {
    let kill = std::process::Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).status();
    assert!(kill.expect("kill runs").success());
}

/// Creates a folder of the test's own, removed when the value is dropped.
pub(crate) fn folder() -> TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

/// A folder of a test's own, in which the program runs; it is removed when the value is dropped.
pub(crate) struct Workdir(pub(crate) TempDir);

/// Output of a command: standard output and standard error.
pub(crate) struct Said {
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Workdir {
    pub(crate) fn new() -> Self {
        Self(folder())
    }

    /// Creates one with a file in it.
    pub(crate) fn with(name: &str, content: impl AsRef<[u8]>) -> Self {
        let dir = Self::new();
        dir.file(name, content);
        dir
    }

    /// Writes a file, and returns its path.
    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, content).expect("the temporary folder can be written to");
        path
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Returns the program with arguments that hold no blanks.
    pub(crate) fn command(&self, words: &str) -> Command {
        let mut command = xtask();
        command.current_dir(&self.0).args(words.split(' '));
        command
    }

    /// Runs a command, which must end with this exit code.
    pub(crate) fn run(&self, words: &str, code: i32) -> Said {
        said(&mut self.command(words), code)
    }

    /// Checks that a command is refused with exit code 2 and a message with each of `words`, and writes nothing. Returns the message.
    pub(crate) fn refuses(&self, command: &str, words: &[&str]) -> String {
        self.refuses_all(&command.split(' ').collect::<Vec<_>>(), words)
    }

    /// The same with arguments that may hold blanks.
    pub(crate) fn refuses_all(&self, arguments: &[&str], words: &[&str]) -> String {
        let here = || (names(self.0.path()), fs::read_dir(&self.0).expect("a folder").count());
        let before = here();
        let Said { out, err } = said(xtask().current_dir(&self.0).args(arguments), 2);
        assert!(out.is_empty() && err.starts_with("error: ") && err.matches("error: ").count() == 1, "{out}{err}");
        for word in words.iter().copied() {
            assert!(err.contains(word) && !err.contains("panicked"), "no {word:?} in: {err}");
        }
        assert_eq!(here(), before, "something was written");
        err
    }

    pub(crate) fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Returns the rows of a table by column.
    pub(crate) fn rows(&self, name: &str) -> Vec<BTreeMap<String, String>> {
        table(&self.path(name)).1
    }
}

/// Draws `lublin.swf`: jobs of Lublin's model on 64 processors, many of which wait, with estimates.
pub(crate) fn generate(dir: &Workdir, count: u32, seed: u32) {
    let model = "workload generate lublin --procs 64 --estimates tsafrir --quiet --out lublin.swf";
    dir.run(&format!("{model} --count {count} --seed {seed}"), 0);
}

impl Said {
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}", self.out))
    }
}

/// Runs a command, which must end with this exit code.
pub(crate) fn said(command: &mut Command, code: i32) -> Said {
    let run = command.assert().code(code);
    let [out, err] = [&run.get_output().stdout, &run.get_output().stderr].map(|text| text.clone());
    Said { out: String::from_utf8(out).expect("UTF-8"), err: String::from_utf8_lossy(&err).into_owned() }
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

/// Returns the root of the workspace.
pub(crate) fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies inside the workspace")
}

/// Returns the files below `root` whose names end in `end`, by their paths relative to it.
pub(crate) fn texts(root: &Path, end: &str) -> BTreeMap<String, String> {
    let text = |name: &String| {
        fs::read_to_string(root.join(name)).unwrap_or_else(|error| panic!("{}: {name}: {error}", root.display()))
    };
    let names = names(root).into_iter().filter(|name| name.ends_with(end));
    names.map(|name| (name.clone(), text(&name))).collect()
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
