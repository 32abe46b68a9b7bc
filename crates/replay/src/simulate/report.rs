//! The output of a finished simulation: tables, pictures, the page, the manifest, and the terminal text.

use super::cli::Simulate;
use super::compare::ComparedRuns;
use super::rows::LISTED;
use super::sites::Sites;
use super::world::{Opened, Run};
use crate::options::{name_of, stem, words};
use anyhow::Result;
use lab::chart::Picture;
use lab::output::manifest::PROGRAMS;
use lab::page::{self, Page};
use lab::table::{columns, csv};
use lab::terminal;
use lab::units::{aligned, alone, cell, readable, repair, saturation, table};
use metrics::{ConfidenceInterval, Metric, catalogue};
use serde_json::Map;
use std::path::Path;
use workload::Deadlines;
use workload::repair::Repair;

/// Policies on a log: the jobs, metrics and differences of a run.
pub struct Simulation {
    pub(super) options: Simulate,
    pub(super) world: Opened,
    pub(super) baseline: usize,
    /// Empty before the run.
    pub(super) runs: Vec<Run>,
}

impl Simulation {
    pub(super) fn trace(&self) -> &Path {
        self.options.log.trace()
    }

    pub(super) fn sites(&self) -> &Sites {
        &self.world.sites
    }

    pub(super) fn by_name(&self) -> ComparedRuns<'_> {
        ComparedRuns { runs: &self.runs, baseline: self.baseline, naming: |run| &run.policy.name }
    }

    /// The runs under their labels for readers.
    pub(super) fn compared(&self) -> ComparedRuns<'_> {
        ComparedRuns { naming: |run| &run.policy.label, ..self.by_name() }
    }

    /// The command that gives the same results.
    fn command_line(&self) -> String {
        let Simulate { log, tables, no_report, .. } = &self.options;
        // An alias, since it is also what the page shows.
        let typed =
            |run: &Run| if run.full_name().is_some() { run.policy.label.clone() } else { run.policy.given.clone() };
        let policies = self.runs.iter().map(typed).collect::<Vec<_>>().join(",");
        let tables = tables.iter().map(name_of).collect::<Vec<_>>().join(",");
        let tables = Some(tables).filter(|list| !list.is_empty());
        let baseline = Some(typed(&self.runs[self.baseline])).filter(|_| self.runs.len() > 1);
        format!("{} simulate", lab::cli::program())
            + &words("trace", Some(log.trace().display()))
            + &words("policy", Some(policies))
            + &self.world.arguments
            + &words("baseline", baseline)
            + &words("deadlines", Some(log.deadlines).filter(|deadlines| *deadlines != Deadlines::None))
            + &words("seed", log.seed.filter(|seed| *seed != 0))
            + &words("max-jobs", log.max_jobs)
            + &words("tables", tables)
            + if *no_report { " --no-report" } else { "" }
    }

    pub(super) fn summary(&self) -> Result<Vec<u8>> {
        let names = self.runs[0].columns.iter().map(|(metric, _)| metric.name());
        let row = |run: &Run| {
            let values = run.columns.iter().map(|(metric, value)| cell(metric, *value, |value| value.to_string()));
            std::iter::once(run.policy.name.clone()).chain(values).collect::<Vec<_>>()
        };
        csv(["policy"].into_iter().chain(names), self.runs.iter().map(row))
    }

    /// The data of a picture, in the tidy form, by the policies' names; none for a Gantt chart, whose data are `jobs.csv`.
    pub(super) fn data(&self, picture: &Picture) -> Result<Option<Vec<u8>>> {
        let id = picture.id();
        let row = |policy: usize, x: &str, mean: f64, interval: Option<(f64, f64)>, reps: u32| {
            let ((low, high), level) = (interval.unzip(), ConfidenceInterval::LEVEL);
            let found = ConfidenceInterval { mean, low, high, replications: reps as usize, level };
            [&[id, &self.runs[policy].policy.name, x, id].map(str::to_owned)[..], &columns(&found)].concat()
        };
        let rows: Vec<Vec<String>> = match picture {
            Picture::Chart(chart) => {
                let points =
                    chart.series.iter().enumerate().flat_map(|(at, it)| it.points.iter().map(move |p| (at, p)));
                points.map(|(at, p)| row(at, &p.x.to_string(), p.y, p.interval, p.reps.unwrap_or(1))).collect()
            }
            Picture::Forest(forest) => {
                let dots = forest.rows.iter().enumerate().flat_map(|(row, (_, slot))| {
                    forest.facets.iter().filter_map(move |facet| Some((*slot, facet, facet.dots[row].as_ref()?)))
                });
                let dots = dots.filter(|(.., dot)| dot.interval.is_some());
                dots.map(|(slot, facet, dot)| row(slot, &facet.key, dot.mean, dot.interval, dot.blocks)).collect()
            }
            Picture::Gantt(_) | Picture::Sketch(_) => return Ok(None),
        };
        let head = ["figure", "series", "x", "metric", "mean", "ci_low", "ci_high", "reps"];
        csv(head, rows).map(Some)
    }

    /// The page; `hash` is that of the log.
    pub(super) fn page(&self, lead: Vec<String>, sections: Vec<page::Section>, hash: &str) -> Page {
        let metrics = self.runs[0].columns.iter().map(|(metric, _)| *metric);
        let rows = metrics.filter(|metric| self.runs.iter().any(|run| run.value(metric).is_some())).map(|metric| {
            let values = self.runs.iter().map(|run| alone(cell(metric, run.value(metric), readable)));
            std::iter::once(alone(metric.in_words())).chain(values).collect()
        });
        let repairs: Vec<_> = self.runs[0].outcome.repairs.iter().map(|one| repair(&one).to_vec()).collect();
        let caveats = self.caveats(repairs.len());
        let caption = "Bounded slowdown has a bound of 10 s. columns.md defines each metric.";
        let summary = self.table(["summary", "All of summary.csv", caption], &["metric"], rows);
        let caption = "Missing or inconsistent values in the log, and the rule applied to each.";
        let columns = ["rule", "records", "first line", "problem and action"];
        let both = |run: &Run| {
            run.full_name().map_or(run.policy.label.clone(), |name| format!("{} ({name})", run.policy.label))
        };
        let policies = self.runs.iter().map(both);
        let repairs = page::Table::new("repairs", "Repairs", caption, columns, repairs);
        Page {
            title: stem(self.trace()),
            subtitle: format!("{} on {}", policies.collect::<Vec<_>>().join(", "), self.sites()),
            lead,
            sections,
            caveats,
            tables: std::iter::once(summary).chain((!repairs.rows.is_empty()).then_some(repairs)).collect(),
            commands: vec![("This comparison".to_owned(), self.command_line())],
            provenance: vec![
                ("Log (SHA-256)".to_owned(), hash.to_owned()),
                ("Machine".to_owned(), self.sites().to_string()),
            ],
            ..Page::default()
        }
    }

    /// A table with a column for each policy behind the `first`.
    pub(super) fn table(
        &self,
        texts: [&str; 3],
        first: &[&str],
        rows: impl IntoIterator<Item = Vec<[String; 2]>>,
    ) -> page::Table {
        let full = |run: &Run| run.full_name().unwrap_or_default();
        let columns = first.iter().copied().chain(self.runs.iter().map(|run| run.policy.label.as_str()));
        let heads = first.iter().map(|_| String::new()).chain(self.runs.iter().map(full)).collect();
        page::Table { heads, ..table(texts, columns, rows) }
    }

    fn caveats(&self, repairs: usize) -> Vec<String> {
        let mut notes = self.saturated();
        if self.runs.len() > 1 {
            notes.push(
                "Differences are between means over jobs. Intervals are computed over blocks of the log of a week or more; a block ends \
                 when no job waits under either policy. With at least 95 % confidence, the best policy is the one named or one of \
                 those without a significant difference from it (multiple comparisons with the best)."
                    .to_owned(),
            );
        }
        notes.push("These results hold for this log; the order of policies may differ on another one.".to_owned());
        notes.extend(self.world.notes.iter().cloned());
        notes.extend(self.remarks());
        notes.extend(self.rejections());
        let rules = if repairs == 1 { "one rule".to_owned() } else { format!("{repairs} rules") };
        notes.extend((repairs > 0).then(|| format!("The log was repaired under {rules}; see the table of repairs.")));
        notes
    }

    /// Repairs that are `large` or not: of the log as a whole, or of more than one job in a thousand. Large ones are reported even with
    /// `--quiet`.
    pub(super) fn repairs_in_words(&self, large: bool) -> Vec<String> {
        let (sums, repairs) = (self.runs[0].sums(), &self.runs[0].outcome.repairs);
        let records = sums.summary.jobs + sums.rejected + repairs.skipped();
        let is_large = |repair: &Repair| repair.first_line.is_none() || 1_000 * repair.count > records;
        let large = repairs.iter().filter(|repair| is_large(repair) == large);
        large.map(|Repair { rule, count, .. }| format!("repair {rule}: {count} × {}", rule.description())).collect()
    }

    /// A sentence about each policy that is saturated.
    pub(super) fn saturated(&self) -> Vec<String> {
        self.runs.iter().filter_map(|run| saturation(&run.policy.label, run.trend())).collect()
    }

    /// Notes for every reader: what policies assume or do not do on this machine, and ignored content.
    pub(super) fn remarks(&self) -> Vec<String> {
        let of_policies = self.runs.iter().flat_map(|run| run.policy.notes.iter().cloned());
        of_policies.chain(self.sites().ignored(&self.runs[0].outcome.repairs)).collect()
    }

    /// Note on jobs that never ran, under any policy.
    fn rejections(&self) -> Option<String> {
        let were = match self.runs[0].sums().rejected {
            0 => return None,
            1 => "1 job was".to_owned(),
            rejected => format!("{rejected} jobs were"),
        };
        Some(format!("{were} rejected: {}", self.world.rejects_because))
    }

    pub(super) fn manifest(&self, hash: &str) -> serde_json::Value {
        let programs = self.runs.iter().filter(|run| !run.programs.is_empty());
        serde_json::json!({
            "trace": self.trace().file_name().unwrap_or_default().to_string_lossy(),
            "trace_sha256": hash,
            "model": self.world.entry.model,
            "profile": self.world.entry.profile,
            "start_up": self.world.start_up,
            "machine": self.sites().to_string(),
            "policies": self.runs.iter().map(|run| run.policy.name.as_str()).collect::<Vec<_>>(),
            PROGRAMS: programs.map(|run| (run.policy.name.clone(), serde_json::json!(run.programs))).collect::<Map<_, _>>(),
            "repairs": self.repairs(),
            "notes": self.remarks(),
            "command_line": self.command_line(),
        })
    }

    fn repairs(&self) -> serde_json::Value {
        let repairs = self.runs[0].outcome.repairs.iter().map(|repair| (repair.rule.to_string(), repair.count.into()));
        serde_json::Value::Object(repairs.collect())
    }

    pub(super) fn as_json(&self, out: &Path) -> serde_json::Value {
        let runs = self.runs.iter().map(|run| {
            let value = |(metric, value): &(&Metric, Option<f64>)| {
                let value = match value {
                    Some(value) if metric.is_flag() => (*value > 0.5).into(),
                    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of jobs")]
                    Some(value) if metric.counts_jobs() => (*value as u64).into(),
                    value => serde_json::Value::from(*value),
                };
                (metric.name().to_owned(), value)
            };
            let row: Map<_, _> = run.columns.iter().map(value).collect();
            (run.policy.name.clone(), row.into())
        });
        let differences = self.by_name().to_baseline().into_iter().map(|one| {
            serde_json::json!({
                "metric": one.metric.name(),
                "policy": one.policy,
                "baseline": one.baseline,
                "mean": one.interval.mean,
                "ci_low": one.interval.low,
                "ci_high": one.interval.high,
                "blocks": one.interval.blocks,
                "correlation": one.interval.correlation,
                "refused": one.interval.refused.map(|why| why.to_string()),
            })
        });
        serde_json::json!({
            "out": out,
            "policies": serde_json::Value::Object(runs.collect()),
            "differences": differences.collect::<Vec<_>>(),
            "best": self.by_name().best_in_words(),
            "repairs": self.repairs(),
            "notes": self.remarks(),
        })
    }

    pub(super) fn as_text(&self, out: &Path, quiet: bool) -> String {
        let (repairs, differences) = match quiet {
            true => Default::default(),
            false => (self.repairs_in_words(false), self.compared().on_terminal()),
        };
        let shown = if self.options.no_report { out.to_owned() } else { out.join("report.html") };
        let notes = self.runs.iter().flat_map(|run| run.outcome.notes.iter().cloned());
        let notes = self.saturated().into_iter().chain(notes).chain(self.rejections());
        let lines = |all: Vec<String>| all.into_iter().map(|line| line + "\n").collect::<String>();
        let after = lines(notes.chain([shown.display().to_string()]).collect());
        [lines(repairs), on_terminal(&self.runs), differences, after].concat()
    }
}

