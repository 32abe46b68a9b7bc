//! Checker of the reasons that policies report.

use super::scene::Scene;
use crate::multi_cluster::Passes;
use crate::policy::{Explained, Policy};
use crate::reason::{Reason, ReasonProbe, ReservedStart, Right};
use crate::view::{Starts, View};
use sim_core::{JobId, Request, SiteId, Span, Time};
use std::cell::{Ref, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Instant from which on nothing is expected to end.
const NEVER: Time = Time::from_nanos(u64::MAX - 1);

/// Probe that recomputes every [`Reason`] from the view of the pass, and panics if one is wrong.
#[derive(Clone, Debug, Default)]
pub struct Judge {
    /// True if a job that fits into the processors that a reservation leaves is barred all the same
    /// ([`BackfillRule::Strict`](crate::BackfillRule::Strict)).
    pub is_strict: bool,
    /// True if jobs may keep a reservation though an earlier start is possible ([`Reason::Kept`]).
    pub may_keep: bool,
    /// Reserved starts of each job, in all passes.
    promised: Rc<RefCell<BTreeMap<JobId, Vec<Time>>>>,
    /// Reasons of the present pass, each with the jobs that had started by then.
    told: Vec<(JobId, Reason, Starts)>,
}

struct JudgedPass<'a> {
    judge: &'a Judge,
    view: &'a View<'a>,
    starts: &'a Starts,
}

impl Judge {
    /// Reserved starts of each job, in all passes. Clones of a judge share them.
    pub fn promised(&self) -> Ref<'_, BTreeMap<JobId, Vec<Time>>> {
        self.promised.borrow()
    }
}

impl ReasonProbe for Judge {
    fn observe(&mut self, job: JobId, reason: Reason, starts: &Starts) {
        self.told.push((job, reason, starts.clone()));
    }

    fn end_pass(&mut self, view: &View<'_>, starts: &Starts) {
        let pass = JudgedPass { judge: self, view, starts };
        for (job, reason, before) in &self.told {
            assert!(before.iter().all(|one| starts.contains(one)), "{before:?} {starts:?}");
            pass.check(*job, reason, before);
        }
        let place = |reason: &Reason| if let Reason::Turn { place } = reason { Some(*place) } else { None };
        let places: Vec<usize> = self.told.iter().filter_map(|(_, reason, _)| place(reason)).collect();
        assert!(places.iter().copied().eq(1..=places.len()), "{places:?}");
        for queued in view.queue.iter() {
            let of_it: Vec<&Reason> =
                self.told.iter().filter(|told| told.0 == queued.job).map(|told| &told.1).collect();
            let started = starts.iter().find(|(job, _)| *job == queued.job);
            let told = of_it.iter().find_map(|reason| match reason {
                Reason::Starts { machine, .. } => Some(*machine),
                _ => None,
            });
            assert_eq!(told, started.map(|(_, machine)| *machine), "job {}: {of_it:?}", queued.job);
            let is_obstacle = |reason: &&Reason| {
                matches!(reason, Reason::NoRoom { .. } | Reason::Barred { .. } | Reason::Behind { .. } | Reason::Kept)
            };
            let obstacles = of_it.iter().copied().filter(is_obstacle).count();
            let expected = usize::from(started.is_none() && !self.told.is_empty());
            assert_eq!(obstacles, expected, "job {}: {of_it:?}", queued.job);
        }
        self.told.clear();
    }
}

