//! The claims of the paper, as `docs/papers/hierarchical.md` lists them.

use super::{Cell, Declining, Hierarchical, Metric, Off, TREE, Trial, name};
use hier_grid::System;
use lab::claim::{Check, Claim, Remark, Rule};
use lab::quantity::{DesignPoint, Quantity};

/// Substantially better, in percent.
const SUBSTANTIAL: Rule = Rule::Below { bound: -10.0, tie: false };
/// Almost the same execution time, in percent.
const ALMOST_THE_SAME: Rule = Rule::Within { low: -25.0, high: 25.0 };
/// The same as with constant resources, in percent.
const THE_SAME: Rule = Rule::Within { low: -10.0, high: 10.0 };

/// Returns the statements that are shown and not judged.
pub(super) fn remarks(paper: &Hierarchical) -> Vec<Remark<Cell>> {
    if !paper.has(TREE) || !paper.has(System::P2p) {
        return Vec::new();
    }
    let checks = paper.execution(Trial::First, Hierarchical::SMALL, 0, ALMOST_THE_SAME);
    vec![Remark {
        id: "H7",
        source: "First Experiment, Conclusions",
        statement: "The AET is almost the same for small jobs",
        why: "The sentence is in the section on experiment 1, but figure 7 shows experiment 2 (H5). The values are those of experiment 1, where it does not hold",
        figures: &["small-jobs"],
        shown: checks.into_iter().map(|check| (check.label, check.quantity)).collect(),
    }]
}

impl Hierarchical {
    /// Returns the claims in the order of the specification, with the checks of systems that the scenario has.
    pub(super) fn table(&self) -> Vec<Claim<Cell>> {
        let claims = lab::claims! {
            // Waiting and response against peers, and the number of trees that is too large.
            H1 "First Experiment, figs. 3, 6, 9" "The AWT is substantially better than that of P2P, regardless of the number of grid trees, workload, or scenario"
                tested "paired, at least 10 % below P2P in every cell"
                in "fig3", "fig6", "fig9", "fig10" => self.against_peers(Metric::awt);
            H2 "First Experiment, fig. 4" "The TRT likewise"
                tested "paired, at least 10 % below P2P in every cell"
                in "fig4" => self.against_peers(Metric::trt);
            H3 "First Experiment, fig. 3" "The AWT starts declining when the hybrid system contains too many grid trees"
                tested (format!("paired, per N: {}", self.declining()))
                in "fig3" => self.too_many_trees();
            H4 "Second and Third Experiment, figs. 6, 9" "Observations of the first experiment are also supported by the second and the third"
                tested (format!("that of H3, paired, per cell: {}", self.declining()))
                in "fig6", "fig9" => self.as_in_the_first();
            // Execution times against peers.
            H5 "First Experiment, fig. 7" "The AET is almost the same for small jobs"
                tested "experiment 2, 1 GB, paired, the hierarchical system within 25 % of P2P, mean over N"
                in "fig7" => self.small_jobs();
            H6 "First Experiment, fig. 5" "The AET starts to differ when job size increases, and the hierarchical system is better"
                tested "experiment 1, large jobs, paired, at least 10 % below P2P, per N beyond 520"
                in "fig5" => self.execution(Trial::First, self.large(), 520, SUBSTANTIAL);
            // Effects of butterfly and load-balance.
            H8 "Second Experiment, fig. 8" "Butterfly and load-balance have a significant influence on performance: without them, the more jobs the worse it gets"
                tested "AWT with both off minus AWT with both on, paired: grows with each step of N, and is above 0 at the largest"
                in "fig8" => self.influence();
            H9 "Second Experiment" "The more jobs, the more rescheduling"
                tested "moves per job in the hierarchical system, paired, each step of N, experiments 1 and 2"
                in "moves" => self.rescheduling();
            // Dependence of the wait on the time between jobs.
            H10 "Third Experiment, fig. 9" "The AWT declines steeply in the hierarchical systems when jobs arrive with a larger mean interval"
                tested "AWT at the longest interval over that at the shortest, below 0.5, per system with trees"
                in "fig9" => self.slope(&|system| system != System::P2p, Rule::Below { bound: 0.5, tie: false });
            H11 "Third Experiment, fig. 9" "It declines only slightly in the P2P system"
                tested "AWT at the longest interval over that at the shortest, above 0.3"
                in "fig9" => self.slope(&|system| system == System::P2p, Rule::Above { bound: 0.3, tie: false });
            // Effect of changing resources, and differences between runs.
            H12 "Fourth Experiment, fig. 10" "With changing resources the AWT turns out the same as with constant ones"
                tested "experiment 4 against experiment 1, paired, within 10 %, per system with trees and N"
                in "fig10" => self.changing_resources();
            H13 "Fourth Experiment, Conclusions" "Fallback allowed some jobs to be executed despite resource change"
                tested "no job lost, per system with trees and N; under one tree with the other two algorithms off, fallback moves jobs, and the TRT is lower than without it, paired, per N beyond the number of servers"
                in "fallback" => self.fallback();
            H14 "Simulation Experiments" "The worst and the best run differ by 5 to 15 %"
                tested "AWT of the worst and the best of twenty runs (five with --quick) at the middle N, for P2P and the hierarchical system: below 20 %"
                in "spread" => self.spread();
        };
        crate::with_cells(claims, |cell| self.has(cell.system))
    }

