//! The content of blocks as text, images and files, for formats that encode it differently from
//! Anthropic's.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;
use windlass_core::message::content_block::{BlockKind, ContentBlock};
use windlass_core::message::raw_json::RawJson;

use crate::json::json_string;

/// A part of content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ContentPart {
    /// A text.
    Text(String),
    /// An image, by its URL; one that was included has a `data:` URL.
    Image(String),
    /// A file that was included.
    File {
        /// The name of the file.
        name: String,
        /// The `data:` URL of the file.
        url: String,
    },
}

#[derive(Debug, Deserialize)]
struct SourceBlock<'a> {
    #[serde(borrow)]
    source: MediaSource<'a>,
    #[serde(borrow)]
    title: Option<Cow<'a, str>>,
}

#[derive(Debug, Deserialize)]
struct MediaSource<'a> {
    #[serde(borrow, rename = "type", default)]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    media_type: Cow<'a, str>,
    #[serde(borrow, default)]
    data: Cow<'a, str>,
    #[serde(borrow, default)]
    url: Cow<'a, str>,
}

/// Converts a block to content; `None` for calls, results and blocks that only their own provider
/// can read.
pub(crate) fn to_content_part(block: &ContentBlock) -> Option<ContentPart> {
    match block.kind() {
        BlockKind::Text(text) => Some(ContentPart::Text(text.to_string())),
        BlockKind::Other(kind) if &**kind == "image" => image_part(block),
        BlockKind::Other(kind) if &**kind == "document" => document_part(block),
        BlockKind::Other(kind) if &**kind == "tool_reference" => {
            Some(ContentPart::Text(reference_text(block.raw())))
        }
        BlockKind::Other(_) | BlockKind::ToolUse(_) | BlockKind::ToolResult { .. } => None,
    }
}

/// Returns what a reference to a loaded tool says in words.
fn reference_text(block: &RawJson) -> String {
    #[derive(Deserialize)]
    struct ToolReference<'a> {
        #[serde(borrow, default)]
        tool_name: Cow<'a, str>,
    }
    let name = block.read::<ToolReference<'_>>().map(|it| it.tool_name).unwrap_or_default();
    format!("The tool {name} is loaded.")
}

/// Returns a tool result whose references to tools are words; `None` if it has none.
pub(crate) fn without_references(result: &ContentBlock) -> Option<RawJson> {
    let text = result.raw().text();
    memchr::memmem::find(text.as_bytes(), b"\"tool_reference\"")?;
    let mut fields: serde_json::Map<String, serde_json::Value> = result.raw().read().ok()?;
    let serde_json::Value::Array(blocks) = fields.get_mut("content")? else { return None };
    for block in blocks.iter_mut().filter(|block| block["type"] == "tool_reference") {
        let said = reference_text(&RawJson::encode(block));
        *block = serde_json::json!({"type": "text", "text": said});
    }
    Some(RawJson::encode(&fields))
}

fn image_part(block: &ContentBlock) -> Option<ContentPart> {
    let SourceBlock { source, .. } = block.raw().read().ok()?;
    Some(ContentPart::Image(media_url(&source)))
}

fn document_part(block: &ContentBlock) -> Option<ContentPart> {
    let SourceBlock { source, title } = block.raw().read().ok()?;
    if source.kind == "text" {
        return Some(ContentPart::Text(source.data.into_owned()));
    }
    let name = title.map_or_else(|| "document.pdf".to_owned(), Cow::into_owned);
    Some(ContentPart::File { name, url: media_url(&source) })
}

fn media_url(source: &MediaSource<'_>) -> String {
    if source.kind == "url" {
        return source.url.clone().into_owned();
    }
    format!("data:{};base64,{}", source.media_type, source.data)
}

/// The content of a tool result.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ToolResultContent<'a> {
    /// The text, as a JSON string.
    pub(crate) text_json: Cow<'a, str>,
    /// Everything else.
    pub(crate) attachments: Vec<ContentPart>,
}

/// Reads a tool result. Text that is a JSON string already stays as it is.
pub(crate) fn read_tool_result(block: &ContentBlock) -> ToolResultContent<'_> {
    #[derive(Deserialize)]
    struct ToolResultBlock<'a> {
        #[serde(borrow)]
        content: Option<&'a RawValue>,
    }
    let content = block.raw().read::<ToolResultBlock<'_>>().ok().and_then(|result| result.content);
    let Some(content) = content else { return text_only_result("") };
    if json_string::raw_string_contents(content).is_some() {
        return ToolResultContent {
            text_json: Cow::Borrowed(content.get()),
            attachments: Vec::new(),
        };
    }
    match serde_json::from_str::<Vec<ContentBlock>>(content.get()) {
        Ok(blocks) => result_from_blocks(&blocks),
        Err(_) => text_only_result(content.get()),
    }
}

fn result_from_blocks<'a>(blocks: &[ContentBlock]) -> ToolResultContent<'a> {
    let (texts, attachments): (Vec<ContentPart>, Vec<ContentPart>) = blocks
        .iter()
        .filter_map(to_content_part)
        .partition(|part| matches!(part, ContentPart::Text(_)));
    let texts: Vec<&str> = texts.iter().filter_map(ContentPart::as_text).collect();
    ToolResultContent { attachments, ..text_only_result(&texts.join("\n")) }
}

fn text_only_result<'a>(text: &str) -> ToolResultContent<'a> {
    ToolResultContent {
        text_json: Cow::Owned(RawJson::string(text).text().to_owned()),
        attachments: Vec::new(),
    }
}

impl ContentPart {
    fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Image(_) | Self::File { .. } => None,
        }
    }
}
