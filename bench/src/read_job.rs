//! The task, the same for all contenders: read a file in every turn.

use std::path::Path;

use anyhow::Result;

/// Turns of one conversation.
pub const TURNS: usize = 20;
/// The system prompt.
pub const SYSTEM: &str = "You read files, one after another, and say nothing of them.";
/// What the person says.
pub const PROMPT: &str = "Read the file again and again.";
/// The size of the file.
pub const FILE_BYTES: usize = 886;

/// The content of the file.
pub fn read_file(file: &Path) -> Result<String> {
    Ok(std::fs::read_to_string(file)?)
}

/// The schema of the offered tool.
pub const TOOL_SCHEMA: &str =
    r#"{"type":"object","properties":{"file_path":{"type":"string"}},"required":["file_path"]}"#;

/// The reply of the model: a text and a call.
#[must_use]
pub fn model_answer() -> String {
    let events = [
        r#"{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"bench","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":100,"output_tokens":1}}}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Reading "}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"the file."}}"#,
        r#"{"type":"content_block_stop","index":0}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_1","name":"Read","input":{}}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"file_path\":"}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":" \"notes.txt\"}"}}"#,
        r#"{"type":"content_block_stop","index":1}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":42}}"#,
        r#"{"type":"message_stop"}"#,
    ];
    encode_events(&events)
}

/// The reply with a call that no other reply of the conversation has: the same call again and again
/// would be noticed as a loop.
#[must_use]
pub fn numbered_answer(number: usize) -> String {
    model_answer()
        .replace("toolu_1", &format!("toolu_{number}"))
        .replace("notes.txt", &format!("notes_{number}.txt"))
}

/// The reply that ends the turn.
#[must_use]
pub fn final_answer() -> String {
    encode_events(&[
        r#"{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"bench","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":100,"output_tokens":1}}}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Done."}}"#,
        r#"{"type":"content_block_stop","index":0}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":3}}"#,
        r#"{"type":"message_stop"}"#,
    ])
}

fn encode_events(events: &[&str]) -> String {
    let named = |event: &&str| {
        let kind = event.split('"').nth(3).unwrap_or_default();
        format!("event: {kind}\ndata: {event}\n\n")
    };
    events.iter().map(named).collect()
}
