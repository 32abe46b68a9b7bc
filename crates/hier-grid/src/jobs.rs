//! Jobs on their way through the grid, and where they come from.

use crate::config::{Config, JobConfig, Sizes, SubmissionRule, span};
use crate::world::{StationId, World, narrow};
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_distr::{Distribution, Exp1, Poisson, StandardNormal};
use sim_core::{Job, JobId, Purpose, Span, Stream, Streams, Time};
use std::collections::VecDeque;

/// A job from outside: one of a log, say.
#[derive(Clone, Debug, PartialEq)]
pub struct Submission {
    /// Its number, counted from 0 without gaps, when it is submitted, how wide it is and how long it runs on as many CPUs.
    pub job: Job,
    /// The work station that submits it.
    pub station: StationId,
    /// The operating system that it needs.
    pub system: u32,
    /// Input, in bytes.
    pub input: u64,
    /// Output, in bytes.
    pub output: u64,
}

/// What a job costs.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(crate) enum Work {
    /// So many CPU seconds, spread over all CPUs of a server.
    Divisible { estimate: f64, actual: f64 },
    /// So many seconds, however many CPUs the server has.
    Rigid { estimate: f64, actual: f64 },
}

/// A job that is somewhere in the grid.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ticket {
    pub(crate) station: StationId,
    pub(crate) class: u8,
    /// Whether its waiting has ended.
    pub(crate) started: bool,
    /// Whether an offer has been answered.
    pub(crate) taken: bool,
    pub(crate) done: bool,
    /// Whether trees beyond the home tree have been asked (R8).
    pub(crate) shared: bool,
    /// Copies on their way to a root or in the books of a tree, offers and cancels on their way: as long as there are any,
    /// somebody may name the job.
    pub(crate) copies: u32,
    pub(crate) input: u64,
    pub(crate) output: u64,
    pub(crate) work: Work,
    /// When it was submitted first.
    pub(crate) submit: Time,
}

impl Ticket {
    /// Seconds on a server of so many CPUs, of which owners leave `share`: as estimated, or as it will be.
    fn seconds(&self, cpus: f64, share: f64, true_work: bool) -> f64 {
        let pick = |estimate, actual| if true_work { actual } else { estimate };
        match self.work {
            Work::Divisible { estimate, actual } => pick(estimate, actual) / (cpus * share),
            Work::Rigid { estimate, actual } => pick(estimate, actual) / share,
        }
    }

    /// What a server expects.
    pub(crate) fn estimate(&self, cpus: f64, share: f64) -> Span {
        span(self.seconds(cpus, share, false))
    }

    /// What it will take.
    pub(crate) fn runtime(&self, cpus: f64, share: f64) -> Span {
        span(self.seconds(cpus, share, true))
    }
}

/// The jobs that are in the grid, by number. One that is done, and of which no copy is left, is forgotten as soon as all
/// older ones are: memory follows the jobs in the grid.
#[derive(Clone, Debug, Default)]
pub(crate) struct Jobs {
    first: u32,
    tickets: VecDeque<Ticket>,
}

impl Jobs {
    pub(crate) fn push(&mut self, ticket: Ticket) -> JobId {
        self.tickets.push_back(ticket);
        JobId(self.first + narrow(self.tickets.len() - 1))
    }

    /// The number that the next job gets.
    pub(crate) fn next(&self) -> JobId {
        JobId(self.first + narrow(self.tickets.len()))
    }

    #[inline]
    pub(crate) fn get(&self, job: JobId) -> &Ticket {
        &self.tickets[(job.0 - self.first) as usize]
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, job: JobId) -> &mut Ticket {
        &mut self.tickets[(job.0 - self.first) as usize]
    }

    /// One copy fewer.
    pub(crate) fn drop_copy(&mut self, job: JobId) {
        self.get_mut(job).copies -= 1;
        self.forget();
    }

    /// Forgets the oldest that nobody can name any more.
    pub(crate) fn forget(&mut self) {
        while self.tickets.front().is_some_and(|ticket| ticket.done && ticket.copies == 0) {
            self.tickets.pop_front();
            self.first += 1;
        }
    }

    /// Whether none is left.
    pub(crate) fn is_empty(&self) -> bool {
        self.tickets.is_empty()
    }
}

/// Attributes of jobs, drawn when a job is made, in the order of their numbers: every system meets the same jobs.
#[derive(Clone, Debug)]
struct Draws {
    config: JobConfig,
    sizes: Sizes,
    bytes_per_cpu_second: f64,
    sigma: f64,
    systems: u32,
    size_draws: Stream,
    system_draws: Stream,
    work_draws: Stream,
    megabytes: Poisson<f64>,
    gigabytes: Poisson<f64>,
}

/// Beyond this a clock of 584 years could end.
const MOST_BYTES: f64 = 1e18;

