//! The world: sites with their servers and work stations, their numbers, and the classes of jobs that a server can run.

pub(crate) mod network;
pub(crate) mod overlay;
pub(crate) mod shape;
pub mod tree;

use crate::config::{self, Config, GridConfig, ServerDraw};
use crate::world::shape::Shape;
use rand::RngExt;
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};
use sim_core::{ConfigError, Purpose, SiteId, Streams};

/// Set of classes of jobs: those that a server can run, a job bag holds, or a channel leads to.
///
/// The paper's bags hold jobs. Jobs with the same requirements are in the same bags, so a bag is here a set of *classes*
/// of jobs, one bit each: two bags are similar if the same jobs match.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Bag(pub u32);

impl Bag {
    pub(crate) const EMPTY: Self = Self(0);

    pub(crate) const fn of(class: u8) -> Self {
        Self(1 << class)
    }

    pub(crate) const fn holds(self, class: u8) -> bool {
        self.0 & 1 << class != 0
    }

    pub(crate) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(crate) const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Intersection of both bags.
    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(crate) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// The classes in the bag, in order.
    pub fn classes(self) -> impl Iterator<Item = u8> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let class = left.trailing_zeros();
            left &= left.checked_sub(1)?;
            u8::try_from(class).ok()
        })
    }
}

/// Requirements of a job (the paper's JMR): an operating system and, if widths matter, the number of CPUs that it needs at once.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Requirement {
    /// The operating system, counted from 0.
    pub(crate) system: u32,
    /// CPUs, at least 1.
    pub(crate) cpus: u32,
}

/// One server: a parallel machine that runs one job at a time on all of its CPUs.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Server {
    /// Site at which it stands.
    pub site: SiteId,
    /// Its CPUs (Table 1: nodes × CPUs per node).
    pub cpus: u32,
    /// The operating systems that it offers, as a set of bits; one in the paper.
    pub systems: u32,
}

/// Sites in nets in backbones, with their servers and work stations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct World {
    pub(crate) places: Places,
    pub(crate) servers: Vec<Server>,
    /// First server of each site, and one past the last.
    pub(crate) first_server: Vec<u32>,
    /// First work station of each site, and one past the last.
    pub(crate) first_station: Vec<u32>,
    pub(crate) site_of_station: Vec<u32>,
    /// Number of operating systems that jobs may require.
    pub(crate) systems: u32,
    pub(crate) classes: Vec<Requirement>,
    /// True if jobs require a number of CPUs.
    pub(crate) wide: bool,
    pub(crate) shape: Shape,
}

/// Distance between two sites.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Distance {
    /// The same site.
    SameSite,
    /// Two sites of one net.
    SameNet,
    /// Two nets of one backbone.
    SameBackbone,
    /// Two backbones.
    Across,
}

impl World {
    /// Draws the world that `config` describes. By default (R14) it depends only on the seed, so that all replications share it.
    ///
    /// Every operating system is offered by at least one server: if none has drawn it, the first servers
    /// get it. (With 520 servers the chance of that is 10⁻⁹¹.)
    ///
    /// # Errors
    ///
    /// If [`Config::validate`] finds fault with the configuration.
    pub fn draw(config: &Config, streams: &Streams) -> Result<Self, ConfigError> {
        config.validate()?;
        let grid = &config.grid;
        // R14: the world is drawn once for all replications, or with each.
        let streams = match config.readings.servers {
            ServerDraw::Fixed => Streams::new(streams.seed, 0),
            ServerDraw::Redrawn => *streams,
        };
        let mut draws = streams.stream(Purpose("servers of sites"), 0);
        let sites = narrow(usize::try_from(grid.all_sites()).expect("validated"));
        let per_site = servers_per_site(grid, sites, &mut draws);
        let mut types = streams.stream(Purpose("server types"), 0);
        let mut systems = streams.stream(Purpose("server operating systems"), 0);
        // Table 1: a server is a parallel machine of nodes with the same number of CPUs each.
        let of_type = |kind: usize| grid.server_nodes[kind] * grid.server_cpus[kind];
        let mut drawn: Vec<Vec<(u32, u32)>> = per_site
            .iter()
            .map(|servers| {
                let server = |_| {
                    let cpus = of_type(types.random_range(0..grid.server_nodes.len()));
                    (cpus, 1 << systems.random_range(0..grid.systems))
                };
                (0..*servers).map(server).collect()
            })
            .collect();
        // Otherwise jobs of that system would wait forever, and the run would not end.
        let missing: Vec<u32> = (0..grid.systems)
            .filter(|system| !drawn.iter().flatten().any(|(_, offered)| offered & 1 << system != 0))
            .collect();
        for (system, server) in missing.iter().zip(drawn.iter_mut().flatten()) {
            server.1 = 1 << system;
        }
        let stations: Vec<u32> = per_site.iter().map(|servers| grid.nodes - servers).collect();
        let places = Places { backbones: grid.backbones, nets: grid.nets, sites: grid.sites };
        Self::explicit(places, &drawn, &stations, Shape::levels(&grid.tree))
    }