    /// Returns the systems with trees, in the scenario's order.
    pub(super) fn trees(&self) -> impl Iterator<Item = System> {
        self.file.experiments.systems.iter().copied().filter(|system| *system != System::P2p)
    }

    /// Returns every cell of the paper's figures, without the system: words, experiment, size, jobs.
    fn cells(&self) -> Vec<(String, Trial, usize, u32)> {
        let (sample, large) = (self.sample(), self.large());
        let mut scenes = vec![(Trial::First, sample), (Trial::First, large)];
        scenes.extend([(Trial::Second, sample), (Trial::Second, Hierarchical::SMALL), (Trial::Fourth, sample)]);
        let over_jobs = scenes.iter().flat_map(|at| self.jobs.iter().map(move |jobs| (at.0, at.1, *jobs)));
        let intervals = (0..self.file.experiments.intervals.len()).map(Trial::Third);
        let all = over_jobs.chain(intervals.map(|scene| (scene, sample, self.interval_jobs)));
        let mut cells: Vec<_> =
            all.map(|(scene, input, jobs)| (self.words(scene, input, jobs), scene, input, jobs)).collect();
        cells.sort_by_key(|(_, scene, input, jobs)| (*scene, *input, *jobs));
        cells.dedup();
        cells
    }

    /// Returns the relative difference of `a` to `b`, in percent of `b`.
    fn above(&self, a: Cell, b: Cell, metric: Metric) -> Quantity<Cell> {
        a.get(metric).percent_above(b.get(metric))
    }

    fn against_peers(&self, metric: Metric) -> Vec<Check<Cell>> {
        let checks = self.trees().flat_map(|system| {
            self.cells().into_iter().map(move |(words, scene, input, jobs)| {
                let [cell, peers] = [system, System::P2p].map(|system| self.cell(scene, input, jobs, system));
                let label = format!("{}, {words}, % above P2P", name(system));
                Check::new(label, self.above(cell, peers, metric), SUBSTANTIAL)
            })
        });
        checks.collect()
    }

