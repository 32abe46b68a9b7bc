//! `cargo xtask reproduce`: simulates a paper, redraws its figures, judges its claims.

pub use crate::study::Request;

use crate::claim::{Claim, Judged, Remark, Seeds};
use crate::clock::{beyond_the_clock, within_the_clock};
use crate::exhibit::{self, Exhibit};
use crate::output::OutDir;
use crate::paper::{About, Paper};
use crate::quantity::Quantity;
use crate::record::{self, NOT_RUN, Recorded, VERDICTS};
use crate::scenario::did_you_mean;
use crate::shown::Looks;
use crate::store::Store;
use crate::study::{Session, Study, run_id, simulate};
use crate::verdict::Verdict;
use crate::write::Findings;
use anyhow::{Context, Result, bail};
use sim_core::Streams;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Result of a run.
pub struct Outcome {
    /// The paper.
    pub about: About,
    /// Output folder.
    pub out: PathBuf,
    /// Replications of each cell.
    pub replications: u32,
    /// Every claim, with the verdict on record.
    pub judged: Vec<Judged>,
    /// Sentences that are not judged: id, statement, reason.
    pub remarks: Vec<(&'static str, &'static str, &'static str)>,
    /// The claims under other seeds, if requested.
    pub seeds: Option<Seeds>,
    /// Recorded number of seeds under which each verdict is unchanged.
    stays: Option<Recorded>,
}

impl Outcome {
    /// Returns the claims whose verdict differs from the record, with the recorded one.
    pub fn surprises(&self) -> impl Iterator<Item = (&Judged, &str)> {
        self.judged.iter().filter_map(|judged| {
            let recorded = judged.recorded.as_deref().unwrap_or("nothing");
            (judged.in_words() != recorded && recorded != NOT_RUN).then_some((judged, recorded))
        })
    }

    /// Returns the claims without a record for this kind of run.
    pub fn never_recorded(&self) -> impl Iterator<Item = &Judged> {
        self.judged.iter().filter(|judged| judged.recorded.as_deref() == Some(NOT_RUN))
    }

    /// Returns the claims whose number of seeds with an unchanged verdict differs from the record: the observed and the recorded entry.
    pub fn unsteady(&self) -> impl Iterator<Item = (&Judged, String, &str)> {
        let pair = self.seeds.as_ref().zip(self.stays.as_ref());
        self.judged.iter().filter_map(move |judged| {
            let (seeds, recorded) = pair?;
            let (found, recorded) = (seeds.stays(judged), recorded.get(&judged.id).map_or("nothing", String::as_str));
            (found != recorded).then_some((judged, found, recorded))
        })
    }

    /// Counts the claims that have this verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.judged.iter().filter(|judged| judged.verdict == verdict).count()
    }
}

/// Factors by which `--decide` multiplies the replications, in two steps.
const DECIDE: [u32; 2] = [4, 10];

pub(crate) fn run<P: Paper>(request: &Request) -> Result<Outcome> {
    let session = Session::<P>::new(request)?;
    let Session { paper, seed, replications, .. } = &session;
    let asked = Asked::of(paper, &request.only)?;

    let path = request.out.clone().unwrap_or_else(|| Path::new("results").join(P::ABOUT.slug));
    let out = OutDir::create(&path, format!("reproduce {}", P::ABOUT.slug))?;
    if request.fresh {
        Store::forget(&out.cells())?;
    }
    let store = Store::open(&out.cells())?;
    let mut study = Study::new(&session, *seed, &store, request.quiet);
    study.run(&asked.cells(), *replications)?;

    let mut judged: Vec<Judged> = asked.claims.iter().map(|claim| study.judge(claim, *replications)).collect();
    if request.decide {
        decide(&mut study, &asked.claims, &mut judged)?;
    }
    store.settle()?;
    let under = |seed: u64| {
        let judged = session.judged(&asked.claims, seed, &store, request.quiet)?;
        store.settle()?;
        Ok((seed, judged))
    };
    let seeds = request.seeds.map(|seeds| (1..=u64::from(seeds)).map(under).collect::<Result<_>>());
    let seeds = seeds.transpose()?.map(Seeds);

    let on_record = || format!("the record of {}", P::ABOUT.slug);
    let (kind, mode) = (paper.record().unwrap_or(""), request.mode());
    let recorded = record::verdicts(P::PAGE, &[kind, mode]).with_context(on_record)?;
    judged.iter_mut().for_each(|judged| judged.recorded = recorded.get(&judged.id).cloned());
    let stays = |seeds: &Seeds| {
        record::column(P::PAGE, VERDICTS, &[kind, mode, &format!("--seeds {}", seeds.count())]).with_context(on_record)
    };
    let stays = seeds.as_ref().map(stays).transpose()?.flatten();

    let estimate = |quantity: &Quantity<P::Cell>| study.observations.estimate(quantity, *replications);
    let (looks, streams) = (&asked.looks, Streams::new(*seed, 0));
    let shown = |exhibit: &Exhibit<'_, P::Cell>| exhibit.shown(&estimate, looks, &streams);
    let exhibits = within_the_clock(|| asked.exhibits.iter().map(shown).collect());
    let exhibits = exhibits.with_context(|| beyond_the_clock("a figure"))?;
    let remarks = &asked.remarks;
    Findings { request, exhibits, judged: &judged, remarks, seeds: seeds.as_ref(), study: &study }.write(out)?;
    let remarks = remarks.iter().map(|remark| (remark.id, remark.statement, remark.why)).collect();
    Ok(Outcome { about: P::ABOUT, out: path, replications: *replications, judged, remarks, seeds, stays })
}

