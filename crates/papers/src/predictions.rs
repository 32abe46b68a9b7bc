//! Gaussier, Glesser, Reis & Trystram, SC'15, and Tsafrir, Etsion & Feitelson, TPDS 2007: EASY with predicted run times on five logs. Only
//! this module knows the axes of the papers.

mod claims;
mod combination;
mod figures;
mod logs;
mod measure;

use anyhow::{Context, Result};
use combination::Combination;
use gap_schedule::Passes;
use lab::chart::fixed;
use lab::claim::Claim;
use lab::metric::{Metric as _, Values};
use lab::paper::{About, Effort, Exhibit, Paper, Reading};
use lab::quantity::{DesignPoint, Quantity};
use lab::scenario::Scenario;
use lab::table::csv;
use logs::{FoundLog, Log, PerLog, StandIn, Workload};
use measure::Metric;
use sim_core::{Job, Span, Streams};
use std::collections::BTreeMap;
use std::path::Path;
use workload::Estimates;
use workload::model::Tsafrir;
use workload::resample::shaken;

tables! {
    struct File {
        files: PerLog<String>,
        processors: PerLog<u32>,
        jobs: PerLog<usize>,
        resampling: ResamplingTable,
        load: LoadTable,
        stand_in: StandIn,
        run: RunTable,
        readings: Readings,
    }
    struct ResamplingTable {
        weeks: u64,
        shake: u64,
    }
    struct LoadTable {
        factor: f64,
    }
    struct RunTable {
        quick_logs: Vec<String>,
        quick_weeks: u64,
        quick_jobs: u32,
    }
}

lab::readings! {
    /// Questions that are open.
    #[serde(deny_unknown_fields)]
    struct Readings {
        R1 passes: type Passes
            "What is the order of events of one instant, and when is the scheduler called?"
            { "pyss", "per-event", "per-instant" }
        R2 load: enum Load "How dense are submissions?" {
            /// The density of the log.
            AsLogged,
            /// Denser by `load.factor`.
            Denser,
            /// Sparser by `load.factor`.
            Sparser,
        }
        R3 sample: enum Sample "What is another workload like the log?" {
            /// The users of the log, drawn again week by week.
            Users,
            /// The log, every submission moved by some minutes.
            Shaken,
        }
    }
}

pub(crate) struct PredictionsPaper {
    /// The scenario. In a quick run, the quick numbers replace the others.
    file: File,
    wanted: Vec<Log>,
    /// Logs that were found; `None` before the search.
    logs: Option<BTreeMap<Log, FoundLog>>,
}

lab::cell! {
    pub(crate) struct Cell of Metric { log: Log, workload: Workload, combination: Combination }
}

impl Cell {
    const fn as_logged(log: Log, combination: Combination) -> Self {
        Self { log, workload: Workload::AsLogged, combination }
    }

    /// Returns the cell of a resampled log. The stand-in is drawn separately in each replication.
    const fn resampled(log: Log, combination: Combination) -> Self {
        let workload = if matches!(log, Log::StandIn) { Workload::AsLogged } else { Workload::Resampled };
        Self { log, workload, combination }
    }
}

impl PredictionsPaper {
    /// Returns the logs that run, in their order; the stand-in if none was found. Before the search, all that are wanted.
    fn logs_at_hand(&self) -> Vec<Log> {
        match &self.logs {
            None => self.wanted.clone(),
            Some(found) if found.is_empty() => vec![Log::StandIn],
            Some(found) => found.keys().copied().collect(),
        }
    }

    fn found(&self, log: Log) -> Option<&FoundLog> {
        self.logs.as_ref()?.get(&log)
    }

    /// Returns the number of jobs of a log; `None` if it is not available.
    fn jobs_of(&self, log: Log) -> Option<usize> {
        self.found(log).map(|found| found.held.jobs().len())
    }

    /// Returns true if the log has the published number of jobs.
    fn is_published(&self, log: Log) -> bool {
        self.jobs_of(log).is_none_or(|jobs| jobs == *self.file.jobs.of(log))
    }

    /// Returns the density of submissions relative to the log.
    fn load(&self) -> f64 {
        match self.file.readings.load {
            Load::AsLogged => 1.0,
            Load::Denser => self.file.load.factor,
            Load::Sparser => 1.0 / self.file.load.factor,
        }
    }

