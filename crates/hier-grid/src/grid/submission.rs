//! Submission of jobs: by the work stations of the paper's experiments, or from outside.

use super::{Grid, Source};
use crate::fabric::jobs::{JobState, Submission, Work};
use crate::message::MessageObserver;
use crate::message::event::Event;
use crate::world::{Requirement, StationId};
use sim_core::{Context, Fact, Job, Rejection};

impl<O: MessageObserver, L: Iterator<Item = Submission>> Grid<O, L> {
    pub(super) fn open_source(&mut self, cx: &mut impl Context<Event>) {
        self.pull(cx);
        if let Source::Stations(stations) = &self.source {
            for station in stations.order.clone() {
                self.continue_from(station, cx);
            }
        }
    }

    fn submit(&mut self, state: JobState, job: Job, cx: &mut impl Context<Event>) {
        let station = state.station;
        self.fabric.jobs.push(job.id, state);
        self.fabric.counts.submitted += 1;
        cx.emit(Fact::Submitted(job));
        let (system, mut run) = self.split(cx);
        system.request(station, job.id, &mut run);
    }

    fn submit_from(&mut self, station: StationId, cx: &mut impl Context<Event>) {
        let Source::Stations(stations) = &mut self.source else { return };
        let now = cx.now();
        let (state, mean_cpus) = (stations.make(station, now), stations.mean_cpus);
        // The run time in the record is that on a mean server without other users.
        let mut job = Job::new(self.fabric.jobs.next(), now, 1, state.runtime(mean_cpus, 1.0));
        job.origin = Some(self.fabric.world.site_of(station));
        job.request.estimate = Some(state.estimate(mean_cpus, 1.0));
        self.submit(state, job, cx);
    }

    /// Continues a work station without a job in the grid: it submits or thinks, or rests if no jobs are left.
    pub(super) fn continue_from(&mut self, station: StationId, cx: &mut impl Context<Event>) {
        let Source::Stations(stations) = &mut self.source else { return };
        if stations.left == 0 {
            return;
        }
        match stations.think_time(station) {
            None => self.submit_from(station, cx),
            Some(span) => {
                cx.post_in(span, Event::Due(station));
            }
        }
    }

    pub(super) fn due(&mut self, station: StationId, cx: &mut impl Context<Event>) {
        let Source::Stations(stations) = &mut self.source else { return };
        // Experiment 2: a due submission happens with the site's probability; otherwise the work station thinks again.
        if stations.left > 0 && stations.happens(station, self.fabric.world.site_of(station)) {
            self.submit_from(station, cx);
        } else {
            self.continue_from(station, cx);
        }
    }

    fn pull(&mut self, cx: &mut impl Context<Event>) {
        let Source::Outside { submissions, next, .. } = &mut self.source else { return };
        *next = submissions.next();
        if let Some(next) = next {
            cx.post_at(next.job.submit, Event::Submit);
        }
    }

    /// Submits a job from outside, or rejects it if no server is wide enough.
    pub(super) fn submit_next(&mut self, cx: &mut impl Context<Event>) {
        let Source::Outside { next, divides, .. } = &mut self.source else { return };
        let divides = *divides;
        let Some(Submission { job, station, system, input, output }) = next.take() else { return };
        self.pull(cx);
        // A job of a log requests processors; its class is the narrowest class of servers that is wide enough.
        let requirement = Requirement { system, cpus: job.request.processors };
        let class = self.fabric.world.class_of(requirement);
        let (estimate, actual) = (job.request.estimate.unwrap_or(job.runtime).as_secs_f64(), job.runtime.as_secs_f64());
        let scale = if divides { f64::from(job.request.processors) } else { 1.0 };
        let work = Work { divides, estimate: scale * estimate, actual: scale * actual };
        let state = JobState::new(station, class.unwrap_or(0), work, [input, output], job.submit);
        if class.is_some() {
            self.submit(state, job, cx);
        } else {
            cx.emit(Fact::Submitted(job));
            cx.emit(Fact::Rejected { job: job.id, reason: Rejection::TooWide });
            // A job's id is its position, so a rejected job takes a position too; it is forgotten like a completed one.
            self.fabric.jobs.push(job.id, JobState { done: true, ..state });
            self.fabric.jobs.forget();
            self.fabric.counts.rejected += 1;
        }
    }
}
