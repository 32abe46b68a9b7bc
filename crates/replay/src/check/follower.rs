//! Comparison of a schedule with a policy.
//!
//! The world of `simulate` runs once more, with its own order of events, passes and predictions. At each pass the policy decides; the
//! starts are those of the schedule.

use super::feasible::{Checked, FindingKind, FindingList, LoggedJobs, PlannedStart};
use crate::options::{LogOptions, MachineOptions};
use crate::simulate::policy;
use anyhow::Result;
use gap_schedule::{Event, Machine, MultiCluster, Policy, PolicyError, Queue, Starts, View, forward_events};
use rustc_hash::FxHashSet;
use serde::Serialize;
use sim_core::{JobId, Sim, SiteId, Time};
use std::cell::RefCell;
use std::rc::Rc;

/// Numbers of differences between a schedule and a policy.
#[derive(Copy, Clone, Debug, Default, Serialize)]
pub(super) struct Differences {
    /// Instants at which the policy would have started other jobs.
    pub(super) instants: u64,
    /// Jobs that the schedule starts although the policy would not have started them then, or would have elsewhere.
    pub(super) starts_not_by_policy: u64,
    /// Jobs that the policy would have started, and the schedule starts later.
    pub(super) late_jobs: u64,
    /// True if the comparison went on to the end.
    #[serde(rename = "complete")]
    pub(super) is_complete: bool,
}

/// Lets the policy decide at each pass, in the state that the schedule has led to. The schedule is feasible, and its starts are in
/// order of time. Fails if the policy cannot decide.
pub(super) fn check(
    jobs: &LoggedJobs,
    machines: Vec<Machine>,
    (log, on): (&LogOptions, &MachineOptions),
    policy: policy::Policy,
    Checked { starts, findings, .. }: &mut Checked,
) -> Result<Differences> {
    let predicting = policy.predicting(log.estimates);
    let asked = (policy, log.seed(), on);
    let follower = Rc::new(RefCell::new(Follower::new(jobs, asked, starts)));
    let world = MultiCluster::new(machines, Obeying(Rc::clone(&follower)), jobs.jobs.iter().map(|one| one.job))
        .with_passes(on.passes())
        .with_predictions(predicting);
    let mut sim = Sim::new(world, ());
    while follower.borrow().differences.is_complete && sim.step() {
        let now = sim.now();
        follower.borrow_mut().rebuild(&sim.model().view(now));
        if sim.next_time() == Some(now) {
            continue;
        }
        // The instant is over. The starts of the schedule that no pass has made are made now.
        let (made, due) = (follower.borrow().made.len(), follower.borrow().due(now).len());
        if made < due {
            follower.borrow_mut().is_closing = true;
            sim.post_at(now, Event::Decide);
            sim.step();
            follower.borrow_mut().is_closing = false;
        }
        follower.borrow_mut().compare(now, findings);
        follower.borrow_mut().rebuild(&sim.model().view(now));
    }
    sim.model().error().map_or(Ok(()), Err)?;
    let differences = follower.borrow().differences;
    Ok(differences)
}

/// The follower as the world sees it.
struct Obeying<'a>(Rc<RefCell<Follower<'a>>>);

impl Policy for Obeying<'_> {
    fn schedule(&mut self, view: &View<'_>, starts: &mut Starts) {
        self.0.borrow_mut().schedule(view, starts);
    }

    forward_events!(|this| this.0.borrow_mut().at_work);

    fn next_wakeup(&self) -> Option<Time> {
        self.0.borrow().next_wakeup()
    }

    fn wants_every_event(&self) -> bool {
        self.0.borrow().at_work.wants_every_event()
    }

    fn error(&self) -> Option<PolicyError> {
        self.0.borrow().at_work.error()
    }
}

