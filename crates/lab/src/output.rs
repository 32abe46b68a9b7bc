//! Writing results: whole files or none.

use anyhow::{Context, Result};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A folder that results are written to.
#[derive(Clone, Debug)]
pub struct OutDir(PathBuf);

impl OutDir {
    /// Creates the folder if need be, and makes sure that it can be written to before any work is done.
    pub fn create(path: &Path) -> Result<Self> {
        fs::create_dir_all(path)
            .with_context(|| format!("cannot create the folder {}; choose another with --out DIR", path.display()))?;
        tempfile::tempfile_in(path)
            .with_context(|| format!("cannot write into {}; choose another folder with --out DIR", path.display()))?;
        Ok(Self(path.to_owned()))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Writes `name`, a path relative to the folder, in one step.
    pub fn write(&self, name: impl AsRef<Path>, content: impl AsRef<[u8]>) -> Result<()> {
        write_whole(&self.0.join(name), content.as_ref(), Durability::Synced)
    }

    /// A file to be written bit by bit. It has no name of its own until [`keep`](Self::keep) gives it one; dropped before,
    /// it is gone.
    pub fn begin(&self) -> Result<NamedTempFile> {
        partial_in(&self.0).with_context(|| format!("cannot write into {}", self.0.display()))
    }

    /// Gives a complete file its name, a path relative to the folder.
    pub fn keep(&self, file: NamedTempFile, name: impl AsRef<Path>) -> Result<()> {
        let path = self.0.join(name);
        create_folder_of(&path)?;
        publish(file, &path, Durability::Synced)
    }
}

/// A file to be written bit by bit, in the folder where `path` is to be.
pub fn begin_beside(path: &Path) -> Result<NamedTempFile> {
    partial_in(create_folder_of(path)?).with_context(|| format!("cannot write {}", path.display()))
}

/// Gives a complete file of [`begin_beside`] its name.
pub fn keep_as(file: NamedTempFile, path: &Path) -> Result<()> {
    publish(file, path, Durability::Synced)
}

/// Whether a file must survive a power cut.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Durability {
    /// It must: flushed to the disk before it gets its name.
    Synced,
    /// It can be computed again, and a damaged one is recognised: not worth waiting for the disk.
    Cached,
}

/// Writes a file in one step: readers see the old content or the new, never half of it.
pub fn write_whole(path: &Path, content: &[u8], durability: Durability) -> Result<()> {
    let describe = || format!("cannot write {}", path.display());
    let mut file = partial_in(create_folder_of(path)?).with_context(describe)?;
    file.write_all(content).with_context(describe)?;
    publish(file, path, durability)
}

fn create_folder_of(path: &Path) -> Result<&Path> {
    // The parent of a bare name is the empty path.
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(folder).with_context(|| format!("cannot create the folder {}", folder.display()))?;
    Ok(folder)
}

fn partial_in(folder: &Path) -> std::io::Result<NamedTempFile> {
    tempfile::Builder::new().prefix(".partial-").tempfile_in(folder)
}

fn publish(file: NamedTempFile, path: &Path, durability: Durability) -> Result<()> {
    let describe = || format!("cannot write {}", path.display());
    if durability == Durability::Synced {
        file.as_file().sync_all().with_context(describe)?;
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // A temporary file is readable by its owner alone; results are for colleagues too.
        file.as_file().set_permissions(fs::Permissions::from_mode(0o644)).with_context(describe)?;
    }
    file.persist(path).map_err(|error| error.error).with_context(describe)?;
    Ok(())
}