    /// A world of given servers, `(CPUs, operating systems as bits)` for each site, a number of work stations at each, under
    /// trees of the given shape. Jobs require one of the operating systems that some server offers.
    ///
    /// # Errors
    ///
    /// If there is no server or no work station, or an operating system lacks a server.
    ///
    /// # Panics
    ///
    /// If lists and shape do not have one entry or leaf per site.
    pub fn explicit(
        places: Places,
        servers: &[Vec<(u32, u32)>],
        stations: &[u32],
        shape: Shape,
    ) -> Result<Self, ConfigError> {
        let sites = places.backbones * places.nets * places.sites;
        assert_eq!(servers.len(), sites as usize, "one list of servers for each site");
        assert_eq!(stations.len(), sites as usize, "one number of work stations for each site");
        assert_eq!(shape.leaves(), sites as usize, "one leaf of the tree for each site");
        let mut world = Self {
            places,
            servers: Vec::new(),
            first_server: vec![0],
            first_station: vec![0],
            site_of_station: Vec::new(),
            systems: 0,
            classes: Vec::new(),
            wide: false,
            shape,
        };
        // Servers and work stations are numbered site by site, so that those of a site are a range.
        for ((site, servers), stations) in (0..).zip(servers).zip(stations) {
            let here = servers.iter().map(|&(cpus, systems)| Server { site: SiteId(site), cpus, systems });
            world.servers.extend(here);
            world.first_server.push(narrow(world.servers.len()));
            world.site_of_station.extend((0..*stations).map(|_| site));
            world.first_station.push(narrow(world.site_of_station.len()));
        }
        config::at_least_one("servers", world.servers.iter().map(|server| server.cpus).min().unwrap_or(0))?;
        config::has_station(!world.site_of_station.is_empty())?;
        // Jobs that require an operating system without a server would wait forever.
        let offered = world.servers.iter().fold(0, |all, server| all | server.systems);
        world.systems = u32::BITS - offered.leading_zeros();
        (0..world.systems.max(1)).try_for_each(|system| {
            ConfigError::check(offered & 1 << system != 0, || {
                format!("no server runs operating system {system}; its jobs would wait for ever")
            })
        })?;
        world.classes = (0..world.systems).map(|system| Requirement { system, cpus: 1 }).collect();
        Ok(world)
    }

    /// Lets jobs require CPUs too, as those of a log do: a class for each operating system and each size of server that some
    /// server can run.
    ///
    /// # Errors
    ///
    /// If there are more than 32 classes.
    pub fn with_widths(mut self) -> Result<Self, ConfigError> {
        // Classes by the sizes of servers: a job fits the same servers as the next larger size.
        let mut sizes: Vec<u32> = self.servers.iter().map(|server| server.cpus).collect();
        sizes.sort_unstable();
        sizes.dedup();
        let systems = 0..self.systems;
        let classes = systems.flat_map(|system| sizes.iter().map(move |&cpus| Requirement { system, cpus }));
        let runs = |class: &Requirement| {
            self.servers.iter().any(|server| server.systems & 1 << class.system != 0 && server.cpus >= class.cpus)
        };
        self.classes = classes.filter(runs).collect();
        self.wide = true;
        config::fit_a_bag(self.classes.len())?;
        Ok(self)
    }

    /// Class of a job with this requirement: the narrowest that is wide enough. `None` if no server with its operating
    /// system is wide enough.
    pub(crate) fn class_of(&self, requirement: Requirement) -> Option<u8> {
        let suits =
            |class: &Requirement| class.system == requirement.system && (!self.wide || class.cpus >= requirement.cpus);
        u8::try_from(self.classes.iter().position(suits)?).ok()
    }

