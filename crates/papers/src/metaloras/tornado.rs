//! Figure `tornado`: what becomes of numbers and verdicts if one assumed number is another.

use super::claims::{KEYS, Key, claims};
use super::settings::Number;
use super::{Cell, MetaLorasPaper, Variant};
use lab::chart::{Axis, Chart, Point, Series};
use lab::claim::{Claim, Judged};
use lab::extra::{Estimate, Extra, Made, Tidy};
use lab::page;
use lab::quantity::Quantity;
use lab::verdict::Verdict;

/// One bar of a picture, or row of a table: what is another, and how.
struct Doubt {
    variant: Variant,
    /// Of the picture and the table: `memory demand × 2`.
    name: String,
    /// What is asked.
    question: String,
    claims: Vec<Claim<Cell>>,
}

impl Doubt {
    fn new(paper: &MetaLorasPaper, variant: Variant) -> Self {
        let (name, question) = match variant {
            Variant::Default => ("default".to_owned(), String::new()),
            Variant::ReadingB => ("reading-b".to_owned(), "The preset: R5, R6, R8, R9 and R12 at once".to_owned()),
            Variant::Number(number, which) => {
                (format!("{} {}", number.words(), number.variant(&paper.file, which)), variant.name(&paper.file))
            }
        };
        Self { variant, name, question, claims: claims(paper, variant) }
    }

    fn needs(&self, paper: &MetaLorasPaper) -> Vec<Quantity<Cell>> {
        let of_claims = self.claims.iter().flat_map(|claim| &claim.checks).map(|check| check.quantity.clone());
        of_claims.chain(KEYS.iter().filter_map(|key| (key.of)(paper, self.variant))).collect()
    }
}

/// Less and more of each assumed number.
pub(super) fn of_numbers(paper: &MetaLorasPaper) -> Extra<'_, Cell> {
    let doubts: Vec<Doubt> = Variant::of_numbers().map(|variant| Doubt::new(paper, variant)).collect();
    let default = Doubt::new(paper, Variant::Default);
    Extra {
        id: "tornado",
        needs: doubts.iter().chain([&default]).flat_map(|doubt| doubt.needs(paper)).collect(),
        make: Box::new(move |estimate, _| {
            let most = paper.file.run.doubt_replications;
            let bench = Comparison { paper, default: &default, most, estimate };
            let places: Vec<(String, Vec<(&Doubt, usize)>)> = Number::ALL
                .into_iter()
                .map(|number| {
                    let of_it = |doubt: &&Doubt| matches!(doubt.variant, Variant::Number(its, _) if its == number);
                    let [less, more] = [0, 1].map(|which| number.variant(&paper.file, which));
                    let bars = doubts.iter().filter(of_it).enumerate().map(|(which, doubt)| (doubt, which));
                    (format!("{}: {less}, {more}", number.words()), bars.collect())
                })
                .collect();
            let caption = format!(
                "How far each assumed number moves what matters, one at a time, from the default (the upright line). \
                 {most} replications each."
            );
            let mut made =
                bench.picture("tornado", "One assumed number at a time", &["less", "more"], &places, &caption);
            made.tables.push(bench.table("tornado-verdicts", "Assumed numbers that change verdicts", &doubts));
            made
        }),
    }
}

/// Variants against the default, on the same replications.
struct Comparison<'a> {
    paper: &'a MetaLorasPaper,
    default: &'a Doubt,
    most: u32,
    estimate: &'a Estimate<'a, Cell>,
}

