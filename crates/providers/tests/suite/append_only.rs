//! The next request body is the bytes of the last one plus what is new.

use windlass_core::message::content_block::{ContentBlock, ErrorFlag};
use windlass_core::message::raw_json::RawJson;
use windlass_providers::catalog::provider_table::WireFormat;
use windlass_providers::{CacheLifetime, CallOptions};

use crate::adapter::{joined, prompt, push_round, remote, request, settings};
use crate::format_scenarios::FORMATS;

const NOWHERE: &str = "http://127.0.0.1:1";

fn without_cache() -> CallOptions {
    CallOptions { cache: CacheLifetime::Off, ..CallOptions::default() }
}

/// The part that must stay the same: everything before the end of the conversation.
fn messages(body: &str) -> &str {
    let end = body.rfind("],\"max_").unwrap();
    let open = &body[..end];
    let stripped = ["]}", "\"}"].iter().find_map(|close| open.strip_suffix(close));
    stripped.unwrap_or(open)
}

#[test]
fn within_a_conversation_bodies_only_grow_at_the_end() {
    for format in FORMATS {
        let model = remote(format, NOWHERE, without_cache());
        let mut request = request(prompt("go"));
        let mut last = joined(&model.request_body(&request));
        for round in 0..30 {
            push_round(&mut request.transcript, round);
            if round % 7 == 0 {
                request.transcript.push_note("Mind the time.");
            }
            let body = joined(&model.request_body(&request));
            assert!(body.starts_with(messages(&last)), "{format:?} round {round}");
            assert!(serde_json::from_str::<serde_json::Value>(&body).is_ok(), "{format:?}");
            last = body;
        }
    }
}

#[test]
fn a_kept_encoding_is_the_same_as_a_fresh_one() {
    for format in FORMATS {
        let kept = remote(format, NOWHERE, CallOptions::default());
        let mut request = request(prompt("go"));
        for round in 0..20 {
            push_round(&mut request.transcript, round);
            let fresh = remote(format, NOWHERE, CallOptions::default());
            assert_eq!(joined(&kept.request_body(&request)), joined(&fresh.request_body(&request)));
        }
        // A fork, and a compaction.
        let mut fork = request.clone();
        push_round(&mut request.transcript, 100);
        push_round(&mut fork.transcript, 200);
        request.transcript.compact(10, "What was before is left out.", &[], "");
        for request in [&request, &fork, &request] {
            let fresh = remote(format, NOWHERE, CallOptions::default());
            assert_eq!(joined(&kept.request_body(request)), joined(&fresh.request_body(request)));
        }
    }
}

#[test]
fn the_cache_is_marked_at_tools_system_previous_end_and_current_end() {
    let model = remote(WireFormat::AnthropicMessages, NOWHERE, CallOptions::default());
    let mut request = request(prompt("go"));
    push_round(&mut request.transcript, 1);
    push_round(&mut request.transcript, 2);
    let body: serde_json::Value =
        serde_json::from_str(&joined(&model.request_body(&request))).unwrap();
    let marked = |value: &serde_json::Value| value.get("cache_control").is_some();
    assert!(marked(&body["tools"][1]) && !marked(&body["tools"][0]));
    assert!(marked(&body["system"][0]));
    let blocks = body["messages"].as_array().unwrap().iter();
    let marks: Vec<Vec<bool>> =
        blocks.map(|m| m["content"].as_array().unwrap().iter().map(marked).collect()).collect();
    // prompt, reply, result (the previous end), reply, result (the current end)
    assert_eq!(marks, [vec![false], vec![false; 2], vec![true], vec![false; 2], vec![true]]);
    let all = joined(&model.request_body(&request)).matches("cache_control").count();
    assert_eq!(all, 4);
}

