//! Dakkak, Nor & Arif 2017: EASY, CONS, Best Gap with Tabu search, and Swift Gap on the logs of Wagap and Zewura. Only this module knows
//! the axes of the paper.

mod claims;
mod clean;
mod compression;
mod figures;
mod printed;
mod source;
mod tables;

use alea31::{Cons, Easy, GapFilling, Means, Readings, World};
use anyhow::Result;
use lab::claim::Claim;
use lab::metric::Values;
use lab::paper::logs::VARIABLE;
use lab::paper::{About, Effort, Exhibit, Paper, Reading};
use lab::scenario::Scenario;
use sim_core::{Job, JobRecord, Purpose, Span, Streams, Time};
use source::{ClusterSizes, LogEntry, PUBLIC_PLACE, Wagap, Workload};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

tables! {
    struct File {
        clusters: ClusterSizes,
        log: LogEntry,
        workload: WorkloadTable,
        simulator: SimulatorTable,
        run: RunTable,
        readings: Readings,
        nearest: Readings,
    }
    struct WorkloadTable {
        records: BTreeSet<u32>,
    }
    struct SimulatorTable {
        start_up: f64,
    }
    struct RunTable {
        most_replications: u32,
        drawn_replications: u32,
        quick_records: BTreeSet<u32>,
        quick_drawn_replications: u32,
    }
}

lab::metrics! {
    /// The metrics of one run: the four columns of the paper's tables, and three that explain them.
    pub(crate) struct Measured of Metric {
        /// Mean of response / time executed.
        slowdown: "slowdown" smaller,
        /// Mean time by which jobs end after they are due.
        tardiness: "tardiness" ("s") smaller,
        /// Mean time from submission to start.
        wait: "waiting time" ("s") smaller,
        /// Mean time from submission to end.
        response: "response time" ("s") smaller,
        /// Mean time from start to end.
        executed_time: "time executed" ("s"),
        /// Jobs that end after they are due, of all.
        late_percent: "late jobs" ("%") smaller,
        /// Jobs that ended.
        jobs: "jobs" zero,
    }
}

impl Measured {
    fn of(records: &[JobRecord]) -> Self {
        let Means { slowdown, tardiness, wait, response } = Means::of(records);
        let is_late = |record: &&JobRecord| record.job.request.deadline.is_some_and(|due| record.finish > due);
        let (jobs, late) = (records.len() as f64, records.iter().filter(is_late).count() as f64);
        let late_percent = 100.0 * late / jobs;
        Self { slowdown, tardiness, wait, response, executed_time: response - wait, late_percent, jobs }
    }
}

/// The paper's four metrics, in the order of its tables.
const FOUR: [Metric; 4] = [Metric::slowdown, Metric::tardiness, Metric::wait, Metric::response];

/// Their words, with units.
const WORDS: [&str; 4] =
    [FOUR[0].declared().axis, FOUR[1].declared().axis, FOUR[2].declared().axis, FOUR[3].declared().axis];

named! {
    /// Rules of the simulation.
    enum Profile {
        /// The rules of the simulator Alea 3.1, one by one.
        Alea31 = "alea31",
        /// The rules of the policies alone, without the peculiarities of the simulator.
        Clean = "clean",
    }
}

named! {
    enum Policy {
        /// Swift Gap under the readings under `readings` in the scenario: the text, word for word. It is judged.
        SwiftGap = "SG",
        /// Swift Gap under the readings under `nearest` in the scenario: those that come nearest to the printed column.
        Nearest = "SG, nearest",
        Bgt = "BGT",
        Cons = "CONS",
        Easy = "EASY",
        /// BGT without the search. The paper has no numbers for it.
        BestGap = "Best Gap",
    }
}

