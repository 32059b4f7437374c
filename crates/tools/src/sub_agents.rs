//! Sub-agents: tools that delegate tasks. The core starts a child run for each task, and the call
//! waits for the sub-agent results; the tools only validate the tasks.

mod agent_catalog;
mod agent_tool;
mod delegation;
mod spawn_child_runs;

#[cfg(test)]
#[path = "sub_agents/sub_agents_tests.rs"]
mod sub_agents_tests;

pub use agent_catalog::GENERAL_PURPOSE_AGENT;
pub use agent_tool::AgentTool;
pub use spawn_child_runs::SpawnChildRunsTool;

/// Maximum number of child runs that one call starts.
pub const MAX_CHILD_TASKS: usize = 4;
pub(crate) use delegation::delegation_facts;
