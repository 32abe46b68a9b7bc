//! Metrics: what one replication of a design point yields, each declared once.
//!
//! [`metrics!`](crate::metrics!) makes of a declaration the record that a replication fills in, a type with a value for each
//! metric, which figures and claims name, and all that is shown of them: the name in files, the label and unit of an axis,
//! which values are better, whether an axis may go below zero. An undeclared metric does not compile.

pub use metrics::Better;
use std::fmt;

/// A metric of one replication. It is displayed by its name in files.
pub trait Metric: Copy + PartialEq + fmt::Debug + fmt::Display + Send + Sync + 'static {
    /// The metrics of which every run has one, in the order of the declaration: those behind an index are left out.
    fn list() -> Vec<Self>;

    /// How it was declared.
    fn declared(self) -> Declared;
}

/// What is known of a metric.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Declared {
    /// Its field in the record of a replication, which is its name in files, but for those behind an index.
    pub field: &'static str,
    /// In a few words.
    pub label: &'static str,
    /// Empty where it has none: a ratio, a count.
    pub unit: &'static str,
    /// Label and unit, as an axis shows them.
    pub axis: &'static str,
    /// What is measured.
    pub text: &'static str,
    /// Whether it can be negative. An axis of what cannot does not go below zero.
    pub signed: bool,
    /// Which of two values is the better one, if that can be said.
    pub better: Option<Better>,
    /// Its value in a run in which nothing happened that could be counted: zero, or not a number where it has none.
    pub of_nothing: f64,
}

impl Declared {
    /// A metric of which nothing else is declared.
    pub const fn new(field: &'static str, label: &'static str, axis: &'static str, text: &'static str) -> Self {
        Self { field, label, unit: "", axis, text, signed: false, better: None, of_nothing: f64::NAN }
    }

    /// The same in this unit.
    #[must_use]
    pub const fn unit(self, unit: &'static str) -> Self {
        Self { unit, ..self }
    }

    /// The same with one of the words behind its declaration. Any other is a slip, and does not compile.
    #[must_use]
    pub const fn word(self, word: &'static str) -> Self {
        match word.as_bytes() {
            b"smaller" => Self { better: Some(Better::Smaller), ..self },
            b"larger" => Self { better: Some(Better::Larger), ..self },
            b"signed" => Self { signed: true, ..self },
            b"zero" => Self { of_nothing: 0.0, ..self },
            _ => panic!("a metric is smaller, larger, signed or zero"),
        }
    }
}

/// Metrics of a run that are in the catalogue, or that a program adds to it.
impl Metric for &'static metrics::Metric {
    fn list() -> Vec<Self> {
        metrics::catalogue().iter().filter(|metric| metric.is_of_experiments()).collect()
    }

    fn declared(self) -> Declared {
        let declared = Declared::new(self.name(), self.label(), self.name(), self.text());
        Declared { better: Some(self.better()), ..declared.unit(self.unit()) }
    }
}

/// What one replication yielded: a value for each metric, not a number where it is not defined. Made of the record that
/// [`metrics!`](crate::metrics!) declares, by `into`.
#[derive(Clone, Debug, PartialEq)]
pub struct Values<M>(Vec<(M, f64)>);

impl<M: Metric> Values<M> {
    /// Each metric with its value.
    pub fn new(values: impl IntoIterator<Item = (M, f64)>) -> Self {
        Self(values.into_iter().collect())
    }

    /// The value of one metric, if it was measured.
    pub fn of(&self, metric: M) -> Option<f64> {
        self.0.iter().find(|(its, _)| *its == metric).map(|(_, value)| *value)
    }

    /// The same with another value of one metric.
    #[must_use]
    pub fn with(mut self, metric: M, value: f64) -> Self {
        self.0.retain(|(its, _)| *its != metric);
        self.0.push((metric, value));
        self
    }

    /// The mean of each metric over several runs of which each measured the same.
    #[expect(clippy::cast_precision_loss, reason = "few runs")]
    pub fn mean_of(runs: &[Self]) -> Self {
        let of_all = |place: usize| runs.iter().map(|run| run.0[place].1).sum::<f64>() / runs.len() as f64;
        let metrics = runs.first().into_iter().flat_map(|run| &run.0).enumerate();
        Self(metrics.map(|(place, (metric, _))| (*metric, of_all(place))).collect())
    }

