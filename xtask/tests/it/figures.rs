//! Properties of figures: one colour for one thing, and axes that show what is judged.

use crate::program::Workdir;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Returns the crosshair's data on the page of a paper run at a tenth of its size, by figure.
fn plots(paper: &str) -> BTreeMap<String, Value> {
    let dir = Workdir::new();
    dir.run(&format!("reproduce --quick --quiet --out out {paper}"), 0);
    let page = dir.text("out/report.html");
    let figures = page.split("<figure id=\"").skip(1).filter_map(|figure| {
        let name = figure.split_once('"')?.0.to_owned();
        let (_, numbers) = figure.split_once(r#"<script type="application/json">"#)?;
        let (numbers, _) = numbers.split_once("</script>")?;
        Some((name, serde_json::from_str(numbers).expect("JSON")))
    });
    figures.collect()
}

fn traces(plot: &Value) -> impl Iterator<Item = &Value> {
    plot["series"].as_array().into_iter().flatten()
}

/// Returns the number at position `place` of each point.
fn numbers(trace: &Value, place: usize) -> impl Iterator<Item = f64> {
    trace["points"].as_array().into_iter().flatten().filter_map(move |point| point[place].as_f64())
}

/// Checks that a series of one name, of a policy, a system or an approach, has one colour, which no other series of its figures has.
fn assert_that_a_name_has_one_colour(plots: &BTreeMap<String, Value>) {
    let mut colours: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut figures = BTreeMap::new();
    for (figure, plot) in plots {
        let mut drawn = BTreeMap::new();
        for trace in traces(plot) {
            let text = |key: &str| trace[key].as_str().unwrap_or_else(|| panic!("{figure}: a series has a {key}"));
            let name = text("name").trim_end_matches(", printed in the paper");
            assert_eq!(*drawn.entry(text("colour")).or_insert(name), name, "{figure}: one colour, two names");
            colours.entry(name).or_default().insert(text("colour"));
            figures.entry(name).or_insert_with(BTreeSet::new).insert(figure);
        }
    }
    assert!(figures.values().any(|figures| figures.len() > 2), "something is drawn in several figures");
    for (name, colours) in &colours {
        assert_eq!(colours.len(), 1, "{name} has several colours in {:?}: {colours:?}", figures[name]);
    }
}

/// Checks waits, response times, slowdowns: if no value is below zero, neither is the axis, however wide the intervals are. The figures of
/// `differences` may show negative values.
fn assert_that_no_axis_begins_below_zero_for_nothing(plots: &BTreeMap<String, Value>, differences: &[&str]) {
    for (figure, plot) in plots.iter().filter(|(figure, _)| !differences.contains(&figure.as_str())) {
        let least = traces(plot).flat_map(|trace| numbers(trace, 1)).fold(f64::INFINITY, f64::min);
        let low = plot["y"]["low"].as_f64().expect("an axis has a lower end");
        assert!(least < 0.0 || low >= 0.0, "{figure}: the axis begins at {low}, the least value is {least}");
    }
}

#[test]
fn eg_edf_draws_each_policy_in_one_colour_and_its_usage_where_it_is_judged() {
    let plots = plots("eg-edf");
    assert_that_a_name_has_one_colour(&plots);
    assert_that_no_axis_begins_below_zero_for_nothing(&plots, &[]);
    // The usage is judged to 3 %: on an axis from 0 to 100 that would be the width of a mark.
    let usage = &plots["fig1-right"]["y"];
    let [low, high] = ["low", "high"].map(|end| usage[end].as_f64().expect("an end"));
    assert!(high - low < 25.0, "from {low} to {high} %");
}

#[test]
fn hierarchical_draws_each_system_in_one_colour_and_kinds_of_servers_unconnected() {
    let plots = plots("hierarchical --reps 2 --only fig3,fig4,fig7,fig8,table1");
    assert_that_a_name_has_one_colour(&plots);
    assert_that_no_axis_begins_below_zero_for_nothing(&plots, &[]);
    for (name, table) in plots.iter().filter(|(name, _)| name.starts_with("table1")) {
        for trace in traces(table) {
            // Server types have no order to join.
            assert!(
                ["MarksOnly", "Bars"].contains(&trace["style"].as_str().expect("a style")),
                "{name}: {}",
                trace["style"]
            );
        }
    }
    // Equal results are distinguished by their marks, which stand side by side; the lines run through the values.
    let at = |trace: &Value| numbers(trace, 0).map(f64::to_bits).collect::<BTreeSet<_>>();
    let values: Vec<_> = traces(&plots["fig7"]).map(at).collect();
    assert!(
        values.len() > 1 && values.iter().all(|x| *x == values[0]),
        "fig7: the lines are at other places: {values:?}"
    );
}

#[test]
fn multi_site_draws_each_approach_in_one_colour() {
    let plots = plots("multi-site --reps 2");
    assert_that_a_name_has_one_colour(&plots);
    assert_that_no_axis_begins_below_zero_for_nothing(&plots, &["fig5", "fig14"]);
}

#[test]
fn swift_gap_shows_no_wait_below_zero() {
    let plots = plots("swift-gap --reps 2 --only fig4,fig5,fig6,fig7");
    assert_that_a_name_has_one_colour(&plots);
    assert_that_no_axis_begins_below_zero_for_nothing(&plots, &[]);
}
