//! The events of a reply, as readers get them: byte for byte from an API of that form, and converted
//! from the others while they arrive.

use std::sync::Arc;

use serde_json::json;
use windlass_core::message::reply::ModelReply;
use windlass_providers::catalog::provider_table::WireFormat;
use windlass_providers::{CallOptions, RecordedCall, RemoteModel, ReplyDelivery, replay_stream};
use windlass_runtime::SystemClock;
use windlass_runtime::ports::Model;
use windlass_scripted::server::{RequestObserver, ScriptedServer, ServedRequest};
use windlass_scripted::{Script, ScriptedModel};

use crate::adapter::{endpoint, prompt, request, shared};
use crate::event_message::{EventBlock, EventMessage};
use crate::format_scenarios::{FORMATS, cassette, scenarios};
use crate::recording_stream::RecordingStream;

const SCRIPT: &str = r#"
when user is "long"
  say "and so on and so"
  stop max_tokens
  usage in 5 out 6

when user is "torn"
  say "Writing."
  truncate call Write {"content": "abc

when any
  think "Both are wanted, and both are there."
  say "Reading é \" two\n\nfiles."
  call Read as call_1 {"file_path": "a.txt", "why": "because it was asked for"}
  call Read as call_2 {"file_path": "é \" \\ b.txt"}
  usage in 10 out 20 cache_read 30 cache_write 40
"#;

struct NoRequestObserver;

impl RequestObserver for NoRequestObserver {
    fn on_served(&self, _served: &ServedRequest) {}
}

/// A server of its own for every call, so that all of them are its first one.
async fn remote(format: WireFormat, delivery: ReplyDelivery) -> RemoteModel {
    let server = ScriptedServer::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let path = match format {
        WireFormat::AnthropicMessages => "",
        WireFormat::OpenAiChat | WireFormat::OpenAiResponses => "/v1",
    };
    let url = format!("http://{}{path}", server.address());
    let (script, clock) = (Script::parse(SCRIPT).unwrap(), Arc::new(SystemClock::start()));
    tokio::spawn(server.serve(script, clock, Arc::new(NoRequestObserver), std::future::pending()));
    let options = CallOptions { delivery, ..CallOptions::default() };
    RemoteModel::new(endpoint(format, &url), shared(), options).unwrap()
}

async fn ask(model: &dyn Model, text: &str) -> (ModelReply, Vec<String>) {
    let recording = RecordingStream::with_events();
    let reply = model.call(request(prompt(text)), Arc::clone(&recording) as _).await.unwrap();
    let events = recording.events();
    (reply, events)
}

fn content(block: &EventBlock) -> String {
    block.pieces.concat()
}

/// The content of all blocks of one kind.
fn joined(message: &EventMessage, kind: &str) -> String {
    message.blocks.iter().filter(|block| block.kind() == kind).map(content).collect()
}

/// Checks that the events add up to the reply.
fn check_message(message: &EventMessage, reply: &ModelReply, what: &str) {
    assert_eq!(joined(message, "text"), reply.text(), "{what}");
    let calls: Vec<_> = reply
        .tool_uses()
        .map(|(_, call)| {
            let input: serde_json::Value = call.input.read().unwrap();
            (call.id.to_string(), call.name.to_string(), input)
        })
        .collect();
    let whole_calls = message.blocks.iter().filter_map(|block| {
        let input = Some(content(block)).filter(|input| !input.is_empty());
        let input = serde_json::from_str(&input.unwrap_or("{}".to_owned())).ok()?;
        let field = |name: &str| Some(block.start[name].as_str()?.to_owned());
        (block.kind() == "tool_use").then_some(())?;
        Some((field("id")?, field("name")?, input))
    });
    // A call that was cut has a block of events and is no block of the reply.
    let whole_calls: Vec<_> = whole_calls.collect();
    assert!(whole_calls.starts_with(&calls), "{what}: {whole_calls:?}");
    assert!(whole_calls.len() == calls.len() || reply.truncated_block.is_some(), "{what}");
    let of_reply = reply.blocks.iter().filter(|block| block.is_thinking());
    let of_reply: String = of_reply
        .map(|block| block.raw().read::<serde_json::Value>().unwrap()["thinking"].clone())
        .map(|text| text.as_str().unwrap().to_owned())
        .collect();
    assert_eq!(joined(message, "thinking"), of_reply, "{what}");
    assert_eq!(message.stop_reason, reply.stop_reason.as_str(), "{what}");
    assert_eq!(message.stop_sequence.as_deref(), reply.stop_sequence.as_deref(), "{what}");
}

#[tokio::test]
async fn the_events_of_every_format_add_up_to_the_reply() {
    for format in FORMATS {
        for delivery in [ReplyDelivery::Streamed, ReplyDelivery::Whole] {
            for text in ["go", "long", "torn"] {
                let what = format!("{text} of {format:?} {delivery:?}");
                let (reply, events) = ask(&remote(format, delivery).await, text).await;
                let message = EventMessage::fold(&events);
                check_message(&message, &reply, &what);
                let prefix = match format {
                    WireFormat::AnthropicMessages => "msg_",
                    WireFormat::OpenAiChat => "chatcmpl-",
                    WireFormat::OpenAiResponses => "resp_",
                };
                assert!(message.id.starts_with(prefix), "{what}: {}", message.id);
                assert_eq!(message.model, "test-model", "{what}");
                for (field, tokens) in [
                    ("input_tokens", reply.usage.input_tokens),
                    ("output_tokens", reply.usage.output_tokens),
                    ("cache_read_input_tokens", reply.usage.cache_read_tokens),
                    ("cache_creation_input_tokens", reply.usage.cache_write_tokens),
                ] {
                    assert_eq!(message.usage[field], tokens, "{field}, {what}");
                }
            }
        }
    }
}

#[tokio::test]
async fn pieces_are_handed_on_as_they_come() {
    for format in FORMATS {
        let (_, events) = ask(&remote(format, ReplyDelivery::Streamed).await, "go").await;
        let message = EventMessage::fold(&events);
        let pieces = |at: usize| -> Vec<&str> {
            let pieces = message.blocks[at].pieces.iter().map(String::as_str);
            pieces.filter(|piece| !piece.is_empty()).collect()
        };
        assert_eq!(pieces(1)[..3], ["Reading ", "é ", "\" "], "{format:?}");
        let words = ["{\"file_path\": ", "\"a.txt\", ", "\"why\": ", "\"because ", "it "];
        assert_eq!(pieces(2)[..5], words, "{format:?}");
    }
}

#[tokio::test]
async fn events_of_the_messages_api_are_not_changed() {
    let model = remote(WireFormat::AnthropicMessages, ReplyDelivery::Streamed).await;
    let (reply, events) = ask(&model, "go").await;
    let body = reply.envelope.unwrap().body.unwrap();
    let sent: Vec<&str> = body.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
    assert!(sent.contains(&r#"{"type":"ping"}"#));
    let sent: Vec<&str> = sent.into_iter().filter(|data| !data.contains("\"ping\"")).collect();
    assert_eq!(events, sent);
    let deltas = |kind: &str| events.iter().filter(|event| event.contains(kind)).count();
    assert!(deltas("input_json_delta") > 4 && deltas("signature_delta") == 1, "{events:#?}");
}

#[tokio::test]
async fn the_scripted_model_sends_what_its_server_sends() {
    for text in ["go", "long", "torn"] {
        let served = remote(WireFormat::AnthropicMessages, ReplyDelivery::Streamed).await;
        let script = Script::parse(SCRIPT).unwrap();
        let direct = ScriptedModel::new(script, Arc::new(SystemClock::start()));
        assert_eq!(ask(&direct, text).await.1, ask(&served, text).await.1, "{text}");
    }
}

fn replay(format: WireFormat, events: &[serde_json::Value]) -> (ModelReply, EventMessage) {
    let stream: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    let stream = format!("{stream}data: [DONE]\n\n");
    let recorded = RecordedCall { model: Arc::from("m"), model_call: 7, stop_strings: Vec::new() };
    let recording = RecordingStream::with_events();
    let reply = replay_stream(format, &recorded, [stream.as_bytes()], &*recording).unwrap();
    let message = EventMessage::fold(&recording.events());
    check_message(&message, &reply, "replayed");
    (reply, message)
}

#[test]
fn recorded_streams_of_every_format_have_events_that_add_up_to_the_reply() {
    for scenario in scenarios() {
        for format in FORMATS {
            // What the Messages API says is handed on, also where the reply knows better.
            if (scenario.name, format) == ("cut_but_fine", WireFormat::AnthropicMessages) {
                continue;
            }
            let recorded =
                RecordedCall { model: Arc::from("m"), model_call: 1, stop_strings: Vec::new() };
            let recording = RecordingStream::with_events();
            let bytes = cassette(format, scenario.name);
            let reply = replay_stream(format, &recorded, [bytes.as_slice()], &*recording).unwrap();
            let message = EventMessage::fold(&recording.events());
            check_message(&message, &reply, &format!("{} of {format:?}", scenario.name));
        }
    }
}

fn chat_chunk(delta: &serde_json::Value) -> serde_json::Value {
    json!({"id": "chatcmpl-1", "choices": [{"index": 0, "delta": delta}]})
}

fn call_delta(index: u64, function: &serde_json::Value) -> serde_json::Value {
    chat_chunk(&json!({"tool_calls": [{"index": index, "function": function}]}))
}

#[test]
fn chat_calls_that_are_streamed_at_the_same_time_are_blocks_that_are_open_at_the_same_time() {
    let (reply, message) = replay(
        WireFormat::OpenAiChat,
        &[
            // Some servers send a chunk without an id before the message.
            json!({"id": "", "choices": []}),
            call_delta(0, &json!({"name": "Read", "arguments": "{\"a\":"})),
            call_delta(1, &json!({"name": "Write", "arguments": ""})),
            call_delta(0, &json!({"arguments": " 1"})),
            call_delta(1, &json!({"arguments": "{\"b\""})),
            call_delta(0, &json!({"arguments": "}"})),
            call_delta(1, &json!({"arguments": ": 2}"})),
            json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}),
        ],
    );
    assert_eq!(reply.blocks.len(), 2);
    assert_eq!(message.id, "chatcmpl-1");
    assert_eq!(message.model, "m");
    assert_eq!(message.blocks[0].pieces, ["{\"a\":", " 1", "}"]);
    assert_eq!(message.blocks[1].start["name"], "Write");
    assert_eq!(message.blocks[1].pieces, ["{\"b\"", ": 2}"]);
}

#[test]
fn a_chat_call_starts_when_its_name_is_known() {
    let (_, message) = replay(
        WireFormat::OpenAiChat,
        &[
            call_delta(0, &json!({"arguments": "{"})),
            call_delta(0, &json!({"name": "Read"})),
            call_delta(0, &json!({"arguments": "}"})),
            call_delta(1, &json!({"name": "Look", "arguments": {"as": "an object"}})),
            json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}),
        ],
    );
    assert_eq!(message.blocks[0].start["name"], "Read");
    assert_eq!(message.blocks[0].pieces, ["{", "}"]);
    assert_eq!(message.blocks[1].pieces, ["{\"as\":\"an object\"}"]);
}

