//! Messages as values: who tells whom what, and what the receiver does.
//!
//! A scheduler knows what it has been told and nothing else. What it decides may therefore rest on old news: it cancels
//! jobs that have begun in the meantime, or asks a child whose queue has just been filled. The table says what each kind of
//! message is for; *parent* and *child* are neighbours in a grid tree, *root* is a GSS or PGSS.
//!
//! | kind | from → to | when | what the receiver does |
//! |---|---|---|---|
//! | [`Request`](Payload::Request) | work station → root, or peer | a job is submitted, or resubmitted | the root keeps it as a raw job, and forwards it to its peers; a peer accepts or forwards it |
//! | [`Forward`](Payload::Forward) | root → root, peer → peer | a request came with hops left | the same; a second copy is dropped |
//! | [`Rfjm`](Payload::Rfjm) | child → parent | a server is idle, and no job known to the tree matches it | passes one on for all children; the root starts discovery with its next raw jobs |
//! | [`Discover`](Payload::Discover) | parent → child | discovery starts: the raw jobs as one block, and the end of all channels | passes it on; an LGS matches the jobs with its servers |
//! | [`Bags`](Payload::Bags) | child → parent | an LGS has matched; a scheduler has heard of all children, or of a change | binds a branch of one of its channels to each bag, adds up power, answers with ports, tells its own parent |
//! | [`Ports`](Payload::Ports) | parent → child | a bag of the child was bound to a channel | may ask through that channel from now on |
//! | [`Rfc`](Payload::Rfc) | child → parent | an LGS has an idle server with no job for it; a scheduler has a marked branch that it cannot serve | marks the branch; pushes jobs if it can find any, else asks its own parent, once per channel |
//! | [`Block`](Payload::Block) | parent → child | jobs were collected for a marked branch | may ask through that channel again; an LGS queues the jobs, others serve their marked branches |
//! | [`Cancel`](Payload::Cancel) | parent → child | butterfly or load-balance wants jobs back that were pushed to this child | gives back those that it still holds, and asks its children for those that it has pushed on |
//! | [`Cancelled`](Payload::Cancelled) | child → parent | answer to a cancel: jobs that had not begun | the scheduler that cancelled pushes them to the branch that it wanted them for; those between pass it on |
//! | [`Started`](Payload::Started) | child → parent | an LGS has given a job to a server | strikes the job from its books and passes it on |
//! | [`Returned`](Payload::Returned) | child → parent | fallback: jobs that no resource of the child can run any more | schedules them again, or returns them to its own parent; at the root they are raw again |
//! | [`Offer`](Payload::Offer) | server → work station | the server is free for the job | answers and transfers its input, unless another server was first: then it keeps silent |
//! | [`Answer`](Payload::Answer) | work station → server | the first offer for a job | waiting has ended; the input follows. A server without an answer is free again after 100 ms |
//! | [`Accept`](Payload::Accept) | peer → work station | the peer can meet the deadline | confirms the first, ignores others |
//! | [`Confirm`](Payload::Confirm) | work station → peer | its first acceptance | queues the job |
//! | [`Decline`](Payload::Decline) | server → work station | a peer no longer has the resources that a queued job needs; an answer came after the server had given up | submits the job anew |
//! | [`Restarted`](Payload::Restarted) | scheduler → parent and children | it has crashed and is up again (only with [faults](crate::faults)) | forgets what it was asked by it, and asks it anew |
//! | [`Acknowledgement`](Kind::Acknowledgement) | receiver → sender | a message has come in (only with faults) | does not send it again. Counted, but not recorded |

mod words;

use crate::tree::SchedulerId;
use crate::world::{Bag, ServerId, StationId};
use serde::{Deserialize, Serialize};
use sim_core::{JobId, Time};
pub use words::Family;

/// Who sends or receives.
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

/// One message, as it is recorded: a value that can be compared, written and read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// When it leaves.
    pub sent: Time,
    /// When it comes in.
    pub arrives: Time,
    /// Who sends it.
    pub from: Address,
    /// Who receives it.
    pub to: Address,
    /// What it says.
    #[serde(flatten)]
    pub payload: Payload,
}

