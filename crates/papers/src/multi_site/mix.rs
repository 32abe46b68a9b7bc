//! Local jobs at every site and gangs at the grid (§2, §4.2).
//!
//! Every source is a Poisson process: one per site for local jobs of one task each, one at the grid for gangs. The size of a gang is drawn
//! uniformly from a list; the service time of a local job or of a gang's task is exponential. Each source owns its random streams, one per
//! purpose, so that a change in the draw of service times changes no arrival.

use gang_grid::Submission;
use gang_grid::config::ServiceTime;
use rand::RngExt;
use rand_distr::{Distribution, Exp1};
use serde::{Deserialize, Serialize};
use sim_core::{JobId, Purpose, SiteId, Span, Stream, Streams, Time};

const LOCAL_ARRIVALS: Purpose = Purpose("local arrivals");
const LOCAL_SERVICE: Purpose = Purpose("local service");
const GANG_ARRIVALS: Purpose = Purpose("gang arrivals");
const GANG_SIZES: Purpose = Purpose("gang sizes");
const GANG_SERVICE: Purpose = Purpose("gang service");

/// The scenario's table `workload`. Times are means of exponential distributions, in seconds; the paper's unit is one second.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WorkloadTable {
    /// Mean times between local jobs of one site, 1/λ.
    pub(super) local_interarrival: Vec<f64>,
    /// Mean time between gangs, 1/λ3.
    pub(super) gang_interarrival: f64,
    /// Sizes of gangs, each equally likely.
    pub(super) gang_sizes: Vec<u32>,
    /// Mean service time of a local job and of a gang's task, 1/μ.
    pub(super) mean_service: f64,
}

impl WorkloadTable {
    /// Returns endless submissions in order of time, at the load of this position; at one instant sites in their order, gangs last. The
    /// service times of a gang's tasks are equal or independent (R1).
    pub(super) fn jobs(
        &self,
        load: usize,
        sites: u32,
        tasks: ServiceTime,
        streams: &Streams,
    ) -> impl Iterator<Item = Submission> + use<> {
        let mix = self.clone();
        let source = |interarrival, [arrivals, service]: [Purpose; 2], number| {
            let [mut arrivals, service] = [arrivals, service].map(|purpose| streams.stream(purpose, number));
            (Time::ZERO + exponential(&mut arrivals, interarrival), interarrival, arrivals, service)
        };
        let locals = (0..sites).map(|site| source(mix.local_interarrival[load], [LOCAL_ARRIVALS, LOCAL_SERVICE], site));
        let gangs = source(mix.gang_interarrival, [GANG_ARRIVALS, GANG_SERVICE], 0);
        let mut sources: Vec<(Time, f64, Stream, Stream)> = locals.chain([gangs]).collect();
        let mut sizes = streams.stream(GANG_SIZES, 0);
        (0..).map(JobId).map(move |id| {
            let next = (0..).zip(&mut sources).min_by_key(|(_, source)| source.0).expect("gangs have a source");
            let (number, (arrival, interarrival, arrivals, service)) = next;
            let now = *arrival;
            *arrival += exponential(arrivals, *interarrival);
            if number < sites {
                return Submission::local(id, now, SiteId(number), exponential(service, mix.mean_service));
            }
            let size = mix.gang_sizes[sizes.random_range(0..mix.gang_sizes.len())] as usize;
            let mut task = || exponential(service, mix.mean_service);
            match tasks {
                ServiceTime::PerTask => Submission::gang(id, now, (0..size).map(|_| task())),
                ServiceTime::PerGang => Submission::gang(id, now, vec![task(); size]),
            }
        })
    }
}

/// Draws a span of at least one nanosecond: work of zero length would have no slowdown.
fn exponential(stream: &mut Stream, mean: f64) -> Span {
    let unit: f64 = Exp1.sample(stream);
    Span::from_secs_f64(unit * mean).max(Span::from_nanos(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(service: ServiceTime, jobs: usize) -> Vec<Submission> {
        let (local_interarrival, gang_sizes) = (vec![0.08], vec![2, 4, 8, 16]);
        let mix = WorkloadTable { local_interarrival, gang_interarrival: 2.0, gang_sizes, mean_service: 1.0 };
        mix.jobs(0, 2, service, &Streams::new(42, 0)).take(jobs).collect()
    }

    /// The first draws are part of the format of every published result: if this test fails, all numbers move.
    #[test]
    fn value_stability() {
        let jobs = draw(ServiceTime::PerTask, 200);
        let of = |one: &Submission| (one.job.submit.as_nanos(), one.job.origin, one.job.runtime.as_nanos());
        let expected = [
            (60_841_435, Some(SiteId(1)), 889_884_524),
            (82_680_170, Some(SiteId(1)), 1_904_730_469),
            (107_631_154, Some(SiteId(0)), 844_013_858),
        ];
        assert_eq!(jobs[..3].iter().map(of).collect::<Vec<_>>(), expected);
        let gang = jobs.iter().find(|one| one.job.origin.is_none()).expect("a gang");
        assert_eq!((gang.job.id.0, gang.job.submit.as_nanos()), (39, 1_356_393_653));
        let tasks: Vec<_> = gang.tasks.iter().map(|task| task.as_nanos()).collect();
        assert_eq!(tasks, [653_110_839, 2_007_886_370, 1_853_578_253, 179_971_187]);
    }

    #[test]
    fn equal_tasks_move_nothing_else() {
        for (one, other) in draw(ServiceTime::PerTask, 5_000).iter().zip(draw(ServiceTime::PerGang, 5_000)) {
            assert_eq!((one.job.submit, one.job.request.processors), (other.job.submit, other.job.request.processors));
            assert!(other.tasks.windows(2).all(|pair| pair[0] == pair[1]));
        }
    }
}
