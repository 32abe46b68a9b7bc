//! The metrics of one run (§4.1). Times are in the paper's units.

lab::metrics! {
    /// Metrics of one run.
    pub(crate) struct Measured of Metric {
        /// Response time of completed gangs, each weighing as many as it has tasks: equation (5).
        wrt: "weighted response time" smaller,
        /// Slowdown of completed gangs, each weighing as many as it has tasks: equation (6), relative to what R16 says.
        wsld: "weighted slowdown" smaller,
        /// Gangs completed, of those that had arrived when the run stopped.
        completed_percent: "completed gangs" ("%") larger,
        /// Mean response time of local jobs.
        rt_local: "mean response time" smaller,
        /// Mean slowdown of local jobs.
        sld_local: "mean slowdown" smaller,
        /// The same with a floor under the service time (A1).
        bounded_sld_local: "mean bounded slowdown" smaller,
        /// Processor time that runs jobs, of all processor time.
        utilization_percent: "utilization" ("%") larger,
        /// Gangs that arrived until the run stopped.
        gangs_arrived: "gangs arrived" zero,
        /// Gangs that completed.
        gangs_completed: "gangs completed" zero,
        /// Gangs whose tasks ran on several sites, of those that arrived.
        gangs_spanning_percent: "gangs that span sites" ("%"),
        /// Local jobs that completed.
        locals_completed: "local jobs completed" zero,
        /// Time at which the run stopped.
        duration: "length of the run",
        /// Gangs of one size completed, of those that had arrived.
        completed_percent_of(u32, size => format!("completed_percent_{size}")): "completed gangs" ("%") larger,
        /// Mean response time of gangs of one size. All weigh alike, so it is the plain mean.
        wrt_of(u32, size => format!("wrt_{size}")): "response time" smaller,
    }
}
