//! `manifest.json`: description of a run, and every file that it wrote.

use super::if_there;
use crate::output::provenance::{self, sha256_of};
use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Component, Path};
use std::time::Instant;

pub const MANIFEST: &str = "manifest.json";

/// Key of the object of policies that are programs: by policy and file, the SHA-256 of its content.
pub const PROGRAMS: &str = "programs";

/// A file of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listed {
    /// Path relative to the folder, with slashes.
    #[serde(skip)]
    pub name: String,
    pub bytes: u64,
    /// SHA-256 in hexadecimal digits.
    pub sha256: String,
}

impl Listed {
    pub fn read(folder: &Path, name: String) -> io::Result<Self> {
        let path = folder.join(&name);
        Ok(Self { bytes: fs::metadata(&path)?.len(), sha256: sha256_of(&path)?, name })
    }
}

/// Returns the path of every file below `folder`, relative to it, with slashes.
pub fn names_below(folder: &Path) -> io::Result<BTreeSet<String>> {
    let (mut names, mut open) = (BTreeSet::new(), vec![String::new()]);
    while let Some(above) = open.pop() {
        for entry in fs::read_dir(folder.join(&above))? {
            let entry = entry?;
            let name = format!("{above}{}", entry.file_name().to_string_lossy());
            if entry.file_type()?.is_dir() {
                open.push(name + "/");
            } else {
                names.insert(name);
            }
        }
    }
    Ok(names)
}

pub struct Manifest(Map<String, Value>);

impl Manifest {
    /// Returns the text of `content` with the program, the command that makes these results, and the files. `timings`, which alone may
    /// differ between equal runs, stays last; the wall-clock time counts from `began`.
    pub(super) fn text(content: Value, command: &str, files: Vec<Listed>, began: Instant) -> String {
        let Value::Object(mut content) = content else { panic!("a manifest is an object") };
        let mut timings = json!({
            "wall_seconds": began.elapsed().as_secs_f64(),
            "cpu_seconds": provenance::cpu_seconds(),
            "peak_memory_mib": provenance::peak_memory_mib(),
            "threads": rayon::current_num_threads(),
        });
        if let Some(Value::Object(own)) = content.shift_remove("timings") {
            own.into_iter().for_each(|(name, value)| timings[name] = value);
        }
        content.insert("version".to_owned(), env!("CARGO_PKG_VERSION").into());
        content.insert("git_revision".to_owned(), provenance::git_revision().into());
        content.insert("sources_sha256".to_owned(), provenance::sources().into());
        content.insert("command".to_owned(), command.into());
        content.insert("files".to_owned(), files.iter().map(|file| (file.name.clone(), json!(file))).collect());
        let mut manifest = Self(content);
        let hash = manifest.hash();
        manifest.0.insert("manifest_sha256".to_owned(), hash.into());
        manifest.0.insert("timings".to_owned(), timings);
        format!("{:#}\n", Value::Object(manifest.0))
    }

    /// Reads the manifest of `folder`, if it has one; fails if it cannot be read or is not a JSON object.
    pub fn read(folder: &Path) -> Result<Option<Self>> {
        let path = folder.join(MANIFEST);
        let text = if_there(fs::read(&path)).with_context(|| format!("cannot read {}", path.display()))?;
        let Some(text) = text else { return Ok(None) };
        match serde_json::from_slice(&text) {
            Ok(Value::Object(content)) => Ok(Some(Self(content))),
            Ok(_) => bail!("{}: expected an object in braces; it is damaged, or another program's", path.display()),
            Err(error) => bail!("{}: {error}; it is damaged, or another program's", path.display()),
        }
    }

    /// Returns the command, such as `reproduce multi-site`; none for a manifest of another program or of a version without a list of files.
    pub fn command(&self) -> Option<&str> {
        self.0.get("files")?;
        self.0.get("command")?.as_str()
    }

    /// Returns the command line that reproduces these results.
    pub fn command_line(&self) -> Option<&str> {
        self.0.get("command_line")?.as_str()
    }

    /// Reports, as sentences, the files of policies whose content has changed since. `policy` restricts the report to one policy. A file
    /// that no longer exists is left out: it may have moved. Fails if a file cannot be read.
    pub fn other_programs(&self, policy: Option<&str>) -> Result<Vec<String>> {
        let programs = self.0.get(PROGRAMS).and_then(Value::as_object).into_iter().flatten();
        let programs = programs.filter(|(name, _)| policy.is_none_or(|policy| policy == name.as_str()));
        let files = programs.flat_map(|(_, files)| files.as_object().into_iter().flatten());
        // Several policies may share one program.
        let files: BTreeSet<_> = files.map(|(path, hash)| (path, hash.as_str().unwrap_or_default())).collect();
        let mut others = Vec::new();
        for (path, recorded) in files {
            let now = if_there(sha256_of(Path::new(path))).with_context(|| format!("cannot read {path}"))?;
            if let Some(now) = now.filter(|now| recorded != now) {
                others.push(format!("computed by another version of {path} (SHA-256 {recorded}, now {now})"));
            }
        }
        Ok(others)
    }

    /// Returns every file except the manifest itself; fails if the list is malformed or has a path outside the folder.
    pub fn files(&self) -> Result<Vec<Listed>> {
        let files =
            self.0.get("files").and_then(Value::as_object).context("manifest.json: files: expected an object")?;
        let listed = |(name, about): (&String, &Value)| {
            let is_inside =
                !name.is_empty() && Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
            let file = Listed::deserialize(about).ok().filter(|_| is_inside).with_context(|| {
                format!("manifest.json: files: {name:?}: expected a path inside the folder, its bytes and its sha256")
            })?;
            Ok(Listed { name: name.clone(), ..file })
        };
        files.iter().map(listed).collect()
    }

    pub(super) fn names(&self) -> Result<BTreeSet<String>> {
        Ok(self.files()?.into_iter().map(|file| file.name).collect())
    }

    /// Returns true if its content, apart from the timings, is unchanged since it was written.
    pub fn is_sound(&self) -> bool {
        self.0.get("manifest_sha256").and_then(Value::as_str) == Some(&self.hash())
    }

    /// Returns the hash of all but the timings and the hash itself.
    fn hash(&self) -> String {
        let mut content = self.0.clone();
        content.retain(|key, _| !["timings", "manifest_sha256"].contains(&key.as_str()));
        hex::encode(Sha256::digest(Value::Object(content).to_string()))
    }
}
