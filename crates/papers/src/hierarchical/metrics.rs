//! The metrics of one run: equations (3) to (5), and counters.

use hier_grid::Kind;

/// Distance of a job from its work station, in words.
pub(super) const DISTANCES: [&str; 4] = ["same site", "same net", "same backbone", "another backbone"];

lab::metrics! {
    /// Metrics of one run.
    pub(crate) struct Measured of Metric {
        /// Mean time from request to offer, equation (4).
        awt: "average waiting time" ("s") smaller,
        /// Mean time from offer to output, equation (5).
        aet: "average execution time" ("s") smaller,
        /// From the first request to the last output, equation (3).
        trt: "total response time" ("s") smaller,
        /// Jobs submitted that did not complete.
        jobs_lost: "jobs lost" smaller zero,
        /// Control messages of all kinds.
        messages: "control messages per job" smaller,
        /// Moves of a job by butterfly, load-balance or fallback.
        moves: "moves per job",
        /// Moves of a job by butterfly.
        moves_butterfly: "moves by butterfly, per job",
        /// Moves of a job by load-balance.
        moves_load_balance: "moves by load-balance, per job",
        /// Moves of a job by fallback.
        moves_fallback: "moves by fallback, per job",
        /// Discoveries of the nodes below a scheduler.
        discoveries: "discoveries" zero,
        /// Changes of a server's operating system.
        changes: "changes of resources" zero,
        /// Requests that got no offer.
        unanswered: "requests without an offer, per job" smaller,
        /// Resubmissions of a job.
        resubmitted: "resubmissions per job" smaller,
        /// Events of the simulation.
        events: "events per job",
        /// Excess of the worst AWT of several runs over the best, in percent of the best; undefined for one run.
        awt_spread_percent: "worst above best" ("%") smaller,
        /// Control messages of one kind.
        messages_of(Kind, kind => format!("messages_{}", word(kind))): "control messages of a kind, per job",
        /// Jobs that ran at this distance from their work station.
        percent_at(usize, distance => format!("percent_{}", DISTANCES[distance].replace(' ', "_"))): "jobs" ("%"),
        /// Servers in the world that are of one type of Table 1.
        servers_of_type(usize, kind => format!("servers_of_type_{}", kind + 1)): "servers in the world" zero,
    }
}

/// Returns the name of a kind of message in transcripts.
pub(super) fn word(kind: Kind) -> String {
    serde_json::to_value(kind).ok().and_then(|value| value.as_str().map(str::to_owned)).expect("kinds are words")
}
