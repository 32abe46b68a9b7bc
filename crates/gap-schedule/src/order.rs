//! Orders of the queue.

use crate::queue::QueuedJob;
use sim_core::{Span, Time};
use std::fmt;

/// Declares the named orders: name on the command line, definition of the key, and source of each, which end its documentation.
macro_rules! orders {
    ($(#[$meta:meta])* pub enum $Orders:ident { $($(#[$doc:meta])* $Order:ident $name:literal $definition:literal $source:literal;)+ }) => {
        $(#[$meta])*
        #[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
        pub enum $Orders {
            $($(#[$doc])* #[doc = concat!("\n", $definition, ". Source: ", $source, ".")] $Order,)+
            /// An order of your own, given as a function.
            Keyed(Keyed),
        }

        impl $Orders {
            /// Every order with a name on the command line, in the order of the documentation.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$Order),+];

            /// Name, definition and source.
            const fn entry(self) -> [&'static str; 3] {
                match self {
                    $(Self::$Order => [$name, $definition, $source],)+
                    Self::Keyed(keyed) => [keyed.name, "a function of the job, smallest first", "the program that adds it"],
                }
            }
        }
    };
}

orders! {
    /// Order of the queue: each job has a number, its [`key`](Self::key), and jobs have their turns by ascending key.
    ///
    /// *Ties* are broken by arrival in every order.
    ///
    /// In the definitions, *r* is the expected run time in seconds at reference speed (the user's estimate, or the
    /// prediction that replaces it), *n* the number of processors, *s* the submission in seconds from the beginning of the
    /// simulation, which is the first submission of a log, and *w* the wait so far in seconds.
    ///
    /// Common rules for all formulas: a job without an estimate is expected to run for ever (*r* is infinite), and 0 / 0 is
    /// 0. Inside a logarithm, *r* and *s* below 1 s count as 1 s.
    ///
    /// ```
    /// use gap_schedule::{Order, QueuedJob};
    /// use sim_core::{Job, JobId, Span, Time};
    ///
    /// let job = |id, processors, runtime| Job::new(JobId(id), Time::ZERO, processors, Span::from_secs(runtime));
    /// let (wide, long) = (QueuedJob::of(&job(0, 64, 600)), QueuedJob::of(&job(1, 4, 3_600)));
    /// let now = Time::from_secs(60);
    /// assert!(Order::Sjf.key(&wide, now) < Order::Sjf.key(&long, now));
    /// assert!(Order::Saf.key(&long, now) < Order::Saf.key(&wide, now)); // 14 400 s of processor time against 38 400 s
    /// ```
    pub enum Order {
        /// First come, first served.
        #[default]
        Fcfs "fcfs" "by arrival" "textbooks";
        /// Shortest job first.
        Sjf "sjf" "r, smallest first" "textbooks";
        /// Shortest predicted first: the same as [`Sjf`](Self::Sjf), under the name used where *r* is predicted.
        ///
        /// D. Tsafrir, Y. Etsion and D. G. Feitelson, "Backfilling Using System-Generated Predictions Rather Than User Runtime
        /// Estimates", IEEE TPDS 18(6), 2007: the order in which EASY++ (EASY-SJBF) backfills.
        Spf "spf" "r, smallest first (the same where r is predicted)" "Tsafrir, Etsion & Feitelson, TPDS 2007";
        /// Longest job first.
        Ljf "ljf" "r, largest first" "textbooks";
        /// Smallest area first.
        Saf "saf" "r · n, smallest first" "textbooks";
        /// Largest area first.
        Laf "laf" "r · n, largest first" "textbooks";
        /// Narrowest first.
        Narrow "narrow" "n, smallest first" "textbooks";
        /// Widest first.
        Wide "wide" "n, largest first" "textbooks";
        /// Largest expansion factor first, the slowdown of the job if it started now.
        ///
        /// S. Srinivasan, R. Kettimuthu, V. Subramani and P. Sadayappan, "Characterization of backfilling strategies for parallel
        /// job scheduling", ICPP workshops 2002 (there: XFactor).
        Lxf "lxf" "(w + r) / r, largest first" "Srinivasan et al., ICPP workshops 2002";
        /// Favours old and short jobs, and wide ones among them.
        ///
        /// W. Tang, Z. Lan, N. Desai and D. Buettner, "Fault-aware, utility-based job scheduling on Blue Gene/P systems", IEEE
        /// CLUSTER 2009.
        Wfp3 "wfp3" "(w / r)³ · n, largest first" "Tang et al., CLUSTER 2009";
        /// Fast turnaround for small jobs. The logarithm is 0 for a serial job, so a serial job that has waited at all comes
        /// before every wider one.
        Unicef "unicef" "w / (log2 n · r), largest first" "Tang et al., CLUSTER 2009";
        /// D. Carastan-Santos and R. Y. de Camargo, "Obtaining dynamic scheduling policies with simulation and machine learning",
        /// SC'17; in program text in D. Zhang, D. Dai, Y. He, F. S. Bao and B. Xie, "RLScheduler", SC'20 (as are WFP3, UNICEF and
        /// F2 to F4).
        F1 "f1" "log10 r · n + 870 log10 s, smallest first" "Carastan-Santos & de Camargo, SC'17";
        F2 "f2" "√r · n + 25600 log10 s, smallest first" "Carastan-Santos & de Camargo, SC'17";
        F3 "f3" "r · n + 6860000 log10 s, smallest first" "Carastan-Santos & de Camargo, SC'17";
        F4 "f4" "r · √n + 530000 log10 s, smallest first" "Carastan-Santos & de Camargo, SC'17";
    }
}

/// Order by a function of the job and the present instant: the smallest value first, NaN last.
///
/// ```
/// use gap_schedule::{Backfilling, Keyed, Order, OrderedBackfill};
///
/// // Users with odd numbers first; among those, the narrowest.
/// let odd_first = Keyed::new("odd-first", |job, _| {
///     let is_even = job.request.user.is_some_and(|user| user % 2 == 0);
///     f64::from(job.request.processors) + if is_even { 1e9 } else { 0.0 }
/// });
/// let order = Order::Keyed(odd_first);
/// let policy = OrderedBackfill::new(Backfilling { order, backfill: order, ..Backfilling::default() });
/// ```
#[derive(Copy, Clone)]
pub struct Keyed {
    name: &'static str,
    key: &'static (dyn Fn(&QueuedJob, Time) -> f64 + Send + Sync),
}

impl Keyed {
    /// Returns the order by `key`.
    ///
    /// The function is kept until the process ends, so that an order stays a plain `Copy` value: call this once for
    /// each order, not once for each run.
    pub fn new(name: &'static str, key: impl Fn(&QueuedJob, Time) -> f64 + Send + Sync + 'static) -> Self {
        Self { name, key: Box::leak(Box::new(key)) }
    }
}

impl PartialEq for Keyed {
    /// Compares names, since functions cannot be compared: orders with the same name are the same.
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Keyed {}

impl fmt::Debug for Keyed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Keyed({:?})", self.name)
    }
}

/// Position of a job in an [`Order`]: the smaller, the earlier its turn. Keys of different orders are not comparable.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key(u128);

/// Order with a threshold: jobs that have waited that long go before all others, in order of arrival.
///
/// The threshold guards against starvation, which every order but that of arrival permits: under [`Order::Sjf`], a wide
/// job may be overtaken for ever.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Priority {
    /// Order of the jobs that have waited less than the threshold.
    pub order: Order,
    /// Wait since submission after which a job goes first. Without it, no job does.
    pub threshold: Option<Span>,
}

impl Order {
    /// Name, as in the names of policies.
    pub const fn name(self) -> &'static str {
        self.entry()[0]
    }

    /// Returns the order with that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|order| order.name() == name)
    }

    /// Definition of the key, in the letters that [`Order`] explains.
    pub const fn definition(self) -> &'static str {
        self.entry()[1]
    }

    /// Source of the order.
    pub const fn source(self) -> &'static str {
        self.entry()[2]
    }

    /// Returns the position of the job at the instant `now`.
    pub fn key(self, job: &QueuedJob, now: Time) -> Key {
        let (processors, expected) = (job.request.processors, job.request.estimate.unwrap_or(Span::MAX).as_nanos());
        let (n, r) = (f64::from(processors), job.request.estimate.map_or(f64::INFINITY, Span::as_secs_f64));
        let waited = || now.saturating_since(job.submit).as_secs_f64();
        let log_s = || libm::log10(job.submit.as_secs_f64().max(1.0));
        match self {
            Self::Fcfs => Key(0),
            Self::Sjf | Self::Spf => Key(expected.into()),
            Self::Ljf => Key(Key::LARGEST - u128::from(expected)),
            Self::Saf => Key(area(job)),
            Self::Laf => Key(Key::LARGEST - area(job)),
            Self::Narrow => Key(processors.into()),
            Self::Wide => Key(Key::LARGEST - u128::from(processors)),
            // (w + r) / r, where r may be infinite.
            Self::Lxf => Key::largest_first(1.0 + ratio(waited(), r)),
            Self::Wfp3 => {
                let ratio = ratio(waited(), r);
                Key::largest_first(ratio * ratio * ratio * n)
            }
            Self::Unicef => Key::largest_first(ratio(waited(), if n > 1.0 { libm::log2(n) * r } else { 0.0 })),
            Self::F1 => Key::smallest_first(libm::log10(r.max(1.0)) * n + 870.0 * log_s()),
            Self::F2 => Key::smallest_first(r.sqrt() * n + 25_600.0 * log_s()),
            Self::F3 => Key::smallest_first(r * n + 6_860_000.0 * log_s()),
            Self::F4 => Key::smallest_first(r * n.sqrt() + 530_000.0 * log_s()),
            Self::Keyed(keyed) => {
                let value = (keyed.key)(job, now);
                Key::smallest_first(if value.is_nan() { f64::INFINITY } else { value + 0.0 })
            }
        }
    }
}

