//! Where a result comes from.

use std::borrow::Cow;
use std::sync::OnceLock;

static BUILT: OnceLock<[&str; 2]> = OnceLock::new();

/// To be told once, by the program: which commit it was built from, and the SHA-256 of its sources.
pub fn built_from(revision: &'static str, sources: &'static str) {
    // Whoever tells it first is the program.
    let _ = BUILT.set([revision, sources]);
}

/// The commit that this program was built from, marked `-dirty` if its sources differed from it; `unknown` outside a
/// repository. What is checked out when it runs is another matter.
pub fn git_revision() -> &'static str {
    BUILT.get().map_or("unknown", |[revision, _]| revision)
}

/// SHA-256 of the sources that this program was built from, committed or not.
pub fn sources() -> &'static str {
    BUILT.get().map_or("unknown", |[_, sources]| sources)
}

/// `text` as one word of a shell command.
pub fn quoted(text: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_./=,:+-@%".contains(&byte);
    if !text.is_empty() && text.bytes().all(is_plain) {
        return text.into();
    }
    format!("'{}'", text.replace('\'', r"'\''")).into()
}

/// CPU seconds that this process has used so far, where the system tells (Linux).
pub fn cpu_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // Fields 14 and 15, user and system time in ticks, counted behind the name, which may hold blanks.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = fields.get(11)?.parse::<f64>().ok()? + fields.get(12)?.parse::<f64>().ok()?;
    // Linux reports to user space in hundredths of a second on every architecture.
    Some(ticks / 100.0)
}

/// The most memory that this process has held, in MiB, where the system tells (Linux).
pub fn peak_memory_mib() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<f64>().ok()? / 1024.0)
}
