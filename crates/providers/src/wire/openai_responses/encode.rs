//! Encodes a transcript as input items: messages, calls, their outputs, and reasoning as it came.

use serde::Deserialize;
use serde_json::value::RawValue;
use windlass_core::message::content_block::{BlockKind, ContentBlock, ToolUse};
use windlass_core::message::transcript::{Role, SegmentKind, TranscriptSegment};

use crate::json::json_writer::{JsonListWriter, JsonObjectWriter};
use crate::request_cache::body_cache::{SegmentEncoder, SegmentOutput};
use crate::wire::content::{self, ContentPart, ToolResultContent};
use crate::wire::foreign_blocks::{OPENAI_RESPONSES, ResponsesItemBlock};

/// Encodes input items for one model.
#[derive(Debug)]
pub(crate) struct InputItemsEncoder {
    /// The name of the model: items are only sent back to the model they came from.
    pub(crate) model: String,
}

impl SegmentEncoder for InputItemsEncoder {
    /// Whether an item was written before.
    type OpenState = bool;

    fn encode_segment(
        &self,
        has_items: bool,
        segment: &TranscriptSegment,
        out: &mut Vec<u8>,
    ) -> SegmentOutput<bool> {
        let mut writer = InputItemsWriter { has_items, out };
        match segment.role {
            Role::User => writer.write_user(&segment.blocks, message_role(segment.kind)),
            Role::Assistant => writer.write_assistant(&segment.blocks, &self.model),
        }
        SegmentOutput { open: writer.has_items, cache_marker_at: None }
    }

    fn closing_bytes(&self, _has_items: bool) -> &'static [u8] {
        b""
    }
}

struct InputItemsWriter<'a> {
    has_items: bool,
    out: &'a mut Vec<u8>,
}

impl InputItemsWriter<'_> {
    fn begin_item(&mut self) -> &mut Vec<u8> {
        if self.has_items {
            self.out.push(b',');
        }
        self.has_items = true;
        self.out
    }

    fn write_user(&mut self, blocks: &[ContentBlock], speaker: &str) {
        for block in blocks {
            if let BlockKind::ToolResult { tool_use_id } = block.kind() {
                write_output(self.begin_item(), tool_use_id, block);
            }
        }
        let said: Vec<ContentPart> = blocks.iter().filter_map(content::to_content_part).collect();
        if !said.is_empty() {
            let mut message = JsonObjectWriter::open(self.begin_item());
            message.string("role", speaker);
            write_pieces(message.key("content"), &said);
            message.close();
        }
    }

    fn write_assistant(&mut self, blocks: &[ContentBlock], model: &str) {
        for block in blocks {
            match block.kind() {
                BlockKind::Text(text) => write_text(self.begin_item(), text),
                BlockKind::ToolUse(call) => write_call(self.begin_item(), call),
                BlockKind::Other(kind) if block.is_thinking() || &**kind == OPENAI_RESPONSES => {
                    if let Some(item) = native_item(block, model) {
                        self.begin_item().extend_from_slice(item.get().as_bytes());
                    }
                }
                BlockKind::Other(_) | BlockKind::ToolResult { .. } => {}
            }
        }
    }
}

/// The role of a message. Instructions that were found during the run have a role of their own
/// here; in other formats they are wrapped behind the results.
fn message_role(part: SegmentKind) -> &'static str {
    match part {
        SegmentKind::Memory => "developer",
        SegmentKind::Prompt
        | SegmentKind::Note
        | SegmentKind::Summary
        | SegmentKind::Journal
        | SegmentKind::Results
        | SegmentKind::Reply => "user",
    }
}

/// An item that came from this model, if it may be sent back.
fn native_item<'a>(block: &'a ContentBlock, model: &str) -> Option<&'a RawValue> {
    let kept: ResponsesItemBlock<'_> = block.raw().read().ok()?;
    let own = kept.openai_responses.model == model && can_be_resent(kept.openai_responses.item);
    own.then_some(kept.openai_responses.item)
}

/// Returns whether an item can be sent back. Reasoning without content is only a reference to
/// something that the server did not keep.
fn can_be_resent(item: &RawValue) -> bool {
    #[derive(Deserialize)]
    struct ReasoningItem<'a> {
        #[serde(rename = "type", default)]
        kind: String,
        #[serde(borrow)]
        encrypted_content: Option<&'a RawValue>,
        #[serde(borrow)]
        content: Option<&'a RawValue>,
    }
    let says = |field: Option<&RawValue>| {
        field.is_some_and(|field| !matches!(field.get(), "null" | "\"\"" | "[]"))
    };
    serde_json::from_str::<ReasoningItem<'_>>(item.get()).is_ok_and(|item| {
        item.kind != "reasoning" || says(item.encrypted_content) || says(item.content)
    })
}

fn write_text(out: &mut Vec<u8>, text: &str) {
    let mut message = JsonObjectWriter::open(out);
    message.string("type", "message");
    message.string("role", "assistant");
    let mut list = JsonListWriter::open(message.key("content"));
    let mut part = JsonObjectWriter::open(list.item());
    part.string("type", "output_text");
    part.string("text", text);
    part.raw("annotations", "[]");
    part.close();
    list.close();
    message.close();
}

fn write_call(out: &mut Vec<u8>, call: &ToolUse) {
    let mut item = JsonObjectWriter::open(out);
    item.string("type", "function_call");
    item.string("call_id", &call.id);
    item.string("name", &call.name);
    item.string("arguments", call.input.text());
    item.close();
}

/// Writes the output of a call: text alone as a string, other content as a list.
fn write_output(out: &mut Vec<u8>, id: &str, block: &ContentBlock) {
    let ToolResultContent { text_json, attachments } = content::read_tool_result(block);
    let mut item = JsonObjectWriter::open(out);
    item.string("type", "function_call_output");
    item.string("call_id", id);
    if attachments.is_empty() {
        item.raw("output", &text_json);
    } else {
        let mut list = JsonListWriter::open(item.key("output"));
        if text_json != "\"\"" {
            let mut part = JsonObjectWriter::open(list.item());
            part.string("type", "input_text");
            part.raw("text", &text_json);
            part.close();
        }
        attachments.iter().for_each(|piece| write_piece(list.item(), piece));
        list.close();
    }
    item.close();
}

fn write_pieces(out: &mut Vec<u8>, pieces: &[ContentPart]) {
    let mut list = JsonListWriter::open(out);
    pieces.iter().for_each(|part| write_piece(list.item(), part));
    list.close();
}

fn write_piece(out: &mut Vec<u8>, piece: &ContentPart) {
    let mut part = JsonObjectWriter::open(out);
    match piece {
        ContentPart::Text(text) => {
            part.string("type", "input_text");
            part.string("text", text);
        }
        ContentPart::Image(address) => {
            part.string("type", "input_image");
            part.string("image_url", address);
        }
        ContentPart::File { name, url } => {
            part.string("type", "input_file");
            part.string("filename", name);
            part.string("file_data", url);
        }
    }
    part.close();
}
