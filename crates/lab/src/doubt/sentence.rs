//! Summary in words of the alternatives' effect on a claim.
//!
//! Inconclusive is not a contradiction: an alternative that contradicts a claim is reported separately from one that leaves it open.

use super::alternative::{Alternative, named};
use crate::paper::Reading;
use crate::scenario::Scenario;
use crate::verdict::Verdict;

/// An alternative and the verdict under it.
type Tried = (Alternative, Verdict);

/// Returns the words that follow the id of a claim: `holds under all 31 alternative readings`, `holds only if R13 = any-release`.
pub(super) fn of(own: Verdict, under: &[Tried], readings: &[Reading], scenario: &Scenario) -> String {
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
    let others = in_words(&others);
    let others = if others.is_empty() { others } else { format!(", {others}") };
    if holding.is_empty() {
        return format!("holds under none of {}: {own}{others}", tried.replacen("all", "the", 1));
    }
    let names: Vec<&str> = holding.iter().map(|(alternative, _)| alternative.name.as_str()).collect();
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
    let is_needed = |place: &usize| {
        let broken = broken.iter().filter(|(alternative, _)| alternative.places == [*place]).count();
        broken > 0 && broken == under.iter().filter(|(alternative, _)| alternative.places == [*place]).count()
    };
    let needed: Vec<usize> = (0..readings.len()).filter(is_needed).collect();
    let condition = |place: &usize| named(readings, &readings[*place], scenario.answer(&readings[*place]));
    let conditions: Vec<String> = needed.iter().map(condition).collect();
    // Pairs with a reading that alone breaks the claim add no information.
    let is_named = |alternative: &Alternative| alternative.places.iter().any(|place| needed.contains(place));
    let names = broken.iter().filter(|(alternative, _)| !is_named(alternative));
    let exceptions: Vec<&str> = names.map(|(alternative, _)| alternative.name.as_str()).collect();
    let mut text = match (conditions.is_empty(), exceptions.is_empty()) {
        (true, true) => format!("is contradicted by none of the {} alternative readings", under.len()),
        (false, true) => format!("holds only if {}", conditions.join(" and ")),
        (true, false) => format!("holds unless {}", either(&exceptions)),
        (false, false) => format!("holds only if {}, and unless {}", conditions.join(" and "), either(&exceptions)),
    };
    if !open.is_empty() {
        text += &format!("; {}", in_words(&open));
    }
    text
}

/// Lists the verdicts in their order: `contradicted if R2 = gang-end, inconclusive if R9 = work or R9 = random`.
fn in_words(flips: &[&Tried]) -> String {
    let group = |verdict: Verdict| {
        let names = flips.iter().filter(|(_, its)| *its == verdict).map(|(alternative, _)| alternative.name.as_str());
        let names: Vec<&str> = names.collect();
        (!names.is_empty()).then(|| format!("{verdict} if {}", either(&names)))
    };
    Verdict::every().filter_map(group).collect::<Vec<_>>().join(", ")
}

/// Joins names: `R2 = gang-end`, `R2 = a or R3 = b`, `R2 = a, R3 = b or R4 = c`.
fn either(names: &[&str]) -> String {
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
        Reading::new("R1", "release", "When?", &["task-end", "gang-end"]),
        Reading::new("R2", "order", "Which?", &["first", "last", "any"]),
    ];

    #[test]
    fn the_sentence_names_what_breaks_a_claim_or_makes_it_hold() {
        let scenario = "[readings]\nrelease = \"task-end\" # R1\norder = \"first\" # R2\n";
        let scenario = Scenario::of_paper("p", scenario).expect("good");
        let alternatives = [(0, "gang-end"), (1, "last"), (1, "any")]
            .map(|(place, answer)| Alternative::of(READINGS, &[(place, answer)]));
        // The verdict of the claim, those under R1 = gang-end, R2 = last and R2 = any, and the sentence.
        for (own, under, expected) in [
            (R, [R; 3], "holds under all 3 alternative readings"),
            (C, [C; 3], "fails under all 3 alternative readings"),
            (I, [I; 3], "is inconclusive under all 3 alternative readings"),
            (R, [R, C, R], "holds unless R2 = last"),
            (R, [C, R, R], "holds only if R1 = task-end"),
            (R, [R, C, C], "holds only if R2 = first"),
            (R, [C, R, C], "holds only if R1 = task-end, and unless R2 = any"),
            (R, [I, R, R], "is contradicted by none of the 3 alternative readings; inconclusive if R1 = gang-end"),
            (R, [R, C, I], "holds unless R2 = last; inconclusive if R2 = any"),
            (C, [R, C, C], "holds only if R1 = gang-end; else contradicted"),
            (C, [R, R, I], "holds only if R1 = gang-end or R2 = last; else contradicted, inconclusive if R2 = any"),
            (
                I,
                [C, I, I],
                "holds under none of the 3 alternative readings: inconclusive, contradicted if R1 = gang-end",
            ),
        ] {
            let under: Vec<_> = alternatives.iter().cloned().zip(under).collect();
            assert_eq!(of(own, &under, READINGS, &scenario), expected);
        }
    }
}
