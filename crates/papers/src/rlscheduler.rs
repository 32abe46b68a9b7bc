//! Zhang, Dai, He, Bao & Xie, SC'20: heuristics and a learned policy on ten windows of three logs. Only this module knows the axes.

mod claims;
mod figures;

use ::metrics::Totals;
use anyhow::Result;
use gap_schedule::episode::{Episode, EpisodeJob, EpisodeRules, Filling, Heuristic};
use gap_schedule::{Backfilling, Machine, MultiCluster, Order, OrderedBackfill};
use lab::claim::Claim;
use lab::metric::Values;
use lab::paper::{About, DesignPoint as _, Effort, Exhibit, Logs, Paper, Quantity, Reading};
use lab::scenario::Scenario;
use lab::table::{csv, number};
use serde::Serialize;
use sim_core::{Job, JobLog, Sim, Span, Streams};
use std::sync::{Arc, OnceLock};
use workload::{Estimates, InputError, SwfReader, SwfRecord};

tables! {
    struct File {
        workload: WorkloadTable,
        run: RunTable,
        readings: Readings,
    }
    struct WorkloadTable {
        first_jobs: Vec<usize>,
        window: usize,
    }
    struct RunTable {
        quick_easy_jobs: usize,
    }
}

lab::readings! {
    /// Questions that the article leaves open.
    #[serde(deny_unknown_fields)]
    struct Readings {
        R1 wait: enum Wait "What is the wait of a waiting job, in WFP3 and UNICEP?" {
            /// −1 − its submission, as the published numbers were made.
            AsRun,
            /// The time since its submission.
            True,
        }
        R2 node: enum Node "How many processors has a node of HPC2N?" {
            /// MaxProcs / MaxNodes of the log's header: one.
            Header,
            /// Two, as the machine had.
            Dual,
        }
    }
}

lab::metrics! {
    /// Measurements of a window, or of a whole log under EASY.
    pub(crate) struct Measured of Metric {
        /// Mean of max(1, response / max(run time, 10 s)).
        bounded_slowdown: "mean bounded slowdown" smaller,
        /// Mean response, each job weighing its processors times its run time.
        area_weighted_response: "area-weighted response" ("s") smaller,
        /// Processor time that runs jobs, of all processor time from the first submission to the last end.
        utilization: "utilization" larger,
    }
}

named! {
    enum Log {
        Lublin1 = "Lublin-1",
        SdscSp2 = "SDSC-SP2",
        Hpc2n = "HPC2N",
    }
}

impl Log {
    const ALL: [Self; 3] = [Self::Lublin1, Self::SdscSp2, Self::Hpc2n];

    /// Returns the beginning of its file name.
    const fn file(self) -> &'static str {
        if matches!(self, Self::Lublin1) { "lublin_256" } else { self.name() }
    }
}

/// Backfilling in front of a chosen job that does not fit.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Regime {
    /// No backfilling, on a window.
    Alone,
    /// Jobs that end before a bound computed once, on a window.
    Backfilled,
    /// EASY backfilling, on the whole log.
    Easy,
}

lab::cell! {
    /// One point of the experiments. A replication is a window.
    pub(crate) struct Cell of Metric { log: Log, heuristic: Heuristic, setting: Regime }
}

/// The rows of the article's table, in its order, with their names and both kinds of wait.
const HEURISTICS: [(&str, [Heuristic; 2]); 5] = [
    ("FCFS", [Heuristic::Fcfs; 2]),
    ("WFP3", [Heuristic::Wfp3AsRun, Heuristic::Wfp3]),
    ("UNICEP", [Heuristic::UnicepAsRun, Heuristic::Unicep]),
    ("SJF", [Heuristic::Sjf; 2]),
    ("F1", [Heuristic::F1; 2]),
];

pub(crate) struct RlScheduler {
    file: File,
    /// Largest number of jobs of a log under EASY.
    easy_jobs: usize,
    logs: Logs,
    /// Jobs of the logs by the rules of the published program, read on demand.
    jobs: [OnceLock<Arc<[EpisodeJob]>>; 3],
}

impl RlScheduler {
    /// Returns the heuristic at a position of [`HEURISTICS`], under R1.
    fn heuristic(&self, place: usize) -> Heuristic {
        HEURISTICS[place].1[self.file.readings.wait as usize]
    }

