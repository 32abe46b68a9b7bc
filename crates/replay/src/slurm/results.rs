//! Runs of all variants under all phases, and the estimates made of them.

use super::input::{Trace, terms};
use anyhow::Result;
use lab::difference::{Ranked, paired, ranked};
use lab::interrupt::{self, Interrupted};
use lab::observations::Observations;
use lab::parallel::in_parallel;
use lab::quantity::{DesignPoint, Quantity};
use metrics::{ConfidenceInterval, Mean, Metric, Totals, job};
use sim_core::{Job, JobId, JobRecord, SiteId, Span, Time};
use slurm_sched::workload::SubmittedJob;
use slurm_sched::{EndState, Ended, Report, Site, simulate};
use std::collections::BTreeMap;

pub(super) struct Arm {
    pub(super) name: String,
    /// Different settings, as `KEY=VALUE`.
    pub(super) settings: Vec<String>,
    pub(super) site: Site,
}

pub(super) struct JobGroup {
    /// One of [`KINDS`].
    pub(super) by: &'static str,
    pub(super) name: String,
    pub(super) jobs: usize,
}

/// Kinds of groups, in the order of the breakdown.
pub(super) const KINDS: [&str; 4] = ["partition", "account", "user", "qos"];

/// A variant, or the log itself, over all jobs (group `None`) or one group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Cell {
    group: Option<usize>,
    arm: usize,
}

impl DesignPoint for Cell {
    type Metric = &'static Metric;
}

pub(super) struct VariantResults<'a> {
    pub(super) arms: &'a [Arm],
    pub(super) jobs: &'a [SubmittedJob],
    pub(super) phases: u32,
    pub(super) groups: Vec<JobGroup>,
    /// Groups of each job, by the kinds of [`KINDS`].
    pub(super) groups_of: Vec<[usize; 4]>,
    /// Ends of jobs in the first phase, by variant.
    pub(super) first: Vec<Vec<Ended>>,
    /// Largest number of jobs that never started, by variant.
    pub(super) never: Vec<usize>,
    /// Main and backfill passes in a mean phase, by variant.
    pub(super) passes: Vec<[f64; 2]>,
    /// True if the trace has waits of its own.
    pub(super) has_log: bool,
    all: Observations<Cell>,
}

pub(super) fn of_groups() -> [&'static Metric; 2] {
    ["wait_mean", "bounded_slowdown_mean"].map(Metric::of)
}

struct Ran {
    totals: Totals,
    grouped: Vec<[Mean; 2]>,
    ends: Vec<Ended>,
    passes: [f64; 2],
    /// Numbers of jobs that ended, and of runs that were stopped at their limits.
    ended: usize,
    cut: f64,
}

impl Ran {
    fn new(site: &Site, groups: usize) -> Self {
        let totals = Totals::new(u32::try_from(site.conf.nodes.len()).unwrap_or(u32::MAX), &[]);
        let grouped = vec![[Mean::default(); 2]; groups];
        Self { totals, grouped, ends: Vec::new(), passes: [0.0; 2], ended: 0, cut: 0.0 }
    }

    /// Adds a run of the job at a place in the trace: its submission, start and end, on whole nodes, which count as processors.
    fn add(&mut self, at: usize, groups: [usize; 4], [submit, start, end]: [i64; 3], nodes: u32) {
        const BOUND: Span = Span::from_secs(10);
        let time = |seconds: i64| Time::from_secs(seconds.max(0).unsigned_abs());
        let run = Span::from_secs((end - start).max(0).unsigned_abs());
        let id = JobId(u32::try_from(at).unwrap_or(u32::MAX));
        let mut job = Job::new(id, time(submit), nodes.max(1), run);
        job.request.user = u32::try_from(groups[2]).ok();
        let record = JobRecord { job, start: time(start), finish: time(end), site: SiteId(0), processors: nodes };
        self.totals.add(&record);
        for group in groups {
            self.grouped[group][0].add(record.wait().as_secs_f64());
            self.grouped[group][1].add(job::bounded_slowdown(&record, BOUND));
        }
    }

