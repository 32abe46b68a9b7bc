//! Numbers of servers, work stations and schedulers, each a type of its own.

sim_core::id! {
    /// Number of a server in the whole world, site by site. Among peers it is also the number of the peer.
    ServerId
}
sim_core::id! {
    /// Number of a work station in the whole world, site by site.
    StationId
}

sim_core::id! {
    /// Number of a scheduler in the whole world, tree by tree, level by level.
    SchedulerId
}

/// Converts a length to 32 bits, the width of all ids.
#[track_caller]
pub(crate) fn narrow(length: usize) -> u32 {
    u32::try_from(length).expect("fewer than 2³² of anything")
}
