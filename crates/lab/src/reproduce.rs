//! `cargo xtask reproduce`: simulates a paper, redraws its figures, judges its claims.

pub use crate::study::Request;

use crate::claim::{Claim, Judged, Remark, Verdict};
use crate::clock::{beyond_the_clock, within_the_clock};
use crate::exhibit::{self, Exhibit};
use crate::output::OutDir;
use crate::paper::{About, Paper};
use crate::quantity::Quantity;
use crate::scenario::did_you_mean;
use crate::shown::Looks;
use crate::store::Store;
use crate::study::{Session, Study, run_id, simulate};
use crate::write::Findings;
use anyhow::{Context, Result, bail, ensure};
use sim_core::Streams;
use std::collections::{BTreeMap, BTreeSet};
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
        self.judged.iter().filter_map(|judged| {
            let recorded = self.stays.as_ref()?.get(&judged.id).map_or("nothing", String::as_str);
            let found = judged.stays()?;
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
    for seed in 1..=request.seeds.unwrap_or(0).into() {
        let under = session.judged(&asked.claims, seed, &store, request.quiet)?;
        store.settle()?;
        judged.iter_mut().zip(under).for_each(|(judged, other)| judged.seeds.push((seed, other)));
    }

    let on_record = || format!("the record of {}", P::ABOUT.slug);
    let (kind, mode) = (paper.record().unwrap_or(""), request.mode());
    let recorded = verdicts(P::PAGE, &[kind, mode]).with_context(on_record)?;
    judged.iter_mut().for_each(|judged| judged.recorded = recorded.get(&judged.id).cloned());
    let stays = |seeds| column(P::PAGE, VERDICTS, &[kind, mode, &format!("--seeds {seeds}")]);
    let stays = request.seeds.map(stays).transpose().with_context(on_record)?.flatten();

    let estimate = |quantity: &Quantity<P::Cell>| study.observations.estimate(quantity, *replications);
    let (looks, streams) = (&asked.looks, Streams::new(*seed, 0));
    let shown = |exhibit: &Exhibit<'_, P::Cell>| exhibit.shown(&estimate, looks, &streams);
    let exhibits = within_the_clock(|| asked.exhibits.iter().map(shown).collect());
    let exhibits = exhibits.with_context(|| beyond_the_clock("a figure"))?;
    let remarks = &asked.remarks;
    Findings { request, exhibits, judged: &judged, remarks, study: &study }.write(out)?;
    let remarks = remarks.iter().map(|remark| (remark.id, remark.statement, remark.why)).collect();
    Ok(Outcome { about: P::ABOUT, out: path, replications: *replications, judged, remarks, stays })
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

/// Entry in the table for a kind of run that was never completed: there is nothing to compare with.
pub(crate) const NOT_RUN: &str = "not run";

pub(crate) const VERDICTS: &str = "## Verdicts";
pub(crate) const DOUBT: &str = "## Doubt";

/// Recorded verdicts or other entries, by claim.
pub(crate) type Recorded = BTreeMap<String, String>;

/// Reads the verdicts in the page of a paper, which has them unless it is empty. `words` are those of [`column`].
pub(crate) fn verdicts(page: &str, words: &[&str]) -> Result<Recorded> {
    if page.is_empty() {
        return Ok(Recorded::new());
    }
    let found = column(page, VERDICTS, words)?;
    found.with_context(|| format!("the table under {VERDICTS:?} has no column {:?}", words.join(" ")))
}

/// Reads the column for one kind of run of the table under `heading`, if there is one. `words` are the kind of record, if a paper has several
/// (`stand-in`), and the options that choose it (`--quick`), or empty. Fails if rows and header have different numbers of cells.
pub(crate) fn column(page: &str, heading: &str, words: &[&str]) -> Result<Option<Recorded>> {
    let words: Vec<&str> = words.iter().copied().filter(|word| !word.is_empty()).collect();
    let column = if words.is_empty() { "verdict".to_owned() } else { words.join(" ") };
    let below = page.lines().skip_while(|line| *line != heading).skip(1).take_while(|line| !line.starts_with("## "));
    let table = below.skip_while(|line| !line.starts_with('|')).take_while(|line| line.starts_with('|'));
    let cells = |line: &str| -> Vec<String> {
        line.trim_matches('|').split('|').map(|cell| cell.trim().trim_matches('`').to_owned()).collect()
    };
    let mut rows = table.map(cells);
    let header = rows.next().unwrap_or_default();
    let Some(position) = header.iter().position(|name| *name == column) else { return Ok(None) };
    let entry = |row: Vec<String>| {
        let (cells, columns) = (row.len(), header.len());
        ensure!(cells == columns, "the row of claim {} has {cells} cells, not {columns}", row[0]);
        Ok((row[0].clone(), row[position].clone()))
    };
    // The line below the header separates it from the rows.
    rows.skip(1).map(entry).collect::<Result<_>>().map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# P\n\n## Verdicts\n\nSome words.\n\n\
        | claim | verdict | `--decide` | `--seeds 10` | `--quick --seeds 10` | `stand-in` |\n|---|---|---|---|---|---|\n\
        | P1 | inconclusive | reproduced at 40 replications | 9 of 10 | 8 of 10 | contradicted |\n\nAfter.\n";

    #[test]
    fn each_kind_of_run_has_its_column() {
        for (words, recorded) in [
            (["", "", ""], Some("inconclusive")),
            (["", "--decide", ""], Some("reproduced at 40 replications")),
            (["", "", "--seeds 10"], Some("9 of 10")),
            (["", "--quick", "--seeds 10"], Some("8 of 10")),
            (["stand-in", "", ""], Some("contradicted")),
            (["stand-in", "--quick", ""], None),
        ] {
            let record = column(TEXT, VERDICTS, &words).expect("a good table");
            assert_eq!(record.as_ref().and_then(|record| record.get("P1")).map(String::as_str), recorded, "{words:?}");
            assert!(record.is_none_or(|record| !record.contains_key("P2")));
        }
        let error = verdicts(TEXT, &["--quick"]).expect_err("there is none").to_string();
        assert!(error.contains("\"--quick\""), "{error}");
    }
}
