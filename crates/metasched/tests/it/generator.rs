//! The paper's parallel workload (§3): NAS applications of three sizes, Poisson arrivals, runtimes around the profile.

use metasched::{Demand, Submission};
use rand::RngExt;
use rand_distr::{Distribution, Exp1, LogNormal};
use sim_core::{Job, JobId, Purpose, Span, Streams, Time};

/// Seconds, CPU, MiB (§3 of the specification).
const PROFILES: [(u64, f64, u64); 4] = [(240, 0.70, 120), (120, 0.45, 150), (180, 0.75, 120), (480, 0.90, 140)];
const SIZES: [u32; 3] = [2, 4, 5];

/// Number of jobs, mean interval and noise.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Load {
    /// Copies of each application and size.
    pub(crate) copies: usize,
    /// Mean time between arrivals, in seconds.
    pub(crate) interarrival: f64,
    /// Spread of the true runtimes about the profile.
    pub(crate) sigma: f64,
}

impl Load {
    pub(crate) const OF_THE_PAPER: Self = Self { copies: 5, interarrival: 40.0, sigma: 0.10 };

    pub(crate) fn submissions(self, streams: &Streams) -> Vec<Submission> {
        let mut mix: Vec<(usize, u32)> = (0..self.copies)
            .flat_map(|_| (0..PROFILES.len()).flat_map(|profile| SIZES.map(|size| (profile, size))))
            .collect();
        let mut order = streams.stream(Purpose("order"), 0);
        for i in (1..mix.len()).rev() {
            let j = order.random_range(0..=i as u64);
            mix.swap(i, usize::try_from(j).expect("no more than i"));
        }
        let (mut arrivals, mut noise) = (streams.stream(Purpose("arrivals"), 0), streams.stream(Purpose("noise"), 0));
        let factor = LogNormal::new(-self.sigma * self.sigma / 2.0, self.sigma).expect("a spread");
        let mut submit = Time::ZERO;
        let job = |(id, (profile, size)): (u32, (usize, u32))| {
            let (time, cpu, memory) = PROFILES[profile];
            let gap: f64 = Exp1.sample(&mut arrivals);
            submit += Span::from_secs_f64(gap * self.interarrival);
            let profile = Span::from_secs(time);
            let mut job = Job::new(JobId(id), submit, size, profile.scaled(factor.sample(&mut noise)));
            job.request.estimate = Some(profile);
            Submission { job, demand: Some(Demand::new(cpu, memory * 1024)) }
        };
        (0..).zip(mix).map(job).collect()
    }
}
