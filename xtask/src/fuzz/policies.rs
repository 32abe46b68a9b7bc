//! Policies: a scene of machines, outages and jobs, one policy, and books that know nothing of it.
//!
//! A scene is text, so that a finding can be read and a bad one kept:
//!
//! ```text
//! policy cons
//! machine 8 1.0               processors, speed
//! machine 4 2.5
//! expect 30                   how long repairs are said to take; nobody knows, if left out
//! outage 10 0 60              seconds since the one above, machine, how long
//! job 5 4 100 200 - 3         seconds since the one above, processors, run time, estimate, deadline, machines as bits
//! ```

use super::Target;
use super::dice::Dice;
use super::text::mutate;
use gap_schedule::{
    Backfill, Completion, CompressOrder, Conservative, DeepFlexibleBackfill, Depth, Easy, EasyScan, EgEdf, Fcfs,
    FlexibleBackfill, FlexibleConfig, GapFilling, Machine, Moves, MultiCluster, Passes, Placement, Planner, Policy,
    Tabu, Weight, reference,
};
use sim_core::{Fact, Job, JobId, Outage, Purpose, Sim, SiteId, Span, Streams, Time};
use std::collections::BTreeMap;
use std::fmt::Write;

pub(crate) fn targets() -> Vec<Target> {
    vec![Target {
        name: "policies",
        about: "every policy on random jobs, machines and outages: no processor twice, nobody lost, as its obvious twin",
        extension: "scene",
        make: scene,
        check,
    }]
}

const PLACEMENT: Placement = Placement::Fastest;

/// Policies by name, and the obvious twins of those that have one.
const POLICIES: [(&str, Maker, Option<Maker>); 15] = [
    ("fcfs", || Box::new(Fcfs::default()), None),
    ("easy", || Box::new(Easy::default()), None),
    ("easy-scan", || Box::new(EasyScan::default()), Some(|| Box::new(Easy::default()))),
    ("reserve-0", || backfill(Depth::Jobs(0)), Some(|| obvious_backfill(Depth::Jobs(0)))),
    ("reserve-1", || backfill(Depth::Jobs(1)), Some(|| obvious_backfill(Depth::Jobs(1)))),
    ("reserve-3", || backfill(Depth::Jobs(3)), Some(|| obvious_backfill(Depth::Jobs(3)))),
    ("reserve-all", || backfill(Depth::All), Some(|| obvious_backfill(Depth::All))),
    ("cons", || conservative(CompressOrder::Arrival), Some(|| obvious_conservative(CompressOrder::Arrival))),
    ("cons-reserved", || conservative(CompressOrder::Reserved), Some(|| obvious_conservative(CompressOrder::Reserved))),
    ("best-gap", || Box::new(GapFilling::best_gap(PLACEMENT)), None),
    ("bgt", || Box::new(GapFilling::bgt(PLACEMENT, search())), None),
    ("sg", || Box::new(GapFilling::swift_gap(PLACEMENT, SWIFT, search())), None),
    ("flex", || Box::new(FlexibleBackfill::default()), None),
    ("flex-3", || Box::new(DeepFlexibleBackfill::new(FlexibleConfig::default(), PLACEMENT, Depth::Jobs(3))), None),
    ("eg-edf-tabu", || Box::new(Planner::new(EgEdf::new(), Some(Tabu::new().with_iterations(20)))), None),
];

/// Those that plan every job refuse one without an estimate, as their documentation says; who reads a log gives it one.
const PLANNERS: [&str; 4] = ["best-gap", "bgt", "sg", "eg-edf-tabu"];

const SWIFT: (Completion, Weight, Moves) = (Completion::FromSubmission, Weight::SumOfRatios, Moves::Any);

type Maker = fn() -> Box<dyn Policy>;

fn backfill(depth: Depth) -> Box<dyn Policy> {
    Box::new(Backfill::new(depth, PLACEMENT))
}

fn obvious_backfill(depth: Depth) -> Box<dyn Policy> {
    Box::new(reference::Backfill::new(depth, PLACEMENT))
}

