//! Readings of the paper's own policy: [`Readings`].

sim_core::readings! {
    /// Reading of Swift Gap: gap filling and a search, decided by a weight of completion times, Σⱼ (Aⱼ − Bⱼ) / Aⱼ > 0
    /// over the jobs of the plan, where A is the present plan and B the tried one.
    #[derive(Copy, Eq)]
    #[serde(deny_unknown_fields)]
    pub struct Readings {
        R1 completion: enum Completion "From when is completion measured?" {
            /// From the job's submission.
            FromSubmission,
            /// From the start of the simulation.
            AbsoluteClock,
        }
        R2 weight: enum Weight
            "What is weighed: each job's gain relative to its own completion, the gain of all, or that beside Best Gap's decision?"
        {
            /// Sum of each job's gain relative to its own completion.
            SumOfRatios,
            /// Gain of all jobs relative to the completion of all.
            RatioOfSums,
            /// The sum of ratios, added to the decision of Best Gap.
            AddedToDecision,
        }
        R3 moves: enum Moves "Where may the search put a job?" {
            /// On another cluster: "among the clusters rather than … within".
            BetweenClusters,
            /// On any cluster, its own included.
            Any,
        }
        R4 pick: enum Pick "Which job does the search take?" {
            /// A random job of a random cluster.
            Random,
            /// One job after the other: "select non-optimized job".
            ListOrder,
            /// The job with the worst completion, then the next.
            WorstFirst,
        }
        R5 rounds: enum Rounds "When does the search run, and for how long?" {
            /// Every 300 s, four times as many rounds as jobs wait.
            FourTimes,
            /// Every 300 s, until a run of rounds as long as the queue has improved nothing; at most 64 times as many in all.
            UntilNoGain,
            /// One round at each arrival.
            PerArrival,
            /// Four times as many rounds as jobs wait, only when a job ends more than a minute before its plan: the
            /// search "on demand" of that simulator.
            EarlyEnds,
        }
        R6 compression: enum Compression "Does an early end compress the plan of its cluster?" {
            /// Early ends compress it, as in the paper's text and under CONS.
            On,
            /// They do not, as under Best Gap.
            Off,
        }
        R7 acceptance: enum Acceptance "What is accepted or put back?" {
            /// Each move.
            EachMove,
            /// All moves of a pass together.
            WholePass,
        }
        /// Without this check, any cluster that is wide enough is allowed. Not in the paper: a new policy in that
        /// simulator must request the check by itself.
        R8 suitability: enum Suitability "Does a job keep to the clusters that it may use?" {
            /// The job keeps to them.
            Checked,
            /// The gap filling keeps to them, the search does not.
            NotInSearch,
            /// The search keeps to them, the gap filling does not.
            NotInFilling,
            /// The job does not keep to them.
            Ignored,
        }
    }
}

impl Readings {
    /// Adapts the readings to a number of clusters: on a single one the search moves jobs within it (R3).
    #[must_use]
    pub const fn on(self, clusters: usize) -> Self {
        if clusters > 1 { self } else { Self { moves: Moves::Any, ..self } }
    }

    /// Returns true if the search makes random choices on which a schedule on this number of clusters depends. It makes
    /// none if the jobs have an order and each has only one other cluster.
    pub fn draws(&self, clusters: usize) -> bool {
        let places = if self.moves == Moves::Any { clusters } else { clusters.saturating_sub(1) };
        self.pick == Pick::Random || places > 1
    }
}
