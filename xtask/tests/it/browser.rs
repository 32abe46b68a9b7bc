//! A browser without a window, if one is installed.

use std::path::{Path, PathBuf};
use std::process::Command;
use test_data::Need;

/// Returns the browser; without one it returns `None` and the test is skipped.
pub(crate) fn browser() -> Option<PathBuf> {
    test_data::program(Need::Browser, &["chromium", "chromium-browser", "google-chrome"])
}

/// Returns the browser's output for these options and addresses; its profile is in `folder`.
pub(crate) fn chromium(program: &Path, folder: &Path, options: &[&str]) -> Vec<u8> {
    let profile = format!("--user-data-dir={}", folder.join("profile").display());
    let run = Command::new(program)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"])
        .args(["--disable-component-update", "--disable-sync", "--hide-scrollbars", "--window-size=1400,9000"])
        .args(["--virtual-time-budget=5000", &profile])
        .args(options)
        .output()
        .expect("the browser starts");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    run.stdout
}
