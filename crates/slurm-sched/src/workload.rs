//! Jobs as they are submitted: what sbatch is given, and the run time that only the world knows.
//!
//! [`read_csv`] reads the workloads of the oracle, `id,submit,run,limit,args`: seconds, seconds, a time limit as `sbatch -t` takes
//! it (a plain number is minutes), and further options of sbatch. What the model cannot place, such as GPUs or parts of nodes, is
//! refused with a list.

mod options;
mod request;

pub use request::{Array, Begin, Dependency, DependencyKind, Memory, Request};

use crate::conf::{Conf, Partition};
use crate::error::{Collector, Faults};
use crate::text;

/// One submission, of a job or of an array of jobs. Times are whole seconds.
#[derive(Clone, Debug, PartialEq)]
pub struct SubmittedJob {
    /// JobId; for an array, that of its first task.
    pub id: u32,
    /// Line of the file, counted from 1.
    pub line: usize,
    /// Time of submission, from the zero of the workload.
    pub submit: i64,
    /// Time that the job runs unless it is stopped at its limit.
    pub run: i64,
    /// Time limit as requested; `None` leaves it to the partition.
    pub limit: Option<i64>,
    /// What sbatch was given.
    pub request: Request,
}

impl SubmittedJob {
    /// Whole nodes that the job takes in `partition`.
    ///
    /// # Errors
    ///
    /// Says why the request needs parts of nodes, and how to change it.
    pub fn whole_nodes(&self, conf: &Conf, partition: &Partition) -> Result<u32, String> {
        let request = &self.request;
        let cpus = || partition.nodes.iter().map(|&node| conf.nodes[node].cpus);
        let (Some(least), Some(most)) = (cpus().min(), cpus().max()) else {
            return Err(format!("partition {} has no nodes", partition.name));
        };
        let asked = request.nodes.unwrap_or(1).max(1);
        let tasks = match (request.tasks, request.tasks_per_node) {
            (Some(tasks), _) => u64::from(tasks),
            (None, per_node) => u64::from(asked) * u64::from(per_node.unwrap_or(1)),
        };
        let needed = tasks * u64::from(request.cpus_per_task.unwrap_or(1));
        let by_cpus = u32::try_from(needed.div_ceil(u64::from(least.max(1)))).unwrap_or(u32::MAX);
        let by_tasks = match (request.tasks, request.tasks_per_node) {
            (Some(tasks), Some(per_node)) => tasks.div_ceil(per_node.max(1)),
            _ => 1,
        };
        let nodes = asked.max(by_cpus).max(by_tasks);
        if request.nodes.is_some_and(|given| nodes > given) {
            return Err(format!("{needed} CPUs do not fit on {asked} nodes of {least}; raise -N or lower -n and -c"));
        }
        if least != most && by_cpus > asked {
            return Err(format!(
                "partition {} has nodes of {least} to {most} CPUs; give the nodes with -N",
                partition.name
            ));
        }
        let whole = request.exclusive || partition.exclusive || conf.select_linear;
        if !whole && (least != most || needed != u64::from(nodes) * u64::from(least)) {
            return Err(format!(
                "{needed} CPUs on {nodes} nodes of {most} share nodes with other jobs, which is not modelled; add --exclusive"
            ));
        }
        let memory = || partition.nodes.iter().map(|&node| conf.nodes[node].memory);
        match request.memory {
            Some(Memory::PerNode(asked)) if conf.memory_counts && memory().any(|real| asked > real) => Err(format!(
                "{asked} MiB are more than RealMemory of a node of partition {}; lower --mem",
                partition.name
            )),
            _ => Ok(nodes),
        }
    }
}

/// First line of a workload; it may be left out.
const HEADING: &str = "id,submit,run,limit,args";

/// Reads a workload of the oracle, ordered by time of submission and id.
///
/// # Errors
///
/// Returns all faults with line, column or option, and fix.
pub fn read_csv(file: &str, text: &str) -> Result<Vec<SubmittedJob>, Faults> {
    let mut faults = Collector::new(file);
    let mut jobs = Vec::new();
    for (line, row) in (1..).zip(text.lines()) {
        let row = row.trim_end();
        if row.is_empty() || row.starts_with('#') {
            continue;
        }
        if line == 1 && row.starts_with("id,") {
            if row != HEADING {
                faults.push(line, "heading", format_args!("expected {HEADING}, found {row:?}"));
            }
            continue;
        }
        jobs.extend(read_row(line, row, &mut faults));
    }
    jobs.sort_by_key(|job: &SubmittedJob| (job.submit, job.id));
    let last = |job: &SubmittedJob| job.id.saturating_add(job.request.array.as_ref().map_or(0, Array::extra_ids));
    let mut by_id: Vec<&SubmittedJob> = jobs.iter().collect();
    by_id.sort_by_key(|job| job.id);
    for pair in by_id.windows(2).filter(|pair| last(pair[0]) >= pair[1].id) {
        let (id, other) = (pair[1].id, pair[0].line);
        faults.push(
            pair[1].line,
            "id",
            format_args!("job {id} is on line {other}, too (an array takes an id for each task)"),
        );
    }
    faults.finish(jobs)
}

fn read_row(line: usize, row: &str, faults: &mut Collector) -> Option<SubmittedJob> {
    let columns: Vec<&str> = row.splitn(5, ',').collect();
    let &[id, submit, run, limit, args] = columns.as_slice() else {
        faults.push(line, "row", "expected id,submit,run,limit,args; add the missing columns");
        return None;
    };
    let mut whole = |name, value: &str| {
        faults.take(line, name, text::whole(value.trim()).ok_or("expected a whole number of at most nine digits"))
    };
    let (id, submit, run) = (whole("id", id), whole("submit", submit), whole("run", run));
    let limit = match limit.trim() {
        "" => Some(None),
        given => faults.take(line, "limit", text::limit(given)),
    };
    let args = match args.trim().strip_prefix('"').and_then(|quoted| quoted.strip_suffix('"')) {
        Some(inner) => inner.replace("\"\"", "\""),
        None => args.trim().to_owned(),
    };
    let request = options::parse(line, &args, faults)?;
    let id = u32::try_from(id?).ok()?;
    let limit = request.limit.or(limit?);
    Some(SubmittedJob { id, line, submit: submit?, run: run?, limit, request })
}
