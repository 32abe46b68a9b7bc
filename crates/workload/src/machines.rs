//! Machine files, which list the clusters of a log.
//!
//! One cluster per line, columns separated by tabs: `id`, `name`, `nodes`, `cpus per node`, `speed`, `memory per node`
//! in KiB; as the simulator Alea writes them. Empty lines and lines that begin with `;` or `#` are skipped, and columns
//! beyond the sixth are not read.

use crate::error::InputError;
use crate::file;
use crate::lines::{Lines, MACHINES};
use std::io::Read;
use std::path::Path;
use std::str::FromStr;

/// Cluster of equal nodes of equal processors.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// Number in the file.
    pub id: u32,
    /// Name, by which jobs may request it.
    pub name: String,
    /// Number of nodes, at least 1.
    pub nodes: u32,
    /// Processors of each node, at least 1.
    pub cpus_per_node: u32,
    /// Speed of each processor, relative to the one on which run times were measured; greater than 0.
    pub speed: f64,
    /// Memory of each node, in KiB.
    pub memory_per_node: u64,
}

impl Machine {
    /// Number of processors of the cluster.
    pub const fn processors(&self) -> u32 {
        self.nodes * self.cpus_per_node
    }
}

/// Clusters of one machine file, in its order.
#[derive(Clone, Debug, PartialEq)]
pub struct Machines {
    clusters: Vec<Machine>,
}

impl Machines {
    /// Reads the machine file at `path`.
    ///
    /// # Errors
    ///
    /// If it cannot be read or is no machine file: see [`InputError`].
    pub fn open(path: &Path) -> Result<Self, InputError> {
        Self::from_read(path, file::open(path)?)
    }

    /// Reads a machine file from any reader; `name` stands for the file's path in errors.
    pub fn from_read(name: impl AsRef<Path>, input: impl Read + Send + 'static) -> Result<Self, InputError> {
        let mut lines = Lines::new(name, input, MACHINES)?;
        let (mut clusters, mut total) = (Vec::<Machine>::new(), 0_u32);
        while let Some(read) = lines.step_to_content(b";#") {
            read?;
            let cluster = cluster(&lines)?;
            let error = |column: usize, found: &str, expected| {
                lines.field(column, NAMES[column], expected, found.as_bytes(), "")
            };
            if clusters.iter().any(|earlier| earlier.name == cluster.name) {
                return Err(error(1, &cluster.name, "a name that no line above has"));
            }
            // Checked here, so that no method can overflow.
            total = cluster
                .nodes
                .checked_mul(cluster.cpus_per_node)
                .and_then(|processors| processors.checked_add(total))
                .ok_or_else(|| {
                    error(3, &cluster.cpus_per_node.to_string(), "fewer than 4294967296 processors in all")
                })?;
            clusters.push(cluster);
        }
        if clusters.is_empty() {
            return Err(InputError::of_file(&lines.path, "there is no cluster in the file; write one line for each"));
        }
        Ok(Self { clusters })
    }

    /// Clusters, in the order of the file.
    pub fn clusters(&self) -> &[Machine] {
        &self.clusters
    }

    /// Number of processors of all clusters.
    pub fn total_processors(&self) -> u32 {
        self.clusters.iter().map(Machine::processors).sum()
    }

    /// Returns true if the memory of the nodes of any cluster is known.
    pub fn tells_memory(&self) -> bool {
        self.clusters.iter().any(|cluster| cluster.memory_per_node > 0)
    }
}

/// Range of speeds relative to the machine of the log; beyond it, run times would leave the range of time.
const SLOWEST: f64 = 1e-3;
const FASTEST: f64 = 1e3;

const NAMES: [&str; 6] = ["id", "name", "nodes", "cpus per node", "speed", "memory per node"];

fn cluster(lines: &Lines) -> Result<Machine, InputError> {
    let line = lines.line.trim_ascii_end();
    let columns: Vec<&[u8]> = line.split(|byte| *byte == b'\t').map(<[u8]>::trim_ascii).collect();
    if columns.len() < NAMES.len() {
        return Err(lines.fault(format!(
            "expected 6 columns separated by tabs (id, name, nodes, cpus per node, speed, KiB per node), found {}",
            columns.len()
        )));
    }
    fn read<T: FromStr>(column: &[u8], is_good: impl Fn(&T) -> bool) -> Option<T> {
        std::str::from_utf8(column).ok()?.parse().ok().filter(is_good)
    }
    let refused = |at: usize, expected| lines.field(at, NAMES[at], expected, columns[at], "");
    let whole = |at: usize, least: u32, expected| {
        read(columns[at], |number| *number >= least).ok_or_else(|| refused(at, expected))
    };
    let name = read(columns[1], |name: &String| !name.is_empty() && !name.contains(char::is_control));
    let at_least_one = "a whole number, at least 1";
    Ok(Machine {
        id: whole(0, 0, "a whole number")?,
        name: name.ok_or_else(|| refused(1, "a name without control characters"))?,
        nodes: whole(2, 1, at_least_one)?,
        cpus_per_node: whole(3, 1, at_least_one)?,
        speed: read(columns[4], |speed| (SLOWEST..=FASTEST).contains(speed))
            .ok_or_else(|| refused(4, "a number from 0.001 to 1000"))?,
        memory_per_node: read(columns[5], |_| true).ok_or_else(|| refused(5, "a whole number of KiB"))?,
    })
}
