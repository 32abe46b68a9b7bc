//! Numbers of jobs, sites and processors, each a type of its own; sets of sites.

use serde::{Deserialize, Serialize};

/// Declares types of numbers: each is a `u32` that indexes a vector and is serialized as a plain number.
///
/// ```
/// sim_core::id! {
///     /// Number of a rack within the machine room.
///     RackId
/// }
/// assert_eq!(RackId(7).index(), 7);
/// assert_eq!(RackId(7).to_string(), "7");
/// ```
///
/// The calling crate needs `serde` with its derives.
#[macro_export]
macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, ::serde::Serialize, ::serde::Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub u32);

        impl $name {
            /// The id as a position in a vector.
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

id! {
    /// Number of a job within one run, in order of creation. Numbers of a log are resolved by its reader.
    JobId
}
id! {
    /// Number of a site: a cluster, a machine, or any set of processors behind one local scheduler.
    SiteId
}
id! {
    /// Number of a processor within the whole system.
    ProcId
}

/// Set of sites, such as those on which a job may run.
///
/// It distinguishes the sites 0 to 126. All further ones are members together or not at all. It is serialized as the
/// list of its members, in which 127 stands for itself and all beyond.
///
/// ```
/// use sim_core::{SiteId, SiteSet};
///
/// let some = SiteSet::NONE.with(SiteId(0)).with(SiteId(3));
/// assert!(some.contains(SiteId(3)) && !some.contains(SiteId(1)));
/// assert!(SiteSet::ALL.contains(SiteId(1_000)));
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "Vec<SiteId>", into = "Vec<SiteId>")]
pub struct SiteSet(u128);

impl SiteSet {
    /// Every site.
    pub const ALL: Self = Self(u128::MAX);
    /// No site.
    pub const NONE: Self = Self(0);
    /// Stands for itself and all beyond.
    const LAST: u32 = u128::BITS - 1;

    /// Returns the set with `site` added; above 126, with all sites above 126 added.
    #[must_use]
    pub const fn with(self, site: SiteId) -> Self {
        Self(self.0 | Self::bit(site))
    }

    /// Returns true if `site` is a member.
    #[inline]
    pub const fn contains(self, site: SiteId) -> bool {
        self.0 & Self::bit(site) != 0
    }

    /// Returns true if every site is a member.
    pub const fn is_all(&self) -> bool {
        self.0 == Self::ALL.0
    }

    const fn bit(site: SiteId) -> u128 {
        1 << if site.0 < Self::LAST { site.0 } else { Self::LAST }
    }
}

impl Default for SiteSet {
    /// [`ALL`](Self::ALL).
    fn default() -> Self {
        Self::ALL
    }
}

impl FromIterator<SiteId> for SiteSet {
    fn from_iter<I: IntoIterator<Item = SiteId>>(sites: I) -> Self {
        sites.into_iter().fold(Self::NONE, Self::with)
    }
}

impl From<Vec<SiteId>> for SiteSet {
    fn from(sites: Vec<SiteId>) -> Self {
        sites.into_iter().collect()
    }
}

impl From<SiteSet> for Vec<SiteId> {
    fn from(set: SiteSet) -> Self {
        (0..=SiteSet::LAST).map(SiteId).filter(|site| set.contains(*site)).collect()
    }
}
