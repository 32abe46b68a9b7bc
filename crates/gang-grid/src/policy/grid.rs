//! Grid level (§3.1): routes of gangs, and the choice of the next gang of the GS queue.

use crate::config::{Approach, Config, EmptyInScan, EmptyOnArrival, Placement, SiteOrder, Split};
use crate::gang::GangQueue;
use crate::policy::{GangView, below, pick};
use crate::processors::{Eligible, Processors};
use rand::Rng;
use sim_core::{ProcId, SiteId};

/// Route of a gang: the processors that its tasks may go to.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Route {
    /// Site; `None` for all of them together.
    pub(crate) site: Option<SiteId>,
    pub(crate) eligible: Eligible,
}

/// The grid scheduler's rules: the approach and the readings that concern it.
impl Config {
    /// Processors on which a gang begins at once (R6).
    const fn idle(&self) -> Eligible {
        if self.readings.reserved_is_idle { Eligible::IdleOrHeld } else { Eligible::Idle }
    }

    /// Largest number of tasks of a gang that can be routed.
    pub(crate) fn widest(&self) -> u32 {
        match self.approach {
            Approach::One => self.sites.iter().map(|site| site.processors).max().unwrap_or(0),
            Approach::Two | Approach::Three => self.processors(),
        }
    }

    /// Route of an arriving gang of `tasks` tasks, by the conditions of the approach, in the paper's order. `None`: to
    /// the GS queue.
    pub(crate) fn route_of(&self, tasks: u32, processors: &Processors, rng: &mut impl Rng) -> Option<Route> {
        let empty = match self.readings.empty_on_arrival {
            EmptyOnArrival::NoneWaiting => Eligible::NoneWaiting,
            EmptyOnArrival::Idle => Eligible::Idle,
        };
        let one_site = |eligible, rng: &mut _| {
            let site = self.site_for(tasks, eligible, processors, rng)?;
            Some(Route { site: Some(site), eligible })
        };
        let all_sites = |least, eligible| {
            let fits = self.approach >= least && processors.total(eligible) >= tasks;
            fits.then_some(Route { site: None, eligible })
        };
        // The conditions in the paper's order: one site before several, idle before empty queues.
        one_site(self.idle(), rng)
            .or_else(|| one_site(empty, rng))
            .or_else(|| all_sites(Approach::Two, self.idle()))
            .or_else(|| all_sites(Approach::Three, empty))
    }

    /// One round of the scan (steps 1 to 4 of §3.1): size of the gang in the GS queue that is routed next, the oldest of that
    /// size, and its route. `None`: no gang can be chosen, and the scan is over (step 5).
    pub(crate) fn on_scan(
        &self,
        queue: &GangQueue,
        processors: &Processors,
        rng: &mut impl Rng,
    ) -> Option<(u32, Route)> {
        let (smallest, order) = (queue.smallest_allowed(self.readings.gang_order)?, self.readings.gang_order);
        let empty = |reading| match reading {
            EmptyInScan::Idle => Eligible::Idle,
            EmptyInScan::NoneWaiting => Eligible::NoneWaiting,
        };

        // Steps 1 and 2: the first site where any gang fits; the largest gang that fits there.
        let eligible = empty(self.readings.empty_in_scan);
        let one_site = self.site_for(smallest, eligible, processors, rng).and_then(|site| {
            let size = queue.next_size(order, processors.count(site, eligible))?;
            Some((size, Route { site: Some(site), eligible }))
        });
        let all_sites = |least, eligible| {
            let largest = (self.approach >= least).then(|| processors.total(eligible))?;
            Some((queue.next_size(order, largest)?, Route { site: None, eligible }))
        };
        // Step 3, approaches 2 and 3: idle processors of all sites together. Step 4, approach 3: empty queues of all sites
        // together, which differs from step 3 only under R5 "no job waiting".
        one_site
            .or_else(|| all_sites(Approach::Two, self.idle()))
            .or_else(|| all_sites(Approach::Three, empty(self.readings.empty_in_step_4)))
    }

