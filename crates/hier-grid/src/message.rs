//! Messages: sender, receiver, occasion and effect of each kind.
//!
//! A scheduler knows what messages have brought it and nothing else. Its decisions may therefore rest on old news: it cancels
//! jobs that have begun in the meantime, or asks a child whose queue has just been filled.
//!
//! The variants of [`Payload`] are the whole vocabulary, and the only declaration of it: [`Kind`], by which messages are
//! counted, is derived from the same lines. *Parent* and *child* are neighbours in a grid tree, *root* is a GSS or PGSS.

mod words;

use crate::ids::{SchedulerId, ServerId, StationId};
use crate::world::Bag;
use serde::{Deserialize, Serialize};
use sim_core::{JobId, Time};
pub use words::Family;

/// A node as sender or receiver of messages.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Address {
    /// A work station.
    Station(StationId),
    /// A scheduler of a grid tree.
    Scheduler(SchedulerId),
    /// A server; in a P2P system, a peer.
    Server(ServerId),
}

/// One message as it is recorded: a value that can be compared, written and read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// When it leaves.
    pub sent: Time,
    /// When it arrives.
    pub arrives: Time,
    /// The sender.
    pub from: Address,
    /// The receiver.
    pub to: Address,
    /// What it says.
    #[serde(flatten)]
    pub payload: Payload,
}

/// A message in the calendar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Envelope {
    pub(crate) from: Address,
    pub(crate) to: Address,
    pub(crate) payload: Payload,
}

/// Declares the messages once.
macro_rules! messages {
    ($(
        $(#[$doc:meta])*
        $kind:ident $({ $( $(#[$about:meta])* $field:ident: $type:ty; )+ })?
    ),+ $(,)?) => {
        /// What a message says, kind by kind.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(tag = "kind", rename_all = "kebab-case")]
        pub enum Payload {
            $( $(#[$doc])* $kind $({ $( $(#[$about])* $field: $type ),+ })? ),+
        }

        /// The kind of a message, for counting.
        #[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum Kind {
            $( #[doc = concat!("[`Payload::", stringify!($kind), "`].")] $kind, )+
        }

        impl Kind {
            /// All kinds, in order of declaration.
            pub const ALL: &[Self] = &[$(Self::$kind),+];
        }

        impl Payload {
            /// Its kind.
            pub const fn kind(&self) -> Kind {
                match self {
                    $(Self::$kind { .. } => Kind::$kind,)+
                }
            }
        }
    };
}

messages! {
    /// Work station → root or peer: a job is submitted, or submitted again. The root keeps it as a raw job and forwards it
    /// to the other roots; a peer accepts or forwards it.
    Request {
        /// The job, whose requirements are sent.
        job: JobId;
        /// How often it may be forwarded.
        hops: u32;
    },
    /// Root → root, peer → peer: a copy of a request that came with hops left. The receiver does as with a request; it drops a
    /// second copy.
    Forward {
        /// The job.
        job: JobId;
        /// How often it may still be forwarded.
        hops: u32;
    },
    /// Child → parent: request for job matching. A server is idle, and no job known to the tree matches it. The parent passes
    /// one on for all of its children; the root starts discovery with its next raw jobs.
    Rfjm {
        /// Whether resources have changed since the last one: then it goes on even if others have gone before.
        anew: bool;
    },
    /// Parent → child: discovery, with the raw jobs as one block, and the end of all channels. The child passes it on; an LGS
    /// matches the jobs with its servers.
    Discover {
        /// Number of the discovery in this tree, from 1.
        round: u32;
        /// The classes of all jobs that have been through discovery, these included.
        known: Bag;
        /// How many raw jobs the block holds.
        jobs: u32;
    },
    /// Child → parent: bags, each with the CPUs behind it, once an LGS has matched, or a scheduler has heard of all children
    /// or of a change. The parent binds a branch of one of its channels to each bag, adds up power, answers with ports, and
    /// tells its own parent.
    Bags {
        /// The discovery that this answers; 0 if resources have changed.
        round: u32;
        /// Each bag, with its processing power.
        bags: Vec<(Bag, u64)>;
        /// Whether a server below is idle for want of any matching job.
        wanting: bool;
    },
    /// Parent → child: these bags of the child have been bound to a channel, through which it may ask from now on. A channel
    /// is named by its bag.
    Ports {
        /// The bags.
        bags: Vec<Bag>;
    },
    /// Child → parent: request for computation, from an LGS with an idle server and no job for it, or from a scheduler with a
    /// marked branch that it cannot serve. The parent marks the branch and pushes jobs if it can find any; if not, it asks
    /// its own parent, once per channel.
    Rfc {
        /// The channel.
        bag: Bag;
        /// Which of its jobs an idle server could run: all of them, unless a bag is that of a whole site (R15).
        wants: Bag;
        /// Number of the request, for the block that answers it. Should more servers become idle that want other jobs, the
        /// request is sent again under its number.
        ticket: u32;
    },
    /// Parent → child: jobs that were collected for a marked branch. An LGS queues them, others serve their own marked
    /// branches; both may ask through that channel again.
    Block {
        /// The channel.
        bag: Bag;
        /// The request that it answers.
        ticket: u32;
        /// The jobs.
        jobs: Vec<JobId>;
    },
    /// Parent → child: butterfly or load-balance wants jobs back that were pushed to this child. It gives back those that it
    /// still holds, and asks its children for those that it has pushed on.
    Cancel {
        /// The scheduler that wants them.
        by: SchedulerId;
        /// The number of its collection.
        number: u32;
        /// Which algorithm.
        reason: Reason;
        /// The jobs.
        jobs: Vec<JobId>;
    },
    /// Child → parent: answer to a cancel, with the jobs that had not begun. The scheduler that cancelled pushes them to the
    /// branch that it wanted them for; those between pass the answer on.
    Cancelled {
        /// The scheduler that wanted them.
        by: SchedulerId;
        /// The number of its collection.
        number: u32;
        /// Which algorithm.
        reason: Reason;
        /// How many jobs this answers for: those that are not given back have gone to a server.
        asked: u32;
        /// The jobs given back.
        jobs: Vec<JobId>;
    },
    /// Child → parent: an LGS has given a job to a server. The parent strikes it from what it has delegated, and passes it on.
    Started {
        /// The job.
        job: JobId;
    },
    /// Child → parent: fallback, jobs that no resource of the child can run any more. The parent schedules them again or returns
    /// them to its own parent; at the root they are raw again.
    Returned {
        /// The jobs.
        jobs: Vec<JobId>;
    },
    /// Server → work station: the server is free for the job. The work station answers and transfers the input, unless another
    /// server was first: then it keeps silent.
    Offer {
        /// The job.
        job: JobId;
    },
    /// Work station → server: the first offer for a job is taken. Waiting has ended, and the input follows. A server without
    /// an answer is free again after 100 ms.
    Answer {
        /// The job.
        job: JobId;
    },
    /// Peer → work station: the peer can meet the deadline. The work station confirms the first, and ignores others.
    Accept {
        /// The job.
        job: JobId;
    },
    /// Work station → peer: its acceptance was the first. It queues the job.
    Confirm {
        /// The job.
        job: JobId;
    },
    /// Peer → work station: the peer no longer has the resources that a queued job needs. The work station submits the job
    /// again.
    Decline {
        /// The job.
        job: JobId;
    },
}

/// The algorithm that takes queued jobs back.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// The requesting child is nearer to the job's work station.
    Butterfly,
    /// The requesting child has less to do.
    LoadBalance,
}
