//! Model of Lublin and Feitelson.

use super::{ModelEntry, ModelJob, WorkloadModel, at_second, whole_seconds};
use crate::draw;
use crate::error::{ParameterError, check};
use serde::{Deserialize, Serialize};
use sim_core::{Purpose, Stream, Streams};
use std::collections::BTreeMap;

/// Rigid jobs with a daily cycle: Lublin & Feitelson, "The Workload on Parallel Supercomputers: Modeling the
/// Characteristics of Rigid Jobs", Journal of Parallel and Distributed Computing 63(11), 2003; technical report 1999.
///
/// The parameters are those of the program that the authors published with the model (Parallel Workloads Archive,
/// `lublin99.c`), and so are the order of the steps and the bounds of its redraws.
///
/// ```
/// use sim_core::Streams;
/// use workload::model::{Lublin, WorkloadModel};
///
/// let jobs: Vec<_> = Lublin::default().jobs(&Streams::new(1, 0)).take(1000).collect();
/// let serial = jobs.iter().filter(|job| job.job.processors == 1).count();
/// assert!((150..300).contains(&serial)); // 15 % of the interactive jobs, 29 % of the batch jobs
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lublin {
    /// Classes of jobs, each with its own arrivals. The position of a class is the queue of its jobs.
    pub classes: Vec<LublinClass>,
    /// Hour of the day at which the workload begins, from 0 to 23 (program: 0).
    #[serde(default)]
    pub start_hour: u32,
}

/// Parameters of one class of jobs.
#[derive(Copy, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LublinClass {
    /// Share of the jobs that have one processor.
    pub serial: f64,
    /// Share of the jobs whose size is a power of two, above one.
    pub power_of_two: f64,
    /// Logarithm to base 2 of the smallest parallel size; 0.2 above or below makes that size less or more likely.
    pub low: f64,
    /// Logarithm where the two uniform parts of the distribution of sizes meet; 1.5 to 3.5 below `high`.
    pub medium: f64,
    /// Logarithm of the largest size.
    pub high: f64,
    /// Share of the lower part, 0.7 to 0.95.
    pub lower_part: f64,
    /// Shape of the first gamma distribution of the logarithm of run times.
    pub a1: f64,
    /// Scale of the first.
    pub b1: f64,
    /// Shape of the second.
    pub a2: f64,
    /// Scale of the second.
    pub b2: f64,
    /// Coefficient of the probability of the first, `pa · processors + pb`, clamped to 0 to 1.
    pub pa: f64,
    /// Constant term of that probability, see `pa`.
    pub pb: f64,
    /// Shape of the gamma distribution of the logarithm of the time between arrivals at rush hours.
    pub arrival_shape: f64,
    /// Scale of that distribution.
    pub arrival_scale: f64,
    /// Factor of the shape for the whole day.
    pub rush_to_all: f64,
    /// Shape of the gamma distribution of arrivals over the half-hours of a day.
    pub cycle_shape: f64,
    /// Scale of that distribution, in half-hours.
    pub cycle_scale: f64,
}

/// Returns the classes of `lublin99.c`: interactive jobs, batch jobs, and jobs of one kind.
fn published() -> [LublinClass; 3] {
    let mut classes: BTreeMap<String, LublinClass> =
        toml::from_str(include_str!("lublin99.toml")).expect("the table is sound");
    ["interactive", "batch", "typeless"].map(|name| classes.remove(name).expect("it is in the table"))
}

/// Maximum logarithm of a run time: e¹² s, 45 hours.
const LONGEST_RUNTIME: f64 = 12.0;
/// Maximum logarithm of a time between arrivals at rush hours: e¹³ s, 5 days.
const LONGEST_GAP: f64 = 13.0;

const HALF_HOURS: usize = 48;
const HALF_HOUR: f64 = 1800.0;
/// First half-hour of the cycle's distribution, at 5:30.
const CYCLE_START: usize = 11;

impl Default for Lublin {
    /// Returns interactive jobs (queue 0) and batch jobs (queue 1) on 128 processors.
    fn default() -> Self {
        let [interactive, batch, _] = published();
        Self { classes: vec![interactive, batch], start_hour: 0 }
    }
}

