//! OpenAI Chat Completions.

use serde_json::{Value, json};

use crate::events::events;
use crate::test_server::TestServer;

const PATH: &str = "/v1/chat/completions";

const SCRIPT: &str = r#"
when result of Read contains "42" and error of Bash
  say "It is 42."

when user is "look" and results 0 and tools include Read
  think "Two at once."
  say "Looking now."
  raw {"type": "odd"}
  call Read as call_a {"file_path": "a.txt"}
  call Bash as call_b {"command": "ls"}
  usage in 12 out 34 cache_read 5 cache_write 6

when user is "refuse"
  say "no"
  stop refusal

when user is "odd stop"
  say "x"
  stop never_heard_of

when user is "lie"
  truncate call Write {"content": "abc
  stop end_turn

when user is "long"
  truncate call Write {"content": "abc
"#;

fn ask(text: &str, stream: bool) -> Value {
    json!({"model": "gpt-x", "stream": stream,
        "tools": [{"type": "function", "function": {"name": "Read", "parameters": {}}}],
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": text}]})
}

#[tokio::test]
async fn a_document_has_everything() {
    let server = TestServer::new(SCRIPT).await;
    let response = server.post(PATH, &ask("look", false)).await;
    assert!(response.header("x-request-id").unwrap().starts_with("req_"));
    let completion = response.json();
    assert_eq!(
        (&completion["object"], &completion["model"]),
        (&json!("chat.completion"), &json!("gpt-x"))
    );
    assert!(completion["id"].as_str().unwrap().starts_with("chatcmpl-"));
    assert!(completion["created"].as_u64().unwrap() > 1_700_000_000);
    let choice = &completion["choices"][0];
    assert_eq!(choice["finish_reason"], "tool_calls");
    let message = &choice["message"];
    assert_eq!(message["content"], "Looking now.");
    assert_eq!(message["reasoning_content"], "Two at once.");
    let function = json!({"name": "Read", "arguments": r#"{"file_path": "a.txt"}"#});
    let call = json!({"id": "call_a", "type": "function", "function": function});
    assert_eq!(message["tool_calls"][0], call);
    assert_eq!(message["tool_calls"][1]["function"]["name"], "Bash");
    let usage = &completion["usage"];
    assert_eq!((&usage["prompt_tokens"], &usage["completion_tokens"]), (&json!(23), &json!(34)));
    assert_eq!(
        (&usage["total_tokens"], &usage["prompt_tokens_details"]["cached_tokens"]),
        (&json!(57), &json!(5))
    );
    assert_eq!(usage["completion_tokens_details"]["reasoning_tokens"], 3);
}

#[tokio::test]
async fn a_stream_adds_up_to_the_document() {
    let server = TestServer::new(SCRIPT).await;
    let mut request = ask("look", true);
    request["stream_options"] = json!({"include_usage": true});
    let events = events(&server.post(PATH, &request).await.body);
    assert_eq!(events.last().unwrap().1, "[DONE]");
    let chunks: Vec<&Value> = events[..events.len() - 1].iter().map(|(_, data)| data).collect();
    assert!(chunks.iter().all(|chunk| chunk["object"] == "chat.completion.chunk"));
    assert!(chunks.iter().all(|chunk| chunk["id"] == chunks[0]["id"]));
    let deltas: Vec<&Value> = chunks.iter().map(|chunk| &chunk["choices"][0]["delta"]).collect();
    assert_eq!(deltas[0]["role"], "assistant");
    let joined = |field: &str| -> String {
        deltas.iter().filter_map(|delta| delta[field].as_str()).collect()
    };
    assert_eq!(
        (joined("content").as_str(), joined("reasoning_content").as_str()),
        ("Looking now.", "Two at once.")
    );
    let calls: Vec<&Value> =
        deltas.iter().map(|delta| &delta["tool_calls"][0]).filter(|call| !call.is_null()).collect();
    let of = |index: u32| calls.iter().filter(move |call| call["index"] == index);
    let arguments = |index| -> String {
        of(index).map(|call| call["function"]["arguments"].as_str().unwrap()).collect()
    };
    assert_eq!(of(0).next().unwrap()["id"], "call_a");
    assert_eq!(of(1).filter(|call| call["id"] == "call_b").count(), 1);
    assert_eq!(
        (arguments(0).as_str(), arguments(1).as_str()),
        (r#"{"file_path": "a.txt"}"#, r#"{"command": "ls"}"#)
    );
    assert_eq!(chunks[chunks.len() - 2]["choices"][0]["finish_reason"], "tool_calls");
    let last = chunks[chunks.len() - 1];
    assert_eq!((&last["choices"], &last["usage"]["total_tokens"]), (&json!([]), &json!(57)));
}

#[tokio::test]
async fn results_are_read_with_their_tools() {
    let server = TestServer::new(SCRIPT).await;
    let mut request = ask("look", false);
    let reply = server.post(PATH, &request).await.json();
    let messages = request["messages"].as_array_mut().unwrap();
    messages.push(reply["choices"][0]["message"].clone());
    // In another order than the calls: the id decides.
    let failed = json!({"error": true, "code": "no"}).to_string();
    messages.push(json!({"role": "tool", "tool_call_id": "call_b", "content": failed}));
    messages.push(json!({"role": "tool", "tool_call_id": "call_a", "content": "it is 42"}));
    let reply = server.post(PATH, &request).await.json();
    assert_eq!(reply["choices"][0]["message"]["content"], "It is 42.");
    // A text after the results is part of the same turn.
    let note = json!({"role": "user", "content": "one round left"});
    request["messages"].as_array_mut().unwrap().push(note);
    let reply = server.post(PATH, &request).await.json();
    assert_eq!(reply["choices"][0]["message"]["content"], "It is 42.");
    assert_eq!(reply["choices"][0]["finish_reason"], "stop");
}

#[tokio::test]
async fn finish_reasons_are_mapped_or_passed_through() {
    let server = TestServer::new(SCRIPT).await;
    let table = [
        ("refuse", "content_filter"),
        ("odd stop", "never_heard_of"),
        ("long", "length"),
        ("lie", "stop"),
        ("nothing fits", "stop"),
    ];
    for (text, expected) in table {
        let whole = server.post(PATH, &ask(text, false)).await.json();
        assert_eq!(whole["choices"][0]["finish_reason"], expected, "{text}");
        let events = events(&server.post(PATH, &ask(text, true)).await.body);
        let ended = &events[events.len() - 2].1["choices"][0];
        assert_eq!(ended["finish_reason"], expected, "{text}");
    }
}

#[tokio::test]
async fn a_truncated_call_has_half_its_arguments() {
    let server = TestServer::new(SCRIPT).await;
    let whole = server.post(PATH, &ask("long", false)).await.json();
    let call = &whole["choices"][0]["message"]["tool_calls"][0];
    assert_eq!(call["function"]["arguments"], r#"{"content": "abc"#);
}
