//! Events of a reply, for any split into pieces.

use std::sync::Arc;

use serde_json::{Value, json};
use windlass::core::message::content_block::ContentBlock;
use windlass::core::message::raw_json::RawJson;
use windlass::core::message::reply::{ModelReply, StopReason, TokenUsage};

use super::{PartialMessage, PieceKind, StreamPart};

fn reply(blocks: &[Value]) -> ModelReply {
    let block = |block: &Value| RawJson::encode(block).read::<ContentBlock>().unwrap();
    ModelReply {
        blocks: blocks.iter().map(block).collect(),
        truncated_block: None,
        stop_reason: StopReason::from(Arc::from("tool_use")),
        stop_sequence: None,
        usage: TokenUsage::default(),
        envelope: None,
    }
}

/// An event in short: its kind, and the index of its block.
fn word(event: &Value) -> String {
    let kind = event["type"].as_str().unwrap().replace("content_block_", "");
    match event["index"].as_u64() {
        Some(at) => format!("{kind} {at}"),
        None => kind,
    }
}

fn told(partial: &mut PartialMessage, blocks: &[Value]) -> Vec<String> {
    let part = |part: StreamPart| match part {
        StreamPart::Event(event) => word(&event),
        StreamPart::Block(index) => format!("BLOCK {index}"),
    };
    partial.complete(&reply(blocks), "m").into_iter().map(part).collect()
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn call() -> Value {
    json!({"type": "tool_use", "id": "t", "name": "Read", "input": {"file_path": "a"}})
}

#[test]
fn pieces_become_the_events_of_one_message() {
    let mut partial = PartialMessage::default();
    let mut said = |kind, chunk| -> Vec<String> {
        partial.push_piece(kind, chunk, "m").iter().map(word).collect()
    };
    assert_eq!(said(PieceKind::Thinking, "Hm"), ["message_start", "start 0", "delta 0"]);
    assert_eq!(said(PieceKind::Thinking, "m."), ["delta 0"]);
    assert_eq!(said(PieceKind::Text, "Hello"), ["stop 0", "start 1", "delta 1"]);
    let thought = json!({"type": "thinking", "thinking": "Hmm.", "signature": "s"});
    let rest = told(&mut partial, &[thought, text("Hello"), call()]);
    let expected = [
        "BLOCK 0",
        "BLOCK 1",
        "stop 1",
        "start 2",
        "delta 2",
        "BLOCK 2",
        "stop 2",
        "message_delta",
        "message_stop",
    ];
    assert_eq!(rest, expected);
    // The next piece starts another message.
    assert_eq!(partial.push_piece(PieceKind::Text, "x", "m").len(), 3);
}

#[test]
fn a_reply_that_came_at_once_has_all_its_events() {
    let rest = told(&mut PartialMessage::default(), &[text("Hello"), call()]);
    let first = ["message_start", "start 0", "delta 0", "BLOCK 0", "stop 0", "start 1"];
    assert_eq!(rest[..6], first);
    assert_eq!(rest.last().unwrap(), "message_stop");
}

#[test]
fn two_texts_that_ran_together_are_not_said_twice() {
    let mut partial = PartialMessage::default();
    partial.push_piece(PieceKind::Text, "onetwo", "m");
    let rest = told(&mut partial, &[text("one"), text("two")]);
    assert_eq!(rest, ["BLOCK 0", "BLOCK 1", "stop 0", "message_delta", "message_stop"]);
}