    /// Returns the answer to R2 if the cell depends on it.
    fn node_of(&self, cell: &Cell) -> Option<Node> {
        (cell.log == Log::Hpc2n && cell.setting != Regime::Easy).then_some(self.file.readings.node)
    }

    /// Simulates a window on an idle machine; `None` if the log has no such window.
    fn window(&self, cell: &Cell, window: u32) -> Option<Totals> {
        let WorkloadTable { first_jobs, window: count } = &self.file.workload;
        let log = self.logs.of(cell.log.file());
        let jobs = Arc::clone(self.jobs[cell.log as usize].get_or_init(|| {
            let records = log.records();
            let of_header = log.processors / records.header().max_nodes.unwrap_or(log.processors);
            let each = if self.node_of(cell) == Some(Node::Dual) { 2 } else { of_header };
            rlscheduler_jobs(records, each).expect("the log was read before").into()
        }));
        let filling = if cell.setting == Regime::Alone { Filling::None } else { Filling::Bound };
        let mut episode = Episode::new(jobs, log.processors, *count, EpisodeRules::RlScheduler, filling).ok()?;
        episode.play(0, *first_jobs.get(window as usize)?, *count, cell.heuristic).ok()?;
        let mut totals = Totals::new(log.processors, &[]);
        episode.records().for_each(|record| totals.add(&record));
        Some(totals)
    }

    /// Simulates the whole log under EASY, with its queue in the order of the heuristic.
    fn easy(&self, cell: &Cell, streams: &Streams) -> Totals {
        let log = self.logs.of(cell.log.file());
        let order = match cell.heuristic {
            Heuristic::Fcfs => Order::Fcfs,
            Heuristic::Wfp3 | Heuristic::Wfp3AsRun => Order::Wfp3,
            Heuristic::Unicep | Heuristic::UnicepAsRun => Order::Unicef,
            Heuristic::Sjf => Order::Sjf,
            Heuristic::F1 => Order::F1,
        };
        let jobs: Vec<Job> = log.jobs(Estimates::User, streams).take(self.easy_jobs).collect();
        let policy = OrderedBackfill::new(Backfilling { order, ..Backfilling::default() });
        let world = MultiCluster::new(vec![Machine::new(log.processors)], policy, jobs.into_iter());
        Sim::new(world, JobLog::new(Totals::new(log.processors, &[]))).run().1.into_sink()
    }
}

/// Returns the jobs of a log by the rules of the published program of RLScheduler: a negative run time is 10 s, a job of run time 0 is left
/// out, a missing request is the run time of the record, processors are the larger of allocated and requested, in whole nodes of `each`
/// processors. No run time is cut.
///
/// # Errors
///
/// The log cannot be read, or is damaged.
pub fn rlscheduler_jobs(records: SwfReader, each: u32) -> Result<Vec<EpisodeJob>, InputError> {
    let seconds = |span: Option<Span>| {
        span.map_or(-1, |span| i64::try_from(span.as_nanos() / 1_000_000_000).expect("below 2^63 nanoseconds"))
    };
    let job = |record: SwfRecord| {
        let (run, request) = (seconds(record.runtime), seconds(record.requested_time));
        let asked = record.allocated_processors.max(record.requested_processors).unwrap_or(1);
        (run != 0).then(|| EpisodeJob {
            submit: seconds(record.submit),
            run: if run < 0 { 10 } else { run },
            request: if request < 0 { run } else { request },
            processors: asked.div_ceil(each) * each,
            user: record.user.map_or(-1, i64::from),
        })
    };
    records.filter_map(|record| record.map(job).transpose()).collect()
}

impl Paper for RlScheduler {
    type Cell = Cell;

