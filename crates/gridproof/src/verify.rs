//! `cargo xtask verify`: checks that the files of a folder are those that a run wrote.

use crate::cli::Verify;
use anyhow::{Context, Result, bail};
use lab::cli::{Common, Ending, print};
use lab::output::is_being_put_in_place;
use lab::output::manifest::{Listed, MANIFEST, Manifest, names_below};
use lab::output::store::Store;
use serde::Serialize;
use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::Path;

/// Differences between a folder and its manifest.
#[derive(Serialize)]
struct Found {
    folder: String,
    command: String,
    files: usize,
    /// True if the manifest itself is as it was written, except for the timings.
    manifest_is_sound: bool,
    missing: Vec<String>,
    changed: Vec<String>,
    /// Programs that have been edited or rebuilt since they decided, in words.
    other_programs: Vec<String>,
    /// Files that do not belong to the run, which are no difference.
    beside: Vec<String>,
    replications: u64,
    replications_damaged: u64,
}

impl Found {
    /// The differences in words, a line for each.
    fn differences(&self) -> Vec<String> {
        let Self { folder, missing, changed, other_programs, replications, replications_damaged, .. } = self;
        let manifest = (!self.manifest_is_sound).then(|| format!("{folder}/{MANIFEST}: changed\n"));
        let damaged = (*replications_damaged > 0).then(|| {
            format!(
                "{folder}/cells: {replications_damaged} of {} stored replications are damaged; the next run sets them aside and \
                 computes them again\n",
                replications + replications_damaged
            )
        });
        let missing = missing.iter().map(|name| format!("{folder}/{name}: missing\n"));
        let changed = changed.iter().map(|name| format!("{folder}/{name}: changed\n"));
        let other_programs = other_programs.iter().map(|words| format!("{folder}: {words}\n"));
        manifest.into_iter().chain(missing).chain(changed).chain(other_programs).chain(damaged).collect()
    }

    fn in_words(&self, quiet: bool) -> String {
        let Self { folder, command, files, beside, .. } = self;
        let differences = self.differences();
        let beside = beside.iter().filter(|_| !quiet).map(|name| format!("{folder}/{name}: not of this run\n"));
        let text = differences.concat() + &beside.collect::<String>();
        text + &if differences.is_empty() {
            format!("{folder}: all {files} files are as `{command}` wrote them\n")
        } else {
            format!("{folder}: differs from what `{command}` wrote; run that command again\n")
        }
    }
}

pub(crate) fn verify(options: &Verify, common: &Common) -> Result<Ending> {
    let found: Vec<Found> = options.folders.iter().map(|folder| look(folder)).collect::<Result<_>>()?;
    if common.json {
        let value = serde_json::to_value(&found)?;
        print(&format!("{value:#}\n"));
    } else {
        found.iter().for_each(|found| print(&found.in_words(common.quiet)));
    }
    let is_sound = found.iter().all(|found| found.differences().is_empty());
    Ok(if is_sound { Ending::Done } else { Ending::Differs })
}

fn look(folder: &Path) -> Result<Found> {
    let shown = folder.display();
    let Some(manifest) = Manifest::read(folder)? else {
        if is_being_put_in_place(folder) {
            bail!(
                "{shown}: no {MANIFEST}: a run is putting its files in place, or was stopped while it did; if none is going, \
                 start the same command again, and it completes this first"
            );
        }
        bail!("{shown}: no {MANIFEST}: not a folder of results, or its run was stopped before it was complete");
    };
    let Some(command) = manifest.command() else {
        bail!(
            "{shown}: its {MANIFEST} lists no files: another program's, or an earlier version's, which cannot be checked"
        );
    };
    let listed = manifest.files().with_context(|| shown.to_string())?;
    let (mut missing, mut changed) = (Vec::new(), Vec::new());
    for file in &listed {
        match Listed::read(folder, file.name.clone()) {
            Ok(now) if now == *file => {}
            Ok(_) => changed.push(file.name.clone()),
            Err(error)
                if [ErrorKind::NotFound, ErrorKind::NotADirectory, ErrorKind::IsADirectory].contains(&error.kind()) =>
            {
                missing.push(file.name.clone());
            }
            Err(error) => {
                return Err(error).with_context(|| format!("cannot read {}", folder.join(&file.name).display()));
            }
        }
    }
    let known: BTreeSet<&str> = listed.iter().map(|file| file.name.as_str()).chain([MANIFEST]).collect();
    let mut beside = names_below(folder).with_context(|| format!("cannot read {shown}"))?;
    beside.retain(|name| !known.contains(name.as_str()) && !name.starts_with('.') && !name.starts_with("cells/"));
    let (replications, replications_damaged) = Store::census(&folder.join("cells"))?;
    Ok(Found {
        folder: shown.to_string(),
        command: manifest.command_line().unwrap_or(command).to_owned(),
        files: listed.len(),
        manifest_is_sound: manifest.is_sound(),
        missing,
        changed,
        other_programs: manifest.other_programs(None)?,
        beside: beside.into_iter().collect(),
        replications,
        replications_damaged,
    })
}
