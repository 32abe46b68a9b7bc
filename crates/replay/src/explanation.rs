//! Why a job started when it did: what a policy tells while a log is replayed is kept, joined and said.
//!
//! A world hands the policy a [`Listener`], or keeps what it has [`heard()`] of messages and predictions, and gives back an
//! [`Explanation`]. Nothing here computes a reason of its own.

mod heard;
mod line;
mod listener;
mod pass;
mod reason;

pub(crate) use heard::{SharedHeard, heard};
pub(crate) use line::Explanation;
pub(crate) use listener::{Ear, Listener};
