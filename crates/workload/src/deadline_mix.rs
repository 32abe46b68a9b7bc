//! Machines of different size and speed, and jobs with deadlines: the workload of Klusáček, Rudová, Baraglia, Pasquali and
//! Capannini, "Comparison of Multi-Criteria Scheduling Techniques" (2008), §4.
//!
//! All distributions are uniform but that of the time between jobs, which is exponential. Streams that differ only in the
//! mean of that time share all jobs and all draws. Their arrivals differ in scale only, so their comparison is paired.

use crate::draw::uniform;
use crate::error::{ParameterError, check};
use rand::RngExt;
use rand_distr::{Distribution, Exp1};
use serde::{Deserialize, Serialize};
use sim_core::{Job, JobId, Purpose, Span, Streams, Time};

/// Parameters of the workload. Ranges include both ends; times are in seconds.
///
/// ```
/// use sim_core::Streams;
/// use workload::deadline_mix::DeadlineMix;
///
/// let paper = DeadlineMix::of_the_paper(1.0);
/// let machines = paper.machines(&Streams::new(1, 0));
/// let jobs: Vec<_> = paper.jobs(&Streams::new(1, 0)).collect();
/// assert_eq!((machines.len(), jobs.len()), (150, 3000));
/// let with_deadline = jobs.iter().filter(|job| job.request.deadline.is_some()).count();
/// assert!((2000..2200).contains(&with_deadline)); // 70 %
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeadlineMix {
    /// Number of machines (paper: 150).
    pub machines: u32,
    /// Processors of a machine (paper: 1 to 16).
    pub machine_processors: [u32; 2],
    /// Speed of a machine, in the units of a benchmark (paper: 200 to 600).
    pub machine_speed: [f64; 2],
    /// Number of jobs (paper: 3000).
    pub jobs: u32,
    /// Processors that a job needs (paper: 1 to 8).
    pub job_processors: [u32; 2],
    /// Run time on the machine where the job was measured, known exactly (paper: 500 to 3000).
    pub runtime: [f64; 2],
    /// Speed of that machine, uniform, drawn for each job; `None` if it is one machine for all, whose speed the caller
    /// knows: reading R1. If drawn, the run time passed on is that on a machine of the highest of these speeds; the
    /// deadline rests on the run time as measured.
    pub benchmark_speed: Option<[f64; 2]>,
    /// Mean time between jobs (paper: 1, 2, 3, 4, 5).
    pub interarrival: f64,
    /// Share of the jobs that have a deadline (paper: 0.7).
    pub deadline_share: f64,
    /// Distance of the deadline.
    pub margin: Margin,
}

/// Time from submission to due date: reading R2, which the paper leaves open.
#[derive(Copy, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected [low, high] in seconds, or { times = [low, high] }")]
pub enum Margin {
    /// Run time plus a uniform number of seconds: `[low, high]`.
    Beyond([f64; 2]),
    /// Uniform multiple of the run time: `{ times = [low, high] }`.
    Times {
        /// Range of the multiple.
        times: [f64; 2],
    },
}

impl Default for Margin {
    fn default() -> Self {
        Self::Beyond([30.0, 250.0])
    }
}

impl DeadlineMix {
    /// Returns the paper's parameters (§4), with the first value of R2.
    pub fn of_the_paper(interarrival: f64) -> Self {
        Self {
            machines: 150,
            machine_processors: [1, 16],
            machine_speed: [200.0, 600.0],
            jobs: 3000,
            job_processors: [1, 8],
            runtime: [500.0, 3000.0],
            benchmark_speed: None,
            interarrival,
            deadline_share: 0.7,
            margin: Margin::default(),
        }
    }

