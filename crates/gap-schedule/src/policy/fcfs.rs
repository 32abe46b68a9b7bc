use crate::dispatch::{Dispatch, View};
use sim_core::JobId;

/// First come first served: jobs start in order of arrival, and one that does not fit blocks all behind it, whether they
/// would fit or not.
#[derive(Copy, Clone, Debug, Default)]
pub struct Fcfs;

impl Dispatch for Fcfs {
    fn dispatch(&mut self, view: &View<'_>, starts: &mut Vec<JobId>) {
        let mut free = view.free;
        for waiting in view.queue {
            let Some(left) = free.checked_sub(waiting.request.processors) else {
                break;
            };
            free = left;
            starts.push(waiting.job);
        }
    }
}
