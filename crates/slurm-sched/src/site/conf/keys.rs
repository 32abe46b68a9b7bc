//! Keys of slurm.conf, and the treatment of each.

use crate::site::text;

#[derive(Clone, Copy, Debug)]
pub(super) enum Treatment {
    Used,
    /// No effect on a schedule.
    Harmless,
    /// Listed, but not modelled.
    Listed,
    /// Modelled for these values only; otherwise rejected with this fix.
    Only(&'static str, &'static str),
    /// Unknown to slurm.conf; with a key of similar spelling.
    Unknown(Option<&'static str>),
}

const USED: &str = "AccountingStorageEnforce AccountingStorageType FairShareDampeningFactor KillWait \
    OverTimeLimit PriorityCalcPeriod PriorityDecayHalfLife PriorityFavorSmall PriorityFlags PriorityMaxAge PriorityType \
    PriorityUsageResetPeriod PriorityWeightAge PriorityWeightAssoc PriorityWeightFairshare PriorityWeightJobSize \
    PriorityWeightPartition PriorityWeightQOS PriorityWeightTRES SchedulerParameters";

/// Keys that are modelled for some values, with the fix for others.
const ONLY: &[(&str, &str, &str)] = &[
    ("BurstBufferType", "burst_buffer/none none", "remove the line"),
    ("PreemptMode", "OFF CANCEL REQUEUE", "preemption is not modelled: set PreemptMode=OFF"),
    ("PreemptType", "preempt/none none", "preemption is not modelled: set PreemptType=preempt/none"),
    ("PrioritySiteFactorPlugin", "site_factor/none none", "remove the line"),
    ("SchedulerType", "sched/backfill sched/builtin backfill builtin", "set SchedulerType=sched/backfill"),
    (
        "SelectType",
        "select/cons_tres select/cons_res select/linear cons_tres cons_res linear",
        "set SelectType=select/cons_tres",
    ),
    (
        "SelectTypeParameters",
        "CR_CPU CR_CPU_Memory CR_Core CR_Core_Memory CR_Socket CR_Socket_Memory CR_Memory CR_ONE_TASK_PER_CORE \
         CR_CORE_DEFAULT_DIST_BLOCK CR_Pack_Nodes NONE",
        "remove the value",
    ),
    ("SuspendTime", "INFINITE -1 NONE", "power saving is not modelled: set SuspendTime=INFINITE"),
    ("TopologyPlugin", "topology/none topology/default topology/flat none default flat", "remove the line"),
];

/// Keys that are not modelled and may matter.
const LISTED: &str = "CompleteWait Epilog DefCpuPerGPU DefMemPerCPU DefMemPerGPU DefMemPerNode DependencyParameters EnforcePartLimits \
    EpilogSlurmctld FederationParameters FirstJobId GresTypes InactiveLimit JobDefaults JobSubmitPlugins \
    Licenses MaxArraySize MaxJobCount MaxMemPerCPU MaxMemPerNode MaxNodeCount MCSParameters MCSPlugin MinJobAge NodeFeaturesPlugins \
    PreemptExemptTime PreemptParameters PriorityParameters PrioritySiteFactorParameters Prolog PrologFlags PrologSlurmctld \
    ReconfigFlags ResvOverRun ResvProlog ResvEpilog SchedulerTimeSlice SlurmctldParameters TopologyParam UnkillableStepTimeout \
    VSizeFactor";

/// Keys without effect on a schedule; `*` stands for any end.
const HARMLESS: &str = "AccountingStorageBackupHost AccountingStorageExternalHost AccountingStorageHost AccountingStorageParameters \
    AccountingStoragePass AccountingStoragePort AccountingStorageTRES AccountingStorageUser AccountingStoreFlags \
    AccountingStoreJobComment AcctGather* AllowSpecResourcesUsage Auth* Backup* BatchStartTimeout Bcast* BootTime CertmgrType \
    CgroupPlugin CheckpointType CliFilterPlugins ClusterName CommunicationParameters Control* CoreSpecPlugin CpuFreq* CredType \
    CryptoType DataParserParameters DebugFlags DisableRootJobs EioTimeout EpilogMsgTime EpilogTimeout ExtSensors* FastSchedule \
    GetEnvTimeout GpuFreqDef GroupUpdate* HashPlugin HealthCheck* InteractiveStepOptions JobAcctGather* JobCheckpointDir JobComp* \
    JobContainerType JobCredential* JobFileAppend JobRequeue KeepAliveTime KillOnBadExit Launch* LogTimeFormat Mail* MaxBatchRequeue \
    MaxDBDMsgs MaxStepCount MaxTasksPerNode MessageTimeout Mpi* NamespaceType PlugStackConfig PluginDir Power* PrEp* PrivateData \
    ProctrackType PrologEpilogTimeout PrologTimeout Propagate* RebootProgram RequeueExit* Resume* ReturnToService RoutePlugin \
    SallocDefaultCommand SbcastParameters ScronParameters SlurmSchedLog* SlurmUser Slurmctld* Slurmd* Srun* StateSaveLocation \
    SuspendExc* SuspendProgram SuspendRate SuspendTimeout Switch* TLS* Task* TCPTimeout TmpFS TrackWCKey TreeWidth \
    UnkillableStepProgram UsePAM WaitTime X11Parameters";

/// Returns the treatment of `key`. A full key precedes a prefix with `*`.
pub(super) fn treatment(key: &str) -> Treatment {
    if let Some((_, values, fix)) = ONLY.iter().find(|(name, ..)| name.eq_ignore_ascii_case(key)) {
        return Treatment::Only(values, fix);
    }
    let begins = |family: &str| key.get(..family.len()).is_some_and(|head| head.eq_ignore_ascii_case(family));
    match key {
        _ if text::is_among(USED, key) => Treatment::Used,
        _ if text::is_among(LISTED, key) => Treatment::Listed,
        _ if text::is_among(HARMLESS, key) => Treatment::Harmless,
        _ if HARMLESS.split(' ').any(|name| name.strip_suffix('*').is_some_and(begins)) => Treatment::Harmless,
        _ => {
            let names = [USED, LISTED, HARMLESS].into_iter().flat_map(str::split_whitespace);
            let names = names.filter(|name| !name.ends_with('*')).chain(ONLY.iter().map(|(name, ..)| *name));
            Treatment::Unknown(text::nearest(key, names))
        }
    }
}