impl Lublin {
    /// Returns one class of jobs on a machine of `processors` processors. The parameters are those for the whole sample, with
    /// the range of sizes recommended by the authors: `high = log₂ processors`, `medium = high − 2.5`, at least `low`.
    ///
    /// If `processors` is no power of two, a size that is rounded to one may exceed it, as in the authors' program: on
    /// 100 processors one job in two hundred requests 128.
    ///
    /// # Panics
    ///
    /// If there are fewer than two processors.
    pub fn typeless(processors: u32) -> Self {
        assert!(processors >= 2, "parallel jobs need two processors");
        let high = libm::log2(f64::from(processors));
        let [.., typeless] = published();
        let low = typeless.low.min(high);
        Self { classes: vec![LublinClass { low, medium: (high - 2.5).max(low), high, ..typeless }], start_hour: 0 }
    }
}

impl WorkloadModel for Lublin {
    fn entries() -> Vec<ModelEntry> {
        let summary = "Lublin & Feitelson (2003): rigid jobs with a daily cycle, interactive and batch";
        vec![ModelEntry {
            least_processors: Some(2),
            defaults: Some(|machine| Box::new(machine.map_or_else(Self::default, Self::typeless))),
            ..ModelEntry::of::<Self>("lublin", summary, "the model of Lublin & Feitelson (2003)")
        }]
    }

    fn validate(&self) -> Result<(), ParameterError> {
        check(!self.classes.is_empty(), "classes", "at least 1", 0)?;
        check(self.start_hour < 24, "start_hour", "0 to 23", self.start_hour)?;
        self.classes.iter().try_for_each(LublinClass::validate)
    }

    fn processors(&self) -> u32 {
        let largest = self.classes.iter().map(|class| class.high).fold(0.0, f64::max);
        rounded(libm::exp2(largest))
    }

    /// Draws jobs, ordered by arrival; at one instant in the order of the classes.
    fn jobs(&self, streams: &Streams) -> Box<dyn Iterator<Item = ModelJob>> {
        self.validate().unwrap_or_else(|error| panic!("{error}"));
        let class = |(queue, class): (u32, &LublinClass)| {
            let [arrivals, mut sizes, mut runtimes] = ["lublin arrivals", "lublin sizes", "lublin runtimes"]
                .map(|purpose| streams.stream(Purpose(purpose), queue));
            let (class, mut arrivals) = (*class, Arrivals::new(class, self.start_hour, arrivals));
            let mut draw = move || {
                let processors = class.size(&mut sizes);
                (arrivals.next_arrival(), processors, class.runtime(processors, &mut runtimes))
            };
            (draw(), draw)
        };
        let mut classes: Vec<_> = (0..).zip(&self.classes).map(class).collect();
        Box::new((0..=u32::MAX).map_while(move |id| {
            let (queue, (next, draw)) =
                (0..).zip(&mut classes).min_by(|(_, (a, _)), (_, (b, _))| a.0.total_cmp(&b.0))?;
            let (arrival, processors, runtime) = std::mem::replace(next, draw());
            let job = ModelJob::new(id, at_second(arrival), processors, whole_seconds(runtime));
            Some(ModelJob { queue: Some(queue), ..job })
        }))
    }

    fn to_toml(&self) -> Result<String, toml::ser::Error> {
        toml::to_string(self)
    }
}

impl LublinClass {
    fn validate(&self) -> Result<(), ParameterError> {
        let Self { low, medium, high, .. } = *self;
        for (field, found) in [
            ("serial", self.serial),
            ("power_of_two", self.power_of_two),
            ("lower_part", self.lower_part),
            ("serial + power_of_two", self.serial + self.power_of_two),
        ] {
            check((0.0..=1.0).contains(&found), field, "a share from 0 to 1", found)?;
        }
        let is_ordered = 0.0 <= low && low <= medium && medium <= high && high < 32.0;
        let expected = "0 ≤ low ≤ medium ≤ high < 32";
        check(is_ordered, "low, medium, high", expected, format_args!("{low}, {medium}, {high}"))?;
        for (field, found) in [
            ("a1", self.a1),
            ("b1", self.b1),
            ("a2", self.a2),
            ("b2", self.b2),
            ("arrival_shape", self.arrival_shape),
            ("arrival_scale", self.arrival_scale),
            ("rush_to_all", self.rush_to_all),
            ("cycle_shape", self.cycle_shape),
            ("cycle_scale", self.cycle_scale),
        ] {
            check((0.001..=10_000.0).contains(&found), field, "0.001 to 10000", found)?;
        }
        // A mean far above the bound would be redrawn for ever.
        let gap = self.arrival_shape * self.rush_to_all * self.arrival_scale;
        for (field, found, bound) in [
            ("a1 · b1", self.a1 * self.b1, LONGEST_RUNTIME),
            ("a2 · b2", self.a2 * self.b2, LONGEST_RUNTIME),
            ("arrival_shape · rush_to_all · arrival_scale", gap, LONGEST_GAP),
        ] {
            check(found < bound, field, format_args!("a mean of the logarithm below {bound}"), found)?;
        }
        check(self.pa.is_finite(), "pa", "a number", self.pa)?;
        check(self.pb.is_finite(), "pb", "a number", self.pb)
    }

