//! The events of a reply, whatever came in pieces.

use std::sync::Arc;

use serde_json::{Value, json};
use windlass::core::block::Block;
use windlass::core::raw::Raw;
use windlass::core::reply::{Reply, StopReason, Usage};

use super::{Kind, Part, Partial};

fn reply(blocks: &[Value]) -> Reply {
    let block = |block: &Value| Raw::encode(block).read::<Block>().unwrap();
    Reply {
        blocks: blocks.iter().map(block).collect(),
        cut: None,
        stop_reason: StopReason::from(Arc::from("tool_use")),
        stop_sequence: None,
        usage: Usage::default(),
        envelope: None,
    }
}

/// An event in a word: what it is, and of which block.
fn word(event: &Value) -> String {
    let kind = event["type"].as_str().unwrap().replace("content_block_", "");
    match event["index"].as_u64() {
        Some(at) => format!("{kind} {at}"),
        None => kind,
    }
}

fn told(partial: &mut Partial, blocks: &[Value]) -> Vec<String> {
    let part = |part: Part| match part {
        Part::Event(event) => word(&event),
        Part::Block(place) => format!("BLOCK {place}"),
    };
    partial.replied(&reply(blocks), "m").into_iter().map(part).collect()
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn call() -> Value {
    json!({"type": "tool_use", "id": "t", "name": "Read", "input": {"file_path": "a"}})
}

#[test]
fn pieces_become_the_events_of_one_message() {
    let mut partial = Partial::default();
    let mut said =
        |kind, piece| -> Vec<String> { partial.piece(kind, piece, "m").iter().map(word).collect() };
    assert_eq!(said(Kind::Thinking, "Hm"), ["message_start", "start 0", "delta 0"]);
    assert_eq!(said(Kind::Thinking, "m."), ["delta 0"]);
    assert_eq!(said(Kind::Text, "Hello"), ["stop 0", "start 1", "delta 1"]);
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
    // The next one is another message.
    assert_eq!(partial.piece(Kind::Text, "x", "m").len(), 3);
}

#[test]
fn a_reply_that_came_at_once_has_all_its_events() {
    let rest = told(&mut Partial::default(), &[text("Hello"), call()]);
    let first = ["message_start", "start 0", "delta 0", "BLOCK 0", "stop 0", "start 1"];
    assert_eq!(rest[..6], first);
    assert_eq!(rest.last().unwrap(), "message_stop");
}

#[test]
fn two_texts_that_ran_together_are_not_said_twice() {
    let mut partial = Partial::default();
    partial.piece(Kind::Text, "onetwo", "m");
    let rest = told(&mut partial, &[text("one"), text("two")]);
    assert_eq!(rest, ["BLOCK 0", "BLOCK 1", "stop 0", "message_delta", "message_stop"]);
}
