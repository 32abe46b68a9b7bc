//! Inputs that are the same on every platform: drawn as whole numbers, without a logarithm that a library may round.

use sim_core::{Job, JobId, Span, Time};

/// SplitMix64: G. L. Steele, D. Lea, C. H. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
#[derive(Clone, Debug)]
pub(crate) struct Draws(pub(crate) u64);

impl Draws {
    pub(crate) const fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ bits >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        (bits ^ bits >> 31) % bound
    }
}

/// Processors of the machine that [`jobs`] are for.
pub(crate) const PROCESSORS: u32 = 256;

/// Returns jobs of 1 to 64 processors, narrow ones more often, of minutes to hours, with estimates up to eight times too long. One arrives
/// every `gap` seconds on average. At 57 s, the offered load of the machine is 0.9.
pub(crate) fn jobs(count: u32, gap: u64) -> Vec<Job> {
    let mut draws = Draws(7);
    let mut submit = Time::ZERO;
    let job = |id| {
        submit += Span::from_secs(draws.below(2 * gap + 1));
        let processors = 1 << draws.below(7).min(draws.below(7));
        // All orders of magnitude are equally likely.
        let magnitude = draws.below(9);
        let runtime = 60 + draws.below(60 << magnitude);
        let mut job = Job::new(JobId(id), submit, processors, Span::from_secs(runtime));
        job.request.estimate = Some(Span::from_secs(runtime + draws.below(8 * runtime)));
        job.request.user = Some(u32::try_from(draws.below(20)).expect("few users"));
        job
    };
    (0..count).map(job).collect()
}

/// Returns the same jobs as a log in the Standard Workload Format.
pub(crate) fn log(count: u32, gap: u64) -> String {
    let line = |job: Job| {
        let Job { id, submit, request, runtime, .. } = job;
        let estimate = request.estimate.unwrap_or(runtime);
        format!(
            "{:5} {:8} {:6} {:6} {:4} -1 -1 {:4} {:6} -1 1 {:3} 1 -1 -1 -1 -1 -1\n",
            id.0 + 1,
            submit.as_nanos() / 1_000_000_000,
            17,
            runtime.as_nanos() / 1_000_000_000,
            request.processors,
            request.processors,
            estimate.as_nanos() / 1_000_000_000,
            request.user.unwrap_or(0) + 1,
        )
    };
    let lines: String = jobs(count, gap).into_iter().map(line).collect();
    format!("; MaxProcs: {PROCESSORS}\n{lines}")
}
