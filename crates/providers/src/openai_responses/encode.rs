//! A transcript as input items: what was said, calls, their outputs, and reasoning as it came.

use serde::Deserialize;
use serde_json::value::RawValue;
use windlass_core::block::{Block, Kind, ToolUse};
use windlass_core::transcript::{Part, Role, Segment};

use crate::content::{self, Brought, Piece};
use crate::encodings::{Encode, Written};
use crate::foreign::{Kept, RESPONSES};
use crate::json::{List, Object};

/// Writes items for one model.
#[derive(Debug)]
pub(crate) struct Items {
    /// Items go back to the model they came from.
    pub(crate) model: String,
}

/// Whether an item stands before.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Place {
    #[default]
    First,
    Later,
}

impl Encode for Items {
    type Open = Place;

    fn segment(&self, open: Place, segment: &Segment, out: &mut Vec<u8>) -> Written<Place> {
        let mut writer = Writer { place: open, out };
        match segment.role {
            Role::User => writer.user(&segment.blocks, speaker(segment.part)),
            Role::Assistant => writer.assistant(&segment.blocks, &self.model),
        }
        Written { open: writer.place, splice: None }
    }

    fn close(&self, _open: Place) -> &'static [u8] {
        b""
    }
}

struct Writer<'a> {
    place: Place,
    out: &'a mut Vec<u8>,
}

impl Writer<'_> {
    fn item(&mut self) -> &mut Vec<u8> {
        if self.place == Place::Later {
            self.out.push(b',');
        }
        self.place = Place::Later;
        self.out
    }

    fn user(&mut self, blocks: &[Block], speaker: &str) {
        for block in blocks {
            if let Kind::ToolResult { tool_use_id } = block.kind() {
                write_output(self.item(), tool_use_id, block);
            }
        }
        let said: Vec<Piece> = blocks.iter().filter_map(content::piece).collect();
        if !said.is_empty() {
            let mut message = Object::open(self.item());
            message.string("role", speaker);
            write_pieces(message.key("content"), &said);
            message.close();
        }
    }

    fn assistant(&mut self, blocks: &[Block], model: &str) {
        for block in blocks {
            match block.kind() {
                Kind::Text(text) => write_text(self.item(), text),
                Kind::ToolUse(call) => write_call(self.item(), call),
                Kind::Other(kind) if block.is_thought() || &**kind == RESPONSES => {
                    if let Some(item) = own_item(block, model) {
                        self.item().extend_from_slice(item.get().as_bytes());
                    }
                }
                Kind::Other(_) | Kind::ToolResult { .. } => {}
            }
        }
    }
}

/// Instructions that were found on the way have a role of their own here; elsewhere they stand wrapped
/// behind the results.
fn speaker(part: Part) -> &'static str {
    match part {
        Part::Memory => "developer",
        Part::Prompt | Part::Note | Part::Summary | Part::Journal | Part::Results | Part::Reply => {
            "user"
        }
    }
}

/// An item this very model sent, if it may come back.
fn own_item<'a>(block: &'a Block, model: &str) -> Option<&'a RawValue> {
    let kept: Kept<'_> = block.raw().read().ok()?;
    let own = kept.openai_responses.model == model && may_return(kept.openai_responses.item);
    own.then_some(kept.openai_responses.item)
}

/// Reasoning that says nothing by itself is only a name of something the server did not keep.
fn may_return(item: &RawValue) -> bool {
    #[derive(Deserialize)]
    struct Item<'a> {
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
    serde_json::from_str::<Item<'_>>(item.get()).is_ok_and(|item| {
        item.kind != "reasoning" || says(item.encrypted_content) || says(item.content)
    })
}

fn write_text(out: &mut Vec<u8>, text: &str) {
    let mut message = Object::open(out);
    message.string("type", "message");
    message.string("role", "assistant");
    let mut list = List::open(message.key("content"));
    let mut part = Object::open(list.item());
    part.string("type", "output_text");
    part.string("text", text);
    part.raw("annotations", "[]");
    part.close();
    list.close();
    message.close();
}

fn write_call(out: &mut Vec<u8>, call: &ToolUse) {
    let mut item = Object::open(out);
    item.string("type", "function_call");
    item.string("call_id", &call.id);
    item.string("name", &call.name);
    item.string("arguments", call.input.text());
    item.close();
}

/// Words alone are a string; with anything else they are a list.
fn write_output(out: &mut Vec<u8>, id: &str, block: &Block) {
    let Brought { words, others } = content::result(block);
    let mut item = Object::open(out);
    item.string("type", "function_call_output");
    item.string("call_id", id);
    if others.is_empty() {
        item.raw("output", &words);
    } else {
        let mut list = List::open(item.key("output"));
        if words != "\"\"" {
            let mut part = Object::open(list.item());
            part.string("type", "input_text");
            part.raw("text", &words);
            part.close();
        }
        others.iter().for_each(|piece| write_piece(list.item(), piece));
        list.close();
    }
    item.close();
}

fn write_pieces(out: &mut Vec<u8>, pieces: &[Piece]) {
    let mut list = List::open(out);
    pieces.iter().for_each(|piece| write_piece(list.item(), piece));
    list.close();
}

fn write_piece(out: &mut Vec<u8>, piece: &Piece) {
    let mut part = Object::open(out);
    match piece {
        Piece::Text(text) => {
            part.string("type", "input_text");
            part.string("text", text);
        }
        Piece::Image(address) => {
            part.string("type", "input_image");
            part.string("image_url", address);
        }
        Piece::File { name, address } => {
            part.string("type", "input_file");
            part.string("filename", name);
            part.string("file_data", address);
        }
    }
    part.close();
}
