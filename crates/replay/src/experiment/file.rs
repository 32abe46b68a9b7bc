//! The file of an experiment as it is written, read with the line of everything in it.

use anyhow::{Result, anyhow};
use lab::scenario::did_you_mean;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml::Spanned;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    pub(super) name: Spanned<String>,
    pub(super) policies: Spanned<Vec<Spanned<String>>>,
    pub(super) baseline: Spanned<String>,
    pub(super) metrics: Spanned<Vec<Spanned<String>>>,
    #[serde(default)]
    pub(super) seed: u64,
    #[serde(default)]
    pub(super) log: Vec<Spanned<LogTable>>,
    #[serde(default)]
    pub(super) vary: BTreeMap<Spanned<String>, Spanned<toml::Value>>,
    pub(super) replicate: Spanned<Replicate>,
    #[serde(default)]
    pub(super) claim: Vec<Spanned<ClaimTable>>,
}

/// `[[log]]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LogTable {
    pub(super) file: Option<Spanned<String>>,
    pub(super) model: Option<Spanned<String>>,
    pub(super) name: Option<Spanned<String>>,
    pub(super) procs: Option<Spanned<i64>>,
    pub(super) machines: Option<Spanned<String>>,
    pub(super) inside: Option<Spanned<String>>,
    pub(super) estimates: Option<Spanned<String>>,
    pub(super) deadlines: Option<Spanned<String>>,
    pub(super) repairs: Option<Spanned<String>>,
    pub(super) count: Option<Spanned<i64>>,
    pub(super) load: Option<Spanned<f64>>,
    pub(super) preset: Option<Spanned<String>>,
}

/// `[replicate]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Replicate {
    pub(super) method: Option<Spanned<String>>,
    pub(super) count: Option<Spanned<i64>>,
    /// Of `shake`.
    pub(super) shift: Option<Spanned<String>>,
    /// Of `blocks` and `users`: number of weeks.
    pub(super) weeks: Option<Spanned<i64>>,
    pub(super) warm_up: Option<Spanned<String>>,
    pub(super) cool_down: Option<Spanned<String>>,
    pub(super) precision: Option<Spanned<f64>>,
}

/// `[[claim]]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ClaimTable {
    pub(super) id: Spanned<String>,
    pub(super) says: String,
    pub(super) test: Spanned<Test>,
}

/// `test = { … }`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Test {
    pub(super) metric: Spanned<String>,
    pub(super) policy: Spanned<String>,
    pub(super) below: Option<Spanned<Bound>>,
    pub(super) above: Option<Spanned<Bound>>,
    /// `"10%"`: at least so much below or above the other policy.
    pub(super) by: Option<Spanned<String>>,
    #[serde(default)]
    pub(super) every: Vec<Spanned<String>>,
}

/// What a policy is compared with: another policy, or a number.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Bound {
    Number(f64),
    Policy(String),
}

/// A text with its path: what leads a message to a line.
#[derive(Clone, Debug)]
pub(super) struct Source {
    pub(super) path: PathBuf,
    pub(super) text: String,
}

impl Source {
    pub(super) fn open(path: &Path) -> Result<Self> {
        Ok(Self { path: path.to_owned(), text: ::workload::file::read_text(path)? })
    }

    /// Reads the text; a message names line and key.
    pub(super) fn parse(&self) -> Result<File> {
        toml::from_str(&self.text).map_err(|error| {
            let line = error.span().map_or(1, |span| self.line(&span));
            anyhow!("{}:{line}: {}", self.path.display(), explained(error.message()))
        })
    }

    /// The line, counted from 1, on which something stands.
    pub(super) fn line(&self, span: &Range<usize>) -> usize {
        1 + self.text[..span.start.min(self.text.len())].matches('\n').count()
    }

    /// What is wrong there. `words` begin with the key and end with the fix.
    pub(super) fn wrong(&self, span: &Range<usize>, words: impl std::fmt::Display) -> anyhow::Error {
        anyhow!("{}:{}: {words}", self.path.display(), self.line(span))
    }
}

/// An error of the parser, with a hint where a key is not known.
fn explained(message: &str) -> String {
    let message = message.lines().next().unwrap_or_default();
    let mut quoted = message.split('`').skip(1).step_by(2);
    if message.starts_with("unknown field")
        && let Some(found) = quoted.next()
    {
        let known: Vec<&str> = quoted.collect();
        let hint = did_you_mean(found, known.iter().copied());
        return format!("{found}: no such key here{hint}; there are {}", known.join(", "));
    }
    if message.starts_with("missing field")
        && let Some(missing) = quoted.next()
    {
        return format!("{missing}: is missing; `experiment init` prints an example with every key");
    }
    message.to_owned()
}
