//! Node and partition lines.

use super::lines::{Record, SettingLine, SettingLines};
use super::{Globals, YEAR, tres_weights};
use crate::error::Collector;
use crate::site::{hostlist, text};
use std::collections::{BTreeMap, BTreeSet};

/// Node of the cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// `NodeName`.
    pub name: String,
    /// `CPUs`, or the product of sockets, cores and threads.
    pub cpus: u32,
    /// `RealMemory`, in MiB.
    pub(crate) memory: u64,
    /// `Weight`: lighter nodes are taken first.
    pub weight: u64,
    pub(crate) features: Vec<String>,
    /// True if jobs can run on it.
    pub up: bool,
}

/// Partition of the cluster. Times are seconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Partition {
    /// `PartitionName`.
    pub name: String,
    /// Indices of its nodes, ascending.
    pub nodes: Vec<usize>,
    pub(crate) default: bool,
    /// `None` if infinite.
    pub(crate) max_time: Option<i64>,
    /// `None` means `MaxTime`.
    pub(crate) default_time: Option<i64>,
    pub(crate) max_nodes: Option<u32>,
    pub(crate) min_nodes: u32,
    pub(crate) priority_tier: u32,
    pub(crate) priority_job_factor: u32,
    /// `State`: true unless it is `DOWN` or `INACTIVE` and starts no jobs.
    pub(crate) starts_jobs: bool,
    /// True for `OverSubscribe=EXCLUSIVE`: each job takes whole nodes.
    pub(crate) exclusive: bool,
    /// `OverTimeLimit`, by default the cluster's (0); [`YEAR`] if unlimited.
    pub(crate) over_time_limit: i64,
    /// `QOS`, whose limits apply to the partition.
    pub(crate) qos: Option<String>,
    /// `TRESBillingWeights`, as (TRES in lower case, weight per unit; memory per MiB).
    pub(crate) billing: Vec<(String, f64)>,
}

/// Further keys of node lines: those of [`read_nodes`], and those without effect on whole nodes.
const NODE_OTHERS: &str = "NodeName CPUs Sockets CoresPerSocket ThreadsPerCore RealMemory Weight Gres NodeHostname \
    NodeAddr BcastAddr Port TmpDisk Reason Procs Boards SocketsPerBoard CoreSpecCount CpuSpecList \
    MemSpecLimit CpuBind RestrictedCoresPerGPU Parameters Topology";

const PARTITION_LISTED: &str = "AllocNodes Alternate AllowAccounts AllowGroups AllowQos CpuBind DefCpuPerGPU DefMemPerCPU DefMemPerGPU \
    DefMemPerNode DenyAccounts DenyQos DisableRootJobs GraceTime Hidden JobDefaults MaxCPUsPerNode MaxCPUsPerSocket MaxMemPerCPU \
    MaxMemPerNode PowerDownOnIdle PreemptMode ResumeTimeout RootOnly SelectTypeParameters SuspendTimeout";

/// Settings of a record by key in lower case, on top of those of its `DEFAULT` line.
type Values = BTreeMap<String, SettingLine>;

/// Reads all node and partition lines, changed by overlays.
pub(super) fn read(lines: &SettingLines, globals: &mut Globals<'_>) -> (Vec<Node>, Vec<Partition>) {
    let over_time_limit = globals.parsed("OverTimeLimit", Some(0), text::limit).unwrap_or(YEAR);
    let Globals { faults, not_modelled, .. } = globals;
    let mut nodes = Vec::new();
    let mut index = BTreeMap::new();
    for values in records(lines, "nodename", faults) {
        for node in read_nodes(&values, faults) {
            if index.insert(node.name.clone(), nodes.len()).is_some() {
                values["nodename"].fault(faults, format_args!("node {} is defined twice; remove one line", node.name));
            }
            nodes.push(node);
        }
    }
    for down in lines.records("downnodes").map(|record| &record[0]) {
        let names = down.take(faults, hostlist::expand(&down.value)).unwrap_or_default();
        names.iter().filter_map(|name| index.get(name)).for_each(|at| nodes[*at].up = false);
    }
    let sets = node_sets(lines, &nodes, faults);
    let mut partitions: Vec<Partition> = Vec::new();
    for values in records(lines, "partitionname", faults) {
        let listed = values.values().filter(|setting| text::is_among(PARTITION_LISTED, &setting.key));
        not_modelled.extend(listed.map(|setting| format!("{}: {}", setting.place(), setting.key)));
        for name in text::list(&values["partitionname"].value) {
            let name = name.to_owned();
            let mut partition = Partition { name, over_time_limit, starts_jobs: true, ..Partition::default() };
            (partition.min_nodes, partition.priority_tier, partition.priority_job_factor) = (1, 1, 1);
            for (key, setting) in &values {
                if let Err(problem) = set(&mut partition, key, &setting.value, &index, &sets) {
                    setting.fault(faults, problem);
                }
            }
            match partitions.iter_mut().find(|known| known.name == partition.name) {
                Some(known) => *known = partition,
                None => partitions.push(partition),
            }
        }
    }
    if nodes.is_empty() {
        faults.push(0, "NodeName", "no nodes; add lines such as NodeName=n[1-8] CPUs=4");
    }
    if partitions.is_empty() {
        faults.push(0, "PartitionName", "no partitions; add a line such as PartitionName=main Nodes=ALL Default=YES");
    }
    (nodes, partitions)
}

