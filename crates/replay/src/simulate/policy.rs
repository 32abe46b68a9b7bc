//! Registry of the policies of space-shared machines, read by the parser, the help and messages.

#[cfg(test)]
mod tests;

use super::exec;
use super::name::{PolicyName, legal};
use super::own::Own;
use super::slurm::SlurmCluster;
use super::world::Named;
use crate::options::{MachineOptions, PassesName};
use gap_schedule::{
    Backfilling, CompressOrder, Conservative, Corrector, Depth, EgEdf, Fcfs, FlexibleBackfill, ForkablePolicy,
    GapFilling, Machine, MeanOfUser, MultiCluster, Order, OrderedBackfill, Placement, Planner, Policy as AtWork,
    Predictions, Priority, Tabu,
};
use lab::output::provenance::executable;
use lab::scenario::did_you_mean;
use sim_core::{Job, Purpose, Span, Stream, Streams};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use workload::Estimates;

#[derive(Debug)]
struct Base {
    name: &'static str,
    about: &'static str,
    /// Keys of [`SETTINGS`].
    settings: &'static [&'static str],
    /// Builds the policy from its settings, the seed and the options of the run.
    build: fn(&Settings, u64, &MachineOptions) -> Box<dyn ForkablePolicy>,
}

static BASES: [Base; 10] = [
    Base {
        name: "fcfs",
        about: "first come first served; a job that does not fit blocks those behind it",
        settings: &["order", "threshold", "predict", "correct"],
        build: |settings, _, _| Box::new(Fcfs::in_order(settings.priority())),
    },
    Base {
        name: "easy",
        about: "EASY backfilling: other jobs may start if they do not delay the first one",
        settings: &["order", "backfill", "reserve", "threshold", "predict", "correct"],
        build: |settings, _, on| {
            let rule = settings.rule;
            let policy = OrderedBackfill::new(rule);
            // The plain EASY of the simulator pyss, and no other policy there, makes no pass for a job that does not fit.
            let is_plain = (rule.order, rule.backfill, rule.reserve) == (Order::Fcfs, Order::Fcfs, Depth::Jobs(1));
            let skips = is_plain && on.passes == Some(PassesName::Pyss);
            Box::new(if skips { policy.if_newcomer_fits() } else { policy })
        },
    },
    Base {
        name: "cons",
        about: "conservative backfilling: other jobs may start if they delay no waiting job. When a job ends early, the \
                waiting jobs, in order of arrival, move to their earliest start then, or keep their start (Feitelson & \
                Weil 1998, Mu'alem & Feitelson 2001; the simulator pyss)",
        settings: &["order", "compress", "threshold", "predict", "correct"],
        build: |settings, _, _| Box::new(Conservative::new(Placement::Fastest, settings.compress, settings.priority())),
    },
    Base {
        name: "flex",
        about: "Flexible backfilling: EASY over a queue sorted by age, deadline and length",
        settings: &["reserve"],
        build: |settings, _, _| Box::new(FlexibleBackfill::default().with_reserve(settings.rule.reserve)),
    },
    Base {
        name: "best-gap",
        about: "a plan: each job in the best of its earliest gaps, by fairness, wait, response and slowdown",
        settings: &[],
        build: |_, _, _| Box::new(GapFilling::best_gap(Placement::Fastest)),
    },
    Base {
        name: "bgt",
        about: "the same, and a Tabu search moves jobs every 300 s",
        settings: &[],
        build: |_, seed, _| Box::new(GapFilling::bgt(Placement::Fastest, stream(seed))),
    },
    Base {
        name: "sg",
        about: "Swift Gap: as best-gap, but by completion times; the search moves jobs between clusters (on one cluster \
                neither search can improve anything: bgt and sg are then cons+compress=reserved, as the run reports)",
        settings: &[],
        build: |_, seed, _| Box::new(GapFilling::swift_gap(Placement::Fastest, stream(seed))),
    },
    Base {
        name: "eg-edf",
        about: "a plan: each job in its earliest gap, else by its deadline",
        settings: &[],
        build: |_, _, _| Box::new(Planner::new(EgEdf::default(), None)),
    },
    Base {
        name: "eg-edf-tabu",
        about: "the same, and late jobs are moved into earlier gaps by Tabu search",
        settings: &[],
        build: |_, _, on| {
            let mut tabu = Tabu::default();
            tabu.iterations = on.tabu_iterations();
            Box::new(Planner::new(EgEdf::default(), Some(tabu)))
        },
    },
    Base {
        name: "slurm",
        about: "the decisions of slurmctld (main pass, backfill pass, multifactor priority) on whole nodes: \
                slurm+conf=./slurm.conf, and any settings of that file, as +bf_max_job_test=2000. The machine has the \
                processors of the default partition; the phases of the loops are drawn from --seed. docs/slurm.md",
        settings: &["conf", "accounts", "version"],
        build: |settings, seed, _| Box::new(settings.slurm.clone().expect("the name has a file").at_work(seed)),
    },
];

