//! `SchedulerParameters` and the timing of the loops.

use super::Globals;
use super::lines::SettingLine;
use crate::site::text;

enum SchedulingParameter {
    /// Time: field, default, seconds of its unit, least and greatest value in that unit.
    Time(fn(&mut Scheduling) -> &mut i64, i64, i64, i64, i64),
    /// Count: field, default, least and greatest value.
    Count(fn(&mut Scheduling) -> &mut usize, usize, i64, i64),
    Flag(fn(&mut Scheduling) -> &mut bool),
}
use SchedulingParameter::{Count, Flag, Time};

const MANY: i64 = 2_000_000;

/// Declares [`Scheduling`] and [`PARAMETERS`]: each parameter is a field with its default and range.
macro_rules! parameters {
    ($($(#[$doc:meta])* $name:ident: $type:ty = $kind:ident($($range:expr),*);)*) => {
        /// Parameters of the main pass and of backfill, with Slurm's names. Times are seconds; a count of 0 is no limit. All fields of
        /// `default()` are 0; Slurm's defaults, given below, hold where slurm.conf has no other.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct Scheduling {
            /// True for `SchedulerType=sched/backfill`, the default; without it only the main pass runs.
            pub backfill: bool,
            $($(#[$doc])* pub $name: $type,)*
        }

        const PARAMETERS: &[(&str, SchedulingParameter)] =
            &[$((stringify!($name), $kind(|settings| &mut settings.$name, $($range),*))),*];
    };
}

parameters! {
    /// True if a job over a limit blocks its partition.
    assoc_limit_stop: bool = Flag();
    /// Time over which submissions and ends are batched (3).
    batch_sched_delay: i64 = Time(3, 1, 0, 3600);
    /// Pause between passes (30).
    bf_interval: i64 = Time(30, 1, 1, 10_800);
    /// Number of jobs of a partition that get a plan.
    bf_job_part_count_reserve: usize = Count(0, 0, MANY);
    /// Number of tasks of an array that get a plan (20).
    bf_max_job_array_resv: usize = Count(20, 1, MANY);
    /// Number of jobs of an association that are tested.
    bf_max_job_assoc: usize = Count(0, 0, MANY);
    /// Number of jobs of a partition that are tested.
    bf_max_job_part: usize = Count(0, 0, MANY);
    /// Number of jobs that one pass starts.
    bf_max_job_start: usize = Count(0, 0, MANY);
    /// Number of jobs that one pass tests (500).
    bf_max_job_test: usize = Count(500, 1, MANY);
    /// Number of jobs of a user that are tested.
    bf_max_job_user: usize = Count(0, 0, MANY);
    /// Number of jobs of a user in a partition that are tested.
    bf_max_job_user_part: usize = Count(0, 0, MANY);
    /// Age below which a job gets no plan.
    bf_min_age_reserve: i64 = Time(0, 1, 0, 2_592_000);
    /// Priority below which a job gets no plan.
    bf_min_prio_reserve: usize = Count(0, 0, i64::MAX);
    /// Number of records of the table (`bf_max_job_test`).
    bf_node_space_size: usize = Count(0, 2, MANY);
    /// True for one plan for a job in several partitions.
    bf_one_resv_per_job: bool = Flag();
    /// Step of the table (60).
    bf_resolution: i64 = Time(60, 1, 1, 3600);
    /// Horizon of the table (a day).
    bf_window: i64 = Time(1440, 60, 1, 43_200);
    /// Growth of a group of ends, instead of doubling.
    bf_window_linear: i64 = Time(0, 1, 0, 86_400);
    /// Number of records that a default pass reaches (100).
    default_queue_depth: usize = Count(100, 0, MANY);
    /// Number of records of a partition that the main pass reaches.
    partition_job_depth: usize = Count(0, 0, MANY);
    /// Time between full passes (60).
    sched_interval: i64 = Time(60, 1, 1, 86_400);
    /// Number of jobs that one main pass starts.
    sched_max_job_start: usize = Count(0, 0, MANY);
}

/// Parameters that are listed as not modelled. Most concern the time that a pass takes; here it takes none, so that nothing yields.
const LISTED: &str = "bf_max_time defer max_sched_time sched_min_interval bf_continue bf_yield_interval bf_yield_sleep \
    allow_zero_lic bf_allow_magnetic_resv bf_hetjob_immediate bf_hetjob_prio bf_yield_rpc_cnt defer_batch delay_boot \
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
