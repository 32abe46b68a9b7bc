//! Model of Jann and others.

use super::{ClassSource, MeasureError, Measurement, ModelEntry, ModelJob, WorkloadModel, counted, merged};
use crate::draw;
use crate::error::{InputError, ParameterError, WEIGHTS, are_weights};
use crate::swf::SwfRecord;
use serde::{Deserialize, Serialize};
use sim_core::{Purpose, Stream, Streams};
use std::collections::BTreeMap;

/// Jobs of several ranges of sizes, each with arrivals and run times of its own: Jann, Pattnaik, Franke, Wang, Skovira &
/// Riordan, "Modeling of Workload in MPPs", JSSPP 1997.
///
/// Times between arrivals and run times are hyper-Erlang distributions of common order that have the first three
/// moments of a log. The paper measured them in the log of the SP2 at the Cornell Theory Center; [`Jann::fit`] measures
/// them in any log, and the default is its result for the part of that log that the paper used, in its clean version.
/// (The paper's own table of parameters was not available.) The paper does not specify sizes within a range: they have
/// the shares of the log.
///
/// ```
/// use sim_core::Streams;
/// use workload::model::{Jann, WorkloadModel};
///
/// let jobs: Vec<_> = Jann::default().jobs(&Streams::new(1, 0)).take(1000).collect();
/// assert!(jobs.iter().all(|job| job.job.request.processors <= 322));
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

/// Range of mean stage lengths, in seconds: a microsecond to three years.
const SHORTEST_STAGE: f64 = 1e-6;
const LONGEST_STAGE: f64 = 1e8;

/// Largest order; higher orders hardly differ.
const LARGEST_ORDER: u32 = 100;

impl HyperErlang {
    /// Returns the distribution of the least order that has these moments: the means of x, x² and x³. `None` if none of
    /// at most a hundred stages has them.
    ///
    /// For order n, the k-th moment over n (n + 1) … (n + k − 1) is the k-th moment of the mean length of a stage,
    /// which takes two values; those are the roots of a quadratic.
    pub fn with_moments(moments: [f64; 3]) -> Option<Self> {
        (1..=LARGEST_ORDER).find_map(|order| Self::of_order(order, moments))
    }

    fn of_order(order: u32, [one, two, three]: [f64; 3]) -> Option<Self> {
        let n = f64::from(order);
        let (r1, r2, r3) = (one / n, two / (n * (n + 1.0)), three / (n * (n + 1.0) * (n + 2.0)));
        let variance = r2 - r1 * r1;
        let sum = (r3 - r1 * r2) / variance;
        let product = (r1 * r3 - r2 * r2) / variance;
        let root = libm::sqrt(sum * sum - 4.0 * product);
        let (short, long) = ((sum - root) / 2.0, (sum + root) / 2.0);
        let first = (long - r1) / (long - short);
        // Comparisons with NaN are false, as wanted.
        let is_good = variance > 1e-9 * r2 && short > 0.0 && long > short && (0.0..=1.0).contains(&first);
        is_good.then_some(Self { order, first, stages: [short, long] })
    }

    fn draw(&self, stream: &mut Stream) -> f64 {
        let stage = if draw::unit(stream) < self.first { self.stages[0] } else { self.stages[1] };
        (0..self.order).map(|_| stage * draw::exponential(stream)).sum()
    }

    fn is_sound(&self) -> bool {
        let are_long = self.stages.iter().all(|stage| (SHORTEST_STAGE..=LONGEST_STAGE).contains(stage));
        (1..=LARGEST_ORDER).contains(&self.order) && (0.0..=1.0).contains(&self.first) && are_long
    }
}

impl Default for Jann {
    fn default() -> Self {
        toml::from_str(include_str!("jann-ctc.toml")).expect("the preset is sound, as a test shows")
    }
}

const ARRIVALS: Purpose = Purpose("jann arrivals");
const SIZES: Purpose = Purpose("jann sizes");
const RUNTIMES: Purpose = Purpose("jann runtimes");

impl Jann {
    /// Largest sizes of the paper's ranges: 1, 2, 3–4, 5–8, … 129–256, and all above.
    pub(crate) const BOUNDS: [u32; 10] = [1, 2, 4, 8, 16, 32, 64, 128, 256, u32::MAX];

