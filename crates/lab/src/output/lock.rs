//! Lock that admits one process at a time to a folder of results.

use crate::cli::program;
use anyhow::{Context, Result, bail};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

pub(super) const LOCK: &str = ".gridproof-lock";

/// Lock held while a process writes into a folder. The system releases it when the process ends in any way.
#[derive(Debug)]
pub(super) struct Lock {
    path: PathBuf,
    file: File,
}

impl Lock {
    /// Acquires the lock of `folder`, and records its holder; fails if another process holds it.
    pub(super) fn take(folder: &Path) -> Result<Self> {
        let path = folder.join(LOCK);
        let describe = || format!("cannot write into {}; choose another folder with --out DIR", folder.display());
        loop {
            let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
            let mut file = file.with_context(describe)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    let mut holder = String::new();
                    // On some systems other processes cannot read a locked file.
                    let _ = file.read_to_string(&mut holder);
                    let holder = holder.trim();
                    let named = if holder.is_empty() { "another process" } else { holder };
                    bail!(
                        "{}: {named} is writing here; wait until it ends, or choose another folder with --out DIR",
                        folder.display()
                    );
                }
                Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Unsupported => {
                    let _ = writeln!(
                        std::io::stderr(),
                        "warning: {}: this file system has no locks; see to it that no other run writes here meanwhile",
                        folder.display()
                    );
                }
                Err(TryLockError::Error(error)) => return Err(error).with_context(describe),
            }
            // Its last holder may have removed it since it was opened: then it locks nothing.
            if !is_still(&file, &path) {
                continue;
            }
            let words: Vec<String> =
                std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
            let holder = format!("process {} ({} {})", std::process::id(), program(), words.join(" "));
            file.set_len(0).and_then(|()| file.write_all(holder.as_bytes())).with_context(describe)?;
            return Ok(Self { path, file });
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Removed while still held: a process that opens it from now on creates a new one.
        if cfg!(unix) {
            let _ = fs::remove_file(&self.path);
        } else {
            let _ = self.file.set_len(0);
        }
    }
}

/// Returns true if `path` still names this file. Without Unix, locks are not removed.
#[cfg_attr(not(unix), expect(unused_variables, reason = "a file has no number"))]
fn is_still(file: &File, path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let numbers = |file: std::io::Result<fs::Metadata>| file.ok().map(|file| (file.dev(), file.ino()));
        let (held, named) = (numbers(file.metadata()), numbers(fs::metadata(path)));
        held.is_some() && held == named
    }
    #[cfg(not(unix))]
    true
}