    /// Adds the values of the run under `arm`, of all jobs and of each group.
    fn observe(&self, arm: usize, all: &mut Observations<Cell>, add: fn(&mut Observations<Cell>, Cell, Vec<f64>)) {
        let metrics = all.metrics().to_vec();
        let mut observe = |group, value: &dyn Fn(&'static Metric) -> Option<f64>| {
            let row = metrics.iter().map(|metric| value(metric).unwrap_or(f64::NAN));
            add(all, Cell { group, arm }, row.collect());
        };
        let row = self.totals.row();
        observe(None, &|metric| row.iter().find(|(known, _)| *known == metric)?.1);
        for (group, means) in self.grouped.iter().enumerate() {
            let own = of_groups().into_iter().zip(means);
            observe(Some(group), &|metric| own.clone().find(|(known, _)| *known == metric)?.1.mean());
        }
    }
}

impl<'a> VariantResults<'a> {
    /// Runs every variant under every phase; `done` is called after each run.
    pub(super) fn compute(
        arms: &'a [Arm],
        trace: &'a Trace,
        phases: u32,
        seed: u64,
        done: &(dyn Fn() + Sync),
    ) -> Result<Self> {
        let (groups, groups_of) = groups(&arms[0].site, &trace.jobs);
        let places: BTreeMap<u32, usize> = trace.jobs.iter().zip(0..).map(|(job, at)| (job.id, at)).collect();
        let run = |(arm, phase): &(usize, u32)| {
            interrupt::check(Interrupted::Lost)?;
            let site = &arms[*arm].site;
            let mut ran = Ran::new(site, groups.len());
            simulate(site, &trace.jobs, terms(site, trace.zero, seed, *phase), None, |report| match report {
                Report::MainPass(..) => ran.passes[0] += 1.0,
                Report::BackfillPass(_) => ran.passes[1] += 1.0,
                Report::Waits(..) => {}
                Report::Ended(ended) => {
                    let at = places[&ended.job];
                    let width = u32::try_from(ended.nodes.len()).unwrap_or(u32::MAX);
                    ran.add(at, groups_of[at], [ended.submit, ended.start, ended.end], width);
                    ran.ended += usize::from(ended.state != EndState::Requeued);
                    ran.cut += f64::from(u8::from(ended.state == EndState::Timeout));
                    ran.ends.extend(Some(ended).filter(|_| *phase == 0));
                }
            });
            ran.totals.count("cut", Some(ran.cut));
            ran.totals.sums.rejected = (trace.jobs.len() - ran.ended) as u64;
            done();
            Ok(ran)
        };
        let pairs: Vec<(usize, u32)> =
            (0..arms.len()).flat_map(|arm| (0..phases).map(move |phase| (arm, phase))).collect();
        let runs = in_parallel(&pairs, run)?;

        let mut all = Observations::new(runs[0].totals.row().into_iter().map(|(metric, _)| metric).collect());
        let (mut first, mut never) = (vec![Vec::new(); arms.len()], vec![0; arms.len()]);
        let mut passes = vec![[0.0; 2]; arms.len()];
        for ((arm, phase), ran) in pairs.into_iter().zip(runs) {
            ran.observe(arm, &mut all, Observations::add);
            never[arm] = never[arm].max(trace.jobs.len() - ran.ended);
            (0..2).for_each(|at| passes[arm][at] += ran.passes[at] / f64::from(phases));
            if phase == 0 {
                first[arm] = ran.ends;
            }
        }
        // The schedule of the log itself, for the jobs that have one.
        let has_log = !trace.log.is_empty();
        if has_log {
            let mut ran = Ran::new(&arms[0].site, groups.len());
            for (job, times) in &trace.log {
                let at = places[job];
                ran.add(at, groups_of[at], *times, trace.jobs[at].request.nodes.unwrap_or(1));
            }
            ran.observe(arms.len(), &mut all, Observations::add_exact);
        }
        Ok(Self { arms, jobs: &trace.jobs, phases, groups, groups_of, first, never, passes, has_log, all })
    }

