//! Papers by name.

use crate::doubt;
use crate::paper::{About, Effort, Paper};
use crate::report::exhibit;
use crate::scenario::did_you_mean;
use crate::study::reproduce::{self, Outcome, Request};
use anyhow::{Context, Result};

/// Registered paper: its bibliographic data and its operations. Every operation fails for a bad scenario or option; those that write
/// files fail if one cannot be written, and for [`Interrupted`](crate::run::interrupt::Interrupted).
#[derive(Copy, Clone, Debug)]
pub struct Entry {
    pub about: About,
    pub reproduce: fn(&Request) -> Result<Outcome>,
    /// Repeats the replication that the column `run` of `runs.csv` names. Returns its metrics, by name.
    pub rerun: Rerun,
    pub doubt: fn(&doubt::Request) -> Result<doubt::Outcome>,
    pub listed: fn() -> Result<Listed>,
}

type Rerun = fn(&Request, &str) -> Result<Vec<(String, f64)>>;

/// Contents of a paper, for a list of papers.
#[derive(Clone, Debug)]
pub struct Listed {
    /// Ids of its exhibits.
    pub figures: Vec<String>,
    /// Ids of its claims.
    pub claims: Vec<&'static str>,
    /// Ids of the sentences that are shown and not judged.
    pub remarks: Vec<&'static str>,
}

impl Entry {
    pub const fn of<P: Paper>() -> Self {
        Self {
            about: P::ABOUT,
            reproduce: reproduce::run::<P>,
            rerun: reproduce::rerun::<P>,
            doubt: doubt::run::<P>,
            listed: listed::<P>,
        }
    }
}

fn listed<P: Paper>() -> Result<Listed> {
    let paper = P::new(&P::scenario()?, Effort::Full)?;
    Ok(Listed {
        figures: exhibit::ids(&paper.exhibits()),
        claims: paper.claims().iter().map(|claim| claim.id).collect(),
        remarks: paper.remarks().iter().map(|remark| remark.id).collect(),
    })
}

/// Returns the paper called `slug`; if there is none, the message lists the existing ones.
pub fn find<'a>(papers: &'a [Entry], slug: &str) -> Result<&'a Entry> {
    let slugs = || papers.iter().map(|paper| paper.about.slug);
    papers.iter().find(|paper| paper.about.slug == slug).with_context(|| {
        let hint = did_you_mean(slug, slugs());
        format!("no paper is called {slug:?}{hint}; there are {}", slugs().collect::<Vec<_>>().join(", "))
    })
}
