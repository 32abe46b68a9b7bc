//! More logs like one log: what stands for replications where there is one sample path.
//!
//! | method | what it changes | what it answers |
//! |---|---|---|
//! | [`shaken`] | each submission by some seconds | does the result hang on the accidents of this very sequence? |
//! | [`Users`] | who is there in which week | what would another year on this machine have brought? |
//!
//! (Batch means over weeks, [`metrics::Blocks`](../../metrics/struct.Blocks.html), change nothing at all.) Both are pure
//! functions of a held log and a stream: the same seed gives the same log, and a policy is no part of the address.
//! [`Fidelity`] measures how like the original a resampled log is, and the tests hold it to bounds.

mod fidelity;
mod shake;
mod users;

pub use fidelity::Fidelity;
pub use shake::shaken;
pub use users::{Users, UsersError};

use sim_core::Span;

const WEEK: Span = Span::from_secs(7 * 86_400);