    /// Classes that a server with `cpus` CPUs can run under these operating systems.
    pub(crate) fn bag_of(&self, cpus: u32, systems: u32) -> Bag {
        let runs = |class: &Requirement| systems & 1 << class.system != 0 && class.cpus <= cpus;
        (0..).zip(&self.classes).filter(|(_, class)| runs(class)).fold(Bag::EMPTY, |bag, (i, _)| bag.with(Bag::of(i)))
    }

    /// All servers, site by site.
    pub fn servers(&self) -> &[Server] {
        &self.servers
    }

    /// Number of sites.
    pub fn sites(&self) -> u32 {
        narrow(self.first_server.len() - 1)
    }

    /// Number of work stations.
    pub fn stations(&self) -> u32 {
        narrow(self.site_of_station.len())
    }

    /// Number of operating systems.
    pub const fn systems(&self) -> u32 {
        self.systems
    }

    pub(crate) fn site_of(&self, station: StationId) -> SiteId {
        SiteId(self.site_of_station[station.index()])
    }

    /// The servers of a site, by number.
    pub fn servers_at(&self, site: SiteId) -> std::ops::Range<u32> {
        self.first_server[site.index()]..self.first_server[site.index() + 1]
    }

    /// The work stations of a site, by number.
    pub fn stations_at(&self, site: SiteId) -> std::ops::Range<u32> {
        self.first_station[site.index()]..self.first_station[site.index() + 1]
    }

    /// Mean number of CPUs of a server (1692 in the paper's types).
    pub(crate) fn mean_cpus(&self) -> f64 {
        let total: f64 = self.servers.iter().map(|server| f64::from(server.cpus)).sum();
        total / f64::from(narrow(self.servers.len()))
    }

    #[inline]
    pub(crate) const fn distance(&self, a: SiteId, b: SiteId) -> Distance {
        if a.0 == b.0 {
            return Distance::SameSite;
        }
        let (net_a, net_b) = (a.0 / self.places.sites, b.0 / self.places.sites);
        if net_a == net_b {
            Distance::SameNet
        } else if net_a / self.places.nets == net_b / self.places.nets {
            Distance::SameBackbone
        } else {
            Distance::Across
        }
    }
}

/// Numbers of backbones, nets and sites.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// Backbones.
    pub backbones: u32,
    /// Nets in each.
    pub nets: u32,
    /// Sites in each net.
    pub sites: u32,
}

/// Servers per site: every site has the fewest; the others go to random sites that are not full.
fn servers_per_site(grid: &GridConfig, sites: u32, draws: &mut impl rand::Rng) -> Vec<u32> {
    let mut servers = vec![grid.fewest_servers; sites as usize];
    let most = grid.most_servers.min(grid.nodes);
    let mut open: Vec<u32> = (0..sites).filter(|_| grid.fewest_servers < most).collect();
    // A shuffle first, so that the choice below does not depend on the removal of full sites.
    open.shuffle(draws);
    for _ in grid.fewest_servers * sites..grid.servers {
        let at = draws.random_range(0..open.len());
        let site = open[at] as usize;
        servers[site] += 1;
        if servers[site] == most {
            open.swap_remove(at);
        }
    }
    servers
}

sim_core::id! {
    /// Number of a server in the whole world, site by site. Among peers it is also the number of the peer.
    ServerId
}
sim_core::id! {
    /// Number of a work station in the whole world, site by site.
    StationId
}

sim_core::id! {
    /// Number of a scheduler in the whole world, tree by tree, level by level.
    SchedulerId
}

/// Converts a length to 32 bits, the width of all ids.
#[track_caller]
pub(crate) fn narrow(length: usize) -> u32 {
    u32::try_from(length).expect("fewer than 2³² of anything")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_that_no_server_of_its_system_can_hold_has_no_class() {
        let (places, servers) = (Places { backbones: 1, nets: 1, sites: 1 }, [vec![(8, 0b01), (4, 0b10)]]);
        let world = World::explicit(places, &servers, &[1], Shape::levels(&[1])).and_then(World::with_widths);
        let world = world.expect("few classes");
        for ([system, cpus], has_class) in
            [([0, 8], true), ([0, 9], false), ([1, 4], true), ([1, 5], false), ([2, 1], false)]
        {
            let class = world.class_of(Requirement { system, cpus });
            assert_eq!(class.is_some(), has_class, "{cpus} CPUs of system {system}");
        }
    }
}
