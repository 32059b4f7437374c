//! A long reply as each format streams it: thinking, a text of a thousand small pieces, and calls.

use serde_json::{Value, json};
use windlass_providers::catalog::provider_table::WireFormat;

const PIECES: usize = 1_000;
const CALLS: usize = 4;
const CALL_PIECES: usize = 100;

pub(crate) fn long_reply(format: WireFormat) -> Vec<u8> {
    let events = match format {
        WireFormat::AnthropicMessages => anthropic_events(),
        WireFormat::OpenAiChat => chat_events(),
        WireFormat::OpenAiResponses => responses_events(),
    };
    events.concat().into_bytes()
}

/// The Anthropic stream with the keys of each event in the order in which the service writes them.
pub(crate) fn anthropic_as_sent() -> Vec<u8> {
    let stream = long_reply(WireFormat::AnthropicMessages);
    let text = String::from_utf8_lossy(&stream);
    let lines = text.lines().map(|line| {
        let data = line.strip_prefix("data: ").and_then(|data| serde_json::from_str(data).ok());
        let data: Option<Value> = data;
        data.map_or_else(|| format!("{line}\n"), |event| format!("data: {}\n", type_first(&event)))
    });
    lines.collect::<String>().into_bytes()
}

/// The JSON of a value in which `type` and `index` come before the other keys of an object.
fn type_first(value: &Value) -> String {
    const FIRST: [&str; 5] = ["type", "index", "id", "name", "text"];
    let Some(fields) = value.as_object() else { return value.to_string() };
    let rank = |key: &str| FIRST.iter().position(|first| *first == key).unwrap_or(FIRST.len());
    let mut fields: Vec<(&String, &Value)> = fields.iter().collect();
    fields.sort_by_key(|(key, _)| rank(key));
    let fields = fields.iter().map(|(key, value)| format!("\"{key}\":{}", type_first(value)));
    format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
}

fn text_piece(number: usize) -> String {
    const WORDS: [&str; 6] = ["the ", "windlass ", "turns ", "once,\n", "\"pawl\" ", "é "];
    WORDS.get(number % WORDS.len()).copied().unwrap_or_default().to_owned()
}

/// The arguments of a call in pieces.
fn argument_pieces() -> Vec<String> {
    let middle = (0..CALL_PIECES).map(|_| "a piece of it ".to_owned());
    std::iter::once("{\"content\": \"".to_owned()).chain(middle).chain(["\"}".to_owned()]).collect()
}

fn sse_event(event: Value) -> String {
    let kind = event.get("type").and_then(Value::as_str).unwrap_or_default();
    format!("event: {kind}\ndata: {event}\n\n")
}

fn anthropic_events() -> Vec<String> {
    let mut events = vec![
        json!({"type": "message_start", "message": {"id": "m", "usage": {"input_tokens": 10}}}),
    ];
    let mut block = |index: usize, start: Value, deltas: Vec<Value>| {
        events.push(json!({"type": "content_block_start", "index": index, "content_block": start}));
        let deltas = deltas.into_iter();
        events.extend(
            deltas.map(
                |delta| json!({"type": "content_block_delta", "index": index, "delta": delta}),
            ),
        );
        events.push(json!({"type": "content_block_stop", "index": index}));
    };
    let thoughts =
        (0..PIECES / 4).map(|n| json!({"type": "thinking_delta", "thinking": text_piece(n)}));
    block(0, json!({"type": "thinking", "thinking": "", "signature": "s"}), thoughts.collect());
    let words = (0..PIECES).map(|n| json!({"type": "text_delta", "text": text_piece(n)}));
    block(1, json!({"type": "text", "text": ""}), words.collect());
    for call in 0..CALLS {
        let pieces = argument_pieces().into_iter();
        let deltas = pieces.map(|piece| json!({"type": "input_json_delta", "partial_json": piece}));
        let start =
            json!({"type": "tool_use", "id": format!("c{call}"), "name": "Write", "input": {}});
        block(call + 2, start, deltas.collect());
    }
    events.push(json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 9}}));
    events.push(json!({"type": "message_stop"}));
    events.into_iter().map(sse_event).collect()
}

fn chat_events() -> Vec<String> {
    let chunk = |delta: Value, reason: Value| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": reason});
        let chunk = json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]});
        format!("data: {chunk}\n\n")
    };
    let thoughts =
        (0..PIECES / 4).map(|n| chunk(json!({"reasoning_content": text_piece(n)}), Value::Null));
    let words = (0..PIECES).map(|n| chunk(json!({"content": text_piece(n)}), Value::Null));
    let mut events: Vec<String> = thoughts.chain(words).collect();
    for call in 0..CALLS {
        let function = json!({"name": "Write", "arguments": ""});
        let first = json!({"index": call, "id": format!("c{call}"), "type": "function", "function": function});
        events.push(chunk(json!({"tool_calls": [first]}), Value::Null));
        events.extend(argument_pieces().iter().map(|piece| {
            let more = json!({"index": call, "function": {"arguments": piece}});
            chunk(json!({"tool_calls": [more]}), Value::Null)
        }));
    }
    events.push(chunk(json!({}), json!("tool_calls")));
    events.push(
        "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":9}}\n\n"
            .to_owned(),
    );
    events.push("data: [DONE]\n\n".to_owned());
    events
}

fn responses_events() -> Vec<String> {
    let mut events =
        vec![json!({"type": "response.created", "response": {"status": "in_progress"}})];
    let mut item = |index: usize, kind: &str, pieces: Vec<String>, done: Value| {
        events.push(
            json!({"type": "response.output_item.added", "output_index": index, "item": done}),
        );
        let deltas = pieces.into_iter();
        events.extend(deltas.map(
            |piece| json!({"type": kind, "item_id": "i", "output_index": index, "delta": piece}),
        ));
        events.push(
            json!({"type": "response.output_item.done", "output_index": index, "item": done}),
        );
    };
    let thoughts: Vec<String> = (0..PIECES / 4).map(text_piece).collect();
    let summary = json!([{"type": "summary_text", "text": thoughts.concat()}]);
    item(
        0,
        "response.reasoning_summary_text.delta",
        thoughts,
        json!({"type": "reasoning", "summary": summary}),
    );
    let words: Vec<String> = (0..PIECES).map(text_piece).collect();
    let content = json!([{"type": "output_text", "text": words.concat(), "annotations": []}]);
    item(1, "response.output_text.delta", words, json!({"type": "message", "content": content}));
    for call in 0..CALLS {
        let pieces = argument_pieces();
        let done = json!({"type": "function_call", "call_id": format!("c{call}"), "name": "Write", "arguments": pieces.concat()});
        item(call + 2, "response.function_call_arguments.delta", pieces, done);
    }
    let usage = json!({"input_tokens": 10, "output_tokens": 9});
    events.push(json!({"type": "response.completed", "response": {"status": "completed", "output": [], "usage": usage}}));
    events.into_iter().map(sse_event).collect()
}
