use serde_json::{Value, json};
use windlass_core::call::outcome::{ToolError, ToolOutcome};
use windlass_core::message::raw_json::RawJson;

use crate::sdk_result;
use crate::tool_results::model_content;

fn sdk_result_of(tool: &str, input: Value, content: &Value) -> Value {
    let input = RawJson::encode(&input);
    sdk_result(tool, &input, &ToolOutcome::Done(RawJson::encode(content))).unwrap()
}

#[test]
fn results_have_the_shapes_that_programs_know() {
    let bash = sdk_result_of("Bash", json!({ "command": "ls" }), &json!("a\nb\n"));
    assert_eq!(bash["stdout"], "a\nb\n");
    assert_eq!((&bash["interrupted"], &bash["isImage"]), (&json!(false), &json!(false)));
    let quiet = sdk_result_of("Bash", json!({ "command": "true" }), &json!("(no output)"));
    assert_eq!(quiet["stdout"], "");

    let page = json!("    11\tone\n    12\ttwo\n[more lines: continue with offset 13]\n");
    let read = sdk_result_of("Read", json!({ "file_path": "a" }), &page);
    let file = json!({
        "filePath": "a", "content": "one\ntwo", "numLines": 2, "startLine": 11, "totalLines": 12,
    });
    assert_eq!(read, json!({ "type": "text", "file": file }));
    let picture = json!([{ "type": "image", "source":
        { "type": "base64", "media_type": "image/png", "data": "AAAA" } }]);
    let read = sdk_result_of("Read", json!({ "file_path": "a" }), &picture);
    assert_eq!(read, json!({ "type": "image", "file": { "base64": "AAAA", "type": "image/png" } }));

    let input = json!({ "file_path": "a", "content": "x" });
    let write = sdk_result_of("Write", input.clone(), &json!("created a (1 line)"));
    assert_eq!((&write["type"], &write["content"]), (&json!("create"), &json!("x")));
    assert_eq!(sdk_result_of("Write", input, &json!("updated a (1 line)"))["type"], "update");

    let input = json!({ "file_path": "a", "old_string": "x", "new_string": "y" });
    let edit = sdk_result_of("Edit", input, &json!("replaced once in a:\n"));
    assert_eq!((&edit["oldString"], &edit["replaceAll"]), (&json!("x"), &json!(false)));
}

#[test]
fn a_failure_is_a_sentence_and_a_strangers_result_has_no_shape() {
    let failed = ToolOutcome::Failed(ToolError::new("code", "it broke", "mend it"));
    let input = RawJson::encode(&json!({ "file_path": "a" }));
    assert_eq!(sdk_result("Read", &input, &failed), Some(json!("Error: it broke")));
    let interrupted = ToolOutcome::Interrupted { after_ms: 5 };
    assert_eq!(
        sdk_result("Bash", &input, &interrupted),
        Some(json!("Error: interrupted after 5 ms"))
    );
    assert_eq!(sdk_result("mcp__x__y", &input, &ToolOutcome::Done(RawJson::string("text"))), None);
}

#[test]
fn the_model_reads_the_streams_of_a_replaced_bash_result() {
    let object = RawJson::encode(&json!({"stdout": "out", "stderr": "err", "interrupted": false}));
    assert_eq!(model_content("Bash", object.clone()).text(), "\"out\\nerr\"");
    assert_eq!(model_content("mcp__a__b", object.clone()), object);
    let text = RawJson::encode(&"redacted");
    assert_eq!(model_content("Bash", text.clone()), text);
}