impl JudgedPass<'_> {
    fn request(&self, job: JobId) -> &Request {
        &self.view.queue.get(job).unwrap_or_else(|| panic!("job {job} does not wait")).request
    }

    fn suits(&self, request: &Request, machine: SiteId) -> bool {
        self.view.suits(machine.index(), request)
    }

    /// Computes the free processors by plain subtraction.
    fn free(&self, machine: SiteId, starts: &Starts) -> u32 {
        let here = starts.iter().filter(|(_, place)| *place == machine);
        self.view.free[machine.index()] - here.map(|(job, _)| self.request(*job).processors).sum::<u32>()
    }

    /// Lists the processors held on the machine with their expected releases: by running jobs and by those that the pass has started.
    fn held(&self, machine: SiteId, starts: &Starts) -> Vec<(Time, u32)> {
        let soonest = self.view.now + Span::from_nanos(1);
        let place = &self.view.machines[machine.index()];
        let here = starts.iter().filter(|(_, place)| *place == machine);
        let started = here.map(|(job, _)| place.running(*job, self.request(*job), self.view.now));
        let held = self.view.running[machine.index()].iter().copied().chain(started);
        held.map(|job| (job.expected_end.max(soonest), job.processors)).collect()
    }

    fn waits(&self, job: JobId) {
        self.request(job);
        assert!(self.starts.iter().all(|(start, _)| *start != job), "job {job} has started");
    }

    fn check(&self, job: JobId, reason: &Reason, before: &Starts) {
        let request = self.request(job);
        assert!(before.iter().all(|(other, _)| *other != job), "job {job} had started before");
        match reason {
            Reason::Turn { .. } | Reason::Hopeless => {}
            Reason::Starts { machine, right, passed } => {
                assert!(self.suits(request, *machine) && self.free(*machine, before) >= request.processors);
                passed.iter().for_each(|other| self.waits(*other));
                assert!(*right != Right::Backfilled || !passed.is_empty(), "{passed:?}");
            }
            Reason::NoRoom { machine, free } => {
                assert_eq!(*free, self.free(*machine, before), "job {job}");
                assert!(self.suits(request, *machine) && *free < request.processors);
                let all = (0..).map(SiteId).take(self.view.machines.len()).filter(|other| self.suits(request, *other));
                assert_eq!(all.map(|other| self.free(other, before)).max(), Some(*free));
            }
            Reason::Barred { machine, at, left, by } => self.check_bar(job, (*machine, *at, *left), by, before),
            Reason::Behind { head } => {
                self.waits(*head);
                assert!(self.judge.told.iter().any(|told| told.0 == *head && matches!(told.1, Reason::NoRoom { .. })));
            }
            Reason::Reserved { machine, start } => {
                assert!(self.suits(request, *machine) && *start > self.view.now);
                self.judge.promised.borrow_mut().entry(job).or_default().push(*start);
            }
            Reason::Kept => assert!(self.judge.may_keep, "job {job} could have started"),
        }
    }

    fn check_bar(&self, job: JobId, (machine, at, left): (SiteId, Time, u32), by: &[ReservedStart], before: &Starts) {
        let request = self.request(job);
        assert!(self.suits(request, machine) && self.free(machine, before) >= request.processors, "job {job} has room");
        assert!(at > self.view.now && left < request.processors && !by.is_empty());
        let place = &self.view.machines[machine.index()];
        let is_beyond = |end: Time| self.judge.is_strict || end > at || end == Time::MAX;
        assert!(is_beyond(self.view.now.saturating_add(place.expects(request))), "job {job} would end in time");
        for ReservedStart { job: other, start, processors } in by {
            self.waits(*other);
            let theirs = self.request(*other);
            assert!(*other != job && *start <= at && *processors == theirs.processors);
            let end = start.saturating_add(place.expects(theirs).max(Span::from_nanos(1)));
            assert!(is_beyond(end), "job {other} has ended by {at}");
        }
        // A job that never ends is expected to end at the last instant, of which there are two: not recomputed.
        let held = self.held(machine, before);
        if !self.judge.is_strict && at < NEVER && held.iter().all(|(end, _)| *end < NEVER) {
            let busy: u32 = held.iter().filter(|(end, _)| *end > at).map(|(_, processors)| processors).sum();
            let promised: u32 = by.iter().map(|by| by.processors).sum();
            assert_eq!(left, place.processors - busy - promised, "left for job {job} at {at}");
        }
    }
}

/// Asserts that a policy reports right reasons, one obstacle for each waiting job, and starts the same jobs as without a probe.
///
/// # Panics
///
/// If an assertion fails.
pub fn assert_reasons(policy: impl Policy + Clone, judge: &Judge, scene: &Scene, passes: Passes) {
    let explained = Explained { policy: policy.clone(), probe: judge.clone() };
    assert_eq!(scene.transcript(explained, passes), scene.transcript(policy, passes), "a probe changes nothing");
}
