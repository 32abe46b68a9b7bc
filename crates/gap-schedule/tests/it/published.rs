//! Published results of SC'15 on KTH-SP2 and SDSC-SP2: every row, and every start of the available schedules.

use crate::predicted::{Behind, Predicted, predicted_easy};
use crate::predictions::fast;
use flate2::read::GzDecoder;
use gap_schedule::{Corrector, MeanOfUser, Predictions, TimesRequested};
use sim_core::{Job, JobId, Request, SiteSet, Span, Time};
use std::fs::File;

const LOGS: [(&str, u32); 2] = [("KTH-SP2", 100), ("SDSC-SP2", 128)];

/// Job of a published schedule, in seconds: number, submit, start, run, processors, requested time, user, first
/// prediction, corrections. The last two are -1 where absent; corrections are counted from 0.
type Row = [i64; 9];

fn schedule(name: &str) -> Option<Vec<Row>> {
    let path = test_data::oracle(&format!("predictsim-sc15-{name}.csv.gz"))?;
    let file = File::open(&path).unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
    let mut table = csv::Reader::from_reader(GzDecoder::new(file));
    let columns = ["job", "submit", "start", "run", "procs", "requested", "user", "first_prediction", "corrections"];
    assert_eq!(table.headers().expect("a header"), columns.as_slice());
    let mut rows: Vec<Row> = table.deserialize().map(|row| row.expect("nine numbers")).collect();
    // In the order of the log, independent of the order of the file.
    rows.sort_by_key(|row| (row[1], row[0]));
    Some(rows)
}

fn jobs(rows: &[Row]) -> Vec<Job> {
    let seconds = |seconds: i64| Span::from_secs(seconds.try_into().expect("not negative"));
    let job = |(id, [_, submit, _, run, processors, requested, user, ..]): (u32, &Row)| Job {
        id: JobId(id),
        submit: Time::ZERO + seconds(*submit),
        origin: None,
        request: Request {
            processors: u32::try_from(*processors).expect("some"),
            estimate: Some(seconds(*requested)),
            deadline: None,
            sites: SiteSet::ALL,
            user: Some(u32::try_from(*user).expect("users are numbered")),
        },
        runtime: seconds(*run),
    };
    (0..).zip(rows).map(job).collect()
}

fn predictions(predictor: &str, corrector: &str) -> Predictions {
    let predictions = match predictor {
        "NA" | "predictor_reqtime" => Predictions::by(TimesRequested(1)),
        "predictor_clairvoyant" => Predictions::clairvoyant(),
        "predictor_double_reqtime" => Predictions::by(TimesRequested(2)),
        "predictor_tsafrir" => Predictions::by(MeanOfUser::tsafrir()),
        other => panic!("no predictor {other}"),
    };
    match corrector {
        "NA" | "throw_an_error" => predictions,
        "reqtime" => predictions.corrected_by(Corrector::ToRequested),
        "recursive_doubling" => predictions.corrected_by(Corrector::Doubling),
        "tsafrir" => predictions.corrected_by(Corrector::tsafrir()),
        other => panic!("no corrector {other}"),
    }
}

fn behind(scheduler: &str) -> Behind {
    match scheduler {
        "easy_backfill_scheduler" | "easy_prediction_backfill_scheduler" => Behind::Arrival,
        "easy_plus_plus_scheduler" | "easy_sjbf_scheduler" => Behind::Shortest,
        other => panic!("no scheduler {other}"),
    }
}

/// Returns the nine metrics of a row, over all jobs, in seconds where they have a unit.
fn metrics(jobs: &[Job], starts: &[Time]) -> [f64; 9] {
    let ten = Span::from_secs(10);
    let of_each = |measure: &dyn Fn(&Job, f64) -> f64| -> [f64; 3] {
        let values = jobs
            .iter()
            .zip(starts)
            .map(|(job, start)| measure(job, (*start + job.runtime).since(job.submit).as_secs_f64()));
        let (mut sum, mut most, mut squares) = (0.0, f64::NEG_INFINITY, 0.0);
        for value in values {
            sum += value;
            most = most.max(value);
            squares += value * value;
        }
        let count = jobs.len() as f64;
        [sum / count, most, (squares / count).sqrt()]
    };
    let [avgft, maxft, rmsft] = of_each(&|_, response| response);
    let [avgstretch, maxstretch, rmss] = of_each(&|job, response| response / job.runtime.as_secs_f64());
    let [avgbsld, maxbsld, rmsbsld] =
        of_each(&|job, response| (response / job.runtime.max(ten).as_secs_f64()).max(1.0));
    [avgft, maxft, rmsft, avgstretch, maxstretch, rmss, avgbsld, maxbsld, rmsbsld]
}

