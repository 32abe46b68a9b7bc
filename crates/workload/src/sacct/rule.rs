//! Rules for lines that cannot be taken as they stand, and counts of their applications.

crate::repair::rules! {
    /// Repairs of lines of `sacct` that do not describe a finished job completely. There are no others.
    enum SacctRule {
        Step = "step": "a step (123.batch, 123.0): left out, its job holds the processors",
        Unfinished = "unfinished": "had not ended when sacct ran: left out",
        Revoked = "revoked": "another cluster of the federation ran it: left out",
        NoSubmit = "no-submit": "Submit unknown: left out",
        CancelledBeforeStart = "cancelled-before-start":
            "cancelled while it waited: kept without wait, run time and allocated processors",
        NeverStarted = "never-started":
            "ended without having run: kept without wait, run time and allocated processors",
        StartBeforeSubmit = "start-before-submit": "Start before Submit: the wait taken as zero",
        EndBeforeStart = "end-before-start": "End before Start, and no Elapsed: the run time taken as unknown",
        ElapsedDiffers = "elapsed-differs":
            "Elapsed is not End - Start (suspended, or clocks set): Elapsed is the run time",
        NoLimit = "no-limit": "no limit (UNLIMITED, or none given): the requested time taken as unknown",
        PartitionLimit = "partition-limit":
            "the limit is that of the partition, which sacct does not tell: taken as unknown",
        UnknownState = "unknown-state": "a State that has no place in the format: taken as unknown",
        AmbiguousTime = "ambiguous-time":
            "a local time that clocks showed twice or never (summer time): the first, or as if they had gone on",
        Gpus = "gpus": "requests GPUs, which no log format here has a column for: kept with its processors alone",
        HetComponent = "het-component":
            "a component of a heterogeneous job (123+0): kept as a job of its own, free to start apart from the others",
        ArrayRange = "array-range": "several tasks of an array that never ran, on one line (123_[4-9]): kept as one job",
        OutOfOrder = "out-of-order": "submitted before jobs that were written long before it: placed behind them",
    }
    struct SacctRepairs {}
}