    /// Checks that the parameters describe a workload.
    ///
    /// # Errors
    ///
    /// Names the first field that does not.
    pub fn validate(&self) -> Result<(), ParameterError> {
        check(self.machines > 0, "machines", "at least 1", 0)?;
        check(self.jobs > 0, "jobs", "at least 1", 0)?;
        let (Margin::Beyond(margin) | Margin::Times { times: margin }) = self.margin;
        let whole = |range: [u32; 2]| range.map(f64::from);
        for (field, [low, high], most) in [
            ("machine_processors", whole(self.machine_processors), f64::INFINITY),
            ("job_processors", whole(self.job_processors), f64::INFINITY),
            ("machine_speed", self.machine_speed, LONGEST),
            ("runtime", self.runtime, LONGEST),
            ("benchmark_speed", self.benchmark_speed.unwrap_or([1.0; 2]), LONGEST),
            ("margin", margin, LONGEST),
        ] {
            let is_above = low > 0.0 || (low == 0.0 && field == "margin");
            let expected = "[low, high] with 0 < low ≤ high (a margin may begin at 0)";
            check(is_above && low <= high && high <= most, field, expected, format_args!("[{low}, {high}]"))?;
        }
        let is_mean = self.interarrival > 0.0 && self.interarrival <= LONGEST;
        check(is_mean, "interarrival", "a mean above 0 and up to 1e8 seconds", self.interarrival)?;
        let share = self.deadline_share;
        check((0.0..=1.0).contains(&share), "deadline_share", "a share from 0 to 1", share)
    }

    /// Draws the machines from `streams`: processors, and speed in the units of the benchmark. For one set in all replications,
    /// pass the same streams each time (R4).
    pub fn machines(&self, streams: &Streams) -> Vec<(u32, f64)> {
        let [mut processors, mut speeds] =
            ["machine processors", "machine speeds"].map(|purpose| streams.stream(Purpose(purpose), 0));
        let [low, high] = self.machine_processors;
        let draw = |_| (processors.random_range(low..=high), uniform(&mut speeds, self.machine_speed));
        (0..self.machines).map(draw).collect()
    }

    /// Draws the jobs from `streams`, in order of submission, with exact estimates. Run times are those at benchmark speed.
    ///
    /// # Panics
    ///
    /// If [`DeadlineMix::validate`] finds fault with the parameters.
    pub fn jobs(&self, streams: &Streams) -> impl Iterator<Item = Job> + Clone + use<> {
        self.validate().unwrap_or_else(|error| panic!("{error}"));
        let mix = self.clone();
        let [mut arrivals, mut processors, mut runtimes, mut deadlines, mut benchmarks] =
            ["job arrivals", "job processors", "job runtimes", "job deadlines", "job benchmarks"]
                .map(|purpose| streams.stream(Purpose(purpose), 0));
        let mut submit = Time::ZERO;
        (0..self.jobs).map(move |id| {
            let gap: f64 = Exp1.sample(&mut arrivals);
            submit += Span::from_secs_f64(mix.interarrival * gap);
            let [low, high] = mix.job_processors;
            let runtime = Span::from_secs_f64(uniform(&mut runtimes, mix.runtime));
            let slower = mix.benchmark_speed.map(|range| uniform(&mut benchmarks, range) / range[1]);
            let at_reference = slower.map_or(runtime, |slower| runtime.scaled(slower));
            let mut job = Job::new(JobId(id), submit, processors.random_range(low..=high), at_reference);
            // Both numbers are drawn for every job, so that another share moves no margin.
            let (chance, share): (f64, f64) = (deadlines.random(), deadlines.random());
            if chance < mix.deadline_share {
                job.request.deadline = Some(submit + mix.margin.after_submit(runtime, share));
            }
            job
        })
    }
}

impl Margin {
    /// Returns the time from submission to deadline; `share` is the position in the range, 0 at its low end and 1 at its high end.
    fn after_submit(self, runtime: Span, share: f64) -> Span {
        let at = |[low, high]: [f64; 2]| low + share * (high - low);
        match self {
            Self::Beyond(range) => runtime + Span::from_secs_f64(at(range)),
            Self::Times { times } => runtime.scaled(at(times)),
        }
    }
}

/// Three years in seconds: sums of a few thousand draws must fit into the range of time.
const LONGEST: f64 = 1e8;
