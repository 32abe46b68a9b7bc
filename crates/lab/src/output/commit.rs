//! Replacement of an earlier run's files by those of a complete run: all of them or none.
//!
//! A file system renames one file at a time, so a process that is killed between two renames would leave a mixture. Hence a journal, as in
//! databases: the staging folder, complete and on disk, becomes `.gridproof-commit` in one rename, and from then on the run counts. Then
//! the manifest and the files that only the earlier run had are removed, the new files move in, and the manifest comes last. If a process
//! is killed in between, the folder has no manifest, and the next run here repeats the same steps, which are idempotent.

use super::fault;
use super::manifest::MANIFEST;
use super::remove;
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io;
use std::path::Path;

pub(super) const COMMIT: &str = ".gridproof-commit";
/// Folder of the files below the staging folder.
pub(super) const FILES: &str = "files";
const JOURNAL: &str = "journal.json";

/// Steps of a commit, as paths relative to the folder.
#[derive(Serialize, Deserialize)]
pub(super) struct Journal {
    /// Files of the earlier run that this one lacks.
    pub(super) remove: Vec<String>,
    pub(super) install: Vec<String>,
}

impl Journal {
    /// Moves the files in `staging` into their places in `folder`.
    pub(super) fn commit(&self, folder: &Path, staging: &Path) -> Result<()> {
        let journal = serde_json::to_vec(self).expect("names are plain data");
        super::write_whole(&staging.join(JOURNAL), &journal)?;
        let describe = || format!("cannot write into {}", folder.display());
        fault::here().with_context(describe)?;
        sync(staging);
        fs::rename(staging, folder.join(COMMIT)).with_context(describe)?;
        sync(folder);
        complete(folder)
    }
}

/// Completes a commit begun in `folder`, by this process or by one that was killed.
///
/// # Errors
///
/// A file cannot be moved into place. The call may be repeated.
pub(super) fn complete(folder: &Path) -> Result<()> {
    let commit = folder.join(COMMIT);
    if !commit.exists() {
        return Ok(());
    }
    put_in_place(folder, &commit).with_context(|| {
        format!(
            "{}: complete results wait in {COMMIT} and cannot be put in their places; the next run here tries again",
            folder.display()
        )
    })
}

fn put_in_place(folder: &Path, commit: &Path) -> Result<()> {
    let files = commit.join(FILES);
    let journal = match fs::read(commit.join(JOURNAL)) {
        Ok(text) => serde_json::from_slice::<Journal>(&text).with_context(|| format!("{COMMIT}/{JOURNAL}"))?,
        // Only the cleanup was incomplete.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            fault::here()?;
            return Ok(fs::remove_dir_all(commit)?);
        }
        Err(error) => return Err(error.into()),
    };
    // As long as the new manifest waits, the files in place are an earlier run's.
    if files.join(MANIFEST).exists() {
        fault::here()?;
        remove(&folder.join(MANIFEST))?;
        sync(folder);
        for name in &journal.remove {
            fault::here()?;
            remove(&folder.join(name))?;
            let above = Path::new(name).ancestors().skip(1).filter(|above| !above.as_os_str().is_empty());
            // Only empty folders are removed.
            let _ = above.map(|above| fs::remove_dir(folder.join(above))).find(Result::is_err);
        }
        let last = journal.install.iter().filter(|name| *name == MANIFEST);
        for name in journal.install.iter().filter(|name| *name != MANIFEST).chain(last) {
            let (from, to) = (files.join(name), folder.join(name));
            if from.exists() {
                fault::here()?;
                if let Some(above) = to.parent() {
                    fs::create_dir_all(above)
                        .with_context(|| format!("cannot create the folder {}", above.display()))?;
                }
                fault::here()?;
                fs::rename(&from, &to).with_context(|| format!("cannot write {}", to.display()))?;
            }
        }
        sync(folder);
    }
    // The journal first: a commit without one only needs cleanup.
    fault::here()?;
    remove(&commit.join(JOURNAL))?;
    fault::here()?;
    Ok(fs::remove_dir_all(commit)?)
}

/// Makes the names in a folder survive a power cut, if the system can.
fn sync(folder: &Path) {
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
}
