//! Writing results: whole files or none, and whole folders or none.
//!
//! A folder of results belongs to one run. During a run its files lie in a staging folder inside it; when it is complete, they replace
//! those of the earlier run in one commit. A process killed at any moment leaves the commit undone, or to be completed by the
//! next process. `manifest.json` lists every file with its SHA-256, so that `cargo xtask verify` can check a folder; it is removed first
//! and put back last.
//!
//! | name | holds |
//! |---|---|
//! | `.gridproof-lock` | the process that writes here; removed when it ends |
//! | `.gridproof-staging-PID` | files of a run that is not complete; the next run removes those of dead processes |
//! | `.gridproof-commit` | files of a complete run that are being moved into place |
//! | `.gridproof-partial-PID-…` | a single unfinished file, such as a log being converted |
//!
//! A run replaces or removes existing files only if the manifest lists them, and the same command wrote it. It refuses a folder that holds
//! another command's results, or files and no manifest (hidden ones apart). A foreign file beside results stays; if a result needs its
//! name, the run is refused before anything is changed.
//!
//! A file system renames one file at a time, so a process that is killed between two renames would leave a mixture. Hence a journal, as in
//! databases: the staging folder, complete and on disk, becomes `.gridproof-commit` in one rename, and from then on the run counts. Then
//! the earlier manifest moves there, the files that only it lists are removed, the new files move in, and the new manifest comes last. If a
//! process is killed in between, the folder has no manifest, and the next run here repeats the same steps, which are idempotent: the two
//! manifests list what is to be done. `xtask/tests/it/faults.rs` makes every system call of a run fail in turn, and kills
//! the process there.

pub mod manifest;
pub mod provenance;
pub mod store;

use crate::run::cli::program;
use anyhow::{Context, Result, bail, ensure};
use manifest::{Listed, MANIFEST, Manifest, names_below};
use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;
use tempfile::NamedTempFile;

const LOCK: &str = ".gridproof-lock";
const PARTIAL: &str = ".gridproof-partial-";
const STAGING: &str = ".gridproof-staging-";
const COMMIT: &str = ".gridproof-commit";
/// Folder of the files below the staging folder.
const FILES: &str = "files";
/// Folder of finished replications, kept from run to run.
const CELLS: &str = "cells";

/// Folder that one run writes its results to.
#[derive(Debug)]
pub struct OutDir {
    path: PathBuf,
    /// Command such as `reproduce multi-site`: results of the same command are replaced.
    command: String,
    staging: PathBuf,
    /// Files that an earlier run of the same command wrote here.
    earlier: BTreeSet<String>,
    _lock: Lock,
    began: Instant,
    /// Dropped last, to remove an empty folder.
    _made: NewFolders,
}

