//! Why a job started when it did: what a policy tells while a log is replayed is kept, joined and said.
//!
//! A world hands the policy a [`Listener`], or keeps what it has [`Heard`] of messages and predictions, and gives back an
//! [`Explanation`]. Nothing here computes a reason of its own.

mod heard;
mod history;
mod line;
mod listener;
mod pass;
mod tell;
mod words;

pub(crate) use heard::{Heard, SharedHeard};
pub(crate) use line::Explanation;
pub(crate) use listener::{Ear, Listener};
pub(crate) use tell::explanation;
