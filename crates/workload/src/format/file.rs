//! Files: opening, and errors that precede the first byte.

use crate::error::{FOLDER, InputError};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Returns the text of a small file: settings, a preset, a tree.
///
/// # Errors
///
/// If there is no such file, or it cannot be read, is no text, or is larger than 16 MiB; no more than that is read.
pub fn read_text(path: &Path) -> Result<String, InputError> {
    const LARGEST: u64 = 16 << 20;
    let mut text = Vec::new();
    let read = open(path)?.take(LARGEST + 1).read_to_end(&mut text);
    let length = read.map_err(|source| InputError::reading(path, source))?;
    if length as u64 > LARGEST {
        return Err(InputError::of_file(path, "is larger than 16 MiB; is this the right file?"));
    }
    String::from_utf8(text).map_err(|_| InputError::of_file(path, "is not text in UTF-8; is this the right file?"))
}

/// Opens a file for reading; a folder is an error.
///
/// # Errors
///
/// If there is no such file, or it cannot be opened.
pub fn open(path: &Path) -> Result<File, InputError> {
    let failed = |source| InputError::reading(path, source);
    let file = File::open(path).map_err(failed)?;
    // Unix opens folders without an error and fails at the first read.
    if file.metadata().map_err(failed)?.is_dir() {
        return Err(InputError::of_file(path, FOLDER));
    }
    Ok(file)
}
