//! Whether a schedule is what a policy does.

use super::feasible::{Jobs, Start};
use super::finding::{Fault, Findings};
use crate::simulate::door::NamedPolicy;
use gap_schedule::{Expired, Machine, Policy, Predictions, Queue, QueuedJob, Running, RunningJob, Starts, View};
use rustc_hash::FxHashSet;
use sim_core::{Job, JobId, SiteId, Span, Time};
use std::collections::BTreeMap;

/// How often a policy would have done otherwise.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Differences {
    /// Instants at which the policy would have started others.
    pub(super) instants: u64,
    /// Jobs that the schedule starts, and the policy would not have then, or elsewhere.
    pub(super) not_by_policy: u64,
    /// Jobs that the policy would have started, and the schedule starts later.
    pub(super) late: u64,
    /// Whether it was asked up to the end.
    pub(super) is_complete: bool,
}

/// The machines as the schedule has led to, and the policy that looks at them.
struct Replay<'a> {
    jobs: &'a Jobs,
    policy: &'a NamedPolicy,
    at_work: Box<dyn Policy>,
    machines: Vec<Machine>,
    free: Vec<u32>,
    running: Vec<Running>,
    queue: Queue,
    /// Who runs, by the real end, in order of start.
    ends: BTreeMap<(Time, u64), Started>,
    started: u64,
    predictions: Option<Predictions>,
    /// Predictions that will be outlived: when, in order of when that was found out, and by whom in `ends`.
    expiries: BTreeMap<(Time, u64), (Time, u64)>,
    expiries_found: u64,
    /// When the schedule starts each job, and on which line.
    planned: Vec<Option<(Time, u64)>>,
    /// Jobs that the policy would have started by now.
    late: FxHashSet<JobId>, // never iterated
}

/// A job that runs.
#[derive(Copy, Clone)]
struct Started {
    running: RunningJob,
    machine: usize,
    start: Time,
    /// What was predicted at its submission, what is now, and how often that was corrected.
    first: Option<Span>,
    prediction: Option<Span>,
    corrections: u32,
}

/// Asks the policy at each instant about the state that the schedule has led to. The schedule is feasible, its starts are in
/// order of time.
pub(super) fn check(
    jobs: &Jobs,
    starts: &[Start],
    machines: Vec<Machine>,
    policy: &NamedPolicy,
    predictions: Option<Predictions>,
    findings: &mut Findings,
) -> Differences {
    let (free, running) =
        (machines.iter().map(|machine| machine.processors).collect(), vec![Running::new(); machines.len()]);
    let (queue, late) = (Queue::new(), FxHashSet::default());
    let at_work = policy.at_work(machines.len());
    let mut planned = vec![None; jobs.jobs.len()];
    starts.iter().for_each(|start| planned[start.job] = Some((start.start, start.line)));
    let (ends, expiries) = (BTreeMap::new(), BTreeMap::new());
    let mut replay = Replay {
        jobs,
        policy,
        at_work,
        machines,
        free,
        running,
        queue,
        ends,
        started: 0,
        predictions,
        expiries,
        expiries_found: 0,
        planned,
        late,
    };
    let Replay { at_work, machines, free, running, queue, .. } = &mut replay;
    at_work.begin(&View { now: Time::ZERO, machines, free, running, queue });
    let (mut arrivals, mut starts) = (jobs.jobs.iter().peekable(), starts.iter().peekable());
    let mut wakeup: Option<Time> = None;
    let mut differences = Differences { is_complete: true, ..Differences::default() };
    let mut answer = Starts::new();
    loop {
        let next_end = replay.ends.keys().next().map(|(end, _)| *end);
        let next_arrival = arrivals.peek().map(|job| job.job.submit);
        let next_start = starts.peek().map(|start| start.start);
        let Some(now) = [next_end, next_arrival, next_start, wakeup].into_iter().flatten().min() else { break };
        replay.expire(now);
        wakeup = None;
        replay.release(now);
        while let Some(job) = arrivals.next_if(|job| job.job.submit == now) {
            replay.arrive(&job.job, now);
        }
        if replay.queue.is_empty() {
            continue;
        }
        let Replay { at_work, machines, free, running, queue, .. } = &mut replay;
        answer.clear();
        at_work.schedule(&View { now, machines, free, running, queue }, &mut answer);
        wakeup = at_work.next_wakeup().filter(|at| *at > now);
        let mut made = Vec::new();
        while let Some(start) = starts.next_if(|start| start.start == now) {
            made.push(*start);
        }
        let differs = replay.compare(&answer, &made, now, findings, &mut differences);
        // In the policy's own order, where it agrees: what it keeps is then what it would have kept.
        let place = |start: &Start| answer.iter().position(|(job, _)| job.index() == start.job).unwrap_or(usize::MAX);
        made.sort_by_key(|start| (place(start), start.line));
        made.iter().for_each(|start| replay.start(start));
        if differs {
            if !replay.policy.can_be_built_anew() {
                differences.is_complete = false;
                break;
            }
            replay.build_anew(now);
            wakeup = None;
        }
    }
    differences
}

