//! `cargo xtask sensitivity`: finds the verdicts of a paper that change under alternative readings.
//!
//! A paper is run with each other answer to each of its readings, one at a time ([`Alternative`]), and its claims are judged again on the
//! same seeds. The result is a line for each claim, `doubt.csv`, a matrix of claims and readings, and a page (`files.rs`).

mod files;

use crate::measure::claim::{Judged, Verdict};
use crate::output::OutDir;
use crate::output::store::Store;
use crate::paper::{About, Paper, Reading};
use crate::run::interrupt::{self, Interrupted};
use crate::run::parallel::in_parallel;
use crate::run::progress::Progress;
use crate::scenario::{Scenario, did_you_mean};
use crate::study::reproduce::{DOUBT, column, verdicts};
use crate::study::{self, Session};
use anyhow::{Context, Result, bail, ensure};
use std::cmp::Reverse;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug, Default)]
pub struct Request {
    pub run: study::Request,
    /// Ids or fields of the readings to doubt; empty for all.
    pub readings: Vec<String>,
    /// True to try two readings at a time as well.
    pub product: bool,
}

pub struct Outcome {
    pub about: About,
    pub out: PathBuf,
    /// Replications of each design point.
    pub replications: u32,
    /// Number of alternatives tried, pairs included.
    pub tried: usize,
    /// Every claim, in the order of the specification.
    pub claims: Vec<Doubted>,
    /// True if lines of this kind of run are on record.
    has_record: bool,
}

/// One claim under all answers.
pub struct Doubted {
    /// The claim as it was judged under the scenario's own answers, with its verdict on record.
    pub judged: Judged,
    /// Its verdict under each alternative that was tried, in their order.
    pub under: Vec<(Alternative, Verdict)>,
    /// Summary in words that follow its id: `holds under all 31 alternative readings`.
    pub sentence: String,
    pub sentence_on_record: Option<String>,
}

impl Doubted {
    /// Returns the alternatives under which the verdict is another, with that verdict.
    pub fn flips(&self) -> impl Iterator<Item = &(Alternative, Verdict)> {
        self.under.iter().filter(|(_, verdict)| *verdict != self.judged.verdict)
    }

    /// Counts the alternatives that reverse the verdict, and those that change it to or from inconclusive, which noise can do.
    fn effect(&self) -> (usize, usize) {
        let is_noise = |verdict| [verdict, self.judged.verdict].contains(&Verdict::Inconclusive);
        let noise = self.flips().filter(|(_, verdict)| is_noise(*verdict)).count();
        (self.flips().count() - noise, noise)
    }
}

impl Outcome {
    /// Returns the claims whose summary differs from the record, with the recorded one; all claims if no run of this kind is on record.
    pub fn surprises(&self) -> impl Iterator<Item = (&Doubted, &str)> {
        self.claims.iter().filter_map(|claim| {
            let nothing = if self.has_record { "nothing" } else { "nothing of such a run" };
            let recorded = claim.sentence_on_record.as_deref().unwrap_or(nothing);
            (claim.sentence != recorded).then_some((claim, recorded))
        })
    }

    /// Returns the claims by effect: first those that most alternatives reverse.
    pub fn by_effect(&self) -> Vec<&Doubted> {
        let mut claims: Vec<&Doubted> = self.claims.iter().collect();
        claims.sort_by_key(|claim| Reverse(claim.effect()));
        claims
    }

    /// Counts the claims whose verdict some alternative reverses; the other changes are to or from inconclusive.
    pub fn reversed(&self) -> usize {
        self.claims.iter().filter(|claim| claim.effect().0 > 0).count()
    }

    /// Counts the claims that change their verdict under some answer.
    pub fn shaken(&self) -> usize {
        self.claims.iter().filter(|claim| claim.flips().next().is_some()).count()
    }
}

