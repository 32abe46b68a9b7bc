//! Model of Downey.

use super::{ModelEntry, ModelJob, WorkloadModel, at_second, whole_seconds};
use crate::draw;
use crate::error::{ParameterError, check};
use serde::{Deserialize, Serialize};
use sim_core::{Purpose, Stream, Streams};

/// Moldable jobs, each run on as many processors as its average parallelism: Downey, "A Parallel Workload Model and its
/// Implications for Processor Allocation", HPDC 1997; the speed-up is that of "A Model for Speedup of Parallel
/// Programs" (1997).
///
/// The work of a job, which is its time on one processor, and its average parallelism are both uniform on a logarithmic
/// scale; its variation of parallelism is uniform. Arrivals are a Poisson process.
///
/// ```
/// use sim_core::Streams;
/// use workload::model::{Downey, WorkloadModel};
///
/// let jobs: Vec<_> = Downey::default().jobs(&Streams::new(1, 0)).take(1000).collect();
/// assert!(jobs.iter().all(|job| job.job.processors <= 400));
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Downey {
    /// Largest average parallelism; sizes are uniform on a logarithmic scale from 1 on (default: 400, the Paragon of the San
    /// Diego Supercomputer Center from which the model was made).
    pub processors: u32,
    /// Shortest work, in seconds on one processor.
    ///
    /// The defaults of both ends are those of the straight line through the lifetimes of 24 906 batch jobs on that machine,
    /// `P(L < t) = −0.18 + 0.10 ln t` ("Predicting Queue Times on Space-Sharing Parallel Computers", IPPS 1997, figure 1):
    /// e^1.8 and e^11.8 seconds.
    pub shortest: f64,
    /// Longest work, in seconds on one processor.
    pub longest: f64,
    /// Largest variation of parallelism σ, drawn uniformly from 0 on (default: 2).
    pub variation: f64,
    /// Mean time between jobs, in seconds (default: a year over the 24 906 jobs of that year).
    pub interarrival: f64,
}

impl Default for Downey {
    fn default() -> Self {
        Self {
            processors: 400,
            shortest: libm::exp(1.8),
            longest: libm::exp(11.8),
            variation: 2.0,
            interarrival: 365.0 * 86_400.0 / 24_906.0,
        }
    }
}

impl Downey {
    /// Returns the speed-up of a job of average parallelism `average` and variation `sigma` on `processors` processors
    /// over one.
    ///
    /// ```
    /// use workload::model::Downey;
    ///
    /// assert_eq!(Downey::speedup(16, 8.0, 0.0), 8.0); // no variation: linear up to the average, and no further
    /// assert_eq!(Downey::speedup(4, 8.0, 0.0), 4.0);
    /// assert!(Downey::speedup(8, 8.0, 1.0) < 6.0);
    /// ```
    pub fn speedup(processors: u32, average: f64, sigma: f64) -> f64 {
        let (n, a) = (f64::from(processors), average);
        if sigma <= 1.0 {
            if n <= a {
                a * n / (a + sigma / 2.0 * (n - 1.0))
            } else if n <= 2.0 * a - 1.0 {
                a * n / (sigma * (a - 0.5) + n * (1.0 - sigma / 2.0))
            } else {
                a
            }
        } else if n <= a + a * sigma - sigma {
            n * a * (sigma + 1.0) / (sigma * (n + a - 1.0) + a)
        } else {
            a
        }
    }
}

impl WorkloadModel for Downey {
    fn entries() -> Vec<ModelEntry> {
        let summary = "Downey (1997): moldable jobs, sizes and work uniform on a logarithmic scale";
        vec![ModelEntry {
            least_processors: Some(1),
            defaults: Some(|machine| {
                let published = Self::default();
                Box::new(Self { processors: machine.unwrap_or(published.processors), ..published })
            }),
            ..ModelEntry::of::<Self>("downey", summary, "the model of Downey (1997)")
        }]
    }

    fn validate(&self) -> Result<(), ParameterError> {
        check(self.processors > 0, "processors", "at least 1", 0)?;
        let seconds = "seconds above 0 and up to 1e9";
        for (field, found, expected, is_good) in [
            ("shortest", self.shortest, seconds, self.shortest > 0.0),
            ("longest", self.longest, "at least shortest, and up to 1e9", self.longest >= self.shortest),
            ("variation", self.variation, "0 to 1e9", self.variation >= 0.0),
            ("interarrival", self.interarrival, seconds, self.interarrival > 0.0),
        ] {
            check(is_good && found <= 1e9, field, expected, found)?;
        }
        Ok(())
    }

    fn processors(&self) -> u32 {
        self.processors
    }

    fn jobs(&self, streams: &Streams) -> Box<dyn Iterator<Item = ModelJob>> {
        self.validate().unwrap_or_else(|error| panic!("{error}"));
        let [mut arrivals, mut work, mut parallelism, mut variation] =
            ["downey arrivals", "downey work", "downey parallelism", "downey variation"]
                .map(|purpose| streams.stream(Purpose(purpose), 0));
        let (model, mut now) = (*self, 0.0);
        Box::new((0..=u32::MAX).map(move |id| {
            now += model.interarrival * draw::exponential(&mut arrivals);
            let work = log_uniform(&mut work, model.shortest, model.longest);
            let average = log_uniform(&mut parallelism, 1.0, f64::from(model.processors));
            let sigma = draw::uniform(&mut variation, [0.0, model.variation]);
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at least 1, and saturates")]
            let processors = ((average + 0.5) as u32).clamp(1, model.processors);
            let runtime = whole_seconds(work / Self::speedup(processors, average, sigma));
            ModelJob::new(id, at_second(now), processors, runtime)
        }))
    }

    fn to_toml(&self) -> Result<String, toml::ser::Error> {
        toml::to_string(self)
    }
}

fn log_uniform(stream: &mut Stream, low: f64, high: f64) -> f64 {
    libm::exp(draw::uniform(stream, [libm::log(low), libm::log(high)]))
}
