//! `StructuredOutput`: the answer as data that matches the caller's schema. The schema is checked
//! once when the tool is made, and every answer is validated against it before it is accepted.

use std::sync::Arc;

use serde_json::Value;
use windlass_core::call::call_facts::{
    AnsweredBy, CallFacts, Interruptibility, ProbeSupport, Repeatability,
};
use windlass_core::call::call_order::TouchedResources;
use windlass_core::call::outcome::{ToolError, ToolOutcome};
use windlass_core::guard::completion_gate::StructuredOutputTool;
use windlass_core::message::raw_json::RawJson;
use windlass_core::settings::conversation_settings::ToolSpec;
use windlass_runtime::input_schema::{describe_violations, truncate_violation};
use windlass_runtime::json_schema::JsonSchema;
use windlass_runtime::ports::{BoxFuture, CallContext, Tool};

use crate::limits::DEFAULT_TIMEOUT_MS;
use crate::tool_definition::tool_input::{invalid_input_error, problem_facts};

#[cfg(test)]
#[path = "structured_output/structured_output_tests.rs"]
mod structured_output_tests;

/// Maximum size of a schema in bytes.
const MAX_SCHEMA_BYTES: usize = 256 * 1024;

/// Maximum number of violations reported at once.
const MAX_VIOLATIONS: usize = 8;

/// The error for an invalid schema.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid output schema: {0}")]
pub struct InvalidOutputSchema(String);

/// `StructuredOutput`: accepts an answer that matches a schema.
#[derive(Debug)]
pub struct StructuredOutput {
    schema: RawJson,
    /// The validator; `None` if any object is an answer.
    validator: Option<JsonSchema>,
}

impl StructuredOutput {
    /// The tool's name.
    pub const NAME: &str = "StructuredOutput";

    /// Returns a tool that accepts what matches `schema`, which is JSON Schema for an object.
    pub fn new(schema: &str) -> Result<Self, InvalidOutputSchema> {
        let bad = |reason: &str| InvalidOutputSchema(reason.to_owned());
        if schema.len() > MAX_SCHEMA_BYTES {
            return Err(bad(&format!("it is larger than {MAX_SCHEMA_BYTES} bytes")));
        }
        let value: Value = serde_json::from_str(schema)
            .map_err(|error| InvalidOutputSchema(format!("it is not JSON ({error})")))?;
        let kind = value.as_object().ok_or_else(|| bad("it is not a JSON object"))?.get("type");
        if kind.is_some_and(|kind| kind != "object") {
            return Err(bad("a tool takes an object; wrap it in one: {\"type\": \"object\", …}"));
        }
        let validator = JsonSchema::compile(&value)
            .map_err(|reason| InvalidOutputSchema(truncate_violation(&reason)))?;
        let schema =
            RawJson::parse(schema).map_err(|error| InvalidOutputSchema(error.to_string()))?;
        Ok(Self { schema, validator: Some(validator) })
    }

    /// Returns a tool that accepts any object. Compiling a schema is the most expensive part of
    /// starting a process, and here none is needed.
    #[must_use]
    pub fn of_any_object() -> Self {
        let schema = RawJson::encode(&serde_json::json!({ "type": "object" }));
        Self { schema, validator: None }
    }

    /// Returns the setting of a conversation that answers through this tool.
    #[must_use]
    pub fn output_setting() -> StructuredOutputTool {
        StructuredOutputTool { tool: Arc::from(Self::NAME) }
    }

    fn validation_error(&self, input: &RawJson) -> Option<ToolError> {
        let value: Value = match input.read() {
            Ok(value) => value,
            Err(error) => {
                return Some(invalid_input_error(&format!("the input is not JSON: {error}")));
            }
        };
        let violations = describe_violations(self.validator.as_ref()?, &value, MAX_VIOLATIONS)?;
        Some(invalid_input_error(&format!("the answer does not match the schema: {violations}")))
    }
}

impl Tool for StructuredOutput {
    fn needs_workspace(&self) -> bool {
        false
    }

    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: Arc::from(Self::NAME),
            description: Arc::from(
                "Returns the final answer. Call it once, when the work is done.",
            ),
            input_schema: self.schema.clone(),
        }
    }

    fn assess(&self, input: &RawJson) -> CallFacts {
        match self.validation_error(input) {
            Some(problem) => problem_facts(problem),
            None => CallFacts {
                touches: TouchedResources::Reads(Vec::new()),
                repeat: Repeatability::Repeatable,
                interrupt: Interruptibility::Interruptible,
                probe: ProbeSupport::Unsupported,
                answered_by: AnsweredBy::Tool,
                timeout_ms: DEFAULT_TIMEOUT_MS,
                ..CallFacts::default()
            },
        }
    }

    fn run(&self, _context: CallContext, _input: RawJson) -> BoxFuture<'_, ToolOutcome> {
        let taken = ToolOutcome::Done(RawJson::string("answer accepted"));
        Box::pin(std::future::ready(taken))
    }
}
