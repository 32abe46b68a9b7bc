//! Pages of `simulate` and `experiment` in a real browser: the first screen, the search for a job, the pointer, and the keyboard.

use crate::browser::{browser, chromium};
use crate::program::{TEN_JOBS, Workdir};
use serde_json::{Value, json};

/// Script that acts as a reader and returns the page's responses, as JSON.
const ASK: &str = include_str!("browser/ask-page.js");

/// A log under two policies.
const SIMULATE: &str = "simulate --policy fcfs,easy --baseline fcfs --trace";

/// Three jobs a week for thirty weeks: a head that blocks, and small ones that EASY lets pass.
const WEEKS: &str = include_str!("browser/weeks.swf");

const EXPERIMENT: &str = include_str!("browser/own.toml");

/// Returns the responses of the page that a command writes about a file; `None` without a browser.
fn asked(run: &str, input: &str) -> Option<Value> {
    let program = browser()?;
    let dir = Workdir::with("input", input);
    dir.run(&format!("{run} input --quiet --out out"), 0);
    let page = dir.text("out/report.html");
    let (head, tail) = page.rsplit_once("</body>").expect("it ends");
    let page = dir.file("asked.html", format!("{head}<script>{ASK}</script></body>{tail}"));
    let shown = chromium(&program, dir.0.path(), &["--dump-dom", &format!("file://{}", page.display())]);
    let shown = String::from_utf8(shown).expect("UTF-8");
    let answers = shown.split_once("<pre id=\"answers\">").and_then(|(_, rest)| rest.split_once("</pre>"));
    let (answers, _) = answers.expect("the page was asked");
    let answers: Value = serde_json::from_str(answers).expect("JSON");
    assert_eq!(answers["failed"], Value::Null, "a script of the page, or the one that asks it");
    Some(answers)
}

#[test]
fn a_job_is_found_and_marked_in_every_schedule_and_one_crosshair_reads_all_policies() {
    let Some(answers) = asked(SIMULATE, TEN_JOBS) else { return };

    // The search.
    assert_eq!(answers["unknown"], json!(["No job is called 4711."]));
    let seven = answers["seven"].as_array().expect("rows");
    assert_eq!(seven.len(), 2, "{seven:?}");
    for (row, policy) in seven.iter().zip(["fcfs", "easy"]) {
        let row = row.as_str().expect("a line");
        let facts =
            ": user 1, 3 processors (6–8); requested 2 min 10 s (130 s), ran 100 s; submitted at 60 s; started at";
        assert!(row.starts_with(&format!("Schedule under {policy}{facts}")), "{row}");
    }
    assert_eq!((&answers["marked"], &answers["cleared"]), (&json!(["7", "7"]), &json!([])));

    // The pointer: over a job, and on it.
    let tip = answers["job"].as_array().expect("lines");
    assert_eq!((&tip[0], &tip[1]), (&json!("Job 5"), &json!("user 2, 5 processors (0–4)")));
    assert_eq!(answers["clicked"], "5", "a job that is clicked is the one that is searched");

    // The crosshair, by pointer and by keyboard; it omits a policy that the legend hides.
    let rows = |key: &str| answers[key].as_array().expect("rows").len();
    assert_eq!((rows("crosshair"), rows("keyboard")), (2, 2), "{answers}");
    assert_eq!(rows("hidden"), 1, "{answers}");
}

#[test]
fn the_first_screen_answers_which_policy_by_how_much_for_which_jobs_and_whether_it_is_significant() {
    let check = |run: &str, input: &str, answers: [&str; 5]| {
        let Some(found) = asked(run, input) else { return };
        let screen = found["screen"].as_str().expect("text");
        let questions = ["the best policy, and its gain", "interval", "significance", "jobs that lose", "blocks"];
        for (question, answer) in questions.into_iter().zip(answers) {
            assert!(screen.contains(answer), "{question}: {screen}");
        }
    };
    let no_loss = "No class of jobs has a significantly higher wait under easy.";
    let (gain, blocks) = ("easy cuts mean wait by 5.6 min (", "The interval rests on 29 blocks of the log");
    check(SIMULATE, WEEKS, [gain, "95 % CI 5.6 to 5.6 min", "all others are significantly worse", no_loss, blocks]);
    let (gain, worse) = ("easy cuts mean wait by 2.7 h (84 %) against fcfs", "all others are significantly worse");
    check("experiment", EXPERIMENT, [gain, "95 % CI 2.2 to 3.2 h", worse, no_loss, "over 12 replications (seeds)"]);
}