    /// Describes the comparison of sixteen trees with four (R17).
    fn declining(&self) -> &'static str {
        match self.file.readings.of_sentences.declining {
            Declining::Falls => "the AWT of 16 trees below that of 4 (R17 falls)",
            Declining::Worsens => "the AWT of 16 trees above that of 4 (R17 worsens)",
        }
    }

    fn sixteen_against_four(&self, words: &str, scene: Trial, input: usize, jobs: u32) -> Check<Cell> {
        let [sixteen, four] = [16, 4].map(|trees| self.cell(scene, input, jobs, System::Trees(trees)));
        let rule = match self.file.readings.of_sentences.declining {
            Declining::Falls => Rule::NEGATIVE,
            Declining::Worsens => Rule::POSITIVE,
        };
        let label = format!("{words}, {} against {}, %", name(sixteen.system), name(four.system));
        Check::new(label, self.above(sixteen, four, Metric::awt), rule)
    }

    fn too_many_trees(&self) -> Vec<Check<Cell>> {
        let input = self.sample();
        let check = |&jobs: &u32| self.sixteen_against_four(&format!("N = {jobs}"), Trial::First, input, jobs);
        self.jobs.iter().map(check).collect()
    }

    fn as_in_the_first(&self) -> Vec<Check<Cell>> {
        let cells = self.cells().into_iter();
        let later = cells.filter(|(_, scene, ..)| matches!(scene, Trial::Second | Trial::Third(_)));
        later.map(|(words, scene, input, jobs)| self.sixteen_against_four(&words, scene, input, jobs)).collect()
    }

    /// Checks execution times of small jobs against P2P, averaged over N, since the statement names none.
    fn small_jobs(&self) -> Vec<Check<Cell>> {
        let each = self.execution(Trial::Second, Hierarchical::SMALL, 0, ALMOST_THE_SAME);
        let mean = crate::mean(each.into_iter().map(|check| check.quantity));
        let check = |mean| Check::new("experiment 2, 1 GB, mean over N, % above P2P", mean, ALMOST_THE_SAME);
        mean.map(check).into_iter().collect()
    }

    /// Checks execution times of the hierarchical system against P2P, for each N beyond a bound.
    fn execution(&self, scene: Trial, input: usize, beyond: u32, rule: Rule) -> Vec<Check<Cell>> {
        let jobs = self.jobs.iter().filter(|jobs| **jobs > beyond);
        let check = |&jobs: &u32| {
            let cell = |system| self.cell(scene, input, jobs, system);
            let label = format!("{}, % above P2P", self.words(scene, input, jobs));
            Check::new(label, self.above(cell(TREE), cell(System::P2p), Metric::aet), rule)
        };
        jobs.map(check).collect()
    }

    /// Checks that a quantity grows with each step of N.
    fn steps(&self, what: &str, of: impl Fn(u32) -> Quantity<Cell>) -> Vec<Check<Cell>> {
        let check = |step: &[u32]| {
            let label = format!("{what}, N = {} − N = {}", step[1], step[0]);
            Check::new(label, of(step[1]) - of(step[0]), Rule::POSITIVE)
        };
        self.jobs.windows(2).map(check).collect()
    }

    fn influence(&self) -> Vec<Check<Cell>> {
        let loss = |jobs: u32| {
            let on = self.cell(Trial::Second, self.sample(), jobs, TREE);
            Cell { off: Off::Both, ..on }.get(Metric::awt) - on.get(Metric::awt)
        };
        let mut checks = self.steps("loss of AWT", loss);
        let most = *self.jobs.last().expect("validated");
        checks.push(Check::new(format!("loss of AWT, N = {most}"), loss(most), Rule::POSITIVE));
        checks
    }

    fn rescheduling(&self) -> Vec<Check<Cell>> {
        let scenes = [(Trial::First, "experiment 1"), (Trial::Second, "experiment 2")];
        let of = |(scene, words): (Trial, &str)| {
            self.steps(words, |jobs| self.cell(scene, self.sample(), jobs, TREE).get(Metric::moves))
        };
        scenes.into_iter().flat_map(of).collect()
    }

    /// Checks the ratio of the AWT at the longest interval to that at the shortest.
    fn slope(&self, wanted: &dyn Fn(System) -> bool, rule: Rule) -> Vec<Check<Cell>> {
        let intervals = &self.file.experiments.intervals;
        let [shortest, .., longest] = crate::ascending(intervals.iter().copied())[..] else { return Vec::new() };
        let systems = self.file.experiments.systems.iter().copied().filter(|system| wanted(*system));
        let check = |system| {
            let awt = |interval| {
                self.cell(Trial::Third(interval), self.sample(), self.interval_jobs, system).get(Metric::awt)
            };
            Check::new(name(system), awt(longest) / awt(shortest), rule)
        };
        systems.map(check).collect()
    }

    fn changing_resources(&self) -> Vec<Check<Cell>> {
        let input = self.sample();
        let checks = self.trees().flat_map(|system| {
            self.jobs.iter().map(move |&jobs| {
                let cell = |scene| self.cell(scene, input, jobs, system);
                let label = format!("{}, N = {jobs}, % above experiment 1", name(system));
                Check::new(label, self.above(cell(Trial::Fourth), cell(Trial::First), Metric::awt), THE_SAME)
            })
        });
        checks.collect()
    }

    fn fallback(&self) -> Vec<Check<Cell>> {
        let input = self.sample();
        let mut checks = Vec::new();
        for system in self.trees() {
            for &jobs in &self.jobs {
                let cell = self.cell(Trial::Fourth, input, jobs, system);
                let label = format!("{}, N = {jobs}, jobs lost", name(system));
                checks.push(Check::new(label, cell.get(Metric::jobs_lost), Rule::Below { bound: 0.0, tie: true }));
            }
        }
        // If every job gets a server at once, no job waits, and none can fall back.
        for &jobs in self.jobs.iter().filter(|jobs| **jobs > self.file.grid.servers) {
            let both = Cell { off: Off::Both, ..self.cell(Trial::Fourth, input, jobs, TREE) };
            let loss = self.above(Cell { off: Off::All, ..both }, both, Metric::trt);
            let label = format!("N = {jobs}, jobs that fallback moves, per job");
            checks.push(Check::new(label, both.get(Metric::moves_fallback), Rule::POSITIVE));
            let label = format!("N = {jobs}, TRT without fallback, % above that with it");
            checks.push(Check::new(label, loss, Rule::POSITIVE));
        }
        checks
    }

    fn spread(&self) -> Vec<Check<Cell>> {
        let check = |system| {
            let label = format!("{}, N = {}, %", name(system), self.middle());
            let spread = self.several(self.middle(), system).get(Metric::awt_spread_percent);
            Check::new(label, spread, Rule::Below { bound: 20.0, tie: false })
        };
        [System::P2p, TREE].map(check).into()
    }

    /// Describes a cell, without its system.
    pub(super) fn words(&self, scene: Trial, input: usize, jobs: u32) -> String {
        let gigabytes = self.file.workload.mean_input[input];
        let (number, interval) = self.number(scene);
        let at = interval.map_or_else(String::new, |interval| format!(" at {interval} s"));
        format!("experiment {number}{at}, {gigabytes} GB, N = {jobs}")
    }

    pub(super) fn middle(&self) -> u32 {
        self.jobs[self.jobs.len() / 2]
    }

    /// Returns a cell with several runs of experiment 1 as one replication.
    pub(super) fn several(&self, jobs: u32, system: System) -> Cell {
        Cell { runs: self.batch, ..self.cell(Trial::First, self.sample(), jobs, system) }
    }
}
