//! Model of Jann and others.

use super::{ClassJobs, ModelEntry, ModelJob, WorkloadModel, merged};
use crate::draw;
use crate::error::{ParameterError, WEIGHTS, are_weights};
use serde::{Deserialize, Serialize};
use sim_core::{Purpose, Stream, Streams};

/// Jobs of several ranges of sizes, each with arrivals and run times of its own: Jann, Pattnaik, Franke, Wang, Skovira &
/// Riordan, "Modeling of Workload in MPPs", JSSPP 1997.
///
/// Times between arrivals and run times are hyper-Erlang distributions of common order that have the first three
/// moments of a log. The paper measured them in the log of the SP2 at the Cornell Theory Center; the default has those of the
/// part of that log that the paper used, in its clean version. (The paper's own table of parameters was not available.) The paper does not specify sizes within a range: they have
/// the shares of the log.
///
/// ```
/// use sim_core::Streams;
/// use workload::model::{Jann, WorkloadModel};
///
/// let jobs: Vec<_> = Jann::default().jobs(&Streams::new(1, 0)).take(1000).collect();
/// assert!(jobs.iter().all(|job| job.job.processors <= 322));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Jann {
    /// Ranges of sizes, from small to large. The position of a range is the queue of its jobs.
    pub ranges: Vec<JannRange>,
}

/// Jobs with sizes in one range.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JannRange {
    /// Sizes, with the number of jobs of each, relative to the others.
    pub sizes: Vec<(u32, f64)>,
    /// Seconds between the arrivals of jobs of this range.
    pub interarrival: HyperErlang,
    /// Run times in seconds.
    pub runtime: HyperErlang,
}

/// Mixture of two Erlang distributions of the same number of stages.
#[derive(Copy, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HyperErlang {
    /// Stages of both branches, at least 1.
    pub order: u32,
    /// Probability of the first branch.
    pub first: f64,
    /// Mean length of a stage, in the first branch and in the second.
    pub stages: [f64; 2],
}

impl HyperErlang {
    fn draw(&self, stream: &mut Stream) -> f64 {
        let stage = if draw::unit(stream) < self.first { self.stages[0] } else { self.stages[1] };
        (0..self.order).map(|_| stage * draw::exponential(stream)).sum()
    }

    fn is_sound(&self) -> bool {
        // From a microsecond to three years; distributions of higher order hardly differ.
        let are_long = self.stages.iter().all(|stage| (1e-6..=1e8).contains(stage));
        (1..=100).contains(&self.order) && (0.0..=1.0).contains(&self.first) && are_long
    }
}

impl Default for Jann {
    fn default() -> Self {
        toml::from_str(include_str!("jann-ctc.toml")).expect("the preset is sound, as a test shows")
    }
}

impl WorkloadModel for Jann {
    fn entries() -> Vec<ModelEntry> {
        let summary = "Jann et al. (1997): arrivals and run times by ranges of sizes, as measured in a log";
        vec![ModelEntry {
            defaults: Some(|_| Box::new(Self::default())),
            ..ModelEntry::of::<Self>("jann", summary, "the model of Jann et al. (1997)")
        }]
    }

    fn validate(&self) -> Result<(), ParameterError> {
        let check = |is_good: bool, range: usize, field: &str, expected: &str| {
            ParameterError::check(is_good, || format!("ranges[{range}].{field}: expected {expected}"))
        };
        check(!self.ranges.is_empty(), 0, "ranges", "at least one")?;
        for (at, range) in self.ranges.iter().enumerate() {
            check(are_weights(range.sizes.iter().map(|(_, weight)| *weight)), at, "sizes", WEIGHTS)?;
            check(range.sizes.iter().all(|(size, _)| *size > 0), at, "sizes", "sizes of at least 1")?;
            for (field, distribution) in [("interarrival", range.interarrival), ("runtime", range.runtime)] {
                let expected = "order from 1 to 100, first from 0 to 1, stages from 1e-6 to 1e8 seconds";
                check(distribution.is_sound(), at, field, expected)?;
            }
        }
        Ok(())
    }

    fn processors(&self) -> u32 {
        self.ranges.iter().flat_map(|range| &range.sizes).map(|(size, _)| *size).max().unwrap_or(1)
    }

    /// Draws jobs; at one instant in the order of the ranges.
    fn jobs(&self, streams: &Streams) -> Box<dyn Iterator<Item = ModelJob>> {
        self.validate().unwrap_or_else(|error| panic!("{error}"));
        let class = |(queue, range): (u32, &JannRange)| -> ClassJobs {
            let JannRange { sizes: weights, interarrival, runtime } = range.clone();
            let [mut arrivals, mut sizes, mut runtimes] =
                ["jann arrivals", "jann sizes", "jann runtimes"].map(|purpose| streams.stream(Purpose(purpose), queue));
            let mut now = 0.0;
            Box::new(std::iter::repeat_with(move || {
                now += interarrival.draw(&mut arrivals);
                let (processors, _) = weights[draw::pick(&mut sizes, weights.iter().map(|(_, weight)| *weight))];
                (now, processors, runtime.draw(&mut runtimes))
            }))
        };
        merged((0..).zip(&self.ranges).map(class))
    }

    fn to_toml(&self) -> Result<String, toml::ser::Error> {
        toml::to_string(self)
    }
}
