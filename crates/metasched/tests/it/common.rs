//! Worlds and policies for tests.

use metasched::{Config, Ffit, MetaLoras, Outcome, Ptt, Readings, Rr, SelectCluster, Submission, Tat, Weights};
use sim_core::{Fact, Probe, Sim, Streams, Time};

/// A policy by name, as a program would read it from its command line.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(crate) enum Policy {
    Ffit,
    Rr,
    Tat,
    Ptt(f64),
}

/// The policies of the paper.
pub(crate) const POLICIES: [Policy; 6] =
    [Policy::Ffit, Policy::Rr, Policy::Tat, Policy::Ptt(0.0), Policy::Ptt(0.5), Policy::Ptt(1.0)];

/// Any of the four, as one type that can be copied with its world.
#[derive(Clone, Debug)]
pub(crate) enum AnyPolicy {
    Ffit(Ffit),
    Rr(Rr),
    Tat(Tat),
    Ptt(Ptt),
}

impl Policy {
    pub(crate) fn build(self, readings: &Readings) -> AnyPolicy {
        match self {
            Self::Ffit => AnyPolicy::Ffit(Ffit::new(readings)),
            Self::Rr => AnyPolicy::Rr(Rr::new(readings)),
            Self::Tat => AnyPolicy::Tat(Tat::new(readings)),
            Self::Ptt(weight) => AnyPolicy::Ptt(Ptt::new(readings, Weights::Same(weight))),
        }
    }
}

impl SelectCluster for AnyPolicy {
    fn select(&mut self, view: &mut metasched::View<'_>) -> Option<metasched::Choice> {
        match self {
            Self::Ffit(policy) => policy.select(view),
            Self::Rr(policy) => policy.select(view),
            Self::Tat(policy) => policy.select(view),
            Self::Ptt(policy) => policy.select(view),
        }
    }
}

pub(crate) type World<S = AnyPolicy> = MetaLoras<S, std::vec::IntoIter<Submission>>;
pub(crate) type Transcript = Vec<(Time, Fact)>;

pub(crate) fn world<S: SelectCluster>(config: &Config, policy: S, jobs: &[Submission], streams: &Streams) -> World<S> {
    let jobs: Vec<Submission> = jobs.into();
    MetaLoras::new(config.clone(), policy, jobs.into_iter(), Vec::new(), streams).expect("a valid configuration")
}

/// Runs to the end. The outcomes are in the order of the job numbers.
pub(crate) fn run(config: &Config, policy: Policy, jobs: &[Submission]) -> (World, Vec<Outcome>) {
    let (world, (), outcomes) = run_with(config, policy.build(&config.readings), jobs, ());
    (world, outcomes)
}

pub(crate) fn run_with<S: SelectCluster, P: Probe>(
    config: &Config,
    policy: S,
    jobs: &[Submission],
    probe: P,
) -> (World<S>, P, Vec<Outcome>) {
    let (world, probe) = Sim::new(world(config, policy, jobs, &Streams::new(7, 0)), probe).run();
    let mut outcomes = world.outcomes().to_vec();
    outcomes.sort_by_key(|outcome| outcome.job);
    (world, probe, outcomes)
}

/// Both presets.
pub(crate) fn presets() -> [Readings; 2] {
    [Readings::default(), Readings::reading_b()]
}
