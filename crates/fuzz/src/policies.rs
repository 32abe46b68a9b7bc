//! Policies: a scene of machines, outages and jobs, one policy, and books that know nothing of it.
//!
//! A scene is text, so that a finding can be read and a bad one kept:
//!
//! ```text
//! policy cons
//! machine 8 1.0               processors, speed
//! machine 4 2.5
//! predict tsafrir doubling    who predicts run times, and who corrects them; requested, if left out
//! expect 30                   how long repairs are said to take; nobody knows, if left out
//! outage 10 0 60              seconds since the one above, machine, how long
//! job 5 4 100 200 - 3 7       seconds since the one above, processors, run time, estimate, deadline, machines as bits, user if any
//! ```

use super::Target;
use super::dice::Dice;
use super::text::mutate;
use gap_schedule::{
    Backfill, Backfilling, Completion, CompressOrder, Conservative, DeepFlexibleBackfill, Depth, Doubling, Easy,
    EasyScan, EgEdf, Fcfs, FlexibleBackfill, FlexibleConfig, GapFilling, Increments, Machine, MeanOfUser, Moves,
    MultiCluster, Order, OrderedBackfill, OrderedFcfs, Passes, Placement, Planner, Policy, Predictions, Priority,
    Requested, Tabu, TimesRequested, ToRequested, Weight, reference,
};
use sim_core::{Fact, Job, JobId, Outage, Purpose, Sim, SiteId, Span, Streams, Time};
use std::collections::BTreeMap;
use std::fmt::Write;

pub(crate) fn targets() -> Vec<Target> {
    vec![Target {
        name: "policies",
        about: "every policy on random jobs, machines, outages and predictions: no processor twice, nobody lost, as its obvious twin",
        extension: "scene",
        make: scene,
        check,
    }]
}

const PLACEMENT: Placement = Placement::Fastest;

/// Policies that have no other setting than their name; `easy+ORDER`, `fcfs+ORDER` and `cons+ORDER` beside these.
const NAMES: [&str; 15] = [
    "fcfs",
    "easy",
    "easy-scan",
    "reserve-0",
    "reserve-1",
    "reserve-3",
    "reserve-all",
    "cons",
    "cons-reserved",
    "best-gap",
    "bgt",
    "sg",
    "flex",
    "flex-3",
    "eg-edf-tabu",
];

/// A policy, and the obvious twin of one that has one.
type WithTwin = (Box<dyn Policy>, Option<Box<dyn Policy>>);

/// A policy by its name.
fn policy(name: &str) -> Option<WithTwin> {
    let backfill =
        |depth| (boxed(Backfill::new(depth, PLACEMENT)), Some(boxed(reference::Backfill::new(depth, PLACEMENT))));
    let conservative = |order| {
        let fast = Conservative::default().with_compress_order(order);
        (boxed(fast), Some(boxed(reference::Conservative::new(order))))
    };
    let alone = |policy| (policy, None);
    Some(match name {
        "fcfs" => alone(boxed(Fcfs::default())),
        "easy" => alone(boxed(Easy::default())),
        "easy-scan" => (boxed(EasyScan::default()), Some(boxed(Easy::default()))),
        "reserve-0" => backfill(Depth::Jobs(0)),
        "reserve-1" => backfill(Depth::Jobs(1)),
        "reserve-3" => backfill(Depth::Jobs(3)),
        "reserve-all" => backfill(Depth::All),
        "cons" => conservative(CompressOrder::Arrival),
        "cons-reserved" => conservative(CompressOrder::Reserved),
        "best-gap" => alone(boxed(GapFilling::best_gap(PLACEMENT))),
        "bgt" => alone(boxed(GapFilling::bgt(PLACEMENT, search()))),
        "sg" => alone(boxed(GapFilling::swift_gap(PLACEMENT, SWIFT, search()))),
        "flex" => alone(boxed(FlexibleBackfill::default())),
        "flex-3" => alone(boxed(DeepFlexibleBackfill::new(FlexibleConfig::default(), PLACEMENT, Depth::Jobs(3)))),
        "eg-edf-tabu" => alone(boxed(Planner::new(EgEdf::new(), Some(Tabu::new().with_iterations(20))))),
        _ => ordered(name)?,
    })
}