impl Key {
    /// Above it, a bit is left for [`Priority::turn`].
    const LARGEST: u128 = u128::MAX >> 1;

    /// Orders numbers ascending; none is NaN.
    fn smallest_first(value: f64) -> Self {
        Self(u128::from(ascending(value)))
    }

    pub(crate) fn largest_first(value: f64) -> Self {
        Self::smallest_first(-value)
    }
}

impl Priority {
    /// Returns true for the order of arrival without a threshold.
    pub(crate) fn is_arrival(self) -> bool {
        self == Self::default()
    }

    /// Returns the position of the job at the instant `now`: the smaller, the earlier its turn. Ties are broken by
    /// arrival. Jobs that have waited for the threshold come before all others.
    pub(crate) fn turn(self, job: &QueuedJob, now: Time) -> Key {
        let is_patient = self.threshold.is_none_or(|threshold| now.saturating_since(job.submit) < threshold);
        if is_patient { Key(!Key::LARGEST | self.order.key(job, now).0) } else { Key(0) }
    }
}

/// Returns an integer that ascends with the number, in the order of [`f64::total_cmp`].
pub(crate) fn ascending(value: f64) -> u64 {
    let bits = value.to_bits();
    // The bits of positive numbers ascend with them; those of negative ones descend.
    if value.is_sign_negative() { !bits } else { bits | 1 << 63 }
}

/// Expected processor time, in nanoseconds.
fn area(job: &QueuedJob) -> u128 {
    let Some(expected) = job.request.estimate else { return Key::LARGEST };
    u128::from(expected.as_nanos()) * u128::from(job.request.processors)
}

/// Returns the quotient of two non-negative numbers, 0 instead of NaN.
fn ratio(of: f64, to: f64) -> f64 {
    let ratio = of / to;
    if ratio.is_nan() { 0.0 } else { ratio }
}
