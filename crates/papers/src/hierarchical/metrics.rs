//! The metrics of one run: equations (3) to (5), and what was counted.

use hier_grid::Kind;

/// How far from its work station a job ran, in words.
pub(super) const DISTANCES: [&str; 4] = ["same site", "same net", "same backbone", "another backbone"];

lab::metrics! {
    /// What is measured in one run.
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
        /// How often a job was moved by butterfly, load-balance or fallback.
        moves: "moves per job",
        /// How often a job was moved by butterfly.
        moves_butterfly: "moves by butterfly, per job",
        /// How often a job was moved by load-balance.
        moves_load_balance: "moves by load-balance, per job",
        /// How often a job was moved by fallback.
        moves_fallback: "moves by fallback, per job",
        /// How often schedulers discovered what is below them.
        discoveries: "discoveries" zero,
        /// Changes of a server's operating system.
        changes: "changes of resources" zero,
        /// Requests that got no offer.
        unanswered: "requests without an offer, per job" smaller,
        /// Resubmissions of a job.
        resubmitted: "resubmissions per job" smaller,
        /// Events of the simulation.
        events: "events per job",
        /// How far the AWT of the worst of several runs lies above that of the best; of one run it is not defined.
        awt_spread_percent: "worst above best" ("%") smaller,
        /// Control messages of one kind.
        messages_of(Kind, kind => format!("messages_{}", word(kind))): "control messages of a kind, per job",
        /// Jobs that ran so far from their work station.
        percent_at(usize, distance => format!("percent_{}", DISTANCES[distance].replace(' ', "_"))): "jobs" ("%"),
        /// Servers in the world that are of one type of Table 1.
        servers_of_type(usize, kind => format!("servers_of_type_{}", kind + 1)): "servers in the world" zero,
    }
}

/// A kind of message as transcripts write it.
pub(super) fn word(kind: Kind) -> String {
    serde_json::to_value(kind).ok().and_then(|value| value.as_str().map(str::to_owned)).expect("kinds are words")
}
