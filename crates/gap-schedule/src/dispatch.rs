//! The question that a policy answers, and what it is shown.

use crate::queue::Queue;
use crate::running::Running;
use sim_core::{JobId, Time};

/// Decides which waiting jobs start now.
///
/// A policy looks and answers; the world acts. Whatever a policy remembers from one question to the next is its own.
pub trait Dispatch {
    /// Appends to `starts` the jobs to start at `view.now`, in starting order. Together they ask for no more than
    /// `view.free` processors.
    fn dispatch(&mut self, view: &View<'_>, starts: &mut Vec<JobId>);
}

/// What a policy is shown: everything but the runtimes.
#[derive(Copy, Clone, Debug)]
pub struct View<'a> {
    /// The present instant.
    pub now: Time,
    /// Processors that are free now.
    pub free: u32,
    /// Processors in all.
    pub capacity: u32,
    /// The jobs that wait, in order of arrival.
    pub queue: &'a Queue,
    /// The jobs that run, by their expected ends.
    pub running: &'a Running,
}

impl<P: Dispatch + ?Sized> Dispatch for Box<P> {
    fn dispatch(&mut self, view: &View<'_>, starts: &mut Vec<JobId>) {
        (**self).dispatch(view, starts);
    }
}

impl<P: Dispatch + ?Sized> Dispatch for &mut P {
    fn dispatch(&mut self, view: &View<'_>, starts: &mut Vec<JobId>) {
        (**self).dispatch(view, starts);
    }
}