/// `easy+sjf`, with two reservations and a guard against starvation; `fcfs+saf`, `cons+lxf`.
fn ordered(name: &str) -> Option<WithTwin> {
    let (base, order) = name.split_once('+')?;
    let order = Order::named(order)?;
    let threshold = Some(Span::from_secs(100));
    let turns = Priority { order, threshold };
    Some(match base {
        "easy" => {
            let rule =
                Backfilling { order, backfill: Order::Sjf, reserve: Depth::Jobs(2), threshold, placement: PLACEMENT };
            (boxed(OrderedBackfill::new(rule)), Some(boxed(reference::OrderedBackfill::new(rule))))
        }
        "fcfs" => (boxed(OrderedFcfs::new(turns)), Some(boxed(reference::OrderedFcfs::new(turns)))),
        "cons" => {
            let twin = reference::Conservative::default().with_order(turns);
            (boxed(Conservative::default().with_order(turns)), Some(boxed(twin)))
        }
        _ => return None,
    })
}

fn boxed(policy: impl Policy + 'static) -> Box<dyn Policy> {
    Box::new(policy)
}

/// Who predicts run times, and who corrects them.
const PREDICTORS: [&str; 5] = ["requested", "clairvoyant", "double", "tsafrir", "mean-of-3"];
const CORRECTORS: [&str; 4] = ["none", "requested", "doubling", "tsafrir"];

/// The two by their names, to whom nothing has happened yet.
fn predictions(predictor: &str, corrector: &str) -> Option<Predictions> {
    let predictions = match predictor {
        "requested" => Predictions::by(Requested),
        "clairvoyant" => Predictions::clairvoyant(),
        "double" => Predictions::by(TimesRequested::double()),
        "tsafrir" => Predictions::by(MeanOfUser::tsafrir()),
        "mean-of-3" => Predictions::by(MeanOfUser::new(3)),
        _ => return None,
    };
    Some(match corrector {
        "none" => predictions,
        "requested" => predictions.corrected_by(ToRequested),
        "doubling" => predictions.corrected_by(Doubling),
        "tsafrir" => predictions.corrected_by(Increments::tsafrir()),
        _ => return None,
    })
}

/// Those that plan every job refuse one without an estimate, as their documentation says; who reads a log gives it one.
const PLANNERS: [&str; 4] = ["best-gap", "bgt", "sg", "eg-edf-tabu"];

const SWIFT: (Completion, Weight, Moves) = (Completion::FromSubmission, Weight::SumOfRatios, Moves::Any);

fn search() -> sim_core::Stream {
    Streams::new(1, 0).stream(Purpose("search"), 0)
}

/// Ties, jobs of no length, estimates far below and far above the run time or none at all, outages that overlap.
fn scene(dice: &mut Dice<'_>) -> Vec<u8> {
    let name = if dice.one_in(3) {
        format!("{}+{}", dice.pick(&["easy", "fcfs", "cons"]), dice.pick(&Order::ALL).name())
    } else {
        dice.pick(&NAMES).to_owned()
    };
    let mut text = format!("policy {name}\n");
    // Plans are made of what was requested; who goes by queues may be told predictions.
    let predicts = !PLANNERS.contains(&name.as_str()) && dice.one_in(3);
    if predicts {
        let _ = writeln!(text, "predict {} {}", dice.pick(&PREDICTORS), dice.pick(&CORRECTORS));
    }
    let machines = 1 + dice.below(4);
    for _ in 0..machines {
        let _ = writeln!(text, "machine {} {}", 1 + dice.below(12), dice.pick(&["1", "1", "2.5", "0.3", "10"]));
    }
    if dice.one_in(3) {
        if dice.one_in(2) {
            let _ = writeln!(text, "expect {}", dice.below(90));
        }
        for _ in 0..dice.below(6) {
            let (gap, machine, length) = (dice.below(200), dice.below(machines), dice.below(150));
            let _ = writeln!(text, "outage {gap} {machine} {length}");
        }
    }
    // Few instants make ties, a few long jobs make plans.
    let (gap, length) = (dice.pick(&[1, 2, 10, 100]), dice.pick(&[4, 20, 300, 100_000]));
    for _ in 0..dice.below(40) {
        let run = dice.below(length);
        let estimate = match dice.below(8) {
            0 => "-".to_owned(),
            1 => "0".to_owned(),
            2 => dice.below(run + 1).to_string(),
            3 => (run + 1_000_000).to_string(),
            4 | 5 => (run + dice.below(length)).to_string(),
            _ => run.to_string(),
        };
        let deadline = if dice.one_in(2) { dice.below(4 * length).to_string() } else { "-".to_owned() };
        let sites = if dice.one_in(4) { dice.below(1 << machines) } else { (1 << machines) - 1 };
        let _ = write!(text, "job {} {} {run} {estimate} {deadline} {sites}", dice.below(gap), 1 + dice.below(13));
        text += if predicts { dice.pick(&[" 1\n", " 2\n", "\n"]) } else { "\n" };
    }
    let mut out = text.into_bytes();
    if dice.one_in(6) {
        mutate(dice, &mut out);
    }
    out
}

