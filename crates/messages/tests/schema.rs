//! The JSON Schema of the messages is written to `docs/`, for programs in other languages.

use std::path::Path;

/// `UPDATE_SCHEMA=1 cargo test -p windlass-messages` writes the file.
#[test]
fn the_schema_in_docs_is_the_one_of_the_types() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/messages.schema.json");
    let mut schema = serde_json::to_string_pretty(&windlass_messages::message_schema()).unwrap();
    schema.push('\n');
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        std::fs::write(&path, &schema).unwrap();
    }
    // The order of keys depends on the features of serde_json, and means nothing.
    let parse = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        parse(&written) == parse(&schema),
        "docs/messages.schema.json differs; run with UPDATE_SCHEMA=1"
    );
}
