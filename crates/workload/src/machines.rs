//! Machine files: the clusters behind a log.
//!
//! One cluster per line, columns separated by tabs: `id`, `name`, `nodes`, `cpus per node`, `speed`, `memory per node`
//! in KiB; as the simulator Alea writes them. Empty lines and lines that begin with `;` or `#` are skipped, and columns
//! beyond the sixth are not read.

use crate::file::{self, FileError};
use sim_core::SiteId;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// One cluster: equal nodes of equal processors.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// Its number in the file.
    pub id: u32,
    /// Its name, by which jobs may ask for it.
    pub name: String,
    /// How many nodes, at least 1.
    pub nodes: u32,
    /// Processors of each node, at least 1.
    pub cpus_per_node: u32,
    /// Speed of each processor, relative to the one on which run times were measured; greater than 0.
    pub speed: f64,
    /// Memory of each node, in KiB.
    pub memory_per_node: u64,
}

impl Machine {
    /// Processors of the cluster.
    pub const fn processors(&self) -> u32 {
        self.nodes * self.cpus_per_node
    }
}

/// The clusters of one machine file, in its order.
#[derive(Clone, Debug, PartialEq)]
pub struct Machines {
    clusters: Vec<Machine>,
}

impl Machines {
    /// Reads the machine file at `path`.
    ///
    /// # Errors
    ///
    /// If it cannot be read or is no machine file: see [`MachinesError`].
    pub fn open(path: &Path) -> Result<Self, MachinesError> {
        Self::read(path, file::open(path)?)
    }

    /// Reads a machine file from anywhere; `name` stands for the file's path in errors.
    ///
    /// # Errors
    ///
    /// As [`Machines::open`].
    pub fn from_read(name: &str, input: impl Read) -> Result<Self, MachinesError> {
        Self::read(Path::new(name), input)
    }

    /// The clusters, in the order of the file.
    pub fn clusters(&self) -> &[Machine] {
        &self.clusters
    }

    /// The clusters as sites, numbered in the order of the file.
    pub fn sites(&self) -> impl Iterator<Item = (SiteId, &Machine)> {
        (0..).map(SiteId).zip(&self.clusters)
    }

    /// The position of the cluster of that name.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.clusters.iter().position(|cluster| cluster.name == name)
    }

    /// Processors of all clusters.
    pub fn total_processors(&self) -> u32 {
        self.clusters.iter().map(Machine::processors).sum()
    }

    /// Whether any cluster tells how much memory its nodes have.
    pub fn tells_memory(&self) -> bool {
        self.clusters.iter().any(|cluster| cluster.memory_per_node > 0)
    }

    fn read(path: &Path, input: impl Read) -> Result<Self, MachinesError> {
        let mut input = BufReader::new(input.take(LARGEST_FILE));
        let (mut clusters, mut total, mut number) = (Vec::<Machine>::new(), 0_u32, 0);
        let mut line = Vec::new();
        loop {
            line.clear();
            let length = input.read_until(b'\n', &mut line).map_err(|source| FileError::reading(path, source))?;
            if length == 0 {
                break;
            }
            number += 1;
            let text = line.trim_ascii();
            if matches!(text.first(), None | Some(b';' | b'#')) {
                continue;
            }
            let place = Place { path, line: number };
            let cluster = place.cluster(line.trim_ascii_end())?;
            if clusters.iter().any(|earlier| earlier.name == cluster.name) {
                return Err(place.error(1, cluster.name.as_bytes(), "a name that no line above has"));
            }
            // Checked here, so that no method need fail.
            total = cluster
                .nodes
                .checked_mul(cluster.cpus_per_node)
                .and_then(|processors| processors.checked_add(total))
                .ok_or_else(|| {
                    let found = cluster.cpus_per_node.to_string();
                    place.error(3, found.as_bytes(), "fewer than 4294967296 processors in all")
                })?;
            clusters.push(cluster);
        }
        if clusters.is_empty() {
            return Err(MachinesError::Empty { path: path.to_owned() });
        }
        Ok(Self { clusters })
    }
}