pub(super) fn columns_md(report: &Simulation) -> String {
    let allocated = if report.sites().shared.is_some() {
        "empty: tasks share processors here".to_owned()
    } else {
        format!(
            "processors that it held, as `0-3,7`, numbered from 0 on through the places in their order. Policies know no \
             processors apart: these are the free ones of lowest number. Empty on machines of more than {LISTED} processors"
        )
    };
    let text = include_str!("columns.md").replace("ALLOCATED", &allocated);
    // One row for adjacent metrics with the same definition.
    let measured: Vec<&Metric> = report.runs[0].columns.iter().map(|(metric, _)| *metric).collect();
    let groups = measured.chunk_by(|a, b| (a.text(), a.unit()) == (b.text(), b.unit()));
    let row = |group: &[&Metric]| {
        let names: Vec<String> = group.iter().map(|metric| format!("`{metric}`")).collect();
        format!("| {} | {} | {} |\n", names.join(", "), group[0].text(), group[0].unit())
    };
    text.replace("METRICS", &groups.map(row).collect::<String>())
}

/// The table of a finished simulation on the terminal, as wide as that at most, with units in its head.
fn on_terminal(runs: &[Run]) -> String {
    let labels = || runs.iter().map(|run| run.policy.label.as_str());
    let names = labels().map(|label| label.chars().count()).fold("policy".len(), usize::max);
    // A long name has a line for itself.
    let (names, apart) = if names > 40 { ("policy".len(), true) } else { (names, false) };
    // Each column with the two lines of its head.
    let column = |(metric, _): &(&'static Metric, Option<f64>)| {
        let values = runs.iter().map(|run| run.value(metric).map_or_else(String::new, readable));
        (*metric, metric.terminal_head().map(str::to_owned).into_iter().chain(values).collect::<Vec<_>>())
    };
    let shown = runs[0].columns.iter().filter(|(metric, _)| metric.terminal_head() != [""; 2]).map(column);
    let mut columns: Vec<_> = shown.filter(|(_, cells)| cells[2..].iter().any(|cell| !cell.is_empty())).collect();
    for order in 1..=catalogue().iter().map(Metric::spared_as).max().unwrap_or(0) {
        let widths = columns.iter().filter_map(|(_, cells)| cells.iter().map(|cell| cell.chars().count()).max());
        if names + widths.map(|width| width + 2).sum::<usize>() > terminal::width() {
            columns.retain(|(metric, _)| metric.spared_as() != order);
        }
    }
    let firsts = ["", "policy"].into_iter().chain(labels().map(|label| if apart { "" } else { label }));
    let row = |(k, first): (usize, &str)| {
        std::iter::once(first.to_owned()).chain(columns.iter().map(|(_, cells)| cells[k].clone())).collect()
    };
    let text = aligned(&firsts.enumerate().map(row).collect::<Vec<_>>());
    if !apart {
        return text;
    }
    let mut lines: Vec<&str> = text.lines().collect();
    labels().enumerate().for_each(|(run, label)| lines.insert(2 + 2 * run, label));
    lines.join("\n") + "\n"
}
