//! Files: opening, and errors that precede the first byte.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Error of a file that cannot be opened or read: its path as given, and the problem.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", path.display())]
pub struct FileError {
    path: PathBuf,
    problem: &'static str,
    /// Error of the operating system or the medium.
    source: Option<io::Error>,
}

impl FileError {
    /// Returns `true` if the system failed, `false` if the given name is wrong.
    pub const fn is_io(&self) -> bool {
        self.source.is_some()
    }

    /// Returns the error for a failure to read the file at `path`.
    pub fn reading(path: &Path, source: io::Error) -> Self {
        match source.kind() {
            // `a.swf/b.swf` where a.swf is a file: no such file, either.
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
                Self::wrong(path, "there is no such file; check the name and the folder")
            }
            io::ErrorKind::IsADirectory => Self::wrong(path, FOLDER),
            _ => Self {
                source: Some(source),
                ..Self::wrong(path, "cannot be read; check its permissions and the disk it is on")
            },
        }
    }

    fn wrong(path: &Path, problem: &'static str) -> Self {
        Self { path: path.to_owned(), problem, source: None }
    }
}

const FOLDER: &str = "is a folder, not a file; name one file in it";

/// Returns the text of a small file: settings, a preset, a tree.
///
/// # Errors
///
/// If there is no such file, or it cannot be read, is no text, or is larger than 16 MiB; no more than that is read.
pub fn read_text(path: &Path) -> Result<String, FileError> {
    const LARGEST: u64 = 16 << 20;
    let mut text = Vec::new();
    let read = open(path)?.take(LARGEST + 1).read_to_end(&mut text);
    let length = read.map_err(|source| FileError::reading(path, source))?;
    if length as u64 > LARGEST {
        return Err(FileError::wrong(path, "is larger than 16 MiB; is this the right file?"));
    }
    String::from_utf8(text).map_err(|_| FileError::wrong(path, "is not text in UTF-8; is this the right file?"))
}

/// Opens a file for reading; a folder is an error.
///
/// # Errors
///
/// If there is no such file, or it cannot be opened.
pub fn open(path: &Path) -> Result<File, FileError> {
    let failed = |source| FileError::reading(path, source);
    let file = File::open(path).map_err(failed)?;
    // Unix opens folders without an error and fails at the first read.
    if file.metadata().map_err(failed)?.is_dir() {
        return Err(FileError::wrong(path, FOLDER));
    }
    Ok(file)
}

/// Formats `bytes` for an error message: one line, at most 40 characters.
pub(crate) fn shown(bytes: &[u8]) -> String {
    const LONGEST: usize = 40;
    // Enough bytes for that many characters of any length: a huge token is never converted as a whole.
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(4 * LONGEST + 4)]);
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into_owned(),
    }
}
