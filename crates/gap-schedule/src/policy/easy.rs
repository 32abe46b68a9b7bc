use crate::dispatch::{Dispatch, View};
use crate::queue::Least;
use crate::running::{RunningJob, Shadow};
use sim_core::{JobId, Span, Time};

/// EASY (aggressive) backfilling: the head of the queue is promised a start, and later jobs may start before it if they
/// do not delay that.
///
/// Jobs start in order of arrival as long as they fit. The first that does not, the head, is promised the *shadow time*,
/// when enough processors will be free by the expected ends of the running jobs; what will then be free beyond its need
/// are the *extra* processors. Every later job, in order of arrival, starts now if it fits now and either is expected to
/// end by the shadow time or takes only extra processors. Only the head is promised anything, so jobs behind it can be
/// delayed by others that came later.
///
/// Where estimates are upper bounds, the promise is kept: it never moves to a later instant.
///
/// A pass takes about log n steps of a queue of n for each job that it starts: stretches of jobs that are all too wide, or
/// all too long and too wide for the extra processors, are passed over as one. Of the running jobs it takes those
/// that the head must wait for, in chunks.
///
/// Sources: D. A. Lifka, "The ANL/IBM SP scheduling system", JSSPP 1995; A. W. Mu'alem and D. G. Feitelson, "Utilization,
/// predictability, workloads, and user runtime estimates in scheduling the IBM SP2 with backfilling", IEEE TPDS 12(6),
/// 2001, figure 1.
#[derive(Clone, Debug, Default)]
pub struct EasyBackfill {
    /// The jobs that this pass starts in their turn, kept for its memory only.
    in_turn: Vec<RunningJob>,
}

impl EasyBackfill {
    /// The policy. It remembers nothing from one pass to the next.
    pub const fn new() -> Self {
        Self { in_turn: Vec::new() }
    }
}

impl Dispatch for EasyBackfill {
    fn dispatch(&mut self, view: &View<'_>, starts: &mut Vec<JobId>) {
        let mut free = view.free;
        if free == 0 {
            return;
        }
        let mut queue = view.queue.iter();
        self.in_turn.clear();
        let head = loop {
            let Some(waiting) = queue.next() else {
                return;
            };
            let Some(left) = free.checked_sub(waiting.request.processors) else {
                break waiting;
            };
            free = left;
            starts.push(waiting.job);
            self.in_turn.push(RunningJob::new(waiting.job, &waiting.request, view.now));
        };

        // Most passes end here: the search for the shadow time would be for nobody.
        if queue.clone().next_where(|least| least.processors <= free).is_none() {
            return;
        }
        self.in_turn.sort_unstable();
        let shadow = view.running.shadow(view.now, free, head.request.processors, &self.in_turn);
        // Where the running jobs never free enough, because processors are out of order, say, there is no promise that
        // could be broken.
        let Shadow { at, mut extra } = shadow.unwrap_or(Shadow { at: Time::MAX, extra: free });
        // A job without an estimate counts as `Span::MAX` and must not seem to end by any shadow time, not even "never".
        let window = at.since(view.now).min(Span::from_nanos(u64::MAX - 1));

        // Of a single job, `Least` is the job itself, so whatever is found may start.
        let harmless = |least: Least, free: u32, extra: u32| {
            least.processors <= free && (least.estimate <= window || least.processors <= extra)
        };
        while let Some(waiting) = queue.next_where(|least| harmless(least, free, extra)) {
            let request = &waiting.request;
            free -= request.processors;
            if Least::of(request).estimate > window {
                extra -= request.processors;
            }
            starts.push(waiting.job);
        }
    }
}