impl OutDir {
    /// Locks the folder for this process, creates it if necessary, and checks that it is writable before any work is done. The remains of a
    /// killed process are cleaned up first. Fails if another process writes here, the folder holds anything other than results of `command`,
    /// or it cannot be written to.
    pub fn create(path: &Path, command: impl Into<String>) -> Result<Self> {
        let command = command.into();
        // Before anything is written, since a foreign folder must stay untouched. Checked twice, since another process may be moving its
        // files into place at this moment.
        if earlier(path, &command).is_err() && !path.join(LOCK).exists() {
            earlier(path, &command)?;
        }
        let staging = path.join(format!("{STAGING}{}", std::process::id()));
        let _made = NewFolders::on_the_way_to(path);
        fs::create_dir_all(path)
            .with_context(|| format!("cannot create the folder {}; choose another with --out DIR", path.display()))?;
        #[expect(clippy::disallowed_methods, reason = "for the manifest's timings alone")]
        let began = Instant::now();
        let _lock = Lock::take(path)?;
        complete_commit(path)?;
        sweep(path)?;
        let earlier = earlier(path, &command)?;
        let out = Self { path: path.to_owned(), command, staging, earlier, _lock, began, _made };
        fs::create_dir_all(out.staged())
            .with_context(|| format!("cannot write into {}; choose another folder with --out DIR", path.display()))?;
        Ok(out)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the folder of finished replications, which is kept even if the run does not complete.
    pub fn cells(&self) -> PathBuf {
        self.path.join(CELLS)
    }

    /// Writes `name`, a path relative to the folder. It appears there when the run is complete.
    pub fn write(&self, name: impl AsRef<Path>, content: impl AsRef<[u8]>) -> Result<()> {
        write_whole(&self.staged().join(name), content.as_ref())
    }

    /// Returns a file to be written piece by piece. It is deleted unless [`keep`](Self::keep) names it before it is dropped.
    pub fn begin(&self) -> Result<NamedTempFile> {
        partial_in(&self.staging).with_context(|| format!("cannot write into {}", self.path.display()))
    }

    /// Gives a complete file its name, a path relative to the folder. It appears there when the run is complete.
    pub fn keep(&self, file: NamedTempFile, name: impl AsRef<Path>) -> Result<()> {
        let path = self.staged().join(name);
        create_folder_of(&path).and_then(|_| keep_as(file, &path))
    }

    /// Completes the run: its files appear, those of the earlier run are removed, and `manifest.json` describes them: `content`, an object
    /// whose `timings` are numbers that may differ between equal runs, the program, the command, and every file with its length and SHA-256.
    /// Fails if a foreign file has one of the names, or the disk fails; the earlier results are then intact, or the next run completes the new.
    pub fn finish(self, content: serde_json::Value) -> Result<()> {
        let listed = |name| Listed::read(&self.staged(), name);
        let files = names_below(&self.staged()).and_then(|names| names.into_iter().map(listed).collect());
        let files: Vec<Listed> = files.context("cannot read what was just written")?;
        for name in files.iter().map(|file| file.name.as_str()).chain([MANIFEST]) {
            if !self.earlier.contains(name) {
                self.ensure_free(name)?;
            }
        }
        self.write(MANIFEST, Manifest::text(content, &self.command, files, self.began))?;
        sync(&self.staging);
        let describe = || format!("cannot write into {}", self.path.display());
        fs::rename(&self.staging, self.path.join(COMMIT)).with_context(describe)?;
        sync(&self.path);
        complete_commit(&self.path)
    }

    fn staged(&self) -> PathBuf {
        self.staging.join(FILES)
    }

    /// Fails if a foreign file has the name `name`, or that of a folder above it.
    fn ensure_free(&self, name: &str) -> Result<()> {
        let path = self.path.join(name);
        let folders = Path::new(name).ancestors().skip(1).map(|folder| self.path.join(folder));
        let in_the_way = folders.into_iter().find(|folder| folder.exists() && !folder.is_dir());
        if let Some(taken) = in_the_way.or_else(|| path.symlink_metadata().is_ok().then_some(path)) {
            bail!(
                "{}: a result of this run has this name, and the file that has it now is not a result of an earlier one; \
                 move it away, or choose another folder with --out DIR",
                taken.display()
            );
        }
        Ok(())
    }
}

impl Drop for OutDir {
    fn drop(&mut self) {
        // An error cannot be reported here; the next run removes what stays.
        let _ = fs::remove_dir_all(&self.staging);
    }
}

/// Removes the remains of dead processes. The holder of the lock is the only process in `folder`.
fn sweep(folder: &Path) -> Result<()> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    for path in entries.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with(STAGING)) {
        let path = path.path();
        fs::remove_dir_all(&path).with_context(|| format!("cannot remove {}", path.display()))?;
    }
    [folder, &folder.join(CELLS)].into_iter().for_each(sweep_partial);
    Ok(())
}

/// Returns true if files of a complete run are still to be moved into place.
pub fn is_being_put_in_place(folder: &Path) -> bool {
    folder.join(COMMIT).exists()
}

/// Returns the files in `folder` that an earlier run of `command` wrote.
fn earlier(folder: &Path, command: &str) -> Result<BTreeSet<String>> {
    const FIX: &str = "choose another folder with --out DIR, or move this one away";
    let (shown, program) = (folder.display(), program());
    if let Some(manifest) = Manifest::read(folder)? {
        let Some(listed) = manifest.command() else {
            bail!(
                "{shown}: its {MANIFEST} lists no files, so it is another program's or an earlier version's, and results \
                 would mix; {FIX}"
            );
        };
        ensure!(listed == command, "{shown}: holds the results of `{program} {listed}`, and results would mix; {FIX}");
        return Ok(manifest.names()?.into_iter().chain([MANIFEST.to_owned()]).collect());
    }
    if is_being_put_in_place(folder) {
        return Ok(BTreeSet::new());
    }
    // A folder that cannot be read is reported when it is created.
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut others: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    others.retain(|name| !name.starts_with('.') && (name != CELLS || !folder.join(CELLS).is_dir()));
    others.sort();
    ensure!(
        others.is_empty(),
        "{shown}: holds files and no {MANIFEST} ({}{}), so they are not results, and results would mix with them; {FIX}",
        others[..others.len().min(3)].join(", "),
        if others.len() > 3 { ", …" } else { "" }
    );
    Ok(BTreeSet::new())
}

