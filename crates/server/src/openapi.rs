//! The OpenAPI document, generated from the types of the API. `docs/openapi.json` is a copy, which a
//! test compares.

mod operations;

use axum::http::header;
use axum::response::{IntoResponse, Response};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::problem::ProblemDetails;

#[cfg(test)]
#[path = "openapi_tests.rs"]
mod openapi_tests;

/// Where schemas refer to each other.
const DEFINITIONS: &str = "/components/schemas";

/// `GET /openapi.json`.
pub(crate) async fn show_document() -> Response {
    let json = header::HeaderValue::from_static("application/json");
    ([(header::CONTENT_TYPE, json)], document().to_string()).into_response()
}

/// Generates the document.
fn document() -> Value {
    let mut document = DocumentBuilder::new();
    operations::describe_all(&mut document);
    document.finish()
}

/// What an operation takes and returns besides the parameters in its path.
struct Operation {
    method: &'static str,
    path: &'static str,
    summary: &'static str,
    query: Vec<Value>,
    body: Option<Value>,
    /// The status of its success, with the media type and the schema of the body.
    success: (u16, Option<(&'static str, Value)>),
}

/// Collects operations and the schemas that they refer to.
struct DocumentBuilder {
    requests: SchemaGenerator,
    responses: SchemaGenerator,
    paths: Map<String, Value>,
}

impl DocumentBuilder {
    fn new() -> Self {
        let settings = || {
            SchemaSettings::draft2020_12().with(|settings| {
                settings.definitions_path = DEFINITIONS.into();
                settings.meta_schema = None;
            })
        };
        Self {
            requests: settings().for_deserialize().into_generator(),
            responses: settings().for_serialize().into_generator(),
            paths: Map::new(),
        }
    }

    /// The schema of a response body.
    fn response<T: JsonSchema>(&mut self) -> Value {
        self.responses.subschema_for::<T>().to_value()
    }

    /// The schema of a request body.
    fn request<T: JsonSchema>(&mut self) -> Value {
        self.requests.subschema_for::<T>().to_value()
    }

    /// The query parameters that are the fields of a type.
    fn query<T: JsonSchema>(&mut self) -> Vec<Value> {
        let schema = T::json_schema(&mut self.requests).to_value();
        let fields = schema.get("properties").and_then(Value::as_object).cloned();
        let parameter = |(name, mut schema): (String, Value)| {
            let about = schema.as_object_mut().and_then(|schema| schema.remove("description"));
            json!({"name": name, "in": "query", "required": false, "description": about, "schema": schema})
        };
        fields.unwrap_or_default().into_iter().map(parameter).collect()
    }

    fn add(&mut self, operation: Operation) {
        let Operation { method, path, summary, query, body, success: (status, returned) } =
            operation;
        let names = path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
        let mut parameters: Vec<Value> = names
            .map(|name| json!({"name": name, "in": "path", "required": true, "schema": {"type": "string"}}))
            .collect();
        parameters.extend(query);
        let mut success = json!({"description": summary});
        if let (Some((media, schema)), Some(success)) = (returned, success.as_object_mut()) {
            success.insert("content".to_owned(), json!({media: {"schema": schema}}));
        }
        let problem = self.response::<ProblemDetails>();
        let mut about = json!({
            "summary": summary,
            "parameters": parameters,
            "responses": {
                status.to_string(): success,
                "default": {
                    "description": "A problem",
                    "content": {"application/problem+json": {"schema": problem}},
                },
            },
        });
        if let Some(about) = about.as_object_mut() {
            if let Some(schema) = body {
                let content = json!({"application/json": {"schema": schema}});
                about.insert("requestBody".to_owned(), json!({"content": content}));
            }
            if path == crate::access::LIVENESS_PATH {
                about.insert("security".to_owned(), json!([]));
            }
        }
        let entry = self.paths.entry(path).or_insert_with(|| json!({}));
        if let Some(methods) = entry.as_object_mut() {
            methods.insert(method.to_owned(), about);
        }
    }

    fn finish(mut self) -> Value {
        let mut schemas = self.requests.take_definitions(true);
        schemas.extend(self.responses.take_definitions(true));
        json!({
            "openapi": "3.1.0",
            "info": {
                "title": "Windlass",
                "version": env!("CARGO_PKG_VERSION"),
                "description": "The HTTP API of `windlass serve`; docs/api.md explains it.",
                "license": {"name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0"},
            },
            "security": [{"token": []}],
            "paths": self.paths,
            "components": {
                "schemas": schemas,
                "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            },
        })
    }
}
