//! Watching a launch: counts, requests, checks of races, the report.

pub(crate) mod checks;
pub(crate) mod count;
pub(crate) mod observers;
pub(crate) mod record;
pub(crate) mod report;
