//! The result of a call, from the content of MCP to that of the model.

use serde_json::{Value, json};
use windlass_core::call::outcome::{ToolError, ToolOutcome};
use windlass_core::message::raw_json::RawJson;

/// Returns the outcome of a call. The text of an error is what the tool says.
pub(crate) fn outcome_of_result(result: &Value) -> ToolOutcome {
    let blocks = content_blocks(result);
    if result.get("isError").and_then(Value::as_bool) == Some(true) {
        let text = joined_text(&blocks);
        let text = if text.is_empty() { "the tool failed without a message" } else { &text };
        let hint = "change the input or do without the tool";
        return ToolOutcome::Failed(ToolError::new("mcp_tool_error", text, hint));
    }
    let detail = RawJson::encode(&blocks);
    // A text alone is a string, so that a long one is cut as text and not as JSON.
    let content = match &blocks[..] {
        [only] if only.get("type") == Some(&json!("text")) => {
            RawJson::string(&joined_text(&blocks))
        }
        _ => detail.clone(),
    };
    ToolOutcome::DoneWithDetail { content, detail }
}

/// Returns the content as blocks that a model can read. Data without content is shown as JSON.
fn content_blocks(result: &Value) -> Vec<Value> {
    let content = result.get("content").and_then(Value::as_array);
    let mut blocks: Vec<Value> = content.into_iter().flatten().map(content_block).collect();
    let structured = result.get("structuredContent").filter(|data| !data.is_null());
    if let Some(data) = structured.filter(|_| blocks.is_empty()) {
        blocks.push(text_block(&data.to_string()));
    }
    if blocks.is_empty() {
        blocks.push(text_block("(no output)"));
    }
    blocks
}

fn content_block(block: &Value) -> Value {
    let field = |name: &str| block.get(name).and_then(Value::as_str).unwrap_or_default();
    match field("type") {
        "text" => text_block(field("text")),
        "image" => image_block(field("mimeType"), field("data")),
        "audio" => text_block(&format!("[audio, {}]", field("mimeType"))),
        "resource_link" => text_block(&format!("{}: {}", field("name"), field("uri"))),
        "resource" => resource_block(block.get("resource").unwrap_or(&Value::Null)),
        _ => text_block(&block.to_string()),
    }
}

fn image_block(media_type: &str, data: &str) -> Value {
    let source = json!({"type": "base64", "media_type": media_type, "data": data});
    json!({"type": "image", "source": source})
}

fn resource_block(resource: &Value) -> Value {
    let field = |name: &str| resource.get(name).and_then(Value::as_str);
    let uri = field("uri").unwrap_or_default();
    match (field("text"), field("mimeType")) {
        (Some(text), _) => text_block(&format!("{uri}:\n{text}")),
        (None, kind) => text_block(&format!("[{uri}, {}]", kind.unwrap_or("data"))),
    }
}

fn text_block(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn joined_text(blocks: &[Value]) -> String {
    let texts = blocks.iter().filter_map(|block| block.get("text").and_then(Value::as_str));
    texts.collect::<Vec<_>>().join("\n")
}
