use super::*;

fn within(x: f64, y: f64, [low, high]: [f64; 2]) -> Point {
    Point { interval: Some((low, high)), reps: Some(10), ..Point::new(x, y) }
}

/// Returns a chart of three approaches over three loads, with intervals, one missing value and the paper's numbers.
fn example() -> Chart {
    let point = |x: f64, y: f64| within(x, y, [y - 1.2, y + 1.1]);
    let series = |name: &str, shift: f64, middle: f64| {
        let points = vec![point(8.333, 93.0 + shift), point(10.0, middle), point(12.5, 80.0 + shift)];
        Series::lines(name, points)
    };
    let broken = series("Approach <3> & \"friends\"", 6.5, f64::NAN);
    Chart {
        id: "fig4".into(),
        title: "Gangs completed </script>".into(),
        x: Axis::new("1/λ"),
        y: Axis::new("Completed (%)"),
        series: vec![series("Approach 1", 0.0, 89.0), series("Approach 2", 6.0, 95.0), broken],
        reference: vec![Series::marks("Approach 1", vec![Point::new(10.0, 89.0)])],
        ..Chart::default()
    }
}

fn gantt() -> Gantt {
    let bar = |job: &str, (start, end): (f64, f64), blocks: &[(u32, u32)]| {
        let (job, processors) = (job.to_owned(), blocks.to_vec());
        Bar { job, start, end, processors, ..Bar::default() }
    };
    let bars = vec![
        bar("<1>", (0.0, 40.0), &[(0, 4)]),
        bar("<2>", (0.0, 90.0), &[(4, 2), (7, 1)]),
        bar("<3>", (5.0, 5.0), &[]),
    ];
    Gantt { title: "Schedule".into(), time: "Time (s)".into(), processors: 8, bars, ..Gantt::default() }
}

fn assert_well_formed(svg: &str) {
    #[cfg(feature = "png")]
    resvg::usvg::roxmltree::Document::parse(svg).expect("well-formed XML");
    assert!(svg.ends_with("</svg>\n"));
}

#[test]
fn pictures_are_well_formed_and_escape_their_texts() {
    let one = Chart { series: vec![Series::lines("one", vec![Point::new(3.0, -7.0)])], ..Chart::default() };
    let charts = [example(), one, Chart::default()].map(Picture::from);
    for picture in charts.into_iter().chain([gantt().into(), Gantt::default().into(), Forest::default().into()]) {
        let svg = svg(&picture);
        assert_well_formed(&svg);
        assert!(!svg.contains("</script>") && !svg.contains("NaN"), "{svg}");
    }
    assert!(svg(&example().into()).contains("Approach &lt;3&gt; &amp; &quot;friends&quot;"));
}

#[test]
fn the_crosshair_reads_what_is_a_number_in_the_colour_of_its_series() {
    let all = readout(&example());
    let (own, missing, printed) = (&all["series"][0], &all["series"][2]["points"], &all["series"][3]);
    assert_eq!(missing.as_array().map(Vec::len), Some(2), "a missing value has no place");
    assert_eq!(own["points"][0], serde_json::json!([8.333, 93, 91.8, 94.1, 10]));
    assert_eq!(own["colour"], printed["colour"], "printed numbers share the look");
    let mut chart = example();
    chart.series.remove(0);
    chart.series[0].slot = Some(1);
    assert_eq!(all["series"][1]["colour"], readout(&chart)["series"][0]["colour"], "a slot keeps its colour");
}

#[test]
fn few_lines_have_their_names_at_their_ends_and_no_legend_unless_all_end_in_one_place() {
    let line = |end: &f64| Series::lines(format!("to {end}"), vec![Point::new(0.0, 0.0), Point::new(1.0, *end)]);
    let check = |ends: &[f64], has_legend: bool| {
        let svg = svg(&Chart { series: ends.iter().map(line).collect(), ..Chart::default() }.into());
        assert_eq!(svg.matches(&format!(">to {}<", ends[0])).count(), 1);
        assert_eq!(svg.matches("class=\"key\"").count(), ends.len());
        let of_legend = svg.matches("stroke-width=\"1.8\"").count() > ends.len();
        assert_eq!(of_legend, has_legend, "{ends:?}: {svg}");
    };
    check(&[1.0, 2.0], false);
    check(&[1.0, 1.01], false);
    check(&[1.0, 1.01, 1.02, 1.03, 1.04], true);
}

