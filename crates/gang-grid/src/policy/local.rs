//! Local level (§3.2): destinations of arriving locals, and locals that may pass a waiting gang.

use crate::config::{BackfillOnArrival, Config, ShortestQueue, Startable, ThresholdFrom};
use crate::gang::Gang;
use crate::policy::{GangView, pick};
use crate::processors::{Eligible, Processor};
use rand::Rng;
use sim_core::{ProcId, SiteId, Span, Time};

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Destination {
    Start(ProcId),
    Queue(ProcId),
}

/// The local scheduler's rules: the threshold and the readings that concern it.
impl Config {
    /// Equation (1): returns true if a local may begin on a processor that is kept for `gang`.
    ///
    /// ServiceTime is the local's estimate; ElapsedTime is the time that remains until the gang can begin (R17).
    pub(crate) fn may_backfill(&self, estimate: Span, gang: &Gang, now: Time) -> bool {
        let start = match self.readings.threshold_from {
            // A gang cannot begin in the past, even if a job outlives the estimate that its start was computed from.
            ThresholdFrom::PresentStart => gang.present_start.max(now),
            ThresholdFrom::PromisedStart => gang.promised_start,
        };
        // The form "≤ (start − now) + T" would be wrong for a promised start that has passed.
        now.saturating_add(estimate) <= start.saturating_add(self.threshold)
    }

    pub(crate) fn destination(
        &self,
        estimate: Span,
        site: SiteId,
        view: GangView<'_>,
        rng: &mut impl Rng,
        scratch: &mut Vec<ProcId>,
    ) -> Destination {
        let processors = view.processors;
        if self.readings.shortest_queue == ShortestQueue::Random {
            let processor = processors.any(site, rng);
            let idle = processors.get(processor).is_idle();
            return if idle { Destination::Start(processor) } else { Destination::Queue(processor) };
        }
        scratch.clear();
        if self.readings.backfill_on_arrival == BackfillOnArrival::Yes {
            scratch.extend(processors.held(site).filter(|id| {
                let gang = processors.get(*id).reserved.expect("a held processor is kept for a gang");
                self.may_backfill(estimate, view.gang(gang), view.now)
            }));
        }
        let start = match self.readings.startable {
            // Usually no gang waits, and no list is needed.
            Startable::Random if scratch.is_empty() => processors.any_idle(site, rng),
            Startable::Random => {
                processors.collect(site, Eligible::Idle, scratch);
                pick(scratch, rng)
            }
            Startable::PreferEmpty => processors.any_idle(site, rng).or_else(|| pick(scratch, rng)),
            Startable::PreferReserved => pick(scratch, rng).or_else(|| processors.any_idle(site, rng)),
        };
        match start {
            Some(processor) => Destination::Start(processor),
            None => Destination::Queue(self.shortest_queue(site, view, rng, scratch)),
        }
    }

    /// The shortest queue of `site`, ties at random (R9); O(processors of the site).
    fn shortest_queue(
        &self,
        site: SiteId,
        view: GangView<'_>,
        rng: &mut impl Rng,
        scratch: &mut Vec<ProcId>,
    ) -> ProcId {
        scratch.clear();
        let mut shortest = u64::MAX;
        for (id, processor) in view.processors.of_site(site) {
            let length = match self.readings.shortest_queue {
                ShortestQueue::Waiting => processor.waiting() as u64,
                ShortestQueue::Work => work_left(id, processor, view).as_nanos(),
                ShortestQueue::Jobs | ShortestQueue::Random => {
                    (processor.waiting() + usize::from(processor.running.is_some())) as u64
                }
            };
            if length < shortest {
                shortest = length;
                scratch.clear();
            }
            if length == shortest {
                scratch.push(id);
            }
        }
        pick(scratch, rng).expect("a site has at least one processor")
    }
}

/// Work that is running, waiting, and reserved at a processor.
fn work_left(id: ProcId, processor: &Processor, view: GangView<'_>) -> Span {
    let running = view.processors.free_at(id, view.now).since(view.now);
    let waiting: Span = processor.queue().map(|local| local.estimate).sum();
    let reserved = processor
        .reserved
        .and_then(|gang| view.gang(gang).tasks.iter().find(|(processor, _)| *processor == id).map(|(_, task)| *task));
    running + waiting + reserved.unwrap_or_default()
}
