//! The end of the clock: time beyond it is an error of the input, and is reported as one.
//!
//! `sim_core`'s time never wraps: leaving its range of 584 years is a panic. No bound on parameters or logs that is checked in advance
//! would be both sound and fair, so a command catches that panic, and no other.

use std::any::Any;
use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    /// True while leaving the clock in this thread is an error of the input, not a defect.
    static AT_THE_BORDER: Cell<bool> = const { Cell::new(false) };
}

/// Returns the result of `run`, or `None` if time left its range. Any other panic propagates.
pub fn within_the_clock<T>(run: impl FnOnce() -> T) -> Option<T> {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let others = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !(AT_THE_BORDER.get() && leaves_the_clock(info.payload())) {
                others(info);
            }
        }));
    });
    AT_THE_BORDER.set(true);
    // The state of the simulation is not used after a panic.
    let ran = panic::catch_unwind(AssertUnwindSafe(run));
    AT_THE_BORDER.set(false);
    match ran {
        Ok(value) => Some(value),
        Err(payload) if leaves_the_clock(&*payload) => None,
        Err(payload) => panic::resume_unwind(payload),
    }
}

/// Returns true for the panic messages of `sim_core`'s time.
fn leaves_the_clock(payload: &(dyn Any + Send)) -> bool {
    let words =
        payload.downcast_ref::<&str>().copied().or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    words.is_some_and(|words| {
        words.contains("584 years") || words.starts_with("a span cannot be") || words.starts_with("a span of")
    })
}

pub(crate) fn beyond_the_clock(what: &str) -> String {
    format!(
        "{what} goes beyond 584 years, where the clock ends; give shorter or fewer jobs with --set, or faster machines"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_core::Span;

    #[test]
    fn a_span_without_end_is_an_error_at_the_border_and_any_other_panic_goes_on() {
        assert_eq!(within_the_clock(|| Span::from_secs_f64(1e30)), None);
        let other = panic::catch_unwind(|| within_the_clock(|| panic!("two jobs on one processor")));
        assert!(other.is_err());
    }
}