/// What a message says. The [module](self) tells when it is sent and what the receiver does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Payload {
    /// A job's requirements.
    Request {
        /// Which job.
        job: JobId,
        /// How often it may be forwarded.
        hops: u32,
    },
    /// A copy of a request.
    Forward {
        /// Which job.
        job: JobId,
        /// How often it may still be forwarded.
        hops: u32,
    },
    /// Request for job matching.
    Rfjm {
        /// Whether resources have changed since the last one: then it goes on even if others have gone before.
        anew: bool,
    },
    /// All raw jobs, to be matched.
    Discover {
        /// Number of the discovery in this tree, from 1.
        round: u32,
        /// The classes of all jobs that have been through discovery, these included.
        known: Bag,
        /// How many raw jobs the block holds.
        jobs: u32,
    },
    /// The bags of a scheduler, each with the CPUs that stand behind it.
    Bags {
        /// The discovery that this answers; 0 if resources have changed.
        round: u32,
        /// Each bag, with its processing power.
        bags: Vec<(Bag, u64)>,
        /// Whether a server below is idle for want of any matching job.
        wanting: bool,
    },
    /// Bags that have been bound to a channel. A channel is named by its bag.
    Ports {
        /// Which.
        bags: Vec<Bag>,
    },
    /// Request for computation.
    Rfc {
        /// Through which channel.
        bag: Bag,
        /// Which of its jobs an idle server could run: all of them, unless a bag is that of a whole site (R15).
        wants: Bag,
        /// Number of the request, for the block that answers it. Should more servers become idle that want other jobs, the
        /// request is sent again under its number.
        ticket: u32,
    },
    /// Jobs.
    Block {
        /// Through which channel.
        bag: Bag,
        /// The request that it answers.
        ticket: u32,
        /// Which jobs.
        jobs: Vec<JobId>,
    },
    /// Jobs wanted back.
    Cancel {
        /// The scheduler that wants them.
        by: SchedulerId,
        /// The number of its collection.
        number: u32,
        /// Why.
        reason: Reason,
        /// Which jobs.
        jobs: Vec<JobId>,
    },
    /// Jobs given back.
    Cancelled {
        /// The scheduler that wanted them.
        by: SchedulerId,
        /// The number of its collection.
        number: u32,
        /// Why.
        reason: Reason,
        /// How many jobs this answers for: those that are not given back have gone to a server.
        asked: u32,
        /// Which jobs.
        jobs: Vec<JobId>,
    },
    /// A job has left its queue for a server.
    Started {
        /// Which job.
        job: JobId,
    },
    /// Jobs that have become incomputable.
    Returned {
        /// Which jobs.
        jobs: Vec<JobId>,
    },
    /// A server is free for a job.
    Offer {
        /// Which job.
        job: JobId,
    },
    /// The offer is taken.
    Answer {
        /// Which job.
        job: JobId,
    },
    /// A peer can meet the job's deadline.
    Accept {
        /// Which job.
        job: JobId,
    },
    /// This peer shall have the job.
    Confirm {
        /// Which job.
        job: JobId,
    },
    /// A peer gives a queued job back; a server has no use for an answer any more.
    Decline {
        /// Which job.
        job: JobId,
    },
    /// A scheduler is up again.
    Restarted,
}

/// Which algorithm cancels.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// The requesting child is nearer to the job's work station.
    Butterfly,
    /// The requesting child has less to do.
    LoadBalance,
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident),* $(,)?) => {
        /// The kind of a message, for counting.
        #[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum Kind {
            $($(#[$doc])* $kind,)*
            /// That a message has come in; no payload of its own.
            Acknowledgement,
        }

        impl Kind {
            /// All kinds, in the order of the table.
            pub const ALL: &[Self] = &[$(Self::$kind,)* Self::Acknowledgement];
        }

        impl Payload {
            /// Its kind.
            pub const fn kind(&self) -> Kind {
                match self {
                    $(Self::$kind { .. } => Kind::$kind,)*
                }
            }
        }
    };
}

kinds! {
    /// [`Payload::Request`].
    Request,
    /// [`Payload::Forward`].
    Forward,
    /// [`Payload::Rfjm`].
    Rfjm,
    /// [`Payload::Discover`].
    Discover,
    /// [`Payload::Bags`].
    Bags,
    /// [`Payload::Ports`].
    Ports,
    /// [`Payload::Rfc`].
    Rfc,
    /// [`Payload::Block`].
    Block,
    /// [`Payload::Cancel`].
    Cancel,
    /// [`Payload::Cancelled`].
    Cancelled,
    /// [`Payload::Started`].
    Started,
    /// [`Payload::Returned`].
    Returned,
    /// [`Payload::Offer`].
    Offer,
    /// [`Payload::Answer`].
    Answer,
    /// [`Payload::Accept`].
    Accept,
    /// [`Payload::Confirm`].
    Confirm,
    /// [`Payload::Decline`].
    Decline,
    /// [`Payload::Restarted`].
    Restarted,
}

/// Sees every message as it is sent. It cannot answer: watching changes nothing.
pub trait Witness {
    /// Whether it looks at all. If not, messages are not even put together.
    const LOOKS: bool = true;

    /// A message leaves.
    fn see(&mut self, message: Message);
}

impl Witness for () {
    const LOOKS: bool = false;

    fn see(&mut self, _: Message) {}
}

/// A transcript.
impl Witness for Vec<Message> {
    fn see(&mut self, message: Message) {
        self.push(message);
    }
}

/// Checks a run against the transcript of another: a replay.
///
/// Run the same model again with this as its witness. It compares message by message, so that the first one that differs
/// is known; a run that sends what the transcript holds, and nothing else, is the same run.
#[derive(Clone, Debug)]
pub struct Replay<I> {
    expected: I,
    seen: u64,
    divergence: Option<Box<Divergence>>,
}

/// Where a run departs from a transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// Which message, counted from 1.
    pub number: u64,
    /// What the transcript holds; `None` if it ends there.
    pub expected: Option<Message>,
    /// What the run sent; `None` if it ends there.
    pub found: Option<Message>,
}

impl<I: Iterator<Item = Message>> Replay<I> {
    /// Compares with these messages.
    pub fn new(expected: I) -> Self {
        Self { expected, seen: 0, divergence: None }
    }

    /// How many messages were the same, once the run is over.
    ///
    /// # Errors
    ///
    /// The first message that differs, or that one of the two lacks.
    pub fn finish(mut self) -> Result<u64, Box<Divergence>> {
        if self.divergence.is_none()
            && let Some(expected) = self.expected.next()
        {
            self.divergence =
                Some(Box::new(Divergence { number: self.seen + 1, expected: Some(expected), found: None }));
        }
        self.divergence.map_or(Ok(self.seen), Err)
    }
}

impl<I: Iterator<Item = Message>> Witness for Replay<I> {
    fn see(&mut self, message: Message) {
        if self.divergence.is_some() {
            return;
        }
        let expected = self.expected.next();
        self.seen += 1;
        if expected.as_ref() != Some(&message) {
            self.divergence = Some(Box::new(Divergence { number: self.seen, expected, found: Some(message) }));
        }
    }
}
