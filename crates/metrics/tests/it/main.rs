//! What must hold for any jobs: the streaming answers equal those of a plain twin over the collected records, intervals
//! cover what they claim to cover, and the examples print what they promise.

mod coverage;
mod examples;
mod output;
mod quantiles;
mod summary;
mod twin;
