//! Published results, the metrics of the rows without learning, and claims.
//!
//! Source: the results published with É. Gaussier, D. Glesser, V. Reis, D. Trystram, "Improving Backfilling by using Machine
//! Learning to predict Running Times", SC'15; rows of easy_prediction_backfill_scheduler (EASY) and easy_plus_plus_scheduler
//! (EASY-SJBF), to ten digits. (The rows of easy_backfill_scheduler and easy_sjbf_scheduler are the same numbers as those with the
//! predictor of requested times.)

use super::combination::Combination;
use super::logs::Log;
use super::{Cell, Metric, PredictionsPaper};
use lab::claim::{Check, Claim, Rule};
use lab::quantity::{DesignPoint, Quantity};
use std::sync::LazyLock;

/// Relative tolerance of nine digits: half a unit of the ninth, for the smallest number that begins with 1.
const NINE_DIGITS: f64 = 5e-10;

/// Relative tolerance for a log that differs from the published one.
const NEARLY: f64 = 0.03;

/// Ids of G1 by log and combination: `G1.KTH-SP2.EASY-SJBF.tsafrir.tsafrir`.
static IDS: LazyLock<Vec<Vec<String>>> = LazyLock::new(|| {
    let id = |log: Log, one: Combination| format!("G1.{}.{}", log.name(), one.words().join("."));
    Log::PUBLISHED.map(|log| Combination::all().map(|one| id(log, one)).collect()).into()
});

pub(super) fn claims(paper: &PredictionsPaper) -> Vec<Claim<Cell>> {
    let logs = paper.logs_at_hand();
    let on_sdsc = logs.contains(&Log::SdscSp2);
    let of_rows = logs.iter().flat_map(|log| Combination::all().filter_map(|one| published(paper, *log, one)));
    of_rows.chain(sentences(&logs).into_iter().filter(|claim| claim.id != "G6" || on_sdsc)).collect()
}

/// Returns claim G1 for one row.
fn published(paper: &PredictionsPaper, log: Log, combination: Combination) -> Option<Claim<Cell>> {
    let values = row(log, combination)?;
    let is_published = paper.is_published(log);
    let rule = |value: f64| {
        if is_published {
            Rule::Exact(value * (1.0 - NINE_DIGITS), value * (1.0 + NINE_DIGITS))
        } else {
            Rule::Within(value * (1.0 - NEARLY), value * (1.0 + NEARLY))
        }
    };
    let cell = Cell::as_logged(log, combination);
    let checks = METRICS.into_iter().zip(values).filter(|(_, value)| value.is_finite());
    let test = if is_published { "exact: equal to nine digits" } else { "within 3 %: some jobs are missing here" };
    let checks = checks.map(|(metric, value)| Check::new(metric.to_string(), cell.get(metric), rule(value)));
    let statement = format!("{} on {}: the nine metrics of the published row", combination.name(), log.name());
    let id = &IDS[log as usize][combination.0];
    Some(Claim::new(id, "published results, 2015", &statement, &["combinations"], checks).tested(test))
}

/// Returns the reduction of the metric from EASY, in its own unit, by which G2 and G4 are judged (A6).
fn gain(of: impl Fn(Combination) -> Cell, combination: Combination, metric: Metric) -> Quantity<Cell> {
    of(Combination::EASY).get(metric) - of(combination).get(metric)
}

/// Returns the reduction in percent of EASY's value, as the figure shows it: the slowdowns of workloads differ a hundredfold, and each
/// workload counts the same.
pub(super) fn gain_percent(
    of: impl Fn(Combination) -> Cell,
    combination: Combination,
    metric: Metric,
) -> Quantity<Cell> {
    let easy = of(Combination::EASY).get(metric);
    gain(of, combination, metric) / easy * 100.0
}

