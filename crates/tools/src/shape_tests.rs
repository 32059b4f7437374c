use serde_json::{Value, json};
use windlass_core::outcome::{Outcome, ToolError};
use windlass_core::raw::Raw;

use crate::shape;

fn shaped(tool: &str, input: Value, content: &Value) -> Value {
    let input = Raw::encode(&input);
    shape(tool, &input, &Outcome::Done(Raw::encode(content))).unwrap()
}

#[test]
fn results_have_the_shapes_that_programs_know() {
    let bash = shaped("Bash", json!({ "command": "ls" }), &json!("a\nb\n"));
    assert_eq!(bash["stdout"], "a\nb\n");
    assert_eq!((&bash["interrupted"], &bash["isImage"]), (&json!(false), &json!(false)));
    let quiet = shaped("Bash", json!({ "command": "true" }), &json!("(no output)"));
    assert_eq!(quiet["stdout"], "");

    let page = json!("    11\tone\n    12\ttwo\n[the file goes on: read it with offset 13]\n");
    let read = shaped("Read", json!({ "file_path": "a" }), &page);
    let file = json!({
        "filePath": "a", "content": "one\ntwo", "numLines": 2, "startLine": 11, "totalLines": 12,
    });
    assert_eq!(read, json!({ "type": "text", "file": file }));
    let picture = json!([{ "type": "image", "source":
        { "type": "base64", "media_type": "image/png", "data": "AAAA" } }]);
    let read = shaped("Read", json!({ "file_path": "a" }), &picture);
    assert_eq!(read, json!({ "type": "image", "file": { "base64": "AAAA", "type": "image/png" } }));

    let input = json!({ "file_path": "a", "content": "x" });
    let write = shaped("Write", input.clone(), &json!("created a (1 line)"));
    assert_eq!((&write["type"], &write["content"]), (&json!("create"), &json!("x")));
    assert_eq!(shaped("Write", input, &json!("updated a (1 line)"))["type"], "update");

    let input = json!({ "file_path": "a", "old_string": "x", "new_string": "y" });
    let edit = shaped("Edit", input, &json!("replaced once in a:\n"));
    assert_eq!((&edit["oldString"], &edit["replaceAll"]), (&json!("x"), &json!(false)));
}

#[test]
fn a_failure_is_a_sentence_and_a_strangers_result_has_no_shape() {
    let failed = Outcome::Failed(ToolError::new("code", "it broke", "mend it"));
    let input = Raw::encode(&json!({ "file_path": "a" }));
    assert_eq!(shape("Read", &input, &failed), Some(json!("Error: it broke")));
    let interrupted = Outcome::Interrupted { after_ms: 5 };
    assert_eq!(shape("Bash", &input, &interrupted), Some(json!("Error: interrupted after 5 ms")));
    assert_eq!(shape("mcp__x__y", &input, &Outcome::Done(Raw::string("text"))), None);
}