fn forest(means: [f64; 3], spans: bool) -> Forest {
    let dot = |mean: f64| Some(Dot { mean, interval: Some((mean - 1.0, mean + 1.0)), ..Dot::default() });
    let facet = Facet { dots: means.map(dot).to_vec(), ..Facet::default() };
    let rows = ["a", "b", "c"].map(|name| (name.to_owned(), 0)).to_vec();
    let x = Axis { signed: true, spans, ..Axis::new("difference (s)") };
    Forest { x, rows, facets: vec![facet], ..Forest::default() }
}

#[test]
fn a_difference_that_dwarfs_the_others_is_an_arrow_and_does_not_set_the_scale() {
    let drawn = |means| svg(&forest(means, false).into());
    let usual = drawn([-3.0, 2.0, 4.0]);
    assert_well_formed(&usual);
    assert!(usual.contains(">4<") && !usual.contains("+4.000"), "{usual}");
    let dwarfed = drawn([-3.0, 2.0, 4_000.0]);
    assert!(dwarfed.contains(">+4,000<") && dwarfed.contains(">2<"), "{dwarfed}");
    // Spans are written in the unit that suits their range.
    assert!(svg(&forest([-3.0, 2.0, 4.0], true).into()).contains("difference (s)"));
    let hours = svg(&forest([-36_000.0, 7_200.0, 14_400.0], true).into());
    assert!(hours.contains("difference (h)") && hours.contains(">−5<"), "{hours}");
}

#[cfg(feature = "png")]
#[test]
fn png_has_two_pixels_per_css_pixel_and_shows_text() {
    let bytes = png(&svg(&example().into())).unwrap();
    let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
    assert_eq!((number(16), number(20)), (1440, 900));
    let mut untitled = example();
    untitled.title.clear();
    assert_ne!(bytes, png(&svg(&untitled.into())).unwrap(), "the title left no trace: is there a font?");
}

#[test]
fn bars_stand_on_the_ground_and_need_no_legend() {
    let points = vec![Point::new(0.0, 70.0), Point::new(1.0, 90.0)];
    let chart = Chart { series: vec![Series::bars("jobs", points)], ..Chart::default() };
    let scale = scale::Scale::of_y(&chart);
    assert!(scale.low.abs() < 1e-12, "{scale:?}");
    let svg = svg(&chart.clone().into());
    assert_well_formed(&svg);
    assert_eq!(svg.matches("<polygon").count(), 1 + 2, "the paper and two bars");
    assert!(!svg.contains(">jobs<"));
    assert_eq!(readout(&chart)["series"][0]["style"], "Bars");
}

#[test]
fn equal_results_give_one_line_though_their_marks_stand_side_by_side() {
    let series = |name: &str| Series::lines(name, [1.0, 2.0, 3.0].map(|x| Point::new(x, 10.0 * x)).to_vec());
    let svg = svg(&Chart { series: vec![series("a"), series("b")], ..Chart::default() }.into());
    let lines: Vec<&str> = svg
        .lines()
        .filter(|line| line.contains("<polyline") && line.contains("stroke-width=\"1.8\""))
        .filter_map(|line| line.split("points=\"").nth(1)?.split('"').next())
        // Lines of the legend have two ends.
        .filter(|points| points.split(' ').count() == 3)
        .collect();
    assert_eq!(lines.len(), 2, "{svg}");
    assert_eq!(lines[0], lines[1]);
}

#[test]
fn an_interval_that_is_cut_and_an_axis_that_begins_above_zero_are_noted() {
    let check = |label: &str, points: [(f64, [f64; 2]); 2], words: &str| {
        let points = points.map(|(y, ends)| within(y, y, ends)).to_vec();
        let chart = Chart { y: Axis::new(label), series: vec![Series::lines("a", points)], ..Chart::default() };
        assert_eq!(note(&chart), words);
        assert_eq!(svg(&chart.into()).contains("font-size=\"10\""), !words.is_empty(), "{words}");
    };
    let cut = "Arrowheads: the interval extends beyond the axis.";
    check("mean wait (s)", [(2.0, [-40.0, 44.0]), (5.0, [4.0, 6.0])], cut);
    check("mean wait (s)", [(2.0, [1.0, 3.0]), (5.0, [4.0, 6.0])], "");
    check("usage (%)", [(92.0, [92.0; 2]), (99.5, [99.5; 2])], "The axis begins at 90 %.");
}