/// Speeds relative to the machine of the log. Beyond these, run times leave the clock, and no two machines are that far apart.
const SLOWEST: f64 = 1e-3;
const FASTEST: f64 = 1e3;

/// Far above any machine file; a log given by mistake is not read into memory.
const LARGEST_FILE: u64 = 1 << 24;

const NAMES: [&str; 6] = ["id", "name", "nodes", "cpus per node", "speed", "memory per node"];

struct Place<'a> {
    path: &'a Path,
    line: u64,
}

impl Place<'_> {
    fn cluster(&self, line: &[u8]) -> Result<Machine, MachinesError> {
        let mut columns: [&[u8]; 6] = [b""; 6];
        let found = line.split(|byte| *byte == b'\t').count();
        if found < columns.len() {
            return Err(MachinesError::Columns { path: self.path.to_owned(), line: self.line, found });
        }
        for (column, text) in columns.iter_mut().zip(line.split(|byte| *byte == b'\t')) {
            *column = text.trim_ascii();
        }
        let text = |column: usize| std::str::from_utf8(columns[column]).ok().filter(|text| !text.is_empty());
        let whole = |column: usize| text(column).and_then(|text| text.parse::<u32>().ok());
        let refused = |column: usize, expected| self.error(column, columns[column], expected);
        let at_least_one = "a whole number, at least 1";
        Ok(Machine {
            id: whole(0).ok_or_else(|| refused(0, "a whole number"))?,
            name: text(1)
                .filter(|name| !name.contains(char::is_control))
                .ok_or_else(|| refused(1, "a name without control characters"))?
                .to_owned(),
            nodes: whole(2).filter(|nodes| *nodes > 0).ok_or_else(|| refused(2, at_least_one))?,
            cpus_per_node: whole(3).filter(|cpus| *cpus > 0).ok_or_else(|| refused(3, at_least_one))?,
            speed: text(4)
                .and_then(|text| text.parse().ok())
                .filter(|speed: &f64| (SLOWEST..=FASTEST).contains(speed))
                .ok_or_else(|| refused(4, "a number from 0.001 to 1000"))?,
            memory_per_node: text(5)
                .and_then(|text| text.parse().ok())
                .ok_or_else(|| refused(5, "a whole number of KiB"))?,
        })
    }

    fn error(&self, column: usize, found: &[u8], expected: &'static str) -> MachinesError {
        MachinesError::Field {
            path: self.path.to_owned(),
            line: self.line,
            field: column + 1,
            name: NAMES[column],
            expected,
            found: file::shown(found),
        }
    }
}

/// A machine file that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum MachinesError {
    /// The file cannot be opened or read.
    #[error(transparent)]
    File(#[from] FileError),
    /// A field holds something else than expected.
    #[error("{path}:{line}: field {field} ({name}): expected {expected}, found {found:?}", path = path.display())]
    Field {
        /// The file.
        path: PathBuf,
        /// Its line, counted from 1.
        line: u64,
        /// The column, counted from 1.
        field: usize,
        /// The column's name.
        name: &'static str,
        /// What may stand there.
        expected: &'static str,
        /// What stands there, shortened if it is long.
        found: String,
    },
    /// A line has fewer than six columns.
    #[error(
        "{path}:{line}: expected 6 columns separated by tabs (id, name, nodes, cpus per node, speed, KiB per node), found {found}",
        path = path.display()
    )]
    Columns {
        /// The file.
        path: PathBuf,
        /// Its line, counted from 1.
        line: u64,
        /// Columns of that line.
        found: usize,
    },
    /// There is no cluster in the file.
    #[error("{path}: there is no cluster in the file; write one line for each", path = path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
}

impl MachinesError {
    /// Whether the system failed (`true`), or the input is at fault (`false`).
    pub const fn is_io(&self) -> bool {
        matches!(self, Self::File(error) if error.is_io())
    }
}
