//! Reading of a log, with progress and a check for Ctrl-C.

use anyhow::{Result, bail};
use lab::interrupt::{self, Interrupted};
use lab::progress::Progress;
use lab::provenance::{self, quoted};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use workload::{InputError, Layout, SwfReader};

/// Opens a log in the Standard Workload Format; `what` names the command for the progress bar.
pub(super) fn swf(path: &Path, what: &str, quiet: bool) -> Result<SwfReader> {
    let Some(source) = LogBytes::of_file(path, what, quiet) else { return Ok(SwfReader::open(path)?) };
    let foreign = match Layout::detect(path)? {
        Layout::Gwf => Some("is in the Grid Workloads Format"),
        Layout::Sacct => Some("is what sacct prints"),
        Layout::Swf | Layout::Swf21 => None,
    };
    if let Some(what) = foreign {
        let name = quoted(&path.to_string_lossy()).into_owned();
        bail!(
            "{}: {what}; convert it first: \
             {} workload convert {name} --to swf --out FILE.swf",
            path.display(),
            lab::cli::program()
        );
    }
    Ok(SwfReader::from_read(&path.to_string_lossy(), source)?)
}

/// The reason for the end of reading: Ctrl-C, or a fault of the log.
pub(super) fn failed(error: InputError) -> anyhow::Error {
    if interrupt::requested() { Interrupted::Lost.into() } else { error.into() }
}

/// Bytes of a file on the disk.
pub(super) struct LogBytes {
    file: File,
    progress: Progress,
}

impl LogBytes {
    /// Returns `None` for a folder, a pipe, or a file that cannot be opened.
    pub(super) fn of_file(path: &Path, what: &str, quiet: bool) -> Option<Self> {
        // Opening a pipe would consume data that the next reader needs.
        let length = path.metadata().ok().filter(|file| file.is_file())?.len();
        Some(Self { file: File::open(path).ok()?, progress: Progress::new(what, length, quiet) })
    }
}

impl Read for LogBytes {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if interrupt::requested() {
            // Readers retry after `ErrorKind::Interrupted`, so the error has another kind.
            return Err(io::Error::other("interrupted"));
        }
        let length = self.file.read(buffer)?;
        self.progress.add(length as u64);
        Ok(length)
    }
}

/// The SHA-256 of a file; `None` if it can be read only once, or not at all.
pub(super) fn sha256_of(path: &Path) -> Option<String> {
    path.is_file().then(|| provenance::sha256_of(path).ok()).flatten()
}
