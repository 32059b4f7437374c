use std::path::Path;

use super::*;

/// `UPDATE_GOLDEN=1 cargo test -p windlass-server openapi` writes the copy.
#[test]
fn the_document_in_docs_is_the_one_that_is_served() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/openapi.json");
    let generated = serde_json::to_string_pretty(&document()).unwrap() + "\n";
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &generated).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap();
    assert!(kept == generated, "docs/openapi.json is old; write it with UPDATE_GOLDEN=1");
}

#[test]
fn every_reference_leads_to_a_schema() {
    let document = document();
    let text = document.to_string();
    for reference in text.split("\"$ref\":\"#").skip(1) {
        let target = reference.split('"').next().unwrap();
        assert!(document.pointer(target).is_some(), "{target}");
    }
}
