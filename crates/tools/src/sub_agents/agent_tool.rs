//! `AgentTool`: one task for one sub-agent.

use schemars::JsonSchema;
use serde::Deserialize;
use windlass_core::call::outcome::ToolError;
use windlass_core::run::child_runs::ChildTask;
use windlass_core::settings::conversation_settings::Effort;

use super::agent_catalog::AgentCatalog;
use super::delegation::{DelegationInput, DelegationTool};
use crate::tool_definition::tool_input::ToolInput;

/// `AgentTool`: delegates a task to a sub-agent and waits for its answer.
pub type AgentTool = DelegationTool<AgentInput>;

/// The input: one task, and which agent does it.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AgentInput {
    /// The task in three to five words
    description: String,
    /// The task, self-contained: the sub-agent does not see this conversation
    #[schemars(length(min = 1))]
    prompt: String,
    /// The agent to use; default: one like you
    subagent_type: Option<String>,
    /// Reasoning effort: low, medium, high, xhigh or max; default: that of the agent
    effort: Option<String>,
    /// Return at once, where that is possible; the answer comes as a message
    run_in_background: Option<bool>,
}

/// Returns the error for an unknown effort.
pub(super) fn unknown_effort_error(word: &str) -> Option<String> {
    let is_unknown = Effort::from_name(word).is_none();
    is_unknown.then(|| format!("unknown effort {word}; use low, medium, high, xhigh or max"))
}

impl ToolInput for AgentInput {
    fn validation_error(&self) -> Option<String> {
        self.effort.as_deref().and_then(unknown_effort_error)
    }
}

impl DelegationInput for AgentInput {
    const NAME: &'static str = "Agent";
    const DESCRIPTION: &'static str = "Delegates a task to a sub-agent, which works in its own conversation and returns its final answer. Several calls in one turn run in parallel.";

    fn child_tasks(&self, known: &AgentCatalog) -> Result<Vec<ChildTask>, ToolError> {
        let effort = self.effort.as_deref().and_then(Effort::from_name);
        let task = known.build_task(&self.prompt, self.subagent_type.as_deref())?;
        Ok(vec![ChildTask { effort, ..task }])
    }

    fn is_in_background(&self, known: &AgentCatalog) -> Result<bool, ToolError> {
        known.is_in_background(self.subagent_type.as_deref(), self.run_in_background)
    }

    fn task_summary(&self) -> String {
        self.description.clone()
    }
}
