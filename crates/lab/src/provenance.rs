//! Where a result comes from.

use crate::scenario::known_workspace;
use std::borrow::Cow;
use std::process::Command;

/// The commit that is checked out, marked `-dirty` if files differ from it; `unknown` outside a repository
/// and of a program that has no workspace.
pub fn git_revision() -> String {
    let Some(workspace) = known_workspace() else { return "unknown".to_owned() };
    let git = |arguments: &[&str]| -> Option<String> {
        let output = Command::new("git").arg("-C").arg(workspace).args(arguments).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    match (git(&["rev-parse", "HEAD"]), git(&["status", "--porcelain", "--untracked-files=no"])) {
        (Some(revision), Some(changes)) if changes.is_empty() => revision,
        (Some(revision), _) => format!("{revision}-dirty"),
        (None, _) => "unknown".to_owned(),
    }
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
