//! `TodoWrite`: the list of tasks a model keeps for itself and its reader.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use windlass_core::facts::Facts;
use windlass_core::ids::LaneId;
use windlass_core::outcome::{Outcome, ToolError};
use windlass_core::raw::Raw;
use windlass_core::settings::ToolSpec;
use windlass_runtime::ports::{CallContext, Task, Tool};

use crate::input::{self, Input, unfit};
use crate::limits::{MAX_TODO_CHARS, MAX_TODOS};
use crate::offer::offer;
use crate::workplace::Workplace;

/// Keeps a list of tasks.
#[derive(Debug, Clone)]
pub struct TodoWrite {
    workplace: Workplace,
}

/// A task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Todo {
    /// What is to be done
    #[schemars(length(min = 1))]
    pub content: String,
    /// How far it is
    pub status: Status,
    /// The same as something that is being done, for whoever watches
    #[serde(rename = "activeForm", skip_serializing_if = "Option::is_none")]
    pub active_form: Option<String>,
}

/// How far a task is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Nobody has begun.
    Pending,
    /// It is being done.
    InProgress,
    /// It is done.
    Completed,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Asked {
    /// The whole list, in the place of the one before
    #[schemars(length(max = 100))]
    todos: Vec<Todo>,
}

impl Input for Asked {
    fn problem(&self) -> Option<String> {
        if self.todos.len() > MAX_TODOS {
            return Some(format!("a list has at most {MAX_TODOS} tasks"));
        }
        self.todos.iter().find_map(Todo::problem)
    }
}

impl Todo {
    fn problem(&self) -> Option<String> {
        let is_long = self.content.chars().count() > MAX_TODO_CHARS;
        match self.content.trim().is_empty() {
            true => Some("a task needs words".to_owned()),
            false => is_long.then(|| format!("a task has at most {MAX_TODO_CHARS} characters")),
        }
    }

    fn line(&self) -> String {
        let mark = match self.status {
            Status::Pending => ' ',
            Status::InProgress => '>',
            Status::Completed => 'x',
        };
        format!("[{mark}] {}\n", self.content.trim())
    }
}

const NOTE: &str = "todos";

impl Workplace {
    /// The list of tasks of the conversation on `lane`.
    #[must_use]
    pub fn todos(&self, lane: &LaneId) -> Vec<Todo> {
        self.desk(lane).get(NOTE).unwrap_or_default()
    }
}

impl TodoWrite {
    /// Keeps lists in `workplace`.
    #[must_use]
    pub fn new(workplace: impl Into<Workplace>) -> Self {
        Self { workplace: workplace.into() }
    }

    fn keep(&self, lane: &LaneId, input: &Raw) -> Result<Raw, ToolError> {
        let asked: Asked = input::read(input)?;
        self.workplace.desk(lane).put(NOTE, &asked.todos).map_err(|error| {
            ToolError::new(
                "not_kept",
                &format!("the list could not be kept: {error}"),
                "go on without it; the list stands in the conversation",
            )
        })?;
        let lines: String = asked.todos.iter().map(Todo::line).collect();
        Ok(Raw::string(if lines.is_empty() { "the list is empty" } else { &lines }))
    }
}

impl Tool for TodoWrite {
    fn needs_workspace(&self) -> bool {
        false
    }

    fn spec(&self) -> ToolSpec {
        offer::<Asked>(
            "TodoWrite",
            "Keeps the list of tasks: what is to be done, what is being done, what is done. Send \
             the whole list each time.",
        )
    }

    fn assess(&self, input: &Raw) -> Facts {
        // A list changes nothing in the world, so nobody need be asked about it.
        let facts = |asked: Asked| input::looks(vec![], &format!("{} tasks", asked.todos.len()));
        input::read(input).map_or_else(unfit, facts)
    }

    fn run(&self, context: CallContext, input: Raw) -> Task<'_, Outcome> {
        let kept = self.keep(&context.lane, &input);
        Box::pin(std::future::ready(kept.map_or_else(Outcome::Failed, Outcome::Done)))
    }
}
