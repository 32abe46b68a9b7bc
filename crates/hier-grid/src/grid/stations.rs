//! Work stations of the paper's experiments: submission times and attributes of jobs.

use crate::config::{Config, JobConfig, Readings, Sizes, SubmissionRule};
use crate::fabric::jobs::{JobState, Work};
use crate::world::{StationId, World};
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_distr::{Distribution, Exp1, Poisson, StandardNormal};
use sim_core::{Purpose, SiteId, Span, Stream, Streams, Time};

/// Upper bound of an input, in bytes: a larger one could exceed the clock's 584 years.
const MOST_BYTES: f64 = 1e18;

/// Work stations that each submit one job after another, until the number of jobs is reached.
#[derive(Clone, Debug)]
pub(crate) struct Stations {
    config: JobConfig,
    readings: Readings,
    systems: u32,
    // Attributes are drawn when a job is made, in the order of the jobs' numbers: every system gets the same jobs.
    size_draws: Stream,
    system_draws: Stream,
    work_draws: Stream,
    megabytes: Poisson<f64>,
    gigabytes: Poisson<f64>,
    /// Number of jobs to come.
    pub(crate) left: u32,
    thinking: Option<Thinking>,
    pub(crate) order: Vec<StationId>,
    /// Mean CPUs of a server, for the run time in every job's record.
    pub(crate) mean_cpus: f64,
}

#[derive(Clone, Debug)]
struct Thinking {
    mean: Vec<f64>,
    /// Probability of a due submission, by site; `None` if it always happens.
    chance: Option<Vec<f64>>,
    draws: Vec<Stream>,
}

impl Stations {
    pub(crate) fn new(config: &Config, world: &World, streams: &Streams) -> Self {
        let stations = world.stations();
        let thinking = match &config.experiment.submission {
            SubmissionRule::OneAfterAnother => None,
            SubmissionRule::Thinking { means, chance } => {
                // Rates and probabilities are drawn when the work station is made, from streams of their own: every
                // system gets the same work stations.
                let mut choice = streams.stream(Purpose("submission rates"), 0);
                let mut chances = streams.stream(Purpose("submission probabilities"), 0);
                Some(Thinking {
                    mean: (0..stations).map(|_| means[choice.random_range(0..means.len())]).collect(),
                    chance: chance.map(|[low, high]| {
                        let draw = |_| low + (high - low) * chances.random::<f64>();
                        (0..world.sites()).map(draw).collect()
                    }),
                    draws: (0..stations).map(|station| streams.stream(Purpose("think times"), station)).collect(),
                })
            }
        };
        let mut order: Vec<StationId> = (0..stations).map(StationId).collect();
        if thinking.is_none() {
            // In experiment 1 all begin at once: the order determines which is served first. Thinking work stations begin
            // after their first think time.
            order.shuffle(&mut streams.stream(Purpose("order of submission"), 0));
        }
        let poisson = |mean: f64| Poisson::new(mean).expect("a positive mean");
        Self {
            config: config.jobs.clone(),
            readings: config.readings.clone(),
            systems: world.systems,
            size_draws: streams.stream(Purpose("input sizes"), 0),
            system_draws: streams.stream(Purpose("job operating systems"), 0),
            work_draws: streams.stream(Purpose("execution times"), 0),
            megabytes: poisson(1000.0 * config.jobs.mean_input),
            gigabytes: poisson(config.jobs.mean_input),
            left: config.jobs.count,
            thinking,
            order,
            mean_cpus: world.mean_cpus(),
        }
    }

    /// Draws the time until a work station submits its next job; `None` if it submits at once.
    pub(crate) fn think_time(&mut self, station: StationId) -> Option<Span> {
        let Thinking { mean, draws, .. } = self.thinking.as_mut()?;
        let draw: f64 = Exp1.sample(&mut draws[station.index()]);
        Some(Span::from_secs_f64(mean[station.index()] * draw))
    }

    /// Draws if a due submission of a work station at this site happens.
    pub(crate) fn happens(&mut self, station: StationId, site: SiteId) -> bool {
        match &mut self.thinking {
            Some(Thinking { chance: Some(chance), draws, .. }) => {
                draws[station.index()].random::<f64>() < chance[site.index()]
            }
            _ => true,
        }
    }

    /// Makes the next job of a work station.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded just before")]
    pub(crate) fn make(&mut self, station: StationId, submit: Time) -> JobState {
        self.left -= 1;
        // R10. A Poisson number of megabytes hardly varies about a mean of gigabytes; one of gigabytes is coarse.
        let input = match self.readings.sizes {
            Sizes::PoissonMb => self.megabytes.sample(&mut self.size_draws) * 1e6,
            Sizes::PoissonGb => self.gigabytes.sample(&mut self.size_draws) * 1e9,
            Sizes::Exponential => {
                let draw: f64 = Exp1.sample(&mut self.size_draws);
                draw * self.config.mean_input * 1e9
            }
        };
        let input = input.clamp(0.0, MOST_BYTES);
        // Each attribute comes from its own stream, in the order of the jobs' numbers.
        let system = self.system_draws.random_range(0..self.systems);
        let deviate: f64 = StandardNormal.sample(&mut self.work_draws);
        // The Gaussian has no lower bound and run times have one, so it is cut off at `shortest`.
        let factor = (1.0 + self.readings.sigma * deviate).max(self.config.shortest);
        let estimate = input / self.readings.bytes_per_cpu_second;
        let class = u8::try_from(system).expect("at most 32 operating systems");
        let output = (input * self.config.output_factor).min(MOST_BYTES) as u64;
        let work = Work { divides: true, estimate, actual: estimate * factor };
        JobState::new(station, class, work, [input as u64, output], submit)
    }
}
