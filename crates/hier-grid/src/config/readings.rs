//! What the paper leaves open: each reading is a field, its answers an enum.

use serde::{Deserialize, Serialize};

/// The readings, named as in the specification. [`Readings::default`] takes the first value of each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Readings {
    /// R1: what the rate of a branch is relative to.
    pub share: Share,
    /// R2: whose estimate a peer's deadline is three times of.
    pub peer_deadline: PeerDeadline,
    /// R3: when waiting ends among peers.
    pub peer_wait_ends: PeerWaitEnds,
    /// R4: b, the bytes of input that a CPU works off in a second (100, 10 000, 100 000).
    pub bytes_per_cpu_second: f64,
    /// R5: which unassigned jobs are pushed first.
    pub unassigned_order: UnassignedOrder,
    /// R6: which of several marked branches is served first.
    pub branch_order: BranchOrder,
    /// R7: which job of the most loaded sibling is taken back.
    pub load_balance_takes: LoadBalanceTakes,
    /// R8: which trees of a hybrid get a request.
    pub requests_to: RequestsTo,
    /// R9: who a peer's neighbours are.
    pub neighbours: Neighbours,
    /// R10: how input sizes are drawn.
    pub sizes: Sizes,
    /// R11: standard deviation of the execution time, as a fraction of its mean (0.1, 0.3).
    pub sigma: f64,
    /// R12: what a server does while its output is transferred.
    pub output_transfer: OutputTransfer,
    /// R13: whether flows share links.
    pub link_contention: LinkContention,
    /// R14: whether each replication draws its servers anew.
    pub servers: ServerDraw,
    /// R15: what one bag holds.
    pub bags: Bags,
    /// R16: whether the rate of a flow changes while it lasts.
    pub flow_rates: FlowRates,
}

impl Default for Readings {
    fn default() -> Self {
        Self {
            share: Share::default(),
            peer_deadline: PeerDeadline::default(),
            peer_wait_ends: PeerWaitEnds::default(),
            bytes_per_cpu_second: 100.0,
            unassigned_order: UnassignedOrder::default(),
            branch_order: BranchOrder::default(),
            load_balance_takes: LoadBalanceTakes::default(),
            requests_to: RequestsTo::default(),
            neighbours: Neighbours::default(),
            sizes: Sizes::default(),
            sigma: 0.1,
            output_transfer: OutputTransfer::default(),
            link_contention: LinkContention::default(),
            servers: ServerDraw::default(),
            bags: Bags::default(),
            flow_rates: FlowRates::default(),
        }
    }
}

macro_rules! reading {
    ($(#[$doc:meta])* $name:ident { $(#[$first_doc:meta])* $first:ident $(, $(#[$other_doc:meta])* $other:ident)* $(,)? }) => {
        $(#[$doc])*
        #[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum $name {
            $(#[$first_doc])* #[default] $first,
            $($(#[$other_doc])* $other,)*
        }
    };
}

reading! {
    /// R1.
    Share {
        /// Of the power of all channels, and of all unstarted jobs: formula (2) as printed.
        AllChannels,
        /// Of the power of the branch's own channel, and of the jobs that can use it.
        OwnChannel,
    }
}
reading! {
    /// R2.
    PeerDeadline {
        /// The estimate for the peer itself.
        OwnEstimate,
        /// The estimate for a server with the mean number of CPUs.
        MeanServer,
    }
}
reading! {
    /// R3.
    PeerWaitEnds {
        /// When the work station is offered a free server.
        Offer,
        /// When a peer takes the job into its queue.
        Acceptance,
    }
}
reading! {
    /// R5.
    UnassignedOrder {
        /// Jobs of work stations under the requesting child, then the oldest.
        OwnFirst,
        /// The oldest.
        OldestFirst,
        /// Those whose work station is nearest to the requesting child, the oldest among equals.
        GradedDistance,
    }
}
reading! {
    /// R6.
    BranchOrder {
        /// Branches with unassigned jobs of their own work stations, then the oldest RFC.
        NearestThenOldest,
        /// The oldest RFC.
        OldestRfc,
        /// By child, the first first.
        Index,
    }
}
reading! {
    /// R7.
    LoadBalanceTakes {
        /// The oldest.
        Oldest,
        /// The newest.
        Newest,
    }
}
reading! {
    /// R8.
    RequestsTo {
        /// All of them: the root of the home tree forwards each request.
        AllTrees,
        /// The tree of the work station's site. Another gets it only if the home tree has nothing that could run it.
        HomeTree,
    }
}
reading! {
    /// R9.
    Neighbours {
        /// The ring of sites and nearby links, four in all: "manually configured to be geographically close".
        Geographic,
        /// A random ring and random links, four in all.
        #[serde(rename = "random-4")]
        Random4,
        /// A random ring and random links, eight in all.
        #[serde(rename = "random-8")]
        Random8,
    }
}
reading! {
    /// R10.
    Sizes {
        /// Poisson, counted in megabytes: all jobs are nearly equal.
        PoissonMb,
        /// Poisson, counted in gigabytes: a job of a mean of 1 GB may be empty.
        PoissonGb,
        /// Exponential.
        Exponential,
    }
}
reading! {
    /// R12.
    OutputTransfer {
        /// It is free for the next job.
        ServerFree,
        /// It is busy.
        ServerBusy,
    }
}
reading! {
    /// R13.
    LinkContention {
        /// They do.
        On,
        /// Each flow has every link for itself.
        Off,
    }
}
reading! {
    /// R14.
    ServerDraw {
        /// No: one draw for all replications of a seed.
        Fixed,
        /// Yes.
        Redrawn,
    }
}
reading! {
    /// R15.
    Bags {
        /// The jobs that one operating system of a site can run.
        PerOs,
        /// The jobs that any server of a site can run.
        PerSite,
    }
}
reading! {
    /// R16.
    FlowRates {
        /// No: it is reckoned from the flows that are there when this one begins.
        FixedAtStart,
        /// Yes: max-min fair shares at every change.
        ReShared,
    }
}
