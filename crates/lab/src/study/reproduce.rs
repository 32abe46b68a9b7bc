//! `cargo xtask reproduce`: simulates a paper, redraws its figures, judges its claims, and writes tables, the manifest and the report page.

pub use crate::study::Request;

use crate::measure::claim::{Claim, Judged, JudgedCell, Remark, Verdict};
use crate::measure::metric::{Declared, Metric};
use crate::measure::quantity::{DesignPoint, Quantity};
use crate::measure::table::{columns, csv, in_words, number};
use crate::output::OutDir;
use crate::output::store::Store;
use crate::paper::{About, Paper};
use crate::report::exhibit::{self, Exhibit};
use crate::report::page::{self, Page};
use crate::report::shown::{self, Looks, Shown};
use crate::run::cli::program;
use crate::run::clock::{beyond_the_clock, within_the_clock};
use crate::scenario::did_you_mean;
use crate::study::{Session, Study, parameters, run_id, simulate};
use anyhow::{Context, Result, bail, ensure};
use metrics::ConfidenceInterval;
use serde_json::json;
use sim_core::Streams;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

pub struct Outcome {
    pub about: About,
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
        exhibits.retain(|exhibit| is_asked(&exhibit.id));
        let (mut claims, mut remarks) = (paper.claims(), paper.remarks());
        claims.retain(|claim| only.is_empty() || claim.figures.iter().any(|figure| is_asked(figure)));
        remarks.retain(|remark| only.is_empty() || remark.figures.iter().any(|figure| is_asked(figure)));
        Ok(Self { exhibits, looks, claims, remarks })
    }

    fn cells(&self) -> BTreeSet<P::Cell> {
        let shown = self.exhibits.iter().flat_map(|exhibit| &exhibit.needs);
        let remarked = self.remarks.iter().flat_map(|remark| &remark.shown).map(|(_, quantity)| quantity);
        self.claims.iter().flat_map(Claim::cells).chain(shown.chain(remarked).flat_map(Quantity::cells)).collect()
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

/// Results of a run, as its files show them.
struct Findings<'a, P: Paper> {
    request: &'a Request,
    exhibits: Vec<Shown>,
    judged: &'a [Judged],
    remarks: &'a [Remark<P::Cell>],
    study: &'a Study<'a, P>,
}