/// What is written down.
struct Scene {
    policy: String,
    predictions: Option<Predictions>,
    machines: Vec<Machine>,
    repair_expected: Span,
    outages: Vec<Outage>,
    jobs: Vec<Job>,
}

/// So many seconds, at most: a century of them all in a row is far from the end of the clock.
const LONGEST: u64 = 10_000_000;

fn seconds(word: &str) -> Option<u64> {
    word.parse().ok().filter(|seconds| *seconds <= LONGEST)
}

/// The scene, if the text is one of at most 200 lines.
fn parse(text: &str) -> Option<Scene> {
    let mut scene = Scene {
        policy: "fcfs".to_owned(),
        predictions: None,
        machines: Vec::new(),
        repair_expected: Span::MAX,
        outages: Vec::new(),
        jobs: Vec::new(),
    };
    let (mut down, mut submit) = (Time::ZERO, Time::ZERO);
    if text.lines().count() > 200 {
        return None;
    }
    for line in text.lines() {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        match *words.as_slice() {
            [] => {}
            ["policy", name] => name.clone_into(&mut scene.policy),
            ["machine", processors, speed] => {
                let processors = processors.parse().ok().filter(|count| (1..=1_000).contains(count))?;
                let speed = speed.parse().ok().filter(|speed| (0.1..=10.0).contains(speed))?;
                scene.machines.push(Machine { processors, speed });
            }
            ["predict", predictor, corrector] => scene.predictions = Some(predictions(predictor, corrector)?),
            ["expect", span] => scene.repair_expected = Span::from_secs(seconds(span)?),
            ["outage", gap, machine, length] => {
                down += Span::from_secs(seconds(gap)?);
                let site = SiteId(machine.parse().ok()?);
                scene.outages.push(Outage { site, down, up: down + Span::from_secs(seconds(length)?) });
            }
            ["job", gap, processors, run, estimate, deadline, sites, ref user @ ..] if user.len() < 2 => {
                submit += Span::from_secs(seconds(gap)?);
                let processors = processors.parse().ok().filter(|count| (1..=2_000).contains(count))?;
                let id = JobId(u32::try_from(scene.jobs.len()).ok()?);
                let mut job = Job::new(id, submit, processors, Span::from_secs(seconds(run)?));
                let optional = |word| if word == "-" { Some(None) } else { seconds(word).map(Some) };
                job.request.estimate = optional(estimate)?.map(Span::from_secs);
                job.request.deadline = optional(deadline)?.map(|seconds| submit + Span::from_secs(seconds));
                let bits: u32 = sites.parse().ok().filter(|bits| *bits < 1 << 16)?;
                job.request.sites = (0..16).filter(|site| bits >> site & 1 == 1).map(SiteId).collect();
                job.request.user = user.first().map(|user| user.parse()).transpose().ok()?;
                scene.jobs.push(job);
            }
            _ => return None,
        }
    }
    let known = |outage: &Outage| outage.site.index() < scene.machines.len();
    (!scene.machines.is_empty() && scene.machines.len() <= 16 && scene.outages.iter().all(known)).then_some(scene)
}

type Transcript = Vec<(Time, Fact)>;

impl Scene {
    fn transcript(&self, policy: Box<dyn Policy>, passes: Passes) -> Transcript {
        let mut world = MultiCluster::new(self.machines.clone(), policy, self.jobs.clone().into_iter())
            .with_outages(self.outages.clone())
            .with_repair_expected(self.repair_expected)
            .with_passes(passes);
        if let Some(predictions) = &self.predictions {
            world = world.with_predictions(predictions.clone());
        }
        Sim::new(world, Transcript::new()).run().1
    }