fn completed() -> serde_json::Value {
    json!({"type": "response.completed", "response": {"status": "completed", "output": []}})
}

#[test]
fn what_a_response_did_not_stream_comes_with_its_item() {
    let message_item = |text: &str| {
        json!({"type": "message", "content": [
            {"type": "output_text", "text": text},
            {"type": "output_text", "text": "a second part"},
        ]})
    };
    let (reply, message) = replay(
        WireFormat::OpenAiResponses,
        &[
            json!({"type": "response.created", "response": {"id": "resp_1", "model": "big"}}),
            json!({"type": "response.output_item.added", "output_index": 0, "item": {"type": "message"}}),
            json!({"type": "response.output_text.delta", "output_index": 0, "delta": "Hel"}),
            json!({"type": "response.output_item.done", "output_index": 0, "item": message_item("Hello.")}),
            json!({"type": "response.output_item.done", "output_index": 1, "item":
                {"type": "function_call", "call_id": "c", "name": "Read", "arguments": "{\"a\": 1}"}}),
            completed(),
        ],
    );
    assert_eq!(reply.blocks.len(), 3);
    assert_eq!((message.id.as_str(), message.model.as_str()), ("resp_1", "big"));
    assert_eq!(message.blocks[0].pieces, ["Hel", "lo."]);
    assert_eq!(message.blocks[1].pieces, ["a second part"]);
    assert_eq!(message.blocks[2].pieces, ["{\"a\": 1}"]);
}

#[test]
fn the_parts_of_reasoning_are_one_block_of_thinking() {
    let delta = |part: u64, text: &str| {
        json!({"type": "response.reasoning_summary_text.delta", "output_index": 0,
            "summary_index": part, "delta": text})
    };
    let summary =
        json!([{"type": "summary_text", "text": "One."}, {"type": "summary_text", "text": "Two."}]);
    let (_, message) = replay(
        WireFormat::OpenAiResponses,
        &[
            json!({"type": "response.output_item.added", "output_index": 0, "item": {"type": "reasoning"}}),
            delta(0, "On"),
            delta(0, "e."),
            delta(1, "Two."),
            json!({"type": "response.output_item.done", "output_index": 0, "item":
                {"type": "reasoning", "id": "rs_1", "summary": summary}}),
            json!({"type": "response.output_item.done", "output_index": 1, "item":
                {"type": "web_search_call", "id": "ws_1"}}),
            completed(),
        ],
    );
    assert_eq!(message.blocks[0].pieces.concat(), "One.\n\nTwo.");
    assert_eq!(message.blocks[1].kind(), "openai_responses");
    assert_eq!(message.id, "msg_7", "the server gives no id");
}