/// Returns records of a kind merged with the `DEFAULT` lines before them and the overlays of their name.
fn records(lines: &SettingLines, name: &str, faults: &mut Collector) -> Vec<Values> {
    fn keyed(record: &[SettingLine]) -> impl Iterator<Item = (String, SettingLine)> {
        record.iter().map(|setting| (setting.key.to_ascii_lowercase(), setting.clone()))
    }
    let mut default = Values::new();
    let mut all = Vec::new();
    for record in lines.records(name) {
        let mut values: Values = default.clone();
        values.extend(keyed(record));
        if values.get(name).is_some_and(|setting| setting.value.eq_ignore_ascii_case("DEFAULT")) {
            default = values;
        } else {
            all.push(values);
        }
    }
    let is_own = |change: &&Record| change.first().is_some_and(|one| one.key.eq_ignore_ascii_case(name));
    for change in lines.changes.iter().filter(is_own) {
        let SettingLine { key, value, .. } = &change[0];
        let is_of_name = |values: &&mut Values| value.eq_ignore_ascii_case("DEFAULT") || values[name].value == *value;
        let mut of_name = all.iter_mut().filter(is_of_name).peekable();
        if of_name.peek().is_none() {
            let problem = format_args!("no line with {key}={value}; use a name as the file writes it");
            change[0].fault(faults, problem);
        }
        of_name.for_each(|values| values.extend(keyed(&change[1..])));
    }
    all
}

fn read_nodes(values: &Values, faults: &mut Collector) -> Vec<Node> {
    let mut number = |key: &str| {
        let setting = values.get(key)?;
        let n = text::whole(&setting.value).filter(|n| *n > 0_u32);
        setting.take(faults, n.ok_or("expected a whole number above 0"))
    };
    let boards = number("boards").unwrap_or(1);
    let sockets = number("sockets").or_else(|| number("socketsperboard").map(|n| n.saturating_mul(boards)));
    let (cores, threads) = (number("corespersocket"), number("threadspercore").unwrap_or(1));
    let cpus = number("cpus").or_else(|| number("procs"));
    let product = |sockets: u32, cores: u32| sockets.saturating_mul(cores).saturating_mul(threads);
    let mut node = Node {
        name: String::new(),
        cpus: cpus.unwrap_or_else(|| product(sockets.unwrap_or(1), cores.unwrap_or(1))),
        memory: u64::from(number("realmemory").unwrap_or(1)),
        weight: u64::from(number("weight").unwrap_or(1)),
        features: Vec::new(),
        up: true,
    };
    for (key, setting) in values {
        match key.as_str() {
            "features" | "feature" => node.features = text::list(&setting.value).map(str::to_owned).collect(),
            "state" => node.up = usable(&setting.value),
            _ if text::is_among(NODE_OTHERS, key) => {}
            _ => setting.fault(faults, "unknown key of a node line; remove it"),
        }
    }
    let names = values["nodename"].take(faults, hostlist::expand(&values["nodename"].value)).unwrap_or_default();
    names.into_iter().map(|name| Node { name, ..node.clone() }).collect()
}

/// Returns true if jobs can start on nodes in this state, such as `IDLE` or `DRAINING`.
pub(crate) fn usable(state: &str) -> bool {
    let state = state.to_ascii_uppercase();
    !["DOWN", "DRAIN", "FAIL", "FUTURE"].iter().any(|bad| state.starts_with(bad))
}