impl Policy {
    /// Policies of the paper's tables.
    const ALL: [Self; 4] = [Self::SwiftGap, Self::Bgt, Self::Cons, Self::Easy];
    /// Policies that Swift Gap is compared with.
    const OTHERS: [Self; 3] = [Self::Bgt, Self::Cons, Self::Easy];
    /// Policies of the paper's tables, with both versions of Swift Gap.
    const SHOWN: [Self; 5] = [Self::SwiftGap, Self::Nearest, Self::Bgt, Self::Cons, Self::Easy];

    const fn is_swift_gap(self) -> bool {
        matches!(self, Self::SwiftGap | Self::Nearest)
    }

    /// Returns true if the paper's mean leaves out the smallest number of jobs, at which no job waits.
    fn leaves_out_the_first(self, workload: Workload, metric: Metric) -> bool {
        matches!(self, Self::Cons | Self::Easy) && workload == Workload::Wagap && metric == Metric::tardiness
    }
}

pub(crate) struct SwiftGapPaper {
    file: File,
    effort: Effort,
    /// Numbers of records in the figures.
    records: BTreeSet<u32>,
    wagap: Wagap,
}

lab::cell! {
    pub(crate) struct Cell of Metric {
        workload: Workload,
        profile: Profile,
        policy: Policy,
        /// Number of records read, from the first.
        records: u32,
    }
}

impl SwiftGapPaper {
    const fn cell(&self, workload: Workload, policy: Policy, records: u32) -> Cell {
        Cell { workload, profile: Profile::Alea31, policy, records }
    }

    /// Returns true if workloads differ from replication to replication.
    fn is_redrawn(&self, workload: Workload) -> bool {
        workload == Workload::Zewura || !self.is_log()
    }

    fn readings(&self, version: Policy, workload: Workload) -> Readings {
        let readings = if version == Policy::Nearest { self.file.nearest } else { self.file.readings };
        readings.on(self.file.clusters.of(workload).len())
    }

    fn policy(&self, policy: Policy, workload: Workload, streams: &Streams) -> Box<dyn alea31::Policy> {
        let stream = || streams.stream(Purpose("tabu search"), 0);
        match policy {
            Policy::Easy => Box::new(Easy::default()),
            Policy::Cons => Box::new(Cons::default()),
            Policy::BestGap => Box::new(GapFilling::best_gap()),
            Policy::Bgt => Box::new(GapFilling::bgt(stream())),
            Policy::SwiftGap | Policy::Nearest => {
                Box::new(GapFilling::swift_gap(self.readings(policy, workload), stream()))
            }
        }
    }

    fn world<P: alea31::Policy>(&self, clusters: &[u32], policy: P, jobs: Arc<[Job]>) -> World<P> {
        World::new(clusters, policy, jobs).with_start_up(Time::ZERO + Span::from_secs_f64(self.file.simulator.start_up))
    }
}

impl Paper for SwiftGapPaper {
    type Cell = Cell;

    const ABOUT: About = About {
        slug: "swift-gap",
        title: "Scheduling Jobs through Gap Filling and Optimization Techniques in Computational Grid",
        citation: "O. Dakkak, S. A. Nor and S. Arif, Journal of Computer Science 13(5), 2017, 105–113",
        package: "alea31",
        subject: "EASY, CONS, Best Gap with Tabu search (BGT) and Swift Gap (SG) on the log of two clusters",
    };
    const SCENARIO: &'static str = include_str!("../workloads/swift-gap.toml");
    const PAGE: &'static str = include_str!("../pages/swift-gap.md");
    const MODELS: &'static str = crate::MODELS;

    const READINGS: &'static [Reading] = Readings::LIST;

    fn new(scenario: &Scenario, effort: Effort) -> Result<Self> {
        let mut file: File = scenario.typed()?;
        let mut records = file.workload.records.clone();
        if effort == Effort::Quick {
            file.run.drawn_replications = file.run.quick_drawn_replications;
            records = file.run.quick_records.clone();
        }
        crate::within(
            scenario,
            &[
                // Nodes, and processors of each.
                ("clusters", 1.0, 4095.0),
                ("workload.records", 1.0, 1e6),
                ("simulator.start_up", 0.0, 86_400.0),
                ("run.most_replications", 1.0, f64::INFINITY),
                ("run.drawn_replications", 1.0, f64::INFINITY),
                ("run.quick_records", 1.0, 1e6),
                ("run.quick_drawn_replications", 1.0, f64::INFINITY),
            ],
        )?;
        Ok(Self { effort, records, wagap: Wagap::Unread, file })
    }

