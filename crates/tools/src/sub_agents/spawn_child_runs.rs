//! `spawn_child_runs`: delegates several tasks at once.

use schemars::JsonSchema;
use serde::Deserialize;
use windlass_core::call::outcome::ToolError;
use windlass_core::run::child_runs::ChildTask;
use windlass_core::settings::conversation_settings::Effort;

use super::MAX_CHILD_TASKS;
use super::agent_catalog::AgentCatalog;
use super::agent_tool::unknown_effort_error;
use super::delegation::{DelegationInput, DelegationTool};
use crate::tool_definition::tool_input::ToolInput;

/// `spawn_child_runs`: starts several child runs and waits for all their results.
pub type SpawnChildRunsTool = DelegationTool<SpawnChildRunsInput>;

/// The input: several tasks.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SpawnChildRunsInput {
    #[schemars(length(min = 1, max = 4))]
    tasks: Vec<ChildTaskInput>,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ChildTaskInput {
    /// The task, self-contained: the sub-agent does not see this conversation
    #[schemars(length(min = 1))]
    prompt: String,
    /// The agent to use; default: one like you
    agent: Option<String>,
    /// Reasoning effort: low, medium, high, xhigh or max; default: that of the agent
    effort: Option<String>,
}

impl ToolInput for SpawnChildRunsInput {
    fn validation_error(&self) -> Option<String> {
        let efforts = self.tasks.iter().filter_map(|one| one.effort.as_deref());
        if let Some(problem) = efforts.filter_map(unknown_effort_error).next() {
            return Some(problem);
        }
        let count = self.tasks.len();
        let fits = (1..=MAX_CHILD_TASKS).contains(&count);
        (!fits).then(|| format!("pass between 1 and {MAX_CHILD_TASKS} tasks per call, not {count}"))
    }
}

impl DelegationInput for SpawnChildRunsInput {
    const NAME: &'static str = "spawn_child_runs";
    const DESCRIPTION: &'static str = "Delegates up to four tasks at once. Each runs in its own conversation; the call returns when all have answered, in the order of the tasks.";

    fn child_tasks(&self, known: &AgentCatalog) -> Result<Vec<ChildTask>, ToolError> {
        let task = |one: &ChildTaskInput| {
            let effort = one.effort.as_deref().and_then(Effort::from_name);
            let task = known.build_task(&one.prompt, one.agent.as_deref())?;
            Ok(ChildTask { effort, ..task })
        };
        self.tasks.iter().map(task).collect()
    }

    fn task_summary(&self) -> String {
        let texts: Vec<&str> = self.tasks.iter().map(|one| one.prompt.as_str()).collect();
        texts.join(" / ")
    }
}