/// Makes the starts of the schedule, and compares them with those of a policy.
struct Follower<'a> {
    jobs: &'a LoggedJobs,
    policy: policy::Policy,
    seed: u64,
    on: &'a MachineOptions,
    at_work: Box<dyn Policy>,
    /// Starts of the schedule from the present instant on, in order of time.
    ahead: &'a [PlannedStart],
    /// Positions, among the starts that are due, of those that were made.
    made: Vec<usize>,
    /// Starts that the policy has decided on at this instant, each once.
    answered: Starts,
    /// The last instant at which it decided, and the state at its first decision then, in words.
    seen: Option<(Time, String)>,
    /// True after all other events of the instant: the starts of the schedule are then made.
    is_closing: bool,
    /// True if the policy's state has starts that were not made.
    is_astray: bool,
    /// Start time of each job in the schedule, and its line.
    planned: Vec<Option<(Time, u64)>>,
    /// Jobs that the policy would have started by now.
    late: FxHashSet<JobId>, // never iterated
    differences: Differences,
}

impl<'a> Follower<'a> {
    fn new(
        jobs: &'a LoggedJobs,
        (policy, seed, on): (policy::Policy, u64, &'a MachineOptions),
        starts: &'a [PlannedStart],
    ) -> Self {
        let mut planned = vec![None; jobs.jobs.len()];
        starts.iter().for_each(|start| planned[start.job] = Some((start.start, start.line)));
        Self {
            jobs,
            at_work: policy.at_work(seed, on),
            policy,
            seed,
            on,
            ahead: starts,
            made: Vec::new(),
            answered: Starts::new(),
            seen: None,
            is_closing: false,
            is_astray: false,
            planned,
            late: FxHashSet::default(),
            differences: Differences { is_complete: true, ..Differences::default() },
        }
    }

    fn due(&self, now: Time) -> &'a [PlannedStart] {
        &self.ahead[..self.ahead.partition_point(|start| start.start <= now)]
    }

    fn schedule(&mut self, view: &View<'_>, starts: &mut Starts) {
        let due = self.due(view.now);
        if self.is_closing {
            let rest: Vec<usize> = (0..due.len()).filter(|number| !self.made.contains(number)).collect();
            starts.extend(rest.iter().map(|number| of(&due[*number])));
            self.made.extend(rest);
            return;
        }
        if self.seen.as_ref().is_none_or(|(at, _)| *at != view.now) {
            self.seen = Some((view.now, self.state(view)));
        }
        if self.is_astray {
            return;
        }
        let mut answer = Starts::new();
        self.at_work.schedule(view, &mut answer);
        for start in answer {
            if self.answered.contains(&start) {
                self.is_astray = true;
                continue;
            }
            self.answered.push(start);
            // In the policy's own order where it agrees, so that its state is as if it had decided alone.
            if let Some(number) = due.iter().position(|planned| of(planned) == start) {
                self.made.push(number);
                starts.push(start);
            } else {
                self.is_astray = true;
            }
        }
    }

    fn next_wakeup(&self) -> Option<Time> {
        let now = self.seen.as_ref()?.0;
        let next_start = self.ahead[self.due(now).len()..].first().map(|start| start.start);
        [self.at_work.next_wakeup().filter(|at| *at > now), next_start].into_iter().flatten().min()
    }

