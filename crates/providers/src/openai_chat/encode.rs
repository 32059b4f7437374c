//! A transcript as chat messages: calls in one assistant's message, results each in a message of
//! their own, in order, and what the user says after them.
//!
//! Texts are plain strings wherever they can be: not every server takes lists of parts. A user's
//! message stays open at the end of a segment, so that the next one can be joined to it.

use windlass_core::block::{Block, Kind, ToolUse};
use windlass_core::transcript::{Role, Segment};

use crate::content::{self, Brought, Piece};
use crate::encodings::{Encode, Written};
use crate::foreign::ChatThought;
use crate::json::{List, Object};
use crate::lossless;

/// Writes chat messages for one model.
#[derive(Debug)]
pub(crate) struct Chat {
    /// Reasoning goes back to the model it came from.
    pub(crate) model: String,
}

/// What is open at the end of a segment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Open {
    /// Nothing was written yet.
    #[default]
    Start,
    /// Every message is closed.
    Closed,
    /// A user's text.
    Text,
    /// A user's list of parts.
    Parts,
}

impl Encode for Chat {
    type Open = Open;

    fn segment(&self, open: Open, segment: &Segment, out: &mut Vec<u8>) -> Written<Open> {
        let mut writer = Writer { open, out };
        match segment.role {
            Role::User => writer.user(&segment.blocks),
            Role::Assistant => writer.assistant(&segment.blocks, &self.model),
        }
        Written { open: writer.open, splice: None }
    }

    fn close(&self, open: Open) -> &'static [u8] {
        closing(open)
    }
}

fn closing(open: Open) -> &'static [u8] {
    match open {
        Open::Start | Open::Closed => b"",
        Open::Text => b"\"}",
        Open::Parts => b"]}",
    }
}

struct Writer<'a> {
    open: Open,
    out: &'a mut Vec<u8>,
}

impl Writer<'_> {
    /// Closes what is open and begins a message.
    fn message(&mut self) {
        self.out.extend_from_slice(closing(self.open));
        if self.open != Open::Start {
            self.out.push(b',');
        }
        self.open = Open::Closed;
    }

    fn user(&mut self, blocks: &[Block]) {
        let mut others = Vec::new();
        for block in blocks {
            if let Kind::ToolResult { tool_use_id } = block.kind() {
                others.extend(self.result(tool_use_id, block));
            }
        }
        let said = blocks.iter().filter_map(content::piece);
        let said: Vec<Piece> = others.into_iter().chain(said).collect();
        if said.iter().all(|piece| matches!(piece, Piece::Text(_))) && self.open != Open::Parts {
            said.iter().for_each(|piece| self.text(piece));
        } else {
            said.iter().for_each(|piece| self.part(piece));
        }
    }

    /// A result's words; what else it holds can only be said by the user.
    fn result(&mut self, id: &str, block: &Block) -> Vec<Piece> {
        let Brought { words, others } = content::result(block);
        self.message();
        let mut message = Object::open(self.out);
        message.string("role", "tool");
        message.string("tool_call_id", id);
        message.raw("content", &words);
        message.close();
        others
    }

    fn text(&mut self, piece: &Piece) {
        let Piece::Text(text) = piece else { return };
        if self.open == Open::Text {
            self.out.extend_from_slice(b"\\n\\n");
        } else {
            self.message();
            self.out.extend_from_slice(b"{\"role\":\"user\",\"content\":\"");
            self.open = Open::Text;
        }
        lossless::push_escaped(self.out, text);
    }

    fn part(&mut self, piece: &Piece) {
        if self.open == Open::Parts {
            self.out.push(b',');
        } else {
            self.message();
            self.out.extend_from_slice(b"{\"role\":\"user\",\"content\":[");
            self.open = Open::Parts;
        }
        write_part(self.out, piece);
    }

    fn assistant(&mut self, blocks: &[Block], model: &str) {
        let texts: Vec<&str> = blocks.iter().filter_map(Block::as_text).collect();
        let calls: Vec<&ToolUse> = blocks.iter().filter_map(Block::as_tool_use).collect();
        if texts.is_empty() && calls.is_empty() {
            return;
        }
        self.message();
        let mut message = Object::open(self.out);
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

/// Reasoning goes back in the field it came in, to the model it came from.
fn write_reasoning(message: &mut Object<'_>, blocks: &[Block], model: &str) {
    let thoughts = blocks.iter().filter(|block| block.is_thought());
    let thoughts = thoughts.filter_map(|block| block.raw().read::<ChatThought<'_>>().ok());
    let thoughts: Vec<ChatThought<'_>> =
        thoughts.filter(|thought| thought.openai_chat.model == model).collect();
    let Some(first) = thoughts.first() else { return };
    let texts: Vec<_> = thoughts.iter().filter_map(|t| lossless::escaped(t.thinking)).collect();
    let out = message.key(&first.openai_chat.field);
    out.push(b'"');
    out.extend_from_slice(texts.concat().as_bytes());
    out.push(b'"');
}

fn write_calls(out: &mut Vec<u8>, calls: &[&ToolUse]) {
    let mut list = List::open(out);
    for call in calls {
        let mut object = Object::open(list.item());
        object.string("id", &call.id);
        object.string("type", "function");
        let mut function = Object::open(object.key("function"));
        function.string("name", &call.name);
        function.string("arguments", call.input.text());
        function.close();
        object.close();
    }
    list.close();
}

fn write_part(out: &mut Vec<u8>, piece: &Piece) {
    let mut part = Object::open(out);
    match piece {
        Piece::Text(text) => {
            part.string("type", "text");
            part.string("text", text);
        }
        Piece::Image(address) => {
            part.string("type", "image_url");
            let mut image = Object::open(part.key("image_url"));
            image.string("url", address);
            image.close();
        }
        Piece::File { name, address } => {
            part.string("type", "file");
            let mut file = Object::open(part.key("file"));
            file.string("filename", name);
            file.string("file_data", address);
            file.close();
        }
    }
    part.close();
}
