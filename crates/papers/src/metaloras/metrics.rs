//! The metrics of one run (§3.1).

lab::metrics! {
    /// Metrics of one run.
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