    const ABOUT: About = About {
        slug: "rlscheduler",
        title: "RLScheduler: an automated HPC batch job scheduler using reinforcement learning",
        citation: "D. Zhang, D. Dai, Y. He, F. S. Bao and B. Xie, SC'20",
        package: "gap-schedule",
        subject: "heuristics and a learned policy on ten windows of three logs, and under EASY on the whole logs",
    };
    const SCENARIO: &'static str = include_str!("../workloads/rlscheduler.toml");
    const PAGE: &'static str = include_str!("../pages/rlscheduler.md");
    const MODELS: &'static str = crate::MODELS;
    const READINGS: &'static [Reading] = Readings::LIST;
    const NOTES: &'static [&'static str] = &[
        "The heuristics draw nothing: a replication is one of the ten windows, intervals are between windows, and a mean over the \
         ten is exact. The actions of RL were drawn without a seed, so its column cannot be recomputed.",
    ];

    lab::logs! {
        "lublin_256.swf.gz" = "a394ab3d81179ebcf645a1cbd593a60b6dff7f11a510e1e6285c45f43310c962",
        "SDSC-SP2-1998-4.2-cln.swf.gz" = "2bb635f4b5793f52bd49ccb8fd913d95f9c5be6346925162cadcaf0117e28cf2",
        "HPC2N-2002-2.2-cln.swf.gz" = "77b8993c73ae438385f6c0015708251f52dc316267b03ac19a406fbea2802afa",
    }

    fn new(scenario: &Scenario, effort: Effort) -> Result<Self> {
        let file: File = scenario.typed()?;
        let most = f64::INFINITY;
        let ranges =
            [("workload.first_jobs", 0.0, most), ("workload.window", 1.0, 1e5), ("run.quick_easy_jobs", 1.0, most)];
        crate::within(scenario, &ranges)?;
        let easy_jobs = if effort == Effort::Quick { file.run.quick_easy_jobs } else { usize::MAX };
        Ok(Self { file, easy_jobs, logs: Logs::default(), jobs: Default::default() })
    }

    fn exhibits(&self) -> Vec<Exhibit<'_, Cell>> {
        figures::exhibits()
    }

    fn claims(&self) -> Vec<Claim<Cell>> {
        claims::claims(self)
    }

    fn determinants(&self, cell: &Cell) -> serde_json::Value {
        let logs = Self::LOGS;
        let node = self.node_of(cell);
        serde_json::json!({ "cell": cell, "workload": self.file.workload, "easy_jobs": self.easy_jobs, "logs": logs, "node": node })
    }

    fn draws(&self, cell: &Cell) -> bool {
        cell.setting != Regime::Easy
    }

    fn affordable(&self, _: &Cell, wanted: u32) -> u32 {
        wanted.min(u32::try_from(self.file.workload.first_jobs.len()).unwrap_or(u32::MAX))
    }

    fn cost(&self, cell: &Cell) -> u64 {
        match (cell.setting, cell.log) {
            (Regime::Alone | Regime::Backfilled, _) | (Regime::Easy, Log::Lublin1) => 1,
            (Regime::Easy, Log::SdscSp2) => 5,
            (Regime::Easy, Log::Hpc2n) => 20,
        }
    }

    /// Returns `rows.csv`: every window of every heuristic, without and with backfilling, under both kinds of wait, and their means.
    fn files(&self, found: &dyn Fn(&Quantity<Cell>) -> Vec<f64>) -> Result<Vec<(&'static str, Vec<u8>)>> {
        let mut rows = Vec::new();
        for log in Log::ALL {
            for (name, waits) in HEURISTICS {
                for (backfilling, setting) in [("0", Regime::Alone), ("1", Regime::Backfilled)] {
                    for (wait, heuristic) in ["as-run", "true"].into_iter().zip(waits) {
                        let values = found(&Cell { log, heuristic, setting }.get(Metric::bounded_slowdown));
                        let mut row = |window: String, value: f64| {
                            let words = [log.name(), name, backfilling, wait].map(str::to_owned);
                            rows.push(words.into_iter().chain([window, number(value)]).collect::<Vec<_>>());
                        };
                        values.iter().enumerate().for_each(|(window, value)| row(window.to_string(), *value));
                        row("mean".to_owned(), ::metrics::ConfidenceInterval::of(&values).mean);
                    }
                }
            }
        }
        let head = ["log", "heuristic", "backfilling", "wait", "window", "value"];
        Ok(vec![("rows.csv", csv(head, rows)?)])
    }

    fn simulate(&self, cell: &Cell, streams: &Streams) -> Values<Metric> {
        let totals = match cell.setting {
            Regime::Easy => Some(self.easy(cell, streams)),
            Regime::Alone | Regime::Backfilled => self.window(cell, streams.replication),
        };
        let value = |metric| totals.as_ref().and_then(|totals| totals.value(metric)).unwrap_or(f64::NAN);
        let [bounded_slowdown, area_weighted_response, utilization] =
            ["bounded_slowdown_mean", "area_weighted_response", "utilization"].map(value);
        Measured { bounded_slowdown, area_weighted_response, utilization }.into()
    }
}
