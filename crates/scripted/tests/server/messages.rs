//! Anthropic Messages.

use serde_json::{Value, json};

use crate::client::ResponseEnd;
use crate::events::{events, named, names};
use crate::test_server::TestServer;

const PATH: &str = "/v1/messages";

const SCRIPT: &str = r#"
when result of Read contains "42" and error of Bash
  say "It is 42."
  usage in 10 out 20 cache_read 30 cache_write 40

when user is "look" and results 0 and tools include Read
  think "Two at once."
  say "Looking now."
  call Read as toolu_a {"file_path": "a.txt", "limit": 10}
  call Bash as toolu_b {"command": "ls"}
  usage in 12 out 34 cache_read 5 cache_write 6

when user is "raw"
  raw {"type": "odd",
       "n": 1.50}
  say "after"

when user is "stop"
  say "until"
  stop stop_sequence "\nUser:"

when user is "odd stop"
  say "x"
  stop never_heard_of

when user is "long"
  truncate call Write {"file_path": "a.txt", "content": "abc
"#;

fn ask(text: &str, stream: bool) -> Value {
    json!({"model": "claude-x", "max_tokens": 100, "stream": stream,
        "tools": [{"name": "Read", "input_schema": {"type": "object"}}],
        "messages": [{"role": "user", "content": text}]})
}

#[tokio::test]
async fn a_document_has_everything() {
    let server = TestServer::new(SCRIPT).await;
    let response = server.post(PATH, &ask("look", false)).await;
    assert_eq!((response.status, response.header("content-type")), (200, Some("application/json")));
    assert!(response.header("request-id").unwrap().starts_with("req_"));
    let message = response.json();
    assert_eq!(message["model"], "claude-x");
    assert_eq!(message["stop_reason"], "tool_use");
    assert_eq!(message["stop_sequence"], Value::Null);
    assert_eq!((&message["type"], &message["role"]), (&json!("message"), &json!("assistant")));
    assert!(message["id"].as_str().unwrap().starts_with("msg_"));
    let content = &message["content"];
    assert_eq!(content[0]["thinking"], "Two at once.");
    assert_eq!(content[0]["signature"].as_str().unwrap().len(), 64);
    assert_eq!(content[1], json!({"type": "text", "text": "Looking now."}));
    let input = json!({"file_path": "a.txt", "limit": 10});
    let read = json!({"type": "tool_use", "id": "toolu_a", "name": "Read", "input": input});
    assert_eq!(content[2], read);
    assert_eq!(content[3]["name"], "Bash");
    let usage = &message["usage"];
    assert_eq!((&usage["input_tokens"], &usage["output_tokens"]), (&json!(12), &json!(34)));
    assert_eq!(usage["cache_read_input_tokens"], 5);
    assert_eq!(usage["cache_creation_input_tokens"], 6);
}

#[tokio::test]
async fn a_stream_has_every_event_in_order() {
    let server = TestServer::new(SCRIPT).await;
    let response = server.post(PATH, &ask("look", true)).await;
    assert_eq!(response.header("content-type"), Some("text/event-stream; charset=utf-8"));
    assert_eq!(response.end, ResponseEnd::Complete);
    let events = events(&response.body);
    let block = ["content_block_start", "content_block_delta", "content_block_stop"];
    let first = ["message_start", "content_block_start", "ping", "content_block_delta"];
    let last = ["message_delta", "message_stop"];
    let expected = [&first[..], &block[2..], &block, &block, &block, &last].concat();
    assert_eq!(names(&events), expected);
    assert!(events.iter().all(|(name, data)| data["type"] == **name));

    let start = &named(&events, "message_start")[0]["message"];
    assert_eq!((&start["content"], &start["stop_reason"]), (&json!([]), &Value::Null));
    assert_eq!(start["usage"]["input_tokens"], 12);
    assert_eq!(start["usage"]["output_tokens"], 1);
    let end = named(&events, "message_delta")[0];
    assert_eq!(end["delta"], json!({"stop_reason": "tool_use", "stop_sequence": null}));
    assert_eq!(end["usage"]["output_tokens"], 34);
    assert_eq!(end["usage"]["cache_read_input_tokens"], 5);

    let starts = named(&events, "content_block_start");
    let tool = json!({"type": "tool_use", "id": "toolu_a", "name": "Read", "input": {}});
    assert_eq!((&starts[2]["content_block"], &starts[2]["index"]), (&tool, &json!(2)));
    let deltas = named(&events, "content_block_delta");
    let joined = |index: u32, field: &str| -> String {
        let of_block = deltas.iter().filter(|delta| delta["index"] == index);
        of_block.filter_map(|delta| delta["delta"][field].as_str()).collect()
    };
    assert_eq!(joined(0, "thinking"), "Two at once.");
    assert_eq!(joined(0, "signature").len(), 64);
    assert_eq!(joined(1, "text"), "Looking now.");
    assert_eq!(joined(2, "partial_json"), r#"{"file_path": "a.txt", "limit": 10}"#);
    assert!(deltas.iter().filter(|delta| delta["index"] == 2).count() > 3, "in pieces");
}

#[tokio::test]
async fn results_are_read_with_their_tools() {
    let server = TestServer::new(SCRIPT).await;
    let mut request = ask("look", false);
    let reply = server.post(PATH, &request).await.json();
    let messages = request["messages"].as_array_mut().unwrap();
    messages.push(json!({"role": "assistant", "content": reply["content"]}));
    messages.push(json!({"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "toolu_a", "content": [{"type": "text", "text": "it is 42"}]},
        {"type": "tool_result", "tool_use_id": "toolu_b", "content": "no", "is_error": true},
        {"type": "text", "text": "one round left"}]}));
    let reply = server.post(PATH, &request).await.json();
    assert_eq!(reply["content"], json!([{"type": "text", "text": "It is 42."}]));
    assert_eq!(reply["stop_reason"], "end_turn");
    assert_eq!(reply["usage"]["cache_creation_input_tokens"], 40);
}

#[tokio::test]
async fn raw_blocks_go_out_verbatim() {
    let server = TestServer::new(SCRIPT).await;
    let whole = server.post(PATH, &ask("raw", false)).await;
    assert!(whole.body.contains(r#"{"type": "odd",        "n": 1.50}"#), "{}", whole.body);
    let streamed = server.post(PATH, &ask("raw", true)).await;
    assert!(streamed.body.contains(r#"{"type": "odd",        "n": 1.50}"#), "{}", streamed.body);
    let starts = events(&streamed.body);
    assert_eq!(named(&starts, "content_block_start").len(), 2);
}

#[tokio::test]
async fn stops_are_passed_through() {
    let server = TestServer::new(SCRIPT).await;
    let stopped = server.post(PATH, &ask("stop", false)).await.json();
    assert_eq!(
        (&stopped["stop_reason"], &stopped["stop_sequence"]),
        (&json!("stop_sequence"), &json!("\nUser:"))
    );
    let streamed = events(&server.post(PATH, &ask("stop", true)).await.body);
    let delta = json!({"stop_reason": "stop_sequence", "stop_sequence": "\nUser:"});
    assert_eq!(named(&streamed, "message_delta")[0]["delta"], delta);
    let odd = server.post(PATH, &ask("odd stop", false)).await.json();
    assert_eq!(odd["stop_reason"], "never_heard_of");
}

#[tokio::test]
async fn a_truncated_call_ends_with_max_tokens_inside_its_input() {
    let server = TestServer::new(SCRIPT).await;
    let events = events(&server.post(PATH, &ask("long", true)).await.body);
    let pieces = named(&events, "content_block_delta").into_iter();
    let json: String = pieces.filter_map(|delta| delta["delta"]["partial_json"].as_str()).collect();
    assert_eq!(json, r#"{"file_path": "a.txt", "content": "abc"#);
    assert_eq!(named(&events, "message_delta")[0]["delta"]["stop_reason"], "max_tokens");
    let whole = server.post(PATH, &ask("long", false)).await.json();
    assert_eq!(
        (&whole["stop_reason"], &whole["content"][0]["input"]),
        (&json!("max_tokens"), &json!({}))
    );
}

#[tokio::test]
async fn tokens_are_counted() {
    let server = TestServer::new(SCRIPT).await;
    let path = "/v1/messages/count_tokens";
    let count = async |text: &str| {
        let body = json!({"model": "m", "messages": [{"role": "user", "content": text}]});
        server.post(path, &body).await.json()["input_tokens"].as_u64().unwrap()
    };
    let (short, long) = (count("hi").await, count(&"word ".repeat(400)).await);
    assert!(short > 0 && long > short + 400, "{short} {long}");
}
