//! One simulation, its metrics and their measurement. The first ten metrics are columns of rows.csv, named as in the published results.

use super::combination::Combination;
use gap_schedule::{Machine, MultiCluster, Passes};
use sim_core::record::Sink;
use sim_core::{Job, JobLog, JobRecord, Sim, Span};

lab::metrics! {
    /// Metrics of one run, over all jobs, unweighted.
    pub(crate) struct Measured of Metric {
        /// Jobs that ended.
        jobs: "jobs" zero,
        /// Mean response: the flow time.
        avgft: "mean response" ("s") smaller,
        /// Longest response.
        maxft: "longest response" ("s") smaller,
        /// Square root of the mean of squared responses.
        RMSFT: "root mean square of responses" ("s") smaller,
        /// Mean of response / run time.
        avgstretch: "mean slowdown" smaller,
        /// Largest response / run time.
        maxstretch: "largest slowdown" smaller,
        /// Square root of the mean of squared slowdowns.
        RMSS: "root mean square of slowdowns" smaller,
        /// Mean of max(1, response / max(run time, 10 s)).
        avgbsld: "mean bounded slowdown" smaller,
        /// Largest bounded slowdown.
        maxbsld: "largest bounded slowdown" smaller,
        /// Square root of the mean of squared bounded slowdowns.
        RMSBSLD: "root mean square of bounded slowdowns" smaller,
        /// Mean of min(p, r) / max(p, r), p what is expected at the submission and r the run time; 1 is exact.
        accuracy: "accuracy" larger,
        /// The same of what was requested.
        request_accuracy: "accuracy of the request" larger,
        /// Jobs that outlive their prediction.
        expired_percent: "jobs that outlive their prediction" ("%") smaller,
        /// Corrections of predictions.
        corrections: "corrections" zero,
    }
}

/// Floor of the run time in a bounded slowdown.
const FLOOR: Span = Span::from_secs(10);

#[derive(Default)]
struct Moments {
    sum: f64,
    most: f64,
    squares: f64,
}

impl Moments {
    fn add(&mut self, value: f64) {
        self.sum += value;
        self.most = self.most.max(value);
        self.squares += value * value;
    }

    /// Returns mean, maximum, and the square root of the mean of squares.
    fn over(&self, jobs: f64) -> [f64; 3] {
        [self.sum / jobs, self.most, (self.squares / jobs).sqrt()]
    }
}

#[derive(Default)]
struct Measure {
    jobs: u64,
    response: Moments,
    stretch: Moments,
    bounded: Moments,
    /// Sum of the accuracies of the requests, min(p, r) / max(p, r).
    request_accuracies: f64,
}

impl Sink for Measure {
    fn take_in(&mut self, record: JobRecord) {
        let response = record.response().as_secs_f64();
        let run = record.job.runtime;
        self.jobs += 1;
        self.response.add(response);
        self.stretch.add(response / run.as_secs_f64());
        self.bounded.add((response / run.max(FLOOR).as_secs_f64()).max(1.0));
        let asked = record.job.request.estimate.unwrap_or(run);
        self.request_accuracies += run.min(asked).as_secs_f64() / run.max(asked).as_secs_f64();
    }
}

pub(super) fn run(jobs: Vec<Job>, processors: u32, combination: Combination, passes: Passes) -> Measured {
    let policy = combination.policy(passes);
    let world = MultiCluster::new(vec![Machine::new(processors)], policy, jobs.into_iter())
        .with_passes(passes)
        .with_predictions(combination.predictions());
    let (world, log) = Sim::new(world, JobLog::new(Measure::default())).run();
    let counts = world.predictions().expect("they were given").counts;
    let found = log.into_sink();
    let jobs = found.jobs as f64;
    let [avgft, maxft, rms_of_response] = found.response.over(jobs);
    let [avgstretch, maxstretch, rms_of_stretch] = found.stretch.over(jobs);
    let [avgbsld, maxbsld, rms_of_bounded] = found.bounded.over(jobs);
    Measured {
        jobs,
        avgft,
        maxft,
        RMSFT: rms_of_response,
        avgstretch,
        maxstretch,
        RMSS: rms_of_stretch,
        avgbsld,
        maxbsld,
        RMSBSLD: rms_of_bounded,
        accuracy: counts.accuracy().unwrap_or(f64::NAN),
        request_accuracy: found.request_accuracies / jobs,
        expired_percent: 100.0 * counts.expired as f64 / jobs,
        corrections: counts.corrections as f64,
    }
}
