//! Metrics of one run and their measurement (§4.1). Times are in the paper's units.

use super::SlowdownBase;
use gang_grid::GangCounts;
use metrics::job::{bounded_slowdown, slowdown};
use sim_core::record::Sink;
use sim_core::{Fact, JobLog, JobRecord, Probe, Span, Time};

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
    /// Gangs that arrived, of each size.
    arrived: Vec<u64>,
    departures: JobLog<Departures>,
}

struct Departures {
    sizes: Vec<u32>,
    floor: Span,
    base: SlowdownBase,
    locals: DepartureSums,
    /// Sums per gang size.
    gangs: Vec<DepartureSums>,
}

#[derive(Clone, Default)]
struct DepartureSums {
    completed: u64,
    response: f64,
    slowdown: f64,
    /// Bounded slowdowns of locals alone.
    bounded_slowdown: f64,
}

impl Measure {
    pub(super) fn new(sizes: &[u32], floor: Span, base: SlowdownBase) -> Self {
        let gangs = vec![DepartureSums::default(); sizes.len()];
        let departures = Departures { sizes: sizes.to_vec(), floor, base, locals: DepartureSums::default(), gangs };
        Self { arrived: vec![0; sizes.len()], departures: JobLog::new(departures) }
    }

    /// Returns the metrics; NaN if no job of the kind completed.
    #[expect(clippy::cast_precision_loss, reason = "counts")]
    pub(super) fn results(&self, counts: &GangCounts, utilization: f64, end: Time) -> Measured {
        let Departures { sizes, locals, gangs, .. } = self.departures.sink();
        // Equations (5) and (6): the weight of a gang is its number of tasks.
        let weighted = |sum: fn(&DepartureSums) -> f64| {
            let by_size = || sizes.iter().zip(gangs);
            let total: f64 = by_size().map(|(size, gangs)| f64::from(*size) * sum(gangs)).sum();
            total / by_size().map(|(size, gangs)| f64::from(*size) * gangs.completed as f64).sum::<f64>()
        };
        let of_locals = |sum: f64| sum / locals.completed as f64;
        let by_size = |value: fn(&DepartureSums, u64) -> f64| {
            let of_all = sizes.iter().zip(gangs).zip(&self.arrived);
            of_all.map(|((size, gangs), arrived)| (*size, value(gangs, *arrived))).collect()
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
            self.arrived[position(&self.departures.sink().sizes, job.request.processors)] += 1;
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

#[expect(clippy::cast_precision_loss, reason = "counts")]
fn percent(part: u64, whole: u64) -> f64 {
    100.0 * part as f64 / whole as f64
}

fn position(sizes: &[u32], size: u32) -> usize {
    sizes.iter().position(|known| *known == size).expect("gangs come in the sizes of the scenario")
}