fn conservative(order: CompressOrder) -> Box<dyn Policy> {
    Box::new(Conservative::default().with_compress_order(order))
}

fn obvious_conservative(order: CompressOrder) -> Box<dyn Policy> {
    Box::new(reference::Conservative::new(order))
}

fn search() -> sim_core::Stream {
    Streams::new(1, 0).stream(Purpose("search"), 0)
}

/// Ties, jobs of no length, estimates far below and far above the run time or none at all, outages that overlap.
fn scene(dice: &mut Dice<'_>) -> Vec<u8> {
    let mut text = format!("policy {}\n", POLICIES[dice.below(POLICIES.len())].0);
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
        let _ = writeln!(text, "job {} {} {run} {estimate} {deadline} {sites}", dice.below(gap), 1 + dice.below(13));
    }
    let mut out = text.into_bytes();
    if dice.one_in(6) {
        mutate(dice, &mut out);
    }
    out
}

/// What is written down.
struct Scene {
    policy: usize,
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
    let mut scene =
        Scene { policy: 0, machines: Vec::new(), repair_expected: Span::MAX, outages: Vec::new(), jobs: Vec::new() };
    let (mut down, mut submit) = (Time::ZERO, Time::ZERO);
    if text.lines().count() > 200 {
        return None;
    }
    for line in text.lines() {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        match *words.as_slice() {
            [] => {}
            ["policy", name] => scene.policy = POLICIES.iter().position(|(known, ..)| *known == name)?,
            ["machine", processors, speed] => {
                let processors = processors.parse().ok().filter(|count| (1..=1_000).contains(count))?;
                let speed = speed.parse().ok().filter(|speed| (0.1..=10.0).contains(speed))?;
                scene.machines.push(Machine { processors, speed });
            }
            ["expect", span] => scene.repair_expected = Span::from_secs(seconds(span)?),
            ["outage", gap, machine, length] => {
                down += Span::from_secs(seconds(gap)?);
                let site = SiteId(machine.parse().ok()?);
                scene.outages.push(Outage { site, down, up: down + Span::from_secs(seconds(length)?) });
            }
            ["job", gap, processors, run, estimate, deadline, sites] => {
                submit += Span::from_secs(seconds(gap)?);
                let processors = processors.parse().ok().filter(|count| (1..=2_000).contains(count))?;
                let id = JobId(u32::try_from(scene.jobs.len()).ok()?);
                let mut job = Job::new(id, submit, processors, Span::from_secs(seconds(run)?));
                let optional = |word| if word == "-" { Some(None) } else { seconds(word).map(Some) };
                job.request.estimate = optional(estimate)?.map(Span::from_secs);
                job.request.deadline = optional(deadline)?.map(|seconds| submit + Span::from_secs(seconds));
                let bits: u32 = sites.parse().ok().filter(|bits| *bits < 1 << 16)?;
                job.request.sites = (0..16).filter(|site| bits >> site & 1 == 1).map(SiteId).collect();
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
        let world = MultiCluster::new(self.machines.clone(), policy, self.jobs.clone().into_iter())
            .with_outages(self.outages.clone())
            .with_repair_expected(self.repair_expected)
            .with_passes(passes);
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
    let (name, policy, twin) = POLICIES[scene.policy];
    if PLANNERS.contains(&name) {
        for job in &mut scene.jobs {
            job.request.estimate.get_or_insert(job.runtime);
        }
    }
    let told = scene.transcript(policy(), passes);
    scene.audit(&told).map_err(|what| format!("{name}: {what}"))?;
    if let Some(twin) = twin {
        let other = scene.transcript(twin(), passes);
        if let Some((one, two)) = told.iter().zip(&other).find(|(one, two)| one != two) {
            return Err(format!("{name}: {one:?}\nits twin: {two:?}"));
        }
        if told.len() != other.len() {
            return Err(format!("{name} tells {} facts, its twin {}", told.len(), other.len()));
        }
    }
    Ok(true)
}
