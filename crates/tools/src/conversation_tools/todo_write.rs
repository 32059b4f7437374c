//! `TodoWriteTool`: the task list that a model keeps for itself and the user.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use windlass_core::call::call_facts::CallFacts;
use windlass_core::call::outcome::{ToolError, ToolOutcome};
use windlass_core::log::ids::LaneId;
use windlass_core::message::raw_json::RawJson;
use windlass_core::settings::conversation_settings::ToolSpec;
use windlass_runtime::ports::{BoxFuture, CallContext, Tool};

use crate::limits::{MAX_TODO_CHARS, MAX_TODOS};
use crate::tool_context::ToolContext;
use crate::tool_definition::tool_input::{self, ToolInput, problem_facts};
use crate::tool_definition::tool_spec::tool_spec;

/// Keeps a list of tasks.
#[derive(Debug, Clone)]
pub struct TodoWriteTool {
    tool_context: ToolContext,
}

/// A task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TodoItem {
    /// The task
    #[schemars(length(min = 1))]
    pub content: String,
    /// Status of the task
    pub status: TodoStatus,
    /// The task in progressive form, for display, such as "Running tests"
    #[serde(rename = "activeForm", skip_serializing_if = "Option::is_none")]
    pub active_form: Option<String>,
}

/// How far a task is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TodoStatus {
    /// Not started.
    Pending,
    /// In progress.
    InProgress,
    /// Completed.
    Completed,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TodoWriteInput {
    /// The whole list; it replaces the previous one
    #[schemars(length(max = 100))]
    todos: Vec<TodoItem>,
}

impl ToolInput for TodoWriteInput {
    fn validation_error(&self) -> Option<String> {
        if self.todos.len() > MAX_TODOS {
            return Some(format!("a list has at most {MAX_TODOS} tasks"));
        }
        self.todos.iter().find_map(TodoItem::validation_error)
    }
}

impl TodoItem {
    fn validation_error(&self) -> Option<String> {
        let is_long = self.content.chars().count() > MAX_TODO_CHARS;
        match self.content.trim().is_empty() {
            true => Some("a task must not be empty".to_owned()),
            false => is_long.then(|| format!("a task has at most {MAX_TODO_CHARS} characters")),
        }
    }

    fn to_line(&self) -> String {
        let mark = match self.status {
            TodoStatus::Pending => ' ',
            TodoStatus::InProgress => '>',
            TodoStatus::Completed => 'x',
        };
        format!("[{mark}] {}\n", self.content.trim())
    }
}

const TODO_NOTE: &str = "todos";

impl ToolContext {
    /// Returns the task list of the conversation on `lane`.
    #[must_use]
    pub fn todos(&self, lane: &LaneId) -> Vec<TodoItem> {
        self.tool_state(lane).read_note(TODO_NOTE).unwrap_or_default()
    }
}

impl TodoWriteTool {
    /// Returns a tool that keeps lists in the tool state of `tool_context`.
    #[must_use]
    pub fn new(tool_context: impl Into<ToolContext>) -> Self {
        Self { tool_context: tool_context.into() }
    }

    fn write_list(&self, lane: &LaneId, input: &RawJson) -> Result<RawJson, ToolError> {
        let asked: TodoWriteInput = tool_input::read_input(input)?;
        self.tool_context.tool_state(lane).write_note(TODO_NOTE, &asked.todos).map_err(
            |error| {
                ToolError::new(
                    "not_saved",
                    &format!("the list could not be saved: {error}"),
                    "continue without it; the list is in the conversation",
                )
            },
        )?;
        let lines: String = asked.todos.iter().map(TodoItem::to_line).collect();
        Ok(RawJson::string(if lines.is_empty() { "the list is empty" } else { &lines }))
    }
}

impl Tool for TodoWriteTool {
    fn needs_workspace(&self) -> bool {
        false
    }

    fn spec(&self) -> ToolSpec {
        tool_spec::<TodoWriteInput>(
            "TodoWrite",
            "Maintains the task list (pending, in progress, completed). Send the whole list each time.",
        )
    }

    fn assess(&self, input: &RawJson) -> CallFacts {
        // Changes nothing outside, so no approval is needed.
        let facts = |asked: TodoWriteInput| {
            tool_input::read_only_facts(vec![], &format!("{} tasks", asked.todos.len()))
        };
        tool_input::read_input(input).map_or_else(problem_facts, facts)
    }

    fn run(&self, context: CallContext, input: RawJson) -> BoxFuture<'_, ToolOutcome> {
        let kept = self.write_list(&context.lane, &input);
        Box::pin(std::future::ready(kept.map_or_else(ToolOutcome::Failed, ToolOutcome::Done)))
    }
}
