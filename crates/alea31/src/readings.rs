//! What the paper leaves open of its own policy: [`Readings`].

sim_core::readings! {
    /// One way to read Swift Gap: gap filling and a search, decided by a weight of completion times,
    /// Σⱼ (Aⱼ − Bⱼ) / Aⱼ > 0 over the jobs of the plan, where A is the plan as it stands and B the one that is tried.
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
            /// Each job's own gain relative to its own completion, summed.
            SumOfRatios,
            /// The gain of all relative to the completion of all.
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
            /// A random one of a random cluster.
            Random,
            /// One after the other: "select non-optimized job".
            ListOrder,
            /// The one that completes worst, then the next.
            WorstFirst,
        }
        R5 rounds: enum Rounds "When does the search run, and for how long?" {
            /// Every 300 s, four times as many rounds as jobs wait.
            FourTimes,
            /// Every 300 s, until as many rounds in a row as jobs wait have improved nothing; at most 64 times as many in all.
            UntilNoGain,
            /// One at each arrival.
            PerArrival,
            /// Four times as many rounds as jobs wait, whenever a job ends more than a minute before its plan, and at no other
            /// time: the search "on demand" of that simulator.
            EarlyEnds,
        }
        R6 compression: enum Compression "Does an early end compress the plan of its cluster?" {
            /// It does, as the paper's text has it, and as under CONS.
            On,
            /// It does not, as under Best Gap.
            Off,
        }
        R7 acceptance: enum Acceptance "What is accepted or put back?" {
            /// Each move.
            EachMove,
            /// All moves of a pass together.
            WholePass,
        }
        /// Where it need not, any that is wide enough will do. Not in the paper: a new policy in that simulator has to ask for
        /// the check by itself.
        R8 suitability: enum Suitability "Does a job keep to the clusters that it may use?" {
            /// It does.
            Checked,
            /// The gap filling keeps to them, the search does not.
            NotInSearch,
            /// The search keeps to them, the gap filling does not.
            NotInFilling,
            /// It does not.
            Ignored,
        }
    }
}

impl Readings {
    /// The same on a number of clusters: on a single one there is nothing between clusters, and the search moves jobs within it
    /// (R3).
    #[must_use]
    pub const fn on(self, clusters: usize) -> Self {
        if clusters > 1 { self } else { Self { moves: Moves::Any, ..self } }
    }

    /// Whether the search draws anything that a schedule on this number of clusters depends on. It does not where the jobs have
    /// an order and each has one other cluster to go to.
    pub fn draws(&self, clusters: usize) -> bool {
        let places = if self.moves == Moves::Any { clusters } else { clusters.saturating_sub(1) };
        self.pick == Pick::Random || places > 1
    }
}