    /// Returns the jobs of a cell, in order of submission.
    fn jobs(&self, cell: &Cell, streams: &Streams) -> Vec<Job> {
        let held = match (self.found(cell.log), cell.workload, self.file.readings.sample) {
            (None, ..) => self.file.stand_in.drawn(streams),
            (Some(found), Workload::AsLogged, _) => found.held.clone(),
            (Some(found), Workload::Resampled, Sample::Users) => {
                found.users.clone().with_weeks(self.file.resampling.weeks).redrawn(streams)
            }
            (Some(found), Workload::Resampled, Sample::Shaken) => {
                shaken(&found.held, Span::from_secs(self.file.resampling.shake), streams)
            }
        };
        let held = if self.file.readings.load == Load::AsLogged { held } else { held.denser(self.load()) };
        held.with_estimates(Estimates::User, 0)
    }

    fn processors(&self, log: Log) -> u32 {
        if log == Log::StandIn { self.file.stand_in.processors } else { *self.file.processors.of(log) }
    }
}

impl Paper for PredictionsPaper {
    type Cell = Cell;

    const ABOUT: About = About {
        slug: "predictions",
        title: "Improving Backfilling by using Machine Learning to predict Running Times",
        citation: "É. Gaussier, D. Glesser, V. Reis and D. Trystram, SC'15, article 64; with D. Tsafrir, Y. Etsion and \
                   D. G. Feitelson, IEEE TPDS 18(6), 2007 (EASY++)",
        package: "gap-schedule",
        subject: "EASY by predicted run times, corrected when they expire, and the shortest predicted first, on five logs",
    };
    const SCENARIO: &'static str = include_str!("../workloads/predictions.toml");
    const PAGE: &'static str = include_str!("../pages/predictions.md");
    const MODELS: &'static str = crate::MODELS;

    const READINGS: &'static [Reading] = Readings::LIST;

    fn new(scenario: &Scenario, effort: Effort) -> Result<Self> {
        let mut file: File = scenario.typed()?;
        let named = |name: &String| {
            let log = Log::PUBLISHED.into_iter().find(|log| log.name() == name);
            log.with_context(|| format!("run.quick_logs: {name:?} is none of {}", Log::NAMES[..5].join(", ")))
        };
        let mut wanted = file.run.quick_logs.iter().map(named).collect::<Result<Vec<Log>>>()?;
        if effort == Effort::Quick {
            (file.resampling.weeks, file.stand_in.jobs) = (file.run.quick_weeks, file.run.quick_jobs);
        } else {
            wanted = Log::PUBLISHED.to_vec();
        }
        crate::within(
            scenario,
            &[
                ("processors", 1.0, f64::INFINITY),
                ("resampling.weeks", 1.0, 1000.0),
                ("resampling.shake", 0.0, 86_400.0),
                ("load.factor", 1.0, 10.0),
                ("stand_in.processors", 2.0, 1_048_576.0),
                ("stand_in.jobs", 1.0, 1e6),
                ("stand_in.users", 1.0, f64::INFINITY),
                ("stand_in.repeats", 0.0, 1.0),
                ("stand_in.longest", 3600.0, f64::INFINITY),
                ("run.quick_weeks", 1.0, 1000.0),
                ("run.quick_jobs", 1.0, f64::INFINITY),
            ],
        )?;
        Tsafrir(file.stand_in.longest).validate().context("stand_in.longest")?;
        Ok(Self { file, wanted, logs: None })
    }

    fn with_traces(self, traces: Option<&Path>) -> Result<Self> {
        Ok(Self { logs: Some(logs::find(&self, traces)?), ..self })
    }

