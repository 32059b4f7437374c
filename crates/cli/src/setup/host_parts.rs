//! What is around the runtime of this process: a program at the other end of a channel, or a person who
//! reads its output.

use std::sync::Arc;

use windlass::AgentTasks;
use windlass::mcp::ServerSpec;
use windlass::ports::Clock;
use windlass::tools::{CommandHooks, OpenFiles};

use super::HookReportSink;
use crate::args::OutputArgs;

/// What the program at the other end of the SDK channel adds.
#[derive(Default)]
pub(crate) struct HostParts {
    /// Hooks that call the program.
    pub(crate) hooks: Option<CommandHooks>,
    /// MCP servers in the program.
    pub(crate) servers: Vec<ServerSpec>,
    /// Whether the program may add servers later.
    pub(crate) adds_servers: bool,
    /// Receives reports about hooks that are commands.
    pub(crate) hook_reports: Option<HookReportSink>,
    /// Whether sub-agents may work in the background: the program follows the conversation.
    pub(crate) background_agents: bool,
    /// Connects tools with the sub-agents in the background.
    pub(crate) agent_tasks: AgentTasks,
    /// Whether the model is told of date, platform, folder and git state.
    pub(crate) describes_environment: bool,
    /// The files that are open in an editor.
    pub(crate) open_files: Option<Arc<dyn OpenFiles>>,
}

impl HostParts {
    /// The clock for the environment, if the model is told of it.
    pub(super) fn context_clock<'c>(
        &self,
        clock: &'c Arc<dyn Clock>,
    ) -> Option<&'c Arc<dyn Clock>> {
        self.describes_environment.then_some(clock)
    }
}

/// Whether the process that runs a prompt stays until sub-agents in the background have returned: a
/// program that reads one result would not see what follows.
pub(crate) fn waits_for_background_agents(output: &OutputArgs) -> bool {
    !output.is_for_programs()
}
