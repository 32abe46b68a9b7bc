//! The generator draws what the paper says, the same on every machine.

use sim_core::testkit::mean_and_stderr;
use sim_core::{SiteId, Span, Streams, Time};
use workload::{GangMix, ServiceDraw, Submission};

fn paper() -> GangMix {
    GangMix {
        sites: 2,
        local_interarrival: 0.08,
        gang_interarrival: Some(2.0),
        gang_sizes: vec![2, 4, 8, 16],
        mean_service: 1.0,
        service: ServiceDraw::PerTask,
    }
}

fn draw(mix: &GangMix, jobs: usize) -> Vec<Submission> {
    mix.jobs(&Streams::new(42, 0)).take(jobs).collect()
}

/// Within four standard errors of `expected`.
fn check_mean(values: &[f64], expected: f64) {
    let (mean, stderr) = mean_and_stderr(values);
    assert!((mean - expected).abs() < 4.0 * stderr, "mean {mean} ± {stderr}, not {expected}");
}

fn gaps<'a>(submissions: impl Iterator<Item = &'a Submission>) -> Vec<f64> {
    let times: Vec<Time> = submissions.map(|submission| submission.job.submit).collect();
    times.windows(2).map(|pair| pair[1].since(pair[0]).as_secs_f64()).collect()
}

/// The first draws are part of the format of every published result: if this test fails, all numbers move.
#[test]
fn value_stability() {
    let first: Vec<_> = draw(&paper(), 3)
        .iter()
        .map(|one| (one.job.submit.as_nanos(), one.job.origin, one.job.runtime.as_nanos()))
        .collect();
    assert_eq!(
        first,
        [
            (60_841_435, Some(SiteId(1)), 889_884_524),
            (82_680_170, Some(SiteId(1)), 1_904_730_469),
            (107_631_154, Some(SiteId(0)), 844_013_858),
        ]
    );
    let gang = draw(&paper(), 200).into_iter().find(Submission::is_gang).expect("a gang");
    assert_eq!((gang.job.id.0, gang.job.submit.as_nanos()), (39, 1_356_393_653));
    let tasks: Vec<_> = gang.tasks.iter().map(|task| task.as_nanos()).collect();
    assert_eq!(tasks, [653_110_839, 2_007_886_370, 1_853_578_253, 179_971_187]);
}

#[test]
fn interarrival_times_have_their_means() {
    let jobs = draw(&paper(), 200_000);
    for site in [0, 1] {
        check_mean(&gaps(jobs.iter().filter(|one| one.job.origin == Some(SiteId(site)))), 0.08);
    }
    check_mean(&gaps(jobs.iter().filter(|one| one.is_gang())), 2.0);
}

#[test]
fn service_times_have_their_mean_and_spread() {
    let mix = GangMix { mean_service: 3.0, gang_interarrival: Some(0.1), ..paper() };
    let jobs = draw(&mix, 200_000);
    let (gangs, locals): (Vec<_>, Vec<_>) = jobs.iter().partition(|one| one.is_gang());
    let locals: Vec<f64> = locals.iter().map(|one| one.job.runtime.as_secs_f64()).collect();
    let tasks: Vec<f64> = gangs.iter().flat_map(|one| &one.tasks).map(|task| task.as_secs_f64()).collect();
    for values in [locals, tasks] {
        check_mean(&values, 3.0);
        // E[S²] = 2 E[S]² of an exponential distribution.
        check_mean(&values.iter().map(|value| value * value).collect::<Vec<_>>(), 18.0);
    }
}

#[test]
fn gang_sizes_are_uniform() {
    let mix = paper();
    let gangs: Vec<_> = mix.jobs(&Streams::new(7, 0)).filter(Submission::is_gang).take(20_000).collect();
    let expected = 5_000.0;
    let chi_square: f64 = mix
        .gang_sizes
        .iter()
        .map(|size| gangs.iter().filter(|gang| gang.job.request.processors == *size).count())
        .map(|count| (f64::from(u32::try_from(count).expect("few")) - expected).powi(2) / expected)
        .sum();
    // The 99.9 % quantile of the chi-square distribution with three degrees of freedom.
    assert!(chi_square < 16.27, "{chi_square}");
}

