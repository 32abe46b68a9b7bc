//! Catalogue of the metrics of a run: name, label, unit, direction, definition, formula and place of each, declared once.
//!
//! Columns of `summary.csv` and `runs.csv`, `columns.md`, tables, axes, warnings and the metrics of an experiment are
//! derived from it. A program adds its own with [`OwnMetric`].

use crate::job::JobClass;
use crate::mean::as_f64;
use crate::sums::Sums;
use sim_core::JobRecord;
use std::fmt;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

/// The better one of two values of a metric.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Better {
    /// The smaller: waiting times, late jobs.
    Smaller,
    /// The larger: utilization, completed jobs.
    Larger,
}

impl fmt::Display for Better {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Smaller => "smaller",
            Self::Larger => "larger",
        })
    }
}

#[derive(Copy, Clone)]
enum ValueOrigin {
    /// Computed from the sums of any run.
    Formula(fn(&Sums) -> Option<f64>),
    /// Counted by the command `simulate` or by a world, if there is something to count.
    World,
    /// Counted by experiments, or computed by a program: [`OwnMetric`].
    Experiment,
}

/// Declares a metric by its fields: documentation, name, type and default of each, and the setter method of those that the table below
/// sets. Each field has a public method that returns it.
macro_rules! fields {
    ($($(#[$doc:meta])* $field:ident: $type:ty = $default:expr $(, $setter:ident($($given:ident: $of:ty)?) = $set:expr)?;)*) => {
        /// One metric of a run. It is displayed by its name, and two are equal if their names are.
        pub struct Metric {
            value: ValueOrigin,
            $($field: $type,)*
        }

        impl Metric {
            const fn of_value(value: ValueOrigin) -> Self {
                Self { value, $($field: $default,)* }
            }

            $($(#[$doc])* pub const fn $field(&self) -> $type {
                self.$field
            })*

            $($(const fn $setter(mut self $(, $given: $of)?) -> Self {
                self.$field = $set;
                self
            })?)*
        }
    };
}

fields! {
    /// Name of its column.
    name: &'static str = "";
    /// Short description: `mean wait`.
    label: &'static str = "";
    /// The label without `mean`, for lists of means.
    short_label: &'static str = "", short(short: &'static str) = short;
    /// Unit; empty for a ratio or a count.
    unit: &'static str = "";
    /// Definition, with its source; the same for adjacent metrics that are statistics of one quantity.
    text: &'static str = "";
    /// Direction of improvement.
    better: Better = Better::Smaller, larger() = Better::Larger;
    /// Head of its column on a terminal, in two lines; empty if it is not shown there.
    terminal_head: [&'static str; 2] = [""; 2], heads(heads: [&'static str; 2]) = heads;
    /// Order in which columns are dropped on a narrow terminal, from 1; 0 for columns that stay.
    spared_as: u8 = 0, spared(order: u8) = order;
    /// True if it is among the first numbers of the page.
    is_in_overview: bool = false, overview() = true;
    /// True if sentences about the comparison of policies use it.
    is_in_sentences: bool = false, sentences() = true;
    /// True if only jobs with a deadline have it.
    needs_deadlines: bool = false, of_deadlines() = true;
    /// True if it grows with the length of the log.
    grows_with_log: bool = false, grows() = true;
    /// True if its values are 1 for yes and 0 for no.
    is_flag: bool = false, flag() = true;
    /// Pitfall of comparisons by it.
    warning: Option<&'static str> = None, warns(warning: &'static str) = Some(warning);
    /// Share of the jobs, in percent, at or below this quantile of the wait.
    share_of_waits: Option<f64> = None, share(percent: f64) = Some(percent);
    /// Class of jobs that it is a mean of.
    class: Option<JobClass> = None, of_class(class: JobClass) = Some(class);
    /// Rank of its column in `summary.csv`; columns of one rank are in the order of the catalogue.
    column_rank: u8 = CUSTOMARY, ranked(rank: u8) = rank;
}

/// Ranks of columns in `summary.csv`: counts of jobs, customary columns, the backlog, saturation, and later columns.
const COUNTS: u8 = 0;
const CUSTOMARY: u8 = 1;
const BACKLOG: u8 = 2;
const SATURATION: u8 = 3;
const LATER: u8 = 4;

impl Metric {
    const fn new([name, label, unit, text]: [&'static str; 4], value: ValueOrigin) -> Self {
        Self { name, label, short_label: label, unit, text, ..Self::of_value(value) }
    }

    /// The metric of the catalogue with this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        catalogue().iter().find(|metric| metric.name == name)
    }

