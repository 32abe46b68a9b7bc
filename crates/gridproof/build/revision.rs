//! Revision of a program, determined at build time: a checkout may have changed by the time the program runs.

use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

/// Sources of a program, relative to the workspace. The crates have links to the scenarios and pages.
const SOURCES: [&str; 7] =
    ["crates", "xtask", "workloads", "docs/papers", "Cargo.toml", "Cargo.lock", "rust-toolchain.toml"];

/// Tests, benches and examples are excluded.
const APART: [&str; 4] = ["tests", "benches", "examples", "target"];

/// Origin of a program.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Built {
    /// The commit that was checked out; `unknown` outside a repository.
    pub(crate) revision: String,
    /// True if one of the program's files differed from that commit.
    pub(crate) is_dirty: bool,
    /// SHA-256 of the names and contents of these files; `unknown` in a package of a registry.
    pub(crate) sources: String,
    /// Files whose change makes the above obsolete.
    pub(crate) watched: Vec<PathBuf>,
}

impl Built {
    /// A package of a registry, whose `.cargo_vcs_info.json` names the commit and shows whether a file differed from it.
    pub(crate) fn of_package(package: &Path) -> Self {
        let noted = fs::read_to_string(package.join(".cargo_vcs_info.json")).unwrap_or_default();
        let revision =
            noted.split_once("\"sha1\": \"").and_then(|(_, rest)| rest.split_once('"')).map(|(sha1, _)| sha1);
        Self {
            revision: revision.unwrap_or("unknown").to_owned(),
            is_dirty: noted.contains("\"dirty\": true"),
            sources: "unknown".to_owned(),
            watched: Vec::new(),
        }
    }

    /// A checkout.
    pub(crate) fn of(workspace: &Path) -> io::Result<Self> {
        let git = |arguments: &[&str]| -> Option<String> {
            let output = Command::new("git").arg("-C").arg(workspace).args(arguments).output().ok()?;
            output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
        };
        let mut watched = Vec::new();
        for root in SOURCES {
            collect(&workspace.join(root), &mut watched)?;
        }
        watched.sort();
        let mut hash = Sha256::new();
        for file in &watched {
            let name = file.strip_prefix(workspace).expect("it lies inside the workspace");
            hash.update(name.to_string_lossy().replace('\\', "/"));
            hash.update([0]);
            hash.update(fs::read(file)?);
            hash.update([0]);
        }
        let status = git(&[&["status", "--porcelain", "--untracked-files=no", "--"][..], &SOURCES].concat());
        let is_ours = |line: &str| {
            let path = line.get(3..).unwrap_or_default();
            !path.split('/').any(|folder| APART.contains(&folder))
        };
        // A commit changes one of these and no source. The index is not included: staged files differ as before.
        let branch = git(&["symbolic-ref", "--quiet", "HEAD"]);
        for name in ["HEAD", "logs/HEAD", "packed-refs"].into_iter().chain(branch.as_deref()) {
            let path = git(&["rev-parse", "--git-path", name]).map(|path| workspace.join(path));
            watched.extend(path.filter(|path| path.is_file()));
        }
        Ok(Self {
            revision: git(&["rev-parse", "--verify", "HEAD"]).unwrap_or_else(|| "unknown".to_owned()),
            is_dirty: status.is_some_and(|status| status.lines().any(is_ours)),
            sources: hex::encode(hash.finalize()),
            watched,
        })
    }
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if path.is_symlink() {
        return Ok(());
    }
    if path.is_dir() {
        if !APART.contains(&name.as_ref()) && !name.starts_with('.') {
            for entry in fs::read_dir(path)? {
                collect(&entry?.path(), files)?;
            }
        }
    } else if path.extension().is_some_and(|kind| {
        ["rs", "toml", "lock", "html", "css", "js", "md", "txt", "bash", "fish"].iter().any(|known| kind == *known)
    }) && path.is_file()
    {
        files.push(path.to_owned());
    }
    Ok(())
}