fn sentences(logs: &[Log]) -> Vec<Claim<Cell>> {
    let easy_plus_plus = |log: Log, metric: Metric| {
        let gain = gain(|one| Cell::resampled(log, one), Combination::EASY_PLUS_PLUS, metric);
        Check::new(format!("{}, {metric}: EASY − EASY++", log.name()), gain, Rule::POSITIVE)
    };
    let accuracy = |log: Log| {
        let cell = Cell::as_logged(log, Combination::EASY_PLUS_PLUS);
        let label = format!("{}: accuracy of tsafrir − of the request", log.name());
        Check::new(label, cell.get(Metric::accuracy) - cell.get(Metric::request_accuracy), Rule::POSITIVE)
    };
    let best_of_all = |log: Log| {
        let best = best(|one| gain(|other| Cell::resampled(log, other), one, Metric::avgbsld));
        Check::new(format!("{}: EASY − the best of each workload", log.name()), best, Rule::POSITIVE)
    };
    // Statements that follow from the published rows.
    let on_sdsc = |name: &str, one: Combination, metric: Metric, rule: Rule| {
        let gain = gain(|one| Cell::as_logged(Log::SdscSp2, one), one, metric);
        Check::new(format!("{metric}: EASY − {name}"), gain, rule)
    };
    lab::claims! {
        G2 "TPDS 2007, abstract" "EASY++ \u{201c}achieves significant improvements in performance\u{201d} over EASY"
            tested "paired, over resampled workloads: avgbsld and avgft lower, on each log"
            in "gains" => logs.iter().flat_map(|log| [Metric::avgbsld, Metric::avgft].map(|its| easy_plus_plus(*log, its)));
        G3 "TPDS 2007, abstract" "The mean of the last two run times of a user predicts better than the user's request"
            tested "mean of min(p, r) / max(p, r), p the prediction and r the run time, higher than the request's, on each log"
            in "accuracy" => logs.iter().copied().map(accuracy);
        G4 "SC'15, title" "Predictions improve backfilling: the best without clairvoyance beats EASY in avgbsld"
            tested "paired, over resampled workloads, on each log"
            in "gains" => logs.iter().copied().map(best_of_all);
        G6 "published results, seen by us" "On SDSC-SP2, EASY++ with its own corrector is worse than EASY in mean response, while EASY++ with the plain one, which corrects to the request, is better than EASY in both means"
            tested "exact, on the log"
            in "combinations" => [
                on_sdsc("EASY++", Combination::EASY_PLUS_PLUS, Metric::avgft, Rule::NEGATIVE),
                on_sdsc("plain corrector", Combination::PLAIN, Metric::avgft, Rule::POSITIVE),
                on_sdsc("plain corrector", Combination::PLAIN, Metric::avgbsld, Rule::POSITIVE),
            ];
    }
}

/// Returns the largest gain of the predicting combinations, in each workload.
fn best(gain: impl Fn(Combination) -> Quantity<Cell>) -> Quantity<Cell> {
    Combination::predicting().map(gain).reduce(Quantity::or_larger).expect("there are some")
}

/// Returns the largest gain in percent of EASY's value.
pub(super) fn best_gain_percent(of: impl Fn(Combination) -> Cell, metric: Metric) -> Quantity<Cell> {
    best(|one| gain_percent(&of, one, metric))
}

/// Metrics of a [`row`], in its order.
const METRICS: [Metric; 9] = [
    Metric::avgft,
    Metric::maxft,
    Metric::RMSFT,
    Metric::avgstretch,
    Metric::maxstretch,
    Metric::RMSS,
    Metric::avgbsld,
    Metric::maxbsld,
    Metric::RMSBSLD,
];

const NOT_PUBLISHED: f64 = f64::NAN;

/// Returns the published row of a combination, for the logs whose rows are available.
fn row(log: Log, combination: Combination) -> Option<[f64; 9]> {
    let rows = match log {
        Log::KthSp2 => &KTH_SP2,
        Log::SdscSp2 => &SDSC_SP2,
        Log::CtcSp2 | Log::SdscBlue | Log::CeaCurie | Log::StandIn => return None,
    };
    Some(rows[combination.0])
}