pub(crate) fn run<P: Paper>(request: &Request) -> Result<Outcome> {
    let slug = P::ABOUT.slug;
    let session = Session::<P>::new(&request.run)?;
    let alternatives = alternatives(P::READINGS, &session.scenario, request)?;
    let path = request.run.out.clone().unwrap_or_else(|| Path::new("results/doubt").join(slug));
    let out = OutDir::create(&path, format!("doubt {slug}"))?;
    if request.run.fresh {
        Store::forget(&out.cells())?;
    }
    let mut store = Store::open(&out.cells())?;
    if !request.run.fresh {
        // Replications that `reproduce` has finished are reused.
        store = store.borrowing_from(&Path::new("results").join(slug).join("cells"));
    }

    let tried = alternatives.len();
    let progress = Progress::new(format!("{slug}, {tried} answers"), 1 + tried as u64, request.run.quiet);
    let judge = |session: &Session<P>| session.judged(&session.paper.claims(), session.seed, &store, true);
    // The scenario's own answers come first: most alternatives share some of their replications.
    let own = judge(&session)?;
    progress.add(1);
    let under: Vec<Vec<Judged>> = in_parallel(&alternatives, |alternative| {
        interrupt::check(Interrupted::Resumable)?;
        let mut run = request.run.clone();
        run.set.extend(alternative.0.iter().map(|(reading, answer)| format!("{}={answer}", reading.key())));
        let judged = judge(&Session::<P>::new(&run)?)?;
        progress.add(1);
        Ok(judged)
    })?;
    drop(progress);
    store.settle()?;

    let words = [session.paper.record().unwrap_or(""), request.run.mode()];
    let on_record = || format!("the record of {slug}");
    let recorded = verdicts(P::PAGE, &words).with_context(on_record)?;
    let doubt = column(P::PAGE, DOUBT, &words).with_context(on_record)?;
    let claims = own.into_iter().map(|judged| {
        let verdict_under = |(alternative, claims): (&Alternative, &Vec<Judged>)| {
            let same = claims.iter().find(|claim| claim.id == judged.id)?;
            Some((alternative.clone(), same.verdict))
        };
        let under: Vec<_> = alternatives.iter().zip(&under).filter_map(verdict_under).collect();
        Doubted {
            sentence: sentence(judged.verdict, &under, P::READINGS, &session.scenario),
            sentence_on_record: doubt.as_ref().and_then(|doubt| doubt.get(&judged.id).cloned()),
            judged: Judged { recorded: recorded.get(&judged.id).cloned(), ..judged },
            under,
        }
    });
    let (claims, replications, has_record) = (claims.collect(), session.replications, doubt.is_some());
    let outcome = Outcome { about: P::ABOUT, out: path, replications, tried, claims, has_record };
    files::write(&outcome, &session, request, &alternatives, out, &store)?;
    Ok(outcome)
}

/// Another answer to one reading, or other answers to two, as the scenario writes them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alternative(Vec<(Reading, String)>);

impl Alternative {
    /// Returns the ids of its readings (`R3`), their fields, and the answers, as columns of `doubt.csv`; two are joined by a plus.
    pub fn columns(&self) -> [String; 3] {
        let words = |(reading, answer): &'_ (Reading, String)| {
            [reading.id.to_owned(), reading.field.to_owned(), answer.clone()]
        };
        let all = self.0.iter().map(words);
        all.reduce(|one, other| std::array::from_fn(|k| format!("{}+{}", one[k], other[k]))).unwrap_or_default()
    }

    /// Returns its reading and the answer, if there is one alone.
    fn single(&self) -> Option<&(Reading, String)> {
        if let [one] = &self.0[..] { Some(one) } else { None }
    }

    /// Returns its name in words: `R3 = idle`; of two: `R3 = idle with R4 = none-waiting`.
    fn name(&self, readings: &[Reading]) -> String {
        let names: Vec<String> = self.0.iter().map(|(reading, answer)| named(readings, reading, answer)).collect();
        names.join(" with ")
    }
}

