//! Metrics of one run and their measurement (§4.1). Times are in the paper's units.

use super::SlowdownBase;
use gang_grid::GangCounts;
use metrics::job::{bounded_slowdown, slowdown};
use sim_core::record::Sink;
use sim_core::{Fact, JobLog, JobRecord, Probe, Span, Time};
use std::collections::BTreeMap;

lab::metrics! {
    pub(crate) struct Measured of Metric {
        /// Response time of completed gangs, each weighing as many as it has tasks: equation (5).
        wrt: "weighted response time" smaller,
        /// Slowdown of completed gangs, each weighing as many as it has tasks: equation (6), relative to what R16 says.
        wsld: "weighted slowdown" smaller,
        /// Gangs completed, of those that had arrived when the run stopped.
        completed_percent: "completed gangs" ("%") larger,
        /// Mean response time of local jobs.
        rt_local: "mean response time" smaller,
        /// Mean slowdown of local jobs.
        sld_local: "mean slowdown" smaller,
        /// The same with a floor under the service time (A1).
        bounded_sld_local: "mean bounded slowdown" smaller,
        /// Processor time that runs jobs, of all processor time.
        utilization_percent: "utilization" ("%") larger,
        /// Gangs that arrived until the run stopped.
        gangs_arrived: "gangs arrived" zero,
        /// Gangs that completed.
        gangs_completed: "gangs completed" zero,
        /// Gangs whose tasks ran on several sites, of those that arrived.
        gangs_spanning_percent: "gangs that span sites" ("%"),
        /// Local jobs that completed.
        locals_completed: "local jobs completed" zero,
        /// Time at which the run stopped.
        duration: "length of the run",
        /// Gangs of one size completed, of those that had arrived.
        completed_percent_of(u32, size => format!("completed_percent_{size}")): "completed gangs" ("%") larger,
        /// Mean response time of gangs of one size. All weigh alike, so it is the plain mean.
        wrt_of(u32, size => format!("wrt_{size}")): "response time" smaller,
    }
}

pub(super) struct Measure {
    /// Gangs that arrived, by size.
    arrived: BTreeMap<u32, u64>,
    departures: JobLog<Departures>,
}

struct Departures {
    floor: Span,
    base: SlowdownBase,
    locals: DepartureSums,
    /// Sums by size of the gang.
    gangs: BTreeMap<u32, DepartureSums>,
}

#[derive(Default)]
struct DepartureSums {
    completed: u64,
    response: f64,
    slowdown: f64,
    /// Bounded slowdowns of locals alone.
    bounded_slowdown: f64,
}

impl Measure {
    pub(super) fn new(sizes: &[u32], floor: Span, base: SlowdownBase) -> Self {
        let gangs = sizes.iter().map(|size| (*size, DepartureSums::default())).collect();
        let departures = Departures { floor, base, locals: DepartureSums::default(), gangs };
        Self { arrived: sizes.iter().map(|size| (*size, 0)).collect(), departures: JobLog::new(departures) }
    }

    /// Returns the metrics; NaN if no job of the kind completed.
    pub(super) fn results(&self, counts: &GangCounts, utilization: f64, end: Time) -> Measured {
        let Departures { locals, gangs, .. } = self.departures.sink();
        // Equations (5) and (6): the weight of a gang is its number of tasks.
        let weighted = |sum: fn(&DepartureSums) -> f64| {
            let total: f64 = gangs.iter().map(|(size, gangs)| f64::from(*size) * sum(gangs)).sum();
            total / gangs.iter().map(|(size, gangs)| f64::from(*size) * gangs.completed as f64).sum::<f64>()
        };
        let of_locals = |sum: f64| sum / locals.completed as f64;
        let by_size = |value: fn(&DepartureSums, u64) -> f64| {
            gangs.iter().map(|(size, gangs)| (*size, value(gangs, self.arrived[size]))).collect()
        };
        Measured {
            wrt: weighted(|gangs| gangs.response),
            wsld: weighted(|gangs| gangs.slowdown),
            completed_percent: percent(counts.gangs_completed, counts.gangs_arrived),
            rt_local: of_locals(locals.response),
            sld_local: of_locals(locals.slowdown),
            bounded_sld_local: of_locals(locals.bounded_slowdown),
            utilization_percent: 100.0 * utilization,
            gangs_arrived: counts.gangs_arrived as f64,
            gangs_completed: counts.gangs_completed as f64,
            gangs_spanning_percent: percent(counts.gangs_spanning, counts.gangs_arrived),
            locals_completed: counts.locals_completed as f64,
            duration: end.as_secs_f64(),
            completed_percent_of: by_size(|gangs, arrived| percent(gangs.completed, arrived)),
            wrt_of: by_size(|gangs, _| gangs.response / gangs.completed as f64),
        }
    }
}

impl Probe for Measure {
    fn observe(&mut self, now: Time, fact: &Fact) {
        if let Fact::Submitted(job) = fact
            && job.origin.is_none()
        {
            *self.arrived.get_mut(&job.request.processors).expect(OF_A_SIZE) += 1;
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
        let gangs = self.gangs.get_mut(&record.processors).expect(OF_A_SIZE);
        gangs.completed += 1;
        gangs.response += response;
        gangs.slowdown += match self.base {
            SlowdownBase::BeforeOverhead => slowdown(&record),
            SlowdownBase::AfterOverhead => response / record.finish.since(record.start).as_secs_f64(),
        };
    }
}

fn percent(part: u64, whole: u64) -> f64 {
    100.0 * part as f64 / whole as f64
}

const OF_A_SIZE: &str = "gangs come in the sizes of the scenario";
