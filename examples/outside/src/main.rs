//! Gridproof with a policy, a metric and a paper of one's own: `my-lab simulate --policy easy,my-sjf …`, `my-lab reproduce my-paper`.

mod my_paper;
mod my_sjf;

use my_paper::MyPaper;
use my_sjf::MySjf;

fn main() -> std::process::ExitCode {
    gridproof::Lab::standard()
        .policy("my-sjf", "shortest job first, backfilled", || Box::new(MySjf::default()))
        .metric("long_waits", "jobs that waited a day", gridproof::Better::Smaller, |jobs| {
            jobs.iter().filter(|job| job.wait().as_secs_f64() > 86_400.0).count() as f64
        })
        .paper::<MyPaper>()
        .main()
}
