//! How a tool is offered: its name, what it is for, and a schema made from the type that reads its
//! input, so that the two cannot differ.

use std::any::TypeId;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde_json::Value;
use windlass_core::raw::Raw;
use windlass_core::settings::ToolSpec;

/// An offer of a tool that takes `T`.
pub(crate) fn offer<T: JsonSchema + 'static>(name: &str, description: &str) -> ToolSpec {
    ToolSpec {
        name: Arc::from(name),
        description: Arc::from(description),
        input_schema: encoded_schema::<T>(),
    }
}

/// The schemas that were made, by type: a tool is asked for its offer several times while a process
/// starts, and a schema takes longer to make than everything else of it.
static SCHEMAS: Mutex<BTreeMap<TypeId, Raw>> = Mutex::new(BTreeMap::new());

fn encoded_schema<T: JsonSchema + 'static>() -> Raw {
    let mut schemas = SCHEMAS.lock().unwrap_or_else(PoisonError::into_inner);
    schemas.entry(TypeId::of::<T>()).or_insert_with(|| Raw::encode(&schema::<T>())).clone()
}

/// The schema without what only machines of other trades read, and with one type for a field that
/// may be left out: leaving it out is how it is said that there is none.
fn schema<T: JsonSchema>() -> Schema {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    if let Some(object) = schema.as_object_mut() {
        object.remove("title");
        object.remove("description");
        object.values_mut().for_each(simplify);
    }
    schema
}

fn simplify(value: &mut Value) {
    match value {
        Value::Object(object) => {
            object.remove("format");
            if object.get("default") == Some(&Value::Null) {
                object.remove("default");
            }
            only_type(object);
            object.values_mut().for_each(simplify);
        }
        Value::Array(items) => items.iter_mut().for_each(simplify),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// `["string", "null"]` becomes `"string"`; a choice between something and null becomes the thing.
fn only_type(object: &mut serde_json::Map<String, Value>) {
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
