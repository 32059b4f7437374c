//! Why a run stops: the stop table, the stop causes, and their names elsewhere.

mod stop_cause;
mod stop_table;

pub use stop_cause::{ResultSubtype, RunState, StopCause, TextPresence};
pub use stop_table::{ReplyAction, ReplyAnomaly, StopDecision, read_stop_reason};

#[cfg(test)]
mod stop_cause_tests;
#[cfg(test)]
mod stop_table_tests;
