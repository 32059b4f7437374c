//! Sub-agents in the background, as tools see them: what one has done so far, and its end. The runtime
//! keeps them; a program connects the two.

use windlass_core::call::outcome::ToolError;
use windlass_core::log::ids::LaneId;
use windlass_core::message::prompt_texts::BACKGROUND_AGENT_PREFIX;
use windlass_runtime::ports::BoxFuture;

/// What a sub-agent in the background has done so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackgroundAgentState {
    /// Whether it still works.
    pub is_running: bool,
    /// What the model reads about it.
    pub text: String,
}

/// The sub-agents in the background of conversations, by the ids that the model knows.
pub trait BackgroundAgents: Send + Sync + 'static {
    /// Returns the state of a sub-agent of `parent`; `None` if it has no such sub-agent.
    fn inspect<'a>(
        &'a self,
        parent: &'a LaneId,
        id: &'a str,
    ) -> BoxFuture<'a, Option<BackgroundAgentState>>;

    /// Stops a sub-agent of `parent`; returns whether it has one that works.
    fn stop<'a>(&'a self, parent: &'a LaneId, id: &'a str) -> BoxFuture<'a, bool>;
}

/// Returns whether an id is that of a sub-agent rather than of a command.
#[cfg_attr(not(feature = "shell"), expect(dead_code, reason = "used by the tools for commands"))]
pub(crate) fn is_agent_id(id: &str) -> bool {
    id.starts_with(BACKGROUND_AGENT_PREFIX)
}

#[cfg_attr(not(feature = "shell"), expect(dead_code, reason = "used by the tools for commands"))]
pub(crate) fn unknown_agent_error(id: &str) -> ToolError {
    let hint = "use the id with which the sub-agent was started; the answer of one that has returned came as a message";
    ToolError::new("unknown_agent", &format!("no sub-agent {id:?} in the background"), hint)
}
