//! Numbers by which jobs, sites and processors are known: a type for each, so that none is taken for another.

use serde::{Deserialize, Serialize};
use std::fmt;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub u32);

        impl $name {
            /// The id as a position in a vector.
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

id! {
    /// Number of a job within one run, in order of creation. A log's own number is the reader's business.
    JobId
}
id! {
    /// Number of a site: a cluster, a machine, whatever holds processors behind one local scheduler.
    SiteId
}
id! {
    /// Number of a processor within the whole system.
    ProcId
}
