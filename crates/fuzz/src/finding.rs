//! Something that should not have happened, with all that is needed to see it again.

use super::Target;
use anyhow::{Context, Result};
use lab::scenario::workspace;
use std::fmt;
use std::path::PathBuf;

/// Where an input came from.
#[derive(Clone, Debug)]
pub(crate) enum Origin {
    /// A file of the corpus.
    Corpus(PathBuf),
    /// Drawn.
    Case { seed: u64, case: u64 },
}

/// A broken promise, and the input that breaks it.
pub(crate) struct Finding {
    target: &'static str,
    origin: Origin,
    what: String,
    file: PathBuf,
}

impl Finding {
    /// Writes the input to a file of its own.
    pub(crate) fn new(target: &Target, origin: Origin, input: &[u8], what: String) -> Result<Self> {
        Self::of(target.name, target.extension, origin, input, what)
    }

    pub(crate) fn of(
        target: &'static str,
        extension: &str,
        origin: Origin,
        input: &[u8],
        what: String,
    ) -> Result<Self> {
        let file = match &origin {
            Origin::Corpus(file) => file.clone(),
            Origin::Case { seed, case } => {
                let folder = workspace().join("target/fuzz");
                std::fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
                let file = folder.join(format!("{target}-{seed}-{case}.{extension}"));
                std::fs::write(&file, input).with_context(|| format!("cannot write {}", file.display()))?;
                file
            }
        };
        Ok(Self { target, origin, what, file })
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { target, origin, what, file } = self;
        match origin {
            Origin::Corpus(_) => writeln!(f, "FINDING in {target}, in a file of the corpus")?,
            Origin::Case { seed, case } => writeln!(f, "FINDING in {target}, seed {seed}, case {case}")?,
        }
        writeln!(f, "  {}", what.trim_end().replace('\n', "\n  "))?;
        writeln!(f, "  input: {}", file.display())?;
        match origin {
            Origin::Corpus(_) => writeln!(f, "  again: cargo xtask fuzz {target} --cases 0"),
            Origin::Case { seed, case } => {
                writeln!(f, "  again: cargo xtask fuzz {target} --seed {seed} --case {case}")
            }
        }
    }
}

/// `input` without what is not needed for `fails`: pieces are left out as long as it does, large ones first.
pub(crate) fn shorter(mut input: Vec<u8>, mut fails: impl FnMut(&[u8]) -> bool) -> Vec<u8> {
    // Enough for a file of some kilobytes; a case that is slow is not tried for ever.
    let mut tries = 2_000_u32;
    let mut piece = input.len() / 2;
    while piece > 0 {
        let mut at = 0;
        while at < input.len() {
            let mut less = input.clone();
            less.drain(at..(at + piece).min(input.len()));
            tries = tries.saturating_sub(1);
            if tries == 0 {
                return input;
            }
            if fails(&less) { input = less } else { at += piece }
        }
        piece /= 2;
    }
    input
}
