//! What is written of a finished simulation: tables, pictures, the page, the manifest, and what the terminal shows.

use super::sites::Sites;
use super::watch::{self, Placed};
use super::world::{Opened, Run};
use super::{sha256_of, stem};
use crate::cli::Asked;
use anyhow::Result;
use lab::chart::{Axis, Bar, Chart, Gantt, Picture, Point, Series, fixed, significant};
use lab::page::{self, Page};
use lab::provenance::{self, quoted};
use sim_core::Time;
use std::path::Path;
use workload::Deadlines;
use workload::repair::Repair;

const NOT_REPRODUCIBLE: &str =
    "Not reproducible: --time-limit ended Tabu searches by the clock, so another run gives other schedules.";

/// All that is told of a finished simulation.
pub(super) struct Report<'a> {
    pub(super) asked: &'a Asked,
    pub(super) world: &'a dyn Opened,
    pub(super) runs: &'a [Run],
    /// SHA-256 of the log.
    pub(super) hash: &'a str,
}

impl Report<'_> {
    fn sites(&self) -> &Sites {
        self.world.sites()
    }

    /// `summary.csv`: one row per policy.
    pub(super) fn summary(&self) -> Result<Vec<u8>> {
        let mut table = csv::Writer::from_writer(Vec::new());
        for (i, run) in self.runs.iter().enumerate() {
            let (jobs, rest) = run.outcome.columns.split_first().expect("a row begins with the number of jobs");
            if i == 0 {
                let names = rest.iter().map(|(name, _)| *name);
                table.write_record(["policy", jobs.0, "rejected"].into_iter().chain(names))?;
            }
            let value = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
            let head = [run.name.clone(), value(jobs.1), run.outcome.watched.rejected.to_string()];
            table.write_record(head.into_iter().chain(rest.iter().map(|(_, number)| value(*number))))?;
        }
        Ok(table.into_inner()?)
    }

    pub(super) fn pictures(&self) -> Vec<(Picture, &'static str)> {
        let longest = self
            .runs
            .iter()
            .flat_map(|run| run.outcome.watched.busy.last())
            .map(|(at, _)| at.as_secs_f64())
            .fold(0.0, f64::max);
        // Days for a log, seconds for an example.
        let (unit, seconds) = if longest > 3.0 * 86_400.0 { ("days", 86_400.0) } else { ("s", 1.0) };
        let over_time = |id: &str, title: &str, label: &str, scale: f64, of: fn(&Run) -> &[(Time, f64)]| {
            let series = self.runs.iter().map(|run| {
                let points = of(run).iter().map(|(at, mean)| Point::new(at.as_secs_f64() / seconds, scale * mean));
                Series::steps(run.name.clone(), points.collect())
            });
            Picture::from(Chart {
                id: id.to_owned(),
                title: title.to_owned(),
                x: Axis::new(format!("time since the first submit ({unit})")),
                y: Axis::new(label),
                series: series.collect(),
                ..Chart::default()
            })
        };
        let percent = 100.0 / f64::from(self.sites().processors());
        let mut pictures = vec![
            (
                over_time("utilization", "Utilization", "busy processors (%)", percent, |run| {
                    &run.outcome.watched.busy
                }),
                "Mean over slices of time; 100 % is the whole machine.",
            ),
            (
                over_time("queue-length", "Queue length", "jobs waiting", 1.0, |run| &run.outcome.watched.waiting),
                "Mean over slices of time.",
            ),
        ];
        for run in self.runs {
            if let Some(placed) = &run.outcome.watched.placed {
                let mut sites: Vec<(u32, String)> =
                    self.sites().first_processors().map(|(first, name)| (first, name.to_owned())).collect();
                if sites.len() == 1 {
                    sites.clear();
                }
                let bars = watch::assign(placed, self.sites());
                let gantt = Gantt {
                    id: format!("gantt-{}", run.name),
                    title: format!("Schedule under {}", run.name),
                    time: format!("time since the first submit ({unit})"),
                    unit,
                    processors: self.sites().processors(),
                    sites,
                    bars: bars.into_iter().map(|placed| bar(placed, seconds)).collect(),
                };
                let caption = "Each job on the processors of lowest number that were free on its site; the policies know no processors \
                               apart. Processors are numbered on through the sites.";
                pictures.push((gantt.into(), caption));
            }
            pictures.extend(run.outcome.exhibits.iter().cloned());
        }
        pictures
    }

    /// The data of a chart, in the tidy form; none for a Gantt chart, whose data are `jobs.csv`.
    pub(super) fn data(&self, picture: &Picture) -> Result<Option<Vec<u8>>> {
        let Picture::Chart(chart) = picture else { return Ok(None) };
        let mut table = csv::Writer::from_writer(Vec::new());
        table.write_record(["figure", "series", "x", "metric", "mean", "ci_low", "ci_high", "reps"])?;
        for series in &chart.series {
            for point in &series.points {
                let (x, y) = (point.x.to_string(), point.y.to_string());
                table.write_record([&chart.id, &series.name, &x, &chart.id, &y, "", "", "1"])?;
            }
        }
        Ok(Some(table.into_inner()?))
    }

    pub(super) fn page_figure(&self, picture: Picture, caption: &str) -> page::Figure {
        let stem = picture.id().to_owned();
        let mut figure = page::Figure::new(picture, &stem);
        figure.caption = caption.to_owned();
        if stem.starts_with("messages-") {
            figure.files.retain(|(label, _)| label != "CSV");
        }
        if let Some(policy) = stem.strip_prefix("gantt-") {
            figure.files.retain(|(label, _)| label != "CSV");
            figure.files.push(("CSV".to_owned(), format!("{policy}/jobs.csv")));
        }
        figure
    }

    pub(super) fn page(&self, figures: Vec<page::Figure>) -> Page {
        let metrics = self.runs[0].outcome.columns.iter().map(|(name, _)| *name);
        let value = |value: Option<f64>| value.map_or_else(String::new, readable);
        let rows = metrics
            .enumerate()
            .filter(|(i, _)| self.runs.iter().any(|run| run.outcome.columns[*i].1.is_some()))
            .map(|(i, name)| {
                std::iter::once(name.replace('_', " "))
                    .chain(self.runs.iter().map(|run| value(run.outcome.columns[i].1)))
                    .collect()
            });
        let rejected = std::iter::once("rejected".to_owned())
            .chain(self.runs.iter().map(|run| run.outcome.watched.rejected.to_string()));
        let columns = std::iter::once("metric".to_owned()).chain(self.runs.iter().map(|run| run.name.clone()));
        let repairs = self.runs[0].outcome.repairs.iter().map(|repair| {
            let line = repair.first_line.map_or_else(String::new, |line| line.to_string());
            vec![repair.rule.to_string(), repair.count.to_string(), line, repair.rule.description().to_owned()]
        });
        let repairs: Vec<_> = repairs.collect();
        let mut notes =
            vec!["A single run on one log: no interval. To compare policies, look at several logs.".to_owned()];
        if !self.is_reproducible() {
            notes.insert(0, NOT_REPRODUCIBLE.to_owned());
        }
        notes.extend(self.world.notes());
        notes.extend(self.idle());
        notes.extend(self.rejections());
        if !repairs.is_empty() {
            notes.push(format!(
                "{} made to the log; the table of repairs counts them.",
                if repairs.len() == 1 {
                    "One kind of repair was".to_owned()
                } else {
                    format!("{} kinds of repair were", repairs.len())
                }
            ));
        }
        Page {
            title: stem(&self.asked.trace),
            subtitle: format!("{} on {}", self.policies(), self.sites()),
            notes,
            figures,
            tables: vec![
                page::Table {
                    id: "summary".to_owned(),
                    title: "Summary".to_owned(),
                    caption: "Times in seconds; slowdown bounded at 10 s where it says so; utilization 0 … 1."
                        .to_owned(),
                    columns: columns.collect(),
                    rows: rows.chain([rejected.collect()]).collect(),
                },
                page::Table {
                    id: "repairs".to_owned(),
                    title: "Repairs".to_owned(),
                    caption: "What the log leaves out or gets wrong, and what was done about it.".to_owned(),
                    columns: ["rule", "records", "first line", "what was done"].map(str::to_owned).to_vec(),
                    rows: repairs,
                },
            ],
            commands: vec![("Run this again".to_owned(), self.command())],
            provenance: self.provenance(),
            ..Page::default()
        }
    }

    /// Whether another run gives the same bytes.
    fn is_reproducible(&self) -> bool {
        self.world.is_reproducible()
    }

    /// Repairs that touch the log as a whole, or more than one job in a thousand: to be told whatever else is not.
    pub(super) fn large_repairs(&self) -> Vec<String> {
        self.runs[0]
            .outcome
            .repairs
            .iter()
            .filter(|repair| self.is_large(repair))
            .map(|repair| in_words(&repair))
            .collect()
    }

    fn is_large(&self, repair: &Repair) -> bool {
        let run = &self.runs[0];
        let ran = run.outcome.columns.first().and_then(|(_, jobs)| *jobs).unwrap_or(0.0);
        #[expect(clippy::cast_precision_loss, reason = "counts")]
        let (records, touched) =
            (ran + (run.outcome.watched.rejected + run.outcome.repairs.skipped()) as f64, repair.count as f64);
        repair.first_line.is_none() || 1e3 * touched > records
    }

    /// Of the policies that have nothing to search for on this machine, why.
    pub(super) fn idle(&self) -> Vec<String> {
        self.runs.iter().filter_map(|run| run.idles.clone()).collect()
    }

    /// What a reader may overlook: jobs that never ran, under any policy.
    fn rejections(&self) -> Option<String> {
        let were = match self.runs[0].outcome.watched.rejected {
            0 => return None,
            1 => "1 job was".to_owned(),
            rejected => format!("{rejected} jobs were"),
        };
        Some(format!("{were} rejected: {}", self.world.rejects_because()))
    }

    fn policies(&self) -> String {
        self.runs.iter().map(|run| run.name.as_str()).collect::<Vec<_>>().join(", ")
    }

    fn command(&self) -> String {
        let Asked { trace, deadlines, seed, max_jobs, .. } = self.asked;
        let policies = self.runs.iter().map(|run| run.given.as_str()).collect::<Vec<_>>().join(",");
        let mut command = format!(
            "{} simulate --trace {} --policy {}{}",
            lab::cli::program(),
            quoted(&trace.to_string_lossy()),
            quoted(&policies),
            self.world.arguments()
        );
        if *deadlines != Deadlines::None {
            command += &format!(" --deadlines {deadlines}");
        }
        if *seed != 0 {
            command += &format!(" --seed {seed}");
        }
        if let Some(max_jobs) = max_jobs {
            command += &format!(" --max-jobs {max_jobs}");
        }
        command
    }

    fn provenance(&self) -> Vec<(String, String)> {
        vec![
            ("Log (SHA-256)".to_owned(), self.hash.to_owned()),
            ("Machine".to_owned(), self.sites().to_string()),
            ("Version".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
            ("Git revision".to_owned(), provenance::git_revision().to_owned()),
        ]
    }

    pub(super) fn manifest(&self, wall_seconds: f64) -> serde_json::Value {
        let mut manifest = serde_json::json!({
            "trace": self.asked.trace.file_name().unwrap_or_default().to_string_lossy(),
            "trace_sha256": self.hash,
            "model": self.asked.model,
            "profile": self.asked.profile,
            "start_up": null,
            "machine": self.sites().to_string(),
            "policies": self.runs.iter().map(|run| run.name.as_str()).collect::<Vec<_>>(),
            "programs": self.programs(),
            "repairs": self.repairs(),
            "notes": self.idle(),
            "reproducible": self.is_reproducible(),
            "version": env!("CARGO_PKG_VERSION"),
            "git_revision": provenance::git_revision(),
            "sources_sha256": provenance::sources(),
            "command_line": self.command(),
            "timings": {
                "wall_seconds": wall_seconds,
                "cpu_seconds": provenance::cpu_seconds(),
                "peak_memory_mib": provenance::peak_memory_mib(),
                "threads": rayon::current_num_threads(),
            },
        });
        for (key, value) in self.world.facts() {
            manifest[key] = value;
        }
        manifest
    }

    /// SHA-256 of the files that the command of a policy names, by the policy: a result is also that of a program.
    fn programs(&self) -> serde_json::Value {
        let mut programs = serde_json::Map::new();
        for run in self.runs {
            let hashes =
                run.files.iter().filter_map(|file| Some((file.clone(), sha256_of(Path::new(file)).ok()?.into())));
            let hashes: serde_json::Map<_, _> = hashes.collect();
            if !hashes.is_empty() {
                programs.insert(run.name.clone(), hashes.into());
            }
        }
        programs.into()
    }

    fn repairs(&self) -> serde_json::Value {
        let repairs = self.runs[0].outcome.repairs.iter().map(|repair| (repair.rule.to_string(), repair.count.into()));
        serde_json::Value::Object(repairs.collect())
    }

    pub(super) fn as_json(&self, out: &Path) -> serde_json::Value {
        let runs = self.runs.iter().map(|run| {
            let mut row: serde_json::Map<_, _> =
                run.outcome.columns.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())).collect();
            row.insert("rejected".to_owned(), run.outcome.watched.rejected.into());
            (run.name.clone(), row.into())
        });
        serde_json::json!({
            "out": out,
            "policies": serde_json::Value::Object(runs.collect()),
            "repairs": self.repairs(),
            "notes": self.idle(),
            "reproducible": self.is_reproducible(),
        })
    }

    pub(super) fn as_text(&self, out: &Path, quiet: bool) -> String {
        let mut text = String::new();
        if !quiet {
            let small = self.runs[0].outcome.repairs.iter().filter(|repair| !self.is_large(repair));
            small.for_each(|repair| text += &format!("{}\n", in_words(&repair)));
        }
        let shown = ["wait_mean", "response_mean", "bounded_slowdown_mean", "utilization", "makespan"];
        let number = |run: &Run, name: &str| run.value(name).map_or_else(String::new, readable);
        let width = self.runs.iter().map(|run| run.name.len()).max().unwrap_or(0).max("policy".len());
        text += &format!("{:width$}  {:>10}  {:>10}", "policy", "jobs", "rejected");
        shown.iter().for_each(|name| text += &format!("  {name:>21}"));
        text.push('\n');
        for run in self.runs {
            text += &format!("{:width$}  {:>10}  {:>10}", run.name, number(run, "jobs"), run.outcome.watched.rejected);
            shown.iter().for_each(|name| text += &format!("  {:>21}", number(run, name)));
            text.push('\n');
        }
        if !self.is_reproducible() {
            text += &format!("{NOT_REPRODUCIBLE}\n");
        }
        self.runs.iter().flat_map(|run| &run.outcome.notes).for_each(|note| text += &format!("{note}\n"));
        if let Some(note) = self.rejections() {
            text += &format!("{note}\n");
        }
        text + &format!("{}\n", out.join("report.html").display())
    }
}

fn in_words(repair: &Repair) -> String {
    format!("repair {}: {} × {}", repair.rule, repair.count, repair.rule.description())
}

/// Times in units of so many seconds.
fn bar((Placed { number, record }, processors): (Placed, Vec<(u32, u32)>), unit: f64) -> Bar {
    let [start, end] = [record.start, record.finish].map(|at| at.as_secs_f64() / unit);
    Bar { job: number.to_string(), start, end, processors }
}

/// Whole numbers as they are, others to four digits.
fn readable(value: f64) -> String {
    if value.fract() == 0.0 { fixed(value, 0) } else { significant(value) }
}