    /// Reports the difference between policy and schedule at this instant, which is over. Jobs known to be late make none.
    fn compare(&mut self, now: Time, findings: &mut FindingList) {
        let due = self.due(now);
        self.ahead = &self.ahead[due.len()..];
        self.made.clear();
        let answer = std::mem::take(&mut self.answered);
        let is_made = |start: &(JobId, SiteId)| due.iter().any(|made| of(made) == *start);
        let missing: Vec<JobId> = answer.iter().filter(|start| !is_made(start)).map(|(job, _)| *job).collect();
        let extra: Vec<&PlannedStart> = due.iter().filter(|start| !answer.contains(&of(start))).collect();
        if missing.is_empty() && extra.is_empty() {
            return;
        }
        self.is_astray = true;
        let newly: Vec<JobId> = missing
            .into_iter()
            .filter(|job| due.iter().all(|start| start.job != job.index()) && self.late.insert(*job))
            .collect();
        if !self.policy.can_be_rebuilt() && !self.at_work.is_pure() {
            self.differences.is_complete = false;
        }
        let (job, line) = match (extra.first(), newly.first()) {
            (Some(start), _) => (start.job, start.line),
            (None, Some(job)) => (job.index(), self.planned[job.index()].map_or(0, |(_, line)| line)),
            (None, None) => return, // reported before
        };
        self.differences.instants += 1;
        self.differences.late_jobs += newly.len() as u64;
        self.differences.starts_not_by_policy += extra.len() as u64;
        let words = self.in_words(now, &answer, due, newly.first().copied());
        findings.add(FindingKind::PolicyDiffers, self.jobs.jobs[job].record.number, Some(now), line, words);
    }

    /// The starts of both, the free processors and the first waiting job; and the start of the first late job.
    fn in_words(&self, now: Time, answer: &Starts, due: &[PlannedStart], late: Option<JobId>) -> String {
        let name = self.policy.name();
        let theirs = self.list(due.iter().map(|start| start.job));
        let ours = self.list(answer.iter().map(|(job, _)| job.index()));
        let (_, state) = self.seen.as_ref().expect("the policy has decided");
        let mut words = format!("at {now} s the schedule starts {theirs}, and {name} would start {ours}; {state}");
        if let Some(late) = late
            && let Some((start, _)) = self.planned[late.index()]
        {
            words += &format!("; job {} starts at {start} s", self.jobs.jobs[late.index()].record.number);
        }
        words
    }

    /// The free processors and the first waiting job, in words; nothing if no job waits.
    fn state(&self, view: &View<'_>) -> String {
        let Some(first) = view.queue.iter().next() else { return String::new() };
        let free: u64 = view.free.iter().copied().map(u64::from).sum();
        let processors: u64 = view.machines.iter().map(|machine| u64::from(machine.processors)).sum();
        let (waiting, number) = (view.queue.len(), self.jobs.jobs[first.job.index()].record.number);
        let wide = first.request.processors;
        format!("{free} of {processors} processors are free, {waiting} wait, the first of them job {number} for {wide}")
    }

    /// `no job`, `job 3`, `jobs 3, 4 and 9 more`.
    fn list(&self, jobs: impl Iterator<Item = usize>) -> String {
        let numbers: Vec<String> = jobs.map(|job| self.jobs.jobs[job].record.number.to_string()).collect();
        match numbers.len() {
            0 => "no job".to_owned(),
            1 => format!("job {}", numbers[0]),
            2..=6 => format!("jobs {}", numbers.join(", ")),
            many => format!("jobs {} and {} more", numbers[..5].join(", "), many - 5),
        }
    }

    /// Builds the policy again with all waiting jobs, if it has a state that relies on starts that were not made.
    fn rebuild(&mut self, view: &View<'_>) {
        if self.at_work.is_pure() {
            // The policy has no state.
            self.is_astray = false;
        }
        if !self.is_astray || !self.policy.can_be_rebuilt() {
            return;
        }
        self.is_astray = false;
        self.at_work = self.policy.at_work(self.seed, self.on);
        let mut queue = Queue::default();
        self.at_work.begin(&View { queue: &queue, ..*view });
        for job in view.queue.iter() {
            queue.push(*job);
            self.at_work.on_submit(job, &View { queue: &queue, ..*view });
        }
    }
}

/// Start in the form that a policy returns.
fn of(start: &PlannedStart) -> (JobId, SiteId) {
    (JobId(u32::try_from(start.job).expect("fewer than 2^32 jobs")), site(start.machine))
}

fn site(machine: usize) -> SiteId {
    SiteId(u32::try_from(machine).expect("fewer than 2^32 machines"))
}
