//! The metrics of one run (§4).

lab::metrics! {
    /// Metrics of one run.
    pub(crate) struct Measured of Metric {
        /// Jobs that end after their deadline, of all jobs or of those that have one (R3).
        late_percent: "late jobs" ("%") smaller,
        /// Active processors over the lesser of all processors and those requested by running and waiting jobs (R13).
        usage_percent: "system usage" ("%") larger,
        /// Mean of (wait + time on the machine) / time on the machine.
        slowdown: "mean slowdown" smaller,
        /// Elementary operations at each submission and completion: a job against a machine, a step in a plan, a comparison in a
        /// sort.
        operations_per_event: "operations per event" smaller,
        /// Elementary operations of the whole run.
        operations: "operations" smaller zero,
        /// From the first submission to the last end.
        makespan: "makespan" ("s") smaller zero,
        /// Gaps that Tabu search tries.
        moves_tried_per_job: "gaps weighed per job",
        /// Moves that Tabu search makes.
        moves_accepted_per_job: "moves made per job",
        /// Jobs that wait when the last one arrives.
        waiting_at_last_arrival: "jobs waiting at the last arrival" smaller zero,
        /// Jobs that start when they are submitted.
        started_at_once_percent: "jobs started at once" ("%") larger,
        /// Jobs that ended.
        ended: "jobs ended" zero,
        /// Jobs that start later than what was promised to the first of the queue; of policies that promise it something.
        promises_broken: "promises broken" smaller,
    }
}
