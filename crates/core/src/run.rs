//! The state of a conversation and of its active run.

pub(crate) mod active_model;
pub mod active_run;
pub mod child_runs;
#[cfg(test)]
mod child_runs_tests;
pub mod conversation;
pub mod journal;
#[cfg(test)]
mod journal_tests;
pub mod prompt_change;
#[cfg(test)]
mod prompt_change_tests;
pub mod question;
#[cfg(test)]
mod question_tests;
pub mod review;
pub mod side_requests;
#[cfg(test)]
mod side_requests_tests;
pub mod wanted;