    fn with_traces(mut self, traces: Option<&Path>) -> Result<Self> {
        self.wagap = self.find_wagap(traces)?;
        Ok(self)
    }

    fn exhibits(&self) -> Vec<Exhibit<'_, Cell>> {
        let mut exhibits = vec![Exhibit::made("fig1", |streams| compression::schedule(self, streams))];
        exhibits.extend(figures::over_records(self));
        // The claims under both readings stand behind figure 4.
        exhibits.insert(2, claims::side_by_side(self));
        for (id, workload) in [("table2", Workload::Zewura), ("table3", Workload::Wagap)] {
            if !self.in_table(workload).is_empty() {
                exhibits.push(figures::difference(self, id, workload).into());
                exhibits.push(tables::means(self, id, workload).into());
            }
        }
        if self.has_table_4() {
            exhibits.push(figures::enhancement(self).into());
            exhibits.push(tables::enhancements(self).into());
        }
        exhibits.extend([figures::profiles(self).into(), tables::profiles(self).into()]);
        exhibits
    }

    fn claims(&self) -> Vec<Claim<Cell>> {
        claims::claims(self, Policy::SwiftGap)
    }

    fn preface(&self) -> Option<String> {
        const ZEWURA: &str = "the log of Zewura is not public. The left panels, table 2 and claims B5 to B8 rest on a \
                              stand-in (the jobs of Wagap as drawn from a model, on the cluster zewura alone, with the mean \
                              run time that table 2 implies), which can judge orderings only. On that one cluster Swift Gap's search moves jobs within the cluster (R3 = any), since \
                              between clusters it could not search at all";
        if self.is_log() {
            return Some(format!("In part a stand-in: {ZEWURA}."));
        }
        Some(format!(
            "A stand-in: the log of Wagap was not found, and {ZEWURA}. Jobs were drawn from a model that was fitted to \
             the log of Wagap. Orderings are judged; claims A1 to A16, which are about the values of table 3, are left out. \
             That log is public: {PUBLIC_PLACE}, SHA-256 {}. Name its folder with --traces DIR or {VARIABLE}.",
            self.file.log.sha256
        ))
    }

    fn record(&self) -> Option<&'static str> {
        (!self.is_log()).then_some("stand-in")
    }

    fn data(&self) -> Vec<(String, String)> {
        let LogEntry { name, sha256 } = &self.file.log;
        let found = matches!(self.wagap, Wagap::Log(_));
        found.then(|| (format!("{name}.swf"), sha256.clone())).into_iter().collect()
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.is_log() {
            notes.push(
                "EASY, CONS and the nearest reading of SG draw nothing: on one log each is one run, its numbers are exact and \
                 have no interval. The replications of BGT and SG differ in the seed of their search, and those on Zewura \
                 in the workload too."
                    .to_owned(),
            );
            notes.push(
                "The paper's tables are means over seven numbers of jobs, of which the two largest carry most. Its \
                 tardiness of EASY and CONS is the mean over six: 3000, where no job waits, is left out. Its waiting time \
                 of EASY, 1081.3 s, does not go with its response time: response − wait is 59777.2 s in every other \
                 column, which would make it 1056.4 s (A3)."
                    .to_owned(),
            );
        }
        notes.push(
            "What Swift Gap is, the paper does not say in full (R1 to R8). SG is the text, word for word, and that is what is \
             judged. Beside it stands the reading whose numbers come nearest to the column SG of table 3; it was chosen by \
             its outcome, and its verdicts are not counted. docs/papers/swift-gap.md shows all that were tried."
                .to_owned(),
        );
        notes
    }

    fn parameters(&self, cell: &Cell) -> Vec<(&'static str, String)> {
        vec![
            ("workload", self.short_name(cell.workload)),
            ("profile", cell.profile.name().to_owned()),
            ("policy", cell.policy.name().to_owned()),
            ("n", cell.records.to_string()),
        ]
    }

    fn determinants(&self, cell: &Cell) -> serde_json::Value {
        let is_alea31 = cell.profile == Profile::Alea31;
        let has_readings = is_alea31 && cell.policy.is_swift_gap();
        serde_json::json!({
            "clusters": self.file.clusters.of(cell.workload),
            "workload": self.identity(cell.workload),
            "start_up": is_alea31.then_some(self.file.simulator.start_up),
            "readings": has_readings.then(|| self.readings(cell.policy, cell.workload)),
            "cell": cell,
        })
    }

    fn draws(&self, cell: &Cell) -> bool {
        let searches = match (cell.policy, cell.profile) {
            (Policy::Easy | Policy::Cons | Policy::BestGap, _) => false,
            (Policy::Bgt, _) | (_, Profile::Clean) => true,
            (Policy::SwiftGap | Policy::Nearest, Profile::Alea31) => {
                self.readings(cell.policy, cell.workload).draws(self.file.clusters.of(cell.workload).len())
            }
        };
        searches || self.is_redrawn(cell.workload)
    }

    fn affordable(&self, cell: &Cell, wanted: u32) -> u32 {
        let run = &self.file.run;
        let most = if self.is_redrawn(cell.workload) { run.drawn_replications } else { run.most_replications };
        wanted.min(most)
    }

    fn cost(&self, cell: &Cell) -> u64 {
        // Searches take longest, and longer if more jobs wait: towards the end of the log, and on one cluster.
        let weight = match (cell.policy, cell.workload) {
            (Policy::Easy, _) => 1,
            (Policy::Cons | Policy::BestGap, _) => 4,
            (Policy::Nearest, _) => 6,
            (Policy::Bgt | Policy::SwiftGap, Workload::Wagap) => 20,
            (Policy::Bgt | Policy::SwiftGap, Workload::Zewura) => 40,
        };
        weight * u64::from(cell.records) * u64::from(cell.records) / 1000
    }

    fn simulate(&self, cell: &Cell, streams: &Streams) -> Values<Metric> {
        let jobs = self.jobs(cell.workload, cell.records, streams);
        let clusters = self.file.clusters.processors(cell.workload);
        let records = match cell.profile {
            Profile::Alea31 => self.world(&clusters, self.policy(cell.policy, cell.workload, streams), jobs).run(),
            Profile::Clean => clean::run(&clusters, clean::scheduler(cell.policy, streams), &jobs),
        };
        Measured::of(&records).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alea31::Moves;

    #[test]
    fn on_one_cluster_the_search_moves_jobs_within_it_and_what_draws_nothing_on_a_log_says_so() {
        let paper =
            |assignments: &[&str]| crate::tests::paper::<SwiftGapPaper>(assignments, Effort::Full).expect("a scenario");
        for version in [Policy::SwiftGap, Policy::Nearest] {
            let moves =
                [Workload::Zewura, Workload::Wagap].map(|workload| paper(&[]).readings(version, workload).moves);
            assert_eq!(moves, [Moves::Any, Moves::BetweenClusters]);
        }
        // Deterministic by the readings, except in the profile that does not have them; then random.
        for (moves, draws) in [("between-clusters", [false, true]), ("any", [true, true])] {
            let listed = paper(&["readings.pick=list-order", &format!("readings.moves={moves}")]);
            let cell = listed.cell(Workload::Wagap, Policy::SwiftGap, 3000);
            let cells = [cell, Cell { profile: Profile::Clean, ..cell }];
            assert_eq!(cells.map(|cell| listed.draws(&cell)), draws, "{moves}");
        }
    }
}
