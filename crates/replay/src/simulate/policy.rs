//! Policies of space-shared machines by the names that they have on the command line: `easy+order=wfp3+backfill=spf`.

#[cfg(test)]
mod tests;

use super::exec::Command;
use super::name::PolicyName;
use super::own::Own;
use super::predicting::Predicting;
use super::world::Named;
use crate::run_options::PassesName;
use gap_schedule::{
    Backfilling, Completion, CompressOrder, Conservative, Depth, Easy, EgEdf, Fcfs, FlexibleBackfill, GapFilling,
    IfNewcomerFits, Moves, Order, OrderedBackfill, Placement, Planner, Priority, StopCriterion, Tabu, Weight,
};
use lab::provenance::executable;
use lab::scenario::did_you_mean;
use sim_core::{Purpose, Span, Streams};
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::{Duration, Instant};

/// A policy with its settings. Policies are named once in the life of a process, on its command line; names and commands are
/// leaked there, so that a policy stays a plain value.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Policy {
    kind: Kind,
    /// As the folder of its results is called: the name in normal form.
    name: &'static str,
    settings: Settings,
}

/// Policies without their settings.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Fcfs,
    Easy,
    Cons,
    BestGap,
    Bgt,
    SwiftGap,
    Flex,
    EgEdf,
    EgEdfTabu,
    /// A program of the user's own.
    Exec(&'static Command),
    Own(&'static Own),
}

#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
struct Settings {
    order: Option<Order>,
    backfill: Option<Order>,
    reserve: Option<Depth>,
    threshold: Option<Span>,
    compress: Option<CompressOrder>,
    /// What is expected of a job instead of its request: orders and reservations go by it.
    predicting: Option<Predicting>,
}

pub(super) struct Search {
    pub(super) seed: u64,
    /// Iterations of Tabu search after each arrival, at most.
    pub(super) tabu_iterations: u32,
    /// After which each is ended by the clock.
    pub(super) time_limit: Option<Duration>,
}

impl Policy {
    /// Every policy by its name, with the settings that it takes; `predict` includes `correct`.
    const ALL: [(&str, Kind, &[&str]); 9] = [
        ("fcfs", Kind::Fcfs, &["order", "threshold", "predict"]),
        ("easy", Kind::Easy, &["order", "backfill", "reserve", "threshold", "predict"]),
        ("cons", Kind::Cons, &["order", "compress", "threshold", "predict"]),
        ("best-gap", Kind::BestGap, &[]),
        ("bgt", Kind::Bgt, &[]),
        ("sg", Kind::SwiftGap, &[]),
        ("flex", Kind::Flex, &["reserve"]),
        ("eg-edf", Kind::EgEdf, &[]),
        ("eg-edf-tabu", Kind::EgEdfTabu, &[]),
    ];

    /// The bases of names, for messages.
    pub(super) fn names() -> String {
        Self::ALL.map(|(name, ..)| name).join(", ")
    }

    /// The policy called `text`: one of `own`, or one of ours.
    pub(crate) fn find(text: &str, own: &[&'static Own]) -> Result<Self, String> {
        match own.iter().find(|own| own.name() == text) {
            Some(own) => Ok(Self { kind: Kind::Own(own), name: own.name(), settings: Settings::default() }),
            None => text.parse(),
        }
    }

    /// The same; `None` if no policy has this base.
    pub(crate) fn of_base(text: &str, own: &[&'static Own]) -> Option<Result<Self, String>> {
        let base = PolicyName::base_of(text);
        let is_known = base == "exec"
            || own.iter().any(|own| own.name() == text)
            || Self::ALL.iter().any(|(name, ..)| *name == base);
        is_known.then(|| Self::find(text, own))
    }

    /// As the folder of its results is called.
    pub(crate) const fn name(self) -> &'static str {
        self.name
    }

    /// The policy without settings; `None` if it has some.
    pub(super) fn plain(self) -> Option<Kind> {
        (self.settings == Settings::default()).then_some(self.kind)
    }

    /// Its program, if it is one of the user's own.
    pub(crate) const fn command(self) -> Option<&'static Command> {
        if let Kind::Exec(command) = self.kind { Some(command) } else { None }
    }

    /// Files whose content decides what it does: the program of an `exec+` policy with the files among its arguments; the running
    /// executable of a policy that the program adds. Gridproof's own policies have none: their code is that of its sources.
    pub(super) fn files(self) -> Vec<PathBuf> {
        match self.kind {
            Kind::Exec(command) => command.files(),
            Kind::Own(_) => vec![executable().to_owned()],
            _ => Vec::new(),
        }
    }

    /// What reports know of it on this number of places.
    pub(super) fn named(self, places: usize) -> Named {
        let searches = matches!(self.kind, Kind::Bgt | Kind::SwiftGap);
        let idles = (searches && places == 1).then(|| {
            format!(
                "{self}: there is one cluster, on which its search can improve nothing and is not played; its schedule is that \
                 of cons+compress=reserved (in profile clean)"
            )
        });
        Named { name: self.name.to_owned(), given: self.to_string(), files: self.files(), idles }
    }

    /// The policy on this number of places, before its first job.
    ///
    /// # Panics
    ///
    /// If it is a program: that is started elsewhere, since it may fail to.
    pub(super) fn at_work(self, options: &Search, places: usize) -> Box<dyn gap_schedule::Policy> {
        let (placement, Settings { order, backfill, reserve, threshold, compress, .. }) =
            (Placement::Fastest, self.settings);
        let order = order.unwrap_or_default();
        let priority = Priority { order, threshold };
        let search = || Streams::new(options.seed, 0).stream(Purpose("search"), 0);
        match self.kind {
            Kind::Fcfs => Box::new(Fcfs::in_order(priority)),
            Kind::Easy => {
                // Those behind are looked at in the order of the queue, unless they are given another.
                let (backfill, reserve) = (backfill.unwrap_or(order), reserve.unwrap_or(Depth::Jobs(1)));
                let rule = Backfilling { order, backfill, reserve, threshold, placement };
                if rule == Backfilling::default() {
                    // The same schedule, without a queue of its own.
                    Box::new(Easy::default())
                } else {
                    Box::new(OrderedBackfill::new(rule))
                }
            }
            Kind::Cons => Box::new(
                Conservative::new(placement).with_compress_order(compress.unwrap_or_default()).with_order(priority),
            ),
            Kind::BestGap => Box::new(GapFilling::best_gap(placement)),
            Kind::Bgt => Box::new(GapFilling::bgt(placement, search())),
            Kind::SwiftGap => {
                // Between clusters there is nothing where there is one: the search then moves jobs within it.
                let moves = if places > 1 { Moves::BetweenClusters } else { Moves::Any };
                let readings = (Completion::FromSubmission, Weight::SumOfRatios, moves);
                Box::new(GapFilling::swift_gap(placement, readings, search()))
            }
            Kind::Flex => {
                let flex = FlexibleBackfill::default();
                Box::new(if let Some(depth) = reserve { flex.with_reserve(depth) } else { flex })
            }
            Kind::EgEdf => Box::new(Planner::new(EgEdf::new(), None)),
            Kind::EgEdfTabu => {
                let planner = Planner::new(EgEdf::new(), Some(Tabu::new().with_iterations(options.tabu_iterations)));
                match options.time_limit {
                    None => Box::new(planner),
                    Some(limit) => Box::new(planner.halted_by(WallClock { limit, until: None })),
                }
            }
            Kind::Own(own) => own.at_work(),
            Kind::Exec(command) => panic!("{} is started as a program", command.name()),
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

    /// Predictors of run times, where its name has some.
    pub(super) const fn predicting(self) -> Option<Predicting> {
        self.settings.predicting
    }

    /// Whether it is EASY with its one reservation, in order of arrival throughout.
    fn is_plain_easy(self) -> bool {
        let Settings { order, backfill, reserve, .. } = self.settings;
        let by_arrival = |order: Option<Order>| order.is_none_or(|order| order == Order::Fcfs);
        self.kind == Kind::Easy
            && by_arrival(order)
            && by_arrival(backfill)
            && reserve.is_none_or(|reserve| reserve == Depth::Jobs(1))
    }

    /// Whether it can be built from the running and waiting jobs in the midst of a run.
    pub(super) const fn can_be_built_anew(self) -> bool {
        matches!(self.kind, Kind::Fcfs | Kind::Easy | Kind::Cons | Kind::Flex)
    }

    /// Whether `--time-limit` concerns it.
    pub(super) fn searches(self) -> bool {
        self.kind == Kind::EgEdfTabu
    }
}

impl Settings {
    /// Takes the settings of these keys out of a name.
    fn take(keys: &[&str], name: &mut PolicyName) -> Result<Self, String> {
        const SPAN: &str = "a span above 0 such as 2d, 12h, 30m or 3600 (seconds)";
        let (given, mut all) = (name.to_string(), Self::default());
        for key in keys {
            match *key {
                "order" => all.order = take_order("order", name)?,
                "backfill" => all.backfill = take_order("backfill", name)?,
                "reserve" => {
                    all.reserve = name.take("reserve", "a number of reservations from 0 on, or all", depth)?;
                }
                "compress" => all.compress = name.take("compress", "arrival or reserved", compress_order)?,
                "threshold" => all.threshold = name.take("threshold", SPAN, span)?,
                _ => all.predicting = Predicting::take(name)?,
            }
        }
        if all.backfill.is_some() && all.reserve == Some(Depth::All) {
            return Err(format!(
                "{given:?}: backfill orders those who hold no reservation, and with reserve=all everybody holds one; leave \
                 one of the two out"
            ));
        }
        if all.compress == Some(CompressOrder::Reserved) && (all.order.is_some() || all.threshold.is_some()) {
            return Err(format!(
                "{given:?}: compress=reserved goes by reserved starts, and order and threshold are about other orders; \
                 leave compress out, or those"
            ));
        }
        Ok(all)
    }
}

fn take_order(key: &'static str, name: &mut PolicyName) -> Result<Option<Order>, String> {
    let names = Order::ALL.map(Order::name);
    let wrong = name.value(key).filter(|value| Order::named(value).is_none());
    let hint = wrong.map_or_else(String::new, |wrong| did_you_mean(wrong, names.into_iter()));
    let expected = format!("{}{hint}", names.join(", "));
    name.take(key, &expected, Order::named)
}

fn compress_order(text: &str) -> Option<CompressOrder> {
    match text {
        "arrival" => Some(CompressOrder::Arrival),
        "reserved" => Some(CompressOrder::Reserved),
        _ => None,
    }
}

fn depth(text: &str) -> Option<Depth> {
    if text == "all" { Some(Depth::All) } else { text.parse().ok().map(Depth::Jobs) }
}

fn span(text: &str) -> Option<Span> {
    let span = workload::outages::span(text).or_else(|| workload::outages::span(&format!("{text}s")));
    span.filter(|span| !span.is_zero())
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
        match self.kind {
            Kind::Exec(Command(words)) => write!(f, "exec+{}", words.join(" ")),
            _ => f.write_str(self.name),
        }
    }
}

impl FromStr for Policy {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let leaked = |name: String| -> &'static str { Box::leak(name.into_boxed_str()) };
        if let Some(command) = text.strip_prefix("exec+") {
            let command: &'static Command = Box::leak(Box::new(Command::parse(command)?));
            let (name, settings) = (leaked(command.name()), Settings::default());
            return Ok(Self { kind: Kind::Exec(command), name, settings });
        }
        let mut name = PolicyName::parse(text)?;
        let Some((base, kind, keys)) = Self::ALL.into_iter().find(|(known, ..)| *known == name.base()) else {
            let hint = did_you_mean(name.base(), Self::ALL.iter().map(|(name, ..)| *name));
            return Err(format!("no policy is called {text:?}{hint}; there are {}", Self::names()));
        };
        let given = name.to_string();
        let settings = Settings::take(keys, &mut name)?;
        name.finish()?;
        if settings == (Settings { compress: Some(CompressOrder::Arrival), ..Settings::default() }) {
            return Ok(Self { kind, name: base, settings: Settings::default() });
        }
        Ok(Self { kind, name: leaked(given), settings })
    }
}