/// Rows in the order of [`Combination::all`].
#[rustfmt::skip]
const KTH_SP2: [[f64; 9]; 12] = [
    [15_696.798_18, 309_231.0, 31_651.814_63, 198.001_775_5, 124_477.0, 2_014.707_341, 92.576_539_73, 14_805.2, 476.260_314_5],
    [15_187.607_7, 356_843.0, 30_879.028_47, 139.004_275_8, 50_408.0, 1_394.794_063, 71.722_385_11, 10_017.2, 368.666_677],
    [14_900.169_41, 382_389.0, 31_625.318_3, 166.140_641_8, 93_189.0, 1_868.494_378, 79.930_251_09, 21_370.4, 473.921_092_2],
    [14_647.138_79, 363_581.0, 32_265.889_98, 135.474_483_5, 100_999.333_3, 1_615.877_505, 65.723_589_44, 30_299.8, 480.347_924_9],
    [15_352.415_26, 685_256.0, 34_514.866_55, 166.133_482, 133_215.666_7, 1_977.944_766, 76.922_442_32, 39_964.7, 587.802_669_2],
    [16_041.518_94, 443_466.0, 35_525.365_61, 171.017_471_9, 118_909.333_3, 1_895.251_443, 85.442_905_59, 37_556.9, 652.954_648_5],
    [14_764.002_67, 372_238.0, 31_254.527_85, 158.867_730_2, 123_106.0, 1_821.521_044, 69.405_400_58, 14_805.2, 427.204_830_7],
    [14_295.946_84, 335_193.0, 30_583.922_7, 103.566_267_5, 49_486.0, 1_223.140_495, 49.847_718_93, 9_941.7, 326.209_719_3],
    [14_063.917_59, 382_389.0, 30_986.990_52, 123.392_094_5, 113_608.0, 1_594.033_844, 58.912_532_24, 21_395.5, 415.897_513_8],
    [14_513.686_63, 538_605.0, 32_482.222_58, 128.546_017_5, 198_955.0, 1_803.269_784, 62.856_882_73, 31_392.6, 478.675_498_8],
    [15_085.663, 687_499.0, 35_144.563_09, 143.081_997_5, 125_502.0, 1_893.733_265, 64.527_474_22, 39_889.4, 604.285_181_6],
    [15_095.780_03, 541_044.0, 34_277.258_55, 139.689_574_6, 186_817.0, 1_987.301_404, 63.500_677_17, 30_250.2, 535.363_295_5],
];

/// Rows in the order of [`Combination::all`].
#[rustfmt::skip]
const SDSC_SP2: [[f64; 9]; 12] = [
    [27_850.861_68, 463_592.0, 54_197.630_92, 89.567_438_09, 54_765.0, 393.782_345_2, 87.870_324_19, 10_953.0, 305.727_712_2],
    [24_690.206_29, 460_728.0, 47_956.567_19, 71.490_418_36, 15_066.0, 265.453_963_6, 70.477_941_97, 4_865.527_778, 240.340_390_4],
    [26_187.102_84, 494_216.0, 52_448.258_8, 83.337_810_17, 28_859.0, 326.292_297_8, 82.135_224_65, 5_908.735_849, 291.886_267],
    [26_125.215_12, 1_200_079.0, 55_080.403_05, 79.910_646_06, 13_951.102_04, 303.569_414_2, 79.212_087_87, 13_951.102_04, 293.262_561_7],
    [29_407.574_6, 1_106_451.0, 66_156.439_61, 84.964_973_81, 14_124.0, 344.793_030_6, 83.989_626_63, 12_703.612_24, 329.573_138],
    [31_539.718_31, 743_679.0, 67_305.260_87, 103.490_906_6, 60_586.0, 587.686_648_7, 100.018_264_7, 11_119.058_82, 386.745_365_7],
    [28_146.695_31, 561_571.0, 59_568.694_78, 86.401_465_99, 52_320.0, 417.830_973_5, 84.888_944_54, 8_565.279_07, 346.704_807_7],
    [23_660.178_96, 474_155.0, 49_939.025_34, 57.163_707_1, 6_049.0, 231.276_107_9, 56.836_221_27, 5_245.173_913, 228.169_525_9],
    [27_519.217_85, 588_817.0, 61_548.278_12, 79.704_811_38, 52_165.0, 405.767_926_4, 77.901_040_81, 8_628.454_545, 328.355_368],
    [25_789.110_12, 1_024_863.0, 61_135.010_55, 66.811_818_54, 100_998.0, 530.121_085_2, 65.063_601_05, 20_199.6, 312.139_825_7],
    [NOT_PUBLISHED, 1_483_691.0, 124_095.866_4, 98.655_195_84, 34_355.222_22, 605.931_772_8, 98.003_157_18, 34_355.222_22, 596.150_847_1],
    [32_858.634_47, 760_866.0, 79_608.722_81, 81.261_582, 53_042.0, 460.437_892_3, 79.396_281_85, 13_681.517_24, 379.394_026_9],
];
