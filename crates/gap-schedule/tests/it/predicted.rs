//! EASY with predicted run times on one machine: a whole simulation, event by event, in its plainest form.

use gap_schedule::{
    Backfilling, Expired, Machine, Order, Policy, Predictions, Queue, QueuedJob, Running, View, reference,
};
use sim_core::{Job, Request, Span, Time};
use std::collections::BTreeSet;

/// Result of a job.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Predicted {
    /// Start.
    pub(crate) start: Time,
    /// Prediction at its submission.
    pub(crate) first_prediction: Span,
    /// Number of expired predictions.
    pub(crate) corrections: u32,
}

/// Order of the jobs behind the head of the queue.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Behind {
    /// By arrival: EASY. A submission causes a pass only if the submitted job fits.
    Arrival,
    /// By prediction, then by arrival: EASY-SJBF. Every submission causes a pass.
    Shortest,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum PredictedEvent {
    Expire,
    Submit,
    End,
}

struct PredictedRun<'a> {
    jobs: &'a [Job],
    processors: u32,
    behind: Behind,
    found: Vec<Predicted>,
    /// Run times expected now.
    expected: Vec<Span>,
    queue: Vec<usize>,
    running: Vec<usize>,
    /// Future events; those of one kind at one instant in the order of posting.
    events: BTreeSet<(Time, PredictedEvent, usize, usize)>,
    posted: usize,
}

/// Simulates with the order of events of the simulator behind the published results of SC'15 (`--passes pyss`). At one
/// instant: expiries, submissions, ends. A pass follows each submission and each end, but no expiry. In a pass, the
/// processors of a job whose prediction ends at this very instant are already free.
///
/// `jobs` are in order of submission, fit the machine, have positive run times, and run no longer than they request.
pub(crate) fn predicted_easy(
    jobs: &[Job],
    processors: u32,
    behind: Behind,
    mut predictions: Predictions,
) -> Vec<Predicted> {
    let nothing = Predicted { start: Time::MAX, first_prediction: Span::ZERO, corrections: 0 };
    let (found, expected) = (vec![nothing; jobs.len()], vec![Span::ZERO; jobs.len()]);
    let events = (0..).zip(jobs).map(|(id, job)| (job.submit, PredictedEvent::Submit, id, id)).collect();
    let (queue, running) = (Vec::new(), Vec::new());
    let mut run =
        PredictedRun { jobs, processors, behind, found, expected, queue, running, events, posted: jobs.len() };
    while let Some((now, event, _, id)) = run.events.pop_first() {
        let job = &jobs[id];
        match event {
            PredictedEvent::Submit => {
                let predicted = predictions.predict(&job.request, job.runtime).expect("a request");
                run.found[id].first_prediction = predicted;
                run.expected[id] = predicted;
                run.queue.push(id);
                if behind == Behind::Shortest || job.request.processors <= run.free(now) {
                    run.pass(now);
                }
            }
            PredictedEvent::End => {
                predictions.end(&job.request, None, job.runtime);
                run.running.retain(|other| *other != id);
                run.pass(now);
            }
            PredictedEvent::Expire => {
                let Predicted { first_prediction: first, corrections, .. } = run.found[id];
                let prediction = run.expected[id];
                let expired = Expired { requested: job.request.estimate, first, prediction, corrections };
                run.expected[id] = predictions.correct(&expired).expect("a request is never outlived");
                run.found[id].corrections += 1;
                run.watch(id);
            }
        }
    }
    assert!(run.queue.is_empty() && run.running.is_empty(), "every job has run");
    run.found
}

impl PredictedRun<'_> {
    fn post(&mut self, at: Time, event: PredictedEvent, id: usize) {
        self.events.insert((at, event, self.posted, id));
        self.posted += 1;
    }

    /// Posts the expiry of the prediction, if it expires before the job ends.
    fn watch(&mut self, id: usize) {
        if self.expected[id] < self.jobs[id].runtime {
            self.post(self.expected_end(id), PredictedEvent::Expire, id);
        }
    }

    fn expected_end(&self, id: usize) -> Time {
        self.found[id].start + self.expected[id]
    }

    /// Number of processors free now, by predictions.
    fn free(&self, now: Time) -> u32 {
        let held = self.running.iter().filter(|id| self.expected_end(**id) > now);
        self.processors - held.map(|id| self.jobs[*id].request.processors).sum::<u32>()
    }

    /// Starts the jobs that the plain policy starts.
    fn pass(&mut self, now: Time) {
        let (machine, mut queue, mut running) = (Machine::new(self.processors), Queue::default(), Running::default());
        let request = |id: usize| Request { estimate: Some(self.expected[id]), ..self.jobs[id].request };
        for id in &self.queue {
            queue.push(QueuedJob { request: request(*id), ..QueuedJob::of(&self.jobs[*id]) });
        }
        for id in self.running.iter().filter(|id| self.expected_end(**id) > now) {
            running.insert(machine.running(self.jobs[*id].id, &request(*id), self.found[*id].start));
        }
        let (machines, free, running) = ([machine], [self.free(now)], [running]);
        let backfill = if self.behind == Behind::Shortest { Order::Spf } else { Order::Fcfs };
        let mut starts = Vec::new();
        reference::OrderedBackfill(Backfilling { backfill, ..Backfilling::default() })
            .schedule(&View { now, machines: &machines, free: &free, running: &running, queue: &queue }, &mut starts);
        for id in starts.into_iter().map(|(job, _)| job.index()) {
            self.queue.retain(|other| *other != id);
            self.running.push(id);
            self.found[id].start = now;
            self.post(now + self.jobs[id].runtime, PredictedEvent::End, id);
            self.watch(id);
        }
    }
}
