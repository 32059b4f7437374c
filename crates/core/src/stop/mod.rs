//! Why a run stops: the stop-reason table, the stop causes, and how each is called elsewhere.

mod cause;
mod table;

pub use cause::{RunState, StopCause, Subtype, Text};
pub use table::{Anomaly, Decision, Next, read};

#[cfg(test)]
mod cause_tests;
#[cfg(test)]
mod table_tests;
