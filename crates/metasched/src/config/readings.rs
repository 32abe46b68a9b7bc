//! Questions that the paper leaves open, with their answers.

sim_core::readings! {
    /// R1 … R12 of the specification, in the same order. [`Readings::default`] takes the first value of each.
    #[derive(Copy)]
    #[serde(deny_unknown_fields, default)]
    pub struct Readings {
        R1 users_at: enum UsersAt "Where do local users sit?" {
            /// The first clusters.
            FirstClusters,
            /// The last clusters.
            LastClusters,
            /// Random clusters, drawn for each replication.
            Random,
        }
        R2 enough_resources: enum EnoughResources "When does a cluster have enough resources for FFIT?" {
            /// The job can start there now.
            CanStartNow,
            /// The job could start there if the cluster had no parallel jobs.
            StaticFit,
        }
        R3 cycle: enum Cycle "Does RR keep its cycle, or skip clusters that cannot start the job?" {
            /// The next cluster in turn, independent of its state.
            Strict,
            /// The next one in turn that can start the job now; if none can, the next one.
            SkipBusy,
        }
        R4 candidates: enum Candidates "Which clusters do TAT and PTT choose from?" {
            /// Clusters where the job can start now.
            CanStartNow,
            /// Clusters where the job could start if they had no parallel jobs.
            StaticFit,
        }
        R5 no_candidate: enum NoCandidate "What do TAT and PTT do when there is none?" {
            /// The job waits at the head of the input queue.
            Hold,
            /// It joins the LoRaS queue that the policy finds best.
            Dispatch,
        }
        R6 ties: enum Ties "Which of equal clusters does PTT take?" {
            /// The first cluster.
            FirstCluster,
            /// The one of smallest TR.
            SmallestTr,
        }
        R7 node_choice: enum NodeChoice "Which nodes does LoRaS give to a job?" {
            /// Eligible nodes of least CPU demand, by index among equals.
            LeastDemand,
            /// Eligible nodes of lowest index.
            FirstFit,
        }
        R8 mpl_beside_users: u32 "How many parallel tasks run on a node with a local user?" { 2, 1, 3 }
        /// PTT's always does.
        R9 tat_sees_users: enum SeesUsers "Does TAT's prediction see local users?" {
            /// Yes.
            Yes,
            /// No: it treats all nodes as free of users.
            No,
        }
        /// Latency of `local_bench`, relative to its latency alone.
        R10 local_slowdown: enum LocalSlowdown "What is the latency of a local user beside parallel tasks?" {
            /// 1 + the CPU that parallel tasks use on the node.
            CpuUsed,
            /// 1 / (1 − c·u) with that CPU as u, at each instant.
            Queueing,
            /// 1 + the number of parallel tasks on the node.
            PerTask,
        }
        /// Affects only the measurement.
        R11 slowdown_window: enum SlowdownWindow "Over which time is it averaged?" {
            /// The longest makespan of the policies that are compared.
            LongestMakespan,
            /// Each policy's own makespan.
            OwnMakespan,
        }
        /// A share of their rate.
        R12 hidden_loss: f64 "What do tasks beside local users lose that the predictor does not know of?" { 0.0, 0.15 }
    }
}

impl Readings {
    /// The preset `reading-b`: the reading of the paper under which PTT with W = 1 does gain over TAT.
    pub fn reading_b() -> Self {
        Self {
            no_candidate: NoCandidate::Dispatch,
            ties: Ties::SmallestTr,
            mpl_beside_users: 1,
            tat_sees_users: SeesUsers::No,
            hidden_loss: 0.15,
            ..Self::default()
        }
    }
}
