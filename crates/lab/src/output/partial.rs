//! Single files, written whole or not at all; and the lock that admits one process at a time to a folder of results.

use crate::cli::program;
use anyhow::{Context, Result, bail};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

const PARTIAL: &str = ".gridproof-partial-";

/// Creates a temporary file in the folder of `path`, to be written piece by piece. Remains of dead processes there are removed.
pub fn begin_beside(path: &Path) -> Result<NamedTempFile> {
    let folder = create_folder_of(path)?;
    sweep(folder);
    partial_in(folder).with_context(|| format!("cannot write {}", path.display()))
}

/// Gives a complete file its name.
pub fn keep_as(file: NamedTempFile, path: &Path) -> Result<()> {
    create_folder_of(path)?;
    publish(file, path)
}

/// Writes a file in one step: readers see the old content or the new, never half of it.
pub fn write_whole(path: &Path, content: &[u8]) -> Result<()> {
    let describe = || format!("cannot write {}", path.display());
    let mut file = partial_in(create_folder_of(path)?).with_context(describe)?;
    file.write_all(content).with_context(describe)?;
    publish(file, path)
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

/// Creates the folder of a file. Returns its path.
pub(crate) fn create_folder_of(path: &Path) -> Result<&Path> {
    // The parent of a bare name is the empty path.
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(folder).with_context(|| format!("cannot create the folder {}", folder.display()))?;
    Ok(folder)
}

/// Creates a temporary file. Its name contains the process, and it is locked as long as its process lives.
pub(super) fn partial_in(folder: &Path) -> std::io::Result<NamedTempFile> {
    let file = tempfile::Builder::new().prefix(&format!("{PARTIAL}{}-", std::process::id())).tempfile_in(folder)?;
    // Without locks, no sweep removes it: its process is alive.
    let _ = file.as_file().try_lock();
    Ok(file)
}

/// Removes temporary files of dead processes. A file that cannot be removed stays and is harmless.
pub(super) fn sweep(folder: &Path) {
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

fn publish(file: NamedTempFile, path: &Path) -> Result<()> {
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

    /// Keeps the folders.
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
