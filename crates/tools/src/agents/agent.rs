//! `Agent`: one task for one child.

use std::sync::Arc;

use serde::Deserialize;
use windlass_core::facts::Facts;
use windlass_core::outcome::{Outcome, ToolError};
use windlass_core::raw::Raw;
use windlass_core::settings::ToolSpec;
use windlass_runtime::ports::{CallContext, Task, Tool};

use super::{Known, facts, nobody_began};
use crate::input::{self, invalid, unfit};

/// `Agent`: hands a task to a child and waits for its answer.
#[derive(Debug, Clone, Default)]
pub struct Agent {
    known: Known,
}

const SCHEMA: &str = r#"{
  "type": "object",
  "properties": {
    "description": {"type": "string", "description": "The task in three to five words"},
    "prompt": {"type": "string", "minLength": 1, "description": "The task, complete in itself: the child sees nothing of this conversation"},
    "subagent_type": {"type": "string", "description": "Which agent does it; one like you if left out"},
    "run_in_background": {"type": "boolean", "description": "Only false: the call waits for the answer"}
  },
  "required": ["description", "prompt"],
  "additionalProperties": false
}"#;

const ABOUT: &str = "Hands a task to another agent, which works in a conversation of its own and returns its \
     final answer. Several calls in one turn work side by side.";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    description: Option<String>,
    prompt: String,
    subagent_type: Option<String>,
    run_in_background: Option<bool>,
}

impl input::Input for Input {}

impl Agent {
    /// The same tool with one more agent that tasks may name.
    #[must_use]
    pub fn with(mut self, name: &str, about: &str) -> Self {
        self.known = self.known.with(name, about);
        self
    }

    fn read(&self, input: &Raw) -> Result<Facts, ToolError> {
        let input: Input = input::read(input)?;
        if input.run_in_background == Some(true) {
            return Err(invalid(
                "a child cannot be left in the background; leave run_in_background out and the \
                 call waits for its answer",
            ));
        }
        let task = self.known.task(&input.prompt, input.subagent_type.as_deref())?;
        let summary = input.description.unwrap_or(input.prompt);
        Ok(facts(vec![task], &summary))
    }
}

impl Tool for Agent {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: Arc::from("Agent"),
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
