//! Properties for any jobs: streaming results equal those of a plain twin over the collected records, intervals
//! have their stated coverage, and the examples print their expected output.

mod backlog;
mod best;
mod coverage;
mod examples;
mod output;
mod quantiles;
mod summary;
mod timeline;
mod twin;
mod warm_up;
