//! Questions that the paper leaves open, with their answers.

sim_core::readings! {
    /// R1 … R16 of the specification, in the same order. [`Readings::default`] takes the first value of each.
    #[serde(deny_unknown_fields, default)]
    pub struct Readings {
        R1 share: enum Share "What is the rate of a branch relative to?" {
            /// Relative to the power of all channels, and to all unstarted jobs: formula (2) as printed.
            AllChannels,
            /// Relative to the power of the branch's own channel, and to the jobs that can use it.
            OwnChannel,
        }
        R2 peer_deadline: enum PeerDeadline "Whose estimate is a peer's deadline three times of?" {
            /// The estimate for the peer itself.
            OwnEstimate,
            /// The estimate for a server with the mean number of CPUs.
            MeanServer,
        }
        R3 peer_wait_ends: enum PeerWaitEnds "When does waiting end among peers?" {
            /// Offer of a free server to the work station.
            Offer,
            /// Acceptance of the job into the queue of a peer.
            Acceptance,
        }
        R4 bytes_per_cpu_second: f64 "b: how many bytes of input does a CPU work off in a second?" { 100.0, 10000.0, 100000.0 }
        R5 unassigned_order: enum UnassignedOrder "Which unassigned jobs are pushed first?" {
            /// Jobs of work stations under the requesting child, then the oldest.
            OwnFirst,
            /// The oldest.
            OldestFirst,
            /// Jobs whose work station is nearest to the requesting child, the oldest among equals.
            GradedDistance,
        }
        R6 branch_order: enum BranchOrder "Which of several marked branches is served first?" {
            /// Branches with unassigned jobs of their own work stations, then the oldest RFC.
            NearestThenOldest,
            /// The oldest RFC.
            OldestRfc,
            /// The child with the lowest number.
            Index,
        }
        R7 load_balance_takes: enum LoadBalanceTakes "Which job of the most loaded sibling does load-balance take?" {
            /// The oldest.
            Oldest,
            /// The newest.
            Newest,
        }
        R8 requests_to: enum RequestsTo "Which trees of a hybrid get a request?" {
            /// All of them: the root of the home tree forwards each request.
            AllTrees,
            /// The tree of the work station's site. Other trees get it only if the home tree has no server that could run it.
            HomeTree,
        }
        R9 neighbours: enum Neighbours "Who are a peer's neighbours?" {
            /// The ring of sites and nearby links, four in all: "manually configured to be geographically close".
            Geographic,
            /// A random ring and random links, four in all.
            Random4 = "random-4",
            /// A random ring and random links, eight in all.
            Random8 = "random-8",
        }
        R10 sizes: enum Sizes "How are input sizes drawn?" {
            /// Poisson, counted in megabytes: all jobs are nearly equal.
            PoissonMb,
            /// Poisson, counted in gigabytes: a job with a mean of 1 GB may have no input.
            PoissonGb,
            /// Exponential.
            Exponential,
        }
        /// Standard deviation, as a fraction of the mean.
        R11 sigma: f64 "How wide is the Gaussian of the execution time?" { 0.1, 0.3 }
        R12 output_transfer: enum OutputTransfer "Is a server free while its output is transferred?" {
            /// Yes: it is free for the next job.
            ServerFree,
            /// No: it is busy.
            ServerBusy,
        }
        R13 link_contention: enum LinkContention "Do flows share links?" {
            /// Yes.
            On,
            /// No: each flow has every link for itself.
            Off,
        }
        R14 servers: enum ServerDraw "Are servers drawn again in each replication?" {
            /// No: one draw for all replications of a seed.
            Fixed,
            /// Yes.
            Redrawn,
        }
        R15 bags: enum Bags "What does one bag hold?" {
            /// The jobs that one operating system of a site can run.
            PerOs,
            /// The jobs that any server of a site can run.
            PerSite,
        }
        R16 flow_rates: enum FlowRates "Does the rate of a flow change while it lasts?" {
            /// No: it is computed from the flows that exist at its start.
            FixedAtStart,
            /// Yes: max-min fair shares at every change.
            ReShared,
        }
    }
}