/// Part of a paper that a run shows and judges: all of it, or what belongs to the figures that `--only` names.
struct Asked<'a, P: Paper> {
    exhibits: Vec<Exhibit<'a, P::Cell>>,
    /// Looks from all exhibits, so that a selection does not change a colour.
    looks: Looks,
    claims: Vec<Claim<P::Cell>>,
    remarks: Vec<Remark<P::Cell>>,
}

impl<'a, P: Paper> Asked<'a, P> {
    fn of(paper: &'a P, only: &[String]) -> Result<Self> {
        let mut exhibits = paper.exhibits();
        let looks = Looks::of(&exhibits);
        let ids = exhibit::ids(&exhibits);
        for name in only {
            if !ids.contains(name) {
                let hint = did_you_mean(name, ids.iter().map(String::as_str));
                bail!("--only {name}: no such figure{hint}; there are {}", ids.join(", "));
            }
        }
        let is_asked = |id: &str| only.is_empty() || only.iter().any(|name| name == id);
        exhibits.retain(|exhibit| is_asked(exhibit.id()));
        let (mut claims, mut remarks) = (paper.claims(), paper.remarks());
        claims.retain(|claim| only.is_empty() || claim.figures.iter().any(|figure| is_asked(figure)));
        remarks.retain(|remark| only.is_empty() || remark.figures.iter().any(|figure| is_asked(figure)));
        Ok(Self { exhibits, looks, claims, remarks })
    }

    fn cells(&self) -> BTreeSet<P::Cell> {
        let shown = self.exhibits.iter().flat_map(Exhibit::quantities);
        let remarked = self.remarks.iter().flat_map(|remark| &remark.shown).map(|(_, quantity)| quantity);
        let mut cells: BTreeSet<P::Cell> = self.claims.iter().flat_map(Claim::cells).collect();
        shown.chain(remarked).for_each(|quantity| quantity.collect_cells(&mut cells));
        cells
    }
}

/// Reruns the cells of inconclusive claims with more replications, up to ten times as many.
fn decide<P: Paper>(study: &mut Study<'_, P>, claims: &[Claim<P::Cell>], judged: &mut [Judged]) -> Result<()> {
    for factor in DECIDE {
        let more = study.session.replications * factor;
        let would_run = |cell: &P::Cell| study.worth_running(cell, more) > study.observations.replications_of(cell);
        let is_open =
            |i: &usize| judged[*i].verdict == Verdict::Inconclusive && claims[*i].cells().iter().any(would_run);
        let open: Vec<usize> = (0..claims.len()).filter(is_open).collect();
        study.run(&open.iter().flat_map(|i| claims[*i].cells()).collect(), more)?;
        for i in open {
            judged[i] = study.judge(&claims[i], more);
            judged[i].decided_at = claims[i].cells().iter().map(|cell| study.worth_running(cell, more)).max();
        }
    }
    Ok(())
}

pub(crate) fn rerun<P: Paper>(request: &Request, id: &str) -> Result<Vec<(String, f64)>> {
    let Session { paper, seed, .. } = Session::<P>::new(request)?;
    let (wanted, replication) = id
        .trim()
        .rsplit_once(" rep=")
        .and_then(|(cell, replication)| Some((cell, replication.parse::<u32>().ok()?)))
        .with_context(|| format!("--run {id:?}: expected a name from the column run of runs.csv, ending in rep=N"))?;
    let cells = Asked::of(&paper, &[])?.cells();
    let named = cells.iter().find(|cell| run_id(&paper, cell, 0).strip_suffix(" rep=0") == Some(wanted));
    let cell =
        named.with_context(|| format!("--run {id:?}: the scenario has no such run; see the column run of runs.csv"))?;
    let metrics = simulate(&paper, cell, seed, replication)?;
    Ok(paper.metrics().iter().map(ToString::to_string).zip(metrics).collect())
}
