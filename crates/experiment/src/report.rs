//! Files and terminal text of a finished experiment.

pub(crate) mod caution;
mod figures;
pub(crate) mod results;
mod words;

use crate::design::file::Method;
use crate::design::measure::Cell;
use crate::design::{Claim, Metric};
use crate::plan::ExperimentPlan;
use crate::report::caution::{InLog, pitfalls};
use crate::report::figures::Answer;
use crate::report::results::Results;
use crate::report::words::{finding, in_units, of_others, sentences};
use crate::unit::Run;
use anyhow::Result;
use lab::chart::{fixed, significant};
use lab::claim::Judged;
use lab::cli::program;
use lab::difference::capitalized;
use lab::output::OutDir;
use lab::output::manifest::PROGRAMS;
use lab::output::provenance::quoted;
use lab::page::{self, Figure, Page, Part, Section, Table};
use lab::shown::{self, Shown};
use lab::table::csv;
use lab::units::{alone, count, level, table, with_half_width};
use replay::name_of;
use serde_json::json;
use std::path::Path;

pub(super) struct ExperimentReport<'a> {
    pub(super) plan: &'a ExperimentPlan,
    pub(super) results: Results<'a>,
    judged: Vec<Judged>,
    pub(super) warnings: Vec<String>,
    in_logs: Vec<InLog>,
    /// Draws outside the bounds, by log.
    refused: Vec<u64>,
}

impl<'a> ExperimentReport<'a> {
    pub(super) fn new(plan: &'a ExperimentPlan, runs: Vec<Run>) -> Self {
        let mut refused = vec![0; plan.design.logs.len()];
        runs.iter().for_each(|run| refused[run.cell.log] += u64::from(run.refused));
        let results = Results::new(&plan.design, runs);
        let judged = plan.design.claims.iter().map(|claim| results.judge(claim)).collect();
        let mut warnings = pitfalls(plan, &results);
        let in_logs = InLog::all(&results);
        warnings.extend(InLog::warning(&in_logs));
        Self { plan, results, judged, warnings, in_logs, refused }
    }

    /// Writes every file into `out`, and completes it. `timings` go into the manifest, as the only part that differs between
    /// equal runs.
    pub(super) fn write(&self, out: OutDir, timings: serde_json::Value) -> Result<()> {
        self.results.tables()?.into_iter().try_for_each(|(name, table)| out.write(name, table))?;
        out.write("claims.csv", self.claims()?)?;
        if !self.in_logs.is_empty() {
            out.write("log.csv", InLog::csv(&self.in_logs, &self.results)?)?;
        }
        out.write("experiment.toml", &self.plan.head.text)?;
        let write = |shown: Vec<Shown>| shown::write(&shown, &self.judged, &out);
        let answer = Answer::new(&self.results);
        let mut sections = vec![section("comparison", "Comparison", Vec::new(), write(answer.first())?)];
        if let Some((title, means)) = figures::means(&self.results) {
            let write = |(metric, shown): (Metric, Vec<Shown>)| Ok((capitalized(metric.label()), write(shown)?));
            let mut folds = means.into_iter().map(write).collect::<Result<Vec<_>>>()?;
            let (_, chosen) = folds.remove(0);
            let words = "Means over replications, with 95 % intervals. Policies are compared by paired differences, not by whether \
                         these intervals touch.";
            sections.push(Section { folds, ..section("means-by", title, vec![words.to_owned()], chosen) });
        }
        let others = write(answer.others())?;
        if !others.is_empty() {
            sections.push(section("other-metrics", "Other metrics", of_others(&self.results), others));
        }
        let page = self.page(sections, write(answer.by_log())?);
        out.write("report.html", page::render(&page)?)?;
        out.finish(self.manifest(timings))
    }

    fn claims(&self) -> Result<Vec<u8>> {
        let row = |(judged, claim): (&Judged, &Claim)| {
            let deciding = judged.deciding_cell();
            let test = self.results.test(claim, claim.metric.name());
            judged.row(&format!("{test}; decided by {}", deciding.label), &deciding.rule.to_string()).to_vec()
        };
        csv(Judged::COLUMNS, self.judged.iter().zip(&self.plan.design.claims).map(row))
    }