/// Names an answer: `R2 = gang-end`; `R12 tabu_length = 5` if several fields answer one reading.
fn named(readings: &[Reading], Reading { id, field, .. }: &Reading, answer: &str) -> String {
    if readings.iter().filter(|other| other.id == *id).count() > 1 {
        format!("{id} {field} = {answer}")
    } else {
        format!("{id} = {answer}")
    }
}

/// Returns every other answer to each requested reading, and with `product` also every pair; fails for a name that no reading has, and for
/// pairs of fewer than two readings.
fn alternatives(readings: &[Reading], scenario: &Scenario, request: &Request) -> Result<Vec<Alternative>> {
    let Request { readings: chosen, product, .. } = request;
    let is_called = |reading: &Reading, name: &String| [reading.id, reading.field].contains(&name.as_str());
    if let Some(name) = chosen.iter().find(|name| !readings.iter().any(|reading| is_called(reading, name))) {
        let hint = did_you_mean(name, readings.iter().flat_map(|reading| [reading.id, reading.field]));
        let mut ids: Vec<&str> = readings.iter().map(|reading| reading.id).collect();
        ids.dedup();
        bail!("--reading {name}: no such reading{hint}; there are {}", ids.join(", "));
    }
    let is_chosen = |reading: &&Reading| chosen.is_empty() || chosen.iter().any(|name| is_called(reading, name));
    let others = |reading: &Reading| -> Vec<(Reading, String)> {
        let others = reading.answers.iter().filter(|answer| **answer != scenario.answer(reading));
        others.map(|answer| (*reading, (*answer).to_owned())).collect()
    };
    let by_reading: Vec<_> = readings.iter().filter(is_chosen).map(others).collect();
    let mut all: Vec<Alternative> = by_reading.iter().flatten().map(|one| Alternative(vec![one.clone()])).collect();
    if *product {
        ensure!(by_reading.len() > 1, "--product: pairs need two readings; name them as in --reading R3,R4");
        for (i, one) in by_reading.iter().enumerate().flat_map(|(i, ones)| ones.iter().map(move |one| (i, one))) {
            let others = by_reading[i + 1..].iter().flatten();
            all.extend(others.map(|other| Alternative(vec![one.clone(), other.clone()])));
        }
    }
    Ok(all)
}

type Tried = (Alternative, Verdict);

/// Returns the words that follow the id of a claim: `holds under all 31 alternative readings`, `holds only if R13 = any-release`.
///
/// Inconclusive is not a contradiction: an alternative that contradicts a claim is reported separately from one that leaves it open.
fn sentence(own: Verdict, under: &[Tried], readings: &[Reading], scenario: &Scenario) -> String {
    let flips: Vec<&Tried> = under.iter().filter(|(_, verdict)| *verdict != own).collect();
    let tried = match under.len() {
        1 => "the one alternative reading".to_owned(),
        count => format!("all {count} alternative readings"),
    };
    if flips.is_empty() {
        let what = match own {
            Verdict::Reproduced | Verdict::Consistent => "holds",
            Verdict::Contradicted | Verdict::Inconsistent => "fails",
            Verdict::Inconclusive => "is inconclusive",
        };
        return format!("{what} under {tried}");
    }
    if holds(own) {
        return holds_by_default(&flips, under, readings, scenario);
    }
    let (holding, others): (Vec<_>, Vec<_>) = flips.into_iter().partition(|(_, verdict)| holds(*verdict));
    let others = in_words(&others, readings);
    let others = if others.is_empty() { others } else { format!(", {others}") };
    if holding.is_empty() {
        return format!("holds under none of {}: {own}{others}", tried.replacen("all", "the", 1));
    }
    let names: Vec<String> = holding.iter().map(|(alternative, _)| alternative.name(readings)).collect();
    format!("holds only if {}; else {own}{others}", either(&names))
}

fn holds(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Reproduced | Verdict::Consistent)
}