impl Replay<'_> {
    /// Corrects the predictions that expire up to `now`, each at its instant. No pass is made for that reason.
    fn expire(&mut self, now: Time) {
        while let Some(first) = self.expiries.first_entry().filter(|first| first.key().0 <= now) {
            let ((at, _), end) = first.remove_entry();
            let Self { predictions: Some(predictions), ends, .. } = self else {
                unreachable!("only a prediction expires")
            };
            let started = ends.get_mut(&end).expect("it ends after that");
            let before = started.running;
            let place = self.machines[started.machine];
            let expired = Expired {
                job: before.job,
                request: self.jobs.jobs[before.job.index()].job.request,
                first: started.first.expect("only a prediction expires"),
                prediction: started.prediction.expect("only a prediction expires"),
                corrections: started.corrections,
            };
            let Some(corrected) = predictions.correct(&expired) else { continue };
            let expected_end = started.start.saturating_add(place.takes(corrected));
            if expected_end <= at {
                continue;
            }
            started.prediction = Some(corrected);
            started.corrections += 1;
            started.running.expected_end = expected_end;
            let (after, machine) = (started.running, started.machine);
            self.will_expire(expected_end, end);
            self.running[machine].remove(&before);
            self.running[machine].insert(after);
            let Self { machines, free, running, queue, .. } = self;
            self.at_work.on_expiry(&before, &after, site(machine), &View { now: at, machines, free, running, queue });
        }
    }

    /// Notes that what is expected of the job which ends at `end` will be outlived, if it will.
    fn will_expire(&mut self, expected_end: Time, end: (Time, u64)) {
        if self.predictions.is_some() && expected_end < end.0 {
            self.expiries.insert((expected_end, self.expiries_found), end);
            self.expiries_found += 1;
        }
    }

    fn release(&mut self, now: Time) {
        while let Some(first) = self.ends.first_entry().filter(|first| first.key().0 <= now) {
            let Started { running: job, machine, first, .. } = first.remove();
            if let Some(predictions) = &mut self.predictions {
                let Job { request, runtime, .. } = &self.jobs.jobs[job.job.index()].job;
                predictions.end(request, first, *runtime);
            }
            self.running[machine].remove(&job);
            self.free[machine] += job.processors;
            let view =
                View { now, machines: &self.machines, free: &self.free, running: &self.running, queue: &self.queue };
            self.at_work.on_completion(&job, site(machine), &view);
        }
    }

    fn arrive(&mut self, job: &Job, now: Time) {
        let mut queued = QueuedJob::of(job);
        let empty =
            View { now, machines: &self.machines, free: &self.free, running: &self.running, queue: &self.queue };
        if !(0..self.machines.len()).any(|machine| empty.suits(machine, &job.request)) {
            return;
        }
        if let Some(predictions) = &mut self.predictions {
            queued.request.estimate = predictions.predict(&job.request, job.runtime);
        }
        self.queue.push(queued);
        let view = View { now, machines: &self.machines, free: &self.free, running: &self.running, queue: &self.queue };
        self.at_work.on_submit(&queued, &view);
    }

    fn start(&mut self, start: &Start) {
        let id = self.jobs.jobs[start.job].job.id;
        let job = self.queue.remove(id).expect("a feasible schedule starts each job once, after its submission");
        let running = self.machines[start.machine].running(id, &job.request, start.start);
        self.free[start.machine] -= running.processors;
        self.running[start.machine].insert(running);
        let (first, end) = (job.request.estimate, (start.finish, self.started));
        let (machine, start) = (start.machine, start.start);
        self.ends.insert(end, Started { running, machine, start, first, prediction: first, corrections: 0 });
        self.started += 1;
        self.will_expire(running.expected_end, end);
    }

    /// Whether the policy and the schedule part here. Jobs that are known to be late make no difference.
    fn compare(
        &mut self,
        answer: &Starts,
        made: &[Start],
        now: Time,
        findings: &mut Findings,
        differences: &mut Differences,
    ) -> bool {
        let is_made = |job: JobId, machine: SiteId| {
            made.iter().any(|start| start.job == job.index() && start.machine == machine.index())
        };
        let is_answered = |start: &Start| {
            answer.iter().any(|(job, machine)| job.index() == start.job && machine.index() == start.machine)
        };
        let missing: Vec<JobId> =
            answer.iter().filter(|(job, machine)| !is_made(*job, *machine)).map(|(job, _)| *job).collect();
        let extra: Vec<&Start> = made.iter().filter(|start| !is_answered(start)).collect();
        if missing.is_empty() && extra.is_empty() {
            return false;
        }
        let newly: Vec<JobId> = missing
            .into_iter()
            .filter(|job| made.iter().all(|start| start.job != job.index()) && self.late.insert(*job))
            .collect();
        if newly.is_empty() && extra.is_empty() {
            return true; // told before
        }
        differences.instants += 1;
        differences.late += newly.len() as u64;
        differences.not_by_policy += extra.len() as u64;
        let (job, line) = match (extra.first(), newly.first()) {
            (Some(start), _) => (start.job, start.line),
            (None, Some(job)) => (job.index(), self.planned[job.index()].map_or(0, |(_, line)| line)),
            (None, None) => unreachable!("one of them is why they part"),
        };
        findings.add(Fault::Policy, self.jobs.jobs[job].number, Some(now), line, || {
            self.in_words(now, answer, made, newly.first().copied())
        });
        true
    }

    /// What each of them does, what is free, and who waits first; and what becomes of the first job that is late.
    fn in_words(&self, now: Time, answer: &Starts, made: &[Start], late: Option<JobId>) -> String {
        let name = self.policy.name();
        let theirs = self.list(made.iter().map(|start| start.job));
        let ours = self.list(answer.iter().map(|(job, _)| job.index()));
        let free: u64 = self.free.iter().copied().map(u64::from).sum();
        let all: u64 = self.machines.iter().map(|machine| u64::from(machine.processors)).sum();
        let head = self.queue.front().expect("somebody waits");
        let first = self.jobs.jobs[head.job.index()].number;
        let mut words = format!(
            "at {now} s the schedule starts {theirs}, and {name} would start {ours}; {free} of {all} processors are free, {} wait, \
             the first of them job {first} for {}",
            self.queue.len(),
            head.request.processors
        );
        if let Some(late) = late
            && let Some((start, _)) = self.planned[late.index()]
        {
            words += &format!("; job {} starts at {start} s", self.jobs.jobs[late.index()].number);
        }
        words
    }

    /// `nobody`, `job 3`, `jobs 3, 4 and 9 more`.
    fn list(&self, jobs: impl Iterator<Item = usize>) -> String {
        let numbers: Vec<String> = jobs.map(|job| self.jobs.jobs[job].number.to_string()).collect();
        match numbers.len() {
            0 => "nobody".to_owned(),
            1 => format!("job {}", numbers[0]),
            2..=6 => format!("jobs {}", numbers.join(", ")),
            many => format!("jobs {} and {} more", numbers[..5].join(", "), many - 5),
        }
    }

    /// The policy as if it had just come here: it is told who waits, and to look at each machine.
    fn build_anew(&mut self, now: Time) {
        self.at_work = self.policy.at_work(self.machines.len());
        let mut queue = Queue::new();
        let Self { at_work, machines, free, running, .. } = self;
        at_work.begin(&View { now, machines, free, running, queue: &queue });
        for machine in 0..machines.len() {
            at_work.on_repair(site(machine), &View { now, machines, free, running, queue: &queue });
        }
        for job in self.queue.iter() {
            queue.push(*job);
            at_work.on_submit(job, &View { now, machines, free, running, queue: &queue });
        }
    }
}

fn site(machine: usize) -> SiteId {
    SiteId(u32::try_from(machine).expect("fewer than 2^32 machines"))
}
