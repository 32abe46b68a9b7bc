//! Small random shifts of submissions.

use crate::draw;
use crate::held::{HeldJob, HeldLog};
use sim_core::{Purpose, Span, Streams, Time};

const SHAKE: Purpose = Purpose("shaken submissions");

/// Moves every submission by up to ± `most`, uniformly and independently: input shaking (D. Tsafrir, K. Ouaknine, D. G.
/// Feitelson, "Reducing Performance Evaluation Sensitivity and Variability by Input Shaking", MASCOTS 2007). The mean
/// over shaken logs does not depend on a single coincidence, such as one wide job that arrives a second before another.
///
/// Only the instants of submission change; users, processors and run times stay. So the interval over shaken logs
/// measures coincidence *within this log*. It is far narrower than the difference between months, for which there is
/// [`Users`](super::Users). Jobs that arrive within 2 `most` of each other may change places.
///
/// ```
/// use sim_core::{Span, Streams};
/// use workload::resample::shaken;
/// use workload::{HeldLog, Options, SwfReader};
///
/// let text = "1 0 0 60 4 -1 -1 4 90 -1 1 7 1 -1 -1 -1 -1 -1\n2 900 0 60 4 -1 -1 4 90 -1 1 7 1 -1 -1 -1 -1 -1\n";
/// let (log, _) = HeldLog::read(SwfReader::from_read("two.swf", text.as_bytes())?, Options::default())?;
/// let shaken = shaken(&log, Span::from_secs(30), &Streams::new(1, 0));
/// let gap = shaken.jobs()[1].submit.as_secs_f64();
/// assert!((840.0..=960.0).contains(&gap) && gap != 900.0);
/// # Ok::<(), workload::InputError>(())
/// ```
pub fn shaken(log: &HeldLog, most: Span, streams: &Streams) -> HeldLog {
    let mut stream = streams.stream(SHAKE, 0);
    // From 0 to 2 `most` instead of ± `most`: the same but for the origin of time, and no submission is below zero.
    let shift = |stream: &mut _| Span::from_secs_f64(draw::uniform(stream, 0.0, 2.0 * most.as_secs_f64()));
    let jobs = log.jobs().iter().map(|job| {
        // Whole seconds, as in a log: a log that is written to a file and read again is the same.
        let moved = (job.submit + shift(&mut stream)).as_nanos() / 1_000_000_000;
        HeldJob { submit: Time::from_secs(moved), ..*job }
    });
    HeldLog::of(jobs.collect())
}
