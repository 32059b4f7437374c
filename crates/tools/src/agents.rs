//! Handing work to children. The core begins a conversation for each task and the call waits for
//! what they bring back; the tools only say what a good task is.

mod agent;
mod handing;
mod known;
mod spawn;

#[cfg(test)]
#[path = "agents/agents_tests.rs"]
mod agents_tests;

pub use agent::Agent;
pub use known::LIKE_THE_PARENT;
pub use spawn::SpawnChildRuns;

/// Children that may be begun with one call.
pub const MAX_TASKS: usize = 4;