/// Names in the literature, and ours.
const ALIASES: [(&str, &str); 6] = [
    ("FCFS", "fcfs"),
    ("SJF", "fcfs+order=sjf"),
    ("EASY", "easy"),
    ("EASY-SJBF", "easy+backfill=spf"),
    ("EASY++", "easy+predict=tsafrir+correct=tsafrir+backfill=spf"),
    ("CONS", "cons"),
];

/// Settings: key, values in the help, meaning.
const SETTINGS: [(&str, &str, &str); 10] = [
    ("order", "ORDER", "the queue, and under cons the moves after an early end, in another order: see below"),
    ("backfill", "ORDER", "order of the jobs that may pass the first one; that of the queue if not given"),
    (
        "reserve",
        "K",
        "K reservations, K = 0, 1, 2, …, all; recomputed in the order of the queue whenever something was not expected, \
         and then possibly later than before (also with all, which is not cons)",
    ),
    (
        "threshold",
        "SPAN",
        "jobs that have waited that long (2d, 12h, 30m, or seconds) go first, by arrival, in every order: the guard against \
         starvation",
    ),
    (
        "compress",
        "reserved",
        "moves after an early end in order of reserved starts, as plans that are lists make them (Alea)",
    ),
    (
        "predict",
        "HOW",
        "expected run time in place of the request, which stays the limit: tsafrir (the mean of its user's last two jobs to \
         end, at most the request), mean-of-user=K (of the last K), double-requested, requested, clairvoyant",
    ),
    (
        "correct",
        "HOW",
        "expected run time of a job that outlives its prediction: requested (if not given), doubling, tsafrir (1, 5, 15, \
         30 min, … more), none",
    ),
    ("conf", "FILE", "slurm.conf, or the nodes alone (.toml), as in slurm --conf"),
    ("accounts", "DUMP", "accounts and shares as sacctmgr dumps them; users are u1, u2, … by their numbers in the log"),
    ("version", "VERSION", "rules of Slurm 22.05 or 24.11 (24.11 if not given)"),
];

#[derive(Clone, Debug)]
pub struct Policy {
    kind: Kind,
    /// Name as `--policy` takes it, in normal form.
    given: Arc<str>,
    /// Name of the folder of its results: the same, but for the paths of files.
    name: Arc<str>,
    /// The name of the literature that it was called by.
    alias: Option<&'static str>,
    settings: Settings,
}

#[derive(Clone, Debug)]
enum Kind {
    Ours(&'static Base),
    /// The words of its command, at least one.
    Exec(Arc<[String]>),
    Own(Arc<Own>),
}

#[derive(Clone, Debug, Default)]
struct Settings {
    /// Orders, reservations and the threshold.
    rule: Backfilling,
    compress: CompressOrder,
    /// Prediction of run times instead of the request: orders and reservations use it.
    predicting: Option<Predictions>,
    slurm: Option<Arc<SlurmCluster>>,
}

fn stream(seed: u64) -> Stream {
    Streams::new(seed, 0).stream(Purpose("search"), 0)
}

impl Policy {
    /// The bases of names, for messages.
    pub(crate) fn names() -> String {
        BASES.each_ref().map(|base| base.name).join(", ")
    }