#[test]
fn a_conversation_reads_as_its_format_wants_it() {
    let mut transcript = prompt("Look.");
    let image =
        r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}}"#;
    let calls = [
        ContentBlock::text("Looking."),
        ContentBlock::tool_use("call_1", "Read", &RawJson::parse(r#"{"a": 1}"#).unwrap()),
        ContentBlock::tool_use("call_2", "Read", &RawJson::parse("{}").unwrap()),
    ];
    let with_image =
        RawJson::parse(format!(r#"[{{"type":"text","text":"seen"}},{image}]"#)).unwrap();
    let results = vec![
        ContentBlock::tool_result("call_1", &RawJson::string("one"), ErrorFlag::Success),
        ContentBlock::tool_result("call_2", &with_image, ErrorFlag::Success),
    ];
    transcript.push_round(&calls, results).unwrap();
    transcript.push_note("Go on.");
    let request = request(transcript);
    let body = |format| {
        let model = remote(format, NOWHERE, without_cache());
        serde_json::from_str::<serde_json::Value>(&joined(&model.request_body(&request))).unwrap()
    };

    let chat = body(WireFormat::OpenAiChat);
    let wanted = serde_json::json!([
        {"role": "system", "content": "You are a test."},
        {"role": "user", "content": "Look."},
        {"role": "assistant", "content": "Looking.", "tool_calls": [
            {"id": "call_1", "type": "function", "function": {"name": "Read", "arguments": "{\"a\": 1}"}},
            {"id": "call_2", "type": "function", "function": {"name": "Read", "arguments": "{}"}},
        ]},
        {"role": "tool", "tool_call_id": "call_1", "content": "one"},
        {"role": "tool", "tool_call_id": "call_2", "content": "seen"},
        {"role": "user", "content": [
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}},
            {"type": "text", "text": "Go on."},
        ]},
    ]);
    assert_eq!(chat["messages"], wanted);

    let responses = body(WireFormat::OpenAiResponses);
    let wanted = serde_json::json!([
        {"role": "user", "content": [{"type": "input_text", "text": "Look."}]},
        {"type": "message", "role": "assistant",
         "content": [{"type": "output_text", "text": "Looking.", "annotations": []}]},
        {"type": "function_call", "call_id": "call_1", "name": "Read", "arguments": "{\"a\": 1}"},
        {"type": "function_call", "call_id": "call_2", "name": "Read", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "call_1", "output": "one"},
        {"type": "function_call_output", "call_id": "call_2", "output": [
            {"type": "input_text", "text": "seen"},
            {"type": "input_image", "image_url": "data:image/png;base64,aGk="},
        ]},
        {"role": "user", "content": [{"type": "input_text", "text": "Go on."}]},
    ]);
    assert_eq!(responses["input"], wanted);
    assert_eq!(responses["store"], false);

    let anthropic = body(WireFormat::AnthropicMessages);
    let roles: Vec<&str> = anthropic["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["role"].as_str().unwrap())
        .collect();
    assert_eq!(roles, ["user", "assistant", "user"]);
    assert_eq!(anthropic["messages"][2]["content"].as_array().unwrap().len(), 3);
    assert_eq!(anthropic["system"][0]["text"], settings().system.as_ref());
}

/// Every format is encoded from one transcript in our own shape.
// spec: TRANSCRIPT-01
#[test]
fn every_format_carries_model_system_prompt_tools_and_messages() {
    for format in FORMATS {
        let mut request = request(prompt("go on"));
        push_round(&mut request.transcript, 3);
        let body = joined(&remote(format, NOWHERE, without_cache()).request_body(&request));
        let body: serde_json::Value = serde_json::from_str(&body).unwrap();
        let (system, messages) = match format {
            WireFormat::AnthropicMessages => (&body["system"][0]["text"], &body["messages"]),
            WireFormat::OpenAiChat => (&body["messages"][0]["content"], &body["messages"]),
            WireFormat::OpenAiResponses => (&body["instructions"], &body["input"]),
        };
        assert_eq!((system, &body["model"]), (&"You are a test.".into(), &"test-model".into()));
        assert_eq!(body["tools"].as_array().unwrap().len(), 2, "{format:?}");
        let messages = messages.to_string();
        let order =
            ["go on", "Reading.", "3.txt", "xxx"].map(|output| messages.find(output).unwrap());
        assert!(order.is_sorted(), "{format:?}: {messages}");
        assert_eq!(messages.matches("call_3").count(), 2, "the call and its result");
    }
}

// spec: WINDOW-22
#[test]
fn instructions_found_on_the_way_have_the_role_for_them_or_stand_behind_the_results() {
    for format in FORMATS {
        let model = remote(format, NOWHERE, without_cache());
        let mut request = request(prompt("go"));
        push_round(&mut request.transcript, 1);
        request.transcript.push_memory("Use tabs.");
        let body = joined(&model.request_body(&request));
        let body: serde_json::Value = serde_json::from_str(&body).unwrap();
        let said = body.get("messages").or(body.get("input")).unwrap().as_array().unwrap();
        let last = said.last().unwrap();
        assert!(last.to_string().contains("Use tabs."), "{format:?}: {last}");
        let role = if format == WireFormat::OpenAiResponses { "developer" } else { "user" };
        assert_eq!(last["role"], role, "{format:?}");
    }
}
