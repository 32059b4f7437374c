//! A tool as its server describes it.

use serde::Deserialize;
use serde_json::Value;

/// Maximum length of a description, in characters.
const MAX_DESCRIPTION_CHARS: usize = 10_000;

/// A tool as its server describes it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolDefinition {
    /// The name of the tool on its server.
    pub name: String,
    /// What it does, for the model.
    #[serde(default)]
    pub description: String,
    /// The JSON Schema of its input.
    #[serde(default)]
    pub input_schema: Value,
    /// What the server says about its effects.
    #[serde(default)]
    pub annotations: ToolAnnotations,
}

/// What a server says about the effects of a tool. A server may lie, so nothing is allowed because
/// of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ToolAnnotations {
    /// It changes nothing.
    pub read_only_hint: bool,
    /// A second call with the same input changes nothing more.
    pub idempotent_hint: bool,
}

impl ToolDefinition {
    /// Returns the description without control characters, and bounded.
    pub(crate) fn plain_description(&self) -> String {
        let is_plain = |c: &char| !c.is_control() || matches!(c, '\n' | '\t');
        self.description.chars().filter(is_plain).take(MAX_DESCRIPTION_CHARS).collect()
    }

    /// Returns the schema of the input; an object of anything if the server gives none.
    pub(crate) fn schema_or_any(&self) -> Value {
        match &self.input_schema {
            schema @ Value::Object(_) => schema.clone(),
            _ => serde_json::json!({"type": "object"}),
        }
    }
}