    /// Policies, and names that extend `typed` by a setting, with descriptions: for completion in shells.
    pub(super) fn completions(typed: &str) -> Vec<(String, &'static str)> {
        let bases = BASES.iter().map(|base| (base.name.to_owned(), base.about));
        let mut found: Vec<_> = bases.chain(ALIASES.map(|(alias, name)| (alias.to_owned(), name))).collect();
        let Some((before, last)) = typed.rsplit_once('+') else { return found };
        let (key, is_order) = (last.split('=').next().unwrap_or_default(), last.contains('='));
        if is_order && ["order", "backfill"].contains(&key) {
            found.extend(Order::ALL.map(|order| (format!("{before}+{key}={}", order.name()), order.definition())));
        }
        let base = BASES.iter().find(|base| base.name == PolicyName::base_of(typed));
        let keys = SETTINGS.iter().filter(|(key, ..)| base.is_some_and(|base| base.settings.contains(key)));
        found.extend(keys.map(|(key, _, about)| (format!("{before}+{key}="), *about)));
        found
    }

    pub(super) fn help() -> String {
        let policy = |Base { name, about, settings, .. }: &Base| match settings {
            [] => entry(name, about),
            ["conf", keys @ ..] => entry("slurm+conf=FILE", &format!("{about}. Settings: {}", keys.join(", "))),
            keys => entry(name, &format!("{about}. Settings: {}", keys.join(", "))),
        };
        let policies = BASES.iter().map(policy);
        let keys = SETTINGS.map(|(key, value, about)| entry(&format!("+{key}={value}"), about));
        let aliases = ALIASES.map(|(alias, name)| format!("  {alias:14} {name}\n"));
        let exec = entry(
            "exec+PROGRAM",
            "a program of your own, in any language, that reads and writes lines of JSON: exec+./mine.py, or 'exec+python3 \
             mine.py' with arguments behind spaces; docs/protocol.md has the lines and an EASY in Python",
        );
        let (policies, keys, aliases) = (policies.collect::<String>(), keys.concat(), aliases.concat());
        format!("{policies}{exec}\nSettings of policies:\n{keys}\nOther names:\n{aliases}")
    }

    /// The policy called `text`: one of `own`, or a built-in one.
    pub fn find(text: &str, own: &[Arc<Own>]) -> Result<Self, String> {
        Self::of_base(text, own).unwrap_or_else(|| {
            let hint = did_you_mean(PolicyName::base_of(text), BASES.iter().map(|base| base.name));
            Err(format!("no policy is called {text:?}{hint}; there are {}", Self::names()))
        })
    }

    /// The same; `None` if no policy has this base.
    pub(crate) fn of_base(text: &str, own: &[Arc<Own>]) -> Option<Result<Self, String>> {
        if let Some(own) = own.iter().find(|own| own.name == text) {
            return Some(Ok(Self::plainly(Kind::Own(Arc::clone(own)), &own.name, &own.name)));
        }
        if let Some(command) = text.strip_prefix("exec+") {
            let words: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
            if words.is_empty() {
                let message = "exec+ needs a program, as in exec+./mine.py or 'exec+python3 mine.py'";
                return Some(Err(message.to_owned()));
            }
            let name: Vec<String> = words.iter().map(|word| legal(word)).collect();
            let (name, given) = (format!("exec+{}", name.join("_")), format!("exec+{}", words.join(" ")));
            return Some(Ok(Self::plainly(Kind::Exec(words.into()), &name, &given)));
        }
        let (alias, named) = ALIASES.into_iter().find(|(alias, _)| *alias == text).unzip();
        let text = named.unwrap_or(text);
        let base = BASES.iter().find(|base| base.name == PolicyName::base_of(text))?;
        let policy = |(given, name, settings): (String, String, _)| {
            let [given, name] =
                [given, name].map(|text| if text == "cons+compress=arrival" { "cons".into() } else { text.into() });
            Self { kind: Kind::Ours(base), given, name, alias, settings }
        };
        Some(Settings::read(base, text).map(policy))
    }

    fn plainly(kind: Kind, name: &str, given: &str) -> Self {
        Self { kind, given: given.into(), name: name.into(), alias: None, settings: Settings::default() }
    }

    /// Name of the folder of its results.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Name of a built-in policy without settings.
    pub(super) fn plain(&self) -> Option<&'static str> {
        self.base().filter(|base| **base == *self.name)
    }

