//! Opening files, and what can be wrong with them before their first byte is understood.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// A file that cannot be opened or read.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// There is none of that name.
    #[error("{path}: there is no such file; check the name and the folder", path = path.display())]
    Missing {
        /// The name as it was given.
        path: PathBuf,
    },
    /// It is a folder.
    #[error("{path}: is a folder, not a file; name one file in it", path = path.display())]
    Directory {
        /// The name as it was given.
        path: PathBuf,
    },
    /// It is far larger than any file of its kind.
    #[error("{path}: is larger than 16 MiB; is this the right file?", path = path.display())]
    TooLarge {
        /// The name as it was given.
        path: PathBuf,
    },
    /// It holds bytes that are no text.
    #[error("{path}: is not text in UTF-8; is this the right file?", path = path.display())]
    NotText {
        /// The name as it was given.
        path: PathBuf,
    },
    /// The operating system refuses, or the medium fails.
    #[error("{path}: cannot be read; check its permissions and the disk it is on", path = path.display())]
    Read {
        /// The name as it was given.
        path: PathBuf,
        /// What the operating system says.
        #[source]
        source: io::Error,
    },
}

impl FileError {
    /// Whether the system failed (`true`), or the name that was given is wrong (`false`).
    pub const fn is_io(&self) -> bool {
        matches!(self, Self::Read { .. })
    }

    /// What went wrong while a file of that name was read.
    pub fn reading(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            // `a.swf/b.swf` where a.swf is a file: no such file, either.
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Self::Missing { path },
            io::ErrorKind::IsADirectory => Self::Directory { path },
            _ => Self::Read { path, source },
        }
    }
}

/// The text of a small file: settings, a preset, a tree.
///
/// # Errors
///
/// If there is no such file, it cannot be read, is no text, or larger than 16 MiB, of which no more is read.
pub fn read_text(path: &Path) -> Result<String, FileError> {
    const LARGEST: u64 = 16 << 20;
    let mut text = Vec::new();
    let read = open(path)?.take(LARGEST + 1).read_to_end(&mut text);
    let length = read.map_err(|source| FileError::reading(path, source))?;
    if length as u64 > LARGEST {
        return Err(FileError::TooLarge { path: path.to_owned() });
    }
    String::from_utf8(text).map_err(|_| FileError::NotText { path: path.to_owned() })
}

/// Opens a file to be read; a folder is none.
///
/// # Errors
///
/// If there is no such file, or it cannot be opened.
pub fn open(path: &Path) -> Result<File, FileError> {
    let failed = |source| FileError::reading(path, source);
    let file = File::open(path).map_err(failed)?;
    // Unix opens folders without complaint and fails at the first read.
    if file.metadata().map_err(failed)?.is_dir() {
        return Err(FileError::Directory { path: path.to_owned() });
    }
    Ok(file)
}

/// `bytes` for an error message: one line, at most 40 characters.
pub(crate) fn shown(bytes: &[u8]) -> String {
    const LONGEST: usize = 40;
    // Enough bytes for that many characters of any length: a huge token is never converted as a whole.
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(4 * LONGEST + 4)]);
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into_owned(),
    }
}