    /// Like [`named`](Self::named), for a name in the program's own source.
    ///
    /// # Panics
    ///
    /// Panics if the catalogue has no such metric.
    #[track_caller]
    pub fn of(name: &str) -> &'static Self {
        Self::named(name).unwrap_or_else(|| panic!("no metric is called {name}"))
    }

    /// Name as words, and unit: `wait mean (s)`.
    pub fn in_words(&self) -> String {
        let name = self.name.replace('_', " ");
        if self.unit.is_empty() { name } else { format!("{name} ({})", self.unit) }
    }

    /// Returns true if it counts jobs.
    pub const fn counts_jobs(&self) -> bool {
        self.column_rank == COUNTS
    }

    /// Returns true if experiments measure it.
    pub const fn is_of_experiments(&self) -> bool {
        !matches!(self.value, ValueOrigin::World)
    }

    /// Its value by formula; `None` if it is counted instead.
    pub(crate) fn formula(&self, sums: &Sums) -> Option<Option<f64>> {
        if let ValueOrigin::Formula(formula) = self.value { Some(formula(sums)) } else { None }
    }
}

impl PartialEq for Metric {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Metric {}

impl fmt::Debug for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name)
    }
}

/// A metric that a program adds.
#[derive(Clone)]
pub struct OwnMetric {
    /// Description.
    pub metric: &'static Metric,
    value: Arc<Formula>,
}

type Formula = dyn Fn(&[JobRecord]) -> f64 + Send + Sync;

impl OwnMetric {
    /// A metric computed by `value` from the records of all finished jobs in order of submission; NaN stands for "no value".
    ///
    /// # Panics
    ///
    /// Panics if `name` contains other characters than small letters, digits and underscores, or is in the catalogue.
    pub fn new<F>(name: &str, label: &str, better: Better, value: F) -> Self
    where
        F: Fn(&[JobRecord]) -> f64 + Send + Sync + 'static,
    {
        let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        assert!(
            !name.is_empty() && name.bytes().all(is_plain),
            "a metric cannot be called {name:?}; use small letters, digits and underscores, as in jain_index"
        );
        assert!(Metric::named(name).is_none(), "the metric {name:?} is built in; choose another name");
        Self { metric: described(name, label, better), value: Arc::new(value) }
    }

    pub(crate) fn value(&self, records: &[JobRecord]) -> Option<f64> {
        Some((self.value)(records)).filter(|value| value.is_finite())
    }
}

impl fmt::Debug for OwnMetric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.metric.fmt(f)
    }
}

/// Returns the description of a metric that a program adds. Each is made once, and kept until the end of the program, as built-in ones.
fn described(name: &str, label: &str, better: Better) -> &'static Metric {
    static ALL: Mutex<Vec<&'static Metric>> = Mutex::new(Vec::new());
    let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
    let known = all.iter().find(|one| (one.name, one.label, one.better) == (name, label, better));
    known.copied().unwrap_or_else(|| {
        let leaked = |text: &str| -> &'static str { Box::leak(text.to_owned().into_boxed_str()) };
        let (name, label) = (leaked(name), leaked(label));
        let metric = Metric { better, ..Metric::new([name, label, "", label], ValueOrigin::Experiment) };
        let metric: &'static Metric = Box::leak(Box::new(metric.ranked(LATER).overview()));
        all.push(metric);
        metric
    })
}

/// All built-in metrics, in the order of the columns of an experiment's `runs.csv`.
pub fn catalogue() -> &'static [Metric] {
    static ALL: LazyLock<Vec<Metric>> = LazyLock::new(all);
    &ALL
}

const NO_BOUND: &str = "Unbounded slowdown: jobs of one second, whose wait no user notices, dominate its mean. Use \
                        bounded_slowdown_mean.";
const LAST_JOBS: &str = "Makespan and utilization depend on the last jobs of the log, hardly on the policy: policies with equal \
                         utilization may differ by hours of wait.";