    fn exhibits(&self) -> Vec<Exhibit<'_, Cell>> {
        let logs = self.logs_at_hand();
        [figures::rows(&logs), figures::gains(&logs), figures::accuracy(&logs)].map(Exhibit::from).into()
    }

    fn claims(&self) -> Vec<Claim<Cell>> {
        claims::claims(self)
    }

    fn preface(&self) -> Option<String> {
        let missing: Vec<Log> = self.wanted.iter().copied().filter(|log| self.jobs_of(*log).is_none()).collect();
        if missing.is_empty() {
            return None;
        }
        let files: Vec<String> = missing.iter().map(|log| format!("{}.swf", self.file.files.of(*log))).collect();
        let download = format!(
            "Download {} (gzip will do) from the Parallel Workloads Archive, \
             https://www.cs.huji.ac.il/labs/parallel/workload/, and name their folder with --traces DIR or GRID_TRACES",
            files.join(", ")
        );
        Some(if missing.len() == self.wanted.len() {
            format!(
                "A stand-in: none of the logs was found. Jobs were drawn from the model of Lublin and Feitelson, with estimates of \
                 Tsafrir's and users who repeat themselves; G2 to G4 are judged on them, and G1 is left out. {download}."
            )
        } else {
            let names: Vec<&str> = missing.into_iter().map(Log::name).collect();
            format!("Not found: {}. Claims are judged on the others. {download}.", names.join(", "))
        })
    }

    fn record(&self) -> Option<&'static str> {
        (self.logs_at_hand() == [Log::StandIn]).then_some("stand-in")
    }

    fn data(&self) -> Vec<(String, String)> {
        let found = |log: &Log| Some((format!("{}.swf", self.file.files.of(*log)), self.found(*log)?.sha256.clone()));
        self.wanted.iter().filter_map(found).collect()
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = vec![
            "Rows of a log are single runs, so they are exact and have no interval. The paired intervals are over workloads \
             resampled from the log (A4) and show how much another half year of such users would differ."
                .to_owned(),
        ];
        for log in self.logs_at_hand().into_iter().filter(|log| *log != Log::StandIn && !self.is_published(*log)) {
            let [ours, theirs] =
                [self.jobs_of(log).unwrap_or_default(), *self.file.jobs.of(log)].map(|jobs| fixed(jobs as f64, 0));
            notes.push(format!(
                "{}: {ours} jobs here and {theirs} in the published results, whose authors had another version of the log. \
                 G1 is judged within 3 % there, not exactly; a maximum may depend on a single job.",
                log.name()
            ));
        }
        notes
    }

    fn parameters(&self, cell: &Cell) -> Vec<(&'static str, String)> {
        let Cell { log, workload, combination } = *cell;
        let [order, predictor, corrector] = combination.words().map(str::to_owned);
        vec![
            ("log", log.name().to_owned()),
            ("workload", workload.name().to_owned()),
            ("order", order),
            ("predictor", predictor),
            ("corrector", corrector),
        ]
    }

    fn determinants(&self, cell: &Cell) -> serde_json::Value {
        let source = match (self.found(cell.log), cell.workload) {
            (None, _) => serde_json::json!({ "stand_in": self.file.stand_in }),
            (Some(found), Workload::AsLogged) => serde_json::json!({ "log": found.sha256 }),
            (Some(found), Workload::Resampled) => {
                let resampling = (self.file.readings.sample, &self.file.resampling);
                serde_json::json!({ "log": found.sha256, "resampling": resampling })
            }
        };
        serde_json::json!({
            "source": source,
            "processors": self.processors(cell.log),
            "combination": cell.combination.name(),
            "passes": self.file.readings.passes,
            "load": self.load(),
        })
    }

    fn draws(&self, cell: &Cell) -> bool {
        cell.log == Log::StandIn || cell.workload == Workload::Resampled
    }

    fn cost(&self, cell: &Cell) -> u64 {
        let jobs = self.jobs_of(cell.log).unwrap_or(self.file.stand_in.jobs as usize) as u64;
        if cell.workload == Workload::Resampled { jobs / 3 } else { jobs }
    }

    /// Returns `data/rows.csv`: every row of every log, with all digits.
    fn files(&self, found: &dyn Fn(&Quantity<Cell>) -> Vec<f64>) -> Result<Vec<(&'static str, Vec<u8>)>> {
        let columns = &Metric::list()[..10];
        let of_row = ["log", "order", "predictor", "corrector"].map(str::to_owned);
        let head = of_row.into_iter().chain(columns.iter().map(ToString::to_string));
        // Exact: every replication has the same value. The shortest text that reads back as the same number.
        let value =
            |cell: Cell, metric: Metric| found(&cell.get(metric)).first().copied().unwrap_or(f64::NAN).to_string();
        let logs = self.logs_at_hand();
        let points = logs.iter().flat_map(|&log| Combination::all().map(move |one| Cell::as_logged(log, one)));
        let row = |cell: Cell| {
            let words = std::iter::once(cell.log.name()).chain(cell.combination.words()).map(str::to_owned);
            words.chain(columns.iter().map(|metric| value(cell, *metric))).collect::<Vec<_>>()
        };
        Ok(vec![("data/rows.csv", csv(head, points.map(row))?)])
    }

    fn simulate(&self, cell: &Cell, streams: &Streams) -> Values<Metric> {
        measure::run(self.jobs(cell, streams), self.processors(cell.log), cell.combination, self.file.readings.passes)
            .into()
    }
}