    /// Name of a built-in policy, without its settings.
    const fn base(&self) -> Option<&'static str> {
        if let Kind::Ours(base) = self.kind { Some(base.name) } else { None }
    }

    pub fn command(&self) -> Option<&[String]> {
        if let Kind::Exec(command) = &self.kind { Some(command) } else { None }
    }

    /// Files whose content determines its behaviour: a program with the files among its arguments; for a policy that a program adds, the
    /// running executable; the files of a Slurm cluster. Other policies have none: their code is that of Gridproof's sources.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        match &self.kind {
            Kind::Exec(command) => exec::files(command),
            Kind::Own(_) => vec![executable().to_owned()],
            Kind::Ours(_) => self.settings.slurm.as_ref().map_or_else(Vec::new, |cluster| cluster.files.clone()),
        }
    }

    pub(super) fn named(&self, places: usize) -> Named {
        let idles = matches!(self.base(), Some("bgt" | "sg")) && places == 1;
        let why = "there is one cluster, on which its search can improve nothing and is not played; its schedule is that of \
                   cons+compress=reserved (in profile clean)";
        let idles = idles.then(|| format!("{self}: {why}"));
        let [name, label] = [&self.name, self.alias.unwrap_or(&self.name)].map(str::to_owned);
        let notes = idles.into_iter().chain(self.assumptions()).collect();
        Named { name, label, given: self.to_string(), files: self.files(), notes }
    }

    /// Assumptions about the jobs of a log, for readers.
    pub fn assumptions(&self) -> Option<String> {
        self.settings.slurm.as_ref().map(|cluster| format!("{self}: {}", cluster.assumptions()))
    }

    /// The policy before its first job. Panics if it is a program: those are started elsewhere, since a start may fail.
    pub(crate) fn at_work(&self, seed: u64, on: &MachineOptions) -> Box<dyn AtWork> {
        match &self.kind {
            Kind::Ours(base) => (base.build)(&self.settings, seed, on),
            Kind::Own(own) => (own.make)(),
            Kind::Exec(_) => panic!("{} is started as a program", self.name),
        }
    }

    /// The predictions of its name, otherwise of `--estimates mean-of-user:K`, before the first job.
    pub(crate) fn predicting(&self, estimates: Estimates) -> Option<Predictions> {
        self.settings.predicting.clone().or_else(|| {
            let Estimates::MeanOfUser(jobs) = estimates else { return None };
            Some(Predictions::by(MeanOfUser::new(jobs)).corrected_by(Some(Corrector::ToRequested)))
        })
    }

    /// Returns true if it can be built from the running and waiting jobs in the middle of a run.
    pub(crate) fn can_be_rebuilt(&self) -> bool {
        matches!(self.base(), Some("fcfs" | "easy" | "cons" | "flex"))
    }

    /// Returns true if `--tabu-iterations` affects it.
    pub(super) fn searches(&self) -> bool {
        self.base() == Some("eg-edf-tabu")
    }

    /// Returns true if `--seed` affects it.
    pub(super) fn draws(&self) -> bool {
        matches!(self.base(), Some("bgt" | "sg" | "slurm"))
    }
}

/// Returns machines under a built-in policy, to which `jobs` come in order of submission. A [`Sim`](sim_core::Sim) of them can be stepped,
/// asked for its view, handed events, moved to another thread, and forked with its policy.
///
/// ```
/// use gap_schedule::{Event, Machine};
/// use replay::simulate::machines_under;
/// use sim_core::{Job, JobId, Sim, Span, Time};
///
/// let job = |id, submit, processors| Job::new(JobId(id), Time::from_secs(submit), processors, Span::from_secs(100));
/// let jobs = [job(0, 0, 3), job(1, 10, 4), job(2, 20, 1)].into_iter();
/// let mut sim = Sim::new(machines_under("easy+order=wfp3", vec![Machine::new(4)], jobs)?, ());
/// sim.run_until(Time::from_secs(25));
/// assert_eq!(sim.model().view(sim.now()).free, [1]);
///
/// let mut fork = sim.fork(());
/// fork.post_at(Time::from_secs(30), Event::Submit(Box::new(job(3, 30, 4))));
/// let end = std::thread::spawn(move || { while fork.step() {} fork.now() }).join().unwrap();
/// while sim.step() {}
/// assert_eq!((sim.now(), end), (Time::from_secs(300), Time::from_secs(400)));
/// # Ok::<(), String>(())
/// ```
///
/// # Errors
///
/// A message if no built-in policy has this name.
pub fn machines_under<J: Iterator<Item = Job>>(
    policy: &str,
    machines: Vec<Machine>,
    jobs: J,
) -> Result<MultiCluster<Box<dyn ForkablePolicy>, J>, String> {
    let policy = Policy::find(policy, &[])?;
    let Kind::Ours(base) = policy.kind else { return Err(format!("{policy} is a program, and not built in")) };
    let at_work = (base.build)(&policy.settings, 0, &MachineOptions::default());
    Ok(MultiCluster::new(machines, at_work, jobs).with_predictions(policy.predicting(Estimates::User)))
}

