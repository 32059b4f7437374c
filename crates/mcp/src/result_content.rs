//! The result of a call, from the content of MCP to that of the model.

use std::path::PathBuf;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};
use windlass_core::call::outcome::{ToolError, ToolOutcome};
use windlass_core::message::raw_json::RawJson;
use windlass_runtime::ports::ResultFiles;

use crate::plain_text::plain_text;

/// Length of an image as base64, in bytes: what providers accept.
const MAX_IMAGE_BYTES: usize = 5 << 20;

/// Length of a name or a URI, in characters.
const MAX_LABEL_CHARS: usize = 1_000;

/// Returns the outcome of a call, with notes behind its content. The text of an error is what the
/// tool says.
pub(crate) fn outcome_of_result(
    result: &Value,
    notes: &[String],
    files: Option<&dyn ResultFiles>,
) -> ToolOutcome {
    let mut blocks = content_blocks(result, files);
    blocks.extend(notes.iter().map(|note| text_block(note)));
    if result.get("isError").and_then(Value::as_bool) == Some(true) {
        let text = joined_text(&blocks);
        let text = if text.is_empty() { "the tool failed without a message" } else { &text };
        let hint = "change the input or do without the tool";
        return ToolOutcome::Failed(ToolError::new("mcp_tool_error", text, hint));
    }
    outcome_of_blocks(blocks)
}

/// Returns the outcome with these blocks.
pub(crate) fn outcome_of_blocks(blocks: Vec<Value>) -> ToolOutcome {
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
fn content_blocks(result: &Value, files: Option<&dyn ResultFiles>) -> Vec<Value> {
    let content = result.get("content").and_then(Value::as_array);
    let mut blocks: Vec<Value> = content
        .into_iter()
        .flatten()
        .enumerate()
        .map(|(index, block)| content_block(block, &DataFiles { files, index }))
        .collect();
    let structured = result.get("structuredContent").filter(|data| !data.is_null());
    if let Some(data) = structured.filter(|_| blocks.is_empty()) {
        blocks.push(text_block(&data.to_string()));
    }
    if blocks.is_empty() {
        blocks.push(text_block("(no output)"));
    }
    blocks
}

pub(crate) fn content_block(block: &Value, files: &DataFiles<'_>) -> Value {
    let field = |name: &str| block.get(name).and_then(Value::as_str).unwrap_or_default();
    match field("type") {
        "text" => text_block(field("text")),
        "image" => image_block(field("mimeType"), field("data"), files),
        "audio" => data_block("audio", field("mimeType"), field("data"), files),
        "resource_link" => link_block(block),
        "resource" => resource_block(block.get("resource").unwrap_or(&Value::Null), files),
        _ => text_block(&block.to_string()),
    }
}

/// An image that a provider accepts; anything else would make every later request fail.
fn image_block(media_type: &str, data: &str, files: &DataFiles<'_>) -> Value {
    let is_known = matches!(media_type, "image/png" | "image/jpeg" | "image/gif" | "image/webp");
    let is_data = || BASE64.decode(data).is_ok_and(|bytes| is_image(media_type, &bytes));
    if !is_known || data.len() > MAX_IMAGE_BYTES || !is_data() {
        return data_block("image that cannot be shown", media_type, data, files);
    }
    let source = json!({"type": "base64", "media_type": media_type, "data": data});
    json!({"type": "image", "source": source})
}

/// Returns whether the data begins as its media type says.
fn is_image(media_type: &str, bytes: &[u8]) -> bool {
    match media_type {
        "image/png" => bytes.starts_with(b"\x89PNG\r\n\x1a\n"),
        "image/jpeg" => bytes.starts_with(&[0xff, 0xd8, 0xff]),
        "image/gif" => bytes.starts_with(b"GIF8"),
        "image/webp" => bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP"),
        _ => false,
    }
}

/// Says what a model cannot read, and in which file it is kept.
fn data_block(what: &str, media_type: &str, data: &str, files: &DataFiles<'_>) -> Value {
    let kind = plain_text(media_type, MAX_LABEL_CHARS);
    let about = format!("{what}, {kind}, {} bytes", data.len() / 4 * 3);
    match files.keep(media_type, data) {
        Some(path) => text_block(&format!("[{about}: {}]", path.display())),
        None => text_block(&format!("[{about}]")),
    }
}

/// Where data of a result is kept; without files it is only named.
#[derive(Default)]
pub(crate) struct DataFiles<'a> {
    files: Option<&'a dyn ResultFiles>,
    /// The place of the block in its result.
    index: usize,
}

impl DataFiles<'_> {
    fn keep(&self, media_type: &str, data: &str) -> Option<PathBuf> {
        let bytes = BASE64.decode(data).ok().filter(|bytes| !bytes.is_empty())?;
        self.files?.keep(&format!("{}.{}", self.index, file_extension(media_type)), &bytes)
    }
}

/// Returns the usual extension of files of a media type.
fn file_extension(media_type: &str) -> String {
    let subtype = media_type.split([';', '+']).next().unwrap_or_default();
    let subtype = subtype.rsplit('/').next().unwrap_or_default().trim_start_matches("x-");
    let plain: String =
        subtype.chars().filter(char::is_ascii_alphanumeric).take(MAX_EXTENSION_CHARS).collect();
    match plain.as_str() {
        "mpeg" => "mp3".to_owned(),
        "" | "octetstream" => "bin".to_owned(),
        _ => plain,
    }
}

/// Length of an extension of a file, in characters.
const MAX_EXTENSION_CHARS: usize = 12;

fn link_block(link: &Value) -> Value {
    let field = |name: &str| {
        let text = link.get(name).and_then(Value::as_str).unwrap_or_default();
        plain_text(text, MAX_LABEL_CHARS)
    };
    let about = match field("description") {
        text if text.is_empty() => String::new(),
        text => format!(" ({text})"),
    };
    text_block(&format!("{}: {}{about}", field("name"), field("uri")))
}

/// The content of a resource.
pub(crate) fn resource_block(resource: &Value, files: &DataFiles<'_>) -> Value {
    let field = |name: &str| resource.get(name).and_then(Value::as_str);
    let uri = plain_text(field("uri").unwrap_or_default(), MAX_LABEL_CHARS);
    let kind = field("mimeType").unwrap_or("data");
    match (field("text"), field("blob")) {
        (Some(text), _) => text_block(&format!("{uri}:\n{text}")),
        (None, Some(blob)) if kind.starts_with("image/") => image_block(kind, blob, files),
        (None, blob) => data_block(&uri, kind, blob.unwrap_or_default(), files),
    }
}

fn text_block(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn joined_text(blocks: &[Value]) -> String {
    let texts = blocks.iter().filter_map(|block| block.get("text").and_then(Value::as_str));
    texts.collect::<Vec<_>>().join("\n")
}
