//! Metrics: values that one replication of a design point yields, each declared once.
//!
//! [`metrics!`](crate::metrics!) generates from a declaration the record that a replication fills in, a type with a value for each metric,
//! which figures and claims name, and all that is shown of them: the name in files, the label and unit of an axis, the better direction,
//! the sign. An undeclared metric does not compile.

pub use metrics::Better;
use std::fmt;

/// A metric of one replication. Its `Display` is its name in files.
pub trait Metric: Copy + PartialEq + fmt::Debug + fmt::Display + Send + Sync + 'static {
    /// Returns the metrics that every run has, in the order of the declaration; those with an index are left out.
    fn list() -> Vec<Self>;

    /// Returns its declaration.
    fn declared(self) -> Declared;
}

/// Declaration of a metric.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Declared {
    /// Field in the record of a replication. It is also the name in files, except for metrics with an index.
    pub field: &'static str,
    /// Unit; empty for a ratio or a count.
    pub unit: &'static str,
    /// Label and unit, for an axis.
    pub axis: &'static str,
    /// Description of the measured value.
    pub text: &'static str,
    /// True if it can be negative. Otherwise an axis does not go below zero.
    pub signed: bool,
    /// Direction of better values, if there is one.
    pub better: Option<Better>,
    /// Value in a run without anything to count: zero, or NaN if undefined.
    pub of_nothing: f64,
}

impl Declared {
    /// Sets the property that a word after the declaration names. An unknown word does not compile.
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

/// Metrics of the catalogue, and those that a program adds to it.
impl Metric for &'static metrics::Metric {
    fn list() -> Vec<Self> {
        metrics::catalogue().iter().filter(|metric| metric.is_of_experiments()).collect()
    }

    fn declared(self) -> Declared {
        Declared {
            field: self.name(),
            unit: self.unit(),
            axis: self.name(),
            text: self.text(),
            signed: false,
            better: Some(self.better()),
            of_nothing: f64::NAN,
        }
    }
}

/// Result of one replication: a value for each metric, NaN if undefined. Made from the record that [`metrics!`](crate::metrics!) declares.
#[derive(Clone, Debug, PartialEq)]
pub struct Values<M>(Vec<(M, f64)>);

impl<M: Metric> Values<M> {
    /// Returns the values of these metrics.
    pub fn new(values: impl IntoIterator<Item = (M, f64)>) -> Self {
        Self(values.into_iter().collect())
    }

    /// Returns the value of one metric, if it was measured.
    pub fn of(&self, metric: M) -> Option<f64> {
        self.0.iter().find(|(its, _)| *its == metric).map(|(_, value)| *value)
    }

    /// Returns the same values with another value of one metric.
    #[must_use]
    pub fn with(mut self, metric: M, value: f64) -> Self {
        self.0.retain(|(its, _)| *its != metric);
        self.0.push((metric, value));
        self
    }

    /// Returns the mean of each metric over several runs that measured the same metrics.
    pub fn mean_of(runs: &[Self]) -> Self {
        let of_all = |place: usize| runs.iter().map(|run| run.0[place].1).sum::<f64>() / runs.len() as f64;
        let metrics = runs.first().into_iter().flat_map(|run| &run.0).enumerate();
        Self(metrics.map(|(place, (metric, _))| (*metric, of_all(place))).collect())
    }

    /// Returns the values in the order of `metrics`, the columns of `runs.csv`; undefined values become the declared `of_nothing`.
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

/// Declares the metrics of a replication: a record with a field for each metric, and a type with a value for each, which figures and claims
/// name.
///
/// A metric has a name, which is that in files, a label and, in parentheses, a unit; its documentation is its description in the report.
/// Words after these: `smaller` or `larger` is better; `signed`, it can be negative; `zero`, a run without anything to count has a zero
/// instead of a gap. A metric that exists once per index (for each size of a gang) has, after its name, the type of the index, a variable
/// for it, and the name in files built from it. The field then holds a value with each index, and the paper's
/// [`metrics`](crate::paper::Paper::metrics) lists the indices.
///
/// ```
/// use lab::metric::{Better, Metric as _, Values};
///
/// lab::metrics! {
///     /// Results of one replication.
///     struct Measured of Metric {
///         /// Mean over all jobs.
///         wait: "mean wait" ("s") smaller,
///         /// Number of jobs that ended.
///         jobs: "jobs" zero,
///         /// Mean over jobs of one width.
///         wait_of(u32, size => format!("wait_{size}")): "mean wait" ("s") smaller,
///     }
/// }
///
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
            /// Returns its declaration.
            $vis const fn declared(self) -> $crate::metric::Declared {
                match self {
                    $( Self::$name { .. } => const {
                        let declared = $crate::metric::Declared {
                            field: stringify!($name),
                            unit: concat!($($unit)?),
                            axis: concat!($label, $(" (", $unit, ")")?),
                            text: concat!($($doc),*),
                            signed: false,
                            better: None,
                            of_nothing: f64::NAN,
                        };
                        declared$(.word(stringify!($word)))*
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

#[cfg(test)]
pub(crate) mod for_tests {
    crate::metrics! {
        /// Metrics of one replication.
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
    use super::Values;
    use super::for_tests::{Measured, Metric};

    fn measured(wait: f64) -> Values<Metric> {
        Measured { wait, gain: f64::NAN, jobs: f64::NAN, wait_of: vec![(2, 1.0), (4, wait)] }.into()
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