impl Draws {
    fn new(config: &Config, systems: u32, streams: &Streams) -> Self {
        let mean = config.jobs.mean_input;
        let poisson = |mean: f64| Poisson::new(mean).expect("a positive mean");
        Self {
            config: config.jobs.clone(),
            sizes: config.readings.sizes,
            bytes_per_cpu_second: config.readings.bytes_per_cpu_second,
            sigma: config.readings.sigma,
            systems,
            size_draws: streams.stream(Purpose("input sizes"), 0),
            system_draws: streams.stream(Purpose("job operating systems"), 0),
            work_draws: streams.stream(Purpose("execution times"), 0),
            megabytes: poisson(1000.0 * mean),
            gigabytes: poisson(mean),
        }
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded just before")]
    fn draw(&mut self, station: StationId, submit: Time) -> Ticket {
        let input = match self.sizes {
            Sizes::PoissonMb => self.megabytes.sample(&mut self.size_draws) * 1e6,
            Sizes::PoissonGb => self.gigabytes.sample(&mut self.size_draws) * 1e9,
            Sizes::Exponential => {
                let draw: f64 = Exp1.sample(&mut self.size_draws);
                draw * self.config.mean_input * 1e9
            }
        };
        let input = input.clamp(0.0, MOST_BYTES);
        let system = self.system_draws.random_range(0..self.systems);
        let deviate: f64 = StandardNormal.sample(&mut self.work_draws);
        let factor = (1.0 + self.sigma * deviate).max(self.config.shortest);
        let estimate = input / self.bytes_per_cpu_second;
        Ticket {
            station,
            class: u8::try_from(system).expect("at most 32 operating systems"),
            started: false,
            taken: false,
            done: false,
            shared: false,
            copies: 0,
            input: input as u64,
            output: (input * self.config.output_factor).min(MOST_BYTES) as u64,
            work: Work::Divisible { estimate, actual: estimate * factor },
            submit,
        }
    }
}

/// What a work station does next.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// It submits at once.
    Submit,
    /// It thinks for so long.
    Think(Span),
    /// Nothing: all jobs have been submitted.
    Rest,
}

/// Work stations that each submit one job after another, until there are no more.
#[derive(Clone, Debug)]
pub(crate) struct Stations {
    draws: Draws,
    left: u32,
    thinking: Option<Thinking>,
    /// The order in which they begin.
    order: Vec<StationId>,
}

#[derive(Clone, Debug)]
struct Thinking {
    mean: Vec<f64>,
    /// By site, where submissions happen with a probability.
    chance: Option<Vec<f64>>,
    site_of_station: Vec<u32>,
    draws: Vec<Stream>,
}

impl Stations {
    pub(crate) fn new(config: &Config, world: &World, streams: &Streams) -> Self {
        let stations = world.stations();
        let thinking = match &config.experiment.submission {
            SubmissionRule::OneAfterAnother => None,
            SubmissionRule::Thinking { means, chance } => {
                let mut choice = streams.stream(Purpose("submission rates"), 0);
                let mut chances = streams.stream(Purpose("submission probabilities"), 0);
                Some(Thinking {
                    mean: (0..stations).map(|_| means[choice.random_range(0..means.len())]).collect(),
                    chance: chance.map(|[low, high]| {
                        let draw = |_| low + (high - low) * chances.random::<f64>();
                        (0..world.sites()).map(draw).collect()
                    }),
                    site_of_station: world.site_of_station.clone(),
                    draws: (0..stations).map(|station| streams.stream(Purpose("think times"), station)).collect(),
                })
            }
        };
        let mut order: Vec<StationId> = (0..stations).map(StationId).collect();
        if thinking.is_none() {
            order.shuffle(&mut streams.stream(Purpose("order of submission"), 0));
        }
        Self { draws: Draws::new(config, world.systems, streams), left: config.jobs.count, thinking, order }
    }

    /// The work stations in the order in which they begin.
    pub(crate) fn order(&self) -> &[StationId] {
        &self.order
    }

    pub(crate) const fn left(&self) -> u32 {
        self.left
    }

    /// What an inactive work station does.
    pub(crate) fn next(&mut self, station: StationId) -> Next {
        if self.left == 0 {
            return Next::Rest;
        }
        match &mut self.thinking {
            None => Next::Submit,
            Some(Thinking { mean, draws, .. }) => {
                let draw: f64 = Exp1.sample(&mut draws[station.index()]);
                Next::Think(span(mean[station.index()] * draw))
            }
        }
    }

    /// Whether a submission that is due happens.
    pub(crate) fn happens(&mut self, station: StationId) -> bool {
        match &mut self.thinking {
            Some(Thinking { chance: Some(chance), site_of_station, draws, .. }) => {
                let site = site_of_station[station.index()] as usize;
                draws[station.index()].random::<f64>() < chance[site]
            }
            _ => true,
        }
    }

    /// Makes the job that a work station submits now.
    pub(crate) fn make(&mut self, station: StationId, now: Time) -> Ticket {
        self.left -= 1;
        self.draws.draw(station, now)
    }
}
