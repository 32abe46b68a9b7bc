//! Numbers of jobs, sites and processors, each a type of its own.

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
