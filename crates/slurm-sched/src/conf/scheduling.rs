//! `SchedulerParameters` and the timing of the loops.

use super::Globals;
use super::lines::SettingLine;
use crate::text;

/// Parameters of the main pass and of backfill, with Slurm's names. Times are seconds; a count of 0 is no limit. All fields of
/// `default()` are 0; Slurm's defaults, given below, hold where slurm.conf has no other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scheduling {
    /// True for `SchedulerType=sched/backfill`, the default; without it only the main pass runs.
    pub backfill: bool,
    /// True if a job over a limit blocks its partition.
    pub assoc_limit_stop: bool,
    /// Time over which submissions and ends are batched (3).
    pub batch_sched_delay: i64,
    /// Pause between passes (30).
    pub bf_interval: i64,
    /// Number of jobs of a partition that get a plan.
    pub bf_job_part_count_reserve: usize,
    /// Number of tasks of an array that get a plan (20).
    pub bf_max_job_array_resv: usize,
    /// Number of jobs of an association that are tested.
    pub bf_max_job_assoc: usize,
    /// Number of jobs of a partition that are tested.
    pub bf_max_job_part: usize,
    /// Number of jobs that one pass starts.
    pub bf_max_job_start: usize,
    /// Number of jobs that one pass tests (500).
    pub bf_max_job_test: usize,
    /// Number of jobs of a user that are tested.
    pub bf_max_job_user: usize,
    /// Number of jobs of a user in a partition that are tested.
    pub bf_max_job_user_part: usize,
    /// Age below which a job gets no plan.
    pub bf_min_age_reserve: i64,
    /// Priority below which a job gets no plan.
    pub bf_min_prio_reserve: usize,
    /// Number of records of the table (`bf_max_job_test`).
    pub bf_node_space_size: usize,
    /// True for one plan for a job in several partitions.
    pub bf_one_resv_per_job: bool,
    /// Step of the table (60).
    pub bf_resolution: i64,
    /// Horizon of the table (a day).
    pub bf_window: i64,
    /// Growth of a group of ends, instead of doubling.
    pub bf_window_linear: i64,
    /// Number of records that a default pass reaches (100).
    pub default_queue_depth: usize,
    /// Number of records of a partition that the main pass reaches.
    pub partition_job_depth: usize,
    /// Time between full passes (60).
    pub sched_interval: i64,
    /// Number of jobs that one main pass starts.
    pub sched_max_job_start: usize,
}

/// Field, default and range of a parameter.
enum SchedulingParameter {
    /// Time: field, default, seconds (or microseconds) of its unit, least and greatest value in that unit.
    Time(fn(&mut Scheduling) -> &mut i64, i64, i64, i64, i64),
    /// Count: field, default, least and greatest value.
    Count(fn(&mut Scheduling) -> &mut usize, usize, i64, i64),
    Flag(fn(&mut Scheduling) -> &mut bool),
}
use SchedulingParameter::{Count, Flag, Time};

const MANY: i64 = 2_000_000;

const PARAMETERS: &[(&str, SchedulingParameter)] = &[
    ("assoc_limit_stop", Flag(|s| &mut s.assoc_limit_stop)),
    ("batch_sched_delay", Time(|s| &mut s.batch_sched_delay, 3, 1, 0, 3600)),
    ("bf_interval", Time(|s| &mut s.bf_interval, 30, 1, 1, 10_800)),
    ("bf_job_part_count_reserve", Count(|s| &mut s.bf_job_part_count_reserve, 0, 0, MANY)),
    ("bf_max_job_array_resv", Count(|s| &mut s.bf_max_job_array_resv, 20, 1, MANY)),
    ("bf_max_job_assoc", Count(|s| &mut s.bf_max_job_assoc, 0, 0, MANY)),
    ("bf_max_job_part", Count(|s| &mut s.bf_max_job_part, 0, 0, MANY)),
    ("bf_max_job_start", Count(|s| &mut s.bf_max_job_start, 0, 0, MANY)),
    ("bf_max_job_test", Count(|s| &mut s.bf_max_job_test, 500, 1, MANY)),
    ("bf_max_job_user", Count(|s| &mut s.bf_max_job_user, 0, 0, MANY)),
    ("bf_max_job_user_part", Count(|s| &mut s.bf_max_job_user_part, 0, 0, MANY)),
    ("bf_min_age_reserve", Time(|s| &mut s.bf_min_age_reserve, 0, 1, 0, 2_592_000)),
    ("bf_min_prio_reserve", Count(|s| &mut s.bf_min_prio_reserve, 0, 0, i64::MAX)),
    ("bf_node_space_size", Count(|s| &mut s.bf_node_space_size, 0, 2, MANY)),
    ("bf_one_resv_per_job", Flag(|s| &mut s.bf_one_resv_per_job)),
    ("bf_resolution", Time(|s| &mut s.bf_resolution, 60, 1, 1, 3600)),
    ("bf_window", Time(|s| &mut s.bf_window, 1440, 60, 1, 43_200)),
    ("bf_window_linear", Time(|s| &mut s.bf_window_linear, 0, 1, 0, 86_400)),
    ("default_queue_depth", Count(|s| &mut s.default_queue_depth, 100, 0, MANY)),
    ("partition_job_depth", Count(|s| &mut s.partition_job_depth, 0, 0, MANY)),
    ("sched_interval", Time(|s| &mut s.sched_interval, 60, 1, 1, 86_400)),
    ("sched_max_job_start", Count(|s| &mut s.sched_max_job_start, 0, 0, MANY)),
];