fn node_sets(lines: &SettingLines, nodes: &[Node], faults: &mut Collector) -> BTreeMap<String, Vec<String>> {
    let mut sets = BTreeMap::new();
    for values in records(lines, "nodeset", faults) {
        let mut names = Vec::new();
        for (key, setting) in &values {
            match key.as_str() {
                "nodes" => names.extend(setting.take(faults, hostlist::expand(&setting.value)).unwrap_or_default()),
                "feature" => {
                    let with = nodes.iter().filter(|node| node.features.contains(&setting.value));
                    names.extend(with.map(|node| node.name.clone()));
                }
                "nodeset" => {}
                _ => setting.fault(faults, "unknown key of a node set; remove it"),
            }
        }
        sets.insert(values["nodeset"].value.clone(), names);
    }
    sets
}

fn set(
    partition: &mut Partition,
    key: &str,
    value: &str,
    index: &BTreeMap<String, usize>,
    sets: &BTreeMap<String, Vec<String>>,
) -> Result<(), String> {
    let number = || text::whole(value).ok_or_else(|| format!("expected a whole number, found {value:?}"));
    let off = |what: &str| match text::switch(value) {
        Ok(false) => Ok(()),
        _ => Err(format!("{what} is not modelled and changes decisions; set it to NO")),
    };
    match key {
        "partitionname" => {}
        "nodes" => partition.nodes = nodes_of(value, index, sets)?,
        "default" => partition.default = text::switch(value)?,
        "maxtime" => partition.max_time = text::limit(value)?,
        "defaulttime" if value.eq_ignore_ascii_case("NONE") => {}
        "defaulttime" => partition.default_time = text::limit(value)?,
        "overtimelimit" => partition.over_time_limit = text::limit(value)?.unwrap_or(YEAR),
        "maxnodes" if ["UNLIMITED", "INFINITE", "-1"].iter().any(|word| value.eq_ignore_ascii_case(word)) => {}
        "maxnodes" => partition.max_nodes = Some(number()?),
        "minnodes" => partition.min_nodes = number()?,
        "prioritytier" => partition.priority_tier = number()?,
        "priorityjobfactor" => partition.priority_job_factor = number()?,
        "priority" => (partition.priority_tier, partition.priority_job_factor) = (number()?, number()?),
        "state" => {
            partition.starts_jobs = match value.to_ascii_uppercase().as_str() {
                "UP" | "DRAIN" => true,
                "DOWN" | "INACTIVE" => false,
                _ => return Err(format!("expected UP, DOWN, DRAIN or INACTIVE, found {value:?}")),
            }
        }
        "oversubscribe" | "shared" => match value.to_ascii_uppercase().as_str() {
            "EXCLUSIVE" => partition.exclusive = true,
            "NO" | "YES:1" | "FORCE:1" => {}
            _ => return Err("jobs that share CPUs are not modelled; set OverSubscribe=NO or EXCLUSIVE".to_owned()),
        },
        "qos" => partition.qos = Some(value.to_owned()).filter(|name| !name.is_empty() && name != "N/A"),
        "tresbillingweights" => partition.billing = tres_weights(value, true)?,
        "exclusiveuser" | "exclusivetopo" | "lln" | "reqresv" => off(key)?,
        _ if text::is_among(PARTITION_LISTED, key) => {}
        _ => return Err("unknown key of a partition line; remove it".to_owned()),
    }
    Ok(())
}

/// Parses `Nodes=`: `ALL`, or a node list with names of node sets.
fn nodes_of(
    value: &str,
    index: &BTreeMap<String, usize>,
    sets: &BTreeMap<String, Vec<String>>,
) -> Result<Vec<usize>, String> {
    if value.eq_ignore_ascii_case("ALL") {
        return Ok((0..index.len()).collect());
    }
    let names = hostlist::expand(value)?.into_iter().flat_map(|name| sets.get(&name).cloned().unwrap_or(vec![name]));
    let node =
        |name| index.get(&name).copied().ok_or_else(|| format!("no node is called {name:?}; add its NodeName line"));
    let nodes = names.map(node).collect::<Result<BTreeSet<usize>, String>>()?;
    Ok(nodes.into_iter().collect())
}
