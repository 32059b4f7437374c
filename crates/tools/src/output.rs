//! `StructuredOutput`: the answer as data. Its schema is the caller's, so it is checked once when
//! the tool is made, and every answer is checked against it before it counts.

use std::sync::Arc;

use jsonschema::Validator;
use serde_json::Value;
use windlass_core::facts::{AnsweredBy, Facts, Interrupt, Repeat, Verify};
use windlass_core::gate::Output;
use windlass_core::order::Touches;
use windlass_core::outcome::{Outcome, ToolError};
use windlass_core::raw::Raw;
use windlass_core::settings::ToolSpec;
use windlass_runtime::ports::{CallContext, Task, Tool};

use crate::input::{invalid, unfit};
use crate::limits::TIMEOUT_MS;

#[cfg(test)]
#[path = "output/output_tests.rs"]
mod output_tests;

/// Bytes of a schema.
const MAX_SCHEMA_BYTES: usize = 256 * 1024;

/// Violations told at once.
const MAX_VIOLATIONS: usize = 8;

/// Characters of one violation.
const VIOLATION_CHARS: usize = 300;

/// A schema that is not one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the output schema cannot be used: {0}")]
pub struct BadSchema(String);

/// `StructuredOutput`: takes the answer that fits a schema.
#[derive(Debug)]
pub struct StructuredOutput {
    schema: Raw,
    /// None where any object is an answer.
    validator: Option<Validator>,
}

impl StructuredOutput {
    /// The name it is called by.
    pub const NAME: &str = "StructuredOutput";

    /// A tool that takes what fits `schema`, which is JSON Schema for an object.
    pub fn new(schema: &str) -> Result<Self, BadSchema> {
        let bad = |why: &str| BadSchema(why.to_owned());
        if schema.len() > MAX_SCHEMA_BYTES {
            return Err(bad(&format!("it is larger than {MAX_SCHEMA_BYTES} bytes")));
        }
        let value: Value = serde_json::from_str(schema)
            .map_err(|error| BadSchema(format!("it is not JSON ({error})")))?;
        let kind = value.as_object().ok_or_else(|| bad("it is not a JSON object"))?.get("type");
        if kind.is_some_and(|kind| kind != "object") {
            return Err(bad("a tool takes an object; wrap it in one: {\"type\": \"object\", …}"));
        }
        // References to files and addresses are not followed: the crate is built without.
        let validator = jsonschema::validator_for(&value)
            .map_err(|error| BadSchema(short(&error.to_string())))?;
        let schema = Raw::parse(schema).map_err(|error| BadSchema(error.to_string()))?;
        Ok(Self { schema, validator: Some(validator) })
    }

    /// A tool that takes any object. To compile a schema is the dearest part of starting a process
    /// that needs none.
    #[must_use]
    pub fn of_any_object() -> Self {
        let schema = Raw::encode(&serde_json::json!({ "type": "object" }));
        Self { schema, validator: None }
    }

    /// What the settings of a conversation say that answers through this tool.
    #[must_use]
    pub fn output() -> Output {
        Output { tool: Arc::from(Self::NAME) }
    }

    fn problem(&self, input: &Raw) -> Option<ToolError> {
        let value: Value = match input.read() {
            Ok(value) => value,
            Err(error) => return Some(invalid(&format!("the input is not JSON: {error}"))),
        };
        let told = |error: jsonschema::ValidationError<'_>| match error.instance_path().as_str() {
            "" => short(&error.to_string()),
            place => format!("{place}: {}", short(&error.to_string())),
        };
        let errors = self.validator.iter().flat_map(|validator| validator.iter_errors(&value));
        let found: Vec<String> = errors.take(MAX_VIOLATIONS).map(told).collect();
        let why = found.join("; ");
        (!found.is_empty()).then(|| invalid(&format!("the answer does not fit its schema: {why}")))
    }
}

fn short(text: &str) -> String {
    text.chars().take(VIOLATION_CHARS).collect()
}

impl Tool for StructuredOutput {
    fn needs_workspace(&self) -> bool {
        false
    }

    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: Arc::from(Self::NAME),
            description: Arc::from("Gives the final answer. Call it once, when the work is done."),
            input_schema: self.schema.clone(),
        }
    }

    fn assess(&self, input: &Raw) -> Facts {
        match self.problem(input) {
            Some(problem) => unfit(problem),
            None => Facts {
                touches: Touches::Reads(Vec::new()),
                repeat: Repeat::Repeatable,
                interrupt: Interrupt::Interruptible,
                verify: Verify::CannotTell,
                answered_by: AnsweredBy::Tool,
                timeout_ms: TIMEOUT_MS,
                ..Facts::default()
            },
        }
    }

    fn run(&self, _context: CallContext, _input: Raw) -> Task<'_, Outcome> {
        let taken = Outcome::Done(Raw::string("the answer was taken"));
        Box::pin(std::future::ready(taken))
    }
}