    /// Names of the variants, and `log` for the trace's own schedule, if there is one; in the order of the numbers that other methods take.
    pub(super) fn names(&self) -> Vec<&str> {
        self.arms.iter().map(|arm| arm.name.as_str()).chain(self.has_log.then_some("log")).collect()
    }

    /// Metrics that have a value under some variant or in the log.
    pub(super) fn metrics(&self) -> Vec<&'static Metric> {
        let arms = 0..self.names().len();
        let is_there = |metric: &&&'static Metric| {
            !metric.is_flag() && arms.clone().any(|arm| self.mean(None, arm, metric).is_some())
        };
        self.all.metrics().iter().filter(is_there).copied().collect()
    }

    fn estimate(&self, quantity: &Quantity<Cell>) -> Option<ConfidenceInterval> {
        let found = self.all.estimate(quantity, u32::MAX);
        Some(found).filter(|found| found.replications > 0 && found.mean.is_finite())
    }

    /// Mean over phases, of all jobs or of a group.
    pub(super) fn mean(&self, group: Option<usize>, arm: usize, metric: &'static Metric) -> Option<ConfidenceInterval> {
        self.estimate(&Cell { group, arm }.get(metric))
    }

    /// Difference to the baseline, paired by phase.
    pub(super) fn difference(
        &self,
        group: Option<usize>,
        arm: usize,
        metric: &'static Metric,
    ) -> Option<ConfidenceInterval> {
        let of = |arm| Cell { group, arm }.get(metric);
        self.estimate(&(of(arm) - of(0)))
    }

    /// Values by phase.
    pub(super) fn sample(&self, arm: usize, metric: &'static Metric) -> Vec<f64> {
        self.all.sample(&Cell { group: None, arm }.get(metric), u32::MAX)
    }

    pub(super) fn ranked(&self, metric: &'static Metric) -> Vec<Ranked<'a>> {
        let of = |arm| Cell { group: None, arm }.get(metric);
        let arms = self.arms.iter().enumerate();
        let arms = arms.map(|(at, arm)| (arm.name.as_str(), self.mean(None, at, metric).map(|mean| mean.mean)));
        ranked(metric, arms, |a, b, level| paired(&self.all, [of(a), of(b)], level))
    }
}

/// Groups of all jobs, in the order of the breakdown, and the groups of each job.
fn groups(site: &Site, jobs: &[SubmittedJob]) -> (Vec<JobGroup>, Vec<[usize; 4]>) {
    let default = site.conf.default_partition().map_or("", |at| site.conf.partitions[at].name.as_str());
    let names = |job: &SubmittedJob| {
        let (request, all) = (&job.request, &site.accounts);
        let partition = if request.partitions.is_empty() { default.to_owned() } else { request.partitions.join(",") };
        let association = all.association(request.account.as_deref(), request.user(), Some(&partition));
        let account = || Some(all.associations[association?].account.clone());
        let qos = || Some(all.qos[all.default_qos(association?)?].name.clone());
        let none = || "none".to_owned();
        let account = request.account.clone().or_else(account).unwrap_or_else(none);
        let qos = request.qos.clone().or_else(qos).unwrap_or_else(none);
        [partition, account, request.user().to_owned(), qos]
    };
    let of_jobs: Vec<[String; 4]> = jobs.iter().map(names).collect();
    let mut counts = BTreeMap::<(usize, &str), usize>::new();
    for (kind, name) in of_jobs.iter().flat_map(|names| names.iter().enumerate()) {
        *counts.entry((kind, name)).or_default() += 1;
    }
    let places: BTreeMap<(usize, &str), usize> = counts.keys().copied().zip(0..).collect();
    let place = |names: &[String; 4]| std::array::from_fn(|kind| places[&(kind, names[kind].as_str())]);
    let groups_of = of_jobs.iter().map(place).collect();
    let group =
        |(&(kind, name), &jobs): (&(usize, &str), &usize)| JobGroup { by: KINDS[kind], name: name.to_owned(), jobs };
    (counts.iter().map(group).collect(), groups_of)
}
