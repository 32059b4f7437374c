//! Encodes a transcript as chat messages: calls in one assistant message, results each in a message
//! of their own, in order, and the user's content after them.
//!
//! Texts are plain strings wherever possible: not every server accepts lists of parts. A user
//! message stays open at the end of a segment, so that the next one can be joined to it.

use windlass_core::message::content_block::{BlockKind, ContentBlock, ToolUse};
use windlass_core::message::transcript::{Role, TranscriptSegment};

use crate::json::json_string;
use crate::json::json_writer::{JsonListWriter, JsonObjectWriter};
use crate::request_cache::body_cache::{SegmentEncoder, SegmentOutput};
use crate::wire::content::{self, ContentPart, ToolResultContent};
use crate::wire::foreign_blocks::ChatThinkingBlock;

/// Encodes chat messages for one model.
#[derive(Debug)]
pub(crate) struct ChatEncoder {
    /// The name of the model: reasoning is only sent back to the model it came from.
    pub(crate) model: String,
}

/// What is open at the end of a segment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum OpenMessage {
    /// Nothing was written yet.
    #[default]
    Start,
    /// Every message is closed.
    Closed,
    /// A user message with a text is open.
    Text,
    /// A user message with a list of parts is open.
    Parts,
}

impl SegmentEncoder for ChatEncoder {
    type OpenState = OpenMessage;

    fn encode_segment(
        &self,
        open: OpenMessage,
        segment: &TranscriptSegment,
        out: &mut Vec<u8>,
    ) -> SegmentOutput<OpenMessage> {
        let mut writer = ChatWriter { open, out };
        match segment.role {
            Role::User => writer.write_user(&segment.blocks),
            Role::Assistant => writer.write_assistant(&segment.blocks, &self.model),
        }
        SegmentOutput { open: writer.open, cache_marker_at: None }
    }

    fn closing_bytes(&self, open: OpenMessage) -> &'static [u8] {
        message_end(open)
    }
}

fn message_end(open: OpenMessage) -> &'static [u8] {
    match open {
        OpenMessage::Start | OpenMessage::Closed => b"",
        OpenMessage::Text => b"\"}",
        OpenMessage::Parts => b"]}",
    }
}

struct ChatWriter<'a> {
    open: OpenMessage,
    out: &'a mut Vec<u8>,
}

impl ChatWriter<'_> {
    /// Closes what is open and begins a message.
    fn begin_message(&mut self) {
        self.out.extend_from_slice(message_end(self.open));
        if self.open != OpenMessage::Start {
            self.out.push(b',');
        }
        self.open = OpenMessage::Closed;
    }

    fn write_user(&mut self, blocks: &[ContentBlock]) {
        let mut others = Vec::new();
        for block in blocks {
            if let BlockKind::ToolResult { tool_use_id } = block.kind() {
                others.extend(self.write_tool_result(tool_use_id, block));
            }
        }
        let said = blocks.iter().filter_map(content::to_content_part);
        let said: Vec<ContentPart> = others.into_iter().chain(said).collect();
        if said.iter().all(|part| matches!(part, ContentPart::Text(_)))
            && self.open != OpenMessage::Parts
        {
            said.iter().for_each(|part| self.write_user_text(part));
        } else {
            said.iter().for_each(|part| self.write_user_part(part));
        }
    }

    /// Writes the text of a result; the rest of its content can only be sent in a user message.
    fn write_tool_result(&mut self, id: &str, block: &ContentBlock) -> Vec<ContentPart> {
        let ToolResultContent { text_json, attachments } = content::read_tool_result(block);
        self.begin_message();
        let mut message = JsonObjectWriter::open(self.out);
        message.string("role", "tool");
        message.string("tool_call_id", id);
        message.raw("content", &text_json);
        message.close();
        attachments
    }

    fn write_user_text(&mut self, part: &ContentPart) {
        let ContentPart::Text(text) = part else { return };
        if self.open == OpenMessage::Text {
            self.out.extend_from_slice(b"\\n\\n");
        } else {
            self.begin_message();
            self.out.extend_from_slice(b"{\"role\":\"user\",\"content\":\"");
            self.open = OpenMessage::Text;
        }
        json_string::push_escaped(self.out, text);
    }

    fn write_user_part(&mut self, part: &ContentPart) {
        if self.open == OpenMessage::Parts {
            self.out.push(b',');
        } else {
            self.begin_message();
            self.out.extend_from_slice(b"{\"role\":\"user\",\"content\":[");
            self.open = OpenMessage::Parts;
        }
        write_part(self.out, part);
    }

    fn write_assistant(&mut self, blocks: &[ContentBlock], model: &str) {
        let texts: Vec<&str> = blocks.iter().filter_map(ContentBlock::as_text).collect();
        let calls: Vec<&ToolUse> = blocks.iter().filter_map(ContentBlock::as_tool_use).collect();
        if texts.is_empty() && calls.is_empty() {
            return;
        }
        self.begin_message();
        let mut message = JsonObjectWriter::open(self.out);
        message.string("role", "assistant");
        if texts.is_empty() {
            message.raw("content", "null");
        } else {
            message.string("content", &texts.join("\n\n"));
        }
        write_reasoning(&mut message, blocks, model);
        if !calls.is_empty() {
            write_calls(message.key("tool_calls"), &calls);
        }
        message.close();
    }
}

/// Writes reasoning in the field it came in, if it came from this model.
fn write_reasoning(message: &mut JsonObjectWriter<'_>, blocks: &[ContentBlock], model: &str) {
    let thoughts = blocks.iter().filter(|block| block.is_thinking());
    let thoughts = thoughts.filter_map(|block| block.raw().read::<ChatThinkingBlock<'_>>().ok());
    let thoughts: Vec<ChatThinkingBlock<'_>> =
        thoughts.filter(|thought| thought.openai_chat.model == model).collect();
    let Some(first) = thoughts.first() else { return };
    let texts: Vec<_> =
        thoughts.iter().filter_map(|t| json_string::raw_string_contents(t.thinking)).collect();
    let out = message.key(&first.openai_chat.field);
    out.push(b'"');
    out.extend_from_slice(texts.concat().as_bytes());
    out.push(b'"');
}

fn write_calls(out: &mut Vec<u8>, calls: &[&ToolUse]) {
    let mut list = JsonListWriter::open(out);
    for call in calls {
        let mut object = JsonObjectWriter::open(list.item());
        object.string("id", &call.id);
        object.string("type", "function");
        let mut function = JsonObjectWriter::open(object.key("function"));
        function.string("name", &call.name);
        function.string("arguments", call.input.text());
        function.close();
        object.close();
    }
    list.close();
}

fn write_part(out: &mut Vec<u8>, piece: &ContentPart) {
    let mut part = JsonObjectWriter::open(out);
    match piece {
        ContentPart::Text(text) => {
            part.string("type", "text");
            part.string("text", text);
        }
        ContentPart::Image(address) => {
            part.string("type", "image_url");
            let mut image = JsonObjectWriter::open(part.key("image_url"));
            image.string("url", address);
            image.close();
        }
        ContentPart::File { name, url } => {
            part.string("type", "file");
            let mut file = JsonObjectWriter::open(part.key("file"));
            file.string("filename", name);
            file.string("file_data", url);
            file.close();
        }
    }
    part.close();
}
