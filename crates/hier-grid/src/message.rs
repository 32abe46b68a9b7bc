//! Messages: sender, receiver, occasion and effect of each kind; events, and counters of a run.
//!
//! A scheduler knows only the contents of messages. Its decisions may therefore rest on old information: it cancels
//! jobs that have begun in the meantime, or cancels jobs of a child whose queue has just been filled.
//!
//! [`Payload`] is the only declaration of the messages: [`Kind`], by which messages are
//! counted, is derived from the same lines. *Parent* and *child* are neighbours in a grid tree, *root* is a GSS or PGSS.

use crate::world::{Bag, Distance, SchedulerId, ServerId, StationId};
use serde::{Deserialize, Serialize};
use sim_core::{EventPriority, JobId, Prioritized, Time};

/// A node as sender or receiver of messages.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Address {
    /// A work station.
    Station(StationId),
    /// A scheduler of a grid tree.
    Scheduler(SchedulerId),
    /// A server; in a P2P system, a peer.
    Server(ServerId),
}

/// One message as it is recorded: a value that can be compared, written and read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Time at which it is sent.
    pub sent: Time,
    /// Time at which it arrives.
    pub arrives: Time,
    /// The sender.
    pub from: Address,
    /// The receiver.
    pub to: Address,
    /// Content.
    pub payload: Payload,
}

/// A message in the calendar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Envelope {
    pub(crate) from: Address,
    pub(crate) to: Address,
    pub(crate) payload: Payload,
}

