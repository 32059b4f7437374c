//! `spawn_child_runs`: several tasks at once.

use std::sync::Arc;

use serde::Deserialize;
use windlass_core::child;
use windlass_core::facts::Facts;
use windlass_core::outcome::{Outcome, ToolError};
use windlass_core::raw::Raw;
use windlass_core::settings::ToolSpec;
use windlass_runtime::ports::{CallContext, Task, Tool};

use super::{Known, MAX_TASKS, facts, nobody_began};
use crate::input::{self, invalid, unfit};

/// `spawn_child_runs`: hands out several tasks and waits for all answers.
#[derive(Debug, Clone, Default)]
pub struct SpawnChildRuns {
    known: Known,
}

const SCHEMA: &str = r#"{
  "type": "object",
  "properties": {
    "tasks": {
      "type": "array",
      "minItems": 1,
      "maxItems": 4,
      "items": {
        "type": "object",
        "properties": {
          "prompt": {"type": "string", "minLength": 1, "description": "The task, complete in itself"},
          "agent": {"type": "string", "description": "Which agent does it; one like you if left out"}
        },
        "required": ["prompt"],
        "additionalProperties": false
      }
    }
  },
  "required": ["tasks"],
  "additionalProperties": false
}"#;

const ABOUT: &str = "Hands out up to four tasks at once. Each is done in a conversation of its own; the call \
     returns when all have answered, with the answers in the order of the tasks.";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    tasks: Vec<One>,
}

impl input::Input for Input {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct One {
    prompt: String,
    agent: Option<String>,
}

impl SpawnChildRuns {
    /// The same tool with one more agent that tasks may name.
    #[must_use]
    pub fn with(mut self, name: &str, about: &str) -> Self {
        self.known = self.known.with(name, about);
        self
    }

    fn read(&self, input: &Raw) -> Result<Facts, ToolError> {
        let Input { tasks } = input::read(input)?;
        if tasks.is_empty() || tasks.len() > MAX_TASKS {
            return Err(invalid(&format!(
                "hand out between 1 and {MAX_TASKS} tasks with one call, not {}",
                tasks.len()
            )));
        }
        let task = |one: &One| self.known.task(&one.prompt, one.agent.as_deref());
        let children: Vec<child::Task> = tasks.iter().map(task).collect::<Result<_, _>>()?;
        let texts: Vec<&str> = children.iter().map(|task| &*task.prompt).collect();
        let summary = texts.join(" / ");
        Ok(facts(children, &summary))
    }
}

impl Tool for SpawnChildRuns {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: Arc::from("spawn_child_runs"),
            description: self.known.description(ABOUT),
            input_schema: Raw::parse(SCHEMA).unwrap_or_else(|_| Raw::string(SCHEMA)),
        }
    }

    fn assess(&self, input: &Raw) -> Facts {
        self.read(input).unwrap_or_else(unfit)
    }

    fn run(&self, _context: CallContext, _input: Raw) -> Task<'_, Outcome> {
        Box::pin(std::future::ready(nobody_began()))
    }
}
