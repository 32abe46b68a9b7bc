//! Why a configuration cannot be simulated, in words that lead to the field.

/// Why a [`Config`](crate::Config) or a world cannot be simulated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ConfigError {
    /// A count that must not be zero.
    #[error("{field} is 0; at least 1 is needed")]
    Zero {
        /// Its name.
        field: &'static str,
    },
    /// A number out of range.
    #[error("{field} is {found}; expected {expected}")]
    Number {
        /// Its name.
        field: &'static str,
        /// As given.
        found: f64,
        /// What it must be.
        expected: &'static str,
    },
    /// The tree does not fit the sites.
    #[error(
        "tree {tree:?} has {leaves} leaves for {sites} sites; the product of its levels must be the number of sites"
    )]
    Tree {
        /// As given.
        tree: Vec<u32>,
        /// Its leaves.
        leaves: u64,
        /// Sites of the world.
        sites: u64,
    },
    /// More trees than sites.
    #[error("{trees} grid trees for {sites} sites; a tree holds at least one site")]
    Trees {
        /// As given.
        trees: u32,
        /// Sites of the world.
        sites: u64,
    },
    /// Servers that do not fit the sites.
    #[error("{servers} servers do not fit {sites} sites of {fewest} to {most}")]
    Servers {
        /// Servers in all.
        servers: u32,
        /// Sites.
        sites: u64,
        /// Per site, at least.
        fewest: u32,
        /// Per site, at most.
        most: u32,
    },
    /// Table 1 has columns of different length, or is empty.
    #[error("server_nodes has {nodes} entries and server_cpus {cpus}; give one of each per type of server")]
    Types {
        /// Entries of `server_nodes`.
        nodes: usize,
        /// Entries of `server_cpus`.
        cpus: usize,
    },
    /// Too many kinds of jobs.
    #[error("{classes} kinds of jobs (operating systems × sizes) are too many; 32 fit a bag")]
    Classes {
        /// How many.
        classes: usize,
    },
    /// An operating system that no server offers.
    #[error("no server runs operating system {system}; its jobs would wait for ever")]
    NoServer {
        /// Counted from 0.
        system: u32,
    },
    /// Nobody to submit.
    #[error("no site has a work station; give a site more nodes than servers")]
    NoStation,
    /// A mean that is no length of time.
    #[error("{field}: a mean of {found} s; expected more than 0 and less than 1e9")]
    Mean {
        /// Its name.
        field: &'static str,
        /// As given.
        found: f64,
    },
    /// An empty list.
    #[error("{field} is empty; give at least one mean")]
    NoMean {
        /// Its name.
        field: &'static str,
    },
}