macro_rules! messages {
    ($(
        $(#[$doc:meta])*
        $kind:ident $({ $( $(#[$about:meta])* $field:ident: $type:ty; )+ })?
    ),+ $(,)?) => {
        /// Content of a message, by kind.
        #[derive(Clone, Debug, PartialEq, Eq)]
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
            /// Returns its kind.
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
        /// Number of times that it may be forwarded.
        hops: u32;
    },
    /// Root → root, peer → peer: a copy of a request that came with hops left. The receiver treats it like a request; it drops a
    /// second copy.
    Forward {
        /// The job.
        job: JobId;
        /// Number of times that it may still be forwarded.
        hops: u32;
    },
    /// Child → parent: request for job matching. A server is idle, and no job known to the tree matches it. The parent forwards
    /// one for all of its children; the root starts discovery with its next raw jobs.
    Rfjm {
        /// True if resources have changed since the last one: it is then forwarded even if others have been forwarded before.
        changed: bool;
    },
    /// Parent → child: discovery, with the raw jobs as one block, and the end of all channels. The child passes it on; an LGS
    /// matches the jobs with its servers.
    Discover {
        /// Number of the discovery in this tree, from 1.
        round: u32;
        /// The classes of all jobs that have been through discovery, these included.
        known: Bag;
        /// Number of raw jobs in the block.
        jobs: u32;
    },
    /// Child → parent: bags, each with the CPUs behind it. An LGS sends them after matching, other schedulers after the
    /// bags of all children or a change. The parent binds a branch of one of its channels to each bag, adds up power,
    /// answers with ports, and reports to its own parent.
    Bags {
        /// The discovery that this answers; 0 if resources have changed.
        round: u32;
        /// Each bag, with its processing power.
        bags: Vec<(Bag, u64)>;
        /// True if a server below is idle because no job matches it.
        wanting: bool;
    },
    /// Parent → child: these bags of the child have been bound to a channel, through which it may send RFCs from now on. A channel
    /// is named by its bag.
    Ports {
        /// The bags.
        bags: Vec<Bag>;
    },
    /// Child → parent: request for computation, from an LGS with an idle server and no job for it, or from a scheduler with a
    /// marked branch that it cannot serve. The parent marks the branch and pushes jobs if it finds any; otherwise it sends an RFC to
    /// its own parent, once per channel.
    Rfc {
        /// The channel.
        bag: Bag;
        /// Jobs of the channel that an idle server could run: all of them, unless a bag is that of a whole site (R15).
        wants: Bag;
        /// Number of the request, for the block that answers it. If more servers become idle that want other jobs, the
        /// request is sent again under its number.
        ticket: u32;
    },
    /// Parent → child: jobs that were collected for a marked branch. An LGS queues them, others serve their own marked
    /// branches; both may send RFCs through that channel again.
    Block {
        /// The channel.
        bag: Bag;
        /// Request that it answers.
        ticket: u32;
        /// The jobs.
        jobs: Vec<JobId>;
    },
    /// Parent → child: butterfly or load-balance takes back jobs that were pushed to this child. It returns those that it
    /// still holds, and cancels those that it has pushed to its own children.
    Cancel {
        /// The scheduler that wants them.
        by: SchedulerId;
        /// The number of its collection.
        number: u32;
        /// The algorithm.
        reason: Reason;
        /// The jobs.
        jobs: Vec<JobId>;
    },
    /// Child → parent: answer to a cancel, with the jobs that had not begun. The scheduler that cancelled pushes them to the
    /// branch that it collected them for; those between pass the answer on.
    Cancelled {
        /// The scheduler that wanted them.
        by: SchedulerId;
        /// The number of its collection.
        number: u32;
        /// The algorithm.
        reason: Reason;
        /// Number of jobs that this accounts for: those that are not given back have gone to a server.
        asked: u32;
        /// The jobs given back.
        jobs: Vec<JobId>;
    },
    /// Child → parent: an LGS has given a job to a server. The parent removes it from its delegated jobs, and passes the message on.
    Started {
        /// The job.
        job: JobId;
    },
    /// Child → parent: fallback, with jobs that no resource of the child can run any more. The parent schedules them again or returns
    /// them to its own parent; at the root they are raw again.
    Returned {
        /// The jobs.
        jobs: Vec<JobId>;
    },
    /// Server → work station: the server is free for the job. The work station answers and transfers the input,
    /// unless another server was first.
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
    /// Work station → peer: the peer's acceptance was the first. The peer queues the job.
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
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// The requesting child is nearer to the job's work station.
    Butterfly,
    /// The requesting child has a lower load.
    LoadBalance,
}

/// Sees every message as it is sent. It cannot change the run.
pub trait MessageObserver {
    /// True if it looks at messages. Otherwise they are not built.
    const ENABLED: bool = true;

    /// Receives a message at the time it is sent.
    fn observe(&mut self, message: Message);
}

impl MessageObserver for () {
    const ENABLED: bool = false;

    fn observe(&mut self, _: Message) {}
}

impl MessageObserver for Vec<Message> {
    fn observe(&mut self, message: Message) {
        self.push(message);
    }
}

/// Event of a grid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A message arrives.
    Deliver(Envelope),
    /// A work station's think time is over.
    Due(StationId),
    /// The next job of a log is submitted.
    Submit,
    /// A data transfer has ended.
    Transferred(u32),
    /// A server has run its job.
    Ran(ServerId),
    /// The timeout of a server's offer has expired.
    OfferTimeout(ServerId),
    /// A server draws another operating system (experiment 4).
    Change(ServerId),
    /// End of a discovery from this root whose messages were counted without being simulated.
    Discovered(SchedulerId),
    /// A work station without an offer resubmits its request to its peer.
    Resubmit,
}

/// At one instant, servers and links become free first, then resources change, then messages arrive. A
/// scheduler that decides has therefore seen everything that the instant frees.
impl Prioritized for Event {
    fn priority(&self) -> EventPriority {
        match self {
            Self::Transferred(_) | Self::Ran(_) | Self::OfferTimeout(_) => EventPriority::RELEASE,
            Self::Change(_) => EventPriority::new(4),
            Self::Deliver(_) | Self::Due(_) | Self::Submit | Self::Discovered(_) | Self::Resubmit => {
                EventPriority::ARRIVE
            }
        }
    }
}

/// Counts of one run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GridCounts {
    messages: [u64; Kind::ALL.len()],
    /// Jobs submitted and accepted.
    pub submitted: u64,
    /// Jobs rejected.
    pub rejected: u64,
    /// Jobs whose output has arrived.
    pub completed: u64,
    /// Jobs that butterfly moved, once for each time.
    pub butterfly: u64,
    /// Jobs that load-balance moved, once for each time.
    pub load_balance: u64,
    /// Jobs that fallback took back, once for each time.
    pub fallback: u64,
    /// Jobs pushed in blocks, once for each block.
    pub pushed: u64,
    /// Jobs received in blocks, once for each block.
    pub received: u64,
    /// Jobs returned after a cancel.
    pub cancelled: u64,
    /// Discoveries.
    pub discoveries: u64,
    /// Changes of a server's operating system.
    pub changes: u64,
    /// Offers for a job that another server already had.
    pub unanswered: u64,
    /// Requests resubmitted without an offer.
    pub resubmitted: u64,
    pub(crate) ran_at: [u64; 4],
}

impl GridCounts {
    #[inline]
    pub(crate) fn count(&mut self, kind: Kind, messages: u64) {
        self.messages[kind as usize] += messages;
    }

    /// Number of messages of a kind.
    pub const fn messages(&self, kind: Kind) -> u64 {
        self.messages[kind as usize]
    }

    /// Number of all control messages.
    pub fn all_messages(&self) -> u64 {
        self.messages.iter().sum()
    }

    /// Number of moves of all jobs by the three rescheduling algorithms.
    pub const fn moves(&self) -> u64 {
        self.butterfly + self.load_balance + self.fallback
    }

    /// Number of jobs that ran at this distance from their work station.
    pub const fn jobs_at(&self, distance: Distance) -> u64 {
        self.ran_at[distance as usize]
    }
}
