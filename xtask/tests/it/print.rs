//! A printed report shows as many pictures as the screen, tested with a real browser.

use crate::browser::{browser, chromium};
use crate::program::{SMALL, Workdir};
use std::process::Command;
use test_data::Need;

/// Text inserted into every picture of the printed page, so that pages of paper can be counted by it.
const MARK: &str = "picturehere";

#[test]
fn printed_pages_hold_as_many_pictures_as_the_screen() {
    let Some(program) = browser() else { return };
    if test_data::program(Need::Browser, &["pdftotext"]).is_none() {
        return;
    }
    let dir = Workdir::new();
    dir.run(&format!("{SMALL} --quiet --out out"), 0);
    let page = dir.text("out/report.html");
    // The mark is inside each picture, and is printed exactly where the picture is.
    let marked = page.replace("<div class=\"wide\">", &format!("<div class=\"wide\">{MARK}"));
    let address = format!("file://{}", dir.file("page.html", marked).display());
    let figures = page.matches("<figure id=").count();
    assert!(figures >= 14, "the paper has fourteen figures, the page {figures}");

    let paper = dir.path("page.pdf");
    chromium(&program, dir.0.path(), &[&format!("--print-to-pdf={}", paper.display()), &address]);
    let text = Command::new("pdftotext").arg(&paper).arg("-").output().expect("pdftotext runs");
    let printed = String::from_utf8_lossy(&text.stdout).matches(MARK).count();
    assert_eq!(printed, figures, "pictures on paper and figures of the page");
}