    fn page(&self, sections: Vec<Section>, figures: Vec<Figure>) -> Page {
        let design = &self.plan.design;
        let shown = |(judged, claim): (&Judged, &Claim)| {
            let decides = judged.deciding_cell();
            let shown = Some(in_units(&self.results, claim, decides));
            let source = format!("{}, decided by {}", judged.source, decides.label);
            Judged { shown, source, ..judged.clone() }
        };
        let in_logs = (!self.in_logs.is_empty()).then(|| InLog::table(&self.in_logs));
        Page {
            title: design.name.clone(),
            subtitle: subtitle(self.plan),
            lead: sentences(&self.results, &[]),
            caveats: self.warnings.clone(),
            claims: self.judged.iter().zip(&design.claims).map(shown).collect(),
            has_own_claims: true,
            sections,
            figures,
            tables: [self.means()].into_iter().chain(in_logs).chain([self.bests(), self.logs()]).collect(),
            commands: vec![("Run this experiment again".to_owned(), self.command_line())],
            provenance: self.provenance(),
            ..Page::default()
        }
    }

    fn labels(&self) -> impl Iterator<Item = &'a str> {
        self.plan.design.metrics.iter().map(|metric| metric.label())
    }

    fn means(&self) -> Table {
        let row = |cell: Cell| {
            let place = self.results.row(cell, [self.results.name(cell).to_owned()]).into_iter().map(alone);
            place.chain(self.plan.design.metrics.iter().map(|metric| self.mean(cell, metric))).collect()
        };
        let columns = self.results.head(["policy"].into_iter().chain(self.labels()));
        let all = self.results.places().flat_map(|at| self.results.policies(at)).map(row);
        let caption =
            "With the half-width of the 95 % interval over replications. For comparisons see the paired differences.";
        table(["means", "Means", caption], columns, all)
    }

    /// A mean with its interval, for a reader, and its exact value.
    fn mean(&self, cell: Cell, metric: Metric) -> [String; 2] {
        let Some(mean) = self.results.mean(cell, metric) else { return ["–".to_owned(), String::new()] };
        let ends = mean.low.zip(mean.high);
        let text = if ends.is_some() { with_half_width(metric, &mean) } else { level(metric, mean.mean) };
        let ends = ends.map(|(low, high)| format!(" [{}, {}]", significant(low), significant(high)));
        let exact = format!("{}{} s", significant(mean.mean), ends.unwrap_or_default());
        [text, if metric.unit() == "s" { exact } else { String::new() }]
    }

    fn bests(&self) -> Table {
        let best = |at: Cell, metric: Metric| match &self.results.best(at, metric)[..] {
            [] => "–".to_owned(),
            names => names.join(", "),
        };
        let row = |at: Cell| self.results.row(at, self.plan.design.metrics.iter().map(|metric| best(at, metric)));
        let caption = "The policy with the best mean, then those without a significant difference from it, by multiple comparisons \
                       with the best: with 95 % at least, the best one is among them. A dash: no interval. Also in best.csv.";
        let columns = self.results.head(self.labels());
        Table::new("best", "Policies that may be the best", caption, columns, self.results.places().map(row).collect())
    }

    fn logs(&self) -> Table {
        let rows = self.plan.held.iter().zip(&self.refused).map(|(held, refused)| {
            let repairs: Vec<String> =
                held.repairs.iter().map(|repair| format!("{} {}", count(repair.count), repair.rule.name())).collect();
            let parts = held.parts().map(|parts| format!("{parts}, {refused} draws outside the bounds refused"));
            let own = held.log().and_then(|one| one.load(held.sites.processors().max(1)));
            vec![
                held.log.name.clone(),
                count(held.jobs()),
                held.sites.processors().to_string(),
                own.map_or_else(|| "–".to_owned(), |own| format!("{} %", fixed(100.0 * own * held.density, 0))),
                parts.unwrap_or_else(|| "–".to_owned()),
                if repairs.is_empty() { "none".to_owned() } else { repairs.join(", ") },
            ]
        });
        let caption = "As they were read. Repairs follow the named rules of simulate.";
        let columns = ["Log", "Jobs", "Processors", "Offered load", "Drawn from", "Repairs"];
        Table::new("logs", "Logs", caption, columns, rows.collect())
    }

    /// Command line that reproduces these results. It omits the engine, which has no effect on them.
    fn command_line(&self) -> String {
        let ExperimentPlan { head, precision, .. } = self.plan;
        let quick = if head.quick { " --quick" } else { "" };
        let seed = head.seed.map_or_else(String::new, |seed| format!(" --seed {seed}"));
        let precision = precision.map_or_else(String::new, |share| format!(" --precision {share}"));
        let path = |path: &Path| quoted(&path.to_string_lossy()).into_owned();
        let traces = head.traces.as_ref().map_or_else(String::new, |folder| format!(" --traces {}", path(folder)));
        format!("{} experiment {}{quick}{seed}{precision}{traces}", program(), path(&head.file))
    }

    fn provenance(&self) -> Vec<(String, String)> {
        let files = self.plan.held.iter().filter(|held| held.log.file.is_some());
        [("Plan".to_owned(), self.plan.hash.clone()), ("Seed".to_owned(), self.plan.design.seed.to_string())]
            .into_iter()
            .chain(files.map(|held| (format!("SHA-256 of {}", held.log.name), held.sha256.clone())))
            .collect()
    }

    fn manifest(&self, timings: serde_json::Value) -> serde_json::Value {
        let design = &self.plan.design;
        let logs = self.plan.held.iter().map(|held| {
            json!({ "name": held.log.name, "sha256": held.sha256, "jobs": held.jobs(), "processors": held.sites.processors() })
        });
        json!({
            "experiment": design.name,
            "plan_sha256": self.plan.hash,
            "seed": design.seed,
            "method": name_of(&design.replicate.method),
            "replications": self.plan.head.end,
            "policies": design.policies.iter().map(|policy| policy.name()).collect::<Vec<_>>(),
            "metrics": design.metrics.iter().map(|metric| metric.name()).collect::<Vec<_>>(),
            "logs": logs.collect::<Vec<_>>(),
            "quick": self.plan.head.quick,
            PROGRAMS: self.plan.head.programs,
            "command_line": self.command_line(),
            "timings": timings,
        })
    }

    pub(super) fn as_text(&self) -> String {
        let mut text = String::new();
        for Judged { id, verdict, statement, .. } in &self.judged {
            text += &format!("{id:4} {:13} {statement}\n", finding(*verdict));
        }
        text += &(sentences(&self.results, &self.judged).join("\n") + "\n");
        text + &InLog::on_terminal(&self.in_logs)
    }

    pub(super) fn as_json(&self, out: &Path) -> serde_json::Value {
        let claim = |judged: &Judged| json!({ "id": judged.id, "says": judged.statement, "verdict": judged.verdict.to_string() });
        let design = &self.plan.design;
        let best = self.results.places().map(|at| {
            let of = |metric: &Metric| (metric.name().to_owned(), json!(self.results.best(at, metric)));
            let by_metric: serde_json::Map<_, _> = design.metrics.iter().map(of).collect();
            let setting = &self.results.row(at, [])[1..];
            json!({ "log": design.logs[at.log].name, "setting": setting, "may_be_best": by_metric })
        });
        json!({
            "out": out,
            "experiment": design.name,
            "replications": self.plan.head.end,
            "claims": self.judged.iter().map(claim).collect::<Vec<_>>(),
            "warnings": self.warnings,
            "best": best.collect::<Vec<_>>(),
            "summary": sentences(&self.results, &self.judged).join(" "),
        })
    }
}

fn section(id: &str, title: &str, words: Vec<String>, figures: Vec<Figure>) -> Section {
    let parts = figures.into_iter().map(|figure| Part::Figure(Box::new(figure))).collect();
    Section { id: id.to_owned(), title: title.to_owned(), words, parts, folds: Vec::new() }
}

fn subtitle(plan: &ExperimentPlan) -> String {
    let design = &plan.design;
    let drawn = match design.replicate.method {
        Method::Blocks => "weeks of the log, drawn in blocks",
        Method::Users => "users of the log, drawn independently",
        Method::Shake => "shaken logs",
        Method::Seeds => "seeds",
    };
    let counted = |many: usize, one: &str| format!("{many} {one}{}", if many == 1 { "" } else { "s" });
    format!(
        "{} policies on {} under {}, each over {} replications ({drawn}){}",
        design.policies.len(),
        counted(design.logs.len(), "log"),
        counted(design.settings().len(), "setting"),
        plan.head.end,
        if plan.head.quick { "; quick, a tenth of the work or less" } else { "" }
    )
}
