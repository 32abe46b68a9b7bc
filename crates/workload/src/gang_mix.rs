//! Local jobs at every site and gangs at the grid: the workload of Dimitriadou & Karatza, "Multi-Site Allocation
//! Policies on a Grid and Local Level" (2010), §2 and §4.2.
//!
//! Every source is a Poisson process: one per site for local jobs of one task each, one at the grid for gangs. The size
//! of a gang is drawn uniformly from a list; the service time of a local job or of a gang's task is exponential.
//!
//! Each source owns its random streams, one per purpose: more sites, other gangs, or another way to draw service times
//! move no number of the sources that were there before.

use crate::error::{ParameterError, check};
use rand::RngExt;
use rand_distr::{Distribution, Exp1};
use serde::{Deserialize, Serialize};
use sim_core::{Job, JobId, Purpose, SiteId, Span, Stream, Streams, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

/// Parameters of the workload. Times are means of exponential distributions, in seconds; the paper's unit is one second.
///
/// ```
/// use sim_core::Streams;
/// use workload::{GangMix, ServiceDraw};
///
/// let paper = GangMix {
///     sites: 2,
///     local_interarrival: 0.08,
///     gang_interarrival: Some(2.0),
///     gang_sizes: vec![2, 4, 8, 16],
///     mean_service: 1.0,
///     service: ServiceDraw::PerTask,
/// };
/// let first: Vec<_> = paper.jobs(&Streams::new(1, 0)).take(1000).collect();
/// let gangs = first.iter().filter(|submission| submission.is_gang()).count();
/// assert!((10..30).contains(&gangs)); // of 2 · 12.5 + 0.5 jobs per second, one in 51 is a gang
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GangMix {
    /// Number of sites, at least 1 (paper: 2).
    pub sites: u32,
    /// Mean time between local jobs of one site, 1/λ (paper: 0.08, 0.10, 0.12).
    pub local_interarrival: f64,
    /// Mean time between gangs, 1/λ3 (paper: 2); `None` for no gangs at all.
    pub gang_interarrival: Option<f64>,
    /// Sizes that gangs have, each equally likely (paper: 2, 4, 8, 16). One that stands twice is twice as likely.
    pub gang_sizes: Vec<u32>,
    /// Mean service time of a local job and of a gang's task, 1/μ (paper: 1).
    pub mean_service: f64,
    /// Whether the tasks of a gang differ (reading R1).
    #[serde(default)]
    pub service: ServiceDraw,
}

/// Draws of the service times within one gang: reading R1, since the text leaves it open.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ServiceDraw {
    /// Each task has its own: "the service time of a local job or a gang's task is also exponentially distributed" (§2).
    #[default]
    PerTask,
    /// One for all tasks of the gang.
    PerGang,
}

/// One submission: a local job or a gang.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submission {
    /// The job. A local one has its site as `origin`; a gang has none, and its longest task as `runtime`.
    pub job: Job,
    /// Service times of a gang's tasks; empty for a local job.
    pub tasks: Box<[Span]>,
}

impl Submission {
    /// Whether this is a gang; it may have a single task.
    pub const fn is_gang(&self) -> bool {
        !self.tasks.is_empty()
    }
}

impl GangMix {
    /// Whether the parameters describe a workload.
    ///
    /// # Errors
    ///
    /// Names the first field that does not.
    pub fn validate(&self) -> Result<(), ParameterError> {
        check(self.sites > 0, "sites", "at least 1", 0)?;
        let gangs = self.gang_interarrival.unwrap_or(SHORTEST_MEAN);
        for (field, found) in [
            ("local_interarrival", self.local_interarrival),
            ("mean_service", self.mean_service),
            ("gang_interarrival", gangs),
        ] {
            let expected = "a mean from 0.000001 to 100000000 seconds";
            check((SHORTEST_MEAN..=LONGEST_MEAN).contains(&found), field, expected, found)?;
        }
        let has_sizes = self.gang_interarrival.is_none() || !self.gang_sizes.is_empty();
        check(has_sizes, "gang_sizes", "at least one size where gang_interarrival is set", "none")?;
        check(!self.gang_sizes.contains(&0), "gang_sizes", "sizes of at least 1", 0)
    }

