//! Outages from exponential times.

use crate::draw;
use sim_core::{Outage, Purpose, SiteId, Span, Stream, Streams, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Endless outages, in order of their beginning; at one instant in the order of the machines.
///
/// Every machine has its own streams. Adding machines moves no outage of the others, and another time to repair keeps
/// all times to failure.
#[derive(Clone, Debug)]
pub struct DrawnOutages {
    mtbf: Span,
    mttr: Span,
    /// Times to failure and to repair of each machine.
    machines: Vec<[Stream; 2]>,
    /// Next outage of each machine.
    next: BinaryHeap<Reverse<Outage>>,
}

impl DrawnOutages {
    /// Returns outages of `machines` machines, which all work at the start.
    ///
    /// # Panics
    ///
    /// If a mean is zero, or longer than 136 years.
    pub fn new(mtbf: Span, mttr: Span, machines: u32, streams: &Streams) -> Self {
        let longest = Span::from_secs(u64::from(u32::MAX));
        for mean in [mtbf, mttr] {
            let is_possible = !mean.is_zero() && mean <= longest;
            assert!(is_possible, "the mean time between failures or to repair cannot be {mean} s");
        }
        let machine =
            |site| ["times to failure", "times to repair"].map(|purpose| streams.stream(Purpose(purpose), site));
        let mut drawn = Self { mtbf, mttr, machines: (0..machines).map(machine).collect(), next: BinaryHeap::new() };
        drawn.next = (0..machines).filter_map(|site| drawn.after(Time::ZERO, SiteId(site))).map(Reverse).collect();
        drawn
    }

    /// Returns the outage of that machine that follows a repair at `up`; `None` beyond the range of time.
    fn after(&mut self, up: Time, site: SiteId) -> Option<Outage> {
        let [failures, repairs] = &mut self.machines[site.index()];
        let down = up.saturating_add(exponential(failures, self.mtbf));
        let up = down.saturating_add(exponential(repairs, self.mttr));
        (up < Time::MAX).then_some(Outage { down, site, up })
    }
}

impl Iterator for DrawnOutages {
    type Item = Outage;

    fn next(&mut self) -> Option<Outage> {
        let Reverse(outage) = self.next.pop()?;
        let following = self.after(outage.up, outage.site);
        self.next.extend(following.map(Reverse));
        Some(outage)
    }
}

/// Draws a time of at least one nanosecond, since a machine works before it fails, and a repair takes time.
fn exponential(stream: &mut Stream, mean: Span) -> Span {
    // 136 years times the largest draw that 53 bits allow would leave the range of time.
    let seconds = (mean.as_secs_f64() * draw::exponential(stream)).min(LONGEST);
    Span::from_secs_f64(seconds).max(Span::from_nanos(1))
}

/// Longest time drawn: 500 years, in seconds.
const LONGEST: f64 = 1.5e10;
