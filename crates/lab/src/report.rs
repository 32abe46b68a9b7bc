//! A report: its exhibits, with their numbers, in files and on the page.

pub mod exhibit;
#[doc(hidden)]
pub mod page;
pub mod shown;
#[doc(hidden)]
pub mod units;
