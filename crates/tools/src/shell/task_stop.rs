//! `TaskStopTool`: ends a background command or a sub-agent in the background.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use windlass_core::call::call_facts::{CallFacts, Repeatability};
use windlass_core::call::outcome::{ToolError, ToolOutcome};
use windlass_core::message::raw_json::RawJson;
use windlass_core::settings::conversation_settings::ToolSpec;
use windlass_runtime::ports::{BoxFuture, CallContext, Tool};

use crate::background_agents::{is_agent_id, unknown_agent_error};
use crate::limits::{MAX_TERMINATION_MS, PROCESS_POLL_MS};
use crate::tool_context::ToolContext;
use crate::tool_definition::tool_input::{self, ToolInput, problem_facts};
use crate::tool_definition::tool_spec::tool_spec;

/// Ends background commands and sub-agents in the background.
#[derive(Debug, Clone)]
pub struct TaskStopTool {
    tool_context: ToolContext,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TaskStopInput {
    /// Id of the background command or of the sub-agent in the background
    #[schemars(length(min = 1))]
    task_id: String,
}

impl ToolInput for TaskStopInput {}

impl TaskStopTool {
    /// Returns a tool that ends the commands started in `tool_context`.
    #[must_use]
    pub fn new(tool_context: impl Into<ToolContext>) -> Self {
        Self { tool_context: tool_context.into() }
    }

    async fn end_command(
        &self,
        context: CallContext,
        input: RawJson,
    ) -> Result<RawJson, ToolError> {
        let asked: TaskStopInput = tool_input::read_input(&input)?;
        if let Some(agents) = self.tool_context.background_agents()
            && is_agent_id(&asked.task_id)
        {
            return match agents.stop(&context.lane, &asked.task_id).await {
                true => Ok(RawJson::string(&format!("{} is being stopped", asked.task_id))),
                false => Err(unknown_agent_error(&asked.task_id)),
            };
        }
        let shell = self.tool_context.background_command(&context.lane, &asked.task_id)?;
        let id = &asked.task_id;
        if !shell.is_running() {
            return Ok(RawJson::string(&format!("{id} has already ended")));
        }
        shell.stop();
        let clock = self.tool_context.clock();
        let until = clock.monotonic_ms().saturating_add(MAX_TERMINATION_MS);
        while shell.is_running() && clock.monotonic_ms() < until {
            clock.sleep(PROCESS_POLL_MS).await;
        }
        let still = if shell.is_running() { " is still ending" } else { " has ended" };
        Ok(RawJson::string(&format!(
            "{id}{still}; its output is in {}",
            shell.output_path().display()
        )))
    }
}

impl Tool for TaskStopTool {
    fn spec(&self) -> ToolSpec {
        tool_spec::<TaskStopInput>(
            "TaskStop",
            "Ends a background command with all its processes, or a sub-agent in the background.",
        )
    }

    fn assess(&self, input: &RawJson) -> CallFacts {
        let facts = |asked: TaskStopInput| {
            let key: Arc<str> = Arc::from(format!("task:{}", asked.task_id));
            // A sub-agent belongs to the conversation that ends it.
            if is_agent_id(&asked.task_id) {
                return tool_input::read_only_facts(vec![key], &asked.task_id);
            }
            // Ending a command that has ended is harmless.
            CallFacts {
                repeat: Repeatability::Repeatable,
                ..tool_input::write_facts(vec![key], &asked.task_id)
            }
        };
        tool_input::read_input(input).map_or_else(problem_facts, facts)
    }

    fn run(&self, context: CallContext, input: RawJson) -> BoxFuture<'_, ToolOutcome> {
        Box::pin(async move {
            self.end_command(context, input)
                .await
                .map_or_else(ToolOutcome::Failed, ToolOutcome::Done)
        })
    }
}
