//! Numbers of servers, work stations and schedulers, each a type of its own.

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
    /// Number of a server in the whole world, site by site. Among peers it is also the number of the peer.
    ServerId
}
id! {
    /// Number of a work station in the whole world, site by site.
    StationId
}

id! {
    /// Number of a scheduler in the whole world, tree by tree, level by level.
    SchedulerId
}

/// A length as a number of 32 bits: everything is numbered so.
#[track_caller]
pub(crate) fn narrow(length: usize) -> u32 {
    u32::try_from(length).expect("fewer than 2³² of anything")
}
