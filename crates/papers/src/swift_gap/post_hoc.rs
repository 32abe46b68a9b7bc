//! P9, a guess that was made after the fact: what if one number of jobs ran without the check of R8?
//!
//! The simulator tells by the *name* of the data set whether jobs keep to the clusters that they may use: if it holds the word
//! "wagap". Of Swift Gap that searches at early ends, with the file for n = 15 000 alone called otherwise, it was told that it
//! comes within 10 % of slowdown, tardiness and wait. Whatever was found by looking for what comes near is counted nowhere. What
//! can be asked is whether it does, whether other columns of table 3 bear it, and how easily chance would find as much.

use super::figures::mean_of;
use super::source::Workload;
use super::{Cell, Metric, Policy, SwiftGapPaper, Version, metrics, printed};
use ::metrics::ConfidenceInterval;
use lab::chart::fixed;
use lab::extra::{Estimate, Extra, Made, Tidy};
use lab::page;
use lab::quantity::{DesignPoint, Quantity};

/// The number of jobs whose file is called otherwise.
const RENAMED: u32 = 15_000;

/// How near is near (A13 to A15), in percent.
const NEAR: f64 = 10.0;

/// Swift Gap as it is searched: every 300 s, and at early ends.
const SEARCHES: [Policy; 2] = [Policy::SG, Policy::SwiftGap(Version::EarlyEnds)];

/// Those that must have run as well.
const OTHERS: [Policy; 3] = [Policy::Bgt, Policy::Cons, Policy::Easy];

/// Slowdown, tardiness and wait: the response is nearly all time executed, and within 10 % of anything.
const METRICS: [&str; 3] = ["post_hoc_slowdown", "post_hoc_tardiness", "post_hoc_wait"];

const DECIMALS: [i32; 3] = [2, 1, 1];

/// Tables of what was tried, beside table 3.
pub(super) fn renamed(paper: &SwiftGapPaper) -> Extra<'_, Cell> {
    let all = SEARCHES.into_iter().flat_map(|policy| {
        printed::RECORDS.into_iter().flat_map(move |records| {
            [Workload::Wagap, Workload::Renamed].map(|workload| paper.cell(workload, policy, records).get(Metric::wait))
        })
    });
    let others = OTHERS.into_iter().map(|policy| mean(paper, policy, 2, &[RENAMED]));
    Extra {
        id: "table3",
        needs: all.chain(others).collect(),
        make: Box::new(move |estimate, _| {
            let most = paper.file.run.post_hoc_replications;
            let found = |quantity: &Quantity<Cell>| estimate(quantity, most);
            let mut made = Made::default();
            made.tables.push(columns(paper, estimate, &mut made.rows));
            made.tables.push(page::Table {
                id: "post-hoc-n".to_owned(),
                title: "Post hoc: each number of jobs".to_owned(),
                caption: format!(
                    "Means of the same, {most} replications at most. The paper's own values for each n stand in figures 4 to 7 \
                     alone, as bars without numbers: they were not compared."
                ),
                columns: ["metric", "n", "SG", "SG, renamed", "SG, early ends", "SG, early ends, renamed"]
                    .map(str::to_owned)
                    .into(),
                rows: (0..METRICS.len())
                    .flat_map(|metric| printed::RECORDS.map(|records| (metric, records)))
                    .map(|(metric, records)| {
                        let names = [metrics::WORDS[metric].to_owned(), records.to_string()];
                        let values = SEARCHES.into_iter().flat_map(|policy| {
                            [Workload::Wagap, Workload::Renamed].map(|workload| {
                                let value = found(&paper.cell(workload, policy, records).get(metrics::FOUR[metric]));
                                fixed(value.mean, DECIMALS[metric])
                            })
                        });
                        names.into_iter().chain(values).collect()
                    })
                    .collect(),
            });
            made.tables.push(chances(paper, estimate));
            made
        }),
    }
}

/// The mean over the numbers of jobs as table 3 takes it, where those in `renamed` ran under the other name.
fn mean(paper: &SwiftGapPaper, policy: Policy, metric: usize, renamed: &[u32]) -> Quantity<Cell> {
    let its = metrics::FOUR[metric];
    let first = usize::from(its == Metric::tardiness && policy.leaves_out_the_first());
    let at = |records: &u32| {
        let workload = if renamed.contains(records) { Workload::Renamed } else { Workload::Wagap };
        paper.cell(workload, policy, *records).get(its)
    };
    mean_of(printed::RECORDS[first..].iter().map(at))
}

/// From a printed number, in percent of it.
fn deviation(value: f64, policy: Policy, metric: usize) -> f64 {
    100.0 * (value / printed::mean(Workload::Wagap, metric, policy).value - 1.0)
}

