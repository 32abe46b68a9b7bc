//! Policies by the names they have on the command line.

#[cfg(test)]
mod tests;

use super::exec::Command;
use super::name::PolicyName;
use super::own::Own;
use super::predicting::Predicting;
use super::queueing::{Base, Queueing, depth};
use crate::run_options::PassesName;
use gap_schedule::{Completion, Moves, Weight};
use gap_schedule::{
    CompressOrder, Conservative, Depth, Easy, EgEdf, Fcfs, FlexibleBackfill, GapFilling, IfNewcomerFits, Placement,
    Planner, StopCriterion, Tabu,
};
use lab::provenance::executable;
use lab::scenario::did_you_mean;
use sim_core::{Purpose, Streams};
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::{Duration, Instant};

/// A policy of gap-schedule.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Policy {
    Fcfs,
    Easy,
    Cons(CompressOrder),
    /// One of these with settings.
    Queue(Queueing),
    BestGap,
    Bgt,
    SwiftGap,
    Flex,
    /// Flexible backfilling with another number of reservations.
    FlexWith(Depth),
    EgEdf,
    EgEdfTabu,
    /// A program of the user's own. Policies are named once in the life of a process, on its command line, and the
    /// command is leaked there, so that a policy stays a plain value.
    Exec(&'static Command),
    /// Added by the program.
    Own(&'static Own),
}

/// How policies search that do.
pub(super) struct Search {
    pub(super) seed: u64,
    /// Iterations of Tabu search after each arrival, at most.
    pub(super) tabu_iterations: u32,
    /// After which each is ended by the clock.
    pub(super) time_limit: Option<Duration>,
}

impl Policy {
    /// Every policy by its name; those of a [`Queueing`] and `flex+reserve=K` beside these.
    const ALL: [(&str, Self); 9] = [
        ("fcfs", Self::Fcfs),
        ("easy", Self::Easy),
        ("cons", Self::Cons(CompressOrder::Arrival)),
        ("best-gap", Self::BestGap),
        ("bgt", Self::Bgt),
        ("sg", Self::SwiftGap),
        ("flex", Self::Flex),
        ("eg-edf", Self::EgEdf),
        ("eg-edf-tabu", Self::EgEdfTabu),
    ];

    /// The bases of names, for messages.
    pub(super) fn names() -> [&'static str; 9] {
        Self::ALL.map(|(name, _)| name)
    }

    /// As on the command line, and as the folder of its results is called.
    pub(super) fn name(self) -> String {
        let with = |base: &str, depth| match depth {
            Depth::Jobs(jobs) => PolicyName::new(base).with("reserve", jobs).to_string(),
            Depth::All => PolicyName::new(base).with("reserve", "all").to_string(),
        };
        match self {
            Self::FlexWith(depth) => with("flex", depth),
            Self::Cons(CompressOrder::Reserved) => PolicyName::new("cons").with("compress", "reserved").to_string(),
            Self::Queue(queue) => queue.name().to_owned(),
            Self::Exec(command) => command.name(),
            Self::Own(own) => own.name().to_owned(),
            _ => {
                let named = Self::ALL.into_iter().find(|(_, policy)| *policy == self);
                named.expect("every other policy has one name").0.to_owned()
            }
        }
    }

    /// Files whose content decides what it does: the program of an `exec+` policy with the files among its arguments; the running
    /// executable of a policy that the program adds. Gridproof's own policies have none: their code is that of its sources.
    pub(super) fn files(self) -> Vec<PathBuf> {
        match self {
            Self::Exec(command) => command.files(),
            Self::Own(_) => vec![executable().to_owned()],
            _ => Vec::new(),
        }
    }

    /// The policy at work on so many places, to which nothing has happened yet.
    ///
    /// # Panics
    ///
    /// If it is a program: that is started elsewhere, since it may fail to.
    pub(super) fn at_work(self, options: &Search, places: usize) -> Box<dyn gap_schedule::Policy> {
        let placement = Placement::Fastest;
        let search = || Streams::new(options.seed, 0).stream(Purpose("search"), 0);
        match self {
            Self::Fcfs => Box::new(Fcfs::default()),
            Self::Easy => Box::new(Easy::default()),
            Self::Queue(queue) => queue.at_work(),
            Self::Cons(order) => Box::new(Conservative::new(placement).with_compress_order(order)),
            Self::BestGap => Box::new(GapFilling::best_gap(placement)),
            Self::Bgt => Box::new(GapFilling::bgt(placement, search())),
            Self::SwiftGap => {
                // Between clusters there is nothing where there is one: the search then moves jobs within it.
                let moves = if places > 1 { Moves::BetweenClusters } else { Moves::Any };
                let readings = (Completion::FromSubmission, Weight::SumOfRatios, moves);
                Box::new(GapFilling::swift_gap(placement, readings, search()))
            }
            Self::Flex => Box::new(FlexibleBackfill::default()),
            Self::FlexWith(depth) => Box::new(FlexibleBackfill::default().with_reserve(depth)),
            Self::EgEdf => Box::new(Planner::new(EgEdf::new(), None)),
            Self::Own(own) => own.at_work(),
            Self::EgEdfTabu => {
                let planner = Planner::new(EgEdf::new(), Some(Tabu::new().with_iterations(options.tabu_iterations)));
                match options.time_limit {
                    None => Box::new(planner),
                    Some(limit) => Box::new(planner.halted_by(WallClock { limit, until: None })),
                }
            }
            Self::Exec(command) => panic!("{} is started as a program", command.name()),
        }
    }

    /// The same, where the policy is asked at these passes: under those of the simulator pyss its plain EASY has a habit, and no other
    /// policy there.
    ///
    /// # Panics
    ///
    /// If it is a program.
    pub(super) fn at_work_under(
        self,
        passes: PassesName,
        options: &Search,
        places: usize,
    ) -> Box<dyn gap_schedule::Policy> {
        let at_work = self.at_work(options, places);
        if passes == PassesName::Pyss && self.is_plain_easy() {
            Box::new(IfNewcomerFits::new(at_work))
        } else {
            at_work
        }
    }

    /// Who predicts run times, where its name says so.
    pub(super) const fn predicting(&self) -> Option<Predicting> {
        match self {
            Self::Queue(queue) => queue.predicting(),
            _ => None,
        }
    }

    /// Whether it is EASY with its one reservation, in order of arrival throughout.
    fn is_plain_easy(&self) -> bool {
        match self {
            Self::Easy => true,
            Self::Queue(queue) => queue.is_plain_easy(),
            _ => false,
        }
    }

    /// Why it does not do what its name promises on so many places, if it does not.
    pub(super) fn idles(self, places: usize) -> Option<String> {
        let searches = matches!(self, Self::Bgt | Self::SwiftGap);
        (searches && places == 1).then(|| {
            format!(
                "{self}: there is one cluster, on which its search can improve nothing and is not played; its schedule is that \
                 of cons+compress=reserved (in profile clean)"
            )
        })
    }

    /// Whether `--time-limit` concerns it.
    pub(super) fn searches(self) -> bool {
        self == Self::EgEdfTabu
    }
}

/// Ends a search after some time.
struct WallClock {
    limit: Duration,
    until: Option<Instant>,
}

impl WallClock {
    #[expect(clippy::disallowed_methods, reason = "only where --time-limit is given, which marks the results")]
    fn now() -> Instant {
        Instant::now()
    }
}

impl StopCriterion for WallClock {
    fn begin(&mut self) {
        self.until = Some(Self::now() + self.limit);
    }

    fn is_due(&mut self) -> bool {
        self.until.is_some_and(|until| Self::now() >= until)
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exec(Command(words)) => write!(f, "exec+{}", words.join(" ")),
            _ => f.write_str(&self.name()),
        }
    }
}

impl FromStr for Policy {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(command) = text.strip_prefix("exec+") {
            return Ok(Self::Exec(Box::leak(Box::new(Command::parse(command)?))));
        }
        let mut name = PolicyName::parse(text)?;
        let Some((_, mut policy)) = Self::ALL.into_iter().find(|(known, _)| *known == name.base()) else {
            let names = Self::names();
            let hint = did_you_mean(name.base(), names.into_iter());
            return Err(format!("no policy is called {text:?}{hint}; there are {}", names.join(", ")));
        };
        let base = match policy {
            Self::Fcfs => Some(Base::Fcfs),
            Self::Easy => Some(Base::Easy),
            Self::Cons(_) => Some(Base::Cons),
            _ => None,
        };
        if let Some(base) = base {
            let plain = name.to_string() == name.base();
            let queue = Queueing::take(base, &mut name)?;
            policy = match queue.compresses_alone() {
                Some(order) => Self::Cons(order),
                None if plain => policy,
                None => Self::Queue(queue),
            };
        }
        if policy == Self::Flex
            && let Some(depth) = name.take("reserve", "a number of reservations from 0 on, or all", depth)?
        {
            policy = Self::FlexWith(depth);
        }
        name.finish().map(|()| policy)
    }
}
