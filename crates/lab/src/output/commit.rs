//! Replacement of an earlier run's files by those of a complete run: all of them or none.
//!
//! A file system renames one file at a time, so a process that is killed between two renames would leave a mixture. Hence a journal, as in
//! databases: the staging folder, complete and on disk, becomes `.gridproof-commit` in one rename, and from then on the run counts. Then
//! the earlier manifest moves there, the files that only it lists are removed, the new files move in, and the new manifest comes last. If a
//! process is killed in between, the folder has no manifest, and the next run here repeats the same steps, which are idempotent: the two
//! manifests list what is to be done.

use super::manifest::{MANIFEST, Manifest};
use super::remove;
use anyhow::{Context, Result};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::Path;

pub(super) const COMMIT: &str = ".gridproof-commit";
/// Folder of the files below the staging folder.
pub(super) const FILES: &str = "files";

/// Moves the files in `staging`, of which one is the manifest, into their places in `folder`.
pub(super) fn commit(folder: &Path, staging: &Path) -> Result<()> {
    let describe = || format!("cannot write into {}", folder.display());
    sync(staging);
    fs::rename(staging, folder.join(COMMIT)).with_context(describe)?;
    sync(folder);
    complete(folder)
}

/// Completes a commit begun in `folder`, by this process or by one that was killed; fails if a file cannot be moved into place. The call
/// may be repeated.
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
    // As long as the new manifest waits, the files in place are an earlier run's. Otherwise only the cleanup was incomplete.
    if let Some(manifest) = Manifest::read(&files)? {
        if folder.join(MANIFEST).exists() {
            fs::rename(folder.join(MANIFEST), commit.join(MANIFEST))?;
            sync(folder);
        }
        let new = manifest.names()?;
        let old = Manifest::read(commit)?.map_or_else(|| Ok(BTreeSet::new()), |earlier| earlier.names())?;
        for name in old.difference(&new) {
            remove(&folder.join(name))?;
            let above = Path::new(name).ancestors().skip(1).filter(|above| !above.as_os_str().is_empty());
            // Only empty folders are removed.
            let _ = above.map(|above| fs::remove_dir(folder.join(above))).find(Result::is_err);
        }
        for name in new.iter().map(String::as_str).chain([MANIFEST]) {
            let (from, to) = (files.join(name), folder.join(name));
            if from.exists() {
                if let Some(above) = to.parent() {
                    fs::create_dir_all(above)
                        .with_context(|| format!("cannot create the folder {}", above.display()))?;
                }
                fs::rename(&from, &to).with_context(|| format!("cannot write {}", to.display()))?;
            }
        }
        sync(folder);
    }
    Ok(fs::remove_dir_all(commit)?)
}

/// Makes the names in a folder survive a power cut, if the system can.
fn sync(folder: &Path) {
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
}
