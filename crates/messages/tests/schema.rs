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
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == schema, "docs/messages.schema.json differs; run with UPDATE_SCHEMA=1");
}
