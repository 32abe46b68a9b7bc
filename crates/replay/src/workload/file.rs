//! A file that is written completely or not at all.

use anyhow::{Context, Result, bail};
use flate2::Compression;
use flate2::write::GzEncoder;
use lab::output::{NewFolders, begin_beside, keep_as};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

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
