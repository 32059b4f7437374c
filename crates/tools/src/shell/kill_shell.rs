//! `KillShellTool`: ends a background command.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use windlass_core::call::call_facts::{CallFacts, Repeatability};
use windlass_core::call::outcome::{ToolError, ToolOutcome};
use windlass_core::message::raw_json::RawJson;
use windlass_core::settings::conversation_settings::ToolSpec;
use windlass_runtime::ports::{BoxFuture, CallContext, Tool};

use crate::limits::{MAX_TERMINATION_MS, PROCESS_POLL_MS};
use crate::tool_context::ToolContext;
use crate::tool_definition::tool_input::{self, ToolInput, problem_facts};
use crate::tool_definition::tool_spec::tool_spec;

/// Ends background commands.
#[derive(Debug, Clone)]
pub struct KillShellTool {
    tool_context: ToolContext,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct KillShellInput {
    /// Id of the background command, as returned by Bash
    #[schemars(length(min = 1))]
    shell_id: String,
}

impl ToolInput for KillShellInput {}

impl KillShellTool {
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
        let asked: KillShellInput = tool_input::read_input(&input)?;
        let shell = self.tool_context.background_command(&context.lane, &asked.shell_id)?;
        let id = &asked.shell_id;
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

impl Tool for KillShellTool {
    fn spec(&self) -> ToolSpec {
        tool_spec::<KillShellInput>("KillShell", "Ends a background command and all its processes.")
    }

    fn assess(&self, input: &RawJson) -> CallFacts {
        let facts = |asked: KillShellInput| {
            let key: Arc<str> = Arc::from(format!("shell:{}", asked.shell_id));
            // Ending a command that has ended is harmless.
            CallFacts {
                repeat: Repeatability::Repeatable,
                ..tool_input::write_facts(vec![key], &asked.shell_id)
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
