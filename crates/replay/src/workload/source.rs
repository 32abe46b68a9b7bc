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
    // Recognizing the format would consume data of a pipe.
    let layout = if path.is_file() { Layout::detect(path)? } else { Layout::Swf };
    let foreign = match layout {
        Layout::Gwf => "is in the Grid Workloads Format",
        Layout::Sacct => "is what sacct prints",
        Layout::Swf | Layout::Swf21 => {
            return Ok(SwfReader::from_read(path, LogBytes::open(path, what, quiet)?)?);
        }
    };
    let (shown, program, name) = (path.display(), lab::cli::program(), path.to_string_lossy());
    bail!("{shown}: {foreign}; convert it first: {program} workload convert {} --to swf --out FILE.swf", quoted(&name));
}

/// The reason for the end of reading: Ctrl-C, or a fault of the log.
pub(super) fn failed(error: InputError) -> anyhow::Error {
    if interrupt::requested() { Interrupted::Lost.into() } else { error.into() }
}

/// Bytes of a file, with progress if its length is known.
pub(super) struct LogBytes {
    file: File,
    progress: Progress,
}

impl LogBytes {
    pub(super) fn open(path: &Path, what: &str, quiet: bool) -> Result<Self, InputError> {
        let file = workload::file::open(path)?;
        let length = file.metadata().ok().filter(|file| file.is_file()).map(|file| file.len());
        let progress = Progress::new(what, length.unwrap_or(0), quiet || length.is_none());
        Ok(Self { file, progress })
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