    /// A site with at least `tasks` eligible processors: the first, or any (R8).
    fn site_for(&self, tasks: u32, eligible: Eligible, processors: &Processors, rng: &mut impl Rng) -> Option<SiteId> {
        match self.readings.site_order {
            SiteOrder::Fixed => processors.first_site(tasks, eligible),
            SiteOrder::Random => {
                let fits = |site: &SiteId| processors.count(*site, eligible) >= tasks;
                let fitting: Vec<SiteId> = processors.site_ids().filter(fits).collect();
                pick(&fitting, rng)
            }
        }
    }

    /// Stores the processors of a gang along `route` in `chosen`, task by task (R7), in place of its content.
    /// O(eligible processors): for a route over all sites, their number in the grid.
    pub(crate) fn place(
        &self,
        tasks: usize,
        route: Route,
        view: GangView<'_>,
        rng: &mut impl Rng,
        chosen: &mut Vec<ProcId>,
    ) {
        let processors = view.processors;
        chosen.clear();
        match (route.site, self.readings.split) {
            (Some(site), _) => processors.collect(site, route.eligible, chosen),
            (None, Split::Pooled) => {
                processors.site_ids().for_each(|site| processors.collect(site, route.eligible, chosen));
            }
            (None, split) => {
                let rooms: Vec<usize> =
                    processors.site_ids().map(|site| processors.count(site, route.eligible) as usize).collect();
                let mut here = Vec::new();
                for (site, share) in processors.site_ids().zip(shares(split, tasks, &rooms)) {
                    here.clear();
                    processors.collect(site, route.eligible, &mut here);
                    self.choose(share, view, rng, &mut here);
                    chosen.append(&mut here);
                }
                assert!(chosen.len() == tasks, "{tasks} tasks were divided over {} processors", chosen.len());
                return;
            }
        }
        assert!(chosen.len() >= tasks, "{tasks} tasks were routed to {} processors", chosen.len());
        self.choose(tasks, view, rng, chosen);
    }

    /// Keeps one candidate per task, in the order of the tasks (R7).
    fn choose(&self, tasks: usize, view: GangView<'_>, rng: &mut impl Rng, chosen: &mut Vec<ProcId>) {
        match self.readings.placement {
            Placement::IdleFirst => {
                // Idle ones to the front, then the required number of random draws from each part.
                let mut idle = 0;
                for i in 0..chosen.len() {
                    if view.processors.get(chosen[i]).running.is_none() {
                        chosen.swap(i, idle);
                        idle += 1;
                    }
                }
                draw(&mut chosen[..idle], tasks.min(idle), rng);
                draw(&mut chosen[idle..], tasks.saturating_sub(idle), rng);
            }
            Placement::Random => draw(chosen, tasks, rng),
            Placement::SoonestFree => chosen.sort_unstable_by_key(|&id| (view.processors.free_at(id, view.now), id)),
            Placement::LowestIndex => chosen.sort_unstable(),
        }
        chosen.truncate(tasks);
    }
}

/// Number of tasks for each site, given the room there (R18); all tasks, if there is room.
fn shares(split: Split, tasks: usize, rooms: &[usize]) -> Vec<usize> {
    let step = if split == Split::Even { 1 } else { tasks };
    let (mut left, mut shares) = (tasks.min(rooms.iter().sum()), vec![0; rooms.len()]);
    while left > 0 {
        for (share, room) in shares.iter_mut().zip(rooms) {
            let more = step.min(left).min(room - *share);
            *share += more;
            left -= more;
        }
    }
    shares
}

/// Moves `count` random elements to the front, in random order (the first steps of a Fisher–Yates shuffle).
fn draw(from: &mut [ProcId], count: usize, rng: &mut impl Rng) {
    for i in 0..count {
        from.swap(i, i + below(from.len() - i, rng));
    }
}
