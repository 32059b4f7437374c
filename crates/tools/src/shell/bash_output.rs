//! `BashOutputTool`: returns the new output of a background command.

use std::sync::Arc;

use grep_matcher::Matcher;
use schemars::JsonSchema;
use serde::Deserialize;
use windlass_core::call::call_facts::CallFacts;
use windlass_core::call::outcome::{ToolError, ToolOutcome};
use windlass_core::message::raw_json::RawJson;
use windlass_core::settings::conversation_settings::ToolSpec;
use windlass_runtime::ports::{BoxFuture, CallContext, Tool};

use super::report;
use crate::tool_context::ToolContext;
use crate::tool_definition::tool_input::{self, ToolInput, problem_facts};
use crate::tool_definition::tool_spec::tool_spec;

/// Polls background commands.
#[derive(Debug, Clone)]
pub struct BashOutputTool {
    tool_context: ToolContext,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct BashOutputInput {
    /// Id of the background command, as returned by Bash
    #[schemars(length(min = 1))]
    bash_id: String,
    /// Regular expression: only matching lines are returned; the others are discarded
    filter: Option<String>,
}

impl ToolInput for BashOutputInput {}

impl BashOutputTool {
    /// Returns a tool that polls the commands started in `tool_context`.
    #[must_use]
    pub fn new(tool_context: impl Into<ToolContext>) -> Self {
        Self { tool_context: tool_context.into() }
    }

    fn read_output(&self, context: &CallContext, input: &RawJson) -> Result<RawJson, ToolError> {
        let asked: BashOutputInput = tool_input::read_input(input)?;
        let shell = self.tool_context.background_command(&context.lane, &asked.bash_id)?;
        let filter = asked.filter.as_deref().map(crate::search::line_regex).transpose()?;
        let state = report::describe_state(&shell);
        let bytes = shell.read_new_output().map_err(|error| unreadable_output_error(&error))?;
        let text = match filter {
            Some(filter) => bytes
                .split_inclusive(|byte| *byte == b'\n')
                .filter(|line| filter.is_match(line).unwrap_or(false))
                .map(String::from_utf8_lossy)
                .collect(),
            None => String::from_utf8_lossy(&bytes).into_owned(),
        };
        let said = if text.is_empty() { "(no new output)\n".to_owned() } else { text };
        Ok(RawJson::string(&format!("[{state}]\n{said}")))
    }
}

fn unreadable_output_error(error: &std::io::Error) -> ToolError {
    ToolError::new(
        "read_failed",
        &format!("the output cannot be read: {error}"),
        "start the command again, sending its output to a file",
    )
}

impl Tool for BashOutputTool {
    fn spec(&self) -> ToolSpec {
        tool_spec::<BashOutputInput>(
            "BashOutput",
            "Returns the new output of a background command and whether it is still running.",
        )
    }

    fn assess(&self, input: &RawJson) -> CallFacts {
        let facts = |asked: BashOutputInput| {
            let key: Arc<str> = Arc::from(format!("shell:{}", asked.bash_id));
            tool_input::read_only_facts(vec![key], &asked.bash_id)
        };
        tool_input::read_input(input).map_or_else(problem_facts, facts)
    }

    fn run(&self, context: CallContext, input: RawJson) -> BoxFuture<'_, ToolOutcome> {
        let found = self.read_output(&context, &input);
        let outcome = found.map_or_else(ToolOutcome::Failed, ToolOutcome::Done);
        Box::pin(std::future::ready(outcome))
    }
}