/// Entry of the help; clap breaks its lines, and keeps the indentation.
pub(super) fn entry(name: &str, about: &str) -> String {
    format!("  {name}\n      {about}\n")
}

impl Settings {
    fn priority(&self) -> Priority {
        let Backfilling { order, threshold, .. } = self.rule;
        Priority { order, threshold }
    }

    /// Reads the settings in the name of a policy. Returns the name in normal form and as that of a folder, too.
    fn read(base: &Base, text: &str) -> Result<(String, String, Self), String> {
        let (mut name, mut all) = (PolicyName::parse(text)?, Self::default());
        let (given, folder, orders) = (name.to_string(), name.folder(), Order::ALL.map(Order::name).join(", "));
        for &key in base.settings {
            match key {
                "order" => all.rule.order = name.take(key, &orders, Order::named)?.unwrap_or(all.rule.order),
                // Jobs behind the first are considered in the order of the queue, unless they have another.
                "backfill" => all.rule.backfill = name.take(key, &orders, Order::named)?.unwrap_or(all.rule.order),
                "reserve" => {
                    let number = |text: &str| text.parse().ok().map(Depth::Jobs);
                    let depth = |text: &str| if text == "all" { Some(Depth::All) } else { number(text) };
                    let reserve = name.take(key, "a number of reservations from 0 on, or all", depth)?;
                    all.rule.reserve = reserve.unwrap_or(all.rule.reserve);
                }
                "compress" => {
                    let orders = [("arrival", CompressOrder::Arrival), ("reserved", CompressOrder::Reserved)];
                    let order = |text: &str| orders.into_iter().find(|(name, _)| *name == text).map(|(_, order)| order);
                    all.compress = name.take(key, "arrival or reserved", order)?.unwrap_or_default();
                }
                "threshold" => {
                    all.rule.threshold =
                        name.take(key, "a span above 0 such as 2d, 12h, 30m or 3600 (seconds)", span)?;
                }
                "conf" => all.slurm = Some(Arc::new(SlurmCluster::read(&mut name)?)),
                // Read with the file.
                "accounts" | "version" => {}
                "predict" => all.predicting = name.take(key, Predictions::NAMES, Predictions::named)?,
                _ => {
                    let named = |text: &str| if text == "none" { Some(None) } else { Corrector::named(text).map(Some) };
                    let corrector = name.take(key, "requested, doubling, tsafrir or none", named)?;
                    let corrector = corrector.unwrap_or(Some(Corrector::ToRequested));
                    all.predicting = all.predicting.map(|predictions| predictions.corrected_by(corrector));
                }
            }
        }
        let sets = |key: &str| given.contains(&format!("+{key}="));
        let predicts_nothing = base.settings.contains(&"correct") && all.predicting.is_none();
        let contradiction = if sets("correct") && predicts_nothing {
            "correct says what to expect of a job that outlives its prediction, and nothing is predicted; add predict=tsafrir, or \
             leave correct out"
        } else if sets("backfill") && all.rule.reserve == Depth::All {
            "backfill orders the jobs without a reservation, and with reserve=all every job has one; leave one of the two out"
        } else if all.compress == CompressOrder::Reserved && (sets("order") || sets("threshold")) {
            "compress=reserved goes by reserved starts, and order and threshold are about other orders; leave compress out, or \
             those"
        } else {
            return name.finish().map(|()| (given, folder, all));
        };
        Err(format!("{given:?}: {contradiction}"))
    }
}

fn span(text: &str) -> Option<Span> {
    let span = workload::span(text).or_else(|| workload::span(&format!("{text}s")));
    span.filter(|span| !span.is_zero())
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.given)
    }
}
