//! Folders that a run created for its results, removed again if it fails.

use std::path::{Path, PathBuf};

/// The missing folders on the way to a path. Unless [kept](Self::keep), the empty ones are removed on drop, so that bad input leaves no
/// folders behind.
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
            if std::fs::remove_dir(folder).is_err() {
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_folders_that_were_made_and_are_empty_are_removed() {
        let root = tempfile::tempdir().expect("a folder");
        let (empty, full) = (root.path().join("a/b/c"), root.path().join("d/e"));
        for (path, content) in [(&empty, None), (&full, Some("x"))] {
            let made = NewFolders::on_the_way_to(path);
            std::fs::create_dir_all(path).expect("made");
            if let Some(name) = content {
                std::fs::write(path.join(name), "y").expect("written");
            }
            drop(made);
        }
        assert!(!root.path().join("a").exists() && full.join("x").exists() && root.path().exists());
        let kept = NewFolders::on_the_way_to(&empty);
        std::fs::create_dir_all(&empty).expect("made");
        kept.keep();
        assert!(empty.exists());
    }
}
