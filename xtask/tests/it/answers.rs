//! The page of `simulate` answers: a real browser searches for a job, points at one, and zooms.

use crate::browser::{browser, chromium};
use crate::program::{file, folder, xtask};
use serde_json::{Value, json};

/// Ten jobs on a machine of ten processors.
const TEN_JOBS: &str = include_str!("ten-jobs.swf");

/// What a reader does, and what the page shows then, as JSON.
const ASK: &str = include_str!("browser/ask-schedules.js");

/// The page of the ten jobs under two policies, asked. `None` where there is no browser.
fn asked() -> Option<Value> {
    let program = browser()?;
    let folder = folder();
    let (log, out) = (file(&folder, "ten-jobs.swf", TEN_JOBS), folder.path().join("out"));
    let run = ["simulate", "--quiet", "--policy", "fcfs,easy", "--trace"];
    xtask().args(run).arg(&log).arg("--out").arg(&out).assert().code(0);
    let page = std::fs::read_to_string(out.join("report.html")).expect("a page");
    let (head, tail) = page.rsplit_once("</body>").expect("it ends");
    let page = file(&folder, "asked.html", format!("{head}<script>{ASK}</script></body>{tail}"));
    let shown = chromium(&program, folder.path(), &["--dump-dom", &format!("file://{}", page.display())]);
    let shown = String::from_utf8(shown).expect("UTF-8");
    let told = shown.split_once("<pre id=\"told\">").and_then(|(_, told)| told.split_once("</pre>"));
    let (told, _) = told.expect("the page was asked");
    let told: Value = serde_json::from_str(told).expect("JSON");
    assert_eq!(told["failed"], Value::Null, "a script of the page, or the one that asks it");
    Some(told)
}

/// Whether all of a list are so.
fn all(told: &Value, key: &str, so: bool) -> bool {
    told[key].as_array().is_some_and(|list| !list.is_empty() && list.iter().all(|one| one == so))
}

#[test]
fn a_job_is_found_told_and_marked_in_every_schedule_and_a_stretch_of_time_is_shown_in_all() {
    let Some(told) = asked() else { return };
    assert_eq!(told["schedules"], json!(["gantt-fcfs", "gantt-easy"]), "{told}");
    assert_eq!(told["linked"], json!(["utilization", "queue-length", "gantt-fcfs", "gantt-easy"]), "{told}");
    assert_eq!(told["drawn"], told["linked"], "all are drawn, else pixels tell nothing");

    // The search.
    assert_eq!(told["nobody"], json!(["No job is called 4711."]));
    let seven = told["seven"].as_array().expect("rows");
    assert_eq!(seven.len(), 2, "{seven:?}");
    for (row, policy) in seven.iter().zip(["fcfs", "easy"]) {
        let row = row.as_str().expect("a line");
        let facts =
            ": user 1, 3 processors (6–8); requested 2 min 10 s (130 s), ran 100 s; submitted at 60 s; started at";
        assert!(row.starts_with(&format!("Schedule under {policy}{facts}")), "{row}");
    }
    assert!(all(&told, "marked", true) && all(&told, "unmarked", true), "{told}");
    assert_eq!(told["cleared"], json!([]));

    // The pointer: over a job, and on it.
    let tip = told["tip"].as_array().expect("lines");
    assert_eq!((&tip[0], &tip[1]), (&json!("Job 5"), &json!("user 2, 5 processors (0–4)")));
    assert_eq!(told["tipHidden"], false);
    assert_eq!(told["clicked"], "5", "a job that is clicked is the one that is searched");

    // The zoom: from a quarter to a half of the first schedule, shown in all; and back.
    let [low, high] = [0, 1].map(|end| told["whole"][2][end].as_f64().expect("a time"));
    let width = high - low;
    assert_eq!(told["rubber"], true);
    for view in told["zoomed"].as_array().expect("views") {
        let [from, to] = [0, 1].map(|end| view[end].as_f64().expect("a time"));
        assert!((from - low - 0.25 * width).abs() < 1e-6 && (to - low - 0.5 * width).abs() < 1e-6, "{told}");
    }
    assert!(all(&told, "redrawn", true) && all(&told, "zoomButtons", true), "{told}");
    assert_eq!(told["back"], told["whole"]);
    assert!(all(&told, "backButtons", false) && all(&told, "asBefore", true), "{told}");
}
