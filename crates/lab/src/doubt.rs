//! `cargo xtask sensitivity`: finds the verdicts of a paper that change under alternative readings.
//!
//! A paper is run with each other answer to each of its readings, one at a time ([`Alternative`]), and its claims are judged again on the
//! same seeds. The result is a line for each claim, `doubt.csv`, a matrix of claims and readings, and a page (`files.rs`).

mod alternative;
mod files;

pub use alternative::Alternative;

use crate::measure::claim::{Judged, Verdict};
use crate::output::OutDir;
use crate::output::store::Store;
use crate::paper::{About, Paper};
use crate::run::interrupt::{self, Interrupted};
use crate::run::parallel::in_parallel;
use crate::run::progress::Progress;
use crate::study::reproduce::{DOUBT, column, verdicts};
use crate::study::{self, Session};
use anyhow::{Context, Result};
use std::cmp::Reverse;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug, Default)]
pub struct Request {
    pub run: study::Request,
    /// Ids or fields of the readings to doubt; empty for all.
    pub readings: Vec<String>,
    /// True to try two readings at a time as well.
    pub product: bool,
}

pub struct Outcome {
    pub about: About,
    pub out: PathBuf,
    /// Replications of each design point.
    pub replications: u32,
    /// Number of alternatives tried, pairs included.
    pub tried: usize,
    /// Every claim, in the order of the specification.
    pub claims: Vec<Doubted>,
    /// True if lines of this kind of run are on record.
    has_record: bool,
}

/// One claim under all answers.
pub struct Doubted {
    /// The claim as it was judged under the scenario's own answers, with its verdict on record.
    pub judged: Judged,
    /// Its verdict under each alternative that was tried, in their order.
    pub under: Vec<(Alternative, Verdict)>,
    /// Summary in words that follow its id: `holds under all 31 alternative readings`.
    pub sentence: String,
    pub sentence_on_record: Option<String>,
}

impl Doubted {
    /// Returns the alternatives under which the verdict is another, with that verdict.
    pub fn flips(&self) -> impl Iterator<Item = &(Alternative, Verdict)> {
        self.under.iter().filter(|(_, verdict)| *verdict != self.judged.verdict)
    }

    /// Counts the alternatives that reverse the verdict, and those that change it to or from inconclusive, which noise can do.
    fn effect(&self) -> (usize, usize) {
        let is_noise = |verdict| [verdict, self.judged.verdict].contains(&Verdict::Inconclusive);
        let noise = self.flips().filter(|(_, verdict)| is_noise(*verdict)).count();
        (self.flips().count() - noise, noise)
    }
}

impl Outcome {
    /// Returns the claims whose summary differs from the record, with the recorded one; all claims if no run of this kind is on record.
    pub fn surprises(&self) -> impl Iterator<Item = (&Doubted, &str)> {
        self.claims.iter().filter_map(|claim| {
            let nothing = if self.has_record { "nothing" } else { "nothing of such a run" };
            let recorded = claim.sentence_on_record.as_deref().unwrap_or(nothing);
            (claim.sentence != recorded).then_some((claim, recorded))
        })
    }

    /// Returns the claims by effect: first those that most alternatives reverse.
    pub fn by_effect(&self) -> Vec<&Doubted> {
        let mut claims: Vec<&Doubted> = self.claims.iter().collect();
        claims.sort_by_key(|claim| Reverse(claim.effect()));
        claims
    }

    /// Counts the claims whose verdict some alternative reverses; the other changes are to or from inconclusive.
    pub fn reversed(&self) -> usize {
        self.claims.iter().filter(|claim| claim.effect().0 > 0).count()
    }

    /// Counts the claims that change their verdict under some answer.
    pub fn shaken(&self) -> usize {
        self.claims.iter().filter(|claim| claim.flips().next().is_some()).count()
    }
}

pub(crate) fn run<P: Paper>(request: &Request) -> Result<Outcome> {
    let slug = P::ABOUT.slug;
    let session = Session::<P>::new(&request.run)?;
    let alternatives = alternative::all(P::READINGS, &session.scenario, request)?;
    let path = request.run.out.clone().unwrap_or_else(|| Path::new("results/doubt").join(slug));
    let out = OutDir::create(&path, format!("doubt {slug}"))?;
    if request.run.fresh {
        Store::forget(&out.cells())?;
    }
    let mut store = Store::open(&out.cells())?;
    if !request.run.fresh {
        // Replications that `reproduce` has finished are reused.
        store = store.borrowing_from(&Path::new("results").join(slug).join("cells"));
    }

    let tried = alternatives.len();
    let progress = Progress::new(format!("{slug}, {tried} answers"), 1 + tried as u64, request.run.quiet);
    let judge = |session: &Session<P>| session.judged(&session.paper.claims(), session.seed, &store, true);
    // The scenario's own answers come first: most alternatives share some of their replications.
    let own = judge(&session)?;
    progress.add(1);
    let under: Vec<Vec<Judged>> = in_parallel(&alternatives, |alternative| {
        interrupt::check(Interrupted::Resumable)?;
        let mut run = request.run.clone();
        run.set.extend(alternative.0.iter().map(|(reading, answer)| format!("{}={answer}", reading.key())));
        let judged = judge(&Session::<P>::new(&run)?)?;
        progress.add(1);
        Ok(judged)
    })?;
    drop(progress);
    store.settle()?;

    let words = [session.paper.record().unwrap_or(""), request.run.mode()];
    let on_record = || format!("the record of {slug}");
    let recorded = verdicts(P::PAGE, &words).with_context(on_record)?;
    let doubt = column(P::PAGE, DOUBT, &words).with_context(on_record)?;
    let claims = own.into_iter().map(|judged| {
        let verdict_under = |(alternative, claims): (&Alternative, &Vec<Judged>)| {
            let same = claims.iter().find(|claim| claim.id == judged.id)?;
            Some((alternative.clone(), same.verdict))
        };
        let under: Vec<_> = alternatives.iter().zip(&under).filter_map(verdict_under).collect();
        Doubted {
            sentence: alternative::sentence(judged.verdict, &under, P::READINGS, &session.scenario),
            sentence_on_record: doubt.as_ref().and_then(|doubt| doubt.get(&judged.id).cloned()),
            judged: Judged { recorded: recorded.get(&judged.id).cloned(), ..judged },
            under,
        }
    });
    let (claims, replications, has_record) = (claims.collect(), session.replications, doubt.is_some());
    let outcome = Outcome { about: P::ABOUT, out: path, replications, tried, claims, has_record };
    files::write(&outcome, &session, request, &alternatives, out, &store)?;
    Ok(outcome)
}
