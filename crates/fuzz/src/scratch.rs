//! Temporary files for readers that read files.

use std::cell::RefCell;
use std::io;
use std::path::PathBuf;
use tempfile::TempDir;

/// Folder in which Linux keeps files in memory.
const IN_MEMORY: &str = "/dev/shm";

thread_local! {
    /// Folder of this thread, since tests of several targets run at once.
    static FOLDER: RefCell<Option<TempDir>> = const { RefCell::new(None) };
}

/// Creates a folder, in memory if possible: on a disk, each truncation of a rewritten file is flushed, some dozens of times a second.
pub(crate) fn new_folder() -> io::Result<TempDir> {
    tempfile::tempdir_in(IN_MEMORY).or_else(|_| tempfile::tempdir())
}

/// Returns the folder of this thread.
pub(crate) fn folder() -> Result<PathBuf, String> {
    FOLDER.with_borrow_mut(|own| {
        if own.is_none() {
            *own = Some(new_folder().map_err(|error| format!("cannot make a temporary folder: {error}"))?);
        }
        Ok(own.as_ref().expect("it was made").path().to_owned())
    })
}

/// Writes a file there, which lasts until the next one of that name.
pub(crate) fn put(name: &str, input: &[u8]) -> Result<PathBuf, String> {
    let path = folder()?.join(name);
    std::fs::write(&path, input).map_err(|error| format!("cannot write the input: {error}"))?;
    Ok(path)
}

/// Removes the folder of this thread.
pub(crate) fn clear() {
    FOLDER.take();
}
