//! A stream of locals and gangs as in §4.2: Poisson arrivals, exponential service times of mean one second.

use gang_grid::Submission;
use rand::{Rng, RngExt};
use rand_distr::{Distribution, Exp1};
use sim_core::{JobId, Purpose, SiteId, Span, Streams, Time};

/// Arrival rates and kinds of arrivals.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Load {
    pub(crate) sites: u32,
    /// λ: locals per second at each site.
    pub(crate) locals: f64,
    /// λ3: gangs per second at the grid scheduler.
    pub(crate) gangs: f64,
    /// Gangs have one of these numbers of tasks, each equally likely.
    pub(crate) sizes: &'static [usize],
}

impl Load {
    /// The paper's: two sites, gangs of 2, 4, 8 or 16 every other second.
    pub(crate) const fn of_the_paper(locals: f64) -> Self {
        Self { sites: 2, locals, gangs: 0.5, sizes: &[2, 4, 8, 16] }
    }

    /// The first `jobs` submissions. The superposition of Poisson streams is a Poisson stream, and each arrival belongs to one of them at
    /// random, in proportion to the rates; a thousand sites therefore cost no more than two.
    pub(crate) fn submissions(self, jobs: u32, streams: &Streams) -> impl Iterator<Item = Submission> + use<> {
        let Self { sites, locals, gangs, sizes } = self;
        let mut draws = streams.stream(Purpose("submissions"), 0);
        let rate = f64::from(sites) * locals + gangs;
        let mut submit = Time::ZERO;
        (0..jobs).map(JobId).map(move |id| {
            submit += exponential(1.0 / rate, &mut draws);
            if draws.random_range(0.0..rate) < gangs {
                let size = sizes[draws.random_range(0..sizes.len())];
                Submission::gang(id, submit, (0..size).map(|_| exponential(1.0, &mut draws)).collect::<Vec<_>>())
            } else {
                let site = SiteId(draws.random_range(0..sites));
                Submission::local(id, submit, site, exponential(1.0, &mut draws))
            }
        })
    }
}

fn exponential(mean: f64, draws: &mut impl Rng) -> Span {
    let draw: f64 = Exp1.sample(draws);
    Span::from_secs_f64(mean * draw)
}