/// The columns of table 3 with and without the other name.
fn columns(paper: &SwiftGapPaper, estimate: &Estimate<'_, Cell>, rows: &mut Vec<Tidy>) -> page::Table {
    let most = paper.file.run.post_hoc_replications;
    let mut lines = Vec::new();
    for policy in SEARCHES.into_iter().chain(OTHERS) {
        let printed = (0..METRICS.len()).map(|metric| printed::mean(Workload::Wagap, metric, policy).text.to_owned());
        let is_first_of_its_column = policy != SEARCHES[1];
        if is_first_of_its_column {
            lines
                .push([vec![format!("{}, the paper", policy.name())], printed.collect(), vec![String::new()]].concat());
        }
        let cases: [(&str, &[u32]); 2] = [("checked", &[]), ("n = 15000 renamed", &[RENAMED])];
        for (case, renamed) in cases {
            let found: Vec<ConfidenceInterval> =
                (0..METRICS.len()).map(|metric| estimate(&mean(paper, policy, metric, renamed), most)).collect();
            let name = format!("{}, {case}", policy.name());
            let mut line = vec![name.clone()];
            line.extend(found.iter().zip(DECIMALS).map(|(found, decimals)| fixed(found.mean, decimals)));
            let deviations =
                found.iter().enumerate().map(|(metric, found)| deviation(found.mean, policy, metric).abs());
            line.push(format!("{} %", fixed(deviations.fold(0.0, f64::max), 1)));
            lines.push(line);
            rows.extend(found.into_iter().zip(METRICS).map(|(estimate, metric)| Tidy {
                series: name.clone(),
                x: "mean".to_owned(),
                metric,
                estimate,
            }));
        }
    }
    page::Table {
        id: "post-hoc".to_owned(),
        title: "Post hoc, not counted: was the file for n = 15000 called otherwise?".to_owned(),
        caption: format!(
            "That simulator tells by the name of the data set whether jobs keep to the clusters that they may use. Means over n \
             as in table 3, with the check and with n = 15000 alone without it ({most} replications at most). This was found by \
             looking for what comes near. If the file had another name, EASY, CONS and BGT read it too."
        ),
        columns: ["column", "slowdown", "tardiness (s)", "waiting time (s)", "largest deviation"]
            .map(str::to_owned)
            .into(),
        rows: lines,
    }
}

/// How many of the 128 choices of numbers of jobs to rename come as near.
fn chances(paper: &SwiftGapPaper, estimate: &Estimate<'_, Cell>) -> page::Table {
    let most = paper.file.run.post_hoc_replications;
    let row = |policy: Policy| {
        let value = |workload, records, metric: usize| {
            estimate(&paper.cell(workload, policy, records).get(metrics::FOUR[metric]), most).mean
        };
        let of = |workload| printed::RECORDS.map(|n| [0, 1, 2].map(|metric| value(workload, n, metric)));
        let near = near_choices(&of(Workload::Wagap), &of(Workload::Renamed), policy);
        let names: Vec<String> = near.iter().map(|choice| choice.words()).collect();
        vec![policy.name().to_owned(), near.len().to_string(), names.join("; ")]
    };
    page::Table {
        id: "post-hoc-chances".to_owned(),
        title: "Post hoc: which other files could have been renamed".to_owned(),
        caption: format!(
            "Of the 128 ways to run some of the seven numbers of jobs without the check, those that come within {NEAR} % of the \
             printed slowdown, tardiness and wait."
        ),
        columns: ["search", "ways", "without the check"].map(str::to_owned).into(),
        rows: SEARCHES.map(row).into(),
    }
}

/// Numbers of jobs, a bit for each of the paper's seven.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
struct Choice(u8);

impl Choice {
    const fn has(self, place: usize) -> bool {
        self.0 >> place & 1 == 1
    }

    fn words(self) -> String {
        let chosen = (0..printed::RECORDS.len()).filter(|place| self.has(*place));
        let numbers: Vec<String> = chosen.map(|place| printed::RECORDS[place].to_string()).collect();
        if numbers.is_empty() { "none".to_owned() } else { numbers.join(" + ") }
    }
}

/// The choices of numbers of jobs with which the means come near to the column of `policy`.
fn near_choices(checked: &[[f64; 3]; 7], renamed: &[[f64; 3]; 7], policy: Policy) -> Vec<Choice> {
    let is_near = |choice: &Choice| {
        (0..METRICS.len()).all(|metric| {
            let at = |place: usize| if choice.has(place) { renamed[place][metric] } else { checked[place][metric] };
            let mean = (0..7).map(at).sum::<f64>() / 7.0;
            deviation(mean, policy, metric).abs() <= NEAR
        })
    };
    (0..128).map(Choice).filter(is_near).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Six numbers of jobs where nobody waits, and one that makes the printed mean alone.
    #[test]
    fn of_all_choices_those_are_near_whose_means_are() {
        let printed = [0, 1, 2].map(|metric| printed::mean(Workload::Wagap, metric, Policy::SG).value);
        let mut renamed = [[0.0; 3]; 7];
        renamed[5] = printed.map(|mean| 7.0 * 1.05 * mean);
        let near = near_choices(&[[0.0; 3]; 7], &renamed, Policy::SG);
        assert_eq!(near.len(), 64, "with 15000, whatever the others are");
        assert!(near.iter().all(|choice| choice.has(5)));
        assert_eq!(Choice(0b10_0001).words(), "3000 + 15000");
        renamed[0][1] = 7.0 * printed[1];
        assert_eq!(near_choices(&[[0.0; 3]; 7], &renamed, Policy::SG).len(), 32, "3000 makes the tardiness too large");
    }
}