impl<P: Paper> Findings<'_, P> {
    fn write(&self, out: OutDir) -> Result<()> {
        let shown = shown::write(&self.exhibits, self.judged, &out)?;
        out.write("runs.csv", self.runs()?)?;
        out.write("claims.csv", self.claims()?)?;
        out.write("data/claim-cells.csv", self.claim_cells()?)?;
        if !self.remarks.is_empty() {
            out.write("data/not-judged.csv", self.not_judged()?)?;
        }
        if self.request.only.is_empty() {
            for (name, content) in self.study.session.paper.files(&|quantity| self.sample(quantity))? {
                out.write(name, content)?;
            }
        }
        if self.request.seeds.is_some() {
            out.write("seeds.csv", self.under_seeds()?)?;
        }
        let report = page::render(&self.page(shown))?;
        out.write("report.html", report)?;
        let Request { quick, decide, seeds, only, set, .. } = self.request;
        let options = json!({ "quick": quick, "decide": decide, "seeds": seeds, "only": only, "set": set });
        let timings = json!({
            "replications_computed": self.study.computed,
            "replications_reused": self.study.reused,
            "replications_damaged": self.study.store.damaged,
        });
        out.finish(self.study.session.manifest(options, &self.command(), timings))
    }

    /// Returns the command that repeats this run. Options that cannot change a result are left out.
    fn command(&self) -> String {
        format!("{} reproduce {}{}", program(), P::ABOUT.slug, self.request.options())
    }

    fn estimate(&self, quantity: &Quantity<P::Cell>) -> ConfidenceInterval {
        self.study.observations.estimate(quantity, self.study.session.replications)
    }

    fn sample(&self, quantity: &Quantity<P::Cell>) -> Vec<f64> {
        self.study.observations.sample(quantity, self.study.session.replications)
    }

    /// Returns `runs.csv`: one row per replication.
    fn runs(&self) -> Result<Vec<u8>> {
        let study = self.study;
        let paper = &study.session.paper;
        let Some((first, ..)) = study.observations.rows().next() else { return Ok(Vec::new()) };
        let own = |name: &str| name.to_owned();
        let names = parameters(paper, first).into_iter().map(|(name, _)| name).chain(["seed", "replication"].map(own));
        let names: Vec<String> = names.chain(study.names.iter().cloned()).chain([own("run")]).collect();
        // A reader that looks columns up by name would silently get one of the two.
        if let Some((_, twice)) = names.iter().enumerate().find(|(i, name)| names[..*i].contains(name)) {
            bail!("runs.csv would have two columns {twice}: rename the parameter of the cells or the metric");
        }
        let row = |(cell, replication, metrics): (&P::Cell, usize, &[f64])| {
            let mut row: Vec<String> = parameters(paper, cell).into_iter().map(|(_, value)| value).collect();
            row.extend([self.study.session.seed.to_string(), replication.to_string()]);
            row.extend(metrics.iter().map(|value| number(*value)));
            row.push(run_id(paper, cell, replication));
            row
        };
        csv(names, study.observations.rows().map(row))
    }

    /// Returns `claims.csv`: one row per claim. Expected and observed are those of the deciding cell.
    fn claims(&self) -> Result<Vec<u8>> {
        let row = |judged: &Judged| {
            let cell = judged.deciding_cell();
            let expected = format!("{} ({})", cell.expected(), cell.label);
            judged.row(&judged.test, &expected)
        };
        csv(Judged::COLUMNS, self.judged.iter().map(row))
    }

    /// Returns `data/claim-cells.csv`: one row per cell of each claim.
    fn claim_cells(&self) -> Result<Vec<u8>> {
        let cells = self.judged.iter().flat_map(|judged| judged.cells.iter().map(move |cell| (&judged.id, cell)));
        let row = |(id, cell): (&String, &JudgedCell)| {
            let [mean, low, high, reps] = columns(&cell.estimate);
            [id.clone(), cell.label.clone(), cell.expected(), mean, low, high, reps, cell.verdict.to_string()]
        };
        csv(["id", "cell", "expected", "mean", "ci_low", "ci_high", "reps", "verdict"], cells.map(row))
    }

    /// Returns `data/not-judged.csv`: one row per number beside a sentence that is not judged, or one row without a number.
    fn not_judged(&self) -> Result<Vec<u8>> {
        let rows = |remark: &Remark<P::Cell>| -> Vec<Vec<String>> {
            let shown = |(label, quantity): &(String, Quantity<P::Cell>)| {
                [std::slice::from_ref(label), &columns(&self.estimate(quantity))[..]].concat()
            };
            let mut shown: Vec<Vec<String>> = remark.shown.iter().map(shown).collect();
            if shown.is_empty() {
                shown.push(vec![String::new(); 5]);
            }
            shown.into_iter().map(|shown| [&said(remark)[..], &shown].concat()).collect()
        };
        let columns = ["id", "source", "statement", "why", "shown", "mean", "ci_low", "ci_high", "reps"];
        csv(columns, self.remarks.iter().flat_map(rows))
    }

    /// Returns `seeds.csv`: one row per claim and seed.
    fn under_seeds(&self) -> Result<Vec<u8>> {
        let rows = self.judged.iter().flat_map(|judged| judged.seeds.iter().map(move |under| (judged, under)));
        let row = |(judged, (seed, other)): (&Judged, &(u64, Judged))| {
            let cell = other.deciding_cell();
            let stays = if other.verdict == judged.verdict { "yes" } else { "no" };
            let [mean, low, high, _] = columns(&cell.estimate);
            let (verdict, expected) = (other.verdict.to_string(), format!("{} ({})", cell.rule, cell.label));
            [judged.id.clone(), seed.to_string(), verdict, stays.to_owned(), expected, mean, low, high]
        };
        csv(["id", "seed", "verdict", "stays", "expected", "observed", "ci_low", "ci_high"], rows.map(row))
    }

    fn page(&self, figures: Vec<page::Figure>) -> Page {
        let session = self.study.session;
        let mut page = session.page(self.request, &self.command());
        if session.replications == 1 {
            page.notes.push("A single replication: no interval, so no verdict.".to_owned());
        }
        for parameter in session.scenario.parameters().iter().filter(|parameter| parameter.changed) {
            page.notes.push(format!("Not the paper's setting: {} = {}.", parameter.key, parameter.value));
        }
        page.notes.extend(session.paper.notes());
        let first = self.study.observations.rows().next();
        let run = first.map_or_else(String::new, |(cell, i, _)| run_id(&session.paper, cell, i));
        let other = P::READINGS.get(1).or(P::READINGS.first());
        let other = other.and_then(|reading| Some(format!("--set {}={}", reading.key(), reading.answers.get(1)?)));
        let commands = [
            ("Decide inconclusive claims", Some("--decide".to_owned())),
            ("Another reading", other),
            ("Run one replication again and print its metrics", Some(format!("--run '{run}'"))),
        ];
        let command = |(task, options): (&str, Option<String>)| {
            Some((task.to_owned(), format!("{} reproduce {} {}", program(), P::ABOUT.slug, options?)))
        };
        page.commands.extend(commands.into_iter().filter_map(command));
        let tables = |is_extra| {
            let exhibits = self.exhibits.iter().filter(move |exhibit| exhibit.is_extra == is_extra);
            exhibits.flat_map(|exhibit| exhibit.tables.clone())
        };
        Page {
            claims: self.judged.to_vec(),
            tables: tables(false)
                .chain((!self.remarks.is_empty()).then(|| self.remarks_table()))
                .chain(self.request.seeds.map(|seeds| self.seeds_table(seeds)))
                .chain(tables(true))
                .chain([metrics_table(&session.paper.metrics())])
                .collect(),
            figures,
            parameters: {
                let parameters = session.scenario.parameters().iter();
                parameters.filter(|parameter| !parameter.key.starts_with("readings.")).cloned().collect()
            },
            ..page
        }
    }

    fn seeds_table(&self, seeds: u32) -> page::Table {
        let row = |it: &Judged| {
            vec![it.id.clone(), it.verdict.to_string(), it.stays().unwrap_or_default(), it.under_others()]
        };
        let caption = format!(
            "Under how many of the seeds 1 to {seeds} each verdict of this run stays, and the seeds under which it is another."
        );
        let columns = ["claim", "verdict", "stays under", "another under"];
        let rows = self.judged.iter().map(row).collect();
        page::Table::new("seeds", "The verdicts under other seeds", caption, columns, rows)
    }

    fn remarks_table(&self) -> page::Table {
        let row = |remark: &Remark<P::Cell>| {
            let shown = |(label, quantity): &(String, Quantity<P::Cell>)| {
                format!("{label}: {}", in_words(&self.estimate(quantity)))
            };
            let shown: Vec<String> = remark.shown.iter().map(shown).collect();
            said(remark).into_iter().chain([shown.join("; ")]).collect()
        };
        let caption = "Statements of the paper that no number here could contradict, with the numbers here.";
        let columns = ["id", "where", "the paper says", "not judged because", "ours"];
        let rows = self.remarks.iter().map(row).collect();
        page::Table::new("not-judged", "Sentences that are not judged", caption, columns, rows)
    }
}

