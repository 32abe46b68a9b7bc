//! Progress of long work: a bar with the remaining time on a terminal, plain lines elsewhere.

use crate::run::control::Control;
use crate::run::terminal::tell;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts work done towards a known total. Shared by all threads.
pub struct Progress {
    what: String,
    bar: Option<ProgressBar>,
    /// Number of tenths already printed, if there is no terminal.
    tenths_shown: AtomicU64,
    done: AtomicU64,
    total: u64,
    quiet: bool,
}

impl Progress {
    /// Starts at zero of `total` units of `what`. All units should take about equally long, such as simulated jobs.
    pub fn new(what: impl Into<String>, total: u64, quiet: bool) -> Self {
        let what = what.into();
        let bar = (!quiet && Control::current().is_none() && std::io::stderr().is_terminal()).then(|| {
            let style = ProgressStyle::with_template("{msg} {wide_bar:.cyan/dim} {percent:>3} %  {eta} left")
                .expect("a good template");
            let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr());
            bar.set_style(style);
            bar.set_message(what.clone());
            bar.enable_steady_tick(std::time::Duration::from_millis(200));
            bar
        });
        Self { what, bar, tenths_shown: AtomicU64::new(0), done: AtomicU64::new(0), total, quiet }
    }

    pub fn add(&self, units: u64) {
        let done = self.done.fetch_add(units, Ordering::Relaxed) + units;
        Control::record_progress(done, self.total);
        if let Some(bar) = &self.bar {
            bar.set_position(done);
        } else if !self.quiet && self.total > 0 {
            let tenths = 10 * done / self.total;
            if tenths > self.tenths_shown.fetch_max(tenths, Ordering::Relaxed) {
                tell(&format!("{}: {} %", self.what, 10 * tenths));
            }
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