    /// Measures the model in a log. Records of jobs that never ran are left out, and so are ranges of fewer than four
    /// jobs, which have no three moments. If no distribution of the family has the moments (for instance, of times that
    /// hardly vary), the result is the Erlang distribution of the nearest variance.
    ///
    /// # Errors
    ///
    /// If the log is faulty, or has no range with four jobs.
    pub fn fit(records: impl Iterator<Item = Result<SwfRecord, InputError>>) -> Result<Self, MeasureError> {
        let mut ranges: [RangeSums; Self::BOUNDS.len()] = std::array::from_fn(|_| RangeSums::default());
        for record in records {
            let record = record?;
            let runtime = record.runtime.filter(|runtime| !runtime.is_zero());
            let (Some(submit), Some(runtime), Some(processors)) = (record.submit, runtime, record.processors()) else {
                continue;
            };
            let range = &mut ranges[Self::BOUNDS.partition_point(|bound| *bound < processors)];
            range.take_in(submit.as_secs_f64(), runtime.as_secs_f64(), processors);
        }
        let ranges: Vec<_> =
            ranges.into_iter().filter(|range| range.runtimes.count >= 4.0).map(RangeSums::finish).collect();
        if ranges.is_empty() {
            let needed = "expected at least 4 jobs of like size that ran, found fewer; give a longer log";
            return Err(MeasureError::TooFew(needed.to_owned()));
        }
        Ok(Self { ranges })
    }
}

impl WorkloadModel for Jann {
    fn entries() -> Vec<ModelEntry> {
        let summary = "Jann et al. (1997): arrivals and run times by ranges of sizes, as measured in a log";
        let measurement = Measurement {
            what: "Jann et al. (1997): three moments of the times between arrivals and of the run times, by ranges of sizes",
            knows_hours: false,
            measure: |log, _| {
                let path = log.path().display().to_string();
                let model = Self::fit(log).map_err(|error| match error {
                    MeasureError::TooFew(needed) => MeasureError::TooFew(format!("{path}: {needed}")),
                    error @ MeasureError::Log(_) => error,
                })?;
                let sizes = model.ranges.iter().map(|range| range.sizes.len()).sum();
                let words =
                    format!("{} of sizes, {} in all", counted(model.ranges.len(), "range"), counted(sizes, "size"));
                Ok((Box::new(model), words))
            },
        };
        vec![ModelEntry {
            fit: Some(measurement),
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
        let source = |(queue, range): (u32, &JannRange)| {
            let JannRange { sizes: weights, interarrival, runtime } = range.clone();
            let [mut arrivals, mut sizes, mut runtimes] =
                [ARRIVALS, SIZES, RUNTIMES].map(|purpose| streams.stream(purpose, queue));
            let mut now = 0.0;
            let arrive = move || {
                now += interarrival.draw(&mut arrivals);
                now
            };
            ClassSource::new(arrive, move || {
                let (processors, _) = weights[draw::pick(&mut sizes, weights.iter().map(|(_, weight)| *weight))];
                (processors, runtime.draw(&mut runtimes))
            })
        };
        merged((0..).zip(&self.ranges).map(source).collect())
    }

    fn to_toml(&self) -> Result<String, toml::ser::Error> {
        toml::to_string(self)
    }
}

/// Sums over the jobs of one range.
#[derive(Default)]
struct RangeSums {
    last: Option<f64>,
    sizes: BTreeMap<u32, f64>,
    gaps: PowerSums,
    runtimes: PowerSums,
}

/// Sums of powers.
#[derive(Default)]
struct PowerSums {
    count: f64,
    sums: [f64; 3],
}

impl PowerSums {
    fn add(&mut self, value: f64) {
        self.count += 1.0;
        for (sum, power) in self.sums.iter_mut().zip([value, value * value, value * value * value]) {
            *sum += power;
        }
    }

    fn distribution(&self) -> HyperErlang {
        let moments = self.sums.map(|sum| sum / self.count.max(1.0));
        let [mean, square, _] = moments;
        // Only a sound distribution can be drawn from: moments of impossible run times (a log in which a job ran for a
        // century) may need stages that are out of range.
        HyperErlang::with_moments(moments).filter(HyperErlang::is_sound).unwrap_or_else(|| {
            let stages = mean * mean / (square - mean * mean);
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates, which is wanted")]
            let order = ((stages + 0.5) as u32).clamp(1, LARGEST_ORDER);
            // Times of length zero have a mean, too: a microsecond.
            let stage = (mean / f64::from(order)).clamp(SHORTEST_STAGE, LONGEST_STAGE);
            HyperErlang { order, first: 1.0, stages: [stage, stage] }
        })
    }
}

impl RangeSums {
    fn take_in(&mut self, submit: f64, runtime: f64, processors: u32) {
        if let Some(last) = self.last {
            self.gaps.add((submit - last).max(0.0));
        }
        self.last = Some(submit);
        *self.sizes.entry(processors).or_default() += 1.0;
        self.runtimes.add(runtime);
    }

    fn finish(self) -> JannRange {
        JannRange {
            sizes: self.sizes.into_iter().collect(),
            interarrival: self.gaps.distribution(),
            runtime: self.runtimes.distribution(),
        }
    }
}
