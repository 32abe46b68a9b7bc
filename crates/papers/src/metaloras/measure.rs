//! Metrics of one run and their measurement (§3.1).

use lab::units::as_f64;
use metasched::{MetaLoras, Outcome, SelectCluster, Submission};

lab::metrics! {
    pub(crate) struct Measured of Metric {
        /// Mean time from arrival to end of a parallel job.
        turnaround: "mean turnaround" ("s") smaller,
        /// From the start of the first job to the end of the last one.
        makespan: "from first start to last end" ("s") smaller,
        /// Count of R10 on an occupied node, summed over the run: the local users' slowdown is 1 + disturbance / window. Undefined without
        /// local users.
        disturbance: "disturbance of a node" ("s") smaller,
        /// Mean over jobs of |predicted − actual| / actual, of the time from dispatch to end.
        prediction_error: "mean relative error" ("%") smaller,
        /// The same, of jobs that waited in a LoRaS queue.
        prediction_error_queued: "mean relative error of jobs that waited" ("%") smaller,
        /// The same, of jobs that started at once.
        prediction_error_not_queued: "mean relative error of jobs that started at once" ("%") smaller,
        /// Growth of the error, in points, for each job that waits at the prediction.
        prediction_error_per_waiting: "growth of the error for each job that waits" ("points") signed,
        /// Jobs that waited in a LoRaS queue.
        queued_percent: "jobs that waited in a LoRaS queue" ("%"),
        /// Jobs that no cluster can hold.
        rejected: "jobs rejected" smaller zero,
    }
}

impl Measured {
    pub(super) fn of<P: SelectCluster, J: Iterator<Item = Submission>>(
        world: &MetaLoras<P, J>,
        submitted: usize,
    ) -> Self {
        let outcomes = world.outcomes();
        let error = |wanted: fn(&&Outcome) -> bool| {
            100.0 * mean(outcomes.iter().filter(wanted).filter_map(Outcome::prediction_error))
        };
        let queued = outcomes.iter().map(|outcome| f64::from(u8::from(outcome.was_queued())));
        Self {
            turnaround: mean(outcomes.iter().map(|outcome| outcome.turnaround().as_secs_f64())),
            makespan: world.makespan().as_secs_f64(),
            disturbance: world.disturbance().map_or(f64::NAN, |(seconds, nodes)| seconds / f64::from(nodes)),
            prediction_error: error(|_| true),
            prediction_error_queued: error(|outcome| outcome.was_queued()),
            prediction_error_not_queued: error(|outcome| !outcome.was_queued()),
            prediction_error_per_waiting: per_waiting(outcomes),
            queued_percent: 100.0 * mean(queued),
            rejected: as_f64(submitted - outcomes.len()),
        }
    }
}

/// Returns the slope of the least-squares line of the prediction error, in points, over the number of jobs waiting in the LoRaS queue at
/// that moment. NaN if that number is the same for all predictions.
fn per_waiting(outcomes: &[Outcome]) -> f64 {
    let waiting = |of: &Outcome| {
        // Jobs join a queue in the order of their dispatch, ties in the order of arrival.
        let ahead = |other: &&Outcome| {
            let joined = (other.dispatched, other.arrival, other.job) < (of.dispatched, of.arrival, of.job);
            other.cluster == of.cluster && joined && other.start > of.dispatched
        };
        as_f64(outcomes.iter().filter(ahead).count())
    };
    let points = || outcomes.iter().filter_map(|of| Some((waiting(of), 100.0 * of.prediction_error()?)));
    let (mean_waiting, mean_error) = (mean(points().map(|(x, _)| x)), mean(points().map(|(_, y)| y)));
    let covariance: f64 = points().map(|(x, y)| (x - mean_waiting) * (y - mean_error)).sum();
    let variance: f64 = points().map(|(x, _)| (x - mean_waiting).powi(2)).sum();
    covariance / variance
}

/// Returns the mean; NaN if there are no values.
fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    sum / count
}
