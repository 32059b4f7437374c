//! Tool specs: name, description and a schema generated from the input type, so that the two cannot
//! differ.

use std::any::TypeId;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde_json::Value;
use windlass_core::message::raw_json::RawJson;
use windlass_core::settings::conversation_settings::ToolSpec;

/// Returns the spec of a tool that takes `T`.
pub(crate) fn tool_spec<T: JsonSchema + 'static>(name: &str, description: &str) -> ToolSpec {
    ToolSpec {
        name: Arc::from(name),
        description: Arc::from(description),
        input_schema: encoded_schema::<T>(),
    }
}

/// Generated schemas, by type: a tool's spec is requested several times while a process starts, and
/// generating a schema takes longer than everything else of it.
static SCHEMAS: Mutex<BTreeMap<TypeId, RawJson>> = Mutex::new(BTreeMap::new());

fn encoded_schema<T: JsonSchema + 'static>() -> RawJson {
    let mut schemas = SCHEMAS.lock().unwrap_or_else(PoisonError::into_inner);
    schemas
        .entry(TypeId::of::<T>())
        .or_insert_with(|| RawJson::encode(&input_schema::<T>()))
        .clone()
}

/// Returns the schema without keywords that models do not need, and with one type for an optional
/// field: leaving it out means that it has no value.
fn input_schema<T: JsonSchema>() -> Schema {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    if let Some(object) = schema.as_object_mut() {
        object.remove("title");
        object.remove("description");
        object.values_mut().for_each(simplify_schema);
    }
    schema
}

fn simplify_schema(value: &mut Value) {
    match value {
        Value::Object(object) => {
            object.remove("format");
            if object.get("default") == Some(&Value::Null) {
                object.remove("default");
            }
            remove_null_type(object);
            object.values_mut().for_each(simplify_schema);
        }
        Value::Array(items) => items.iter_mut().for_each(simplify_schema),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Turns `["string", "null"]` into `"string"`, and a choice between a type and null into the type.
fn remove_null_type(object: &mut serde_json::Map<String, Value>) {
    let null = Value::from("null");
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|kind| *kind != null);
        if let [only] = types.as_slice() {
            let only = only.clone();
            object.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(choices)) = object.get_mut("anyOf") {
        choices.retain(|choice| choice.get("type") != Some(&null));
        if let [Value::Object(only)] = choices.as_slice() {
            let only = only.clone();
            object.remove("anyOf");
            object.extend(only);
        }
    }
}
