//! A compiled JSON Schema.
//!
//! Everything that validates goes through this type. The validator is generic code of more than a
//! megabyte, and each crate that called it directly would contain a copy of it.

use jsonschema::{Draft, ValidationError, Validator};
use serde_json::Value;

/// A compiled JSON Schema. References to files and URLs are not followed.
#[derive(Debug)]
pub struct JsonSchema(Validator);

/// One way in which a value violates a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaViolation {
    /// JSON pointer to the part of the value; empty for the whole value.
    pub path: String,
    /// What is wrong with it.
    pub message: String,
}

impl JsonSchema {
    /// Compiles a schema.
    ///
    /// # Errors
    ///
    /// Returns what is wrong with the schema.
    pub fn compile(schema: &Value) -> Result<Self, String> {
        // A schema is itself validated against the schema of its draft, and that of draft 7 is
        // compiled much faster than that of 2020-12.
        let options = match is_same_in_draft_7(schema) {
            true => jsonschema::options().with_draft(Draft::Draft7),
            false => jsonschema::options(),
        };
        options.build(schema).map(Self).map_err(|error| error.to_string())
    }

    /// Returns whether the value fits the schema.
    #[must_use]
    pub fn is_valid(&self, value: &Value) -> bool {
        self.0.is_valid(value)
    }

    /// Returns the first `limit` violations.
    #[must_use]
    pub fn violations(&self, value: &Value, limit: usize) -> Vec<SchemaViolation> {
        let describe = |error: ValidationError<'_>| SchemaViolation {
            path: error.instance_path().as_str().to_owned(),
            message: error.to_string(),
        };
        self.0.iter_errors(value).take(limit).map(describe).collect()
    }
}

/// Keywords that mean the same in every draft since 7, and contain no schema.
const PLAIN_KEYWORDS: [&str; 19] = [
    "type",
    "required",
    "enum",
    "const",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "minItems",
    "maxItems",
    "uniqueItems",
    "title",
    "description",
    "default",
    "examples",
];

/// Returns whether `schema` has only keywords that mean the same in draft 7 as in 2020-12.
pub(crate) fn is_same_in_draft_7(schema: &Value) -> bool {
    let Value::Object(keywords) = schema else { return schema.is_boolean() };
    keywords.iter().all(|(keyword, value)| match (keyword.as_str(), value) {
        ("properties", Value::Object(members)) => members.values().all(is_same_in_draft_7),
        ("items" | "additionalProperties" | "not", value) => is_same_in_draft_7(value),
        ("anyOf" | "oneOf" | "allOf", Value::Array(choices)) => {
            choices.iter().all(is_same_in_draft_7)
        }
        (keyword, _) => PLAIN_KEYWORDS.contains(&keyword),
    })
}