/// Returns the words for a claim that holds under the scenario's own answers, but not under all others.
fn holds_by_default(flips: &[&Tried], under: &[Tried], readings: &[Reading], scenario: &Scenario) -> String {
    let (open, broken): (Vec<_>, Vec<_>) =
        flips.iter().copied().partition(|(_, verdict)| *verdict == Verdict::Inconclusive);
    // A reading whose every other answer breaks the claim is needed: the claim holds only with the scenario's answer.
    let is_needed = |reading: &&Reading| {
        let is_of = |(alternative, _): &&Tried| alternative.single().is_some_and(|(its, _)| its == *reading);
        let broken = broken.iter().copied().filter(is_of).count();
        broken > 0 && broken == under.iter().filter(is_of).count()
    };
    let needed: Vec<&Reading> = readings.iter().filter(is_needed).collect();
    let condition = |reading: &&Reading| named(readings, reading, scenario.answer(reading));
    let conditions: Vec<String> = needed.iter().map(condition).collect();
    // Pairs with a reading that alone breaks the claim add no information.
    let is_named = |alternative: &Alternative| alternative.0.iter().any(|(reading, _)| needed.contains(&reading));
    let names = broken.iter().filter(|(alternative, _)| !is_named(alternative));
    let exceptions: Vec<String> = names.map(|(alternative, _)| alternative.name(readings)).collect();
    let mut text = match (conditions.is_empty(), exceptions.is_empty()) {
        (true, true) => format!("is contradicted by none of the {} alternative readings", under.len()),
        (false, true) => format!("holds only if {}", conditions.join(" and ")),
        (true, false) => format!("holds unless {}", either(&exceptions)),
        (false, false) => format!("holds only if {}, and unless {}", conditions.join(" and "), either(&exceptions)),
    };
    if !open.is_empty() {
        text += &format!("; {}", in_words(&open, readings));
    }
    text
}

/// Lists the verdicts in their order: `contradicted if R2 = gang-end, inconclusive if R9 = work or R9 = random`.
fn in_words(flips: &[&Tried], readings: &[Reading]) -> String {
    let group = |verdict: Verdict| {
        let names = flips.iter().filter(|(_, its)| *its == verdict).map(|(alternative, _)| alternative.name(readings));
        let names: Vec<String> = names.collect();
        (!names.is_empty()).then(|| format!("{verdict} if {}", either(&names)))
    };
    Verdict::every().filter_map(group).collect::<Vec<_>>().join(", ")
}

/// Joins names: `R2 = gang-end`, `R2 = a or R3 = b`, `R2 = a, R3 = b or R4 = c`.
fn either(names: &[String]) -> String {
    match names {
        [before @ .., last] if !before.is_empty() => format!("{} or {last}", before.join(", ")),
        _ => names.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Verdict::{Contradicted as C, Inconclusive as I, Reproduced as R};

    const READINGS: &[Reading] = &[
        Reading { id: "R1", field: "release", question: "When?", answers: &["task-end", "gang-end"] },
        Reading { id: "R2", field: "order", question: "Which?", answers: &["first", "last", "any"] },
    ];

    #[test]
    fn the_sentence_names_what_breaks_a_claim_or_makes_it_hold() {
        let scenario = "[readings]\nrelease = \"task-end\" # R1\norder = \"first\" # R2\n";
        let scenario = Scenario::of_paper("p", scenario).expect("good");
        let alternatives = [(0, "gang-end"), (1, "last"), (1, "any")]
            .map(|(place, answer)| Alternative(vec![(READINGS[place], answer.to_owned())]));
        // The verdict of the claim, those under R1 = gang-end, R2 = last and R2 = any, and the sentence.
        for (own, under, expected) in [
            (I, [I; 3], "is inconclusive under all 3 alternative readings"),
            (R, [R, C, R], "holds unless R2 = last"),
            (R, [C, R, C], "holds only if R1 = task-end, and unless R2 = any"),
        ] {
            let under: Vec<_> = alternatives.iter().cloned().zip(under).collect();
            assert_eq!(sentence(own, &under, READINGS, &scenario), expected);
        }
    }
}