    /// In the order of `metrics`, the columns of `runs.csv`; where nothing could be counted, what was declared for that.
    ///
    /// # Panics
    ///
    /// If one of `metrics` was not measured: the paper's list names an index that its runs do not have.
    pub fn in_order(&self, metrics: &[M]) -> Vec<f64> {
        let value = |metric: &M| {
            let found = self.of(*metric).unwrap_or_else(|| panic!("the paper lists {metric}, which no run measures"));
            if found.is_nan() { metric.declared().of_nothing } else { found }
        };
        metrics.iter().map(value).collect()
    }
}

/// Declares what a replication measures: a record with a field for each metric, and a type with a value for each, which
/// figures and claims name.
///
/// A metric is its name, which is that in files, its label and, in parentheses, its unit; its documentation is what the report
/// says of it. Words behind these: `smaller` or `larger` is better; `signed`, it can be negative; `zero`, a run in which there
/// was nothing to count has a zero and no gap. Where there is one metric for each of something (for each size of a gang), the
/// name is followed by the type of the index, a name for one, and the name in files that it makes. The field then holds a value
/// with each index, and the paper's [`metrics`](crate::paper::Paper::metrics) lists the indices that there are.
///
/// ```
/// use lab::metric::{Better, Metric as _, Values};
/// use lab::quantity::DesignPoint;
///
/// lab::metrics! {
///     /// What one replication yields.
///     struct Measured of Metric {
///         /// Mean over all jobs.
///         wait: "mean wait" ("s") smaller,
///         /// How many ended.
///         jobs: "jobs" zero,
///         /// Mean over jobs of one width.
///         wait_of(u32, size => format!("wait_{size}")): "mean wait" ("s") smaller,
///     }
/// }
///
/// #[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
/// struct Cell {
///     load: u8,
/// }
///
/// impl DesignPoint for Cell {
///     type Metric = Metric;
/// }
///
/// let more_wait = Cell { load: 9 }.get(Metric::wait) - Cell { load: 5 }.get(Metric::wait);
/// # let _ = more_wait;
/// assert_eq!(Metric::wait.declared().axis, "mean wait (s)");
/// assert_eq!(Metric::wait.declared().better, Some(Better::Smaller));
/// assert_eq!(Metric::list(), [Metric::wait, Metric::jobs]);
/// assert_eq!(Metric::wait_of(16).to_string(), "wait_16");
///
/// let measured: Values<Metric> = Measured { wait: 12.5, jobs: f64::NAN, wait_of: vec![(16, 80.0)] }.into();
/// assert_eq!(measured.in_order(&[Metric::jobs, Metric::wait_of(16)]), [0.0, 80.0]);
/// ```
#[macro_export]
macro_rules! metrics {
    ($(#[$meta:meta])* $vis:vis struct $Measured:ident of $Metric:ident { $(
        $(#[doc = $doc:literal])*
        $name:ident $(($Index:ty, $index:ident => $text:expr))?: $label:literal $(($unit:literal))? $($word:ident)*,
    )* }) => {
        $(#[$meta])*
        #[allow(non_snake_case, reason = "names are those in files")]
        $vis struct $Measured {
            $( $(#[doc = $doc])* $vis $name: $crate::metrics!(@field $($Index)?), )*
        }

        #[doc = concat!("The metrics of [`", stringify!($Measured), "`].")]
        #[allow(non_camel_case_types, clippy::upper_case_acronyms, reason = "names are those in files")]
        #[derive(Copy, Clone, Debug, PartialEq, Eq)]
        $vis enum $Metric {
            $( $(#[doc = $doc])* $name $(($Index))?, )*
        }

        impl $Metric {
            /// How it was declared.
            $vis const fn declared(self) -> $crate::metric::Declared {
                match self {
                    $( Self::$name { .. } => const {
                        let axis = concat!($label, $(" (", $unit, ")")?);
                        let declared = $crate::metric::Declared::new(stringify!($name), $label, axis, concat!($($doc),*));
                        declared.unit(concat!($($unit)?))$(.word(stringify!($word)))*
                    }, )*
                }
            }
        }

        impl $crate::metric::Metric for $Metric {
            fn list() -> ::std::vec::Vec<Self> {
                [$( $crate::metrics!(@listed $Metric $name $($Index)?), )*].into_iter().flatten().collect()
            }

            fn declared(self) -> $crate::metric::Declared {
                Self::declared(self)
            }
        }

        impl ::std::fmt::Display for $Metric {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                match *self {
                    $( Self::$name $(($index))? => f.write_str($crate::metrics!(@name $name $($text)?)), )*
                }
            }
        }

        impl ::core::convert::From<$Measured> for $crate::metric::Values<$Metric> {
            fn from(measured: $Measured) -> Self {
                let values = ::core::iter::empty();
                $( let values = values.chain($crate::metrics!(@values measured $Metric $name $($Index)?)); )*
                Self::new(values)
            }
        }
    };
    (@field) => { f64 };
    (@field $Index:ty) => { ::std::vec::Vec<($Index, f64)> };
    (@listed $Metric:ident $name:ident) => { ::core::option::Option::Some($Metric::$name) };
    (@listed $Metric:ident $name:ident $Index:ty) => { ::core::option::Option::None };
    (@name $name:ident) => { stringify!($name) };
    (@name $name:ident $text:expr) => { &$text };
    (@values $measured:ident $Metric:ident $name:ident) => { [($Metric::$name, $measured.$name)] };
    (@values $measured:ident $Metric:ident $name:ident $Index:ty) => {
        $measured.$name.into_iter().map(|(index, value)| ($Metric::$name(index), value))
    };
}

/// Metrics for the tests of this crate.
#[cfg(test)]
pub(crate) mod for_tests {
    crate::metrics! {
        /// What a replication yields.
        pub struct Measured of Metric {
            /// Mean over all jobs.
            wait: "mean wait" ("s") smaller,
            /// Against another policy.
            gain: "gain" ("%") signed larger,
            /// Jobs that ended.
            jobs: "jobs" zero,
            /// Mean over jobs of one width.
            wait_of(u32, size => format!("wait_{size}")): "mean wait" ("s") smaller,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::for_tests::{Measured, Metric};
    use super::{Better, Declared, Values};

    fn measured(wait: f64) -> Values<Metric> {
        Measured { wait, gain: f64::NAN, jobs: f64::NAN, wait_of: vec![(2, 1.0), (4, wait)] }.into()
    }

    #[test]
    fn a_metric_is_all_that_was_declared_of_it() {
        let Declared { field, label, unit, axis, text, signed, better, of_nothing } = Metric::gain.declared();
        assert_eq!((field, label, unit, axis), ("gain", "gain", "%", "gain (%)"));
        assert_eq!((text.trim(), signed, better), ("Against another policy.", true, Some(Better::Larger)));
        assert!(of_nothing.is_nan());
        let jobs = Metric::jobs.declared();
        assert_eq!((jobs.unit, jobs.axis, jobs.signed, jobs.better), ("", "jobs", false, None));
        assert_eq!(jobs.of_nothing.to_bits(), 0.0_f64.to_bits());
    }

    #[test]
    #[should_panic(expected = "the paper lists wait_8, which no run measures")]
    fn an_index_that_is_not_measured_is_named() {
        measured(3.0).in_order(&[Metric::wait_of(8)]);
    }

    #[test]
    fn values_come_in_order_what_counts_nothing_is_zero_and_means_are_taken_metric_by_metric() {
        let values = measured(3.0).in_order(&[Metric::wait_of(2), Metric::gain, Metric::jobs, Metric::wait]);
        assert!(values[1].is_nan(), "no gain is no number");
        assert_eq!([values[0], values[2], values[3]].map(f64::to_bits), [1.0, 0.0, 3.0].map(f64::to_bits));
        let mean = Values::mean_of(&[measured(2.0), measured(5.0)]).with(Metric::gain, 7.0);
        let values = mean.in_order(&[Metric::wait, Metric::wait_of(2), Metric::wait_of(4), Metric::gain]);
        assert!(values.iter().zip([3.5, 1.0, 3.5, 7.0]).all(|(value, expected)| (value - expected).abs() < 1e-12));
    }
}
