//! Keys of slurm.conf and what is done with each.

use crate::text;

/// What is done with a key.
#[derive(Clone, Copy, Debug)]
pub(super) enum Treatment {
    /// Modelled.
    Used,
    /// Of no effect on a schedule.
    Harmless,
    /// Not modelled; listed.
    Listed,
    /// Modelled for these values alone; else refused with this fix.
    Only(&'static [&'static str], &'static str),
    /// Not a key of slurm.conf; with a key that is spelled nearly so.
    Unknown(Option<&'static str>),
}

/// Keys that are read.
const USED: &str = "AccountingStorageEnforce AccountingStorageType FairShareDampeningFactor JobRequeue KillWait \
    OverTimeLimit PriorityCalcPeriod PriorityDecayHalfLife PriorityFavorSmall PriorityFlags PriorityMaxAge PriorityType \
    PriorityUsageResetPeriod PriorityWeightAge PriorityWeightAssoc PriorityWeightFairshare PriorityWeightJobSize \
    PriorityWeightPartition PriorityWeightQOS PriorityWeightTRES SchedulerParameters";

/// Keys that are modelled for some values.
const ONLY: &[(&str, &[&str], &str)] = &[
    ("BurstBufferType", &["burst_buffer/none", "none"], "remove the line"),
    ("PreemptMode", &["OFF", "CANCEL", "REQUEUE"], "preemption is not modelled: set PreemptMode=OFF"),
    ("PreemptType", &["preempt/none", "none"], "preemption is not modelled: set PreemptType=preempt/none"),
    ("PrioritySiteFactorPlugin", &["site_factor/none", "none"], "remove the line"),
    ("SchedulerType", &["sched/backfill", "sched/builtin", "backfill", "builtin"], "set SchedulerType=sched/backfill"),
    (
        "SelectType",
        &["select/cons_tres", "select/cons_res", "select/linear", "cons_tres", "cons_res", "linear"],
        "set SelectType=select/cons_tres",
    ),
    (
        "SelectTypeParameters",
        &[
            "CR_CPU",
            "CR_CPU_Memory",
            "CR_Core",
            "CR_Core_Memory",
            "CR_Socket",
            "CR_Socket_Memory",
            "CR_Memory",
            "CR_ONE_TASK_PER_CORE",
            "CR_CORE_DEFAULT_DIST_BLOCK",
            "CR_Pack_Nodes",
            "NONE",
        ],
        "remove the value",
    ),
    ("SuspendTime", &["INFINITE", "-1", "NONE"], "power saving is not modelled: set SuspendTime=INFINITE"),
    (
        "TopologyPlugin",
        &["topology/none", "topology/default", "topology/flat", "none", "default", "flat"],
        "remove the line",
    ),
];

/// Keys that are not modelled and may matter.
const LISTED: &str = "CompleteWait Epilog DefCpuPerGPU DefMemPerCPU DefMemPerGPU DefMemPerNode DependencyParameters EnforcePartLimits \
    EpilogSlurmctld FederationParameters FirstJobId GresTypes InactiveLimit JobDefaults JobSubmitPlugins \
    Licenses MaxArraySize MaxJobCount MaxMemPerCPU MaxMemPerNode MaxNodeCount MCSParameters MCSPlugin MinJobAge NodeFeaturesPlugins \
    PreemptExemptTime PreemptParameters PriorityParameters PrioritySiteFactorParameters Prolog PrologFlags PrologSlurmctld \
    ReconfigFlags ResvOverRun ResvProlog ResvEpilog SchedulerTimeSlice SlurmctldParameters TopologyParam UnkillableStepTimeout \
    VSizeFactor";

/// Keys without effect on a schedule.
const HARMLESS: &str = "AccountingStorageBackupHost AccountingStorageExternalHost AccountingStorageHost AccountingStorageParameters \
    AccountingStoragePass AccountingStoragePort AccountingStorageTRES AccountingStorageUser \
    AccountingStoreFlags AccountingStoreJobComment AcctGatherEnergyType AcctGatherFilesystemType AcctGatherInfinibandType \
    AcctGatherInterconnectType AcctGatherNodeFreq AcctGatherProfileType AllowSpecResourcesUsage AuthAltParameters AuthAltTypes \
    AuthInfo AuthType BackupAddr BackupController BatchStartTimeout BcastExclude BcastParameters BootTime CertmgrType CgroupPlugin \
    CheckpointType CliFilterPlugins ClusterName CommunicationParameters ControlAddr ControlMachine CoreSpecPlugin CpuFreqDef \
    CpuFreqGovernors CredType CryptoType DataParserParameters DebugFlags DisableRootJobs EioTimeout EpilogMsgTime EpilogTimeout \
    ExtSensorsFreq ExtSensorsType FastSchedule GetEnvTimeout GpuFreqDef GroupUpdateForce GroupUpdateTime HashPlugin \
    HealthCheckInterval HealthCheckNodeState HealthCheckProgram InteractiveStepOptions JobAcctGatherFrequency \
    JobAcctGatherParams JobAcctGatherType JobCheckpointDir JobCompHost JobCompLoc JobCompParams JobCompPass JobCompPort \
    JobCompType JobCompUser JobContainerType JobCredentialPrivateKey JobCredentialPublicCertificate JobFileAppend KeepAliveTime \
    KillOnBadExit LaunchParameters LaunchType LogTimeFormat MailDomain MailProg MaxBatchRequeue MaxDBDMsgs MaxStepCount \
    MaxTasksPerNode MessageTimeout MpiDefault MpiParams NamespaceType PlugStackConfig PluginDir PowerParameters PowerPlugin \
    PrEpParameters PrEpPlugins PrivateData ProctrackType PrologEpilogTimeout PrologTimeout PropagatePrioProcess \
    PropagateResourceLimits PropagateResourceLimitsExcept RebootProgram RequeueExit RequeueExitHold ResumeFailProgram \
    ResumeProgram ResumeRate ResumeTimeout ReturnToService RoutePlugin SallocDefaultCommand SbcastParameters ScronParameters \
    SlurmSchedLogFile SlurmSchedLogLevel SlurmUser SlurmctldAddr SlurmctldDebug SlurmctldHost SlurmctldLogFile \
    SlurmctldPidFile SlurmctldPlugstack SlurmctldPort SlurmctldPrimaryOffProg SlurmctldPrimaryOnProg SlurmctldSyslogDebug \
    SlurmctldTimeout SlurmdDebug SlurmdLogFile SlurmdParameters SlurmdPidFile SlurmdPort SlurmdSpoolDir SlurmdSyslogDebug \
    SlurmdTimeout SlurmdUser SrunEpilog SrunPortRange SrunProlog StateSaveLocation SuspendExcNodes SuspendExcParts \
    SuspendExcStates SuspendProgram SuspendRate SuspendTimeout SwitchParameters SwitchType TLSParameters TLSType TaskEpilog \
    TaskPlugin TaskPluginParam TaskPluginParams TaskProlog TCPTimeout TmpFS TrackWCKey TreeWidth UnkillableStepProgram UsePAM \
    WaitTime X11Parameters";

/// Treatment of `key`.
pub(super) fn treatment(key: &str) -> Treatment {
    if let Some((_, values, fix)) = ONLY.iter().find(|(name, ..)| name.eq_ignore_ascii_case(key)) {
        return Treatment::Only(values, fix);
    }
    let lists = [(USED, Treatment::Used), (LISTED, Treatment::Listed), (HARMLESS, Treatment::Harmless)];
    match lists.into_iter().find(|(list, _)| text::is_among(list, key)) {
        Some((_, treatment)) => treatment,
        None => Treatment::Unknown(text::nearest(key, names())),
    }
}

/// Returns true for a key of slurm.conf.
pub(super) fn is_key(key: &str) -> bool {
    names().any(|name| name.eq_ignore_ascii_case(key))
}

fn names() -> impl Iterator<Item = &'static str> {
    let lists = [USED, LISTED, HARMLESS].into_iter().flat_map(str::split_whitespace);
    lists.chain(ONLY.iter().map(|(name, ..)| *name))
}
