//! The metrics of one run. The first ten are columns of rows.csv, named as in the published results.

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
