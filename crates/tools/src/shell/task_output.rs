//! `TaskOutputTool`: returns the new output of a background command, or what a sub-agent in the
//! background has done so far.

use std::sync::Arc;

use grep_matcher::Matcher;
use schemars::JsonSchema;
use serde::Deserialize;
use windlass_core::call::call_facts::CallFacts;
use windlass_core::call::outcome::{ToolError, ToolOutcome};
use windlass_core::message::raw_json::RawJson;
use windlass_core::settings::conversation_settings::ToolSpec;
use windlass_runtime::ports::{BoxFuture, CallContext, Tool};

use super::background_commands::BackgroundCommand;
use super::report;
use crate::background_agents::{is_agent_id, unknown_agent_error};
use crate::limits::PROCESS_POLL_MS;
use crate::tool_context::ToolContext;
use crate::tool_definition::tool_input::{self, ToolInput, problem_facts};
use crate::tool_definition::tool_spec::tool_spec;

/// Time between two looks at a sub-agent, in milliseconds.
const AGENT_POLL_MS: u64 = 500;

/// How long a call waits at most if it waits, in milliseconds.
const DEFAULT_WAIT_MS: u64 = 30_000;
const MAX_WAIT_MS: u64 = 600_000;

/// Returns the output of background commands and of sub-agents in the background.
#[derive(Debug, Clone)]
pub struct TaskOutputTool {
    tool_context: ToolContext,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TaskOutputInput {
    /// Id of the background command or of the sub-agent in the background
    #[schemars(length(min = 1))]
    task_id: String,
    /// Wait until the task has ended; default: return at once
    block: Option<bool>,
    /// Milliseconds to wait at most; default: 30000, at most 600000
    #[schemars(range(min = 0, max = 600_000))]
    timeout: Option<u64>,
    /// Regular expression: only matching lines of a command are returned; the others are discarded
    filter: Option<String>,
}

impl ToolInput for TaskOutputInput {
    fn validation_error(&self) -> Option<String> {
        let late = self.timeout.filter(|timeout| *timeout > MAX_WAIT_MS);
        late.map(|timeout| format!("timeout is {timeout}; give at most {MAX_WAIT_MS} milliseconds"))
    }
}

impl TaskOutputInput {
    /// How long to wait for the end of the task.
    fn wait_ms(&self) -> u64 {
        match self.block {
            Some(true) => self.timeout.unwrap_or(DEFAULT_WAIT_MS),
            Some(false) | None => 0,
        }
    }
}

impl TaskOutputTool {
    /// Returns a tool for the commands started in `tool_context`, and for the sub-agents that it
    /// knows.
    #[must_use]
    pub fn new(tool_context: impl Into<ToolContext>) -> Self {
        Self { tool_context: tool_context.into() }
    }

    async fn output_of(&self, context: CallContext, input: RawJson) -> Result<RawJson, ToolError> {
        let asked: TaskOutputInput = tool_input::read_input(&input)?;
        let clock = self.tool_context.clock();
        let until = clock.monotonic_ms().saturating_add(asked.wait_ms());
        if let Some(agents) = self.tool_context.background_agents()
            && is_agent_id(&asked.task_id)
        {
            loop {
                let state = agents.inspect(&context.lane, &asked.task_id).await;
                let state = state.ok_or_else(|| unknown_agent_error(&asked.task_id))?;
                if !state.is_running || clock.monotonic_ms() >= until {
                    return Ok(RawJson::string(&state.text));
                }
                clock.sleep(AGENT_POLL_MS).await;
            }
        }
        let shell = self.tool_context.background_command(&context.lane, &asked.task_id)?;
        while shell.is_running() && clock.monotonic_ms() < until {
            clock.sleep(PROCESS_POLL_MS).await;
        }
        read_output(&shell, &asked)
    }
}

/// Reads the new output of a command.
fn read_output(shell: &BackgroundCommand, asked: &TaskOutputInput) -> Result<RawJson, ToolError> {
    let filter = asked.filter.as_deref().map(crate::search::line_regex).transpose()?;
    let state = report::describe_state(shell);
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

fn unreadable_output_error(error: &std::io::Error) -> ToolError {
    ToolError::new(
        "read_failed",
        &format!("the output cannot be read: {error}"),
        "start the command again, sending its output to a file",
    )
}

impl Tool for TaskOutputTool {
    fn spec(&self) -> ToolSpec {
        tool_spec::<TaskOutputInput>(
            "TaskOutput",
            "Returns the new output of a background command, or what a sub-agent in the background has done so far, and whether it is still running. The answer of a sub-agent comes as a message by itself.",
        )
    }

    fn assess(&self, input: &RawJson) -> CallFacts {
        let facts = |asked: TaskOutputInput| {
            let key: Arc<str> = Arc::from(format!("task:{}", asked.task_id));
            let facts = tool_input::read_only_facts(vec![key], &asked.task_id);
            CallFacts { timeout_ms: facts.timeout_ms.saturating_add(asked.wait_ms()), ..facts }
        };
        tool_input::read_input(input).map_or_else(problem_facts, facts)
    }

    fn run(&self, context: CallContext, input: RawJson) -> BoxFuture<'_, ToolOutcome> {
        Box::pin(async move {
            let found = self.output_of(context, input).await;
            found.map_or_else(ToolOutcome::Failed, ToolOutcome::Done)
        })
    }
}