#[expect(clippy::too_many_lines, reason = "a table: one entry per metric")]
fn all() -> Vec<Metric> {
    let mut all = Vec::new();
    // Statistics of one quantity over jobs; setters after a dot define the places where each is shown.
    macro_rules! over_jobs {
        ($quantity:ident, $label:literal, $unit:literal, $text:literal $(, all.$all:ident($($given:expr)?))*;
         $($statistic:ident $(.$with:ident($($value:expr),*))*),*) => {
            all.extend([$(
                Metric::new(
                    [concat!(stringify!($quantity), "_", stringify!($statistic)), over_jobs!(@label $statistic $label), $unit, $text],
                    ValueOrigin::Formula(|run| over_jobs!(@value $statistic run.summary.$quantity)),
                ).short($label) $(.$with($($value),*))*
            ),*].map(|metric| metric $(.$all($($given)?))*));
        };
        (@value median $of:expr) => { $of.quantile(0.5) };
        (@value p95 $of:expr) => { $of.quantile(0.95) };
        (@value p99 $of:expr) => { $of.quantile(0.99) };
        (@value $statistic:ident $of:expr) => { $of.$statistic() };
        (@label mean $label:literal) => { concat!("mean ", $label) };
        (@label median $label:literal) => { concat!("median ", $label) };
        (@label p95 $label:literal) => { concat!("95th percentile of ", $label) };
        (@label p99 $label:literal) => { concat!("99th percentile of ", $label) };
        (@label max $label:literal) => { concat!("largest ", $label) };
        (@label weighted_mean $label:literal) => { concat!("processor-weighted mean ", $label) };
    }
    macro_rules! add {
        ($($name:expr, $label:expr, $unit:literal, $text:expr, $value:expr $(=> $with:ident($($given:expr),*))*;)*) => {
            all.extend([$(Metric::new([$name, $label, $unit, $text], $value) $(.$with($($given),*))*),*]);
        };
    }
    use ValueOrigin::{Experiment, Formula, World};
    add! {
        "jobs", "jobs", "", "jobs that ran", Formula(|run| Some(as_f64(run.summary.jobs)))
            => larger() => grows() => ranked(COUNTS) => heads(["", "jobs"]) => overview();
        "zero_runtime", "jobs of zero run time", "", "jobs of zero run time", Formula(|run| Some(as_f64(run.summary.jobs - run.summary.slowdown.count())));
    }
    over_jobs!(wait, "wait", "s", "start − submit";
        mean.heads(["wait", "mean, s"]).overview().sentences(), median.overview().share(50.0), p95.overview().share(95.0),
        p99.share(99.0), max, weighted_mean);
    over_jobs!(response, "response", "s", "finish − submit";
        mean.heads(["response", "mean, s"]).spared(1), median, p95, p99, max, weighted_mean);
    over_jobs!(slowdown, "slowdown", "", "response / run time; jobs of zero run time have none", all.warns(NO_BOUND);
        mean, median, p95, p99, max, weighted_mean);
    over_jobs!(bounded_slowdown, "bounded slowdown", "",
        "max(1, response / max(run time, 10 s)) (Feitelson & Rudolph 1998)";
        mean.heads(["bounded", "slowdown"]).overview().sentences(), median, p95.overview(), p99, max, weighted_mean);
    over_jobs!(tardiness, "tardiness", "s", "max(0, finish − deadline) of jobs that have one", all.of_deadlines();
        mean.heads(["tardiness", "mean, s"]).overview().sentences(), median, p95, p99, max, weighted_mean);
    add! {
        "late_percent", "late jobs", "%", "jobs that finished after their deadline, of those that have one",
            Formula(|run| run.summary.late_percent()) => of_deadlines() => heads(["late", "% of jobs"]) => overview();
        "makespan", "makespan", "s", "last finish − first submit",
            Formula(|run| run.summary.makespan().map(|span| span.as_secs_f64()))
            => heads(["makespan", "s"]) => spared(2) => overview() => grows() => warns(LAST_JOBS);
        "work", "work", "processor-s", "Σ processors × run", Formula(|run| Some(run.summary.work())) => larger() => grows();
        "utilization", "utilization", "0 … 1", "work / (processors × makespan)",
            Formula(|run| run.summary.utilization(run.processors))
            => larger() => heads(["utili-", "zation"]) => overview() => warns(LAST_JOBS);
        "area_weighted_response", "area-weighted response", "s",
            "mean response weighted by processors × run time (Franke, Lepping & Schwiegelshohn 2007)",
            Formula(|run| run.area_weighted_response()) => ranked(LATER);
        "rejected", "rejected jobs", "", "jobs that no place could hold", Formula(|run| Some(as_f64(run.rejected)))
            => ranked(COUNTS) => heads(["", "rejected"]) => spared(3);
        "cut", "cut jobs", "", "jobs that ended at their limit", World => ranked(COUNTS);
        "offered_load", "offered load", "0 … 1", "work / (processors × time from the first to the last submission that counts)",
            Experiment;
        "left_out_percent", "jobs left out", "%", "jobs that are left out as warm-up and cool-down", Experiment;
        "wait_p10", "10th percentile of wait", "s", "start − submit", Formula(|run| run.summary.wait.quantile(0.10))
            => share(10.0) => ranked(LATER);
        "wait_p25", "25th percentile of wait", "s", "start − submit", Formula(|run| run.summary.wait.quantile(0.25))
            => share(25.0) => ranked(LATER);
        "wait_p75", "75th percentile of wait", "s", "start − submit", Formula(|run| run.summary.wait.quantile(0.75))
            => share(75.0) => ranked(LATER);
        "wait_p90", "90th percentile of wait", "s", "start − submit", Formula(|run| run.summary.wait.quantile(0.90))
            => share(90.0) => ranked(LATER);
    }
    macro_rules! of_classes {
        ($($class:ident $name:literal)*) => {$(
            add! {
                concat!("wait_mean_", $name), concat!("mean wait of ", $name, " jobs"), "s", OF_CLASS,
                    Formula(|run| run.of_class(JobClass::$class).wait.mean()) => of_class(JobClass::$class) => ranked(LATER);
                concat!("bounded_slowdown_mean_", $name), concat!("mean bounded slowdown of ", $name, " jobs"), "", OF_CLASS,
                    Formula(|run| run.of_class(JobClass::$class).bounded_slowdown.mean())
                    => short("bounded slowdown") => of_class(JobClass::$class) => ranked(LATER);
            }
        )*};
    }
    of_classes!(ShortNarrow "short_narrow" ShortWide "short_wide" LongNarrow "long_narrow" LongWide "long_wide");
    add! {
        "saturated", "saturated", "", "`yes` if the policy cannot do the work as fast as it comes, so that its waits grow with the length of the log; else `no`",
            Formula(|run| run.trend.as_ref().map(|trend| f64::from(u8::from(trend.is_saturated())))) => ranked(SATURATION) => flag();
        "user_wait_median", "median user's mean wait", "s", "median over users of the mean wait of each user's jobs",
            Formula(|run| run.users.median(|user| &user.wait)) => ranked(LATER);
        "user_wait_max", "worst user's mean wait", "s", "largest over users of the mean wait of each user's jobs",
            Formula(|run| run.users.worst(|user| &user.wait)) => ranked(LATER);
        "user_bounded_slowdown_median", "median user's mean bounded slowdown", "",
            "median over users of the mean bounded slowdown of each user's jobs",
            Formula(|run| run.users.median(|user| &user.bounded_slowdown)) => ranked(LATER);
        "user_bounded_slowdown_max", "worst user's mean bounded slowdown", "",
            "largest over users of the mean bounded slowdown of each user's jobs",
            Formula(|run| run.users.worst(|user| &user.bounded_slowdown)) => ranked(LATER);
        "user_bounded_slowdown_jain", "Jain's index of users' bounded slowdowns", "1/n … 1",
            "(Σ x)² / (n Σ x²) over the mean bounded slowdowns x of n users: 1 if all users have the same slowdown (Jain, Chiu & Hawe 1984)",
            Formula(|run| run.users.jain(|user| &user.bounded_slowdown)) => larger() => ranked(LATER);
        "predictions_expired_percent", "expired predictions", "%", "jobs that outlived their predicted run time, where run times are predicted", World;
        "prediction_error_percent", "prediction error", "%", "with --model metasched: error of predictions at dispatch", World
            => heads(["prediction", "error, %"]);
        "local_slowdown", "slowdown of local users", "", "with --model metasched: slowdown of local users", World;
        "turnaround_mean", "mean turnaround", "s", "with --model hier-grid: time until the output is home", World
            => heads(["turnaround", "mean, s"]);
        "messages_per_job", "messages per job", "", "with --model hier-grid: messages for each job", World
            => heads(["messages", "per job"]);
        "moves_per_job", "moves per job", "", "with --model hier-grid: moves of each job", World;
        "backlog_max", "largest backlog", "s", "work of the jobs that wait (processors × run time), as the time that it takes at the mean rate of the run: its largest value, as a mean over at least a thousandth of the run",
            Formula(|run| Some(run.trend?.largest)) => ranked(BACKLOG);
        "backlog_end", "backlog at the last submission", "s", "the same at the last submission",
            Formula(|run| Some(run.trend?.at_end)) => ranked(BACKLOG);
        "backlog_stretch", "longest time with a backlog", "s", "longest time before the last submission with more than a tenth of `backlog_max` waiting",
            Formula(|run| Some(run.trend?.stretch)) => ranked(BACKLOG);
        "drain", "drain", "s", "end of the last job − last submission", Formula(|run| Some(run.trend?.drain)) => ranked(BACKLOG);
    }
    all
}

const OF_CLASS: &str = "wait and bounded slowdown by class: short jobs run for an hour at most, narrow ones on eight processors at \
                        most (Srinivasan et al. 2002)";
