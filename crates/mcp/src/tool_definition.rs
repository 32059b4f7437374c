//! A tool as its server describes it.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use windlass_core::message::raw_json::RawJson;

use crate::plain_text::plain_text;

/// Maximum length of a description, in characters.
const MAX_DESCRIPTION_CHARS: usize = 10_000;

/// Maximum length of a name on its server, in characters.
const MAX_NAME_CHARS: usize = 256;

/// Maximum size of the schema of an input, in bytes.
const MAX_SCHEMA_BYTES: usize = 64 << 10;

/// A tool as its server describes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ToolAnnotations {
    /// It changes nothing.
    pub read_only_hint: bool,
    /// A second call with the same input changes nothing more.
    pub idempotent_hint: bool,
}

impl ToolDefinition {
    /// Returns the description without characters that a person does not see, and bounded.
    #[must_use]
    pub fn plain_description(&self) -> String {
        plain_text(&self.description, MAX_DESCRIPTION_CHARS)
    }

    /// Returns a hash of everything that the definition says, to notice a change.
    #[must_use]
    pub fn hash(&self) -> String {
        let ToolAnnotations { read_only_hint, idempotent_hint } = self.annotations;
        let all = json!([
            self.name,
            self.description,
            self.input_schema,
            read_only_hint,
            idempotent_hint
        ]);
        RawJson::encode(&all).canonical_hash_hex()
    }

    /// Returns whether a model can be offered the tool: its name and schema are of bounded size.
    pub(crate) fn is_offerable(&self) -> bool {
        let name = self.name.chars().count();
        (1..=MAX_NAME_CHARS).contains(&name)
            && self.input_schema.to_string().len() <= MAX_SCHEMA_BYTES
    }

    /// Returns the schema of the input; an object of anything if the server gives none.
    pub(crate) fn schema_or_any(&self) -> Value {
        match &self.input_schema {
            schema @ Value::Object(_) => schema.clone(),
            _ => serde_json::json!({"type": "object"}),
        }
    }
}