#[test]
fn jobs_come_in_order_and_look_as_documented() {
    let jobs = draw(&paper(), 10_000);
    assert!(jobs.is_sorted_by_key(|one| one.job.submit));
    for (number, one) in (0..).zip(&jobs) {
        assert_eq!(one.job.id.0, number);
        assert_eq!(one.job.request.estimate, Some(one.job.runtime));
        assert!(!one.job.runtime.is_zero());
        if one.is_gang() {
            assert_eq!(one.job.origin, None);
            assert_eq!(one.job.request.processors as usize, one.tasks.len());
            assert_eq!(Some(&one.job.runtime), one.tasks.iter().max());
        } else {
            assert!(one.job.origin.is_some_and(|site| site.0 < 2));
            assert_eq!(one.job.request.processors, 1);
        }
    }
}

#[test]
fn one_draw_per_gang_gives_equal_tasks_and_moves_nothing_else() {
    let tasks = draw(&paper(), 5_000);
    let gangs = draw(&GangMix { service: ServiceDraw::PerGang, ..paper() }, 5_000);
    for (one, other) in tasks.iter().zip(&gangs) {
        assert_eq!((one.job.submit, one.job.request.processors), (other.job.submit, other.job.request.processors));
        assert!(other.tasks.windows(2).all(|pair| pair[0] == pair[1]));
        if !one.is_gang() {
            assert_eq!(one, other);
        }
    }
}

/// What a source submits does not depend on the other sources.
#[test]
fn more_sites_and_fewer_gangs_move_no_number_of_a_site() {
    let of_site_1 = |mix: &GangMix| -> Vec<(Time, Span)> {
        let mine = |one: &Submission| one.job.origin == Some(SiteId(1));
        mix.jobs(&Streams::new(3, 1)).filter(mine).take(500).map(|one| (one.job.submit, one.job.runtime)).collect()
    };
    let alone = of_site_1(&GangMix { gang_interarrival: None, gang_sizes: vec![], ..paper() });
    assert_eq!(alone, of_site_1(&paper()));
    assert_eq!(alone, of_site_1(&GangMix { sites: 50, ..paper() }));
}

/// A sorted list of all arrivals is the slow twin of the heap.
#[test]
fn many_sites_are_merged_in_order() {
    let mix = GangMix { sites: 10_000, ..paper() };
    let merged = draw(&mix, 50_000);
    assert!(merged.is_sorted_by_key(|one| (one.job.submit, one.job.origin.map_or(u32::MAX, |site| site.0))));
    let rate = 50_000.0 / merged[49_999].job.submit.as_secs_f64();
    assert!((rate / 125_000.5 - 1.0).abs() < 4.0 / 50_000_f64.sqrt(), "{rate} jobs per second");
}

#[test]
fn impossible_parameters_are_named() {
    let check = |mix: GangMix, message: &str| {
        assert_eq!(mix.validate().expect_err(message).to_string(), message);
    };
    check(GangMix { sites: 0, ..paper() }, "sites: expected at least 1, found 0");
    for (bad, found) in [(0.0, "0"), (-1.0, "-1"), (f64::NAN, "NaN"), (f64::INFINITY, "inf"), (1e-9, "0.000000001")] {
        let message = |field| format!("{field}: expected a mean from 0.000001 to 100000000 seconds, found {found}");
        check(GangMix { local_interarrival: bad, ..paper() }, &message("local_interarrival"));
        check(GangMix { gang_interarrival: Some(bad), ..paper() }, &message("gang_interarrival"));
        check(GangMix { mean_service: bad, ..paper() }, &message("mean_service"));
    }
    check(
        GangMix { gang_sizes: vec![], ..paper() },
        "gang_sizes: expected at least one size where gang_interarrival is set, found none",
    );
    check(GangMix { gang_sizes: vec![2, 0], ..paper() }, "gang_sizes: expected sizes of at least 1, found 0");
    assert_eq!(paper().validate(), Ok(()));
}
