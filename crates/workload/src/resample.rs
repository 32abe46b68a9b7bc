//! Resampling of one log into more logs like it, which replace replications where there is only one sample path.
//!
//! | method | change | question |
//! |---|---|---|
//! | [`Blocks`] | the order and number of the log's weeks, all users together | what would another year of such weeks have brought? |
//! | [`shaken`] | each submission by some seconds | does the result depend on the accidents of this very sequence? |
//! | [`Users`] | users present in each week | how do results change with more or fewer users? |
//!
//! (Batch means over weeks, [`metrics::Blocks`](../../metrics/struct.Blocks.html), change nothing at all.) All are pure
//! functions of a held log and a stream: the same seed gives the same log, and a policy is no part of the address.
//! [`Fidelity`] measures how similar a resampled log is to the original. [`Blocks`] holds every single log to
//! [bounds](Blocks::BOUNDS), [`Users::redrawn_within`] to that of the backlog.

mod blocks;
mod fidelity;
mod measures;
mod users;

pub use blocks::{Blocks, Drawn};
pub use fidelity::Fidelity;
pub use users::Users;

use crate::draw;
use crate::intake::held::{HeldJob, HeldLog};
use sim_core::{Purpose, Span, Stream, Streams, Time};

/// Reason why no log can be drawn, and the alternative.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ResampleError(String);

/// Maximum number of draws for one log.
const DRAWS: u32 = 5_000;

const WEEK: Span = Span::from_secs(7 * 86_400);

fn weeks_in(span: Span) -> usize {
    usize::try_from(span.as_nanos() / WEEK.as_nanos()).expect("weeks of a log")
}

/// Draws a position below `many`, uniformly.
fn below(stream: &mut Stream, many: usize) -> usize {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below a length")]
    let at = (draw::unit(stream) * many as f64) as usize;
    at.min(many - 1)
}

/// Moves every submission by up to ± `most`, uniformly and independently: input shaking (D. Tsafrir, K. Ouaknine, D. G.
/// Feitelson, "Reducing Performance Evaluation Sensitivity and Variability by Input Shaking", MASCOTS 2007). The mean
/// over shaken logs does not depend on a single coincidence, such as one wide job that arrives a second before another.
///
/// Only the instants of submission change; users, processors and run times stay. So the interval over shaken logs
/// measures coincidence *within this log*. It is far narrower than the difference between months, for which there is
/// [`Users`]. Jobs that arrive within 2 `most` of each other may change places.
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
    let mut stream = streams.stream(Purpose("shaken submissions"), 0);
    // From 0 to 2 `most` instead of ± `most`: the same but for the origin of time, and no submission is below zero.
    let shift = |stream: &mut _| Span::from_secs_f64(draw::uniform(stream, [0.0, 2.0 * most.as_secs_f64()]));
    let jobs = log.jobs().iter().map(|job| {
        // Whole seconds, as in a log: a log that is written to a file and read again is the same.
        let moved = (job.submit + shift(&mut stream)).as_nanos() / 1_000_000_000;
        HeldJob { submit: Time::from_secs(moved), ..*job }
    });
    HeldLog::of(jobs.collect())
}
