//! Papers by name.

use crate::doubt;
use crate::exhibit;
use crate::paper::{About, Effort, Paper};
use crate::reproduce::{self, Outcome, Request};
use crate::scenario::did_you_mean;
use crate::session;
use anyhow::{Result, bail};

/// A paper as the laboratory keeps it: its name, and what can be done with it.
#[derive(Copy, Clone, Debug)]
pub struct Entry {
    /// Who wrote it.
    pub about: About,
    reproduce: fn(&Request) -> Result<Outcome>,
    rerun: Rerun,
    doubt: fn(&doubt::Request) -> Result<doubt::Outcome>,
    listed: fn() -> Result<Listed>,
    check: fn(&Request) -> Result<()>,
    keys: fn() -> Result<Vec<String>>,
}

/// Metrics by name, of a run by its name.
type Rerun = fn(&Request, &str) -> Result<Vec<(String, f64)>>;

/// What a paper holds, as a list of papers shows it.
#[derive(Clone, Debug)]
pub struct Listed {
    /// Who wrote it.
    pub about: About,
    /// Ids of what its report shows.
    pub figures: Vec<String>,
    /// Ids of its claims.
    pub claims: Vec<&'static str>,
    /// Ids of sentences that are shown and not judged.
    pub remarks: Vec<&'static str>,
}

impl Entry {
    /// The entry of the paper `P`.
    pub const fn of<P: Paper>() -> Self {
        Self {
            about: P::ABOUT,
            reproduce: reproduce::run::<P>,
            rerun: reproduce::rerun::<P>,
            doubt: doubt::run::<P>,
            listed: listed::<P>,
            check: session::check::<P>,
            keys: keys::<P>,
        }
    }

    /// Simulates the paper and writes what was found.
    ///
    /// # Errors
    ///
    /// A bad scenario or option, a file that cannot be written, or [`Interrupted`](crate::interrupt::Interrupted).
    pub fn reproduce(&self, request: &Request) -> Result<Outcome> {
        (self.reproduce)(request)
    }

    /// Runs one replication again, as named in the column `run` of `runs.csv`: its metrics, by name.
    ///
    /// # Errors
    ///
    /// A bad scenario or option, or no such run.
    pub fn rerun(&self, request: &Request, id: &str) -> Result<Vec<(String, f64)>> {
        (self.rerun)(request, id)
    }

    /// Runs the paper under other answers to its readings and writes which verdicts change.
    ///
    /// # Errors
    ///
    /// A bad scenario or option, a file that cannot be written, or [`Interrupted`](crate::interrupt::Interrupted).
    pub fn doubt(&self, request: &doubt::Request) -> Result<doubt::Outcome> {
        (self.doubt)(request)
    }

    /// Reads the scenario with what the request changes as a run would, and neither reads a log nor runs anything.
    ///
    /// # Errors
    ///
    /// A bad scenario or option.
    pub fn check(&self, request: &Request) -> Result<()> {
        (self.check)(request)
    }

    /// The names of all parameters of its scenario, as `--set` takes them.
    ///
    /// # Errors
    ///
    /// A bad scenario.
    pub fn keys(&self) -> Result<Vec<String>> {
        (self.keys)()
    }

    /// What the paper holds.
    ///
    /// # Errors
    ///
    /// A bad scenario.
    pub fn listed(&self) -> Result<Listed> {
        (self.listed)()
    }
}

fn listed<P: Paper>() -> Result<Listed> {
    let paper = P::new(&P::scenario()?, Effort::Full)?;
    Ok(Listed {
        about: P::ABOUT,
        figures: exhibit::ids(&paper.exhibits()),
        claims: paper.claims().iter().map(|claim| claim.id).collect(),
        remarks: paper.remarks().iter().map(|remark| remark.id).collect(),
    })
}

fn keys<P: Paper>() -> Result<Vec<String>> {
    Ok(P::scenario()?.parameters().iter().map(|parameter| parameter.key.clone()).collect())
}

/// The paper called `slug`.
///
/// # Errors
///
/// There is none; the message says which there are.
pub fn find<'a>(papers: &'a [Entry], slug: &str) -> Result<&'a Entry> {
    let slugs = || papers.iter().map(|paper| paper.about.slug);
    papers.iter().find(|paper| paper.about.slug == slug).map_or_else(
        || {
            let hint = did_you_mean(slug, slugs());
            bail!("no paper is called {slug:?}{hint}; there are {}", slugs().collect::<Vec<_>>().join(", "))
        },
        Ok,
    )
}