impl Comparison<'_> {
    /// A plot for each key quantity: a row for each place, those that move most on top, from the default to the variant.
    fn picture(
        &self,
        id: &str,
        title: &str,
        series: &[&str],
        places: &[(String, Vec<(&Doubt, usize)>)],
        caption: &str,
    ) -> Made {
        let mut made = Made::default();
        for key in KEYS {
            let find = |doubt: &Doubt| Some((self.estimate)(&(key.of)(self.paper, doubt.variant)?, self.most));
            let Some(base) = find(self.default) else { continue };
            made.rows.push(Tidy {
                series: "default".to_owned(),
                x: "default".to_owned(),
                metric: key.metric,
                estimate: base,
            });
            let mut bars: Vec<(&str, Vec<(usize, f64)>)> = Vec::new();
            for (place, doubts) in places {
                let mut ends = Vec::new();
                for (doubt, which) in doubts {
                    let Some(found) = find(doubt) else { continue };
                    ends.push((*which, found.mean));
                    let x = doubt.variant.name(&self.paper.file);
                    made.rows.push(Tidy { series: series[*which].to_owned(), x, metric: key.metric, estimate: found });
                }
                bars.push((place, ends));
            }
            let reach = |(_, ends): &(&str, Vec<(usize, f64)>)| {
                ends.iter().map(|(_, end)| (end - base.mean).abs()).fold(0.0, f64::max)
            };
            bars.sort_by(|a, b| reach(a).total_cmp(&reach(b)));
            made.charts.push((tornado(id, &key, title, series, base.mean, &bars), caption.to_owned()));
        }
        made
    }

    /// Which verdicts are others.
    fn table(&self, id: &str, title: &str, doubts: &[Doubt]) -> page::Table {
        let judge = |doubt: &Doubt| -> Vec<Judged> {
            doubt
                .claims
                .iter()
                .map(|claim| Judged::new(claim, |quantity| (self.estimate)(quantity, self.most)))
                .collect()
        };
        let default = judge(self.default);
        let counts = |judged: &[Judged]| {
            Verdict::ALL.map(|verdict| judged.iter().filter(|claim| claim.verdict == verdict).count().to_string())
        };
        let row = |doubt: &Doubt, judged: &[Judged]| {
            let changed = default.iter().zip(judged).filter(|(one, other)| one.verdict != other.verdict);
            let changed: Vec<String> =
                changed.map(|(one, other)| format!("{} {} → {}", one.id, one.verdict, other.verdict)).collect();
            let changed = if changed.is_empty() { "none".to_owned() } else { changed.join("; ") };
            [vec![doubt.name.clone(), doubt.question.clone()], counts(judged).into(), vec![changed]].concat()
        };
        let mut first = row(self.default, &default);
        first[5] = String::new();
        page::Table {
            id: id.to_owned(),
            title: title.to_owned(),
            caption: format!("Verdicts at {} replications, the default's too.", self.most),
            columns: ["variant", "", "reproduced", "contradicted", "inconclusive", "verdicts that change"]
                .map(str::to_owned)
                .into(),
            rows: std::iter::once(first).chain(doubts.iter().map(|doubt| row(doubt, &judge(doubt)))).collect(),
        }
    }
}

/// A tornado plot: bars from `base` to what was found, from the bottom up.
fn tornado(id: &str, key: &Key, title: &str, series: &[&str], base: f64, bars: &[(&str, Vec<(usize, f64)>)]) -> Chart {
    // Bars of one place lie beside each other.
    let height = |place: f64, which: usize| match (series.len(), which) {
        (1, _) => place,
        (_, 0) => place + 0.17,
        _ => place - 0.17,
    };
    let line = |which: usize| {
        let mut points = Vec::new();
        for ((_, ends), place) in bars.iter().zip(0_u32..) {
            let y = height(f64::from(place), which);
            for (_, end) in ends.iter().filter(|(its, _)| *its == which) {
                points.extend([Point::new(base, y), Point::new(*end, y), Point::new(base, f64::NAN)]);
            }
        }
        Series::lines(series[which], points)
    };
    let ticks = bars.iter().zip(0_u32..).map(|((place, _), at)| (f64::from(at), (*place).to_owned())).collect();
    let top = f64::from(u32::try_from(bars.len()).unwrap_or(u32::MAX)) - 0.5;
    let default = Series::steps("default", vec![Point::new(base, -0.5), Point::new(base, top)]);
    Chart {
        id: if key.suffix.is_empty() { id.to_owned() } else { format!("{id}-{}", key.suffix) },
        title: format!("{title}: {}", key.title),
        x: Axis::new(key.label),
        y: Axis::new("").with_ticks(ticks),
        series: (0..series.len()).map(line).chain([default]).collect(),
        ..Chart::default()
    }
}
