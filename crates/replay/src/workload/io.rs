//! Input and output of the commands: logs with progress and a check for Ctrl-C, files that are written completely or not at all, and
//! printed results.

use anyhow::{Context, Result, bail};
use flate2::Compression;
use flate2::write::GzEncoder;
use lab::cli::{Common, Ending, print};
use lab::interrupt::{self, Interrupted};
use lab::output::provenance::{self, quoted};
use lab::output::{NewFolders, begin_beside, keep_as};
use lab::progress::Progress;
use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;
use workload::{InputError, Layout, SwfReader};

/// Opens a log in the Standard Workload Format; `what` names the command for the progress bar.
pub(super) fn swf(path: &Path, what: &str, quiet: bool) -> Result<SwfReader> {
    // Recognizing the format would consume data of a pipe.
    let layout = if path.is_file() { Layout::detect(path)? } else { Layout::Swf };
    if layout != Layout::Sacct {
        return Ok(SwfReader::from_read(path, LogBytes::open(path, what, quiet)?)?);
    }
    let (shown, program, name) = (path.display(), lab::cli::program(), path.to_string_lossy());
    bail!(
        "{shown}: is what sacct prints; convert it first: {program} workload convert {} --to swf --out FILE.swf",
        quoted(&name)
    );
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

/// A file in progress, which gets its name when it is complete; compressed if that ends in `.gz`.
pub(super) struct NewFile {
    path: PathBuf,
    out: Packing,
    /// Declared after the file, which must be removed before its folder is empty.
    made: NewFolders,
}

enum Packing {
    Plain(BufWriter<NamedTempFile>),
    /// The head of the compressed data contains neither time nor name, so that equal content gives equal files.
    Gzip(Box<GzEncoder<BufWriter<NamedTempFile>>>),
}

impl NewFile {
    /// Checks that the file can be written, before any work is done.
    pub(super) fn create(path: &Path) -> Result<Self> {
        if path.file_name().is_none() || path.is_dir() {
            bail!("--out {}: is a folder; name a file in it", path.display());
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let made = NewFolders::on_the_way_to(folder);
        let file = BufWriter::with_capacity(1 << 17, begin_beside(path)?);
        let out = if path.extension().is_some_and(|ending| ending == "gz") {
            Packing::Gzip(Box::new(GzEncoder::new(file, Compression::default())))
        } else {
            Packing::Plain(file)
        };
        Ok(Self { path: path.to_owned(), out, made })
    }

    pub(super) fn keep(self) -> Result<()> {
        let Self { path, out, made } = self;
        let describe = || format!("cannot write {}", path.display());
        let file = match out {
            Packing::Plain(file) => file,
            Packing::Gzip(packed) => packed.finish().with_context(describe)?,
        };
        let file = file.into_inner().map_err(io::IntoInnerError::into_error).with_context(describe)?;
        keep_as(file, &path)?;
        made.keep();
        Ok(())
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.out {
            Packing::Plain(file) => file.write(bytes),
            Packing::Gzip(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.out {
            Packing::Plain(file) => file.flush(),
            Packing::Gzip(file) => file.flush(),
        }
    }
}

/// Prints the result of a command that has written `out`: `answer`, or `words` and the path.
pub(super) fn printed(common: &Common, answer: &serde_json::Value, words: &str, out: &Path) -> Ending {
    print(&if common.json { format!("{answer:#}\n") } else { format!("{words}{}\n", out.display()) });
    Ending::Done
}