fn said<C: DesignPoint>(remark: &Remark<C>) -> [String; 4] {
    [remark.id, remark.source, remark.statement, remark.why].map(str::to_owned)
}

/// Returns the metrics of a run as a table of the page: a row for each metric, and one for all that differ only in their index.
fn metrics_table<M: Metric>(metrics: &[M]) -> page::Table {
    let row = |field: &str| {
        // Two metrics with an index may alternate in the list.
        let same: Vec<&M> = metrics.iter().filter(|metric| metric.declared().field == field).collect();
        let Declared { unit, text, signed, better, of_nothing, .. } = same[0].declared();
        let names = match &same[..] {
            [first, .., last] => format!("{first} … {last}"),
            _ => same[0].to_string(),
        };
        let better = better.map_or_else(String::new, |better| better.to_string());
        let of_nothing = if of_nothing.is_nan() { String::new() } else { of_nothing.to_string() };
        let signed = if signed { "yes" } else { "no" };
        vec![names, text.trim().to_owned(), unit.to_owned(), better, signed.to_owned(), of_nothing]
    };
    let rows = exhibit::distinct(metrics.iter().map(|metric| metric.declared().field)).into_iter().map(row).collect();
    let caption = "The metrics among the columns of runs.csv. Empty value: the value if no event could be counted; a gap if the \
                   value does not exist.";
    let columns = ["column", "definition", "unit", "better", "can be negative", "empty value"];
    page::Table::new("metrics", "Metrics of each run", caption, columns, rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::metric::for_tests::Metric as Its;

    #[test]
    fn a_metric_has_a_row_and_those_of_an_index_share_one() {
        let table = metrics_table(&[Its::wait, Its::wait_of(2), Its::gain, Its::wait_of(4), Its::jobs]);
        let names: Vec<&str> = table.rows.iter().map(|row| row[0].as_str()).collect();
        assert_eq!(names, ["wait", "wait_2 … wait_4", "gain", "jobs"]);
        assert_eq!(table.rows[2][1..], ["Against another policy.", "%", "larger", "yes", ""]);
        assert_eq!(table.rows[3][1..], ["Jobs that ended.", "", "", "no", "0"]);
    }
}
