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
mod shake;
mod users;

pub use blocks::{Blocks, Drawn};
pub use fidelity::Fidelity;
pub use shake::shaken;
pub use users::Users;

use crate::draw;
use sim_core::{Span, Stream};

/// Reason why no log can be drawn, and the alternative.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ResampleError(String);

/// Maximum number of draws for one log.
const DRAWS: u32 = 5_000;

const WEEK: Span = Span::from_secs(7 * 86_400);

/// Draws a position below `many`, uniformly.
fn below(stream: &mut Stream, many: usize) -> usize {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below a length")]
    let at = (draw::unit(stream) * many as f64) as usize;
    at.min(many - 1)
}
