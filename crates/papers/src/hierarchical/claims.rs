//! The claims of the paper, as `docs/papers/hierarchical.md` lists them.

use super::{Cell, Declining, Hierarchical, Metric, Off, TREE, Trial, name};
use hier_grid::System;
use lab::claim::{Check, Claim, Remark, Rule};
use lab::quantity::{DesignPoint, Quantity};
use std::collections::BTreeSet;

type Checks = Vec<Check<Cell>>;

/// Substantially better, in percent.
const SUBSTANTIAL: Rule = Rule::Below { bound: -10.0, tie: false };
/// Almost the same execution time, in percent.
const ALMOST_THE_SAME: Rule = Rule::Within(-25.0, 25.0);
/// The same as with constant resources, in percent.
const THE_SAME: Rule = Rule::Within(-10.0, 10.0);

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
                tested (format!("paired, per N: {}", self.declining().0))
                in "fig3" => self.too_many_trees();
            H4 "Second and Third Experiment, figs. 6, 9" "Observations of the first experiment are also supported by the second and the third"
                tested (format!("that of H3, paired, per cell: {}", self.declining().0))
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
                in "fig9" => self.slope(self.trees(), Rule::Below { bound: 0.5, tie: false });
            H11 "Third Experiment, fig. 9" "It declines only slightly in the P2P system"
                tested "AWT at the longest interval over that at the shortest, above 0.3"
                in "fig9" => self.slope([System::P2p].into_iter(), Rule::Above { bound: 0.3, tie: false });
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
        self.experiments.systems.iter().copied().filter(|system| *system != System::P2p)
    }

    /// Returns every cell of the paper's figures, under P2P.
    fn of_figures(&self) -> BTreeSet<Cell> {
        let (sample, small, large) = (self.sample(), Self::SMALL, self.large());
        let first = [sample, large].map(|input| (Trial::First, input));
        let later = [(Trial::Second, sample), (Trial::Second, small), (Trial::Fourth, sample)];
        let over_jobs =
            first.into_iter().chain(later).flat_map(|(scene, input)| self.over_jobs(scene, input, System::P2p));
        over_jobs.chain(self.over_intervals(System::P2p)).collect()
    }

    fn against_peers(&self, metric: Metric) -> Checks {
        let check = |(system, peers): (System, Cell)| {
            let label = format!("{}, {}, % above P2P", name(system), self.words(peers));
            Check::new(label, above(Cell { system, ..peers }, peers, metric), SUBSTANTIAL)
        };
        let cells = self.of_figures();
        self.trees().flat_map(|system| cells.iter().map(move |cell| (system, *cell))).map(check).collect()
    }

    /// Returns the comparison of sixteen trees with four, in words and as a rule (R17).
    const fn declining(&self) -> (&'static str, Rule) {
        match self.readings.of_sentences.declining {
            Declining::Falls => ("the AWT of 16 trees below that of 4 (R17 falls)", Rule::NEGATIVE),
            Declining::Worsens => ("the AWT of 16 trees above that of 4 (R17 worsens)", Rule::POSITIVE),
        }
    }

    fn sixteen_against_four(&self, words: &str, cell: Cell) -> Check<Cell> {
        let [sixteen, four] = [16, 4].map(|trees| Cell { system: System::Trees(trees), ..cell });
        let label = format!("{words}, {} against {}, %", name(sixteen.system), name(four.system));
        Check::new(label, above(sixteen, four, Metric::awt), self.declining().1)
    }

    fn too_many_trees(&self) -> Checks {
        let cells = self.over_jobs(Trial::First, self.sample(), TREE);
        cells.map(|cell| self.sixteen_against_four(&format!("N = {}", cell.jobs), cell)).collect()
    }

    fn as_in_the_first(&self) -> Checks {
        let is_later = |cell: &Cell| matches!(cell.scene, Trial::Second | Trial::Third(_));
        let cells = self.of_figures().into_iter().filter(is_later);
        cells.map(|cell| self.sixteen_against_four(&self.words(cell), cell)).collect()
    }

    /// Checks execution times of small jobs against P2P, averaged over N, since the statement names none.
    fn small_jobs(&self) -> Option<Check<Cell>> {
        let each = self.execution(Trial::Second, Self::SMALL, 0, ALMOST_THE_SAME);
        let mean = crate::mean(each.into_iter().map(|check| check.quantity))?;
        Some(Check::new("experiment 2, 1 GB, mean over N, % above P2P", mean, ALMOST_THE_SAME))
    }

    /// Checks execution times of the hierarchical system against P2P, for each N beyond a bound.
    fn execution(&self, scene: Trial, input: usize, beyond: u32, rule: Rule) -> Checks {
        let check = |cell: Cell| {
            let label = format!("{}, % above P2P", self.words(cell));
            Check::new(label, above(cell, Cell { system: System::P2p, ..cell }, Metric::aet), rule)
        };
        self.over_jobs(scene, input, TREE).filter(|cell| cell.jobs > beyond).map(check).collect()
    }

    /// Checks that a quantity of the hierarchical system grows with each step of N.
    fn steps(&self, what: &str, scene: Trial, of: impl Fn(Cell) -> Quantity<Cell>) -> Checks {
        let cells: Vec<Cell> = self.over_jobs(scene, self.sample(), TREE).collect();
        let check = |step: &[Cell]| {
            let label = format!("{what}, N = {} − N = {}", step[1].jobs, step[0].jobs);
            Check::new(label, of(step[1]) - of(step[0]), Rule::POSITIVE)
        };
        cells.windows(2).map(check).collect()
    }

    fn influence(&self) -> Checks {
        let loss = |on: Cell| Cell { off: Off::Both, ..on }.get(Metric::awt) - on.get(Metric::awt);
        let mut checks = self.steps("loss of AWT", Trial::Second, loss);
        let most = self.over_jobs(Trial::Second, self.sample(), TREE).last().expect("validated");
        checks.push(Check::new(format!("loss of AWT, N = {}", most.jobs), loss(most), Rule::POSITIVE));
        checks
    }

    fn rescheduling(&self) -> Checks {
        let of = |(scene, words): (Trial, &str)| self.steps(words, scene, |cell| cell.get(Metric::moves));
        [(Trial::First, "experiment 1"), (Trial::Second, "experiment 2")].into_iter().flat_map(of).collect()
    }

    fn slope(&self, systems: impl Iterator<Item = System>, rule: Rule) -> Checks {
        let order = crate::ascending(self.experiments.intervals.iter().copied());
        let [shortest, .., longest] = order[..] else { return Vec::new() };
        let check = |system| {
            let cells: Vec<Cell> = self.over_intervals(system).collect();
            Check::new(name(system), cells[longest].get(Metric::awt) / cells[shortest].get(Metric::awt), rule)
        };
        systems.map(check).collect()
    }

    fn changing_resources(&self) -> Checks {
        let check = |cell: Cell| {
            let label = format!("{}, N = {}, % above experiment 1", name(cell.system), cell.jobs);
            Check::new(label, above(cell, Cell { scene: Trial::First, ..cell }, Metric::awt), THE_SAME)
        };
        self.trees().flat_map(|system| self.over_jobs(Trial::Fourth, self.sample(), system)).map(check).collect()
    }

    fn fallback(&self) -> Checks {
        let over_jobs = |system| self.over_jobs(Trial::Fourth, self.sample(), system);
        let lost = |cell: Cell| {
            let label = format!("{}, N = {}, jobs lost", name(cell.system), cell.jobs);
            Check::new(label, cell.get(Metric::jobs_lost), Rule::Below { bound: 0.0, tie: true })
        };
        // If every job gets a server at once, no job waits, and none can fall back.
        let crowded = over_jobs(TREE).filter(|cell| cell.jobs > self.grid.servers);
        let helps = |cell: Cell| {
            let both = Cell { off: Off::Both, ..cell };
            let loss = above(Cell { off: Off::All, ..cell }, both, Metric::trt);
            let moved = format!("N = {}, jobs that fallback moves, per job", cell.jobs);
            let slower = format!("N = {}, TRT without fallback, % above that with it", cell.jobs);
            let moves = Check::new(moved, both.get(Metric::moves_fallback), Rule::POSITIVE);
            [moves, Check::new(slower, loss, Rule::POSITIVE)]
        };
        self.trees().flat_map(over_jobs).map(lost).chain(crowded.flat_map(helps)).collect()
    }

    fn spread(&self) -> [Check<Cell>; 2] {
        [System::P2p, TREE].map(|system| {
            let cell = self.several(system);
            let label = format!("{}, N = {}, %", name(system), cell.jobs);
            Check::new(label, cell.get(Metric::awt_spread_percent), Rule::Below { bound: 20.0, tie: false })
        })
    }

    /// Describes a cell, without its system.
    fn words(&self, cell: Cell) -> String {
        let gigabytes = self.workload.mean_input[cell.input];
        let (number, interval) = self.number(cell.scene);
        let at = interval.map_or_else(String::new, |interval| format!(" at {interval} s"));
        format!("experiment {number}{at}, {gigabytes} GB, N = {}", cell.jobs)
    }
}

/// Returns the relative difference of `a` to `b`, in percent of `b`.
fn above(a: Cell, b: Cell, metric: Metric) -> Quantity<Cell> {
    a.get(metric).percent_above(b.get(metric))
}