/// Parameters without effect on the model: passes take no time, so that nothing yields.
const LISTED: &str = "bf_max_time defer max_sched_time sched_min_interval bf_continue bf_yield_interval bf_yield_sleep allow_zero_lic bf_allow_magnetic_resv bf_hetjob_immediate bf_hetjob_prio bf_yield_rpc_cnt defer_batch delay_boot \
    disable_hetjob_steps disable_job_shrink enable_hetjob_steps enable_user_top extra_node_info ff_wait \
    ff_wait_value gpu_min_freq hetjob_prio ignore_numa ignore_prefer_validation max_array_tasks max_depend_depth \
    max_rpc_cnt max_script_size max_submit_line_size max_switch_wait no_backup_scheduling no_env_cache \
    nohold_on_prolog_fail permit_job_expansion preempt_reorder_count preempt_send_user_signal preempt_strict_order \
    preempt_youngest_first requeue_setup_env_fail salloc_wait_nodes sbatch_wait_nodes step_retry_count \
    step_retry_time whole_hetjob";

/// Parameters that change decisions in a way that is not modelled.
const REFUSED: &str =
    "bf_licenses bf_topopt_enable pack_serial_at_end reduce_completing_frag spec_cores_first time_min_as_soft_limit";

/// Reads `SchedulerType`, `SchedulerParameters`, then the parameters of overlays.
pub(super) fn read(globals: &mut Globals<'_>, overlays: &[SettingLine]) -> Scheduling {
    let backfill = globals.text("SchedulerType").is_none_or(|value| !value.to_ascii_lowercase().ends_with("builtin"));
    let mut scheduling = Scheduling { backfill, ..Scheduling::default() };
    for (_, parameter) in PARAMETERS {
        match parameter {
            Time(field, default, unit, ..) => *field(&mut scheduling) = default * unit,
            Count(field, default, ..) => *field(&mut scheduling) = *default,
            Flag(_) => {}
        }
    }
    let of_file = globals.setting("SchedulerParameters").into_iter().flat_map(|setting| {
        text::list(&setting.value).map(|part| {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            SettingLine { key: key.trim().to_owned(), value: value.trim().to_owned(), ..setting.clone() }
        })
    });
    for setting in of_file.chain(overlays.iter().cloned()) {
        if let Some((_, parameter)) = PARAMETERS.iter().find(|(name, _)| name.eq_ignore_ascii_case(&setting.key)) {
            if let Err(problem) = set(&mut scheduling, parameter, &setting.value) {
                setting.fault(&mut globals.faults, problem);
            }
        } else if text::is_among(LISTED, &setting.key) {
            globals.not_modelled.push(format!("{}: SchedulerParameters={}", setting.place(), setting.key));
        } else if text::is_among(REFUSED, &setting.key) {
            const FIX: &str = "is not modelled and changes decisions; remove it from SchedulerParameters";
            setting.fault(&mut globals.faults, FIX);
        } else {
            let near = text::nearest(&setting.key, PARAMETERS.iter().map(|(name, _)| *name));
            let hint = near.map_or("remove it".to_owned(), |near| format!("did you mean {near}?"));
            setting.fault(&mut globals.faults, format_args!("unknown parameter of SchedulerParameters; {hint}"));
        }
    }
    if scheduling.bf_node_space_size == 0 {
        scheduling.bf_node_space_size = scheduling.bf_max_job_test;
    }
    scheduling
}

fn set(scheduling: &mut Scheduling, parameter: &SchedulingParameter, value: &str) -> Result<(), String> {
    let within = |least: i64, most: i64| {
        let number: Option<i64> = value.parse().ok();
        let range = if most == i64::MAX { format!("{least} or more") } else { format!("from {least} to {most}") };
        number.filter(|n| (least..=most).contains(n)).ok_or(format!("expected a whole number {range}, found {value:?}"))
    };
    match parameter {
        Time(field, _, unit, least, most) => *field(scheduling) = within(*least, *most)? * unit,
        Count(field, _, least, most) => {
            *field(scheduling) = usize::try_from(within(*least, *most)?).map_err(|error| error.to_string())?;
        }
        Flag(field) => *field(scheduling) = value.is_empty() || text::switch(value)?,
    }
    Ok(())
}