    fn size(&self, stream: &mut Stream) -> u32 {
        let kind = draw::unit(stream);
        if kind < self.serial {
            return 1;
        }
        let is_lower = draw::unit(stream) < self.lower_part;
        let exponent = draw::uniform(stream, if is_lower { [self.low, self.medium] } else { [self.medium, self.high] });
        let exponent = if kind < self.serial + self.power_of_two { libm::floor(exponent + 0.5) } else { exponent };
        rounded(libm::exp2(exponent))
    }

    /// Draws a run time in seconds.
    fn runtime(&self, processors: u32, stream: &mut Stream) -> f64 {
        let first = (self.pa * f64::from(processors) + self.pb).clamp(0.0, 1.0);
        loop {
            let (shape, scale) = if draw::unit(stream) < first { (self.a1, self.b1) } else { (self.a2, self.b2) };
            let logarithm = draw::gamma(stream, shape, scale);
            if logarithm <= LONGEST_RUNTIME {
                return libm::exp(logarithm);
            }
        }
    }

    /// Returns the arrivals in each half-hour of the day, with mean one; never zero, so that every day has an arrival.
    fn cycle(&self) -> [f64; HALF_HOURS] {
        let below = |x: f64| draw::gamma_below(self.cycle_shape, x / self.cycle_scale);
        let mut weights = [0.0; HALF_HOURS];
        for at in CYCLE_START..CYCLE_START + HALF_HOURS {
            let middle = f64::from(u32::try_from(at).expect("two days at most"));
            weights[(at - 1) % HALF_HOURS] = (below(middle + 0.5) - below(middle - 0.5)).max(1e-9);
        }
        let mean = weights.iter().sum::<f64>() / 48.0;
        weights.map(|weight| weight / mean)
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates, which is wanted")]
fn rounded(size: f64) -> u32 {
    (size + 0.5) as u32
}

/// Times of arrivals, in seconds from the start.
///
/// Gaps are drawn as at a steady rate and then bent by the cycle: a gap of *n* points ends when *n* points have passed,
/// and a half-hour of weight w contains w half-hours' worth of points.
#[derive(Clone, Debug)]
struct Arrivals {
    shape: f64,
    scale: f64,
    weights: [f64; HALF_HOURS],
    stream: Stream,
    /// Half-hour of the last arrival, counted from the start of the first day.
    half_hour: u64,
    /// Points since the beginning of that half-hour.
    points: f64,
    /// Half-hour in which the workload begins.
    start: u64,
}

impl Arrivals {
    fn new(class: &LublinClass, start_hour: u32, stream: Stream) -> Self {
        let (shape, scale) = (class.arrival_shape * class.rush_to_all, class.arrival_scale);
        let start = 2 * u64::from(start_hour);
        Self { shape, scale, weights: class.cycle(), stream, half_hour: start, points: 0.0, start }
    }

    fn next_arrival(&mut self) -> f64 {
        let logarithm = loop {
            let logarithm = draw::gamma(&mut self.stream, self.shape, self.scale);
            if logarithm <= LONGEST_GAP {
                break logarithm;
            }
        };
        self.points += libm::exp(logarithm) / HALF_HOUR;
        let weight = loop {
            let position = usize::try_from(self.half_hour % 48).expect("below 48");
            let weight = self.weights[position];
            if self.points <= weight {
                break weight;
            }
            self.points -= weight;
            self.half_hour += 1;
        };
        let passed = (self.half_hour - self.start) as f64;
        HALF_HOUR * (passed + self.points / weight)
    }
}
