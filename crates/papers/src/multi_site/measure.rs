//! What is measured in one run (§4.1).

use super::SlowdownBase;
use gang_grid::GangCounts;
use metrics::job::{bounded_slowdown, slowdown};
use sim_core::record::Sink;
use sim_core::{Fact, JobLog, JobRecord, Probe, Span, Time};

/// Listens to a run and keeps the sums that the metrics need.
pub(super) struct Measure {
    sizes: Vec<u32>,
    arrived: Vec<u64>,
    departures: JobLog<Departures>,
}

struct Departures {
    sizes: Vec<u32>,
    floor: Span,
    base: SlowdownBase,
    locals: Locals,
    /// Per gang size.
    gangs: Vec<Gangs>,
}

#[derive(Clone, Default)]
struct Locals {
    completed: u64,
    response: f64,
    slowdown: f64,
    bounded_slowdown: f64,
}

#[derive(Clone, Default)]
struct Gangs {
    completed: u64,
    response: f64,
    slowdown: f64,
}

/// The metrics of [`Measure::results`], in its order.
pub(super) fn names(sizes: &[u32]) -> Vec<String> {
    let fixed = [
        "wrt",
        "wsld",
        "completed_percent",
        "rt_local",
        "sld_local",
        "bounded_sld_local",
        "utilization_percent",
        "gangs_arrived",
        "gangs_completed",
        "gangs_spanning_percent",
        "locals_completed",
        "duration",
    ];
    let by_size = sizes.iter().flat_map(|size| [completed_percent(*size), wrt(*size)]);
    fixed.into_iter().map(str::to_owned).chain(by_size).collect()
}

/// Name of the completion metric of gangs of one size.
pub(super) fn completed_percent(size: u32) -> String {
    format!("completed_percent_{size}")
}

/// Name of the mean response time of gangs of one size. All weigh alike, so it is the plain mean.
pub(super) fn wrt(size: u32) -> String {
    format!("wrt_{size}")
}

impl Measure {
    pub(super) fn new(sizes: &[u32], floor: Span, base: SlowdownBase) -> Self {
        let departures = Departures {
            sizes: sizes.to_vec(),
            floor,
            base,
            locals: Locals::default(),
            gangs: vec![Gangs::default(); sizes.len()],
        };
        Self { sizes: sizes.to_vec(), arrived: vec![0; sizes.len()], departures: JobLog::new(departures) }
    }

    /// A value for each of [`names`]; not a number where nothing was completed.
    #[expect(clippy::cast_precision_loss, reason = "counts")]
    pub(super) fn results(&self, counts: &GangCounts, utilization: f64, end: Time) -> Vec<f64> {
        let Departures { locals, gangs, .. } = self.departures.sink();
        // Equations (5) and (6): each gang weighs as many as it has tasks.
        let weighted = |sum: fn(&Gangs) -> f64| {
            let by_size = || self.sizes.iter().zip(gangs);
            let total: f64 = by_size().map(|(size, gangs)| f64::from(*size) * sum(gangs)).sum();
            total / by_size().map(|(size, gangs)| f64::from(*size) * gangs.completed as f64).sum::<f64>()
        };
        let of_locals = |sum: f64| sum / locals.completed as f64;
        let percent = |part: u64, whole: u64| 100.0 * part as f64 / whole as f64;
        let mut results = vec![
            weighted(|gangs| gangs.response),
            weighted(|gangs| gangs.slowdown),
            percent(counts.gangs_completed, counts.gangs_arrived),
            of_locals(locals.response),
            of_locals(locals.slowdown),
            of_locals(locals.bounded_slowdown),
            100.0 * utilization,
            counts.gangs_arrived as f64,
            counts.gangs_completed as f64,
            percent(counts.gangs_spanning, counts.gangs_arrived),
            counts.locals_completed as f64,
            end.as_secs_f64(),
        ];
        for (gangs, arrived) in gangs.iter().zip(&self.arrived) {
            results.push(percent(gangs.completed, *arrived));
            results.push(gangs.response / gangs.completed as f64);
        }
        results
    }
}

impl Probe for Measure {
    fn observe(&mut self, now: Time, fact: &Fact) {
        if let Fact::Submitted(job) = fact
            && job.origin.is_none()
        {
            self.arrived[position(&self.sizes, job.request.processors)] += 1;
        }
        self.departures.observe(now, fact);
    }
}

impl Sink for Departures {
    fn take_in(&mut self, record: JobRecord) {
        let response = record.response().as_secs_f64();
        if record.job.origin.is_some() {
            self.locals.completed += 1;
            self.locals.response += response;
            self.locals.slowdown += slowdown(&record);
            self.locals.bounded_slowdown += bounded_slowdown(&record, self.floor);
            return;
        }
        let gangs = &mut self.gangs[position(&self.sizes, record.processors)];
        gangs.completed += 1;
        gangs.response += response;
        gangs.slowdown += match self.base {
            SlowdownBase::BeforeOverhead => slowdown(&record),
            SlowdownBase::AfterOverhead => response / record.finish.since(record.start).as_secs_f64(),
        };
    }
}

fn position(sizes: &[u32], size: u32) -> usize {
    sizes.iter().position(|known| *known == size).expect("gangs come in the sizes of the scenario")
}
