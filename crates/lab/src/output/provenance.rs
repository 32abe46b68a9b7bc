//! Origin of a result: revision, sources, executable, machine use.

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, OnceLock};

static BUILT: OnceLock<[&str; 2]> = OnceLock::new();

/// Sets, once, the commit that the program was built from and the SHA-256 of its sources.
pub fn built_from(revision: &'static str, sources: &'static str) {
    // The first call is the program's.
    let _ = BUILT.set([revision, sources]);
}

/// Returns the commit that this program was built from, marked `-dirty` if its sources differed from it; `unknown` outside a repository. It
/// is independent of what is checked out at run time.
pub fn git_revision() -> &'static str {
    BUILT.get().map_or("unknown", |[revision, _]| revision)
}

/// Returns the SHA-256 of the sources that this program was built from, committed or not.
pub fn sources() -> &'static str {
    BUILT.get().map_or("unknown", |[_, sources]| sources)
}

/// Returns the path of the running executable; empty if the system does not report it.
pub fn executable() -> &'static Path {
    static PATH: LazyLock<PathBuf> = LazyLock::new(|| std::env::current_exe().unwrap_or_default());
    &PATH
}

pub(crate) fn executable_sha256() -> &'static str {
    static HASH: LazyLock<String> = LazyLock::new(|| {
        // On Linux this is the running program, even if another build has replaced the file.
        let running = Path::new("/proc/self/exe");
        let hash = sha256_of(if running.exists() { running } else { executable() });
        // An executable that cannot be read has no identity beyond its process: its stored results are never reused.
        hash.unwrap_or_else(|_| format!("process {}", std::process::id()))
    });
    &HASH
}

/// Returns the identity of the code that computes a result: the hash of Gridproof's sources. For a program that `adds` to them, or that
/// does not report its sources, it is the hash of the executable.
pub fn code(adds: bool) -> &'static str {
    if adds || sources() == "unknown" { executable_sha256() } else { sources() }
}

/// Returns the SHA-256 of a file's content, in hexadecimal digits; fails if the file cannot be read.
pub fn sha256_of(path: &Path) -> io::Result<String> {
    let (mut hash, mut file, mut chunk) = (Sha256::new(), File::open(path)?, vec![0; 1 << 16]);
    loop {
        match file.read(&mut chunk)? {
            0 => return Ok(hex::encode(hash.finalize())),
            length => hash.update(&chunk[..length]),
        }
    }
}

/// Returns the SHA-256 of each file, by its path; fails if one cannot be read.
pub fn hashes_of(files: &[PathBuf]) -> Result<BTreeMap<String, String>> {
    let hash = |path: &PathBuf| {
        let unreadable = || format!("cannot read {}, a part of a policy", path.display());
        let is_own = path == executable();
        let hash = if is_own { executable_sha256().to_owned() } else { sha256_of(path).with_context(unreadable)? };
        Ok((path.to_string_lossy().into_owned(), hash))
    };
    files.iter().map(hash).collect()
}

/// Returns `text` as one word of a shell command.
pub fn quoted(text: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_./=,:+-@%".contains(&byte);
    if !text.is_empty() && text.bytes().all(is_plain) {
        return text.into();
    }
    format!("'{}'", text.replace('\'', r"'\''")).into()
}

/// Returns the CPU seconds that this process has used so far, if the system reports them (Linux).
pub(crate) fn cpu_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // Fields 14 and 15, user and system time in ticks, counted behind the name, which may contain blanks.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = fields.get(11)?.parse::<f64>().ok()? + fields.get(12)?.parse::<f64>().ok()?;
    // Linux reports to user space in hundredths of a second on every architecture.
    Some(ticks / 100.0)
}

/// Returns the peak memory of this process in MiB, if the system reports it (Linux).
pub(crate) fn peak_memory_mib() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<f64>().ok()? / 1024.0)
}