/// Program that schedules jobs on a machine of these processors.
type Program = fn(&[Job], u32, Behind, Predictions) -> Vec<Predicted>;

/// Runs every published row by `run`, and compares its metrics to nine digits.
fn check_rows(run: Program) {
    let Some(published) = test_data::oracle("predictsim-sc15-metrics.csv") else { return };
    let mut table = csv::Reader::from_path(published).expect("a table");
    let columns = table.headers().expect("a header").clone();
    let rows: Vec<csv::StringRecord> = table.records().map(|row| row.expect("a row")).collect();
    assert_eq!(rows.len(), 28);
    for (log, processors) in LOGS {
        let jobs = jobs(&schedule(&format!("easy-{log}")).expect("the folder is there"));
        let mut compared = 0;
        for row in rows.iter().filter(|row| &row[0] == log) {
            let (scheduler, correct, predict) = (&row[1], &row[2], &row[3]);
            assert_eq!(row[10].parse(), Ok(jobs.len()));
            let found = run(&jobs, processors, behind(scheduler), predictions(predict, correct));
            let starts: Vec<Time> = found.iter().map(|job| job.start).collect();
            for (column, ours) in (11..).zip(metrics(&jobs, &starts)) {
                let Ok(theirs) = row[column].parse::<f64>() else {
                    assert_eq!(&row[column], "NA");
                    continue;
                };
                let off = (ours - theirs).abs() / theirs;
                let name = &columns[column];
                assert!(off < 5e-10, "{log} {scheduler} {predict} {correct}: {name} is {ours}, published {theirs}");
                compared += 1;
            }
        }
        assert!(compared >= 14 * 9 - 1, "one cell at most is missing");
    }
}

/// Runs the workload of each published schedule, and compares every start, and first predictions and corrections where
/// present.
fn check_schedules(run: Program) {
    for (name, scheduler, predict, correct) in SCHEDULES {
        let Some(rows) = schedule(name) else { return };
        let (_, processors) = LOGS.into_iter().find(|(log, _)| name.ends_with(log)).expect("a log");
        let found = run(&jobs(&rows), processors, behind(scheduler), predictions(predict, correct));
        assert_eq!(found.len(), rows.len());
        for (row, found) in rows.iter().zip(found) {
            let [job, _, start, .., first, corrections] = *row;
            assert_eq!(
                found.start,
                Time::from_secs(start.try_into().expect("not negative")),
                "{name}: start of job {job}"
            );
            if predict != "NA" {
                let first = Span::from_secs(first.try_into().expect("not negative"));
                assert_eq!(found.first_prediction, first, "{name}: prediction of job {job}");
                assert_eq!(i64::from(found.corrections) - 1, corrections, "{name}: corrections of job {job}");
            }
        }
    }
}

const SCHEDULES: [(&str, &str, &str, &str); 4] = [
    ("easy-KTH-SP2", "easy_backfill_scheduler", "NA", "NA"),
    ("easy-SDSC-SP2", "easy_backfill_scheduler", "NA", "NA"),
    ("easy-clairvoyant-KTH-SP2", "easy_prediction_backfill_scheduler", "predictor_clairvoyant", "NA"),
    ("easypp-tsafrir-KTH-SP2", "easy_plus_plus_scheduler", "predictor_tsafrir", "tsafrir"),
];

#[test]
fn the_obvious_program_and_the_world_give_every_published_row() {
    [predicted_easy as Program, fast].into_iter().for_each(check_rows);
}

#[test]
fn the_obvious_program_and_the_world_give_every_start_prediction_and_correction_of_the_schedules() {
    [predicted_easy as Program, fast].into_iter().for_each(check_schedules);
}