    fn suits(&self, job: &Job, machine: usize) -> bool {
        let site = SiteId(u32::try_from(machine).expect("few machines"));
        job.request.processors <= self.machines[machine].processors && job.request.sites.contains(site)
    }

    /// What every schedule owes, from nothing but what was told.
    fn audit(&self, told: &Transcript) -> Result<(), String> {
        let mut free: Vec<u32> = self.machines.iter().map(|machine| machine.processors).collect();
        let mut running: BTreeMap<JobId, (Time, usize)> = BTreeMap::new();
        let mut left = vec![false; self.jobs.len()];
        let mut submitted = 0;
        for (now, fact) in told {
            let wrong = |what: &str| Err(format!("{what}: {fact:?} at {now:?}"));
            match *fact {
                Fact::Submitted(job) => {
                    if self.jobs.get(submitted) != Some(&job) || job.submit != *now {
                        return wrong("this was not submitted then");
                    }
                    submitted += 1;
                }
                Fact::Rejected { job, .. } => {
                    let suits = |machine| self.suits(&self.jobs[job.index()], machine);
                    if (0..free.len()).any(suits) || std::mem::replace(&mut left[job.index()], true) {
                        return wrong("it could run");
                    }
                }
                Fact::Started { job, site, processors } => {
                    let of_job = &self.jobs[job.index()];
                    if job.index() >= submitted
                        || left[job.index()]
                        || running.insert(job, (*now, site.index())).is_some()
                    {
                        return wrong("it does not wait");
                    }
                    if processors != of_job.request.processors || !self.suits(of_job, site.index()) {
                        return wrong("it may not run there");
                    }
                    let Some(rest) = free[site.index()].checked_sub(processors) else {
                        return wrong("processors twice");
                    };
                    free[site.index()] = rest;
                    let is_down = |outage: &&Outage| outage.site == site && outage.down < *now && *now < outage.up;
                    if self.outages.iter().any(|outage| is_down(&outage)) {
                        return wrong("the machine is down");
                    }
                }
                Fact::Finished { job } | Fact::Interrupted { job, .. } => {
                    let Some((start, machine)) = running.remove(&job) else { return wrong("it does not run") };
                    let of_job = &self.jobs[job.index()];
                    free[machine] += of_job.request.processors;
                    let is_whole = matches!(fact, Fact::Finished { .. });
                    if is_whole && *now != start + self.machines[machine].takes(of_job.runtime) {
                        return wrong("it did not run for its run time");
                    }
                    let fails = |outage: &Outage| outage.site.index() == machine && outage.down == *now;
                    if !is_whole && !self.outages.iter().any(fails) {
                        return wrong("nothing has interrupted it");
                    }
                    left[job.index()] |= is_whole;
                }
                Fact::Seized { .. } | Fact::Released { .. } => {
                    return wrong("this world does not know processors apart");
                }
            }
        }
        let lost = left.iter().position(|left| !left);
        lost.map_or(Ok(()), |job| Err(format!("job {job} is lost: {:?}", self.jobs[job])))
    }
}

fn check(input: &[u8]) -> Result<bool, String> {
    let Some(mut scene) = std::str::from_utf8(input).ok().and_then(parse) else { return Ok(false) };
    let passes = if input.len().is_multiple_of(2) { Passes::PerInstant } else { Passes::PerEvent };
    let name = scene.policy.clone();
    let Some((policy, twin)) = policy(&name) else { return Ok(false) };
    if PLANNERS.contains(&name.as_str()) {
        for job in &mut scene.jobs {
            job.request.estimate.get_or_insert(job.runtime);
        }
    }
    let told = scene.transcript(policy, passes);
    scene.audit(&told).map_err(|what| format!("{name}: {what}"))?;
    if let Some(twin) = twin {
        let other = scene.transcript(twin, passes);
        if let Some((one, two)) = told.iter().zip(&other).find(|(one, two)| one != two) {
            return Err(format!("{name}: {one:?}\nits twin: {two:?}"));
        }
        if told.len() != other.len() {
            return Err(format!("{name} tells {} facts, its twin {}", told.len(), other.len()));
        }
    }
    Ok(true)
}