    /// Submissions without end, in order of time; at one instant sites in their order, gangs last.
    ///
    /// # Panics
    ///
    /// If [`GangMix::validate`] finds fault with the parameters. The iterator itself panics beyond 4 billion jobs.
    pub fn jobs(&self, streams: &Streams) -> Submissions {
        self.validate().unwrap_or_else(|error| panic!("{error}"));
        let mut sites: Vec<_> = (0..self.sites)
            .map(|site| LocalSource {
                arrivals: streams.stream(LOCAL_ARRIVALS, site),
                service: streams.stream(LOCAL_SERVICE, site),
            })
            .collect();
        let mut gangs = self.gang_interarrival.map(|interarrival| GangSource {
            interarrival,
            arrivals: streams.stream(GANG_ARRIVALS, 0),
            sizes: streams.stream(GANG_SIZES, 0),
            service: streams.stream(GANG_SERVICE, 0),
        });
        let locals = (0..).zip(&mut sites).map(|(site, source)| {
            let first = exponential(&mut source.arrivals, self.local_interarrival);
            Reverse((Time::ZERO + first, site))
        });
        let gang = gangs
            .as_mut()
            .map(|source| Reverse((Time::ZERO + exponential(&mut source.arrivals, source.interarrival), self.sites)));
        let next = locals.chain(gang).collect();
        Submissions { mix: self.clone(), sites, gangs, next, submitted: 0 }
    }
}

const LOCAL_ARRIVALS: Purpose = Purpose("local arrivals");
const LOCAL_SERVICE: Purpose = Purpose("local service");
const GANG_ARRIVALS: Purpose = Purpose("gang arrivals");
const GANG_SIZES: Purpose = Purpose("gang sizes");
const GANG_SERVICE: Purpose = Purpose("gang service");

/// A thousand times the resolution of time.
const SHORTEST_MEAN: f64 = 1e-6;
/// Three years: a draw is hardly ever above 40 times its mean, and must fit into the range of time.
const LONGEST_MEAN: f64 = 1e8;

/// The submissions of a [`GangMix`]: an endless iterator.
#[derive(Clone, Debug)]
pub struct Submissions {
    mix: GangMix,
    sites: Vec<LocalSource>,
    gangs: Option<GangSource>,
    /// The next arrival of each source, earliest first: `(when, site)`, with the number of sites for the gangs.
    next: BinaryHeap<Reverse<(Time, u32)>>,
    submitted: u32,
}

#[derive(Clone, Debug)]
struct LocalSource {
    arrivals: Stream,
    service: Stream,
}

#[derive(Clone, Debug)]
struct GangSource {
    interarrival: f64,
    arrivals: Stream,
    sizes: Stream,
    service: Stream,
}

impl Iterator for Submissions {
    type Item = Submission;

    #[inline]
    fn next(&mut self) -> Option<Submission> {
        let id = JobId(self.submitted);
        self.submitted = self.submitted.checked_add(1).expect("a run has fewer than 4 billion jobs");
        let mut earliest = self.next.peek_mut()?;
        let Reverse((now, source)) = *earliest;
        // Replacing the top and letting it sink costs half of a pop and a push.
        if let Some(site) = self.sites.get_mut(source as usize) {
            let gap = exponential(&mut site.arrivals, self.mix.local_interarrival);
            earliest.0.0 = now + gap;
            drop(earliest);
            let mut job = Job::new(id, now, 1, exponential(&mut site.service, self.mix.mean_service));
            job.origin = Some(SiteId(source));
            Some(Submission { job, tasks: Box::default() })
        } else {
            let Some(gangs) = &mut self.gangs else {
                PeekMut::pop(earliest);
                return None;
            };
            earliest.0.0 = now + exponential(&mut gangs.arrivals, gangs.interarrival);
            drop(earliest);
            let tasks = gangs.tasks(&self.mix);
            let width = u32::try_from(tasks.len()).expect("a size is a u32");
            let longest = tasks.iter().copied().max().expect("a gang has a task");
            Some(Submission { job: Job::new(id, now, width, longest), tasks })
        }
    }
}

impl GangSource {
    fn tasks(&mut self, mix: &GangMix) -> Box<[Span]> {
        let size = mix.gang_sizes[self.sizes.random_range(0..mix.gang_sizes.len())] as usize;
        match mix.service {
            ServiceDraw::PerTask => (0..size).map(|_| exponential(&mut self.service, mix.mean_service)).collect(),
            ServiceDraw::PerGang => vec![exponential(&mut self.service, mix.mean_service); size].into_boxed_slice(),
        }
    }
}

/// A draw, never below one nanosecond: work of no length would have no slowdown.
#[inline]
fn exponential(stream: &mut Stream, mean: f64) -> Span {
    let unit: f64 = Exp1.sample(stream);
    Span::from_secs_f64(unit * mean).max(Span::from_nanos(1))
}