/// Completes a commit begun in `folder` by this process or a killed one; fails if a file cannot be moved into place. May be repeated.
fn complete_commit(folder: &Path) -> Result<()> {
    if !is_being_put_in_place(folder) {
        return Ok(());
    }
    put_in_place(folder, &folder.join(COMMIT)).with_context(|| {
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
                create_folder_of(&to)?;
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

/// Creates a temporary file in the folder of `path`, to be written piece by piece. Remains of dead processes there are removed.
pub fn begin_beside(path: &Path) -> Result<NamedTempFile> {
    let folder = create_folder_of(path)?;
    sweep_partial(folder);
    partial_in(folder).with_context(|| format!("cannot write {}", path.display()))
}

/// Gives a complete file its name, in a folder that exists.
pub fn keep_as(file: NamedTempFile, path: &Path) -> Result<()> {
    let describe = || format!("cannot write {}", path.display());
    // It must survive a power cut: it is on disk before it gets its name.
    file.as_file().sync_all().with_context(describe)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // A temporary file is readable by its owner alone; results are readable by all.
        file.as_file().set_permissions(fs::Permissions::from_mode(0o644)).with_context(describe)?;
    }
    file.persist(path).map_err(|error| error.error).with_context(describe)?;
    Ok(())
}

/// Writes a file in one step: readers see the old content or the new, never half of it.
pub fn write_whole(path: &Path, content: &[u8]) -> Result<()> {
    let describe = || format!("cannot write {}", path.display());
    let mut file = partial_in(create_folder_of(path)?).with_context(describe)?;
    file.write_all(content).with_context(describe)?;
    keep_as(file, path)
}

/// Returns `None` instead of the error that a file is missing, or that a file is in the place of its folder.
pub(crate) fn if_there<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if [ErrorKind::NotFound, ErrorKind::NotADirectory].contains(&error.kind()) => Ok(None),
        result => result.map(Some),
    }
}

/// Removes a file, if it exists.
pub(crate) fn remove(path: &Path) -> Result<()> {
    if_there(fs::remove_file(path)).map(drop).with_context(|| format!("cannot remove {}", path.display()))
}

pub(crate) fn create_folder_of(path: &Path) -> Result<&Path> {
    // The parent of a bare name is the empty path.
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(folder).with_context(|| format!("cannot create the folder {}", folder.display()))?;
    Ok(folder)
}

/// Creates a temporary file. Its name contains the process, and it is locked as long as its process lives.
fn partial_in(folder: &Path) -> io::Result<NamedTempFile> {
    let file = tempfile::Builder::new().prefix(&format!("{PARTIAL}{}-", std::process::id())).tempfile_in(folder)?;
    // Without locks, no sweep removes it: its process is alive.
    let _ = file.as_file().try_lock();
    Ok(file)
}

/// Removes temporary files of dead processes. A file that cannot be removed stays and is harmless.
fn sweep_partial(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let process = name.strip_prefix(PARTIAL).and_then(|rest| rest.split('-').next()?.parse::<u32>().ok());
        let is_alive = |process: u32| Path::new("/proc").join(process.to_string()).exists();
        let is_left = process.is_some_and(|process| !cfg!(target_os = "linux") || !is_alive(process));
        // A process of another computer may have a number that no process here has, so this alone does not suffice.
        if is_left && File::open(entry.path()).is_ok_and(|file| file.try_lock().is_ok()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// The missing folders on the way to a path. Unless [kept](Self::keep), the empty ones are removed on drop: bad input leaves none behind.
#[derive(Debug)]
#[must_use]
pub struct NewFolders(Vec<PathBuf>);

impl NewFolders {
    /// Lists the missing folders of `path`. Call it before the folder is created.
    pub fn on_the_way_to(path: &Path) -> Self {
        let is_missing = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
        Self(path.ancestors().take_while(is_missing).map(Path::to_owned).collect())
    }

    pub fn keep(mut self) {
        self.0.clear();
    }
}

impl Drop for NewFolders {
    fn drop(&mut self) {
        // The innermost first. A folder that is not empty cannot be removed, and stays.
        for folder in &self.0 {
            if fs::remove_dir(folder).is_err() {
                break;
            }
        }
    }
}

/// Lock held while a process writes into a folder. The system releases it when the process ends in any way.
#[derive(Debug)]
struct Lock {
    path: PathBuf,
    file: File,
}

impl Lock {
    /// Acquires the lock of `folder`, and records its holder; fails if another process holds it.
    fn take(folder: &Path) -> Result<Self> {
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
                        io::stderr(),
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
        let numbers = |file: io::Result<fs::Metadata>| file.ok().map(|file| (file.dev(), file.ino()));
        let (held, named) = (numbers(file.metadata()), numbers(fs::metadata(path)));
        held.is_some() && held == named
    }
    #[cfg(not(unix))]
    true
}

#[cfg(test)]
mod tests;
