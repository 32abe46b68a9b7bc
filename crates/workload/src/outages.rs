//! Outages of machines: drawn from a model, or read from a trace.
//!
//! The model is the customary one: each machine works for an exponential time and is then under repair for an exponential
//! time, independent of all others. A trace is a CSV file with the columns `machine,down,up`.

mod drawn;
mod trace;

pub use drawn::DrawnOutages;
pub use trace::OutageTrace;

use crate::error::{InputError, TextError};
use crate::file;
use crate::swf::decimal;
use sim_core::{Outage, Span, Streams};
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// Source of outages.
///
/// ```
/// use sim_core::{Span, Streams};
/// use workload::Outages;
///
/// let outages: Outages = "mtbf:30d,mttr:4h".parse()?;
/// assert_eq!(outages, Outages::Drawn { mtbf: Span::from_secs(30 * 86_400), mttr: Span::from_secs(4 * 3_600) });
///
/// let machines = ["zewura", "zegox"];
/// let first = outages.stream(&machines, &Streams::new(1, 0))?.next().expect("it has no end")?;
/// assert!(first.down < first.up);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outages {
    /// Exponential times, the same means for every machine.
    Drawn {
        /// Mean time from the start, or from a repair, to the next failure.
        mtbf: Span,
        /// Mean time from a failure to the end of its repair.
        mttr: Span,
    },
    /// A CSV file: see [`OutageTrace`].
    Trace(PathBuf),
}

impl Outages {
    /// Expected time of a repair: the mean, if outages are drawn. A trace announces none.
    pub const fn repair_expected(&self) -> Option<Span> {
        match self {
            Self::Drawn { mttr, .. } => Some(*mttr),
            Self::Trace(_) => None,
        }
    }

    /// Streams the outages of `machines`, in order of their beginning; drawn ones at one instant in the order of the
    /// machines. Drawn outages have no end.
    ///
    /// # Errors
    ///
    /// If the trace cannot be opened or has another header. Each item of a trace can be an error, too.
    pub fn stream(&self, machines: &[impl AsRef<str>], streams: &Streams) -> Result<OutageStream, InputError> {
        match self {
            Self::Drawn { mtbf, mttr } => {
                let sites = u32::try_from(machines.len()).expect("fewer than 4 billion machines");
                Ok(Box::new(DrawnOutages::new(*mtbf, *mttr, sites, streams).map(Ok)))
            }
            Self::Trace(path) => Ok(Box::new(OutageTrace::from_read(path, file::open(path)?, machines)?)),
        }
    }
}

/// Outages from either source. Drawn ones are never an error.
pub type OutageStream = Box<dyn Iterator<Item = Result<Outage, InputError>> + Send>;

impl FromStr for Outages {
    type Err = TextError;

    /// Parses `mtbf:30d,mttr:4h`, or the name of a file. A file whose name begins like a mean needs a folder before it.
    fn from_str(text: &str) -> Result<Self, TextError> {
        let expected =
            "outages: expected a file name, or mtbf:SPAN,mttr:SPAN with spans above 0 such as 90s, 15m, 4h, 1.5d,";
        let refused = || TextError::new(expected, text);
        let Some(rest) = text.strip_prefix("mtbf:") else {
            // Means in another order are not taken for a file name.
            let is_file = !text.is_empty() && !text.starts_with("mttr:");
            return if is_file { Ok(Self::Trace(text.into())) } else { Err(refused()) };
        };
        let (mtbf, mttr) = rest.split_once(",mttr:").ok_or_else(refused)?;
        let mean = |text| span(text).filter(|mean| !mean.is_zero()).ok_or_else(refused);
        let (mtbf, mttr) = (mean(mtbf)?, mean(mttr)?);
        Ok(Self::Drawn { mtbf, mttr })
    }
}

const UNITS: [(char, u64); 4] = [('d', 86_400), ('h', 3_600), ('m', 60), ('s', 1)];

/// Parses a span such as `90s`, `15m`, `1.5h` or `30d`: at most 136 years.
pub fn span(text: &str) -> Option<Span> {
    let (unit, seconds) = UNITS.into_iter().find(|(unit, _)| text.ends_with(*unit))?;
    let number = decimal::parse(text.strip_suffix(unit)?.as_bytes())?;
    let whole = number.whole.checked_mul(seconds).filter(|whole| *whole <= decimal::LONGEST)?;
    let nanos = 1_000_000_000 * whole + u64::from(number.billionths) * seconds;
    (!number.is_negative() && nanos <= 1_000_000_000 * decimal::LONGEST).then_some(Span::from_nanos(nanos))
}

/// Formats a span in the largest unit of which it is a whole multiple.
fn in_units(span: Span) -> String {
    let nanos = span.as_nanos();
    match UNITS.into_iter().find(|(_, seconds)| nanos.is_multiple_of(1_000_000_000 * seconds)) {
        Some((unit, seconds)) => format!("{}{unit}", nanos / 1_000_000_000 / seconds),
        None => format!("{span}s"),
    }
}

impl fmt::Display for Outages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Drawn { mtbf, mttr } => write!(f, "mtbf:{},mttr:{}", in_units(*mtbf), in_units(*mttr)),
            Self::Trace(path) => path.display().fmt(f),
        }
    }
}
