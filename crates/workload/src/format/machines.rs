//! Machine files, which list the clusters of a log.
//!
//! One cluster per line, columns separated by tabs: `id`, `name`, `nodes`, `cpus per node`, `speed`, `memory per node`
//! in KiB; as the simulator Alea writes them. Empty lines and lines that begin with `;` or `#` are skipped, and columns
//! beyond the sixth are not read.

use crate::error::InputError;
use crate::format::file;
use crate::format::lines::{Lines, MACHINES};
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
            let fault = |at: usize, found: &str, expected| lines.field(at, NAMES[at], expected, found.as_bytes(), "");
            if clusters.iter().any(|earlier| earlier.name == cluster.name) {
                return Err(fault(1, &cluster.name, "a name that no line above has"));
            }
            // Checked here, so that no method can overflow.
            let processors = cluster.nodes.checked_mul(cluster.cpus_per_node);
            total = processors.and_then(|processors| processors.checked_add(total)).ok_or_else(|| {
                fault(3, &cluster.cpus_per_node.to_string(), "fewer than 4294967296 processors in all")
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
    let least_one = "a whole number, at least 1";
    let is_name = |name: &String| !name.is_empty() && !name.contains(char::is_control);
    Ok(Machine {
        id: field(lines, &columns, 0, "a whole number", |_| true)?,
        name: field(lines, &columns, 1, "a name without control characters", is_name)?,
        nodes: field(lines, &columns, 2, least_one, |nodes| *nodes > 0)?,
        cpus_per_node: field(lines, &columns, 3, least_one, |cpus| *cpus > 0)?,
        speed: field(lines, &columns, 4, "a number from 0.001 to 1000", |speed| (SLOWEST..=FASTEST).contains(speed))?,
        memory_per_node: field(lines, &columns, 5, "a whole number of KiB", |_| true)?,
    })
}

fn field<T: FromStr>(
    lines: &Lines,
    columns: &[&[u8]],
    at: usize,
    expected: &str,
    is_good: impl Fn(&T) -> bool,
) -> Result<T, InputError> {
    let value = std::str::from_utf8(columns[at]).ok().and_then(|text| text.parse().ok()).filter(is_good);
    value.ok_or_else(|| lines.field(at, NAMES[at], expected, columns[at], ""))
}
